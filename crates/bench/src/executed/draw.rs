//! The rows of `amdgpu-bench draw`: draws of the library on a simulated chip, in process, from the submission to the fence.
//!
//! The goals are floors for two processors. A frame is what `vkcube` draws without its texture: a background and a cube.

use std::{error::Error, time::Duration};

use amdgpu_bench::measure::{median, timed};
use amdgpu_descriptors::{
    format::Format,
    pipeline::{Pipeline, Primitive, Stage},
    target::RegisterWrite,
    view::{BufferView, OutOfBounds},
    vulkan::VulkanImage,
};
use amdgpu_isa::{
    WaveSize, assemble,
    graphics::{GraphicsProgram, Shade, pixel_program, vertex_program},
};
use amdgpu_sim::{LockupTimeout, SimDevice, SimOptions, profile};
use amdgpu_surface::surface::Dimension;
use amdgpu_winsys::{
    cs::{CommandList, Queue, Stream, Submission, Target, pm4, registers},
    heaps::{Addressing, AllocateInfo, DeviceMemory, MemoryManager, MemoryPropertyFlags, TableOptions},
    vamgr::GpuVa,
    winsys::{Context, Deadline, Device, GfxLevel, Ip, Priority},
};

use crate::{
    child::Wanted,
    row::{Goal, Row, Unit},
};

/// The chip: its vertex shaders export their parameters, and need no rings in memory.
const CHIP: &str = "navi21";
const SIZE: [u32; 2] = [1280, 720];
/// Vector operations of the pixel shader of a pass, beside those that interpolate the colour.
const OPERATIONS: usize = 12;
/// Triangles of the row of vertices.
const TRIANGLES: u32 = 20_000;
/// Times that a row is measured.
const TIMES: usize = 7;
/// The longest time of a draw.
const LIMIT: Duration = Duration::from_mins(5);
/// Offsets in the buffer.
const PIXEL: u64 = 0x1000;
const VERTICES: u64 = 0x2000;
const TARGET: u64 = 64 << 20;
const BUFFER: u64 = 80 << 20;
/// The bytes of a vertex: a position and a colour.
const STRIDE: u32 = 32;

type Vertex = [f32; 8];

/// A list of draws with all that they need.
struct Scene {
    queue: Queue,
    list: CommandList,
    buffer: DeviceMemory,
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Returns a pixel shader with more operations on the interpolated colour, in front of its export.
fn long_program(level: GfxLevel, plain: &GraphicsProgram) -> Result<Vec<u32>, Box<dyn Error>> {
    let mut words = Vec::new();
    for line in plain.text().lines() {
        if line.starts_with("exp") {
            for operation in 0..OPERATIONS {
                let register = 4 + operation % 4;
                let line = format!("v_mul_f32_e32 v{register}, 1.0, v{register}");
                words.extend_from_slice(assemble(level, WaveSize::Wave64, &line)?.dwords());
            }
        }
        words.extend_from_slice(assemble(level, WaveSize::Wave64, line)?.dwords());
    }
    Ok(words)
}

impl Scene {
    /// Records triangles, with the short pixel shader or the long one.
    fn new(vertices: &[Vertex], is_long: bool) -> Result<Self, Box<dyn Error>> {
        // Unoptimized builds take longer than the kernel waits.
        let options = SimOptions { lockup_timeout: LockupTimeout::all(LIMIT), ..SimOptions::default() };
        let device = Device::new(SimDevice::new(profile(CHIP).ok_or("no such chip")?, options).open())?;
        let (level, chip) = (device.info().gfx_level, device.info().surface_chip()?);
        let manager = MemoryManager::new(&device, &TableOptions::default())?;
        let seen = MemoryPropertyFlags::HOST_VISIBLE | MemoryPropertyFlags::HOST_COHERENT;
        let tables = manager.properties();
        let types = tables.buffer_types(Addressing::Bits64, false);
        let found = tables.find_type(types, seen, MemoryPropertyFlags::empty());
        let buffer = manager.allocate(&AllocateInfo::new(found.ok_or("no memory that the CPU sees")?, BUFFER))?;
        let at = |offset: u64| buffer.address().checked_add(offset).ok_or("no such address");
        let (vertex, pixel) = (vertex_program(level)?, pixel_program(level, Shade::Parameter)?);
        let pixel_words = if is_long { long_program(level, &pixel)? } else { pixel.words().to_vec() };
        let corners: Vec<u32> = vertices.as_flattened().iter().map(|value| value.to_bits()).collect();
        for (offset, words) in [(0, vertex.words()), (PIXEL, &pixel_words), (VERTICES, &corners)] {
            buffer.map()?.write(offset, &bytes(words))?;
        }
        let count = u32::try_from(vertices.len())?;
        let view = BufferView { stride: STRIDE, oob: OutOfBounds::Structured, ..BufferView::raw(at(VERTICES)?, count) };
        let user = view.descriptor(level)?.words();
        let pipeline = Pipeline {
            primitive: Primitive::Triangles,
            size: SIZE,
            vertex: Stage { code: at(0)?, vectors: vertex.vectors(), scalars: vertex.scalars(), user: &user },
            pixel: Stage { code: at(PIXEL)?, vectors: pixel.vectors(), scalars: pixel.scalars(), user: &[] },
            tests_depth: false,
            rings: None,
        };
        let image = VulkanImage {
            format: Format::R8G8B8A8_UNORM,
            dimension: Dimension::D2,
            extent: [SIZE[0], SIZE[1], 1],
            layers: 1,
            levels: 1,
            samples: 1,
            linear: false,
            usage: 0x10, // VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT
        };
        let layout = image.layout(&chip, None)?;
        let target = GpuVa::new(at(TARGET)?.as_u64().next_multiple_of(1 << layout.total_align_log2))?;
        let mut writes: Vec<RegisterWrite> = Vec::new();
        pipeline.writes(level, &mut |write| writes.push(write))?;
        writes.extend(image.color_target(&chip, &layout, target).registers(level)?.writes(level));
        let queue = Queue::new(&Context::new(&device, Priority::Normal)?, Ip::Gfx, 0)?;
        let Target::Pm4(language) = queue.target() else { return Err("the graphics ring reads PM4".into()) };
        let mut stream = Stream::new(&device, language, 4096)?;
        for RegisterWrite { register, value } in writes {
            stream.push(&registers::SetRegister { register, value })?;
        }
        stream.push(&pm4::NumInstances { instances: 1, ..pm4::NumInstances::default() })?;
        stream.push(&pm4::DrawIndexAuto { vertices: count, initiator: 2, ..pm4::DrawIndexAuto::default() })?;
        Ok(Self { list: stream.finish()?, queue, buffer })
    }

    /// Draws and waits for the end.
    fn draw(&self) -> Result<(), Box<dyn Error>> {
        let memory = [self.buffer.binding().clone()];
        let submission = Submission { lists: &[&self.list], memory: &memory, ..Submission::default() };
        if self.queue.submit(&submission)?.wait(Deadline::after(LIMIT))? {
            Ok(())
        } else {
            Err("the draw did not end".into())
        }
    }

    /// Returns the median time of a draw in seconds.
    fn time(&self) -> Result<f64, Box<dyn Error>> {
        self.draw()?;
        let mut times = Vec::with_capacity(TIMES);
        let mut result = Ok(());
        for _ in 0..TIMES {
            times.push(timed(|| result = self.draw()) / 1e9);
            result?;
            result = Ok(());
        }
        Ok(median(&mut times))
    }
}

fn vertex([x, y]: [f32; 2], colour: [f32; 3]) -> Vertex {
    [x, y, 0.5, 1.0, colour[0], colour[1], colour[2], 1.0]
}

/// Returns two triangles that cover a parallelogram.
fn face([x, y]: [f32; 2], first: [f32; 2], second: [f32; 2], colour: [f32; 3]) -> [Vertex; 6] {
    let corner = |a: f32, b: f32| {
        vertex(
            [x + a * first[0] + b * second[0], y + a * first[1] + b * second[1]],
            colour.map(|part| part * (a + b) / 2.0),
        )
    };
    [corner(0.0, 0.0), corner(1.0, 0.0), corner(1.0, 1.0), corner(0.0, 0.0), corner(1.0, 1.0), corner(0.0, 1.0)]
}

/// Returns a background and the three faces of a cube that are seen, of a third of the picture.
fn frame() -> Vec<Vertex> {
    [
        face([-1.0, -1.0], [2.0, 0.0], [0.0, 2.0], [0.2; 3]),
        face([-0.5, -0.3], [0.5, 0.3], [0.0, 0.8], [1.0, 0.0, 0.0]),
        face([0.0, 0.0], [0.5, -0.3], [0.0, 0.8], [0.0, 1.0, 0.0]),
        face([0.0, -0.6], [0.5, 0.3], [-0.5, 0.3], [0.0, 0.0, 1.0]),
    ]
    .concat()
}

/// Returns triangles between the centres of pixels, so that vertices are all that is computed.
fn specks() -> Vec<Vertex> {
    let speck = |number: u32| {
        let [x, y] = [number % SIZE[0], number / SIZE[0]];
        let at = |dx: f32, dy: f32| {
            let place = [(x as f32 + dx) / SIZE[0] as f32, (y as f32 + dy) / SIZE[1] as f32];
            vertex(place.map(|part| 2.0 * part - 1.0), [1.0; 3])
        };
        [at(0.1, 0.1), at(0.3, 0.1), at(0.1, 0.3)]
    };
    (0..TRIANGLES).flat_map(speck).collect()
}

/// A row: its name, its vertices, `true` for the long pixel shader, what a draw counts, its unit and its floor.
type Case<'c> = (&'static str, &'c dyn Fn() -> Vec<Vertex>, bool, f64, Unit, f64);

/// Measures all rows.
pub(crate) fn all(wanted: &Wanted, add: &mut dyn FnMut(Row)) {
    let pixels = f64::from(SIZE[0] * SIZE[1]);
    let whole = || face([-1.0, -1.0], [2.0, 0.0], [0.0, 2.0], [1.0; 3]).to_vec();
    let cases: [Case<'_>; 3] = [
        ("draw-frame", &frame, false, 1.0, Unit::Frames, 10.0),
        ("draw-pass", &whole, true, pixels / 1e6, Unit::Mpixels, 20.0),
        ("draw-triangles", &specks, false, f64::from(TRIANGLES) / 1e6, Unit::Mtriangles, 1.0),
    ];
    for (name, vertices, is_long, count, unit, floor) in cases {
        if !wanted.has(name) {
            continue;
        }
        let vertices = vertices();
        add(match Scene::new(&vertices, is_long).and_then(|scene| scene.time()) {
            Ok(seconds) => Row::figure(name, vertices.len() as u64, count / seconds, unit, Goal::Above(floor)),
            Err(error) => Row::missing(name, "-", error),
        });
    }
}
