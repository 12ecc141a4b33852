//! Formats.

use ash::vk;

/// Returns the features of a format. There are no images yet.
pub(crate) fn properties(_format: vk::Format) -> vk::FormatProperties {
    vk::FormatProperties::default()
}
