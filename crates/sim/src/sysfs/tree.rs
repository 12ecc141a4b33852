//! The `/dev` and `/sys` of simulated devices as data: a tree of directories, files, links and nodes.
//!
//! Everything is derived from the chip's profile. Values that are not in a capture are those that the kernel would report for a
//! card on its own root port. Source of the names: Linux 6.12 `drivers/pci/pci-sysfs.c`, `drm_sysfs.c`, `amdgpu_vram_mgr.c`,
//! `amdgpu_gtt_mgr.c`.

use std::fmt::Write as _;

use amdgpu_hw::PciAddress;

use super::{
    connectors::{connector_files, connector_links},
    debug::{debug_links, recover_path},
    errors::error_files,
    power::power_files,
    recorded,
    resets::reset_files,
    store::Store,
    uma::carve_out_files,
};
use crate::options::place::{DRM_MAJOR, FIRST_RENDER_MINOR, Place, node_name};
use crate::{chips::Profile, device::SimDevice};

/// AMD's PCI vendor ID, which is also the subsystem vendor ID.
const AMD: u16 = 0x1002;
/// An entry of the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A file with its contents.
    File(Vec<u8>),
    /// A symbolic link with its target, relative to the link's directory.
    Link(String),
    /// A character device with DRM's major number and this minor number.
    Node(u32),
    /// A file that can only be written.
    Store(Store),
    /// A file that resets the device when it is read, and then contains the result, `0`.
    Recover,
}

/// Returns the entries of a device, with their absolute paths.
pub fn tree(device: &SimDevice, place: Place) -> Vec<(String, Entry)> {
    let (pci, profile) = (place.pci(), device.profile());
    let directory = place.directory();
    let up = "../".repeat(directory.matches('/').count() - 1);
    let mut tree = Vec::new();
    for (name, content) in pci_files(profile, pci) {
        tree.push((format!("{directory}/{name}"), Entry::File(content)));
    }
    let words = memory_files(device).into_iter().chain(link_files(device)).chain(error_files(device));
    for (name, content) in words.chain(reset_files(device)).chain(carve_out_files(device)) {
        tree.push((format!("{directory}/{name}"), Entry::File(content.into_bytes())));
    }
    for (name, content) in power_files(device).into_iter().chain(connector_files(device, place)) {
        tree.push((format!("{directory}/{name}"), Entry::File(content)));
    }
    let hwmon = format!("{directory}/hwmon/hwmon{}", place.primary_minor());
    if tree.iter().any(|(path, _)| path.starts_with(&hwmon)) {
        tree.push((format!("{hwmon}/device"), Entry::Link(format!("../../../{pci}"))));
    }
    for (name, content) in recorded::constant_files(device) {
        tree.push((format!("{directory}/{name}"), Entry::File(content.to_vec())));
    }
    for (name, content) in recorded::compute_node(device) {
        tree.push((name, Entry::File(content.to_vec())));
    }
    for (name, store) in [("remove", Store::Remove), ("rescan", Store::Rescan)] {
        tree.push((format!("{directory}/{name}"), Entry::Store(store)));
    }
    let bus = "bus/pci";
    tree.push((format!("{directory}/subsystem"), Entry::Link(format!("{up}{bus}"))));
    tree.push((format!("{directory}/driver"), Entry::Link(format!("{up}{bus}/drivers/amdgpu"))));
    // Both directories are two levels below /sys/bus/pci.
    let target = format!("../../../{}", directory.trim_start_matches("/sys/"));
    tree.push((format!("/sys/{bus}/devices/{pci}"), Entry::Link(target.clone())));
    tree.push((format!("/sys/{bus}/drivers/amdgpu/{pci}"), Entry::Link(format!("../{target}"))));
    for minor in [place.primary_minor(), place.render_minor()] {
        tree.extend(node_files(&directory, pci, minor));
    }
    tree.push((recover_path(place), Entry::Recover));
    tree.extend(debug_links(place).map(|(path, target)| (path, Entry::Link(target))));
    tree.extend(connector_links(device, place).into_iter().map(|(path, target)| (path, Entry::Link(target))));
    tree
}

/// Returns the entries of a node: the device file, its directory in sysfs, and the links to it.
fn node_files(device: &str, pci: PciAddress, minor: u32) -> Vec<(String, Entry)> {
    let name = node_name(minor);
    let directory = format!("{device}/drm/{name}");
    let below_sys = directory.trim_start_matches("/sys/").to_owned();
    let up = "../".repeat(directory.matches('/').count() - 1);
    let suffix = if minor < FIRST_RENDER_MINOR { "card" } else { "render" };
    let uevent = format!("MAJOR={DRM_MAJOR}\nMINOR={minor}\nDEVNAME=dri/{name}\nDEVTYPE=drm_minor\n");
    vec![
        (format!("/dev/dri/{name}"), Entry::Node(minor)),
        (format!("/dev/dri/by-path/pci-{pci}-{suffix}"), Entry::Link(format!("../{name}"))),
        (format!("{directory}/dev"), Entry::File(format!("{DRM_MAJOR}:{minor}\n").into_bytes())),
        (format!("{directory}/uevent"), Entry::File(uevent.into_bytes())),
        // In kernfs the target of a link ends in the target's name, even if it is a parent directory.
        (format!("{directory}/device"), Entry::Link(format!("../../../{pci}"))),
        (format!("{directory}/subsystem"), Entry::Link(format!("{up}class/drm"))),
        (format!("/sys/class/drm/{name}"), Entry::Link(format!("../../{below_sys}"))),
        (format!("/sys/dev/char/{DRM_MAJOR}:{minor}"), Entry::Link(format!("../../{below_sys}"))),
    ]
}

/// Returns the files of a PCI device.
fn pci_files(profile: &Profile, pci: PciAddress) -> Vec<(&'static str, Vec<u8>)> {
    let device = device_id(profile);
    let revision = revision(profile);
    let class = class(profile);
    let slot = pci.to_string();
    let uevent = format!(
        "DRIVER=amdgpu\nPCI_CLASS={class:X}\nPCI_ID={AMD:04X}:{device:04X}\nPCI_SUBSYS_ID={AMD:04X}:{device:04X}\n\
         PCI_SLOT_NAME={slot}\nMODALIAS=pci:v{AMD:08X}d{device:08X}sv{AMD:08X}sd{device:08X}bc{:02X}sc{:02X}i{:02X}\n",
        class >> 16 & 0xff,
        class >> 8 & 0xff,
        class & 0xff
    );
    let mut files = vec![
        ("vendor", format!("{AMD:#06x}\n")),
        ("device", format!("{device:#06x}\n")),
        ("subsystem_vendor", format!("{AMD:#06x}\n")),
        ("subsystem_device", format!("{device:#06x}\n")),
        ("revision", format!("{revision:#04x}\n")),
        ("class", format!("{class:#08x}\n")),
        ("irq", "0\n".to_owned()),
        ("enable", "1\n".to_owned()),
        ("numa_node", "-1\n".to_owned()),
        ("boot_vga", "0\n".to_owned()),
        ("uevent", uevent),
        ("resource", resource(profile)),
    ]
    .into_iter()
    .map(|(name, text)| (name, text.into_bytes()))
    .collect::<Vec<_>>();
    files.push(("config", config(profile)));
    files
}

/// Returns the current files of the PCI Express link in the device's directory. The link has its full width and speed, unless
/// [`SimDevice::inject_hardware_error`] changed them.
///
/// Source: Linux 6.12 `drivers/pci/pci-sysfs.c`, `current_link_speed_show` and its neighbours.
pub fn link_files(device: &SimDevice) -> Vec<(&'static str, String)> {
    let (generation, lanes) = (device.profile().dev_info.pcie_gen, device.profile().dev_info.pcie_num_lanes);
    vec![
        ("max_link_speed", link_speed(generation)),
        ("current_link_speed", link_speed(device.health().generation(generation))),
        ("max_link_width", format!("{lanes}\n")),
        ("current_link_width", format!("{}\n", device.health().lanes(lanes))),
    ]
}

/// Returns the current memory files of the device's directory: `amdgpu_vram_mgr.c` and `amdgpu_gtt_mgr.c`.
pub fn memory_files(device: &SimDevice) -> Vec<(&'static str, String)> {
    let memory = device.memory_info();
    let bytes = |value: u64| format!("{value}\n");
    vec![
        ("mem_info_vram_total", bytes(memory.vram.total_heap_size)),
        ("mem_info_vram_used", bytes(memory.vram.heap_usage)),
        ("mem_info_vis_vram_total", bytes(memory.cpu_accessible_vram.total_heap_size)),
        ("mem_info_vis_vram_used", bytes(memory.cpu_accessible_vram.heap_usage)),
        ("mem_info_vram_vendor", recorded::vram_vendor(device)),
        ("mem_info_gtt_total", bytes(memory.gtt.total_heap_size)),
        ("mem_info_gtt_used", bytes(memory.gtt.heap_usage)),
    ]
}

fn device_id(profile: &Profile) -> u16 {
    profile.dev_info.device_id as u16
}

fn revision(profile: &Profile) -> u8 {
    profile.dev_info.pci_rev as u8
}

/// Returns the PCI class, subclass and interface: a VGA controller for a discrete GPU, otherwise a display controller.
fn class(profile: &Profile) -> u32 {
    if profile.is_apu() { 0x03_8000 } else { 0x03_0000 }
}

fn link_speed(generation: u32) -> String {
    let rate = match generation {
        0 | 1 => "2.5",
        2 => "5.0",
        3 => "8.0",
        4 => "16.0",
        _ => "32.0",
    };
    format!("{rate} GT/s PCIe\n")
}

/// Returns the PCI resources: visible VRAM, doorbells and registers, in seven lines of start, end and flags.
fn resource(profile: &Profile) -> String {
    const PREFETCHABLE_64_BIT: u64 = 0x14_220c;
    const PLAIN: u64 = 0x4_0200;
    const VRAM: u64 = 0x40_0000_0000;
    let visible = profile.memory.cpu_accessible_vram.total_heap_size.next_power_of_two();
    let windows = [
        (VRAM, visible, PREFETCHABLE_64_BIT),
        (0, 0, 0),
        (0x3f_f000_0000, 2 << 20, PREFETCHABLE_64_BIT),
        (0, 0, 0),
        (0, 0, 0),
        (0xfc00_0000, 1 << 20, PLAIN),
        (0, 0, 0),
    ];
    windows.iter().fold(String::new(), |mut text, &(start, size, flags)| {
        let end = if size == 0 { 0 } else { start + size - 1 };
        let _ = writeln!(text, "{start:#018x} {end:#018x} {flags:#018x}");
        text
    })
}

/// Returns the first 64 bytes of configuration space with IDs, class and revision; all other bytes are zero.
fn config(profile: &Profile) -> Vec<u8> {
    let mut bytes = vec![0; 64];
    let mut put = |at: usize, value: &[u8]| {
        if let Some(place) = bytes.get_mut(at..at + value.len()) {
            place.copy_from_slice(value);
        }
    };
    put(0x00, &AMD.to_le_bytes());
    put(0x02, &device_id(profile).to_le_bytes());
    // Memory space and bus mastering are enabled.
    put(0x04, &6_u16.to_le_bytes());
    put(0x08, &[revision(profile)]);
    put(0x09, &class(profile).to_le_bytes()[..3]);
    put(0x2c, &AMD.to_le_bytes());
    put(0x2e, &device_id(profile).to_le_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SimOptions, profile, profiles};

    fn place(index: usize) -> Place {
        Place::new(index).unwrap()
    }

    fn read(tree: &[(String, Entry)], path: &str) -> String {
        match tree.iter().find(|(name, _)| name == path) {
            Some((_, Entry::File(bytes))) => String::from_utf8(bytes.clone()).unwrap(),
            other => panic!("{path}: {other:?}"),
        }
    }

    #[test]
    fn the_ids_are_those_of_the_capture() {
        for profile in profiles() {
            let device = SimDevice::new(profile, SimOptions::default());
            let tree = tree(&device, place(0));
            let file = |name: &str| read(&tree, &format!("/sys/devices/pci0000:03/0000:03:00.0/{name}"));
            assert_eq!(file("vendor"), "0x1002\n");
            assert_eq!(file("device"), format!("{:#06x}\n", profile.dev_info.device_id));
            assert_eq!(file("revision"), format!("{:#04x}\n", profile.dev_info.pci_rev));
            assert!(file("uevent").contains("PCI_SLOT_NAME=0000:03:00.0\n"));
        }
    }

    #[test]
    fn every_link_leads_to_something_in_the_tree() {
        let device = SimDevice::new(profile("navi21").unwrap(), SimOptions::default());
        let tree = tree(&device, place(1));
        for (path, entry) in &tree {
            let Entry::Link(target) = entry else { continue };
            let mut parts: Vec<&str> = path.split('/').collect();
            parts.pop();
            for part in target.split('/') {
                if part == ".." { assert!(parts.pop().is_some()) } else { parts.push(part) }
            }
            let reached = parts.join("/");
            let exists = tree.iter().any(|(name, _)| *name == reached || name.starts_with(&format!("{reached}/")));
            assert!(exists, "{path} -> {target} = {reached}");
        }
    }

    /// Tools derive the PCI slot from the last part of `readlink /sys/dev/char/226:128/device`.
    ///
    /// Source: Linux 6.12 `fs/kernfs/symlink.c`, `kernfs_get_target_path`.
    #[test]
    fn every_link_ends_in_the_name_of_its_target() {
        let device = SimDevice::new(profile("navi21").unwrap(), SimOptions::default());
        let tree = tree(&device, place(1));
        for (path, entry) in &tree {
            let Entry::Link(target) = entry else { continue };
            assert_ne!(target.rsplit('/').next(), Some(".."), "{path} -> {target}");
        }
        for node in ["card1", "renderD129"] {
            let link = format!("/sys/devices/pci0000:04/0000:04:00.0/drm/{node}/device");
            let found = tree.iter().find(|(path, _)| *path == link).map(|(_, entry)| entry);
            assert_eq!(found, Some(&Entry::Link("../../../0000:04:00.0".to_owned())));
        }
    }

    #[test]
    fn devices_do_not_share_names() {
        let device = SimDevice::new(profile("renoir").unwrap(), SimOptions::default());
        let (first, second) = (tree(&device, place(0)), tree(&device, place(1)));
        assert!(first.iter().all(|(name, _)| second.iter().all(|(other, _)| other != name)));
    }

    #[test]
    fn connectors_tell_what_is_plugged_in() {
        let options = SimOptions { display: Some("640x480".parse().unwrap()), ..SimOptions::default() };
        let device = SimDevice::new(profile("navi21").unwrap(), options);
        let tree = tree(&device, place(1));
        let at = |name: &str| format!("/sys/devices/pci0000:04/0000:04:00.0/drm/card1/card1-{name}");
        for (file, plugged, empty) in [
            ("status", "connected\n", "disconnected\n"),
            ("enabled", "disabled\n", "disabled\n"),
            ("dpms", "Off\n", "Off\n"),
            ("modes", "640x480\n", ""),
            ("uevent", "DEVTYPE=drm_connector\n", "DEVTYPE=drm_connector\n"),
        ] {
            assert_eq!(read(&tree, &at(&format!("DP-1/{file}"))), plugged, "{file}");
            assert_eq!(read(&tree, &at(&format!("HDMI-A-1/{file}"))), empty, "{file}");
        }
        let edid = |name: &str| match tree.iter().find(|(path, _)| *path == at(name)) {
            Some((_, Entry::File(bytes))) => bytes.len(),
            other => panic!("{name}: {other:?}"),
        };
        assert_eq!((edid("DP-1/edid"), edid("DP-2/edid")), (128, 0));
        let link = tree.iter().find(|(path, _)| path == "/sys/class/drm/card1-DP-1").map(|(_, entry)| entry);
        assert!(matches!(link, Some(Entry::Link(target)) if target.ends_with("/drm/card1/card1-DP-1")), "{link:?}");
    }

    #[test]
    fn memory_in_use_shows() {
        let device = SimDevice::new(profile("navi21").unwrap(), SimOptions::default());
        let files = memory_files(&device);
        assert!(files.contains(&("mem_info_vram_total", format!("{}\n", 0x3_ff00_0000_u64))));
        assert!(files.contains(&("mem_info_vram_used", "0\n".to_owned())));
    }
}
