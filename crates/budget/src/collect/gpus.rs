//! Facts about GPUs from sysfs and INFO.

use std::{collections::BTreeMap, io};

use amdgpu_hw::is_apu;
use amdgpu_winsys::{heaps::OwnUsage, uapi::HeapInfo, winsys::GpuInfo};
use libdrm_amdgpu_sys::AMDGPU;

use crate::{
    collect::info,
    files::{self, Files},
    machine::Machine,
    snapshot::{
        model::{CgroupLimit, Domain, Domains, Gpu, Missing, Sensors},
        vulkan::Tables,
    },
};

/// A render node of an amdgpu GPU, known from sysfs alone: nothing is opened, so a sleeping GPU sleeps on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Node {
    /// Such as `renderD128`.
    pub(super) name: String,
    /// Such as `0000:03:00.0`.
    pub(super) pci: String,
}

/// All of them, by PCI address.
pub(super) fn enumerate(files: &dyn Files) -> io::Result<Vec<Node>> {
    let mut nodes = Vec::new();
    for name in files.list("sys/class/drm")? {
        let is_render = name.strip_prefix("renderD").is_some_and(|minor| minor.parse::<u32>().is_ok());
        if !is_render {
            continue;
        }
        let Ok(uevent) = files.read(&format!("sys/class/drm/{name}/device/uevent")) else { continue };
        let value = |key: &str| uevent.lines().find_map(|line| line.strip_prefix(key)).map(str::trim);
        if let (Some("amdgpu"), Some(pci)) = (value("DRIVER="), value("PCI_SLOT_NAME=")) {
            nodes.push(Node { name, pci: pci.to_owned() });
        }
    }
    nodes.sort_by(|a, b| (&a.pci, &a.name).cmp(&(&b.pci, &b.name)));
    nodes.dedup_by(|a, b| a.pci == b.pci);
    Ok(nodes)
}

pub(super) fn missing(source: &str, reason: &str) -> Missing {
    Missing { source: source.to_owned(), reason: reason.to_owned() }
}

/// Reads a GPU's facts from sysfs. Reading these files does not wake the GPU: they show what the driver keeps in memory
/// (Linux 6.12 `amdgpu_vram_mgr.c`, `amdgpu_mem_info_vram_total_show` and its neighbours).
pub(super) fn from_sysfs(files: &dyn Files, index: usize, node: &Node) -> Gpu {
    let directory = format!("sys/class/drm/{}/device", node.name);
    let mut gpu =
        Gpu { index, pci: node.pci.clone(), render: Some(format!("/dev/dri/{}", node.name)), ..Gpu::default() };
    let mut missed = Vec::new();
    let mut text = |name: &str| match files.read(&format!("{directory}/{name}")) {
        Ok(text) => Some(text.trim().to_owned()),
        Err(error) => {
            missed.push(missing(name, &files::reason(&error)));
            None
        }
    };
    gpu.power = text("power/runtime_status");
    gpu.vram_vendor = text("mem_info_vram_vendor").filter(|vendor| vendor != "unknown");
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
    let device = device_id(files, &directory);
    gpu.name = device.and_then(|device| marketing_name(files, &directory, device));
    gpu.apu = kind(device, &gpu.domains);
    // Older kernels wake the GPU for these.
    if gpu.power.as_deref() == Some("active") {
        gpu.sensors = sensors(files, &directory);
    }
    gpu
}

/// The PCI device ID of a GPU of AMD, which sysfs knows also of one that is asleep.
fn device_id(files: &dyn Files, directory: &str) -> Option<u32> {
    let uevent = files.read(&format!("{directory}/uevent")).ok()?;
    let id = uevent.lines().find_map(|line| line.strip_prefix("PCI_ID=1002:"))?;
    u32::from_str_radix(id.trim(), 16).ok()
}

/// Returns `Some(true)` for an APU, by its PCI device ID, until INFO tells; `None` if neither is known. A GPU whose ID is not known is discrete if a part of its VRAM
/// is not visible, because the carve-out of an APU is visible as a whole. The size of GTT tells nothing: kernels and users choose it.
fn kind(device: Option<u32>, domains: &Domains) -> Option<bool> {
    let by_visibility = || {
        let (all, visible) = (domains.vram.total?, domains.visible_vram.total?);
        (visible < all).then_some(false)
    };
    device.and_then(is_apu).or_else(by_visibility)
}

/// The name of a GPU by its PCI device and revision.
fn marketing_name(files: &dyn Files, directory: &str, device: u32) -> Option<String> {
    let revision = files.read(&format!("{directory}/revision")).ok()?;
    let revision = u32::from_str_radix(revision.trim().trim_start_matches("0x"), 16).ok()?;
    AMDGPU::find_device_name(device, revision)
}

/// Load, clocks, temperature and power. A file that is not there is no fault: each kind of GPU has others.
///
/// Source: Linux 6.12 `Documentation/gpu/amdgpu/thermal.rst`, "HWMON Interfaces"; `amdgpu_pm.c`.
fn sensors(files: &dyn Files, directory: &str) -> Sensors {
    let number = |name: &str| files.read(&format!("{directory}/{name}")).ok()?.trim().parse::<u64>().ok();
    let mut monitors = files.list(&format!("{directory}/hwmon")).unwrap_or_default();
    monitors.sort_unstable();
    let monitored = |name: &str| number(&format!("hwmon/{}/{name}", monitors.first()?));
    Sensors {
        busy_percent: number("gpu_busy_percent"),
        memory_busy_percent: number("mem_busy_percent"),
        shader_clock_hz: monitored("freq1_input"),
        memory_clock_hz: monitored("freq2_input"),
        temperature_mc: monitored("temp1_input"),
        power_uw: monitored("power1_average").or_else(|| monitored("power1_input")),
    }
}

/// Adds INFO's answers to the facts from sysfs.
pub(super) fn ask(machine: &dyn Machine, node: &Node, known: &mut BTreeMap<String, GpuInfo>, gpu: &mut Gpu) {
    let opened = machine.open(&node.name, &node.pci).map_err(|error| files::reason(&error));
    let earlier = known.get(&node.pci).filter(|_| !machine.is_played_back()).cloned();
    let answers = match opened.and_then(|kernel| info::ask(&*kernel, earlier)) {
        Ok(answers) => answers,
        Err(reason) => {
            gpu.missing.push(missing("INFO", &reason));
            return;
        }
    };
    match &answers.memory {
        Ok(memory) => {
            let domains = &mut gpu.domains;
            domains.vram = domain(&memory.vram, gpu.missing.as_mut(), "vram");
            domains.visible_vram = domain(&memory.cpu_accessible_vram, gpu.missing.as_mut(), "visible_vram");
            domains.gtt = domain(&memory.gtt, gpu.missing.as_mut(), "gtt");
        }
        Err(errno) => gpu.missing.push(missing("INFO MEMORY", errno.desc())),
    }
    gpu.counters = answers.counters;
    describe(&answers.gpu, gpu);
    match Tables::new(&answers.gpu) {
        Ok(tables) => {
            gpu.heaps = Some(tables.heaps(&OwnUsage::default(), &gpu.domains));
            gpu.memory_types = Some(tables.types());
        }
        Err(error) => gpu.missing.push(missing("heaps", &error.to_string())),
    }
    known.insert(node.pci.clone(), answers.gpu);
}

fn describe(info: &GpuInfo, gpu: &mut Gpu) {
    gpu.name = Some(info.marketing_name.clone());
    gpu.chip = Some(info.chip_name().to_lowercase());
    gpu.apu = Some(!info.has_dedicated_vram);
    gpu.driver = Some(format!("{}.{}.{}", info.driver.major, info.driver.minor, info.driver.patch));
}

/// A pool as INFO reports it. More than page tables reach is not believed, nor a usable size beyond the total, which kernels
/// report when their count of pinned bytes has gone below zero.
fn domain(heap: &HeapInfo, missed: &mut Vec<Missing>, name: &str) -> Domain {
    let believable = |field: &str, bytes: u64, missed: &mut Vec<Missing>| {
        if bytes > 1 << 56 {
            missed.push(missing(&format!("INFO MEMORY {name}.{field}"), &format!("{bytes} bytes cannot be")));
        }
        Some(bytes).filter(|&bytes| bytes <= 1 << 56)
    };
    let total = believable("total", heap.total_heap_size, missed);
    let mut usable = believable("usable", heap.usable_heap_size, missed);
    if let (Some(reported), Some(total)) = (usable, total)
        && reported > total
    {
        let source = format!("INFO MEMORY {name}.usable");
        let reason = format!("{reported} bytes are more than the total of {total}, which is taken instead");
        missed.push(missing(&source, &reason));
        usable = Some(total);
    }
    Domain {
        total,
        usable,
        used: believable("used", heap.heap_usage, missed),
        max_allocation: believable("max_allocation", heap.max_allocation, missed),
        evicted: None,
    }
}

/// The limits of this process's own cgroup on a GPU's memory.
///
/// Source: Linux 6.14 `Documentation/admin-guide/cgroup-v2.rst`, "DMEM"; the region of an amdgpu GPU is called
/// `drm/0000:03:00.0/vram0`.
pub(super) fn cgroup_limit(files: &dyn Files, pci: &str) -> Option<CgroupLimit> {
    let own = files.read("proc/self/cgroup").ok()?;
    let path = own.lines().find_map(|line| line.strip_prefix("0::"))?.trim();
    if path.split('/').any(|part| part == "..") {
        return None;
    }
    let region = format!("drm/{pci}/vram");
    let value = |file: &str| {
        let text = files.read(&format!("sys/fs/cgroup{path}/{file}")).ok()?;
        let line = text.lines().find(|line| line.starts_with(&region))?;
        line.split_whitespace().nth(1)?.parse().ok()
    };
    let limit = CgroupLimit {
        path: path.to_owned(),
        current: value("dmem.current"),
        low: value("dmem.low"),
        min: value("dmem.min"),
        max: value("dmem.max"),
    };
    (limit.current.is_some() || limit.max.is_some()).then_some(limit)
}
