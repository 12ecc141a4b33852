//! The enumeration of operations.

/// Defines [`Op`](crate::Op) from its variants and their names, which are in ascending order.
macro_rules! operations {
    ($($variant:ident $name:literal)*) => {
        /// An operation of any generation, by its name without the suffix of a format.
        ///
        /// Generations that rename an operation have a variant for each name; a name means the same operation wherever it occurs.
        /// Operations are ordered by name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u16)]
        pub enum Op {
            $(#[doc = concat!("`", $name, "`.")] $variant),*
        }

        /// The names, by the number of the variant.
        const NAMES: &[&str] = &[$($name),*];

        impl Op {
            /// The number of operations.
            pub const COUNT: usize = NAMES.len();

            /// All operations, ordered by name.
            pub const ALL: &[Self; Self::COUNT] = &[$(Self::$variant),*];

            /// Returns the name.
            pub const fn name(self) -> &'static str {
                NAMES[self as usize]
            }

            /// Returns the operation with a name, which has no suffix of a format; `None` if there is none.
            ///
            /// ```
            /// use amdgpu_isa::Op;
            ///
            /// assert_eq!(Op::from_name("v_add_f32"), Some(Op::VAddF32));
            /// assert_eq!(Op::from_name("v_add_f32_e32"), None);
            /// ```
            pub fn from_name(name: &str) -> Option<Self> {
                NAMES.binary_search(&name).ok().map(|at| Self::ALL[at])
            }
        }

        impl std::fmt::Display for Op {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

pub(crate) use operations;

#[cfg(test)]
mod tests {
    use crate::Op;

    #[test]
    fn each_operation_is_found_by_its_name() {
        assert_eq!(Op::ALL.len(), Op::COUNT);
        for (number, op) in Op::ALL.iter().enumerate() {
            assert_eq!((*op as usize, Op::from_name(op.name())), (number, Some(*op)));
        }
        assert_eq!(Op::from_name("v_no_such_operation"), None);
    }
}
