//! Loads and stores by buffer and image descriptors, in LDS and in scratch memory.

use std::fmt::Display;

use amdgpu_hw::GfxLevel;

use super::{Builder, Scalar, Vector};

impl Builder {
    /// Records a load of dwords from a buffer, at a byte offset in a vector register.
    pub fn buffer_load(&mut self, to: Vector, at: Vector, buffer: Scalar) {
        let (size, zero) = (size(to.count), self.no_offset());
        self.op(format_args!("buffer_load_dword{size} {to}, {at}, {buffer}, {zero} offen"));
    }

    /// Records a store of dwords to a buffer, at a byte offset in a vector register.
    pub fn buffer_store(&mut self, from: Vector, at: Vector, buffer: Scalar) {
        let (size, zero) = (size(from.count), self.no_offset());
        self.op(format_args!("buffer_store_dword{size} {from}, {at}, {buffer}, {zero} offen"));
    }

    /// Records an atomic addition to a dword of a buffer. `value` receives the old value.
    pub fn buffer_add(&mut self, value: Vector, at: Vector, buffer: Scalar) {
        let returns = if self.level >= GfxLevel::Gfx12 { "th:TH_ATOMIC_RETURN" } else { "glc" };
        let zero = self.no_offset();
        self.op(format_args!("buffer_atomic_add {value}, {at}, {buffer}, {zero} offen {returns}"));
    }

    /// Records a load of a dword from LDS.
    pub fn lds_load(&mut self, to: Vector, at: Vector) {
        self.op(format_args!("ds_read_b32 {to}, {at}"));
    }

    /// Records a store of a dword to LDS.
    pub fn lds_store(&mut self, from: Vector, at: Vector) {
        self.op(format_args!("ds_write_b32 {at}, {from}"));
    }

    /// Records an atomic addition to a dword of LDS.
    pub fn lds_add(&mut self, value: Vector, at: Vector) {
        self.op(format_args!("ds_add_u32 {at}, {value}"));
    }

    /// Records a store of a dword to scratch memory, at a byte offset in a vector register. Up to GFX10.3 scratch memory is
    /// accessed by a swizzled buffer.
    pub fn scratch_store(&mut self, from: Vector, at: Vector, buffer: Scalar) {
        if self.level >= GfxLevel::Gfx11 {
            self.op(format_args!("scratch_store_dword {at}, {from}, off"));
        } else {
            let offset = self.scratch_offset();
            self.op(format_args!("buffer_store_dword {from}, {at}, {buffer}, {offset} offen"));
        }
    }

    /// Records a load of a dword from scratch memory, at a byte offset in a vector register.
    pub fn scratch_load(&mut self, to: Vector, at: Vector, buffer: Scalar) {
        if self.level >= GfxLevel::Gfx11 {
            self.op(format_args!("scratch_load_dword {to}, {at}, off"));
        } else {
            let offset = self.scratch_offset();
            self.op(format_args!("buffer_load_dword {to}, {at}, {buffer}, {offset} offen"));
        }
    }

    /// Records a load of the first components of a texel. The coordinates are integers in two vector registers.
    pub fn image_load(&mut self, to: Vector, at: Vector, image: Scalar) {
        self.image("image_load", (to, at), image, format_args!(""), " unorm");
    }

    /// Records a store of a texel. The coordinates are integers in two vector registers. Components that `from` lacks are
    /// undefined.
    pub fn image_store(&mut self, from: Vector, at: Vector, image: Scalar) {
        self.image("image_store", (from, at), image, format_args!(""), " unorm");
    }

    /// Records a sample of level 0 of a 2D image. The coordinates are floats from 0 to 1 in two vector registers.
    pub fn image_sample(&mut self, to: Vector, at: Vector, image: Scalar, sampler: Scalar) {
        self.image("image_sample_lz", (to, at), image, format_args!(", {sampler}"), "");
    }

    /// Records an operation on a 2D image.
    fn image(&mut self, name: &str, (data, at): (Vector, Vector), image: Scalar, sampler: impl Display, unorm: &str) {
        let mask = (1_u32 << data.count.min(4)) - 1;
        if self.level >= GfxLevel::Gfx12 {
            let [x, y] = [at.at(0), at.at(1)];
            self.op(format_args!("{name} {data}, [{x}, {y}], {image}{sampler} dmask:{mask:#x} dim:SQ_RSRC_IMG_2D"));
        } else if self.level >= GfxLevel::Gfx10 {
            self.op(format_args!("{name} {data}, {at}, {image}{sampler} dmask:{mask:#x} dim:SQ_RSRC_IMG_2D{unorm}"));
        } else {
            self.op(format_args!("{name} {data}, {at}, {image}{sampler} dmask:{mask:#x}{unorm}"));
        }
    }

    /// Returns the operand that means no scalar offset.
    pub(super) fn no_offset(&self) -> &'static str {
        if self.level >= GfxLevel::Gfx12 { "null" } else { "0" }
    }
}

/// Returns the suffix of memory operations for several dwords.
const fn size(dwords: u8) -> &'static str {
    match dwords {
        2 => "x2",
        3 => "x3",
        4 => "x4",
        _ => "",
    }
}
