//! Recordings of `amdgpu-layers` that say something else than what was recorded, with checksums that are right.
//!
//! A record with a wrong checksum is refused before anything in it is looked at. The author of a hostile recording
//! computes the checksum too, so what tests the code behind it has to.

use std::ops::Range;

/// Bytes before the first record: the magic number and the version.
const HEAD: usize = 12;
/// Bytes before each record: its length and its checksum.
const FRAME: usize = 8;

/// A change: what is done, to which record, where in it, and with what.
pub type Edit = (u8, u16, u16, u8);

/// Returns the CRC-32 of IEEE 802.3.
pub fn checksum(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}

/// Returns the records of a recording without their frames, as far as frames are whole.
pub fn records(bytes: &[u8]) -> Vec<&[u8]> {
    let mut found = Vec::new();
    let mut rest = bytes.get(HEAD..).unwrap_or_default();
    while let Some((len, framed)) = rest.split_first_chunk::<4>() {
        let Some(record) = range(u32::from_le_bytes(*len)).and_then(|range| framed.get(range)) else { break };
        found.push(record);
        rest = framed.get(4 + record.len()..).unwrap_or_default();
    }
    found
}

/// Returns the range of a record of this length behind the length.
fn range(len: u32) -> Option<Range<usize>> {
    Some(4..usize::try_from(len).ok()?.checked_add(4)?)
}

/// Assembles a recording of these records, each with its length and checksum.
pub fn assemble<R: AsRef<[u8]>>(head: &[u8], records: impl IntoIterator<Item = R>) -> Vec<u8> {
    let mut bytes = head.get(..HEAD).unwrap_or(head).to_vec();
    for record in records {
        let record = record.as_ref();
        let Ok(len) = u32::try_from(record.len()) else { continue };
        bytes.reserve(FRAME + record.len());
        bytes.extend(len.to_le_bytes());
        bytes.extend(checksum(record).to_le_bytes());
        bytes.extend(record);
    }
    bytes
}

/// Makes the changes and mends the frames.
pub fn edit(bytes: &[u8], edits: &[Edit]) -> Vec<u8> {
    let mut records: Vec<Vec<u8>> = records(bytes).into_iter().map(<[u8]>::to_vec).collect();
    for &(what, record, at, value) in edits {
        if records.is_empty() {
            break;
        }
        // Half of them go to the last records: a life begins with many questions of one kind.
        let last = records.len() - 1;
        let index = if what < 128 {
            usize::from(record) % records.len()
        } else {
            last - usize::from(record) % 64.min(last + 1)
        };
        let other = usize::from(at) % records.len();
        let len = records[index].len().max(1);
        let place = usize::from(at) % len;
        match what % 16 {
            0..=5 => records[index].iter_mut().skip(place).take(1).for_each(|byte| *byte = value),
            // What ends a record says what an ioctl made known.
            6 | 7 => {
                records[index].iter_mut().rev().skip(usize::from(at) % 6).take(1).for_each(|byte| *byte = value % 4);
            }
            8 => records[index].iter_mut().skip(place).take(1).for_each(|byte| *byte ^= 1 << (value % 8)),
            9 => drop(records.remove(index)),
            10 => records.insert(other, records[index].clone()),
            11 => records.swap(index, other),
            12 => records[index].insert(place, value),
            13 if records[index].len() > place => drop(records[index].remove(place)),
            _ => records.insert(index, page(value, at)),
        }
    }
    assemble(bytes, records)
}

/// A record that says that the GPU filled a page of a memory: kind 7, memory, page, one run that fills the page.
fn page(memory: u8, at: u16) -> Vec<u8> {
    let [page, pattern] = at.to_le_bytes();
    vec![7, memory % 16, page % 4, 1, 1, 0x80, 0x08, pattern, pattern, pattern, 0xee]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_that_is_not_changed_is_the_same() {
        let bytes = assemble(b"AMDGPUrr\x02\0\0\0", [&b"one"[..], b"", b"three"]);
        assert_eq!(records(&bytes), [&b"one"[..], b"", b"three"]);
        assert_eq!(edit(&bytes, &[]), bytes);
        assert_eq!(records(&bytes[..bytes.len() - 1]).len(), 2);
    }

    #[test]
    fn changes_come_with_right_frames() {
        let bytes = assemble(b"AMDGPUrr\x02\0\0\0", [&b"one"[..], b"two"]);
        let changed = edit(&bytes, &[(0, 1, 0, b'T'), (9, 0, 0, 0), (12, 0, 1, b'h')]);
        assert_eq!(changed, assemble(b"AMDGPUrr\x02\0\0\0", [b"Thwo"]));
        assert_eq!(checksum(b"123456789"), 0xcbf4_3926);
    }

    #[test]
    fn any_edits_make_a_recording() {
        let bytes = assemble(b"AMDGPUrr\x02\0\0\0", [&b"one"[..], b"two", b"three"]);
        for what in 0..16 {
            for at in 0..64 {
                let edits = [(what, at, at * 7, at as u8), (9, at, 0, 0), (what, at * 3, at, 255)];
                let changed = edit(&bytes, &edits);
                assert_eq!(assemble(&changed, records(&changed)), changed);
            }
        }
    }
}
