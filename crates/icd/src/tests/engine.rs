//! Copies of images by copy engines: the packets, and the bytes beside those of the other rings.

use ash::vk;

use super::opened::Opened;
use crate::{border::object, objects::CommandBuffer};

const LAYOUT: vk::ImageLayout = vk::ImageLayout::GENERAL;

/// Extent of the images here, texels of 4 bytes: more than a tile in both directions.
const WIDTH: u32 = 160;
const HEIGHT: u32 = 96;

/// A device of two families, a buffer of rows, two tiled images, and one of rows.
struct Rig {
    opened: Opened,
    device: ash::Device,
    /// Families of the graphics ring and of the copy engines.
    families: [u32; 2],
    rows: vk::Buffer,
    images: [vk::Image; 3],
    memory: Vec<vk::DeviceMemory>,
}

impl Rig {
    fn new(chip: &str) -> Self {
        let opened = Opened::on(chip).unwrap();
        // SAFETY: the instance is live.
        let physical = unsafe { opened.instance.enumerate_physical_devices() }.unwrap()[0];
        // SAFETY: the physical device is live.
        let families = unsafe { opened.instance.get_physical_device_queue_family_properties(physical) };
        let copies = families.iter().position(|it| !it.queue_flags.contains(vk::QueueFlags::COMPUTE)).unwrap() as u32;
        let queue = |family| vk::DeviceQueueCreateInfo::default().queue_family_index(family).queue_priorities(&[1.0]);
        let queues = [queue(0), queue(copies)];
        // SAFETY: the structure is valid, here and below.
        let device = unsafe {
            opened.instance.create_device(physical, &vk::DeviceCreateInfo::default().queue_create_infos(&queues), None)
        }
        .unwrap();
        let mut rig = Self {
            opened,
            device,
            families: [0, copies],
            rows: vk::Buffer::null(),
            images: [vk::Image::null(); 3],
            memory: Vec::new(),
        };
        // SAFETY: the physical device is live.
        let types = unsafe { rig.opened.instance.get_physical_device_memory_properties(physical) };
        let seen = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_CACHED;
        let kind = types.memory_types.iter().position(|it| it.property_flags.contains(seen)).unwrap() as u32;
        let info = vk::BufferCreateInfo::default().size(u64::from(2 * WIDTH * HEIGHT * 4));
        // SAFETY: as above.
        rig.rows = unsafe { rig.device.create_buffer(&info, None) }.unwrap();
        let memory = rig.allocate(kind, info.size);
        // SAFETY: both are live, and the memory is long enough.
        unsafe { rig.device.bind_buffer_memory(rig.rows, memory, 0) }.unwrap();
        let tilings = [vk::ImageTiling::OPTIMAL, vk::ImageTiling::OPTIMAL, vk::ImageTiling::LINEAR];
        rig.images = tilings.map(|tiling| {
            let info = vk::ImageCreateInfo::default()
                .image_type(vk::ImageType::TYPE_2D)
                .format(vk::Format::R8G8B8A8_UNORM)
                .extent(vk::Extent3D { width: WIDTH, height: HEIGHT, depth: 1 })
                .mip_levels(1)
                .array_layers(1)
                .samples(vk::SampleCountFlags::TYPE_1)
                .tiling(tiling)
                .usage(vk::ImageUsageFlags::TRANSFER_DST);
            // SAFETY: as above.
            let image = unsafe { rig.device.create_image(&info, None) }.unwrap();
            // SAFETY: the image is live.
            let wanted = unsafe { rig.device.get_image_memory_requirements(image) };
            let memory = rig.allocate(kind, wanted.size);
            // SAFETY: both are live, and the memory is long enough.
            unsafe { rig.device.bind_image_memory(image, memory, 0) }.unwrap();
            image
        });
        rig
    }

    fn allocate(&mut self, kind: u32, size: u64) -> vk::DeviceMemory {
        let info = vk::MemoryAllocateInfo::default().memory_type_index(kind).allocation_size(size);
        // SAFETY: the structure is valid.
        let memory = unsafe { self.device.allocate_memory(&info, None) }.unwrap();
        self.memory.push(memory);
        memory
    }

    /// Lends the bytes of an allocation.
    fn bytes<T>(&self, index: usize, work: impl FnOnce(&mut [u8]) -> T) -> T {
        let memory = self.memory[index];
        let flags = vk::MemoryMapFlags::empty();
        // SAFETY: the memory is live and of a type that the CPU sees.
        let mapped = unsafe { self.device.map_memory(memory, 0, vk::WHOLE_SIZE, flags) }.unwrap();
        // SAFETY: at least the images are that long, and the GPU is idle.
        let out = work(unsafe { std::slice::from_raw_parts_mut(mapped.cast(), (WIDTH * HEIGHT * 4) as usize) });
        // SAFETY: the memory is mapped.
        unsafe { self.device.unmap_memory(memory) };
        out
    }

    /// Records for a ring and runs that. Returns the dwords that were recorded.
    fn run(&self, family: u32, record: impl FnOnce(vk::CommandBuffer)) -> usize {
        let info = vk::CommandPoolCreateInfo::default().queue_family_index(family);
        // SAFETY: the structures are valid, and the handles live, here and below.
        let pool = unsafe { self.device.create_command_pool(&info, None) }.unwrap();
        let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
        // SAFETY: as above.
        let commands = unsafe { self.device.allocate_command_buffers(&info) }.unwrap();
        // SAFETY: as above.
        unsafe { self.device.begin_command_buffer(commands[0], &vk::CommandBufferBeginInfo::default()) }.unwrap();
        record(commands[0]);
        // SAFETY: as above.
        unsafe { self.device.end_command_buffer(commands[0]) }.unwrap();
        let dwords = object::<CommandBuffer>(commands[0]).unwrap().list().unwrap().len();
        // SAFETY: as above.
        let queue = unsafe { self.device.get_device_queue(family, 0) };
        let submit = vk::SubmitInfo::default().command_buffers(&commands);
        // SAFETY: as above.
        unsafe { self.device.queue_submit(queue, &[submit], vk::Fence::null()) }.unwrap();
        // SAFETY: as above.
        unsafe { self.device.queue_wait_idle(queue) }.unwrap();
        // SAFETY: nothing uses it any more.
        unsafe { self.device.destroy_command_pool(pool, None) };
        dwords
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        for image in self.images {
            // SAFETY: the queues are idle, here and below.
            unsafe { self.device.destroy_image(image, None) };
        }
        // SAFETY: as above.
        unsafe { self.device.destroy_buffer(self.rows, None) };
        for &memory in &self.memory {
            // SAFETY: as above.
            unsafe { self.device.free_memory(memory, None) };
        }
        // SAFETY: as above.
        unsafe { self.device.destroy_device(None) };
        assert_eq!(self.opened.kernel.inner().census(), self.opened.after);
    }
}

/// A box of texels, and rows.
#[derive(Clone, Copy, Debug)]
struct Shape {
    offset: [i32; 2],
    extent: [u32; 2],
    row_length: u32,
    start: u64,
}

/// A copy that every engine from GFX7 on makes by a packet.
const EASY: Shape = Shape { offset: [16, 8], extent: [128, 80], row_length: 160, start: 256 };

/// Copies that not every engine makes by packets: columns inside a group, rows that begin beside a dword.
const HARD: [Shape; 2] = [
    Shape { offset: [3, 5], extent: [77, 51], row_length: 0, start: 4 },
    Shape { offset: [0, 0], extent: [WIDTH, HEIGHT], row_length: 163, start: 2 },
];

const LAYERS: vk::ImageSubresourceLayers = vk::ImageSubresourceLayers {
    aspect_mask: vk::ImageAspectFlags::COLOR,
    mip_level: 0,
    base_array_layer: 0,
    layer_count: 1,
};

/// Writes two images of pattern, copies a shape into the first, from it to the second and to the third, and from there to rows; by
/// one ring. Returns the dwords of each copy and all bytes in the end.
fn copied(rig: &Rig, family: u32, shape: Shape) -> (Vec<usize>, Vec<Vec<u8>>) {
    for index in 0..rig.memory.len() {
        rig.bytes(index, |bytes| {
            bytes.iter_mut().zip(0_u32..).for_each(|(byte, at)| *byte = (at.wrapping_mul(0x9e37_79b1) >> 13) as u8);
        });
    }
    let [x, y] = shape.offset;
    let [width, height] = shape.extent;
    let (offset, extent) = (vk::Offset3D { x, y, z: 0 }, vk::Extent3D { width, height, depth: 1 });
    let rows = vk::BufferImageCopy::default()
        .buffer_offset(shape.start)
        .buffer_row_length(shape.row_length)
        .image_subresource(LAYERS)
        .image_offset(offset)
        .image_extent(extent);
    let part = vk::ImageCopy::default()
        .src_subresource(LAYERS)
        .src_offset(offset)
        .dst_subresource(LAYERS)
        .dst_offset(offset)
        .extent(extent);
    let (device, [first, second, third]) = (&rig.device, rig.images);
    let dwords = vec![
        // SAFETY: everything is bound and long enough, here and below.
        rig.run(family, |it| unsafe { device.cmd_copy_buffer_to_image(it, rig.rows, first, LAYOUT, &[rows]) }),
        // SAFETY: as above.
        rig.run(family, |it| unsafe { device.cmd_copy_image(it, first, LAYOUT, second, LAYOUT, &[part]) }),
        // SAFETY: as above.
        rig.run(family, |it| unsafe { device.cmd_copy_image(it, second, LAYOUT, third, LAYOUT, &[part]) }),
        // SAFETY: as above.
        rig.run(family, |it| unsafe { device.cmd_copy_image_to_buffer(it, third, LAYOUT, rig.rows, &[rows]) }),
    ];
    (dwords, (0..rig.memory.len()).map(|index| rig.bytes(index, |bytes| bytes.to_vec())).collect())
}

#[test]
fn copy_engines_copy_by_packets_what_other_rings_copy_by_runs() {
    for chip in ["pitcairn", "polaris10", "vega10", "renoir", "navi10", "navi21", "navi31"] {
        let rig = Rig::new(chip);
        for shape in [EASY, HARD[0], HARD[1]] {
            let [(runs, wanted), (packets, found)] = rig.families.map(|family| copied(&rig, family, shape));
            assert!(wanted == found, "{chip}: {shape:?} differs between the rings");
            assert!(runs.iter().all(|&dwords| dwords > 200), "{chip}: {shape:?}: {runs:?} dwords of runs");
            // No engine of GFX6 knows images.
            if shape.offset == EASY.offset && chip != "pitcairn" {
                assert!(packets.iter().all(|&dwords| dwords <= 32), "{chip}: {packets:?} dwords of packets");
            }
        }
    }
}
