//! Image operations with a sampler.

use amdgpu_hw::GfxLevel;

use super::{
    access::Space,
    components::{Parts, write_components},
    compressed::LastUnit,
    texel::{Coordinates, Reader, masked},
};
use crate::{
    image::{
        descriptor::Image,
        error::ImageError,
        sample::{
            filter::{Dimensionality, Lookup, Texels},
            sampler::{Border, Sampler},
        },
        texel::Texel,
    },
    mutation::WaveMutation,
    number::half::Half,
    program::image::op::{self as program, Detail, ImageOp, Operation},
    wave::registers::{Registers, lanes},
};

/// Texels of an image in memory.
struct Source<'s, S> {
    image: &'s mut Image,
    space: &'s mut S,
    last: &'s mut LastUnit,
}

impl<S: Space> Texels for Source<'_, S> {
    type Error = ImageError;

    fn texel(&mut self, level: u32, [x, y, z]: [u32; 3]) -> Result<[f64; 4], ImageError> {
        let element = self.last.element(self.space, self.image, Texel { level, x, y, z, sample: 0 })?;
        let format = self.image.format;
        let components = element.map_or([0; 4], |element| format.unpack_at(element, [x, y]));
        Ok(components.map(|component| number(component, format.plain.is_integer())))
    }

    fn size(&self, level: u32) -> [u32; 3] {
        self.image.size(level)
    }

    fn levels(&self) -> u32 {
        self.image.levels()
    }
}

/// Returns a component as a number; integers keep their bits.
fn number(component: u32, is_integer: bool) -> f64 {
    if is_integer { f64::from(component) } else { f64::from(f32::from_bits(component)) }
}

/// Returns a number as a component.
fn bits(number: f64, is_integer: bool) -> u32 {
    if is_integer { number as u32 } else { (number as f32).to_bits() }
}

/// The address of a lane, before filters.
#[derive(Clone, Copy, Default)]
struct Address {
    offsets: [i32; 3],
    bias: f32,
    reference: Option<f32>,
    /// Changes of the coordinates in x and in y of the screen.
    gradients: Option<[[f64; 3]; 2]>,
    /// Coordinates, with layer or face behind those of texels.
    coordinates: [f64; 4],
    /// The level, or the least level.
    last: f32,
}

/// Returns a float of 32 or 16 bits.
fn float(value: u32, half: bool) -> f64 {
    if half { Half(value as u16).wide() } else { f64::from(f32::from_bits(value)) }
}

/// Reads the address of a lane.
///
/// Source: the ISA guides, "Image Addressing": offset, bias, reference, gradients, coordinates, then level or clamp.
fn address(
    registers: &Registers,
    op: &ImageOp,
    lookup: program::Lookup,
    coordinates: Coordinates,
    lane: usize,
) -> Address {
    let mut reader = Reader { registers, addresses: &op.addresses, lane, at: 0 };
    let mut address = Address::default();
    if lookup.has_offset {
        let offset = reader.dword();
        address.offsets = [0, 8, 16].map(|shift| (offset << (26 - shift)).cast_signed() >> 26);
    }
    if lookup.has_bias {
        let bias = reader.dword();
        address.bias = float(if op.half_addresses { bias & 0xffff } else { bias }, op.half_addresses) as f32;
    }
    if lookup.compares {
        address.reference = Some(f32::from_bits(reader.dword()));
    }
    let axes = usize::from(coordinates.axes);
    if lookup.detail == Detail::Gradients {
        let mut direction = || {
            let values: [u32; 3] = reader.group(axes, op.half_gradients);
            values.map(|value| float(value, op.half_gradients))
        };
        address.gradients = Some([direction(), direction()]);
    }
    let has_last = lookup.has_clamp || lookup.detail == Detail::Explicit;
    let count = coordinates.count();
    let values: [u32; 5] = reader.group(count + usize::from(has_last), op.half_addresses);
    let floats = values.map(|value| float(value, op.half_addresses));
    address.coordinates.copy_from_slice(&floats[..4]);
    for coordinate in address.coordinates.iter_mut().skip(count) {
        *coordinate = 0.0;
    }
    address.last = if has_last { floats[count] as f32 } else { 0.0 };
    address
}

/// Returns the level of detail of gradients.
fn detail_of(gradients: [[f64; 3]; 2], size: [u32; 3], (axes, normalized): (usize, bool)) -> f32 {
    let length = |gradient: [f64; 3]| {
        let squares = gradient.iter().zip(size).take(axes).map(|(change, size)| {
            let texels = if normalized { change * f64::from(size) } else { *change };
            texels * texels
        });
        squares.sum::<f64>()
    };
    (length(gradients[0]).max(length(gradients[1])).log2() / 2.0) as f32
}

/// Everything that does not differ between lanes.
struct Setup {
    sampler: Sampler,
    border: [f64; 4],
    lookup: program::Lookup,
    coordinates: Coordinates,
    normalized: bool,
}

impl Setup {
    /// Returns the level of detail of a lane: clamped, and as it was before.
    fn detail(&self, registers: &Registers, op: &ImageOp, image: &Image, lane: usize, own: &Address) -> (f32, f32) {
        let axes = usize::from(self.coordinates.axes);
        let raw = match (self.lookup.detail, own.gradients) {
            (Detail::Explicit, _) => own.last,
            (Detail::Zero, _) => 0.0,
            (_, Some(gradients)) => detail_of(gradients, image.size(0), (axes, self.normalized)),
            _ => {
                // Differences between the first lanes of four, which are a square.
                let at = |lane: usize| address(registers, op, self.lookup, self.coordinates, lane).coordinates;
                let (first, right, below) = (at(lane & !3), at(lane & !3 | 1), at(lane & !3 | 2));
                let change = |other: [f64; 4]| [0, 1, 2].map(|axis| other[axis] - first[axis]);
                detail_of([change(right), change(below)], image.size(0), (axes, self.normalized))
            }
        };
        let [least, most] = self.sampler.lod;
        let mut lod = (raw + self.sampler.bias + own.bias).max(least).min(most);
        if self.lookup.has_clamp {
            lod = lod.max(own.last);
        }
        let lod = lod.max(image.min_lod - image.base_level as f32);
        (if lod.is_nan() { 0.0 } else { lod }, raw)
    }

    /// Returns the lookup of a lane.
    fn lookup(&self, image: &Image, own: &Address, lod: f32) -> Lookup {
        let [x, y, z, _] = own.coordinates;
        let axes = self.coordinates.axes;
        let slice = own.coordinates[usize::from(axes).min(3)];
        let limit = f64::from(image.layers() - 1);
        let whole = |value: f64| value.round_ties_even().max(0.0);
        let is_integer = image.format.plain.is_integer();
        let mut lookup = Lookup {
            dimensionality: Dimensionality::Axes(axes),
            coordinates: [x, y, z],
            normalized: self.normalized,
            layer: if self.coordinates.has_layer { whole(slice).min(limit) as u32 } else { 0 },
            face: 0,
            offsets: own.offsets,
            lod,
            reference: own.reference,
            integers: is_integer,
            border: self.border,
        };
        if self.coordinates.is_cube {
            // Coordinates of a face run from 1 to 2.
            lookup.dimensionality = Dimensionality::Cube;
            (lookup.layer, lookup.face) = face(slice, image.layers() / 6);
            lookup.coordinates = [x - 1.0, y - 1.0, 0.0];
        }
        if let Some(reference) = &mut lookup.reference
            && image.format.plain.number == crate::buffer::format::Number::Unorm
        {
            *reference = reference.clamp(0.0, 1.0);
        }
        lookup
    }
}

/// Returns the cube and the face of a coordinate that counts cubes by eight faces, of which two do not exist. Cubes in front of the first
/// are the first, with the same face: from GFX9 on drivers leave that to the hardware.
///
/// Source: Mesa 25.0.7 `ac_nir_lower_tex.c`, which cuts negative layers off up to GFX8.
fn face(coordinate: f64, cubes: u32) -> (u32, u32) {
    let number = coordinate.round_ties_even().clamp(-1.0e6, 1.0e6) as i64;
    let cube = number.div_euclid(8).clamp(0, i64::from(cubes.max(1) - 1));
    (cube as u32, number.rem_euclid(8).min(5) as u32)
}

/// Returns the border colour of a sampler as the channels of an image.
fn border(space: &mut impl Space, sampler: &Sampler, image: &Image, table: u64, level: GfxLevel) -> [f64; 4] {
    let one = image.format.plain.one();
    let mut colour = match sampler.border {
        Border::TransparentBlack => [0; 4],
        Border::OpaqueBlack => [0, 0, 0, one],
        Border::OpaqueWhite => [one; 4],
        Border::Table(place) => {
            let mut bytes = [0; 16];
            space.load(table.wrapping_add(16 * u64::from(place)), &mut bytes);
            std::array::from_fn(|index| (u128::from_le_bytes(bytes) >> (32 * index)) as u32)
        }
    };
    if level >= GfxLevel::Gfx9 {
        colour = image.border_order.map(|component| colour[usize::from(component)]);
    } else {
        // Colours have the order of the view.
        let ordered = colour;
        for (component, select) in image.selects.into_iter().enumerate().rev() {
            if let 4..=7 = select {
                colour[usize::from(select) - 4] = ordered[component];
            }
        }
    }
    colour.map(|component| number(component, image.format.plain.is_integer()))
}

/// Does an operation with a sampler for every lane that is on.
pub(super) fn sampled(
    registers: &mut Registers,
    space: &mut impl Space,
    op: &ImageOp,
    image: &mut Image,
    (table, parts, mutation): (u64, Parts, Option<WaveMutation>),
) -> Result<(), ImageError> {
    let level = registers.level;
    let words = std::array::from_fn(|index| registers.scalars[usize::from(op.sampler) + index]);
    let mut sampler = Sampler::new(level, words)?;
    if mutation == Some(WaveMutation::Unfiltered) {
        (sampler.mag_linear, sampler.min_linear) = (false, false);
    }
    let lookup = match op.operation {
        Operation::Sample(lookup) | Operation::Gather(lookup) => lookup,
        _ => program::Lookup {
            has_offset: false,
            has_bias: false,
            compares: false,
            has_clamp: false,
            detail: Detail::Neighbours,
        },
    };
    let coordinates = Coordinates::of(op, image.kind);
    let border = border(space, &sampler, image, table, level);
    let normalized = !(sampler.unnormalized || op.unnormalized);
    let setup = Setup { sampler, border, lookup, coordinates, normalized };
    let (format, is_integer) = (image.format.plain, image.format.plain.is_integer());
    // What a lane writes may be another lane's coordinates' neighbour, so that all are read first.
    let mut results = [[0; 4]; 64];
    let last = &mut LastUnit::default();
    for lane in lanes(registers.exec()) {
        space.lane(lane);
        let own = address(registers, op, lookup, coordinates, lane);
        let (lod, raw) = setup.detail(registers, op, image, lane, &own);
        let mut place = setup.lookup(image, &own, lod);
        if mutation == Some(WaveMutation::WrongTexel) {
            place.coordinates[1] += if normalized { 1.0 / f64::from(image.size(0)[1]) } else { 1.0 };
        }
        let select = |values: [f64; 4], image: &Image| {
            image.selects.map(|select| match select {
                4..=7 => bits(values[usize::from(select) - 4], is_integer && !lookup.compares),
                1 => format.one(),
                _ => 0,
            })
        };
        results[lane] = match op.operation {
            Operation::Lod => masked(op.mask, [lod.to_bits(), raw.to_bits(), 0, 0]),
            Operation::Gather(_) => {
                // Up to GFX8, texels of integers are gathered as if the nearest one were wanted (Mesa's
                // `lower_gather4_integer`).
                if is_integer && level <= GfxLevel::Gfx8 && !coordinates.is_cube {
                    for (coordinate, size) in place.coordinates.iter_mut().zip(image.size(0)).take(2) {
                        *coordinate += if normalized { 0.5 / f64::from(size) } else { 0.5 };
                    }
                }
                let component = op.mask.trailing_zeros().min(3) as usize;
                let found = place.gather(&mut Source { image, space, last }, &setup.sampler)?;
                found.map(|values| select(values, image)[component])
            }
            _ => {
                let values = place.sample(&mut Source { image, space, last }, &setup.sampler)?;
                masked(op.mask, select(values, image))
            }
        };
    }
    let format = if lookup.compares || op.operation == Operation::Lod {
        crate::buffer::format::Format { number: crate::buffer::format::Number::Float, ..format }
    } else {
        format
    };
    for lane in lanes(registers.exec()) {
        write_components(registers, op.data, lane, results[lane], Some(format), parts);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::face;

    #[test]
    fn cubes_outside_of_an_array_are_its_first_and_its_last_with_the_same_face() {
        for (coordinate, expected) in [
            (0.0, (0, 0)),
            (5.0, (0, 5)),
            (8.4, (1, 0)),
            (13.0, (1, 5)),
            (-13.0, (0, 3)),
            (-8.0, (0, 0)),
            (-3.0, (0, 5)),
            (1e30, (1, 0)),
            (f64::NEG_INFINITY, (0, 0)),
            (f64::NAN, (0, 0)),
        ] {
            assert_eq!(face(coordinate, 2), expected, "{coordinate}");
        }
        assert_eq!(face(3.0, 0), (0, 3));
    }
}
