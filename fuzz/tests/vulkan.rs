//! Commands of our Vulkan driver in a legal order with any arguments, against a model of memory: what is in use, where buffers lie,
//! and each byte that the CPU can see.
#![expect(unsafe_code, reason = "Vulkan's commands are unsafe")]

use std::sync::Once;

use amdgpu_fuzz::reach::Reach;
use ash::vk;
use vulkan_amdgpu_winsys::loader;

static REACH: Reach = Reach::new("vulkan::any_arguments_in_a_legal_order_keep_the_model_of_memory");

/// Calls a command.
macro_rules! ask {
    ($call:expr) => {
        // SAFETY: handles are live or null where that is legal, structures are valid, and nothing that is destroyed is in use.
        unsafe { $call }
    };
}

/// Memories with more bytes than this have no contents in the model.
const LARGEST: u64 = 128 << 10;
/// Allocations up to this size have a place in every window of addresses, that of 32 bits too.
const SURE: u64 = 1 << 30;
/// Memories with more bytes than this are not kept.
const CROWDING: u64 = 64 << 20;
/// Live objects of a kind at most.
const MOST: usize = 12;

/// An allocation, and its bytes if the CPU sees them.
struct Memory {
    handle: vk::DeviceMemory,
    kind: u32,
    size: u64,
    bytes: Option<Vec<u8>>,
}

/// A buffer, and where it is bound: the memory and the offset there.
struct Buffer {
    handle: vk::Buffer,
    size: u64,
    place: Option<(vk::DeviceMemory, u64)>,
}

/// A device and the model.
struct World {
    instance: ash::Instance,
    physical: vk::PhysicalDevice,
    device: ash::Device,
    families: u32,
    types: Vec<vk::MemoryType>,
    heaps: Vec<u64>,
    memories: Vec<Memory>,
    buffers: Vec<Buffer>,
    timeline: (vk::Semaphore, u64),
    event: (vk::Event, bool),
    /// Commands on known bytes that ran.
    ran: u32,
}

/// A step: what, and three numbers for it.
type Step = (u8, u32, u32, u8);

impl World {
    fn open() -> Self {
        static SET: Once = Once::new();
        SET.call_once(|| {
            // SAFETY: no other thread runs yet that reads the environment.
            unsafe { std::env::set_var("AMDGPU_WINSYS_ICD_SIM", "navi21") };
            // SAFETY: as above.
            unsafe { std::env::set_var("AMDGPU_WINSYS_ICD", "full") };
        });
        let get_instance_proc_addr = loader::vk_icdGetInstanceProcAddr;
        let entry = ask!(ash::Entry::from_static_fn(ash::StaticFn { get_instance_proc_addr }));
        let instance = ask!(entry.create_instance(&vk::InstanceCreateInfo::default(), None)).unwrap();
        let physical = ask!(instance.enumerate_physical_devices()).unwrap()[0];
        let families = ask!(instance.get_physical_device_queue_family_properties(physical)).len() as u32;
        let memory = ask!(instance.get_physical_device_memory_properties(physical));
        let queue = |family| vk::DeviceQueueCreateInfo::default().queue_family_index(family).queue_priorities(&[1.0]);
        let queues: Vec<_> = (0..families).map(queue).collect();
        let names = [ash::ext::memory_budget::NAME.as_ptr(), ash::ext::host_image_copy::NAME.as_ptr()];
        let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_extension_names(&names);
        let device = ask!(instance.create_device(physical, &info, None)).unwrap();
        let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
        let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
        let timeline = (ask!(device.create_semaphore(&info, None)).unwrap(), 0);
        let event = (ask!(device.create_event(&vk::EventCreateInfo::default(), None)).unwrap(), false);
        Self {
            instance,
            physical,
            device,
            families,
            types: memory.memory_types_as_slice().to_vec(),
            heaps: memory.memory_heaps_as_slice().iter().map(|heap| heap.size).collect(),
            memories: Vec::new(),
            buffers: Vec::new(),
            timeline,
            event,
            ran: 0,
        }
    }

    /// Returns the bytes in use of each heap.
    fn usage(&self) -> Vec<u64> {
        let mut budget = vk::PhysicalDeviceMemoryBudgetPropertiesEXT::default();
        let mut out = vk::PhysicalDeviceMemoryProperties2::default().push_next(&mut budget);
        ask!(self.instance.get_physical_device_memory_properties2(self.physical, &mut out));
        budget.heap_usage[..self.heaps.len()].to_vec()
    }

    /// Returns the bytes that the model has of each heap.
    fn modelled(&self) -> Vec<u64> {
        let mut sums = vec![0; self.heaps.len()];
        for memory in &self.memories {
            sums[self.types[memory.kind as usize].heap_index as usize] += memory.size.next_multiple_of(4096);
        }
        sums
    }

    /// Allocates any size of any type, there or not; every other time a small size of a type that the CPU sees.
    fn allocate(&mut self, (op, a, b, c): Step) {
        let is_seen =
            |kind: &u32| self.types[*kind as usize].property_flags.contains(vk::MemoryPropertyFlags::HOST_VISIBLE);
        let seen: Vec<_> = (0..self.types.len() as u32).filter(is_seen).collect();
        let (kind, size) = match op % 2 {
            0 => (a % (self.types.len() as u32 + 1), u64::from(b) << (c % 40) >> 24),
            _ => (seen[a as usize % seen.len()], u64::from(b) % LARGEST),
        };
        let info = vk::MemoryAllocateInfo::default().memory_type_index(kind).allocation_size(size);
        let made = ask!(self.device.allocate_memory(&info, None));
        let Some(found) = self.types.get(kind as usize).copied() else {
            assert_eq!(made, Err(vk::Result::ERROR_UNKNOWN), "type {kind}");
            return;
        };
        let heap = found.heap_index as usize;
        let fits = self.modelled()[heap] + size <= self.heaps[heap] / 2;
        match made {
            Ok(handle) if size == 0 => assert_eq!(handle, vk::DeviceMemory::null()),
            // What would crowd out IBs and images goes at once.
            Ok(handle) if self.memories.len() >= MOST || size > CROWDING => {
                ask!(self.device.free_memory(handle, None));
            }
            Ok(handle) => {
                let is_seen = found.property_flags.contains(vk::MemoryPropertyFlags::HOST_VISIBLE) && size <= LARGEST;
                let bytes = is_seen.then(|| vec![0xa5; size as usize]);
                self.memories.push(Memory { handle, kind, size, bytes });
                self.write(self.memories.len() - 1);
            }
            Err(error) => {
                assert_eq!(error, vk::Result::ERROR_OUT_OF_DEVICE_MEMORY, "{size} bytes of type {kind}");
                let is_odd = found.property_flags.contains(vk::MemoryPropertyFlags::PROTECTED);
                assert!(!fits || size > SURE || is_odd, "{size} bytes of type {kind} fit, and are refused");
            }
        }
    }

    /// Lends the bytes of a memory that the CPU sees.
    fn mapped<T>(&self, memory: &Memory, work: impl FnOnce(&mut [u8]) -> T) -> T {
        let flags = vk::MemoryMapFlags::empty();
        let start = ask!(self.device.map_memory(memory.handle, 0, vk::WHOLE_SIZE, flags)).unwrap();
        let out = work(ask!(std::slice::from_raw_parts_mut(start.cast(), memory.size as usize)));
        ask!(self.device.unmap_memory(memory.handle));
        out
    }

    /// Writes what the model has of a memory.
    fn write(&self, index: usize) {
        let memory = &self.memories[index];
        if let Some(bytes) = &memory.bytes {
            self.mapped(memory, |mapped| mapped.copy_from_slice(bytes));
        }
    }

    fn free(&mut self, a: u32) {
        if self.memories.is_empty() {
            return;
        }
        let memory = self.memories.swap_remove(a as usize % self.memories.len());
        // Buffers of a memory that is freed can be destroyed alone.
        let (gone, kept) = std::mem::take(&mut self.buffers)
            .into_iter()
            .partition(|buffer| buffer.place.is_some_and(|(handle, _)| handle == memory.handle));
        self.buffers = kept;
        let gone: Vec<Buffer> = gone;
        gone.iter().for_each(|buffer| ask!(self.device.destroy_buffer(buffer.handle, None)));
        ask!(self.device.free_memory(memory.handle, None));
    }

    fn create_buffer(&mut self, (_, a, _, c): Step) {
        let size = if c % 2 == 0 { u64::from(a) << (c % 34) >> 24 } else { u64::from(a) % (LARGEST / 4) }.max(1);
        let info = vk::BufferCreateInfo::default().size(size).usage(vk::BufferUsageFlags::TRANSFER_DST);
        match ask!(self.device.create_buffer(&info, None)) {
            Ok(handle) if self.buffers.len() >= MOST => ask!(self.device.destroy_buffer(handle, None)),
            Ok(handle) => self.buffers.push(Buffer { handle, size, place: None }),
            Err(error) => assert_eq!((error, size > 0xffff_fffc), (vk::Result::ERROR_OUT_OF_DEVICE_MEMORY, true)),
        }
    }

    fn bind(&mut self, (_, a, b, c): Step) {
        if self.buffers.is_empty() || self.memories.is_empty() {
            return;
        }
        let (buffers, memories) = (self.buffers.len(), self.memories.len());
        let buffer = &mut self.buffers[a as usize % buffers];
        let memory = &self.memories[c as usize % memories];
        // Most offsets are aligned and inside.
        let offset = if b % 8 == 0 { u64::from(b) } else { (u64::from(b >> 3) % memory.size.max(1)) & !15 };
        let bound = ask!(self.device.bind_buffer_memory(buffer.handle, memory.handle, offset));
        let end = offset.checked_add(buffer.size).filter(|end| *end <= memory.size.next_multiple_of(4096));
        let is_legal = buffer.place.is_none() && offset % 16 == 0 && offset + buffer.size <= memory.size;
        match bound {
            Ok(()) => {
                assert!(buffer.place.is_none() && offset % 16 == 0 && end.is_some(), "{offset} of {}", memory.size);
                buffer.place = Some((memory.handle, offset));
            }
            Err(error) => assert!(error == vk::Result::ERROR_UNKNOWN && !is_legal, "{error} {offset}"),
        }
    }

    /// Records something for a family, and runs it if its end says that it could be recorded.
    fn run(&self, family: u8, record: impl FnOnce(&ash::Device, vk::CommandBuffer)) -> bool {
        let (device, family) = (&self.device, u32::from(family) % self.families);
        let info = vk::CommandPoolCreateInfo::default().queue_family_index(family);
        let pool = ask!(device.create_command_pool(&info, None)).unwrap();
        let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
        let commands = ask!(device.allocate_command_buffers(&info)).unwrap();
        ask!(device.begin_command_buffer(commands[0], &vk::CommandBufferBeginInfo::default())).unwrap();
        record(device, commands[0]);
        let ended = ask!(device.end_command_buffer(commands[0]));
        if ended.is_ok() {
            let queue = ask!(device.get_device_queue(family, 0));
            let submit = vk::SubmitInfo::default().command_buffers(&commands);
            ask!(device.queue_submit(queue, &[submit], vk::Fence::null())).unwrap();
            ask!(device.queue_wait_idle(queue)).unwrap();
        } else {
            assert_eq!(ended, Err(vk::Result::ERROR_UNKNOWN));
        }
        ask!(device.destroy_command_pool(pool, None));
        ended.is_ok()
    }

    /// Returns a buffer that has memory whose bytes are known: its index, its size, and its place.
    fn known(&self, pick: u32) -> Option<(usize, u64, usize, u64)> {
        let index = pick as usize % self.buffers.len().max(1);
        let buffer = self.buffers.get(index)?;
        let (handle, offset) = buffer.place?;
        let memory = self.memories.iter().position(|memory| memory.handle == handle && memory.bytes.is_some())?;
        // A buffer may end in the padding behind its memory's last byte.
        let fits = offset + buffer.size <= self.memories[memory].size;
        fits.then_some((index, buffer.size, memory, offset))
    }

    fn fill(&mut self, (op, a, b, c): Step) {
        let Some((buffer, size, memory, place)) = self.known(a) else { return };
        let (offset, count) = (u64::from(b & 0xffff) % (size + 8), u64::from(b >> 16) % (size + 8));
        let (offset, count) = if c % 4 == 0 { (offset, count) } else { (offset & !3, count & !3) };
        let handle = self.buffers[buffer].handle;
        let data = [b ^ a; 4];
        let is_update = op % 2 == 0;
        let count = if is_update { 16 } else { count };
        let ran = self.run(c, |device, it| {
            if is_update {
                ask!(device.cmd_update_buffer(it, handle, offset, data.as_flattened_bytes()));
            } else {
                ask!(device.cmd_fill_buffer(it, handle, offset, count, data[0]));
            }
        });
        // A fill of nothing does nothing.
        let is_aligned = offset % 4 == 0 && count % 4 == 0 || count == 0;
        let is_legal = is_aligned && offset + count <= size;
        assert_eq!(ran, is_legal, "{offset} {count} of {size}");
        if ran {
            self.ran += 1;
            let start = (place + offset) as usize;
            let bytes = self.memories[memory].bytes.as_mut().unwrap();
            bytes[start..start + count as usize].as_chunks_mut::<4>().0.fill(data[0].to_le_bytes());
        }
    }

    fn copy(&mut self, (_, a, b, c): Step) {
        let Some((from, from_size, source, from_place)) = self.known(a) else { return };
        let Some((to, to_size, target, to_place)) = self.known(a >> 16) else { return };
        let (src_offset, dst_offset) = (u64::from(b & 0xff), u64::from(b >> 8 & 0xff));
        let size = u64::from(b >> 16) % (from_size.min(to_size) + 4);
        let (first, second) = (self.buffers[from].handle, self.buffers[to].handle);
        let regions = [vk::BufferCopy { src_offset, dst_offset, size }];
        let ran = self.run(c, |device, it| ask!(device.cmd_copy_buffer(it, first, second, &regions)));
        let (start, end) = (from_place + src_offset, to_place + dst_offset);
        let overlaps = source == target && start < end + size && end < start + size;
        let is_legal = size > 0 && src_offset + size <= from_size && dst_offset + size <= to_size && !overlaps;
        assert_eq!(ran, is_legal, "{size} from {src_offset} of {from_size} to {dst_offset} of {to_size}");
        if ran {
            self.ran += 1;
            let bytes = self.memories[source].bytes.as_ref().unwrap()[start as usize..(start + size) as usize].to_vec();
            self.memories[target].bytes.as_mut().unwrap()[end as usize..(end + size) as usize].copy_from_slice(&bytes);
        }
    }

    /// An image of any description is refused or made; what goes in by one family comes out by another.
    fn image(&mut self, (_, a, b, c): Step) {
        let format = vk::Format::from_raw((a >> 8).cast_signed() % 120);
        let side = |bits: u32| bits % 70;
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(format)
            .extent(vk::Extent3D { width: side(b), height: side(b >> 8), depth: 1 })
            .mip_levels(1 + (b >> 16) % 3)
            .array_layers(1 + (b >> 18) % 3)
            .samples(vk::SampleCountFlags::TYPE_1)
            .tiling(if b >> 31 == 0 { vk::ImageTiling::OPTIMAL } else { vk::ImageTiling::LINEAR })
            .usage(vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST);
        let image = match ask!(self.device.create_image(&info, None)) {
            Ok(image) => image,
            Err(error) => return assert_eq!(error, vk::Result::ERROR_FORMAT_NOT_SUPPORTED),
        };
        let wanted = ask!(self.device.get_image_memory_requirements(image));
        let memory = vk::MemoryAllocateInfo::default().allocation_size(wanted.size);
        let memory = ask!(self.device.allocate_memory(&memory, None)).unwrap();
        ask!(self.device.bind_image_memory(image, memory, 0)).unwrap();
        let both = self.known(a).zip(self.known(a >> 16)).filter(|(from, to)| from.2 != to.2);
        if let Some(((from, from_size, source, start), (to, to_size, target, end))) = both {
            let layers = vk::ImageSubresourceLayers::default().aspect_mask(vk::ImageAspectFlags::COLOR).layer_count(1);
            let part = [vk::BufferImageCopy::default().image_subresource(layers).image_extent(info.extent)];
            let layout = vk::ImageLayout::GENERAL;
            let (first, second) = (self.buffers[from].handle, self.buffers[to].handle);
            let written =
                self.run(c, |device, it| ask!(device.cmd_copy_buffer_to_image(it, first, image, layout, &part)));
            let read = written
                && self.run(c >> 4, |device, it| {
                    ask!(device.cmd_copy_image_to_buffer(it, image, layout, second, &part));
                });
            let bytes = self.level_bytes(image);
            assert_eq!(
                (written, read),
                (bytes <= from_size, bytes <= from_size.min(to_size)),
                "{bytes} bytes of texels"
            );
            if read {
                self.ran += 1;
                let (start, end, size) = (start as usize, end as usize, bytes as usize);
                let bytes = self.memories[source].bytes.as_ref().unwrap()[start..start + size].to_vec();
                self.memories[target].bytes.as_mut().unwrap()[end..end + size].copy_from_slice(&bytes);
            }
        }
        ask!(self.device.destroy_image(image, None));
        ask!(self.device.free_memory(memory, None));
    }

    /// Returns the bytes of the first level of an image's first layer, in rows without gaps.
    fn level_bytes(&self, image: vk::Image) -> u64 {
        let mut size = vk::SubresourceHostMemcpySizeEXT::default();
        let mut layout = vk::SubresourceLayout2KHR::default().push_next(&mut size);
        let host = ash::ext::host_image_copy::Device::new(&self.instance, &self.device);
        ask!(host.get_image_subresource_layout2(image, &vk::ImageSubresource2KHR::default(), &mut layout));
        size.size
    }

    fn signal(&mut self, (_, a, _, c): Step) {
        let (semaphore, value) = self.timeline;
        let wanted = value + 1 + u64::from(a & 0xffff);
        let signal = vk::SemaphoreSignalInfo::default().semaphore(semaphore).value(wanted);
        ask!(self.device.signal_semaphore(&signal)).unwrap();
        self.timeline.1 = wanted;
        assert_eq!(ask!(self.device.get_semaphore_counter_value(semaphore)), Ok(wanted));
        let (semaphores, values) = ([semaphore], [wanted + u64::from(c % 2)]);
        let wait = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&values);
        let waited = ask!(self.device.wait_semaphores(&wait, 0));
        assert_eq!(waited, if c % 2 == 0 { Ok(()) } else { Err(vk::Result::TIMEOUT) });
    }

    fn event(&mut self, (_, a, _, c): Step) {
        let (event, wanted) = (self.event.0, a % 2 == 0);
        let stage = vk::PipelineStageFlags::ALL_COMMANDS;
        let by_gpu = c % 2 == 0;
        match (by_gpu, wanted) {
            (true, true) => assert!(self.run(c >> 1, |device, it| ask!(device.cmd_set_event(it, event, stage)))),
            (true, false) => assert!(self.run(c >> 1, |device, it| ask!(device.cmd_reset_event(it, event, stage)))),
            (false, true) => ask!(self.device.set_event(event)).unwrap(),
            (false, false) => ask!(self.device.reset_event(event)).unwrap(),
        }
        self.event.1 = wanted;
        assert_eq!(ask!(self.device.get_event_status(event)), Ok(wanted));
    }

    fn step(&mut self, step: Step) {
        match step.0 % 12 {
            0 | 1 => self.allocate(step),
            2 => self.free(step.1),
            3 => self.create_buffer(step),
            4 | 5 => self.bind(step),
            6 | 7 => self.fill(step),
            8 => self.copy(step),
            9 => self.image(step),
            10 => self.signal(step),
            _ => self.event(step),
        }
    }

    /// Checks every byte that is known.
    fn check(&self) {
        for memory in &self.memories {
            if let Some(bytes) = &memory.bytes {
                self.mapped(memory, |mapped| assert!(mapped == &bytes[..], "bytes of a memory are not the model's"));
            }
        }
    }

    fn close(mut self, before: &[u64]) {
        for buffer in std::mem::take(&mut self.buffers) {
            ask!(self.device.destroy_buffer(buffer.handle, None));
        }
        while !self.memories.is_empty() {
            self.free(0);
        }
        assert_eq!(self.usage(), before, "usage is back at what it was");
        ask!(self.device.destroy_event(self.event.0, None));
        ask!(self.device.destroy_semaphore(self.timeline.0, None));
        ask!(self.device.destroy_device(None));
        ask!(self.instance.destroy_instance(None));
    }
}

/// Words as bytes.
trait Flattened {
    fn as_flattened_bytes(&self) -> &[u8];
}

impl Flattened for [u32; 4] {
    fn as_flattened_bytes(&self) -> &[u8] {
        ask!(std::slice::from_raw_parts(self.as_ptr().cast(), 16))
    }
}

#[test]
fn any_arguments_in_a_legal_order_keep_the_model_of_memory() {
    bolero::check!().with_type::<Vec<Step>>().with_iterations(300).for_each(|steps| {
        let mut world = World::open();
        let before = world.usage();
        // Two buffers in one memory to begin with.
        for step in [(1, 0, 50_000, 0), (3, 9_001, 0, 1), (3, 20_000, 0, 1), (4, 0, 0, 0), (4, 1, 10_000 << 3 | 1, 0)] {
            world.step(step);
        }
        for &step in steps {
            world.step(step);
            let wanted: Vec<u64> = before.iter().zip(world.modelled()).map(|(before, more)| before + more).collect();
            assert_eq!(world.usage(), wanted, "usage after {step:?}");
        }
        world.check();
        REACH.count(world.ran > 0);
        world.close(&before);
    });
    REACH.report();
}
