//! The registers with which waves of pixels start.

use amdgpu_hw::GfxLevel;

use crate::execute::{
    cover::quad::Quad,
    interface::{Interpolant, PixelWave},
    shade::pixels::Pixels,
};

impl Pixels<'_> {
    /// Returns the wave for quads with its initial registers.
    ///
    /// Source: Mesa 25.0.7 `src/amd/registers/gfx6.json`, SPI_PS_INPUT_ADDR, for the order of inputs; `radv_shader_args.c` for that of
    /// scalar registers.
    pub(in crate::execute) fn wave(&self, quads: &[Quad], primitives: Vec<Vec<Interpolant>>) -> PixelWave {
        let state = self.state;
        let mut scalars = state.pixel.user_data.clone();
        // The mask of primitives, whose bits compilers only pass on to interpolation.
        scalars.push(0);
        if state.pixel.loads_provoking_vertex {
            scalars.push(0);
        }
        if state.pixel.has_scratch && state.level < GfxLevel::Gfx11 {
            scalars.push(0);
        }
        let lanes =
            quads.iter().enumerate().fold(0, |lanes, (index, quad)| lanes | u64::from(quad.mask()) << (4 * index));
        let mut vectors = Vec::with_capacity(state.inputs.placed.count_ones() as usize + 8);
        for input in (0..16).filter(|input| state.inputs.placed >> input & 1 != 0) {
            let count = match input {
                3 => 3,
                0..=2 | 4..=6 => 2,
                _ => 1,
            };
            for part in 0..count {
                let mut register = [0; 64];
                if state.inputs.loaded >> input & 1 != 0 {
                    self.input(quads, (input, part), &mut register);
                }
                vectors.push(register);
            }
        }
        let quads = quads.iter().map(|quad| quad.primitive).collect();
        PixelWave { scalars, vectors, lanes, primitives, quads }
    }

    /// Sets an input of the pixels of a wave.
    fn input(&self, quads: &[Quad], (input, part): (u32, usize), register: &mut [u32; 64]) {
        let inputs = &self.state.inputs;
        let iterates = self.state.sampling.iterations > 1;
        let own = |quad: &Quad, lane: usize| quad.sampled.as_ref().map_or(quad.values[lane], |all| all.own[lane]);
        let centroid =
            |quad: &Quad, lane: usize| quad.sampled.as_ref().map_or(quad.values[lane], |all| all.centroid[lane]);
        // The place of the position in a pixel.
        let inner = |quad: &Quad, lane: usize| match &quad.sampled {
            _ if inputs.position_is_corner => [0.0; 2],
            Some(all) if inputs.position_location == 2 => all.place[lane],
            _ => [0.5; 2],
        };
        // Depth and w are those of the sample, or of the centre.
        let deep = |quad: &Quad, lane: usize| if iterates { own(quad, lane) } else { quad.values[lane] };
        match input {
            0 => fill(quads, register, |quad, lane| own(quad, lane).perspective[part].to_bits()),
            1 => fill(quads, register, |quad, lane| quad.values[lane].perspective[part].to_bits()),
            2 => fill(quads, register, |quad, lane| centroid(quad, lane).perspective[part].to_bits()),
            3 if part < 2 => fill(quads, register, |quad, lane| {
                (quad.values[lane].perspective[part] / quad.values[lane].w).to_bits()
            }),
            3 => fill(quads, register, |quad, lane| (1.0 / quad.values[lane].w).to_bits()),
            4 => fill(quads, register, |quad, lane| own(quad, lane).linear[part].to_bits()),
            5 => fill(quads, register, |quad, lane| quad.values[lane].linear[part].to_bits()),
            6 => fill(quads, register, |quad, lane| centroid(quad, lane).linear[part].to_bits()),
            8 => fill(quads, register, |quad, lane| (quad.pixel(lane)[0] as f32 + inner(quad, lane)[0]).to_bits()),
            9 => fill(quads, register, |quad, lane| (quad.pixel(lane)[1] as f32 + inner(quad, lane)[1]).to_bits()),
            10 => fill(quads, register, |quad, lane| deep(quad, lane).z.to_bits()),
            11 => fill(quads, register, |quad, lane| deep(quad, lane).w.to_bits()),
            12 if inputs.facing_is_mask => fill(quads, register, |quad, _| u32::from(quad.is_front).wrapping_neg()),
            12 => fill(quads, register, |quad, _| if quad.is_front { 1.0_f32 } else { -1.0 }.to_bits()),
            13 => fill(quads, register, |quad, _| {
                quad.layer << 16 | quad.sampled.as_ref().map_or(0, |all| all.number) << 8
            }),
            14 if self.is_early && self.state.depth.covers_after_tests => {
                fill(quads, register, |quad, lane| quad.samples[lane].into());
            }
            14 => fill(quads, register, |quad, lane| quad.coverage[lane].into()),
            15 => fill(quads, register, |quad, lane| {
                let [x, y] = quad.pixel(lane);
                x as u32 & 0xffff | (y as u32) << 16
            }),
            _ => {}
        }
    }
}

/// Sets the lanes of quads.
fn fill(quads: &[Quad], register: &mut [u32; 64], of: impl Fn(&Quad, usize) -> u32) {
    for (quad, lanes) in quads.iter().zip(register.as_chunks_mut::<4>().0) {
        for (lane, value) in lanes.iter_mut().enumerate() {
            *value = of(quad, lane);
        }
    }
}
