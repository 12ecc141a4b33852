//! The form in which udevd repeats the kernel's events for programs that use libudev.
//!
//! Source: systemd 252 `src/libsystemd/sd-device/device-monitor.c`, `monitor_netlink_header` and `device_monitor_send_device`;
//! `src/basic/MurmurHash2.c`.

/// The group of NETLINK_KOBJECT_UEVENT that has udevd's events.
pub const UDEV_EVENTS: u32 = 2;
/// The first bytes of udevd's events.
const PREFIX: &[u8; 8] = b"libudev\0";
/// The number after them, big-endian.
const MAGIC: u32 = 0xfeed_cafe;
/// The size of the header in bytes.
const HEADER: u32 = 40;

/// Returns `true` if a datagram is one of udevd's.
pub fn is_udev_event(datagram: &[u8]) -> bool {
    datagram.starts_with(PREFIX)
}

/// Returns udevd's datagram for one of the kernel's. It has the kernel's properties, and no tags.
pub(crate) fn udev_event(event: &[u8]) -> Vec<u8> {
    // The kernel's header is a text as well.
    let properties = event.iter().position(|&byte| byte == 0).map_or(&[][..], |end| &event[end + 1..]);
    let hash_of = |key: &str| {
        let mut values =
            properties.split(|&byte| byte == 0).filter_map(|property| property.strip_prefix(key.as_bytes()));
        values.next_back().map_or(0, |value| murmur_2(value, 0))
    };
    let sizes = [HEADER, HEADER, properties.len() as u32];
    let filters = [hash_of("SUBSYSTEM="), hash_of("DEVTYPE="), 0, 0];
    let mut datagram = PREFIX.to_vec();
    datagram.extend(MAGIC.to_be_bytes());
    datagram.extend(sizes.into_iter().flat_map(u32::to_ne_bytes));
    datagram.extend(filters.into_iter().flat_map(u32::to_be_bytes));
    datagram.extend(properties);
    datagram
}

/// Returns the MurmurHash2 of bytes, with 32 bits.
fn murmur_2(bytes: &[u8], seed: u32) -> u32 {
    const FACTOR: u32 = 0x5bd1_e995;
    let (words, rest) = bytes.as_chunks::<4>();
    let mut hash = seed ^ bytes.len() as u32;
    for word in words {
        let word = u32::from_le_bytes(*word).wrapping_mul(FACTOR);
        hash = hash.wrapping_mul(FACTOR) ^ (word ^ word >> 24).wrapping_mul(FACTOR);
    }
    if !rest.is_empty() {
        let last = rest.iter().rev().fold(0, |last, &byte| last << 8 | u32::from(byte));
        hash = (hash ^ last).wrapping_mul(FACTOR);
    }
    hash = (hash ^ hash >> 13).wrapping_mul(FACTOR);
    hash ^ hash >> 15
}

#[cfg(test)]
mod tests {
    use amdgpu_uapi::WedgedEvent;

    use super::*;

    // The check of SMHasher, which has this value for MurmurHash2.
    #[test]
    fn the_hash_is_murmur_hash_2() {
        let keys: Vec<u8> = (0..=u8::MAX).collect();
        let hashes: Vec<u8> = (0..256).flat_map(|len| murmur_2(&keys[..len], 256 - len as u32).to_le_bytes()).collect();
        assert_eq!(murmur_2(&hashes, 0), 0x2786_4c1e);
    }

    #[test]
    fn an_event_of_udevd_has_a_header_and_the_properties_of_the_kernel() {
        let path = "/devices/pci0000:03/0000:03:00.0/drm/card0".to_owned();
        let message = WedgedEvent { path, methods: "none".to_owned(), process: None }.to_message(0, 7);
        let datagram = udev_event(&message);
        assert!(is_udev_event(&datagram) && !is_udev_event(&message));
        let word = |index: usize| datagram[8 + 4 * index..12 + 4 * index].try_into().unwrap();
        assert_eq!(word(0), [0xfe, 0xed, 0xca, 0xfe]);
        let [size, start, len] = [1, 2, 3].map(|index| u32::from_ne_bytes(word(index)) as usize);
        assert_eq!((size, start, start + len), (40, 40, datagram.len()));
        let text = String::from_utf8(datagram[start..].to_vec()).unwrap();
        assert!(text.starts_with("ACTION=change\0DEVPATH=/devices/pci0000:03/") && text.ends_with("\0SEQNUM=7\0"));
        assert_eq!(
            [4, 5].map(|index| u32::from_be_bytes(word(index))),
            [b"drm", &b"drm_minor"[..]].map(|name| murmur_2(name, 0))
        );
        assert_eq!([word(6), word(7)], [[0; 4]; 2], "no tags");
        assert_eq!(udev_event(b"no header").len(), 40);
    }
}
