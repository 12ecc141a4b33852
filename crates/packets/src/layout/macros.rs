//! How the tables are written down.

/// Declares selectors: `NAME = 0 first, 1 second on [G9..G12];`.
macro_rules! selectors {
    ($($table:ident = $($value:literal $name:ident $(on [$($from:ident .. $to:ident),+])?),+;)*) => {
        $(pub(super) const $table: &[Choice] = &[$(Choice {
            value: $value,
            name: stringify!($name),
            levels: $crate::layout::macros::levels!($([$(($from, $to)),+])?),
        },)+];)*
    };
}
pub(super) use selectors;

/// A set of generations; all where none are named.
macro_rules! levels {
    () => {
        $crate::layout::Levels::ALL
    };
    ([$($span:expr),+]) => {
        $crate::layout::Levels::of(&[$($span),+])
    };
}
pub(crate) use levels;

/// What a field may hold: anything, the values of a selector, or one number.
macro_rules! holds {
    () => {
        &[]
    };
    (in $choices:ident) => {
        $crate::layout::choices::$choices
    };
    (is $value:literal) => {
        &[$crate::layout::Choice { value: $value, name: stringify!($value), levels: $crate::layout::Levels::ALL }]
    };
}
pub(super) use holds;

/// The condition of a field.
macro_rules! condition {
    () => {
        None
    };
    ($field:ident [$($value:literal),+]) => {
        Some($crate::layout::When { field: stringify!($field), values: &[$($value),+] })
    };
}
pub(super) use condition;

/// What follows the last described dword.
macro_rules! tail {
    () => {
        None
    };
    ($field:ident $times:literal $plus:literal) => {
        Some($crate::layout::Tail { field: stringify!($field), times: $times, plus: $plus })
    };
}
pub(super) use tail;

/// Declares layouts, and a table of them.
macro_rules! layouts {
    (
        $table:ident =
        $($opcode:literal $name:ident $about:literal $($ring:ident [$($ring_from:ident .. $ring_to:ident),+])+ {
            $(form [$($form_from:ident .. $form_to:ident),+] $least:literal .. $most:literal
                $(tail $counted:ident * $times:literal + $plus:literal)? {
                $($dword:literal: $(
                    $field:ident [$high:literal:$low:literal] $(in $choices:ident)? $(is $fixed:literal)?
                    $(on [$($from:ident .. $to:ident),+])? $(when $decides:ident [$($value:literal),+])?
                ),+;)*
            })+
        })+
    ) => {
        $(
            #[doc = concat!("Opcode `", stringify!($opcode), "`: ", $about, ".")]
            pub static $name: $crate::layout::Layout = $crate::layout::Layout {
                opcode: $opcode,
                name: stringify!($name),
                about: $about,
                $($ring: $crate::layout::macros::levels!([$(($ring_from, $ring_to)),+]),)+
                forms: &[$($crate::layout::Form {
                    levels: $crate::layout::macros::levels!([$(($form_from, $form_to)),+]),
                    payload: ($least, $most),
                    tail: $crate::layout::macros::tail!($($counted $times $plus)?),
                    fields: &[$($($crate::layout::Field {
                        name: stringify!($field),
                        dword: $dword,
                        high: $high,
                        low: $low,
                        levels: $crate::layout::macros::levels!($([$(($from, $to)),+])?),
                        choices: $crate::layout::macros::holds!($(in $choices)? $(is $fixed)?),
                        when: $crate::layout::macros::condition!($($decides [$($value),+])?),
                    },)+)*],
                },)+],
                ..$crate::layout::Layout::BLANK
            };
        )+

        /// All of them.
        pub(crate) static $table: &[&$crate::layout::Layout] = &[$(&$name),+];
    };
}
pub(super) use layouts;
