//! The handler does no more than it must.

use std::cell::Cell;

use amdgpu_descriptors::fields::{image, sampler};
use amdgpu_descriptors::{Handler, Image, ImageDescriptor, Sampler, Word};
use amdgpu_hw::GfxLevel;
use proptest::prelude::*;

/// Counts of operations.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    extracts: u32,
    inserts: u32,
    joins: u32,
}

/// A number whose operations are counted.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Counted(u32);

impl Word for Counted {
    type Builder = Counts;

    fn extract(&self, counts: &mut Counts, low: u32, bits: u32) -> Self {
        counts.extracts += 1;
        Self(self.0.extract(&mut (), low, bits))
    }

    fn insert(&self, counts: &mut Counts, low: u32, bits: u32, value: &Self) -> Self {
        counts.inserts += 1;
        Self(self.0.insert(&mut (), low, bits, &value.0))
    }

    fn join(counts: &mut Counts, parts: &[(Self, u32)]) -> Self {
        counts.joins += 1;
        Self(parts.iter().fold(0, |all, (part, at)| all | part.0.checked_shl(*at).unwrap_or(0)))
    }
}

#[test]
fn a_field_is_extracted_once_and_only_changed_dwords_are_given_back() {
    let words = [0x4000_0000, 0, 0x0090_0007, 0];
    let fetches = Cell::new(0);
    let mut counts = Counts::default();
    let mut handler = Handler::<Sampler, _, _>::new(GfxLevel::Gfx9, |_: &mut Counts, at| {
        fetches.set(fetches.get() + 1);
        Counted(words[at])
    });
    assert_eq!(handler.get(&mut counts, sampler::XY_MAG_FILTER), Ok(Counted(1)));
    assert_eq!((fetches.get(), counts.extracts), (1, 1));
    assert_eq!(handler.get(&mut counts, sampler::XY_MAG_FILTER), Ok(Counted(1)));
    assert_eq!((fetches.get(), counts.extracts), (1, 1));

    handler.set(&mut counts, sampler::LOD_BIAS, &Counted(0x123)).unwrap();
    handler.set(&mut counts, sampler::XY_MAG_FILTER, &Counted(3)).unwrap();
    assert_eq!((fetches.get(), counts.inserts), (1, 2));
    assert_eq!(handler.get(&mut counts, sampler::XY_MAG_FILTER), Ok(Counted(3)));
    assert_eq!(counts.extracts, 1);
    assert_eq!(handler.get(&mut counts, sampler::XY_MIN_FILTER), Ok(Counted(2)));
    assert_eq!((fetches.get(), counts.extracts), (1, 2));

    let changed: Vec<_> = handler.finish().collect();
    assert_eq!(changed, [(2, Counted(0x00b0_0123))]);
}

#[test]
fn a_handler_that_was_only_read_gives_nothing_back() {
    let mut handler = Handler::<Image, _, _>::new(GfxLevel::Gfx10, |(): &mut (), _| u32::MAX);
    assert_eq!(handler.get(&mut (), image::WIDTH), Ok(0x3fff));
    assert_eq!(handler.finish().count(), 0);
}

#[test]
fn setting_a_pitch_forgets_the_depth_whose_bits_it_takes() {
    let mut handler = Handler::<Image, _, _>::new(GfxLevel::Gfx10_3, |(): &mut (), _| 0_u32);
    assert_eq!(handler.get(&mut (), image::DEPTH), Ok(0));
    handler.set(&mut (), image::PITCH, &0x2345).unwrap();
    assert_eq!(handler.get(&mut (), image::DEPTH), Ok(0x0345));
}

#[test]
fn a_field_that_the_generation_lacks_is_refused() {
    let mut handler = Handler::<Image, _, _>::new(GfxLevel::Gfx6, |(): &mut (), _| 0_u32);
    assert!(handler.get(&mut (), image::SW_MODE).is_err());
    assert!(handler.set(&mut (), image::SW_MODE, &1).is_err());
    assert!(handler.get(&mut (), image::BASE_ADDRESS).is_err(), "40 bits are in no dword");
}

proptest! {
    #[test]
    fn numbers_are_edited_as_by_the_descriptor_itself(
        words in any::<[u32; 8]>(), edits in proptest::collection::vec((0_usize..58, any::<u32>()), 0..20), level in 0_usize..9,
    ) {
        use amdgpu_descriptors::Kind;
        let level = GfxLevel::ALL[level];
        let mut plain = ImageDescriptor::from_words(words);
        let mut handler = Handler::<Image, _, _>::new(level, |(): &mut (), at| words[at]);
        for (at, dice) in edits {
            let field = Image::FIELDS[at % Image::FIELDS.len()];
            let Ok(place) = field.place(level) else { continue };
            let bits = place.bits().min(32);
            let stored = if bits == 32 { dice } else { dice & ((1 << bits) - 1) };
            if place.bits() > 32 {
                continue;
            }
            handler.set(&mut (), field, &stored).unwrap();
            let (least, _) = place.range();
            plain.set(field, level, least + i64::from(stored) * place.alignment()).unwrap();
            prop_assert_eq!(handler.get(&mut (), field), Ok(stored));
        }
        let mut edited = words;
        for (at, word) in handler.finish() {
            edited[at] = word;
        }
        prop_assert_eq!(ImageDescriptor::from_words(edited), plain);
    }
}
