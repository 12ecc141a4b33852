//! Looking at all GPUs of a machine.

use std::{error::Error, fmt, io};

use crate::{
    cgroup::{self, Cgroup, cgroup},
    effective::{Bounds, effective, free},
    files::{self, Files},
    gpu::{FreeShares, Gpu, Other},
    heaps::{OwnUsage, heaps},
    info::PoolInfo,
    limits::{self, ModuleSettings, Terms},
    machine::Machine,
    model::{Domain, Domains, Missing, Pair, System},
    pci_ids::is_apu,
    processes::{Scan, Scanner, proc_file, sums},
    seam,
};

/// The parts that are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// `true` to open GPUs that are suspended, which wakes them.
    pub wake: bool,
    /// `true` to read the processes that use the GPUs.
    pub processes: bool,
    /// `true` to include the figures of each open file of a process.
    pub per_client: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { wake: false, processes: true, per_client: false }
    }
}

/// The reason why there is no report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LookError {
    /// sysfs has no GPU that uses the amdgpu driver.
    NoGpu(String),
    /// The process has no permission to read sysfs.
    NotReadable(String),
}

impl fmt::Display for LookError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoGpu(reason) => write!(f, "no amdgpu GPU: {reason}"),
            Self::NotReadable(reason) => write!(f, "nothing may be read: {reason}"),
        }
    }
}

impl Error for LookError {}

/// The GPUs of a machine at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The GPUs, ordered by PCI address; at least one.
    pub gpus: Vec<Gpu>,
    /// Render nodes of other drivers.
    pub others: Vec<Other>,
    /// The system memory of the machine.
    pub system: System,
    /// The cgroup of this process.
    pub cgroup: Cgroup,
    /// The settings of the kernel modules.
    pub settings: ModuleSettings,
}

/// Looks at a machine once.
///
/// # Errors
///
/// The errors of [`Looker::look`].
pub fn look(machine: &dyn Machine, options: &Options) -> Result<Report, LookError> {
    Looker::default().look(machine, options)
}

/// A look that is repeated: it keeps an index of the processes, which makes the next one cheap.
#[derive(Debug, Default)]
pub struct Looker {
    scanner: Scanner,
}

/// A render node of an amdgpu GPU, known from sysfs alone: nothing is opened, so a sleeping GPU sleeps on.
struct Node {
    name: String,
    pci: String,
}

impl Looker {
    /// Looks at the machine. A source that cannot be read is not an error; it is listed in [`Gpu::missing`].
    ///
    /// # Errors
    ///
    /// [`LookError`] if there is no GPU of amdgpu, or none of its files can be read.
    pub fn look(&mut self, machine: &dyn Machine, options: &Options) -> Result<Report, LookError> {
        let files = machine.files();
        let (nodes, others) = enumerate(files).map_err(|error| match error.kind() {
            io::ErrorKind::PermissionDenied => LookError::NotReadable(format!("/sys/class/drm: {error}")),
            _ => LookError::NoGpu(format!("/sys/class/drm: {}", files::reason(&error))),
        })?;
        if nodes.is_empty() {
            return Err(LookError::NoGpu("no render node in /sys/class/drm is one of driver amdgpu".to_owned()));
        }
        let settings = ModuleSettings::read(files);
        // A captured tree is taken to be of a machine with pages of the same size.
        let system = System { ttm_limit: settings.ttm_bytes(seam::page_size()), ..proc_file::meminfo(files) };
        let mut report = Report { gpus: Vec::new(), others, system, cgroup: cgroup(files), settings };
        let own = machine.own_process();
        let mut scan =
            if options.processes { self.scanner.scan(files, options.per_client, own) } else { Scan::default() };
        for (index, node) in nodes.iter().enumerate() {
            let gpu = gpu(machine, *options, index, node, &report, &mut scan);
            report.gpus.push(gpu);
        }
        Ok(report)
    }
}

/// The nodes of amdgpu by PCI address, and those of others.
fn enumerate(files: &dyn Files) -> io::Result<(Vec<Node>, Vec<Other>)> {
    let (mut nodes, mut others) = (Vec::new(), Vec::new());
    for name in files.list("sys/class/drm")? {
        let is_render = name.strip_prefix("renderD").is_some_and(|minor| minor.parse::<u32>().is_ok());
        if !is_render {
            continue;
        }
        let Ok(uevent) = files.read(&format!("sys/class/drm/{name}/device/uevent")) else { continue };
        let value =
            |key: &str| uevent.lines().find_map(|line| line.strip_prefix(key)).map(|value| value.trim().to_owned());
        match (value("DRIVER="), value("PCI_SLOT_NAME=")) {
            (Some(driver), Some(pci)) if driver == "amdgpu" => nodes.push(Node { name, pci }),
            (driver, pci) => others.push(Other { node: name, driver, pci }),
        }
    }
    nodes.sort_unstable_by(|a, b| (&a.pci, &a.name).cmp(&(&b.pci, &b.name)));
    nodes.dedup_by(|a, b| a.pci == b.pci);
    others.sort_unstable_by(|a, b| a.node.cmp(&b.node));
    Ok((nodes, others))
}

fn gpu(machine: &dyn Machine, options: Options, index: usize, node: &Node, report: &Report, scan: &mut Scan) -> Gpu {
    let files = machine.files();
    let mut gpu = from_sysfs(files, index, node);
    gpu.is_asleep = is_asleep(gpu.power.as_deref()) && !options.wake;
    if gpu.is_asleep {
        gpu.missing.push(missing("INFO", "the GPU is asleep; --wake would open it and wake it"));
    }
    if options.processes && machine.own_process().is_some() {
        gpu.own = Some(scan.own.remove(&node.pci).unwrap_or_default());
    }
    if !gpu.is_asleep {
        ask(machine, node, &mut gpu);
    }
    contradictions(&mut gpu);
    if let Cgroup::V2(path) = &report.cgroup {
        gpu.cgroup_limit = cgroup::dmem(files, path, &node.pci);
    }
    let bounds = Bounds { cgroup_left: gpu.cgroup_limit.as_ref().and_then(|limit| limit.left) };
    gpu.effective = effective(gpu.apu, &gpu.domains, &report.system, &bounds);
    gpu.free = FreeShares(free(&gpu.domains, &report.system, &bounds));
    gpu.set_largest();
    gpu.others = others(&gpu.domains, gpu.own.as_ref());
    gpu.unreadable.clone_from(&scan.unreadable);
    if options.processes {
        let processes = scan.by_pci.remove(&node.pci).unwrap_or_default();
        gpu.domains.vram.evicted = sums::evicted(&processes);
        gpu.unattributed = Some(sums::unattributed(&gpu.domains, &processes));
        gpu.processes = Some(processes);
    } else {
        gpu.missing.push(missing("processes", "not asked for"));
    }
    let terms =
        Terms { files, node: &node.name, system: &report.system, settings: report.settings, cgroup: &report.cgroup };
    gpu.limits = limits::of(&gpu, &terms);
    gpu
}

/// Returns `true` if opening the GPU would wake it, or stop it from falling asleep.
fn is_asleep(power: Option<&str>) -> bool {
    matches!(power, Some("suspended" | "suspending"))
}

fn others(domains: &Domains, own: Option<&OwnUsage>) -> Pair {
    let own = own.copied().unwrap_or_default();
    let vram = own.visible_vram.saturating_add(own.invisible_vram);
    let less = |used: Option<u64>, own: u64| used.map(|used| used.saturating_sub(own));
    Pair { vram: less(domains.vram.used, vram), gtt: less(domains.gtt.used, own.gtt) }
}

fn missing(source: &str, reason: &str) -> Missing {
    Missing { source: source.to_owned(), reason: reason.to_owned(), is_replaced: false }
}

/// Reads a GPU's facts from sysfs. Reading these files does not wake the GPU: they show what the driver keeps in memory
/// (Linux 6.12 `amdgpu_vram_mgr.c`, `amdgpu_mem_info_vram_total_show` and its neighbours).
fn from_sysfs(files: &dyn Files, index: usize, node: &Node) -> Gpu {
    let directory = format!("sys/class/drm/{}/device", node.name);
    let mut gpu = Gpu { index, pci: node.pci.clone(), render: format!("/dev/dri/{}", node.name), ..Gpu::default() };
    let mut missed = Vec::new();
    let mut text = |name: &str| match files.read(&format!("{directory}/{name}")) {
        Ok(text) => Some(text.trim().to_owned()),
        Err(error) => {
            missed.push(missing(name, &files::reason(&error)));
            None
        }
    };
    gpu.power = text("power/runtime_status");
    let mut nonsense = Vec::new();
    let mut bytes = |name: &str| {
        let text = text(name)?;
        let bytes = text.parse().ok().filter(|&bytes: &u64| bytes <= 1 << 56);
        if bytes.is_none() {
            let shown: String = text.chars().take(24).collect();
            nonsense.push(missing(name, &format!("'{}' is no size", shown.escape_default())));
        }
        bytes
    };
    let domains = &mut gpu.domains;
    for (domain, total, used) in [
        (&mut domains.vram, "mem_info_vram_total", "mem_info_vram_used"),
        (&mut domains.visible_vram, "mem_info_vis_vram_total", "mem_info_vis_vram_used"),
        (&mut domains.gtt, "mem_info_gtt_total", "mem_info_gtt_used"),
    ] {
        (domain.total, domain.used) = (bytes(total), bytes(used));
    }
    gpu.missing = missed;
    gpu.missing.append(&mut nonsense);
    gpu.device_id = device_id(files, &directory);
    gpu.apu = kind(gpu.device_id, &gpu.domains);
    gpu
}

/// The PCI device ID of a GPU of AMD, which sysfs knows also of one that is asleep.
fn device_id(files: &dyn Files, directory: &str) -> Option<u32> {
    let uevent = files.read(&format!("{directory}/uevent")).ok()?;
    let id = uevent.lines().find_map(|line| line.strip_prefix("PCI_ID=1002:"))?;
    u32::from_str_radix(id.trim(), 16).ok()
}

/// Returns `Some(true)` for an APU, by its PCI device ID, until INFO tells; `None` if neither is known. A GPU whose ID is not known
/// is discrete if a part of its VRAM is not visible, because the carve-out of an APU is visible as a whole. The size of GTT tells
/// nothing: kernels and users choose it.
fn kind(device: Option<u32>, domains: &Domains) -> Option<bool> {
    let by_visibility = || {
        let (all, visible) = (domains.vram.total?, domains.visible_vram.total?);
        (visible < all).then_some(false)
    };
    device.and_then(is_apu).or_else(by_visibility)
}

/// Adds INFO's answers to the facts from sysfs.
fn ask(machine: &dyn Machine, node: &Node, gpu: &mut Gpu) {
    let opened = machine.open(&node.name, &node.pci).map_err(|error| files::reason(&error));
    let asked = opened.and_then(|mut session| Ok((session.facts()?, session.memory())));
    let (facts, memory) = match asked {
        Ok(asked) => asked,
        Err(reason) => {
            gpu.missing.push(missing("INFO", &reason));
            return;
        }
    };
    match memory {
        Ok(memory) => {
            let missed = &mut gpu.missing;
            gpu.domains = Domains {
                vram: domain(&memory.vram, missed, "vram"),
                visible_vram: domain(&memory.visible_vram, missed, "visible_vram"),
                gtt: domain(&memory.gtt, missed, "gtt"),
            };
        }
        Err(error) => gpu.missing.push(missing("INFO MEMORY", &files::reason(&error))),
    }
    gpu.apu = Some(facts.is_apu);
    gpu.page_size = Some(facts.page_size);
    match heaps(facts.is_apu, facts.page_size, &gpu.domains, &gpu.own.unwrap_or_default()) {
        Ok(heaps) => gpu.heaps = Some(heaps),
        Err(reason) => gpu.missing.push(missing("heaps", &reason)),
    }
}

/// A pool as INFO reports it. More than page tables reach is not believed, nor a usable size beyond the total, which kernels
/// report when their count of pinned bytes has gone below zero.
fn domain(pool: &PoolInfo, missed: &mut Vec<Missing>, name: &str) -> Domain {
    let believable = |field: &str, bytes: u64, missed: &mut Vec<Missing>| {
        if bytes > 1 << 56 {
            missed.push(missing(&format!("INFO MEMORY {name}.{field}"), &format!("{bytes} bytes cannot be")));
        }
        Some(bytes).filter(|&bytes| bytes <= 1 << 56)
    };
    let total = believable("total", pool.total, missed);
    let mut usable = believable("usable", pool.usable, missed);
    if let (Some(reported), Some(total)) = (usable, total)
        && reported > total
    {
        let source = format!("INFO MEMORY {name}.usable");
        let reason = format!("{reported} bytes are more than the total of {total}, which is taken instead");
        missed.push(Missing { is_replaced: true, ..missing(&source, &reason) });
        usable = Some(total);
    }
    Domain {
        total,
        usable,
        used: believable("used", pool.used, missed),
        max_allocation: believable("max_allocation", pool.max_allocation, missed),
        evicted: None,
    }
}

/// Lists figures that contradict each other. They are shown as they are, but not as if nothing were wrong.
fn contradictions(gpu: &mut Gpu) {
    let domains = gpu.domains.clone();
    for (name, domain) in [("vram", &domains.vram), ("visible_vram", &domains.visible_vram), ("gtt", &domains.gtt)] {
        if let (Some(used), Some(total)) = (domain.used, domain.total)
            && used > total
        {
            gpu.missing
                .push(missing(&format!("{name}.used"), &format!("{used} bytes are more than the total of {total}")));
        }
    }
    if let (Some(visible), Some(all)) = (domains.visible_vram.total, domains.vram.total)
        && visible > all
    {
        let reason = format!("{visible} bytes are more than all VRAM, which has {all}");
        gpu.missing.push(missing("visible_vram.total", &reason));
    }
    if let (Some(by_id), Some(told)) = (gpu.device_id.and_then(is_apu), gpu.apu)
        && by_id != told
    {
        let words = |apu: bool| if apu { "an APU" } else { "a card" };
        let reason = format!("INFO tells {}, the PCI device ID is that of {}", words(told), words(by_id));
        gpu.missing.push(missing("kind", &reason));
    }
}
