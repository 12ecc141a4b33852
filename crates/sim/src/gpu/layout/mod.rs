//! Packet layouts as tables: which fields a packet has on which generation, and where.
//!
//! The library describes the packets that it writes ([`amdgpu_winsys::cs`]); these tables describe the others, and the
//! forms of the known ones that no recorder of ours uses, in the same terms: dword, bits, the values a selector has.
//! What no field claims must be zero, and what a selector does not list is refused by name.
//!
//! ```text
//! 0x45 COND_WRITE gfx [G6..G12] compute [G6..G12] {          opcode, name, who takes it and when
//!   form [G6..G12] 8..8 {                                      generations, payload in dwords
//!     1: function[2:0] in COMPARE, wr_confirm[20:20] on [G12..G12];
//! ```
//!
//! Dwords count from the header, which is 0. An address in two fields `x_lo` and `x_hi` keeps its place: `x_lo[31:3]` is
//! a multiple of 8. Fields of one dword may overlap where another field decides which of them is meant.

// The lint spares test builds.
#![cfg_attr(
    not(test),
    expect(clippy::wildcard_imports, reason = "the tables name generations and selectors, and little else")
)]

mod choices;
mod control;
mod fields;
mod memory;
mod sdma;
mod sdma_copy;
mod sdma_old;
mod state;
mod work;

use amdgpu_winsys::cs::{pm4, sdma::Version};
use amdgpu_winsys::winsys::GfxLevel;

pub(super) use fields::{Fields, Misfit};

/// A set of generations or versions, one bit for each.
#[derive(Clone, Copy)]
struct Levels(u16);

impl Levels {
    const NONE: Self = Self(0);
    const ALL: Self = Self(u16::MAX);

    /// All from the first to the last of each span.
    const fn of(spans: &[(u8, u8)]) -> Self {
        let mut bits = 0;
        let mut rest = spans;
        while let [(first, last), behind @ ..] = rest {
            bits |= (u16::MAX << *first) & (u16::MAX >> (15 - *last));
            rest = behind;
        }
        Self(bits)
    }

    const fn has(self, level: u8) -> bool {
        self.0 >> level & 1 != 0
    }
}

/// The generations, as the tables name them.
mod generation {
    use super::GfxLevel;

    pub(super) const G6: u8 = GfxLevel::Gfx6 as u8;
    pub(super) const G7: u8 = GfxLevel::Gfx7 as u8;
    pub(super) const G8: u8 = GfxLevel::Gfx8 as u8;
    pub(super) const G9: u8 = GfxLevel::Gfx9 as u8;
    pub(super) const G10: u8 = GfxLevel::Gfx10 as u8;
    pub(super) const G10_3: u8 = GfxLevel::Gfx10_3 as u8;
    pub(super) const G11: u8 = GfxLevel::Gfx11 as u8;
    pub(super) const G11_5: u8 = GfxLevel::Gfx11_5 as u8;
    pub(super) const G12: u8 = GfxLevel::Gfx12 as u8;
}

/// The versions of the copy engine, as the tables name them.
mod version {
    use super::Version;

    pub(super) const V1_0: u8 = Version::V1_0 as u8;
    pub(super) const V2_0: u8 = Version::V2_0 as u8;
    pub(super) const V2_4: u8 = Version::V2_4 as u8;
    pub(super) const V3_0: u8 = Version::V3_0 as u8;
    pub(super) const V4_0: u8 = Version::V4_0 as u8;
    pub(super) const V5_0: u8 = Version::V5_0 as u8;
    pub(super) const V5_2: u8 = Version::V5_2 as u8;
    pub(super) const V6_0: u8 = Version::V6_0 as u8;
    pub(super) const V7_0: u8 = Version::V7_0 as u8;
}

/// Values of a selector, from the first to the last.
struct Choice {
    first: u32,
    last: u32,
    levels: Levels,
}

/// Some bits of a dword.
struct Field {
    name: &'static str,
    dword: u16,
    high: u8,
    low: u8,
    levels: Levels,
    /// The values it has; none for a number.
    choices: &'static [Choice],
}

impl Field {
    const fn mask(&self) -> u32 {
        (u32::MAX >> (31 - self.high)) & (u32::MAX << self.low)
    }
}

/// One way a packet looks.
struct Form {
    levels: Levels,
    /// Dwords behind the header, at least and at most.
    payload: (u16, u16),
    fields: &'static [Field],
}

/// A packet.
pub(super) struct Layout {
    /// The opcode; for the copy engine the sub-opcode in bits 15:8.
    pub(super) opcode: u16,
    /// What AMD's headers call it.
    pub(super) name: &'static str,
    gfx: Levels,
    compute: Levels,
    /// The constant engine.
    ce: Levels,
    /// The kernel's interface queue.
    kiq: Levels,
    /// The copy engine; versions instead of generations.
    sdma: Levels,
    forms: &'static [Form],
}

impl Layout {
    const BLANK: Self = Self {
        opcode: 0,
        name: "",
        gfx: Levels::NONE,
        compute: Levels::NONE,
        ce: Levels::NONE,
        kiq: Levels::NONE,
        sdma: Levels::NONE,
        forms: &[],
    };
}

/// Who reads a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reader {
    /// A graphics or compute ring.
    Ring(pm4::Target),
    /// The constant engine of a graphics ring.
    Constant(GfxLevel),
    /// A copy engine.
    Copy(Version),
}

impl Reader {
    const fn level(self) -> u8 {
        match self {
            Self::Ring(target) => target.level as u8,
            Self::Constant(level) => level as u8,
            Self::Copy(version) => version as u8,
        }
    }

    fn takes(self, layout: &Layout) -> bool {
        let levels = match self {
            Self::Ring(pm4::Target { ring: pm4::Ring::Gfx, .. }) => layout.gfx,
            Self::Ring(pm4::Target { ring: pm4::Ring::Compute, .. }) => layout.compute,
            Self::Constant(_) => layout.ce,
            Self::Copy(_) => layout.sdma,
        };
        levels.has(self.level())
    }

    fn tables(self) -> &'static [&'static [Layout]] {
        match self {
            Self::Ring(_) | Self::Constant(_) => PM4,
            Self::Copy(Version::V1_0) => &[sdma_old::SDMA_OLD],
            Self::Copy(_) => &[sdma_copy::SDMA_COPY, sdma::SDMA],
        }
    }

    /// The layouts of an opcode that this reader takes.
    fn layouts(self, opcode: u16) -> impl Iterator<Item = &'static Layout> {
        let all = self.tables().iter().copied().flatten();
        all.filter(move |layout| layout.opcode == opcode && self.takes(layout))
    }
}

const PM4: &[&[Layout]] = &[state::STATE, memory::MEMORY, work::WORK, control::CONTROL];

/// Whether only the kernel's interface queue takes packets of this opcode.
pub(super) fn is_for_the_interface_queue(opcode: u8, level: GfxLevel) -> bool {
    let all = PM4.iter().copied().flatten();
    all.filter(|layout| layout.opcode == u16::from(opcode)).any(|layout| layout.kiq.has(level as u8))
}

/// Declares selectors.
macro_rules! selectors {
    ($($name:ident = $($first:literal ..= $last:literal $(on [$($from:ident .. $to:ident),+])?),+;)*) => {
        $(pub(super) const $name: &[Choice] = &[$($crate::gpu::layout::Choice {
            first: $first,
            last: $last,
            levels: $crate::gpu::layout::levels!($([$(($from, $to)),+])?),
        },)+];)*
    };
}
use selectors;

/// A set of generations; all where none are named.
macro_rules! levels {
    () => {
        $crate::gpu::layout::Levels::ALL
    };
    ([$($span:expr),+]) => {
        $crate::gpu::layout::Levels::of(&[$($span),+])
    };
}
use levels;

/// What a field may hold: anything, the values of a selector, or one number.
macro_rules! holds {
    () => {
        &[]
    };
    (in $choices:ident) => {
        $choices
    };
    (is $value:literal) => {
        &[$crate::gpu::layout::Choice { first: $value, last: $value, levels: $crate::gpu::layout::Levels::ALL }]
    };
}
use holds;

/// Declares a table of layouts.
macro_rules! layouts {
    (
        $(#[$doc:meta])*
        $vis:vis const $table:ident =
        $($opcode:literal $name:ident $($ring:ident [$($ring_from:ident .. $ring_to:ident),+])+ {
            $(form [$($form_from:ident .. $form_to:ident),+] $least:literal .. $most:literal {
                $($dword:literal: $(
                    $field:ident [$high:literal:$low:literal] $(in $choices:ident)? $(is $fixed:literal)?
                    $(on [$($from:ident .. $to:ident),+])?
                ),+;)*
            })+
        })+
    ) => {
        $(#[$doc])*
        $vis const $table: &[Layout] = &[$(Layout {
            opcode: $opcode,
            name: stringify!($name),
            $($ring: $crate::gpu::layout::levels!([$(($ring_from, $ring_to)),+]),)+
            forms: &[$($crate::gpu::layout::Form {
                levels: $crate::gpu::layout::levels!([$(($form_from, $form_to)),+]),
                payload: ($least, $most),
                fields: &[$($($crate::gpu::layout::Field {
                    name: stringify!($field),
                    dword: $dword,
                    high: $high,
                    low: $low,
                    levels: $crate::gpu::layout::levels!($([$(($from, $to)),+])?),
                    choices: $crate::gpu::layout::holds!($(in $choices)? $(is $fixed)?),
                },)+)*],
            },)+],
            ..Layout::BLANK
        },)+];
    };
}
use layouts;

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> impl Iterator<Item = &'static Layout> {
        let copy: &[&[Layout]] = &[sdma_old::SDMA_OLD, sdma_copy::SDMA_COPY, sdma::SDMA];
        PM4.iter().chain(copy).copied().flatten()
    }

    #[test]
    fn every_field_lies_in_its_dword_and_every_dword_in_its_form() {
        for layout in all() {
            for form in layout.forms {
                assert!(form.payload.0 <= form.payload.1, "{}", layout.name);
                for field in form.fields {
                    assert!(field.low <= field.high && field.high < 32, "{}.{}", layout.name, field.name);
                    assert!(field.dword <= form.payload.1, "{}.{}", layout.name, field.name);
                }
            }
        }
    }

    #[test]
    fn whoever_takes_a_packet_finds_a_form_of_it_or_is_told_why_not() {
        // INDEX_TYPE and DRAW_PREAMBLE keep their opcodes on generations whose form is not known.
        let without = ["INDEX_TYPE", "DRAW_PREAMBLE", "SCRATCH_RAM_WRITE", "COND_INDIRECT_BUFFER"];
        for target in pm4::Target::all() {
            for opcode in 0..=0xff {
                for layout in Reader::Ring(target).layouts(opcode).filter(|layout| !without.contains(&layout.name)) {
                    let level = target.level as u8;
                    assert!(layout.forms.iter().any(|form| form.levels.has(level)), "{} on {target}", layout.name);
                }
            }
        }
    }

    #[test]
    fn a_span_of_generations_holds_both_ends() {
        let levels = Levels::of(&[(0, 1), (4, 4), (8, 8)]);
        assert_eq!(
            (0..9).map(|level| levels.has(level)).collect::<Vec<_>>(),
            [true, true, false, false, true, false, false, false, true]
        );
    }
}
