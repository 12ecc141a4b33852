//! Findings, each a sentence and the next step.

use std::{fmt, io, path::PathBuf};

use super::observation::Observation;
use crate::reach::OutOfReach;

/// Drivers of Vulkan for AMD GPUs, by the beginnings of their file names.
const VULKAN_DRIVERS: [&str; 3] = ["libvulkan_radeon", "amdvlk", "libamdgpu_winsys"];
/// Beginnings of the names of libraries without which programs see no GPU.
const NEEDED: [&str; 6] = ["libdrm", "libvulkan", "libamdgpu", "libgbm", "libEGL", "libGL"];

/// A finding about a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Finding {
    /// A program that does not exist.
    NotFound,
    /// A program that the kernel refuses to execute.
    NotExecuted(io::ErrorKind),
    /// A program that the preload library cannot be loaded into.
    OutOfReach(OutOfReach),
    /// A program that may be within reach, by its path.
    WithinReach(PathBuf),
    /// Processes none of which loaded the preload library.
    NotPreloaded,
    /// The number of processes that loaded the preload library.
    Preloaded(usize),
    /// Processes that were started without the preload library, by name.
    Scrubbed(Vec<String>),
    /// Libraries that were looked for and are not installed.
    Missing(Vec<String>),
    /// No opened node, and the stage that was reached.
    NoNode(Loaded),
    /// Numbers of opened nodes and of requests on them.
    Sees { openings: u64, requests: u64 },
}

/// The stage that a program without a node has reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Loaded {
    /// Neither Vulkan nor libdrm.
    Nothing,
    /// Vulkan's loader without a driver for AMD GPUs.
    VulkanLoader,
    /// A driver, or libdrm.
    Driver,
}

impl Finding {
    /// Returns `true` if this is no reason not to see the GPU.
    pub(super) const fn is_fine(&self) -> bool {
        matches!(self, Self::WithinReach(_) | Self::Preloaded(_) | Self::Sees { .. })
    }

    /// Returns advice, for what is not fine.
    pub(super) fn next_step(&self) -> Option<String> {
        let text = match self {
            Self::NotFound => "name it by its path, or put its folder into PATH",
            Self::NotExecuted(_) => "see that its file, and the interpreter of a script, may be executed",
            Self::OutOfReach(reason) => reason.next_step(),
            Self::NotPreloaded => {
                "see on standard error why the dynamic linker refuses the library, and name another with --shim"
            }
            Self::Scrubbed(names) => {
                let name = names.first().map_or("it", String::as_str);
                return Some(format!(
                    "start {name} itself with amdgpu-sim run, or have LD_PRELOAD, AMDGPU_SIM and AMDGPU_SIM_WORLD passed on to it"
                ));
            }
            Self::Missing(names) => {
                let packages: Vec<_> = names.iter().map(|name| format!("{name}{}", package(name))).collect();
                return Some(format!("install {}", packages.join(", ")));
            }
            Self::NoNode(Loaded::Nothing) => {
                "it may use no GPU, or leave that to another process, such as a display server, which has to run in the world too"
            }
            Self::NoNode(Loaded::VulkanLoader) => {
                "install a Vulkan driver for AMD GPUs (Debian's mesa-vulkan-drivers), or name its file with VK_DRIVER_FILES"
            }
            Self::NoNode(Loaded::Driver) => {
                "see if it wants a display or another GPU: its options, and DRI_PRIME, MESA_VK_DEVICE_SELECT and VK_DRIVER_FILES"
            }
            Self::WithinReach(_) | Self::Preloaded(_) | Self::Sees { .. } => return None,
        };
        Some(text.to_owned())
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound => f.write_str("is not there"),
            Self::NotExecuted(kind) => write!(f, "was not executed: {kind}"),
            Self::OutOfReach(reason) => write!(f, "{reason}: the preload library is not loaded into it"),
            Self::WithinReach(path) => write!(f, "was found: {}", path.display()),
            Self::NotPreloaded => f.write_str("ran without the preload library"),
            Self::Preloaded(1) => f.write_str("loaded the preload library"),
            Self::Preloaded(processes) => write!(f, "loaded the preload library in {processes} processes"),
            Self::Scrubbed(names) => write!(f, "started {} without the preload library", names.join(", ")),
            Self::Missing(names) => write!(f, "looked for {} and did not find it", names.join(", ")),
            Self::NoNode(Loaded::Nothing) => {
                f.write_str("opened no node of the GPU, and loaded neither libdrm nor Vulkan")
            }
            Self::NoNode(Loaded::VulkanLoader) => {
                f.write_str("opened no node of the GPU: Vulkan's loader loaded no driver for AMD GPUs")
            }
            Self::NoNode(Loaded::Driver) => f.write_str("opened no node of the GPU, but loaded a driver or libdrm"),
            Self::Sees { openings, requests } => {
                write!(f, "sees the GPU: nodes opened {openings}, requests {requests}")
            }
        }
    }
}

/// Returns the package of Debian that has a library, in parentheses.
fn package(library: &str) -> &'static str {
    match library {
        "libdrm.so.2" => " (Debian's libdrm2)",
        "libdrm_amdgpu.so.1" => " (Debian's libdrm-amdgpu1)",
        "libvulkan.so.1" => " (Debian's libvulkan1)",
        "libvulkan_radeon.so" => " (Debian's mesa-vulkan-drivers)",
        _ => "",
    }
}

/// Draws conclusions from a run.
pub(super) fn findings(seen: &Observation) -> Vec<Finding> {
    if let Some(kind) = seen.refused {
        return vec![Finding::NotExecuted(kind)];
    }
    let preloaded = seen.processes.iter().filter(|process| process.loaded.contains(&seen.shim)).count();
    if preloaded == 0 {
        return vec![Finding::NotPreloaded];
    }
    let mut found = vec![Finding::Preloaded(preloaded)];
    if seen.traffic.openings > 0 {
        // Whatever else it looked for, it went on without.
        found.push(Finding::Sees { openings: seen.traffic.openings, requests: seen.traffic.requests });
        return found;
    }
    if !seen.scrubbed.is_empty() {
        found.push(Finding::Scrubbed(seen.scrubbed.iter().cloned().collect()));
    }
    let is_needed = |name: &&String| NEEDED.iter().any(|start| name.starts_with(start));
    let mut missing: Vec<_> =
        seen.processes.iter().flat_map(|process| process.missing.iter().filter(is_needed)).cloned().collect();
    missing.sort();
    missing.dedup();
    if !missing.is_empty() {
        found.push(Finding::Missing(missing));
    }
    let has = |starts: &[&str]| {
        let loaded = seen.processes.iter().flat_map(|process| &process.loaded);
        loaded.into_iter().any(|name| starts.iter().any(|start| name.starts_with(start)))
    };
    // Libraries of windows load libdrm, too: Vulkan's loader without a driver tells more.
    let stage = match (has(&["libvulkan.so"]), has(&VULKAN_DRIVERS), has(&["libdrm"])) {
        (true, false, _) => Loaded::VulkanLoader,
        (_, true, _) | (_, _, true) => Loaded::Driver,
        (false, false, false) => Loaded::Nothing,
    };
    found.push(Finding::NoNode(stage));
    found
}

#[cfg(test)]
mod tests {
    use amdgpu_sim_world::Traffic;

    use super::{super::loading::Libraries, *};

    fn run(loaded: &[&str], missing: &[&str]) -> Observation {
        let set = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        let processes = vec![Libraries { loaded: set(loaded), missing: set(missing) }];
        Observation { processes, shim: "shim.so".to_owned(), ..Observation::default() }
    }

    #[test]
    fn a_program_that_opened_a_node_sees_the_gpu_whatever_it_missed() {
        let traffic = Traffic { connections: 1, openings: 2, requests: 30 };
        let seen = Observation { traffic, ..run(&["shim.so"], &["libdrm_radeon.so.1"]) };
        assert_eq!(findings(&seen), [Finding::Preloaded(1), Finding::Sees { openings: 2, requests: 30 }]);
    }

    #[test]
    fn without_a_node_the_stage_is_told() {
        let stage = |loaded: &[&str]| findings(&run(loaded, &[])).pop();
        assert_eq!(stage(&["shim.so"]), Some(Finding::NoNode(Loaded::Nothing)));
        assert_eq!(stage(&["shim.so", "libvulkan.so.1"]), Some(Finding::NoNode(Loaded::VulkanLoader)));
        let windows = ["shim.so", "libvulkan.so.1", "libgbm.so.1", "libdrm.so.2"];
        assert_eq!(stage(&windows), Some(Finding::NoNode(Loaded::VulkanLoader)));
        assert_eq!(stage(&["shim.so", "libdrm.so.2"]), Some(Finding::NoNode(Loaded::Driver)));
        let driver = ["shim.so", "libvulkan.so.1", "libvulkan_radeon.so"];
        assert_eq!(stage(&driver), Some(Finding::NoNode(Loaded::Driver)));
        assert_eq!(stage(&["libc.so.6"]), Some(Finding::NotPreloaded));
    }

    #[test]
    fn a_missing_library_is_named_with_its_package() {
        let found = findings(&run(&["shim.so"], &["libdrm_amdgpu.so.1", "libjpeg.so.8"]));
        assert_eq!(found[1], Finding::Missing(vec!["libdrm_amdgpu.so.1".to_owned()]));
        let step = found[1].next_step();
        assert_eq!(step.as_deref(), Some("install libdrm_amdgpu.so.1 (Debian's libdrm-amdgpu1)"));
    }

    #[test]
    fn whatever_is_not_fine_has_a_next_step() {
        let scrubbed = Finding::Scrubbed(vec!["child".to_owned()]);
        assert!(scrubbed.next_step().is_some_and(|step| step.starts_with("start child itself")));
        for finding in [
            Finding::NotFound,
            Finding::NotExecuted(io::ErrorKind::PermissionDenied),
            Finding::OutOfReach(OutOfReach::Static),
            Finding::NotPreloaded,
            Finding::NoNode(Loaded::Nothing),
            scrubbed,
        ] {
            assert!(!finding.is_fine() && finding.next_step().is_some(), "{finding}");
        }
        assert_eq!(Finding::Preloaded(1).next_step(), None);
    }
}
