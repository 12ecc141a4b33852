//! Metadata words that drivers keep for each other.

use amdgpu_descriptors::ImageDescriptor;
use amdgpu_descriptors::fields::image;
use amdgpu_descriptors::umd::{UmdError, UmdMetadata};
use amdgpu_hw::GfxLevel;
use proptest::prelude::*;

const DEVICE: u16 = 0x73bf;

fn described(level: GfxLevel, last_level: u32) -> ImageDescriptor {
    let mut words = ImageDescriptor::default();
    words.set(image::TYPE, level, 9).unwrap();
    words.set(image::WIDTH, level, 640).unwrap();
    words.set(image::BASE_ADDRESS, level, 0x7700).unwrap();
    words.set(image::LAST_LEVEL, level, last_level).unwrap();
    if level >= GfxLevel::Gfx8 {
        words.set(image::COMPRESSION_EN, level, 1).unwrap();
    }
    words
}

#[test]
fn words_are_version_device_descriptor_and_levels() {
    let metadata =
        UmdMetadata::new(GfxLevel::Gfx8, 0x67df, described(GfxLevel::Gfx8, 1), 0x8000, &[0, 0x4000]).unwrap();
    let words = metadata.encode(GfxLevel::Gfx8).unwrap();
    assert_eq!(words.as_slice()[..3], [1, 0x1002_67df, 0], "the address is cleared");
    assert_eq!(words.as_slice()[9..], [0x80, 0, 0x40], "the offsets of DCC and of the levels, in 256 bytes");
    let modern = UmdMetadata::new(GfxLevel::Gfx10, DEVICE, described(GfxLevel::Gfx10, 0), 0x12_3400, &[0]).unwrap();
    assert_eq!(modern.encode(GfxLevel::Gfx10).unwrap().as_slice().len(), 10);
    assert_eq!(modern.meta_offset(GfxLevel::Gfx10), Some(0x12_3400));
}

#[test]
fn every_generation_reads_what_it_writes() {
    for level in GfxLevel::ALL {
        let meta = if level < GfxLevel::Gfx8 { 0 } else { 0xabc00 };
        let metadata = UmdMetadata::new(level, DEVICE, described(level, 2), meta, &[0, 0x100, 0x200]).unwrap();
        let words = metadata.encode(level).unwrap();
        let read = UmdMetadata::decode(level, DEVICE, words.as_slice(), 3, 1).unwrap();
        assert_eq!(read.image, metadata.image, "{level}");
        assert_eq!(read.encode(level), Ok(words), "{level}");
        let has_offset = (GfxLevel::Gfx8..GfxLevel::Gfx12).contains(&level);
        assert_eq!(read.meta_offset(level), has_offset.then_some(0xabc00), "{level}");
    }
}

#[test]
fn a_hostile_exporter_is_refused_by_name() {
    let level = GfxLevel::Gfx10_3;
    let metadata = UmdMetadata::new(level, DEVICE, described(level, 0), 0, &[0]).unwrap();
    let words = metadata.encode(level).unwrap();
    let good = words.as_slice();
    let changed = |at: usize, value: u32| {
        let mut words = good.to_vec();
        words[at] = value;
        UmdMetadata::decode(level, DEVICE, &words, 1, 1)
    };
    assert_eq!(UmdMetadata::decode(level, DEVICE, &good[..9], 1, 1), Err(UmdError::TooShort { len: 9, least: 10 }));
    assert_eq!(changed(0, 7), Err(UmdError::Version(7)));
    let own = 0x1002_73bf;
    assert_eq!(changed(1, 0x10de_73bf), Err(UmdError::Device { found: 0x10de_73bf, own }));
    assert_eq!(changed(5, good[5] | 3 << 16), Err(UmdError::Levels { found: 3, own: 0 }));
    let old = described(GfxLevel::Gfx8, 0);
    assert!(matches!(UmdMetadata::new(GfxLevel::Gfx8, 1, old, 0x10, &[0]), Err(UmdError::Field(_))));
    let odd = UmdMetadata::new(GfxLevel::Gfx8, 1, old, 0, &[0x80]).unwrap();
    assert_eq!(odd.encode(GfxLevel::Gfx8), Err(UmdError::Offset { level: 0, offset: 0x80 }));
    assert_eq!(UmdMetadata::new(GfxLevel::Gfx8, 1, old, 0, &[0; 16]), Err(UmdError::TooManyLevels(16)));
}

proptest! {
    #[test]
    fn any_words_are_metadata_or_an_error(
        words in proptest::collection::vec(any::<u32>(), 0..70), level in 0_usize..9, levels in 0_u32..20, samples in any::<u32>(),
    ) {
        let level = GfxLevel::ALL[level];
        let mut words = words;
        let own = (1, u32::from(DEVICE) | 0x1002_0000);
        if let [version, device, ..] = words.as_mut_slice() {
            (*version, *device) = own;
        }
        if let Ok(read) = UmdMetadata::decode(level, DEVICE, &words, levels, samples) {
            let again = read.encode(level).unwrap();
            prop_assert_eq!(again.as_slice(), &words[..again.as_slice().len()]);
        }
    }
}
