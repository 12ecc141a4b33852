//! The registers that a submission had set at the point where a queue stopped.

use std::collections::BTreeMap;

use super::ib_source::Source;
use crate::cs::{
    Target,
    dump::{Dumper, Limits, Register},
    layout::{self, records::pm4::Packet, values::ClearStateCmd},
    registers::Aperture,
};

/// Limits to dump one packet at a time. Calls are followed here instead.
const ALONE: Limits = Limits { depth: 0, ibs: 1, dwords: usize::MAX };

/// The maximum depth of calls: a called IB cannot call another.
const DEPTH: u32 = 1;

/// Returns the registers that the packets before a place have set, with their last values, ordered by offset.
///
/// `ibs` are the IBs that the queue executes in sequence, `all` also has the IBs that they call, and `place` is a dword of one of
/// them. Values that packets load from memory are not known.
pub(super) fn set_before(
    ibs: &[Source<'_>],
    all: &[Source<'_>],
    place: (Source<'_>, usize),
    dumper: &Dumper<'_>,
) -> Vec<Register> {
    let mut walk = Walk { all, place, dumper: dumper.with_limits(ALONE), set: BTreeMap::new() };
    let is_reached = ibs.iter().any(|ib| walk.reaches(*ib, 0));
    if is_reached { walk.set.into_values().collect() } else { Vec::new() }
}

struct Walk<'a, 'd> {
    all: &'a [Source<'a>],
    place: (Source<'a>, usize),
    dumper: Dumper<'d>,
    set: BTreeMap<u32, Register>,
}

impl Walk<'_, '_> {
    /// Collects the registers that the packets of an IB set, up to the place. Returns `true` if the place is in this IB.
    fn reaches(&mut self, ib: Source<'_>, depth: u32) -> bool {
        for packet in layout::packets(ib.dwords, ib.target) {
            if (ib.va, packet.offset) == (self.place.0.va, self.place.1) {
                return true;
            }
            let content = packet.content.ok().flatten();
            if let (Some(Packet::ClearState(clear)), Target::Pm4(target)) =
                (content.and_then(|fields| Packet::read(&fields)), ib.target)
                && clear.cmd != ClearStateCmd::PUSH
            {
                let context = Aperture::Context.bytes(target.level).unwrap_or_default();
                self.set.retain(|offset, _| !context.contains(offset));
            }
            let end = packet.offset + packet.dwords.len();
            let dump = self.dumper.dump_part(ib.dwords, Some(ib.va), packet.offset..end);
            for packet in dump.ibs.into_iter().flat_map(|ib| ib.packets) {
                self.set.extend(packet.registers.into_iter().map(|register| (register.offset, register)));
                for next in packet.next.iter().filter(|next| !next.is_chain && depth < DEPTH) {
                    let called = self.all.iter().copied().find(|source| source.va == next.va);
                    if called.is_some_and(|called| self.reaches(called, depth + 1)) {
                        return true;
                    }
                }
            }
        }
        false
    }
}
