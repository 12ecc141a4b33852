//! A buffer of a process.

use amdgpu_winsys::uapi::{GemCreateFlags, GemDomain};
use serde::Serialize;

/// A range of GPU addresses at which a part of a buffer is mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Range {
    /// The first address, with bit 47 extended, as programs see it.
    pub address: u64,
    /// Bytes.
    pub size: u64,
    /// The first byte of the buffer that is mapped there.
    pub offset: u64,
}

/// A buffer. One with several handles is listed with each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Buffer {
    /// The GEM handle.
    pub handle: u32,
    /// Bytes.
    pub size: u64,
    /// The preferred domains, in lower case: `vram`, `gtt`, `cpu`, `gds`, `gws`, `oa`, `doorbell`.
    pub domains: Vec<String>,
    /// The flags of the creation, in lower case, such as `cpu_access_required`.
    pub flags: Vec<String>,
    /// `true` if the buffer comes from another device.
    pub imported: bool,
    /// The addresses at which it is mapped in this file; `None` if the kernel does not say.
    pub ranges: Option<Vec<Range>>,
}

/// Returns the names of domains; bits that this version does not know are a number.
pub(super) fn domains(bits: u64) -> Vec<String> {
    let domains = GemDomain::from_bits_retain(bits);
    named(domains.iter_names().map(|(name, _)| name), bits & !GemDomain::all().bits())
}

/// Returns the names of flags of GEM_CREATE; bits that this version does not know are a number.
pub(super) fn flags(bits: u64) -> Vec<String> {
    let flags = GemCreateFlags::from_bits_retain(bits);
    named(flags.iter_names().map(|(name, _)| name), bits & !GemCreateFlags::all().bits())
}

fn named(names: impl Iterator<Item = &'static str>, unknown: u64) -> Vec<String> {
    let mut all: Vec<String> = names.map(str::to_lowercase).collect();
    if unknown != 0 {
        all.push(format!("{unknown:#x}"));
    }
    all
}
