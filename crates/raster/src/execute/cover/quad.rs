//! Quads: what the rasterizer hands to pixel shaders.

use crate::execute::cover::setup::Values;

/// Four pixels that a wave computes, once or once for each of some samples.
#[derive(Debug)]
pub(in crate::execute) struct Quad {
    pub(in crate::execute) x: i32,
    pub(in crate::execute) y: i32,
    /// The samples of each pixel that this invocation writes: a bit each.
    pub(in crate::execute) samples: [u16; 4],
    /// The samples of each pixel that are covered.
    pub(in crate::execute) coverage: [u16; 4],
    pub(in crate::execute) primitive: u16,
    /// The number of the part of a primitive in the draw: quads of the same part share no sample.
    pub(in crate::execute) part: u64,
    pub(in crate::execute) is_front: bool,
    pub(in crate::execute) layer: u32,
    pub(in crate::execute) range: [f32; 2],
    /// The values at the centres of the pixels.
    pub(in crate::execute) values: QuadValues,
    /// The additions of several samples.
    pub(in crate::execute) sampled: Option<Box<Sampled>>,
}

/// The [`Values`] of the pixels of a quad, each kind of all pixels together, as registers have them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::execute) struct QuadValues {
    pub(in crate::execute) perspective: [[f32; 4]; 2],
    pub(in crate::execute) linear: [[f32; 4]; 2],
    pub(in crate::execute) z: [f32; 4],
    pub(in crate::execute) w: [f32; 4],
}

impl QuadValues {
    /// Creates the values of a quad from those of its pixels.
    pub(in crate::execute) fn of(pixel: impl Fn(usize) -> Values) -> Self {
        let mut all = Self::default();
        for lane in 0..4 {
            all.set(lane, &pixel(lane));
        }
        all
    }

    /// Sets the values of a pixel.
    pub(in crate::execute) fn set(&mut self, lane: usize, values: &Values) {
        for part in 0..2 {
            self.perspective[part][lane] = values.perspective[part];
            self.linear[part][lane] = values.linear[part];
        }
        self.z[lane] = values.z;
        self.w[lane] = values.w;
    }
}

/// The values of a quad of several samples.
#[derive(Clone, Debug)]
pub(in crate::execute) struct Sampled {
    /// The sample that is computed, or 0.
    pub(in crate::execute) number: u32,
    /// The depth of each sample of each pixel.
    pub(in crate::execute) depths: [[f32; 16]; 4],
    /// The values at the centre, or at a covered sample if the centre is not covered.
    pub(in crate::execute) centroid: QuadValues,
    /// The values at the sample that is computed.
    pub(in crate::execute) own: QuadValues,
    /// The place of the sample that is computed, from the upper left corner of each pixel.
    pub(in crate::execute) place: [[f32; 2]; 4],
}

impl Quad {
    /// Returns the lanes that have a sample: a bit each.
    pub(in crate::execute) fn mask(&self) -> u8 {
        self.samples.iter().enumerate().fold(0, |mask, (lane, samples)| mask | u8::from(*samples != 0) << lane)
    }

    /// Returns the place of a lane's pixel.
    pub(in crate::execute) const fn pixel(&self, lane: usize) -> [i32; 2] {
        [self.x + (lane as i32 & 1), self.y + (lane as i32 >> 1)]
    }

    /// Returns the values at the sample that is computed, or else at the centres.
    pub(in crate::execute) fn own(&self) -> &QuadValues {
        self.sampled.as_ref().map_or(&self.values, |sampled| &sampled.own)
    }

    /// Returns the values at places that are covered: the centres if there is one sample.
    pub(in crate::execute) fn centroid(&self) -> &QuadValues {
        self.sampled.as_ref().map_or(&self.values, |sampled| &sampled.centroid)
    }

    /// Returns the depth of a sample of a lane.
    pub(in crate::execute) fn depth(&self, lane: usize, sample: u32) -> f32 {
        self.sampled.as_ref().map_or(self.values.z[lane], |sampled| sampled.depths[lane][sample as usize & 15])
    }
}

/// Returns the numbers of the bits of a mask.
pub(in crate::execute) fn bits(mask: u16) -> impl Iterator<Item = u32> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        let bit = (rest != 0).then(|| rest.trailing_zeros())?;
        rest &= rest - 1;
        Some(bit)
    })
}
