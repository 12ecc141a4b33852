//! A row of the table of formats.

/// The uses that the format numbers of GFX10 and later support.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Usage {
    Any,
    BufferOnly,
}

/// A format with its hardware numbers. Negative numbers mean that the format is not supported.
#[derive(Debug)]
pub(super) struct FormatRow {
    pub(super) name: &'static str,
    pub(super) vulkan: u32,
    pub(super) bytes: u8,
    pub(super) block: (u8, u8),
    pub(super) swizzle: [u8; 4],
    pub(super) legacy: [i8; 4],
    pub(super) numbers: [u16; 2],
    pub(super) usage: Usage,
    pub(super) color: &'static [u8],
    pub(super) depth: &'static [u8],
    pub(super) bc_swizzle: u8,
    pub(super) alpha_on_msb: [u8; 2],
}

/// Defines the table, and a constant for each format.
macro_rules! formats {
    ($($name:ident = $vk:literal: $bytes:literal, $w:literal, $h:literal, $swizzle:literal, $legacy:expr, $numbers:expr,
       $usage:ident, $color:expr, $depth:expr, $bc:literal, $msb:expr;)*) => {
        /// The indices of the formats in the table.
        #[expect(non_camel_case_types, reason = "the names are Vulkan's")]
        #[derive(Clone, Copy)]
        enum At { $($name),* }

        #[expect(non_upper_case_globals, reason = "the names are Vulkan's")]
        impl super::id::Format {
            $(
                #[doc = concat!("`VK_FORMAT_", stringify!($name), "`.")]
                pub const $name: Self = Self::at(At::$name as u8);
            )*
        }

        /// The formats, in the order of the constants.
        pub(super) static FORMATS: &[FormatRow] = &[
            $(FormatRow {
                name: stringify!($name),
                vulkan: $vk,
                bytes: $bytes,
                block: ($w, $h),
                swizzle: *$swizzle,
                legacy: $legacy,
                numbers: $numbers,
                usage: super::row::Usage::$usage,
                color: &$color,
                depth: &$depth,
                bc_swizzle: $bc,
                alpha_on_msb: $msb,
            }),*
        ];
    };
}

pub(super) use formats;
