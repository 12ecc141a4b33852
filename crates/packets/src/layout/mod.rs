//! One description per packet, as tables: which fields it has on which generation and ring, where, and what they may hold.
//!
//! Every packet of both languages is here. What drivers record all day has a type of its own as well
//! ([`cs::pm4`](crate::pm4), [`cs::sdma`](crate::sdma)), which is faster and knows more; everything else is recorded through
//! [`Described`] and read through [`Fields`], and the dumper and the simulated GPU read with the same
//! tables. What no field claims must be zero, and what a selector does not list is refused by name.
//!
//! The tables are generated from the text in `spec`, whose README describes it. In short:
//!
//! ```text
//! 0x45 COND_WRITE "store data if a comparison holds now"     opcode, name, what it does
//!   gfx [GFX6..GFX12] compute [GFX6..GFX12]                  who takes it, and on which generations
//!   form [GFX6..GFX12] 8                                     generations, payload in dwords
//!     1: function[2:0] in COMPARE, wr_confirm[20] [GFX12]
//!     2: poll_addr_lo[31:2] when poll_space = 1, poll_reg[17:0] when poll_space = 0
//! ```
//!
//! Dwords count from the header, which is 0. An address in two fields `x_lo` and `x_hi` keeps its place: `x_lo[31:3]` is
//! a multiple of 8. Fields of one dword may overlap where another field decides which of them is meant. `tail` says how
//! many dwords follow in the copy engine's language, whose headers hold no length: a field, times, plus.

mod described;
#[cfg(test)]
mod described_tests;
mod fields;
#[rustfmt::skip]
mod generated;
mod packets;
pub(crate) mod record;
#[cfg(test)]
mod record_tests;
mod tables;
mod whole;

use super::pm4 as language;
use super::{DecodeError, Target};
use crate::sdma::Version;
use amdgpu_hw::GfxLevel;
use generated::texts::NAMES;

pub use described::{Described, DescribedLanguage};
pub use fields::{Fields, Misfit};
pub use packets::{Listed, Packets, copy_name, packets};

/// The packets of the graphics and compute rings.
pub mod pm4 {
    pub use super::generated::pm4::*;

    /// Every packet.
    pub fn all() -> impl Iterator<Item = &'static super::Layout> {
        super::tables::PM4.all()
    }
}

/// The packets of the copy engines from GFX7 on.
pub mod sdma {
    pub use super::generated::sdma::*;

    /// Every packet.
    pub fn all() -> impl Iterator<Item = &'static super::Layout> {
        super::tables::SDMA.all()
    }
}

/// The packets of the DMA engine of GFX6.
pub mod dma {
    pub use super::generated::dma::*;

    /// Every packet.
    pub fn all() -> impl Iterator<Item = &'static super::Layout> {
        super::tables::SDMA_OLD.all()
    }
}

/// Every packet as a structure with all its fields, for those who execute packets.
///
/// A packet is read through its layout first, which refuses what is wrong with it. What is left here is to take the fields
/// apart: an address in two fields is one number, a field of one bit that has no selector is a `bool`, and a field that the
/// generation does not have is zero.
///
/// ```
/// use amdgpu_hw::GfxLevel;
/// use amdgpu_packets::{layout::{self, records::pm4::Packet, values::event_type}, pm4};
///
/// let ib = [0xc000_4600, 0x407];
/// let flush = layout::packets(&ib, pm4::Target::gfx(GfxLevel::Gfx9)).next().unwrap().content?.unwrap();
/// let Some(Packet::EventWrite(event)) = Packet::read(&flush) else { panic!("{flush:?}") };
/// assert_eq!((event.event_type, event.event_index), (event_type::CS_PARTIAL_FLUSH, 4));
/// # Ok::<(), amdgpu_packets::DecodeError>(())
/// ```
pub mod records {
    pub use super::generated::pm4_records as pm4;
    pub use super::generated::sdma_records as sdma;
}

pub use generated::names::fields as names;
pub use generated::selectors::values;
pub(crate) use generated::{opcodes, written};
pub(crate) use packets::copy_opcode;
pub(crate) use whole::holds_all;

/// A set of generations or versions, one bit for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Levels(u16);

impl Levels {
    pub(super) const NONE: Self = Self(0);

    #[inline]
    pub(super) const fn has(self, level: u8) -> bool {
        self.0 >> level & 1 != 0
    }
}

/// A value of a selector.
#[derive(Debug)]
pub struct Choice {
    value: u32,
    name: &'static str,
    levels: Levels,
}

impl Choice {
    /// The number on the wire.
    pub const fn value(&self) -> u32 {
        self.value
    }

    /// What it is called.
    pub const fn name(&self) -> &'static str {
        self.name
    }
}

/// The name of a field, or of a number in two fields; all are constants in [`names`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct FieldName(u16);

impl FieldName {
    /// Returns the name in AMD's headers, in lower case.
    pub const fn text(self) -> &'static str {
        NAMES[self.0 as usize].0
    }

    /// Returns `true` if a field of this name holds an address in the job's address space.
    pub(crate) const fn is_address(self) -> bool {
        NAMES[self.0 as usize].1
    }
}

impl std::fmt::Debug for FieldName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.text())
    }
}

/// A field's share in a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Half {
    /// All of it.
    Whole,
    /// The low half, `x_lo`.
    Low,
    /// The high half, `x_hi`.
    High,
}

/// The name of a field, and of the number that it is a half of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    name: FieldName,
    whole: FieldName,
    half: Half,
}

/// The condition under which a field is meant: another field of the packet has one of these values.
#[derive(Debug)]
struct When {
    field: FieldName,
    values: &'static [u32],
}

/// Dwords that follow the described ones: a field, times, plus.
#[derive(Debug)]
struct Tail {
    field: FieldName,
    times: usize,
    plus: usize,
}

/// Some bits of a dword.
#[derive(Debug)]
pub struct Field {
    part: Part,
    dword: u16,
    high: u8,
    low: u8,
    levels: Levels,
    choices: &'static [Choice],
    when: Option<When>,
}

impl Field {
    /// The field's name in AMD's headers, in lower case.
    pub const fn name(&self) -> &'static str {
        self.part.name.text()
    }

    /// Returns the field's name as a constant.
    pub const fn key(&self) -> FieldName {
        self.part.name
    }

    /// Returns the name of the number that the field is a half of; the field's own name if it is none.
    pub(crate) const fn whole(&self) -> FieldName {
        self.part.whole
    }

    /// Returns the field's share in that number.
    pub(crate) const fn half(&self) -> Half {
        self.part.half
    }

    /// Returns `true` if the field has this name, or is a half of a number of this name.
    pub(crate) const fn is_called(&self, name: FieldName) -> bool {
        self.part.name.0 == name.0 || self.part.whole.0 == name.0
    }

    /// Its dword, counted from the header, which is 0.
    pub const fn dword(&self) -> usize {
        self.dword as usize
    }

    /// Its highest and its lowest bit.
    pub const fn bits(&self) -> (u8, u8) {
        (self.high, self.low)
    }

    /// The largest number it holds.
    pub const fn max(&self) -> u32 {
        self.mask() >> self.low
    }

    /// The values it has; none for a number.
    pub const fn choices(&self) -> &'static [Choice] {
        self.choices
    }

    /// Another field and the values of it with which this one means something; `None` if it always does.
    pub fn condition(&self) -> Option<(FieldName, &'static [u32])> {
        self.when.as_ref().map(|when| (when.field, when.values))
    }

    pub(super) const fn mask(&self) -> u32 {
        (u32::MAX >> (31 - self.high)) & (u32::MAX << self.low)
    }

    pub(super) const fn of_dword(&self, dword: u32) -> u32 {
        (dword & self.mask()) >> self.low
    }

    pub(super) const fn is_on(&self, level: u8) -> bool {
        self.levels.has(level)
    }

    /// The value's name, where it has one on this level.
    pub(super) fn choice(&self, value: u32, level: u8) -> Option<&'static Choice> {
        let from = self.choices.partition_point(|choice| choice.value < value);
        let same = self.choices.get(from..)?.iter().take_while(|choice| choice.value == value);
        same.into_iter().find(|choice| choice.levels.has(level))
    }
}

/// One way a packet looks.
#[derive(Debug)]
pub struct Form {
    /// Its number among all forms of all packets.
    number: u16,
    levels: Levels,
    /// Dwords behind the header, at least and at most.
    payload: (u16, u16),
    tail: Option<Tail>,
    fields: &'static [Field],
    /// The bits of each dword that fields have, by the levels that agree on them.
    masks: &'static [(u16, &'static [u32])],
    /// The places of the fields that hold some values only.
    selectors: &'static [u8],
}

/// A packet.
#[derive(Debug)]
pub struct Layout {
    opcode: u16,
    name: &'static str,
    about: &'static str,
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
    pub(super) const BLANK: Self = Self {
        opcode: 0,
        name: "",
        about: "",
        gfx: Levels::NONE,
        compute: Levels::NONE,
        ce: Levels::NONE,
        kiq: Levels::NONE,
        sdma: Levels::NONE,
        forms: &[],
    };

    /// The opcode; for the copy engine with the sub-opcode in bits 15:8.
    pub const fn opcode(&self) -> u16 {
        self.opcode
    }

    /// What AMD's headers call it.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// What it does, in a few words.
    pub const fn about(&self) -> &'static str {
        self.about
    }

    /// The ways it looks to `reader`; none where the reader does not take it.
    pub fn forms(&self, reader: Reader) -> impl Iterator<Item = &'static Form> + use<> {
        let (takes, level) = (reader.takes(self), reader.level());
        self.forms.iter().filter(move |form| takes && form.levels.has(level))
    }

    /// Whether a form has a field of this name, or the two halves of one: what [`packet!`](crate::packet) asks at compile
    /// time.
    pub const fn has(&self, name: FieldName) -> bool {
        let mut form = 0;
        while form < self.forms.len() {
            let fields = self.forms[form].fields;
            let mut at = 0;
            while at < fields.len() {
                if fields[at].is_called(name) {
                    return true;
                }
                at += 1;
            }
            form += 1;
        }
        false
    }
}

/// What the generated tables say a value with.
const fn choice(value: u32, name: &'static str, levels: u16) -> Choice {
    Choice { value, name, levels: Levels(levels) }
}

/// What the generated tables say a field with.
const fn field(part: Part, dword: u16, high: u8, low: u8, levels: u16, choices: &'static [Choice]) -> Field {
    Field { part, dword, high, low, levels: Levels(levels), choices, when: None }
}

/// What the generated tables say a form with.
const fn form(number: u16, levels: u16, payload: (u16, u16), fields: &'static [Field]) -> Form {
    Form { number, levels: Levels(levels), payload, tail: None, fields, masks: &[], selectors: &[] }
}

/// What the generated records take a field apart with; zero where the packet is shorter.
#[inline]
fn bits(packet: &[u32], dword: usize, high: u32, low: u32) -> u32 {
    packet.get(dword).map_or(0, |dword| dword << (31 - high) >> (31 - high + low))
}

/// What the generated records take a part of a wide number apart with.
#[inline]
fn wide(packet: &[u32], dword: usize, high: u32, low: u32, shift: u32) -> u64 {
    u64::from(bits(packet, dword, high, low)) << shift
}

/// What the generated records leave a field out with: 1 for a level that has it.
#[inline]
const fn on(level: u8, levels: u16) -> u32 {
    (levels >> level & 1) as u32
}

impl Field {
    const fn when(self, field: Part, values: &'static [u32]) -> Self {
        Self { when: Some(When { field: field.name, values }), ..self }
    }
}

impl Form {
    const fn checks(self, masks: &'static [(u16, &'static [u32])], selectors: &'static [u8]) -> Self {
        Self { masks, selectors, ..self }
    }

    /// The bits of each described dword that fields have on a level.
    fn mask(&self, level: u8) -> &'static [u32] {
        self.masks.iter().find(|(levels, _)| levels >> level & 1 != 0).map_or(&[], |found| found.1)
    }

    const fn tail(self, field: Part, times: usize, plus: usize) -> Self {
        Self { tail: Some(Tail { field: field.name, times, plus }), ..self }
    }

    /// The dwords behind the header, at least and at most, without what a count in the packet adds.
    pub fn payload(&self) -> (usize, usize) {
        (self.payload.0.into(), self.payload.1.into())
    }

    /// The fields that `reader` sees.
    pub fn fields(&self, reader: Reader) -> impl Iterator<Item = &'static Field> + use<> {
        let level = reader.level();
        self.fields.iter().filter(move |field| field.is_on(level))
    }

    /// The dword behind the last described one.
    fn described(&self) -> usize {
        self.fields.last().map_or(1, |field| usize::from(field.dword) + 1)
    }
}

/// Who reads a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// A graphics or compute ring.
    Ring(language::Target),
    /// The constant engine of a graphics ring.
    Constant(GfxLevel),
    /// The kernel's interface queue.
    Interface(GfxLevel),
    /// A copy engine.
    Copy(Version),
}

impl From<language::Target> for Reader {
    fn from(target: language::Target) -> Self {
        Self::Ring(target)
    }
}

impl From<Version> for Reader {
    fn from(version: Version) -> Self {
        Self::Copy(version)
    }
}

impl From<Target> for Reader {
    fn from(target: Target) -> Self {
        match target {
            Target::Pm4(target) => Self::Ring(target),
            Target::Sdma(version) => Self::Copy(version),
        }
    }
}

impl Reader {
    #[inline]
    const fn level(self) -> u8 {
        match self {
            Self::Ring(target) => target.level as u8,
            Self::Constant(level) | Self::Interface(level) => level as u8,
            Self::Copy(version) => version as u8,
        }
    }

    /// Whose errors these are.
    pub const fn target(self) -> Target {
        match self {
            Self::Ring(target) => Target::Pm4(target),
            Self::Constant(level) => Target::Pm4(language::Target::gfx(level)),
            Self::Interface(level) => Target::Pm4(language::Target::compute(level)),
            Self::Copy(version) => Target::Sdma(version),
        }
    }

    /// Whether there is such a packet for this reader.
    #[inline]
    pub const fn takes(self, layout: &Layout) -> bool {
        let levels = match self {
            Self::Ring(language::Target { ring: language::Ring::Gfx, .. }) => layout.gfx,
            Self::Ring(language::Target { ring: language::Ring::Compute, .. }) => layout.compute,
            Self::Constant(_) => layout.ce,
            Self::Interface(_) => layout.kiq,
            Self::Copy(_) => layout.sdma,
        };
        levels.has(self.level())
    }

    const fn table(self) -> &'static tables::Table {
        match self {
            Self::Ring(_) | Self::Constant(_) | Self::Interface(_) => &tables::PM4,
            Self::Copy(Version::V1_0) => &tables::SDMA_OLD,
            Self::Copy(_) => &tables::SDMA,
        }
    }

    /// The layouts of an opcode that this reader takes.
    #[inline]
    pub fn layouts(self, opcode: u16) -> impl Iterator<Item = &'static Layout> + use<> {
        self.table().of(opcode).filter(move |layout| self.takes(layout))
    }
}

/// Whether only the kernel's interface queue takes packets of this opcode.
pub fn is_for_the_interface_queue(opcode: u8, level: GfxLevel) -> bool {
    Reader::Interface(level).layouts(opcode.into()).next().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> impl Iterator<Item = &'static Layout> {
        pm4::all().chain(sdma::all()).chain(dma::all())
    }

    fn level_of(form: &Form) -> u8 {
        form.levels.0.trailing_zeros() as u8
    }

    #[test]
    fn every_field_lies_in_its_dword_and_every_dword_in_its_form() {
        for layout in all() {
            for form in layout.forms {
                assert!(form.payload.0 <= form.payload.1, "{}", layout.name);
                for field in form.fields {
                    assert!(field.low <= field.high && field.high < 32, "{}.{}", layout.name, field.name());
                    let extra = form.tail.as_ref().map_or(0, |tail| tail.times as u16);
                    let most = form.payload.1 + extra;
                    assert!(field.dword <= most, "{}.{}", layout.name, field.name());
                    let mask = form.mask(level_of(form))[usize::from(field.dword)];
                    let is_there = field.is_on(level_of(form));
                    assert!(!is_there || mask & field.mask() == field.mask(), "{}.{}", layout.name, field.name());
                    let values = field.choices.windows(2).all(|pair| pair[0].value <= pair[1].value);
                    assert!(values, "{}.{}: the choices are not in order", layout.name, field.name());
                }
                let dwords = form.fields.windows(2).all(|pair| pair[0].dword <= pair[1].dword);
                assert!(dwords, "{}: the fields are not in order", layout.name);
            }
        }
    }

    #[test]
    fn whoever_takes_a_packet_finds_a_form_of_it_or_is_told_why_not() {
        // INDEX_TYPE and DRAW_PREAMBLE keep their opcodes on generations whose form is not known.
        let without = ["INDEX_TYPE", "DRAW_PREAMBLE", "SCRATCH_RAM_WRITE", "COND_INDIRECT_BUFFER"];
        for target in language::Target::all() {
            for opcode in 0..=0xff {
                let reader = Reader::Ring(target);
                for layout in reader.layouts(opcode).filter(|layout| !without.contains(&layout.name)) {
                    assert!(layout.forms(reader).next().is_some(), "{} on {target}", layout.name);
                }
            }
        }
    }

    #[test]
    fn a_condition_names_a_field_of_its_form() {
        for layout in all() {
            for form in layout.forms {
                for when in form.fields.iter().filter_map(|field| field.when.as_ref()) {
                    assert!(form.fields.iter().any(|field| field.key() == when.field), "{}", layout.name);
                }
            }
        }
    }
}
