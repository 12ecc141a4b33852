//! Accesses of lanes to memory of any kind.

use crate::wave::registers::{Registers, lanes};
use crate::{
    atomic::Atomic,
    memory::{ADDRESS_MASK, Access, Memory, PageFault},
    program::{
        data::{Data, DataKind, Place},
        decoded_inst::MemoryKind,
        source::{PRIVATE_APERTURE, SHARED_APERTURE},
    },
    watch::observer::{self as touched, Act, Observer, Touch},
    wave::state::Surroundings,
};

/// Memory that lanes access. Bytes that cannot be accessed read as 0 and drop writes.
pub(super) trait Space {
    fn load(&mut self, address: u64, out: &mut [u8]);
    fn store(&mut self, address: u64, data: &[u8]);
    fn atomic(&mut self, address: u64, bytes: u8, change: &mut dyn FnMut(u64) -> u64) -> u64;

    /// The accesses that follow are of a lane.
    fn lane(&mut self, lane: usize);

    /// Reads bytes that the shader does not ask for, which observers do not hear of.
    fn load_unseen(&mut self, address: u64, out: &mut [u8]) {
        self.load(address, out);
    }

    /// Writes bytes that the shader does not store.
    fn store_unseen(&mut self, address: u64, data: &[u8]) {
        self.store(address, data);
    }

    /// The accesses that follow are to compression metadata if it `is_metadata`, and to texels if not.
    fn metadata(&mut self, is_metadata: bool) {
        let _ = is_metadata;
    }
}

/// Memory behind page tables.
pub(super) struct Global<'s, O> {
    pub(super) memory: &'s dyn Memory,
    /// The first access that faulted.
    pub(super) fault: &'s mut Option<PageFault>,
    pub(super) observer: &'s O,
    /// Scratch memory for addresses that are a lane's own.
    pub(super) place: touched::Place,
}

impl<'s, O: Observer> Global<'s, O> {
    /// Returns the memory that lanes share.
    pub(super) fn new(around: &Surroundings<'s, O>, fault: &'s mut Option<PageFault>) -> Self {
        Self { memory: around.memory, fault, observer: around.observer, place: touched::Place::Memory }
    }

    /// Returns memory that is private to a lane.
    pub(super) fn private(around: &Surroundings<'s, O>, fault: &'s mut Option<PageFault>) -> Self {
        if O::ON {
            around.observer.private();
        }
        Self { place: touched::Place::Scratch, ..Self::new(around, fault) }
    }

    /// Tells an observer of an access.
    fn touch(&self, act: Act, address: u64, bytes: usize, data: &[u8]) {
        if O::TOUCHED {
            let bytes = bytes as u32;
            self.observer.touch(Touch { place: self.place, act, address: address & ADDRESS_MASK, bytes, data });
        }
    }

    /// Records the first fault.
    pub(super) fn note(&mut self, fault: PageFault) {
        self.fault.get_or_insert(fault);
    }
}

impl<O: Observer> Space for Global<'_, O> {
    fn lane(&mut self, lane: usize) {
        if O::TOUCHED {
            self.observer.lane(lane);
        }
    }

    fn metadata(&mut self, is_metadata: bool) {
        if O::ON {
            self.observer.metadata(is_metadata);
        }
    }

    fn load(&mut self, address: u64, out: &mut [u8]) {
        self.touch(Act::Load, address, out.len(), &[]);
        self.load_unseen(address, out);
    }

    fn store(&mut self, address: u64, data: &[u8]) {
        self.touch(Act::Store, address, data.len(), data);
        self.store_unseen(address, data);
    }

    fn load_unseen(&mut self, address: u64, out: &mut [u8]) {
        if let Err(fault) = self.memory.load(address & ADDRESS_MASK, out) {
            out.fill(0);
            self.note(fault);
        }
    }

    fn store_unseen(&mut self, address: u64, data: &[u8]) {
        if let Err(fault) = self.memory.store(address & ADDRESS_MASK, data) {
            self.note(fault);
        }
    }

    fn atomic(&mut self, address: u64, bytes: u8, change: &mut dyn FnMut(u64) -> u64) -> u64 {
        let aligned = address & ADDRESS_MASK & !(u64::from(bytes) - 1);
        self.touch(Act::Atomic, aligned, bytes.into(), &[]);
        match self.memory.atomic(aligned, bytes, change) {
            Ok(old) => old,
            Err(fault) => {
                self.note(PageFault { access: Access::Atomic, ..fault });
                0
            }
        }
    }
}

/// The LDS of a group.
pub(super) struct Local<'s, O> {
    pub(super) bytes: &'s mut [u8],
    pub(super) observer: &'s O,
}

impl<O: Observer> Local<'_, O> {
    /// Tells an observer of an access.
    fn touch(&self, act: Act, address: u64, bytes: usize, data: &[u8]) {
        if O::TOUCHED && usize::try_from(address).is_ok_and(|start| start.saturating_add(bytes) <= self.bytes.len()) {
            self.observer.touch(Touch { place: touched::Place::Lds, act, address, bytes: bytes as u32, data });
        }
    }

    fn range(&mut self, address: u64, len: usize) -> Option<&mut [u8]> {
        let start = usize::try_from(address).ok()?;
        self.bytes.get_mut(start..start.checked_add(len)?)
    }
}

impl<O: Observer> Space for Local<'_, O> {
    fn lane(&mut self, lane: usize) {
        if O::TOUCHED {
            self.observer.lane(lane);
        }
    }

    fn load(&mut self, address: u64, out: &mut [u8]) {
        self.touch(Act::Load, address, out.len(), &[]);
        match self.range(address, out.len()) {
            Some(bytes) => out.copy_from_slice(bytes),
            None => out.fill(0),
        }
    }

    fn store(&mut self, address: u64, data: &[u8]) {
        self.touch(Act::Store, address, data.len(), data);
        if let Some(bytes) = self.range(address, data.len()) {
            bytes.copy_from_slice(data);
        }
    }

    fn atomic(&mut self, address: u64, bytes: u8, change: &mut dyn FnMut(u64) -> u64) -> u64 {
        let mut word = [0; 8];
        let len = usize::from(bytes);
        self.touch(Act::Atomic, address, len, &[]);
        let Some(place) = self.range(address, len) else { return 0 };
        word[..len].copy_from_slice(place);
        let old = u64::from_le_bytes(word);
        place.copy_from_slice(&change(old).to_le_bytes()[..len]);
        old
    }
}

/// Memory as FLAT sees it: LDS and scratch have windows of their own.
pub(super) struct Flat<'s, O> {
    pub(super) global: Global<'s, O>,
    pub(super) local: Local<'s, O>,
    pub(super) scratch_base: u64,
    pub(super) lanes: u64,
    pub(super) lane: u64,
}

impl<O: Observer> Flat<'_, O> {
    /// Returns the address in LDS, or the one in memory.
    fn resolve(&self, address: u64) -> Result<u64, u64> {
        match address >> 32 {
            SHARED_APERTURE => Ok(address & 0xffff_ffff),
            PRIVATE_APERTURE => {
                if O::ON {
                    self.global.observer.private();
                }
                let offset = address & 0xffff_ffff;
                Err(self.scratch_base.wrapping_add((offset / 4 * self.lanes + self.lane) * 4 + offset % 4))
            }
            _ => Err(address),
        }
    }
}

impl<O: Observer> Space for Flat<'_, O> {
    fn lane(&mut self, lane: usize) {
        self.global.lane(lane);
    }

    fn load(&mut self, address: u64, out: &mut [u8]) {
        match self.resolve(address) {
            Ok(local) => self.local.load(local, out),
            Err(global) => self.global.load(global, out),
        }
    }

    fn store(&mut self, address: u64, data: &[u8]) {
        match self.resolve(address) {
            Ok(local) => self.local.store(local, data),
            Err(global) => self.global.store(global, data),
        }
    }

    fn atomic(&mut self, address: u64, bytes: u8, change: &mut dyn FnMut(u64) -> u64) -> u64 {
        match self.resolve(address) {
            Ok(local) => self.local.atomic(local, bytes, change),
            Err(global) => self.global.atomic(global, bytes, change),
        }
    }
}

/// Returns the value of a small load in a register that held `old`.
fn placed(value: u32, bytes: u8, signed: bool, place: Place, old: u32) -> u32 {
    let bits = 8 * u32::from(bytes);
    let raised = value << (32 - bits);
    let extended = if signed { (raised.cast_signed() >> (32 - bits)).cast_unsigned() } else { raised >> (32 - bits) };
    match place {
        Place::Whole => extended,
        Place::Low => old & 0xffff_0000 | extended & 0xffff,
        Place::High => old & 0xffff | extended << 16,
    }
}

/// Loads data of one lane; `address` gives the address of a byte of it, or nothing where it is out of range.
pub(super) fn load_lane(
    registers: &mut Registers,
    space: &mut impl Space,
    (lane, data, destination): (usize, Data, u16),
    address: impl Fn(u32) -> Option<u64>,
) {
    match data {
        Data::Dwords(dwords) => {
            let mut values = [0_u32; 4];
            for (index, value) in values.iter_mut().enumerate().take(dwords.into()) {
                if let Some(address) = address(4 * index as u32) {
                    let mut bytes = [0; 4];
                    space.load(address, &mut bytes);
                    *value = u32::from_le_bytes(bytes);
                }
            }
            for (index, value) in values.into_iter().enumerate().take(dwords.into()) {
                registers.write_lane(destination + index as u16, lane, value);
            }
        }
        Data::Part { bytes, signed, place } => {
            let mut read = [0; 4];
            if let Some(address) = address(0) {
                space.load(address, &mut read[..bytes.into()]);
            }
            let old = registers.vectors[usize::from(destination)][lane];
            let value = placed(u32::from_le_bytes(read), bytes, signed, place, old);
            registers.write_lane(destination, lane, value);
        }
        Data::Format { .. } => {}
    }
}

/// Stores data of one lane.
pub(super) fn store_lane(
    registers: &Registers,
    space: &mut impl Space,
    (lane, data, source): (usize, Data, u16),
    address: impl Fn(u32) -> Option<u64>,
) {
    let register = |index: usize| registers.vectors[usize::from(source) + index][lane];
    match data {
        Data::Dwords(dwords) => {
            for index in 0..usize::from(dwords) {
                if let Some(address) = address(4 * index as u32) {
                    space.store(address, &register(index).to_le_bytes());
                }
            }
        }
        Data::Part { bytes, place, .. } => {
            let value = if place == Place::High { register(0) >> 16 } else { register(0) };
            if let Some(address) = address(0) {
                space.store(address, &value.to_le_bytes()[..bytes.into()]);
            }
        }
        Data::Format { .. } => {}
    }
}

/// Returns one or two dwords of a lane.
fn word(registers: &Registers, first: u16, bytes: u8, lane: usize) -> u64 {
    let low = u64::from(registers.vectors[usize::from(first)][lane]);
    if bytes == 8 { low | u64::from(registers.vectors[usize::from(first) + 1][lane]) << 32 } else { low }
}

/// The operands of an atomic operation in registers.
#[derive(Clone, Copy)]
pub(super) struct AtomicOperands {
    pub(super) atomic: Atomic,
    pub(super) bytes: u8,
    pub(super) data: u16,
    /// The register of what is compared.
    pub(super) other: u16,
    pub(super) destination: Option<u16>,
}

/// Does an atomic operation for one lane.
pub(super) fn atomic_lane(
    registers: &mut Registers,
    space: &mut impl Space,
    lane: usize,
    operands: AtomicOperands,
    address: Option<u64>,
) {
    let AtomicOperands { atomic, bytes, data, other, destination } = operands;
    let data = word(registers, data, bytes, lane);
    let other = if atomic.compares() { word(registers, other, bytes, lane) } else { 0 };
    let old = match address {
        Some(address) => space.atomic(address, bytes, &mut |old| atomic.apply(bytes, old, data, other)),
        None => 0,
    };
    if let Some(destination) = destination {
        registers.write_lane(destination, lane, old as u32);
        if bytes == 8 {
            registers.write_lane(destination + 1, lane, (old >> 32) as u32);
        }
    }
}

/// The registers of an access: data that is read, and where results go.
#[derive(Clone, Copy)]
pub(super) struct Ends {
    pub(super) data: u16,
    pub(super) destination: u16,
}

/// Does an access for every lane that is on. `address` gives the address of a byte of a lane's data.
pub(super) fn all_lanes(
    registers: &mut Registers,
    space: &mut impl Space,
    kind: MemoryKind,
    ends: Ends,
    address: impl Fn(&Registers, usize, u32) -> Option<u64>,
) {
    for lane in lanes(registers.exec()) {
        one_lane(registers, space, kind, ends, lane, &address);
    }
}

/// Does an access for one lane.
pub(super) fn one_lane(
    registers: &mut Registers,
    space: &mut impl Space,
    kind: MemoryKind,
    ends: Ends,
    lane: usize,
    address: impl Fn(&Registers, usize, u32) -> Option<u64>,
) {
    space.lane(lane);
    match kind {
        MemoryKind::Access(DataKind::Load(data)) => {
            // Results may overwrite the registers of the address, so all addresses are taken first.
            let addresses =
                [0, 4, 8, 12].map(|offset| if offset < data.bytes() { address(registers, lane, offset) } else { None });
            load_lane(registers, space, (lane, data, ends.destination), |offset| addresses[offset as usize / 4]);
        }
        MemoryKind::Access(DataKind::Store(data)) => {
            store_lane(registers, space, (lane, data, ends.data), |offset| address(registers, lane, offset));
        }
        MemoryKind::Atomic { atomic, bytes, returns } => {
            let operands = AtomicOperands {
                atomic,
                bytes,
                data: ends.data,
                other: ends.data + u16::from(bytes) / 4,
                destination: returns.then_some(ends.destination),
            };
            let address = address(registers, lane, 0);
            atomic_lane(registers, space, lane, operands, address);
        }
    }
}
