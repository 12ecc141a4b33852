//! Annotations: text in a command stream, for readers of its dump.

use crate::Target;
use crate::layout::{self, Fields, Packets, records};

/// The first dword of an annotation, `ANNO` in memory.
const MAGIC: u32 = u32::from_le_bytes(*b"ANNO");

/// The number of dwords of magic and length.
const HEAD_DWORDS: usize = 2;

/// The maximum length of an annotation in bytes of UTF-8.
pub const MAX_ANNOTATION_BYTES: usize = 4 * (0x3fff - HEAD_DWORDS);

/// Returns the text of a NOP's payload if it was created by [`annotation`]; `None` otherwise.
///
/// | dword | meaning                                    |
/// |-------|--------------------------------------------|
/// | 0     | `ANNO`                                     |
/// | 1     | bytes of text                              |
/// | 2..   | the text in UTF-8, padded with zeros       |
///
/// Invalid UTF-8 is replaced.
pub fn read_annotation(skipped: &[u32]) -> Option<String> {
    let (&[MAGIC, bytes], text) = skipped.split_first_chunk()? else { return None };
    let bytes = bytes as usize;
    if text.len() != bytes.div_ceil(4) {
        return None;
    }
    let text: Vec<u8> = text.iter().flat_map(|dword| dword.to_le_bytes()).take(bytes).collect();
    Some(String::from_utf8_lossy(&text).into_owned())
}

/// Returns the annotations of an IB with their offsets in dwords from the start of the IB. Other packets are skipped. The iterator
/// ends at a packet of unknown length.
pub fn annotations(ib: &[u32], target: Target) -> Annotations<'_> {
    Annotations { packets: layout::packets(ib, target) }
}

/// The iterator that [`annotations`] returns.
#[derive(Clone, Debug)]
pub struct Annotations<'ib> {
    packets: Packets<'ib>,
}

impl Iterator for Annotations<'_> {
    type Item = (usize, String);

    fn next(&mut self) -> Option<Self::Item> {
        self.packets.find_map(|listed| {
            let text = read_annotation(skipped(&listed.content.ok()??)?)?;
            Some((listed.offset, text))
        })
    }
}

/// Returns the payload of a NOP of either language; `None` for all other packets.
pub(crate) fn skipped<'p>(fields: &Fields<'p>) -> Option<&'p [u32]> {
    match (records::pm4::Packet::read(fields), records::sdma::Packet::read(fields)) {
        (Some(records::pm4::Packet::Nop(nop)), _) => Some(nop.data),
        (_, Some(records::sdma::Packet::Nop(nop))) => Some(nop.data),
        _ => None,
    }
}

/// Returns the payload of a NOP that contains `text`, for [`read_annotation`]; `None` if the text is longer than
/// [`MAX_ANNOTATION_BYTES`].
pub fn annotation(text: &str) -> Option<Vec<u32>> {
    if text.len() > MAX_ANNOTATION_BYTES {
        return None;
    }
    let mut skipped = vec![0; HEAD_DWORDS + text.len().div_ceil(4)];
    let (head, body) = skipped.split_at_mut(HEAD_DWORDS);
    head.copy_from_slice(&[MAGIC, text.len() as u32]);
    for (dword, bytes) in body.iter_mut().zip(text.as_bytes().chunks(4)) {
        let mut padded = [0; 4];
        padded.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        *dword = u32::from_le_bytes(padded);
    }
    Some(skipped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_annotation_is_none() {
        for skipped in [&[][..], &[MAGIC], &[MAGIC, 1], &[MAGIC, 1, 0, 0], &[0, 1, 0], &[MAGIC, u32::MAX, 0]] {
            assert_eq!(read_annotation(skipped), None, "{skipped:?}");
        }
        assert_eq!(read_annotation(&[MAGIC, 0]).as_deref(), Some(""));
        assert_eq!(read_annotation(&[MAGIC, 1, 0xff]).as_deref(), Some("\u{fffd}"));
    }
}
