//! The blob that lists the formats and modifiers of a plane.
//!
//! Source: Linux 6.12 `drm_plane.c`, `create_in_format_blob`; `include/uapi/drm/drm_mode.h`, `struct drm_format_modifier_blob`
//! and `struct drm_format_modifier`; `amdgpu_dm_plane.c`, `amdgpu_dm_plane_get_plane_modifiers`.

use amdgpu_surface::Chip;

use super::{
    format::Format,
    plane_modifiers::{self, LINEAR},
};

/// `FORMAT_BLOB_CURRENT`.
const VERSION: u32 = 1;
/// The size of the header in bytes.
const HEAD: u32 = 24;

/// Returns the content of the IN_FORMATS blob of a plane with these formats. Cursors are linear only.
pub(super) fn in_formats(chip: &Chip, formats: &[[u8; 4]], is_cursor: bool) -> Vec<u8> {
    let all = if is_cursor { vec![LINEAR] } else { plane_modifiers::list(chip) };
    let known: Vec<Vec<u64>> = formats
        .iter()
        .filter_map(|code| Format::find(u32::from_le_bytes(*code)))
        .map(|format| {
            all.iter().copied().filter(|&modifier| plane_modifiers::supports(chip, format, modifier)).collect()
        })
        .collect();
    let count = |len: usize| u32::try_from(len).unwrap_or(u32::MAX);
    let modifiers_at = (HEAD + 4 * count(formats.len())).next_multiple_of(8);
    let head = [VERSION, 0, count(formats.len()), HEAD, count(all.len()), modifiers_at];
    let mut blob: Vec<u8> =
        head.into_iter().flat_map(u32::to_le_bytes).chain(formats.iter().copied().flatten()).collect();
    blob.resize(modifiers_at as usize, 0);
    for modifier in all {
        let has = |list: &Vec<u64>| u64::from(list.contains(&modifier));
        let mask = known.iter().enumerate().fold(0, |mask, (at, list)| mask | has(list) << at);
        // The first bit of the mask stands for the first format.
        blob.extend([mask, 0, modifier].into_iter().flat_map(u64::to_le_bytes));
    }
    blob
}
