//! The tiler against the addresses that the goldens prove: every element of a small image of each kind of each chip.

use std::collections::HashSet;
use std::fs;
use std::io::{BufRead as _, BufReader};

use amdgpu_surface::equation::Texel;
use amdgpu_surface::tiler::{Region, Rows, Subresource};
use amdgpu_surface::{Chip, GfxLevel, addr1, addr2, addr3};
use serde_json::Value;

use super::{Object, Question, a1, a2, a3, chips, folder};

/// Bytes beyond which an image is not looked at in full.
const MOST: u64 = 4 << 20;

/// Compares all elements of a level; `seen` has the places of the levels before.
fn check_level(
    level: &Subresource,
    [w, h, d]: [u32; 3],
    samples: u32,
    size: u64,
    seen: &mut HashSet<u64>,
    slow: &dyn Fn(u32, u32, u32, u32) -> u64,
) -> u64 {
    let bytes = u64::from(level.element_bytes());
    let mut compared = 0;
    for sample in 0..samples {
        let mut image = vec![0xee_u8; usize::try_from(size).unwrap()];
        let row = w as usize * bytes as usize + 3;
        let slice = row * h as usize + 5;
        let layout = Rows { pitch: row, slice };
        let rows: Vec<u8> = (0..slice * d as usize).map(|at| (at.wrapping_mul(0x9e37) >> 7) as u8).collect();
        let whole = Region { first: [0; 3], extent: [w, h, d], sample };
        level.tile(&whole, &rows, layout, &mut image).unwrap();
        for (x, y, z) in elements([w, h, d]) {
            let at = slow(x, y, z, sample);
            assert_eq!(level.address(x, y, z, sample), Ok(at), "{x} {y} {z} {sample}");
            assert!(at + bytes <= size, "{at:#x} is outside of {size:#x}");
            assert!(seen.insert(at), "{at:#x} is the place of two elements");
            let from = z as usize * slice + y as usize * row + x as usize * bytes as usize;
            let (at, bytes) = (at as usize, bytes as usize);
            assert_eq!(image[at..at + bytes], rows[from..from + bytes], "{x} {y} {z} {sample}");
            compared += 1;
        }
        let mut back = vec![0x11; rows.len()];
        level.detile(&whole, &image, &mut back, layout).unwrap();
        for (z, y) in (0..d as usize).flat_map(|z| (0..h as usize).map(move |y| (z, y))) {
            let row = z * slice + y * row..z * slice + y * row + w as usize * bytes as usize;
            assert_eq!(back[row.clone()], rows[row]);
        }
        // A part of the level, which starts and ends inside of runs and blocks.
        let first = [w / 3, h / 4, d / 2];
        let part = Region { first, extent: [w - first[0] - w / 5, h - first[1] - h / 7, d - first[2]], sample };
        let mut image = vec![0xee_u8; usize::try_from(size).unwrap()];
        level.tile(&part, &rows, layout, &mut image).unwrap();
        let mut written = 0;
        for (x, y, z) in elements(part.extent) {
            let at = slow(x + first[0], y + first[1], z + first[2], sample) as usize;
            let from = z as usize * slice + y as usize * row + x as usize * bytes as usize;
            assert_eq!(image[at..at + bytes as usize], rows[from..from + bytes as usize]);
            image[at..at + bytes as usize].fill(0xee);
            written += 1;
        }
        assert!(written == 0 || image.iter().all(|byte| *byte == 0xee), "bytes beside the region are written");
    }
    compared
}

fn elements([w, h, d]: [u32; 3]) -> impl Iterator<Item = (u32, u32, u32)> {
    (0..d).flat_map(move |z| (0..h).flat_map(move |y| (0..w).map(move |x| (x, y, z))))
}

/// Shrinks a golden's image to sides that leave blocks, tiles and runs incomplete.
fn small(question: &mut Object, salt: u32) {
    let of = |question: &Object, key: &str| question.get(key).map_or(1, super::number) as u32;
    let (w, h, d) = (of(question, "w") % 83 + 5, of(question, "h") % 61 + 3, of(question, "d"));
    let is_flat = question.get("t").and_then(Value::as_str) == Some("1d");
    question.insert("w".to_owned(), (w + salt % 2).into());
    question.insert("h".to_owned(), (if is_flat { 1 } else { h }).into());
    question.insert(
        "d".to_owned(),
        (if question.get("t").and_then(Value::as_str) == Some("cube") { 6 } else { d % 6 + 1 }).into(),
    );
    let levels = of(question, "lv").min(4);
    question.insert("lv".to_owned(), levels.into());
    question.remove("pitch");
}

fn check_image(chip: &Chip, question: &Question<'_>) -> u64 {
    let mut compared = 0;
    let mut seen = HashSet::new();
    let minified = |[w, h, d]: [u32; 3], level: u32, volume: bool| {
        [(w >> level).max(1), (h >> level).max(1), if volume { (d >> level).max(1) } else { d }]
    };
    if chip.level() <= GfxLevel::Gfx8 {
        let image = a1::image(question);
        let Ok(layout) = addr1::layout(chip, &image) else { return 0 };
        for at in 0..image.levels {
            let (level, _) = *layout.level(at as usize).unwrap();
            let Ok(addresser) = addr1::Addresser::new(chip, &image, &level, 0, 0) else { return compared };
            if level.bytes > MOST {
                return compared;
            }
            let prepared = Subresource::gfx6(&addresser).unwrap();
            let extent = minified([image.width, image.height, image.slices], at, question.text("t") == "3d");
            let slow = |x, y, z, sample| addresser.address(Texel { x, y, z, sample, level: 0 }).unwrap();
            let samples = if image.fragments == 0 { image.samples } else { image.fragments }.max(1);
            seen.clear();
            compared += check_level(&prepared, extent, samples, level.bytes, &mut seen, &slow);
        }
        return compared;
    }
    if chip.level() < GfxLevel::Gfx12 {
        let image = a2::image(question);
        let Ok(layout) = addr2::layout(chip, &image) else { return 0 };
        let xor = if image.mode.is_xor() { 0x35 } else { 0 };
        let Ok(addresser) = addr2::Addresser::new(chip, &image, &layout, xor) else { return 0 };
        if layout.bytes > MOST || image.bits == 96 {
            return 0;
        }
        for level in 0..image.levels {
            let prepared = Subresource::gfx9(&addresser, level).unwrap();
            let volume = image.dimension == addr2::Dimension::D3;
            let extent = minified([image.width, image.height, image.slices], level, volume);
            let slow = |x, y, z, sample| addresser.address(Texel { x, y, z, sample, level }).unwrap();
            compared += check_level(&prepared, extent, image.samples.max(1), layout.bytes, &mut seen, &slow);
        }
        return compared;
    }
    let image = a3::image(question);
    let Ok(layout) = addr3::layout(chip, &image) else { return 0 };
    let Ok(addresser) = addr3::Addresser::new(&image, &layout) else { return 0 };
    if layout.bytes > MOST {
        return 0;
    }
    for level in 0..image.levels {
        let prepared = Subresource::gfx12(&image, &layout, level).unwrap();
        let volume = image.dimension == addr3::Dimension::D3;
        let extent = minified([image.width, image.height, image.slices], level, volume);
        let slow = |x, y, z, sample| addresser.address(Texel { x, y, z, sample, level }).unwrap();
        compared += check_level(&prepared, extent, image.samples.max(1), layout.bytes, &mut seen, &slow);
    }
    compared
}

/// Looks at one small image of each mode, element size, number of samples and use that a chip's goldens have.
pub(crate) fn check() {
    let (mut kinds, mut compared) = (0, 0);
    for (name, chip) in &chips::read(&folder()) {
        let Ok(file) = fs::File::open(folder().join("addr").join(format!("{name}.jsonl.gz"))) else { continue };
        let mut known = HashSet::new();
        for line in BufReader::new(flate2::read::GzDecoder::new(file)).lines() {
            let line = line.unwrap();
            if !["{\"k\":\"a1\"", "{\"k\":\"a2\"", "{\"k\":\"a3\""].iter().any(|kind| line.starts_with(kind)) {
                continue;
            }
            let golden: Object = serde_json::from_str(&line).unwrap();
            let mut input = golden.get("in").and_then(Value::as_object).unwrap().clone();
            let key = |key: &str| input.get(key).map(Value::to_string);
            let several = key("lv").is_some_and(|levels| levels != "1");
            let kind = (key("tm"), key("tt"), key("sw"), key("bpp"), key("s"), key("fr"), key("t"), several);
            if !known.insert(kind) {
                continue;
            }
            small(&mut input, known.len() as u32);
            let none = Object::new();
            let count = check_image(chip, &Question { input: &input, out: &none });
            kinds += u64::from(count > 0);
            compared += count;
        }
    }
    println!("{compared} elements of {kinds} images");
    assert!(kinds > 1000, "only {kinds} images");
}
