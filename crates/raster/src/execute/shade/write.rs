//! Late tests and colours: the way of the exports of pixel shaders.

use amdgpu_hw::GfxLevel;

use crate::execute::{
    cover::quad::{Quad, bits},
    cover::samples,
    interface::{Ended, Export},
    shade::blend::{self, Inputs},
    shade::depth::{self, Tested},
    shade::pixels::Pixels,
    target::dcc,
    target::format::Format,
    target::value::Access,
};
use crate::{Colour, DrawState, Flaw};

/// The numbers of export targets.
const DEPTH: u8 = 8;
const DUAL: u8 = 21;

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
        // From GFX11 on, alpha that becomes a mask is beside depth if depth, stencil or a mask is exported.
        let alpha = match state.depth_format {
            3 => Some(word(1)),
            9 if export.enabled >> 3 & 1 != 0 => Some(word(3)),
            _ => None,
        };
        Self {
            z: depth.exports_depth.then(|| f32::from_bits(word(0))),
            stencil: depth.exports_stencil.then_some(stencil as u8),
            mask: depth.exports_mask.then_some(mask as u16),
            alpha: alpha.filter(|_| state.level >= GfxLevel::Gfx11).map(f32::from_bits),
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
        for (index, quad) in quads.iter().enumerate() {
            for lane in (0..4).filter(|lane| quad.samples[*lane] != 0) {
                let at = 4 * index + lane;
                if alive >> at & 1 == 0 {
                    continue;
                }
                let extra = depth_export
                    .filter(|export| export.lanes >> at & 1 != 0)
                    .map(|export| Extra::new(state, export, at));
                let mut covered = quad.samples[lane];
                if let Some(mask) = extra.as_ref().and_then(|extra| extra.mask) {
                    covered &= mask;
                }
                if let Some(way) = &state.depth.alpha_to_mask {
                    let own = extra.as_ref().and_then(|extra| extra.alpha);
                    let alpha = own.or_else(|| self.exported(exports, 0, at).map(|colour| f32::from_bits(colour[3])));
                    covered &= samples::of_alpha(way, alpha.unwrap_or(1.0), quad.pixel(lane), state.samples);
                }
                if !self.is_early {
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
                    covered = passing;
                }
                if covered != 0 {
                    self.drawn.passed += u64::from(covered.count_ones());
                    self.colours(quad, lane, covered, (at, exports));
                }
            }
        }
        Ok(())
    }

    /// Returns the colour that a lane exports to the n-th target that has one.
    fn exported(&self, exports: &[Export], number: u8, lane: usize) -> Option<[u32; 4]> {
        let state = self.state;
        let format = state.colour_formats >> (4 * u32::from(number)) & 15;
        let export = exports.iter().rev().find(|one| one.target == number && one.lanes >> lane & 1 != 0);
        export.map(|export| blend::exported(export, format, state.level, lane))
    }

    /// Writes the colours of a pixel's samples. Exports are numbered without gaps: the n-th belongs to the n-th target that has one.
    fn colours(&mut self, quad: &Quad, lane: usize, covered: u16, (at, exports): (usize, &[Export])) {
        let state = self.state;
        let [x, y] = quad.pixel(lane).map(|at| at as u32);
        let pixel = [x, y, quad.layer];
        for ((colour, format, plane), metadata) in self.targets.colours.iter().zip(&mut self.targets.dcc) {
            if let Err(code) = dcc::open_all(metadata, &mut self.access, pixel, (colour, format, plane)) {
                self.access.compressed = self.access.compressed.or(Some(code));
            }
        }
        if self.targets.opens_only || self.access.compressed.is_some() {
            return;
        }
        if state.operation.mode == crate::execute::target::targets::RESOLVE {
            crate::execute::shade::resolve::resolve(&self.targets, &mut self.access, pixel);
            return;
        }
        for (colour, format, plane) in &self.targets.colours {
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
            let Some(mut source) = source else { continue };
            if state.flaw == Some(Flaw::SwappedChannel) {
                source.swap(0, 2);
            }
            let write = Write { state, colour, format, bytes: plane.bytes, second: second.unwrap_or_default() };
            for sample in bits(covered) {
                if let Some(place) = plane.address(pixel, sample) {
                    write.to(&mut self.access, place, source);
                }
            }
        }
    }
}

/// The parameters with which a colour is written.
struct Write<'w> {
    state: &'w DrawState,
    colour: &'w Colour,
    format: &'w Format,
    bytes: usize,
    second: [u32; 4],
}

impl Write<'_> {
    fn to(&self, access: &mut Access<'_>, place: u64, source: [u32; 4]) {
        let Self { state, colour, format, bytes, second } = self;
        let bytes = *bytes;
        let mask = format.bits_of(colour.written());
        let all = format.bits_of(15);
        let is_logic = state.operation.logic & 15 != 12 && format.range().is_some() | format.is_integer();
        let blend = colour.blend.filter(|_| !is_logic && !format.is_integer());
        let old = if blend.is_some() || is_logic || mask != all { access.load(place, bytes) } else { 0 };
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
        access.store(place, bytes, old & !mask & all | new & mask);
    }
}
