//! Draws a triangle with the graphics ring, detiles the picture on the CPU and saves it as a PNG.
//!
//! `cargo run --example draw -- FILE.png` runs on a simulated RX 6800, so that it works on any machine; with a render node as second
//! argument, as `/dev/dri/renderD128`, it runs on that Radeon. It does not touch displays.
//!
//! The programs come from `amdgpu-isa`, the registers from `amdgpu-descriptors`, both for the generation of the device.

use std::{env, fs::File, io::BufWriter, path::PathBuf, time::Duration};

use amdgpu_descriptors::{
    format::Format,
    pipeline::{GeometryRings, Pipeline, Primitive, Stage},
    target::RegisterWrite,
    view::{BufferView, OutOfBounds},
    vulkan::VulkanImage,
};
use amdgpu_isa::graphics::{Shade, pixel_program, vertex_program};
use amdgpu_sim::{SimKernel, profile};
use amdgpu_surface::{
    surface::Dimension,
    tiler::{Region, Rows},
};
use amdgpu_winsys::{
    cs::{CommandList, Queue, Stream, Submission, Target, pm4, registers},
    heaps::{Addressing, AllocateFlags, AllocateInfo, DeviceMemory, MemoryManager, MemoryPropertyFlags, TableOptions},
    vamgr::GpuVa,
    winsys::{Context, Deadline, Device, GfxLevel, Ip, Priority},
};

pub(crate) const WIDTH: u32 = 320;
pub(crate) const HEIGHT: u32 = 200;

/// The background: red, green, blue and alpha.
pub(crate) const BACKGROUND: [u8; 4] = [24, 24, 48, 255];

/// Offsets in the buffer with programs, vertices, and what the end of the draw stores.
const PIXEL: u64 = 0x1000;
const VERTICES: u64 = 0x2000;
const DONE: u64 = 0x3000;
const SCRATCH: u64 = 0x3800;
const BUFFER: u64 = 0x4000;

/// A vertex: its position in clip coordinates and its colour.
const TRIANGLE: [[f32; 8]; 3] = [
    [0.0, -0.875, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0],
    [0.75, 0.75, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0],
    [-0.75, 0.75, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0],
];

pub(crate) type Error = Box<dyn std::error::Error>;

fn main() -> Result<(), Error> {
    let mut arguments = env::args_os().skip(1);
    let path = arguments.next().map_or_else(|| env::temp_dir().join("draw.png"), PathBuf::from);
    let device = match arguments.next() {
        Some(node) => Device::open(node)?,
        None => Device::new(SimKernel::open(profile("navi21").ok_or("no such chip")?))?,
    };
    let pixels = draw(&device)?;
    let mut encoder = png::Encoder::new(BufWriter::new(File::create(&path)?), WIDTH, HEIGHT);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.write_header()?.write_image_data(&pixels)?;
    println!("{}: {WIDTH}x{HEIGHT} pixels drawn to {}", device.info().gfx_level, path.display());
    Ok(())
}

/// Draws the triangle and returns the pixels, row by row.
pub(crate) fn draw(device: &Device) -> Result<Vec<u8>, Error> {
    let level = device.info().gfx_level;
    let manager = MemoryManager::new(device, &TableOptions::default())?;
    let tables = manager.properties();

    // The picture: its layout, its memory, and the background in all of it.
    let chip = device.info().surface_chip()?;
    let image = VulkanImage {
        format: Format::R8G8B8A8_UNORM,
        dimension: Dimension::D2,
        extent: [WIDTH, HEIGHT, 1],
        layers: 1,
        levels: 1,
        samples: 1,
        linear: false,
        usage: 0x10, // VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT
    };
    let layout = image.layout(&chip, None)?;
    let needed = tables.image_requirements(&layout, false);
    let seen = MemoryPropertyFlags::HOST_VISIBLE;
    let memory_type = tables
        .find_type(needed.types, seen, MemoryPropertyFlags::empty())
        .ok_or("no image memory that the CPU sees")?;
    let picture = manager.allocate(&needed.allocate_info(memory_type, AllocateFlags::empty()))?;
    let len = usize::try_from(needed.size)?;
    picture.map()?.write(0, &BACKGROUND.into_iter().cycle().take(len).collect::<Vec<_>>())?;

    // Programs and vertices.
    let buffer = visible(&manager, BUFFER)?;
    let (vertex, pixel) = (vertex_program(level)?, pixel_program(level, Shade::Parameter)?);
    let mapped = buffer.map()?;
    let bytes = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>();
    mapped.write(0, &bytes(vertex.words()))?;
    mapped.write(PIXEL, &bytes(pixel.words()))?;
    mapped.write(
        VERTICES,
        &bytes(TRIANGLE.as_flattened().iter().map(|value| value.to_bits()).collect::<Vec<_>>().as_slice()),
    )?;
    mapped.write(DONE, &[0; 4])?;
    let at = |offset: u64| buffer.address().checked_add(offset).ok_or("no such address");

    // GFX11 and later keep geometry in memory between the stages.
    let rings = Rings::new(device, &manager)?;
    let mut user = elements(level, at(VERTICES)?, 32, 3)?.to_vec();
    user.extend(rings.iter().flat_map(|rings| rings.descriptor));

    // The registers of the pipeline and of the target.
    let pipeline = Pipeline {
        primitive: Primitive::Triangles,
        size: [WIDTH, HEIGHT],
        vertex: Stage { code: at(0)?, vectors: vertex.vectors(), scalars: vertex.scalars(), user: &user },
        pixel: Stage { code: at(PIXEL)?, vectors: pixel.vectors(), scalars: pixel.scalars(), user: &[] },
        tests_depth: false,
        rings: rings.as_ref().map(|rings| rings.addresses),
    };
    let mut writes: Vec<RegisterWrite> = Vec::new();
    pipeline.writes(level, &mut |write| writes.push(write))?;
    writes.extend(image.color_target(&chip, &layout, picture.address()).registers(level)?.writes(level));

    let queue = Queue::new(&Context::new(device, Priority::Normal)?, Ip::Gfx, 0)?;
    let Target::Pm4(target) = queue.target() else { return Err("the graphics ring reads PM4".into()) };
    let list = record(Stream::new(device, target, 4096)?, &writes, [at(DONE)?, at(SCRATCH)?])?;
    let mut memory = vec![picture.binding().clone(), buffer.binding().clone()];
    memory.extend(rings.iter().map(|rings| rings.memory.binding().clone()));
    let fence = queue.submit(&Submission { lists: &[&list], memory: &memory, ..Submission::default() })?;
    if !fence.wait(Deadline::after(Duration::from_secs(10)))? {
        return Err("the draw did not finish in time".into());
    }

    // The CPU detiles the picture.
    let mut tiled = vec![0; len];
    picture.map()?.read(0, &mut tiled)?;
    let mut pixels = vec![0; (WIDTH * HEIGHT * 4) as usize];
    let rows = Rows { pitch: WIDTH as usize * 4, slice: 0 };
    let texels = layout.texels(&chip, &image.surface(level, None), 0)?;
    texels.detile(&Region::whole(WIDTH, HEIGHT, 1), &tiled, &mut pixels, rows)?;
    Ok(pixels)
}

/// Records caches, registers, the draw, and the end of the pipe, which writes the picture back to memory and stores to `done`.
fn record(
    mut stream: Stream<pm4::Target>,
    writes: &[RegisterWrite],
    [done, scratch]: [GpuVa; 2],
) -> Result<CommandList, Error> {
    let target = stream.language();
    let level = target.level;
    if level < GfxLevel::Gfx10 {
        stream.push(&pm4::PfpSyncMe)?;
    }
    pm4::AcquireMem::each(target, pm4::CacheActions::ACQUIRE).try_for_each(|acquire| stream.push(&acquire))?;
    let only_update = 1 << 31;
    stream.push(&pm4::ContextControl { load: only_update, shadow: only_update, ..pm4::ContextControl::default() })?;
    for RegisterWrite { register, value } in writes.iter().copied() {
        stream.push(&registers::SetRegister { register, value })?;
    }
    stream.push(&pm4::NumInstances { instances: 1, ..pm4::NumInstances::default() })?;
    stream.push(&pm4::DrawIndexAuto { vertices: 3, initiator: 2, ..pm4::DrawIndexAuto::default() })?;
    let store = pm4::EopStore::Dword { va: done, value: 1 };
    let event = pm4::EndOfPipe::new(pm4::EopEvent::CacheFlushAndInvalidate, store)
        .with_caches(level, pm4::CacheActions::WRITE_BACK_L2);
    stream.push(&pm4::EndOfPipeSequence { event, scratch })?;
    Ok(stream.finish()?)
}

/// The memory of the rings of GFX11 and later.
struct Rings {
    memory: DeviceMemory,
    addresses: GeometryRings,
    /// The descriptor of the attribute rings.
    descriptor: [u32; 4],
}

impl Rings {
    fn new(device: &Device, manager: &MemoryManager) -> Result<Option<Self>, Error> {
        let info = device.info();
        let Some(sizes) = info.attribute_rings() else { return Ok(None) };
        let memory = visible(manager, sizes.total + RING_ALIGN)?;
        let base = memory.address().as_u64().next_multiple_of(RING_ALIGN);
        let addresses = GeometryRings {
            attributes: GpuVa::new(base)?,
            attributes_per_engine: sizes.attributes_per_engine,
            positions: GpuVa::new(base + sizes.positions_offset)?,
            positions_per_engine: sizes.positions_per_engine,
            primitives: GpuVa::new(base + sizes.primitives_offset)?,
            primitives_per_engine: sizes.primitives_per_engine,
        };
        let bytes = sizes.attributes_per_engine * u64::from(info.shader.max_engines);
        let descriptor = elements(info.gfx_level, addresses.attributes, 16, u32::try_from(bytes / 16)?)?;
        Ok(Some(Self { memory, addresses, descriptor }))
    }
}

/// The alignment of rings in bytes.
const RING_ALIGN: u64 = 64 << 10;

/// Allocates memory that the CPU sees.
fn visible(manager: &MemoryManager, size: u64) -> Result<DeviceMemory, Error> {
    let tables = manager.properties();
    let types = tables.buffer_types(Addressing::Bits64, false);
    let seen = MemoryPropertyFlags::HOST_VISIBLE | MemoryPropertyFlags::HOST_COHERENT;
    let found = tables.find_type(types, seen, MemoryPropertyFlags::empty()).ok_or("no memory that the CPU sees")?;
    Ok(manager.allocate(&AllocateInfo::new(found, size))?)
}

/// Returns the descriptor of a buffer of elements.
fn elements(level: GfxLevel, va: GpuVa, stride: u32, count: u32) -> Result<[u32; 4], Error> {
    // GFX8 counts bytes, all others elements.
    let num_records = if level == GfxLevel::Gfx8 { stride * count } else { count };
    let view = BufferView { stride, oob: OutOfBounds::Structured, ..BufferView::raw(va, num_records) };
    Ok(view.descriptor(level)?.words())
}
