//! Macros that declare a kernel structure once: fields with their offsets, checked against the compiler's layout.

/// Declares plain `#[repr(C)]` structures with every offset and the size stated, and asserts them at compile time.
///
/// ```text
/// /// Docs.
/// struct GemClose = "drm_gem_close", 8 bytes {
///     /// Docs.
///     0 handle: u32,
///     4 pad: u32,
/// }
/// ```
///
/// The string is the C name; a field whose C name differs says so with `as "c.name"`, and one that has no C
/// counterpart (padding the C compiler inserts) says `as ""`. The test that compares with the C headers reads both
/// from [`Layout`](super::Layout).
macro_rules! uapi {
    ($(
        $(#[$attr:meta])*
        struct $name:ident = $c_name:literal, $size:literal bytes {
            $( $(#[$field_attr:meta])* $offset:literal $field:ident: $ty:ty $(as $c_field:literal)?, )*
        }
    )*) => {$(
        $(#[$attr])*
        #[repr(C)]
        #[derive(
            Clone,
            Copy,
            Debug,
            PartialEq,
            Eq,
            zerocopy::FromBytes,
            zerocopy::IntoBytes,
            zerocopy::Immutable,
            zerocopy::KnownLayout,
        )]
        pub struct $name {
            $( $(#[$field_attr])* pub $field: $ty, )*
        }

        impl $name {
            /// Every byte zero, which is what the kernel's ABI takes as "not given".
            pub const ZEROED: Self = zerocopy::transmute!([0u8; $size]);
        }

        impl Default for $name {
            fn default() -> Self {
                Self::ZEROED
            }
        }

        const _: () = {
            assert!(size_of::<$name>() == $size);
            $( assert!(std::mem::offset_of!($name, $field) == $offset); )*
        };

        impl $crate::Layout for $name {
            const C_NAME: &'static str = $c_name;
            const SIZE: usize = $size;
            const FIELDS: &'static [(&'static str, usize)] =
                &[$( ($crate::structures::macros::c_field!($field $($c_field)?), $offset), )*];
        }
    )*};
}

/// The C name of a field: the Rust one unless another is given.
macro_rules! c_field {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $c_field:literal) => {
        $c_field
    };
}

/// Pairs an argument with its request: name, direction and number.
macro_rules! requests {
    ($( $argument:ty: $name:literal = $direction:ident($number:expr), $bits:literal; )*) => {$(
        impl $crate::Argument for $argument {
            const REQUEST: $crate::Request = $crate::Request::$direction::<$argument>(b'd', $number);
            const NAME: &'static str = $name;
        }
        const _: () = assert!(<$argument as $crate::Argument>::REQUEST.bits() == $bits);
    )*};
}

/// Names the structure that the kernel writes over the start of an argument which C declares as a union.
macro_rules! answers {
    ($( $argument:ty => $answer:ty; )*) => {$(
        impl $crate::Answered for $argument {
            type Answer = $answer;
        }
        const _: () = assert!(size_of::<$answer>() <= size_of::<$argument>());
    )*};
}

pub(super) use {answers, c_field, requests, uapi};
