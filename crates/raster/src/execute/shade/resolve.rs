//! The resolve of the colour block: the first target's samples become the second target's pixel.

use crate::{
    Surface,
    execute::target::{targets::Targets, value::Access},
};

/// Resolves a pixel: the average of its samples, or the first of them if they are integers.
pub(in crate::execute) fn resolve(targets: &Targets, access: &mut Access<'_>, pixel: [u32; 3]) {
    let [(_, from, source), (_, to, destination)] = targets.colours.as_slice() else { return };
    let Some(place) = destination.address(pixel, 0) else { return };
    access.enter(Surface::Color);
    let mut sum = [0.0_f32; 4];
    let mut first = [0; 4];
    for sample in 0..source.samples {
        let Some(at) = source.address(pixel, sample) else { return };
        let colour = from.unpack(access.load(at, source.bytes));
        if sample == 0 {
            first = colour;
        }
        for (sum, component) in sum.iter_mut().zip(colour) {
            *sum += f32::from_bits(component);
        }
    }
    let average = sum.map(|sum| (sum / source.samples as f32).to_bits());
    let colour = if from.is_integer() { first } else { average };
    access.store(place, destination.bytes, to.pack(colour));
}
