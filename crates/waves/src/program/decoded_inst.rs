//! Decoded instructions, as waves execute them.

use crate::{
    alu::{
        kernel::{Narrow, NarrowCarry, Operation},
        scalar::{Combine, Scalar},
    },
    matrix::op::MatrixOp,
    number::{mode::Mode, round::Direction},
    program::{data::DataKind, image::op::ImageOp, lanes::Dpp, lanes::Sdwa},
};

/// A decoded instruction: its operation and its length.
#[derive(Clone)]
pub(crate) struct DecodedInst {
    pub(crate) bytes: u8,
    pub(crate) op: DecodedOp,
}

/// A place that a value is read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Vgpr(u16),
    /// A scalar register, by its slot in the wave.
    Scalar(u8),
    Constant(u64),
    Vccz,
    Execz,
    Scc,
}

/// A condition of a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    Always,
    Scc(bool),
    VccZero(bool),
    ExecZero(bool),
}

/// The operation of an instruction. What is larger than a pointer is boxed, so that decoding moves two words from function to function, and a page
/// of instructions takes a few kilobytes.
#[derive(Clone)]
pub(crate) enum DecodedOp {
    Nothing,
    /// Forgets decoded instructions, because code may have changed.
    ForgetCode,
    End,
    Halt,
    Barrier,
    BarrierSignal,
    BarrierWait,
    Branch(Condition, i64),
    Scalar(Box<ScalarOp>),
    SaveExec(Box<SaveExec>),
    Jump(Box<Jump>),
    Register(Box<HardwareRegister>),
    /// Replaces bits of MODE: mask and value.
    Mode(u32, u32),
    ScalarMove(ScalarMove),
    IndexMode(Box<IndexMode>),
    ScalarLoad(Box<ScalarLoad>),
    ScalarAtomic(Box<ScalarAtomic>),
    /// Reads a counter into a pair of scalar registers.
    Time {
        destination: u8,
        dwords: u8,
    },
    /// Reads the number of the wave in its group into a scalar register.
    WaveNumber(u8),
    Vector(Box<Vector>),
    Dual(Box<[Vector; 2]>),
    Packed(Box<Packed>),
    /// A dot product whose first two sources are not taken as they lie.
    Dot(Box<Packed>),
    Mix(Box<Mix>),
    Matrix(Box<MatrixOp>),
    Lane(Box<LaneOp>),
    Lds(Box<LdsOp>),
    Flat(Box<FlatOp>),
    Buffer(Box<BufferOp>),
    LdsTransfer(Box<LdsTransfer>),
    Image(Box<ImageOp>),
    Graphics(Box<GraphicsOp>),
}

const _: () = assert!(size_of::<DecodedOp>() <= 16, "an operation is a tag and a pointer");

/// A combination of EXEC with a source, whose old value is kept.
#[derive(Clone)]
pub(crate) struct SaveExec {
    pub(crate) combine: Combine,
    /// The destination is the new value rather than the old one.
    pub(crate) writes_both: bool,
    pub(crate) source: Source,
    pub(crate) destination: u8,
    pub(crate) dwords: u8,
}

/// A change of the bits of M0 that index registers: offset and mode.
#[derive(Clone, Copy)]
pub(crate) struct IndexMode {
    pub(crate) source: Option<Source>,
    pub(crate) mode: Option<u32>,
    pub(crate) on: Option<bool>,
}

/// A scalar operation.
#[derive(Clone)]
pub(crate) struct ScalarOp {
    pub(crate) function: Scalar,
    pub(crate) a: (Source, u8),
    pub(crate) b: (Source, u8),
    /// The third operand, or the destination's old value.
    pub(crate) c: (Source, u8),
    /// The destination and its dwords; none for comparisons.
    pub(crate) destination: Option<(u8, u8)>,
}

/// Jumps through registers.
#[derive(Clone, Copy)]
pub(crate) enum Jump {
    /// Stores the address of the next instruction.
    Get(u8),
    Set(Source),
    Swap(u8, Source),
    /// Stores the address of the next instruction and goes on at an offset from it.
    Call(u8, i64),
}

/// An access to bits of a hardware register.
#[derive(Clone, Copy)]
pub(crate) struct HardwareRegister {
    pub(crate) id: u8,
    pub(crate) offset: u8,
    pub(crate) bits: u8,
    pub(crate) access: RegisterAccess,
}

#[derive(Clone, Copy)]
pub(crate) enum RegisterAccess {
    Read(u8),
    Write(Source),
}

/// A move between scalar registers that M0 selects.
#[derive(Clone, Copy)]
pub(crate) struct ScalarMove {
    pub(crate) source: u8,
    pub(crate) destination: u8,
    pub(crate) dwords: u8,
    pub(crate) indexes_source: bool,
    pub(crate) indexes_destination: bool,
    /// The destination's index is in bits 25:16 of M0 rather than in the low bits.
    pub(crate) split: bool,
}

/// A scalar load or store.
#[derive(Clone, Copy)]
pub(crate) struct ScalarLoad {
    pub(crate) data: u8,
    pub(crate) dwords: u8,
    pub(crate) base: u8,
    pub(crate) buffer: bool,
    pub(crate) offset: i64,
    pub(crate) register_offset: Option<Source>,
    pub(crate) kind: ScalarKind,
    /// The offset counts from the scratch base, and registers count 64 bytes.
    pub(crate) scratch: bool,
}

/// A size and direction of a scalar access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScalarKind {
    Load,
    Store,
    /// A part of a dword: bytes, and whether it is sign-extended.
    Part(u8, bool),
}

/// A scalar atomic operation.
#[derive(Clone)]
pub(crate) struct ScalarAtomic {
    pub(crate) place: ScalarLoad,
    pub(crate) atomic: crate::atomic::Atomic,
    pub(crate) bytes: u8,
    pub(crate) returns: bool,
}

/// The part of the destination that a 16-bit result goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Half {
    /// The low half; the upper becomes zero.
    Only,
    Low,
    High,
}

/// Modifiers of operands and the result.
#[derive(Clone)]
pub(crate) struct Modifiers {
    /// Sources whose sign is changed, a bit each.
    pub(crate) negates: u8,
    /// Sources whose sign is removed first.
    pub(crate) absolutes: u8,
    /// Sources of 16 bits that are upper halves.
    pub(crate) highs: u8,
    pub(crate) half: Half,
    pub(crate) clamp: bool,
    pub(crate) scale: u8,
    pub(crate) dpp: Option<Dpp>,
    pub(crate) sdwa: Option<Sdwa>,
}

/// The place of a vector result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Destination {
    Vgpr(u16),
    /// A lane mask in scalar registers, EXEC, or both.
    Mask {
        slot: Option<u8>,
        exec: bool,
    },
    /// One scalar register, from lane 0's operands.
    Scalar(u8),
}

/// A vector operation.
#[derive(Clone)]
pub(crate) struct Vector {
    pub(crate) operation: &'static Operation,
    /// The form for a rounding mode other than to nearest.
    pub(crate) directed: Option<&'static Operation>,
    pub(crate) sources: [Source; 3],
    pub(crate) destination: Destination,
    /// The mask that carries go to.
    pub(crate) carry: Option<u8>,
    pub(crate) modifiers: Modifiers,
    /// No operand or result is modified or has 16 bits.
    pub(crate) plain: bool,
    /// The operation with what is known when it is decoded, if its kernel gives all that is written.
    pub(crate) direct: Option<Direct>,
    /// The result is scaled where VCC is set.
    pub(crate) rescales: bool,
}

/// A vector operation of 32 bits without a selection of lanes or parts, and whose result is not modified.
#[derive(Clone)]
pub(crate) struct Direct {
    pub(super) kernel: Function,
    /// The kernel that also flushes the denormals of operands and result.
    pub(super) flushing: Option<Narrow>,
    /// The kernel that flushes the denormals of the result, for operands without any.
    pub(super) clean: Option<Narrow>,
    /// The operation has another kernel for rounding other than to nearest.
    pub(super) is_rounded: bool,
    pub(crate) operands: [Operand; 3],
    /// The operands that are floats, a bit each.
    pub(super) floats: u8,
    /// The result is a float.
    pub(super) gives_float: bool,
}

/// A kernel that has operands and a result of up to 32 bits.
#[derive(Clone, Copy)]
pub(crate) enum Function {
    Plain(Narrow),
    Carry(NarrowCarry),
}

/// An operand of every lane.
#[derive(Clone)]
pub(crate) enum Operand {
    Vgpr(u16),
    /// A vector register of which some bits are kept, then some are changed.
    Changed(u16, (u32, u32)),
    /// A value that all lanes have.
    Constant(u32),
    /// A scalar register, changed likewise.
    Scalar(u8, (u32, u32)),
    /// A scalar that is computed, changed likewise.
    Other(Source, (u32, u32)),
    /// A bit of a lane mask.
    Mask(Source),
}

/// The work that an operation has with denormals around its kernel.
#[derive(Clone, Copy, Default)]
pub(crate) struct Flushes {
    /// The operands in which they are replaced, a bit each.
    pub(crate) operands: u8,
    pub(crate) result: bool,
}

impl Direct {
    /// Returns the kernel for a mode, and the flushing around it; `None` if another operation has to round.
    #[inline(always)]
    pub(crate) fn function(&self, mode: Mode) -> Option<(Function, Flushes)> {
        if self.is_rounded && mode.round32() != Direction::Nearest {
            return None;
        }
        let (input, output) = (mode.flushes_input32(), mode.flushes_output32());
        if let Some(flushing) = self.flushing.filter(|_| input && output) {
            return Some((Function::Plain(flushing), Flushes::default()));
        }
        let operands = if input { self.floats } else { 0 };
        Some((self.kernel, Flushes { operands, result: output && self.gives_float }))
    }
}

/// Two 16-bit operations, or a dot product of two words that are put together of halves.
#[derive(Clone)]
pub(crate) struct Packed {
    pub(crate) operation: &'static Operation,
    pub(crate) sources: [Source; 3],
    pub(crate) destination: u16,
    /// Sources whose upper half makes the low result, and the high result.
    pub(crate) highs: [u8; 2],
    pub(crate) negates: [u8; 2],
    pub(crate) clamp: bool,
    pub(crate) dpp: Option<Dpp>,
}

/// A multiplication and addition of floats of either size.
#[derive(Clone)]
pub(crate) struct Mix {
    pub(crate) fused: bool,
    /// `None` for a 32-bit result.
    pub(crate) half: Option<Half>,
    pub(crate) sources: [Source; 3],
    pub(crate) destination: u16,
    pub(crate) halves: u8,
    pub(crate) highs: u8,
    pub(crate) negates: u8,
    pub(crate) absolutes: u8,
    pub(crate) clamp: bool,
    pub(crate) dpp: Option<Dpp>,
}

/// Operations across lanes.
#[derive(Clone)]
pub(crate) struct LaneOp {
    pub(crate) kind: LaneKind,
    pub(crate) sources: [Source; 3],
    /// A VGPR, or the slot of a scalar register.
    pub(crate) destination: u16,
    pub(crate) flags: u8,
    pub(crate) dpp: Option<Dpp>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LaneKind {
    ReadFirst,
    Read,
    Write,
    CountLow,
    CountHigh,
    Swap,
    /// Registers indexed by M0: source, destination, and whether both have their own index.
    Move {
        source: bool,
        destination: bool,
        split: bool,
    },
    SwapIndexed,
    Permute {
        crosses: bool,
        variable: bool,
    },
    SwapHalves,
    /// Mixed-sign dot product of parts of the given number of bits; `highs` are those of [`Packed`].
    Dot {
        bits: u8,
        highs: [u8; 2],
    },
}

/// An LDS operation.
#[derive(Clone)]
pub(crate) struct LdsOp {
    pub(crate) kind: LdsKind,
    pub(crate) address: u16,
    pub(crate) data: [u16; 2],
    pub(crate) destination: u16,
    pub(crate) offset: u32,
    /// The offsets of two-address forms, in bytes.
    pub(crate) offsets: [u32; 2],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LdsKind {
    Access(DataKind),
    Load2(u8),
    Store2(u8),
    Exchange2(u8),
    Atomic {
        atomic: crate::atomic::Atomic,
        bytes: u8,
        returns: bool,
        swapped: bool,
    },
    /// The second operand is in LDS, at an offset of its own.
    AtomicFromMemory {
        atomic: crate::atomic::Atomic,
        bytes: u8,
    },
    Append(bool),
    Swizzle,
    Permute,
    BackwardPermute,
    LaneAddress(bool),
}

/// A segment of FLAT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Segment {
    Flat,
    Global,
    Scratch,
}

/// Kind of a memory access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MemoryKind {
    Access(DataKind),
    Atomic { atomic: crate::atomic::Atomic, bytes: u8, returns: bool },
}

/// A FLAT, GLOBAL or SCRATCH operation.
#[derive(Clone)]
pub(crate) struct FlatOp {
    pub(crate) segment: Segment,
    pub(crate) kind: MemoryKind,
    /// The VGPR of the address; none for scratch without one, and for dwords that follow each other lane by lane.
    pub(crate) address: Option<u16>,
    pub(crate) scalar: Option<Source>,
    pub(crate) offset: i64,
    pub(crate) data: u16,
    pub(crate) destination: u16,
}

/// A buffer operation.
#[derive(Clone)]
pub(crate) struct BufferOp {
    pub(crate) kind: MemoryKind,
    pub(crate) address: u16,
    pub(crate) data: u16,
    pub(crate) resource: u8,
    pub(crate) scalar_offset: Source,
    pub(crate) offset: u32,
    pub(crate) has_offset: bool,
    pub(crate) has_index: bool,
    pub(crate) address64: bool,
    /// The format of a typed instruction: data and number format, or the unified number.
    pub(crate) format: Option<(u32, u32)>,
    pub(crate) residency: bool,
}

/// A load or store between memory and LDS, in place of a VGPR. LDS holds a dword of each lane from M0 + `offset` on.
#[derive(Clone)]
pub(crate) struct LdsTransfer {
    /// The access, whose data goes through a register behind the last one.
    pub(crate) access: LdsTransferAccess,
    pub(crate) offset: u32,
    /// `true` if memory is stored to.
    pub(crate) stores: bool,
}

#[derive(Clone)]
pub(crate) enum LdsTransferAccess {
    Buffer(BufferOp),
    Flat(FlatOp),
}

/// An instruction that only graphics shaders have.
#[derive(Clone, Copy, Debug)]
pub(crate) enum GraphicsOp {
    /// Sends registers to the fixed functions.
    Export { target: u8, enabled: u8, is_compressed: bool, is_last: bool, is_valid_mask: bool, sources: [u16; 4] },
    /// Interpolates an attribute: GFX6 to GFX10.3.
    Interpolate { kind: Interpolation, destination: u16, source: u16, attribute: u8, channel: u8 },
    /// Loads the three values of an attribute into the lanes of each quad: GFX11 and later.
    Parameter { destination: u16, attribute: u8, channel: u8 },
    /// Multiplies a value of another lane of the quad and adds: GFX11 and later.
    Combine { destination: u16, sources: [Source; 3], negates: u8, first_lane: u8, adds_first: bool, clamp: bool },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interpolation {
    /// P0 + P10 * I.
    First,
    /// P20 * J is added.
    Second,
    /// One of P10, P20 and P0, by number.
    Move(u8),
}
