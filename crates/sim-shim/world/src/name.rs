//! The name of a node descriptor's socket, which identifies the file.

use std::{
    hash::{BuildHasher as _, RandomState},
    os::fd::RawFd,
};

use nix::sys::socket::{UnixAddr, getsockname};

/// First part of every name.
const PREFIX: &str = "amdgpu-sim/";

/// First part of the names of sockets for the kernel's events.
const UEVENTS: &str = "amdgpu-sim-uevents/";

/// Returns an unused name for a socket for the kernel's events of a world.
pub(crate) fn uevent_socket_name(world: &str) -> Vec<u8> {
    format!("{UEVENTS}{world}/{:032x}", NodeName::unguessable(world, 0, 0).nonce).into_bytes()
}

/// Returns `true` for the address of a socket for the kernel's events; `address` is the part behind the family.
pub fn is_uevent_socket(address: &[u8]) -> bool {
    address.strip_prefix(b"\0").is_some_and(|name| name.starts_with(UEVENTS.as_bytes()))
}

/// The identity of the open file of a node descriptor, encoded in the abstract Unix address of its socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeName {
    /// The name of the world: the last component of its directory.
    pub world: String,
    /// The minor number of the node.
    pub minor: u32,
    /// The number of the file in its world.
    pub file: u64,
    /// A random number, which makes the name unguessable: any user may bind an abstract address that is not in use.
    pub nonce: u128,
}

impl NodeName {
    /// An unused name that no other process could have taken before.
    pub(crate) fn unguessable(world: &str, minor: u32, file: u64) -> Self {
        // Each is a keyed hash with a key of the system's own randomness.
        let [high, low] = [0_u8, 1].map(|half| u128::from(RandomState::new().hash_one((half, file))));
        Self { world: world.to_owned(), minor, file, nonce: high << 64 | low }
    }

    /// Returns the text that follows the leading zero byte of the address.
    pub fn to_bytes(&self) -> Vec<u8> {
        format!("{PREFIX}{}/{}/{}/{:032x}", self.world, self.minor, self.file, self.nonce).into_bytes()
    }

    fn parse(name: &[u8]) -> Option<Self> {
        let name = std::str::from_utf8(name).ok()?.strip_prefix(PREFIX)?;
        let mut parts = name.rsplitn(4, '/');
        let nonce = parts.next().filter(|digits| digits.len() == 32)?;
        let nonce = u128::from_str_radix(nonce, 16).ok()?;
        let file = parts.next()?.parse().ok()?;
        let minor = parts.next()?.parse().ok()?;
        Some(Self { world: parts.next()?.to_owned(), minor, file, nonce })
    }

    /// Returns the file of a descriptor; `None` if the descriptor is not a node of any world.
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
        let name = NodeName { world: "amdgpu-sim.x/y".to_owned(), minor: 128, file: 7, nonce: 1 << 100 };
        assert_eq!(NodeName::parse(&name.to_bytes()), Some(name));
    }

    #[test]
    fn other_names_are_nobodys() {
        let nonce = "0123456789abcdef0123456789abcdef";
        for other in ["", "a/b/c", "a/1", "a/1/-2", "a/1/2"] {
            for whole in [format!("amdgpu-sim/{other}"), format!("amdgpu-sim/{other}/x"), format!("x/{other}/{nonce}")]
            {
                assert_eq!(NodeName::parse(whole.as_bytes()), None, "{whole:?}");
            }
        }
        assert!(NodeName::parse(format!("amdgpu-sim/a/1/2/{nonce}").as_bytes()).is_some());
    }

    #[test]
    fn no_name_comes_twice() {
        let nonces: std::collections::HashSet<_> = (0..1000)
            .map(|_| NodeName::unguessable("a", 128, 7).nonce)
            .flat_map(|nonce| [nonce >> 64, nonce << 64])
            .collect();
        assert_eq!(nonces.len(), 2000);
    }
}
