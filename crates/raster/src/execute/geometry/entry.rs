//! The registers with which waves start.

use amdgpu_hw::GfxLevel;

use crate::execute::interface::VertexWave;
use crate::{DrawState, FrontEnd};

/// The vertices and primitives of a wave.
pub(in crate::execute) struct Contents<'g> {
    /// The index and the primitive of each vertex, for the number that a vertex shader may get.
    pub(in crate::execute) vertices: &'g [(u32, u32)],
    /// The places of the vertices of each primitive in the wave, and its number.
    pub(in crate::execute) primitives: &'g [([u8; 3], u32)],
    pub(in crate::execute) instance: u32,
    /// The number of the wave in the draw.
    pub(in crate::execute) number: u64,
    /// The place of the wave's parameters in the attribute ring, in bytes (GFX11 and later).
    pub(in crate::execute) ring_offset: u64,
}

/// Returns a primitive as NGG programs export it: ten bits for each vertex, from GFX12 on nine.
fn packed(level: GfxLevel, [a, b, c]: [u8; 3]) -> u32 {
    let bits = if level >= GfxLevel::Gfx12 { 9 } else { 10 };
    u32::from(a) | u32::from(b) << bits | u32::from(c) << (2 * bits)
}

/// Returns the places of a packed primitive; `None` if it is not to be drawn.
pub(in crate::execute) fn unpacked(level: GfxLevel, word: u32) -> Option<[u8; 3]> {
    let bits = if level >= GfxLevel::Gfx12 { 9 } else { 10 };
    (word >> 31 == 0).then(|| [0, 1, 2].map(|index| (word >> (bits * index)) as u8))
}

/// Returns the wave with its initial registers.
///
/// Sources: Mesa 25.0.7 `radv_shader_args.c` and `ac_shader_args.h` for the order of registers.
pub(in crate::execute) fn vertex_wave(state: &DrawState, contents: &Contents<'_>) -> VertexWave {
    match state.front_end {
        FrontEnd::Ngg { is_passthrough, .. } => merged(state, contents, is_passthrough),
        _ => legacy(state, contents),
    }
}

fn legacy(state: &DrawState, contents: &Contents<'_>) -> VertexWave {
    let mut scalars = state.vertex.user_data.clone();
    if state.vertex.has_scratch {
        scalars.push(0);
    }
    let mut vectors = vec![[0; 64]; 4];
    for (lane, (index, primitive)) in contents.vertices.iter().enumerate() {
        let values = if state.level >= GfxLevel::Gfx10 {
            [*index, 0, *primitive, contents.instance]
        } else {
            [*index, contents.instance, *primitive, contents.instance]
        };
        for (register, value) in vectors.iter_mut().zip(values) {
            register[lane] = value;
        }
    }
    VertexWave { scalars, vectors, lanes: mask(contents.vertices.len()) }
}

fn merged(state: &DrawState, contents: &Contents<'_>, is_passthrough: bool) -> VertexWave {
    let level = state.level;
    let (vertices, primitives) = (contents.vertices.len() as u32, contents.primitives.len() as u32);
    let [first, second] = state.vertex.first_scalars;
    let group = (contents.number as u32 & 0xfff) | vertices << 12 | primitives << 22;
    let counts = vertices | primitives << 8 | 1 << 28;
    let offset = if level >= GfxLevel::Gfx11 { (contents.ring_offset / 512) as u32 } else { 0 };
    let mut scalars = vec![first, second, group, counts, 0, offset, 0, 0];
    scalars.extend(&state.vertex.user_data);
    let mut vectors = vec![[0; 64]; 9];
    for (lane, (places, number)) in contents.primitives.iter().enumerate() {
        let [a, b, c] = *places;
        if level >= GfxLevel::Gfx12 {
            vectors[0][lane] = packed(level, *places);
            vectors[1][lane] = *number;
        } else if is_passthrough {
            vectors[0][lane] = packed(level, *places);
            vectors[2][lane] = *number;
        } else {
            vectors[0][lane] = u32::from(a) | u32::from(b) << 16;
            vectors[1][lane] = u32::from(c);
            vectors[2][lane] = *number;
        }
    }
    let (index_at, instance_at) = if level >= GfxLevel::Gfx12 { (3, 4) } else { (5, 8) };
    for (lane, (index, _)) in contents.vertices.iter().enumerate() {
        vectors[index_at][lane] = *index;
        vectors[instance_at][lane] = contents.instance;
    }
    let lanes = if state.vertex.lanes == 32 { 0xffff_ffff } else { u64::MAX };
    VertexWave { scalars, vectors, lanes }
}

/// Returns a mask of the lowest lanes.
pub(in crate::execute) const fn mask(count: usize) -> u64 {
    if count >= 64 { u64::MAX } else { (1 << count) - 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packed_primitive_has_ten_bits_for_a_vertex_and_nine_from_gfx12_on() {
        assert_eq!(packed(GfxLevel::Gfx11, [1, 2, 3]), 1 | 2 << 10 | 3 << 20);
        assert_eq!(packed(GfxLevel::Gfx12, [1, 2, 3]), 1 | 2 << 9 | 3 << 18);
        for level in [GfxLevel::Gfx10, GfxLevel::Gfx12] {
            assert_eq!(unpacked(level, packed(level, [7, 0, 63])), Some([7, 0, 63]));
            assert_eq!(unpacked(level, 1 << 31), None);
        }
    }
}
