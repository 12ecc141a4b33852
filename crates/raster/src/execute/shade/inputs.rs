//! The registers with which waves of pixels start.

use amdgpu_hw::GfxLevel;

use crate::execute::{cover::quad::Quad, interface::PixelWave, shade::pixels::Pixels};

impl Pixels<'_> {
    /// Makes the wave one of quads, with its initial registers.
    ///
    /// Source: Mesa 25.0.7 `src/amd/registers/gfx6.json`, SPI_PS_INPUT_ADDR, for the order of inputs; `radv_shader_args.c` for that of
    /// scalar registers.
    pub(in crate::execute) fn start(&self, quads: &[Quad], wave: &mut PixelWave) {
        let state = self.state;
        wave.scalars.clear();
        wave.scalars.extend_from_slice(&state.pixel.user_data);
        // The mask of primitives, whose bits compilers only pass on to interpolation.
        wave.scalars.push(0);
        if state.pixel.loads_provoking_vertex {
            wave.scalars.push(0);
        }
        if state.pixel.has_scratch && state.level < GfxLevel::Gfx11 {
            wave.scalars.push(0);
        }
        wave.lanes =
            quads.iter().enumerate().fold(0, |lanes, (index, quad)| lanes | u64::from(quad.mask()) << (4 * index));
        wave.quads.clear();
        wave.quads.extend(quads.iter().map(|quad| quad.primitive));
        let mut used = 0;
        for input in (0..16).filter(|input| state.inputs.placed >> input & 1 != 0) {
            let count = match input {
                3 => 3,
                0..=2 | 4..=6 => 2,
                _ => 1,
            };
            for part in 0..count {
                if used == wave.vectors.len() {
                    wave.vectors.push([0; 64]);
                }
                // Registers of inputs that are not loaded stay zero.
                if state.inputs.loaded >> input & 1 != 0 {
                    self.input(quads, (input, part), &mut wave.vectors[used]);
                }
                used += 1;
            }
        }
    }

    /// Sets an input of the pixels of a wave.
    fn input(&self, quads: &[Quad], (input, part): (u32, usize), register: &mut [u32; 64]) {
        let inputs = &self.state.inputs;
        let iterates = self.state.sampling.iterations > 1;
        match input {
            0 => fill(quads, register, |quad| quad.own().perspective[part].map(f32::to_bits)),
            1 => fill(quads, register, |quad| quad.values.perspective[part].map(f32::to_bits)),
            2 => fill(quads, register, |quad| quad.centroid().perspective[part].map(f32::to_bits)),
            3 if part < 2 => each(quads, register, |quad, lane| {
                (quad.values.perspective[part][lane] / quad.values.w[lane]).to_bits()
            }),
            3 => each(quads, register, |quad, lane| (1.0 / quad.values.w[lane]).to_bits()),
            4 => fill(quads, register, |quad| quad.own().linear[part].map(f32::to_bits)),
            5 => fill(quads, register, |quad| quad.values.linear[part].map(f32::to_bits)),
            6 => fill(quads, register, |quad| quad.centroid().linear[part].map(f32::to_bits)),
            8 | 9 => {
                let axis = input as usize & 1;
                each(quads, register, |quad, lane| {
                    (quad.pixel(lane)[axis] as f32 + self.inner(quad, lane)[axis]).to_bits()
                });
            }
            // Depth and w are those of the sample, or of the centre.
            10 if iterates => fill(quads, register, |quad| quad.own().z.map(f32::to_bits)),
            10 => fill(quads, register, |quad| quad.values.z.map(f32::to_bits)),
            11 if iterates => fill(quads, register, |quad| quad.own().w.map(f32::to_bits)),
            11 => fill(quads, register, |quad| quad.values.w.map(f32::to_bits)),
            12 if inputs.facing_is_mask => {
                fill(quads, register, |quad| [u32::from(quad.is_front).wrapping_neg(); 4]);
            }
            12 => fill(quads, register, |quad| [if quad.is_front { 1.0_f32 } else { -1.0 }.to_bits(); 4]),
            13 => fill(quads, register, |quad| {
                [quad.layer << 16 | quad.sampled.as_ref().map_or(0, |all| all.number) << 8; 4]
            }),
            14 if self.is_early && self.state.depth.covers_after_tests => {
                fill(quads, register, |quad| quad.samples.map(u32::from));
            }
            14 => fill(quads, register, |quad| quad.coverage.map(u32::from)),
            15 => each(quads, register, |quad, lane| {
                let [x, y] = quad.pixel(lane);
                x as u32 & 0xffff | (y as u32) << 16
            }),
            _ => {}
        }
    }

    /// Returns the place of the position in a pixel.
    fn inner(&self, quad: &Quad, lane: usize) -> [f32; 2] {
        let inputs = &self.state.inputs;
        match &quad.sampled {
            _ if inputs.position_is_corner => [0.0; 2],
            Some(all) if inputs.position_location == 2 => all.place[lane],
            _ => [0.5; 2],
        }
    }
}

/// Sets the lanes of quads, four at once. Lanes of no quad are zero.
fn fill(quads: &[Quad], register: &mut [u32; 64], of: impl Fn(&Quad) -> [u32; 4]) {
    let (of_quads, rest) = register.as_chunks_mut::<4>().0.split_at_mut(quads.len().min(16));
    for (quad, lanes) in quads.iter().zip(of_quads) {
        *lanes = of(quad);
    }
    rest.fill([0; 4]);
}

/// Sets the lanes of quads one by one. Lanes of no quad are zero.
fn each(quads: &[Quad], register: &mut [u32; 64], of: impl Fn(&Quad, usize) -> u32) {
    fill(quads, register, |quad| {
        let mut lanes = [0; 4];
        for (lane, value) in lanes.iter_mut().enumerate() {
            *value = of(quad, lane);
        }
        lanes
    });
}
