//! Late tests and colours: the way of the exports of pixel shaders.

use amdgpu_hw::GfxLevel;

use crate::execute::{
    cover::quad::{Quad, bits},
    cover::samples,
    interface::{Ended, Export},
    shade::blend::{self, Inputs},
    shade::depth::{self, Tested},
    shade::pixels::Pixels,
    shade::scratch::{Pixel, Scratch},
    target::dcc,
    target::format::Format,
    target::plane::Plane,
    target::value::{Access, element},
};
use crate::{Blend, Colour, DrawMutation, DrawState, Surface};

/// The numbers of export targets.
const DEPTH: u8 = 8;
const DUAL: u8 = 21;

/// The number of pixels from which on all lanes of a wave are converted at once.
const MANY: usize = 16;

/// The exports of a lane besides colours.
struct Extra {
    z: Option<f32>,
    stencil: Option<u8>,
    mask: Option<u16>,
    alpha: Option<f32>,
}

impl Extra {
    /// Reads the export of depth, stencil, mask and alpha.
    ///
    /// Source: Mesa 25.0.7 `ac_get_spi_shader_z_format` and ACO's `export_mrtz`, for the components of each format.
    fn new(state: &DrawState, export: &Export, lane: usize) -> Self {
        let depth = &state.depth;
        let word = |index: usize| export.values[index][lane];
        // Alone, a stencil value and a mask have 16 bits each.
        let is_short = state.depth_format == 7;
        let (stencil, mask) =
            if is_short && !export.is_compressed { (word(0) >> 16, word(1)) } else { (word(1), word(2)) };
        // The format of two components has alpha in the second from GFX10 on, and where alpha is before.
        let alpha = match state.depth_format {
            3 if state.level >= GfxLevel::Gfx10 => Some(word(1)),
            3 | 9 if export.enabled >> 3 & 1 != 0 => Some(word(3)),
            _ => None,
        };
        Self {
            z: depth.exports_depth.then(|| f32::from_bits(word(0))),
            stencil: depth.exports_stencil.then_some(stencil as u8),
            mask: depth.exports_mask.then_some(mask as u16),
            alpha: alpha.filter(|_| depth.exports_alpha).map(f32::from_bits),
        }
    }
}

impl Pixels<'_> {
    /// Tests what was not tested before the shader, and writes colours.
    pub(in crate::execute) fn write(&mut self, quads: &[Quad], exports: &[Export]) -> Result<(), Ended> {
        let state = self.state;
        if let Some(export) = exports.iter().find(|export| !matches!(export.target, 0..=9 | DUAL..=22)) {
            return Err(Ended::Hang(format!("the pixel shader exports to target {}", export.target)));
        }
        let alive = exports.iter().rev().find(|export| export.is_last).map_or(u64::MAX, |export| export.lanes);
        let alive = if state.depth.kills { alive } else { u64::MAX };
        let depth_export = exports.iter().find(|export| export.target == DEPTH);
        let changes_mask = depth_export.is_some() || state.depth.alpha_to_mask.is_some();
        let tests = changes_mask || !self.is_early;
        let mut covered = [[0; 4]; 16];
        for ((index, quad), covered) in quads.iter().enumerate().zip(&mut covered) {
            let alive = alive >> (4 * index);
            for (lane, covered) in covered.iter_mut().enumerate() {
                if quad.samples[lane] != 0 && alive >> lane & 1 != 0 {
                    *covered = if tests {
                        self.late(quad, lane, (4 * index + lane, exports), depth_export)
                    } else {
                        quad.samples[lane]
                    };
                }
            }
            if !state.depth.is_forced_early {
                self.drawn.passed += count(*covered);
            }
        }
        // Quads of different primitives may have the same pixels, which then follow each other.
        let mut first = 0;
        for part in quads.chunk_by(|a, b| a.part == b.part) {
            self.colours(part, (first, &covered[first..]), exports);
            first += part.len();
        }
        Ok(())
    }

    /// Returns the samples of a pixel that are left by what the shader exports and by tests after the shader.
    fn late(
        &mut self,
        quad: &Quad,
        lane: usize,
        (at, exports): (usize, &[Export]),
        depth_export: Option<&Export>,
    ) -> u16 {
        let state = self.state;
        let extra =
            depth_export.filter(|export| export.lanes >> at & 1 != 0).map(|export| Extra::new(state, export, at));
        let mut covered = quad.samples[lane];
        if let Some(mask) = extra.as_ref().and_then(|extra| extra.mask) {
            covered &= mask;
        }
        if let Some(way) = &state.depth.alpha_to_mask {
            let own = extra.as_ref().and_then(|extra| extra.alpha);
            let alpha = own.or_else(|| self.exported(exports, 0, at).map(|colour| f32::from_bits(colour[3])));
            covered &= samples::of_alpha(way, alpha.unwrap_or(1.0), quad.pixel(lane), state.samples);
        }
        if self.is_early {
            return covered;
        }
        let mut passing = 0;
        for sample in bits(covered) {
            let mut tested = Tested::new(quad, lane, sample);
            if let Some(extra) = &extra {
                tested.z = extra.z.unwrap_or(tested.z);
                tested.reference = extra.stencil;
            }
            let passes = depth::test(state, &mut self.targets, &mut self.access, &tested);
            passing |= u16::from(passes) << sample;
        }
        passing
    }

    /// Returns the colour that a lane exports to the n-th target that has one.
    fn exported(&self, exports: &[Export], number: u8, lane: usize) -> Option<[u32; 4]> {
        let state = self.state;
        let format = state.colour_formats >> (4 * u32::from(number)) & 15;
        let export = exports.iter().rev().find(|one| one.target == number && one.lanes >> lane & 1 != 0);
        export.map(|export| blend::exported(export, format, state.level, lane))
    }

    /// Writes the colours of the samples of quads that have none in common, of which the first has a number in the wave; `covered` has
    /// their samples.
    fn colours(&mut self, quads: &[Quad], (first, covered): (usize, &[[u16; 4]]), exports: &[Export]) {
        let state = self.state;
        let Scratch { pixels, .. } = &mut self.scratch;
        pixels.clear();
        // Row by row, in which pixels follow each other in memory.
        for row in [0, 1] {
            for ((number, quad), covered) in (first..).zip(quads).zip(covered) {
                for column in [0, 1] {
                    let lane = 2 * row + column;
                    if covered[lane] != 0 {
                        let [x, y] = quad.pixel(lane).map(|place| place as u32);
                        pixels.push(Pixel {
                            place: [x, y, quad.layer],
                            lane: 4 * number + lane,
                            samples: covered[lane],
                        });
                    }
                }
            }
        }
        for ((colour, format, plane), metadata) in self.targets.colours.iter().zip(&mut self.targets.dcc) {
            if metadata.is_empty() {
                continue;
            }
            for pixel in &*pixels {
                if let Err(code) = dcc::open_all(metadata, &mut self.access, pixel.place, (colour, format, plane)) {
                    self.access.compressed = self.access.compressed.or(Some(code));
                }
            }
        }
        if self.targets.opens_only || self.access.compressed.is_some() {
            return;
        }
        if state.operation.mode == crate::execute::target::targets::RESOLVE {
            for pixel in &*pixels {
                crate::execute::shade::resolve::resolve(&self.targets, &mut self.access, pixel.place);
            }
            return;
        }
        if let Some(copy) = state.depth.copy {
            for pixel in &*pixels {
                let samples = (pixel.place, pixel.samples);
                crate::execute::shade::copy::copy(state, copy, &mut self.targets, &mut self.access, samples);
            }
            return;
        }
        for (colour, format, plane) in &self.targets.colours {
            Write::new(state, colour, format, plane).pixels(&mut self.access, &mut self.scratch, exports);
        }
    }
}

/// Returns the number of samples of the pixels of a quad.
fn count(samples: [u16; 4]) -> u64 {
    // Processors without an instruction that counts bits need a dozen others for each count.
    let all = samples.iter().fold(0, |all, samples| all << 16 | u64::from(*samples));
    all.count_ones().into()
}

/// The parameters with which a target is written.
struct Write<'w> {
    state: &'w DrawState,
    colour: &'w Colour,
    format: &'w Format,
    plane: &'w Plane,
    /// The number of the export, and its format. Exports are numbered without gaps: the n-th belongs to the n-th target that has one.
    export: u8,
    export_format: u32,
    is_dual: bool,
    is_logic: bool,
    blend: Option<Blend>,
    /// The bits of the components that are written, and of all of them.
    mask: u128,
    all: u128,
    constant: [f32; 4],
}

impl<'w> Write<'w> {
    fn new(state: &'w DrawState, colour: &'w Colour, format: &'w Format, plane: &'w Plane) -> Self {
        let export = (0..colour.index).filter(|index| state.shader_mask >> (4 * index) & 15 != 0).count() as u8;
        let is_logic = state.operation.logic & 15 != 12 && format.range().is_some() | format.is_integer();
        Self {
            state,
            colour,
            format,
            plane,
            export,
            export_format: state.colour_formats >> (4 * u32::from(export)) & 15,
            is_dual: colour.blend.is_some_and(|blend| blend.is_dual()),
            is_logic,
            blend: colour.blend.filter(|_| !is_logic && !format.is_integer()),
            mask: format.bits_of(colour.written()),
            all: format.bits_of(15),
            constant: blend::clamped(format, state.blend_constants),
        }
    }

    /// Writes the pixels of the scratch space, which have no sample in common.
    fn pixels(&self, access: &mut Access<'_>, scratch: &mut Scratch, exports: &[Export]) {
        // Only lanes that branched differently export to a target more than once.
        let mut own = exports.iter().filter(|export| export.target == self.export);
        let alone = own.next().filter(|_| own.next().is_none() && !self.is_dual);
        let reads = self.blend.is_some() || self.is_logic || self.mask != self.all;
        let is_plain = !reads && self.state.mutation.is_none();
        if let Some(export) = alone.filter(|_| is_plain && scratch.pixels.len() >= MANY)
            && let Some(lanes) =
                self.format.pack_lanes(|component| blend::floats_of(export, self.export_format, component))
        {
            self.lanes(access, &scratch.pixels, export.lanes, &lanes);
        } else {
            self.each(access, scratch, (exports, alone), reads);
        }
    }

    /// Writes pixels whose values are found one by one; all of them are in the only export of the target, if there is one.
    fn each(
        &self,
        access: &mut Access<'_>,
        scratch: &mut Scratch,
        (exports, alone): (&[Export], Option<&Export>),
        reads: bool,
    ) {
        let bytes = self.plane.bytes;
        let Scratch { pixels, addresses, old, data } = scratch;
        addresses.clear();
        data.clear();
        let mut places = self.plane.places();
        let mut colours = Vec::with_capacity(pixels.len());
        for pixel in pixels {
            let found = match alone {
                Some(export) => (export.lanes >> pixel.lane & 1 != 0)
                    .then(|| (blend::exported(export, self.export_format, self.state.level, pixel.lane), [0; 4])),
                None => self.exported(exports, pixel.lane),
            };
            let Some((mut source, second)) = found else { continue };
            if self.state.mutation == Some(DrawMutation::SwappedChannel) {
                source.swap(0, 2);
            }
            for sample in bits(pixel.samples) {
                if let Some(at) = places.address(pixel.place, sample) {
                    addresses.push(at);
                    colours.push((source, second));
                }
            }
        }
        access.enter(Surface::Color);
        if reads {
            access.load_all(addresses, bytes, old);
            for (index, (source, second)) in colours.iter().enumerate() {
                let new = self.combined(*source, *second, element(old, bytes, index));
                data.extend_from_slice(&new.to_le_bytes()[..bytes]);
            }
        } else {
            for (source, _) in &colours {
                data.extend_from_slice(&self.format.pack(*source).to_le_bytes()[..bytes]);
            }
        }
        access.store_all(addresses, bytes, data);
    }

    /// Writes pixels of four bytes, of which each lane has one, sample by sample.
    fn lanes(&self, access: &mut Access<'_>, pixels: &[Pixel], on: u64, lanes: &[u32; 64]) {
        access.enter(Surface::Color);
        for sample in 0..self.plane.samples {
            let mut addresses = [0; 64];
            let mut data = [[0; 4]; 64];
            let mut count = 0;
            for row in pixels.chunk_by(|a, b| a.place[1..] == b.place[1..]) {
                let [_, y, layer] = row[0].place;
                let written = row.iter().filter(|pixel| on >> pixel.lane & 1 != 0 && pixel.samples >> sample & 1 != 0);
                self.plane.each([y, layer, sample], written.map(|pixel| (pixel.place[0], pixel.lane)), |lane, at| {
                    if let (Some(address), Some(data)) = (addresses.get_mut(count), data.get_mut(count)) {
                        (*address, *data) = (at, lanes[lane].to_le_bytes());
                        count += 1;
                    }
                });
            }
            access.store_all(&addresses[..count], 4, data[..count].as_flattened());
        }
    }

    /// Returns the first and the second colour that a lane exports to the target.
    fn exported(&self, exports: &[Export], at: usize) -> Option<([u32; 4], [u32; 4])> {
        let level = self.state.level;
        let of = |number: u8, lane: usize| {
            let export = exports.iter().rev().find(|export| export.target == number && export.lanes >> at & 1 != 0);
            export.map(|export| blend::exported(export, self.export_format, level, lane))
        };
        let (first, second) = if self.is_dual && level >= GfxLevel::Gfx11 {
            // The first export has both colours of even pixels, the second those of odd ones.
            let number = DUAL + (at & 1) as u8;
            (of(number, at & !1), of(number, at | 1))
        } else if self.is_dual {
            (of(self.export, at), of(self.export + 1, at))
        } else {
            (of(self.export, at), None)
        };
        first.map(|first| (first, second.unwrap_or_default()))
    }

    /// Returns what is stored for a colour, and for what was stored before.
    fn combined(&self, source: [u32; 4], second: [u32; 4], old: u128) -> u128 {
        let Self { format, mask, all, .. } = self;
        let floats = |bits: [u32; 4]| bits.map(f32::from_bits);
        let new = match self.blend {
            Some(blend) => {
                let mut stored = floats(format.unpack(old));
                if self.colour.alpha_is_one {
                    stored[3] = 1.0;
                }
                let inputs = Inputs {
                    source: blend::clamped(format, floats(source)),
                    second: blend::clamped(format, floats(second)),
                    stored,
                    constant: self.constant,
                };
                format.pack(inputs.blend(&blend).map(f32::to_bits))
            }
            None => format.pack(source),
        };
        let new = if self.is_logic { blend::logic(self.state.operation.logic, new, old) } else { new };
        old & !mask & all | new & mask
    }
}
