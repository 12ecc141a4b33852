//! The computer that a GPU is in.

use std::{fs, hash::Hasher as _, path::Path};

use serde::{Deserialize, Serialize};
use siphasher::sip128::{Hasher128 as _, SipHasher24};

/// The key of the hash over the machine ID, so that another program's hash is another number.
const KEY: &[u8; 16] = b"amdgpu-smoke/1 m";
/// The longest text of a report's field in bytes; what the firmware of a computer says is shorter.
const LONGEST: usize = 128;

/// The computer that a GPU is in, without names of hosts or users and without serial numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Machine {
    /// A name: that of `--machine`, or 16 hexadecimal digits of a keyed hash over `/etc/machine-id`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The vendor and the model of the mainboard.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mainboard: Option<String>,
    /// The version of the mainboard's firmware.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bios: Option<String>,
}

impl Machine {
    /// Returns the computer below `root`, which is `/` except in tests. `name` replaces the hash.
    pub(crate) fn read(root: &Path, name: Option<String>) -> Self {
        let dmi = |file: &str| text(&root.join("sys/class/dmi/id").join(file));
        let mainboard = match (dmi("board_vendor"), dmi("board_name")) {
            (Some(vendor), Some(model)) => Some(format!("{vendor} {model}")),
            (vendor, model) => model.or(vendor),
        };
        let hashed = || text(&root.join("etc/machine-id")).as_deref().and_then(hashed);
        Self { name: name.or_else(hashed), mainboard, bios: dmi("bios_version") }
    }

    /// Returns a computer of which nothing but the name counts, as a simulated GPU is not in it.
    pub(crate) fn named(self) -> Self {
        Self { name: self.name, ..Self::default() }
    }
}

/// Returns a number for a machine ID that does not tell it: 64 bits have 2^64 machine IDs each.
///
/// Source: machine-id(5), which asks for a keyed hash wherever an ID leaves its computer.
fn hashed(id: &str) -> Option<String> {
    // An image for many machines has the word "uninitialized" until a machine starts from it.
    if id.len() != 32 || !id.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let mut hasher = SipHasher24::new_with_key(KEY);
    hasher.write(id.as_bytes());
    Some(format!("{:016x}", hasher.finish128().h1))
}

/// Returns the first line of a file, unless it is empty or cannot be read.
fn text(path: &Path) -> Option<String> {
    short(&fs::read_to_string(path).ok()?)
}

/// Returns a line of text that is not longer than any real one.
pub(super) fn short(text: &str) -> Option<String> {
    let line = text.lines().next()?.trim();
    let end = (0..=line.len().min(LONGEST)).rev().find(|&end| line.is_char_boundary(end))?;
    line.get(..end).filter(|line| !line.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_is_known_by_a_hash_that_does_not_contain_its_id() {
        let root = std::env::temp_dir().join(format!("amdgpu-smoke-machine-{}", std::process::id()));
        let (dmi, etc) = (root.join("sys/class/dmi/id"), root.join("etc"));
        fs::create_dir_all(&dmi).unwrap();
        fs::create_dir_all(&etc).unwrap();
        let empty = Machine::read(&root, None);
        fs::write(etc.join("machine-id"), "0123456789abcdef0123456789abcdef\n").unwrap();
        for (file, text) in [("board_vendor", "Vendor\n"), ("board_name", " X1 \n"), ("board_serial", "S")] {
            fs::write(dmi.join(file), text).unwrap();
        }
        let known = Machine::read(&root, None);
        let named = Machine::read(&root, Some("node7".to_owned()));
        fs::remove_dir_all(&root).unwrap();
        assert_eq!(empty, Machine::default());
        assert_eq!((known.mainboard.as_deref(), known.bios.as_deref()), (Some("Vendor X1"), None));
        let name = known.name.unwrap();
        assert!(name.len() == 16 && !"0123456789abcdef0123456789abcdef".contains(&name), "{name}");
        assert_eq!(named.name.as_deref(), Some("node7"));
    }

    #[test]
    fn an_image_without_a_machine_id_has_no_name() {
        for text in ["", "uninitialized", "0123456789abcdef0123456789abcde", "0123456789abcdef0123456789abcdeg"] {
            assert_eq!(hashed(text), None, "{text}");
        }
        let one = hashed(&"0".repeat(32));
        assert!(one.is_some() && one != hashed(&"1".repeat(32)));
    }

    #[test]
    fn a_text_of_the_firmware_is_one_line_that_is_not_endless() {
        assert_eq!(short(" a \nb"), Some("a".to_owned()));
        assert_eq!(short(" \n"), None);
        assert_eq!(short(&"é".repeat(100)).map(|text| text.len()), Some(128));
    }
}
