//! Copies of images on copy engines of every version, against the CPU tiler.

use std::cell::RefCell;

use amdgpu_sim::gpu::{Clock, Engine, Environment, Ib, Job, Memory, NoShaders, PageFault, Place, Stop};
use amdgpu_surface::{
    Chip, ChipRegisters, GfxLevel,
    surface::{Dimension, SurfaceConfig, SurfaceLayout, SurfaceUsage, TilingMode},
    tiler::{Region, Rows},
};
use amdgpu_winsys::{
    cs::{
        Target,
        commands::{CommandError, ImageLevel, ImageRows, Recorder, Span, TexelBox},
        sdma::Version,
    },
    vamgr::GpuVa,
    winsys::Device,
};

use crate::{
    rig::{dwords, sdma_recorder},
    support::device,
};

/// Memory of an engine: an IB, rows, and two images.
const IB: u64 = 0;
pub(crate) const ROWS: u64 = 64 << 10;
pub(crate) const IMAGES: [u64; 2] = [1 << 20, 3 << 20];
const SIZE: usize = 5 << 20;

pub(crate) struct Flat(pub(crate) RefCell<Vec<u8>>);

impl Memory for Flat {
    fn read(&self, va: GpuVa, out: &mut [u8]) -> Result<(), PageFault> {
        let at = va.as_u64() as usize;
        out.copy_from_slice(&self.0.borrow()[at..at + out.len()]);
        Ok(())
    }

    fn write(&self, va: GpuVa, data: &[u8]) -> Result<(), PageFault> {
        let at = va.as_u64() as usize;
        self.0.borrow_mut()[at..at + data.len()].copy_from_slice(data);
        Ok(())
    }

    fn copy(&self, to: GpuVa, from: GpuVa, len: u64) -> Result<(), PageFault> {
        let from = from.as_u64() as usize;
        self.0.borrow_mut().copy_within(from..from + len as usize, to.as_u64() as usize);
        Ok(())
    }

    fn fill(&self, _: GpuVa, _: u32, _: u64) -> Result<(), PageFault> {
        unreachable!("copies fill nothing")
    }
}

struct Quiet;

impl Clock for Quiet {
    fn ticks(&self) -> u64 {
        0
    }
}

impl Job for Quiet {
    fn keep_waiting(&self) -> bool {
        false
    }

    fn fault(&self, fault: PageFault, place: Place) {
        panic!("{fault:?} at {place}");
    }
}

/// A chip of each version of the copy engine that copies images: captured ones, and two made of captured registers.
fn engines() -> Vec<(Version, Chip)> {
    let captured = |name: &str| device(name).info().surface_chip().unwrap();
    let polaris = *captured("polaris10").registers();
    let navi31 = *captured("navi31").registers();
    // Bonaire, Iceland and Navi 48 by their family and revision.
    let bonaire = ChipRegisters { level: GfxLevel::Gfx7, family_id: 0x78, external_rev: 0x14, ..polaris };
    let iceland = ChipRegisters { external_rev: 1, has_tc_compatible_htile: false, ..polaris };
    let navi48 = ChipRegisters { level: GfxLevel::Gfx12, family_id: 152, external_rev: 0x51, ..navi31 };
    let made = [(Version::V2_0, bonaire), (Version::V2_4, iceland), (Version::V7_0, navi48)];
    let names = ["polaris10", "vega10", "navi10", "navi21", "navi31"];
    let versions = [Version::V3_0, Version::V4_0, Version::V5_0, Version::V5_2, Version::V6_0];
    let own = versions.into_iter().zip(names.map(captured));
    made.into_iter().map(|(version, registers)| (version, Chip::new(&registers).unwrap())).chain(own).collect()
}

/// Images of each kind without metadata, and the level that is copied.
fn images() -> Vec<(&'static str, SurfaceConfig, u32)> {
    let plain = |width, height, bytes| SurfaceConfig {
        usage: SurfaceUsage::DISABLE_DCC | SurfaceUsage::NO_HTILE,
        ..SurfaceConfig::new(width, height, bytes)
    };
    vec![
        ("a plain image", plain(300, 200, 4), 0),
        ("single bytes", plain(300, 200, 1), 0),
        ("the largest elements", plain(70, 33, 16), 0),
        ("spread over channels", SurfaceConfig { surface_index: Some(3), ..plain(300, 200, 4) }, 0),
        ("rows", SurfaceConfig { mode: TilingMode::Linear, ..plain(300, 40, 4) }, 0),
        ("micro tiles", SurfaceConfig { mode: TilingMode::Tiled1d, ..plain(300, 40, 4) }, 0),
        ("a level", SurfaceConfig { levels: 5, ..plain(300, 200, 8) }, 1),
        ("a level in the tail", SurfaceConfig { levels: 5, ..plain(300, 200, 4) }, 4),
        ("layers", SurfaceConfig { layers: 5, ..plain(140, 60, 2) }, 0),
        ("layers of rows", SurfaceConfig { layers: 3, mode: TilingMode::Linear, ..plain(140, 30, 2) }, 0),
        ("a volume", SurfaceConfig { depth: 20, dimension: Dimension::D3, ..plain(60, 50, 4) }, 0),
        ("compressed blocks", SurfaceConfig { block: (4, 4), ..plain(260, 190, 8) }, 0),
        (
            "depth beside stencil",
            SurfaceConfig {
                usage: SurfaceUsage::ZBUFFER | SurfaceUsage::SBUFFER | SurfaceUsage::NO_HTILE,
                ..plain(300, 200, 4)
            },
            0,
        ),
        ("depth", SurfaceConfig { usage: SurfaceUsage::ZBUFFER | SurfaceUsage::NO_HTILE, ..plain(300, 200, 4) }, 0),
    ]
}

pub(crate) fn span(at: u64, bytes: u64) -> Span {
    Span::new(GpuVa::new(at).unwrap(), bytes).unwrap()
}

/// Returns bytes that differ from their neighbours, and not in the same way everywhere.
fn bytes(factor: usize) -> Vec<u8> {
    let page: Vec<u8> = (0..65_521).map(|at| (at * factor + (at >> 8)) as u8).collect();
    let mut bytes = page.repeat(SIZE / page.len() + 1);
    bytes.truncate(SIZE);
    bytes
}

/// Records for an engine and executes it on the memory.
fn run(device: &Device, (version, chip): (Version, Chip), memory: &Flat, record: impl FnOnce(&mut Recorder<Version>)) {
    let mut recorder = sdma_recorder(device, version);
    record(&mut recorder);
    execute((version, chip), memory, &dwords(&recorder.finish().unwrap())).unwrap();
}

/// Executes packets on the memory.
pub(crate) fn execute((version, chip): (Version, Chip), memory: &Flat, words: &[u32]) -> Result<(), Stop> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    memory.write(GpuVa::new(IB).unwrap(), &bytes).unwrap();
    let env = Environment { memory, clock: &Quiet, job: &Quiet, shaders: &NoShaders, observer: None };
    let mut engine = Engine::new(Target::Sdma(version)).with_chip(Some(chip));
    engine.run(Ib { va: GpuVa::new(IB).unwrap(), dwords: words.len() as u32 }, &env)
}

/// Returns a box inside a level that every version can copy, and its rows.
fn part(image: &ImageLevel) -> (TexelBox, ImageRows, Rows) {
    let [width, height, depth] = image.extent();
    let first = [if width > 64 { 32 } else { 0 }, height.min(3) - 1, u32::from(depth > 2)];
    let texels = TexelBox { first, extent: [(width - first[0]) & !3, height - first[1], depth - first[2]] };
    let (pitch, height) = (texels.extent[0] + 8, texels.extent[1] + 1);
    let rows = ImageRows { memory: span(ROWS, IMAGES[0] - ROWS), pitch, slice: pitch * height };
    let bytes = image.element_bytes() as usize;
    (texels, rows, Rows { pitch: pitch as usize * bytes, slice: (pitch * height) as usize * bytes })
}

fn region(texels: &TexelBox) -> Region {
    Region { first: texels.first, extent: texels.extent, sample: 0 }
}

#[test]
fn every_version_tiles_and_detiles_as_the_cpu_does() {
    let device = device("navi21");
    for (version, chip) in engines() {
        for (what, config, level) in images() {
            let layout =
                SurfaceLayout::new(&chip, &config).unwrap_or_else(|error| panic!("{version}, {what}: {error}"));
            let image = ImageLevel::new(&chip, &config, &layout, span(IMAGES[0], layout.total_bytes), level);
            if version < Version::V4_0 && config.dimension == Dimension::D3 {
                let what = "a copy of thick or rotated tiles";
                assert_eq!(
                    image,
                    Err(CommandError::Unsupported { what, target: Target::Sdma(Version::of(chip.level())) })
                );
                continue;
            }
            let image = image.unwrap_or_else(|error| panic!("{version}, {what}: {error}"));
            let (texels, rows, placed) = part(&image);
            assert!(layout.total_bytes <= IMAGES[1] - IMAGES[0], "{version}, {what}: {} bytes", layout.total_bytes);
            let memory = Flat(RefCell::new(bytes(167)));
            let before = memory.0.borrow().clone();
            let (start, end) = (IMAGES[0] as usize, (IMAGES[0] + layout.total_bytes) as usize);
            let on_cpu = layout.texels(&chip, &config, level).unwrap();

            run(&device, (version, chip), &memory, |recorder| {
                recorder.copy_to_image(&image, &texels, &rows).unwrap();
            });
            let mut wanted = before.clone();
            let (low, high) = wanted.split_at_mut(start);
            on_cpu.tile(&region(&texels), &low[ROWS as usize..], placed, &mut high[..end - start]).unwrap();
            let found = memory.0.borrow().clone();
            assert!(found[ROWS as usize..] == wanted[ROWS as usize..], "{version}, {what}: tiled elsewhere");

            // And back, to where other bytes lie.
            memory.0.borrow_mut()[ROWS as usize..start].fill(0x5a);
            run(&device, (version, chip), &memory, |recorder| {
                recorder.copy_from_image(&rows, &image, &texels).unwrap();
            });
            let mut wanted = vec![0x5a; start - ROWS as usize];
            on_cpu.detile(&region(&texels), &found[start..end], &mut wanted, placed).unwrap();
            assert!(memory.0.borrow()[ROWS as usize..start] == wanted[..], "{version}, {what}: detiled elsewhere");
        }
    }
}

#[test]
fn images_are_copied_to_images() {
    let device = device("navi21");
    for (version, chip) in engines() {
        for (what, config, level) in images().into_iter().filter(|(_, config, _)| config.levels == 1) {
            // From tiles to tiles, and from tiles to rows and back.
            let linear = SurfaceConfig { mode: TilingMode::Linear, ..config };
            let is_depth = config.usage.contains(SurfaceUsage::ZBUFFER);
            for (to, from) in [(config, config), (linear, config), (config, linear)] {
                let is_thick = version < Version::V4_0 && config.dimension == Dimension::D3;
                if is_depth && to != from || is_thick {
                    continue;
                }
                let layouts = [to, from].map(|config| SurfaceLayout::new(&chip, &config).unwrap());
                let made = |index: usize, config| {
                    let layout: &SurfaceLayout = &layouts[index];
                    ImageLevel::new(&chip, config, layout, span(IMAGES[index], layout.total_bytes), level).unwrap()
                };
                let (target, source) = (made(0, &to), made(1, &from));
                let [width, height, depth] = source.extent();
                let texels =
                    TexelBox::whole(width / 32 * 16, (height / 32 * 16).max(16), if depth > 8 { 8 } else { 1 });
                let first = [16, height / 32 * 16, 0];
                let memory = Flat(RefCell::new(bytes(91)));
                run(&device, (version, chip), &memory, |recorder| {
                    let copied = recorder.copy_image(&target, first, &source, &texels);
                    copied.unwrap_or_else(|error| panic!("{version}, {what}: {error}"));
                });
                let memory = memory.0.borrow();
                let ends = [(to, layouts[0], IMAGES[0]), (from, layouts[1], IMAGES[1])].map(|(config, layout, at)| {
                    (layout.texels(&chip, &config, level).unwrap(), &memory[at as usize..])
                });
                for z in 0..texels.extent[2] {
                    for (x, y) in (0..texels.extent[1])
                        .step_by(3)
                        .flat_map(|y| (0..texels.extent[0]).step_by(5).map(move |x| (x, y)))
                    {
                        let bytes = config.bytes as usize;
                        let [to, from] = [([first[0] + x, first[1] + y, z], &ends[0]), ([x, y, z], &ends[1])].map(
                            |([x, y, z], (level, data))| &data[level.address(x, y, z, 0).unwrap() as usize..][..bytes],
                        );
                        assert_eq!(to, from, "{version}, {what}: {x}, {y}, {z}");
                    }
                }
            }
        }
    }
}

#[test]
fn what_no_engine_copies_is_refused_by_name() {
    let chip = device("navi21").info().surface_chip().unwrap();
    let plain = SurfaceConfig { usage: SurfaceUsage::DISABLE_DCC, ..SurfaceConfig::new(640, 480, 4) };
    let refusal = |chip: &Chip, config: &SurfaceConfig| {
        let layout = SurfaceLayout::new(chip, config).unwrap();
        ImageLevel::new(chip, config, &layout, span(IMAGES[0], layout.total_bytes), 0).unwrap_err()
    };
    let what = |chip: &Chip, config: SurfaceConfig| match refusal(chip, &config) {
        CommandError::Unsupported { what, .. } => what,
        other => panic!("{other}"),
    };
    assert_eq!(what(&chip, SurfaceConfig { samples: 4, storage_samples: 4, ..plain }), "a copy of samples");
    assert_eq!(what(&chip, SurfaceConfig { bytes: 12, ..plain }), "a copy of elements of 96 bits");
    let rows_of_96_bits = SurfaceConfig { bytes: 12, mode: TilingMode::Linear, ..plain };
    assert_eq!(what(&chip, rows_of_96_bits), "a copy of elements of 96 bits");
    let stencil = SurfaceConfig { bytes: 1, usage: SurfaceUsage::SBUFFER, ..plain };
    assert_eq!(what(&chip, stencil), "a copy of stencil alone");
    let pitcairn = device("pitcairn").info().surface_chip().unwrap();
    assert_eq!(what(&pitcairn, plain), "a copy of an image");
    assert!(matches!(refusal(&chip, &SurfaceConfig::new(640, 480, 4)), CommandError::Compressed { bytes: 1.. }));

    let layout = SurfaceLayout::new(&chip, &plain).unwrap();
    let short = ImageLevel::new(&chip, &plain, &layout, span(IMAGES[0], 4096), 0).unwrap_err();
    assert!(matches!(short, CommandError::OutOfBounds { size: 4096, .. }), "{short}");
    let odd = ImageLevel::new(&chip, &plain, &layout, span(IMAGES[0] + 256, layout.bytes), 0).unwrap_err();
    assert!(matches!(odd, CommandError::Misaligned { command: "an image", .. }), "{odd}");
    let level = ImageLevel::new(&chip, &plain, &layout, span(IMAGES[0], layout.bytes), 1).unwrap_err();
    assert!(matches!(level, CommandError::Texels(_)), "{level}");
}

#[test]
fn some_chips_do_not_copy_between_tiles_up_to_the_largest_coordinate() {
    let polaris = device("polaris10");
    let registers = *polaris.info().surface_chip().unwrap().registers();
    let config = SurfaceConfig { usage: SurfaceUsage::DISABLE_DCC, ..SurfaceConfig::new(16384, 64, 4) };
    // Bonaire, Mullins and Hawaii by their family and revision.
    for (family_id, external_rev, ends_early) in [(0x78, 0x14, true), (0x7d, 0xa1, true), (0x78, 0x28, false)] {
        let chip = ChipRegisters { level: GfxLevel::Gfx7, family_id, external_rev, ..registers };
        let chip = Chip::new(&chip).unwrap();
        let layout = SurfaceLayout::new(&chip, &config).unwrap();
        let [to, from] =
            IMAGES.map(|at| ImageLevel::new(&chip, &config, &layout, span(at << 8, layout.total_bytes), 0).unwrap());
        let mut recorder = sdma_recorder(&polaris, Version::V2_0);
        let part = |x| TexelBox { first: [x, 0, 0], extent: [8, 8, 1] };
        let last = CommandError::TilesEnd { axis: 'x', first: 16376, end: 16384 };
        let expected = if ends_early { Err(last) } else { Ok(()) };
        assert_eq!(recorder.copy_image(&to, [0; 3], &from, &part(16376)), expected, "{family_id:#x}");
        assert_eq!(recorder.copy_image(&to, [16376, 0, 0], &from, &part(0)), expected, "{family_id:#x}");
        assert_eq!(recorder.copy_image(&to, [16368, 0, 0], &from, &part(16368)), Ok(()), "{family_id:#x}");
    }
}

#[test]
fn boxes_and_rows_that_are_not_there_are_refused() {
    let device = device("navi21");
    let chip = device.info().surface_chip().unwrap();
    let config = SurfaceConfig { usage: SurfaceUsage::DISABLE_DCC, ..SurfaceConfig::new(640, 480, 2) };
    let layout = SurfaceLayout::new(&chip, &config).unwrap();
    let image = ImageLevel::new(&chip, &config, &layout, span(IMAGES[0], layout.total_bytes), 0).unwrap();
    let mut recorder = sdma_recorder(&device, Version::V5_2);
    let rows = ImageRows { memory: span(ROWS, 640 * 480 * 2), pitch: 640, slice: 0 };
    let all = TexelBox::whole(640, 480, 1);
    let mut refused = |texels: TexelBox, rows: ImageRows| recorder.copy_to_image(&image, &texels, &rows).unwrap_err();

    let outside = refused(TexelBox { first: [1, 0, 0], ..all }, rows);
    assert_eq!(outside, CommandError::OutsideImage { axis: 'x', first: 1, end: 641, extent: 640 });
    assert!(matches!(refused(TexelBox::whole(640, 0, 1), rows), CommandError::Empty { .. }));
    let short = refused(all, ImageRows { memory: span(ROWS, 640 * 480 * 2 - 1), ..rows });
    assert_eq!(short, CommandError::OutOfBounds { offset: 0, bytes: 640 * 480 * 2, size: 640 * 480 * 2 - 1 });
    let narrow = refused(all, ImageRows { pitch: 638, ..rows });
    assert_eq!(narrow, CommandError::RowPitch { what: "rows", pitch: 638, least: 640 });
    assert!(matches!(refused(all, ImageRows { pitch: 641, ..rows }), CommandError::Misaligned { value: 641, .. }));
    let odd = refused(all, ImageRows { memory: span(ROWS + 2, 640 * 480 * 2), ..rows });
    assert!(matches!(odd, CommandError::Misaligned { command: "rows of texels", .. }), "{odd}");

    let other = SurfaceConfig { bytes: 4, ..config };
    let wider = SurfaceLayout::new(&chip, &other).unwrap();
    let wider = ImageLevel::new(&chip, &other, &wider, span(IMAGES[1], wider.total_bytes), 0).unwrap();
    let error = recorder.copy_image(&wider, [0; 3], &image, &TexelBox::whole(16, 16, 1)).unwrap_err();
    assert_eq!(error, CommandError::ElementBytes { to: 4, from: 2 });
    let error = recorder.copy_image(&image, [0; 3], &image, &TexelBox::whole(17, 16, 1)).unwrap_err();
    assert!(matches!(error, CommandError::Misaligned { value: 17, multiple: 16, .. }), "{error}");
    assert!(recorder.stream().is_empty(), "nothing was recorded");
}
