//! Fences, semaphores and events.

use ash::vk;

use crate::gpu::{CHIPS, Gpu};

/// Returns a semaphore, a timeline if it has an initial value.
pub(crate) fn semaphore(gpu: &Gpu, initial: Option<u64>) -> vk::Semaphore {
    let mut kind = vk::SemaphoreTypeCreateInfo::default()
        .semaphore_type(if initial.is_some() { vk::SemaphoreType::TIMELINE } else { vk::SemaphoreType::BINARY })
        .initial_value(initial.unwrap_or(0));
    let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
    // SAFETY: the structure is valid.
    unsafe { gpu.device.create_semaphore(&info, None) }.unwrap()
}

fn fence(gpu: &Gpu, flags: vk::FenceCreateFlags) -> vk::Fence {
    // SAFETY: the structure is valid.
    unsafe { gpu.device.create_fence(&vk::FenceCreateInfo::default().flags(flags), None) }.unwrap()
}

#[test]
fn a_fence_signals_resets_and_times_out() {
    let gpu = Gpu::new("navi21");
    let done = fence(&gpu, vk::FenceCreateFlags::SIGNALED);
    let open = fence(&gpu, vk::FenceCreateFlags::empty());
    // SAFETY: the fences are live.
    let (wait, status) = (
        |fences: &[vk::Fence], all| unsafe { gpu.device.wait_for_fences(fences, all, 0) },
        // SAFETY: the fences are live.
        |fence| unsafe { gpu.device.get_fence_status(fence) },
    );
    assert_eq!(status(done), Ok(true));
    assert_eq!(status(open), Ok(false));
    assert_eq!(wait(&[done, open], false), Ok(()));
    assert_eq!(wait(&[done, open], true), Err(vk::Result::TIMEOUT));
    // SAFETY: no queue uses it.
    unsafe { gpu.device.reset_fences(&[done]) }.unwrap();
    assert_eq!(status(done), Ok(false));
    // SAFETY: the queue and the fence are live.
    unsafe { gpu.device.queue_submit(gpu.queue(0), &[], open) }.unwrap();
    // SAFETY: the fence is live.
    unsafe { gpu.device.wait_for_fences(&[open], true, u64::MAX) }.unwrap();
    for fence in [done, open] {
        // SAFETY: nothing uses it.
        unsafe { gpu.device.destroy_fence(fence, None) };
    }
}

#[test]
fn a_binary_semaphore_orders_queues_again_and_again() {
    for chip in CHIPS {
        let gpu = Gpu::new(chip);
        let ready = semaphore(&gpu, None);
        let (source, destination) = (gpu.buffer(0, 4096), gpu.buffer(gpu.host_type(), 4096));
        let last = gpu.families.len() as u32 - 1;
        for round in 1..=3_u32 {
            let (fill_pool, fill) = gpu.recorded(0, |device, commands| {
                // SAFETY: the buffer is bound and long enough.
                unsafe { device.cmd_fill_buffer(commands, source.0, 0, 4096, round) };
            });
            let (copy_pool, copy) = gpu.recorded(last, |device, commands| {
                let region = vk::BufferCopy { src_offset: 0, dst_offset: 0, size: 4096 };
                // SAFETY: the buffers are bound and long enough.
                unsafe { device.cmd_copy_buffer(commands, source.0, destination.0, &[region]) };
            });
            let (fills, copies, semaphores) = ([fill], [copy], [ready]);
            let submit = vk::SubmitInfo::default().command_buffers(&fills).signal_semaphores(&semaphores);
            // SAFETY: everything named is live.
            unsafe { gpu.device.queue_submit(gpu.queue(0), &[submit], vk::Fence::null()) }.unwrap();
            let stages = [vk::PipelineStageFlags::TRANSFER];
            let submit = vk::SubmitInfo::default()
                .command_buffers(&copies)
                .wait_semaphores(&semaphores)
                .wait_dst_stage_mask(&stages);
            // SAFETY: everything named is live.
            unsafe { gpu.device.queue_submit(gpu.queue(last), &[submit], vk::Fence::null()) }.unwrap();
            // SAFETY: the device is live.
            unsafe { gpu.device.device_wait_idle() }.unwrap();
            assert_eq!(gpu.read(destination.1, 4), round.to_le_bytes(), "{chip}");
            for pool in [fill_pool, copy_pool] {
                // SAFETY: its command buffers have run.
                unsafe { gpu.device.destroy_command_pool(pool, None) };
            }
        }
        // SAFETY: nothing uses it.
        unsafe { gpu.device.destroy_semaphore(ready, None) };
        gpu.discard(source);
        gpu.discard(destination);
    }
}

/// Waits for points of a timeline.
fn wait(gpu: &Gpu, semaphore: vk::Semaphore, value: u64, timeout: u64) -> Result<(), vk::Result> {
    let (semaphores, values) = ([semaphore], [value]);
    let info = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&values);
    // SAFETY: the semaphore is live.
    unsafe { gpu.device.wait_semaphores(&info, timeout) }
}

#[test]
fn every_timeline_has_reached_0() {
    let gpu = Gpu::new("navi21");
    let new = semaphore(&gpu, Some(0));
    assert_eq!(wait(&gpu, new, 0, 0), Ok(()));
    assert_eq!(wait(&gpu, new, 1, 0), Err(vk::Result::TIMEOUT));
    let other = semaphore(&gpu, Some(2));
    let wait = |values: [u64; 2], flags| {
        let semaphores = [new, other];
        let info = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&values).flags(flags);
        // SAFETY: the semaphores are live.
        unsafe { gpu.device.wait_semaphores(&info, 0) }
    };
    let (any, all) = (vk::SemaphoreWaitFlags::ANY, vk::SemaphoreWaitFlags::empty());
    assert_eq!((wait([0, 2], all), wait([0, 3], all)), (Ok(()), Err(vk::Result::TIMEOUT)));
    assert_eq!((wait([0, 3], any), wait([1, 3], any)), (Ok(()), Err(vk::Result::TIMEOUT)));
    for semaphore in [new, other] {
        // SAFETY: nothing uses it.
        unsafe { gpu.device.destroy_semaphore(semaphore, None) };
    }
}

#[test]
fn a_timeline_may_be_waited_for_before_it_is_signalled() {
    let gpu = Gpu::new("navi21");
    let timeline = semaphore(&gpu, Some(3));
    // SAFETY: the semaphore is live.
    let value = || unsafe { gpu.device.get_semaphore_counter_value(timeline) }.unwrap();
    assert_eq!(value(), 3);
    let filled = gpu.buffer(gpu.host_type(), 4096);
    let (pool, commands) = gpu.recorded(0, |device, commands| {
        // SAFETY: the buffer is bound and long enough.
        unsafe { device.cmd_fill_buffer(commands, filled.0, 0, 4096, 0x77) };
    });
    let info = |value| vk::SemaphoreSubmitInfo::default().semaphore(timeline).value(value);
    let (waits, signals) = ([info(5)], [info(8)]);
    let buffers = [vk::CommandBufferSubmitInfo::default().command_buffer(commands)];
    let submit = vk::SubmitInfo2::default()
        .wait_semaphore_infos(&waits)
        .signal_semaphore_infos(&signals)
        .command_buffer_infos(&buffers);
    // SAFETY: everything named is live.
    unsafe { gpu.device.queue_submit2(gpu.queue(0), &[submit], vk::Fence::null()) }.unwrap();
    assert_eq!(wait(&gpu, timeline, 8, 0), Err(vk::Result::TIMEOUT));
    assert_eq!(gpu.read(filled.1, 4), [0; 4], "nothing has run");
    // SAFETY: the semaphore is live.
    unsafe { gpu.device.signal_semaphore(&vk::SemaphoreSignalInfo::default().semaphore(timeline).value(5)) }.unwrap();
    wait(&gpu, timeline, 8, u64::MAX).unwrap();
    assert_eq!(value(), 8);
    assert_eq!(gpu.read(filled.1, 4), [0x77, 0, 0, 0]);
    // SAFETY: the device is live.
    unsafe { gpu.device.device_wait_idle() }.unwrap();
    // SAFETY: nothing uses it.
    unsafe { gpu.device.destroy_semaphore(timeline, None) };
    // SAFETY: its command buffer has run.
    unsafe { gpu.device.destroy_command_pool(pool, None) };
    gpu.discard(filled);
}

#[test]
fn an_event_of_the_cpu_lets_the_gpu_go_on() {
    let gpu = Gpu::new("navi21");
    let events: Vec<_> = (0..2)
        // SAFETY: the structure is valid.
        .map(|_| unsafe { gpu.device.create_event(&vk::EventCreateInfo::default(), None) }.unwrap())
        .collect();
    // SAFETY: the events are live.
    let is_set = |event| unsafe { gpu.device.get_event_status(event) }.unwrap();
    assert!(!is_set(events[0]) && !is_set(events[1]));
    // SAFETY: the event is live.
    unsafe { gpu.device.set_event(events[0]) }.unwrap();
    gpu.run(0, |device, commands| {
        let all = vk::PipelineStageFlags::ALL_COMMANDS;
        // SAFETY: the events are live.
        unsafe { device.cmd_wait_events(commands, &events[..1], vk::PipelineStageFlags::HOST, all, &[], &[], &[]) };
        // SAFETY: the events are live.
        unsafe { device.cmd_set_event(commands, events[1], all) };
        // SAFETY: the events are live.
        unsafe { device.cmd_reset_event(commands, events[0], all) };
    });
    assert!(!is_set(events[0]) && is_set(events[1]));
    // SAFETY: the event is live.
    unsafe { gpu.device.reset_event(events[1]) }.unwrap();
    assert!(!is_set(events[1]));
    for event in events {
        // SAFETY: nothing uses it.
        unsafe { gpu.device.destroy_event(event, None) };
    }
}
