//! The `/dev` and `/sys` of simulated devices as data: a tree of directories, files, links and nodes.
//!
//! Everything is derived from the chip's profile, which may contain files that a real machine's sysfs had. Values that are not in a
//! capture are those that the kernel would report for a card on its own root port. Source of the names: Linux 6.12 `drivers/pci/pci-sysfs.c`, `drm_sysfs.c`, `amdgpu_vram_mgr.c`,
//! `amdgpu_gtt_mgr.c`.

mod computer;
mod connectors;
mod coredump;
mod debug;
mod errors;
mod power;
mod recorded;
mod resets;
mod runtime_pm;
mod sleep;
mod store;
mod tree;
mod uma;

pub use crate::options::place::{DRM_MAJOR, FIRST_RENDER_MINOR, MOST_DEVICES, Place, node_name};

pub use self::{
    computer::{ALARM, CLOCKS, SLEEPS, STATE, WakeAlarm, check_sleep},
    connectors::connector_files,
    coredump::{COREDUMP_LIFE, COREDUMPS, COREDUMPS_DISABLED, coredump, coredump_with_ibs},
    debug::{DEBUG, RECOVER, client_directory, client_files, debug_directory, recover_path},
    errors::error_files,
    power::{changes, power_files},
    resets::reset_files,
    sleep::{is_setting, wakes},
    store::{RESCAN, Setting, Store, is_true},
    tree::{Entry, link_files, memory_files, tree},
    uma::{CARVE_OUT, carve_out_files},
};
