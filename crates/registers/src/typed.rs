//! Values of registers that are composed field by field.

use core::fmt;
use core::marker::PhantomData;

use crate::tables::name;
use crate::{Field, Register, RegisterSet};

/// A register type, whose fields are constants in [`fields`](crate::fields).
pub trait TypedRegister {
    /// The register of this type.
    const REGISTER: Register;
}

/// A field of the register `R`, identified by its name. Its bits can differ between generations.
pub struct TypedField<R> {
    name: u16,
    register: PhantomData<fn() -> R>,
}

impl<R> Clone for TypedField<R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for TypedField<R> {}

impl<R> fmt::Debug for TypedField<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl<R> TypedField<R> {
    pub(crate) const fn of(name: u16) -> Self {
        Self { name, register: PhantomData }
    }

    /// Returns the name of the field in AMD's headers, in lower case.
    pub const fn name(self) -> &'static str {
        name(self.name)
    }
}

impl<R: TypedRegister> TypedField<R> {
    /// Returns the field in a register set; `None` if the register does not have it there.
    pub fn on(self, set: impl Into<RegisterSet>) -> Option<Field> {
        let set = set.into();
        R::REGISTER.rows().find(|field| field.0.name == self.name && set.is_in(field.0.sets))
    }
}

/// An error of accessing a field of a register value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TypedFieldError {
    /// The register does not have the field on this generation.
    #[error("{register} has no {field} on {set:?}")]
    NoSuchField {
        /// The name of the register.
        register: &'static str,
        /// The name of the field.
        field: &'static str,
        /// The register set of the value.
        set: RegisterSet,
    },
    /// The value is too large for the field. Values are never truncated.
    #[error("{register}.{field} = {value:#x} is above {max:#x}, the most its field holds")]
    TooWide {
        /// The name of the register.
        register: &'static str,
        /// The name of the field.
        field: &'static str,
        /// The rejected value.
        value: u32,
        /// The largest value that fits.
        max: u32,
    },
}

/// A value of the register `R` that is composed field by field.
///
/// ```
/// use amdgpu_hw::GfxLevel;
/// use amdgpu_registers::{RegisterValue, fields::compute_pgm_rsrc2::{SCRATCH_EN, TGID_X_EN, USER_SGPR}};
///
/// let rsrc2 = RegisterValue::new(GfxLevel::Gfx10).with(USER_SGPR, 8)?.with(TGID_X_EN, 1)?;
/// assert_eq!(rsrc2.raw(), 0x90);
/// assert_eq!(rsrc2.get(SCRATCH_EN)?, 0);
/// assert!(rsrc2.with(USER_SGPR, 32).is_err());
/// # Ok::<(), amdgpu_registers::TypedFieldError>(())
/// ```
///
/// A field of another register does not compile:
///
/// ```compile_fail
/// use amdgpu_hw::GfxLevel;
/// use amdgpu_registers::{RegisterValue, fields::{compute_pgm_rsrc1::VGPRS, compute_pgm_rsrc2::USER_SGPR}};
///
/// let rsrc2 = RegisterValue::new(GfxLevel::Gfx10).with(USER_SGPR, 8).unwrap().with(VGPRS, 1);
/// ```
pub struct RegisterValue<R> {
    raw: u32,
    set: RegisterSet,
    register: PhantomData<fn() -> R>,
}

impl<R> Clone for RegisterValue<R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for RegisterValue<R> {}

impl<R: TypedRegister> RegisterValue<R> {
    /// Creates a value with all bits zero.
    pub fn new(set: impl Into<RegisterSet>) -> Self {
        Self::from_raw(0, set)
    }

    /// Creates a value from a number.
    pub fn from_raw(raw: u32, set: impl Into<RegisterSet>) -> Self {
        Self { raw, set: set.into(), register: PhantomData }
    }

    /// Returns the value as a number, as it is written to the register.
    pub const fn raw(self) -> u32 {
        self.raw
    }

    fn field(self, field: TypedField<R>) -> Result<Field, TypedFieldError> {
        let (register, set) = (R::REGISTER.name(), self.set);
        field.on(set).ok_or(TypedFieldError::NoSuchField { register, field: field.name(), set })
    }

    /// Returns the value with a field set to `value`.
    ///
    /// # Errors
    ///
    /// [`TypedFieldError::NoSuchField`] if the register does not have the field on this generation, [`TypedFieldError::TooWide`] if
    /// `value` does not fit.
    pub fn with(self, field: TypedField<R>, value: u32) -> Result<Self, TypedFieldError> {
        let found = self.field(field)?;
        let (register, max) = (R::REGISTER.name(), found.max());
        let wrong = TypedFieldError::TooWide { register, field: field.name(), value, max };
        Ok(Self { raw: found.set(self.raw, value).ok_or(wrong)?, ..self })
    }

    /// Returns the value of a field.
    ///
    /// # Errors
    ///
    /// [`TypedFieldError::NoSuchField`].
    pub fn get(self, field: TypedField<R>) -> Result<u32, TypedFieldError> {
        self.field(field).map(|found| found.of(self.raw))
    }
}

impl<R: TypedRegister> fmt::Debug for RegisterValue<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} = {:#x}", R::REGISTER, self.raw)
    }
}
