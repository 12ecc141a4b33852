//! Descriptors and registers: dwords that a program left in memory or wrote to a ring.

use amdgpu_descriptors::{Buffer, Descriptor, Image, Kind, Sampler, umd::UmdMetadata};
use amdgpu_fuzz::reach::Reach;
use amdgpu_surface::GfxLevel;

static DESCRIPTORS: Reach = Reach::new("descriptors::any_dwords_are_a_descriptor");
static WORDS: Reach = Reach::new("descriptors::any_metadata_words_are_decoded_or_refused");
static REGISTERS: Reach = Reach::new("descriptors::any_value_of_any_register_is_shown");

fn level(number: u8) -> GfxLevel {
    GfxLevel::ALL[usize::from(number) % GfxLevel::ALL.len()]
}

/// Decodes and stores a descriptor again: no bit may be lost. One of eight is printed, which is most of the time.
fn look<K: Kind>(words: K::Words, level: GfxLevel, number: i64) {
    let descriptor = Descriptor::<K>::from_words(words);
    if number.rem_euclid(8) == 0 {
        assert!(!format!("{} {:#} {:?}", descriptor.show(level), descriptor.show(level), descriptor).is_empty());
        assert!(format!("{}", descriptor.json(level)).starts_with('{'));
    }
    let mut again = Descriptor::<K>::from_words(descriptor.reserved(level));
    for found in descriptor.decode(level) {
        again.set(found.field, level, found.value).expect("a number that was read fits its field");
        assert_eq!(again.get(found.field, level), Ok(found.value));
    }
    assert_eq!(again, descriptor, "{level}");
    for field in K::FIELDS {
        let mut changed = descriptor;
        match changed.set(*field, level, number) {
            Ok(()) => assert_eq!(changed.get(*field, level), Ok(number)),
            Err(error) => assert!(!error.to_string().is_empty() && changed == descriptor),
        }
    }
}

#[test]
fn any_dwords_are_a_descriptor() {
    bolero::check!().with_type::<([u32; 8], u8, i64)>().with_iterations(3_000).for_each(|&(words, number, value)| {
        let level = level(number);
        let [a, b, c, d, ..] = words;
        look::<Buffer>([a, b, c, d], level, value);
        look::<Sampler>([a, b, c, d], level, value >> 40);
        look::<Image>(words, level, value >> 48);
        let image = Descriptor::<Image>::from_words(words);
        let _ = (image.base_address(level), image.base_address_aligned(level, a), image.is_tiled(level));
        let _ = (image.is_array(level), image.samples(level));
        DESCRIPTORS.count(true);
    });
    DESCRIPTORS.report();
}

#[test]
fn any_metadata_words_are_decoded_or_refused() {
    bolero::check!().with_type::<(Vec<u32>, u8, u16, u32, u32)>().with_iterations(10_000).for_each(
        |(words, number, device, levels, samples)| {
            let level = level(*number);
            let mut words = words.clone();
            // Most words have the head of a real exporter.
            if number.is_multiple_of(4) {
                words.resize(words.len().max(10), 0);
                words[0] = 1;
                words[1] = 0x1002 << 16 | u32::from(*device);
            }
            let decoded = UmdMetadata::decode(level, *device, &words, levels % 20, samples % 20);
            match &decoded {
                Ok(found) => {
                    let _ = (found.meta_offset(level), found.encode(level));
                }
                Err(error) => assert!(!error.to_string().is_empty()),
            }
            WORDS.count(decoded.is_ok());
        },
    );
    WORDS.report();
}

#[test]
fn any_value_of_any_register_is_shown() {
    bolero::check!().with_type::<(u32, u32, u8)>().with_iterations(50_000).for_each(|&(place, value, number)| {
        let level = level(number);
        // Offsets of registers, and any.
        let all = amdgpu_registers::all().len();
        let known = amdgpu_registers::all().nth(place as usize % all).and_then(|register| register.offset(level));
        let offset = known.filter(|_| !number.is_multiple_of(8)).unwrap_or(place);
        let found = amdgpu_registers::at(offset, level);
        if let Some(register) = found {
            let mut named = register.unnamed_bits(level);
            for field in register.fields(level) {
                named |= field.mask();
                let one = field.of(value);
                assert_eq!(field.set(0, one).map(|stored| field.of(stored)), Some(one));
                assert!(one <= field.max());
            }
            // Fields and what they leave make up the register; one without fields is a number.
            assert!(named == u32::MAX || named == 0, "{} at {offset:#x} on {level}", register.name());
            assert!(register.decode(value, level).count() <= 32);
        }
        REGISTERS.count(found.is_some());
    });
    REGISTERS.report();
}
