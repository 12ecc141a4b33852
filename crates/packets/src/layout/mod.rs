//! Tables that describe every packet: its fields on each generation and ring, their bits and their valid values.
//!
//! The tables contain all packets of both languages. Packets that drivers record often also have types ([`cs::pm4`](crate::pm4),
//! [`cs::sdma`](crate::sdma)), which are faster and check more. All others are recorded with [`Described`] and read with
//! [`Fields`]. The dumper and the simulated GPU use the same tables. Bits that belong to no field must be zero. An undefined value
//! of a selector is an error that names the field.
//!
//! The tables are generated from the text files in `spec`, whose README describes the format. A summary:
//!
//! ```text
//! 0x45 COND_WRITE "store data if a comparison holds now"     opcode, name, what it does
//!   gfx [GFX6..GFX12] compute [GFX6..GFX12]                  who takes it, and on which generations
//!   form [GFX6..GFX12] 8                                     generations, payload in dwords
//!     1: function[2:0] in COMPARE, wr_confirm[20] [GFX12]
//!     2: poll_addr_lo[31:2] when poll_space = 1, poll_reg[17:0] when poll_space = 0
//! ```
//!
//! Dwords are numbered from the header, which is 0. An address in two fields `x_lo` and `x_hi` keeps its bit positions:
//! `x_lo[31:3]` is a multiple of 8. Fields of a dword may overlap if another field selects between them. Copy-engine headers have
//! no length, so `tail` gives the number of dwords that follow: a field, times a factor, plus a constant.

mod bits;
mod described;
#[cfg(test)]
mod described_tests;
mod fields;
#[rustfmt::skip]
mod generated;
mod packets;
pub(crate) mod parts;
mod reader;
pub(crate) mod record;
#[cfg(test)]
mod record_tests;
#[cfg(test)]
mod refusal_tests;
mod shape;
mod tables;
mod value;

use bits::{bits, on, wide};
pub(crate) use parts::Half;
use parts::{Part, choice, field, when};
use shape::form;

pub use described::{Described, DescribedLanguage};
pub use fields::{Fields, Misfit};
pub use packets::{Listed, Packets, copy_name, packets};
pub use parts::{Choice, Field, FieldName, Levels};
pub use reader::Reader;
pub use shape::{Form, Layout};
pub use tables::is_for_the_interface_queue;

/// The packets of the graphics and compute rings.
pub mod pm4 {
    pub use super::generated::pm4::*;

    /// Returns all packets of this language.
    pub fn all() -> impl Iterator<Item = &'static super::Layout> {
        super::tables::PM4.all()
    }
}

/// The packets of the copy engines of GFX7 and later.
pub mod sdma {
    pub use super::generated::sdma::*;

    /// Returns all packets of this language.
    pub fn all() -> impl Iterator<Item = &'static super::Layout> {
        super::tables::SDMA.all()
    }
}

/// The packets of the DMA engine of GFX6.
pub mod dma {
    pub use super::generated::dma::*;

    /// Returns all packets of this language.
    pub fn all() -> impl Iterator<Item = &'static super::Layout> {
        super::tables::SDMA_OLD.all()
    }
}

/// One structure per packet with all its fields, for code that executes packets.
///
/// A packet is first read with its layout, which rejects invalid packets. This function then extracts the fields: an address in two
/// fields is one number, a field of one bit without a selector is a `bool`, and a field that the generation does not have is zero.
///
/// ```
/// use amdgpu_hw::GfxLevel;
/// use amdgpu_packets::{layout::{self, records::pm4::Packet, values::{EventIndex, EventType}}, pm4};
///
/// let ib = [0xc000_4600, 0x407];
/// let flush = layout::packets(&ib, pm4::Target::gfx(GfxLevel::Gfx9)).next().unwrap().content?.unwrap();
/// let Some(Packet::EventWrite(event)) = Packet::read(&flush) else { panic!("{flush:?}") };
/// assert_eq!((event.event_type, event.event_index), (EventType::CS_PARTIAL_FLUSH, EventIndex::PARTIAL_FLUSH));
/// # Ok::<(), amdgpu_packets::DecodeError>(())
/// ```
pub mod records {
    pub use super::generated::pm4_records as pm4;
    pub use super::generated::sdma_records as sdma;
}

pub use generated::names::fields as names;
pub(crate) use generated::selectors as choices;
pub use generated::selectors::values;
pub(crate) use generated::{flags, opcodes, written};
pub(crate) use packets::copy_opcode;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pm4 as language;

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
        // INDEX_TYPE and DRAW_PREAMBLE keep their opcodes on generations whose form is unknown.
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
                for when in form.fields.iter().flat_map(|field| field.when) {
                    assert!(form.fields.iter().any(|field| field.key() == when.field), "{}", layout.name);
                }
            }
        }
    }
}
