//! From primitives to pixels: waves of the pixel shader, and what becomes of their exports.

use super::{
    blend::{self, Inputs},
    clip::{self, Corner, Distances},
    depth::{self, Tested},
    interface::{Drawn, Ended, Export, Interpolant, Memory, PixelWave, Shaders},
    setup::{Area, ScreenCorner, Values, snapped},
    target::format::Format,
    target::plane::Plane,
    target::targets::Targets,
    target::value::Access,
    thin::{Line, Point},
    vertices::{Drawable, Group},
};
use amdgpu_hw::GfxLevel;

use crate::{Colour, DrawState, FrontEnd, Rectangle, Topology, Viewport};

/// The numbers of export targets.
const DEPTH: u8 = 8;
const DUAL: u8 = 21;

/// Four pixels that a wave computes.
struct Quad {
    x: i32,
    y: i32,
    /// The covered pixels, a bit each.
    mask: u8,
    primitive: u16,
    is_front: bool,
    layer: u32,
    range: [f32; 2],
    values: [Values; 4],
}

/// A part of a primitive on the screen.
enum Shape {
    Area(Area),
    Line(Line),
    Point(Point),
}

impl Shape {
    fn bounds(&self) -> Rectangle {
        match self {
            Self::Area(area) => area.bounds(),
            Self::Line(line) => line.bounds(),
            Self::Point(point) => point.bounds(),
        }
    }

    fn covers(&self, x: i32, y: i32) -> bool {
        match self {
            Self::Area(area) => area.covers(x, y),
            Self::Line(line) => line.covers(x, y),
            Self::Point(point) => point.covers(x, y),
        }
    }

    fn values(&self, x: i32, y: i32) -> Values {
        match self {
            Self::Area(area) => area.values(x, y),
            Self::Line(line) => line.values(x, y),
            Self::Point(point) => point.values(x, y),
        }
    }
}

/// Draws the primitives of a draw.
pub(super) struct Pixels<'d> {
    state: &'d DrawState,
    targets: Targets,
    access: Access<'d>,
    pub(super) drawn: Drawn,
    quads: Vec<Quad>,
    primitives: Vec<Vec<Interpolant>>,
    is_early: bool,
}

impl<'d> Pixels<'d> {
    pub(super) fn new(state: &'d DrawState, targets: Targets, memory: &'d dyn Memory) -> Self {
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
    pub(super) fn primitive(
        &mut self,
        group: &Group,
        drawable: Drawable,
        shaders: &mut dyn Shaders,
    ) -> Result<(), Ended> {
        let state = self.state;
        if state.geometry.clip.discards_all {
            return Ok(());
        }
        let slots = drawable.vertices.map(usize::from);
        if let Some(slot) = slots.iter().find(|slot| group.exported >> **slot & 1 == 0) {
            return Err(Ended::Hang(format!("vertex {slot} of a wave has exported no position")));
        }
        let positions = slots.map(|slot| group.positions[0][slot].map(f32::from_bits));
        // What is not a number has no place.
        if positions.iter().flatten().any(|value| value.is_nan()) {
            return Ok(());
        }
        let last = if self.is_line() { 1 } else { 2 };
        let provoking = slots[if state.geometry.provokes_last { last } else { 0 }];
        let (layer, viewport) = self.layer_and_viewport(group, provoking);
        let Some(viewport) = state.geometry.viewports.get(viewport).copied() else { return Ok(()) };
        let distances = slots.map(|slot| self.distances(group, slot));
        let shapes = self.shapes(group, slots, positions, &distances, &viewport);
        self.check()?;
        let mut attributes = Some(self.attributes(group, drawable, provoking));
        let mut number = None;
        for (shape, is_front) in shapes {
            self.drawn.primitives += 1;
            let mut bounds = shape.bounds().and(&viewport.scissor);
            if let Some([width, height]) = self.targets.size {
                bounds = bounds.and(&Rectangle { first: [0; 2], end: [width as i32, height as i32] });
            }
            if bounds.is_empty() {
                continue;
            }
            for y in (bounds.first[1] & !1..bounds.end[1]).step_by(2) {
                if self.access.memory.is_stopped() {
                    return Err(Ended::Stopped);
                }
                for x in (bounds.first[0] & !1..bounds.end[0]).step_by(2) {
                    let mut mask = 0;
                    for lane in 0..4 {
                        let (px, py) = (x + (lane & 1), y + (lane >> 1));
                        if bounds.contains(px, py) && shape.covers(px, py) && self.may_draw(px, py) {
                            mask |= 1 << lane;
                        }
                    }
                    if mask == 0 {
                        continue;
                    }
                    let values = [0, 1, 2, 3].map(|lane| shape.values(x + (lane & 1), y + (lane >> 1)));
                    let mut quad = Quad { x, y, mask, primitive: 0, is_front, layer, range: viewport.depth, values };
                    if self.is_early {
                        quad.mask = self.test_early(&quad);
                        if quad.mask == 0 {
                            continue;
                        }
                    }
                    if !state.has_pixel_shader() {
                        self.without_shader(&quad);
                        continue;
                    }
                    if self.quads.len() >= state.pixel.lanes as usize / 4 {
                        if let Some(number) = number.take() {
                            attributes = Some(self.primitives[usize::from(number)].clone());
                        }
                        self.flush(shaders)?;
                    }
                    quad.primitive = if let Some(number) = number {
                        number
                    } else {
                        self.primitives.push(attributes.take().unwrap_or_default());
                        let place = (self.primitives.len() - 1) as u16;
                        number = Some(place);
                        place
                    };
                    self.quads.push(quad);
                }
            }
        }
        Ok(())
    }

    fn is_line(&self) -> bool {
        matches!(self.state.topology, Topology::Lines | Topology::LineStrip)
    }

    /// Returns the parts of a primitive that are on the screen, and whether they face the viewer.
    fn shapes(
        &self,
        group: &Group,
        slots: [usize; 3],
        positions: [[f32; 4]; 3],
        distances: &Distances,
        viewport: &Viewport,
    ) -> Vec<(Shape, bool)> {
        let (geometry, outputs) = (&self.state.geometry, &self.state.outputs);
        let weights = positions.map(|position| f64::from(position[3]));
        let is_point = self.state.topology == Topology::Points;
        let exports_rectangles = matches!(self.state.front_end, FrontEnd::Ngg { .. }) && geometry.exports_rectangles;
        let is_rectangle = self.state.topology == Topology::Rectangles || exports_rectangles;
        if !is_rectangle && clip::is_culled(outputs, distances) {
            return Vec::new();
        }
        let bits = geometry.fraction_bits;
        if is_point || self.is_line() {
            let ends = [positions[0], positions[1]];
            let Some(ends) = clip::clip_thin(&geometry.clip, outputs, ends, distances, is_point) else {
                return Vec::new();
            };
            let ends = ends.map(|end| self.screen(&end, viewport, weights));
            let shape = if is_point {
                let size = if outputs.has_point_size && outputs.has_misc {
                    [f32::from_bits(group.positions[1][slots[0]][0]); 2]
                } else {
                    geometry.point_size
                };
                let [least, most] = geometry.point_range;
                let size = size.map(|size| f64::from(size.max(least).min(most)));
                Shape::Point(Point { centre: ends[0], size, bits })
            } else {
                Shape::Line(Line { ends, bits })
            };
            return vec![(shape, true)];
        }
        let polygon: Vec<Corner> = if is_rectangle {
            let unit = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
            (0..3).map(|index| Corner { position: positions[index].map(f64::from), shares: unit[index] }).collect()
        } else {
            clip::clip(&geometry.clip, outputs, positions, distances)
        };
        let corners: Vec<ScreenCorner> = polygon.iter().map(|corner| self.screen(corner, viewport, weights)).collect();
        let areas = (2..corners.len()).filter_map(|index| {
            let area = Area::new([corners[0], corners[index - 1], corners[index]], bits, is_rectangle)?;
            let is_front = is_rectangle || area.is_clockwise() == geometry.front_is_clockwise;
            let is_culled = if is_front { geometry.culls_front } else { geometry.culls_back };
            (is_rectangle || !is_culled).then_some((Shape::Area(area), is_front))
        });
        areas.collect()
    }

    /// Returns an error if metadata tells of compression.
    pub(super) fn check(&self) -> Result<(), Ended> {
        match self.access.compressed {
            Some(code) => Err(Ended::Hang(format!("metadata has {code:#x}, which tells of compression"))),
            None => Ok(()),
        }
    }

    /// Returns `true` if clip rectangles and the sample mask let a pixel be drawn.
    fn may_draw(&self, x: i32, y: i32) -> bool {
        let geometry = &self.state.geometry;
        if geometry.clip_rule != 0xffff {
            let inside = geometry.clip_rectangles.iter().enumerate();
            let set = inside.fold(0, |set, (index, one)| set | u32::from(one.contains(x, y)) << index);
            if geometry.clip_rule >> set & 1 == 0 {
                return false;
            }
        }
        self.state.sample_mask[(y & 1) as usize] >> (16 * (x & 1)) & 1 != 0
    }

    /// Returns the layer and the viewport that a vertex chooses.
    fn layer_and_viewport(&self, group: &Group, slot: usize) -> (u32, usize) {
        let outputs = &self.state.outputs;
        if !outputs.has_misc {
            return (0, 0);
        }
        let [_, _, z, w] = group.positions[1][slot];
        let (layer, viewport) =
            if self.state.level >= GfxLevel::Gfx9 { (z & 0x7ff, z >> 16 & 15) } else { (z, w & 15) };
        (if outputs.has_layer { layer } else { 0 }, if outputs.has_viewport { viewport as usize } else { 0 })
    }

    /// Returns the clip and cull distances of a vertex. Exports are numbered without gaps.
    fn distances(&self, group: &Group, slot: usize) -> [f32; 8] {
        let outputs = &self.state.outputs;
        let mut all = [0.0; 8];
        let mut vector = 1 + usize::from(outputs.has_misc);
        for (half, has) in outputs.has_distances.into_iter().enumerate() {
            if has {
                let found = group.positions.get(vector).map_or([0; 4], |vectors| vectors[slot]);
                all[4 * half..4 * half + 4].copy_from_slice(&found.map(f32::from_bits));
                vector += 1;
            }
        }
        all
    }

    fn screen(&self, corner: &Corner, viewport: &Viewport, weights: [f64; 3]) -> ScreenCorner {
        let geometry = &self.state.geometry;
        let w = corner.position[3];
        let inverse = 1.0 / w as f32;
        let at = |axis: usize| (corner.position[axis] as f32 * inverse) * viewport.scale[axis] + viewport.offset[axis];
        let snap = |value| snapped(value, geometry.fraction_bits, geometry.rounding, geometry.centre_is_half);
        ScreenCorner {
            x: snap(at(0)),
            y: snap(at(1)),
            z: f64::from(at(2)),
            inverse_w: 1.0 / w,
            shares: corner.shares,
            linear: [0, 1, 2].map(|vertex: usize| corner.shares[vertex] * weights[vertex] / w),
        }
    }

    /// Returns the attributes of a primitive.
    fn attributes(&self, group: &Group, drawable: Drawable, provoking: usize) -> Vec<Interpolant> {
        let one = 1.0_f32.to_bits();
        let constants = [[0; 4], [0, 0, 0, one], [one, one, one, 0], [one; 4]];
        let slots = drawable.vertices.map(usize::from);
        let (is_point, is_line) = (self.state.topology == Topology::Points, self.is_line());
        self.state
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
                let Some(rows) = group.parameters.get(number as usize) else { return [[0; 3]; 4] };
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

    fn tested(quad: &Quad, lane: usize) -> Tested {
        Tested {
            x: (quad.x + (lane as i32 & 1)) as u32,
            y: (quad.y + (lane as i32 >> 1)) as u32,
            layer: quad.layer,
            z: quad.values[lane].z,
            reference: None,
            is_front: quad.is_front,
            range: quad.range,
        }
    }

    /// Tests the pixels of a quad before the shader and returns those that pass.
    fn test_early(&mut self, quad: &Quad) -> u8 {
        let lanes = (0..4).filter(|lane| quad.mask >> lane & 1 != 0);
        lanes.fold(0, |mask, lane| {
            let passes = depth::test(self.state, &mut self.targets, &mut self.access, &Self::tested(quad, lane));
            mask | u8::from(passes) << lane
        })
    }

    /// Draws a quad of a draw that has no pixel shader: depth and stencil alone.
    fn without_shader(&mut self, quad: &Quad) {
        let passing = if self.is_early { quad.mask } else { self.test_early(quad) };
        self.drawn.passed += u64::from(passing.count_ones());
        self.drawn.fault = self.drawn.fault.or(self.access.fault);
    }

    /// Runs the pixel shader for all quads that wait, and writes what it exports.
    pub(super) fn flush(&mut self, shaders: &mut dyn Shaders) -> Result<(), Ended> {
        let (quads, primitives) = (std::mem::take(&mut self.quads), std::mem::take(&mut self.primitives));
        if quads.is_empty() {
            return Ok(());
        }
        let wave = self.wave(&quads, primitives);
        self.drawn.pixel_waves += 1;
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
            quads.iter().enumerate().fold(0, |lanes, (index, quad)| lanes | u64::from(quad.mask) << (4 * index));
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
        let values = &quad.values[lane];
        let (x, y) = (quad.x + (lane as i32 & 1), quad.y + (lane as i32 >> 1));
        let centre = if inputs.position_is_corner { 0.0 } else { 0.5 };
        match input {
            0..=2 => values.perspective[part].to_bits(),
            3 => match part {
                0 | 1 => (values.perspective[part] / values.w).to_bits(),
                _ => (1.0 / values.w).to_bits(),
            },
            4..=6 => values.linear[part].to_bits(),
            8 => (x as f32 + centre).to_bits(),
            9 => (y as f32 + centre).to_bits(),
            10 => values.z.to_bits(),
            11 => values.w.to_bits(),
            12 if inputs.facing_is_mask => u32::from(quad.is_front).wrapping_neg(),
            12 => if quad.is_front { 1.0_f32 } else { -1.0 }.to_bits(),
            13 => quad.layer << 16,
            14 => u32::from(quad.mask >> lane & 1),
            15 => x as u32 & 0xffff | (y as u32) << 16,
            _ => 0,
        }
    }

    /// Tests what was not tested before the shader, and writes colours.
    fn write(&mut self, quads: &[Quad], exports: &[Export]) -> Result<(), Ended> {
        let state = self.state;
        if let Some(export) = exports.iter().find(|export| !matches!(export.target, 0..=9 | DUAL..=22)) {
            return Err(Ended::Hang(format!("the pixel shader exports to target {}", export.target)));
        }
        let alive = exports.iter().rev().find(|export| export.is_last).map_or(u64::MAX, |export| export.lanes);
        let alive = if state.depth.kills { alive } else { u64::MAX };
        let depth_export = exports.iter().find(|export| export.target == DEPTH);
        for (index, quad) in quads.iter().enumerate() {
            for lane in (0..4).filter(|lane| quad.mask >> lane & 1 != 0) {
                let at = 4 * index + lane;
                if alive >> at & 1 == 0 {
                    continue;
                }
                if !self.is_early {
                    let mut tested = Self::tested(quad, lane);
                    if let Some(export) = depth_export.filter(|export| export.lanes >> at & 1 != 0) {
                        if state.depth.exports_depth {
                            tested.z = f32::from_bits(export.values[0][at]);
                        }
                        if state.depth.exports_stencil {
                            tested.reference = Some(export.values[1][at] as u8);
                        }
                    }
                    if !depth::test(state, &mut self.targets, &mut self.access, &tested) {
                        continue;
                    }
                }
                self.drawn.passed += 1;
                self.colours(quad, lane, at, exports);
            }
        }
        Ok(())
    }

    /// Writes the colours of a pixel. Exports are numbered without gaps: the n-th belongs to the n-th target that has one.
    fn colours(&mut self, quad: &Quad, lane: usize, at: usize, exports: &[Export]) {
        let state = self.state;
        let (x, y) = ((quad.x + (lane as i32 & 1)) as u32, (quad.y + (lane as i32 >> 1)) as u32);
        let opens_only = self.targets.opens_only;
        for ((colour, format, plane), dcc) in self.targets.colours.iter().zip(&mut self.targets.dcc) {
            if let Some(dcc) = dcc
                && let Err(code) = dcc.open(&mut self.access, [x, y, quad.layer], (colour, format, plane))
            {
                self.access.compressed = self.access.compressed.or(Some(code));
                continue;
            }
            if opens_only {
                continue;
            }
            let before = (0..colour.index).filter(|index| state.shader_mask >> (4 * index) & 15 != 0).count();
            let export_format = state.colour_formats >> (4 * before) & 15;
            let of = |number: u8, lane: usize| {
                let export = exports.iter().rev().find(|export| export.target == number && export.lanes >> at & 1 != 0);
                export.map(|export| blend::exported(export, export_format, state.level, lane))
            };
            let is_dual = colour.blend.is_some_and(|blend| blend.is_dual());
            let (source, second) = if is_dual && state.level >= GfxLevel::Gfx11 {
                // The first export has both colours of even pixels, the second those of odd ones.
                let number = DUAL + (at & 1) as u8;
                (of(number, at & !1), of(number, at | 1))
            } else if is_dual {
                (of(before as u8, at), of(before as u8 + 1, at))
            } else {
                (of(before as u8, at), None)
            };
            let (Some(source), Some(place)) = (source, plane.address(x, y, quad.layer)) else { continue };
            let write = Write { state, colour, format, plane, second: second.unwrap_or_default() };
            write.to(&mut self.access, place, source);
        }
    }
}

/// The parameters with which a colour is written.
struct Write<'w> {
    state: &'w DrawState,
    colour: &'w Colour,
    format: &'w Format,
    plane: &'w Plane,
    second: [u32; 4],
}

impl Write<'_> {
    fn to(&self, access: &mut Access<'_>, place: u64, source: [u32; 4]) {
        let Self { state, colour, format, plane, second } = self;
        let mask = format.bits_of(colour.written());
        let all = format.bits_of(15);
        let is_logic = state.operation.logic & 15 != 12 && format.range().is_some() | format.is_integer();
        let blend = colour.blend.filter(|_| !is_logic && !format.is_integer());
        let old = if blend.is_some() || is_logic || mask != all { access.load(place, plane.bytes) } else { 0 };
        let floats = |bits: [u32; 4]| bits.map(f32::from_bits);
        let new = match blend {
            Some(blend) => {
                let mut stored = floats(format.unpack(old));
                if colour.alpha_is_one {
                    stored[3] = 1.0;
                }
                let clamp = |colour| blend::clamped(format, colour);
                let inputs = Inputs {
                    source: clamp(floats(source)),
                    second: clamp(floats(*second)),
                    stored,
                    constant: clamp(state.blend_constants),
                };
                format.pack(inputs.blend(&blend).map(f32::to_bits))
            }
            None => format.pack(source),
        };
        let new = if is_logic { blend::logic(state.operation.logic, new, old) } else { new };
        access.store(place, plane.bytes, old & !mask & all | new & mask);
    }
}
