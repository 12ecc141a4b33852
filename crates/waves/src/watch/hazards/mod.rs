//! Instruction hazards: pairs of instructions between which the hardware does not wait, so that code must.

mod direct;
mod found;
mod gfx10;
mod gfx11;
mod groups;
mod old;
mod rules;
mod traits;

use std::fmt;

use amdgpu_hw::GfxLevel;
use amdgpu_isa::WaveSize;

pub use self::rules::HazardRule;
pub(super) use self::rules::MISSING_WAIT;
use self::rules::{LDS_TO_BARRIER, UNSET_ARGUMENT};
pub(super) use self::traits::{Scalars, Traits};

use self::{found::Found, gfx10::Gfx10, gfx11::Gfx11, old::Old};
use super::waits::{RegisterName, WaitSide};
use crate::program::wave_config::WaveConfig;

/// A hazard between two instructions of a wave. Each pair of instructions is reported once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstructionHazard {
    /// The rule.
    pub rule: &'static HazardRule,
    /// The work-group ID in x, y and z.
    pub group: [u32; 3],
    /// The index of the wave in the work-group.
    pub wave: u32,
    /// The instruction that comes too early.
    pub instruction: WaitSide,
    /// The earlier instruction; `None` if the instruction fails by itself.
    pub earlier: Option<WaitSide>,
    /// The register, the first of several, if the hazard is about one.
    pub register: Option<RegisterName>,
}

impl fmt::Display for InstructionHazard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rule, group: [x, y, z], wave, instruction, earlier, register } = self;
        write!(f, "{} in group {x},{y},{z} wave {wave}: {instruction}", rule.name)?;
        if let Some(earlier) = earlier {
            write!(f, " after {earlier}")?;
        }
        if let Some(register) = register {
            write!(f, ", {register}")?;
        }
        write!(f, ": {}; needed: {}", rule.what, rule.needed)
    }
}

/// The history of a wave, as far as hazards depend on it.
#[derive(Debug)]
pub(super) struct Hazards {
    own: Own,
    /// `true` if the wave shares LDS with others.
    has_others: bool,
    /// The address of a store to LDS for which nothing has waited.
    stored: Option<u64>,
    /// The scalar registers that hold arguments which nobody has set.
    unset: Scalars,
}

/// The facts that depend on the generation.
#[derive(Debug)]
enum Own {
    /// GFX10.3, which has none.
    None,
    Old(Box<Old>),
    Gfx10(Box<Gfx10>),
    Gfx11(Box<Gfx11>),
}

impl Hazards {
    /// Returns the state of a wave that starts, which shares LDS with others if it `has_others`, and whose first scalar registers hold
    /// arguments, those whose bits are `unset` with values that nobody has set.
    pub(super) fn new(config: WaveConfig, has_others: bool, unset: Scalars) -> Self {
        let own = match config.level {
            GfxLevel::Gfx6 | GfxLevel::Gfx7 | GfxLevel::Gfx8 | GfxLevel::Gfx9 => {
                Own::Old(Box::new(Old::new(config.level)))
            }
            GfxLevel::Gfx10 => Own::Gfx10(Box::default()),
            GfxLevel::Gfx10_3 => Own::None,
            _ => Own::Gfx11(Box::new(Gfx11::new(config.level, config.wave == WaveSize::Wave64, config.is_graphics))),
        };
        Self { own, has_others, stored: None, unset }
    }

    /// Returns the hazard of the next instruction of a wave, and remembers the instruction.
    pub(super) fn step(&mut self, pc: u64, traits: &Traits) -> Option<Found> {
        let own = match &mut self.own {
            Own::None => None,
            Own::Old(state) => state.step(pc, traits),
            Own::Gfx10(state) => state.step(pc, traits),
            Own::Gfx11(state) => state.step(pc, traits),
        };
        let read = self.unset & traits.reads;
        self.unset &= !(traits.reads | traits.writes);
        let register = (read != 0).then(|| read.trailing_zeros() as u16);
        own.or_else(|| self.barrier(pc, traits))
            .or_else(|| register.map(|_| Found { rule: &UNSET_ARGUMENT, register, earlier: None }))
    }

    /// Looks for stores to LDS that may not be over when other waves pass a barrier. Those of one wave are in order.
    ///
    /// Source: Mesa 25.0.7 `src/amd/compiler/aco_insert_waitcnt.cpp`, `perform_barrier`, which waits for nothing that other waves do not
    /// see; a barrier alone may be left, as in kernels of OpenCL for work-groups of 64.
    fn barrier(&mut self, pc: u64, traits: &Traits) -> Option<Found> {
        if traits.stores_lds && self.has_others {
            self.stored = Some(pc);
        } else if traits.drains[2] {
            self.stored = None;
        } else if traits.is_barrier {
            let earlier = self.stored.take()?;
            return Some(Found { rule: &LDS_TO_BARRIER, register: None, earlier: Some(earlier) });
        }
        None
    }
}

impl Found {
    /// Returns the report. `text` returns the text of the instruction at an address.
    pub(super) fn finding(
        self,
        (group, wave, pc): ([u32; 3], u32, u64),
        text: impl Fn(u64) -> String,
    ) -> InstructionHazard {
        let side = |pc| WaitSide { pc, text: text(pc) };
        InstructionHazard {
            rule: self.rule,
            group,
            wave,
            instruction: side(pc),
            earlier: self.earlier.map(side),
            register: self.register.map(RegisterName::of),
        }
    }
}

#[cfg(test)]
mod tests {
    use amdgpu_isa::assemble;

    use super::*;
    use crate::watch::known::traits;

    /// Returns the rules that lines of text break, which waves need not be able to execute.
    fn broken(level: GfxLevel, lines: &[&str]) -> Vec<&'static str> {
        let config = WaveConfig { level, wave: WaveSize::Wave64, vgprs: 256, is_graphics: true };
        let mut hazards = Hazards::new(config, true, 0);
        let steps = lines.iter().enumerate().filter_map(|(pc, line)| {
            let instruction = assemble(level, config.wave, line).expect(line);
            hazards.step(4 * pc as u64, &traits(config, &instruction).expect(line))
        });
        steps.map(|found| found.rule.name).collect()
    }

    #[test]
    fn an_argument_that_nobody_has_set_is_not_read_before_it_is_written() {
        let config = WaveConfig { level: GfxLevel::Gfx10_3, wave: WaveSize::Wave64, vgprs: 256, is_graphics: false };
        let run = |unset, lines: &[&str]| {
            let mut hazards = Hazards::new(config, false, unset);
            let found = lines.iter().filter_map(|line| {
                let instruction = assemble(config.level, config.wave, line).expect(line);
                hazards.step(0, &traits(config, &instruction).expect(line))
            });
            found.map(|found| (found.rule.name, found.register)).collect::<Vec<_>>()
        };
        let found = |register| vec![("UnsetArgument", Some(register))];
        assert_eq!(run(0b1000, &["v_mov_b32 v1, s3"]), found(3));
        assert_eq!(run(0b1000, &["s_load_dword s8, s[2:3], 0x0"]), found(3));
        assert_eq!(run(0b1000, &["s_mov_b32 s3, s3"; 2]), found(3), "once");
        assert_eq!(run(0b1000, &["v_mov_b32 v1, s2"]), []);
        assert_eq!(run(0b1000, &["s_mov_b32 s3, 0", "v_mov_b32 v1, s3"]), []);
        assert_eq!(run(0, &["v_mov_b32 v1, s3"]), []);
    }

    #[test]
    fn stores_to_lds_are_over_before_a_barrier_for_other_waves() {
        for (level, lines) in [
            (GfxLevel::Gfx9, ["ds_write_b32 v1, v2", "s_waitcnt lgkmcnt(0)", "s_barrier"]),
            (GfxLevel::Gfx10_3, ["ds_write_b32 v1, v2", "s_waitcnt lgkmcnt(0)", "s_barrier"]),
            (GfxLevel::Gfx12, ["ds_store_b32 v1, v2", "s_wait_dscnt 0x0", "s_barrier_signal -1"]),
        ] {
            let [store, wait, barrier] = lines;
            assert_eq!(broken(level, &[store, barrier]), ["BarrierWithoutWait"], "{level}");
            assert_eq!(broken(level, &[store, wait, barrier]), [""; 0], "{level}");
            let config = WaveConfig { level, wave: WaveSize::Wave64, vgprs: 256, is_graphics: false };
            let mut alone = Hazards::new(config, false, 0);
            let found = [store, barrier].map(|line| {
                let instruction = assemble(level, config.wave, line).expect(line);
                alone.step(0, &traits(config, &instruction).expect(line)).is_some()
            });
            assert_eq!(found, [false; 2], "{level}: the only wave of its group");
        }
    }

    #[test]
    fn scattered_addresses_of_gfx10_are_neither_followed_by_a_buffer_nor_follow_a_written_lane() {
        let image = "image_sample_d v20, [v1, v3, v5, v7, v9, v11, v13, v15, v17], s[8:15], s[16:19] dmask:0x1 \
                     dim:SQ_RSRC_IMG_3D";
        let buffer = "buffer_load_dword v2, v1, s[0:3], 0 offen offset:4";
        let lane = "v_writelane_b32 v30, s0, 0";
        for (first, then, rule) in [(image, buffer, "NSAToVMEMBug"), (lane, image, "waNsaCannotFollowWritelane")] {
            assert_eq!(broken(GfxLevel::Gfx10, &[first, then]), [rule]);
            assert_eq!(broken(GfxLevel::Gfx10, &[first, "s_nop 0", then]), [""; 0]);
            assert_eq!(broken(GfxLevel::Gfx10_3, &[first, then]), [""; 0]);
        }
        let clause = ["s_clause 0x1", "image_load v20, v[1:2], s[8:15] dmask:0x1 dim:SQ_RSRC_IMG_2D unorm"];
        assert_eq!(broken(GfxLevel::Gfx10, &[clause[0], clause[1], image]), ["NSAClauseBug"]);
        assert_eq!(broken(GfxLevel::Gfx10, &["s_clause 0x0", clause[1], image]), [""; 0]);
        let even = "buffer_load_dword v2, v1, s[0:3], 0 offen offset:8";
        assert_eq!(broken(GfxLevel::Gfx10, &[image, even]), [""; 0]);
    }

    #[test]
    fn vector_operations_wait_for_a_change_of_vskip() {
        for level in [GfxLevel::Gfx6, GfxLevel::Gfx7, GfxLevel::Gfx8, GfxLevel::Gfx9] {
            let run = |first, between| broken(level, &[first, between, "v_mov_b32 v2, v0"]);
            let set = "s_setreg_b32 hwreg(HW_REG_MODE, 28, 1), s9";
            assert_eq!(run(set, "s_nop 0"), ["SetregVskip"]);
            assert_eq!(run(set, "s_nop 1"), [""; 0]);
            assert_eq!(run("s_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s9", "s_nop 0"), [""; 0]);
        }
    }

    #[test]
    fn a_lane_of_an_interpolated_register_is_not_read_at_once_on_gfx6() {
        for level in [GfxLevel::Gfx6, GfxLevel::Gfx7, GfxLevel::Gfx8] {
            let run = |between: &[&str]| {
                let lines = [&["v_interp_p1_f32 v4, v0, attr0.x"], between, &["v_readfirstlane_b32 s8, v4"]].concat();
                broken(level, &lines)
            };
            let expected: &[&str] = if level == GfxLevel::Gfx6 { &["VintrpReadlane"] } else { &[] };
            assert_eq!(run(&[]), expected, "{level}");
            assert_eq!(run(&["s_nop 0"]), [""; 0], "{level}");
        }
    }

    #[test]
    fn interpolation_of_gfx9_does_not_read_m0_at_once() {
        let run = |lines: &[&str]| broken(GfxLevel::Gfx9, lines);
        let interpolation = "v_interp_p1_f32 v4, v0, attr0.x";
        assert_eq!(run(&["s_mov_b32 m0, s0", interpolation]), ["SaluM0Lds"]);
        assert_eq!(run(&["s_mov_b32 m0, s0", "s_nop 0", interpolation]), [""; 0]);
    }

    #[test]
    fn a_parameter_is_not_loaded_over_a_register_that_is_in_use() {
        for level in [GfxLevel::Gfx11, GfxLevel::Gfx11_5, GfxLevel::Gfx12] {
            let is_new = level >= GfxLevel::Gfx12;
            let load = |open: u32, waits_for_memory: bool| {
                let waits = if is_new {
                    format!("wait_va_vdst:{open} wait_vm_vsrc:{}", u32::from(!waits_for_memory))
                } else {
                    format!("wait_vdst:{open}")
                };
                let name = if is_new { "ds_param_load" } else { "lds_param_load" };
                format!("{name} v4, attr0.x {waits}")
            };
            let run = |before: &[&str], load: &str| broken(level, &[before, &[load]].concat());
            let vector = ["v_mov_b32 v4, v0", "v_mov_b32 v5, v0"];
            assert_eq!(run(&vector, &load(2, true)), ["LdsDirectVALUHazard"], "{level}");
            assert_eq!(run(&vector, &load(1, true)), [""; 0], "{level}");
            let slow = ["v_mov_b32 v5, v4", "v_exp_f32 v6, v0"];
            assert_eq!(run(&slow, &load(1, true)), ["LdsDirectVALUHazard"], "{level}");
            assert_eq!(run(&slow, &load(0, true)), [""; 0], "{level}");
            let memory = if is_new {
                "buffer_load_b32 v5, v4, s[0:3], null offen"
            } else {
                "buffer_load_b32 v5, v4, s[0:3], 0 offen"
            };
            assert_eq!(run(&[memory], &load(15, false)), ["LdsDirectVMEMHazard"], "{level}");
            if is_new {
                assert_eq!(run(&[memory], &load(15, true)), [""; 0], "{level}");
            } else {
                assert_eq!(run(&[memory, "s_waitcnt_depctr 0xffe3"], &load(15, false)), [""; 0], "{level}");
            }
            assert_eq!(run(&[memory, "v_mov_b32 v6, v0"], &load(15, false)), [""; 0], "{level}");
        }
    }
}
