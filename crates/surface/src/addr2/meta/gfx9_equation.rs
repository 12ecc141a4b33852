//! The address equation of GFX9 metadata.
//!
//! It is derived from the equation of the data: metadata must be in the pipe and at the render backend of the data that it
//! describes. Source: `Gfx9Lib::GenMetaEquation`, `GetDataEquation`, `GetPipeEquation`, `GetRbEquation`.

use amdgpu_hw::GfxLevel;

use super::coord::{Axis, BITS, CoordTerm, MetaEquation9};
use super::image::{MetaImage, MetaKind, MetaLayout};
use crate::addr2::mode::{Order, SwizzleMode};
use crate::bits::log2;
use crate::chip::Chip;

/// The number of address bits below the pipe bits.
const INTERLEAVE: usize = 8;

/// The number of bits of a data address that are used.
const DATA_BITS: usize = 27;

/// Returns the number of pipe bits that metadata addresses follow (`GetPipeLog2ForMetaAddressing`).
pub(super) fn pipe_bits(chip: &Chip, mode: SwizzleMode, aligned: bool) -> u32 {
    let all = if aligned { (chip.config.pipes + chip.config.shader_engines).min(5) } else { 0 };
    if mode.is_xor() { all.min(mode.block_bits(chip) - 8) } else { all }
}

fn color_data(chip: &Chip, image: &MetaImage, samples: usize) -> MetaEquation9 {
    let mut data = MetaEquation9::zero(DATA_BITS);
    let element = image.bytes_log2() as usize;
    let mut counts = [0; 3];
    let (x, y, z) = (Axis::X, Axis::Y, Axis::Z);
    if image.mode.is_thick(GfxLevel::Gfx9, image.dimension) {
        if image.mode.order() == Order::S {
            data.interleave(&[x], &mut counts, element..4);
            data.interleave(&[y], &mut counts, 4..6);
            data.interleave(&[z], &mut counts, 6..8);
            let last: &[Axis] = match element {
                0 | 1 => &[z, y],
                2 => &[y, x],
                _ => &[x],
            };
            data.interleave(last, &mut counts, 8..10);
        } else {
            let end = [3, 4, 4, 4, 5][element];
            let layers = [2, 3, 1, 1, 2][element];
            data.interleave(&[x, y], &mut counts, element..end + 1);
            data.interleave(&[z], &mut counts, end + 1..end + 1 + layers);
            match element {
                0 | 3 => data.interleave(&[x, z], &mut counts, 6..8),
                2 => data.interleave(&[y, z], &mut counts, 6..8),
                _ => {}
            }
            data.interleave(&[y, x], &mut counts, 8..10);
        }
        data.interleave(&[z, y, x], &mut counts, 10..DATA_BITS);
        return data;
    }
    let block_bits = image.mode.block_bits(chip) as usize;
    let micro_y = (8 - element) / 2;
    let split = block_bits - samples;
    data.interleave(&[x], &mut counts, element..4);
    data.interleave(&[y], &mut counts, 4..4 + micro_y);
    data.interleave(&[x], &mut counts, 4 + micro_y..8);
    data.interleave(&[y, x], &mut counts, 8..split);
    for sample in 0..samples {
        data.bits[split + sample] = CoordTerm::one(Axis::S, sample as u32);
    }
    let above: [Axis; 2] = if (samples ^ block_bits) & 1 == 1 { [x, y] } else { [y, x] };
    data.interleave(&above, &mut counts, block_bits..DATA_BITS);
    data
}

fn depth_data(element: usize, samples: usize) -> MetaEquation9 {
    let mut data = MetaEquation9::zero(DATA_BITS);
    for sample in 0..samples {
        data.bits[element + sample] = CoordTerm::one(Axis::S, sample as u32);
    }
    let mut counts = [0; 3];
    data.interleave(&[Axis::X, Axis::Y], &mut counts, element + samples..6 + samples);
    data.interleave(&[Axis::Y, Axis::X], &mut counts, 6 + samples..DATA_BITS);
    data
}

/// Up to 8 bits of pipes or render backends.
type SelectorBits = [CoordTerm; 8];

fn pipe_equation(
    chip: &Chip,
    image: &MetaImage,
    mut data: MetaEquation9,
    samples: usize,
    pipes: usize,
) -> SelectorBits {
    let mode = image.mode;
    let block_bits = mode.block_bits(chip) as usize;
    let color = image.kind == MetaKind::Dcc;
    if color && samples > 0 {
        // Removes the sample bits.
        for bit in block_bits - samples..DATA_BITS {
            data.bits[bit] = if bit + samples < DATA_BITS { data.bits[bit + samples] } else { CoordTerm::default() };
        }
    }
    let mut start = 0;
    if !color {
        // Bits inside the compressed block of 8x8 pixels select no pipe.
        let inside = |term: CoordTerm| {
            let lowest = term.smallest();
            lowest.s != 0 || (lowest.x | lowest.y | lowest.z) & 7 != 0
        };
        while INTERLEAVE + start + 1 < DATA_BITS && inside(data.bits[INTERLEAVE + start]) {
            start += 1;
        }
    }
    let mut equation = SelectorBits::default();
    for (pipe, term) in equation.iter_mut().enumerate().take(pipes) {
        *term = data.bits[INTERLEAVE + start + pipe];
    }
    if mode.is_prt_xor() {
        for term in &mut data.bits[block_bits..] {
            *term = CoordTerm::default();
        }
    }
    if !mode.is_xor() {
        return equation;
    }
    let thick = mode.is_thick(GfxLevel::Gfx9, image.dimension) && color;
    for (pipe, term) in equation[..pipes].iter_mut().enumerate() {
        let opposite = pipes - 1 - pipe;
        if thick {
            let from = INTERLEAVE + pipes + 2 * opposite;
            *term = term.union(data.bits[from]).union(data.bits[from + 1]);
        } else {
            if samples == 0 && !mode.is_prt_xor() {
                *term = term.union(CoordTerm::one(Axis::Z, opposite as u32));
            }
            *term = term.union(data.bits[INTERLEAVE + start + pipes + opposite]);
        }
    }
    equation
}

fn backend_equation(per_engine: u32, engines: u32) -> SelectorBits {
    // Render backends alternate every 16 pixels, or every 32 with one backend per engine.
    let region = if per_engine == 0 { 5 } else { 4 };
    let (mut x, mut y) = (region, region);
    let mut equation = SelectorBits::default();
    let total = (per_engine + engines) as usize;
    let mut start = 0;
    if engines > 0 && per_engine == 1 {
        equation[0] =
            CoordTerm::one(Axis::X, x).union(CoordTerm::one(Axis::Y, y)).union(CoordTerm::one(Axis::Y, y + 1));
        x += 1;
        y += 1;
        start = 1;
    }
    let count = 2 * (total - start);
    for turn in 0..count {
        let bit = start + if start + turn >= total { count - turn - 1 } else { turn };
        let axis = if turn & 1 == 1 {
            x += 1;
            CoordTerm::one(Axis::X, x - 1)
        } else {
            y += 1;
            CoordTerm::one(Axis::Y, y - 1)
        };
        equation[bit] = equation[bit].union(axis);
    }
    equation
}

/// Replaces a coordinate that another bit already determines with the remaining coordinates of that bit. Returns `true` if the bit
/// contained it.
fn substitute(bit: &mut CoordTerm, coordinate: CoordTerm, others: CoordTerm) -> bool {
    if coordinate.is_empty() || !bit.contains(coordinate) {
        return false;
    }
    *bit = bit.without(coordinate).union(others.without(coordinate));
    !others.without(coordinate).is_empty()
}

fn morton(image: &MetaImage, thick: bool, compressed_samples: usize) -> MetaEquation9 {
    let mut equation = MetaEquation9::zero(DATA_BITS);
    let mut counts = [0; 3];
    if thick {
        equation.interleave(&[Axis::X, Axis::Y, Axis::Z], &mut counts, 0..DATA_BITS);
    } else {
        equation.interleave(&[Axis::X, Axis::Y], &mut counts, compressed_samples..DATA_BITS);
        if image.kind == MetaKind::Dcc {
            for sample in 0..compressed_samples {
                equation.bits[sample] = CoordTerm::one(Axis::S, sample as u32);
            }
        }
    }
    equation
}

/// Builds the address equation of an image with this number of samples.
pub(super) fn of(chip: &Chip, image: &MetaImage, layout: &MetaLayout) -> MetaEquation9 {
    let color = image.kind == MetaKind::Dcc;
    let thick = color && image.mode.is_thick(GfxLevel::Gfx9, image.dimension);
    let samples = match image.kind {
        MetaKind::Dcc | MetaKind::Htile => log2(image.fragments) as usize,
        MetaKind::Cmask => 0,
    };
    let data = match image.kind {
        MetaKind::Dcc => color_data(chip, image, samples),
        MetaKind::Htile => depth_data(image.bytes_log2() as usize, samples),
        MetaKind::Cmask => {
            let bits = crate::addr2::choose::fmask_bits(image.samples, image.fragments);
            depth_data(log2(bits >> 3) as usize, samples)
        }
    };
    let pipes = pipe_bits(chip, image.mode, image.pipe_aligned) as usize;
    let all_pipes = pipe_equation(chip, image, data, samples, pipes);
    let most = chip.config.compressed_fragments as usize;
    let compressed = if color { samples.min(most) } else { samples };
    let uncompressed = samples - compressed;
    let low = layout.compressed_block.map(log2);
    let high = layout.block.map(log2);
    let mut meta = morton(image, thick, compressed);
    for term in &mut meta.bits {
        *term = term.within(low, high);
    }
    meta.compact();
    let mut pipe = all_pipes.map(|term| term.within([0; 3], high));
    let (engines, per_engine) =
        if image.rb_aligned { (chip.config.shader_engines, chip.config.rbs_per_engine) } else { (0, 0) };
    let backends = (engines + per_engine) as usize;
    let all_backends = backend_equation(per_engine, engines);
    let mut backend = all_backends;
    let fix = chip.meta_alias_fix();
    for term in &mut backend[..backends] {
        let same = |pipe: &CoordTerm| {
            let pipe = if fix { CoordTerm { z: 0, ..*pipe } } else { *pipe };
            pipe == *term
        };
        if pipe[..pipes].iter().any(same) {
            *term = CoordTerm::default();
        }
    }
    let mut appended = [false; 8];
    for index in 0..pipes {
        let lowest = pipe[index].smallest();
        drop_coordinate(&mut meta, lowest);
        for term in &mut pipe[..pipes] {
            *term = term.without(lowest);
        }
        let rest = pipe[index];
        for (term, appended) in backend[..backends].iter_mut().zip(&mut appended) {
            *appended |= substitute(term, lowest, rest);
        }
    }
    let mut left = [false; 8];
    for index in 0..backends {
        let term = backend[index];
        if term.len() <= u32::from(fix && appended[index]) {
            continue;
        }
        left[index] = true;
        let lowest = term.smallest();
        drop_coordinate(&mut meta, lowest);
        for next in index + 1..backends {
            if substitute(&mut backend[next], lowest, term) {
                appended[next] |= appended[index];
            }
        }
    }
    assemble(image, meta, &all_pipes[..pipes], &all_backends[..backends], left, compressed..compressed + uncompressed)
}

fn drop_coordinate(meta: &mut MetaEquation9, coordinate: CoordTerm) {
    for bit in 0..meta.len {
        meta.bits[bit] = meta.bits[bit].without(coordinate);
    }
    meta.compact();
}

/// Adds block index, pipes, backends and uncompressed fragments to the bits inside the meta block.
fn assemble(
    image: &MetaImage,
    mut meta: MetaEquation9,
    pipes: &[CoordTerm],
    backends: &[CoordTerm],
    left: [bool; 8],
    fragments: core::ops::Range<usize>,
) -> MetaEquation9 {
    let size = meta.len;
    meta.len = BITS;
    for (index, bit) in (size..BITS).enumerate() {
        meta.bits[bit] = CoordTerm::one(Axis::M, index as u32);
    }
    match image.kind {
        MetaKind::Dcc => meta.shift_up(1, 0),
        MetaKind::Htile => meta.shift_up(3, 0),
        MetaKind::Cmask => {}
    }
    let backends_left = || backends.iter().zip(left).filter(|(_, left)| *left).map(|(term, _)| *term);
    let start = INTERLEAVE + 1;
    meta.shift_up(pipes.len() + backends_left().count() + fragments.len(), start);
    let inserted = pipes
        .iter()
        .copied()
        .chain(backends_left())
        .chain(fragments.map(|sample| CoordTerm::one(Axis::S, sample as u32)));
    for (bit, term) in (start..BITS).zip(inserted) {
        meta.bits[bit] = term;
    }
    meta.pipe_bits = pipes.len() as u32;
    meta
}
