//! The facts about an instruction on which hazards depend.

use amdgpu_descriptors::view::ImageKind;
use amdgpu_hw::GfxLevel;
use amdgpu_isa::{Field, Format, Instruction, Op};

use super::groups;
use crate::{
    program::{
        data::DataKind,
        decoded_inst::{DecodedOp, HardwareRegister, LaneKind, MemoryKind, RegisterAccess, ScalarKind, Source},
        source::{EXEC, VCC},
        wave_config::WaveConfig,
    },
    watch::{
        counts::InstructionClass,
        waits::{Accesses, Counter, Limits, Span, VECTORS},
    },
};

/// A set of scalar registers, a bit for each slot.
pub(in crate::watch) type Scalars = u128;

/// The unit that executes an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Vector,
    /// Scalar operations but for SOPP.
    Scalar,
    ScalarMemory,
    Memory,
    Lds,
    /// SOPP: waits, branches, messages.
    Control,
    /// Exports of graphics shaders.
    Export,
    /// Loads of LDS without an address, for graphics shaders from GFX11 on.
    LdsDirect,
}

/// Facts about an instruction that do not change between executions.
#[derive(Clone, Debug)]
pub(in crate::watch) struct Traits {
    pub(super) unit: Unit,
    pub(super) op: Op,
    /// The number of wait states that it is.
    pub(super) states: u32,
    pub(super) reads: Scalars,
    pub(super) writes: Scalars,
    pub(super) vectors_read: Vec<Span>,
    pub(super) vectors_written: Vec<Span>,
    pub(super) is_dpp: bool,
    /// The first vector register that is read.
    pub(super) first_vector: Option<u16>,
    /// The scalar register that selects a lane.
    pub(super) lane: Option<u8>,
    /// The registers of a descriptor that a scalar load reads.
    pub(super) descriptor: Scalars,
    /// VCC or EXEC, whose zero flag is read as data.
    pub(super) flags: Scalars,
    /// The hardware register that is read or written, and `true` if it is written.
    pub(super) hardware: Option<(u8, bool)>,
    pub(super) sets_vskip: bool,
    /// The data of a store of more than 64 bits that is read late.
    pub(super) late_data: Option<Span>,
    /// The scalar register pair that a vector operation reads as a mask of lanes.
    pub(super) mask: Option<u8>,
    /// The factors of a matrix operation.
    pub(super) factors: Option<Vec<Span>>,
    pub(super) is_transcendental: bool,
    /// `true` for interpolation by parameters in LDS (up to GFX10.3).
    pub(super) is_interpolation: bool,
    /// The number of vector operations that a load of LDS without an address leaves open, and `true` if it waits for those of memory.
    pub(super) direct: Option<(u32, bool)>,
    /// `true` for loads of memory into LDS.
    pub(super) is_to_lds: bool,
    /// `true` for stores and atomic operations of scalar memory.
    pub(super) stores_scalars: bool,
    pub(super) is_branch: bool,
    /// `true` for stores and atomic operations of LDS.
    pub(super) stores_lds: bool,
    /// `true` for what tells other waves that this one has come to a barrier.
    pub(super) is_barrier: bool,
    /// `true` for FLAT, which may access LDS.
    pub(super) is_generic: bool,
    pub(super) is_image: bool,
    pub(super) has_result: bool,
    /// The dwords of addresses behind an image operation.
    pub(super) scattered: u32,
    pub(super) is_buffer: bool,
    pub(super) offset: u32,
    /// The field of SOPP and SOPK.
    pub(super) constant: u32,
    /// The counters of which the instruction waits until they are 0: loads, stores, LDS.
    pub(super) drains: [bool; 3],
}

/// The counters that an instruction implicitly or explicitly waits for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Depctr {
    pub(super) va_vdst: bool,
    pub(super) va_sdst: bool,
    pub(super) va_vcc: bool,
    pub(super) vm_vsrc: bool,
    pub(super) sa_sdst: bool,
}

/// Returns the set of the scalar registers of spans.
fn scalars(spans: &[Span]) -> Scalars {
    let registers = spans.iter().filter(|span| span.first < 128);
    registers
        .fold(0, |set, span| (0..span.count.min(128 - span.first)).fold(set, |set, at| set | 1 << (span.first + at)))
}

/// Returns the set of consecutive scalar registers.
pub(super) const fn pair(first: u8) -> Scalars {
    3 << first
}

impl Traits {
    /// Returns the facts about an instruction, which waves execute as this operation.
    pub(in crate::watch) fn of(config: WaveConfig, instruction: &Instruction, decoded: &DecodedOp) -> Self {
        let all = Accesses::of(decoded, config, ImageKind::D1);
        let (op, class) = (instruction.op(), InstructionClass::of(instruction));
        let unit = match class {
            _ if matches!(instruction.format(), Format::Exp | Format::Vexport) => Unit::Export,
            _ if matches!(instruction.format(), Format::Ldsdir | Format::Vdsdir) => Unit::LdsDirect,
            InstructionClass::Vector => Unit::Vector,
            InstructionClass::ScalarMemory => Unit::ScalarMemory,
            InstructionClass::Memory | InstructionClass::Image => Unit::Memory,
            InstructionClass::Lds => Unit::Lds,
            _ if instruction.format() == Format::Sopp => Unit::Control,
            _ => Unit::Scalar,
        };
        let vectors = |spans: &[Span]| spans.iter().copied().filter(|span| span.is_vector()).collect::<Vec<_>>();
        let limits = Limits::of(instruction);
        let constant = instruction.field(Field::Simm16);
        let mut traits = Self {
            unit,
            op,
            states: if op == Op::SNop { (constant & 15) + 1 } else { 1 },
            reads: scalars(&all.reads),
            writes: scalars(&all.writes),
            vectors_read: vectors(&all.reads),
            vectors_written: vectors(&all.writes),
            is_dpp: false,
            first_vector: None,
            lane: None,
            descriptor: 0,
            flags: 0,
            hardware: None,
            sets_vskip: false,
            late_data: None,
            mask: None,
            factors: None,
            is_transcendental: unit == Unit::Vector && groups::is_transcendental(op),
            is_interpolation: instruction.format() == Format::Vintrp,
            direct: (unit == Unit::LdsDirect).then(|| {
                let waits_for_memory = config.level >= GfxLevel::Gfx12 && instruction.field(Field::WaitVmVsrc) == 0;
                (instruction.field(Field::WaitVaVdst), waits_for_memory)
            }),
            is_to_lds: matches!(decoded, DecodedOp::LdsTransfer(_)),
            stores_scalars: match decoded {
                DecodedOp::ScalarLoad(op) => op.kind == ScalarKind::Store,
                DecodedOp::ScalarAtomic(_) => true,
                _ => false,
            },
            is_branch: class == InstructionClass::Branch || op == Op::SGetpcB64,
            stores_lds: matches!(decoded, DecodedOp::Lds(op) if op.kind.stores()),
            is_barrier: matches!(op, Op::SBarrier | Op::SBarrierSignal | Op::SBarrierSignalIsfirst),
            is_generic: groups::is_generic(op),
            is_image: class == InstructionClass::Image,
            has_result: !all.writes.is_empty() || has_null_result(instruction),
            scattered: if instruction.format() == Format::Mimg && config.level < GfxLevel::Gfx12 {
                instruction.field(Field::Nsa)
            } else {
                0
            },
            is_buffer: matches!(instruction.format(), Format::Mubuf | Format::Mtbuf),
            offset: instruction.field(Field::Offset),
            constant,
            drains: [Counter::Load, Counter::Store, Counter::Lds].map(|counter| limits.get(counter) == Some(0)),
        };
        traits.note(decoded);
        if groups::reads_mask(op) {
            traits.mask = match decoded {
                DecodedOp::Vector(vector) if vector.rescales => Some(VCC),
                DecodedOp::Vector(vector) => match vector.sources[2] {
                    Source::Scalar(slot) if slot != EXEC => Some(slot),
                    _ => None,
                },
                _ => None,
            };
        }
        let is_dpp = instruction.extension().is_some_and(|extension| extension.format == Format::Dpp);
        traits.is_dpp = is_dpp && matches!(config.level, GfxLevel::Gfx8 | GfxLevel::Gfx9);
        traits.first_vector = traits.vectors_read.first().map(|span| span.first);
        traits
    }

    /// Adds what only the operation tells.
    fn note(&mut self, op: &DecodedOp) {
        match op {
            DecodedOp::SaveExec(op) => {
                let exec = if op.dwords == 2 { pair(EXEC) } else { 1 << EXEC };
                self.reads |= exec;
                self.writes |= exec;
                self.has_result = true;
            }
            DecodedOp::Register(register) => {
                let HardwareRegister { id, offset, bits, access } = **register;
                let writes = matches!(access, RegisterAccess::Write(_));
                self.hardware = Some((id, writes));
                self.sets_vskip = writes && id == 1 && offset <= 28 && u32::from(offset) + u32::from(bits) > 28;
            }
            DecodedOp::Mode(mask, _) => {
                self.hardware = Some((1, true));
                self.sets_vskip = mask >> 28 & 1 != 0;
            }
            DecodedOp::ScalarLoad(load) if load.buffer => self.descriptor = 15 << load.base,
            DecodedOp::Lane(op) if matches!(op.kind, LaneKind::Read | LaneKind::Write) => {
                if let Source::Scalar(slot) = op.sources[1] {
                    self.lane = Some(slot);
                }
            }
            DecodedOp::Vector(vector) => {
                for source in &vector.sources {
                    match source {
                        Source::Vccz => self.flags |= pair(VCC),
                        Source::Execz => self.flags |= pair(EXEC),
                        _ => {}
                    }
                }
            }
            DecodedOp::Matrix(op) => {
                let spans = op.read_vgprs().take(2);
                self.factors =
                    Some(spans.map(|(first, count)| Span { first: VECTORS + first, count: count as u16 }).collect());
            }
            DecodedOp::Flat(op) => self.late_data = stored(op.kind, op.data),
            DecodedOp::Buffer(op) if matches!(op.scalar_offset, Source::Constant(_)) => {
                self.late_data = stored(op.kind, op.data);
            }
            _ => {}
        }
    }

    /// Returns the counters that the instruction waits for.
    ///
    /// Source: Mesa 25.0.7 `src/amd/compiler/aco_ir.cpp`, `parse_depctr_wait`.
    pub(super) fn depctr(&self) -> Depctr {
        let mut waits = Depctr::default();
        match self.unit {
            Unit::Memory => {
                waits.va_vdst = true;
                (waits.va_sdst, waits.va_vcc) = (true, true);
            }
            Unit::Lds => waits.va_vdst = true,
            Unit::Export => {
                waits.va_vdst = true;
                (waits.va_sdst, waits.va_vcc) = (true, true);
            }
            Unit::LdsDirect => {
                let (open, waits_for_memory) = self.direct.unwrap_or_default();
                (waits.va_vdst, waits.vm_vsrc) = (open == 0, waits_for_memory);
            }
            Unit::ScalarMemory => (waits.va_sdst, waits.va_vcc) = (true, true),
            Unit::Control if matches!(self.op, Op::SWaitcntDepctr | Op::SWaitAlu) => {
                let field = |low: u32, bits: u32| self.constant >> low & ((1 << bits) - 1);
                waits.va_vdst = field(12, 4) == 0;
                waits.va_sdst = field(9, 3) == 0;
                waits.vm_vsrc = field(2, 3) == 0;
                waits.va_vcc = field(1, 1) == 0;
                waits.sa_sdst = field(0, 1) == 0;
            }
            Unit::Control => waits.va_vcc = groups::branches_on_vccz(self.op),
            Unit::Scalar => {
                let all = self.reads | self.writes;
                waits.va_sdst = all & ((1 << VCC) - 1) != 0;
                waits.va_vcc = all & pair(VCC) != 0;
            }
            Unit::Vector => {}
        }
        waits
    }
}

/// Returns `true` if a scalar operation has a destination, though it be the null register.
fn has_null_result(instruction: &Instruction) -> bool {
    let has_destination = matches!(instruction.format(), Format::Sop1 | Format::Sop2 | Format::Sopk);
    has_destination && !groups::has_no_destination(instruction.op())
}

/// Returns the data of a store of more than 64 bits.
fn stored(kind: MemoryKind, data: u16) -> Option<Span> {
    let MemoryKind::Access(DataKind::Store(stored)) = kind else { return None };
    let count = stored.registers(false);
    (count > 2).then_some(Span { first: VECTORS + data, count })
}
