//! Files whose reading wakes a suspended GPU.

use super::{
    computer::{ALARM, STATE},
    coredump::COREDUMPS_DISABLED,
    store::Setting,
    uma::CARVE_OUT,
};

/// Files that the driver answers by asking the GPU, besides sensors (`*_input`).
const ASKED: [&str; 6] =
    ["gpu_busy_percent", "mem_busy_percent", "gpu_metrics", "power1_average", "pwm1", "pwm1_enable"];
/// The beginnings of the names of more such files.
const ASKED_FROM: [&str; 4] = ["pp_dpm_", "power_dpm_", "power1_cap", "fan1_"];

/// Returns `true` if the reading of a file wakes a suspended GPU. `name` is the last part of its path. Files with sizes, ids, limits of
/// temperatures, labels and the state of power management do not.
///
/// Source: Linux 6.12 `amdgpu_pm.c`, the calls of `pm_runtime_get_sync`. Later releases refuse to read these files instead.
pub fn wakes(name: &str) -> bool {
    ASKED.contains(&name) || name.ends_with("_input") || ASKED_FROM.iter().any(|start| name.starts_with(start))
}

/// Returns `true` if a file can be both read and written: a setting of runtime power management, the state of the computer, the alarm
/// of its clock, the carve-out of an APU, or a core dump. `name` is the last part of its path.
pub fn is_setting(name: &str) -> bool {
    Setting::ALL
        .iter()
        .map(|setting| setting.path())
        .chain([STATE, ALARM, COREDUMPS_DISABLED, CARVE_OUT, "/data"])
        .any(|path| path.ends_with(&format!("/{name}")))
}
