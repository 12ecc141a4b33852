//! Files of a device's directory in sysfs that were recorded on a real machine.

use std::{collections::BTreeMap, fs, io::Read as _, os::unix::fs::OpenOptionsExt as _, path::Path};

use serde_json::{Map, Value};

use super::{error::CaptureError, json::Node};

/// The most files, twice as many as the largest tree has.
const MOST_FILES: usize = 2048;
/// The most characters of a path.
const MOST_CHARACTERS: usize = 160;

/// The most bytes of a file, as sysfs has them.
const LONGEST: u64 = 4096;
/// The most directories in each other.
const DEEPEST: usize = 8;
/// The directories with recorded files.
const DIRECTORIES: [&str; 4] = ["fw_version", "ip_discovery", "hwmon", "gpu_od"];
/// The starts of the paths of recorded files.
const RECORDED: [&str; 14] = [
    "fw_version/",
    "ip_discovery/",
    "hwmon/",
    "gpu_od/",
    "pp_",
    "power_dpm_",
    "gpu_metrics",
    "gpu_busy_percent",
    "mem_busy_percent",
    "mem_info_vram_vendor",
    "vbios_version",
    "vbios_build",
    "pcie_replay_count",
    "reset_method",
];

/// The files of a device's directory on a real machine, by their paths in it. The sensors are in `hwmon` without a number, and the
/// files of the node of the compute driver are in `kfd`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordedFiles {
    /// The machine that they were recorded on.
    source: Option<String>,
    /// `true` if these are all files of the directory that are worth recording.
    is_complete: bool,
    files: BTreeMap<String, Contents>,
}

/// The contents of a file. Text and other bytes are kept apart, so that a capture is written as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Contents {
    Text(String),
    Bytes(Vec<u8>),
}

impl RecordedFiles {
    /// Reads the key `sysfs` of a capture, which may be missing.
    pub(super) fn read(root: &Node<'_>) -> Result<Self, CaptureError> {
        let Some(node) = root.get("sysfs")? else { return Ok(Self::default()) };
        let source = node.get("source")?.map(|source| source.text().map(str::to_owned)).transpose()?;
        let is_complete = node.get("complete")?.map_or(Ok(false), |complete| complete.boolean())?;
        let mut files = BTreeMap::new();
        let list = node.need("files")?;
        for (path, file) in list.entries(MOST_FILES)? {
            if !is_path(path) {
                return Err(list.bad_text(path, "no path of a file below the device's directory"));
            }
            let contents = match file.get_text() {
                Some(text) => Contents::Text(text.to_owned()),
                None => Contents::Bytes(bytes(&file.need("hex")?)?),
            };
            files.insert(path.to_owned(), contents);
        }
        Ok(Self { source, is_complete, files })
    }

    /// Returns the value of the key; `None` if no files were recorded.
    pub(super) fn write(&self) -> Option<Value> {
        if self.files.is_empty() && self.source.is_none() {
            return None;
        }
        let mut files = Map::new();
        for (path, contents) in &self.files {
            let value = match contents {
                Contents::Text(text) => text.clone().into(),
                Contents::Bytes(bytes) => serde_json::json!({ "hex": hex(bytes) }),
            };
            files.insert(path.clone(), value);
        }
        let mut object = Map::new();
        if let Some(source) = &self.source {
            object.insert("source".to_owned(), source.clone().into());
        }
        object.insert("complete".to_owned(), self.is_complete.into());
        object.insert("files".to_owned(), files.into());
        Some(object.into())
    }

    /// Records the files of a device's directory in sysfs that a simulated chip needs. Serial numbers, addresses and other facts about
    /// the owner's machine are not recorded. Files that cannot be read are left out.
    pub fn of_directory(directory: &Path) -> Self {
        let mut files = BTreeMap::new();
        walk(directory, "", DEEPEST, &mut files);
        Self { source: Some("this machine".to_owned()), is_complete: true, files }
    }

    /// Returns `true` if the recorded files are all of the directory.
    pub(crate) const fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Returns `true` if a file with this path was recorded.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    /// Returns `true` if a directory was recorded.
    pub(crate) fn has_directory(&self, directory: &str) -> bool {
        self.below(directory).next().is_some()
    }

    /// Returns the contents of a file.
    pub(crate) fn get(&self, path: &str) -> Option<&[u8]> {
        self.files.get(path).map(Contents::as_bytes)
    }

    /// Returns the number that a file contains.
    pub(crate) fn number(&self, path: &str) -> Option<u64> {
        std::str::from_utf8(self.get(path)?).ok()?.trim().parse().ok()
    }

    /// Returns the files of a directory, by their paths in it.
    pub(crate) fn below<'a>(&'a self, directory: &str) -> impl Iterator<Item = (&'a str, &'a [u8])> {
        let start = format!("{directory}/");
        self.files.iter().filter_map(move |(path, contents)| {
            path.strip_prefix(start.as_str()).map(|name| (name, contents.as_bytes()))
        })
    }

    /// Returns all files by their paths.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.files.iter().map(|(path, contents)| (path.as_str(), contents.as_bytes()))
    }
}

/// Records the files below a directory. `path` is its path in the device's directory, and ends in a slash unless it is empty.
fn walk(directory: &Path, path: &str, depth: usize, files: &mut BTreeMap<String, Contents>) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let Ok(kind) = entry.file_type() else { continue };
        let Ok(name) = entry.file_name().into_string() else { continue };
        let inside = format!("{path}{name}");
        if kind.is_dir() && depth > 0 && DIRECTORIES.iter().any(|start| inside.starts_with(start)) {
            // The number of the directory with the sensors differs from machine to machine.
            let is_numbered = path == "hwmon/" && name.starts_with("hwmon");
            let below = if is_numbered { path.to_owned() } else { format!("{inside}/") };
            walk(&entry.path(), &below, depth - 1, files);
        } else if kind.is_file() && is_recorded(&inside) && is_path(&inside) && files.len() < MOST_FILES {
            files.extend(contents(&entry.path(), &inside).map(|contents| (inside, contents)));
        }
    }
}

/// Returns `true` if a file says something about chips of its kind, and nothing about the machine.
fn is_recorded(path: &str) -> bool {
    let is_of_machine = ["pp_table", "hwmon/uevent"].contains(&path) || path.contains("/power/");
    RECORDED.iter().any(|start| path.starts_with(start)) && !is_of_machine
}

fn contents(file: &Path, path: &str) -> Option<Contents> {
    let nonblocking = nix::fcntl::OFlag::O_NONBLOCK.bits();
    let file = fs::OpenOptions::new().read(true).custom_flags(nonblocking).open(file).ok()?;
    let mut bytes = Vec::new();
    // Of gpu_metrics the header tells the format, and the rest is of the moment.
    let most = if path == "gpu_metrics" { 4 } else { LONGEST };
    file.take(most).read_to_end(&mut bytes).ok()?;
    let is_text = |text: &str| path != "gpu_metrics" && text.chars().all(|c| c == '\n' || c == '\t' || !c.is_control());
    Some(match String::from_utf8(bytes) {
        Ok(text) if is_text(&text) => Contents::Text(text),
        Ok(text) => Contents::Bytes(text.into_bytes()),
        Err(error) => Contents::Bytes(error.into_bytes()),
    })
}

impl Contents {
    fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Bytes(bytes) => bytes,
        }
    }
}

/// Returns `true` if a path stays below the directory and has only characters of names in sysfs.
fn is_path(path: &str) -> bool {
    let is_part = |part: &str| {
        !part.is_empty()
            && !part.starts_with('.')
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.:".contains(&byte))
    };
    path.len() <= MOST_CHARACTERS && path.split('/').all(is_part)
}

fn bytes(node: &Node<'_>) -> Result<Vec<u8>, CaptureError> {
    let text = node.text()?;
    let digit = |byte: &u8| (*byte as char).to_digit(16).map(|digit| digit as u8);
    let digits: Option<Vec<u8>> = text.as_bytes().iter().map(digit).collect();
    let digits = digits.filter(|digits| digits.len().is_multiple_of(2));
    let digits = digits.ok_or_else(|| node.bad_text(text, "no pairs of hexadecimal digits"))?;
    Ok(digits.chunks(2).map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit)).collect())
}

fn hex(bytes: &[u8]) -> String {
    let digit = |four: u8| char::from_digit(four.into(), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_recorded_without_what_is_the_machines_own() {
        let directory = std::env::temp_dir().join(format!("amdgpu-sim-recorded-{}", std::process::id()));
        let write = |path: &str, bytes: &[u8]| {
            let path = directory.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        };
        write("fw_version/me_fw_version", b"0x00000063\n");
        write("hwmon/hwmon7/temp1_label", b"edge\n");
        write("hwmon/hwmon7/power/control", b"auto\n");
        write("gpu_metrics", &[120, 0, 1, 3, 9, 9, 9]);
        write("pp_table", &[0, 1]);
        for own in ["unique_id", "serial_number", "subsystem_device", "uevent", "drm/card3/dev"] {
            write(own, b"0123456789abcdef\n");
        }
        let recorded = RecordedFiles::of_directory(&directory);
        fs::remove_dir_all(&directory).unwrap();
        let found: Vec<_> = recorded.iter().collect();
        let expected: [(&str, &[u8]); 3] = [
            ("fw_version/me_fw_version", b"0x00000063\n"),
            ("gpu_metrics", &[120, 0, 1, 3]),
            ("hwmon/temp1_label", b"edge\n"),
        ];
        assert_eq!(found, expected);
        assert!(recorded.is_complete());
    }
}
