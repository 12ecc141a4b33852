//! Excerpts of the IB in which a queue stopped.

use std::{ops::Range, sync::Arc};

use super::{ib_source::Source, registers};
use crate::{
    cs::{
        Breadcrumbs, Target,
        dump::{Dump, Dumper, Limits, Register},
        layout,
        record::list::recorded::Recorded,
    },
    vamgr::GpuVa,
    winsys::VaMap,
};

/// Dwords shown before the first mark, and from the second mark on.
const BEFORE: usize = 32;
const BEHIND: usize = 96;

/// The greatest distance of the two marks, in dwords, at which everything between them is shown; otherwise only the surroundings of
/// the last mark are.
const BETWEEN: usize = 1024;

/// Limits for the memory that the excerpt refers to.
const LIMITS: Limits = Limits { depth: 2, ibs: 8, dwords: 4096 };

/// An excerpt of the IB in which a queue stopped, around the last marks of its breadcrumbs.
///
/// ```
/// use amdgpu_winsys::cs::HangReport;
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// # let readback = manager.properties().type_for(amdgpu_winsys::heaps::MemoryUsage::Readback).ok_or("no such type")?;
/// # let memory = manager.allocate(&amdgpu_winsys::heaps::AllocateInfo::new(readback, 4096))?;
/// # let context = amdgpu_winsys::winsys::Context::new(&device, amdgpu_winsys::winsys::Priority::Normal)?;
/// # let queue = amdgpu_winsys::cs::Queue::new(&context, amdgpu_winsys::winsys::Ip::Gfx, 0)?;
/// # let target = amdgpu_winsys::cs::pm4::Target::gfx(device.info().gfx_level);
/// # let mut stream = amdgpu_winsys::cs::Stream::new(&device, target, 64)?;
/// # stream.push(&amdgpu_winsys::cs::pm4::WaitRegMem::new(memory.address(), amdgpu_winsys::cs::pm4::Compare::Equal, 1))?;
/// # let (waits, used) = (stream.finish()?, [memory.binding().clone()]);
/// # let fence = queue.submit(&amdgpu_winsys::cs::Submission { lists: &[&waits], memory: &used, ..Default::default() })?;
/// // The queue waits for a dword that is not written yet.
/// let report = HangReport::new(&device).with_queue(&queue, None);
/// let excerpt = report.queues[0].excerpt.as_ref().ok_or("the queue is idle")?;
/// assert_eq!((excerpt.sequence, excerpt.first, excerpt.last_mark), (1, 0, None)); // no breadcrumbs
/// assert_eq!(waits.ibs().next().map(|(address, _)| address), Some(excerpt.ib));
/// assert!(report.to_string().contains("WAIT_REG_MEM"), "{report}");
/// # memory.map()?.store_u32(0, 1)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// The sequence number of the submission.
    pub sequence: u64,
    /// The ring and generation that execute the IB.
    pub target: Target,
    /// GPU address of the IB.
    pub ib: GpuVa,
    /// Index in the IB of the first dword shown, at which a packet begins.
    pub first: usize,
    /// The dwords of the excerpt, starting at index [`first`](Self::first) of the IB.
    pub dwords: Vec<u32>,
    /// Index in the IB of the packet that wrote the last mark that the ring has reached. `None` without such a mark; the excerpt is
    /// then the beginning of the first IB of the submission.
    pub last_mark: Option<usize>,
    /// Index in the IB of the packet that wrote the last mark before which all work has completed. `None` if that packet is in
    /// another IB or there is no such mark.
    pub done_mark: Option<usize>,
    /// The registers that the packets of the submission before the last mark set, with their last values, ordered by offset. Called
    /// IBs are included, and CLEAR_STATE resets context registers. Empty without a mark, and on copy engines.
    pub registers: Vec<Register>,
    /// The decoded dwords, and the IBs that they call or jump to. The device's [VA map](crate::winsys::Device::va_map) at the time
    /// of the report names the addresses.
    pub decoded: Dump,
}

impl Excerpt {
    /// Returns the excerpt around the last marks, or the beginning of the first list of `queue` if there are none.
    pub(super) fn of(
        queue: Target,
        sequence: u64,
        lists: &[Arc<Recorded>],
        breadcrumbs: Option<&Breadcrumbs>,
        map: Option<&VaMap>,
    ) -> Option<Self> {
        let set = |(at, mark)| (mark != 0).then_some((at, mark));
        let main: usize = lists.iter().map(|list| list.ibs().len()).sum();
        let all = lists.iter().chain(lists.iter().flat_map(|list| list.called()));
        let ibs: Vec<_> = all.flat_map(|list| list.ibs().zip(list.dwords()).map(|ib| (list.target(), ib))).collect();
        let sources: Vec<_> =
            ibs.iter().map(|(target, ((va, _), dwords))| Source { target: *target, va: *va, dwords }).collect();
        let found = breadcrumbs.and_then(|crumbs| {
            let (at, mark) = set(crumbs.last_mark())?;
            sources.iter().find_map(|source| Some((*source, Some(source.store(at, mark)?))))
        });
        let begin = || sources.iter().find(|source| source.target == queue).or(sources.first());
        let (source, last_mark) = found.or_else(|| begin().map(|source| (*source, None)))?;
        let done_mark =
            breadcrumbs.and_then(|crumbs| set(crumbs.done_mark())).and_then(|(at, mark)| source.store(at, mark));
        let part = source.around(last_mark, done_mark);
        let Source { target, va: ib, dwords } = source;
        let memory = |va, len| sources.iter().find_map(|source| source.read(va, len));
        let names = |address| map.map(|map| map.lookup(address).to_string());
        let dumper = Dumper::new(target).with_memory(&memory).with_names(&names).with_limits(LIMITS);
        let decoded = dumper.dump_part(dwords, Some(ib), part.clone());
        let first = part.start;
        let on_the_queue = sources.iter().take(main).filter(|ib| ib.target == target);
        let on_the_queue: Vec<_> = on_the_queue.copied().collect();
        let set = last_mark.map(|mark| registers::set_before(&on_the_queue, &sources, (source, mark), &dumper));
        let registers = set.unwrap_or_default();
        let dwords = dwords.get(part).unwrap_or_default().to_vec();
        Some(Self { sequence, target, ib, first, dwords, last_mark, done_mark, registers, decoded })
    }
}

impl Source<'_> {
    /// Returns the dwords at an address if they are in this IB.
    fn read(&self, va: GpuVa, len: usize) -> Option<Vec<u32>> {
        let into = usize::try_from(va.as_u64().checked_sub(self.va.as_u64())? / 4).ok()?;
        Some(self.dwords.get(into..into.checked_add(len)?)?.to_vec())
    }

    /// Returns the offset of the packet that contains both an address and a value. The upper 16 bits of the high dword are ignored,
    /// because some packets have other fields there.
    fn store(&self, at: GpuVa, value: u32) -> Option<usize> {
        let has_address =
            |pair: &[u32]| matches!(pair, [low, high] if *low == at.low() && *high as u16 == at.high() as u16);
        layout::packets(self.dwords, self.target)
            .find(|packet| packet.dwords.windows(2).any(has_address) && packet.dwords.contains(&value))
            .map(|packet| packet.offset)
    }

    /// Returns the range of whole packets around the marks.
    fn around(&self, last_mark: Option<usize>, done_mark: Option<usize>) -> Range<usize> {
        let last = last_mark.unwrap_or(0);
        let near = done_mark.filter(|&done| done <= last && last - done <= BETWEEN);
        let (from, to) = (near.unwrap_or(last).saturating_sub(BEFORE), last + BEHIND);
        let mut part = 0..self.dwords.len();
        for packet in layout::packets(self.dwords, self.target) {
            if packet.offset <= from {
                part.start = packet.offset;
            }
            if packet.offset >= to {
                part.end = packet.offset;
                break;
            }
        }
        part
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{
        cs::{PacketBuf, pm4},
        winsys::GfxLevel,
    };

    #[test]
    fn memory_is_read_from_the_ib_that_has_all_of_it() {
        let dwords: Vec<u32> = (0..16).collect();
        let va = |address| GpuVa::new(address).unwrap();
        let source = Source { target: pm4::Target::gfx(GfxLevel::Gfx10).into(), va: va(0x1000), dwords: &dwords };
        for (at, len) in (0..20_usize).flat_map(|at| (0..20_usize).map(move |len| (at, len))) {
            let expected = dwords.get(at..at + len).map(<[u32]>::to_vec);
            assert_eq!(source.read(va(0x1000 + 4 * at as u64), len), expected, "{len} from {at}");
        }
        assert_eq!(source.read(va(0xffc), 1), None, "in front of it");
    }

    proptest! {
        /// Marks are at arbitrary positions, and often at the limit of the distance at which both are shown.
        #[test]
        fn an_excerpt_is_the_whole_packets_around_both_marks_or_around_the_last(
            lengths in prop::collection::vec(0..9_usize, 300..500),
            last in prop::option::of(0..1800_usize),
            apart in prop_oneof![Just(BETWEEN - 1), Just(BETWEEN), Just(BETWEEN + 1), 0..1500_usize],
            has_done in any::<bool>(),
            is_behind in any::<bool>(),
        ) {
            let language = pm4::Target::gfx(GfxLevel::Gfx10);
            let mut packets = PacketBuf::new(language);
            let mut starts = Vec::new();
            for length in lengths {
                starts.push(packets.dwords().len());
                let payload = vec![0; length];
                let packet = if length == 0 { pm4::Nop::Bare } else { pm4::Nop::Skip(&payload) };
                packets.push(&packet).unwrap();
            }
            let dwords = packets.dwords();
            let source = Source { target: language.into(), va: GpuVa::new(0x1000).unwrap(), dwords };
            let mark = last.unwrap_or(0);
            let done = if is_behind { Some(mark + apart) } else { mark.checked_sub(apart) };
            let done = done.filter(|_| has_done);
            let is_one = |done: &usize| (0..=BETWEEN).contains(&apart) && *done <= mark;
            let first = done.filter(is_one).unwrap_or(mark);
            let start = starts.iter().copied().filter(|start| start + BEFORE <= first).max().unwrap_or(0);
            let end = starts.iter().copied().find(|&start| start >= mark + BEHIND).unwrap_or(dwords.len());
            prop_assert_eq!(source.around(last, done), start..end);
        }
    }
}
