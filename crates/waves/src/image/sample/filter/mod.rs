//! Filters: texels of one or two levels and their blend.
//!
//! Sources: the Vulkan specification, "Texel Filtering" and "Level-of-Detail Operation". Weights are exact here, where
//! hardware has eight bits.

use super::{
    address::{Clamp, Span, linear, nearest, split},
    cube::across,
    sampler::{MipFilter, Reduction, Sampler},
};

/// The dimensionality of the coordinates of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dimensionality {
    /// One, two or three axes.
    Axes(u8),
    /// Two axes on a face.
    Cube,
}

/// An image as a filter sees it. Texels are channels before the order of the view.
pub(crate) trait Texels {
    /// An error of an access.
    type Error;

    /// Returns a texel of a level; the slice or layer comes third.
    fn texel(&mut self, level: u32, place: [u32; 3]) -> Result<[f64; 4], Self::Error>;

    /// Returns the extent of a level.
    fn size(&self, level: u32) -> [u32; 3];

    /// Returns the number of levels.
    fn levels(&self) -> u32;
}

/// A place to sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Lookup {
    pub(crate) dimensionality: Dimensionality,
    /// Coordinates: fractions of the image, or texels.
    pub(crate) coordinates: [f64; 3],
    pub(crate) normalized: bool,
    /// The layer, or the first of a cube's faces.
    pub(crate) layer: u32,
    /// The face of a cube.
    pub(crate) face: u32,
    pub(crate) offsets: [i32; 3],
    /// The level of detail, clamped.
    pub(crate) lod: f32,
    /// The value that texels are compared with.
    pub(crate) reference: Option<f32>,
    /// Texels are integers, which are not blended.
    pub(crate) integers: bool,
    pub(crate) border: [f64; 4],
}

/// A texel of a filter; `None` is the border, and has a corner's share.
type Weighted = (Option<[u32; 3]>, f64);

impl Lookup {
    /// Returns a coordinate of a level, counted in texels.
    fn scaled(&self, axis: usize, size: u32) -> f64 {
        let coordinate = self.coordinates[axis];
        if self.normalized { coordinate * f64::from(size) } else { coordinate }
    }

    fn span(&self, sampler: &Sampler, axis: usize, size: u32, blends: bool) -> Span {
        let (clamp, coordinate) = (sampler.clamp[axis], self.scaled(axis, size));
        if blends {
            linear(clamp, coordinate, self.offsets[axis], size)
        } else {
            nearest(clamp, coordinate, self.offsets[axis], size)
        }
    }

    /// Returns the four places around a coordinate on a face: the upper row first.
    fn on_face(&self, sampler: &Sampler, size: u32, blends: bool) -> Vec<Weighted> {
        let layer = |face: u32| self.layer * 6 + face;
        if !blends || !sampler.cube_wrap {
            let clamp = if blends { sampler.clamp } else { [Clamp::LastTexel; 3] };
            let sampler = &Sampler { clamp, ..*sampler };
            let [x, y] = [0, 1].map(|axis| self.span(sampler, axis, size, blends));
            return product(x, y, Span::one(layer(self.face)), |x, y, z| Some([x?, y?, z?]));
        }
        let [(column, right), (row, down)] = [0, 1].map(|axis| split(self.scaled(axis, size) - 0.5));
        let mut found = Vec::with_capacity(6);
        let mut corner = 0.0;
        for (dy, weight_y) in [(0, 1.0 - down), (1, down)] {
            for (dx, weight_x) in [(0, 1.0 - right), (1, right)] {
                let weight = weight_x * weight_y;
                // Coordinates on a face lie inside of it, but for rounding.
                let inside = |place: i64| place.clamp(-1, size.into());
                match across(self.face, inside(column + dx), inside(row + dy), size) {
                    Some((face, x, y)) => found.push((Some([x, y, layer(face)]), weight)),
                    None => corner += weight,
                }
            }
        }
        // Three texels meet at a corner; the fourth is their average.
        let others = found.len().max(1) as f64;
        for (_, weight) in &mut found {
            *weight += corner / others;
        }
        found
    }

    /// Returns the texels of a level with their weights. Four texels of two axes come with the upper row first.
    fn footprint(&self, sampler: &Sampler, size: [u32; 3], blends: bool) -> Vec<Weighted> {
        let axes = match self.dimensionality {
            Dimensionality::Cube => return self.on_face(sampler, size[0], blends),
            Dimensionality::Axes(axes) => axes,
        };
        let x = self.span(sampler, 0, size[0], blends);
        let y = if axes >= 2 { self.span(sampler, 1, size[1], blends) } else { Span::one(0) };
        let z = match axes {
            3 => self.span(sampler, 2, size[2], !self.integers && sampler.z_linear.unwrap_or(blends)),
            _ => Span::one(self.layer),
        };
        product(x, y, z, |x, y, z| Some([x?, y?, z?]))
    }

    /// Returns the value of a texel, or the comparison's result.
    fn value<T: Texels>(
        &self,
        texels: &mut T,
        sampler: &Sampler,
        level: u32,
        place: Option<[u32; 3]>,
    ) -> Result<[f64; 4], T::Error> {
        let texel = match place {
            Some(place) => texels.texel(level, place)?,
            None => self.border,
        };
        Ok(match self.reference {
            Some(reference) => [f64::from(u8::from(sampler.passes(reference, texel[0] as f32))); 4],
            None => texel,
        })
    }

    fn one_level<T: Texels>(&self, texels: &mut T, sampler: &Sampler, level: u32) -> Result<[f64; 4], T::Error> {
        let magnified = self.lod <= 0.0;
        let blends = !self.integers && if magnified { sampler.mag_linear } else { sampler.min_linear };
        let mut result: Option<[f64; 4]> = None;
        for (place, weight) in self.footprint(sampler, texels.size(level), blends) {
            if weight == 0.0 {
                continue;
            }
            let value = self.value(texels, sampler, level, place)?;
            let weighted = |index: usize| match (sampler.reduction, result) {
                (Reduction::Blend, None) => value[index] * weight,
                (Reduction::Blend, Some(sum)) => sum[index] + value[index] * weight,
                (_, None) => value[index],
                (Reduction::Min, Some(best)) => best[index].min(value[index]),
                (Reduction::Max, Some(best)) => best[index].max(value[index]),
            };
            result = Some(std::array::from_fn(weighted));
        }
        Ok(result.unwrap_or_default())
    }

    /// Returns the sampled value.
    pub(crate) fn sample<T: Texels>(&self, texels: &mut T, sampler: &Sampler) -> Result<[f64; 4], T::Error> {
        let (first, part) = mip(sampler.mip, self.lod, texels.levels());
        let low = self.one_level(texels, sampler, first)?;
        if part == 0.0 {
            return Ok(low);
        }
        let high = self.one_level(texels, sampler, first + 1)?;
        Ok(std::array::from_fn(|index| match sampler.reduction {
            Reduction::Blend => low[index] * (1.0 - part) + high[index] * part,
            Reduction::Min => low[index].min(high[index]),
            Reduction::Max => low[index].max(high[index]),
        }))
    }

    /// Returns the four texels around a place, each a whole texel, in the order of gather operations: lower left, lower right,
    /// upper right, upper left, with y downwards.
    pub(crate) fn gather<T: Texels>(&self, texels: &mut T, sampler: &Sampler) -> Result<[[f64; 4]; 4], T::Error> {
        let (level, _) = mip(MipFilter::Point, self.lod, texels.levels());
        let unblended = Lookup { integers: false, ..*self };
        let found = unblended.footprint(sampler, texels.size(level), true);
        let mut result = [[0.0; 4]; 4];
        for (slot, from) in result.iter_mut().zip([2, 3, 1, 0]) {
            let place = found.get(from).or(found.first()).and_then(|(place, _)| *place);
            *slot = self.value(texels, sampler, level, place)?;
        }
        Ok(result)
    }
}

/// Returns all combinations of three axes: x runs first, then y, then z.
fn product(
    x: Span,
    y: Span,
    z: Span,
    place: impl Fn(Option<u32>, Option<u32>, Option<u32>) -> Option<[u32; 3]>,
) -> Vec<Weighted> {
    let mut found = Vec::with_capacity(8);
    for (z, weight_z) in z.texels.into_iter().zip(z.weights) {
        for (y, weight_y) in y.texels.into_iter().zip(y.weights) {
            for (x, weight_x) in x.texels.into_iter().zip(x.weights) {
                found.push((place(x, y, z), weight_x * weight_y * weight_z));
            }
        }
    }
    found
}

/// Returns the first level and the share of the next one.
fn mip(filter: MipFilter, lod: f32, levels: u32) -> (u32, f64) {
    let last = levels.saturating_sub(1);
    let lod = f64::from(lod).clamp(0.0, last.into());
    match filter {
        MipFilter::Base => (0, 0.0),
        // Half way belongs to the larger level.
        MipFilter::Point => (((lod + 0.5).ceil() as u32).saturating_sub(1).min(last), 0.0),
        MipFilter::Linear => {
            let (first, part) = split(lod);
            let first = (first as u32).min(last);
            (first, if first == last { 0.0 } else { part })
        }
    }
}

#[cfg(test)]
mod tests;
