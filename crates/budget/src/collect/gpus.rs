//! The facts of a GPU in a snapshot beside the figures of memory: names, sensors, and INFO's answers about the chip.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    io,
};

use amdgpu_pool::{Facts, MemoryInfo, PoolInfo, Session};
use amdgpu_winsys::{
    uapi::HeapInfo,
    winsys::{GpuInfo, Kernel},
};
use libdrm_amdgpu_sys::AMDGPU;

use crate::{
    collect::{
        info::{self, Answers},
        throttle,
    },
    files::{self, Files},
    machine::Machine,
    snapshot::{
        model::{CgroupLimit, Gpu, Missing, Sensors},
        vulkan::memory_types,
    },
};

/// A machine as `amdgpu-pool` looks at it. INFO's answers are kept, because a snapshot has more of them than memory.
pub(super) struct Asked<'m> {
    machine: &'m dyn Machine,
    /// Facts from earlier rounds, by PCI address; not used where sessions are played back.
    known: &'m BTreeMap<String, GpuInfo>,
    /// Answers of this round, by PCI address.
    pub(super) answers: RefCell<BTreeMap<String, Answers>>,
}

impl<'m> Asked<'m> {
    pub(super) fn new(machine: &'m dyn Machine, known: &'m BTreeMap<String, GpuInfo>) -> Self {
        Self { machine, known, answers: RefCell::default() }
    }
}

impl amdgpu_pool::Machine for Asked<'_> {
    fn files(&self) -> &dyn Files {
        self.machine.files()
    }

    fn open(&self, node: &str, pci: &str) -> io::Result<Box<dyn Session + '_>> {
        let kernel = self.machine.open(node, pci)?;
        let known = self.known.get(pci).filter(|_| !self.machine.is_played_back()).cloned();
        Ok(Box::new(Question { asked: self, pci: pci.to_owned(), kernel, known }))
    }
}

/// An open GPU.
struct Question<'m> {
    asked: &'m Asked<'m>,
    pci: String,
    kernel: Box<dyn Kernel>,
    known: Option<GpuInfo>,
}

impl Session for Question<'_> {
    /// Makes all queries at once, always in the same order.
    fn facts(&mut self) -> Result<Facts, String> {
        let answers = info::ask(&*self.kernel, self.known.take())?;
        let facts = Facts { is_apu: !answers.gpu.has_dedicated_vram, page_size: answers.gpu.memory.gart_page };
        self.asked.answers.borrow_mut().insert(self.pci.clone(), answers);
        Ok(facts)
    }

    fn memory(&mut self) -> io::Result<MemoryInfo> {
        let answers = self.asked.answers.borrow();
        let memory = answers.get(&self.pci).map(|answers| answers.memory.as_ref().map_err(|errno| errno.desc()));
        match memory {
            Some(Ok(memory)) => Ok(MemoryInfo {
                vram: pool(&memory.vram),
                visible_vram: pool(&memory.cpu_accessible_vram),
                gtt: pool(&memory.gtt),
            }),
            Some(Err(error)) => Err(io::Error::other(error)),
            None => Err(io::Error::other("the facts were not asked for")),
        }
    }
}

fn pool(heap: &HeapInfo) -> PoolInfo {
    PoolInfo {
        total: heap.total_heap_size,
        usable: heap.usable_heap_size,
        used: heap.heap_usage,
        max_allocation: heap.max_allocation,
    }
}

/// Returns the GPU of a snapshot: its memory, and what sysfs and INFO say beside.
pub(super) fn described(files: &dyn Files, found: amdgpu_pool::Gpu, answers: Option<Answers>) -> Gpu {
    let directory = format!("sys/class/drm/{}/device", found.render.trim_start_matches("/dev/dri/"));
    let mut gpu = Gpu {
        index: found.index,
        pci: found.pci,
        render: Some(found.render),
        apu: found.apu,
        power: found.power,
        domains: found.domains,
        effective: found.effective,
        cgroup_limit: found.cgroup_limit,
        limits: found.limits.into_iter().map(Into::into).collect(),
        largest: found.largest,
        heaps: found.heaps,
        processes: found.processes,
        unattributed: found.unattributed,
        unreadable: found.unreadable,
        missing: found.missing,
        ..Gpu::default()
    };
    match files.read(&format!("{directory}/mem_info_vram_vendor")) {
        Ok(vendor) => gpu.vram_vendor = Some(vendor.trim().to_owned()).filter(|vendor| vendor != "unknown"),
        Err(error) => gpu.missing.push(missing("mem_info_vram_vendor", &files::reason(&error))),
    }
    gpu.name = found.device_id.and_then(|device| marketing_name(files, &directory, device));
    gpu.groups = groups(files, &gpu);
    // Older kernels wake the GPU for these.
    if gpu.power.as_deref() == Some("active") {
        gpu.sensors = sensors(files, &directory);
        gpu.throttled = throttle::reasons(files, &directory);
    }
    if let Some(answers) = answers {
        gpu.counters = answers.counters;
        describe(&answers.gpu, &mut gpu);
        match memory_types(&answers.gpu) {
            Ok(types) => gpu.memory_types = Some(types),
            Err(error) => gpu.missing.push(missing("memory types", &error.to_string())),
        }
    }
    gpu
}

/// The groups of the processes that hold memory, with what the `dmem` controller says of each.
fn groups(files: &dyn Files, gpu: &Gpu) -> Vec<CgroupLimit> {
    if files.read("sys/fs/cgroup/dmem.capacity").is_err() {
        return Vec::new();
    }
    let names: BTreeSet<&str> =
        gpu.processes.iter().flatten().filter_map(|process| process.cgroup.as_deref()).collect();
    // A group outside of this namespace has a path with dots, which would lead out of the folder.
    let is_inside = |path: &&str| path.starts_with('/') && path.split('/').all(|part| part != "..");
    names.into_iter().filter(is_inside).filter_map(|path| amdgpu_pool::dmem(files, path, &gpu.pci)).collect()
}

fn missing(source: &str, reason: &str) -> Missing {
    Missing { source: source.to_owned(), reason: reason.to_owned(), is_replaced: false }
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

fn describe(info: &GpuInfo, gpu: &mut Gpu) {
    gpu.name = Some(info.marketing_name.clone());
    gpu.chip = Some(info.chip_name().to_lowercase());
    gpu.driver = Some(format!("{}.{}.{}", info.driver.major, info.driver.minor, info.driver.patch));
}
