//! Groups of vertices: which vertices and primitives a wave has, and what it exports.

use amdgpu_hw::GfxLevel;

use crate::execute::{
    geometry::assemble::{Primitive, Primitives},
    geometry::entry::{self, Contents},
    interface::{Drawn, Ended, Export, Memory, MemoryFault, Shaders},
};
use crate::{DrawState, FrontEnd};

/// The numbers of export targets.
const POSITION: u8 = 12;
const PRIMITIVE: u8 = 20;
const PARAMETER: u8 = 32;

/// A primitive that a wave leaves to the rasterizer: its slot, and the slots of its vertices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::execute) struct Drawable {
    pub(in crate::execute) slot: u8,
    pub(in crate::execute) vertices: [u8; 3],
}

/// The exports of a wave of vertices.
pub(in crate::execute) struct Group {
    /// The position vectors of each vertex: the position, sizes and layers, distances.
    pub(in crate::execute) positions: Vec<[[u32; 4]; 64]>,
    /// The vertices that exported a position.
    pub(in crate::execute) exported: u64,
    /// The parameters, by number and slot.
    pub(in crate::execute) parameters: Vec<[[u32; 4]; 64]>,
    pub(in crate::execute) primitives: Vec<Drawable>,
}

/// The number of places that are found by the low bits of an index: four times the vertices of a wave.
const KNOWN: usize = 256;

/// The vertices of a wave: the index of each, and the primitive that brought it.
struct Listed {
    vertices: Vec<(u32, u32)>,
    /// The place of the last vertex by the low bits of its index, or [`Self::NONE`].
    places: [u8; KNOWN],
}

impl Listed {
    const NONE: u8 = u8::MAX;

    const fn new() -> Self {
        Self { vertices: Vec::new(), places: [Self::NONE; KNOWN] }
    }

    /// Returns the place of an index.
    fn place_of(&self, index: u32) -> Option<u8> {
        let place = self.places[index as usize % KNOWN];
        // Without a vertex of the same low bits there is none of the same index. Another of them may stand for this one.
        let (known, _) = self.vertices.get(usize::from(place))?;
        if *known == index {
            return Some(place);
        }
        self.vertices.iter().position(|(known, _)| *known == index).map(|place| place as u8)
    }

    /// Adds a vertex and returns its place.
    fn add(&mut self, index: u32, primitive: u32) -> u8 {
        let place = self.vertices.len() as u8;
        self.vertices.push((index, primitive));
        self.places[index as usize % KNOWN] = place;
        place
    }
}

/// Makes groups of a draw.
pub(in crate::execute) struct Groups<'d> {
    state: &'d DrawState,
    memory: &'d dyn Memory,
    /// The primitive that did not fit into the last group.
    pending: Option<Primitive>,
    number: u64,
    ring_offset: u64,
}

impl<'d> Groups<'d> {
    pub(in crate::execute) const fn new(state: &'d DrawState, memory: &'d dyn Memory) -> Self {
        Self { state, memory, pending: None, number: 0, ring_offset: 0 }
    }

    /// Runs the next group of an instance; `None` at the end of the instance. A group is a wave, which is smaller than the limits
    /// of all generations.
    pub(in crate::execute) fn next(
        &mut self,
        instance: u32,
        primitives: &mut Primitives<'_>,
        shaders: &mut dyn Shaders,
        drawn: &mut Drawn,
    ) -> Result<Option<Group>, Ended> {
        let most = self.state.vertex.lanes as usize;
        let mut wave = Listed::new();
        let mut listed: Vec<([u8; 3], u32)> = Vec::new();
        while listed.len() < most {
            let Some(primitive) = self.pending.take().or_else(|| primitives.next(self.memory, drawn)) else { break };
            let reuses = self.state.reuses_vertices;
            let new = if reuses {
                primitive.vertices.iter().filter(|index| wave.place_of(**index).is_none()).count()
            } else {
                3
            };
            if wave.vertices.len() + new > most {
                self.pending = Some(primitive);
                break;
            }
            let mut place = |index: u32| {
                let known = if reuses { wave.place_of(index) } else { None };
                known.unwrap_or_else(|| wave.add(index, primitive.number))
            };
            let slots = primitive.vertices.map(&mut place);
            listed.push((slots, primitive.number));
        }
        if listed.is_empty() {
            return Ok(None);
        }
        let vertices = wave.vertices;
        let contents = Contents {
            vertices: &vertices,
            primitives: &listed,
            instance,
            number: self.number,
            ring_offset: self.ring_offset,
        };
        let wave = entry::vertex_wave(self.state, &contents);
        self.number += 1;
        drawn.vertex_waves += 1;
        drawn.vertex_invocations += vertices.len() as u64;
        drawn.assembled += listed.len() as u64;
        let exports = shaders.vertices(&self.state.vertex, &wave)?;
        let mut group = self.collect(&exports, &listed)?;
        if self.state.level >= GfxLevel::Gfx11 {
            self.read_ring(&mut group, drawn);
        }
        Ok(Some(group))
    }

    /// Returns the number of parameters of a slot in the attribute ring.
    fn row(&self) -> u64 {
        u64::from(self.state.outputs.parameters.max(1) + self.state.outputs.primitive_parameters)
    }

    fn collect(&self, exports: &[Export], listed: &[([u8; 3], u32)]) -> Result<Group, Ended> {
        let mut group =
            Group { positions: vec![[[0; 4]; 64]; 4], exported: 0, parameters: Vec::new(), primitives: Vec::new() };
        let mut primitives = Vec::new();
        for export in exports {
            let component = |lane: usize| [0, 1, 2, 3].map(|index| export.values[index][lane]);
            let lanes = (0..64).filter(|lane| export.lanes >> lane & 1 != 0);
            match export.target {
                POSITION..=15 => {
                    let vector = &mut group.positions[usize::from(export.target - POSITION)];
                    lanes.for_each(|lane| vector[lane] = component(lane));
                    if export.target == POSITION {
                        group.exported |= export.lanes;
                    }
                }
                PRIMITIVE => {
                    for lane in lanes {
                        let Some(vertices) = entry::unpacked(self.state.level, export.values[0][lane]) else {
                            continue;
                        };
                        if vertices.iter().any(|slot| *slot >= 64) {
                            return Err(Ended::Hang(format!("a primitive has vertex {} of 64", vertices[0])));
                        }
                        primitives.push(Drawable { slot: lane as u8, vertices });
                    }
                }
                PARAMETER..=63 => {
                    let number = usize::from(export.target - PARAMETER);
                    if group.parameters.len() <= number {
                        group.parameters.resize(number + 1, [[0; 4]; 64]);
                    }
                    lanes.for_each(|lane| group.parameters[number][lane] = component(lane));
                }
                _ => return Err(Ended::Hang(format!("the vertex program exports to target {}", export.target))),
            }
        }
        group.primitives = if matches!(self.state.front_end, FrontEnd::Ngg { .. }) {
            primitives
        } else {
            let drawable =
                |(slot, (vertices, _)): (usize, &([u8; 3], u32))| Drawable { slot: slot as u8, vertices: *vertices };
            listed.iter().enumerate().map(drawable).collect()
        };
        Ok(group)
    }

    /// Reads the parameters that the wave has stored to the attribute ring: blocks of 32 slots, of which each parameter has a row of
    /// 16 bytes a slot.
    fn read_ring(&mut self, group: &mut Group, drawn: &mut Drawn) {
        let row = self.row();
        let space = 2 * row * 512;
        let count =
            self.state.inputs.attributes.iter().filter_map(|one| one.parameter).max().map_or(0, |last| last + 1);
        group.parameters = vec![[[0; 4]; 64]; count as usize];
        let start = self.state.attribute_ring + self.ring_offset;
        for (number, parameter) in group.parameters.iter_mut().enumerate() {
            for (half, slots) in parameter.chunks_exact_mut(32).enumerate() {
                let mut bytes = [0; 512];
                let at = start + (half as u64 * row + number as u64) * 512;
                if let Err(fault) = self.memory.load(at, &mut bytes) {
                    drawn.fault = drawn.fault.or(Some(MemoryFault { is_write: false, ..fault }));
                    bytes.fill(0);
                }
                for (slot, raw) in slots.iter_mut().zip(bytes.chunks_exact(16)) {
                    for (component, word) in slot.iter_mut().zip(raw.chunks_exact(4)) {
                        *component = word.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte));
                    }
                }
            }
        }
        // The next group gets other memory, as on hardware.
        self.ring_offset += space;
        if self.ring_offset + space > self.state.attribute_ring_bytes {
            self.ring_offset = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vertex_is_found_beside_others_of_the_same_low_bits() {
        let mut wave = Listed::new();
        for (place, index) in (0..).zip([7, 263, 519]) {
            assert_eq!(wave.place_of(index), None);
            assert_eq!(wave.add(index, 0), place);
        }
        assert_eq!([7, 263, 519, 775, 8].map(|index| wave.place_of(index)), [Some(0), Some(1), Some(2), None, None]);
    }
}
