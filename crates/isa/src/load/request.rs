//! A request for bytes, and the errors of impossible ones.

/// The memory that a load reads, and how.
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
    /// The local data share.
    Lds,
    /// Memory private to each lane.
    Scratch,
    /// A buffer descriptor whose elements are interleaved by lane.
    SwizzledBuffer,
}

/// The registers that an address or offset is in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Place {
    /// There is none.
    #[default]
    None,
    /// It is known.
    Constant,
    /// In scalar registers.
    Scalar,
    /// In vector registers.
    Vector,
}

/// The known part of an address, which is `mul * k + offset` for some `k`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Alignment {
    /// A power of two, in bytes.
    pub mul: u32,
    /// Less than `mul`, in bytes.
    pub offset: u32,
}

impl Default for Alignment {
    fn default() -> Self {
        Self { mul: 1, offset: 0 }
    }
}

impl Alignment {
    /// Returns the largest power of two that divides every such address.
    pub const fn known(self) -> u32 {
        if self.offset == 0 { self.mul } else { 1 << self.offset.trailing_zeros() }
    }

    /// Returns the alignment `bytes` further on; negative goes back.
    #[must_use]
    pub const fn advanced(self, bytes: i32) -> Self {
        Self { mul: self.mul, offset: self.offset.wrapping_add_signed(bytes) & (self.mul - 1) }
    }
}

/// A request for `components * component_bytes` bytes of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Request {
    /// The memory.
    pub kind: Kind,
    /// The number of components; 1 to 64.
    pub components: u8,
    /// The bytes of a component: 1, 2, 4 or 8.
    pub component_bytes: u8,
    /// The alignment of the whole address, register and constant together.
    pub align: Alignment,
    /// A constant that is added to the address, in bytes.
    pub const_offset: u32,
    /// The offset register: 32 bits.
    pub offset: Place,
    /// The address register of [`Kind::Global`] and [`Kind::ScalarGlobal`]: 64 bits.
    pub address: Place,
    /// Bytes from one component to the next in a swizzled buffer; 0 elsewhere.
    pub component_stride: u8,
    /// Bytes that swizzling keeps together; 0 where nothing is swizzled.
    pub swizzle_element: u8,
}

/// The most bytes that one request may ask for.
const MOST_BYTES: u32 = 64;

impl Request {
    /// Returns the bytes asked for.
    pub const fn bytes(&self) -> u32 {
        self.components as u32 * self.component_bytes as u32
    }

    /// Checks the rules of every request.
    ///
    /// # Errors
    ///
    /// [`LoadError`] names the value that is out of range.
    pub fn check(&self) -> Result<(), LoadError> {
        self.check_shape(MOST_BYTES)?;
        self.check_scalar()
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
        if matches!(self.kind, Kind::ScalarBuffer | Kind::ScalarGlobal) {
            if self.component_bytes < 4 {
                return Err(LoadError::ScalarComponent(self.component_bytes));
            }
            if self.align.known() < 4 {
                return Err(LoadError::ScalarAlignment { mul, offset });
            }
            if self.offset == Place::Vector || self.address == Place::Vector {
                return Err(LoadError::ScalarFromVector);
            }
        }
        Ok(())
    }
}

/// A reason why a request cannot be loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// A component has another size than 1, 2, 4 or 8 bytes.
    #[error("a component of {0} bytes; 1, 2, 4 and 8 are possible")]
    ComponentBytes(u8),
    /// There are no components, or more bytes than a request may have.
    #[error("{0} bytes; 1 to 64 are possible")]
    Bytes(u32),
    /// The alignment is no power of two, or its offset is not below it.
    #[error("alignment {mul} with offset {offset}: the first must be a power of two and the second below it")]
    Alignment {
        /// Alignment in bytes.
        mul: u32,
        /// Offset in bytes.
        offset: u32,
    },
    /// A component stride without swizzling.
    #[error("a component stride of {0} bytes without a swizzle element")]
    StrideWithoutSwizzle(u8),
    /// A scalar load of components below a dword.
    #[error("a scalar load of components of {0} bytes; 4 and 8 are possible")]
    ScalarComponent(u8),
    /// A scalar load that is not known to be aligned to dwords.
    #[error("a scalar load at alignment {mul} with offset {offset}; it must be a multiple of 4")]
    ScalarAlignment {
        /// Alignment in bytes.
        mul: u32,
        /// Offset in bytes.
        offset: u32,
    },
    /// A scalar load whose address is in vector registers.
    #[error("a scalar load with its address in vector registers")]
    ScalarFromVector,
    /// More pieces than a plan holds.
    #[error("more than {0} pieces")]
    TooMany(usize),
}
