//! Descriptors as text and as JSON.

use core::fmt;

use amdgpu_hw::{GfxLevel, GpuVa};

use crate::descriptor::Descriptor;
use crate::kind::Kind;

/// A display adapter for descriptors: `{}` prints all non-zero fields on one line, `{:#}` prints each field on a line of its own.
#[derive(Clone, Copy, Debug)]
pub struct Shown<K: Kind> {
    words: Descriptor<K>,
    level: GfxLevel,
}

/// A display adapter that prints a descriptor as a JSON object with its fields, dwords and reserved bits. The dwords can be rebuilt
/// from the fields and reserved bits.
#[derive(Clone, Copy, Debug)]
pub struct Json<K: Kind> {
    words: Descriptor<K>,
    level: GfxLevel,
}

impl<K: Kind> Descriptor<K> {
    /// Returns an adapter that prints the fields by their names on a generation.
    pub const fn show(self, level: GfxLevel) -> Shown<K> {
        Shown { words: self, level }
    }

    /// Returns an adapter that prints the descriptor as JSON.
    pub const fn json(self, level: GfxLevel) -> Json<K> {
        Json { words: self, level }
    }
}

/// Returns a value's name without the prefix that repeats the field's name.
fn short<'n>(name: &'n str, prefixes: &[&str]) -> &'n str {
    prefixes.iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name)
}

const PREFIXES: &[&str] = &[
    "oob_select_",
    "sq_rsrc_img_",
    "sq_rsrc_buf_",
    "sq_sel_",
    "sq_tex_depth_compare_",
    "sq_tex_border_color_",
    "sq_tex_xy_filter_",
    "sq_tex_z_filter_",
    "sq_tex_mip_filter_",
    "sq_tex_",
    "sq_img_filter_mode_",
    "img_data_format_",
    "img_num_format_",
    "buf_data_format_",
    "buf_num_format_",
    "gfx10_format_",
    "gfx11_format_",
];

/// Writes the number of a field, with addresses and unnamed numbers in the format of their unit.
fn number(f: &mut fmt::Formatter<'_>, field: &str, value: i64) -> fmt::Result {
    match field {
        "base_address" => write!(f, "{}", GpuVa::from_48_bits(value.cast_unsigned())),
        "meta_data_address" => write!(f, "{value:#x}"),
        "min_lod" | "max_lod" | "lod_bias" | "min_lod_warn" => write!(f, "{}", f32::from(value as i16) / 256.0),
        _ => write!(f, "{value}"),
    }
}

impl<K: Kind> fmt::Display for Shown<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = f.alternate();
        f.write_str(K::WORD)?;
        for field in self.words.decode(self.level) {
            if field.instead_of.is_some() || !lines && field.value == 0 {
                continue;
            }
            f.write_str(if lines { "\n  " } else { ", " })?;
            write!(f, "{} ", field.field.name())?;
            match field.name {
                Some(name) => f.write_str(short(name, PREFIXES))?,
                None => number(f, field.field.name(), field.value)?,
            }
        }
        for (at, rest) in self.words.reserved(self.level).as_ref().iter().enumerate() {
            if *rest != 0 {
                write!(f, "{}reserved {at}:{rest:#x}", if lines { "\n  " } else { ", " })?;
            }
        }
        Ok(())
    }
}

impl<K: Kind> fmt::Display for Json<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{\"kind\":\"{}\",\"gen\":\"{}\",\"fields\":{{", K::WORD, self.level)?;
        for (at, field) in self.words.decode(self.level).enumerate() {
            let comma = if at == 0 { "" } else { "," };
            write!(f, "{comma}\"{}\":{}", field.field.name(), field.value)?;
        }
        f.write_str("},\"words\":")?;
        list(f, self.words.words().as_ref())?;
        f.write_str(",\"reserved\":")?;
        list(f, self.words.reserved(self.level).as_ref())?;
        f.write_str("}")
    }
}

fn list(f: &mut fmt::Formatter<'_>, words: &[u32]) -> fmt::Result {
    for (at, word) in words.iter().enumerate() {
        write!(f, "{}{word}", if at == 0 { "[" } else { "," })?;
    }
    f.write_str("]")
}
