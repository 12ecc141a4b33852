//! Files of power management with current values: load, clocks, temperatures, power and fans.

use std::{fmt::Write as _, time::Duration};

use amdgpu_hw::GfxLevel;

use super::recorded;
use crate::{
    device::SimDevice,
    kernel::{
        health::CRITICAL_EDGE,
        power::{Figures, gpu_metrics, levels},
    },
};

/// The prefixes of the names of files whose contents change while the GPU works.
const CHANGING: [&str; 19] = [
    "mem_info_",
    "gpu_busy_percent",
    "mem_busy_percent",
    "gpu_metrics",
    "pp_dpm_",
    "temp",
    "power1_",
    "freq",
    "fan1_",
    "pwm1",
    "in",
    "runtime_",
    "enabled",
    "dpms",
    "aer_dev_",
    "umc_err_count",
    "current_link_",
    "control",
    "autosuspend_delay_ms",
];

/// Returns `true` if the contents of a file change over time. `name` is the last part of its path.
pub fn changes(name: &str) -> bool {
    CHANGING.iter().any(|start| name.starts_with(start))
}

/// Returns the current files of power management, with their paths in the device's directory. Without power management these are
/// only the files of the PCI device.
///
/// Source: Linux 6.12 `amdgpu_pm.c`, `amdgpu_device_attrs`, `hwmon_attributes` and `default_attr_update`;
/// `drivers/base/power/sysfs.c`.
pub fn power_files(device: &SimDevice) -> Vec<(String, Vec<u8>)> {
    let uptime = device.uptime();
    let mut files: Vec<_> =
        runtime_files(device).into_iter().map(|(name, text)| (format!("power/{name}"), text)).collect();
    let mut metrics = None;
    if let Some(figures) = device.power_figures() {
        files.extend(device_files(device, &figures).into_iter().map(|(name, text)| (name.to_owned(), text)));
        let directory = format!("hwmon/hwmon{}", device.place().primary_minor());
        let sensors = sensor_files(device, &figures);
        files.extend(sensors.into_iter().map(|(name, text)| (format!("{directory}/{name}"), text)));
        metrics = gpu_metrics(device.profile(), &figures, uptime);
    }
    let mut files: Vec<(String, Vec<u8>)> = files.into_iter().map(|(name, text)| (name, text.into_bytes())).collect();
    files.extend(metrics.map(|bytes| ("gpu_metrics".to_owned(), bytes)));
    if device.has_power_management() {
        recorded::as_recorded(device, &mut files);
    }
    files
}

/// Returns the files of the directory `power`. A device whose driver does not suspend it stays active.
fn runtime_files(device: &SimDevice) -> Vec<(&'static str, String)> {
    let status = device.runtime_status();
    let word = |condition, yes: &str, no: &str| format!("{}\n", if condition { yes } else { no });
    let (active, suspended) =
        status.map_or((device.uptime(), Duration::ZERO), |status| (status.active, status.suspended));
    let mut files = vec![
        ("control", word(status.is_some_and(|status| status.is_allowed), "auto", "on")),
        ("runtime_status", word(status.is_some_and(|status| status.is_suspended), "suspended", "active")),
        ("runtime_active_time", format!("{}\n", active.as_millis())),
        ("runtime_suspended_time", format!("{}\n", suspended.as_millis())),
        ("runtime_usage", format!("{}\n", status.map_or(1, |status| status.usage))),
    ];
    files.extend(status.map(|status| ("autosuspend_delay_ms", format!("{}\n", status.delay))));
    files
}

/// Returns a table of clock levels, with a star at the active one.
fn table(level: GfxLevel, range: (u32, u32), now: u32) -> String {
    let (clocks, active) = levels(level, range, now);
    let mut text = String::new();
    for (index, clock) in clocks.iter().enumerate() {
        let star = if index == active { "*" } else { "" };
        // Writing to a string does not fail.
        let _ = writeln!(text, "{index}: {clock}Mhz {star}");
    }
    text
}

fn device_files(device: &SimDevice, figures: &Figures) -> Vec<(&'static str, String)> {
    let profile = device.profile();
    let (level, is_apu, limits) = (profile.gfx_level, profile.is_apu(), figures.limits);
    let clocks = |range, now| table(level, range, now);
    let mut files = vec![
        ("gpu_busy_percent", format!("{}\n", figures.gpu_busy)),
        ("power_dpm_state", "performance\n".to_owned()),
        ("power_dpm_force_performance_level", "auto\n".to_owned()),
        ("pp_dpm_sclk", clocks(limits.shader_clock, figures.shader_clock)),
        ("pp_dpm_mclk", clocks(limits.memory_clock, figures.memory_clock)),
    ];
    // Not present on APUs and Vega 10, which is GC 9.0.1.
    if !is_apu && profile.gfx.ip_discovery_version != 0x9_0001 {
        files.push(("mem_busy_percent", format!("{}\n", figures.memory_busy)));
    }
    if level >= GfxLevel::Gfx9 {
        files.push(("pp_dpm_socclk", clocks(limits.soc_clock, figures.soc_clock)));
    }
    if level >= GfxLevel::Gfx9 && profile.gfx.ip_discovery_version != 0x9_0001 {
        files.push(("pp_dpm_fclk", clocks(limits.memory_clock, figures.memory_clock)));
    }
    files
}

/// Returns the files of the hardware monitor, in thousandths of a degree, microwatts, Hz, mV, and revolutions per minute.
fn sensor_files(device: &SimDevice, figures: &Figures) -> Vec<(String, String)> {
    let profile = device.profile();
    let (level, is_apu) = (profile.gfx_level, profile.is_apu());
    let limits = figures.limits;
    let mut files = vec![("name".to_owned(), "amdgpu\n".to_owned())];
    let mut add = |name: &str, value: &dyn std::fmt::Display| files.push((name.to_owned(), format!("{value}\n")));
    add("temp1_input", &figures.edge);
    add("temp1_label", &"edge");
    add("temp1_crit", &CRITICAL_EDGE);
    add("temp1_crit_hyst", &-273_150);
    if level >= GfxLevel::Gfx9 && !is_apu {
        for (index, label, more) in [(2, "junction", 8_000), (3, "mem", 4_000)] {
            add(&format!("temp{index}_input"), &(figures.edge + more));
            add(&format!("temp{index}_label"), &label);
            add(&format!("temp{index}_crit"), &110_000);
        }
    }
    // Cards report an average over time. Of the APUs, those whose files were recorded have both.
    let power = u64::from(figures.power) * 1000;
    let has_both = profile.sysfs.has("hwmon/power1_input") && profile.sysfs.has("hwmon/power1_average");
    for (name, is_there) in [("power1_average", !is_apu || has_both), ("power1_input", is_apu)] {
        if is_there {
            add(name, &power);
        }
    }
    add("power1_label", &"PPT");
    if !is_apu {
        let most = u64::from(limits.power.1) * 1000;
        for (name, value) in [("", most), ("_default", most), ("_max", most + most / 10), ("_min", 0)] {
            add(&format!("power1_cap{name}"), &value);
        }
        add("fan1_input", &figures.fan);
        add("fan1_min", &0);
        add("fan1_max", &limits.fan);
        add("fan1_target", &figures.fan);
        add("fan1_enable", &0);
        add("pwm1", &figures.pwm);
        // Automatic control by the hardware.
        add("pwm1_enable", &2);
        add("pwm1_min", &0);
        add("pwm1_max", &255);
        add("freq2_input", &(u64::from(figures.memory_clock) * 1_000_000));
        add("freq2_label", &"mclk");
    }
    add("freq1_input", &(u64::from(figures.shader_clock) * 1_000_000));
    add("freq1_label", &"sclk");
    add("in0_input", &figures.graphics_voltage);
    add("in0_label", &"vddgfx");
    if is_apu {
        add("in1_input", &figures.northbridge_voltage);
        add("in1_label", &"vddnb");
    }
    files
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::{SimOptions, profile, profiles};

    fn files(name: &str, load: &str) -> HashMap<String, String> {
        let device = SimDevice::new(profile(name).unwrap(), SimOptions { power: true, ..SimOptions::default() });
        device.follow_load(Some(load.parse().unwrap()));
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        power_files(&device).into_iter().map(|(name, bytes)| (name, text(bytes))).collect()
    }

    #[test]
    fn files_tell_the_load_of_the_script() {
        let busy = files("navi21", "60 100 40 90");
        for (name, expected) in [
            ("gpu_busy_percent", "100\n"),
            ("mem_busy_percent", "40\n"),
            ("pp_dpm_sclk", "0: 500Mhz \n1: 1487Mhz \n2: 2475Mhz *\n"),
            ("hwmon/hwmon0/name", "amdgpu\n"),
            ("hwmon/hwmon0/temp1_input", "90000\n"),
            ("hwmon/hwmon0/temp2_label", "junction\n"),
            ("hwmon/hwmon0/power1_average", "246700000\n"),
            ("hwmon/hwmon0/power1_cap", "289000000\n"),
            ("hwmon/hwmon0/fan1_input", "2720\n"),
            ("hwmon/hwmon0/freq1_input", "2475000000\n"),
            ("power/runtime_status", "active\n"),
        ] {
            assert_eq!(busy.get(name).map(String::as_str), Some(expected), "{name}");
        }
        let idle = files("navi21", "60 0 0");
        assert_eq!(idle["pp_dpm_sclk"], "0: 500Mhz *\n1: 1487Mhz \n2: 2475Mhz \n");
        assert_eq!((idle["hwmon/hwmon0/fan1_input"].as_str(), idle["gpu_busy_percent"].as_str()), ("0\n", "0\n"));
    }

    #[test]
    fn chips_have_the_files_of_their_kind() {
        let apu = files("renoir", "60 50 50");
        assert!(apu.contains_key("hwmon/hwmon0/in1_input") && apu.contains_key("hwmon/hwmon0/power1_input"));
        for absent in ["mem_busy_percent", "hwmon/hwmon0/fan1_input", "hwmon/hwmon0/temp2_input"] {
            assert!(!apu.contains_key(absent), "{absent}");
        }
        let vega = files("vega10", "60 50 50");
        assert!(!vega.contains_key("mem_busy_percent") && !vega.contains_key("gpu_metrics"));
        assert!(files("navi31", "60 0 0").contains_key("hwmon/hwmon0/power1_average"));
        let plain = SimDevice::new(profile("navi21").unwrap(), SimOptions::default());
        assert!(power_files(&plain).iter().all(|(name, _)| name.starts_with("power/")), "no power management");
    }

    #[test]
    fn a_file_that_changes_is_known_by_its_name() {
        for profile in profiles() {
            let options = SimOptions { power: true, ..SimOptions::default() };
            let device = SimDevice::new(profile, options);
            let last = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
            let read = |load: &str| {
                device.follow_load(Some(load.parse().unwrap()));
                power_files(&device)
            };
            let (idle, busy) = (read("60 0 0"), read("60 90 90"));
            for ((name, before), (_, after)) in idle.iter().zip(&busy) {
                assert!(before == after || changes(&last(name)), "{name}");
            }
        }
        for constant in ["vendor", "device", "uevent", "config", "max_link_speed", "remove"] {
            assert!(!changes(constant), "{constant}");
        }
    }
}
