//! Arguments of requests: words that mean something more often than not.

/// The client's memory that arguments lie in and point into, bytes.
pub const ARENA: u64 = 16 << 10;

/// Returns a word of an argument of a client whose memory starts at `arena`. Most fields are halves of a word.
pub fn word((kind, raw): (u8, u32), arena: u64) -> u64 {
    let raw = u64::from(raw);
    match kind % 16 {
        0..=5 => (raw % 6) | (((raw >> 16) % 6) << 32),
        6 | 7 => raw % 3,
        // Objects of a display engine.
        8 => (60 + raw % 48) | (60 + (raw >> 16) % 48) << 32,
        9 => 1 << (raw % 64),
        10 | 11 => arena + raw % (ARENA / 2),
        12 | 13 => (raw % 0x1000) << 12,
        14 => raw,
        _ => raw << 32 | raw,
    }
}

/// Returns the number of a request of DRM; those that mean something come more often.
pub const fn number(raw: u8, shape: u8) -> u8 {
    match shape >> 6 {
        0 => raw,
        1 => 0xa0 + raw % 0x30,
        _ => 0x40 + raw % 0x16,
    }
}

/// Returns the 32 bits of a request of sw_sync: its own ones, now and then of another size or direction.
pub const fn sw_sync(raw: u8, shape: u8) -> u32 {
    let (direction, size) = match raw % 4 {
        0 => (3, 40),
        1 => (1, 4),
        2 => (3, 16),
        _ => (shape as u32 & 3, shape as u32),
    };
    direction << 30 | size << 16 | (b'W' as u32) << 8 | (raw % 4) as u32
}

/// Returns the 32 bits of a request of DRM that reads and writes its argument.
pub const fn request(number: u8, shape: u8) -> u32 {
    let size = if shape & 1 == 0 { 64 } else { shape as u32 };
    3 << 30 | size << 16 | (b'd' as u32) << 8 | number as u32
}
