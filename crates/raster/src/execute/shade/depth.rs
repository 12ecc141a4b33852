//! The tests of depth and stencil.

use crate::execute::{
    cover::quad::{Quad, bits},
    target::plane::Plane,
    target::targets::Targets,
    target::value::{Access, element, number, stored},
};
use crate::{Depth, DrawMutation, DrawState, Surface};

/// The values of a pixel that are tested.
#[derive(Clone, Copy, Debug)]
pub(in crate::execute) struct Tested {
    pub(in crate::execute) x: u32,
    pub(in crate::execute) y: u32,
    pub(in crate::execute) layer: u32,
    pub(in crate::execute) sample: u32,
    pub(in crate::execute) z: f32,
    /// The stencil reference that the shader exports.
    pub(in crate::execute) reference: Option<u8>,
    pub(in crate::execute) is_front: bool,
    /// The range that depth is clamped to.
    pub(in crate::execute) range: [f32; 2],
}

impl Tested {
    /// Returns the values of a sample of a lane.
    pub(in crate::execute) fn new(quad: &Quad, lane: usize, sample: u32) -> Self {
        let [x, y] = quad.pixel(lane).map(|at| at as u32);
        Self {
            x,
            y,
            layer: quad.layer,
            sample,
            z: quad.depth(lane, sample),
            reference: None,
            is_front: quad.is_front,
            range: quad.range,
        }
    }
}

fn place(plane: Option<&Plane>, tested: &Tested) -> Option<(u64, usize)> {
    let pixel = [tested.x, tested.y, tested.layer];
    plane.and_then(|plane| plane.address(pixel, tested.sample).map(|at| (at, plane.bytes)))
}

/// Tests a pixel and writes depth and stencil. Returns `true` if it passes.
pub(in crate::execute) fn test(
    state: &DrawState,
    targets: &mut Targets,
    access: &mut Access<'_>,
    tested: &Tested,
) -> bool {
    let depth: &Depth = &state.depth;
    let format = depth.plane.map_or(3, |plane| plane.format);
    // Pixels outside of a target that is bound are not drawn.
    let z_place = place(targets.depth.as_ref(), tested);
    let stencil_place = place(targets.stencil.as_ref(), tested);
    if targets.depth.is_some() && z_place.is_none() || targets.stencil.is_some() && stencil_place.is_none() {
        return false;
    }
    if let Some(htile) = &mut targets.htile {
        let planes = [targets.depth.as_ref(), targets.stencil.as_ref()];
        if let Err(word) = htile.open(access, [tested.x, tested.y, tested.layer], planes) {
            access.compressed = access.compressed.or(Some(word));
        }
    }
    access.enter(Surface::Depth);
    let old = z_place.map(|(at, bytes)| access.load(at, bytes) as u32);
    if let (Some([low, high]), Some(bits)) = (depth.bounds, old) {
        let [value, low, high] =
            [number(format, bits), number(format, stored(format, low)), number(format, stored(format, high))];
        if value < low || value > high {
            return false;
        }
    }
    let z = match depth.clears[0] {
        Some(clear) => f32::from_bits(clear),
        None if depth.is_unclamped => tested.z,
        None => {
            let [low, high] = tested.range;
            tested.z.max(low.min(high)).min(high.max(low))
        }
    };
    let new = stored(format, z);
    let z_passes = match (depth.test, old) {
        (Some(compare), Some(old)) => compare.passes(number(format, new), number(format, old)),
        _ => true,
    };
    let mut passes = z_passes;
    if let (Some(faces), Some((at, _))) = (&depth.faces, stencil_place) {
        let face = &faces[usize::from(!tested.is_front)];
        let reference = tested.reference.unwrap_or(face.reference);
        let old = access.load(at, 1) as u8;
        let stencil_passes = face.compare.passes(reference & face.mask, old & face.mask);
        passes &= stencil_passes;
        let operation = match (stencil_passes, z_passes) {
            (false, _) => face.fail,
            (true, false) => face.depth_fail,
            (true, true) => face.pass,
        };
        let changed = match depth.clears[1] {
            Some(clear) => clear as u8,
            None => operation.apply(old, reference, face.operand),
        };
        let written = old & !face.write_mask | changed & face.write_mask;
        if written != old && !depth.stencil_is_read_only {
            access.store(at, 1, written.into());
        }
    }
    if passes
        && depth.writes
        && !depth.is_read_only
        && state.mutation != Some(DrawMutation::StaleDepth)
        && let Some((at, bytes)) = z_place
    {
        access.store(at, bytes, new.into());
    }
    passes
}

/// A sample that is tested, in memory.
struct Place {
    quad: usize,
    lane: usize,
    sample: u32,
    z: f32,
}

/// Tests the samples of quads that have none in common, and leaves them those that pass.
pub(in crate::execute) fn test_quads(
    state: &DrawState,
    targets: &mut Targets,
    access: &mut Access<'_>,
    quads: &mut [Quad],
) {
    if targets.depth.is_none() && targets.stencil.is_none() {
        return;
    }
    if targets.stencil.is_none() && state.depth.faces.is_none() && state.depth.bounds.is_none() {
        depths(state, targets, access, quads);
        return;
    }
    for quad in quads {
        for lane in 0..4 {
            let mut passing = 0;
            for sample in bits(quad.samples[lane]) {
                let tested = Tested::new(quad, lane, sample);
                passing |= u16::from(test(state, targets, access, &tested)) << sample;
            }
            quad.samples[lane] = passing;
        }
    }
}

/// Tests depth alone: all samples are read, and those that pass are written.
fn depths(state: &DrawState, targets: &mut Targets, access: &mut Access<'_>, quads: &mut [Quad]) {
    let depth = &state.depth;
    let format = depth.plane.map_or(3, |plane| plane.format);
    let Targets { depth: Some(plane), htile, .. } = targets else { return };
    let mut locations = plane.places();
    let (mut places, mut addresses) = (Vec::new(), Vec::new());
    for (index, quad) in quads.iter_mut().enumerate() {
        for lane in 0..4 {
            let [x, y] = quad.pixel(lane).map(|at| at as u32);
            let mut inside = 0;
            for sample in bits(quad.samples[lane]) {
                // Pixels outside of the target are not drawn.
                let Some(at) = locations.address([x, y, quad.layer], sample) else { continue };
                if let Some(htile) = htile.as_mut()
                    && let Err(word) = htile.open(access, [x, y, quad.layer], [Some(plane), None])
                {
                    access.compressed = access.compressed.or(Some(word));
                }
                inside |= 1 << sample;
                addresses.push(at);
                places.push(Place { quad: index, lane, sample, z: quad.depth(lane, sample) });
            }
            quad.samples[lane] = inside;
        }
    }
    let bytes = plane.bytes;
    let mut old = Vec::new();
    access.enter(Surface::Depth);
    access.load_all(&addresses, bytes, &mut old);
    let writes = depth.writes && !depth.is_read_only && state.mutation != Some(DrawMutation::StaleDepth);
    let (mut changed, mut data) = (Vec::new(), Vec::new());
    for (index, place) in places.iter().enumerate() {
        let quad = &mut quads[place.quad];
        let z = match depth.clears[0] {
            Some(clear) => f32::from_bits(clear),
            None if depth.is_unclamped => place.z,
            None => {
                let [low, high] = quad.range;
                place.z.max(low.min(high)).min(high.max(low))
            }
        };
        let new = stored(format, z);
        let passes = depth.test.is_none_or(|compare| {
            compare.passes(number(format, new), number(format, element(&old, bytes, index) as u32))
        });
        if !passes {
            quad.samples[place.lane] &= !(1 << place.sample);
        } else if writes {
            changed.push(addresses[index]);
            data.extend_from_slice(&new.to_le_bytes()[..bytes]);
        }
    }
    access.store_all(&changed, bytes, &data);
}
