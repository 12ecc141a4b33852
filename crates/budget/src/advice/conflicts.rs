//! Settings that contradict each other or the machine. The kernel only logs them, or not even that.
//!
//! Source: Linux 7.2 `amdgpu_ttm.c`, `amdgpu_ttm_init`; `ttm_tt.c`.

use amdgpu_pool::ModuleSettings;

use super::{
    distribution,
    words::{Case, Conflict, size},
};

/// Returns the conflicts of the present settings.
pub(super) fn of(case: &Case<'_>) -> Vec<Conflict> {
    let mut found = Vec::new();
    let mut add = |code, text: String| found.push(Conflict { code, text });
    let settings = ModuleSettings::read(case.files);
    let (ttm, memory) = (case.system.ttm_limit, case.system.mem_total);
    if let Some(set) = settings.gttsize {
        add(
            "gttsize-deprecated",
            format!("amdgpu.gttsize={} is set: it is deprecated, and ttm.pages_limit does the same", set >> 20),
        );
        if let Some(ttm) = ttm.filter(|&ttm| ttm != set) {
            let effect = if set > ttm {
                "what GTT has beyond the limit is swapped out instead of given"
            } else {
                "GTT stays the smaller"
            };
            add(
                "gttsize-differs",
                format!(
                    "amdgpu.gttsize is {}, ttm.pages_limit {}: {effect}; the kernel only logs it",
                    size(set),
                    size(ttm)
                ),
            );
        }
        if let Some(memory) = memory.filter(|&memory| set > memory && case.gpu.apu == Some(true)) {
            add(
                "gttsize-cut",
                format!(
                    "amdgpu.gttsize is {}, but the machine has {}: the driver cuts it and only logs it",
                    size(set),
                    size(memory)
                ),
            );
        }
    }
    let places = distribution::settings(case.files, "ttm", "pages_limit");
    if places.iter().any(|place| Some(&place.value) != places.first().map(|first| &first.value)) {
        let list: Vec<_> = places.iter().map(|place| format!("{} in {}", place.value, place.file)).collect();
        add(
            "pages-limit-twice",
            format!("ttm.pages_limit is set to {}; the kernel's command line wins", list.join(", ")),
        );
    }
    let other = distribution::settings(case.files, "amdttm", "pages_limit");
    if let Some(place) = other.first().filter(|_| case.files.list("sys/module/amdttm").is_err()) {
        add(
            "amdttm-without-module",
            format!(
                "amdttm.pages_limit in {} is for AMD's own kernel module, which is not loaded: nothing reads it",
                place.file
            ),
        );
    }
    let limit = case.files.read("sys/module/amdgpu/parameters/vramlimit").unwrap_or_default();
    if let Some(mib) = limit.trim().parse::<u64>().ok().filter(|&mib| mib > 0) {
        add("vramlimit", format!("amdgpu.vramlimit={mib} hides VRAM beyond {mib} MiB"));
    }
    found
}
