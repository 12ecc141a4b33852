//! Vector operations and accesses to memory that follow each other, which a wave executes together.

use std::ops::Range;

use amdgpu_isa::Op;

use super::{
    decoded_inst::{
        BufferOp, DecodedInst, DecodedOp, Destination, Direct, FlatOp, Flushes, Function, LdsOp, Operand, ScalarOp,
        Segment, Source, Vector,
    },
    source::EXEC,
};
use crate::{
    alu::kernel::{LANES, Narrow, Type, flush32},
    number::mode::Mode,
    wave::file::Register,
};

/// The maximum number of instructions of a block.
pub(crate) const MOST: u32 = 64;

/// Bits of MODE that kernels are chosen by: the rounding and the denormals of 32-bit floats.
const CHOOSING: u32 = 0x33;

/// Operations that follow each other: vector operations whose kernels give all that is written, vector accesses to memory and LDS, and
/// scalar operations between them. None of them writes EXEC, jumps or fails (an access that faults is noted, and the wave goes on), so
/// that what holds for the first holds for all.
pub(crate) struct Block {
    choosing: u32,
    /// The operations, whatever the registers hold.
    pub(crate) operations: Box<[Member]>,
    /// The operations for the case that some registers hold no denormals.
    pub(crate) quick: Option<Quick>,
    /// Instructions of vectors, with accesses.
    pub(crate) vectors: u32,
    /// Instructions, with those that do nothing.
    pub(crate) instructions: u32,
    /// The length of the code.
    pub(crate) bytes: u32,
}

/// Operations that rely on registers without denormals.
pub(crate) struct Quick {
    /// The registers, all of which are read more than once.
    pub(crate) registers: Box<[u16]>,
    pub(crate) operations: Box<[Member]>,
}

/// An operation of a block.
pub(crate) enum Member {
    /// A kernel whose result goes to a register, as most do.
    Plain(Plain),
    Vector(Chosen),
    Scalar(ScalarOp),
    Buffer(BufferOp),
    Global(FlatOp),
    Lds(LdsOp),
}

/// A vector operation that only writes a register, and its kernel all of it.
pub(crate) struct Plain {
    pub(crate) function: Narrow,
    pub(crate) places: [Place; 3],
    pub(crate) destination: u16,
}

/// A vector operation with what the mode says about it.
pub(crate) struct Chosen {
    pub(crate) function: Function,
    pub(crate) places: [Place; 3],
    /// Denormals of the result are replaced after the kernel.
    pub(crate) flushes: bool,
    pub(crate) destination: Destination,
    /// The mask that carries go to.
    pub(crate) carry: Option<u8>,
}

/// An operand of every lane.
pub(crate) enum Place {
    Vgpr(u16),
    /// A value that all lanes have, spread over them.
    Constant(Box<Register>),
    /// The lanes of the mask that an operation of the block wrote last.
    Written,
    /// An operand that no register holds as it is, and `true` if its denormals are replaced.
    Made(Box<Operand>, bool),
}

impl From<Chosen> for Member {
    fn from(chosen: Chosen) -> Self {
        match (chosen.function, chosen.destination, chosen.carry) {
            (Function::Plain(function), Destination::Vgpr(destination), None) if !chosen.flushes => {
                Self::Plain(Plain { function, places: chosen.places, destination })
            }
            _ => Self::Vector(chosen),
        }
    }
}

/// The reason for which there is no block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    /// The operations that follow are not decoded yet.
    Undecoded,
    /// There are fewer than two operations.
    Short,
}

impl Block {
    /// Returns the block at the start of some instructions, of which the last is the last of a page.
    ///
    /// Only what was executed before belongs to a block: each instruction is decoded when a wave first comes to it.
    pub(crate) fn new(insts: &[Option<DecodedInst>], mode: Mode) -> Result<Self, Missing> {
        let (mut members, mut vectors, mut instructions, mut bytes) = (Vec::new(), 0, 0, 0_usize);
        while let Some(slot) = insts.get(bytes / 4) {
            let Some(inst) = slot else { return Err(Missing::Undecoded) };
            match &inst.op {
                DecodedOp::Nothing => {}
                op @ DecodedOp::Vector(vector) if belongs(vector, mode) => {
                    vectors += 1;
                    members.push(op);
                }
                op if loaded(op).is_some() => {
                    vectors += 1;
                    members.push(op);
                }
                DecodedOp::Scalar(scalar) if !scalar.destination.is_some_and(|(slot, _)| is_exec(slot)) => {
                    members.push(&inst.op);
                }
                _ => break,
            }
            instructions += 1;
            bytes += usize::from(inst.bytes);
            if instructions == MOST {
                break;
            }
        }
        if vectors < 2 {
            return Err(Missing::Short);
        }
        let read_again = read_again(&members, mode);
        let operations = |without: &[u16]| {
            let mut choice = Choice { mode, clean: without.to_vec(), written: None };
            members.iter().filter_map(|op| choice.member(op)).collect::<Box<[_]>>()
        };
        let quick = (!read_again.is_empty())
            .then(|| Quick { operations: operations(&read_again), registers: read_again.into_boxed_slice() });
        Ok(Self {
            choosing: mode.0 & CHOOSING,
            operations: operations(&[]),
            quick,
            vectors,
            instructions,
            bytes: bytes as u32,
        })
    }

    /// Returns `true` if its kernels are those for a mode.
    #[inline(always)]
    pub(crate) fn is_for(&self, mode: Mode) -> bool {
        self.choosing == mode.0 & CHOOSING
    }
}

/// Returns `true` if one or two scalar registers from a slot on have a part of EXEC.
fn is_exec(slot: u8) -> bool {
    (EXEC - 1..=EXEC + 1).contains(&slot)
}

/// Returns `true` if a block may have the operation.
fn belongs(vector: &Vector, mode: Mode) -> bool {
    let writes_exec = match vector.destination {
        Destination::Mask { slot, exec } => exec || slot.is_some_and(is_exec),
        Destination::Vgpr(_) => false,
        Destination::Scalar(_) => true,
    };
    let Some(direct) = &vector.direct else { return false };
    !writes_exec && !vector.carry.is_some_and(is_exec) && direct.function(mode).is_some()
}

/// Returns the vector registers that an access of a block writes; `None` for what is not such an access.
fn loaded(op: &DecodedOp) -> Option<Range<u16>> {
    let (first, count) = match op {
        DecodedOp::Buffer(op) if !op.residency => (op.data, op.kind.registers().1),
        DecodedOp::Flat(op) if op.segment == Segment::Global => (op.destination, op.kind.registers().1),
        DecodedOp::Lds(op) => (op.destination, op.kind.registers().2),
        _ => return None,
    };
    Some(first..first + count)
}

/// Returns the registers that operations read as floats more than once before they are written, if the mode replaces denormals.
fn read_again(members: &[&DecodedOp], mode: Mode) -> Vec<u16> {
    let (mut read, mut again, mut written) = (Vec::new(), Vec::new(), Vec::new());
    for op in members {
        written.extend(loaded(op).unwrap_or_default());
        let DecodedOp::Vector(vector) = op else { continue };
        let Some(direct) = vector.direct.as_ref().filter(|_| mode.flushes_input32()) else { continue };
        for (index, operand) in direct.operands.iter().enumerate() {
            if let Operand::Vgpr(register) | Operand::Changed(register, _) = operand
                && direct.floats >> index & 1 != 0
                && !written.contains(register)
                && !again.contains(register)
            {
                let list = if read.contains(register) { &mut again } else { &mut read };
                list.push(*register);
            }
        }
        if let Destination::Vgpr(register) = vector.destination {
            written.push(register);
        }
    }
    again
}

/// The choice of kernels, operation by operation.
struct Choice {
    mode: Mode,
    /// Registers without denormals in the lanes that are on.
    clean: Vec<u16>,
    /// The mask that was written last.
    written: Option<u8>,
}

impl Choice {
    /// Returns an operation of a block, after those before it.
    fn member(&mut self, op: &DecodedOp) -> Option<Member> {
        match op {
            DecodedOp::Vector(vector) => self.choose(vector).map(Member::from),
            DecodedOp::Scalar(scalar) => {
                if let Some((slot, _)) = scalar.destination {
                    self.overwrite(slot);
                }
                Some(Member::Scalar((**scalar).clone()))
            }
            access => {
                // Memory may hold denormals.
                let loaded = loaded(access)?;
                self.clean.retain(|clean| !loaded.contains(clean));
                match access {
                    DecodedOp::Buffer(op) => Some(Member::Buffer((**op).clone())),
                    DecodedOp::Flat(op) => Some(Member::Global((**op).clone())),
                    DecodedOp::Lds(op) => Some(Member::Lds((**op).clone())),
                    _ => None,
                }
            }
        }
    }

    /// Forgets the mask that was written last if one or two scalar registers from a slot on have a part of it.
    fn overwrite(&mut self, slot: u8) {
        self.written = self.written.filter(|written| written.abs_diff(slot) >= 2);
    }

    /// Returns an operation with its kernel, after those that were chosen before.
    fn choose(&mut self, vector: &Vector) -> Option<Chosen> {
        let direct = vector.direct.as_ref()?;
        let (function, flushes) = self.function(direct)?;
        let place = |index: usize| self.place(&direct.operands[index], flushes.operands >> index & 1 != 0);
        let places = [place(0), place(1), place(2)];
        match vector.destination {
            Destination::Vgpr(register) => {
                let is_clean = direct.gives_float && self.mode.flushes_output32() || self.moves_clean(vector, direct);
                self.clean.retain(|clean| *clean != register);
                if is_clean {
                    self.clean.push(register);
                }
            }
            Destination::Mask { slot, .. } => self.written = slot.filter(|_| vector.carry.is_none()),
            Destination::Scalar(_) => {}
        }
        if let Some(carry) = vector.carry {
            self.overwrite(carry);
        }
        Some(Chosen { function, places, flushes: flushes.result, destination: vector.destination, carry: vector.carry })
    }

    /// Returns `true` if the result is one of the operands, none of which has denormals.
    fn moves_clean(&self, vector: &Vector, direct: &Direct) -> bool {
        let moves = [Op::VMovB32, Op::VCndmaskB32].iter().any(|op| vector.operation.ops.contains(op));
        let kinds = vector.operation.sources.iter().filter(|kind| **kind == Type::Bits32);
        moves
            && kinds.zip(&direct.operands).all(|(_, operand)| match operand {
                Operand::Vgpr(register) | Operand::Changed(register, _) => self.clean.contains(register),
                Operand::Constant(value) => flush32(*value) == *value,
                _ => false,
            })
    }

    /// Returns the kernel, and the flushing around it.
    fn function(&self, direct: &Direct) -> Option<(Function, Flushes)> {
        let (function, flushes) = direct.function(self.mode)?;
        let flushed = direct.flushing.filter(|_| self.mode.flushes_input32() && self.mode.flushes_output32());
        let (may_have, made) = self.denormals(direct);
        match (flushed, direct.clean) {
            // Operands that are made are made without denormals.
            (Some(_), Some(clean)) if may_have == 0 => {
                Some((Function::Plain(clean), Flushes { operands: made, result: false }))
            }
            (Some(flushing), _) => Some((Function::Plain(flushing), Flushes::default())),
            (None, _) => Some((function, Flushes { operands: flushes.operands & (may_have | made), ..flushes })),
        }
    }

    /// Returns the float operands that are registers and may hold denormals, and those that are made for the operation.
    fn denormals(&self, direct: &Direct) -> (u8, u8) {
        let (mut may_have, mut made) = (0, 0);
        for (index, operand) in direct.operands.iter().enumerate() {
            let bit = direct.floats & 1 << index;
            match operand {
                Operand::Vgpr(register) if !self.clean.contains(register) => may_have |= bit,
                Operand::Vgpr(_) => {}
                Operand::Changed(register, _) if self.clean.contains(register) => {}
                _ => made |= bit,
            }
        }
        (may_have, made)
    }

    /// Returns the place of an operand.
    fn place(&self, operand: &Operand, flushes: bool) -> Place {
        match operand {
            Operand::Vgpr(register) if !flushes => Place::Vgpr(*register),
            Operand::Constant(value) => {
                let value = if flushes { flush32(*value) } else { *value };
                Place::Constant(Box::new(Register([value; LANES])))
            }
            Operand::Mask(Source::Scalar(slot)) if self.written == Some(*slot) => Place::Written,
            other => Place::Made(Box::new(other.clone()), flushes),
        }
    }
}

#[cfg(test)]
mod tests {
    use amdgpu_hw::GfxLevel;
    use amdgpu_isa::{WaveSize, assemble};

    use super::*;
    use crate::program::{decode, wave_config::WaveConfig};

    /// Denormals are replaced, as for most shaders.
    const FLUSHING: Mode = Mode(0);

    /// Returns instructions in the slots of their first dwords.
    fn insts(lines: &[&str]) -> Vec<Option<DecodedInst>> {
        let config = WaveConfig { level: GfxLevel::Gfx10_3, wave: WaveSize::Wave64, vgprs: 8, is_graphics: false };
        let mut insts = Vec::new();
        for line in lines {
            let instruction =
                assemble(config.level, config.wave, line).unwrap_or_else(|error| panic!("{line}: {error}"));
            let words = instruction.dwords();
            insts.push(Some(decode::inst(config, words).unwrap()));
            insts.resize_with(insts.len() + words.len() - 1, || None);
        }
        insts
    }

    const BEFORE: [&str; 4] =
        ["v_mul_f32_e32 v0, 0x42280000, v1", "s_add_u32 s0, s1, s2", "s_nop 0", "v_add_f32_e32 v2, v0, v1"];

    #[test]
    fn a_block_ends_before_what_writes_exec_jumps_may_fail_or_has_no_kernel() {
        for last in [
            "v_cmpx_lt_f32_e32 v0, v1",
            "v_cmp_lt_f32_e64 exec, v0, v1",
            "s_mov_b64 exec, s[0:1]",
            "s_and_saveexec_b64 s[0:1], s[2:3]",
            "s_branch 4",
            "s_endpgm",
            "buffer_load_dword v0, v1, s[0:3], 0 offen tfe",
            "flat_load_dword v0, v[0:1]",
            "scratch_load_dword v0, v1, off",
            "s_load_dword s0, s[2:3], 0x0",
            "v_mov_b32_dpp v0, v1 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf",
            "v_readfirstlane_b32 s0, v0",
        ] {
            let block = Block::new(&insts(&[&BEFORE[..], &[last, "v_add_f32_e32 v3, v0, v1"]].concat()), FLUSHING);
            let block = block.unwrap_or_else(|missing| panic!("{last}: {missing:?}"));
            let counts = (block.instructions, block.vectors, block.operations.len(), block.bytes);
            assert_eq!(counts, (4, 2, 3, 20), "{last}");
        }
    }

    #[test]
    fn a_block_has_two_vector_operations_that_are_all_decoded() {
        let missing = |insts: &[Option<DecodedInst>]| Block::new(insts, FLUSHING).err();
        assert_eq!(missing(&insts(&BEFORE)), None);
        assert_eq!(missing(&insts(&BEFORE[..3])), Some(Missing::Short));
        assert_eq!(missing(&insts(&BEFORE)[1..]), Some(Missing::Undecoded), "the middle of an instruction");
        let mut last = insts(&BEFORE);
        last.pop();
        last.push(None);
        assert_eq!(missing(&last), Some(Missing::Undecoded));
    }

    #[test]
    fn kernels_are_those_of_the_mode() {
        let block = Block::new(&insts(&BEFORE), FLUSHING).unwrap();
        let (keeping, upwards) = (Mode(0xf0), Mode(1));
        assert!(
            block.is_for(FLUSHING) && block.is_for(Mode(0x1c0)) && !block.is_for(keeping) && !block.is_for(upwards)
        );
        // v1 is read twice before it is written; v0 is written first.
        assert_eq!(block.quick.map(|quick| quick.registers), Some(Box::from([1])));
        assert!(Block::new(&insts(&BEFORE), keeping).unwrap().quick.is_none(), "denormals are kept");
        assert!(Block::new(&insts(&BEFORE), upwards).is_err(), "other operations round");
    }

    #[test]
    fn a_block_goes_on_behind_accesses_whose_registers_may_then_hold_denormals() {
        // The result of the multiplication has none; what is loaded over it may.
        let kernels = |access: &str| {
            let lines = ["v_mul_f32_e32 v0, v1, v1", access, "v_mul_f32_e32 v2, v0, v0"];
            let block = Block::new(&insts(&lines), FLUSHING).unwrap();
            assert_eq!((block.instructions, block.vectors, block.operations.len()), (3, 3, 3), "{access}");
            let Some(Member::Plain(last)) = block.operations.last() else { panic!("a register is written") };
            last.function as usize
        };
        let clean = kernels("buffer_store_dword v0, v1, s[0:3], 0 offen");
        for access in ["buffer_load_dword v3, v1, s[0:3], 0 offen", "ds_write_b32 v1, v0"] {
            assert_eq!(kernels(access), clean, "{access}");
        }
        for access in [
            "buffer_load_dword v0, v1, s[0:3], 0 offen",
            "global_load_dword v0, v[4:5], off",
            "ds_read_b32 v0, v1",
            "ds_read2_b32 v[6:7], v1 offset1:1",
        ] {
            assert_eq!(kernels(access) == clean, access.contains("v[6:7]"), "{access}");
        }
    }

    #[test]
    fn a_selection_takes_the_lanes_of_the_comparison_unless_the_mask_was_overwritten() {
        let takes = |between: &str| {
            let lines = ["v_cmp_lt_u32_e32 vcc, v0, v1", between, "v_cndmask_b32_e32 v2, v0, v1, vcc"];
            let block = Block::new(&insts(&lines), FLUSHING).unwrap();
            let Some(Member::Plain(plain)) = block.operations.last() else { panic!("a register is written") };
            matches!(plain.places[2], Place::Written)
        };
        assert!(takes("v_add_nc_u32_e32 v3, v0, v1") && takes("s_mov_b32 s0, 0"));
        assert!(!takes("s_mov_b32 vcc_hi, 0") && !takes("v_cmp_lt_u32_e64 s[0:1], v0, v1"));
        assert!(!takes("v_add_co_u32_e64 v3, vcc, v0, v1"));
    }
}
