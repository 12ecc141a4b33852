//! Registers by name: where they are on which generation, what is in them, and which packet writes them.
//!
//! The names are those of AMD's headers; the tables hold the registers that a driver's winsys has to do with (dispatches,
//! the command processor, draws, shader programs, counters). Every other register is reached by its offset.
//!
//! ```
//! use amdgpu_packets::registers::{self, Aperture};
//! use amdgpu_hw::GfxLevel;
//!
//! let scratch = &registers::SCRATCH_REG0;
//! assert_eq!(scratch.offset(GfxLevel::Gfx6), Some(0x8500));
//! assert_eq!(scratch.offset(GfxLevel::Gfx9), Some(0x30100));
//! assert_eq!(Aperture::of(0x30100, GfxLevel::Gfx9), Some(Aperture::Uconfig));
//! assert_eq!(registers::at(0x30100, GfxLevel::Gfx9).map(|found| found.name()), Some("SCRATCH_REG0"));
//! ```

// The lint spares test builds.
#![cfg_attr(not(test), expect(clippy::wildcard_imports, reason = "the tables name generations, and little else"))]

mod aperture;
mod counters;
mod cp;
mod dispatch;
mod draw;
mod shader;
mod write;

use std::collections::HashMap;
use std::sync::LazyLock;

use super::layout::{Field, Levels, level};
use amdgpu_hw::GfxLevel;

pub use aperture::Aperture;
pub use counters::*;
pub use cp::*;
pub use dispatch::*;
pub use draw::*;
pub use shader::*;
pub use write::{RegisterError, RegisterShadow, RegisterWriter, SetRegisters};

/// A register.
#[derive(Debug)]
pub struct Register {
    name: &'static str,
    places: &'static [(u32, Levels)],
    fields: &'static [Field],
}

impl Register {
    /// Its name in AMD's headers.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Where it is, in bytes from the start of the register space; `None` where there is none.
    pub fn offset(&self, level: GfxLevel) -> Option<u32> {
        self.places.iter().find(|place| place.1.has(level as u8)).map(|place| place.0)
    }

    /// What is in it on this generation; nothing where it is one number.
    pub fn fields(&self, level: GfxLevel) -> impl Iterator<Item = &'static Field> + use<> {
        self.fields.iter().filter(move |field| field.is_on(level as u8))
    }
}

/// Declares registers, and a table of them.
macro_rules! registers {
    (
        $table:ident =
        $($name:ident {
            at $($offset:literal [$($from:ident .. $to:ident),+]),+;
            $($field:ident [$high:literal:$low:literal] $(($($value:literal $choice:ident),+))?
                $(on [$($field_from:ident .. $field_to:ident),+])?;)*
        })+
    ) => {
        $(
            #[doc = concat!("At byte `", $(stringify!($offset), "` ",)+ "of the register space.")]
            pub static $name: $crate::registers::Register = $crate::registers::Register {
                name: stringify!($name),
                places: &[$(($offset, $crate::layout::Levels::of(&[$(($from, $to)),+]))),+],
                fields: &[$($crate::layout::Field::plain(
                    stringify!($field),
                    ($high, $low),
                    $crate::layout::macros::levels!($([$(($field_from, $field_to)),+])?),
                    &[$($($crate::layout::Choice::everywhere($value, stringify!($choice))),+)?],
                )),*],
            };
        )+

        /// All of them.
        pub(super) static $table: &[&$crate::registers::Register] = &[$(&$name),+];
    };
}
use registers;

/// Every register of the tables.
pub fn all() -> impl Iterator<Item = &'static Register> {
    [dispatch::DISPATCH, cp::CP, draw::DRAW, counters::COUNTERS, shader::SHADER].into_iter().flatten().copied()
}

/// By generation and offset.
static PLACES: LazyLock<HashMap<(u8, u32), &'static Register>> = LazyLock::new(|| {
    let level =
        |level: GfxLevel| all().filter_map(move |register| Some(((level as u8, register.offset(level)?), register)));
    GfxLevel::ALL.into_iter().flat_map(level).collect()
});

/// The register at a byte offset, if the tables have it.
pub fn at(offset: u32, level: GfxLevel) -> Option<&'static Register> {
    PLACES.get(&(level as u8, offset)).copied()
}

/// The register of this name, in any case, if the tables have it.
pub fn named(name: &str) -> Option<&'static Register> {
    all().find(|register| register.name.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_belongs_to_one_register() {
        for level in GfxLevel::ALL {
            let count = all().filter(|register| register.offset(level).is_some()).count();
            assert_eq!(PLACES.keys().filter(|key| key.0 == level as u8).count(), count, "{level}");
        }
    }

    #[test]
    fn fields_lie_in_their_register() {
        for register in all() {
            for field in register.fields {
                let (high, low) = field.bits();
                assert!(low <= high && high < 32, "{}.{}", register.name, field.name());
            }
        }
    }
}
