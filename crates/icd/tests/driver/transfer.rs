//! Copies, fills, updates, timestamps and events on every family.

use ash::vk;

use crate::gpu::{CHIPS, Gpu};

/// Size of the buffers, bytes.
const BYTES: u64 = 3 << 20;

#[test]
fn every_family_fills_updates_and_copies() {
    for chip in CHIPS {
        let gpu = Gpu::new(chip);
        for family in 0..gpu.families.len() as u32 {
            let (source, destination) = (gpu.buffer(0, BYTES), gpu.buffer(gpu.host_type(), BYTES));
            gpu.run(family, |device, commands| {
                let barrier = vk::MemoryBarrier::default()
                    .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
                    .dst_access_mask(vk::AccessFlags::TRANSFER_READ);
                let stage = vk::PipelineStageFlags::TRANSFER;
                let between = || {
                    let none = vk::DependencyFlags::empty();
                    // SAFETY: the command buffer is recording.
                    unsafe { device.cmd_pipeline_barrier(commands, stage, stage, none, &[barrier], &[], &[]) };
                };
                // SAFETY: the buffer is bound and long enough.
                unsafe { device.cmd_fill_buffer(commands, source.0, 0, vk::WHOLE_SIZE, 0x0102_0304) };
                between();
                // SAFETY: as above.
                unsafe { device.cmd_update_buffer(commands, source.0, 8, &[9; 12]) };
                between();
                let region = vk::BufferCopy { src_offset: 4, dst_offset: 1, size: BYTES - 5 };
                // SAFETY: as above.
                unsafe { device.cmd_copy_buffer(commands, source.0, destination.0, &[region]) };
            });
            let found = gpu.read(destination.1, BYTES as usize);
            assert_eq!(found[1..5], [4, 3, 2, 1], "{chip} {family}");
            assert_eq!(found[5..17], [9; 12], "{chip} {family}");
            assert!(found[17..BYTES as usize - 4].chunks_exact(4).all(|word| word == [4, 3, 2, 1]), "{chip} {family}");
            gpu.discard(source);
            gpu.discard(destination);
        }
    }
}

#[test]
fn timestamps_grow_and_are_copied() {
    for chip in ["vega10", "navi21"] {
        let gpu = Gpu::new(chip);
        for family in 0..gpu.families.len() as u32 {
            let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(3);
            // SAFETY: the structure is valid.
            let pool = unsafe { gpu.device.create_query_pool(&info, None) }.unwrap();
            let mut values = [[7_u64; 2]; 3];
            let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WITH_AVAILABILITY;
            // SAFETY: the pool is live, and the array has room.
            unsafe { gpu.device.get_query_pool_results(pool, 0, &mut values, flags) }.unwrap();
            assert_eq!(values, [[7, 0]; 3], "nothing is there yet");
            let copied = gpu.buffer(gpu.host_type(), 64);
            gpu.run(family, |device, commands| {
                // SAFETY: the pool is live.
                unsafe { device.cmd_reset_query_pool(commands, pool, 0, 3) };
                for (query, stage) in
                    [vk::PipelineStageFlags::TOP_OF_PIPE, vk::PipelineStageFlags::ALL_COMMANDS].into_iter().enumerate()
                {
                    // SAFETY: the pool has the query.
                    unsafe { device.cmd_write_timestamp(commands, stage, pool, query as u32) };
                }
                let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
                // SAFETY: the buffer has room.
                unsafe { device.cmd_copy_query_pool_results(commands, pool, 0, 2, copied.0, 8, 8, flags) };
            });
            // SAFETY: the pool is live, and the array has room.
            unsafe { gpu.device.get_query_pool_results(pool, 0, &mut values, flags) }.unwrap();
            let [[first, 1], [second, 1], [_, 0]] = values else { panic!("{chip} {family}: {values:?}") };
            assert!(0 < first && first <= second, "{chip} {family}: {values:?}");
            let bytes = gpu.read(copied.1, 24);
            let words: Vec<u64> = bytes.chunks(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect();
            assert_eq!(words[1..], [first, second], "{chip} {family}");
            gpu.discard(copied);
            // SAFETY: nothing uses the pool.
            unsafe { gpu.device.destroy_query_pool(pool, None) };
        }
    }
}

#[test]
fn a_command_beyond_its_buffer_fails_the_end() {
    let gpu = Gpu::new("navi21");
    let buffer = gpu.buffer(0, 4096);
    let info = vk::CommandPoolCreateInfo::default();
    // SAFETY: the structure is valid.
    let pool = unsafe { gpu.device.create_command_pool(&info, None) }.unwrap();
    let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
    // SAFETY: the pool is live.
    let commands = unsafe { gpu.device.allocate_command_buffers(&info) }.unwrap()[0];
    // SAFETY: the command buffer is in its initial state.
    unsafe { gpu.device.begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default()) }.unwrap();
    // SAFETY: the driver checks ranges, which valid usage does not ask of it.
    unsafe { gpu.device.cmd_fill_buffer(commands, buffer.0, 4092, 8, 0) };
    // SAFETY: the command buffer is recording.
    let ended = unsafe { gpu.device.end_command_buffer(commands) };
    assert_eq!(ended, Err(vk::Result::ERROR_UNKNOWN));
    // SAFETY: nothing uses it.
    unsafe { gpu.device.destroy_command_pool(pool, None) };
    gpu.discard(buffer);
}

#[test]
fn secondaries_and_copies_of_version_2_run() {
    let gpu = Gpu::new("navi21");
    let (source, destination) = (gpu.buffer(0, 4096), gpu.buffer(gpu.host_type(), 4096));
    let info = vk::CommandPoolCreateInfo::default();
    // SAFETY: the structure is valid.
    let pool = unsafe { gpu.device.create_command_pool(&info, None) }.unwrap();
    let info = vk::CommandBufferAllocateInfo::default()
        .command_pool(pool)
        .command_buffer_count(1)
        .level(vk::CommandBufferLevel::SECONDARY);
    // SAFETY: the pool is live.
    let secondary = unsafe { gpu.device.allocate_command_buffers(&info) }.unwrap()[0];
    // SAFETY: the command buffer is in its initial state.
    unsafe { gpu.device.begin_command_buffer(secondary, &vk::CommandBufferBeginInfo::default()) }.unwrap();
    // SAFETY: the buffer is bound and long enough.
    unsafe { gpu.device.cmd_fill_buffer(secondary, source.0, 0, 4096, 0x5555_5555) };
    // SAFETY: the command buffer is recording.
    unsafe { gpu.device.end_command_buffer(secondary) }.unwrap();
    gpu.run(0, |device, commands| {
        // SAFETY: the secondary is executable.
        unsafe { device.cmd_execute_commands(commands, &[secondary]) };
        let all = vk::PipelineStageFlags2::ALL_COMMANDS;
        let barriers = [vk::MemoryBarrier2::default()
            .src_stage_mask(all)
            .dst_stage_mask(all)
            .src_access_mask(vk::AccessFlags2::MEMORY_WRITE)
            .dst_access_mask(vk::AccessFlags2::MEMORY_READ)];
        let dependency = vk::DependencyInfo::default().memory_barriers(&barriers);
        // SAFETY: the structure is valid.
        unsafe { device.cmd_pipeline_barrier2(commands, &dependency) };
        let regions = [vk::BufferCopy2::default().size(4096)];
        let copy = vk::CopyBufferInfo2::default().src_buffer(source.0).dst_buffer(destination.0).regions(&regions);
        // SAFETY: the buffers are bound and long enough.
        unsafe { device.cmd_copy_buffer2(commands, &copy) };
    });
    assert_eq!(gpu.read(destination.1, 4096), [0x55; 4096]);
    // SAFETY: nothing uses it.
    unsafe { gpu.device.destroy_command_pool(pool, None) };
    gpu.discard(source);
    gpu.discard(destination);
}
