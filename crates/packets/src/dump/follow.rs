//! Following of calls and chains.

use std::collections::{HashMap, VecDeque};

use super::collect;
use super::content::{Dump, Ib, Origin, Shown};
use super::settings::Settings;
use crate::layout::packets;
use amdgpu_hw::GpuVa;

/// An IB that has yet to be dumped.
struct Waiting {
    index: usize,
    depth: u32,
    /// The number of dwords of the IB before the content.
    first: usize,
    content: Vec<u32>,
}

pub(super) fn follow(settings: &Settings<'_>, part: &[u32], first: usize, va: Option<GpuVa>) -> Dump {
    let mut walk = Walk {
        settings,
        dump: Dump { reader: settings.reader, ibs: Vec::new() },
        seen: HashMap::new(),
        waiting: VecDeque::new(),
        left: settings.limits.dwords,
    };
    walk.announce(part.to_vec(), va, None, 0);
    if let (Some(ib), Some(waiting)) = (walk.dump.ibs.first_mut(), walk.waiting.front_mut()) {
        (ib.first, waiting.first) = (first, first);
    }
    while let Some(next) = walk.waiting.pop_front() {
        walk.show(&next);
    }
    walk.dump
}

struct Walk<'w, 'd> {
    settings: &'w Settings<'d>,
    dump: Dump,
    /// The index of each IB in the dump.
    seen: HashMap<(GpuVa, usize), usize>,
    waiting: VecDeque<Waiting>,
    left: usize,
}

impl Walk<'_, '_> {
    fn announce(&mut self, mut content: Vec<u32>, va: Option<GpuVa>, from: Option<Origin>, depth: u32) -> usize {
        let index = self.dump.ibs.len();
        if let Some(va) = va {
            self.seen.insert((va, content.len()), index);
        }
        content.truncate(self.left);
        self.left -= content.len();
        self.dump.ibs.push(Ib { va, first: 0, dwords: content.len(), from, packets: Vec::new() });
        self.waiting.push_back(Waiting { index, depth, first: 0, content });
        index
    }

    fn show(&mut self, ib: &Waiting) {
        let mut shown = Vec::new();
        for listed in packets(&ib.content, self.settings.reader) {
            let mut packet = collect::packet(self.settings, &listed);
            packet.offset += ib.first;
            packet.problem.iter_mut().for_each(|problem| problem.offset += ib.first);
            for next in &mut packet.next {
                let origin = Origin { ib: ib.index, offset: packet.offset, is_chain: next.is_chain };
                next.shown = self.lead(next.va, next.dwords, origin, ib.depth);
            }
            shown.push(packet);
        }
        if let Some(ib) = self.dump.ibs.get_mut(ib.index) {
            ib.packets = shown;
        }
    }

    fn lead(&mut self, va: GpuVa, dwords: usize, from: Origin, depth: u32) -> Shown {
        if let Some(&index) = self.seen.get(&(va, dwords)) {
            return Shown::As(index);
        }
        let limits = self.settings.limits;
        if depth >= limits.depth || self.dump.ibs.len() >= limits.ibs || dwords > self.left {
            return Shown::Limit;
        }
        match (self.settings.memory)(va, dwords) {
            Some(content) => Shown::As(self.announce(content, Some(va), Some(from), depth + 1)),
            None => Shown::Unreadable,
        }
    }
}
