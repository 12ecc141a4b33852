//! `tile`: the hash of a whole tiled image.

use amdgpu_surface::addr1;
use amdgpu_surface::addr2::{self, Addresser};
use amdgpu_surface::addr3;
use amdgpu_surface::equation::Texel;
use amdgpu_surface::{Chip, GfxLevel};

use super::{Object, Question, put};

/// Places every texel with `address`, which gives the byte of the first and takes the coordinates.
fn hash(size: u64, bytes: u32, [w, h, d]: [u32; 3], address: impl Fn(u32, u32, u32) -> u64) -> String {
    let mut surface = vec![0u8; usize::try_from(size).unwrap()];
    let mut index: u32 = 0;
    for z in 0..d {
        for y in 0..h {
            for x in 0..w {
                let at = address(x, y, z) as usize;
                for byte in 0..bytes as usize {
                    surface[at + byte] = (index.wrapping_mul(2_654_435_761) >> 24) as u8;
                    index += 1;
                }
            }
        }
    }
    let fnv = surface
        .iter()
        .fold(14_695_981_039_346_656_037u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(1_099_511_628_211));
    format!("{fnv:#x}")
}

pub(crate) fn answer(chip: &Chip, question: &Question<'_>) -> Object {
    let mut out = Object::new();
    let extent = [question.u32("w", 1), question.u32("h", 1), question.u32("d", 1)];
    let bytes = question.u32("bpp", 8) / 8;
    if chip.level() >= GfxLevel::Gfx9 && chip.level() < GfxLevel::Gfx12 {
        let image = super::a2::image(question);
        let layout = match addr2::layout(chip, &image) {
            Ok(layout) => layout,
            Err(code) => return super::a2::error(code),
        };
        match Addresser::new(chip, &image, &layout, question.u32("xor", 0)) {
            Ok(addresser) => {
                let at = |x, y, z| addresser.address(Texel { x, y, z, ..Texel::default() }).unwrap();
                put(&mut out, "size", layout.bytes);
                put(&mut out, "fnv", hash(layout.bytes, bytes, extent, at));
            }
            // The one who asked answered 1 in place of addrlib's error.
            Err(_) => put(&mut out, "pts_ret", 1),
        }
    }
    if chip.level() < GfxLevel::Gfx9 {
        let image = super::a1::image(question);
        let layout = match addr1::layout(chip, &image) {
            Ok(layout) => layout,
            Err(code) => return super::a2::error(code),
        };
        let (level, _) = *layout.level(0).unwrap();
        let addresser = addr1::Addresser::new(chip, &image, &level, 0, 0).unwrap();
        let at = |x, y, z| addresser.address(Texel { x, y, z, ..Texel::default() }).unwrap();
        put(&mut out, "size", level.bytes);
        put(&mut out, "fnv", hash(level.bytes, bytes, extent, at));
    }
    if chip.level() == GfxLevel::Gfx12 {
        let image = super::a3::image(question);
        let layout = match addr3::layout(chip, &image) {
            Ok(layout) => layout,
            Err(code) => return super::a2::error(code),
        };
        let addresser = addr3::Addresser::new(&image, &layout).unwrap();
        let at = |x, y, z| addresser.address(Texel { x, y, z, ..Texel::default() }).unwrap();
        put(&mut out, "size", layout.bytes);
        put(&mut out, "fnv", hash(layout.bytes, bytes, extent, at));
    }
    out
}
