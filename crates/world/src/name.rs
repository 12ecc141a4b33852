//! The name of a node descriptor's socket, by which it says what it is.

use std::os::fd::RawFd;

use nix::sys::socket::{UnixAddr, getsockname};

/// First part of every name.
const PREFIX: &str = "amdgpu-sim/";

/// Which open file a node descriptor is: the abstract Unix address its socket is bound to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeName {
    /// The world's name: the last part of its directory.
    pub world: String,
    /// Minor number of the node.
    pub minor: u32,
    /// The file's number in its world.
    pub file: u64,
}

impl NodeName {
    /// The text behind the leading zero byte of the address.
    pub fn to_bytes(&self) -> Vec<u8> {
        format!("{PREFIX}{}/{}/{}", self.world, self.minor, self.file).into_bytes()
    }

    fn parse(name: &[u8]) -> Option<Self> {
        let name = std::str::from_utf8(name).ok()?.strip_prefix(PREFIX)?;
        let mut parts = name.rsplitn(3, '/');
        let file = parts.next()?.parse().ok()?;
        let minor = parts.next()?.parse().ok()?;
        Some(Self { world: parts.next()?.to_owned(), minor, file })
    }

    /// What a descriptor is; `None` for one that is no node of any world.
    pub fn of(fd: RawFd) -> Option<Self> {
        let address = getsockname::<UnixAddr>(fd).ok()?;
        Self::parse(address.as_abstract()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_back() {
        let name = NodeName { world: "amdgpu-sim.x/y".to_owned(), minor: 128, file: 7 };
        assert_eq!(NodeName::parse(&name.to_bytes()), Some(name));
    }

    #[test]
    fn other_names_are_nobodys() {
        for other in ["", "amdgpu-sim/", "amdgpu-sim/a/b/c", "amdgpu-sim/a/1", "x/a/1/2", "amdgpu-sim/a/1/-2"] {
            assert_eq!(NodeName::parse(other.as_bytes()), None, "{other:?}");
        }
    }
}
