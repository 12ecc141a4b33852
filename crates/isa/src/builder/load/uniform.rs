//! Loads from addresses in scalar registers.

use super::join::{LoadFrom, added, halves};
use crate::{
    builder::{Builder, Scalar, Vector},
    load::{Piece, Place, Request, Shift},
};

impl Builder {
    /// Records a load by vector memory instructions from an address in scalar registers, by copying it to vector registers.
    pub(super) fn load_by_vector(&mut self, request: &Request, from: LoadFrom) -> Vector {
        let (base, count) = scalar_base(from);
        let copy = self.vector(count);
        for index in 0..count {
            self.op(format_args!("v_mov_b32 {}, {}", copy.at(index), base.at(index)));
        }
        let (request, from) = match from {
            LoadFrom::UniformBuffer(buffer, _) => {
                (Request { offset: Place::Vector, ..*request }, LoadFrom::Buffer(buffer, copy))
            }
            _ => (Request { address: Place::Vector, ..*request }, LoadFrom::Global(copy)),
        };
        let result = self.load(&request, from);
        self.free_vector(copy);
        result
    }

    /// Records the scalar loads of one access, and places their bytes in the result.
    pub(super) fn uniform_piece(
        &mut self,
        request: &Request,
        piece: &Piece,
        from: LoadFrom,
        done: u32,
        result: Vector,
    ) {
        let access = &piece.access;
        let bytes = self.empty_bytes(piece);
        let (base, count) = scalar_base(from);
        let moved = self.scalar(count);
        let shift = self.vector(1);
        match access.shift {
            Shift::Dynamic => {
                let part = self.scalar(1);
                self.add_scalar(moved, base, u64::from(request.const_offset + done));
                let mask = access.align.mul - 1;
                self.op(format_args!("s_and_b32 {part}, {}, {mask}", moved.at(0)));
                self.op(format_args!("s_and_b32 {}, {}, -{}", moved.at(0), moved.at(0), access.align.mul));
                self.op(format_args!("v_mov_b32 {shift}, {part}"));
                self.free_scalar(part);
            }
            Shift::Known(_) | Shift::None => {
                self.add_scalar(moved, base, piece.rebase.cast_unsigned());
                let known = if let Shift::Known(bytes) = access.shift { bytes } else { 0 };
                self.op(format_args!("v_mov_b32 {shift}, {known}"));
            }
        }
        let mut at = 0;
        for load in piece.loads.iter() {
            let to = self.scalar(load.bytes / 4);
            let address = self.scalar(count);
            self.add_scalar(address, moved, added(load) + u64::from(load.immediate));
            match from {
                LoadFrom::UniformBuffer(buffer, _) => self.op(format_args!("{} {to}, {buffer}, {address}", load.op)),
                _ => self.op(format_args!("{} {to}, {address}, 0x0", load.op)),
            }
            // The address registers are free only after the load.
            self.wait_for_all();
            for index in 0..to.count {
                self.op(format_args!("v_mov_b32 {}, {}", bytes.at(at + index), to.at(index)));
            }
            at += to.count;
            self.free_scalar(address);
            self.free_scalar(to);
        }
        self.combine(access, (bytes, shift), done, result);
        self.free_scalar(moved);
        self.free_vector(bytes);
        self.free_vector(shift);
    }

    /// Adds a constant to a 32-bit offset or a 64-bit address.
    fn add_scalar(&mut self, to: Scalar, from: Scalar, bytes: u64) {
        let [low, high] = halves(bytes);
        self.op(format_args!("s_add_u32 {}, {}, {low:#x}", to.at(0), from.at(0)));
        if to.count > 1 {
            self.op(format_args!("s_addc_u32 {}, {}, {high:#x}", to.at(1), from.at(1)));
        }
    }
}

/// Returns the scalar registers with the address, and their number.
const fn scalar_base(from: LoadFrom) -> (Scalar, u8) {
    match from {
        LoadFrom::UniformBuffer(_, base) => (base, 1),
        LoadFrom::UniformGlobal(base) => (base, 2),
        LoadFrom::Buffer(..) | LoadFrom::Global(_) | LoadFrom::Lds(_) => (Scalar { first: 0, count: 0 }, 0),
    }
}
