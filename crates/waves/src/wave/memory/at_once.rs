//! Accesses of all lanes at once to memory behind page tables.

use super::access::{Ends, Global, all_lanes};
use crate::{
    alu::{
        kernel::{LANES, Lanes, WideLanes},
        unit::{Unit, for_each_unit},
    },
    memory::{ADDRESS_MASK, PageFault},
    program::{
        data::{Data, DataKind},
        decoded_inst::MemoryKind,
    },
    watch::observer::Observer,
    wave::{
        registers::{Registers, lanes},
        state::Pad,
    },
};

/// The addresses that the lanes of an instruction access.
pub(super) trait Addresses {
    /// Returns the address of a byte of a lane's data; `None` where it is out of range.
    fn of_lane(&self, registers: &Registers, lane: usize, byte: u32) -> Option<u64>;

    /// Returns the address of a byte of the first lane's data, if every lane of the wave is in range and the dword of each follows
    /// that of the lane before it; `None` also where this is not looked for. Asked only with all lanes on.
    fn row(&self, _registers: &Registers, _byte: u32) -> Option<u64> {
        None
    }

    /// Writes the address of a byte of the data of every lane in `on`, in 48 bits, and returns the lanes in range. The addresses
    /// of other lanes are undefined.
    fn of_all(&self, registers: &Registers, byte: u32, on: u64, addresses: &mut WideLanes) -> u64 {
        lane_by_lane(self, registers, byte, on, addresses)
    }
}

/// Does the work of [`Addresses::of_all`] for one lane after the other.
pub(super) fn lane_by_lane(
    places: &(impl Addresses + ?Sized),
    registers: &Registers,
    byte: u32,
    on: u64,
    addresses: &mut WideLanes,
) -> u64 {
    let mut in_range = 0;
    for lane in lanes(on) {
        if let Some(at) = places.of_lane(registers, lane, byte) {
            addresses[lane] = at & ADDRESS_MASK;
            in_range |= 1 << lane;
        }
    }
    in_range
}

impl<F: Fn(&Registers, usize, u32) -> Option<u64>> Addresses for F {
    fn of_lane(&self, registers: &Registers, lane: usize, byte: u32) -> Option<u64> {
        self(registers, lane, byte)
    }
}

/// Returns `true` if the value of each of the first `count` lanes is greater than that of the lane before it by `step`.
pub(super) fn rises_by(unit: Unit, step: u32, values: &Lanes, count: usize) -> bool {
    let last = values[count - 1];
    // Most scattered values differ from a row in the first two or in the last; past the end of 32 bits the last would be less.
    if values[1] != values[0].wrapping_add(step)
        || u64::from(last) != u64::from(values[0]) + u64::from(step) * (count as u64 - 1)
    {
        return false;
    }
    let compare = for_each_unit!(|differs: &mut u32, values: &Lanes, step: u32, count: usize| {
        let (first, number) = (values[0], count as u32);
        *differs = 0;
        for lane in 0..LANES {
            let expected = first.wrapping_add(step.wrapping_mul(lane as u32));
            // Lanes behind the last are not looked at.
            *differs |= (values[lane] ^ expected) & u32::from((lane as u32) < number).wrapping_neg();
        }
    });
    let mut differs = 0;
    compare(unit, &mut differs, values, step, count);
    differs == 0
}

/// Returns the address of the row of dwords that all lanes access; `None` if lanes are off, or their dwords are not in a row.
fn row_of(registers: &Registers, places: &impl Addresses, byte: u32) -> Option<u64> {
    if registers.exec() != registers.all() {
        return None;
    }
    let start = places.row(registers, byte)? & ADDRESS_MASK;
    (start + 4 * u64::from(registers.lanes) <= ADDRESS_MASK).then_some(start)
}

/// The fault of the lowest lane that an instruction has one in, as if one lane accessed all its dwords before the next one does.
#[derive(Default)]
struct LowestFault(Option<(usize, PageFault)>);

impl LowestFault {
    /// Takes the result of an access to one dword of each lane in `on`, which follows those to the dwords before it.
    fn take(&mut self, result: Result<(), PageFault>, addresses: &WideLanes, on: u64) {
        let Err(fault) = result else { return };
        // A lower lane with this byte would be the one whose fault was returned.
        let has = |&lane: &usize| fault.va.wrapping_sub(addresses[lane]) & ADDRESS_MASK < 4;
        let lane = lanes(on).find(has).unwrap_or(LANES);
        if self.0.is_none_or(|(lowest, _)| lane < lowest) {
            self.0 = Some((lane, fault));
        }
    }

    fn note<O: Observer>(self, space: &mut Global<'_, O>) {
        if let Some((_, fault)) = self.0 {
            space.note(fault);
        }
    }
}

/// Loads dwords for every lane that is on, all lanes at once.
fn load_all<O: Observer>(
    (registers, pad): (&mut Registers, &mut Pad),
    space: &mut Global<'_, O>,
    (dwords, destination): (u8, u16),
    places: &impl Addresses,
) {
    let exec = registers.exec();
    let Pad { out, addresses, .. } = pad;
    let count = registers.lanes as usize;
    if dwords == 1 {
        // One register changes places with its destination, as results of operations do.
        out[count..].fill(0);
        let row = row_of(registers, places, 0);
        if row.is_none_or(|start| space.memory.load_row(start, &mut out[..count]).is_err()) {
            let mut faults = LowestFault::default();
            load_scattered(registers, space, (exec, 0), places, (&mut *addresses, &mut ***out), &mut faults);
            faults.note(space);
        }
        return registers.exchange(destination, out, exec);
    }
    let mut values = [[0; 64]; 4];
    let mut faults = LowestFault::default();
    for (dword, values) in (0..).zip(&mut values).take(dwords.into()) {
        let row = row_of(registers, places, 4 * dword);
        // If a page of the row is missing, the dwords of the others are still read.
        if row.is_none_or(|start| space.memory.load_row(start, &mut values[..count]).is_err()) {
            load_scattered(registers, space, (exec, 4 * dword), places, (&mut *addresses, values), &mut faults);
        }
    }
    faults.note(space);
    // Results may overwrite the registers of the address, so they come last.
    for (register, values) in (destination..).zip(&values).take(dwords.into()) {
        registers.write(register, values, exec);
    }
}

/// Loads a dword for every lane in `on` from an address of its own.
#[inline(never)]
fn load_scattered<O: Observer>(
    registers: &Registers,
    space: &Global<'_, O>,
    (on, byte): (u64, u32),
    places: &impl Addresses,
    (addresses, values): (&mut WideLanes, &mut Lanes),
    faults: &mut LowestFault,
) {
    let in_range = places.of_all(registers, byte, on, addresses);
    // Lanes out of range read 0, also after a row that could not be loaded.
    if in_range != u64::MAX {
        *values = [0; LANES];
    }
    faults.take(space.memory.load_lanes(addresses, in_range, values), addresses, in_range);
}

/// Stores dwords of every lane that is on, all lanes at once. Returns `false`, having stored nothing, if the data of lanes may
/// overlap: a lane then stores all its dwords before the next lane does.
fn store_all<O: Observer>(
    (registers, addresses): (&Registers, &mut WideLanes),
    space: &mut Global<'_, O>,
    (dwords, source): (u8, u16),
    places: &impl Addresses,
) -> bool {
    let exec = registers.exec();
    if dwords == 1
        && let Some(start) = row_of(registers, places, 0)
        && let values = &registers.vectors[usize::from(source)][..registers.lanes as usize]
        && space.memory.store_row(start, values).is_ok()
    {
        return true;
    }
    let mut in_range = places.of_all(registers, 0, exec, addresses);
    if dwords > 1 && !is_apart(addresses, exec, in_range, 4 * u64::from(dwords)) {
        return false;
    }
    let mut faults = LowestFault::default();
    for dword in 0..dwords {
        if dword > 0 {
            in_range = places.of_all(registers, 4 * u32::from(dword), exec, addresses);
        }
        let values = &registers.vectors[usize::from(source + u16::from(dword))];
        faults.take(space.memory.store_lanes(addresses, in_range, values), addresses, in_range);
    }
    faults.note(space);
    true
}

/// Returns `true` if all lanes that are on are in range, and each has its data of `bytes` behind that of the lane before it.
fn is_apart(addresses: &WideLanes, on: u64, in_range: u64, bytes: u64) -> bool {
    let mut end = 0;
    in_range == on
        && lanes(on).all(|lane| {
            let follows = addresses[lane] >= end;
            end = addresses[lane] + bytes;
            // At the end of the address space the data of a lane would go on at its start.
            follows && end <= ADDRESS_MASK
        })
}

/// Does an access of memory behind page tables for every lane that is on.
pub(super) fn all_lanes_of_memory<O: Observer>(
    (registers, pad): (&mut Registers, &mut Pad),
    space: &mut Global<'_, O>,
    kind: MemoryKind,
    ends: Ends,
    places: &impl Addresses,
) {
    // An observer wants to know of each lane.
    let at_once = match kind {
        _ if !registers.unit.takes_shortcuts() => false,
        MemoryKind::Access(DataKind::Load(Data::Dwords(dwords))) if !O::TOUCHED => {
            load_all((registers, pad), space, (dwords, ends.destination), places);
            true
        }
        MemoryKind::Access(DataKind::Store(Data::Dwords(dwords))) if !O::TOUCHED => {
            store_all((registers, &mut pad.addresses), space, (dwords, ends.data), places)
        }
        _ => false,
    };
    if !at_once {
        all_lanes(registers, space, kind, ends, |registers, lane, byte| places.of_lane(registers, lane, byte));
    }
}
