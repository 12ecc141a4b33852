//! Machine code in test data.

/// Returns the dwords of a string of hexadecimal bytes in memory order.
pub(crate) fn dwords(hex: &str) -> Vec<u32> {
    let bytes: Vec<u8> =
        (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect();
    bytes.chunks_exact(4).map(|dword| u32::from_le_bytes(dword.try_into().unwrap())).collect()
}
