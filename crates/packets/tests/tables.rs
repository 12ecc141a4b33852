//! The tables of every packet: what is written through them is read back, on every generation and ring, and nothing that
//! comes along makes them fail.

use std::marker::PhantomData;

use amdgpu_hw::GfxLevel;
use amdgpu_packets::layout::{self, Described, DescribedLanguage, FieldName, Fields, Form, Layout, Reader};
use amdgpu_packets::packet;
use amdgpu_packets::{EncodeError, FieldError, Packet, pm4, sdma};
use proptest::prelude::*;
use serde_json::Value;

/// Numbers that look random.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

/// Some values for the fields of a form, each of which fits.
fn values(form: &'static Form, reader: Reader, dice: &mut Dice) -> Vec<(FieldName, u64)> {
    let some = |field: &'static layout::Field, dice: &mut Dice| match field.choices() {
        [] if field.name() == "count" => dice.roll() % 4,
        [] => dice.roll() & u64::from(field.max()),
        choices => u64::from(choices[dice.roll() as usize % choices.len()].value()),
    };
    let mut all: Vec<_> = form.fields(reader).map(|field| (field, some(field, dice))).collect();
    let before = all.clone();
    all.retain(|(field, _)| {
        field.conditions().all(|(decides, values)| {
            let found = before.iter().find(|(field, _)| field.key() == decides);
            found.is_some_and(|&(_, value)| values.iter().any(|&one| u64::from(one) == value))
        })
    });
    all.into_iter().map(|(field, value)| (field.key(), value)).collect()
}

/// Reads a packet through the tables, as fields by name and the dwords behind them.
fn read(dwords: &[u32], reader: Reader) -> Option<(Fields<'_>, Vec<(FieldName, u64)>)> {
    let first = layout::packets(dwords, reader).next()?;
    assert_eq!(first.dwords.len(), dwords.len());
    let fields = first.content.ok()??;
    Some((fields, fields.iter().map(|(field, value)| (field.key(), u64::from(value))).collect()))
}

fn described<'a, L>(layout: &'static Layout, fields: &'a [(FieldName, u64)], data: &'a [u32]) -> Described<'a, L> {
    Described { layout, flags: pm4::HeaderFlags::empty(), fields, data, language: PhantomData }
}

/// Writes a form with chance values, reads it, writes what was read: whether chance gave something that can be written.
fn there_and_back<L: DescribedLanguage>(
    layout: &'static Layout,
    form: &'static Form,
    language: L,
    dice: &mut Dice,
) -> bool {
    let reader = language.into();
    let fields = values(form, reader, dice);
    let data: Vec<u32> = (0..dice.roll() % 6).map(|_| dice.roll() as u32).collect();
    let mut wire = vec![0; 64];
    let Ok(len) = described::<L>(layout, &fields, &data).encode(language, &mut wire) else { return false };
    wire.truncate(len);
    let (found, values) = read(&wire, reader).unwrap_or_else(|| panic!("{}: {wire:08x?}", layout.name()));
    assert_eq!(found.len(), len);
    let mut again = vec![0; len];
    let written = described::<L>(found.layout(), &values, found.data()).encode(language, &mut again);
    assert_eq!((written, &again), (Ok(len), &wire), "{} {values:?}", layout.name());
    true
}

#[test]
fn every_packet_reads_back_on_every_ring_that_takes_it() {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let mut untried = Vec::new();
    let mut try_all =
        |layout: &'static Layout, tries: &mut dyn FnMut(&'static Form, &mut Dice) -> bool, reader: Reader| {
            for form in layout.forms(reader) {
                let worked = (0..400).filter(|_| tries(form, &mut dice)).count();
                if worked == 0 {
                    untried.push((layout.name(), reader));
                }
            }
        };
    for target in pm4::Target::all() {
        for layout in layout::pm4::all() {
            try_all(layout, &mut |form, dice| there_and_back(layout, form, target, dice), target.into());
        }
    }
    for version in sdma::Version::ALL {
        for layout in layout::sdma::all().chain(layout::dma::all()) {
            try_all(layout, &mut |form, dice| there_and_back(layout, form, version, dice), version.into());
        }
    }
    assert_eq!(untried, [], "chance never gave these anything that fits");
}

fn vectors() -> Value {
    serde_json::from_str(include_str!("data/packets/vectors.json")).unwrap()
}

fn dwords(vector: &Value) -> Vec<u32> {
    let hex = |v: &Value| u32::from_str_radix(v.as_str().unwrap().trim_start_matches("0x"), 16).unwrap();
    vector["dwords"].as_array().unwrap().iter().map(hex).collect()
}

fn spans<T: Copy>(text: &str, all: &[T], name: impl Fn(T) -> String) -> Vec<T> {
    let at = |wanted: &str| all.iter().position(|&one| name(one) == wanted).unwrap_or_else(|| panic!("{wanted}"));
    let one = |span: &str| {
        let (first, last) = span.split_once("..").unwrap_or((span, span));
        all[at(first)..=at(last)].to_vec()
    };
    text.split(',').flat_map(one).collect()
}

#[test]
fn every_vector_is_read_and_written_back_by_the_tables() {
    let json = vectors();
    for vector in json["pm4"].as_array().unwrap() {
        let wire = dwords(vector);
        for level in spans(vector["gens"].as_str().unwrap(), &GfxLevel::ALL, |level| level.to_string()) {
            for ring in vector["ring"].as_str().unwrap().split('|') {
                let target = match ring {
                    "gfx" => pm4::Target::gfx(level),
                    "compute" => pm4::Target::compute(level),
                    _ => continue,
                };
                let problems: Vec<_> =
                    layout::packets(&wire, target).filter_map(|packet| packet.content.err()).collect();
                assert_eq!(problems, [], "{} on {target}", vector["id"]);
            }
        }
    }
    for vector in json["sdma"].as_array().unwrap() {
        let wire = dwords(vector);
        let level = vector["gens"].as_str().or(vector["versions"].as_str()).unwrap();
        let versions = if level.starts_with("GFX") {
            spans(level, &GfxLevel::ALL, |level| level.to_string()).into_iter().map(sdma::Version::of).collect()
        } else {
            spans(level, &sdma::Version::ALL, |version| version.name().to_owned())
        };
        for version in versions {
            let problems: Vec<_> = layout::packets(&wire, version).filter_map(|packet| packet.content.err()).collect();
            assert_eq!(problems, [], "{} on {version}", vector["id"]);
        }
    }
}

#[test]
fn a_packet_that_the_ring_does_not_know_is_refused_by_packet_chip_and_ring() {
    use layout::pm4::DRAW_INDEX_AUTO;
    let draw = packet!(DRAW_INDEX_AUTO { draw_initiator: 2 });
    let error = draw.encode(pm4::Target::compute(GfxLevel::Gfx9), &mut [0; 8]).unwrap_err();
    assert_eq!(error.to_string(), "DRAW_INDEX_AUTO does not exist on the GFX9 compute ring");
    assert!(draw.encode(pm4::Target::gfx(GfxLevel::Gfx9), &mut [0; 8]).is_ok());
}

#[test]
fn a_field_that_does_not_fit_is_named() {
    use layout::pm4::{COND_EXEC, SET_PREDICATION};
    let target = pm4::Target::gfx(GfxLevel::Gfx9);
    let source = |packet: Result<usize, EncodeError>| match packet {
        Err(EncodeError::Field { source, .. }) => source,
        other => panic!("{other:?}"),
    };
    let long = packet!(COND_EXEC { addr: 0x1000, exec_count: 0x4000 });
    let wide = FieldError::TooWide { field: "exec_count", value: 0x4000, max: 0x3fff };
    assert_eq!(source(long.encode(target, &mut [0; 8])), wide);
    let crooked = packet!(COND_EXEC { addr: 0x1002, exec_count: 1 });
    let misaligned = FieldError::Misaligned { field: "addr", value: 0x1002, multiple: 4 };
    assert_eq!(source(crooked.encode(target, &mut [0; 8])), misaligned);
    let strange = packet!(SET_PREDICATION { op: 7 });
    assert_eq!(source(strange.encode(target, &mut [0; 8])), FieldError::Unknown { field: "op", value: 7 });
}

#[test]
fn a_field_that_another_field_rules_out_is_refused() {
    use layout::pm4::COND_WRITE;
    let target = pm4::Target::gfx(GfxLevel::Gfx9);
    let register = packet!(COND_WRITE { function: 3, poll_space: 1, poll_reg: 0x40 });
    let error = register.encode(target, &mut [0; 16]).unwrap_err();
    assert!(
        matches!(error, EncodeError::Field { source: FieldError::NoSuchField { field: "poll_reg" }, .. }),
        "{error}"
    );
}

proptest! {
    #[test]
    fn any_dwords_are_read_to_their_end(dwords in proptest::collection::vec(any::<u32>(), 0..64)) {
        for target in pm4::Target::all() {
            let read: usize = layout::packets(&dwords, target).map(|packet| packet.dwords.len()).sum();
            prop_assert_eq!(read, dwords.len());
        }
        for version in sdma::Version::ALL {
            let read: usize = layout::packets(&dwords, version).map(|packet| packet.dwords.len()).sum();
            prop_assert_eq!(read, dwords.len());
        }
    }

    /// Chance headers are seldom packets, so these are.
    #[test]
    fn any_payload_of_a_packet_is_read_to_its_end(
        opcode in any::<u8>(),
        payload in proptest::collection::vec(any::<u32>(), 1..24),
    ) {
        let mut dwords = vec![3 << 30 | (payload.len() as u32 - 1) << 16 | u32::from(opcode) << 8];
        dwords.extend(&payload);
        for target in pm4::Target::all() {
            prop_assert_eq!(layout::packets(&dwords, target).count(), 1);
        }
        dwords[0] = u32::from(opcode);
        for version in sdma::Version::ALL {
            let read: usize = layout::packets(&dwords, version).map(|packet| packet.dwords.len()).sum();
            prop_assert_eq!(read, dwords.len());
        }
    }
}
