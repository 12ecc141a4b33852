//! Conversions of the handle types of external memory.

use super::vk;
use crate::heaps::{ExternalBufferProperties, ExternalFeatures, ExternalHandleTypes};

impl From<ExternalHandleTypes> for vk::ExternalMemoryHandleTypeFlags {
    fn from(types: ExternalHandleTypes) -> Self {
        Self::from_raw(types.bits())
    }
}

/// Keeps the bits of unsupported types, so that the call that receives them refuses them.
impl From<vk::ExternalMemoryHandleTypeFlags> for ExternalHandleTypes {
    fn from(types: vk::ExternalMemoryHandleTypeFlags) -> Self {
        Self::from_bits_retain(types.as_raw())
    }
}

impl From<ExternalFeatures> for vk::ExternalMemoryFeatureFlags {
    fn from(features: ExternalFeatures) -> Self {
        Self::from_raw(features.bits())
    }
}

impl From<ExternalBufferProperties> for vk::ExternalMemoryProperties {
    fn from(properties: ExternalBufferProperties) -> Self {
        Self {
            external_memory_features: properties.features.into(),
            export_from_imported_handle_types: properties.export_from_imported.into(),
            compatible_handle_types: properties.compatible.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handle_types_and_features_have_the_same_names() {
        type Theirs = vk::ExternalMemoryHandleTypeFlags;
        for (ours, theirs) in [
            (ExternalHandleTypes::OPAQUE_FD, Theirs::OPAQUE_FD),
            (ExternalHandleTypes::DMA_BUF, Theirs::DMA_BUF_EXT),
            (ExternalHandleTypes::HOST_ALLOCATION, Theirs::HOST_ALLOCATION_EXT),
            (ExternalHandleTypes::HOST_MAPPED_FOREIGN, Theirs::HOST_MAPPED_FOREIGN_MEMORY_EXT),
        ] {
            assert!(Theirs::from(ours) == theirs && ExternalHandleTypes::from(theirs) == ours, "{ours:?}");
        }
        for (ours, theirs) in [
            (ExternalFeatures::DEDICATED_ONLY, vk::ExternalMemoryFeatureFlags::DEDICATED_ONLY),
            (ExternalFeatures::EXPORTABLE, vk::ExternalMemoryFeatureFlags::EXPORTABLE),
            (ExternalFeatures::IMPORTABLE, vk::ExternalMemoryFeatureFlags::IMPORTABLE),
        ] {
            assert!(vk::ExternalMemoryFeatureFlags::from(ours) == theirs, "{ours:?}");
        }
    }

    #[test]
    fn properties_keep_exports_and_combinations_apart() {
        let ours = ExternalBufferProperties {
            features: ExternalFeatures::IMPORTABLE,
            export_from_imported: ExternalHandleTypes::DMA_BUF,
            compatible: ExternalHandleTypes::OPAQUE_FD,
        };
        let theirs = vk::ExternalMemoryProperties::from(ours);
        assert!(theirs.external_memory_features == vk::ExternalMemoryFeatureFlags::IMPORTABLE);
        assert!(theirs.export_from_imported_handle_types == vk::ExternalMemoryHandleTypeFlags::DMA_BUF_EXT);
        assert!(theirs.compatible_handle_types == vk::ExternalMemoryHandleTypeFlags::OPAQUE_FD);
        // An unsupported type is not converted to another one.
        let win32 = ExternalHandleTypes::from(vk::ExternalMemoryHandleTypeFlags::OPAQUE_WIN32);
        assert_eq!(ExternalBufferProperties::of(win32), ExternalBufferProperties::default());
    }
}
