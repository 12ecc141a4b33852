//! Copies of compressed images on copy engines of GFX10 to GFX11, whose packets name the metadata.

use amdgpu_sim::gpu::Stop;
use amdgpu_surface::{
    Chip,
    addr2::meta::{MetaAddresser, MetaKind},
    surface::{SurfaceConfig, SurfaceLayout, SurfaceUsage},
};
use amdgpu_winsys::cs::{
    commands::{ImageLevel, ImageRows, TexelBox},
    sdma::Version,
};

use crate::{
    images::{Flat, IMAGES, ROWS, execute, span},
    rig::{dwords, sdma_recorder},
    support::device,
};

const SIZE: [u32; 2] = [256, 128];
/// The metadata lies behind both images.
const META: u64 = 4 << 20;
/// The metadata dword of RADV for R8G8B8A8_UNORM, with alpha in the highest channel, aligned to pipes.
const RGBA8: u32 = 0xa | 1 << 8 | 1 << 31;

/// A compressed image on a chip, and what is known of its metadata.
struct Compressed {
    version: Version,
    chip: Chip,
    layout: SurfaceLayout,
    plain: SurfaceConfig,
    codes: MetaAddresser,
    block: [u32; 2],
}

impl Compressed {
    fn new(version: Version, name: &str, usage: SurfaceUsage) -> Self {
        let chip = device(name).info().surface_chip().unwrap();
        let of = |usage| SurfaceConfig { usage, ..SurfaceConfig::new(SIZE[0], SIZE[1], 4) };
        let plain = of(usage | SurfaceUsage::DISABLE_DCC | SurfaceUsage::NO_HTILE);
        let layout = SurfaceLayout::new(&chip, &of(usage)).unwrap();
        assert_eq!(layout.swizzle_mode, SurfaceLayout::new(&chip, &plain).unwrap().swizzle_mode, "{name}");
        let mut image = layout.dcc.and_then(|dcc| dcc.image).unwrap_or(amdgpu_surface::addr2::meta::MetaImage {
            kind: MetaKind::Htile,
            mode: amdgpu_surface::addr2::SwizzleMode::new(layout.swizzle_mode).unwrap(),
            dimension: amdgpu_surface::addr2::Dimension::D2,
            bits: 32,
            width: SIZE[0],
            height: SIZE[1],
            slices: 1,
            levels: 1,
            samples: 1,
            fragments: 1,
            pipe_aligned: true,
            rb_aligned: true,
            first_tail: 1,
        });
        (image.pipe_aligned, image.rb_aligned) = (true, true);
        let sizes = image.layout(&chip).unwrap();
        let [width, height, _] = sizes.compressed_block;
        let codes = MetaAddresser::new(&chip, &image, &sizes, 0).unwrap();
        Self { version, chip, layout, plain, codes, block: [width, height] }
    }

    /// Returns the offset in memory of the metadata of a block.
    fn unit(&self, [column, row]: [u32; 2]) -> usize {
        let [width, height] = self.block;
        (META + self.codes.address(column * width, row * height, 0, 0).byte) as usize
    }

    /// Copies the whole image between rows and tiles with the packet's metadata.
    fn copy(&self, memory: &Flat, detile: bool, meta: u32) -> Result<(), Stop> {
        let layout = SurfaceLayout::new(&self.chip, &self.plain).unwrap();
        let image = ImageLevel::new(&self.chip, &self.plain, &layout, span(IMAGES[0], layout.total_bytes), 0).unwrap();
        let rows = ImageRows { memory: span(ROWS, IMAGES[0] - ROWS), pitch: SIZE[0], slice: 0 };
        let all = TexelBox::whole(SIZE[0], SIZE[1], 1);
        let mut recorder = sdma_recorder(&device("navi21"), self.version);
        if detile {
            recorder.copy_from_image(&rows, &image, &all).unwrap();
        } else {
            recorder.copy_to_image(&image, &all, &rows).unwrap();
        }
        let mut words = dwords(&recorder.finish().unwrap());
        assert_eq!(words[0] & 0xffff, 0x0501, "one packet: COPY_TILED_SUB_WINDOW");
        words[0] |= 1 << 19;
        words.splice(14..14, [META as u32, (META >> 32) as u32, meta]);
        execute((self.version, self.chip), memory, &words)
    }

    /// Returns the texels of an image whose memory has a value for each, as rows.
    fn texels(&self, memory: &Flat) -> Vec<u32> {
        let level = self.layout.texels(&self.chip, &self.plain, 0).unwrap();
        let memory = memory.0.borrow();
        let at = |x, y| IMAGES[0] as usize + level.address(x, y, 0, 0).unwrap() as usize;
        let all = (0..SIZE[1]).flat_map(|y| (0..SIZE[0]).map(move |x| (x, y)));
        all.map(|(x, y)| u32::from_le_bytes(memory[at(x, y)..][..4].try_into().unwrap())).collect()
    }
}

fn memory() -> Flat {
    let bytes = (0..5 << 20).map(|at: u32| (at.wrapping_mul(167) >> 3) as u8).collect::<Vec<_>>();
    let memory = Flat(bytes.into());
    memory.0.borrow_mut()[META as usize..].fill(0xff);
    memory
}

fn engines() -> [(Version, &'static str, u8, u8, u8); 3] {
    // The codes of alpha alone, of colour without alpha, and of blocks that are like their first element.
    [
        (Version::V5_0, "navi10", 0x40, 0x80, 0x10),
        (Version::V5_2, "navi21", 0x40, 0x80, 0x10),
        (Version::V6_0, "navi31", 0x08, 0x0a, 0x01),
    ]
}

#[test]
fn rows_of_a_compressed_image_have_the_colours_that_its_codes_tell() {
    for (version, name, alpha, colour, first) in engines() {
        let image = Compressed::new(version, name, SurfaceUsage::empty());
        let memory = memory();
        let changed = [([3, 2], alpha, 0xff00_0000), ([0, 1], colour, 0x00ff_ffff), ([5, 5], 0, 0), ([2, 6], first, 0)];
        for &(block, code, _) in &changed {
            memory.0.borrow_mut()[image.unit(block)] = code;
        }
        let before = image.texels(&memory);
        image.copy(&memory, true, RGBA8).unwrap_or_else(|stop| panic!("{version}: {stop}"));
        let [width, height] = image.block;
        let found = memory.0.borrow();
        for (x, y) in (0..SIZE[1]).flat_map(|y| (0..SIZE[0]).map(move |x| (x, y))) {
            let own = before[(y * SIZE[0] + x) as usize];
            let corner = (y / height * height * SIZE[0] + x / width * width) as usize;
            let expected = match changed.iter().find(|(block, ..)| *block == [x / width, y / height]) {
                Some((_, code, _)) if *code == first => before[corner],
                Some((.., colour)) => *colour,
                None => own,
            };
            let at = ROWS as usize + 4 * (y * SIZE[0] + x) as usize;
            let row = u32::from_le_bytes(found[at..][..4].try_into().unwrap());
            assert_eq!(row, expected, "{version}: {x}, {y}");
        }
    }
}

#[test]
fn a_copy_makes_the_blocks_plain_that_it_writes() {
    for (version, name, alpha, ..) in engines() {
        let image = Compressed::new(version, name, SurfaceUsage::empty());
        let memory = memory();
        memory.0.borrow_mut()[META as usize..].fill(alpha);
        let rows: Vec<u32> = {
            let memory = memory.0.borrow();
            memory[ROWS as usize..].chunks_exact(4).map(|one| u32::from_le_bytes(one.try_into().unwrap())).collect()
        };
        image.copy(&memory, false, RGBA8 | 1 << 28).unwrap_or_else(|stop| panic!("{version}: {stop}"));
        assert!(image.texels(&memory).iter().eq(rows.iter().take(image.texels(&memory).len())), "{version}");
        let [columns, lines] = [SIZE[0] / image.block[0], SIZE[1] / image.block[1]];
        for block in (0..lines).flat_map(|row| (0..columns).map(move |column| [column, row])) {
            assert_eq!(memory.0.borrow()[image.unit(block)], 0xff, "{version}: {block:?}");
        }
    }
}

#[test]
fn cleared_depth_is_copied_as_the_end_of_its_range() {
    for (version, name, ..) in engines() {
        let image = Compressed::new(version, name, SurfaceUsage::ZBUFFER);
        let memory = memory();
        let plain = 0xffff_fc0f_u32;
        memory.0.borrow_mut()[META as usize..]
            .chunks_exact_mut(4)
            .for_each(|unit| unit.copy_from_slice(&plain.to_le_bytes()));
        let far = image.unit([1, 3]);
        memory.0.borrow_mut()[far..][..4].copy_from_slice(&0xfffc_0000_u32.to_le_bytes());
        let before = image.texels(&memory);
        // The format is that of 32 bits with a surface type of depth.
        image.copy(&memory, true, 4 | 7 << 9 | 1 << 12 | 1 << 31).unwrap_or_else(|stop| panic!("{version}: {stop}"));
        let found = memory.0.borrow();
        for (x, y) in (0..SIZE[1]).flat_map(|y| (0..SIZE[0]).map(move |x| (x, y))) {
            let at = (y * SIZE[0] + x) as usize;
            let expected = if [x / 8, y / 8] == [1, 3] { 1.0_f32.to_bits() } else { before[at] };
            let row = u32::from_le_bytes(found[ROWS as usize + 4 * at..][..4].try_into().unwrap());
            assert_eq!(row, expected, "{version}: {x}, {y}");
        }
    }
}

#[test]
fn codes_that_only_a_colour_block_understands_are_refused_by_name() {
    let image = Compressed::new(Version::V5_2, "navi21", SurfaceUsage::empty());
    let refused = |code: u8, meta: u32| {
        let memory = memory();
        memory.0.borrow_mut()[image.unit([0, 0])] = code;
        image.copy(&memory, true, meta).unwrap_err().to_string()
    };
    assert!(refused(0x20, RGBA8).contains("elements whose DCC is not simulated"), "{}", refused(0x20, RGBA8));
    assert!(refused(0x33, RGBA8).contains("elements whose DCC is not simulated"));
    assert!(refused(0x40, RGBA8 & !0x3f | 0x15).contains("a format that no colour block has"));
    assert!(refused(0xff, RGBA8 | 3 << 12).contains("an unknown type of surface"));
}
