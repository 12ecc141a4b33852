//! Assembly of primitives from vertices and indices.

use crate::execute::interface::{Drawn, Memory, MemoryFault};
use crate::{DrawState, Topology};

/// A primitive of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::execute) struct Primitive {
    /// The indices of its vertices.
    pub(in crate::execute) vertices: [u32; 3],
    /// Its number in the instance.
    pub(in crate::execute) number: u32,
}

/// The primitives of an instance, in order.
pub(in crate::execute) struct Primitives<'d> {
    state: &'d DrawState,
    count: u32,
    /// The number of the next vertex.
    next: u32,
    /// The vertices of the strip so far: the first, and the last two.
    kept: [u32; 3],
    /// The number of vertices since the start of the strip.
    length: u32,
    number: u32,
    block: Vec<u8>,
    block_start: u64,
}

/// The number of indices that are read at once.
const BLOCK: u64 = 1024;

/// The number of vertices after which the job may have ended.
const LOOK: u32 = 4096;

impl<'d> Primitives<'d> {
    pub(in crate::execute) const fn new(state: &'d DrawState, count: u32) -> Self {
        Self { state, count, next: 0, kept: [0; 3], length: 0, number: 0, block: Vec::new(), block_start: 0 }
    }

    /// Returns the index of a vertex: 0 behind the end of the index buffer.
    fn index(&mut self, at: u32, memory: &dyn Memory, drawn: &mut Drawn) -> u32 {
        let call = &self.state.call;
        let Some(indices) = call.indices else { return call.first.wrapping_add(at) };
        let place = u64::from(call.first) + u64::from(at);
        if place >= u64::from(indices.count) {
            return 0;
        }
        let bytes = u64::from(indices.bytes);
        let end = self.block_start + self.block.len() as u64 / bytes;
        if self.block.is_empty() || place < self.block_start || place >= end {
            // Indices that the draw does not use need not be mapped.
            let length = BLOCK.min(u64::from(indices.count) - place).min(u64::from(self.count - at));
            self.block = vec![0; (length * bytes) as usize];
            self.block_start = place;
            let va = indices.va.wrapping_add(place * bytes);
            if let Err(fault) = memory.load_indices(va, &mut self.block) {
                drawn.fault = drawn.fault.or(Some(MemoryFault { is_write: false, ..fault }));
                // Those in front of the end of a mapping are read.
                for (number, index) in (0..).zip(self.block.chunks_exact_mut(bytes as usize)) {
                    if memory.load_indices(va.wrapping_add(number * bytes), index).is_err() {
                        index.fill(0);
                    }
                }
            }
        }
        let from = ((place - self.block_start) * bytes) as usize;
        let raw = &self.block[from..from + bytes as usize];
        raw.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte))
    }

    /// Returns `true` if an index ends a strip.
    fn restarts(&self, index: u32) -> bool {
        let (Some(indices), Some(value)) = (self.state.call.indices, self.state.geometry.restart) else { return false };
        let mask =
            if self.state.geometry.restart_compares_all { u32::MAX } else { u32::MAX >> (32 - 8 * indices.bytes) };
        index == value & mask
    }

    /// Returns the next primitive; `None` at the end, or if the job has ended.
    pub(in crate::execute) fn next(&mut self, memory: &dyn Memory, drawn: &mut Drawn) -> Option<Primitive> {
        loop {
            // Vertices may be many that make no primitive.
            let looks = self.next.is_multiple_of(LOOK) && self.next > 0;
            if self.next >= self.count || looks && memory.is_stopped() {
                return None;
            }
            let index = self.index(self.next, memory, drawn);
            self.next += 1;
            if self.restarts(index) {
                self.length = 0;
                continue;
            }
            let Some(vertices) = self.add(index) else { continue };
            let number = self.number;
            self.number += 1;
            return Some(Primitive { vertices, number });
        }
    }

    /// Adds a vertex and returns the triangle that it completes. The provoking vertex is the first or, if the state says so, the last
    /// vertex of the triangle, and triangles of a strip keep their orientation.
    fn add(&mut self, index: u32) -> Option<[u32; 3]> {
        let last = self.state.geometry.provokes_last;
        let at = self.length;
        self.length += 1;
        let [first, before, previous] = self.kept;
        match self.state.topology {
            Topology::TriangleStrip => {
                self.kept = [0, previous, index];
                if at < 2 {
                    return None;
                }
                let is_odd = !at.is_multiple_of(2);
                Some(match (is_odd, last) {
                    (false, _) => [before, previous, index],
                    (true, false) => [before, index, previous],
                    (true, true) => [previous, before, index],
                })
            }
            Topology::TriangleFan => {
                if at == 0 {
                    self.kept = [index, 0, 0];
                    return None;
                }
                self.kept = [first, previous, index];
                if at < 2 {
                    return None;
                }
                Some(if last { [first, previous, index] } else { [previous, index, first] })
            }
            Topology::Points => Some([index; 3]),
            Topology::Lines => {
                self.kept[2] = index;
                (!at.is_multiple_of(2)).then_some([previous, index, index])
            }
            Topology::LineStrip => {
                self.kept[2] = index;
                (at > 0).then_some([previous, index, index])
            }
            _ => {
                self.kept = [0, previous, index];
                if at < 2 {
                    return None;
                }
                self.length = 0;
                Some([before, previous, index])
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Call, Indices, Registers};

    struct Bytes(Vec<u8>);

    impl Memory for Bytes {
        fn load(&self, va: u64, out: &mut [u8]) -> Result<(), MemoryFault> {
            let from = va as usize;
            let found = self.0.get(from..from + out.len()).ok_or(MemoryFault { va, is_write: false })?;
            out.copy_from_slice(found);
            Ok(())
        }

        fn store(&self, va: u64, _: &[u8]) -> Result<(), MemoryFault> {
            Err(MemoryFault { va, is_write: true })
        }
    }

    fn state(kind: u32, mode: u32, restart: u32) -> DrawState {
        let read = move |at: u32| match at {
            0x3_0908 => Some(kind),
            0x2_8814 => Some(mode),
            0x3_092c => Some(restart),
            0x2_840c => Some(0xffff),
            _ => None,
        };
        DrawState::new(Call::default(), &Registers::new(amdgpu_hw::GfxLevel::Gfx9, &read))
    }

    fn all(state: &DrawState, count: u32, memory: &Bytes) -> Vec<[u32; 3]> {
        let mut drawn = Drawn::default();
        let mut primitives = Primitives::new(state, count);
        std::iter::from_fn(|| primitives.next(memory, &mut drawn)).map(|one| one.vertices).collect()
    }

    #[test]
    fn lists_drop_incomplete_triangles() {
        assert_eq!(all(&state(4, 0, 0), 8, &Bytes(vec![])), [[0, 1, 2], [3, 4, 5]]);
    }

    #[test]
    fn lines_have_two_vertices_and_points_one() {
        assert_eq!(all(&state(2, 0, 0), 5, &Bytes(vec![])), [[0, 1, 1], [2, 3, 3]]);
        assert_eq!(all(&state(3, 0, 0), 3, &Bytes(vec![])), [[0, 1, 1], [1, 2, 2]]);
        assert_eq!(all(&state(1, 0, 0), 2, &Bytes(vec![])), [[0; 3], [1; 3]]);
    }

    #[test]
    fn odd_triangles_of_a_strip_keep_orientation_and_provoking_vertex() {
        assert_eq!(all(&state(6, 0, 0), 5, &Bytes(vec![])), [[0, 1, 2], [1, 3, 2], [2, 3, 4]]);
        assert_eq!(all(&state(6, 1 << 19, 0), 4, &Bytes(vec![])), [[0, 1, 2], [2, 1, 3]]);
    }

    #[test]
    fn a_fan_turns_around_its_first_vertex() {
        assert_eq!(all(&state(5, 0, 0), 4, &Bytes(vec![])), [[1, 2, 0], [2, 3, 0]]);
        assert_eq!(all(&state(5, 1 << 19, 0), 4, &Bytes(vec![])), [[0, 1, 2], [0, 2, 3]]);
    }

    #[test]
    fn the_restart_index_ends_a_strip_and_indices_behind_the_buffer_are_zero() {
        let indices = [5_u16, 6, 7, 0xffff, 9, 8, 4];
        let bytes = Bytes(indices.iter().flat_map(|index| index.to_le_bytes()).collect());
        let mut state = state(6, 0, 1);
        state.call.indices = Some(Indices { va: 0, count: 7, bytes: 2 });
        assert_eq!(all(&state, 8, &bytes), [[5, 6, 7], [9, 8, 4], [8, 0, 4]]);
    }
}
