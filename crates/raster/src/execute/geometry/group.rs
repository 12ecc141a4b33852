//! The exports of a wave of vertices: what the rasterizer takes from them.

use amdgpu_hw::GfxLevel;

use crate::execute::{
    geometry::vertices::{Drawable, Group},
    interface::Interpolant,
};
use crate::{DrawState, Topology};

impl Group {
    /// Returns the clip and cull distances of a vertex. Exports are numbered without gaps.
    pub(in crate::execute) fn distances(&self, state: &DrawState, slot: usize) -> [f32; 8] {
        let outputs = &state.outputs;
        let mut all = [0.0; 8];
        let mut vector = 1 + usize::from(outputs.has_misc);
        for (half, has) in outputs.has_distances.into_iter().enumerate() {
            if has {
                let found = self.positions.get(vector).map_or([0; 4], |vectors| vectors[slot]);
                all[4 * half..4 * half + 4].copy_from_slice(&found.map(f32::from_bits));
                vector += 1;
            }
        }
        all
    }

    /// Returns the layer and the viewport that a vertex chooses.
    pub(in crate::execute) fn layer_and_viewport(&self, state: &DrawState, slot: usize) -> (u32, usize) {
        let outputs = &state.outputs;
        if !outputs.has_misc {
            return (0, 0);
        }
        let [_, _, z, w] = self.positions[1][slot];
        let (layer, viewport) = if state.level >= GfxLevel::Gfx9 { (z & 0x7ff, z >> 16 & 15) } else { (z, w & 15) };
        (if outputs.has_layer { layer } else { 0 }, if outputs.has_viewport { viewport as usize } else { 0 })
    }

    /// Returns the attributes of a primitive.
    pub(in crate::execute) fn attributes(
        &self,
        state: &DrawState,
        drawable: Drawable,
        provoking: usize,
    ) -> Vec<Interpolant> {
        let one = 1.0_f32.to_bits();
        let constants = [[0; 4], [0, 0, 0, one], [one, one, one, 0], [one; 4]];
        let slots = drawable.vertices.map(usize::from);
        let is_point = state.topology == Topology::Points;
        let is_line = matches!(state.topology, Topology::Lines | Topology::LineStrip);
        state
            .inputs
            .attributes
            .iter()
            .map(|attribute| {
                if attribute.is_point_coordinate && is_point {
                    // The shares of pixels of points are their places.
                    return [[0, one, 0], [0, 0, one], [0; 3], [one, 0, 0]];
                }
                let Some(number) = attribute.parameter else {
                    return constants[attribute.constant as usize & 3].map(|value| [value, 0, 0]);
                };
                let Some(rows) = self.parameters.get(number as usize) else { return [[0; 3]; 4] };
                [0, 1, 2, 3].map(|component: usize| {
                    let [a, b, c] = slots.map(|slot| rows[slot][component]);
                    let difference = |from: u32| (f32::from_bits(from) - f32::from_bits(a)).to_bits();
                    if attribute.is_of_primitive {
                        [rows[usize::from(drawable.slot)][component], 0, 0]
                    } else if attribute.is_explicit {
                        // Each of the three places has the value of a vertex.
                        [a, b, c]
                    } else if attribute.is_flat || is_point {
                        [rows[provoking][component], 0, 0]
                    } else if is_line {
                        [a, difference(b), 0]
                    } else {
                        [a, difference(b), difference(c)]
                    }
                })
            })
            .collect()
    }
}
