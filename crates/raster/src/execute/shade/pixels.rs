//! From primitives to pixels: quads of pixels, and waves of the pixel shader.

use std::sync::Arc;

use crate::execute::{
    cover::quad::{Quad, QuadValues, Sampled, bits},
    cover::rows::{Needs, Rows, Spans},
    cover::samples,
    cover::shapes::{Shape, Shaper, Shapes, Vertices},
    geometry::vertices::{Drawable, Group},
    interface::{Drawn, Ended, Export, Memory, PixelWave, Shaders},
    shade::depth,
    shade::scratch::Scratch,
    target::targets::Targets,
    target::value::Access,
};
use crate::{DrawState, Rectangle, Topology};

/// The number of quads that are tested at once: as many as a wave has.
const MOST_FRESH: usize = 16;

/// Draws the primitives of a draw.
pub(in crate::execute) struct Pixels<'d> {
    pub(in crate::execute) state: &'d DrawState,
    pub(in crate::execute) targets: Targets,
    pub(in crate::execute) access: Access<'d>,
    pub(in crate::execute) drawn: Drawn,
    /// The quads of a part of a primitive that are not tested yet.
    fresh: Vec<Quad>,
    quads: Vec<Quad>,
    /// The wave that is filled: it has the attributes of the primitives of `quads`.
    wave: PixelWave,
    /// The exports of the last wave.
    exports: Vec<Export>,
    pub(in crate::execute) scratch: Scratch,
    pub(in crate::execute) is_early: bool,
    needs: Needs,
    /// The samples of the pixels of a quad that may be drawn, if those of all quads are the same.
    drawable: Option<[u16; 4]>,
    /// The end of the last line of a strip, and the number of pixels up to there, if lines are stippled.
    strip: Option<([f32; 4], u32)>,
}

/// A primitive on the screen.
pub(in crate::execute) struct Prepared {
    /// Its parts, and whether each faces the viewer.
    pub(in crate::execute) shapes: Shapes,
    /// The number of the first of them in the draw.
    first_part: u64,
    layer: u32,
    range: [f32; 2],
    pub(in crate::execute) bounds: Rectangle,
    group: Arc<Group>,
    drawable: Drawable,
    provoking: usize,
}

/// The primitive whose quads are made.
struct Current<'p> {
    primitive: &'p Prepared,
    bounds: Rectangle,
    part: u64,
    is_front: bool,
    /// Its number in the wave that is filled.
    number: Option<u16>,
}

impl<'d> Pixels<'d> {
    pub(in crate::execute) fn new(state: &'d DrawState, targets: Targets, memory: &'d dyn Memory) -> Self {
        let loaded = |inputs: u32| state.inputs.placed & state.inputs.loaded & inputs != 0;
        let needs = Needs {
            perspective: loaded(0xf),
            linear: loaded(0x70),
            depth: loaded(1 << 10) || targets.depth.is_some() || targets.stencil.is_some(),
            w: loaded(1 << 3 | 1 << 11),
        };
        Self {
            state,
            needs,
            drawable: drawable(state),
            strip: None,
            fresh: Vec::new(),
            targets,
            access: Access::new(memory),
            drawn: Drawn::default(),
            quads: Vec::new(),
            wave: PixelWave::default(),
            exports: Vec::new(),
            scratch: Scratch::default(),
            is_early: state.tests_early(),
        }
    }

    /// Clips a primitive and finds its place on the screen; `None` if it has none.
    pub(in crate::execute) fn prepare(
        &mut self,
        group: &Arc<Group>,
        drawable: Drawable,
    ) -> Result<Option<Prepared>, Ended> {
        let state = self.state;
        if state.geometry.clip.discards_all {
            return Ok(None);
        }
        self.drawn.clipped += 1;
        let slots = drawable.vertices.map(usize::from);
        if let Some(slot) = slots.iter().find(|slot| group.exported >> **slot & 1 == 0) {
            return Err(Ended::Hang(format!("vertex {slot} of a wave has exported no position")));
        }
        let positions = slots.map(|slot| group.positions[0][slot].map(f32::from_bits));
        // What is not a number has no place.
        if positions.iter().flatten().any(|value| value.is_nan()) {
            return Ok(None);
        }
        let is_line = matches!(state.topology, Topology::Lines | Topology::LineStrip);
        let last = if is_line { 1 } else { 2 };
        let provoking = slots[if state.geometry.provokes_last { last } else { 0 }];
        let (layer, viewport) = group.layer_and_viewport(state, provoking);
        let Some(viewport) = state.geometry.viewports.get(viewport).copied() else { return Ok(None) };
        let outputs = &state.outputs;
        let has_size = outputs.has_point_size && outputs.has_misc;
        let vertices = Vertices {
            positions,
            distances: slots.map(|slot| group.distances(state, slot)),
            point_size: has_size.then(|| f32::from_bits(group.positions[1][slots[0]][0])),
        };
        let mut shapes = Shaper { state, viewport }.shapes(&vertices);
        if let (Some(pattern), Topology::LineStrip) = (state.geometry.line_stipple, state.topology) {
            // A strip goes on where its last line has ended.
            let before = self.strip.filter(|(end, _)| *end == positions[0]).map_or(0, |(_, number)| number);
            let end = match shapes.first_mut() {
                Some((Shape::Line(line), _)) => line.stipple(pattern, before),
                _ => before,
            };
            self.strip = Some((positions[1], end));
        }
        if shapes.is_empty() {
            return Ok(None);
        }
        let mut bounds = viewport.scissor;
        if let Some([width, height]) = self.targets.size {
            bounds = bounds.and(&Rectangle { first: [0; 2], end: [width as i32, height as i32] });
        }
        let first_part = self.drawn.primitives;
        self.drawn.primitives += shapes.len() as u64;
        let is_empty = |(shape, _): &(Shape, bool)| matches!(shape, Shape::Area(area) if !area.has_centres());
        if state.samples == 1 && shapes.iter().all(is_empty) {
            return Ok(None);
        }
        let (group, range) = (Arc::clone(group), viewport.depth);
        Ok(Some(Prepared { shapes, first_part, layer, range, bounds, group, drawable, provoking }))
    }

    /// Starts an instance, with which strips start.
    pub(in crate::execute) const fn start_instance(&mut self) {
        self.strip = None;
    }

    /// Draws the part of a primitive that is inside of a rectangle.
    pub(in crate::execute) fn paint(
        &mut self,
        primitive: &Prepared,
        inside: Option<&Rectangle>,
        shaders: &mut dyn Shaders,
    ) -> Result<(), Ended> {
        self.check()?;
        let bounds = inside.map_or(primitive.bounds, |inside| primitive.bounds.and(inside));
        let mut current = Current { primitive, bounds, part: 0, is_front: true, number: None };
        for (part, (shape, is_front)) in (primitive.first_part..).zip(&primitive.shapes) {
            (current.part, current.is_front) = (part, *is_front);
            self.shape(shape, &mut current, shaders)?;
        }
        Ok(())
    }

    /// Draws a part of a primitive.
    fn shape(&mut self, shape: &Shape, current: &mut Current<'_>, shaders: &mut dyn Shaders) -> Result<(), Ended> {
        let bounds = shape.bounds().and(&current.bounds);
        if bounds.is_empty() {
            return Ok(());
        }
        let rows = if let Shape::Area(area) = shape { Some(Rows::new(area)) } else { None };
        for y in (bounds.first[1] & !1..bounds.end[1]).step_by(2) {
            if self.access.memory.is_stopped() {
                return Err(Ended::Stopped);
            }
            match &rows {
                Some(rows) => self.rows(shape, rows, (y, &bounds), current, shaders)?,
                None => {
                    for x in (bounds.first[0] & !1..bounds.end[0]).step_by(2) {
                        let coverage = [0, 1, 2, 3].map(|lane: usize| {
                            let pixel = [x + (lane as i32 & 1), y + (lane as i32 >> 1)];
                            if bounds.contains(pixel[0], pixel[1]) { self.coverage(shape, pixel, lane) } else { 0 }
                        });
                        if coverage != [0; 4] {
                            let values = QuadValues::of(|lane| {
                                shape.values([x + (lane as i32 & 1), y + (lane as i32 >> 1)], [0; 2])
                            });
                            self.covered([x, y], (coverage, values), shape, current, shaders)?;
                        }
                    }
                }
            }
        }
        self.settle(current, shaders)
    }

    /// Draws two rows of an area, of which each sample covers a span of pixels.
    fn rows(
        &mut self,
        shape: &Shape,
        rows: &Rows,
        (y, bounds): (i32, &Rectangle),
        current: &mut Current<'_>,
        shaders: &mut dyn Shaders,
    ) -> Result<(), Ended> {
        let samples = (self.state.samples as usize).clamp(1, 16);
        let spans = Spans::new(rows, (y, bounds), (&self.state.sampling.places, samples));
        for x in (spans.any[0]..spans.any[1]).step_by(2) {
            let mut coverage = spans.coverage(x);
            match self.drawable {
                Some(drawable) => (0..4).for_each(|lane| coverage[lane] &= drawable[lane]),
                None => self.mask([x, y], &mut coverage),
            }
            if coverage != [0; 4] {
                let values = rows.quad([x, y], self.needs);
                self.covered([x, y], (coverage, values), shape, current, shaders)?;
            }
        }
        Ok(())
    }

    /// Leaves the pixels of a quad those samples that may be drawn.
    fn mask(&self, [x, y]: [i32; 2], coverage: &mut [u16; 4]) {
        for (lane, covered) in coverage.iter_mut().enumerate().filter(|(_, covered)| **covered != 0) {
            *covered &= self.may_draw([x + (lane as i32 & 1), y + (lane as i32 >> 1)]);
        }
    }

    /// Draws a quad of which a sample is covered.
    fn covered(
        &mut self,
        [x, y]: [i32; 2],
        (coverage, values): ([u16; 4], QuadValues),
        shape: &Shape,
        current: &mut Current<'_>,
        shaders: &mut dyn Shaders,
    ) -> Result<(), Ended> {
        let quad = Quad {
            x,
            y,
            samples: coverage,
            coverage,
            primitive: 0,
            part: current.part,
            is_front: current.is_front,
            layer: current.primitive.layer,
            range: current.primitive.range,
            values,
            sampled: None,
        };
        if self.state.samples == 1 {
            self.fresh.push(quad);
        } else {
            self.iterations(&quad, shape);
        }
        if self.fresh.len() >= MOST_FRESH { self.settle(current, shaders) } else { Ok(()) }
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
    fn iterations(&mut self, quad: &Quad, shape: &Shape) {
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
                let place = sampling.places[lane][usize::from(nearest)];
                sampled.centroid.set(lane, &shape.values(quad.pixel(lane), place));
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
                own.own = QuadValues::of(|lane| shape.values(quad.pixel(lane), places[lane]));
                own.place = places.map(|place| place.map(|at| 0.5 + f32::from(at) / 16.0));
            }
            self.fresh.push(Quad { samples, sampled: Some(Box::new(own)), ..*quad });
        }
    }

    /// Tests the quads of a part that wait for it, and gives what is left to the wave that is filled.
    fn settle(&mut self, current: &mut Current<'_>, shaders: &mut dyn Shaders) -> Result<(), Ended> {
        let mut fresh = std::mem::take(&mut self.fresh);
        let has_shader = self.state.has_pixel_shader();
        if self.is_early || !has_shader {
            depth::test_quads(self.state, &mut self.targets, &mut self.access, &mut fresh);
        }
        // Vulkan counts samples in front of a shader that asks for early tests, whatever it discards.
        if self.state.depth.is_forced_early || !has_shader {
            let passed = |quad: &Quad| quad.samples.iter().map(|samples| u64::from(samples.count_ones())).sum::<u64>();
            self.drawn.passed += fresh.iter().map(passed).sum::<u64>();
        }
        if has_shader {
            fresh.retain(|quad| quad.samples != [0; 4]);
            self.fill(&mut fresh, current, shaders)?;
        } else {
            // Depth and stencil alone.
            self.drawn.fault = self.drawn.fault.or(self.access.fault);
            fresh.clear();
        }
        self.fresh = fresh;
        Ok(())
    }

    /// Gives quads to the wave that is filled, and runs it each time that it is full and more quads come.
    fn fill(
        &mut self,
        fresh: &mut Vec<Quad>,
        current: &mut Current<'_>,
        shaders: &mut dyn Shaders,
    ) -> Result<(), Ended> {
        let most = self.state.pixel.lanes as usize / 4;
        while !fresh.is_empty() {
            if self.quads.len() >= most {
                self.run(shaders)?;
                // The primitive goes on in the next wave.
                current.number = current.number.map(|number| {
                    self.wave.primitives.swap(0, number.into());
                    0
                });
                self.wave.primitives.truncate(usize::from(current.number.is_some()));
            }
            let number = *current.number.get_or_insert_with(|| {
                let Prepared { group, drawable, provoking, .. } = current.primitive;
                self.wave.primitives.push(group.attributes(self.state, *drawable, *provoking));
                (self.wave.primitives.len() - 1) as u16
            });
            let count = fresh.len().min(most.saturating_sub(self.quads.len()).max(1));
            fresh[..count].iter_mut().for_each(|quad| quad.primitive = number);
            self.quads.extend(fresh.drain(..count));
        }
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

    /// Runs the pixel shader for all quads that wait, and writes what it exports.
    pub(in crate::execute) fn flush(&mut self, shaders: &mut dyn Shaders) -> Result<(), Ended> {
        let result = self.run(shaders);
        self.wave.primitives.clear();
        result
    }

    /// Runs the wave of all quads that wait, and leaves it the attributes of its primitives.
    fn run(&mut self, shaders: &mut dyn Shaders) -> Result<(), Ended> {
        if self.quads.is_empty() {
            return Ok(());
        }
        let (mut quads, mut wave) = (std::mem::take(&mut self.quads), std::mem::take(&mut self.wave));
        self.start(&quads, &mut wave);
        self.drawn.pixel_waves += 1;
        self.drawn.pixel_invocations += u64::from(wave.lanes.count_ones());
        let mut exports = std::mem::take(&mut self.exports);
        shaders.pixels(&self.state.pixel, &wave, &mut exports)?;
        self.write(&quads, &exports)?;
        self.drawn.fault = self.drawn.fault.or(self.access.fault);
        quads.clear();
        (self.quads, self.wave, self.exports) = (quads, wave, exports);
        Ok(())
    }
}

/// Returns the samples of the pixels of a quad that the sample mask lets be drawn, if nothing else keeps pixels from being drawn.
fn drawable(state: &DrawState) -> Option<[u16; 4]> {
    (state.geometry.clip_rule == 0xffff)
        .then(|| [0, 1, 2, 3].map(|lane: usize| (state.sample_mask[lane >> 1] >> (16 * (lane & 1))) as u16))
}
