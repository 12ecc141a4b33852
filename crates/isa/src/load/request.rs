//! Requests for loads, and their errors.

/// The memory that a load reads, and the kind of instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A buffer descriptor, by vector memory instructions.
    Buffer,
    /// A buffer descriptor, by scalar memory instructions.
    ScalarBuffer,
    /// A 64-bit address, by vector memory instructions.
    Global,
    /// A 64-bit address, by scalar memory instructions.
    ScalarGlobal,
    /// LDS, the local data share.
    Lds,
    /// Scratch memory, which is private to each lane.
    Scratch,
    /// A buffer descriptor whose elements are interleaved by lane.
    SwizzledBuffer,
}

impl Kind {
    /// Returns `true` for scalar memory instructions.
    pub const fn is_scalar(self) -> bool {
        matches!(self, Self::ScalarBuffer | Self::ScalarGlobal)
    }
}

/// The registers that contain an address or offset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Place {
    /// There is no address or offset.
    #[default]
    None,
    /// The address or offset is a constant.
    Constant,
    /// The address or offset is in scalar registers.
    Scalar,
    /// The address or offset is in vector registers.
    Vector,
}

/// The known alignment of an address, which is `mul * k + offset` for some `k`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Alignment {
    /// The alignment in bytes, a power of two.
    pub mul: u32,
    /// The offset in bytes, below `mul`.
    pub offset: u32,
}

impl Default for Alignment {
    fn default() -> Self {
        Self { mul: 1, offset: 0 }
    }
}

impl Alignment {
    /// Returns the largest power of two that divides all such addresses.
    pub const fn known(self) -> u32 {
        if self.offset == 0 { self.mul } else { 1 << self.offset.trailing_zeros() }
    }

    /// Returns the alignment of the address `bytes` further on; `bytes` may be negative.
    #[must_use]
    pub const fn advanced(self, bytes: i32) -> Self {
        Self { mul: self.mul, offset: self.offset.wrapping_add_signed(bytes) & (self.mul - 1) }
    }
}

/// A request to load `components * component_bytes` bytes of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Request {
    /// The memory to load from, and the kind of instructions.
    pub kind: Kind,
    /// The number of components: 1 to 64.
    pub components: u8,
    /// The size of a component in bytes: 1, 2, 4 or 8.
    pub component_bytes: u8,
    /// The alignment of the whole address: the sum of registers and constant.
    pub align: Alignment,
    /// The constant that is added to the address, in bytes.
    pub const_offset: u32,
    /// The location of the offset, which has 32 bits.
    pub offset: Place,
    /// The location of the 64-bit address for [`Kind::Global`] and [`Kind::ScalarGlobal`].
    pub address: Place,
    /// The distance between components in bytes in a swizzled buffer; 0 for other kinds.
    pub component_stride: u8,
    /// The number of bytes that swizzling keeps contiguous; 0 if nothing is swizzled.
    pub swizzle_element: u8,
}

/// The maximum number of bytes of a request.
const MOST_BYTES: u32 = 64;

impl Request {
    /// Returns the number of requested bytes.
    pub const fn bytes(&self) -> u32 {
        self.components as u32 * self.component_bytes as u32
    }

    /// Checks that the request is valid.
    ///
    /// # Errors
    ///
    /// [`LoadError`] with the value that is out of range.
    pub fn check(&self) -> Result<(), LoadError> {
        self.check_size()?;
        self.check_scalar()
    }

    /// Checks components, alignment and stride, and that the request is not too large for one access.
    pub(super) fn check_size(&self) -> Result<(), LoadError> {
        self.check_shape(MOST_BYTES)
    }

    /// Checks components, alignment and stride.
    pub(super) fn check_shape(&self, most: u32) -> Result<(), LoadError> {
        if !matches!(self.component_bytes, 1 | 2 | 4 | 8) {
            return Err(LoadError::ComponentBytes(self.component_bytes));
        }
        if self.components == 0 || self.bytes() > most {
            return Err(LoadError::Bytes(self.bytes()));
        }
        let Alignment { mul, offset } = self.align;
        if !mul.is_power_of_two() || offset >= mul {
            return Err(LoadError::Alignment { mul, offset });
        }
        if self.component_stride != 0 && self.swizzle_element == 0 {
            return Err(LoadError::StrideWithoutSwizzle(self.component_stride));
        }
        Ok(())
    }

    /// Checks the rules of scalar memory instructions.
    fn check_scalar(&self) -> Result<(), LoadError> {
        let Alignment { mul, offset } = self.align;
        if self.kind.is_scalar() {
            if self.component_bytes < 4 {
                return Err(LoadError::ScalarComponent(self.component_bytes));
            }
            if self.align.known() < 4 {
                return Err(LoadError::ScalarAlignment { mul, offset });
            }
        }
        self.check_bank()
    }

    /// Checks that scalar memory instructions have their address in scalar registers.
    pub(super) fn check_bank(&self) -> Result<(), LoadError> {
        if self.kind.is_scalar() && (self.offset == Place::Vector || self.address == Place::Vector) {
            return Err(LoadError::ScalarFromVector);
        }
        Ok(())
    }
}

/// The reason why a request cannot be loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The size of a component is not 1, 2, 4 or 8 bytes.
    #[error("a component of {0} bytes; 1, 2, 4 and 8 are possible")]
    ComponentBytes(u8),
    /// The request has no components, or too many bytes.
    #[error("{0} bytes; 1 to 64 are possible")]
    Bytes(u32),
    /// The alignment is not a power of two, or its offset is not below it.
    #[error("alignment {mul} with offset {offset}: the first must be a power of two and the second below it")]
    Alignment {
        /// The rejected alignment in bytes.
        mul: u32,
        /// The rejected offset in bytes.
        offset: u32,
    },
    /// The request has a component stride without swizzling.
    #[error("a component stride of {0} bytes without a swizzle element")]
    StrideWithoutSwizzle(u8),
    /// A scalar load has components smaller than a dword.
    #[error("a scalar load of components of {0} bytes; 4 and 8 are possible")]
    ScalarComponent(u8),
    /// A scalar load is not known to be aligned to dwords.
    #[error("a scalar load at alignment {mul} with offset {offset}; it must be a multiple of 4")]
    ScalarAlignment {
        /// The known alignment in bytes.
        mul: u32,
        /// The known offset from that alignment in bytes.
        offset: u32,
    },
    /// The address of a scalar load is in vector registers.
    #[error("a scalar load with its address in vector registers")]
    ScalarFromVector,
    /// The request needs more pieces than a plan can have.
    #[error("more than {0} pieces")]
    TooMany(usize),
}
