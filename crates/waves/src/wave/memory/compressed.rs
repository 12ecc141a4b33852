//! Texels behind compression metadata.

use std::sync::{Mutex, PoisonError};

use super::access::Space;
use crate::image::{
    compression::{
        Unit,
        code::{PLAIN, State},
    },
    descriptor::Image,
    error::ImageError,
    texel::Texel,
};

/// The right to make a block plain. A block has texels of several work-groups, which may run on several threads: without the lock one
/// of them could fill the block after another has stored a texel in it. It protects no data of this process.
static FILLS_BLOCK: Mutex<()> = Mutex::new(());

/// The metadata that an instruction looked at last: neighbouring lanes mostly share it.
#[derive(Default)]
pub(super) struct LastUnit(Option<(Unit, State)>);

impl LastUnit {
    /// Returns the state of a texel whose element has this address.
    fn state(
        &mut self,
        space: &mut impl Space,
        image: &mut Image,
        (texel, address): (Texel, u64),
    ) -> Result<Option<(Unit, State)>, ImageError> {
        let Some(coding) = image.coding() else { return Ok(None) };
        let Some(unit) = image.metadata(texel, address)? else { return Ok(None) };
        if let Some((last, state)) = self.0
            && last == unit
        {
            return Ok(Some((unit, state)));
        }
        let mut bytes = [0; 4];
        space.load_unseen(unit.address, &mut bytes[..unit.bytes.into()]);
        let state = coding.state(u32::from_le_bytes(bytes) >> unit.bit, image.format.plain)?;
        self.0 = Some((unit, state));
        Ok(self.0)
    }

    /// Reads the element of a texel; `None` outside of the image.
    pub(super) fn element(
        &mut self,
        space: &mut impl Space,
        image: &mut Image,
        texel: Texel,
    ) -> Result<Option<u128>, ImageError> {
        let Some(mut address) = image.address(texel)? else { return Ok(None) };
        match self.state(space, image, (texel, address))? {
            Some((_, State::Cleared(element))) => return Ok(Some(element)),
            Some((_, State::Single)) => {
                let first = image.first_of_block(texel);
                address = image.address(first)?.unwrap_or(address);
            }
            _ => {}
        }
        let mut bytes = [0; 16];
        space.load(address, &mut bytes[..image.format.bytes() as usize]);
        Ok(Some(u128::from_le_bytes(bytes)))
    }

    /// Makes all texels of a block plain, so that one of them, whose element has this address, can be stored.
    pub(super) fn make_plain(
        &mut self,
        space: &mut impl Space,
        image: &mut Image,
        (texel, address): (Texel, u64),
    ) -> Result<(), ImageError> {
        if !image.writes_metadata() {
            return Ok(());
        }
        if let None | Some((_, State::Plain)) = self.state(space, image, (texel, address))? {
            return Ok(());
        }
        let _fills_block = FILLS_BLOCK.lock().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have filled the block meanwhile.
        self.0 = None;
        let (unit, element) = match self.state(space, image, (texel, address))? {
            None | Some((_, State::Plain)) => return Ok(()),
            Some((unit, State::Cleared(element))) => (unit, element.to_le_bytes()),
            Some((unit, State::Single)) => {
                let first = image.first_of_block(texel);
                let mut element = [0; 16];
                let from = image.address(first)?.unwrap_or(address);
                space.load_unseen(from, &mut element[..image.format.bytes() as usize]);
                (unit, element)
            }
        };
        for other in image.texels_of_block(texel) {
            if let Some(address) = image.address(other)? {
                space.store_unseen(address, &element[..image.format.bytes() as usize]);
            }
        }
        space.store_unseen(unit.address, &[PLAIN; 4][..unit.bytes.into()]);
        self.0 = Some((unit, State::Plain));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use amdgpu_descriptors::{
        format::{Format, Swizzle},
        vulkan::{Aspect, ViewType, VulkanImage, VulkanView},
    };
    use amdgpu_hw::{GfxLevel, GpuVa};
    use amdgpu_surface::{Chip, ChipRegisters, surface::Dimension};

    use super::*;

    const BASE: u64 = 0x1_2340_0000;

    /// Memory of bytes that are 0 until they are stored, or what lies in the metadata from an address on.
    struct Bytes {
        stored: HashMap<u64, u8>,
        meta: (u64, u8),
    }

    impl Space for Bytes {
        fn load(&mut self, address: u64, out: &mut [u8]) {
            for (at, byte) in (address..).zip(out) {
                let fresh = if at >= self.meta.0 { self.meta.1 } else { 0 };
                *byte = self.stored.get(&at).copied().unwrap_or(fresh);
            }
        }

        fn store(&mut self, address: u64, data: &[u8]) {
            self.stored.extend((address..).zip(data.iter().copied()));
        }

        fn atomic(&mut self, _: u64, _: u8, _: &mut dyn FnMut(u64) -> u64) -> u64 {
            0
        }

        fn lane(&mut self, _: usize) {}
    }

    /// Returns an image of a chip like Navi 21 through which shaders store, and its memory with metadata of one code.
    fn image(code: u8) -> (Image, Bytes) {
        let level = GfxLevel::Gfx10_3;
        let chip = Chip::new(&ChipRegisters::new(level, 0x8f, 0x29, 0x444)).unwrap();
        let made = VulkanImage {
            format: Format::R8G8B8A8_UNORM,
            dimension: Dimension::D2,
            extent: [600, 500, 1],
            layers: 1,
            levels: 1,
            samples: 1,
            linear: false,
            usage: 0x17,
        };
        let layout = made.layout(&chip, None).unwrap();
        let view = VulkanView {
            view: ViewType::D2,
            aspect: Aspect::Color,
            base_level: 0,
            level_count: 1,
            base_layer: 0,
            layer_count: 1,
            swizzle: Swizzle::IDENTITY,
            storage: false,
        };
        let mut view = made.view(&chip, &layout, GpuVa::from_48_bits(BASE), &view);
        view.write_compress = true;
        let words = view.descriptor(level).unwrap().words();
        let meta = BASE + layout.meta.unwrap().offset;
        (Image::new(level, words, Some(&chip)).unwrap().unwrap(), Bytes { stored: HashMap::new(), meta: (meta, code) })
    }

    const ALPHA: u128 = 0xff00_0000;

    fn at(x: u32, y: u32) -> Texel {
        Texel { x, y, ..Texel::default() }
    }

    fn load(image: &mut Image, space: &mut Bytes, texel: Texel) -> Result<Option<u128>, ImageError> {
        LastUnit::default().element(space, image, texel)
    }

    #[test]
    fn cleared_texels_are_read_from_their_code() {
        let (mut image, mut space) = image(0x40);
        for texel in [at(0, 0), at(599, 499), at(17, 333)] {
            assert_eq!(load(&mut image, &mut space, texel), Ok(Some(ALPHA)));
        }
        assert_eq!(load(&mut image, &mut space, at(600, 0)), Ok(None));
    }

    #[test]
    fn texels_of_one_colour_are_read_from_the_first_of_their_block() {
        let (mut image, mut space) = image(0x10);
        let first = image.address(at(40, 64)).unwrap().unwrap();
        space.store(first, &[1, 2, 3, 4]);
        for texel in [at(40, 64), at(47, 71), at(43, 66)] {
            assert_eq!(load(&mut image, &mut space, texel), Ok(Some(0x0403_0201)));
        }
        assert_eq!(load(&mut image, &mut space, at(48, 64)), Ok(Some(0)));
    }

    #[test]
    fn compressed_texels_are_refused() {
        let (mut image, mut space) = image(0x33);
        let refused = load(&mut image, &mut space, at(1, 1)).unwrap_err();
        assert_eq!(refused, ImageError::Code { what: "DCC", code: 0x33 });
    }

    #[test]
    fn a_store_makes_its_block_plain_and_no_other() {
        for (code, before) in [(0x40, ALPHA), (0x10, 0)] {
            let (mut image, mut space) = image(code);
            let texel = at(45, 70);
            let address = image.address(texel).unwrap().unwrap();
            LastUnit::default().make_plain(&mut space, &mut image, (texel, address)).unwrap();
            space.store(address, &[5, 6, 7, 8]);
            for (x, y) in (40..48).flat_map(|x| (64..72).map(move |y| (x, y))) {
                let expected = if at(x, y) == texel { 0x0807_0605 } else { before };
                assert_eq!(load(&mut image, &mut space, at(x, y)), Ok(Some(expected)), "{code:#x} {x} {y}");
                let place = image.address(at(x, y)).unwrap().unwrap();
                let unit = image.metadata(at(x, y), place).unwrap().unwrap();
                assert_eq!(space.stored.get(&unit.address), Some(&PLAIN));
            }
            // A block of 64 texels and its byte of metadata.
            assert_eq!(space.stored.len(), 4 * 64 + 1);
        }
    }
}
