//! The files in which the kernel reports the state of a GPU, in sysfs or of the simulated kernel.

use std::{
    collections::BTreeSet,
    fmt, fs,
    io::{self, ErrorKind, Read},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use amdgpu_sim::{SimDevice, sysfs};
use amdgpu_winsys::winsys::PciAddress;

use crate::gpu::host;

/// The maximum number of bytes that are read from a file, which is more than any file has.
const LONGEST: u64 = 64 << 10;

/// The directory of a GPU's PCI device.
pub(crate) trait Source: fmt::Debug + Send {
    /// Reads a file by its path in the directory. Each call opens the file again, because an open file returns ENODEV forever after
    /// the driver was bound again.
    fn read(&self, name: &str) -> io::Result<String>;

    /// Returns the names in a subdirectory; none if it does not exist.
    fn list(&self, directory: &str) -> BTreeSet<String>;

    /// Returns the devices from the GPU towards the root port, each with its path from the GPU's directory. The root port is
    /// omitted, because its link is that of the device below it.
    fn path(&self) -> Vec<(String, String)>;
}

/// The location of a GPU's files.
#[derive(Clone, Debug)]
pub(crate) enum Monitor {
    /// There are no files.
    None,
    /// The files are in sysfs, found by the node.
    Node(PathBuf),
    /// The files are those of a simulated GPU in this process.
    Simulated(SimDevice),
}

impl Monitor {
    /// Opens the directory.
    pub(crate) fn open(&self) -> Option<Box<dyn Source>> {
        match self {
            Self::None => None,
            Self::Node(node) => {
                let found = fs::canonicalize(host::device(Path::new("/"), node)?).ok()?;
                Some(Box::new(Directory(found)))
            }
            Self::Simulated(device) => Some(Box::new(Simulated(device.clone()))),
        }
    }
}

/// A directory of sysfs.
#[derive(Debug)]
pub(crate) struct Directory(pub(crate) PathBuf);

impl Source for Directory {
    fn read(&self, name: &str) -> io::Result<String> {
        let nonblocking = nix::fcntl::OFlag::O_NONBLOCK.bits();
        let file = fs::OpenOptions::new().read(true).custom_flags(nonblocking).open(self.0.join(name))?;
        let mut text = String::new();
        file.take(LONGEST).read_to_string(&mut text)?;
        Ok(text)
    }

    fn list(&self, directory: &str) -> BTreeSet<String> {
        let entries = fs::read_dir(self.0.join(directory)).into_iter().flatten().flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    }

    fn path(&self) -> Vec<(String, String)> {
        let names = self.0.ancestors().map_while(|path| path.file_name()?.to_str().filter(|name| is_pci(name)));
        let mut devices: Vec<_> = names.enumerate().map(|(up, name)| (name.to_owned(), "../".repeat(up))).collect();
        if devices.len() > 1 {
            devices.pop();
        }
        devices
    }
}

/// Returns `true` for a PCI address such as `0000:03:00.0`.
pub(crate) fn is_pci(name: &str) -> bool {
    PciAddress::parse(name).is_some()
}

/// The directory of a simulated GPU.
#[derive(Debug)]
struct Simulated(SimDevice);

impl Simulated {
    fn files(&self) -> impl Iterator<Item = (String, Vec<u8>)> {
        let words = sysfs::link_files(&self.0).into_iter().chain(sysfs::error_files(&self.0));
        let words = words.map(|(name, text)| (name.to_owned(), text.into_bytes()));
        words.chain(sysfs::power_files(&self.0))
    }
}

impl Source for Simulated {
    fn read(&self, name: &str) -> io::Result<String> {
        let (_, bytes) = self.files().find(|(path, _)| path == name).ok_or(ErrorKind::NotFound)?;
        String::from_utf8(bytes).map_err(|_| ErrorKind::InvalidData.into())
    }

    fn list(&self, directory: &str) -> BTreeSet<String> {
        let below = format!("{directory}/");
        let names = self.files().filter_map(|(path, _)| {
            let rest = path.strip_prefix(&below)?;
            rest.split('/').next().map(str::to_owned)
        });
        names.collect()
    }

    fn path(&self) -> Vec<(String, String)> {
        vec![(self.0.place().pci().to_string(), String::new())]
    }
}

#[cfg(test)]
mod tests {
    use amdgpu_sim::{SimOptions, profile};

    use super::*;

    #[test]
    fn the_way_to_the_root_port_ends_below_it() {
        let path = |text: &str| Directory(PathBuf::from(text)).path();
        let behind_a_switch = "/sys/devices/pci0000:00/0000:00:01.1/0000:01:00.0/0000:02:00.0/0000:03:00.0";
        let expected = [("0000:03:00.0", ""), ("0000:02:00.0", "../"), ("0000:01:00.0", "../../")];
        assert_eq!(path(behind_a_switch), expected.map(|(name, up)| (name.to_owned(), up.to_owned())));
        let alone = "/sys/devices/pci0000:00/0000:00:08.0";
        assert_eq!(path(alone), [("0000:00:08.0".to_owned(), String::new())]);
        assert_eq!(path("/tmp/no/device"), []);
    }

    #[test]
    fn the_simulated_kernel_has_the_files_of_sysfs() {
        let options = SimOptions { power: true, ras: true, ..SimOptions::default() };
        let source = Simulated(SimDevice::new(profile("navi21").unwrap(), options));
        assert_eq!(source.read("current_link_width").unwrap(), "16\n");
        assert_eq!(source.read("nothing").unwrap_err().kind(), ErrorKind::NotFound);
        assert_eq!(source.list("hwmon").len(), 1);
        assert!(source.list("ras").contains("umc_err_count") && source.list("nothing").is_empty());
    }

    #[test]
    fn a_fifo_does_not_hold_the_watch_up() {
        let directory = std::env::temp_dir().join(format!("amdgpu-smoke-fifo-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        nix::unistd::mkfifo(&directory.join("ras"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        let read = Directory(directory.clone()).read("ras");
        fs::remove_dir_all(&directory).unwrap();
        assert_eq!(read.ok().as_deref(), Some(""), "a FIFO without a writer");
    }
}
