//! Helpers of the generated code that decodes packets.

/// Extracts a field; zero if the packet is too short.
#[inline]
pub(super) fn bits(packet: &[u32], dword: usize, high: u32, low: u32) -> u32 {
    packet.get(dword).map_or(0, |dword| dword << (31 - high) >> (31 - high + low))
}

/// Extracts a part of a wide number.
#[inline]
pub(super) fn wide(packet: &[u32], dword: usize, high: u32, low: u32, shift: u32) -> u64 {
    u64::from(bits(packet, dword, high, low)) << shift
}

/// Returns 1 if the level is in the set, otherwise 0.
#[inline]
pub(super) const fn on(level: u8, levels: u16) -> u32 {
    (levels >> level & 1) as u32
}
