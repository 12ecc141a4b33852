//! A small draw whose registers and programs a test may change before it is submitted.

use std::time::Duration;

use amdgpu_descriptors::{
    format::Format,
    pipeline::{GeometryRings, Pipeline, Primitive, Stage},
    target::RegisterWrite,
    view::{BufferView, OutOfBounds},
    vulkan::VulkanImage,
};
use amdgpu_isa::graphics::{Shade, pixel_program, vertex_program};
use amdgpu_sim::{LockupTimeout, SimDevice, SimOptions, profile};
use amdgpu_surface::surface::Dimension;
use amdgpu_winsys::{
    cs::{Queue, Stream, Submission, Target, pm4, registers},
    heaps::{Addressing, AllocateInfo, DeviceMemory, MemoryManager, MemoryPropertyFlags, TableOptions},
    vamgr::GpuVa,
    winsys::{Context, Deadline, Device, GfxLevel, Ip, Priority},
};

/// The width and height of the target in pixels.
const SIDE: u32 = 64;
/// Offsets in the buffer: programs, vertices, arguments of draws, the target, and what GFX11 and later keep in memory.
const PIXEL: u64 = 0x1000;
const VERTICES: u64 = 0x2000;
const ARGUMENTS: u64 = 0x3000;
const TARGET: u64 = 0x4_0000;
const RINGS: u64 = 0x10_0000;
/// The time that a job may take.
const LIMIT: Duration = Duration::from_millis(300);

/// A draw of one triangle that covers half of a target.
pub(crate) struct Rig {
    pub(crate) sim: SimDevice,
    device: Device,
    buffer: DeviceMemory,
    pub(crate) level: GfxLevel,
    pub(crate) writes: Vec<RegisterWrite>,
    pub(crate) vertices: u32,
    pub(crate) instances: u32,
    /// The dwords of packets in place of the draw, if there are any.
    pub(crate) packets: Vec<u32>,
}

/// Returns the descriptor of a buffer of elements.
fn elements(level: GfxLevel, va: GpuVa, stride: u32, count: u32) -> [u32; 4] {
    let num_records = if level == GfxLevel::Gfx8 { stride * count } else { count };
    let view = BufferView { stride, oob: OutOfBounds::Structured, ..BufferView::raw(va, num_records) };
    view.descriptor(level).unwrap().words()
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

impl Rig {
    pub(crate) fn new(chip: &str) -> Self {
        let options = SimOptions { lockup_timeout: LockupTimeout::all(LIMIT), ..SimOptions::default() };
        let sim = SimDevice::new(profile(chip).unwrap(), options);
        let device = Device::new(sim.open()).unwrap();
        let (level, chip) = (device.info().gfx_level, device.info().surface_chip().unwrap());
        let manager = MemoryManager::new(&device, &TableOptions::default()).unwrap();
        let tables = manager.properties();
        let seen = MemoryPropertyFlags::HOST_VISIBLE | MemoryPropertyFlags::HOST_COHERENT;
        let types = tables.buffer_types(Addressing::Bits64, false);
        let found = tables.find_type(types, seen, MemoryPropertyFlags::empty()).unwrap();
        let sizes = device.info().attribute_rings();
        let total = RINGS + 0x1_0000 + sizes.map_or(0, |sizes| sizes.total);
        let buffer = manager.allocate(&AllocateInfo::new(found, total)).unwrap();
        let at = |offset: u64| buffer.address().checked_add(offset).unwrap();
        let (vertex, pixel) = (vertex_program(level).unwrap(), pixel_program(level, Shade::Parameter).unwrap());
        let corner = |x: f32, y: f32| [x, y, 0.5, 1.0, 1.0, 0.5, 0.25, 1.0].map(f32::to_bits);
        let corners = [corner(-1.0, -1.0), corner(1.0, -1.0), corner(-1.0, 1.0)];
        for (offset, words) in [(0, vertex.words()), (PIXEL, pixel.words()), (VERTICES, corners.as_flattened())] {
            buffer.map().unwrap().write(offset, &bytes(words)).unwrap();
        }
        let mut user = elements(level, at(VERTICES), 32, 3).to_vec();
        let rings = sizes.map(|sizes| {
            let base = at(RINGS).as_u64().next_multiple_of(0x1_0000);
            let place = |offset: u64| GpuVa::new(base + offset).unwrap();
            user.extend(elements(level, place(0), 16, (sizes.attributes_per_engine / 16) as u32));
            GeometryRings {
                attributes: place(0),
                attributes_per_engine: sizes.attributes_per_engine,
                positions: place(sizes.positions_offset),
                positions_per_engine: sizes.positions_per_engine,
                primitives: place(sizes.primitives_offset),
                primitives_per_engine: sizes.primitives_per_engine,
            }
        });
        let pipeline = Pipeline {
            primitive: Primitive::Triangles,
            size: [SIDE; 2],
            vertex: Stage { code: at(0), vectors: vertex.vectors(), scalars: vertex.scalars(), user: &user },
            pixel: Stage { code: at(PIXEL), vectors: pixel.vectors(), scalars: pixel.scalars(), user: &[] },
            tests_depth: false,
            rings,
        };
        let image = VulkanImage {
            format: Format::R8G8B8A8_UNORM,
            dimension: Dimension::D2,
            extent: [SIDE, SIDE, 1],
            layers: 1,
            levels: 1,
            samples: 1,
            linear: false,
            usage: 0x10,
        };
        let layout = image.layout(&chip, None).unwrap();
        assert!(layout.total_bytes <= RINGS - TARGET);
        let mut writes = Vec::new();
        pipeline.writes(level, &mut |write| writes.push(write)).unwrap();
        let base = GpuVa::new(at(TARGET).as_u64().next_multiple_of(1 << layout.total_align_log2)).unwrap();
        writes.extend(image.color_target(&chip, &layout, base).registers(level).unwrap().writes(level));
        Self { sim, device, buffer, level, writes, vertices: 3, instances: 1, packets: Vec::new() }
    }

    /// Sets a register to another value, if the generation has it.
    pub(crate) fn set(&mut self, register: registers::Register, value: u32) {
        if register.offset(self.level).is_some() {
            self.writes.push(RegisterWrite { register, value });
        }
    }

    /// Replaces the pixel shader.
    pub(crate) fn pixel_shader(&self, words: &[u32]) {
        self.write(PIXEL, words);
    }

    /// Replaces the vertex shader.
    pub(crate) fn vertex_shader(&self, words: &[u32]) {
        self.write(0, words);
    }

    /// Replaces the vertices, each of which has a position and a colour.
    pub(crate) fn corners(&self, corners: &[[f32; 4]; 3]) {
        let vertex = |position: &[f32; 4]| [*position, [1.0, 0.5, 0.25, 1.0]].as_flattened().to_vec();
        let words: Vec<u32> = corners.iter().flat_map(vertex).map(f32::to_bits).collect();
        self.write(VERTICES, &words);
    }

    /// Writes arguments of draws, and returns their address.
    pub(crate) fn arguments(&self, words: &[u32]) -> u64 {
        self.write(ARGUMENTS, words);
        self.buffer.address().as_u64() + ARGUMENTS
    }

    fn write(&self, offset: u64, words: &[u32]) {
        self.buffer.map().unwrap().write(offset, &bytes(words)).unwrap();
    }

    /// Returns the number of dwords of the target's memory that the draw has changed.
    pub(crate) fn changed(&self) -> usize {
        let mut memory = vec![0; (RINGS - TARGET) as usize];
        self.buffer.map().unwrap().read(TARGET, &mut memory).unwrap();
        memory.as_chunks::<4>().0.iter().filter(|texel| **texel != [0; 4]).count()
    }

    /// Returns `true` if a page fault was reported.
    pub(crate) fn has_faulted(&self) -> bool {
        self.device.page_fault().unwrap().is_some()
    }

    /// Draws, waits for the end, and returns `true` if the job ran to its end without a reset.
    pub(crate) fn draw(&self) -> bool {
        let context = Context::new(&self.device, Priority::Normal).unwrap();
        let queue = Queue::new(&context, Ip::Gfx, 0).unwrap();
        let Target::Pm4(target) = queue.target() else { panic!("the graphics ring reads PM4") };
        let mut stream = Stream::new(&self.device, target, 4096).unwrap();
        for RegisterWrite { register, value } in self.writes.iter().copied() {
            stream.push(&registers::SetRegister { register, value }).unwrap();
        }
        stream.push(&pm4::NumInstances { instances: self.instances, ..pm4::NumInstances::default() }).unwrap();
        let draw = pm4::DrawIndexAuto { vertices: self.vertices, initiator: 2, ..pm4::DrawIndexAuto::default() };
        if self.packets.is_empty() {
            stream.push(&draw).unwrap();
        } else {
            stream.reserve(self.packets.len()).unwrap().copy_from_slice(&self.packets);
        }
        let list = stream.finish().unwrap();
        let memory = [self.buffer.binding().clone()];
        let fence = queue.submit(&Submission { lists: &[&list], memory: &memory, ..Submission::default() }).unwrap();
        // Far more than the kernel's limit: what does not end by itself is reset.
        let ended = fence.wait(Deadline::after(Duration::from_mins(1)));
        let is_clean = context.state().is_ok_and(|state| state.is_empty());
        matches!(ended, Ok(true)) && is_clean
    }
}
