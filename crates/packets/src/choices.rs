//! Enums over the values of the tables' selectors.

/// Declares an enum of values of a selector, each with its name in the tables.
macro_rules! choices {
    ($(#[$meta:meta])* pub enum $name:ident: $wire:ident { $($(#[$doc:meta])* $variant:ident = $value:ident,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u32)]
        pub enum $name { $($(#[$doc])* $variant = $wire::$value.number(),)+ }

        impl $name {
            /// Every value, by its number on the wire.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// Returns the value on the wire.
            #[inline]
            pub(crate) const fn raw(self) -> $wire {
                $wire::new(self as u32)
            }

            /// Returns the value that a field holds.
            #[inline]
            pub(crate) const fn read(field: &'static str, raw: $wire) -> Result<Self, $crate::FieldError> {
                $(if raw.number() == $wire::$value.number() {
                    return Ok(Self::$variant);
                })+
                Err($crate::FieldError::Unknown { field, value: raw.number() })
            }
        }
    };
}
pub(crate) use choices;
