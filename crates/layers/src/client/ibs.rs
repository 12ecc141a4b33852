//! The content at the time of submission of the memory that the GPU reads for a submission.

use std::collections::{HashSet, VecDeque};

use amdgpu_hw::{GfxLevel, GpuVa, Ip};
use amdgpu_packets::{Target, dump, layout, layout::Reader, pm4, sdma};
use amdgpu_uapi::{IbFlags, chunk_id};

use super::{
    calls::{u32_at, u64_at},
    chunks,
};
use crate::format::Ib;

/// The maximum number of IBs of one submission, including called ones, and the maximum number of dwords in all IBs.
const MOST_IBS: usize = 4096;
const MOST_DWORDS: usize = 16 << 20;

/// An IB that a CS ioctl submits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubmittedIb {
    /// The IP whose ring executes the IB.
    pub ip: Ip,
    /// Index of the ring that executes the IB.
    pub ring: u32,
    /// Flags of the IB chunk.
    pub flags: IbFlags,
    /// GPU address of the IB.
    pub va: GpuVa,
    /// Length of the IB in dwords.
    pub dwords: usize,
}

impl SubmittedIb {
    /// Returns the engine that reads the IB on a chip of this generation; `None` for a video engine.
    pub fn reader(&self, level: GfxLevel) -> Option<Reader> {
        Some(match self.ip {
            Ip::Gfx if self.flags.contains(IbFlags::CE) => Reader::Constant(level),
            Ip::Gfx => Target::from(pm4::Target::gfx(level)).into(),
            Ip::Compute => Target::from(pm4::Target::compute(level)).into(),
            Ip::Sdma => Target::from(sdma::Version::of(level)).into(),
            _ => return None,
        })
    }
}

/// Returns the IBs of a CS ioctl.
pub(crate) fn submitted(read: &[impl AsRef<[u8]>]) -> Vec<SubmittedIb> {
    chunks::of(read).filter(|chunk| chunk.kind == chunk_id::IB).filter_map(|chunk| ib(chunk.content)).collect()
}

/// Returns the handles of the BOs to which the kernel or the GPU writes sequence numbers.
pub(crate) fn user_fences(read: &[impl AsRef<[u8]>]) -> impl Iterator<Item = u32> {
    chunks::of(read).filter(|chunk| chunk.kind == chunk_id::FENCE).filter_map(|chunk| u32_at(chunk.content, 0))
}

fn ib(chunk: &[u8]) -> Option<SubmittedIb> {
    Some(SubmittedIb {
        ip: Ip::from_raw(u32_at(chunk, 20)?)?,
        ring: u32_at(chunk, 28)?,
        flags: IbFlags::from_bits_retain(u32_at(chunk, 4)?),
        va: GpuVa::from_48_bits(u64_at(chunk, 8)?),
        dwords: u32_at(chunk, 16)? as usize / 4,
    })
}

/// Returns the content of IBs, and of the IBs to which they lead. `read` returns exactly the requested number of dwords, or `None`.
pub(crate) fn contents(
    file: u32,
    ibs: &[SubmittedIb],
    level: Option<GfxLevel>,
    mut read: impl FnMut(GpuVa, usize) -> Option<Vec<u32>>,
) -> Vec<Ib> {
    let mut waiting: VecDeque<_> =
        ibs.iter().map(|ib| (ib.va, ib.dwords, level.and_then(|level| ib.reader(level)))).collect();
    let (mut found, mut seen, mut left) = (Vec::new(), HashSet::new(), MOST_DWORDS);
    while let Some((va, dwords, reader)) = waiting.pop_front() {
        if found.len() == MOST_IBS || !seen.insert((va, dwords)) || dwords > left {
            continue;
        }
        left -= dwords;
        let content = read(va, dwords).unwrap_or_default();
        if let Some(reader) = reader {
            let fields = layout::packets(&content, reader).filter_map(|packet| packet.content.ok().flatten());
            for next in fields.flat_map(|fields| dump::leads_to(&fields)) {
                waiting.push_back((next.va, next.dwords, Some(reader)));
            }
        }
        found.push(Ib { file, va: va.as_u64(), len: dwords as u32, dwords: content });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(words: &[u64]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    #[test]
    fn ibs_are_found_among_other_chunks_and_their_lists() {
        let read = [
            bytes(&[1, 1, 1]),
            bytes(&[6 << 32 | u64::from(chunk_id::BO_HANDLES), 1]),
            bytes(&[u64::MAX, 8 << 32 | 2, 1]),
            bytes(&[3, 4]),
            bytes(&[8 << 32 | u64::from(chunk_id::IB), 1]),
            bytes(&[0, 0x1000, 64, 1 << 32]),
            bytes(&[u64::from(chunk_id::FENCE), 0]),
        ];
        let found = submitted(&read);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].ip, found[0].ring, found[0].va.as_u64(), found[0].dwords), (Ip::Gfx, 1, 0x1000, 16));
    }

    #[test]
    fn whatever_is_cut_off_ends_the_search() {
        let header = bytes(&[8 << 32 | u64::from(chunk_id::IB), 1]);
        for read in [
            vec![],
            vec![vec![1]],
            vec![vec![], header.clone()],
            vec![vec![], header, vec![1, 2, 3]],
            vec![vec![], vec![9]],
        ] {
            assert_eq!(submitted(&read), []);
        }
    }

    #[test]
    fn an_ib_that_calls_itself_is_kept_once() {
        let call = [0xc002_3f00, 0x1000, 0, 4];
        let ib =
            SubmittedIb { ip: Ip::Gfx, ring: 0, flags: IbFlags::empty(), va: GpuVa::from_48_bits(0x1000), dwords: 4 };
        let kept = contents(0, &[ib, ib], Some(GfxLevel::Gfx9), |_, _| Some(call.to_vec()));
        assert_eq!(kept.len(), 1);
        assert_eq!(kept[0].dwords, call);
    }
}
