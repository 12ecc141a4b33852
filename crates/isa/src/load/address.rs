//! The address operands of loads.

/// The address operands of a load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Address {
    /// Scalar memory: base and offset in scalar registers.
    #[default]
    Scalar,
    /// LDS: an offset in a vector register.
    Lds,
    /// MUBUF with a vector offset.
    Offen,
    /// MUBUF with a scalar offset.
    Soffset,
    /// MUBUF with a vector offset, and a scalar offset for scratch memory.
    OffenSoffset,
    /// MUBUF on GFX6 with a 64-bit vector address.
    Addr64,
    /// FLAT, GLOBAL and SCRATCH with a vector address.
    Vaddr,
    /// SCRATCH with a scalar address.
    Saddr,
    /// GLOBAL with a scalar address and a vector offset.
    VaddrSaddr,
}
