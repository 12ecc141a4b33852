//! Texels behind compression metadata.

use std::sync::{
    Mutex, PoisonError,
    atomic::{Ordering, fence},
};

use amdgpu_surface::dcc::DccCode;

use super::access::Space;
use crate::image::{
    compression::{Unit, code::State},
    descriptor::Image,
    error::ImageError,
    texel::Texel,
};

/// Held to make a block plain. A block has texels of several work-groups, which may run on several threads: without the lock one of
/// them could fill the block after another has stored a texel in it. The lock protects memory of the GPU, which the dispatches of
/// several rings share, so it belongs to neither a dispatch nor the memory interface of a job.
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
        space.metadata(true);
        space.load_unseen(unit.address, &mut bytes[..unit.bytes.into()]);
        space.metadata(false);
        // The texels of a block are read and written after its state is known.
        fence(Ordering::Acquire);
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
        let Some(address) = image.address(texel)? else { return Ok(None) };
        let mut bytes = [0; 16];
        let element = &mut bytes[..image.format.bytes() as usize];
        match self.state(space, image, (texel, address))? {
            Some((_, State::Cleared(element))) => return Ok(Some(element)),
            Some((_, State::Single)) => {
                let first = image.first_of_block(texel);
                space.load(image.address(first)?.unwrap_or(address), element);
                fence(Ordering::Acquire);
                // Another thread may have made the block plain and stored its first texel before the load.
                self.0 = None;
                if !matches!(self.state(space, image, (texel, address))?, Some((_, State::Single))) {
                    space.load(address, element);
                }
            }
            _ => space.load(address, element),
        }
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
        // A thread that finds the block plain finds its texels filled, and a stored texel makes the plain block visible.
        fence(Ordering::Release);
        space.metadata(true);
        space.store_unseen(unit.address, &[DccCode::PLAIN; 4][..unit.bytes.into()]);
        space.metadata(false);
        fence(Ordering::Release);
        self.0 = Some((unit, State::Plain));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::HashMap, sync::Barrier, thread};

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
                assert_eq!(space.stored.get(&unit.address), Some(&DccCode::PLAIN));
            }
            // A block of 64 texels and its byte of metadata.
            assert_eq!(space.stored.len(), 4 * 64 + 1);
        }
    }

    /// Memory that several threads use. Another access happens after the first load of metadata.
    struct SharedBytes<'m> {
        bytes: &'m Mutex<Bytes>,
        other: Option<&'m mut dyn FnMut()>,
    }

    impl Space for SharedBytes<'_> {
        fn load(&mut self, address: u64, out: &mut [u8]) {
            self.bytes.lock().unwrap().load(address, out);
        }

        fn store(&mut self, address: u64, data: &[u8]) {
            self.bytes.lock().unwrap().store(address, data);
        }

        fn load_unseen(&mut self, address: u64, out: &mut [u8]) {
            self.load(address, out);
            if let Some(other) = self.other.take() {
                other();
            }
        }

        fn store_unseen(&mut self, address: u64, data: &[u8]) {
            self.store(address, data);
            thread::yield_now();
        }

        fn atomic(&mut self, _: u64, _: u8, _: &mut dyn FnMut(u64) -> u64) -> u64 {
            0
        }

        fn lane(&mut self, _: usize) {}
    }

    /// Stores a texel as an instruction of its own does.
    fn store(image: &mut Image, space: &mut SharedBytes<'_>, texel: Texel, element: u32) {
        let address = image.address(texel).unwrap().unwrap();
        LastUnit::default().make_plain(space, image, (texel, address)).unwrap();
        space.store(address, &element.to_le_bytes());
    }

    #[test]
    fn a_store_keeps_the_texels_that_are_stored_after_it_has_read_the_metadata() {
        for code in [0x40, 0x10] {
            let ((mut first, bytes), (mut second, _)) = (image(code), image(code));
            let bytes = Mutex::new(bytes);
            let mut other = || store(&mut second, &mut SharedBytes { bytes: &bytes, other: None }, at(47, 71), 0x1234);
            store(&mut first, &mut SharedBytes { bytes: &bytes, other: Some(&mut other) }, at(40, 64), 0x5678);
            let mut space = SharedBytes { bytes: &bytes, other: None };
            for (texel, element) in [(at(47, 71), 0x1234), (at(40, 64), 0x5678)] {
                let found = LastUnit::default().element(&mut space, &mut first, texel);
                assert_eq!(found, Ok(Some(element)), "{code:#x} {texel:?}");
            }
        }
    }

    #[test]
    fn a_load_of_a_texel_of_one_colour_does_not_return_what_is_stored_in_the_first_of_its_block() {
        let ((mut first, mut bytes), (mut second, _)) = (image(0x10), image(0x10));
        bytes.store(first.address(at(40, 64)).unwrap().unwrap(), &[9, 0, 0, 0]);
        let bytes = Mutex::new(bytes);
        let mut other = || store(&mut second, &mut SharedBytes { bytes: &bytes, other: None }, at(40, 64), 0x1234);
        let mut space = SharedBytes { bytes: &bytes, other: Some(&mut other) };
        let found = LastUnit::default().element(&mut space, &mut first, at(43, 66));
        assert_eq!(found, Ok(Some(9)));
    }

    #[test]
    fn threads_that_store_the_texels_of_the_same_blocks_lose_none() {
        const THREADS: u32 = 4;
        const BLOCKS: u32 = 700;
        let texel = |block: u32, index: u32| at(8 * (block % 70) + index % 8, 8 * (block / 70) + index / 8);
        let element = |block: u32, index: u32| 0x8000_0000 | block << 6 | index;
        let bytes = Mutex::new(image(0x40).1);
        let barrier = Barrier::new(THREADS as usize);
        thread::scope(|scope| {
            for thread in 0..THREADS {
                let (bytes, barrier) = (&bytes, &barrier);
                scope.spawn(move || {
                    let mut image = image(0x40).0;
                    for block in 0..BLOCKS {
                        barrier.wait();
                        for index in (thread..64).step_by(THREADS as usize) {
                            let mut space = SharedBytes { bytes, other: None };
                            store(&mut image, &mut space, texel(block, index), element(block, index));
                        }
                    }
                });
            }
        });
        let (mut image, mut space) = (image(0x40).0, bytes.into_inner().unwrap());
        for (block, index) in (0..BLOCKS).flat_map(|block| (0..64).map(move |index| (block, index))) {
            let found = load(&mut image, &mut space, texel(block, index));
            assert_eq!(found, Ok(Some(element(block, index).into())), "block {block}, texel {index}");
        }
    }
}
