//! The names of operations on each generation.

use std::borrow::Cow;

use amdgpu_hw::GfxLevel;

/// Renamed operations: the name up to GFX10, and the name on GFX11 and later.
const RENAMED: &[(&str, &str)] = &[
    ("v_ffbh_u32", "v_clz_i32_u32"),
    ("v_ffbh_i32", "v_cls_i32"),
    ("v_ffbl_b32", "v_ctz_i32_b32"),
    ("s_flbit_i32_b64", "s_clz_i32_u64"),
    ("s_flbit_i32_b32", "s_clz_i32_u32"),
    ("s_ff1_i32_b64", "s_ctz_i32_b64"),
    ("s_ff1_i32_b32", "s_ctz_i32_b32"),
    ("s_andn2_b32", "s_and_not1_b32"),
    ("s_andn2_b64", "s_and_not1_b64"),
    ("s_orn2_b64", "s_or_not1_b64"),
    ("s_orn2_b32", "s_or_not1_b32"),
    ("s_andn2_saveexec_b64", "s_and_not1_saveexec_b64"),
    ("s_andn2_saveexec_b32", "s_and_not1_saveexec_b32"),
    ("ds_read2_b32", "ds_load_2addr_b32"),
    ("ds_read2_b64", "ds_load_2addr_b64"),
    ("ds_write2_b32", "ds_store_2addr_b32"),
    ("ds_write2_b64", "ds_store_2addr_b64"),
    ("ds_read_u8_d16", "ds_load_u8_d16"),
    ("ds_read_u16_d16", "ds_load_u16_d16"),
];

/// Operations that are renamed again on GFX12.
const RENAMED_AGAIN: &[(&str, &str)] = &[
    ("s_add_u32", "s_add_co_u32"),
    ("s_addc_u32", "s_add_co_ci_u32"),
    ("s_sub_u32", "s_sub_co_u32"),
    ("s_subb_u32", "s_sub_co_ci_u32"),
];

/// Sizes in the names of loads and stores: up to GFX10, and on GFX11 and later.
const SIZES: &[(&str, &str)] = &[
    ("_dwordx16", "_b512"),
    ("_dwordx8", "_b256"),
    ("_dwordx4", "_b128"),
    ("_dwordx3", "_b96"),
    ("_dwordx2", "_b64"),
    ("_dword", "_b32"),
    ("_ubyte", "_u8"),
    ("_sbyte", "_i8"),
    ("_ushort", "_u16"),
    ("_sshort", "_i16"),
    ("_short", "_b16"),
    ("_byte", "_b8"),
];

/// Returns the name of an operation on a generation. `name` is its name on GFX10, or ACO's name of a carry operation.
pub(super) fn translated(level: GfxLevel, name: &str) -> Cow<'_, str> {
    if let Some(name) = carry(level, name) {
        return name.into();
    }
    if let Some(rest) = name.strip_prefix("v_cmp_lg_")
        && matches!(rest.get(..1), Some("i" | "u"))
    {
        return format!("v_cmp_ne_{rest}").into();
    }
    if level < GfxLevel::Gfx11 {
        return name.into();
    }
    if level >= GfxLevel::Gfx12
        && let Some((_, new)) = RENAMED_AGAIN.iter().find(|(old, _)| *old == name)
    {
        return (*new).into();
    }
    if let Some((_, new)) = RENAMED.iter().find(|(old, _)| *old == name) {
        return (*new).into();
    }
    let is_memory = ["s_load_", "s_buffer_", "buffer_", "global_", "flat_", "scratch_"]
        .iter()
        .any(|prefix| name.starts_with(prefix));
    if is_memory {
        return memory(name).into();
    }
    if let Some(rest) = name.strip_prefix("ds_read_") {
        return format!("ds_load_{rest}").into();
    }
    if let Some(rest) = name.strip_prefix("ds_write_") {
        return format!("ds_store_{rest}").into();
    }
    name.into()
}

/// Returns the name of an addition or subtraction with carry, which has different names on three groups of generations.
fn carry(level: GfxLevel, name: &str) -> Option<&'static str> {
    use GfxLevel::{Gfx8, Gfx9};
    let pick = |old: &'static str, eight: &'static str, nine: &'static str, new: &'static str| match level {
        _ if level < Gfx8 => old,
        Gfx8 => eight,
        Gfx9 => nine,
        _ => new,
    };
    Some(match name {
        "v_add_co_u32" => pick("v_add_i32_e64", "v_add_u32_e64", "v_add_co_u32_e64", "v_add_co_u32"),
        "v_sub_co_u32" => pick("v_sub_i32_e64", "v_sub_u32_e64", "v_sub_co_u32_e64", "v_sub_co_u32"),
        "v_addc_co_u32" => pick("v_addc_u32_e64", "v_addc_u32_e64", "v_addc_co_u32_e64", "v_add_co_ci_u32_e64"),
        "v_subb_co_u32" => pick("v_subb_u32_e64", "v_subb_u32_e64", "v_subb_co_u32_e64", "v_sub_co_ci_u32_e64"),
        _ => return None,
    })
}

/// Returns the new name of a memory operation. Atomic operations have types in their names, loads and stores sizes in bits.
fn memory(name: &str) -> String {
    if let Some((base, operation)) = name.split_once("_atomic_") {
        let (operation, bits) = operation.strip_suffix("_x2").map_or((operation, 32), |operation| (operation, 64));
        let (operation, kind) = match operation {
            "smin" => ("min", 'i'),
            "smax" => ("max", 'i'),
            "umin" => ("min", 'u'),
            "umax" => ("max", 'u'),
            "add" | "sub" | "inc" | "dec" => (operation, 'u'),
            _ => (operation, 'b'),
        };
        return format!("{base}_atomic_{operation}_{kind}{bits}");
    }
    let size = SIZES.iter().find_map(|(old, new)| Some((name.strip_suffix(old)?, *new)));
    size.map_or_else(|| name.to_owned(), |(base, new)| format!("{base}{new}"))
}
