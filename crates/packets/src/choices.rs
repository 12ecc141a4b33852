//! Enums for the values of selectors in the tables.

/// Declares an enum for values of a selector. Each variant has a name in the tables.
macro_rules! choices {
    ($(#[$meta:meta])* pub enum $name:ident: $wire:ident { $($(#[$doc:meta])* $variant:ident = $value:ident,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u32)]
        pub enum $name { $($(#[$doc])* $variant = $wire::$value.number(),)+ }

        impl $name {
            /// All values, ordered by their number in the packet.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// Returns the value of the packet's field.
            #[inline]
            pub(crate) const fn raw(self) -> $wire {
                $wire::new(self as u32)
            }

            /// Returns the variant for the value of a packet's field.
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
