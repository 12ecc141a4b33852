//! Types for the values of selectors.

/// Declares a type for each selector, with constants for its values. A value may be none of them; the tables define the valid
/// values.
macro_rules! selectors {
    ($($(#[$doc:meta])* $name:ident of $table:ident { $($(#[$about:meta])* $constant:ident = $number:literal,)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);

        impl $name {
            $($(#[$about])* pub const $constant: Self = Self($number);)*

            /// Creates the value with this number, which need not be defined.
            #[inline]
            pub const fn new(number: u32) -> Self {
                Self(number)
            }

            /// Returns the value's number in the packet.
            #[inline]
            pub const fn number(self) -> u32 {
                self.0
            }

            /// Returns the value's name on a generation; `None` if it has none.
            pub fn name(self, level: amdgpu_hw::GfxLevel) -> Option<&'static str> {
                let known = |choice: &&crate::layout::Choice| choice.value == self.0 && choice.is_on(level);
                super::$table.iter().find(known).map(crate::layout::Choice::name)
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                // If the generations have different names for a number, the newest is used.
                match super::$table.iter().rev().find(|choice| choice.value == self.0) {
                    Some(choice) => write!(f, "{} ({})", choice.name, self.0),
                    None => write!(f, "{}", self.0),
                }
            }
        }

        #[cfg(test)]
        impl crate::layout::refusal_tests::Value for $name {
            fn of(number: u64) -> Self {
                Self(number as u32)
            }
        }
    )*};
}
pub(crate) use selectors;
