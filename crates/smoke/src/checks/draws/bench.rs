//! The workbench of a draw check: memory, programs, registers, the draw, and its pixels.

use amdgpu_descriptors::{
    pipeline::{GeometryRings, Pipeline, Primitive, Stage},
    target::RegisterWrite,
    view::{BufferView, OutOfBounds},
};
use amdgpu_isa::graphics::{GraphicsProgram, Shade, pixel_program, vertex_program};
use amdgpu_winsys::{
    heaps::DeviceMemory,
    vamgr::GpuVa,
    winsys::{GfxLevel, Ip, PAGE_SIZE},
};

use super::{
    model::{Corner, Pixel},
    target::Target,
};
use crate::{
    gpu::{
        recorder::Draw,
        test_context::{HostMemory, TestContext},
    },
    result::outcome::{ErrorContext, Outcome, Stop, fail, skip},
};

/// Offsets in the memory of a check, in bytes: both programs, and the vertices.
const PIXEL: u64 = 4 << 10;
const VERTICES: u64 = 8 << 10;
const SIZE: u64 = 16 << 10;
/// The size of a vertex in bytes: a position and a parameter.
const VERTEX: u32 = 32;
/// The size of a parameter in the attribute ring in bytes.
const PARAMETER: u32 = 16;
/// The alignment of the rings in bytes.
const RING_ALIGN: u64 = 64 << 10;

/// The colour of texels where nothing is drawn: no component is that of a colour that is drawn.
pub(crate) const UNTOUCHED: u32 = 0xa5a7_a9ab;

/// A draw and the pixels it should leave.
pub(crate) struct Picture<'p> {
    pub(crate) size: [u32; 2],
    pub(crate) primitive: Primitive,
    pub(crate) corners: &'p [Corner],
    pub(crate) shade: Shade,
    /// The user data of the pixel shader, as many words as it has.
    pub(crate) user: &'p [u32],
    /// Memory that the pixel shader reads.
    pub(crate) texture: Option<&'p HostMemory>,
    /// The depth of all pixels before the draw; `None` for no depth test.
    pub(crate) depth: Option<f32>,
    /// The pixels, row by row; `None` where nothing is drawn.
    pub(crate) expected: &'p [Option<Pixel>],
    /// The number of steps by which a component may differ: 0 where no number is rounded.
    pub(crate) tolerance: u32,
}

/// Returns the descriptor of a buffer of elements.
fn elements(level: GfxLevel, va: GpuVa, stride: u32, count: u32) -> Result<[u32; 4], Stop> {
    // GFX8 counts bytes, all others elements.
    let num_records = if level == GfxLevel::Gfx8 { stride * count } else { count };
    let view = BufferView { stride, oob: OutOfBounds::Structured, ..BufferView::raw(va, num_records) };
    Ok(view.descriptor(level).context("making a descriptor")?.words())
}

/// The memory of the rings of GFX11 and later.
struct Rings {
    memory: DeviceMemory,
    addresses: GeometryRings,
    descriptor: [u32; 4],
}

impl Rings {
    fn new(test: &TestContext<'_>) -> Result<Option<Self>, Stop> {
        let info = test.device.info();
        let Some(sizes) = info.attribute_rings() else { return Ok(None) };
        let memory = test.device_memory(sizes.total + RING_ALIGN)?;
        let base = memory.address().as_u64().next_multiple_of(RING_ALIGN);
        let at = |offset: u64| GpuVa::new(base + offset).context("placing a ring");
        let addresses = GeometryRings {
            attributes: at(0)?,
            attributes_per_engine: sizes.attributes_per_engine,
            positions: at(sizes.positions_offset)?,
            positions_per_engine: sizes.positions_per_engine,
            primitives: at(sizes.primitives_offset)?,
            primitives_per_engine: sizes.primitives_per_engine,
        };
        let bytes = sizes.attributes_per_engine * u64::from(info.shader.max_engines);
        let count = u32::try_from(bytes / u64::from(PARAMETER)).unwrap_or(u32::MAX);
        let descriptor = elements(info.gfx_level, addresses.attributes, PARAMETER, count)?;
        Ok(Some(Self { memory, addresses, descriptor }))
    }
}

/// Returns the bytes of dwords.
fn bytes(dwords: &[u32]) -> Vec<u8> {
    dwords.iter().flat_map(|dword| dword.to_le_bytes()).collect()
}

fn stage<'u>(code: GpuVa, program: &GraphicsProgram, user: &'u [u32]) -> Stage<'u> {
    Stage { code, vectors: program.vectors(), scalars: program.scalars(), user }
}

impl Picture<'_> {
    /// Draws on the graphics ring, and compares.
    pub(crate) fn run(&self, test: &TestContext<'_>) -> Outcome {
        let Some(ring) = test.rings.iter().copied().find(|ring| ring.ip == Ip::Gfx) else {
            return skip("the GPU has no graphics ring");
        };
        let level = test.device.info().gfx_level;
        let vertex = vertex_program(level).context("making the vertex shader")?;
        let pixel = pixel_program(level, self.shade).context("making the pixel shader")?;
        let memory = test.host_memory(SIZE)?;
        memory.write(0, &bytes(vertex.words()))?;
        memory.write(PIXEL, &bytes(pixel.words()))?;
        let vertices: Vec<u32> =
            self.corners.iter().flat_map(|corner| corner.vertex(self.size)).map(f32::to_bits).collect();
        memory.write(VERTICES, &bytes(&vertices))?;
        let count = u32::try_from(self.corners.len()).unwrap_or(0);
        let rings = Rings::new(test)?;
        let mut user = elements(level, memory.at(VERTICES)?, VERTEX, count)?.to_vec();
        user.extend(rings.iter().flat_map(|rings| rings.descriptor));
        let pipeline = Pipeline {
            primitive: self.primitive,
            size: self.size,
            vertex: stage(memory.at(0)?, &vertex, &user),
            pixel: stage(memory.at(PIXEL)?, &pixel, self.user),
            tests_depth: self.depth.is_some(),
            rings: rings.as_ref().map(|rings| rings.addresses),
        };
        let color = Target::color(test, self.size, UNTOUCHED)?;
        let depth = self.depth.map(|first| Target::depth(test, self.size, first)).transpose()?;
        let mut writes: Vec<RegisterWrite> = Vec::new();
        pipeline.writes(level, &mut |write| writes.push(write)).context("composing registers")?;
        writes.extend(color.writes());
        writes.extend(depth.iter().flat_map(Target::writes));
        let done = test.polled_memory(PAGE_SIZE)?;
        done.write(0, &[0; 4])?;
        let draw = Draw { writes: &writes, vertices: count, done: done.at(0)?, scratch: done.at(PAGE_SIZE / 2)? };
        let mut used = vec![memory.memory(), done.memory(), color.memory().memory()];
        used.extend(depth.iter().map(|depth| depth.memory().memory()));
        used.extend(self.texture.map(HostMemory::memory));
        used.extend(rings.iter().map(|rings| &rings.memory));
        test.run(ring, &used, || color.is_touched(), |recorder| recorder.draw(&draw))?;
        self.compare(&color)?;
        if let Some(depth) = &depth {
            self.compare_depth(depth)?;
        }
        let drawn = self.expected.iter().flatten().count();
        let [width, height] = self.size;
        Ok(format!("{count} vertices, {drawn} of {width}x{height} pixels"))
    }

    /// Fails with the first pixel whose colour is wrong.
    fn compare(&self, target: &Target) -> Result<(), Stop> {
        let found = target.read()?;
        let is_right = |found: u32, expected: Option<Pixel>| {
            let Some(pixel) = expected else { return found == UNTOUCHED };
            found.to_le_bytes().into_iter().zip(pixel.parameter).all(|(found, value)| {
                let exact = value * 255.0;
                (f64::from(found) - exact).abs() <= 0.5 + 1e-3 + f64::from(self.tolerance)
            })
        };
        let wrong: Vec<usize> =
            (0..found.len()).filter(|index| !is_right(found[*index], self.expected[*index])).collect();
        let Some(first) = wrong.first().copied() else { return Ok(()) };
        let expected = match self.expected[first] {
            Some(pixel) => {
                let [r, g, b, a] = pixel.parameter.map(|value| value * 255.0);
                format!("red {r:.1}, green {g:.1}, blue {b:.1} and alpha {a:.1}")
            }
            None => format!("{UNTOUCHED:#010x}, as nothing is drawn there"),
        };
        let width = self.size[0] as usize;
        let [r, g, b, a] = found[first].to_le_bytes();
        fail(format!(
            "pixel ({}, {}) at {} has red {r}, green {g}, blue {b} and alpha {a}, expected {expected}; {} of {} pixels are wrong",
            first % width,
            first / width,
            target.address(first)?,
            wrong.len(),
            found.len(),
        ))
    }

    /// Fails with the first pixel whose depth is wrong.
    fn compare_depth(&self, target: &Target) -> Result<(), Stop> {
        let first = f64::from(self.depth.unwrap_or(0.0));
        let found = target.read()?;
        let expected = |index: usize| self.expected[index].map_or(first, |pixel| pixel.depth);
        let depth = |index: usize| f64::from(f32::from_bits(found[index]));
        let wrong = (0..found.len()).find(|index| (depth(*index) - expected(*index)).abs() > 1e-6);
        let Some(wrong) = wrong else { return Ok(()) };
        let width = self.size[0] as usize;
        fail(format!(
            "the depth of pixel ({}, {}) at {} is {}, expected {}",
            wrong % width,
            wrong / width,
            target.address(wrong)?,
            depth(wrong),
            expected(wrong),
        ))
    }
}
