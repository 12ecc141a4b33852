//! Memory, fences and semaphores that are shared with other processes and APIs.

use amdgpu_winsys::heaps::{ExternalBufferProperties, ExternalHandleTypes};
use ash::vk;

/// Returns the handle types as which the memory of a buffer can be exported and imported.
pub(crate) fn buffer(kind: vk::ExternalMemoryHandleTypeFlags) -> vk::ExternalMemoryProperties {
    ExternalBufferProperties::of(ExternalHandleTypes::from(kind)).into()
}

/// Returns the handle types as which the memory of an image can be exported and imported. A dma-buf does not describe a tiling
/// without a modifier, and host memory is only for linear images.
pub(crate) fn image(kind: vk::ExternalMemoryHandleTypeFlags, tiling: vk::ImageTiling) -> vk::ExternalMemoryProperties {
    use vk::{ExternalMemoryHandleTypeFlags as Kind, ImageTiling as Tiling};
    let is_known = match kind {
        Kind::OPAQUE_FD => tiling != Tiling::DRM_FORMAT_MODIFIER_EXT,
        Kind::DMA_BUF_EXT => tiling != Tiling::OPTIMAL,
        Kind::HOST_ALLOCATION_EXT => tiling == Tiling::LINEAR,
        _ => false,
    };
    let mut found = if is_known { buffer(kind) } else { vk::ExternalMemoryProperties::default() };
    if is_known && tiling == Tiling::OPTIMAL {
        found.external_memory_features |= vk::ExternalMemoryFeatureFlags::DEDICATED_ONLY;
    }
    found
}

/// Fills in the handle types as which a fence can be exported and imported: a descriptor of a sync object, or a sync file.
pub(crate) fn fence(kind: vk::ExternalFenceHandleTypeFlags, out: &mut vk::ExternalFenceProperties<'_>) {
    use vk::{ExternalFenceFeatureFlags as Feature, ExternalFenceHandleTypeFlags as Kind};
    let (kinds, features) = match kind {
        Kind::OPAQUE_FD => (Kind::OPAQUE_FD, Feature::EXPORTABLE | Feature::IMPORTABLE),
        Kind::SYNC_FD => (Kind::SYNC_FD, Feature::EXPORTABLE | Feature::IMPORTABLE),
        _ => (Kind::empty(), Feature::empty()),
    };
    out.export_from_imported_handle_types = kinds;
    out.compatible_handle_types = kinds;
    out.external_fence_features = features;
}

/// Fills in the handle types as which a semaphore can be exported and imported. A timeline has no sync file.
pub(crate) fn semaphore(
    kind: vk::ExternalSemaphoreHandleTypeFlags,
    semaphore: vk::SemaphoreType,
    out: &mut vk::ExternalSemaphoreProperties<'_>,
) {
    use vk::{ExternalSemaphoreFeatureFlags as Feature, ExternalSemaphoreHandleTypeFlags as Kind};
    let (kinds, features) = match kind {
        Kind::OPAQUE_FD => (Kind::OPAQUE_FD, Feature::EXPORTABLE | Feature::IMPORTABLE),
        Kind::SYNC_FD if semaphore == vk::SemaphoreType::BINARY => {
            (Kind::SYNC_FD, Feature::EXPORTABLE | Feature::IMPORTABLE)
        }
        _ => (Kind::empty(), Feature::empty()),
    };
    out.export_from_imported_handle_types = kinds;
    out.compatible_handle_types = kinds;
    out.external_semaphore_features = features;
}
