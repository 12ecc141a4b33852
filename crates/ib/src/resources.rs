//! The descriptors that a dispatch's shader uses: in its user data, and in captured memory.

use std::{
    collections::{BTreeMap, HashSet},
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use amdgpu_descriptors::{BufferDescriptor, Descriptor, ImageDescriptor, Kind, SamplerDescriptor};
use amdgpu_isa::{ResourceKind, ResourceUse, WaveSize, resources};
use amdgpu_winsys::{cs::dump::Register, vamgr::GpuVa, winsys::GfxLevel};
use serde_json::{Value, json};

use crate::{
    input::{Kept, from_bytes, number},
    starts::Start,
};

/// The memory from which shaders loaded descriptors, as captured by the simulator: `NUMBER-memory-ADDRESS.bin`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct KeptMemory {
    /// The dwords by address; `None` for addresses that were captured with different values.
    dwords: BTreeMap<u64, Option<u32>>,
}

impl KeptMemory {
    /// Returns the number and address in the name of a file.
    fn name(path: &Path) -> Option<(u32, u64)> {
        let name = path.file_name()?.to_str()?.strip_suffix(".bin")?;
        let parts: Vec<_> = name.split('-').collect();
        let [number, "memory", va] = *parts.as_slice() else { return None };
        Some((number.parse().ok()?, GpuVa::new(u64::from_str_radix(va, 16).ok()?).ok()?.low_48_bits()))
    }

    /// Returns the memory that was captured while an IB was executed: up to the next IB that is not in `called`.
    pub(crate) fn beside(ib: &Path, called: &HashSet<GpuVa>) -> Self {
        let mut memory = Self::default();
        let Some((first, directory)) = number(ib).zip(ib.parent()) else { return memory };
        let entries = fs::read_dir(directory).into_iter().flatten().filter_map(Result::ok);
        let numbered = entries.filter_map(|entry| Some((number(&entry.path())?, entry.path())));
        let mut files: Vec<(u32, PathBuf)> = numbered.filter(|(number, _)| *number > first).collect();
        files.sort();
        for (_, path) in files {
            if Kept::name(&path).is_some_and(|ib| ib.va.is_none_or(|va| !called.contains(&va))) {
                break;
            }
            let Some((_, at)) = Self::name(&path) else { continue };
            // The simulator may have removed the file in the meantime.
            let Ok(bytes) = fs::read(&path) else { continue };
            memory.add(at, &from_bytes(&bytes));
        }
        memory
    }

    fn add(&mut self, at: u64, dwords: &[u32]) {
        for (index, &dword) in (0..).zip(dwords) {
            let known = self.dwords.entry(at + 4 * index).or_insert(Some(dword));
            if *known != Some(dword) {
                *known = None;
            }
        }
    }

    fn dword(&self, at: u64) -> Option<u32> {
        self.dwords.get(&at).copied().flatten()
    }
}

/// Machine code of a shader.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Code<'c> {
    pub(crate) level: GfxLevel,
    pub(crate) wave: WaveSize,
    pub(crate) dwords: &'c [u32],
}

/// Returns the registers that are set at a shader's entry; empty if the IB does not determine their number.
fn user_data(start: &Start) -> Vec<Option<u32>> {
    let value = |name: &str| start.compute().find(|register| register.name == Some(name));
    let field = |register: &Register| register.fields.iter().find(|field| field.0 == "user_sgpr").map(|field| field.1);
    let count = value("COMPUTE_PGM_RSRC2").and_then(field).unwrap_or(0);
    (0..count.min(32)).map(|index| value(&format!("COMPUTE_USER_DATA_{index}"))?.value).collect()
}

/// Returns the descriptors that a dispatch's shader uses, without duplicates.
fn uses(shader: &Code<'_>, start: &Start, memory: &KeptMemory) -> Vec<ResourceUse> {
    let mut uses = resources(shader.level, shader.wave, shader.dwords, &user_data(start), &|at| memory.dword(at));
    let mut seen = HashSet::new();
    uses.retain(|one| seen.insert((one.register, one.kind as u8, one.words.clone(), one.from)));
    uses
}

/// Returns the dwords of a use, if all are known.
fn words(one: &ResourceUse) -> Option<Vec<u32>> {
    one.words.iter().copied().collect()
}

fn descriptor<K: Kind>(words: &[u32]) -> Descriptor<K> {
    let mut all = K::Words::default();
    // A descriptor of four dwords is padded with zeros.
    for (slot, word) in all.as_mut().iter_mut().zip(words) {
        *slot = *word;
    }
    Descriptor::from_words(all)
}

/// Returns the descriptor as text and as JSON.
fn decoded(kind: ResourceKind, level: GfxLevel, words: &[u32]) -> (String, String) {
    match kind {
        ResourceKind::Buffer => {
            let found: BufferDescriptor = descriptor(words);
            (found.show(level).to_string(), found.json(level).to_string())
        }
        ResourceKind::Image => {
            let found: ImageDescriptor = descriptor(words);
            (found.show(level).to_string(), found.json(level).to_string())
        }
        ResourceKind::Sampler => {
            let found: SamplerDescriptor = descriptor(words);
            (found.show(level).to_string(), found.json(level).to_string())
        }
    }
}

const fn word(kind: ResourceKind) -> &'static str {
    match kind {
        ResourceKind::Buffer => "buffer",
        ResourceKind::Image => "image",
        ResourceKind::Sampler => "sampler",
    }
}

/// Returns the lines of text about a dispatch's descriptors.
pub(crate) fn text(shader: &Code<'_>, start: &Start, memory: &KeptMemory) -> String {
    let mut text = String::new();
    for one in uses(shader, start, memory) {
        let last = usize::from(one.register) + one.words.len() - 1;
        let from = one.from.map(|at| format!(" from {}", GpuVa::from_48_bits(at))).unwrap_or_default();
        let known = match (words(&one), one.from) {
            (Some(words), _) => decoded(one.kind, shader.level, &words).0,
            (None, Some(_)) => format!("{}, memory that was not kept", word(one.kind)),
            (None, None) => format!("{}, not followed", word(one.kind)),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {:04x} s[{}:{last}]{from}: {known}", one.offset, one.register);
    }
    if text.is_empty() { text } else { format!("descriptors\n{text}") }
}

/// Returns the JSON about a dispatch's descriptors.
pub(crate) fn json(shader: &Code<'_>, start: &Start, memory: &KeptMemory) -> Value {
    let one = |one: &ResourceUse| {
        let words = words(one);
        let fields = words.as_ref().map(|words| decoded(one.kind, shader.level, words).1);
        json!({
            "offset": one.offset,
            "kind": word(one.kind),
            "register": one.register,
            "va": one.from.map(|at| GpuVa::from_48_bits(at).as_u64()),
            "words": words,
            "descriptor": fields.and_then(|text| serde_json::from_str::<Value>(&text).ok()),
        })
    };
    uses(shader, start, memory).iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_was_kept_with_several_values_is_unknown() {
        let mut memory = KeptMemory::default();
        memory.add(0x1000, &[1, 2]);
        memory.add(0x1004, &[2, 3]);
        memory.add(0x1000, &[9]);
        memory.add(0x1000, &[9]);
        assert_eq!([0x1000, 0x1004, 0x1008, 0x100c].map(|at| memory.dword(at)), [None, Some(2), Some(3), None]);
    }
}
