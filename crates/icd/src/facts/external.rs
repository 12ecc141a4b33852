//! Memory, fences and semaphores of other processes and APIs.

use amdgpu_winsys::heaps::{ExternalBufferProperties, ExternalHandleTypes};
use ash::vk;

/// Returns what a buffer's memory can be exported and imported as.
pub(crate) fn buffer(kind: vk::ExternalMemoryHandleTypeFlags) -> vk::ExternalMemoryProperties {
    let kind = ExternalHandleTypes::from_bits(kind.as_raw()).unwrap_or_default();
    let known = ExternalBufferProperties::of(kind);
    vk::ExternalMemoryProperties {
        external_memory_features: vk::ExternalMemoryFeatureFlags::from_raw(known.features.bits()),
        export_from_imported_handle_types: vk::ExternalMemoryHandleTypeFlags::from_raw(
            known.export_from_imported.bits(),
        ),
        compatible_handle_types: vk::ExternalMemoryHandleTypeFlags::from_raw(known.compatible.bits()),
    }
}

/// Fills in what a fence can be exported and imported as: a descriptor of a sync object, or a sync file.
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

/// Fills in what a semaphore can be exported and imported as. A timeline has no sync file.
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
