//! Reads golden lines, asks the crate the same questions, and counts the differences.

mod formats;
mod line;
mod targets;
mod views;
mod vulkan;
mod vulkan_images;

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;

use amdgpu_descriptors::{Descriptor, DescriptorError, Kind};
use amdgpu_hw::GfxLevel;

pub(crate) use line::Line;

/// An answer: keys and values, in the order in which they are compared.
pub(crate) type Answer = Vec<(String, u64)>;

/// The folder of the goldens: that of the tree, or another of the same form.
pub(crate) fn folder() -> PathBuf {
    std::env::var_os("AMDGPU_DESCRIPTOR_GOLDENS")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/goldens"), PathBuf::from)
}

/// Returns the lines of a file, plain or compressed.
pub(crate) fn lines(name: &str) -> Vec<Line> {
    let plain = folder().join(format!("{name}.jsonl"));
    let packed = folder().join(format!("{name}.jsonl.gz"));
    let reader: Box<dyn BufRead> = if let Ok(file) = File::open(&plain) {
        Box::new(BufReader::new(file))
    } else {
        let file = File::open(&packed).unwrap_or_else(|error| panic!("{}: {error}", packed.display()));
        Box::new(BufReader::new(flate2::read::GzDecoder::new(file)))
    };
    reader.lines().map(|line| line.unwrap()).filter(|line| !line.is_empty()).map(|line| Line::read(&line)).collect()
}

/// Returns the fields of a descriptor, and its dwords last.
pub(crate) fn fields<K: Kind>(words: Descriptor<K>, level: GfxLevel) -> Answer {
    let all = words.decode(level).map(|field| (field.field.name().to_owned(), field.value.cast_unsigned()));
    let dword = |(at, word): (usize, &u32)| (format!("word {at}"), u64::from(*word));
    let raw = words.words();
    all.chain(raw.as_ref().iter().enumerate().map(dword)).collect()
}

/// Asks every line of a file, and fails with the first differing key and the number of differences.
pub(crate) fn check(name: &str, answer: impl Fn(&Line) -> Result<Answer, DescriptorError>) {
    let lines = lines(name);
    assert!(!lines.is_empty(), "{name} has no lines");
    let (mut wrong, mut report) = (0, String::new());
    for (number, line) in lines.iter().enumerate() {
        let fault = match answer(line) {
            Err(error) => Some(format!("refused: {error}")),
            Ok(ours) => {
                let theirs = line.answer();
                let differs =
                    theirs.iter().find(|(key, value)| ours.iter().all(|own| own.0 != *key || own.1 != *value));
                let extra = ours.iter().find(|(key, _)| theirs.iter().all(|(known, _)| known != key));
                match (differs, extra) {
                    (Some((key, value)), _) => {
                        let own = ours.iter().find(|own| own.0 == *key).map(|own| own.1);
                        Some(format!("{key} is {own:x?}, not {value:#x}"))
                    }
                    (None, Some((key, value))) => Some(format!("{key} = {value:#x} is not theirs")),
                    (None, None) => None,
                }
            }
        };
        if let Some(fault) = fault {
            wrong += 1;
            if wrong <= 8 {
                let _ = writeln!(report, "{name} line {} ({}): {fault}\n  {}", number + 1, line.level, line.text);
            }
        }
    }
    assert_eq!(wrong, 0, "{wrong} of {} lines differ\n{report}", lines.len());
}

pub(crate) use formats::check_formats;
pub(crate) use targets::{color, depth};
pub(crate) use views::{buffer, fmask, image, sampler};
pub(crate) use vulkan::vulkan;
pub(crate) use vulkan_images::vulkan_image;
