//! Files that were recorded on a real machine, beside those that are made from the device's state.

use crate::device::SimDevice;

/// The directory of the compute driver's nodes. Node 0 is the processor.
const NODES: &str = "/sys/devices/virtual/kfd/kfd/topology/nodes";

/// The starts of the paths of files of power management.
const OF_POWER: [&str; 8] = [
    "hwmon/",
    "gpu_od/",
    "pp_",
    "power_dpm_",
    "gpu_metrics",
    "gpu_busy_percent",
    "mem_busy_percent",
    "thermal_throttling_logging",
];

/// The files of power management that a directory may lack. What else is missing was not recorded.
const OPTIONAL: [&str; 3] = ["gpu_busy_percent", "mem_busy_percent", "pp_dpm_fclk"];

/// Returns `true` if a sensor's file is a limit or a name: its contents do not depend on the load.
fn is_constant(name: &str) -> bool {
    ["_label", "_max", "_min", "_crit", "_crit_hyst", "_emergency", "_cap", "_cap_default", "_enable"]
        .iter()
        .any(|end| name.ends_with(end))
}

/// Makes the files of power management those of the recorded directory: its sensors and limits, and its tables and settings. Values
/// that change with the load stay those of the device. Without recorded files nothing changes.
pub(super) fn as_recorded(device: &SimDevice, files: &mut Vec<(String, Vec<u8>)>) {
    let recorded = &device.profile().sysfs;
    let directory = format!("hwmon/hwmon{}", device.place().primary_minor());
    let of_recorded = |path: &str| match path.strip_prefix(directory.as_str()) {
        Some(name) => format!("hwmon{name}"),
        None => path.to_owned(),
    };
    if recorded.has_directory("hwmon") {
        files.retain(|(path, _)| !path.starts_with(&directory) || recorded.has(&of_recorded(path)));
    }
    if recorded.is_complete() {
        files.retain(|(path, _)| !OPTIONAL.contains(&path.as_str()) || recorded.has(path));
    }
    for (path, contents) in recorded.iter().filter(|(path, _)| OF_POWER.iter().any(|start| path.starts_with(start))) {
        let own = match path.strip_prefix("hwmon") {
            Some(name) => format!("{directory}{name}"),
            None => path.to_owned(),
        };
        match files.iter_mut().find(|(name, _)| *name == own) {
            Some((_, bytes)) if is_constant(path) || contents == b"\n" => *bytes = contents.to_vec(),
            Some(_) => {}
            // Only the header of this file is recorded, which decides the format.
            None if path == "gpu_metrics" => {}
            None => files.push((own, contents.to_vec())),
        }
    }
}

/// Returns the recorded files that have nothing to do with power: versions of microcode, the discovered blocks, the video BIOS.
pub(super) fn constant_files(device: &SimDevice) -> impl Iterator<Item = (&str, &[u8])> {
    const MADE: [&str; 2] = ["mem_info_", "kfd/"];
    let is_other = |path: &&str| !OF_POWER.iter().chain(&MADE).any(|start| path.starts_with(start));
    device.profile().sysfs.iter().filter(move |(path, _)| is_other(path))
}

/// Returns the recorded files of the device's node of the compute driver, with their absolute paths. Each device has a node, in the
/// order of the devices.
///
/// Source: Linux 6.12 `kfd_topology.c`, `kfd_build_sysfs_node_entry`.
pub(super) fn compute_node(device: &SimDevice) -> impl Iterator<Item = (String, &[u8])> {
    let node = device.place().primary_minor() + 1;
    device.profile().sysfs.below("kfd").map(move |(name, contents)| (format!("{NODES}/{node}/{name}"), contents))
}

/// Returns the contents of the file with the vendor of the VRAM.
pub(super) fn vram_vendor(device: &SimDevice) -> String {
    let recorded = device.profile().sysfs.get("mem_info_vram_vendor");
    recorded.map_or_else(|| "unknown\n".to_owned(), |bytes| String::from_utf8_lossy(bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use crate::{
        SimDevice, SimOptions, profiles,
        sysfs::{Entry, Place, changes, tree},
    };

    fn files_of(device: &SimDevice) -> BTreeMap<String, Vec<u8>> {
        let files = tree(device, Place::FIRST).into_iter();
        let files = files.filter_map(|(path, entry)| match entry {
            Entry::File(bytes) => Some((path, bytes)),
            _ => None,
        });
        files.collect()
    }

    /// Each file that was recorded is there, and those that do not change with the load or the machine have the recorded contents.
    #[test]
    fn a_directory_has_every_file_that_a_real_machines_has() {
        let mut compared = 0;
        for profile in profiles() {
            let device = SimDevice::new(profile, SimOptions { power: true, ..SimOptions::default() });
            let files = files_of(&device);
            let directory = Place::FIRST.directory();
            for (path, contents) in profile.sysfs.iter().filter(|(path, _)| !path.starts_with("kfd/")) {
                let own = format!("{directory}/{}", path.replacen("hwmon/", "hwmon/hwmon0/", 1));
                let Some(found) = files.get(&own) else { panic!("{}: no {path}", profile.name) };
                let name = path.rsplit('/').next().unwrap();
                if super::is_constant(path) || !(changes(name) || path.starts_with("power_dpm_")) {
                    assert_eq!(
                        String::from_utf8_lossy(found),
                        String::from_utf8_lossy(contents),
                        "{}: {path}",
                        profile.name
                    );
                    compared += 1;
                }
            }
        }
        assert!(compared > 500, "only {compared}");
    }

    #[test]
    fn sensors_that_a_real_machine_lacks_are_not_there() {
        for profile in profiles().iter().filter(|profile| profile.sysfs.has_directory("hwmon")) {
            let device = SimDevice::new(profile, SimOptions { power: true, ..SimOptions::default() });
            let directory = format!("{}/hwmon/hwmon0/", Place::FIRST.directory());
            let files = files_of(&device);
            let sensors: Vec<&str> = files.keys().filter_map(|path| path.strip_prefix(&directory)).collect();
            let recorded: Vec<&str> = profile.sysfs.below("hwmon").map(|(name, _)| name).collect();
            assert_eq!(sensors, recorded, "{}", profile.name);
        }
    }

    #[test]
    fn the_format_of_gpu_metrics_is_the_recorded_one() {
        let mut compared = 0;
        for profile in profiles() {
            let Some(recorded) = profile.sysfs.get("gpu_metrics") else { continue };
            let device = SimDevice::new(profile, SimOptions { power: true, ..SimOptions::default() });
            let files = files_of(&device);
            let found = &files[&format!("{}/gpu_metrics", Place::FIRST.directory())];
            assert_eq!(found[..4], *recorded, "{}", profile.name);
            compared += 1;
        }
        assert!(compared >= 3, "only {compared}");
    }

    #[test]
    fn the_compute_drivers_node_is_the_one_of_the_device() {
        let device = SimDevice::new(crate::profile("vangogh").unwrap(), SimOptions::default());
        let files = files_of(&device);
        let properties = &files["/sys/devices/virtual/kfd/kfd/topology/nodes/1/properties"];
        assert!(String::from_utf8_lossy(properties).contains("simd_count 16\n"));
    }

    #[test]
    fn without_power_management_nothing_of_it_is_there() {
        let device = SimDevice::new(crate::profile("phoenix").unwrap(), SimOptions::default());
        let files = files_of(&device);
        assert!(files.keys().all(|path| !path.contains("/hwmon/") && !path.contains("/pp_")));
        assert!(files.keys().any(|path| path.ends_with("/fw_version/me_fw_version")));
    }
}
