//! Copies a picture into a tiled image with a copy engine, detiles it on the CPU and saves it as a PNG.
//!
//! `cargo run --example image_png -- FILE.png` runs on a simulated RX 6800, so that it works on any machine. On a Radeon of GFX7 or
//! later, replace the first line of `main` with `Device::open("/dev/dri/renderD128")?`.

use std::{env, fs::File, io::BufWriter, path::PathBuf, time::Duration};

use amdgpu_sim::{SimKernel, profile};
use amdgpu_surface::{
    surface::{SurfaceConfig, SurfaceLayout, SurfaceUsage},
    tiler::{Region, Rows},
};
use amdgpu_winsys::{
    cs::{
        Queue, Stream, Submission,
        commands::{ImageLevel, ImageRows, Recorder, Span, TexelBox},
        sdma,
    },
    heaps::{Addressing, AllocateFlags, AllocateInfo, MemoryManager, MemoryPropertyFlags, TableOptions},
    winsys::{Context, Deadline, Device, Ip, Priority},
};

const WIDTH: u32 = 320;
const HEIGHT: u32 = 200;
const BYTES: u32 = WIDTH * HEIGHT * 4;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = Device::new(SimKernel::open(profile("navi21").ok_or("no such chip")?))?;
    let manager = MemoryManager::new(&device, &TableOptions::default())?;
    let tables = manager.properties();
    let seen = MemoryPropertyFlags::HOST_VISIBLE;

    // The layout gives the size of the image. The memory is host-visible, so that the CPU can detile the texels in the end.
    let chip = device.info().surface_chip()?;
    let config = SurfaceConfig { usage: SurfaceUsage::DISABLE_DCC, ..SurfaceConfig::new(WIDTH, HEIGHT, 4) };
    let layout = SurfaceLayout::new(&chip, &config)?;
    let needed = tables.image_requirements(&layout, false);
    let local = MemoryPropertyFlags::DEVICE_LOCAL;
    let memory_type = tables.find_type(needed.types, seen, local).ok_or("no memory for images that the CPU sees")?;
    let image = manager.allocate(&needed.allocate_info(memory_type, AllocateFlags::empty()))?;

    // A buffer with the rows of the picture.
    let types = tables.buffer_types(Addressing::Bits64, false);
    let memory_type =
        tables.find_type(types, seen, MemoryPropertyFlags::empty()).ok_or("no memory that the CPU sees")?;
    let rows = manager.allocate(&AllocateInfo::new(memory_type, BYTES.into()))?;
    rows.map()?.write(0, &picture())?;

    // The copy engine copies the rows into the tiled image.
    let level = ImageLevel::new(&chip, &config, &layout, Span::of(image.binding(), 0, needed.size)?, 0)?;
    let texels = ImageRows { memory: Span::of(rows.binding(), 0, BYTES.into())?, pitch: WIDTH, slice: 0 };
    let mut recorder = Recorder::new(Stream::new(&device, sdma::Version::of(chip.level()), 64)?);
    recorder.copy_to_image(&level, &TexelBox::whole(WIDTH, HEIGHT, 1), &texels)?;
    let list = recorder.finish()?;
    let queue = Queue::new(&Context::new(&device, Priority::Normal)?, Ip::Sdma, 0)?;
    let memory = [image.binding().clone(), rows.binding().clone()];
    let fence = queue.submit(&Submission { lists: &[&list], memory: &memory, ..Submission::default() })?;
    if !fence.wait(Deadline::after(Duration::from_secs(10)))? {
        return Err("the copy engine did not finish in time".into());
    }

    // The CPU detiles the texels with the same swizzle equation.
    let mut tiled = vec![0; usize::try_from(needed.size)?];
    image.map()?.read(0, &mut tiled)?;
    let mut pixels = vec![0; BYTES as usize];
    let whole = Region::whole(WIDTH, HEIGHT, 1);
    layout.texels(&chip, &config, 0)?.detile(
        &whole,
        &tiled,
        &mut pixels,
        Rows { pitch: WIDTH as usize * 4, slice: 0 },
    )?;
    assert!(pixels == picture(), "the picture has changed on its way");
    assert!(tiled[..pixels.len()] != pixels[..], "the image lies in tiles");

    let path = env::args_os().nth(1).map_or_else(|| env::temp_dir().join("image.png"), PathBuf::from);
    let mut encoder = png::Encoder::new(BufWriter::new(File::create(&path)?), WIDTH, HEIGHT);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.write_header()?.write_image_data(&pixels)?;
    println!("swizzle mode {}: {WIDTH}x{HEIGHT} texels detiled to {}", layout.swizzle_mode, path.display());
    Ok(())
}

/// Returns rings around the centre, in colours that depend on the position.
fn picture() -> Vec<u8> {
    let middle = (i64::from(WIDTH / 2), i64::from(HEIGHT / 2));
    let texel = |x: u32, y: u32| {
        let (dx, dy) = (i64::from(x) - middle.0, i64::from(y) - middle.1);
        let ring = (dx * dx + dy * dy) / 700 % 2 == 0;
        [(x * 255 / WIDTH) as u8, (y * 255 / HEIGHT) as u8, if ring { 220 } else { 60 }, 255]
    };
    (0..HEIGHT).flat_map(|y| (0..WIDTH).flat_map(move |x| texel(x, y))).collect()
}
