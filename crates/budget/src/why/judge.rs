//! The conclusions.

use std::cmp::Reverse;

use super::{Cause, Finding, Group, Growth, Named, Pool, Protection, Remedy, Share, Since, Subject};
use crate::{
    past::{GpuPoint, ProcessPoint},
    snapshot::{
        model::{CgroupLimit, Domain, Gpu, Process, add},
        units::Units,
    },
};

/// Processes that a list names at most.
const MOST_NAMED: usize = 4;

/// Returns the answer for a subject. `past` is what was seen before, and `now_ns` the snapshot's time on the same clock.
pub fn judge(subject: Subject<'_>, past: Option<&Since>, now_ns: u64) -> Finding {
    let Subject { gpu, process } = subject;
    let (wanted, displaced, displaced_visible) = figures(subject);
    let limit = process.and_then(|process| group(gpu, process));
    let mut finding = Finding {
        gpu: gpu.index,
        pci: gpu.pci.clone(),
        gpu_name: gpu.name.clone(),
        apu: gpu.apu,
        process: process.map(named),
        cgroup: process.and_then(|process| process.cgroup.clone()),
        wanted,
        displaced,
        displaced_visible,
        owners: match process {
            Some(_) => Vec::new(),
            None => largest(gpu, |process| process.evicted.vram),
        },
        causes: Vec::new(),
        pools: pools(gpu, displaced, displaced_visible),
        holders: Vec::new(),
        since: None,
        protection: protection(gpu, limit),
        remedies: Vec::new(),
        throttled: gpu.throttled.clone(),
    };
    finding.causes = causes(gpu, &finding, limit);
    let is_displaced = displaced.is_some_and(|bytes| bytes > 0);
    if gpu.apu != Some(true) && is_displaced {
        let of = memory_in_question(&finding);
        finding.holders = largest(gpu, of.held);
        finding.since = past.and_then(|past| growth(gpu, past, displaced.unwrap_or(0), now_ns, of));
        finding.remedies = remedies(gpu, &finding, limit);
    }
    finding
}

fn named(process: &Process) -> Named {
    Named { pid: process.pid, name: process.name.clone() }
}

/// Wanted bytes, displaced bytes, and those of them that the CPU must reach.
fn figures(subject: Subject<'_>) -> (Option<u64>, Option<u64>, Option<u64>) {
    if let Some(process) = subject.process {
        return (process.requested.vram, process.evicted.vram, process.evicted.visible_vram);
    }
    let (mut wanted, mut visible) = (None, None);
    for process in subject.gpu.processes.iter().flatten() {
        add(&mut wanted, process.requested.vram);
        add(&mut visible, process.evicted.visible_vram);
    }
    (wanted, subject.gpu.domains.vram.evicted, visible)
}

/// The figures of the process's cgroup.
fn group<'g>(gpu: &'g Gpu, process: &Process) -> Option<&'g CgroupLimit> {
    gpu.groups.iter().find(|group| Some(group.path.as_str()) == process.cgroup.as_deref())
}

/// The processes with most bytes of a kind.
fn largest(gpu: &Gpu, of: fn(&Process) -> Option<u64>) -> Vec<Share> {
    let share = |process: &Process| Some(Share { process: named(process), bytes: of(process)? });
    let mut list: Vec<Share> = gpu.processes.iter().flatten().filter_map(share).collect();
    list.retain(|share| share.bytes > 0);
    list.sort_by_key(|share| (Reverse(share.bytes), share.process.pid));
    list.truncate(MOST_NAMED);
    list
}

fn pools(gpu: &Gpu, displaced: Option<u64>, visible: Option<u64>) -> Vec<Pool> {
    let domains = &gpu.domains;
    let pool = |name, domain: &Domain, needed: Option<u64>| Pool {
        name,
        used: domain.used,
        // An older kernel reports more visible VRAM as usable than there is.
        total: domain.usable.into_iter().chain(domain.total).min(),
        free: domain.free(),
        needed,
        full: domain.free().zip(needed).map(|(free, needed)| needed > free),
    };
    let mut list = vec![pool("vram", &domains.vram, displaced)];
    // Where all VRAM is visible, it is the same pool.
    let is_apart = domains.visible_vram.total.zip(domains.vram.total).is_some_and(|(visible, all)| visible < all);
    if is_apart && gpu.apu == Some(false) {
        let mut pool = pool("visible_vram", &domains.visible_vram, visible);
        pool.free = pool.total.zip(pool.used).map(|(total, used)| total.saturating_sub(used));
        pool.full = pool.free.zip(visible).map(|(free, needed)| needed > free);
        list.push(pool);
    }
    list.push(pool("gtt", &domains.gtt, None));
    list
}

fn causes(gpu: &Gpu, finding: &Finding, limit: Option<&CgroupLimit>) -> Vec<Cause> {
    let Some(displaced) = finding.displaced else { return vec![Cause::Unknown] };
    if displaced == 0 {
        return vec![Cause::InPlace];
    }
    if gpu.apu == Some(true) {
        return vec![Cause::Apu];
    }
    let full = |name: &str| finding.pools.iter().find(|pool| pool.name == name).and_then(|pool| pool.full);
    let mut list = Vec::new();
    if finding.displaced_visible.is_some_and(|bytes| bytes > 0) && full("visible_vram") == Some(true) {
        list.push(Cause::VisibleVramFull);
    }
    // Only the rest can lie anywhere in VRAM.
    let rest = displaced.saturating_sub(finding.displaced_visible.unwrap_or(0));
    let is_vram_full = gpu.domains.vram.free().map(|free| rest > free || rest > 0 && full("vram") == Some(true));
    if is_vram_full == Some(true) {
        list.push(Cause::VramFull);
    }
    let visible = finding.pools.iter().find(|pool| pool.name == "visible_vram").and_then(|pool| pool.free);
    if finding.displaced_visible.is_none() && visible.is_some_and(|free| free < displaced) {
        list.push(Cause::VisibleVramLikely);
    }
    if limit.and_then(|limit| limit.left).is_some_and(|left| left < displaced) {
        list.push(Cause::CgroupLimit);
    }
    if list.is_empty() {
        let is_known = gpu.domains.vram.free().is_some();
        list.push(if is_known { Cause::RoomAgain } else { Cause::Unknown });
    }
    list
}

/// The memory that matters: what a process has of it, and what it wanted of it now and in the past.
#[derive(Clone, Copy)]
struct Memory {
    held: fn(&Process) -> Option<u64>,
    now: fn(&Process) -> Option<u64>,
    then: fn(&ProcessPoint) -> Option<u64>,
}

/// Visible VRAM where that alone is full. Otherwise VRAM: growth that found no room there counts, too.
fn memory_in_question(finding: &Finding) -> Memory {
    if finding.is_about_visible_vram() {
        Memory {
            held: |process| process.visible_vram,
            now: |process| process.visible_vram,
            then: |process| process.visible_vram,
        }
    } else {
        Memory {
            held: |process| process.vram,
            now: |process| Some(process.vram?.saturating_add(process.evicted.vram.unwrap_or(0))),
            then: |process| Some(process.vram?.saturating_add(process.evicted.unwrap_or(0))),
        }
    }
}

fn growth(gpu: &Gpu, past: &Since, displaced: u64, now_ns: u64, of: Memory) -> Option<Growth> {
    let (point, before) = past.reference(displaced)?;
    let then = point.gpus.first()?;
    let mut grew = Vec::new();
    let mut shrank = 0_u64;
    for process in gpu.processes.iter().flatten() {
        // A number that was given to another program since begins at nothing.
        let was = of_then(then, process, of);
        let now = (of.now)(process).unwrap_or(0);
        if now > was {
            grew.push(Share { process: named(process), bytes: now - was });
        }
        shrank = shrank.saturating_add(was.saturating_sub(now));
    }
    let is_there =
        |old: &&ProcessPoint| gpu.processes.iter().flatten().any(|new| new.pid == old.pid && new.name == old.name);
    let gone = then.processes.iter().filter(|old| !is_there(old)).filter_map(of.then);
    shrank = gone.fold(shrank, u64::saturating_add);
    grew.sort_by_key(|share| (Reverse(share.bytes), share.process.pid));
    grew.truncate(MOST_NAMED);
    Some(Growth {
        time: point.time.clone(),
        seconds: now_ns.saturating_sub(point.monotonic_ns) / 1_000_000_000,
        was_in_place: *before == 0,
        displaced: *before,
        grew,
        shrank,
    })
}

fn of_then(then: &GpuPoint, process: &Process, of: Memory) -> u64 {
    let old = then.processes.iter().find(|old| old.pid == process.pid && old.name == process.name);
    old.and_then(of.then).unwrap_or(0)
}

fn protection(gpu: &Gpu, own: Option<&CgroupLimit>) -> Protection {
    let others = gpu.groups.iter().filter(|group| own.is_none_or(|own| own.path != group.path));
    let mut others: Vec<Group> = others
        .filter_map(|group| {
            Some(Group { path: group.path.clone(), bytes: group.protected.filter(|&bytes| bytes > 0)? })
        })
        .collect();
    others.sort_by_key(|group| Reverse(group.bytes));
    Protection {
        known: !gpu.groups.is_empty(),
        bytes: own.and_then(|own| own.protected),
        at: own.and_then(|own| own.protected_at.clone()),
        others,
    }
}

fn remedies(gpu: &Gpu, finding: &Finding, limit: Option<&CgroupLimit>) -> Vec<Remedy> {
    let size = |bytes| Units::Auto.text(bytes);
    let mut list = Vec::new();
    let mut add = |code, text: String, command| list.push(Remedy { code, text, command });
    for cause in &finding.causes {
        match cause {
            Cause::VisibleVramFull | Cause::VisibleVramLikely => {
                add(
                    "resizable-bar",
                    "turn on resizable BAR (and \"Above 4G Decoding\") in the firmware setup: then the CPU reaches all of VRAM"
                        .to_owned(),
                    None,
                );
                add(
                    "less-visible",
                    "let the program allocate what the CPU does not write in a memory type without HOST_VISIBLE"
                        .to_owned(),
                    None,
                );
            }
            Cause::VramFull => make_room(gpu, finding, &mut add),
            Cause::CgroupLimit => {
                let at = limit.and_then(|limit| limit.limited_at.as_deref()).unwrap_or("/");
                let left = limit.and_then(|limit| limit.left).unwrap_or(0);
                add(
                    "raise-dmem-max",
                    format!("raise dmem.max of {at}, which leaves {} for it", size(left)),
                    None,
                );
            }
            Cause::RoomAgain => add(
                "use-it",
                "nothing has to be freed: the kernel moves a buffer back when work that uses it is submitted, a part at a time; \
                 an idle program keeps its memory outside until then"
                    .to_owned(),
                None,
            ),
            Cause::Unknown | Cause::InPlace | Cause::Apu => {}
        }
    }
    list
}

/// Names the process whose end or reduction would make room, and the protection that would have prevented it.
fn make_room(gpu: &Gpu, finding: &Finding, add: &mut impl FnMut(&'static str, String, Option<String>)) {
    let size = |bytes| Units::Auto.text(bytes);
    let displaced = finding.displaced.unwrap_or(0);
    let missing = displaced.saturating_sub(gpu.domains.vram.free().unwrap_or(0));
    let is_other = |share: &&Share| finding.process.as_ref() != Some(&share.process);
    let own = |share: &Share| {
        let process = gpu.processes.iter().flatten().find(|process| process.pid == share.process.pid)?;
        process.own().vram
    };
    let name = |share: &Share| format!("{} ({})", share.process.name.as_deref().unwrap_or("-"), share.process.pid);
    // Who grew since is the likelier one to be asked; among the others, the largest.
    let grew = finding.since.iter().flat_map(|since| &since.grew);
    let candidates = grew.chain(&finding.holders).filter(is_other);
    if let Some(share) = candidates.clone().find(|share| own(share).is_some_and(|bytes| bytes >= missing)) {
        let held = own(share).unwrap_or(0);
        add(
            "free-other",
            format!("let {} free {} of its {} of VRAM, or end it", name(share), size(missing), size(held)),
            None,
        );
    } else if let Some(share) = candidates.clone().next() {
        let held = own(share).unwrap_or(0);
        add(
            "free-other",
            format!(
                "{} of VRAM are missing; {} holds {}, and no process alone enough",
                size(missing),
                name(share),
                size(held)
            ),
            None,
        );
    } else {
        add("free-own", format!("let it use {} less of VRAM: no other process holds any", size(missing)), None);
    }
    if let (Some(process), Some(wanted)) = (&finding.process, finding.wanted)
        && finding.protection.bytes.is_none_or(|bytes| bytes < wanted)
    {
        let text = if finding.protection.known {
            format!("protect {} of its cgroup, so that the kernel evicts others first", size(wanted))
        } else {
            format!("protect {} of its cgroup; this needs Linux 6.14 with CONFIG_CGROUP_DMEM", size(wanted))
        };
        add("protect", text, Some(format!("amdgpu-budget advise --keep {wanted} --of {}", process.pid)));
    }
}
