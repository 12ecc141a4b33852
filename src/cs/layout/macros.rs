//! How the tables are written down.

/// Declares selectors: `NAME = 0 first, 1 second on [G9..G12];`.
macro_rules! selectors {
    ($($table:ident = $($value:literal $name:ident $(on [$($from:ident .. $to:ident),+])?),+;)*) => {
        $(pub(super) const $table: &[Choice] = &[$(Choice {
            value: $value,
            name: stringify!($name),
            levels: $crate::cs::layout::macros::levels!($([$(($from, $to)),+])?),
        },)+];)*
    };
}
pub(super) use selectors;

/// A set of generations; all where none are named.
macro_rules! levels {
    () => {
        $crate::cs::layout::Levels::ALL
    };
    ([$($span:expr),+]) => {
        $crate::cs::layout::Levels::of(&[$($span),+])
    };
}
pub(in crate::cs) use levels;

/// What a field may hold: anything, the values of a selector, or one number.
macro_rules! holds {
    () => {
        &[]
    };
    (in $choices:ident) => {
        $crate::cs::layout::choices::$choices
    };
    (is $value:literal) => {
        &[$crate::cs::layout::Choice {
            value: $value,
            name: stringify!($value),
            levels: $crate::cs::layout::Levels::ALL,
        }]
    };
}
pub(super) use holds;

/// The condition of a field.
macro_rules! condition {
    () => {
        None
    };
    ($field:ident [$($value:literal),+]) => {
        Some($crate::cs::layout::When { field: stringify!($field), values: &[$($value),+] })
    };
}
pub(super) use condition;

/// What follows the last described dword.
macro_rules! tail {
    () => {
        None
    };
    ($field:ident $times:literal $plus:literal) => {
        Some($crate::cs::layout::Tail { field: stringify!($field), times: $times, plus: $plus })
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
            pub static $name: $crate::cs::layout::Layout = $crate::cs::layout::Layout {
                opcode: $opcode,
                name: stringify!($name),
                about: $about,
                $($ring: $crate::cs::layout::macros::levels!([$(($ring_from, $ring_to)),+]),)+
                forms: &[$($crate::cs::layout::Form {
                    levels: $crate::cs::layout::macros::levels!([$(($form_from, $form_to)),+]),
                    payload: ($least, $most),
                    tail: $crate::cs::layout::macros::tail!($($counted $times $plus)?),
                    fields: &[$($($crate::cs::layout::Field {
                        name: stringify!($field),
                        dword: $dword,
                        high: $high,
                        low: $low,
                        levels: $crate::cs::layout::macros::levels!($([$(($from, $to)),+])?),
                        choices: $crate::cs::layout::macros::holds!($(in $choices)? $(is $fixed)?),
                        when: $crate::cs::layout::macros::condition!($($decides [$($value),+])?),
                    },)+)*],
                },)+],
                ..$crate::cs::layout::Layout::BLANK
            };
        )+

        /// All of them.
        pub(in crate::cs) static $table: &[&$crate::cs::layout::Layout] = &[$(&$name),+];
    };
}
pub(super) use layouts;
