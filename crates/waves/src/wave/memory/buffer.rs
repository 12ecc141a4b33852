//! Buffer operations.

use super::{
    access::{Ends, Global, Space},
    at_once::{Addresses, all_lanes_of_memory, lane_by_lane, rises_by},
    components::{read_components, write_components},
};
use crate::{
    alu::{
        kernel::{LANES, WideLanes},
        unit::Unit,
    },
    buffer::{
        described::{Described, Key},
        descriptor::{Buffer, Place, Reach},
        format::Format,
    },
    mutation::WaveMutation,
    program::{
        data::{Data, DataKind},
        decoded_inst::{BufferOp, MemoryKind, Source},
    },
    watch::observer::Observer,
    wave::{
        registers::Registers,
        state::{Surroundings, Wave},
    },
};

/// Returns the place of a lane's access.
fn place(registers: &Registers, op: &BufferOp, scalar: u32, lane: usize, bytes: u32) -> Place {
    let register = |offset: u16| registers.vectors[usize::from(op.address + offset)][lane];
    let index = op.has_index.then(|| register(0));
    let offset = if op.has_offset { register(u16::from(op.has_index)) } else { 0 };
    Place { index, lane: lane as u32, offset: offset.wrapping_add(op.offset), scalar, bytes }
}

/// Returns the address of a lane's access.
fn address(registers: &Registers, op: &BufferOp, buffer: &Buffer, place: Place, lane: usize) -> Option<u64> {
    if op.address64 {
        let vaddr = registers.lane(Source::Vgpr(op.address), 2, lane);
        let offset = u64::from(op.offset).wrapping_add(place.scalar.into());
        return Some(buffer.base.wrapping_add(vaddr).wrapping_add(offset));
    }
    buffer.address(place)
}

/// The addresses of an access without a format.
struct BufferAddresses<'s> {
    op: &'s BufferOp,
    buffer: &'s Buffer,
    reach: &'s Reach,
    scalar: u32,
    /// Bytes that must be in range.
    bytes: u32,
    /// `true` if all lanes share the memory of the first.
    shares: bool,
    unit: Unit,
}

impl Addresses for BufferAddresses<'_> {
    fn of_lane(&self, registers: &Registers, lane: usize, byte: u32) -> Option<u64> {
        let op = self.op;
        if op.address64 {
            let place = place(registers, op, self.scalar, lane, self.bytes);
            let first = address(registers, op, self.buffer, place, lane);
            return first.map(|address| address.wrapping_add(byte.into()));
        }
        let register = |offset: u16| registers.vectors[usize::from(op.address + offset)][lane];
        let index = if op.has_index { register(0) } else { 0 };
        let offset = if op.has_offset { register(u16::from(op.has_index)) } else { 0 };
        // Each dword is in range or not for itself.
        let offset = offset.wrapping_add(op.offset).wrapping_add(byte);
        self.reach.address(index, if self.shares { 0 } else { lane as u32 }, offset)
    }

    fn row(&self, registers: &Registers, byte: u32) -> Option<u64> {
        let op = self.op;
        // Each lane's offset, or its index, has to be 4 bytes from that of the lane before it.
        let rise = match (op.has_index, op.has_offset) {
            (false, true) => 4,
            (true, false) if self.buffer.has_dword_stride() => 1,
            _ => return None,
        };
        if op.address64 || self.shares || self.buffer.adds_lane || !self.reach.is_linear() {
            return None;
        }
        let count = registers.lanes as usize;
        if !rises_by(self.unit, rise, &registers.vectors[usize::from(op.address)], count) {
            return None;
        }
        // Bounds are upper bounds: lanes between two that are in range are in range too, unless the offset that is added wraps.
        let (first, last) = (self.of_lane(registers, 0, byte)?, self.of_lane(registers, count - 1, byte)?);
        (last.wrapping_sub(first) == 4 * (count as u64 - 1)).then_some(first)
    }

    fn of_all(&self, registers: &Registers, byte: u32, on: u64, addresses: &mut WideLanes) -> u64 {
        let op = self.op;
        if op.address64 || self.shares || !self.reach.is_linear() {
            return lane_by_lane(self, registers, byte, on, addresses);
        }
        let register = |offset: bool| &registers.vectors[usize::from(op.address + u16::from(offset))].0;
        let index = op.has_index.then(|| register(false));
        let offset = if op.has_offset { register(op.has_index) } else { &[0; LANES] };
        on & self.reach.linear(self.unit, (index, offset, op.offset.wrapping_add(byte)), addresses)
    }
}

impl Wave {
    /// Executes a buffer operation.
    pub(crate) fn buffer(&mut self, op: &BufferOp, around: &mut Surroundings<'_, impl Observer>) {
        let halves = (self.registers.pair(op.resource), self.registers.pair(op.resource + 2));
        let scalar = self.registers.scalar(op.scalar_offset, 1) as u32;
        let bytes = match op.kind {
            MemoryKind::Access(kind) => kind.data().bytes().min(4),
            MemoryKind::Atomic { bytes, .. } => bytes.into(),
        };
        self.described.describe(Key { halves, has_index: op.has_index, scalar, bytes });
        let ends = Ends { data: op.data, destination: op.data };
        if op.kind.is_formatted() {
            let buffer = self.described.buffer;
            self.formatted(op, &buffer, scalar, around);
        } else {
            let Described { buffer, reach, .. } = &self.described;
            let shares = self.mutation == Some(WaveMutation::SharedScratch);
            // A buffer that adds the lane is scratch memory.
            let mut space = if buffer.adds_lane {
                Global::private(around, &mut self.fault)
            } else {
                Global::new(around, &mut self.fault)
            };
            let places = BufferAddresses { op, buffer, reach, scalar, bytes, shares, unit: self.unit };
            all_lanes_of_memory((&mut self.registers, &mut self.pad), &mut space, op.kind, ends, &places);
        }
        if op.residency {
            self.clear_residency(op);
        }
    }

    /// Writes the register that says which pages were missing: none.
    fn clear_residency(&mut self, op: &BufferOp) {
        let count = match op.kind {
            MemoryKind::Access(DataKind::Load(data)) => data.registers(self.packs_halves()),
            _ => return,
        };
        let exec = self.registers.exec();
        self.registers.write(op.data + count, &[0; 64], exec);
    }

    /// Returns `true` if two 16-bit components share a register.
    fn packs_halves(&self) -> bool {
        self.registers.level >= amdgpu_hw::GfxLevel::Gfx9
    }

    /// Executes a load or store that a format converts.
    fn formatted(&mut self, op: &BufferOp, buffer: &Buffer, scalar: u32, around: &mut Surroundings<'_, impl Observer>) {
        let level = self.registers.level;
        let format = match op.format {
            None => buffer.format,
            Some((number, _)) if level >= amdgpu_hw::GfxLevel::Gfx10 => Format::unified(level, number),
            Some((data, number)) => Format::new(data, number),
        };
        // A null resource has no format: loads give 0, stores do nothing.
        let packs = self.packs_halves();
        let MemoryKind::Access(kind) = op.kind else { return };
        let Data::Format { components, half, high } = kind.data() else { return };
        let bytes = format.map_or(4, Format::bytes);
        let len = bytes as usize;
        let is_alpha_unsigned =
            level <= amdgpu_hw::GfxLevel::Gfx8 && around.images.chip().is_some_and(|chip| !chip.is_stoney());
        let mut space = Global::new(around, &mut self.fault);
        for lane in crate::wave::registers::lanes(self.registers.exec()) {
            space.lane(lane);
            let registers = &mut self.registers;
            let place = place(registers, op, scalar, lane, bytes);
            let address = format.and_then(|_| address(registers, op, buffer, place, lane));
            let mut raw = [0; 16];
            match kind {
                DataKind::Load(_) => {
                    if let Some(address) = address {
                        space.load(address, &mut raw[..len]);
                    }
                    let element = u128::from_le_bytes(raw);
                    let mut unpacked = format.map_or([0; 4], |format| format.unpack(element));
                    if let Some(alpha) =
                        format.filter(|_| is_alpha_unsigned).and_then(|format| format.unsigned_alpha(element))
                    {
                        unpacked[3] = alpha;
                    }
                    let selected = buffer.selects.map(|select| match select {
                        4..=7 => unpacked[usize::from(select) - 4],
                        1 => format.map_or(0, Format::one),
                        _ => 0,
                    });
                    let selected = if op.format.is_some() { unpacked } else { selected };
                    let parts = (usize::from(components), half, high, packs);
                    write_components(registers, op.data, lane, selected, format, parts);
                }
                DataKind::Store(_) => {
                    let parts = (usize::from(components), half, high, packs);
                    let values = read_components(registers, op.data, lane, format, parts);
                    // As for images, the channel that a component is loaded from takes it back: RADV stores copies of BGRA images
                    // through such views.
                    let channel = |number: u8| buffer.selects.iter().position(|select| *select == number + 4);
                    let values = match op.format {
                        None => [0, 1, 2, 3].map(|number| values[channel(number).unwrap_or(number.into())]),
                        Some(_) => values,
                    };
                    if let (Some(address), Some(format)) = (address, format) {
                        space.store(address, &format.pack(values).to_le_bytes()[..len]);
                    }
                }
            }
        }
    }
}
