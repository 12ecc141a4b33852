//! States that no driver makes: each ends as on a card, in a fault or a hang that is reported, and the device draws again.

use amdgpu_isa::{WaveSize, assemble};
use amdgpu_winsys::{cs::registers as r, winsys::GfxLevel};

use crate::{CHIPS, rig::Rig};

/// Half of the pixels of the target, without its diagonal or with it.
const HALF: std::ops::RangeInclusive<usize> = 64 * 63 / 2..=64 * 65 / 2;

#[test]
fn a_plain_draw_ends_without_a_complaint() {
    for chip in CHIPS {
        let rig = Rig::new(chip);
        assert!(rig.draw(), "{chip}: {:?}", rig.sim.complaints());
        assert!(HALF.contains(&rig.changed()), "{chip}: {}", rig.changed());
        assert_eq!((rig.sim.complaints(), rig.has_faulted()), (Vec::new(), false), "{chip}");
    }
}

#[test]
fn a_target_outside_of_memory_is_a_page_fault() {
    for chip in CHIPS {
        let mut rig = Rig::new(chip);
        rig.set(r::CB_COLOR0_BASE, 0x10);
        rig.set(r::CB_COLOR0_BASE_EXT, 0);
        rig.draw();
        assert!(rig.has_faulted(), "{chip}: {:?}", rig.sim.complaints());
        assert_eq!(rig.changed(), 0, "{chip}");
    }
}

#[test]
fn a_program_that_is_missing_is_reported() {
    for chip in CHIPS {
        for (low, high) in [
            (r::SPI_SHADER_PGM_LO_PS, r::SPI_SHADER_PGM_HI_PS),
            (r::SPI_SHADER_PGM_LO_ES, r::SPI_SHADER_PGM_HI_ES),
            (r::SPI_SHADER_PGM_LO_VS, r::SPI_SHADER_PGM_HI_VS),
        ] {
            let mut rig = Rig::new(chip);
            let is_used = low != r::SPI_SHADER_PGM_LO_ES || rig.level >= GfxLevel::Gfx10;
            let is_used = is_used && (low != r::SPI_SHADER_PGM_LO_VS || rig.level < GfxLevel::Gfx10);
            if !is_used {
                continue;
            }
            rig.set(low, 0x10);
            rig.set(high, 0);
            let ran = rig.draw();
            assert!(!ran || rig.has_faulted(), "{chip}: {low:?}: {:?}", rig.sim.complaints());
            assert_eq!(rig.changed(), 0, "{chip}: {low:?}");
        }
    }
}

#[test]
fn an_endless_pixel_shader_hangs_and_is_reset() {
    for chip in CHIPS {
        let rig = Rig::new(chip);
        // s_branch to itself: operation 2 of SOPP, from GFX11 on 32.
        let branch = if rig.level >= GfxLevel::Gfx11 { 0xbfa0_ffff } else { 0xbf82_ffff };
        rig.pixel_shader(&[branch; 64]);
        assert!(!rig.draw(), "{chip}");
        assert_eq!(rig.changed(), 0, "{chip}");
        assert!(!rig.sim.hangs().is_empty() || !rig.sim.complaints().is_empty(), "{chip}");
    }
}

#[test]
fn a_pixel_shader_that_exports_without_end_hangs_before_it_fills_memory() {
    for chip in CHIPS {
        let rig = Rig::new(chip);
        let lanes = if rig.level >= GfxLevel::Gfx10 { WaveSize::Wave32 } else { WaveSize::Wave64 };
        let words = |line: &str| assemble(rig.level, lanes, line).unwrap().dwords().to_vec();
        // Back to the export, which has two dwords.
        let name = if rig.level >= GfxLevel::Gfx12 { "export" } else { "exp" };
        let program = [words(&format!("{name} mrt0 v0, v0, v0, v0")), words("s_branch 65533")].concat();
        rig.pixel_shader(&program);
        assert!(!rig.draw(), "{chip}");
        let complaints = rig.sim.complaints().join("\n");
        assert!(complaints.contains("no room for more than 256 exports"), "{chip}: {complaints}");
        assert_eq!(rig.changed(), 0, "{chip}");
    }
}

#[test]
fn vertices_without_end_are_reset_and_the_device_draws_again() {
    for chip in ["polaris10", "navi31"] {
        let mut rig = Rig::new(chip);
        // Nothing is in the scissor, so that the vertices are all there is to do.
        rig.set(r::PA_SC_SCREEN_SCISSOR_BR, 0);
        rig.vertices = u32::MAX;
        assert!(!rig.draw(), "{chip}");
        assert_eq!(rig.changed(), 0, "{chip}");
        let again = Rig::new(chip);
        assert!(again.draw() && HALF.contains(&again.changed()), "{chip}: {:?}", again.sim.complaints());
    }
}

#[test]
fn viewports_that_are_no_numbers_draw_nothing() {
    for chip in CHIPS {
        for value in [f32::NAN, f32::INFINITY, f32::MAX] {
            let mut rig = Rig::new(chip);
            rig.set(r::PA_CL_VPORT_XSCALE, value.to_bits());
            rig.set(r::PA_CL_VPORT_YOFFSET, value.to_bits());
            assert!(rig.draw(), "{chip}: {value}: {:?}", rig.sim.complaints());
            assert_eq!((rig.changed(), rig.has_faulted()), (0, false), "{chip}: {value}");
        }
    }
}
