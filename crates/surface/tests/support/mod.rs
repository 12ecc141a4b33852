//! Reads golden lines, asks the crate the same questions, and counts the differences.

mod a1;
mod a2;
mod a3;
mod ginfo;
mod m1;
mod m2;
mod mods;
mod pref;
mod surf;
mod tile;
pub(crate) mod tiler;
mod xor;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;

use amdgpu_surface::Chip;
use amdgpu_test_support::chips;
pub(crate) use amdgpu_test_support::chips::number;
use serde_json::{Map, Value};

pub(crate) type Object = Map<String, Value>;

/// The kinds of golden lines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    A1,
    A2,
    A3,
    M1,
    M2,
    Mods,
    Surf,
    Pref,
    Ginfo,
    Tile,
    Xor,
}

impl Kind {
    fn key(self) -> &'static str {
        match self {
            Self::A1 => "a1",
            Self::A2 => "a2",
            Self::A3 => "a3",
            Self::M1 => "m1",
            Self::M2 => "m2",
            Self::Mods => "mods",
            Self::Surf => "surf",
            Self::Pref => "pref",
            Self::Ginfo => "ginfo",
            Self::Tile => "tile",
            Self::Xor => "xor",
        }
    }

    fn folders(self) -> &'static [&'static str] {
        match self {
            Self::A1 | Self::A2 | Self::A3 | Self::Pref | Self::Ginfo | Self::Tile | Self::Xor => &["addr"],
            Self::M1 | Self::M2 => &["meta"],
            Self::Mods => &["mods"],
            Self::Surf => &["layout", "mods"],
        }
    }

    fn answer(self, chip: &Chip, question: &Question<'_>) -> Object {
        match self {
            Self::A1 => a1::answer(chip, question),
            Self::A2 => a2::answer(chip, question),
            Self::A3 => a3::answer(chip, question),
            Self::M1 => m1::answer(chip, question),
            Self::M2 => m2::answer(chip, question),
            Self::Mods => mods::answer(chip, question),
            Self::Surf => surf::answer(chip, question),
            Self::Pref => pref::answer(chip, question),
            Self::Ginfo => ginfo::answer(chip),
            Self::Tile => tile::answer(chip, question),
            Self::Xor => xor::answer(chip, question),
        }
    }
}

/// The folder of the goldens: that of the tree, or another of the same form.
pub(crate) fn folder() -> PathBuf {
    std::env::var_os("AMDGPU_SURFACE_GOLDENS")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/goldens"), PathBuf::from)
}

/// A golden line's question; `out` is needed for its coordinates only.
pub(crate) struct Question<'a> {
    pub(crate) input: &'a Object,
    pub(crate) out: &'a Object,
}

impl Question<'_> {
    pub(crate) fn number(&self, key: &str, default: u64) -> u64 {
        self.input.get(key).map_or(default, number)
    }

    pub(crate) fn u32(&self, key: &str, default: u32) -> u32 {
        self.number(key, u64::from(default)) as u32
    }

    pub(crate) fn text(&self, key: &str) -> &str {
        self.input.get(key).and_then(Value::as_str).unwrap_or("")
    }

    pub(crate) fn flags(&self) -> Vec<&str> {
        self.text("f").split('+').filter(|flag| !flag.is_empty()).collect()
    }

    pub(crate) fn points(&self, key: &str) -> Vec<Vec<u64>> {
        let Some(points) = self.out.get(key).and_then(Value::as_array) else { return Vec::new() };
        points.iter().map(|point| point.as_array().unwrap().iter().map(number).collect()).collect()
    }
}

/// Sets a key unless it would say nothing: an absent key is 0, false or empty.
pub(crate) fn put(out: &mut Object, key: &str, value: impl Into<Value>) {
    let value = value.into();
    if !empty(&value) {
        out.insert(key.to_owned(), value);
    }
}

fn empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Number(n) => n.as_u64() == Some(0),
        Value::String(s) => s.is_empty(),
        Value::Array(a) => a.is_empty(),
        Value::Object(o) => o.is_empty(),
        Value::Bool(true) => false,
    }
}

/// Returns the first key in which two answers differ.
fn first_difference(golden: &Object, ours: &Object) -> Option<String> {
    for key in golden.keys().chain(ours.keys()) {
        let (want, have) = (golden.get(key).unwrap_or(&Value::Null), ours.get(key).unwrap_or(&Value::Null));
        if empty(want) && empty(have) || want == have {
            continue;
        }
        if let (Some(want), Some(have)) = (want.as_object(), have.as_object()) {
            if let Some(inner) = first_difference(want, have) {
                return Some(format!("{key}.{inner}"));
            }
            continue;
        }
        return Some(key.clone());
    }
    None
}

fn lookup<'a>(object: &'a Object, path: &str) -> &'a Value {
    let mut parts = path.split('.');
    let mut value = object.get(parts.next().unwrap_or_default()).unwrap_or(&Value::Null);
    for part in parts {
        value = value.get(part).unwrap_or(&Value::Null);
    }
    value
}

/// Asks every line of a kind, of every chip, and reports the lines whose answers differ.
pub(crate) fn check(kind: Kind) {
    let chips = chips::read(&folder());
    let only = std::env::var("AMDGPU_SURFACE_CHIP").ok();
    let show: usize = std::env::var("AMDGPU_SURFACE_SHOW").ok().and_then(|n| n.parse().ok()).unwrap_or(3);
    let (mut lines, mut wrong) = (0usize, 0usize);
    let mut report = String::new();
    for (name, chip) in &chips {
        if only.as_ref().is_some_and(|only| only != name) {
            continue;
        }
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        let (mut chip_lines, mut chip_wrong) = (0, 0);
        for sub in kind.folders() {
            let path = folder().join(sub).join(format!("{name}.jsonl.gz"));
            let Ok(file) = fs::File::open(&path) else { continue };
            let needle = format!("{{\"k\":\"{}\"", kind.key());
            for line in BufReader::new(flate2::read::GzDecoder::new(file)).lines() {
                let line = line.unwrap();
                if !line.starts_with(&needle) {
                    continue;
                }
                let golden: Object = serde_json::from_str(&line).unwrap();
                let none = Object::new();
                let input = golden.get("in").and_then(Value::as_object).unwrap_or(&none);
                let out = golden.get("out").and_then(Value::as_object).unwrap_or(&none);
                let ours = kind.answer(chip, &Question { input, out });
                chip_lines += 1;
                if let Some(key) = first_difference(out, &ours) {
                    chip_wrong += 1;
                    let count = counts.entry(key.clone()).or_default();
                    *count += 1;
                    if *count <= show {
                        writeln!(
                            report,
                            "{name} {} {key}: golden {} ours {}",
                            serde_json::to_string(input).unwrap(),
                            lookup(out, &key),
                            lookup(&ours, &key)
                        )
                        .unwrap();
                    }
                }
            }
        }
        println!("{} {name}: {chip_wrong} of {chip_lines} lines differ {counts:?}", kind.key());
        lines += chip_lines;
        wrong += chip_wrong;
    }
    assert!(wrong == 0, "{}: {wrong} of {lines} lines differ\n{report}", kind.key());
    assert!(lines > 0, "no line of kind {}", kind.key());
}
