//! Devcoredumps: the text that the kernel writes when it resets a GPU.
//!
//! Source: Linux `drivers/gpu/drm/amd/amdgpu/amdgpu_dev_coredump.c`, `amdgpu_devcoredump_read`, which writes the rings since 6.10,
//! and `amdgpu_devcoredump_format` of later kernels, which writes only the rings that have work and the IBs of the job that hung.

mod facts;
mod ring;

use amdgpu_hw::{Family, identify, radv_name};
use amdgpu_winsys::{
    cs::{Target, dump::Dumper},
    vamgr::GpuVa,
    winsys::GfxLevel,
};

pub use facts::{Coredump, DumpedRing, EngineRegister, Fault, MissingIb, Soc, TimedOut};
pub(super) use ring::Ring;

use super::{
    content::hexadecimal,
    ib::{Engine, FileIb},
};

/// The first line of every devcoredump.
pub(crate) const TITLE: &str = "**** AMDGPU Device Coredump ****";

/// Returns what a devcoredump says beside its packets, and the packets: the IBs of the job that hung, and of each graphics, compute
/// and copy ring the dwords that were not fetched. Of the ring that timed out it is the last jobs that were fetched if all were.
pub(crate) fn read(text: &str) -> (Coredump, Vec<FileIb>) {
    let mut dump = Dump::default();
    text.lines().for_each(|line| dump.line(line));
    dump.finish()
}

#[derive(Default)]
struct Dump {
    facts: Coredump,
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

impl Dump {
    fn line(&mut self, line: &str) {
        if let Some(name) = line.strip_prefix("ring name: ") {
            self.rings.push(Ring { name: name.trim().to_owned(), ..Ring::default() });
            self.section = Section::Ring;
        } else if let Some(head) = line.strip_prefix("IB #") {
            self.section = Section::Ib;
            self.ibs.extend(ib(head));
        } else if line.starts_with("0x") {
            self.content(line);
        } else if self.section == Section::Ring && line.starts_with("Rptr: ") {
            let words: Vec<_> = line.split_whitespace().collect();
            if let ([_, read, _, write, _, _, mask], Some(ring)) = (words.as_slice(), self.rings.last_mut()) {
                let number = |word| hexadecimal(word).unwrap_or_default();
                (ring.read, ring.write, ring.mask) = (number(read), number(write), number(mask));
            }
        } else {
            if self.section == Section::Ib && !line.trim().is_empty() {
                self.section = Section::Other;
            }
            self.fact(line);
        }
    }

    /// Parses a line outside of the tables.
    fn fact(&mut self, line: &str) {
        let facts = &mut self.facts;
        let text = |name: &str| line.strip_prefix(name).map(|text| text.trim().to_owned());
        let number = |name: &str| line.strip_prefix(name)?.trim().parse::<u32>().ok();
        if let Some(version) = line.strip_prefix("HWIP: GC[").and_then(|rest| rest.split_once("]: v")) {
            facts.level = facts.level.or_else(|| level(version.1));
        } else if let Some((kind, name)) =
            line.strip_prefix("IP Type: ").and_then(|rest| rest.split_once("Ring Name: "))
        {
            facts.timed_out = Some(TimedOut { ip_type: kind.trim().parse().ok(), ring: name.trim().to_owned() });
        } else if let Some((hub, _)) = line.strip_prefix('[').and_then(|rest| rest.split_once("] Page fault observed"))
        {
            facts.faults.push(Fault { hub: hub.to_owned(), ..Fault::default() });
        } else if let Some(address) = text("Faulty page starting at address:").as_deref().and_then(hexadecimal) {
            facts.fault().address = address;
        } else if let Some(status) = text("Protection fault status register:").as_deref().and_then(hexadecimal) {
            facts.fault().status = status as u32;
        } else if let Some(kernel) = text("kernel:") {
            facts.kernel.get_or_insert(kernel);
        } else if let Some(process) = text("process_name:") {
            facts.process.get_or_insert(process);
        } else if let Some(time) = text("time:") {
            facts.time = facts.time.or_else(|| time.parse().ok().filter(|time: &f64| time.is_finite()));
        } else if let Some(vmid) = number("vmid:") {
            facts.vmid = facts.vmid.or(u8::try_from(vmid).ok());
        } else if let Some(id) = number("SOC Device id:") {
            facts.soc.device = Some(id);
        } else if let Some(family) = number("SOC Family:") {
            facts.soc.family = Some(family);
        } else if let Some(revision) = number("SOC External Revision id:") {
            facts.soc.external_revision = Some(revision);
        } else {
            facts.registers.extend(register(line));
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

    fn finish(self) -> (Coredump, Vec<FileIb>) {
        let Self { mut facts, rings, ibs, .. } = self;
        facts.soc.chip = facts.soc.family.zip(facts.soc.external_revision).and_then(|(family, revision)| {
            let chip = identify(Family::from(family), revision)?;
            Some(radv_name(chip).to_lowercase())
        });
        facts.level = facts.level.or_else(|| facts.soc.family.and_then(old_level));
        let level = facts.level;
        let timed_out = facts.timed_out.as_ref().map(|ring| ring.ring.clone());
        let hung = timed_out.as_deref().and_then(engine);
        // If the memory of an IB was freed, the kernel writes only the title.
        let (empty, ibs): (Vec<_>, Vec<_>) = ibs.into_iter().partition(|ib| ib.dwords.is_empty());
        let missing = |ib: FileIb| MissingIb { title: ib.title.unwrap_or_default(), va: ib.va };
        facts.missing_ibs = empty.into_iter().map(missing).collect();
        let mut all: Vec<_> = ibs.into_iter().map(|ib| FileIb { engine: hung, level, ..ib }).collect();
        for ring in rings {
            let is_timed_out = timed_out.as_ref() == Some(&ring.name);
            let engine = engine(&ring.name);
            facts.rings.push(DumpedRing {
                name: ring.name.clone(),
                read: ring.read,
                write: ring.write,
                waiting: ring.waiting(),
                is_timed_out,
                is_decoded: engine.is_some(),
            });
            let Some(engine) = engine else { continue };
            let is_history = is_timed_out && ring.waiting() == 0;
            let (dwords, title) = match ring.pending() {
                _ if is_history => {
                    let fetched = ring.last_jobs(level.map(|level| engine.target(level)));
                    let title =
                        format!("ring {}, its last {} dwords before its write pointer", ring.name, fetched.len());
                    (fetched, title)
                }
                pending => (pending, format!("ring {}, from its read pointer to its write pointer", ring.name)),
            };
            if is_history {
                facts.last_packets = last_packets(level.map(|level| engine.target(level)), &dwords);
            }
            if !dwords.is_empty() {
                all.push(FileIb {
                    title: Some(title),
                    engine: Some(engine),
                    level,
                    dwords,
                    is_history,
                    ..FileIb::default()
                });
            }
        }
        (facts, all)
    }
}

/// Returns what the last job of a ring consists of: the calls of IBs and the fences after the last call before them, as text.
fn last_packets(target: Option<Target>, dwords: &[u32]) -> Vec<String> {
    let Some(target) = target else { return Vec::new() };
    let mut texts = Vec::new();
    for packet in Dumper::new(target).dump(dwords, None).ibs.iter().flat_map(|ib| &ib.packets) {
        for next in &packet.next {
            let vmid = packet.fields.iter().find(|field| field.name == "vmid");
            let vmid = vmid.map(|field| format!(", VMID {}", field.value)).unwrap_or_default();
            texts.push(format!("{} to {}, {:#x} dwords{vmid}", packet.name, next.va, next.dwords));
        }
        // The address and the data have had these places since GFX9, whatever the bits in between.
        if let ("RELEASE_MEM", [_, _, _, low, high, data, data_high, ..]) = (packet.name, packet.dwords.as_slice()) {
            let whole = |low: u32, high: u32| u64::from(high) << 32 | u64::from(low);
            let (va, data) = (whole(*low, *high), whole(*data, *data_high));
            texts.push(format!("RELEASE_MEM, fence {data:#x} to {va:#x}"));
        }
    }
    // A window may begin with earlier jobs, whose last packets are fences.
    let first = texts.iter().rposition(|text| text.contains(" dwords")).unwrap_or(0);
    texts.split_off(first)
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

/// Parses a register of the section "IP Dump" that says what the command processor was reading.
fn register(line: &str) -> Option<EngineRegister> {
    let words: Vec<_> = line.split_whitespace().collect();
    let [name, value] = *words.as_slice() else { return None };
    let name = name.strip_prefix("mm").or_else(|| name.strip_prefix("reg"))?;
    let is_wanted = name.starts_with("CP_")
        && (name.ends_with("_HEADER_DUMP") || name.ends_with("_BASE_LO") || name.ends_with("_BASE_HI"));
    let value = u32::try_from(hexadecimal(value)?).ok()?;
    is_wanted.then(|| EngineRegister { name: name.to_owned(), value })
}

/// Returns the kind of engine for a ring name such as gfx_0.0.0, comp_1.0.0 or sdma0; `None` for video and other rings.
pub(super) fn engine(name: &str) -> Option<Engine> {
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

/// Returns the generation of a family before GFX9, for which dumps have no versions.
fn old_level(family: u32) -> Option<GfxLevel> {
    match Family::from(family) {
        Family::SI => Some(GfxLevel::Gfx6),
        Family::CI | Family::KV => Some(GfxLevel::Gfx7),
        Family::VI | Family::CZ => Some(GfxLevel::Gfx8),
        _ => None,
    }
}
