//! Contents of a devcoredump besides its packets.

use std::fmt::Write as _;

use amdgpu_winsys::{
    cs::pm4::opcode,
    vamgr::GpuVa,
    winsys::{FaultAccess, FaultHub, FaultStatus, GfxLevel},
};
use serde_json::{Value, json};

/// Contents of a devcoredump besides its packets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Coredump {
    /// The version of the kernel.
    pub kernel: Option<String>,
    /// The time of the hang in seconds after boot.
    pub time: Option<f64>,
    /// The address space (VMID) of the job that hung, which the kernel writes after 6.12.
    pub vmid: Option<u8>,
    /// The name and PID of the process whose job hung.
    pub process: Option<String>,
    /// The chip.
    pub soc: Soc,
    /// The generation of the chip.
    pub level: Option<GfxLevel>,
    /// The ring that timed out.
    pub timed_out: Option<TimedOut>,
    /// The page faults of the hubs. Most dumps have one, of which nothing is recorded if its status is 0.
    pub faults: Vec<Fault>,
    /// The registers that say what the command processor was reading, in the order of the dump.
    pub registers: Vec<EngineRegister>,
    /// The rings in the dump. Kernels before 7.0 write all, later ones only those with work.
    pub rings: Vec<DumpedRing>,
    /// The calls and fences of the last job in the ring that timed out, if all of it was fetched.
    pub last_packets: Vec<String>,
    /// The IBs of which the dump has no contents.
    pub missing_ibs: Vec<MissingIb>,
    /// `true` if the dump has packets that can be decoded.
    pub has_packets: bool,
}

/// The identification of a chip.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Soc {
    /// The PCI device ID.
    pub device: Option<u32>,
    /// The family.
    pub family: Option<u32>,
    /// The external revision.
    pub external_revision: Option<u32>,
    /// The name of the chip in lower case; `None` if it is unknown.
    pub chip: Option<String>,
}

/// A ring that timed out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimedOut {
    /// The number of the kind of engine in `amdgpu_drm.h`.
    pub ip_type: Option<u32>,
    /// The name of the ring.
    pub ring: String,
}

/// The page fault that a hub recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fault {
    /// The name of the hub.
    pub hub: String,
    /// The address in the dump, without sign extension.
    pub address: u64,
    /// The status register; 0 if no fault is recorded.
    pub status: u32,
}

/// A register that says what the command processor was reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineRegister {
    /// The name in AMD's headers, without the prefix of the kernel.
    pub name: String,
    /// The value.
    pub value: u32,
}

/// A ring in a dump.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DumpedRing {
    /// The name.
    pub name: String,
    /// The read pointer in dwords.
    pub read: u64,
    /// The write pointer in dwords.
    pub write: u64,
    /// The number of dwords that the engine has not fetched.
    pub waiting: u64,
    /// `true` if the ring timed out.
    pub is_timed_out: bool,
    /// `true` if the ring's packets can be decoded.
    pub is_decoded: bool,
}

/// An IB of which a dump has the title alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingIb {
    /// The title.
    pub title: String,
    /// The address.
    pub va: Option<GpuVa>,
}

impl Coredump {
    /// Returns the page fault that the following lines describe.
    pub(super) fn fault(&mut self) -> &mut Fault {
        if self.faults.is_empty() {
            self.faults.push(Fault { hub: "gfxhub".to_owned(), ..Fault::default() });
        }
        let last = self.faults.len() - 1;
        &mut self.faults[last]
    }

    /// Returns the packet at which the command processor was, as text; `None` if no register tells.
    pub fn packet(&self) -> Option<String> {
        self.engine_lines().into_iter().find(|line| line.0 == "packet").map(|line| line.1)
    }

    /// Returns the VMID of the job that hung: as the dump states it, or as the last job of its ring has it.
    pub fn job_vmid(&self) -> Option<u8> {
        let of_ring = || self.last_packets.iter().find_map(|packet| packet.split_once("VMID ")?.1.parse().ok());
        self.vmid.filter(|vmid| *vmid != 0).or_else(of_ring)
    }

    /// Returns the text, a line each. All lines but the first are indented.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![match &self.kernel {
            Some(kernel) => format!("devcoredump of Linux {kernel}"),
            None => "devcoredump".to_owned(),
        }];
        let mut add = |name: &str, text: String| lines.push(format!("  {name}: {text}"));
        add("chip", self.soc.text());
        if let Some(process) = &self.process {
            add("process", process.clone());
        }
        add("timed out", self.timed_out.as_ref().map_or_else(|| "not stated".to_owned(), TimedOut::text));
        self.faults.iter().for_each(|fault| add("page fault", fault.text(self.level)));
        self.engine_lines().into_iter().for_each(|(name, text)| add(name, text));
        self.missing_ibs.iter().for_each(|ib| add("contents not in this dump", ib.text()));
        self.rings.iter().for_each(|ring| add(&format!("ring {}", ring.name), ring.text()));
        self.last_packets.iter().for_each(|packet| add("last job", packet.clone()));
        let is_absent = |ring: &&TimedOut| self.rings.iter().all(|known| known.name != ring.ring);
        if let Some(ring) = self.timed_out.as_ref().filter(is_absent) {
            add(&format!("ring {}", ring.ring), "timed out, busy; its contents are not in this dump".to_owned());
        }
        match (self.has_packets, self.rings.is_empty()) {
            (true, _) => {}
            (false, true) => add("packets", "no IBs and no ring contents in this dump".to_owned()),
            (false, false) => add("packets", "no IBs, and no ring has dwords to decode".to_owned()),
        }
        lines
    }

    /// Returns what the command processor was reading: packets and addresses of IBs.
    fn engine_lines(&self) -> Vec<(&'static str, String)> {
        let mut lines = Vec::new();
        let mut last = None;
        for register in &self.registers {
            let EngineRegister { name, value } = register;
            // Reads of the same register take successive headers out of a queue, which repeats the last one when it is empty.
            if last == Some(register) {
                continue;
            }
            last = Some(register);
            if let Some(engine) = name.strip_prefix("CP_").and_then(|rest| rest.strip_suffix("_HEADER_DUMP")) {
                if let Some(packet) = header(*value) {
                    lines.push(("packet", format!("{engine} was at {packet} ({name} {value:#010x})")));
                }
            } else if let Some(base) = name.strip_suffix("_LO") {
                let high = self.registers.iter().find(|other| other.name.strip_suffix("_HI") == Some(base));
                let high = high.map_or(0, |high| u64::from(high.value & 0xffff));
                let va = GpuVa::from_48_bits(high << 32 | u64::from(*value));
                if base.contains("_IB") && va != GpuVa::NULL {
                    lines.push(("IB", format!("{base} is {va}")));
                }
            }
        }
        lines
    }

    /// Returns the same as JSON.
    pub fn json(&self) -> Value {
        let fault = |fault: &Fault| {
            let decoded = fault.decoded(self.level);
            json!({
                "hub": fault.hub,
                "address": fault.address(),
                "status": fault.status,
                "is_recorded": fault.status != 0,
                "vmid": decoded.map(|status| status.vmid),
                "client": decoded.map(|status| status.client),
                "client_name": fault.client(self.level),
                "access": decoded.map(|status| access(status.access)),
                "permissions": decoded.map(|status| status.permissions),
                "more": decoded.map(|status| status.more_faults),
            })
        };
        let ring = |ring: &DumpedRing| {
            json!({
                "name": ring.name,
                "read": ring.read,
                "write": ring.write,
                "not_fetched": ring.waiting,
                "timed_out": ring.is_timed_out,
            })
        };
        let missing = |ib: &MissingIb| json!({"title": ib.title, "va": ib.va.map(GpuVa::as_u64)});
        let register = |register: &EngineRegister| {
            json!({"name": register.name, "value": register.value, "packet": header(register.value)
                .filter(|_| register.name.ends_with("_HEADER_DUMP"))})
        };
        json!({
            "kernel": self.kernel,
            "process": self.process,
            "chip": self.soc.chip,
            "device": self.soc.device,
            "family": self.soc.family,
            "external_revision": self.soc.external_revision,
            "generation": self.level.map(|level| level.to_string()),
            "timed_out": self.timed_out.as_ref().map(|ring| json!({"ip_type": ring.ip_type, "ring": ring.ring})),
            "faults": self.faults.iter().map(fault).collect::<Vec<_>>(),
            "registers": self.registers.iter().map(register).collect::<Vec<_>>(),
            "rings": self.rings.iter().map(ring).collect::<Vec<_>>(),
            "last_packets": self.last_packets,
            "missing_ibs": self.missing_ibs.iter().map(missing).collect::<Vec<_>>(),
        })
    }
}

impl Soc {
    fn text(&self) -> String {
        let name = self.chip.as_deref().unwrap_or("unknown");
        let hex = |name, value: Option<u32>| value.map(|value| format!("{name} {value:#06x}"));
        let decimal = |name, value: Option<u32>| value.map(|value| format!("{name} {value}"));
        let parts = [
            hex("device", self.device),
            decimal("family", self.family),
            decimal("external revision", self.external_revision),
        ];
        let parts: Vec<_> = parts.into_iter().flatten().collect();
        if parts.is_empty() { name.to_owned() } else { format!("{name} ({})", parts.join(", ")) }
    }
}

impl TimedOut {
    fn text(&self) -> String {
        let kind = self.ip_type.map(|kind| format!(" (IP type {kind})")).unwrap_or_default();
        format!("ring {}{kind}", self.ring)
    }
}

impl Fault {
    /// Returns the address with the sign extension that the kernel leaves out.
    fn address(&self) -> u64 {
        GpuVa::from_48_bits(self.address & 0xffff_ffff_ffff).as_u64()
    }

    fn decoded(&self, level: Option<GfxLevel>) -> Option<FaultStatus> {
        level.filter(|_| self.status != 0).map(|level| FaultStatus::new(self.status, level))
    }

    fn client(&self, level: Option<GfxLevel>) -> Option<&'static str> {
        let hub = if self.hub.starts_with("gfx") { FaultHub::Graphics(0) } else { FaultHub::Multimedia(0) };
        self.decoded(level)?.client_name(level?, hub)
    }

    /// Returns the text. The kernel writes the section always, and records a fault only with a status that is not 0.
    ///
    /// Source: Linux 6.12 `amdgpu_vm.c`, `amdgpu_vm_update_fault_cache`.
    fn text(&self, level: Option<GfxLevel>) -> String {
        let Self { hub, status, .. } = self;
        if *status == 0 {
            return format!("none recorded by {hub} (status 0)");
        }
        let page = format!("{:#x}, {hub}, status {status:#x}", self.address());
        let Some(decoded) = self.decoded(level) else { return page };
        let client = match self.client(level) {
            Some(name) => format!("{} ({name})", decoded.client),
            None => decoded.client.to_string(),
        };
        let access = access(decoded.access);
        let mut text = format!("{page}: VMID {}, client {client}, {access}", decoded.vmid);
        if level >= Some(GfxLevel::Gfx9) {
            let _ = write!(text, ", PERMISSION {}, MORE {}", decoded.permissions, u8::from(decoded.more_faults));
        }
        if decoded.walker_error != 0 {
            let _ = write!(text, ", WALKER {}", decoded.walker_error);
        }
        if decoded.mapping_error {
            text += ", MAPPING 1";
        }
        text
    }
}

impl DumpedRing {
    /// Returns the text. A read pointer that equals the write pointer says that all was fetched and not that all is done, because
    /// engines fetch long before they execute.
    fn text(&self) -> String {
        let Self { read, write, waiting, .. } = self;
        let fetched = match waiting {
            0 => format!(
                "everything up to its write pointer {write:#x} was fetched, which does not mean that it is done"
            ),
            1 => format!("1 dword from its read pointer {read:#x} on was not fetched"),
            _ => format!("{waiting} dwords from its read pointer {read:#x} on were not fetched"),
        };
        let state = if self.is_timed_out { "timed out, busy; " } else { "" };
        let rest = if self.is_decoded { "" } else { "; its packets are not decoded" };
        format!("{state}{fetched}{rest}")
    }
}

impl MissingIb {
    fn text(&self) -> String {
        match self.va {
            Some(va) => format!("{} at {va}", self.title),
            None => self.title.clone(),
        }
    }
}

const fn access(access: FaultAccess) -> &'static str {
    match access {
        FaultAccess::Read => "read",
        FaultAccess::Write => "write",
        FaultAccess::Atomic => "atomic",
    }
}

/// Returns the packet of a header of type 3; `None` for other values.
fn header(value: u32) -> Option<String> {
    let name = opcode::name((value >> 8) as u8).filter(|_| value >> 30 == 3)?;
    Some(if value >> 1 & 1 == 1 { format!("{name} [compute]") } else { name.to_owned() })
}
