//! From primitives to pixels: quads of pixels, and waves of the pixel shader.

use crate::execute::{
    cover::quad::{Quad, Sampled, bits},
    cover::samples,
    cover::shapes::{Shape, Shaper, Vertices},
    geometry::vertices::{Drawable, Group},
    interface::{Drawn, Ended, Interpolant, Memory, PixelWave, Shaders},
    shade::depth,
    target::targets::Targets,
    target::value::Access,
};
use amdgpu_hw::GfxLevel;

use crate::{DrawState, Rectangle, Topology};

/// Draws the primitives of a draw.
pub(in crate::execute) struct Pixels<'d> {
    pub(in crate::execute) state: &'d DrawState,
    pub(in crate::execute) targets: Targets,
    pub(in crate::execute) access: Access<'d>,
    pub(in crate::execute) drawn: Drawn,
    quads: Vec<Quad>,
    primitives: Vec<Vec<Interpolant>>,
    pub(in crate::execute) is_early: bool,
}

/// The primitive whose quads are made.
struct Current {
    layer: u32,
    range: [f32; 2],
    bounds: Rectangle,
    /// Its attributes, until a wave has them.
    attributes: Option<Vec<Interpolant>>,
    /// Its number in the wave that is filled.
    number: Option<u16>,
}

impl<'d> Pixels<'d> {
    pub(in crate::execute) fn new(state: &'d DrawState, targets: Targets, memory: &'d dyn Memory) -> Self {
        Self {
            state,
            targets,
            access: Access { memory, fault: None, compressed: None },
            drawn: Drawn::default(),
            quads: Vec::new(),
            primitives: Vec::new(),
            is_early: state.tests_early(),
        }
    }

    /// Draws a primitive.
    pub(in crate::execute) fn primitive(
        &mut self,
        group: &Group,
        drawable: Drawable,
        shaders: &mut dyn Shaders,
    ) -> Result<(), Ended> {
        let state = self.state;
        if state.geometry.clip.discards_all {
            return Ok(());
        }
        self.drawn.clipped += 1;
        let slots = drawable.vertices.map(usize::from);
        if let Some(slot) = slots.iter().find(|slot| group.exported >> **slot & 1 == 0) {
            return Err(Ended::Hang(format!("vertex {slot} of a wave has exported no position")));
        }
        let positions = slots.map(|slot| group.positions[0][slot].map(f32::from_bits));
        // What is not a number has no place.
        if positions.iter().flatten().any(|value| value.is_nan()) {
            return Ok(());
        }
        let is_line = matches!(state.topology, Topology::Lines | Topology::LineStrip);
        let last = if is_line { 1 } else { 2 };
        let provoking = slots[if state.geometry.provokes_last { last } else { 0 }];
        let (layer, viewport) = group.layer_and_viewport(state, provoking);
        let Some(viewport) = state.geometry.viewports.get(viewport).copied() else { return Ok(()) };
        let outputs = &state.outputs;
        let has_size = outputs.has_point_size && outputs.has_misc;
        let vertices = Vertices {
            positions,
            distances: slots.map(|slot| group.distances(state, slot)),
            point_size: has_size.then(|| f32::from_bits(group.positions[1][slots[0]][0])),
        };
        let shapes = Shaper { state, viewport }.shapes(&vertices);
        self.check()?;
        let mut bounds = viewport.scissor;
        if let Some([width, height]) = self.targets.size {
            bounds = bounds.and(&Rectangle { first: [0; 2], end: [width as i32, height as i32] });
        }
        let attributes = Some(group.attributes(state, drawable, provoking));
        let mut current = Current { layer, range: viewport.depth, bounds, attributes, number: None };
        for (shape, is_front) in shapes {
            self.drawn.primitives += 1;
            self.shape(&shape, is_front, &mut current, shaders)?;
        }
        Ok(())
    }

    /// Draws a part of a primitive.
    fn shape(
        &mut self,
        shape: &Shape,
        is_front: bool,
        current: &mut Current,
        shaders: &mut dyn Shaders,
    ) -> Result<(), Ended> {
        let bounds = shape.bounds().and(&current.bounds);
        if bounds.is_empty() {
            return Ok(());
        }
        for y in (bounds.first[1] & !1..bounds.end[1]).step_by(2) {
            if self.access.memory.is_stopped() {
                return Err(Ended::Stopped);
            }
            for x in (bounds.first[0] & !1..bounds.end[0]).step_by(2) {
                let coverage = [0, 1, 2, 3].map(|lane: usize| {
                    let pixel = [x + (lane as i32 & 1), y + (lane as i32 >> 1)];
                    if bounds.contains(pixel[0], pixel[1]) { self.coverage(shape, pixel, lane) } else { 0 }
                });
                if coverage == [0; 4] {
                    continue;
                }
                let quad = Quad {
                    x,
                    y,
                    samples: coverage,
                    coverage,
                    primitive: 0,
                    is_front,
                    layer: current.layer,
                    range: current.range,
                    values: [0, 1, 2, 3].map(|lane| shape.values([x + (lane & 1), y + (lane >> 1)], [0; 2])),
                    sampled: None,
                };
                if self.state.samples == 1 {
                    self.quad(quad, current, shaders)?;
                } else {
                    self.iterations(&quad, shape, current, shaders)?;
                }
            }
        }
        Ok(())
    }

    /// Returns the samples of a pixel that a shape covers and that may be drawn.
    fn coverage(&self, shape: &Shape, pixel: [i32; 2], lane: usize) -> u16 {
        let mut covered = 0;
        for sample in 0..self.state.samples as usize & 31 {
            if shape.covers(pixel, self.state.sampling.places[lane][sample]) {
                covered |= 1 << sample;
            }
        }
        if covered == 0 { 0 } else { covered & self.may_draw(pixel) }
    }

    /// Draws a quad of several samples, once or for each of its iterations.
    fn iterations(
        &mut self,
        quad: &Quad,
        shape: &Shape,
        current: &mut Current,
        shaders: &mut dyn Shaders,
    ) -> Result<(), Ended> {
        let sampling = &self.state.sampling;
        let lanes = [0, 1, 2, 3];
        let mut sampled = Sampled {
            number: 0,
            depths: [[0.0; 16]; 4],
            centroid: quad.values,
            own: quad.values,
            place: [[0.5; 2]; 4],
        };
        let all = ((1_u32 << self.state.samples) - 1) as u16;
        for lane in lanes {
            for sample in bits(quad.coverage[lane]) {
                let place = sampling.places[lane][sample as usize];
                sampled.depths[lane][sample as usize] = shape.values(quad.pixel(lane), place).z;
            }
            if quad.coverage[lane] != all && quad.coverage[lane] != 0 {
                let nearest = sampling
                    .by_distance
                    .into_iter()
                    .find(|sample| quad.coverage[lane] >> sample & 1 != 0)
                    .unwrap_or(quad.coverage[lane].trailing_zeros() as u8);
                sampled.centroid[lane] = shape.values(quad.pixel(lane), sampling.places[lane][usize::from(nearest)]);
            }
        }
        let iterations = sampling.iterations;
        for number in 0..iterations {
            let samples = quad.coverage.map(|samples| samples & samples::of_iteration(number, iterations));
            if samples == [0; 4] {
                continue;
            }
            let mut own = sampled.clone();
            if iterations > 1 {
                own.number = number;
                let places = lanes.map(|lane| sampling.places[lane][number as usize & 15]);
                own.own = lanes.map(|lane| shape.values(quad.pixel(lane), places[lane]));
                own.place = places.map(|place| place.map(|at| 0.5 + f32::from(at) / 16.0));
            }
            let one = Quad { samples, sampled: Some(Box::new(own)), ..*quad };
            self.quad(one, current, shaders)?;
        }
        Ok(())
    }

    /// Draws a quad: tests it, and gives what is left to the wave that is filled.
    fn quad(&mut self, mut quad: Quad, current: &mut Current, shaders: &mut dyn Shaders) -> Result<(), Ended> {
        if self.is_early {
            quad.samples = self.test(&quad);
            if quad.samples == [0; 4] {
                return Ok(());
            }
        }
        if !self.state.has_pixel_shader() {
            self.without_shader(&quad);
            return Ok(());
        }
        if self.quads.len() >= self.state.pixel.lanes as usize / 4 {
            if let Some(number) = current.number.take() {
                current.attributes = Some(self.primitives[usize::from(number)].clone());
            }
            self.flush(shaders)?;
        }
        quad.primitive = if let Some(number) = current.number {
            number
        } else {
            self.primitives.push(current.attributes.take().unwrap_or_default());
            let place = (self.primitives.len() - 1) as u16;
            current.number = Some(place);
            place
        };
        self.quads.push(quad);
        Ok(())
    }

    /// Returns an error if metadata tells of compression.
    pub(in crate::execute) fn check(&self) -> Result<(), Ended> {
        match self.access.compressed {
            Some(code) => Err(Ended::Hang(format!("metadata has {code:#x}, which tells of compression"))),
            None => Ok(()),
        }
    }

    /// Returns the samples of a pixel that clip rectangles and the sample mask let be drawn.
    fn may_draw(&self, [x, y]: [i32; 2]) -> u16 {
        let geometry = &self.state.geometry;
        if geometry.clip_rule != 0xffff {
            let inside = geometry.clip_rectangles.iter().enumerate();
            let set = inside.fold(0, |set, (index, one)| set | u32::from(one.contains(x, y)) << index);
            if geometry.clip_rule >> set & 1 == 0 {
                return 0;
            }
        }
        (self.state.sample_mask[(y & 1) as usize] >> (16 * (x & 1))) as u16
    }

    /// Tests the samples of a quad before the shader and returns those that pass.
    fn test(&mut self, quad: &Quad) -> [u16; 4] {
        let mut passing = [0; 4];
        for (lane, passed) in passing.iter_mut().enumerate() {
            for sample in bits(quad.samples[lane]) {
                let tested = depth::Tested::new(quad, lane, sample);
                *passed |= u16::from(depth::test(self.state, &mut self.targets, &mut self.access, &tested)) << sample;
            }
        }
        passing
    }

    /// Draws a quad of a draw that has no pixel shader: depth and stencil alone.
    fn without_shader(&mut self, quad: &Quad) {
        let passing = if self.is_early { quad.samples } else { self.test(quad) };
        self.drawn.passed += passing.iter().map(|samples| u64::from(samples.count_ones())).sum::<u64>();
        self.drawn.fault = self.drawn.fault.or(self.access.fault);
    }

    /// Runs the pixel shader for all quads that wait, and writes what it exports.
    pub(in crate::execute) fn flush(&mut self, shaders: &mut dyn Shaders) -> Result<(), Ended> {
        let (quads, primitives) = (std::mem::take(&mut self.quads), std::mem::take(&mut self.primitives));
        if quads.is_empty() {
            return Ok(());
        }
        let wave = self.wave(&quads, primitives);
        self.drawn.pixel_waves += 1;
        self.drawn.pixel_invocations += u64::from(wave.lanes.count_ones());
        let exports = shaders.pixels(&self.state.pixel, &wave)?;
        self.write(&quads, &exports)?;
        self.drawn.fault = self.drawn.fault.or(self.access.fault);
        Ok(())
    }

    /// Returns the wave for quads with its initial registers.
    ///
    /// Source: Mesa 25.0.7 `src/amd/registers/gfx6.json`, SPI_PS_INPUT_ADDR, for the order of inputs; `radv_shader_args.c` for that of
    /// scalar registers.
    fn wave(&self, quads: &[Quad], primitives: Vec<Vec<Interpolant>>) -> PixelWave {
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
        let mut vectors = Vec::new();
        for input in (0..16).filter(|input| state.inputs.placed >> input & 1 != 0) {
            let count = match input {
                3 => 3,
                0..=2 | 4..=6 => 2,
                _ => 1,
            };
            for part in 0..count {
                let mut register = [0; 64];
                if state.inputs.loaded >> input & 1 != 0 {
                    for (index, quad) in quads.iter().enumerate() {
                        for lane in 0..4 {
                            register[4 * index + lane] = self.input(quad, lane, input, part);
                        }
                    }
                }
                vectors.push(register);
            }
        }
        let quads = quads.iter().map(|quad| quad.primitive).collect();
        PixelWave { scalars, vectors, lanes, primitives, quads }
    }

    /// Returns an input of a pixel.
    fn input(&self, quad: &Quad, lane: usize, input: u32, part: usize) -> u32 {
        let inputs = &self.state.inputs;
        let centre = &quad.values[lane];
        let sampled = quad.sampled.as_deref();
        let (own, centroid) = sampled.map_or((centre, centre), |all| (&all.own[lane], &all.centroid[lane]));
        let iterates = self.state.sampling.iterations > 1;
        // The depth is that of the sample, or of the centre.
        let z = if iterates { own.z } else { centre.z };
        let [x, y] = quad.pixel(lane);
        let [right, down] = match sampled {
            _ if inputs.position_is_corner => [0.0; 2],
            Some(all) if inputs.position_location == 2 => all.place[lane],
            _ => [0.5; 2],
        };
        match input {
            0 => own.perspective[part].to_bits(),
            1 => centre.perspective[part].to_bits(),
            2 => centroid.perspective[part].to_bits(),
            3 => match part {
                0 | 1 => (centre.perspective[part] / centre.w).to_bits(),
                _ => (1.0 / centre.w).to_bits(),
            },
            4 => own.linear[part].to_bits(),
            5 => centre.linear[part].to_bits(),
            6 => centroid.linear[part].to_bits(),
            8 => (x as f32 + right).to_bits(),
            9 => (y as f32 + down).to_bits(),
            10 => z.to_bits(),
            11 => if iterates { own.w } else { centre.w }.to_bits(),
            12 if inputs.facing_is_mask => u32::from(quad.is_front).wrapping_neg(),
            12 => if quad.is_front { 1.0_f32 } else { -1.0 }.to_bits(),
            13 => quad.layer << 16 | sampled.map_or(0, |all| all.number) << 8,
            14 => quad.coverage[lane].into(),
            15 => x as u32 & 0xffff | (y as u32) << 16,
            _ => 0,
        }
    }
}
