//! VMA (the Vulkan Memory Allocator) through vk-mem.

use std::{error::Error, sync::Arc};

use ash::vk;
use vk_mem::{
    Alloc, Allocation, AllocationCreateFlags, AllocationCreateInfo, Allocator, AllocatorCreateFlags,
    AllocatorCreateInfo, AllocatorPoolCreateFlags, MemoryUsage, PoolCreateInfo,
};

use crate::{
    Check, Outcome,
    world::{Numbers, World, ask, buffer, image},
};

pub const CHECKS: &[Check] = &[
    ("vma.allocator", comes_and_goes),
    ("vma.buffer_of_gpu", buffer_of_gpu),
    ("vma.buffer_mapped", buffer_mapped),
    ("vma.usages", usages),
    ("vma.pool", pool),
    ("vma.pool_in_order", pool_in_order),
    ("vma.statistics", statistics),
    ("vma.budgets", budgets),
    ("vma.pages", pages),
    ("vma.image", images),
    ("vma.dedicated", dedicated),
    ("vma.alignment", alignment),
    ("vma.alias", alias),
    ("vma.never_allocate", never_allocate),
    ("vma.beyond_budget", beyond_budget),
    ("vma.types", types),
    ("vma.contents", contents),
    ("vma.random", random),
];

fn allocator(world: &World) -> Result<Arc<Allocator>, Box<dyn Error>> {
    let mut info = AllocatorCreateInfo::new(&world.instance, &world.device, world.physical);
    info.vulkan_api_version = world.version;
    info.flags = AllocatorCreateFlags::EXT_MEMORY_BUDGET | AllocatorCreateFlags::BUFFER_DEVICE_ADDRESS;
    Ok(Arc::new(ask!(Allocator::new(info))?))
}

fn wanted(usage: MemoryUsage, flags: AllocationCreateFlags) -> AllocationCreateInfo {
    AllocationCreateInfo { usage, flags, ..Default::default() }
}

const MAPPED: AllocationCreateFlags = AllocationCreateFlags::MAPPED.union(AllocationCreateFlags::HOST_ACCESS_RANDOM);

/// Returns the memory type that VMA takes for a buffer of the GPU's.
fn local_type(allocator: &Allocator) -> Result<u32, vk::Result> {
    let info = wanted(MemoryUsage::AutoPreferDevice, AllocationCreateFlags::empty());
    let (made, mut allocation) = ask!(allocator.create_buffer(&buffer(4096), &info))?;
    let kind = allocator.get_allocation_info(&allocation).memory_type;
    ask!(allocator.destroy_buffer(made, &mut allocation));
    Ok(kind)
}

fn require(holds: bool, what: &str) -> Result<(), Box<dyn Error>> {
    if holds { Ok(()) } else { Err(what.into()) }
}

fn comes_and_goes(world: &World) -> Outcome {
    let allocator = allocator(world)?;
    let types = ask!(allocator.get_memory_properties()).memory_type_count;
    Ok(format!("{types} memory types"))
}

fn buffer_of_gpu(world: &World) -> Outcome {
    let allocator = allocator(world)?;
    let info = wanted(MemoryUsage::AutoPreferDevice, AllocationCreateFlags::empty());
    let (made, mut allocation) = ask!(allocator.create_buffer(&buffer(16 << 10), &info))?;
    let found = allocator.get_allocation_info(&allocation);
    require(world.memory_type(found.memory_type).contains(vk::MemoryPropertyFlags::DEVICE_LOCAL), "not local")?;
    require(found.size >= 16 << 10, "too small")?;
    ask!(allocator.destroy_buffer(made, &mut allocation));
    Ok(format!("type {}", found.memory_type))
}

fn buffer_mapped(world: &World) -> Outcome {
    let allocator = allocator(world)?;
    let info = wanted(MemoryUsage::Auto, AllocationCreateFlags::HOST_ACCESS_SEQUENTIAL_WRITE);
    let (made, mut allocation) = ask!(allocator.create_buffer(&buffer(4096), &info))?;
    let first = ask!(allocator.map_memory(&mut allocation))?;
    let second = ask!(allocator.map_memory(&mut allocation))?;
    require(first == second, "a second map is elsewhere")?;
    ask!(first.write_bytes(0x5a, 4096));
    allocator.flush_allocation(&allocation, 0, vk::WHOLE_SIZE)?;
    allocator.invalidate_allocation(&allocation, 0, vk::WHOLE_SIZE)?;
    require(ask!(first.add(4095).read()) == 0x5a, "it lost what was written")?;
    ask!(allocator.unmap_memory(&mut allocation));
    ask!(allocator.unmap_memory(&mut allocation));
    ask!(allocator.destroy_buffer(made, &mut allocation));
    Ok("mapped twice".into())
}

#[expect(deprecated, reason = "programs use them")]
fn usages(world: &World) -> Outcome {
    use vk::MemoryPropertyFlags as Flags;
    let allocator = allocator(world)?;
    let mut found = Vec::new();
    for (usage, needed) in [
        (MemoryUsage::GpuOnly, Flags::DEVICE_LOCAL),
        (MemoryUsage::CpuOnly, Flags::HOST_VISIBLE | Flags::HOST_COHERENT),
        (MemoryUsage::CpuToGpu, Flags::HOST_VISIBLE),
        (MemoryUsage::GpuToCpu, Flags::HOST_VISIBLE | Flags::HOST_CACHED),
    ] {
        let (made, mut allocation) =
            ask!(allocator.create_buffer(&buffer(1000), &wanted(usage, AllocationCreateFlags::empty())))?;
        let kind = allocator.get_allocation_info(&allocation).memory_type;
        require(world.memory_type(kind).contains(needed), "a type without what the usage needs")?;
        found.push(kind.to_string());
        ask!(allocator.destroy_buffer(made, &mut allocation));
    }
    Ok(format!("types {}", found.join(", ")))
}

fn pool(world: &World) -> Outcome {
    let allocator = allocator(world)?;
    let info = wanted(MemoryUsage::AutoPreferDevice, AllocationCreateFlags::empty());
    let kind = local_type(&allocator)?;
    let pool =
        PoolCreateInfo { memory_type_index: kind, block_size: 1 << 20, max_block_count: 2, ..Default::default() };
    let pool = allocator.create_pool(&pool)?;
    pool.set_name(Some(c"a pool"));
    require(pool.name() == Some(c"a pool"), "no name")?;
    let mut made = Vec::new();
    let end = loop {
        match ask!(pool.create_buffer(&buffer(1 << 16), &info)) {
            Ok(one) => made.push(one),
            Err(error) => break error,
        }
    };
    require(made.len() == 32 && end == vk::Result::ERROR_OUT_OF_DEVICE_MEMORY, "another number fits in two blocks")?;
    let statistics = pool.calculate_statistics()?;
    require(statistics.statistics.blockCount == 2 && statistics.statistics.allocationCount == 32, "statistics")?;
    for (buffer, mut allocation) in made {
        ask!(allocator.destroy_buffer(buffer, &mut allocation));
    }
    Ok("32 of 64 KiB in two blocks".into())
}

/// A pool that is filled in order, and freed in order.
fn pool_in_order(world: &World) -> Outcome {
    let allocator = allocator(world)?;
    let info = wanted(MemoryUsage::AutoPreferDevice, AllocationCreateFlags::empty());
    let memory_type_index = local_type(&allocator)?;
    let pool = allocator.create_pool(&PoolCreateInfo {
        memory_type_index,
        flags: AllocatorPoolCreateFlags::LINEAR_ALGORITHM,
        block_size: 1 << 16,
        max_block_count: 1,
        ..Default::default()
    })?;
    let mut made = Vec::new();
    for _ in 0..16 {
        made.push(ask!(pool.create_buffer(&buffer(4096), &info))?);
    }
    let offsets: Vec<_> = made.iter().map(|(_, it)| allocator.get_allocation_info(it).offset).collect();
    require(offsets.is_sorted() && offsets[0] == 0, "not in order")?;
    for (buffer, mut allocation) in made {
        ask!(allocator.destroy_buffer(buffer, &mut allocation));
    }
    Ok("16 in a row".into())
}

fn statistics(world: &World) -> Outcome {
    let allocator = allocator(world)?;
    let before = allocator.calculate_statistics()?.total.statistics;
    require(before.allocationCount == 0 && before.blockBytes == 0, "something is there")?;
    let info = wanted(MemoryUsage::AutoPreferDevice, AllocationCreateFlags::empty());
    let (made, mut allocation) = ask!(allocator.create_buffer(&buffer(10_000), &info))?;
    let with = allocator.calculate_statistics()?.total.statistics;
    require(with.allocationCount == 1 && with.allocationBytes >= 10_000, "one allocation")?;
    ask!(allocator.destroy_buffer(made, &mut allocation));
    require(allocator.calculate_statistics()?.total.statistics.allocationCount == 0, "it is still there")?;
    Ok(format!("{} bytes of blocks", with.blockBytes))
}

fn budgets(world: &World) -> Outcome {
    let allocator = allocator(world)?;
    let usage = |all: &[_]| -> u64 { all.iter().map(|budget: &Budget| budget.1).sum() };
    let read = || -> Result<Vec<Budget>, vk::Result> {
        Ok(allocator.get_heap_budgets()?.iter().map(|it| (it.budget, it.usage)).collect())
    };
    let before = read()?;
    require(before.iter().all(|(budget, _)| *budget > 0), "a heap without a budget")?;
    let info = wanted(MemoryUsage::AutoPreferDevice, AllocationCreateFlags::DEDICATED_MEMORY);
    let (made, mut allocation) = ask!(allocator.create_buffer(&buffer(64 << 20), &info))?;
    // VMA asks the driver again after a while, and counts itself until then.
    let grown = usage(&read()?) - usage(&before);
    ask!(allocator.destroy_buffer(made, &mut allocation));
    require(grown >= 64 << 20, "the usage did not grow")?;
    Ok(format!("{} heaps", before.len()))
}

/// A heap's budget and usage, bytes.
type Budget = (u64, u64);

fn pages(world: &World) -> Outcome {
    let allocator = allocator(world)?;
    let requirements = vk::MemoryRequirements { size: 64 << 10, alignment: 256, memory_type_bits: 1 };
    let mut all = ask!(allocator.allocate_memory_pages(&requirements, &AllocationCreateInfo::default(), 40))?;
    let mut places: Vec<_> = all.iter().map(|it| allocator.get_allocation_info(it)).collect();
    places.sort_by_key(|it| (it.device_memory, it.offset));
    let apart = |two: &[vk_mem::AllocationInfo]| {
        two[0].device_memory != two[1].device_memory || two[0].offset + two[0].size <= two[1].offset
    };
    require(places.windows(2).all(apart), "pages overlap")?;
    ask!(allocator.free_memory_pages(&mut all));
    Ok("40 pages".into())
}

fn images(world: &World) -> Outcome {
    let allocator = allocator(world)?;
    let info = wanted(MemoryUsage::AutoPreferDevice, AllocationCreateFlags::empty());
    let mut made = Vec::new();
    for side in [4, 64, 300, 1024] {
        made.push(ask!(allocator.create_image(&image(side, side / 2), &info))?);
    }
    for (image, allocation) in &mut made {
        ask!(allocator.destroy_image(*image, allocation));
    }
    Ok(format!("{} images", made.len()))
}

fn dedicated(world: &World) -> Outcome {
    let allocator = allocator(world)?;
    let info = wanted(MemoryUsage::AutoPreferDevice, AllocationCreateFlags::DEDICATED_MEMORY);
    let (made, mut allocation) = ask!(allocator.create_buffer(&buffer(12_345), &info))?;
    require(allocator.get_allocation_info2(&allocation).dedicated_memory, "it is not")?;
    ask!(allocator.destroy_buffer(made, &mut allocation));
    Ok("a buffer".into())
}

fn alignment(world: &World) -> Outcome {
    let allocator = allocator(world)?;
    let info = wanted(MemoryUsage::AutoPreferDevice, AllocationCreateFlags::empty());
    let mut made = Vec::new();
    for power in 4..20 {
        let (one, allocation) = ask!(allocator.create_buffer_with_alignment(&buffer(100), &info, 1 << power))?;
        let offset = allocator.get_allocation_info(&allocation).offset;
        require(offset.is_multiple_of(1 << power), "not aligned")?;
        made.push((one, allocation));
    }
    for (one, allocation) in &mut made {
        ask!(allocator.destroy_buffer(*one, allocation));
    }
    Ok("up to 512 KiB".into())
}

/// Two buffers in the same memory.
fn alias(world: &World) -> Outcome {
    let allocator = allocator(world)?;
    let made = [(); 2].map(|()| ask!(world.device.create_buffer(&buffer(8192), None)).unwrap());
    let requirements = ask!(world.device.get_buffer_memory_requirements(made[0]));
    let info = wanted(MemoryUsage::Unknown, AllocationCreateFlags::CAN_ALIAS);
    let mut allocation = ask!(allocator.allocate_memory(&requirements, &info))?;
    for one in made {
        ask!(allocator.bind_buffer_memory(&allocation, one))?;
    }
    for one in made {
        ask!(world.device.destroy_buffer(one, None));
    }
    ask!(allocator.free_memory(&mut allocation));
    Ok("two buffers".into())
}

fn never_allocate(world: &World) -> Outcome {
    let allocator = allocator(world)?;
    let info = wanted(MemoryUsage::AutoPreferDevice, AllocationCreateFlags::NEVER_ALLOCATE);
    let refused = ask!(allocator.create_buffer(&buffer(4096), &info)).err();
    require(refused == Some(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY), "there is a block")?;
    Ok("refused".into())
}

fn beyond_budget(world: &World) -> Outcome {
    let allocator = allocator(world)?;
    let largest = allocator.get_heap_budgets()?.iter().map(|it| it.budget).max().ok_or("no heap")?;
    let requirements = vk::MemoryRequirements { size: largest + (1 << 20), alignment: 256, memory_type_bits: 1 };
    let info = wanted(MemoryUsage::Unknown, AllocationCreateFlags::WITHIN_BUDGET);
    let refused = ask!(allocator.allocate_memory(&requirements, &info)).err();
    require(refused == Some(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY), "it fits")?;
    Ok("refused".into())
}

/// vk-mem asks for the types of what there is not yet by functions of Vulkan 1.3, whether they are there or not.
fn types(world: &World) -> Outcome {
    if world.version < vk::API_VERSION_1_3 {
        return Ok("not asked: vk-mem needs Vulkan 1.3 for it".into());
    }
    let allocator = allocator(world)?;
    let info = wanted(MemoryUsage::AutoPreferDevice, AllocationCreateFlags::empty());
    let kinds = [
        ask!(allocator.find_memory_type_index_for_buffer_info(&buffer(1 << 16), &info))?,
        ask!(allocator.find_memory_type_index_for_image_info(image(64, 64), &info))?,
    ];
    let is_local = |kind: &u32| world.memory_type(*kind).contains(vk::MemoryPropertyFlags::DEVICE_LOCAL);
    require(kinds.iter().all(is_local), "not local")?;
    Ok(format!("types {} and {}", kinds[0], kinds[1]))
}

/// A mapped buffer, a tiled image, and a mapped buffer again.
fn contents(world: &World) -> Outcome {
    let allocator = allocator(world)?;
    let (rows, local) =
        (wanted(MemoryUsage::Auto, MAPPED), wanted(MemoryUsage::AutoPreferDevice, AllocationCreateFlags::empty()));
    let bytes = 48 * 40 * 4;
    let mut from = ask!(allocator.create_buffer(&buffer(bytes), &rows))?;
    let mut to = ask!(allocator.create_buffer(&buffer(bytes), &rows))?;
    let mut tiled = ask!(allocator.create_image(&image(48, 40), &local))?;
    let memory = |allocation: &Allocation| allocator.get_allocation_info(allocation).mapped_data.cast::<u8>();
    let lent = ask!(std::slice::from_raw_parts_mut(memory(&from.1), bytes as usize));
    lent.iter_mut().zip(0_u32..).for_each(|(byte, at)| *byte = (at.wrapping_mul(0x9e37_79b1) >> 11) as u8);
    world.run(|device, it| {
        use vk::{AccessFlags as Access, ImageLayout as Layout};
        let range =
            vk::ImageSubresourceRange::default().aspect_mask(vk::ImageAspectFlags::COLOR).level_count(1).layer_count(1);
        let change = |from: (Layout, Access), to: (Layout, Access)| {
            let barrier = vk::ImageMemoryBarrier::default()
                .old_layout(from.0)
                .src_access_mask(from.1)
                .new_layout(to.0)
                .dst_access_mask(to.1)
                .image(tiled.0)
                .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                .subresource_range(range);
            let (stage, none) = (vk::PipelineStageFlags::TRANSFER, vk::DependencyFlags::empty());
            ask!(device.cmd_pipeline_barrier(it, stage, stage, none, &[], &[], &[barrier]));
        };
        let layers = vk::ImageSubresourceLayers::default().aspect_mask(vk::ImageAspectFlags::COLOR).layer_count(1);
        let part = [vk::BufferImageCopy::default().image_subresource(layers).image_extent(image(48, 40).extent)];
        let written = (Layout::TRANSFER_DST_OPTIMAL, Access::TRANSFER_WRITE);
        change((Layout::UNDEFINED, Access::empty()), written);
        ask!(device.cmd_copy_buffer_to_image(it, from.0, tiled.0, written.0, &part));
        let read = (Layout::TRANSFER_SRC_OPTIMAL, Access::TRANSFER_READ);
        change(written, read);
        ask!(device.cmd_copy_image_to_buffer(it, tiled.0, read.0, to.0, &part));
    })?;
    let found = ask!(std::slice::from_raw_parts(memory(&to.1), bytes as usize));
    require(found == lent, "other bytes came back")?;
    ask!(allocator.destroy_image(tiled.0, &mut tiled.1));
    ask!(allocator.destroy_buffer(to.0, &mut to.1));
    ask!(allocator.destroy_buffer(from.0, &mut from.1));
    Ok(format!("{bytes} bytes"))
}

/// Mapped buffers of many sizes come and go, and each keeps what was written.
fn random(world: &World) -> Outcome {
    let allocator = allocator(world)?;
    let info = wanted(MemoryUsage::Auto, MAPPED);
    let (mut live, mut numbers): (Vec<(vk::Buffer, Allocation, u8)>, _) = (Vec::new(), Numbers(7));
    let lent = |allocation: &Allocation| {
        let found = allocator.get_allocation_info(allocation);
        ask!(std::slice::from_raw_parts_mut(found.mapped_data.cast::<u8>(), found.size as usize))
    };
    for step in 0..800_u32 {
        if live.len() > 60 || (!live.is_empty() && numbers.below(3) == 0) {
            let (made, mut allocation, value) = live.swap_remove(numbers.below(live.len() as u64) as usize);
            require(lent(&allocation).iter().all(|byte| *byte == value), "another buffer wrote into this one")?;
            ask!(allocator.destroy_buffer(made, &mut allocation));
            continue;
        }
        let (made, allocation) = ask!(allocator.create_buffer(&buffer(1 + numbers.below(1 << 16)), &info))?;
        lent(&allocation).fill(step as u8);
        live.push((made, allocation, step as u8));
    }
    for (made, mut allocation, value) in live {
        require(lent(&allocation).iter().all(|byte| *byte == value), "another buffer wrote into this one")?;
        ask!(allocator.destroy_buffer(made, &mut allocation));
    }
    Ok("800 steps".into())
}
