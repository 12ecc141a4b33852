//! A driver's answers about images beside the layouts.

mod answer;
mod expected;
mod planes;
mod shared;

use std::{
    collections::BTreeMap,
    fs::File,
    io::{BufRead, BufReader, Write},
    path::Path,
};

use amdgpu_descriptors::format::Format;
use amdgpu_surface::modifier::{ListOptions, Modifier, ModifierList, max_extent, supports_image_stores};
use amdgpu_surface::surface::{SurfaceConfig, SurfaceLayout};

use self::answer::{ImageAnswer, Line, ModifierAnswer};
use self::expected::{NoAnswer, expected};
use crate::chip::Named;
use crate::modifiers;
use crate::outcome::Error;

/// `VK_FORMAT_FEATURE_STORAGE_IMAGE_BIT`.
const STORAGE_IMAGE: u32 = 2;

/// The counts of a comparison.
#[derive(Debug, Default)]
struct Counts {
    images: u64,
    parts: u64,
    lists: u64,
    /// Images whose memory has words.
    words: u64,
    /// Differences by subject, with the first of each.
    differences: BTreeMap<String, (u64, String)>,
}

impl Counts {
    fn differ(&mut self, what: &str, evidence: impl FnOnce() -> String) {
        let entry = self.differences.entry(what.to_owned()).or_insert_with(|| (0, evidence()));
        entry.0 += 1;
    }
}

/// Compares a file of answers with the layouts of a chip.
pub(crate) fn compare(named: &Named, path: &Path, out: &mut dyn Write) -> Result<(), Error> {
    let problem = |error| Error::File { path: path.to_owned(), error };
    let mut counts = Counts::default();
    let mut device = String::new();
    for (line, number) in BufReader::new(File::open(path).map_err(problem)?).lines().zip(1_u64..) {
        let text = line.map_err(problem)?;
        match serde_json::from_str(&text) {
            Ok(Line::Device(answer)) => device = answer.device,
            Ok(Line::Modifiers(answer)) => list(named, &answer, &mut counts),
            Ok(Line::Image(answer)) => image(named, &answer, &text, &mut counts),
            Err(error) => return Err(Error::Answers { path: path.to_owned(), line: number, error }),
        }
    }
    for (what, (count, first)) in &counts.differences {
        writeln!(out, "{what}: {count} differ, the first is {first}")?;
    }
    let Counts { images, parts, lists, words, differences } = &counts;
    let total: u64 = differences.values().map(|(count, _)| count).sum();
    writeln!(
        out,
        "{}: {images} images, {parts} parts, {words} shared, {lists} modifier lists of {device}: {total} differ",
        named.name
    )?;
    if total > 0 { Err(Error::Differs { count: total }) } else { Ok(()) }
}

fn list(named: &Named, answer: &ModifierAnswer, counts: &mut Counts) {
    counts.lists += 1;
    let planes = planes::planes(answer.format, &answer.name);
    let Some(first) = planes.first() else {
        counts.differ("modifiers", || format!("{}: no format of ours", answer.name));
        return;
    };
    let class = modifiers::class(first.format, planes.len() as u32);
    let ours = ModifierList::new(&named.chip, class, ListOptions { dcc: true, retile: true });
    let encoded: Vec<u64> = ours.as_slice().iter().map(|modifier| modifier.encode()).collect();
    let theirs: Vec<u64> = answer.modifiers.iter().map(|listed| listed.modifier).collect();
    if encoded != theirs {
        counts.differ("modifiers", || format!("{}: ours {encoded:x?}, theirs {theirs:x?}", answer.name));
        return;
    }
    // The linear modifier is the last, and has all features of the format in rows.
    for (&modifier, listed) in ours.as_slice().iter().zip(&answer.modifiers) {
        let (width, height) = max_extent(&named.chip, modifier);
        if listed.extent.is_some_and(|extent| extent != [width, height]) {
            counts.differ("extent of a modifier", || format!("{}: ours {width}x{height}: {listed:?}", answer.name));
        }
        let memory_planes = memory_planes(named, first.format, modifier, planes.len() as u32);
        if memory_planes != Some(listed.planes) {
            counts.differ("planes of a modifier", || format!("{}: ours {memory_planes:?}: {listed:?}", answer.name));
        }
        let stores = modifier.dcc().is_none() || supports_image_stores(&named.chip, modifier);
        if !stores && listed.features & STORAGE_IMAGE != 0 {
            counts.differ("stores with a modifier", || format!("{}: not by ours: {listed:?}", answer.name));
        }
    }
}

/// Returns the number of memory planes of an image with a modifier.
fn memory_planes(named: &Named, format: Format, modifier: Modifier, planes: u32) -> Option<u32> {
    if planes > 1 {
        return Some(planes);
    }
    let mut config = SurfaceConfig::new(1024, 1024, format.bytes());
    config.modifier = Some(modifier);
    let layout = SurfaceLayout::new(&named.chip, &config).ok()?;
    Some(layout.planes(&config).as_slice().len() as u32)
}

fn image(named: &Named, answer: &ImageAnswer, text: &str, counts: &mut Counts) {
    counts.images += 1;
    if let Some(reason) = &answer.refused {
        counts.differ("refused", || format!("{reason}: {text}"));
        return;
    }
    let ours = match expected(named, answer) {
        Ok(ours) => ours,
        Err(NoAnswer::Format) => return counts.differ(&format!("format {}", answer.name), || text.to_owned()),
        Err(error) => return counts.differ("no layout", || format!("{error}: {text}")),
    };
    if ours.size != answer.size {
        counts.differ("size", || format!("ours {}: {text}", ours.size));
    }
    if ours.alignment != answer.alignment {
        counts.differ("alignment", || format!("ours {}: {text}", ours.alignment));
    }
    for (our, their) in ours.parts.iter().zip(&answer.parts) {
        counts.parts += 1;
        if our != their {
            counts.differ("part", || format!("ours {our:?}: theirs {their:?} of {text}"));
        }
    }
    if let Some(our) = ours.sparse {
        match answer.sparse.as_slice() {
            [their] if *their == our => counts.parts += 1,
            theirs => counts.differ("pages", || format!("ours {our:?}: theirs {theirs:?} of {text}")),
        }
    }
    if let Some(reason) = &answer.bo_refused {
        counts.differ("words of memory", || format!("{reason}: {text}"));
    }
    if let (Some(ours), Some(theirs)) = (ours.bo, &answer.bo) {
        counts.words += 1;
        match ours {
            Ok(ours) => {
                if let Some((what, values)) = ours.difference(theirs) {
                    counts.differ(what, || format!("{values} of {text}"));
                }
            }
            Err(error) => counts.differ("no words of memory", || format!("{error}: {text}")),
        }
    }
}
