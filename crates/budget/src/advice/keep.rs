//! VRAM of a cgroup that others cannot evict.
//!
//! A group is protected only as far as all groups above it are, so each of them gets the same line. `dmem.low` yields when nothing
//! else can be evicted; `dmem.min` does not, and 7.2 lets a group with it not even evict its own buffers.
//!
//! Source: Linux 7.2 `kernel/cgroup/dmem.c`, `dmem_cgroup_state_evict_valuable`; `page_counter.c`,
//! `page_counter_calculate_protection`.

use super::words::{Case, Choice, Conflict, Finding, Step, Verdict, size};

/// Returns the advice for keeping so many bytes of VRAM of a cgroup.
pub(super) fn advise(case: &Case<'_>, bytes: u64, of: &str) -> Finding {
    let pci = &case.gpu.pci;
    let region = format!("drm/{pci}/vram");
    let Some((region, capacity)) = capacity(case, &region) else {
        let release = case.files.read("proc/sys/kernel/osrelease").unwrap_or_default();
        let release = if release.trim().is_empty() { "unknown".to_owned() } else { release.trim().to_owned() };
        return Finding::without_choice(
            Verdict::Impossible,
            format!(
                "/sys/fs/cgroup/dmem.capacity does not name this GPU: protection needs cgroup v2 and Linux 6.14 or later with \
                 CONFIG_CGROUP_DMEM, which Debian leaves out and SteamOS, CachyOS and Bazzite have (this is Linux {release})"
            ),
        );
    };
    if bytes > capacity {
        let reason = format!("{} are more than the GPU has: {}", size(bytes), size(capacity));
        return Finding::without_choice(Verdict::Impossible, reason);
    }
    let path = match group(case, of) {
        Ok(path) => path,
        Err(reason) => return Finding::without_choice(Verdict::Unknown, reason),
    };
    let levels = levels(&path);
    let (mut enable, mut protect, mut undo) = (Vec::new(), Vec::new(), Vec::new());
    let mut above = String::new();
    let mut is_met = true;
    for level in &levels {
        let folder = format!("sys/fs/cgroup{level}");
        let controllers = case.files.read(&format!("sys/fs/cgroup{above}/cgroup.subtree_control")).unwrap_or_default();
        if !controllers.split_whitespace().any(|word| word == "dmem") {
            enable.push(format!("echo +dmem | sudo tee /sys/fs/cgroup{above}/cgroup.subtree_control"));
        }
        let before = value(&case.files.read(&format!("{folder}/dmem.low")).unwrap_or_default(), &region);
        if before < bytes {
            is_met = false;
            protect.push(format!("echo '{region} {bytes}' | sudo tee /{folder}/dmem.low"));
            undo.push(format!("echo '{region} {before}' | sudo tee /{folder}/dmem.low"));
        }
        above.clone_from(level);
    }
    if is_met {
        let reason = format!("dmem.low of {path} and of all groups above it is at least {}", size(bytes));
        return Finding::without_choice(Verdict::Met, reason);
    }
    undo.reverse();
    let mut steps = Vec::new();
    if !enable.is_empty() {
        steps.push(Step::new("Let these groups have the controller", enable));
    }
    steps.push(Step::new("Protect the group, and those above it as much", protect));
    if let Some(slice) = levels.iter().rev().find(|level| level.rsplit_once('.').is_some_and(|(_, end)| end == "slice"))
    {
        steps.push(Step::new(
            format!("At every boot, for slices: write to /etc/tmpfiles.d/amdgpu-budget.conf ({path} itself is made anew each time)"),
            levels
                .iter()
                .take_while(|level| level.len() <= slice.len())
                .map(|level| format!("w /sys/fs/cgroup{level}/dmem.low - - - - {region} {bytes}")),
        ));
    }
    Finding {
        verdict: Verdict::Possible,
        reason: format!("{} of {} of VRAM can be protected for {path}", size(bytes), size(capacity)),
        choices: vec![Choice {
            title: format!("Protect {} of VRAM with dmem.low", size(bytes)),
            steps,
            reboot: false,
            loses: "When VRAM is full, buffers of other programs are evicted to system memory first, and those programs get slower. \
                    Memory of the group that is not used is free for all."
                .to_owned(),
            undo: vec![Step::new("Put the protection back", undo)],
        }],
        conflicts: conflicts(case, &path, &region, bytes),
    }
}

fn conflicts(case: &Case<'_>, path: &str, region: &str, bytes: u64) -> Vec<Conflict> {
    let mut found = Vec::new();
    if case.gpu.apu == Some(true) {
        found.push(Conflict {
            code: "carve-out-only",
            text: "on an APU only the carve-out is protected; what is evicted lies in GTT, in the same memory chips"
                .to_owned(),
        });
    }
    for level in levels(path) {
        let text = case.files.read(&format!("sys/fs/cgroup{level}/dmem.max")).unwrap_or_default();
        let max = line(&text, region).and_then(|value| value.parse::<u64>().ok());
        if let Some(max) = max.filter(|&max| max < bytes) {
            found.push(Conflict {
                code: "max-below-low",
                text: format!("dmem.max of {level} is {}: the group cannot have what would be protected", size(max)),
            });
        }
    }
    found
}

/// The region of the GPU as this kernel calls it, and its size.
fn capacity(case: &Case<'_>, region: &str) -> Option<(String, u64)> {
    let text = case.files.read("sys/fs/cgroup/dmem.capacity").ok()?;
    text.lines().find_map(|line| {
        let (name, value) = line.trim().split_once(char::is_whitespace)?;
        let number = name.strip_prefix(region)?;
        let is_ours = number.bytes().all(|byte| byte.is_ascii_digit());
        Some((name.to_owned(), value.trim().parse().ok()?)).filter(|_| is_ours)
    })
}

fn line<'t>(text: &'t str, region: &str) -> Option<&'t str> {
    text.lines()
        .find_map(|line| line.trim().split_once(char::is_whitespace).filter(|(name, _)| *name == region))
        .map(|(_, value)| value.trim())
}

/// The protection of a group; 0 where there is none.
fn value(text: &str, region: &str) -> u64 {
    match line(text, region) {
        Some("max") => u64::MAX,
        found => found.and_then(|value| value.parse().ok()).unwrap_or(0),
    }
}

/// The groups from below the root to the group itself.
fn levels(path: &str) -> Vec<String> {
    let mut levels: Vec<String> = Vec::new();
    for part in path.split('/').filter(|part| !part.is_empty()) {
        let above = levels.last().cloned().unwrap_or_default();
        levels.push(format!("{above}/{part}"));
    }
    levels
}

/// The path of a group that is named by its path, by a systemd unit, or by a process of it.
fn group(case: &Case<'_>, of: &str) -> Result<String, String> {
    let is_safe = |path: &str| {
        path.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-@:\\".contains(&byte))
            && !path.split('/').any(|part| part == "..")
    };
    let path = if let Ok(pid) = of.parse::<u32>() {
        let text = case
            .files
            .read(&format!("proc/{pid}/cgroup"))
            .map_err(|error| format!("the cgroup of process {pid} is unknown: {}", crate::files::reason(&error)))?;
        let path = text.lines().find_map(|line| line.strip_prefix("0::")).map(str::trim);
        path.ok_or_else(|| format!("process {pid} is in no group of cgroup v2"))?.to_owned()
    } else if of.starts_with('/') {
        of.to_owned()
    } else {
        unit(case, of)?
    };
    if !is_safe(&path) {
        return Err(format!("'{}' has characters that a line for a shell should not have", path.escape_default()));
    }
    if levels(&path).is_empty() {
        return Err("the root group has no protection".to_owned());
    }
    Ok(path)
}

/// The group of a systemd unit: of the processes with memory whose group ends so, or where systemd puts it.
fn unit(case: &Case<'_>, name: &str) -> Result<String, String> {
    let ends = format!("/{name}");
    let of_processes = case.gpu.processes.iter().flatten().filter_map(|process| process.cgroup.as_deref());
    if let Some(path) = of_processes.filter(|path| path.ends_with(&ends)).min_by_key(|path| path.len()) {
        return Ok(path.to_owned());
    }
    match name.rsplit_once('.') {
        Some((_, "service")) => Ok(format!("/system.slice/{name}")),
        // The dashes of a slice's name are its place: a-b.slice is in a.slice.
        Some((stem, "slice")) => {
            let mut path = String::new();
            for (end, _) in stem.match_indices('-').chain([(stem.len(), "")]) {
                path = format!("{path}/{}.slice", &stem[..end]);
            }
            Ok(path)
        }
        _ => Err(format!(
            "{name} is no group with memory on this GPU; name it by its path, its unit (x.service, x.slice) or a process ID"
        )),
    }
}
