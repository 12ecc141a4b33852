//! Recording of planned loads, with joining of their bytes.

use crate::builder::{BuildError, Builder, Scalar, Vector};
use crate::load::{Access, Address, AddressStep, Kind, Load, Piece, Place, Request, Shift, plan};
use amdgpu_hw::GfxLevel;

/// The registers with the address of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadFrom {
    /// A buffer descriptor, and the byte offset in the buffer.
    Buffer(Scalar, Vector),
    /// A 64-bit address for each lane.
    Global(Vector),
    /// A byte offset in LDS for each lane.
    Lds(Vector),
    /// A buffer descriptor, and a byte offset that is the same for all lanes.
    UniformBuffer(Scalar, Scalar),
    /// A 64-bit address that is the same for all lanes.
    UniformGlobal(Scalar),
}

impl LoadFrom {
    /// Returns the vector registers; `None` if the address is in scalar registers.
    fn register(self) -> Option<Vector> {
        match self {
            Self::Buffer(_, register) | Self::Global(register) | Self::Lds(register) => Some(register),
            Self::UniformBuffer(..) | Self::UniformGlobal(_) => None,
        }
    }

    /// Returns `true` if the request is for this kind of memory with this kind of address.
    fn fits(self, request: &Request) -> bool {
        match self {
            Self::Buffer(..) => request.kind == Kind::Buffer && request.offset == Place::Vector,
            Self::UniformBuffer(..) => {
                matches!(request.kind, Kind::Buffer | Kind::ScalarBuffer) && request.offset == Place::Scalar
            }
            Self::UniformGlobal(_) => {
                matches!(request.kind, Kind::Global | Kind::ScalarGlobal)
                    && request.address == Place::Scalar
                    && request.offset == Place::None
            }
            Self::Lds(_) => request.kind == Kind::Lds && request.offset == Place::Vector,
            Self::Global(_) => {
                request.kind == Kind::Global && request.address == Place::Vector && request.offset == Place::None
            }
        }
    }
}

impl Builder {
    /// Records the loads for a request, split by [`plan`], and returns the result. Byte `k` of the request is byte `k % 4` of
    /// register `k / 4`. The result is rounded up to whole dwords.
    ///
    /// Addresses in scalar registers are used by scalar loads if the request is for these; otherwise they are copied to vector
    /// registers. Scalar loads change SCC.
    pub fn load(&mut self, request: &Request, from: LoadFrom) -> Vector {
        let dwords = request.bytes().div_ceil(4);
        let result = self.vector(u8::try_from(dwords).unwrap_or(u8::MAX));
        if !from.fits(request) {
            self.note(Some(BuildError::Missing("a load from other registers than its request names")));
            return result;
        }
        if from.register().is_none() && !request.kind.is_scalar() {
            self.free_vector(result);
            return self.load_by_vector(request, from);
        }
        let plan = match plan(request, self.level) {
            Ok(plan) => plan,
            Err(error) => {
                self.note(Some(error.into()));
                return result;
            }
        };
        let mut done = 0;
        for register in 0..result.count {
            self.op(format_args!("v_mov_b32 {}, 0", result.at(register)));
        }
        for piece in &plan {
            match from.register() {
                Some(base) => self.piece(request, piece, (from, base), done, result),
                None => self.uniform_piece(request, piece, from, done, result),
            }
            done += piece.access.yields;
        }
        result
    }

    /// Records the loads of one access, and places their bytes in the result.
    fn piece(&mut self, request: &Request, piece: &Piece, (from, base): (LoadFrom, Vector), done: u32, result: Vector) {
        let access = &piece.access;
        let bytes = self.empty_bytes(piece);
        let moved = self.vector(base.count);
        let shift = self.vector(1);
        match access.shift {
            Shift::Dynamic => {
                // The whole address, and its part below the alignment.
                self.add_to(moved, base, u64::from(request.const_offset + done));
                let mask = access.align.mul - 1;
                self.op(format_args!("v_and_b32 {shift}, {mask}, {}", moved.at(0)));
                self.op(format_args!("v_and_b32 {}, -{}, {}", moved.at(0), access.align.mul, moved.at(0)));
            }
            Shift::Known(_) | Shift::None => {
                self.add_to(moved, base, piece.rebase.cast_unsigned());
                let known = if let Shift::Known(bytes) = access.shift { bytes } else { 0 };
                self.op(format_args!("v_mov_b32 {shift}, {known}"));
            }
        }
        let mut at = 0;
        for load in piece.loads.iter() {
            self.one_load(load, from, moved, bytes, at);
            at += u32::from(load.bytes);
        }
        self.combine(access, (bytes, shift), done, result);
        for register in [bytes, moved, shift] {
            self.free_vector(register);
        }
    }

    /// Allocates registers for the bytes that a piece loads, and one more, and clears them.
    pub(super) fn empty_bytes(&mut self, piece: &Piece) -> Vector {
        let loaded: u32 = piece.loads.iter().map(|load| u32::from(load.bytes)).sum();
        let bytes = self.vector(u8::try_from(loaded.div_ceil(4) + 1).unwrap_or(u8::MAX));
        for register in 0..bytes.count {
            self.op(format_args!("v_mov_b32 {}, 0", bytes.at(register)));
        }
        bytes
    }

    /// Records that the loaded bytes from `shift` on become the bytes from `done` on of the result.
    pub(super) fn combine(&mut self, access: &Access, (bytes, shift): (Vector, Vector), done: u32, result: Vector) {
        for index in 0..access.yields.div_ceil(4) {
            let left = access.yields - index * 4;
            let index = u8::try_from(index).unwrap_or(u8::MAX);
            let dword = self.vector(1);
            let (low, high) = (bytes.at(index), bytes.at((index + 1).min(bytes.count - 1)));
            self.op(format_args!("v_alignbyte_b32 {dword}, {high}, {low}, {shift}"));
            self.merge(dword, left.min(4), done + u32::from(index) * 4, result);
            self.free_vector(dword);
        }
    }

    /// Inserts the low `count` bytes of a register at byte `at` of the result, which must be zero there.
    fn merge(&mut self, dword: Vector, count: u32, at: u32, result: Vector) {
        if count < 4 {
            self.op(format_args!("v_bfe_u32 {dword}, {dword}, 0, {}", count * 8));
        }
        let (index, bits) = (u8::try_from(at / 4).unwrap_or(u8::MAX), at % 4 * 8);
        let part = self.vector(1);
        let to = result.at(index);
        self.op(format_args!("v_lshlrev_b32 {part}, {bits}, {dword}"));
        self.op(format_args!("v_or_b32 {to}, {to}, {part}"));
        if bits != 0 && at % 4 + count > 4 {
            let next = result.at(index + 1);
            self.op(format_args!("v_lshrrev_b32 {part}, {}, {dword}", 32 - bits));
            self.op(format_args!("v_or_b32 {next}, {next}, {part}"));
        }
        self.free_vector(part);
    }

    /// Adds a constant to a 32-bit offset or a 64-bit address.
    fn add_to(&mut self, to: Vector, from: Vector, bytes: u64) {
        let literal = self.vector(1);
        let (mask, [low, high]) = (self.mask(), halves(bytes));
        self.op(format_args!("v_mov_b32 {literal}, {low:#x}"));
        self.op(format_args!("v_add_co_u32 {}, {mask}, {}, {literal}", to.at(0), from.at(0)));
        if to.count > 1 {
            self.op(format_args!("v_mov_b32 {literal}, {high:#x}"));
            self.op(format_args!("v_addc_co_u32 {}, {mask}, {}, {literal}, {mask}", to.at(1), from.at(1)));
        }
        self.free_scalar(mask);
        self.free_vector(literal);
    }

    /// Records one load. Its first byte becomes byte `at` of `bytes`.
    fn one_load(&mut self, load: &Load, from: LoadFrom, base: Vector, bytes: Vector, at: u32) {
        let count = u8::try_from(u32::from(load.bytes).div_ceil(4)).unwrap_or(1);
        let to = self.vector(count);
        let mut address = base;
        let added = added(load);
        if added != 0 {
            address = self.vector(base.count);
            self.add_to(address, base, added);
        }
        let immediate = load.immediate;
        let offset = if immediate == 0 { String::new() } else { format!(" offset:{immediate}") };
        match (load.address, from) {
            (Address::Lds, _) => {
                // Loads that only write half of a register need zeros in the other half.
                self.op(format_args!("v_mov_b32 {}, 0", to.at(0)));
                match load.immediate1 {
                    Some(second) => {
                        self.op(format_args!("{} {to}, {address} offset0:{immediate} offset1:{second}", load.op));
                    }
                    None => self.op(format_args!("{} {to}, {address}{offset}", load.op)),
                }
            }
            (Address::Offen, LoadFrom::Buffer(buffer, _)) => {
                let zero = self.no_offset();
                self.op(format_args!("{} {to}, {address}, {buffer}, {zero} offen{offset}", load.op));
            }
            (Address::Vaddr, _) if self.level <= GfxLevel::Gfx8 => {
                self.op(format_args!("{} {to}, {address}", load.op));
            }
            (Address::Vaddr, _) => self.op(format_args!("{} {to}, {address}, off{offset}", load.op)),
            (Address::Addr64, _) => self.addr64(load.op, to, address, &offset),
            _ => self.note(Some(BuildError::Missing("a load by scalar and vector registers"))),
        }
        let mut left = u32::from(load.bytes);
        for index in 0..count {
            self.merge(to.at(index), left.min(4), at + u32::from(index) * 4, bytes);
            left = left.saturating_sub(4);
        }
        self.free_vector(to);
        if address != base {
            self.free_vector(address);
        }
    }

    /// Loads from a 64-bit address on GFX6, by a buffer that covers all memory.
    fn addr64(&mut self, op: &str, to: Vector, address: Vector, offset: &str) {
        // DST_SEL_X to W, 32 bits unsigned.
        const WORD3: u32 = 0x0002_7fac;
        let buffer = self.scalar(4);
        for (index, word) in (0..).zip(["0".to_owned(), "0".to_owned(), "-1".to_owned(), format!("{WORD3:#x}")]) {
            self.op(format_args!("s_mov_b32 {}, {word}", buffer.at(index)));
        }
        self.op(format_args!("{op} {to}, {address}, {buffer}, 0 addr64{offset}"));
        self.wait_for_all();
        self.free_scalar(buffer);
    }
}

/// Returns the number of bytes that the steps before a load add to its address.
pub(super) fn added(load: &Load) -> u64 {
    let steps = load.before.iter().flatten().map(|step| match step {
        AddressStep::AddOffset(bytes) => u64::from(*bytes),
        AddressStep::AddAddress(bytes) => *bytes,
        AddressStep::AddOffsetToAddress | AddressStep::ToVector => 0,
    });
    steps.sum()
}

/// Returns the low and the high half.
pub(super) const fn halves(value: u64) -> [u32; 2] {
    [value as u32, (value >> 32) as u32]
}
