//! Modifiers decoded from their numbers.

use std::collections::HashSet;

use amdgpu_surface::modifier::{MaxBlock, Modifier, ModifierError, TileVersion};
use serde_json::{Value, json};

use crate::outcome::Error;
use crate::report::Report;

/// The vendors in the upper byte of a modifier. Source: Linux 6.12 `include/uapi/drm/drm_fourcc.h`.
const VENDORS: [&str; 13] = [
    "none",
    "Intel",
    "AMD",
    "NVIDIA",
    "Samsung",
    "Qualcomm",
    "Vivante",
    "Broadcom",
    "Arm",
    "Allwinner",
    "Amlogic",
    "MediaTek",
    "Apple",
];

/// The fewest digits of a number with 0x that is taken for a modifier in the middle of other text: more than 32 bits have.
const LONG: usize = 9;

/// Parses a number, in decimal or with 0x.
///
/// # Errors
///
/// [`Error::NoModifier`] if the text is no number of 64 bits.
pub(crate) fn number(text: &str) -> Result<u64, Error> {
    let hex = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let parsed = match hex {
        Some(digits) if digits.bytes().all(|digit| digit.is_ascii_hexdigit()) => u64::from_str_radix(digits, 16).ok(),
        None if text.bytes().all(|digit| digit.is_ascii_digit()) => text.parse().ok(),
        _ => None,
    };
    parsed.ok_or_else(|| Error::NoModifier { text: text.to_owned() })
}

/// Returns the modifiers in a text, each once: lines that are a number, and in other lines, such as those of `drm_info`, numbers of
/// more than 32 bits with 0x, and decimal numbers whose upper byte is AMD's.
pub(crate) fn find(text: &str) -> Vec<u64> {
    let mut seen = HashSet::new();
    let words = text.lines().flat_map(|line| {
        let alone = number(line.trim()).ok().filter(|_| !line.trim().is_empty());
        let among = line.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(move |_| alone.is_none());
        let is_linear = alone.is_none() && line.contains("LINEAR") && line.contains("0x0)");
        let among = among.filter_map(|word| {
            let value = number(word).ok()?;
            let is_hex = word.starts_with("0x") && word.len() >= 2 + LONG;
            (is_hex || !word.starts_with("0x") && value >> 56 == 2).then_some(value)
        });
        alone.into_iter().chain(is_linear.then_some(0)).chain(among)
    });
    words.filter(|value| seen.insert(*value)).collect()
}

/// Adds a row for a modifier.
pub(crate) fn row(value: u64, report: &mut Report) {
    let (text, fields) = describe(value);
    let json = json!({
        "modifier": format!("{value:#018x}"),
        "vendor": value >> 56,
        "vendor_name": vendor(value),
        "meaning": text,
        "fields": fields,
    });
    report.item("modifiers", format!("{value:#018x}  {text}"), json);
}

fn vendor(value: u64) -> Option<&'static str> {
    VENDORS.get((value >> 56) as usize).copied()
}

fn describe(value: u64) -> (String, Value) {
    let amd = match Modifier::decode(value) {
        Ok(Modifier::Amd(amd)) => amd,
        Ok(Modifier::Linear) => return ("LINEAR".to_owned(), Value::Null),
        Err(ModifierError::Invalid) => {
            return ("INVALID: none is given, the layout is implicit".to_owned(), Value::Null);
        }
        Err(ModifierError::Vendor { vendor: number }) => {
            let name = vendor(value).unwrap_or("unknown");
            let code = value & 0xff_ffff_ffff_ffff;
            return (format!("not AMD: vendor {number} ({name}), code {code:#x}"), Value::Null);
        }
        Err(error) => return (format!("AMD, not valid: {error}"), Value::Null),
    };
    let version = match amd.version {
        TileVersion::Gfx9 => "GFX9",
        TileVersion::Gfx10 => "GFX10",
        TileVersion::Gfx10RbPlus => "GFX10_RBPLUS",
        TileVersion::Gfx11 => "GFX11",
        TileVersion::Gfx12 => "GFX12",
    };
    let tile = tile(amd.version, amd.tile)
        .map_or_else(|| format!("mode {}", amd.tile), |name| format!("{name} ({})", amd.tile));
    let mut parts = vec!["AMD".to_owned(), version.to_owned(), tile.clone()];
    let counts = [
        ("PIPE_XOR_BITS", amd.pipe_xor_bits),
        ("BANK_XOR_BITS", amd.bank_xor_bits),
        ("PACKERS", amd.packers),
        ("RB", amd.rb),
        ("PIPE", amd.pipe),
    ];
    parts.extend(counts.iter().filter(|(_, count)| *count != 0).map(|(name, count)| format!("{name} {count}")));
    let mut fields = json!({"TILE_VERSION": version, "TILE": tile, "DCC": amd.dcc.is_some()});
    for (name, count) in counts {
        fields[name] = count.into();
    }
    if let Some(dcc) = amd.dcc {
        let block = match dcc.max_block {
            MaxBlock::B64 => 64,
            MaxBlock::B128 => 128,
            MaxBlock::B256 => 256,
        };
        parts.push("DCC".to_owned());
        for (is_set, name, words) in [
            (dcc.retile, "DCC_RETILE", "RETILE (a second DCC for the display)"),
            (dcc.pipe_align, "DCC_PIPE_ALIGN", "pipe-aligned"),
            (dcc.independent_64b, "DCC_INDEPENDENT_64B", "independent 64B blocks"),
            (dcc.independent_128b, "DCC_INDEPENDENT_128B", "independent 128B blocks"),
            (dcc.constant_encode, "DCC_CONSTANT_ENCODE", "constant encode"),
        ] {
            fields[name] = is_set.into();
            if name == "DCC_CONSTANT_ENCODE" {
                parts.push(format!("max. compressed block {block}B"));
                fields["DCC_MAX_COMPRESSED_BLOCK"] = block.into();
            }
            if is_set {
                parts.push(words.to_owned());
            }
        }
        // Before GFX12 the display reads DCC that is not aligned to pipes.
        if dcc.pipe_align && !dcc.retile && amd.version != TileVersion::Gfx12 {
            parts.push("not displayable (pipe-aligned DCC without RETILE)".to_owned());
        }
    }
    (parts.join(", "), fields)
}

/// Returns the name of a swizzle mode. Source: Linux 6.12 `drm_fourcc.h`, `AMD_FMT_MOD_TILE_*`; Mesa 25.0.7 `addrtypes.h`,
/// `AddrSwizzleMode`.
fn tile(version: TileVersion, tile: u8) -> Option<&'static str> {
    if version == TileVersion::Gfx12 {
        let names = ["LINEAR", "256B_2D", "4K_2D", "64K_2D", "256K_2D", "4K_3D", "64K_3D", "256K_3D"];
        return names.get(usize::from(tile)).copied();
    }
    let is_gfx11 = version == TileVersion::Gfx11;
    Some(match tile {
        0 => "LINEAR",
        1 => "256B_S",
        2 => "256B_D",
        3 => "256B_R",
        4 => "4K_Z",
        5 => "4K_S",
        6 => "4K_D",
        7 => "4K_R",
        8 => "64K_Z",
        9 => "64K_S",
        10 => "64K_D",
        11 => "64K_R",
        16 => "64K_Z_T",
        17 => "64K_S_T",
        18 => "64K_D_T",
        19 => "64K_R_T",
        20 => "4K_Z_X",
        21 => "4K_S_X",
        22 => "4K_D_X",
        23 => "4K_R_X",
        24 => "64K_Z_X",
        25 => "64K_S_X",
        26 => "64K_D_X",
        27 => "64K_R_X",
        28 if is_gfx11 => "256K_Z_X",
        29 if is_gfx11 => "256K_S_X",
        30 if is_gfx11 => "256K_D_X",
        31 if is_gfx11 => "256K_R_X",
        28 => "VAR_Z_X",
        31 => "VAR_R_X",
        _ => return None,
    })
}
