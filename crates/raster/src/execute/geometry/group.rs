//! The exports of a wave of vertices: what the rasterizer takes from them.

use amdgpu_hw::GfxLevel;

use crate::execute::{
    geometry::vertices::{Drawable, Group},
    interface::Interpolant,
};
use crate::{Attribute, DrawState, PointValue, PointValues, Topology};

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
        let is_point = state.topology == Topology::Points;
        let attributes = state.inputs.attributes.iter();
        attributes
            .map(|attribute| {
                let own = self.attribute(attribute, state.topology, drawable, provoking);
                match state.inputs.points {
                    Some(points) if attribute.is_point_coordinate && is_point => in_point(points, own),
                    _ => own,
                }
            })
            .collect()
    }

    /// Returns an attribute of a primitive as the vertex program has it.
    fn attribute(
        &self,
        attribute: &Attribute,
        topology: Topology,
        drawable: Drawable,
        provoking: usize,
    ) -> Interpolant {
        let one = 1.0_f32.to_bits();
        let constants = [[0; 4], [0, 0, 0, one], [one, one, one, 0], [one; 4]];
        let Some(number) = attribute.parameter else {
            return constants[attribute.constant as usize & 3].map(|value| [value, 0, 0]);
        };
        let Some(rows) = self.parameters.get(number as usize) else { return [[0; 3]; 4] };
        let slots = drawable.vertices.map(usize::from);
        [0, 1, 2, 3].map(|component: usize| {
            let [a, b, c] = slots.map(|slot| rows[slot][component]);
            let difference = |from: u32| (f32::from_bits(from) - f32::from_bits(a)).to_bits();
            if attribute.is_of_primitive {
                [rows[usize::from(drawable.slot)][component], 0, 0]
            } else if attribute.is_explicit {
                // Each of the three places has the value of a vertex.
                [a, b, c]
            } else if attribute.is_flat || topology == Topology::Points {
                [rows[provoking][component], 0, 0]
            } else if matches!(topology, Topology::Lines | Topology::LineStrip) {
                [a, difference(b), 0]
            } else {
                [a, difference(b), difference(c)]
            }
        })
    }
}

/// Replaces the components of an attribute that have other values in points. The shares of a pixel of a point are its place.
fn in_point(points: PointValues, own: Interpolant) -> Interpolant {
    let [one, back] = [1.0_f32, -1.0].map(f32::to_bits);
    let down = if points.is_from_bottom { [one, 0, back] } else { [0, 0, one] };
    let mut replaced = own;
    for (value, with) in replaced.iter_mut().zip(points.components) {
        match with {
            PointValue::Zero => *value = [0; 3],
            PointValue::One => *value = [one, 0, 0],
            PointValue::Across => *value = [0, one, 0],
            PointValue::Down => *value = down,
            PointValue::Kept => {}
        }
    }
    replaced
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Call, Registers};
    use amdgpu_registers::constants as r;

    #[test]
    fn places_in_points_are_counted_from_either_side_and_replace_the_components_that_the_register_names() {
        let level = GfxLevel::Gfx8;
        let points = |control: u32| {
            let read = |at| (r::SPI_INTERP_CONTROL_0.offset(level) == Some(at)).then_some(control);
            DrawState::new(Call::default(), &Registers::new(level, &read)).inputs.points
        };
        let own = [[7, 0, 0], [8, 0, 0], [9, 0, 0], [10, 0, 0]];
        let [one, back] = [1.0_f32, -1.0].map(f32::to_bits);
        // PNT_SPRITE_ENA; S, T, zero and one.
        let usual = 1 << 1 | 2 << 2 | 3 << 5 | 1 << 11;
        assert_eq!(in_point(points(usual).unwrap(), own), [[0, one, 0], [0, 0, one], [0; 3], [one, 0, 0]]);
        // PNT_SPRITE_TOP_1.
        assert_eq!(in_point(points(usual | 1 << 14).unwrap(), own)[1], [one, 0, back]);
        // The vertex program's own in x, and T in w.
        assert_eq!(in_point(points(1 << 1 | 4 << 2 | 3 << 11).unwrap(), own), [own[0], [0; 3], [0; 3], [0, 0, one]]);
        assert_eq!(points(0), None);
    }
}
