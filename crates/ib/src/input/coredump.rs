//! Devcoredumps: the text that the kernel writes when it resets a GPU.
//!
//! Source: Linux `drivers/gpu/drm/amd/amdgpu/amdgpu_dev_coredump.c`, `amdgpu_devcoredump_read`, which writes the rings since 6.10,
//! and `amdgpu_devcoredump_format` of later kernels, which also writes the IBs of the job that hung.

use amdgpu_winsys::{vamgr::GpuVa, winsys::GfxLevel};

use super::{
    content::hexadecimal,
    ib::{Engine, FileIb},
};

/// The first line of every devcoredump.
pub(super) const TITLE: &str = "**** AMDGPU Device Coredump ****";

/// Returns the IBs of the job that hung, and the dwords of each graphics, compute and copy ring between its read and write
/// pointers.
pub(super) fn ibs(text: &str) -> Vec<FileIb> {
    let mut dump = Dump::default();
    text.lines().for_each(|line| dump.line(line));
    dump.finish()
}

#[derive(Default)]
struct Dump {
    level: Option<GfxLevel>,
    /// The engine of the ring that timed out.
    engine: Option<Engine>,
    rings: Vec<Ring>,
    ibs: Vec<FileIb>,
    section: Section,
}

/// The table that the following lines belong to.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Section {
    #[default]
    Other,
    Ring,
    Ib,
}

#[derive(Default)]
struct Ring {
    name: String,
    read: u64,
    write: u64,
    mask: u64,
    dwords: Vec<u32>,
}

impl Dump {
    fn line(&mut self, line: &str) {
        if let Some(name) = line.strip_prefix("ring name: ") {
            self.rings.push(Ring { name: name.trim().to_owned(), ..Ring::default() });
            self.section = Section::Ring;
        } else if let Some(head) = line.strip_prefix("IB #") {
            self.section = Section::Ib;
            self.ibs.extend(ib(head));
        } else if let Some(version) = line.strip_prefix("HWIP: GC[").and_then(|rest| rest.split_once("]: v")) {
            self.level = self.level.or_else(|| level(version.1));
        } else if let Some(name) = line.strip_prefix("IP Type: ").and_then(|rest| rest.split_once("Ring Name: ")) {
            self.engine = engine(name.1);
        } else if line.starts_with("0x") {
            self.content(line);
        } else if self.section == Section::Ring && line.starts_with("Rptr: ") {
            let words: Vec<_> = line.split_whitespace().collect();
            if let ([_, read, _, write, _, _, mask], Some(ring)) = (words.as_slice(), self.rings.last_mut()) {
                let number = |word| hexadecimal(word).unwrap_or_default();
                (ring.read, ring.write, ring.mask) = (number(read), number(write), number(mask));
            }
        } else if self.section == Section::Ib && !line.trim().is_empty() {
            self.section = Section::Other;
        }
    }

    /// Parses a line of a table: offset and value of a ring, or value of an IB.
    fn content(&mut self, line: &str) {
        let Some(value) = line.split_whitespace().next_back().and_then(hexadecimal) else { return };
        let Ok(value) = u32::try_from(value) else { return };
        match self.section {
            Section::Ring => self.rings.last_mut().map(|ring| ring.dwords.push(value)),
            Section::Ib => self.ibs.last_mut().map(|ib| ib.dwords.push(value)),
            Section::Other => None,
        };
    }

    fn finish(self) -> Vec<FileIb> {
        let (level, timed_out) = (self.level, self.engine);
        // If the memory of an IB was freed, the kernel writes only the title.
        let ibs = self.ibs.into_iter().filter(|ib| !ib.dwords.is_empty());
        let ibs = ibs.map(move |ib| FileIb { engine: timed_out, level, ..ib });
        let rings = self.rings.into_iter().filter_map(move |ring| {
            let title = format!("ring {}, from its read pointer to its write pointer", ring.name);
            let (engine, dwords) = (engine(&ring.name)?, ring.pending());
            let ib = FileIb { title: Some(title), engine: Some(engine), level, dwords, ..FileIb::default() };
            (!ib.dwords.is_empty()).then_some(ib)
        });
        ibs.chain(rings).collect()
    }
}

impl Ring {
    /// Returns the dwords from the read pointer to the write pointer. Both pointers increase beyond the end of the ring.
    fn pending(&self) -> Vec<u32> {
        let len = self.write.wrapping_sub(self.read) & self.mask;
        let at = |step| usize::try_from(self.read.wrapping_add(step) & self.mask).ok();
        // A truncated ring has no dword at this index.
        (0..len).map_while(|step| self.dwords.get(at(step)?).copied()).collect()
    }
}

/// Parses the rest of an IB's title: number, address, length and `dw`.
fn ib(head: &str) -> Option<FileIb> {
    let words: Vec<_> = head.split_whitespace().collect();
    let [number, va, dwords, "dw"] = *words.as_slice() else { return None };
    let title = format!("IB #{number} of the job that hung, {dwords} dwords");
    // Addresses of the upper half are printed without sign extension.
    let va = GpuVa::from_48_bits(hexadecimal(va)? & 0xffff_ffff_ffff);
    Some(FileIb { title: Some(title), va: Some(va), ..FileIb::default() })
}

/// Returns the kind of engine for a ring name such as gfx_0.0.0, comp_1.0.0 or sdma0; `None` for video and other rings.
fn engine(name: &str) -> Option<Engine> {
    let starts = [("gfx", Engine::Gfx), ("comp", Engine::Compute), ("sdma", Engine::Sdma)];
    starts.into_iter().find(|(start, _)| name.trim().starts_with(start)).map(|(_, engine)| engine)
}

/// Returns the generation for a version of the graphics core such as 10.3.0.0.0; `None` before version 9.
fn level(version: &str) -> Option<GfxLevel> {
    let mut parts = version.split('.').map(|part| part.trim().parse::<u32>().ok());
    match (parts.next()??, parts.next()??) {
        (9, _) => Some(GfxLevel::Gfx9),
        (10, 0..=2) => Some(GfxLevel::Gfx10),
        (10, _) => Some(GfxLevel::Gfx10_3),
        (11, 0..=4) => Some(GfxLevel::Gfx11),
        (11, _) => Some(GfxLevel::Gfx11_5),
        (12, _) => Some(GfxLevel::Gfx12),
        _ => None,
    }
}
