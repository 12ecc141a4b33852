//! A chip of each generation, with what addrlib and `ac_surface` took for it.

use amdgpu_sim::profile;
use amdgpu_surface::{Chip, ChipRegisters, GfxLevel};

/// Nanoseconds of Mesa 25.0.7's addrlib and `ac_surface`: release build, one thread, the best of 25 rounds on a machine of two
/// cores that other work used too.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recorded {
    pub(super) layout: f64,
    pub(super) linear: f64,
    pub(super) mips: f64,
    pub(super) samples: f64,
    pub(super) depth: f64,
    pub(super) sizes: f64,
    pub(super) address: f64,
    pub(super) address_mips: Option<f64>,
}

const fn recorded([layout, linear, mips, samples, depth, sizes, address]: [f64; 7], last: Option<f64>) -> Recorded {
    Recorded { layout, linear, mips, samples, depth, sizes, address, address_mips: last }
}

/// A generation's name, and a chip of it.
pub(super) struct Generation {
    pub(super) name: &'static str,
    pub(super) chip: Chip,
    pub(super) recorded: Recorded,
}

/// GFX12 has no capture: a plausible chip of sixteen pipes.
fn gfx12() -> ChipRegisters {
    ChipRegisters {
        chip_rev: 2,
        render_backends: 16,
        enabled_rb_mask: 0xffff,
        compute_units: 8,
        drm_minor: 63,
        has_dedicated_vram: true,
        has_dcc_constant_encode: true,
        gfx12_display_dcc: true,
        ..ChipRegisters::new(GfxLevel::Gfx12, 0x98, 0x40, 0x444)
    }
}

/// Returns the chips, the oldest first.
pub(super) fn all() -> Result<Vec<Generation>, String> {
    let captured = [
        ("gfx6", "pitcairn", recorded([650., 450., 2600., 915., 990., 243., 189.], None)),
        ("gfx8", "polaris10", recorded([970., 340., 3460., 1050., 590., 305., 191.], None)),
        ("gfx9", "vega10", recorded([2900., 390., 3800., 5300., 1270., 151., 224.], Some(381.))),
        ("gfx10", "navi10", recorded([590., 370., 1690., 1160., 970., 133., 254.], Some(437.))),
        ("gfx10.3", "navi21", recorded([1240., 390., 880., 790., 565., 119., 242.], Some(362.))),
        ("gfx11", "navi31", recorded([1120., 330., 1790., 970., 1010., 127., 146.], Some(424.))),
        ("gfx12", "", recorded([270., 360., 560., 440., 840., 172., 267.], Some(387.))),
    ];
    let chip = |name: &str| {
        let registers = if name.is_empty() {
            gfx12()
        } else {
            let found = profile(name).ok_or_else(|| format!("no capture of {name}"))?;
            ChipRegisters::reported(&found.reported(54))
        };
        Chip::new(&registers).map_err(|error| error.to_string())
    };
    captured.into_iter().map(|(name, of, recorded)| Ok(Generation { name, chip: chip(of)?, recorded })).collect()
}
