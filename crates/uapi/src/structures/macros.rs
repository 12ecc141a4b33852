//! Macros that declare a kernel structure, with field offsets that are checked against the compiler's layout.

/// Declares plain `#[repr(C)]` structures with explicit offsets and size, which are asserted at compile time.
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
/// The string is the C name. A field with another name in C has `as "c.name"`, and a field without a counterpart in C (padding that
/// the C compiler inserts) has `as ""`. The test that compares with the C headers reads both from [`Layout`](super::Layout).
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
            /// The structure with all bytes zero, which the kernel's ABI treats as "not given".
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

/// Returns the C name of a field: the Rust name unless another is given.
macro_rules! c_field {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $c_field:literal) => {
        $c_field
    };
}

/// Associates an argument with its request: name, direction and number.
macro_rules! requests {
    ($( $argument:ty: $name:literal = $direction:ident($number:expr), $bits:literal; )*) => {$(
        impl $crate::Argument for $argument {
            const REQUEST: $crate::Request = $crate::Request::$direction::<$argument>(b'd', $number);
            const NAME: &'static str = $name;
        }
        const _: () = assert!(<$argument as $crate::Argument>::REQUEST.bits() == $bits);
    )*};
}

/// Associates an argument that C declares as a union with the structure that the kernel writes over its start.
macro_rules! answers {
    ($( $argument:ty => $answer:ty; )*) => {$(
        impl $crate::Answered for $argument {
            type Answer = $answer;
        }
        const _: () = assert!(size_of::<$answer>() <= size_of::<$argument>());
    )*};
}

pub(super) use {answers, c_field, requests, uapi};
