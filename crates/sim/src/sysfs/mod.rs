//! The `/dev` and `/sys` of simulated devices: a tree of directories, files, links and nodes as data.
//!
//! Everything is derived from the chip's profile; what no capture holds is what the kernel would print for a card on a
//! root port of its own. Source of the names: Linux 6.12 `drivers/pci/pci-sysfs.c`, `drm_sysfs.c`, `amdgpu_vram_mgr.c`,
//! `amdgpu_gtt_mgr.c`.

mod connectors;
mod place;
mod power;
mod resets;
mod store;
mod tree;

pub use self::{
    connectors::connector_files,
    place::{DRM_MAJOR, FIRST_RENDER_MINOR, MOST_DEVICES, Place, node_name},
    power::{changes, power_files},
    resets::reset_files,
    store::{RESCAN, Store, is_true},
    tree::{Entry, memory_files, tree},
};
