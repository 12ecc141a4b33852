//! Enums over the values of the tables' selectors.

/// Declares an enum, with the number of each variant on the wire.
macro_rules! choices {
    ($(#[$meta:meta])* pub enum $name:ident { $($(#[$doc:meta])* $variant:ident = $value:expr,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u32)]
        pub enum $name { $($(#[$doc])* $variant = $value,)+ }

        impl $name {
            /// Every value, by its number on the wire.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// Returns the number on the wire.
            #[inline]
            pub(crate) const fn raw(self) -> u32 {
                self as u32
            }

            /// Returns the value that a field holds.
            #[inline]
            pub(crate) const fn read(field: &'static str, raw: u32) -> Result<Self, $crate::FieldError> {
                $(if raw == $value {
                    return Ok(Self::$variant);
                })+
                Err($crate::FieldError::Unknown { field, value: raw })
            }
        }
    };
}
pub(crate) use choices;
