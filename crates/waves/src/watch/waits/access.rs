//! The registers that instructions read and write.

use amdgpu_descriptors::view::ImageKind;
use amdgpu_hw::GfxLevel;

use crate::{
    alu::kernel::Type,
    program::{
        data::DataKind,
        decoded_inst::{
            BufferOp, Condition, DecodedOp, Destination, FlatOp, GraphicsOp, Interpolation, Jump, LaneKind, LaneOp,
            LdsOp, LdsTransferAccess, MemoryKind, RegisterAccess, ScalarKind, ScalarLoad, ScalarOp, Segment, Source,
            Vector,
        },
        image::op::{Detail, ImageOp, Operation},
        source::{EXEC, SINK, VCC},
        wave_config::WaveConfig,
    },
    wave::memory::texel::Coordinates,
};

/// The number of the first vector register.
pub(in crate::watch) const VECTORS: u16 = 256;

/// Consecutive registers: scalar registers by their slot in the wave, vector registers counted from [`VECTORS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::watch) struct Span {
    pub(in crate::watch) first: u16,
    pub(in crate::watch) count: u16,
}

impl Span {
    /// Returns the first register that both spans have.
    pub(in crate::watch) fn common(self, other: Self) -> Option<u16> {
        let first = self.first.max(other.first);
        (first < (self.first + self.count).min(other.first + other.count)).then_some(first)
    }

    /// Returns `true` for vector registers.
    pub(in crate::watch) fn is_vector(self) -> bool {
        self.first >= VECTORS
    }
}

/// The registers that an instruction names, and VCC where it is implied. EXEC, SCC, M0 and MODE are listed only as operands, and
/// registers that M0 selects are missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::watch) struct Accesses {
    pub(in crate::watch) reads: Vec<Span>,
    pub(in crate::watch) writes: Vec<Span>,
    /// `true` if lanes that are off are accessed as well.
    pub(super) all_lanes: bool,
}

impl Accesses {
    /// Returns the registers of an operation. Up to GFX9 only the descriptor tells the kind of an image.
    pub(in crate::watch) fn of(op: &DecodedOp, config: WaveConfig, image: ImageKind) -> Self {
        let mut all = Self::default();
        let mask = config.wave.mask_dwords();
        match op {
            DecodedOp::Branch(condition, _) => match condition {
                Condition::VccZero(_) => all.read(Source::Scalar(VCC), mask),
                Condition::ExecZero(_) => all.read(Source::Scalar(EXEC), mask),
                Condition::Always | Condition::Scc(_) => {}
            },
            DecodedOp::Scalar(op) => all.scalar(op),
            DecodedOp::SaveExec(op) => {
                all.read(op.source, op.dwords);
                all.write_scalars(op.destination, op.dwords);
            }
            DecodedOp::Jump(jump) => all.jump(**jump),
            DecodedOp::Register(register) => match register.access {
                RegisterAccess::Read(destination) => all.write_scalars(destination, 1),
                RegisterAccess::Write(source) => all.read(source, 1),
            },
            DecodedOp::ScalarMove(op) if !op.indexes_source && !op.indexes_destination => {
                all.read(Source::Scalar(op.source), op.dwords);
                all.write_scalars(op.destination, op.dwords);
            }
            DecodedOp::IndexMode(op) => op.source.iter().for_each(|source| all.read(*source, 1)),
            DecodedOp::ScalarLoad(load) => all.scalar_load(load),
            DecodedOp::ScalarAtomic(op) => {
                all.scalar_address(&op.place);
                let dwords = op.bytes / 4;
                all.read(Source::Scalar(op.place.data), if op.atomic.compares() { 2 * dwords } else { dwords });
                if op.returns {
                    all.write_scalars(op.place.data, dwords);
                }
            }
            DecodedOp::Time { destination, dwords } => all.write_scalars(*destination, *dwords),
            DecodedOp::WaveNumber(destination) => all.write_scalars(*destination, 1),
            DecodedOp::Vector(vector) => all.vector(vector, mask),
            DecodedOp::Dual(pair) => pair.iter().for_each(|vector| all.vector(vector, mask)),
            DecodedOp::Packed(packed) | DecodedOp::Dot(packed) => {
                packed.sources.iter().for_each(|source| all.read(*source, 1));
                all.write_vectors(packed.destination, 1);
                all.all_lanes |= packed.dpp.is_some_and(|dpp| dpp.fetches_inactive);
            }
            DecodedOp::Mix(mix) => {
                mix.sources.iter().for_each(|source| all.read(*source, 1));
                all.write_vectors(mix.destination, 1);
                all.all_lanes |= mix.dpp.is_some_and(|dpp| dpp.fetches_inactive);
            }
            DecodedOp::Matrix(op) => {
                op.read_vgprs().for_each(|(first, count)| all.read_vectors(first, count as u16));
                let (first, count) = op.written_vgprs();
                all.write_vectors(first, count as u16);
                all.all_lanes = true;
            }
            DecodedOp::Lane(op) => all.lane(op),
            DecodedOp::Lds(op) => all.lds(op),
            DecodedOp::Flat(op) => all.flat(op),
            DecodedOp::Buffer(op) => all.buffer(op, config.level),
            DecodedOp::LdsTransfer(op) => match &op.access {
                LdsTransferAccess::Buffer(access) => all.buffer_address(access),
                LdsTransferAccess::Flat(access) => all.flat_address(access),
            },
            DecodedOp::Image(op) => all.image(op, config.level, image),
            DecodedOp::Graphics(op) => all.graphics(op),
            DecodedOp::Nothing
            | DecodedOp::ForgetCode
            | DecodedOp::End
            | DecodedOp::Halt
            | DecodedOp::Barrier
            | DecodedOp::BarrierSignal
            | DecodedOp::BarrierWait
            | DecodedOp::Mode(..)
            | DecodedOp::ScalarMove(_) => {}
        }
        all
    }

    fn graphics(&mut self, op: &GraphicsOp) {
        match *op {
            GraphicsOp::Export { enabled, is_compressed, sources, .. } => {
                for (number, register) in sources.into_iter().enumerate() {
                    // Each of the first two registers of a compressed export has two components.
                    let bits = if is_compressed { 3 << (2 * number) } else { 1 << number };
                    if u16::from(enabled) & bits != 0 && (!is_compressed || number < 2) {
                        self.read_vectors(register, 1);
                    }
                }
            }
            GraphicsOp::Interpolate { kind, destination, source, .. } => {
                if !matches!(kind, Interpolation::Move(_)) {
                    self.read_vectors(source, 1);
                }
                if kind == Interpolation::Second {
                    self.read_vectors(destination, 1);
                }
                self.write_vectors(destination, 1);
            }
            GraphicsOp::Parameter { destination, .. } => self.write_vectors(destination, 1),
            GraphicsOp::Combine { destination, sources, .. } => {
                for source in sources {
                    self.read(source, 1);
                }
                self.write_vectors(destination, 1);
            }
        }
    }

    fn read(&mut self, source: Source, dwords: u8) {
        match source {
            Source::Vgpr(register) => self.read_vectors(register, dwords.into()),
            Source::Scalar(slot) if slot < SINK => {
                self.reads.push(Span { first: slot.into(), count: dwords.into() });
            }
            Source::Vccz => self.reads.push(Span { first: VCC.into(), count: 2 }),
            _ => {}
        }
    }

    fn read_vectors(&mut self, register: u16, count: u16) {
        if count > 0 {
            self.reads.push(Span { first: VECTORS + register, count });
        }
    }

    fn write_vectors(&mut self, register: u16, count: u16) {
        if count > 0 {
            self.writes.push(Span { first: VECTORS + register, count });
        }
    }

    fn write_scalars(&mut self, slot: u8, dwords: u8) {
        if slot < SINK {
            self.writes.push(Span { first: slot.into(), count: dwords.into() });
        }
    }

    fn scalar(&mut self, op: &ScalarOp) {
        let old = op.destination.map(|(slot, _)| Source::Scalar(slot));
        self.read(op.a.0, op.a.1);
        self.read(op.b.0, op.b.1);
        // The third operand of most operations is their destination.
        if Some(op.c.0) != old {
            self.read(op.c.0, op.c.1);
        }
        if let Some((slot, dwords)) = op.destination {
            self.write_scalars(slot, dwords);
        }
    }

    fn jump(&mut self, jump: Jump) {
        match jump {
            Jump::Get(slot) | Jump::Call(slot, _) => self.write_scalars(slot, 2),
            Jump::Set(source) => self.read(source, 2),
            Jump::Swap(slot, source) => {
                self.read(source, 2);
                self.write_scalars(slot, 2);
            }
        }
    }

    fn scalar_address(&mut self, load: &ScalarLoad) {
        self.read(Source::Scalar(load.base), if load.buffer { 4 } else { 2 });
        if let Some(offset) = load.register_offset {
            self.read(offset, 1);
        }
    }

    fn scalar_load(&mut self, load: &ScalarLoad) {
        self.scalar_address(load);
        match load.kind {
            ScalarKind::Store => self.read(Source::Scalar(load.data), load.dwords),
            ScalarKind::Load | ScalarKind::Part(..) => self.write_scalars(load.data, load.dwords),
        }
    }

    fn vector(&mut self, vector: &Vector, mask: u8) {
        for (source, kind) in vector.sources.iter().zip(vector.operation.sources) {
            self.read(*source, if *kind == Type::Mask { mask } else { kind.dwords() });
        }
        if vector.rescales {
            self.read(Source::Scalar(VCC), mask);
        }
        self.all_lanes |= vector.modifiers.dpp.is_some_and(|dpp| dpp.fetches_inactive);
        match vector.destination {
            Destination::Vgpr(register) => self.write_vectors(register, vector.operation.result.dwords().into()),
            Destination::Mask { slot, exec } => {
                if let Some(slot) = slot {
                    self.write_scalars(slot, mask);
                }
                if exec {
                    self.write_scalars(EXEC, mask);
                }
            }
            Destination::Scalar(slot) => self.write_scalars(slot, 1),
        }
        if let Some(slot) = vector.carry {
            self.write_scalars(slot, mask);
        }
    }

    fn lane(&mut self, op: &LaneOp) {
        let indexed = |source| match op.kind {
            LaneKind::Move { source: first, .. } => source == 0 && first,
            LaneKind::SwapIndexed => true,
            _ => false,
        };
        for (index, source) in op.sources.iter().enumerate() {
            if !indexed(index) {
                self.read(*source, 1);
            }
        }
        match op.kind {
            LaneKind::ReadFirst | LaneKind::Read => self.write_scalars(op.destination as u8, 1),
            LaneKind::Move { destination: true, .. } | LaneKind::SwapIndexed => {}
            LaneKind::Swap => {
                self.read_vectors(op.destination, 1);
                self.write_vectors(op.destination, 1);
                if let Source::Vgpr(register) = op.sources[0] {
                    self.write_vectors(register, 1);
                }
            }
            _ => self.write_vectors(op.destination, 1),
        }
        self.all_lanes |= matches!(op.kind, LaneKind::Read | LaneKind::Write | LaneKind::SwapHalves)
            || matches!(op.kind, LaneKind::Permute { .. }) && op.flags & 1 != 0;
    }

    fn lds(&mut self, op: &LdsOp) {
        let (data, second, destination) = op.kind.registers();
        self.read_vectors(op.address, u16::from(op.kind.has_address()));
        self.read_vectors(op.data[0], data);
        self.read_vectors(op.data[1], second);
        self.write_vectors(op.destination, destination);
    }

    /// Adds the data of a memory access: the register that is read, and the one that is written.
    fn data(&mut self, kind: MemoryKind, packs_halves: bool, (read, written): (u16, u16)) {
        match kind {
            MemoryKind::Access(DataKind::Load(data)) => self.write_vectors(written, data.registers(packs_halves)),
            MemoryKind::Access(DataKind::Store(data)) => self.read_vectors(read, data.registers(packs_halves)),
            MemoryKind::Atomic { atomic, bytes, returns } => {
                let dwords = u16::from(bytes) / 4;
                self.read_vectors(read, if atomic.compares() { 2 * dwords } else { dwords });
                self.write_vectors(written, if returns { dwords } else { 0 });
            }
        }
    }

    fn flat_address(&mut self, op: &FlatOp) {
        let is_scratch = op.segment == Segment::Scratch;
        if let Some(address) = op.address {
            self.read_vectors(address, if op.scalar.is_none() && !is_scratch { 2 } else { 1 });
        }
        if let Some(scalar) = op.scalar {
            self.read(scalar, if is_scratch { 1 } else { 2 });
        }
    }

    fn flat(&mut self, op: &FlatOp) {
        self.flat_address(op);
        self.data(op.kind, false, (op.data, op.destination));
    }

    fn buffer_address(&mut self, op: &BufferOp) {
        let address = u16::from(op.has_offset) + u16::from(op.has_index) + 2 * u16::from(op.address64);
        self.read_vectors(op.address, address);
        self.read(Source::Scalar(op.resource), 4);
        self.read(op.scalar_offset, 1);
    }

    fn buffer(&mut self, op: &BufferOp, level: GfxLevel) {
        self.buffer_address(op);
        self.data(op.kind, level != GfxLevel::Gfx8, (op.data, op.data));
        if op.residency
            && let Some(data) = self.writes.last_mut()
        {
            data.count += 1;
        }
    }

    fn image(&mut self, op: &ImageOp, level: GfxLevel, kind: ImageKind) {
        let coordinates = Coordinates::of(op, kind);
        let count = coordinates.count() as u16;
        let packed = |count: u16, halves: bool| if halves { count.div_ceil(2) } else { count };
        let (before, gradients, last, sampled) = match op.operation {
            Operation::Load(transfer) | Operation::Store(transfer) => (0, 0, transfer.has_level, false),
            Operation::Size | Operation::Atomic { .. } | Operation::LoadSamples => (0, 0, false, false),
            Operation::Lod => (0, 0, false, true),
            Operation::Sample(lookup) | Operation::Gather(lookup) => {
                let before = u16::from(lookup.has_offset) + u16::from(lookup.has_bias) + u16::from(lookup.compares);
                let axes = coordinates.axes.into();
                let gradients =
                    if lookup.detail == Detail::Gradients { 2 * packed(axes, op.half_gradients) } else { 0 };
                (before, gradients, lookup.has_clamp || lookup.detail == Detail::Explicit, true)
            }
        };
        let total = match op.operation {
            Operation::Size => 1,
            _ => before + gradients + packed(count + u16::from(last), op.half_addresses),
        };
        op.addresses.iter().take(total.into()).for_each(|address| self.read_vectors(*address, 1));
        self.read(Source::Scalar(op.resource), if op.is_short { 4 } else { 8 });
        if sampled {
            self.read(Source::Scalar(op.sampler), 4);
        }
        let components = (op.mask.count_ones() as u16).max(1);
        let words = |components| packed(components, op.half_data && level != GfxLevel::Gfx8);
        match op.operation {
            Operation::Store(_) => self.read_vectors(op.data, words(components)),
            Operation::Atomic { atomic, returns } => {
                self.read_vectors(op.data, components);
                let result = if atomic.compares() { components.div_ceil(2) } else { components };
                self.write_vectors(op.data, if returns { result } else { 0 });
            }
            Operation::Gather(_) | Operation::LoadSamples => {
                self.write_vectors(op.data, words(4) + u16::from(op.residency));
            }
            _ => self.write_vectors(op.data, words(components) + u16::from(op.residency)),
        }
    }
}
