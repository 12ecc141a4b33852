//! Room for so many bytes on a GPU.

use amdgpu_pool::{
    ModuleSettings,
    uma::{CarveOuts, carve_outs},
};

use super::{
    conflicts, distribution,
    words::{Case, Choice, Conflict, Finding, Step, Verdict, size},
};

/// The part of the machine's memory that Linux and its programs should keep.
const RESERVE: u64 = 4 << 30;
/// Bytes of a page for which `ttm.pages_limit` counts; amdgpu runs on machines with larger ones, which have no APU.
const PAGE: u64 = 4096;

/// Returns the advice for a wish of so many bytes.
pub(super) fn advise(case: &Case<'_>, bytes: u64) -> Finding {
    let mut finding = match (case.gpu.apu, case.gpu.effective.total) {
        (None, _) => {
            Finding::without_choice(Verdict::Unknown, "it is unknown whether the GPU is an APU; --wake may tell")
        }
        (_, None) => {
            Finding::without_choice(Verdict::Unknown, "the pool of the GPU is unknown; doctor says what is lacking")
        }
        (_, Some(total)) if total >= bytes => {
            let left = case.gpu.effective.available.map_or("unknown".to_owned(), size);
            let reason = format!("programs can have {} already, of which {left} are left now", size(total));
            Finding::without_choice(Verdict::Met, reason)
        }
        (Some(false), Some(total)) => {
            let reason = format!(
                "a card has the VRAM that is on it: {}; the other {} would lie in system memory, which it reaches over PCIe",
                size(total),
                size(bytes - total)
            );
            Finding::without_choice(Verdict::Impossible, reason)
        }
        (Some(true), Some(total)) => apu(case, bytes, total),
    };
    finding.conflicts.extend(conflicts::of(case));
    if let amdgpu_pool::Cgroup::V2(path) = amdgpu_pool::cgroup(case.files)
        && let Some((max, at)) = amdgpu_pool::memory_max(case.files, &path)
        && max < bytes
    {
        finding.conflicts.push(Conflict {
            code: "cgroup-memory",
            text: format!(
                "memory.max of {at} is {}: GTT is not charged to it, but the pages of a model's file are, so a loader may be \
                 slowed down or killed",
                size(max)
            ),
        });
    }
    finding
}

/// The sizes of memory that an APU can be given.
fn apu(case: &Case<'_>, bytes: u64, total: u64) -> Finding {
    let (Some(memory), Some(carve_out)) = (case.system.mem_total, case.gpu.domains.vram.total) else {
        return Finding::without_choice(Verdict::Unknown, "the machine's memory or the carve-out is unknown");
    };
    let node = case.gpu.render.as_deref().unwrap_or_default().trim_start_matches("/dev/dri/");
    let options = carve_outs(case.files, node);
    let smallest = options.as_ref().and_then(|options| options.smallest()).map(|option| option.bytes);
    let all = memory.saturating_add(carve_out);
    let most = all.saturating_sub(RESERVE).saturating_sub(smallest.unwrap_or(0).min(carve_out));
    let mut choices = Vec::new();
    let fits_beside = bytes.saturating_add(RESERVE) <= memory;
    if fits_beside {
        choices.push(gtt(case, bytes, None));
    } else if bytes <= most {
        choices.push(gtt(case, bytes, Some(shrink(options.as_ref(), node, carve_out))));
    }
    let rest = bytes.saturating_sub(carve_out);
    if !fits_beside && rest.saturating_add(RESERVE) <= memory {
        let mut both = gtt(case, rest, None);
        both.title = format!("Leave the carve-out of {}, and let GTT have the other {}", size(carve_out), size(rest));
        both.loses = format!("{} One allocation has no more than the larger of both.", both.loses);
        choices.push(both);
    }
    if let Some(options) = &options
        && let Some(choice) = carve(options, node, bytes, carve_out, all)
    {
        choices.push(choice);
    }
    let now = format!("programs can have {} now", size(total));
    if choices.is_empty() {
        let reason =
            format!("{now}; of the {} that the machine has, no more than {} can be given", size(all), size(most));
        return Finding::without_choice(Verdict::Impossible, reason);
    }
    let mut found = Vec::new();
    if let Some(next) = options.as_ref().and_then(|options| options.next())
        && next.bytes.abs_diff(carve_out) > 64 << 20
    {
        let text = format!("option {} of {} is chosen for the next boot already", next.index, size(next.bytes));
        found.push(Conflict { code: "carve-out-pending", text });
    }
    Finding {
        verdict: Verdict::Possible,
        reason: format!("{now}; the machine has {}", size(all)),
        choices,
        conflicts: found,
    }
}

/// Lets GTT have so many bytes, perhaps after another step.
fn gtt(case: &Case<'_>, bytes: u64, first: Option<(Step, Step)>) -> Choice {
    let pages = bytes.div_ceil(PAGE).to_string();
    let (mut steps, mut undo) = (Vec::new(), Vec::new());
    let is_first = first.is_some();
    if let Some((step, back)) = first {
        steps.push(step);
        undo.push(back);
    }
    for place in distribution::settings(case.files, "amdgpu", "gttsize") {
        let (remove, back) = distribution::remove(case.files, "amdgpu", "gttsize", &place);
        steps.extend(remove);
        undo.extend(back);
    }
    for place in distribution::settings(case.files, "ttm", "pages_limit") {
        if place.value != pages {
            let (remove, back) = distribution::remove(case.files, "ttm", "pages_limit", &place);
            steps.extend(remove);
            undo.extend(back);
        }
    }
    let (set, back) = distribution::set(case.files, "ttm", "pages_limit", &pages);
    steps.extend(set);
    // What was there before comes back last.
    undo.splice(0..0, back);
    // GTT is made when the driver is loaded; where amdgpu.gttsize made it large enough, the limit alone is in the way.
    let is_large = ModuleSettings::read(case.files).gttsize.is_some()
        && case.gpu.domains.gtt.total.is_some_and(|gtt| gtt >= bytes);
    if is_large {
        let at_once = format!("echo {pages} | sudo tee /sys/module/ttm/parameters/pages_limit");
        steps.insert(0, Step::new("At once, until the next boot: GTT is large enough, TTM's limit is not", [at_once]));
    }
    Choice {
        title: if is_first {
            format!("Make the carve-out small, and let GTT have {}", size(bytes))
        } else {
            format!("Let GTT have {}", size(bytes))
        },
        steps,
        reboot: true,
        loses: "Nothing while it is not used: GTT is ordinary memory that programs get when they ask for it. While it is used, \
                others lack it, and Linux cannot swap it out as it likes."
            .to_owned(),
        undo,
    }
}

/// The step to the smallest carve-out, and back.
fn shrink(options: Option<&CarveOuts>, node: &str, carve_out: u64) -> (Step, Step) {
    let file = format!("/sys/class/drm/{node}/device/uma/carveout");
    match options.and_then(|options| options.smallest().zip(Some(options))) {
        Some((smallest, options)) => {
            let write = |index: u32| format!("echo {index} | sudo tee {file}");
            let back = match options.chosen {
                Some(chosen) => Step::new("Choose the carve-out of before", [write(chosen)]),
                None => Step::new(format!("Choose the carve-out of before, {}", size(carve_out)), []),
            };
            (Step::new(format!("Choose the carve-out of {}", size(smallest.bytes)), [write(smallest.index)]), back)
        }
        None => (
            Step::new("In the firmware setup, set the UMA frame buffer size to its smallest value", []),
            Step::new(format!("In the firmware setup, set the UMA frame buffer size to {} again", size(carve_out)), []),
        ),
    }
}

/// Sets memory aside at boot.
fn carve(options: &CarveOuts, node: &str, bytes: u64, carve_out: u64, all: u64) -> Option<Choice> {
    let option = options.at_least(bytes).filter(|option| option.bytes.saturating_add(RESERVE) <= all)?;
    let file = format!("/sys/class/drm/{node}/device/uma/carveout");
    let write = |index: u32| format!("echo {index} | sudo tee {file}");
    let undo = options.chosen.map(|chosen| Step::new("Choose the carve-out of before", [write(chosen)]));
    let more = option.bytes.saturating_sub(carve_out);
    Some(Choice {
        title: format!("Carve out {}", size(option.bytes)),
        steps: vec![Step::new(format!("Choose option {}", option.index), [write(option.index)])],
        reboot: true,
        loses: format!(
            "{} of system memory, always: what is carved out is no memory of Linux, also when the GPU does not use it. {} are left.",
            size(more),
            size(all.saturating_sub(option.bytes))
        ),
        undo: undo.into_iter().collect(),
    })
}
