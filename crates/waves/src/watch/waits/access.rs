//! The registers that instructions read and write.

use amdgpu_descriptors::view::ImageKind;
use amdgpu_hw::GfxLevel;

use crate::{
    alu::kernel::Type,
    program::{
        data::DataKind,
        image::step::{Detail, ImageStep, Operation},
        shape::Shape,
        source::{EXEC, SINK, VCC},
        step::{
            Action, BufferStep, Condition, Destination, FlatStep, GraphicsStep, Interpolation, Jump, LaneKind,
            LaneStep, LdsStep, LdsTransferAccess, MemoryKind, RegisterAccess, ScalarKind, ScalarLoad, ScalarStep,
            Segment, Source, Vector,
        },
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
    /// Returns the registers of an action. Up to GFX9 only the descriptor tells the kind of an image.
    pub(in crate::watch) fn of(action: &Action, shape: Shape, image: ImageKind) -> Self {
        let mut all = Self::default();
        let mask = shape.wave.mask_dwords();
        match action {
            Action::Branch(condition, _) => match condition {
                Condition::VccZero(_) => all.read(Source::Scalar(VCC), mask),
                Condition::ExecZero(_) => all.read(Source::Scalar(EXEC), mask),
                Condition::Always | Condition::Scc(_) => {}
            },
            Action::Scalar(step) => all.scalar(step),
            Action::SaveExec(step) => {
                all.read(step.source, step.dwords);
                all.write_scalars(step.destination, step.dwords);
            }
            Action::Jump(jump) => all.jump(**jump),
            Action::Register(register) => match register.access {
                RegisterAccess::Read(destination) => all.write_scalars(destination, 1),
                RegisterAccess::Write(source) => all.read(source, 1),
            },
            Action::ScalarMove(step) if !step.indexes_source && !step.indexes_destination => {
                all.read(Source::Scalar(step.source), step.dwords);
                all.write_scalars(step.destination, step.dwords);
            }
            Action::IndexMode(step) => step.source.iter().for_each(|source| all.read(*source, 1)),
            Action::ScalarLoad(load) => all.scalar_load(load),
            Action::ScalarAtomic(step) => {
                all.scalar_address(&step.place);
                let dwords = step.bytes / 4;
                all.read(Source::Scalar(step.place.data), if step.atomic.compares() { 2 * dwords } else { dwords });
                if step.returns {
                    all.write_scalars(step.place.data, dwords);
                }
            }
            Action::Time { destination, dwords } => all.write_scalars(*destination, *dwords),
            Action::WaveNumber(destination) => all.write_scalars(*destination, 1),
            Action::Vector(vector) => all.vector(vector, mask),
            Action::Dual(pair) => pair.iter().for_each(|vector| all.vector(vector, mask)),
            Action::Packed(packed) | Action::Dot(packed) => {
                packed.sources.iter().for_each(|source| all.read(*source, 1));
                all.write_vectors(packed.destination, 1);
                all.all_lanes |= packed.dpp.is_some_and(|dpp| dpp.fetches_inactive);
            }
            Action::Mix(mix) => {
                mix.sources.iter().for_each(|source| all.read(*source, 1));
                all.write_vectors(mix.destination, 1);
                all.all_lanes |= mix.dpp.is_some_and(|dpp| dpp.fetches_inactive);
            }
            Action::Matrix(step) => {
                step.read_vgprs().for_each(|(first, count)| all.read_vectors(first, count as u16));
                let (first, count) = step.written_vgprs();
                all.write_vectors(first, count as u16);
                all.all_lanes = true;
            }
            Action::Lane(step) => all.lane(step),
            Action::Lds(step) => all.lds(step),
            Action::Flat(step) => all.flat(step),
            Action::Buffer(step) => all.buffer(step, shape.level),
            Action::LdsTransfer(step) => match &step.access {
                LdsTransferAccess::Buffer(access) => all.buffer_address(access),
                LdsTransferAccess::Flat(access) => all.flat_address(access),
            },
            Action::Image(step) => all.image(step, shape.level, image),
            Action::Graphics(step) => all.graphics(step),
            Action::Nothing
            | Action::ForgetCode
            | Action::End
            | Action::Halt
            | Action::Barrier
            | Action::BarrierSignal
            | Action::BarrierWait
            | Action::Mode(..)
            | Action::ScalarMove(_) => {}
        }
        all
    }

    fn graphics(&mut self, step: &GraphicsStep) {
        match *step {
            GraphicsStep::Export { enabled, is_compressed, sources, .. } => {
                for (number, register) in sources.into_iter().enumerate() {
                    // Each of the first two registers of a compressed export has two components.
                    let bits = if is_compressed { 3 << (2 * number) } else { 1 << number };
                    if u16::from(enabled) & bits != 0 && (!is_compressed || number < 2) {
                        self.read_vectors(register, 1);
                    }
                }
            }
            GraphicsStep::Interpolate { kind, destination, source, .. } => {
                if !matches!(kind, Interpolation::Move(_)) {
                    self.read_vectors(source, 1);
                }
                if kind == Interpolation::Second {
                    self.read_vectors(destination, 1);
                }
                self.write_vectors(destination, 1);
            }
            GraphicsStep::Parameter { destination, .. } => self.write_vectors(destination, 1),
            GraphicsStep::Combine { destination, sources, .. } => {
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

    fn scalar(&mut self, step: &ScalarStep) {
        let old = step.destination.map(|(slot, _)| Source::Scalar(slot));
        self.read(step.a.0, step.a.1);
        self.read(step.b.0, step.b.1);
        // The third operand of most operations is their destination.
        if Some(step.c.0) != old {
            self.read(step.c.0, step.c.1);
        }
        if let Some((slot, dwords)) = step.destination {
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

    fn lane(&mut self, step: &LaneStep) {
        let indexed = |source| match step.kind {
            LaneKind::Move { source: first, .. } => source == 0 && first,
            LaneKind::SwapIndexed => true,
            _ => false,
        };
        for (index, source) in step.sources.iter().enumerate() {
            if !indexed(index) {
                self.read(*source, 1);
            }
        }
        match step.kind {
            LaneKind::ReadFirst | LaneKind::Read => self.write_scalars(step.destination as u8, 1),
            LaneKind::Move { destination: true, .. } | LaneKind::SwapIndexed => {}
            LaneKind::Swap => {
                self.read_vectors(step.destination, 1);
                self.write_vectors(step.destination, 1);
                if let Source::Vgpr(register) = step.sources[0] {
                    self.write_vectors(register, 1);
                }
            }
            _ => self.write_vectors(step.destination, 1),
        }
        self.all_lanes |= matches!(step.kind, LaneKind::Read | LaneKind::Write | LaneKind::SwapHalves)
            || matches!(step.kind, LaneKind::Permute { .. }) && step.flags & 1 != 0;
    }

    fn lds(&mut self, step: &LdsStep) {
        let (data, second, destination) = step.kind.registers();
        self.read_vectors(step.address, u16::from(step.kind.has_address()));
        self.read_vectors(step.data[0], data);
        self.read_vectors(step.data[1], second);
        self.write_vectors(step.destination, destination);
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

    fn flat_address(&mut self, step: &FlatStep) {
        let is_scratch = step.segment == Segment::Scratch;
        if let Some(address) = step.address {
            self.read_vectors(address, if step.scalar.is_none() && !is_scratch { 2 } else { 1 });
        }
        if let Some(scalar) = step.scalar {
            self.read(scalar, if is_scratch { 1 } else { 2 });
        }
    }

    fn flat(&mut self, step: &FlatStep) {
        self.flat_address(step);
        self.data(step.kind, false, (step.data, step.destination));
    }

    fn buffer_address(&mut self, step: &BufferStep) {
        let address = u16::from(step.has_offset) + u16::from(step.has_index) + 2 * u16::from(step.address64);
        self.read_vectors(step.address, address);
        self.read(Source::Scalar(step.resource), 4);
        self.read(step.scalar_offset, 1);
    }

    fn buffer(&mut self, step: &BufferStep, level: GfxLevel) {
        self.buffer_address(step);
        self.data(step.kind, level != GfxLevel::Gfx8, (step.data, step.data));
        if step.residency
            && let Some(data) = self.writes.last_mut()
        {
            data.count += 1;
        }
    }

    fn image(&mut self, step: &ImageStep, level: GfxLevel, kind: ImageKind) {
        let coordinates = Coordinates::of(step, kind);
        let count = coordinates.count() as u16;
        let packed = |count: u16, halves: bool| if halves { count.div_ceil(2) } else { count };
        let (before, gradients, last, sampled) = match step.operation {
            Operation::Load(transfer) | Operation::Store(transfer) => (0, 0, transfer.has_level, false),
            Operation::Size | Operation::Atomic { .. } | Operation::LoadSamples => (0, 0, false, false),
            Operation::Lod => (0, 0, false, true),
            Operation::Sample(lookup) | Operation::Gather(lookup) => {
                let before = u16::from(lookup.has_offset) + u16::from(lookup.has_bias) + u16::from(lookup.compares);
                let axes = coordinates.axes.into();
                let gradients =
                    if lookup.detail == Detail::Gradients { 2 * packed(axes, step.half_gradients) } else { 0 };
                (before, gradients, lookup.has_clamp || lookup.detail == Detail::Explicit, true)
            }
        };
        let total = match step.operation {
            Operation::Size => 1,
            _ => before + gradients + packed(count + u16::from(last), step.half_addresses),
        };
        step.addresses.iter().take(total.into()).for_each(|address| self.read_vectors(*address, 1));
        self.read(Source::Scalar(step.resource), if step.is_short { 4 } else { 8 });
        if sampled {
            self.read(Source::Scalar(step.sampler), 4);
        }
        let components = (step.mask.count_ones() as u16).max(1);
        let words = |components| packed(components, step.half_data && level != GfxLevel::Gfx8);
        match step.operation {
            Operation::Store(_) => self.read_vectors(step.data, words(components)),
            Operation::Atomic { atomic, returns } => {
                self.read_vectors(step.data, components);
                let result = if atomic.compares() { components.div_ceil(2) } else { components };
                self.write_vectors(step.data, if returns { result } else { 0 });
            }
            Operation::Gather(_) | Operation::LoadSamples => {
                self.write_vectors(step.data, words(4) + u16::from(step.residency));
            }
            _ => self.write_vectors(step.data, words(components) + u16::from(step.residency)),
        }
    }
}
