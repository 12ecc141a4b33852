//! Image operations.

use amdgpu_descriptors::view::ImageKind;

use super::{
    access::{Global, Space},
    components::{Parts, read_components, write_components},
    compressed::LastUnit,
    sampled::sampled,
    texel::{Coordinates, Reader, masked, texel},
};
use crate::{
    image::{descriptor::Image, error::ImageError, texel::Texel},
    mutation::WaveMutation,
    outcome::Reason,
    program::image::op::{ImageOp, Operation, Transfer},
    watch::observer::{Observer, Place},
    wave::{
        registers::{Registers, lanes},
        state::{Surroundings, Wave},
    },
};

impl Wave {
    /// Returns the words of an image descriptor.
    fn image_words(&self, op: &ImageOp) -> [u32; 8] {
        let first = usize::from(op.resource);
        let count = if op.is_short { 4 } else { 8 };
        std::array::from_fn(|index| if index < count { self.registers.scalars[first + index] } else { 0 })
    }

    /// Executes an image operation.
    pub(crate) fn image(&mut self, op: &ImageOp, around: &mut Surroundings<'_, impl Observer>) -> Result<(), Reason> {
        let refuse = |why| Reason::Image { words: [0; 8], why };
        let words = self.image_words(op);
        let (memory, observer) = (around.memory, around.observer);
        let image = around.images.get(words).map_err(|why| Reason::Image { words, why })?;
        let mut parts = self.parts(op);
        let Some(image) = image else {
            return self.without_image(op, parts);
        };
        // Atomic operations, raw data and gathered texels have registers of their own number.
        parts.0 = match op.operation {
            Operation::Gather(_) | Operation::LoadSamples => 4,
            _ => parts.0,
        };
        self.check_registers(op, image, parts)?;
        let mut space = Global { memory, fault: &mut self.fault, observer, place: Place::Memory };
        let registers = &mut self.registers;
        let mutation = self.mutation;
        let done = match op.operation {
            Operation::Load(transfer) => load(registers, &mut space, op, image, (transfer, parts, mutation)),
            Operation::Store(transfer) => store(registers, &mut space, op, image, (transfer, parts, mutation)),
            Operation::Atomic { .. } => atomic(registers, &mut space, op, image),
            Operation::Size => {
                size(registers, op, image, parts);
                Ok(())
            }
            Operation::LoadSamples => load_samples(registers, &mut space, op, image, parts),
            Operation::Sample(_) | Operation::Gather(_) | Operation::Lod => {
                sampled(registers, &mut space, op, image, (around.border_colors, parts, mutation))
            }
        };
        done.map_err(|why| match refuse(why) {
            Reason::Image { why, .. } => Reason::Image { words, why },
            other => other,
        })?;
        self.clear_image_residency(op, parts);
        Ok(())
    }

    /// Returns the form of the components in registers.
    fn parts(&self, op: &ImageOp) -> Parts {
        let count = op.mask.count_ones() as usize;
        (count, op.half_data, false, self.registers.level >= amdgpu_hw::GfxLevel::Gfx9)
    }

    /// Does an operation on a descriptor that is no image: loads give 0.
    fn without_image(&mut self, op: &ImageOp, mut parts: Parts) -> Result<(), Reason> {
        match op.operation {
            Operation::Store(_) | Operation::Atomic { returns: false, .. } => return Ok(()),
            Operation::Gather(_) | Operation::LoadSamples => parts.0 = 4,
            _ => {}
        }
        let last = u32::from(op.data) + words(parts) - 1;
        self.checked(last, 1)?;
        for lane in lanes(self.registers.exec()) {
            write_components(&mut self.registers, op.data, lane, [0; 4], None, parts);
        }
        self.clear_image_residency(op, parts);
        Ok(())
    }

    /// Refuses registers that are not allocated.
    fn check_registers(&self, op: &ImageOp, image: &Image, parts: Parts) -> Result<(), Reason> {
        let data = words(parts) + u32::from(op.residency);
        self.checked(u32::from(op.data) + data - 1, 1)?;
        let coordinates = Coordinates::of(op, image.kind).count();
        let extra = match op.operation {
            Operation::Load(transfer) | Operation::Store(transfer) => usize::from(transfer.has_level),
            _ => 0,
        };
        let count = if op.operation == Operation::Size { 1 } else { coordinates + extra };
        let count = if op.half_addresses { count.div_ceil(2) } else { count };
        for register in op.addresses.iter().take(count) {
            self.checked(u32::from(*register), 1)?;
        }
        Ok(())
    }

    /// Writes the register that says which pages were missing: none.
    fn clear_image_residency(&mut self, op: &ImageOp, (count, half, _, packs): Parts) {
        if !op.residency || matches!(op.operation, Operation::Store(_)) {
            return;
        }
        let count = if half && packs { count.div_ceil(2) } else { count };
        let exec = self.registers.exec();
        if usize::from(op.data) + count < self.registers.vectors.len() {
            self.registers.write(op.data + count as u16, &[0; 64], exec);
        }
    }
}

/// Returns the number of registers of a lane that components of an image take.
fn words((count, is_half, _, is_packed): Parts) -> u32 {
    (if is_half && is_packed { count.div_ceil(2) } else { count }).max(1) as u32
}

/// Returns the texel that a lane addresses.
fn place(registers: &Registers, op: &ImageOp, image: &Image, lane: usize, has_level: bool) -> Texel {
    let coordinates = Coordinates::of(op, image.kind);
    let mut reader = Reader { registers, addresses: &op.addresses, lane, at: 0 };
    let values = reader.group(coordinates.count() + usize::from(has_level), op.half_addresses);
    texel(coordinates, values, has_level)
}

/// Returns components in the order of the view.
fn selected(image: &Image, values: [u32; 4]) -> [u32; 4] {
    image.selects.map(|select| match select {
        4..=7 => values[usize::from(select) - 4],
        1 => image.format.plain.one(),
        _ => 0,
    })
}

/// Returns an element as dwords without conversion.
fn raw_dwords(element: u128, bytes: u32, is_signed: bool) -> [u32; 4] {
    let mut dwords: [u32; 4] = std::array::from_fn(|index| (element >> (32 * index)) as u32);
    if is_signed && bytes < 4 {
        let shift = 32 - 8 * bytes;
        dwords[0] = ((dwords[0] << shift).cast_signed() >> shift).cast_unsigned();
    }
    dwords
}

fn load(
    registers: &mut Registers,
    space: &mut impl Space,
    op: &ImageOp,
    image: &mut Image,
    (transfer, parts, mutation): (Transfer, Parts, Option<WaveMutation>),
) -> Result<(), ImageError> {
    let format = image.format.plain;
    let mut last = LastUnit::default();
    for lane in lanes(registers.exec()) {
        space.lane(lane);
        let mut texel = place(registers, op, image, lane, transfer.has_level);
        if mutation == Some(WaveMutation::WrongRow) {
            texel.y ^= 1;
        }
        let values = match last.element(space, image, texel)? {
            None if image.is_null() => selected(image, [0; 4]),
            None => [0; 4],
            Some(element) if transfer.is_raw => raw_dwords(element, image.format.bytes(), transfer.is_signed),
            Some(element) => selected(image, image.format.unpack_at(element, [texel.x, texel.y])),
        };
        let parts = if transfer.is_raw { (parts.0, false, false, parts.3) } else { parts };
        write_components(registers, op.data, lane, masked(op.mask, values), Some(format), parts);
    }
    Ok(())
}

fn store(
    registers: &mut Registers,
    space: &mut impl Space,
    op: &ImageOp,
    image: &mut Image,
    (transfer, parts, mutation): (Transfer, Parts, Option<WaveMutation>),
) -> Result<(), ImageError> {
    let format = image.format;
    let mut last = LastUnit::default();
    for lane in lanes(registers.exec()) {
        space.lane(lane);
        let mut texel = place(registers, op, image, lane, transfer.has_level);
        if mutation == Some(WaveMutation::SwappedTexel) {
            texel.x ^= 1;
        }
        let parts = if transfer.is_raw { (parts.0, false, false, parts.3) } else { parts };
        let named = read_components(registers, op.data, lane, Some(format.plain), parts);
        let mut values = [0; 4];
        let components = (0..4).filter(|index| op.mask >> index & 1 != 0);
        for (value, component) in named.into_iter().zip(components) {
            values[component] = value;
        }
        let element = if transfer.is_raw {
            values.iter().rev().fold(0_u128, |element, dword| element << 32 | u128::from(*dword))
        } else {
            // The channel that a component was read from takes it back.
            let channel = |channel: u8| image.selects.iter().position(|select| *select == channel + 4);
            let channels = [0, 1, 2, 3].map(|number| channel(number).map_or(0, |component| values[component]));
            format.pack(channels).ok_or(ImageError::Store)?
        };
        if let Some(address) = image.address(texel)? {
            last.make_plain(space, image, (texel, address))?;
            space.store(address, &element.to_le_bytes()[..format.bytes() as usize]);
        }
    }
    Ok(())
}

fn load_samples(
    registers: &mut Registers,
    space: &mut impl Space,
    op: &ImageOp,
    image: &mut Image,
    parts: Parts,
) -> Result<(), ImageError> {
    let component = op.mask.trailing_zeros().min(3) as usize;
    let format = image.format.plain;
    let mut last = LastUnit::default();
    for lane in lanes(registers.exec()) {
        space.lane(lane);
        let first = place(registers, op, image, lane, false);
        let mut values = [0; 4];
        for (sample, value) in (0..).zip(&mut values) {
            let texel = Texel { sample: first.sample.saturating_add(sample), ..first };
            if let Some(element) = last.element(space, image, texel)? {
                *value = selected(image, image.format.unpack_at(element, [texel.x, texel.y]))[component];
            } else if image.is_null() {
                *value = selected(image, [0; 4])[component];
            }
        }
        write_components(registers, op.data, lane, values, Some(format), parts);
    }
    Ok(())
}

fn atomic(
    registers: &mut Registers,
    space: &mut impl Space,
    op: &ImageOp,
    image: &mut Image,
) -> Result<(), ImageError> {
    let Operation::Atomic { atomic, returns } = op.operation else { return Ok(()) };
    // A comparison has two operands in registers.
    let registers_each = op.mask.count_ones() as u8;
    let bytes = 4 * if atomic.compares() { registers_each / 2 } else { registers_each };
    if !matches!(bytes, 4 | 8) || !image.is_null() && u32::from(bytes) != image.format.bytes() {
        return Err(ImageError::Size(image.format.bytes()));
    }
    let word = |registers: &Registers, first: usize, lane: usize| {
        let at = |index: usize| registers.vectors.get(first + index).map_or(0, |lanes| u64::from(lanes[lane]));
        if bytes == 8 { at(0) | at(1) << 32 } else { at(0) }
    };
    let mut last = LastUnit::default();
    for lane in lanes(registers.exec()) {
        space.lane(lane);
        let texel = place(registers, op, image, lane, false);
        let first = usize::from(op.data);
        let (data, other) = (word(registers, first, lane), word(registers, first + usize::from(bytes) / 4, lane));
        let old = match image.address(texel)? {
            Some(address) => {
                last.make_plain(space, image, (texel, address))?;
                space.atomic(address, bytes, &mut |old| atomic.apply(bytes, old, data, other))
            }
            None => 0,
        };
        if returns {
            registers.write_lane(op.data, lane, old as u32);
            if bytes == 8 {
                registers.write_lane(op.data + 1, lane, (old >> 32) as u32);
            }
        }
    }
    Ok(())
}

/// Writes the extent of a level, the layers and the levels of the view.
fn size(registers: &mut Registers, op: &ImageOp, image: &Image, parts: Parts) {
    for lane in lanes(registers.exec()) {
        let mut reader = Reader { registers, addresses: &op.addresses, lane, at: 0 };
        let [level] = reader.group(1, op.half_addresses);
        let [width, height, depth] = image.size(level);
        let exists = level < image.levels();
        let layers = if exists { image.layers() } else { 0 };
        let values = match image.kind {
            ImageKind::D1 | ImageKind::D1Array => [width, layers, 0, image.levels()],
            ImageKind::D3 if image.is_volume() => [width, height, depth, image.levels()],
            _ => [width, height, layers, image.levels()],
        };
        write_components(registers, op.data, lane, masked(op.mask, values), Some(INTEGERS), parts);
    }
}

/// The format of sizes.
const INTEGERS: crate::buffer::format::Format =
    crate::buffer::format::Format { channels: &[32], number: crate::buffer::format::Number::Uint };
