//! The reasons of limits.

use crate::{
    cgroup::{self, Cgroup},
    files::Files,
    gpu::Gpu,
    model::{Limit, State, System},
    uma,
};

/// The settings of the kernel modules that limit GTT.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ModuleSettings {
    /// `amdgpu.gttsize` in bytes; `None` if it is not set (-1), or unknown.
    pub gttsize: Option<u64>,
    /// `ttm.pages_limit` in pages.
    pub ttm_pages: Option<u64>,
}

impl ModuleSettings {
    /// Reads the settings of the loaded modules.
    pub fn read(files: &dyn Files) -> Self {
        let number = |path: &str| files.read(path).ok()?.trim().parse::<i64>().ok();
        let mib = number("sys/module/amdgpu/parameters/gttsize").and_then(|mib| u64::try_from(mib).ok());
        let pages = number("sys/module/ttm/parameters/pages_limit").and_then(|pages| u64::try_from(pages).ok());
        Self { gttsize: mib.and_then(|mib| mib.checked_mul(1 << 20)), ttm_pages: pages }
    }

    /// Returns TTM's limit in bytes, given the size of a page.
    pub fn ttm_bytes(&self, page_size: u64) -> Option<u64> {
        self.ttm_pages?.checked_mul(page_size)
    }
}

/// The facts from which the list of limits is made.
pub(crate) struct Terms<'t> {
    pub(crate) files: &'t dyn Files,
    pub(crate) node: &'t str,
    pub(crate) system: &'t System,
    pub(crate) settings: ModuleSettings,
    pub(crate) cgroup: &'t Cgroup,
}

/// Returns all limits of a GPU, those of its own memory first.
pub(crate) fn of(gpu: &Gpu, terms: &Terms<'_>) -> Vec<Limit> {
    let mut list = Vec::new();
    own_memory(gpu, terms, &mut list);
    system_memory(gpu, terms, &mut list);
    cgroups(gpu, terms, &mut list);
    list
}

fn own_memory(gpu: &Gpu, terms: &Terms<'_>, list: &mut Vec<Limit>) {
    let (vram, visible) = (&gpu.domains.vram, &gpu.domains.visible_vram);
    let asked = vram.usable.is_some();
    let source = if asked { "INFO MEMORY, usable" } else { "sysfs mem_info_vram_total" };
    let is_counted = |bytes: Option<u64>| if bytes.is_some() { State::Counts } else { State::Unknown };
    let bytes = vram.usable.or(vram.total);
    let (name, why) = match gpu.apu {
        Some(true) => (
            "carve_out",
            "the firmware sets it aside from system memory before Linux starts: the UMA frame buffer size of its setup, or \
             uma/carveout; what the driver has pinned is left out",
        ),
        _ => ("vram", "the memory on the card, less what the driver has pinned or reserved; nothing changes it"),
    };
    list.push(Limit { name, bytes, state: is_counted(bytes), source: source.to_owned(), why: why.to_owned() });
    if let Some(options) = uma::carve_outs(terms.files, terms.node)
        && let Some(next) = options.next()
        && vram.total.is_some_and(|now| now.abs_diff(next.bytes) > 64 << 20)
    {
        list.push(Limit {
            name: "carve_out_next_boot",
            bytes: Some(next.bytes),
            state: State::Apart,
            source: "sysfs uma/carveout".to_owned(),
            why: format!("option {} was chosen, which takes effect at the next boot", next.index),
        });
    }
    if gpu.apu == Some(false) {
        let is_small = visible.total.zip(vram.total).is_some_and(|(visible, all)| visible < all);
        list.push(Limit {
            name: "visible_vram",
            bytes: visible.total,
            state: if visible.total.is_some() { State::Apart } else { State::Unknown },
            source: if asked { "INFO MEMORY" } else { "sysfs mem_info_vis_vram_total" }.to_owned(),
            why: if is_small {
                "the CPU maps only this part: resizable BAR is off in the firmware setup, or the board lacks it"
            } else {
                "the CPU maps all of VRAM"
            }
            .to_owned(),
        });
    }
}

fn system_memory(gpu: &Gpu, terms: &Terms<'_>, list: &mut Vec<Limit>) {
    let gtt = gpu.domains.gtt.usable.or(gpu.domains.gtt.total);
    let settings = &terms.settings;
    let ttm = terms.system.ttm_limit;
    let bounds = [gtt, ttm, terms.system.mem_total];
    let least = bounds.into_iter().flatten().min();
    let state = |bytes: Option<u64>| match (bytes, gpu.apu) {
        (None, _) => State::Unknown,
        (_, Some(false)) => State::Apart,
        (bytes, _) if bytes == least => State::Counts,
        _ => State::Slack,
    };
    let why = match (settings.gttsize, ttm) {
        (Some(set), Some(ttm)) if set > ttm => {
            "amdgpu.gttsize was set, which is deprecated, to more than ttm.pages_limit: pages beyond that limit are swapped \
             out, not given"
        }
        (Some(set), _) if gtt.is_some_and(|gtt| gtt < set) => {
            "amdgpu.gttsize was set, which is deprecated, to more than the machine's memory: the driver cut it, and only logs that"
        }
        (Some(_), _) => "amdgpu.gttsize was set, which is deprecated: ttm.pages_limit does the same",
        (None, Some(_)) => "amdgpu took it from ttm.pages_limit when it was loaded",
        (None, None) => {
            "amdgpu took it from ttm.pages_limit when it was loaded: half of the machine's memory if that was not set"
        }
    };
    let source = if gpu.domains.gtt.usable.is_some() { "INFO MEMORY, usable" } else { "sysfs mem_info_gtt_total" };
    list.push(Limit { name: "gtt", bytes: gtt, state: state(gtt), source: source.to_owned(), why: why.to_owned() });
    list.push(Limit {
        name: "ttm_pages_limit",
        bytes: ttm,
        state: state(ttm),
        source: "/sys/module/ttm/parameters/pages_limit".to_owned(),
        why: "the system memory that all GPUs together may hold; half of the machine's memory if ttm.pages_limit was not set"
            .to_owned(),
    });
    if let Some(set) = settings.gttsize {
        list.push(Limit {
            name: "gttsize",
            bytes: Some(set),
            state: State::Apart,
            source: "/sys/module/amdgpu/parameters/gttsize".to_owned(),
            why: "the setting; what came of it is the limit gtt".to_owned(),
        });
    }
    let total = terms.system.mem_total;
    list.push(Limit {
        name: "mem_total",
        bytes: total,
        state: state(total),
        source: "/proc/meminfo, MemTotal".to_owned(),
        why: "the machine's memory without the carve-out and what the kernel took at the start".to_owned(),
    });
    let (available, free) = (terms.system.mem_available, gpu.domains.gtt.free());
    list.push(Limit {
        name: "mem_available",
        bytes: available,
        state: match (available, free, gpu.apu) {
            (None, ..) => State::Unknown,
            (_, _, Some(false)) => State::Apart,
            (Some(available), Some(free), _) if available < free => State::Counts,
            _ => State::Slack,
        },
        source: "/proc/meminfo, MemAvailable".to_owned(),
        why: "what programs and caches leave of the machine's memory now; in a container it is the host's".to_owned(),
    });
}

fn cgroups(gpu: &Gpu, terms: &Terms<'_>, list: &mut Vec<Limit>) {
    let path = match terms.cgroup {
        Cgroup::V2(path) => path,
        Cgroup::V1 => {
            let why = "only cgroup v1 is mounted, in which limits on GPU memory are not looked for";
            list.push(unknown_cgroup(why.to_owned()));
            return;
        }
        Cgroup::Unknown(reason) => {
            list.push(unknown_cgroup(reason.clone()));
            return;
        }
    };
    let dmem = gpu.cgroup_limit.as_ref();
    let left = dmem.and_then(|limit| limit.left);
    list.push(Limit {
        name: "cgroup_dmem",
        bytes: left,
        state: match left {
            None => State::Unknown,
            Some(left) if gpu.domains.vram.free().is_some_and(|free| left < free) => State::Counts,
            Some(_) => State::Slack,
        },
        source: format!("dmem.max and dmem.current of {path} and the cgroups above it"),
        why: match (dmem, dmem.and_then(|limit| limit.limited_at.as_deref())) {
            (Some(_), Some(at)) => format!("what dmem.max of {at} leaves; it covers the GPU's own memory, never GTT"),
            (Some(_), None) => "no dmem.max is set".to_owned(),
            (None, _) => {
                "the kernel has no dmem controller for this GPU (Linux 6.14 with CONFIG_CGROUP_DMEM), or it is not \
                          enabled for this cgroup"
                    .to_owned()
            }
        },
    });
    if let Some((max, at)) = cgroup::memory_max(terms.files, path) {
        list.push(Limit {
            name: "cgroup_memory",
            bytes: Some(max),
            state: State::Apart,
            source: format!("memory.max of {at}"),
            why: "it covers what the process itself has in memory, such as a model's file; GTT is charged to no cgroup"
                .to_owned(),
        });
    }
}

fn unknown_cgroup(why: String) -> Limit {
    Limit { name: "cgroup_dmem", bytes: None, state: State::Unknown, source: "/proc/self/cgroup".to_owned(), why }
}
