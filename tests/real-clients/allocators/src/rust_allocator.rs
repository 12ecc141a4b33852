//! gpu-allocator.

use ash::vk;
use gpu_allocator::{
    MemoryLocation,
    vulkan::{Allocation, AllocationCreateDesc, AllocationScheme, Allocator, AllocatorCreateDesc},
};

use crate::{
    Check, Outcome,
    world::{Numbers, World, ask, buffer, image},
};

pub const CHECKS: &[Check] = &[
    ("gpu-allocator.locations", locations),
    ("gpu-allocator.dedicated", dedicated),
    ("gpu-allocator.images", images),
    ("gpu-allocator.churn", churn),
];

fn allocator(world: &World) -> Result<Allocator, Box<dyn std::error::Error>> {
    Ok(Allocator::new(&AllocatorCreateDesc {
        instance: world.instance.clone(),
        device: world.device.clone(),
        physical_device: world.physical,
        debug_settings: Default::default(),
        buffer_device_address: true,
        allocation_sizes: Default::default(),
    })?)
}

/// Allocates for a buffer and binds it.
fn bound(
    world: &World,
    allocator: &mut Allocator,
    made: vk::Buffer,
    location: MemoryLocation,
    allocation_scheme: AllocationScheme,
) -> Result<Allocation, Box<dyn std::error::Error>> {
    let requirements = ask!(world.device.get_buffer_memory_requirements(made));
    let desc = AllocationCreateDesc { name: "buffer", requirements, location, linear: true, allocation_scheme };
    let allocation = allocator.allocate(&desc)?;
    ask!(world.device.bind_buffer_memory(made, allocation.memory(), allocation.offset()))?;
    Ok(allocation)
}

/// The steps of gpu-allocator's own example: a buffer in each location, and one copied to the next.
fn locations(world: &World) -> Outcome {
    let mut allocator = allocator(world)?;
    let made = [MemoryLocation::CpuToGpu, MemoryLocation::GpuOnly, MemoryLocation::GpuToCpu].map(|location| {
        let made = ask!(world.device.create_buffer(&buffer(4096), None)).unwrap();
        (made, bound(world, &mut allocator, made, location, AllocationScheme::GpuAllocatorManaged))
    });
    let [mut first, second, third] = made.map(|(made, allocation)| allocation.map(|allocation| (made, allocation)));
    let bytes: Vec<u8> = (0..4096_u32).map(|at| (at * 7 >> 2) as u8).collect();
    first.as_mut().map_err(|error| error.to_string())?.1.mapped_slice_mut().ok_or("not mapped")?[..4096]
        .copy_from_slice(&bytes);
    let (first, second, third) = (first?, second?, third?);
    let whole = [vk::BufferCopy { src_offset: 0, dst_offset: 0, size: 4096 }];
    world.run(|device, it| {
        ask!(device.cmd_copy_buffer(it, first.0, second.0, &whole));
        let barrier = vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
            .dst_access_mask(vk::AccessFlags::TRANSFER_READ);
        let stage = vk::PipelineStageFlags::TRANSFER;
        let none = vk::DependencyFlags::empty();
        ask!(device.cmd_pipeline_barrier(it, stage, stage, none, &[barrier], &[], &[]));
        ask!(device.cmd_copy_buffer(it, second.0, third.0, &whole));
    })?;
    if third.1.mapped_slice().ok_or("not mapped")?[..4096] != bytes {
        return Err("other bytes came back".into());
    }
    for (made, allocation) in [first, second, third] {
        allocator.free(allocation)?;
        ask!(world.device.destroy_buffer(made, None));
    }
    let report = allocator.generate_report();
    if report.allocations.is_empty() { Ok("3 buffers".into()) } else { Err("allocations are left".into()) }
}

fn dedicated(world: &World) -> Outcome {
    let mut allocator = allocator(world)?;
    let made = ask!(world.device.create_buffer(&buffer(1 << 20), None))?;
    let scheme = AllocationScheme::DedicatedBuffer(made);
    let allocation = bound(world, &mut allocator, made, MemoryLocation::GpuOnly, scheme)?;
    if !allocation.is_dedicated() || allocation.offset() != 0 {
        return Err("not dedicated".into());
    }
    allocator.free(allocation)?;
    ask!(world.device.destroy_buffer(made, None));
    Ok("1 MiB".into())
}

fn images(world: &World) -> Outcome {
    let mut allocator = allocator(world)?;
    let mut made = Vec::new();
    for side in [1, 16, 100, 512] {
        let image = ask!(world.device.create_image(&image(side, side), None))?;
        let requirements = ask!(world.device.get_image_memory_requirements(image));
        let allocation = allocator.allocate(&AllocationCreateDesc {
            name: "image",
            requirements,
            location: MemoryLocation::GpuOnly,
            linear: false,
            allocation_scheme: AllocationScheme::GpuAllocatorManaged,
        })?;
        ask!(world.device.bind_image_memory(image, allocation.memory(), allocation.offset()))?;
        made.push((image, allocation));
    }
    let count = made.len();
    for (image, allocation) in made {
        ask!(world.device.destroy_image(image, None));
        allocator.free(allocation)?;
    }
    Ok(format!("{count} images"))
}

/// Buffers of many sizes come and go; no two share a byte.
fn churn(world: &World) -> Outcome {
    let mut allocator = allocator(world)?;
    let (mut live, mut numbers): (Vec<(vk::Buffer, Allocation)>, _) = (Vec::new(), Numbers(18));
    for _ in 0..600 {
        if !live.is_empty() && numbers.below(2) == 0 {
            let (made, allocation) = live.swap_remove(numbers.below(live.len() as u64) as usize);
            ask!(world.device.destroy_buffer(made, None));
            allocator.free(allocation)?;
            continue;
        }
        let made = ask!(world.device.create_buffer(&buffer(1 + numbers.below(1 << 18)), None))?;
        let scheme = AllocationScheme::GpuAllocatorManaged;
        let allocation = bound(world, &mut allocator, made, MemoryLocation::CpuToGpu, scheme)?;
        let (start, end) = (allocation.offset(), allocation.offset() + allocation.size());
        let memory = ask!(allocation.memory());
        let overlaps = |other: &Allocation| {
            ask!(other.memory()) == memory && other.offset() < end && start < other.offset() + other.size()
        };
        if live.iter().any(|(_, other)| overlaps(other)) {
            return Err("two allocations overlap".into());
        }
        live.push((made, allocation));
    }
    let most = live.len();
    for (made, allocation) in live {
        ask!(world.device.destroy_buffer(made, None));
        allocator.free(allocation)?;
    }
    Ok(format!("600 steps, {most} left at the end"))
}
