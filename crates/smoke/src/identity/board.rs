//! The board of a GPU and its place in the computer.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use amdgpu_sim::{
    SimDevice,
    sysfs::{self, Entry},
};
use serde::{Deserialize, Serialize};

use crate::{
    gpu::host,
    hardware::source::{Directory, Monitor, Source as _},
    identity::machine::short,
};

/// The end of the names in the directory of firmware versions.
const VERSION: &str = "_fw_version";
/// The directory of firmware versions.
const VERSIONS: &str = "fw_version";

/// The board of a GPU, its place in the computer and its firmware. Reading them does not wake a GPU that sleeps.
///
/// Source of the files: Linux 6.12 `drivers/pci/pci-sysfs.c`, `amdgpu_atombios.c` (`vbios_version`), `amdgpu_ucode.c` (`fw_version`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Board {
    /// The PCI IDs of vendor and device, such as `1002:73bf`.
    pub device: String,
    /// The PCI revision, such as `c1`.
    pub revision: String,
    /// The PCI IDs of the board's vendor and model, such as `1da2:e437`.
    pub subsystem: String,
    /// The part number of the video BIOS, such as `113-D4120100-O02`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vbios: Option<String>,
    /// The PCI address.
    pub address: String,
    /// The name of the slot, if the computer names its slots.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slot: Option<String>,
    /// The versions of all firmware that the kernel has loaded, by the kernel's name of the engine, such as `sdma`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub firmware: BTreeMap<String, String>,
}

impl Board {
    /// Returns the board of a GPU, or `None` if sysfs does not show it.
    pub(crate) fn read(monitor: &Monitor) -> Option<Self> {
        match monitor {
            Monitor::None => None,
            Monitor::Node(node) => {
                let directory = Directory(fs::canonicalize(host::device(Path::new("/"), node)?).ok()?);
                let names = directory.list(VERSIONS);
                let address = directory.0.file_name()?.to_str()?.to_owned();
                // The bridges above the GPU are parts of its board, and what is plugged in is the uppermost one.
                let devices = directory.path().into_iter().map(|(name, _)| name).collect::<Vec<_>>();
                let slot = slot(Path::new("/"), &devices);
                Self::of(&address, slot, names.into_iter(), |name| directory.read(name).ok())
            }
            Monitor::Simulated(device) => Self::simulated(device),
        }
    }

    fn simulated(device: &SimDevice) -> Option<Self> {
        let place = device.place();
        let above = format!("{}/", place.directory());
        let files: BTreeMap<_, _> = sysfs::tree(device, place)
            .into_iter()
            .filter_map(|(path, entry)| match entry {
                Entry::File(bytes) => Some((path.strip_prefix(&above)?.to_owned(), bytes)),
                _ => None,
            })
            .collect();
        let names = files.keys().filter_map(|path| path.strip_prefix(VERSIONS)?.strip_prefix('/'));
        let read = |name: &str| String::from_utf8(files.get(name)?.clone()).ok();
        Self::of(&place.pci().to_string(), None, names.map(str::to_owned), read)
    }

    fn of(
        address: &str,
        slot: Option<String>,
        versions: impl Iterator<Item = String>,
        read: impl Fn(&str) -> Option<String>,
    ) -> Option<Self> {
        let text = |name: &str| short(&read(name)?);
        let number = |name: &str| Some(text(name)?.trim_start_matches("0x").to_owned());
        let pair = |vendor, model| Some(format!("{}:{}", number(vendor)?, number(model)?));
        let version = |name: String| {
            let engine = name.strip_suffix(VERSION)?.to_owned();
            let version = text(&format!("{VERSIONS}/{name}"))?;
            // Engines without firmware have the version 0.
            (!version.trim_start_matches(['0', 'x']).is_empty()).then_some((engine, version))
        };
        Some(Self {
            device: pair("vendor", "device")?,
            revision: number("revision").unwrap_or_default(),
            subsystem: pair("subsystem_vendor", "subsystem_device").unwrap_or_default(),
            vbios: text("vbios_version"),
            address: address.to_owned(),
            slot,
            firmware: versions.filter_map(version).collect(),
        })
    }
}

/// Returns the name of the slot that one of the devices is in; the addresses of slots have no function.
///
/// Source: Linux 6.12 `drivers/pci/slot.c`, `address_read_file`.
fn slot(root: &Path, devices: &[String]) -> Option<String> {
    let entries = fs::read_dir(root.join("sys/bus/pci/slots")).ok()?.flatten();
    let mut slots: Vec<(PathBuf, String)> = entries
        .filter_map(|entry| Some((entry.path(), short(&fs::read_to_string(entry.path().join("address")).ok()?)?)))
        .collect();
    slots.sort();
    let is_of = |address: &str| devices.iter().any(|device| device.split('.').next() == Some(address));
    let (path, _) = slots.iter().find(|(_, address)| is_of(address))?;
    short(path.file_name()?.to_str()?)
}

#[cfg(test)]
mod tests {
    use amdgpu_sim::{SimOptions, profile};

    use super::*;

    #[test]
    fn a_simulated_gpu_has_the_board_that_its_files_tell() {
        let device = SimDevice::new(profile("navi21").unwrap(), SimOptions::default());
        let board = Board::read(&Monitor::Simulated(device.clone())).unwrap();
        assert_eq!((&*board.device, &*board.subsystem), ("1002:73bf", "1002:73bf"));
        assert_eq!(board.address, device.place().pci().to_string());
        assert_eq!(Board::read(&Monitor::None), None);
    }

    #[test]
    fn firmware_of_engines_that_are_not_there_is_left_out() {
        let files = BTreeMap::from([
            ("vendor", "0x1002\n"),
            ("device", "0x744c\n"),
            ("revision", "0xc8\n"),
            ("subsystem_vendor", "0x1da2\n"),
            ("subsystem_device", "0xe471\n"),
            ("vbios_version", "113-1\n"),
            ("fw_version/smc_fw_version", "0x004e7e00\n"),
            ("fw_version/vce_fw_version", "0x00000000\n"),
        ]);
        let names = ["smc_fw_version", "vce_fw_version", "other"].map(str::to_owned);
        let read = |name: &str| files.get(name).map(|&text| text.to_owned());
        let board = Board::of("0000:03:00.0", None, names.clone().into_iter(), read).unwrap();
        assert_eq!((&*board.subsystem, board.vbios.as_deref()), ("1da2:e471", Some("113-1")));
        assert_eq!(board.firmware, BTreeMap::from([("smc".to_owned(), "0x004e7e00".to_owned())]));
        assert_eq!(Board::of("a", None, names.into_iter(), |_| None), None, "a container without sysfs");
    }

    #[test]
    fn the_slot_is_that_of_a_bridge_on_the_board() {
        let root = std::env::temp_dir().join(format!("amdgpu-smoke-slots-{}", std::process::id()));
        for (name, address) in [("3", "0000:01:00\n"), ("4", "0000:05:00\n")] {
            let directory = root.join("sys/bus/pci/slots").join(name);
            fs::create_dir_all(&directory).unwrap();
            fs::write(directory.join("address"), address).unwrap();
        }
        let way = ["0000:03:00.0", "0000:02:00.0", "0000:01:00.0"].map(str::to_owned);
        let found = (slot(&root, &way), slot(&root, &way[..2]));
        fs::remove_dir_all(&root).unwrap();
        assert_eq!(found, (Some("3".to_owned()), None));
        assert_eq!(slot(&root, &way), None, "no slots are named");
    }
}
