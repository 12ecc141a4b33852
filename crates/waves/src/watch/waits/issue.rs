//! The counters that an instruction increments, and the order in which its results arrive.
//!
//! | operations | up to GFX9 | GFX10, GFX11 | GFX12 | order |
//! |---|---|---|---|---|
//! | loads and returning atomics | vmcnt | vmcnt | loadcnt | as issued; up to GFX11 those of one type write registers in this order, too |
//! | with a sampler | vmcnt | vmcnt | samplecnt | as issued; another type than loads |
//! | stores, atomics without result | vmcnt | vscnt | storecnt | as issued; data is read before the next instruction, on GFX6 before expcnt says so |
//! | FLAT | vmcnt and lgkmcnt | vmcnt or vscnt, and lgkmcnt | loadcnt or storecnt, and dscnt | none up to GFX9, then as issued |
//! | LDS | lgkmcnt | lgkmcnt | dscnt | as issued |
//! | scalar memory | lgkmcnt | lgkmcnt | kmcnt | none |
//! | messages | lgkmcnt | lgkmcnt | kmcnt | as issued |
//!
//! Loads to LDS count as loads, without a register. Waves end at exports, GDS, interpolation and ray tracing, so these are missing.
//!
//! Sources: Mesa 25.0.7 `src/amd/compiler/aco_insert_waitcnt.cpp`, `target_info`, `get_vmem_event`, `check_instr` and `gen`, and
//! `aco_ir.cpp`, `get_vmem_type`; LLVM 19 `llvm/lib/Target/AMDGPU/SIInsertWaitcnts.cpp`, `counterOutOfOrder`,
//! `updateEventWaitcntAfter` (invalidations of caches count on GFX12 alone) and `hasOtherPendingVmemTypes`.

use amdgpu_hw::GfxLevel;
use amdgpu_isa::{Field, Format, Instruction, Op, OperandKind};

use super::counter::Counter;
use crate::program::{
    data::DataKind,
    decoded_inst::MemoryKind,
    image::op::Operation,
    operations::{Executor, executor_of},
};

/// Operations that complete in the order in which they were issued, as seen by a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Queue {
    /// Loads, and up to GFX9 stores.
    Memory,
    /// FLAT, which is LDS or memory: up to GFX9 in any order.
    Flat,
    /// Scalar memory: in any order.
    Scalar,
    Lds,
    Message,
    /// Reads of the data of stores (GFX6).
    StoredData,
}

impl Queue {
    /// Returns `true` if operations of the queue complete in order.
    pub(super) fn is_ordered(self, level: GfxLevel) -> bool {
        match self {
            Self::Scalar => false,
            Self::Flat => level >= GfxLevel::Gfx10,
            Self::Memory | Self::Lds | Self::Message | Self::StoredData => true,
        }
    }
}

/// A unit that writes its results into registers in the order in which operations were issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Writer {
    Load,
    Sample,
    Lds,
}

/// The counters that an instruction increments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Issue {
    /// Counters of the results; FLAT has two.
    pub(super) counts: [Option<(Counter, Queue)>; 2],
    /// `true` if the export counter is incremented until the data of a store is read (GFX6).
    pub(super) holds_data: bool,
    /// The unit that writes results in order; `None` if they may overtake results of the same unit.
    pub(super) writer: Option<Writer>,
}

impl Issue {
    /// Returns the counters that an instruction increments. `writes` is `true` if it writes registers.
    pub(super) fn of(instruction: &Instruction, writes: bool) -> Self {
        let level = instruction.level();
        let op = instruction.op();
        let one =
            |counter: Counter, queue| Self { counts: [Some((counter.of(level), queue)), None], ..Self::default() };
        match instruction.opcode().format {
            _ if is_invalidation(op) => Self::default(),
            _ if op == Op::GlobalInv => one(Counter::Load, Queue::Memory),
            Format::Smem | Format::Smrd => one(Counter::Scalar, Queue::Scalar),
            Format::Ds if op != Op::DsNop => Self { writer: Some(Writer::Lds), ..one(Counter::Lds, Queue::Lds) },
            Format::Flat | Format::Vflat => {
                let counter = if writes { Counter::Load } else { Counter::Store };
                Self {
                    counts: [Some((counter.of(level), Queue::Flat)), Some((Counter::Lds, Queue::Flat))],
                    ..Self::default()
                }
            }
            Format::Mubuf
            | Format::Mtbuf
            | Format::Mimg
            | Format::Global
            | Format::Scratch
            | Format::Vbuffer
            | Format::Vimage
            | Format::Vsample
            | Format::Vglobal
            | Format::Vscratch => Self::memory(instruction, writes),
            _ if matches!(op, Op::SSendmsg | Op::SSendmsgRtnB32 | Op::SSendmsgRtnB64 | Op::SSendmsghalt) => {
                one(Counter::Scalar, Queue::Message)
            }
            _ => Self::default(),
        }
    }

    fn memory(instruction: &Instruction, writes: bool) -> Self {
        let level = instruction.level();
        let op = instruction.op();
        let samples =
            instruction.opcode().has(OperandKind::Ssamp) || level >= GfxLevel::Gfx12 && op == Op::ImageMsaaLoad;
        let (kind, is_to_lds) = match executor_of(op) {
            Executor::Buffer { kind, is_to_lds, .. } => (Some(kind), is_to_lds),
            Executor::Flat { kind, .. } => (Some(kind), false),
            _ => (None, false),
        };
        let to_lds = instruction.field(Field::Lds) != 0 || is_to_lds;
        let loads = matches!(kind, Some(MemoryKind::Access(DataKind::Load(_))));
        let counter = match (writes || to_lds && loads, samples) {
            (false, _) => Counter::Store,
            (true, true) => Counter::Sample,
            (true, false) => Counter::Load,
        };
        // GFX11.5 executes some samples as loads.
        let is_either =
            level == GfxLevel::Gfx11_5 && matches!(op, Op::ImageSample | Op::ImageSampleL | Op::ImageSampleLz);
        let writer = if samples { Writer::Sample } else { Writer::Load };
        let is_atomic = matches!(kind, Some(MemoryKind::Atomic { .. }))
            || matches!(executor_of(op), Executor::Image { operation: Operation::Atomic { .. }, .. });
        let reads_data = instruction.has_field(Field::Vdata) && !to_lds && (!writes || is_atomic);
        Self {
            counts: [Some((counter.of(level), Queue::Memory)), None],
            holds_data: level == GfxLevel::Gfx6 && reads_data,
            writer: (writes && level < GfxLevel::Gfx12 && !is_either).then_some(writer),
        }
    }

    /// Returns `true` if the instruction increments no counter.
    pub(super) fn is_empty(self) -> bool {
        self.counts[0].is_none()
    }
}

/// Returns `true` for operations on caches that no counter counts.
fn is_invalidation(op: Op) -> bool {
    matches!(op, Op::BufferGl0Inv | Op::BufferGl1Inv | Op::BufferWbinvl1 | Op::BufferWbinvl1Sc | Op::BufferWbinvl1Vol)
}
