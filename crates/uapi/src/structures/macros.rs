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

/// Associates an argument with its request: name, direction, number, and effect. An argument with addresses that the kernel follows
/// is marked `with addresses`.
///
/// ```text
/// GemClose: "GEM_CLOSE" = write(0x09), 0x4008_6409, destroy;
/// Info: "AMDGPU_INFO" = write(DRIVER_BASE + 0x05), 0x4020_6445, query with addresses;
/// ```
macro_rules! requests {
    ($(
        $argument:ty:
            $name:literal = $direction:ident($number:expr), $bits:literal, $effect:ident $(with $addresses:ident)?;
    )*) => {$(
        impl $crate::Argument for $argument {
            const REQUEST: $crate::Request = $crate::Request::$direction::<$argument>(b'd', $number);
            const NAME: &'static str = $name;
            const EFFECT: $crate::Effect = $crate::structures::macros::effect!($effect);
        }
        const _: () = assert!(<$argument as $crate::Argument>::REQUEST.bits() == $bits);
        $crate::structures::macros::marked!($argument: $effect $(with $addresses)?);
    )*};
}

/// Returns the [`Effect`](super::Effect) that a table of requests names.
macro_rules! effect {
    (query) => {
        $crate::Effect::Query
    };
    (wait) => {
        $crate::Effect::Wait
    };
    (create) => {
        $crate::Effect::Create
    };
    (destroy) => {
        $crate::Effect::Destroy
    };
    (share) => {
        $crate::Effect::Share
    };
    (bind) => {
        $crate::Effect::Bind
    };
    (submit) => {
        $crate::Effect::Submit
    };
    (change) => {
        $crate::Effect::Change
    };
}

/// Implements [`Plain`](super::Plain) for arguments without addresses, and [`Harmless`](super::Harmless) for those of them whose
/// effect is a query or a wait.
macro_rules! marked {
    ($argument:ty: $effect:ident with addresses) => {};
    ($argument:ty: query) => {
        $crate::structures::macros::marked!($argument);
        impl $crate::structures::harmless::sealed::Classed for $argument {}
        impl $crate::Harmless for $argument {}
    };
    ($argument:ty: wait) => {
        $crate::structures::macros::marked!($argument: query);
    };
    ($argument:ty: $effect:ident) => {
        $crate::structures::macros::marked!($argument);
    };
    ($argument:ty) => {
        // SAFETY: the fields are handles, numbers, flags, GPU addresses and descriptors, as the docs of the structure list. None of
        // them is a CPU address, else the row of the table would say `with addresses`.
        #[expect(unsafe_code, reason = "a promise about the fields of the structure")]
        unsafe impl $crate::Plain for $argument {}
    };
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

pub(super) use {answers, c_field, effect, marked, requests, uapi};
