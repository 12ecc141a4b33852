//! Packets by their layout accept and reject, for every field of every packet on every reader, the largest number and the number
//! after it, every bit outside the fields, and one dword too few or too many.

use std::marker::PhantomData;

use super::{Described, DescribedLanguage, Field, FieldName, Fields, Form, Half, Layout, Misfit, Reader, names};
use crate::{EncodeError, FieldError, Packet, layout, pm4, sdma};

type Named = (FieldName, u64);

fn packet<'a, L>(layout: &'static Layout, fields: &'a [Named], data: &'a [u32]) -> Described<'a, L> {
    Described { layout, flags: pm4::HeaderFlags::empty(), fields, data, language: PhantomData }
}

/// Calls `each` for every packet that a language accepts in exactly one form.
fn every<L: DescribedLanguage>(languages: &[L], mut each: impl FnMut(&'static Layout, &'static Form, L)) {
    for &language in languages {
        let reader: Reader = language.into();
        let all = layout::pm4::all().chain(layout::sdma::all()).chain(layout::dma::all());
        for layout in all.filter(|layout| reader.takes(layout)) {
            let mut forms = layout.forms(reader);
            if let (Some(form), None) = (forms.next(), forms.next()) {
                each(layout, form, language);
            }
        }
    }
}

fn targets() -> Vec<pm4::Target> {
    pm4::Target::all().collect()
}

/// Returns a packet with fields and the smallest accepted amount of data.
fn least<L: DescribedLanguage>(layout: &'static Layout, fields: &[Named], language: L) -> Result<Vec<u32>, FieldError> {
    let mut error = None;
    for len in 0..40 {
        let data = vec![0; len];
        let mut wire = vec![0; 64];
        match packet::<L>(layout, fields, &data).encode(language, &mut wire) {
            Ok(dwords) => {
                wire.truncate(dwords);
                return Ok(wire);
            }
            Err(EncodeError::Field { source, .. }) => {
                // Only a missing dword can be fixed by adding one.
                let is_short = matches!(source, FieldError::Missing { .. });
                error = Some(source);
                if !is_short {
                    break;
                }
            }
            Err(other) => panic!("{}: {other}", layout.name()),
        }
    }
    Err(error.expect("an attempt"))
}

/// Returns the fields that can be named: fields of the tail need a count, a field in POLL_REG_WRITE_MEM has the name of another
/// one, and some depend on a field that the generation does not have.
fn nameable(form: &'static Form, reader: Reader) -> impl Iterator<Item = &'static Field> {
    form.fields(reader).filter(move |field| {
        let named = |name: FieldName| form.fields(reader).filter(|other| other.key() == name).count();
        let is_in_the_tail = field.dword() > form.payload().0;
        !is_in_the_tail && named(field.key()) == 1 && field.conditions().all(|(decides, _)| named(decides) == 1)
    })
}

/// Returns the field with a value, and the fields that activate it.
fn meant(form: &'static Form, reader: Reader, field: &'static Field, name: FieldName, value: u64) -> Vec<Named> {
    let mut fields = vec![(name, value)];
    let mut waiting: Vec<_> = field.conditions().collect();
    while let Some((decides, values)) = waiting.pop() {
        fields.push((decides, values[0].into()));
        waiting.extend(form.fields(reader).filter(|other| other.key() == decides).flat_map(Field::conditions));
    }
    fields
}

fn is_count(field: &Field) -> bool {
    matches!(field.name(), "count" | "dcc")
}

fn check_bounds<L: DescribedLanguage>(layout: &'static Layout, form: &'static Form, language: L) {
    let reader: Reader = language.into();
    for field in nameable(form, reader).filter(|field| field.choices().len() != 1 && !is_count(field)) {
        let (name, max) = (field.name(), u64::from(field.max()));
        let context = || format!("{}.{name} on {}", layout.name(), reader.target());
        let with = |value: u64| least(layout, &meant(form, reader, field, field.key(), value), language);
        let low = field.bits().1;
        if field.choices().is_empty() {
            let wire = with(max).unwrap_or_else(|error| panic!("{}: {error}", context()));
            assert_eq!(u64::from(wire[field.dword()] >> low) & max, max, "{}", context());
        } else {
            let values = |value: u64| field.choices().iter().any(|choice| u64::from(choice.value()) == value);
            let mut taken = 0;
            for value in 0..=max.min(70) {
                match with(value) {
                    Ok(_) => {
                        assert!(values(value), "{}: {value}", context());
                        taken += 1;
                    }
                    Err(error) => {
                        assert_eq!(error, FieldError::Unknown { field: name, value: value as u32 }, "{}", context());
                    }
                }
            }
            assert!(taken > 0, "{}", context());
        }
        if max < u64::from(u32::MAX) {
            let wide = FieldError::TooWide { field: name, value: max + 1, max };
            assert_eq!(with(max + 1), Err(wide), "{}", context());
        }
        let wide = FieldError::TooWide { field: name, value: 1 << 32, max };
        assert_eq!(with(1 << 32), Err(wide), "{}", context());
    }
}

#[test]
fn every_field_takes_its_largest_number_and_no_larger_one() {
    every(&targets(), check_bounds);
    every(&sdma::Version::ALL, check_bounds);
}

fn check_halves<L: DescribedLanguage>(layout: &'static Layout, form: &'static Form, language: L) -> usize {
    let reader: Reader = language.into();
    let mut checked = 0;
    for field in nameable(form, reader) {
        if field.half() != Half::Low {
            continue;
        }
        let (key, name) = (field.whole(), field.whole().text());
        let context = || format!("{}.{name} on {}", layout.name(), reader.target());
        let high = form.fields(reader).find(|other| other.half() == Half::High && other.whole() == key);
        let with = |value: u64| least(layout, &meant(form, reader, field, key, value), language);
        let low = field.bits().1;
        let lower = u64::from(field.max()) << low;
        let largest = lower | high.map_or(0, |high| u64::from(high.max()) << 32);
        let wire = with(largest).unwrap_or_else(|error| panic!("{}: {error}", context()));
        assert_eq!(wire[field.dword()], lower as u32, "{}", context());
        if let Some(high) = high {
            assert_eq!(wire[high.dword()] >> high.bits().1 & high.max(), high.max(), "{}", context());
            if high.max() < u32::MAX {
                let max = u64::from(high.max());
                let wide = FieldError::TooWide { field: high.name(), value: max + 1, max };
                assert_eq!(with((max + 1) << 32), Err(wide), "{}", context());
            }
            let wire = with(1 << 32).unwrap();
            assert_eq!(
                (wire[field.dword()], wire[high.dword()] >> high.bits().1 & high.max()),
                (0, 1),
                "{}",
                context()
            );
        } else {
            let max = u64::from(field.max());
            let wide = FieldError::TooWide { field: field.name(), value: (lower + (1 << low)) >> low, max };
            assert_eq!(with(lower + (1 << low)), Err(wide), "{}", context());
        }
        for bit in 0..low {
            let value = lower | 1 << bit;
            let crooked = FieldError::Misaligned { field: name, value, multiple: 1 << low };
            assert_eq!(with(value), Err(crooked), "{}", context());
        }
        checked += 1;
    }
    checked
}

#[test]
fn a_number_in_two_fields_is_split_and_its_lower_bits_must_be_zero() {
    let mut checked = 0;
    every(&targets(), |layout, form, target| checked += check_halves(layout, form, target));
    every(&sdma::Version::ALL, |layout, form, version| checked += check_halves(layout, form, version));
    assert!(checked > 100, "{checked}");
}

#[test]
fn a_bit_that_no_field_has_is_refused_and_named() {
    let mut refused = 0;
    every(&targets(), |layout, form, target| {
        let reader = Reader::from(target);
        let Ok(mut wire) = least(layout, &[], target) else { return };
        let len = wire.len();
        // Selectors without a zero have their first value.
        for field in form.fields(reader).filter(|field| field.dword() < len) {
            if let [first, ..] = field.choices()
                && !field.choices().iter().any(|choice| choice.value() == 0)
            {
                wire[field.dword()] |= first.value() << field.bits().1;
            }
        }
        let read = |wire: &[u32]| Fields::read(wire, layout.opcode() as u8, reader).map(|_| ());
        if read(&wire).is_err() {
            return;
        }
        let described = form.fields(reader).last().map_or(1, |field| field.dword() + 1).min(wire.len());
        for dword in 1..described {
            let mine = form.fields(reader).filter(|field| field.dword() == dword);
            let mask = mine.fold(0, |mask, field| mask | field.max() << field.bits().1);
            for bit in (0..32).map(|bit| 1 << bit).filter(|bit| mask & bit == 0) {
                let mut wrong = wire.clone();
                wrong[dword] |= bit;
                let reserved = Misfit::Field(layout.name(), FieldError::Reserved { dword, bits: bit });
                assert_eq!(read(&wrong), Err(reserved), "{} on {target}", layout.name());
                refused += 1;
            }
        }
    });
    assert!(refused > 10_000, "{refused}");
}

#[test]
fn one_dword_too_few_or_too_many_is_counted() {
    let mut counted = [0; 2];
    let mut check = |layout: &'static Layout, form: &'static Form, target: pm4::Target| {
        let reader = Reader::from(target);
        let (least_payload, most) = form.payload();
        let Ok(wire) = least(layout, &[], target) else { return };
        assert_eq!(wire.len(), least_payload.max(wire.len() - 1) + 1);
        let fields = form.fields(reader).last().map_or(1, |field| field.dword() + 1);
        let source = |data: &[u32]| match packet(layout, &[], data).encode(target, &mut vec![0; 1 << 15]) {
            Err(EncodeError::Field { source, .. }) => Err(source),
            other => Ok(other.unwrap()),
        };
        if fields > most || least_payload == most {
            // The data of a packet with a fixed length is zero or given in full.
            let behind = (most + 1).saturating_sub(fields);
            assert_eq!(source(&vec![7; behind]), Ok(most + 1), "{} on {target}", layout.name());
            assert_eq!(
                source(&vec![7; behind + 2]),
                Err(FieldError::Surplus { dwords: 2 }),
                "{} on {target}",
                layout.name()
            );
            if behind > 1 {
                let missing = FieldError::Missing { dword: least_payload };
                assert_eq!(source(&vec![7; behind - 1]), Err(missing), "{} on {target}", layout.name());
            }
            counted[0] += 1;
        } else if least_payload >= fields {
            let missing = FieldError::Missing { dword: least_payload };
            let behind = least_payload + 1 - fields;
            assert_eq!(source(&vec![7; behind - 1]), Err(missing), "{} on {target}", layout.name());
            let mut wire = vec![0; 64];
            let written = packet(layout, &[], &vec![7; behind]).encode(target, &mut wire);
            assert_eq!(written.ok(), Some(least_payload + 1), "{} on {target}", layout.name());
            assert_eq!(wire[fields..=least_payload], vec![7; behind], "{} on {target}", layout.name());
            let full = vec![0; most + 1 - fields];
            assert_eq!(source(&full), Ok(most + 1), "{} on {target}", layout.name());
            let over = vec![0; full.len() + 3];
            assert_eq!(source(&over), Err(FieldError::Surplus { dwords: 3 }), "{} on {target}", layout.name());
            counted[1] += 1;
        }
    };
    every(&targets(), &mut check);
    assert!(counted[0] > 500 && counted[1] > 100, "{counted:?}");
}

#[test]
fn a_count_in_a_copy_engines_packet_is_that_of_its_data() {
    use layout::sdma::WRITE_LINEAR;
    for version in [sdma::Version::V2_4, sdma::Version::V6_0] {
        let plus = usize::from(version == sdma::Version::V6_0);
        let encode = |count: u64, len: usize| {
            let mut wire = vec![0; 64];
            let data: Vec<u32> = (1..).take(len).collect();
            let fields = [(names::dst_addr, 0x1000), (names::count, count)];
            match packet(&WRITE_LINEAR, &fields, &data).encode(version, &mut wire) {
                Ok(dwords) => Ok(wire[..dwords].to_vec()),
                Err(EncodeError::Field { source, .. }) => Err(source),
                Err(other) => panic!("{other}"),
            }
        };
        for count in 1..4 {
            let len = count as usize + plus;
            let wire = encode(count, len).unwrap();
            assert_eq!(wire.len(), 4 + len);
            assert_eq!(wire[4..], (1..).take(len).collect::<Vec<u32>>());
            assert_eq!(encode(count, len - 1), Err(FieldError::Missing { dword: 3 + len }));
            assert_eq!(encode(count, len + 2), Err(FieldError::Surplus { dwords: 2 }));
        }
    }
}

#[test]
fn a_buffer_that_is_too_small_is_told_what_is_needed() {
    use layout::pm4::DISPATCH_DIRECT;
    let target = pm4::Target::compute(amdgpu_hw::GfxLevel::Gfx9);
    let dispatch = packet(&DISPATCH_DIRECT, &[(names::dim_x, 3)], &[]);
    assert_eq!(dispatch.len_dwords(target), Ok(5));
    let needs = EncodeError::NoRoom { packet: "DISPATCH_DIRECT", needed: 5, left: 4 };
    assert_eq!(dispatch.encode(target, &mut [0; 4]), Err(needs));
    assert_eq!(dispatch.encode(target, &mut [0; 5]), Ok(5));
}
