//! Devices: queues, clocks, and private data of objects.

use std::sync::Arc;

use amdgpu_winsys::{
    heaps::{AdmissionPolicy, MemoryManager},
    winsys::{Context, Priority},
};
use ash::vk;
use nix::time::{ClockId, clock_gettime};

use crate::{
    border::{
        Allocator, Array, Failure, Handed, Out, OutArray, chain,
        list::{DeviceFeatures, DeviceLists},
    },
    facts::{extensions, features},
    objects::{Device, Face, Faults, Gpu, Loss, PhysicalDevice, PrivateSlot, Queue},
};

/// The extensions for which the addresses of objects are kept.
const FAULTS: [&str; 2] = ["VK_EXT_device_fault", "VK_KHR_device_fault"];

pub(crate) fn create(
    physical: &PhysicalDevice,
    info: &vk::DeviceCreateInfo<'_>,
    _: Allocator,
    mut device: Out<'_, vk::Device>,
) -> Result<(), Failure> {
    let extensions = extensions::enabled(extensions::DEVICE, info.extensions())?;
    features::check(&physical.gpu, info, info.features())?;
    if FAULTS.iter().any(|faults| extensions.contains(faults)) {
        physical.gpu.watch.keep_map();
    }
    let reports = physical.gpu.watch.reports(info, &physical.gpu.memory, &physical.program);
    let (mut queues, loss) = (Vec::new(), Loss::default());
    for wanted in info.queues() {
        queues.append(&mut open_queues(physical, wanted, &loss)?);
    }
    let families = physical.families.clone();
    let has_coherent_memory = features::wants_coherent_memory(info);
    let gpu = Arc::clone(&physical.gpu);
    let program = Arc::clone(&physical.program);
    if gpu.face == Face::Full {
        program.note("the face `full` claims Vulkan 1.3 without shaders, which is not legal");
    }
    let memory = manager(&gpu, info);
    let faults = Faults::new(&gpu, features::wants_masked_faults(info));
    let made = Device { gpu, memory, families, queues, extensions, has_coherent_memory, faults, program, reports };
    let made = Handed::new(made);
    made.reports.start(made.handle());
    device.set(made.give());
    Ok(())
}

/// Returns the memory manager of a device, which refuses allocations beyond the size of a heap if the program disallows them
/// (`VK_AMD_memory_overallocation_behavior`). As the extension permits, the memory of all devices of the GPU in this process counts.
fn manager(gpu: &Gpu, info: &vk::DeviceCreateInfo<'_>) -> MemoryManager {
    let wish = chain::find::<vk::DeviceMemoryOverallocationCreateInfoAMD<'_>>(info);
    match wish.map(|wish| wish.overallocation_behavior) {
        Some(vk::MemoryOverallocationBehaviorAMD::DISALLOWED) => {
            gpu.memory.clone().with_admission(AdmissionPolicy::no_overallocation())
        }
        _ => gpu.memory.clone(),
    }
}

/// Creates the queues of one family, on a context with their priority.
fn open_queues(
    physical: &PhysicalDevice,
    wanted: &vk::DeviceQueueCreateInfo<'_>,
    loss: &Loss,
) -> Result<Vec<Handed<Queue>>, Failure> {
    let number = usize::try_from(wanted.queue_family_index).unwrap_or(usize::MAX);
    let family = physical.families.get(number).copied().filter(|family| wanted.queue_count <= family.count);
    let family = family.ok_or(vk::Result::ERROR_INITIALIZATION_FAILED)?;
    let priority = chain::find::<vk::DeviceQueueGlobalPriorityCreateInfoKHR<'_>>(wanted);
    let priority = match priority.map(|priority| priority.global_priority) {
        Some(vk::QueueGlobalPriorityKHR::LOW) => Priority::Low,
        Some(vk::QueueGlobalPriorityKHR::HIGH) => Priority::High,
        Some(vk::QueueGlobalPriorityKHR::REALTIME) => Priority::VeryHigh,
        _ => Priority::Normal,
    };
    let context = Context::new(&physical.gpu.device, priority)?;
    let place = |index| (wanted.queue_family_index, index);
    (0..wanted.queue_count)
        .map(|index| Ok(Handed::new(Queue::new(&physical.gpu, &context, family, place(index), loss)?)))
        .collect()
}

pub(crate) fn destroy(device: Option<Handed<Device>>, _: Allocator) {
    drop(device);
}

pub(crate) fn wait_idle(device: &Device) -> Result<(), Failure> {
    device.queues.iter().try_for_each(|queue| queue.wait_idle())
}

pub(crate) fn queue(device: &Device, family: u32, index: u32, mut queue: Out<'_, vk::Queue>) {
    queue.set(device.queue(family, index).map_or(vk::Queue::null(), Handed::handle));
}

/// Returns a queue. Queue flags are ignored, because there are no protected queues.
pub(crate) fn queue2(device: &Device, info: &vk::DeviceQueueInfo2<'_>, out: Out<'_, vk::Queue>) {
    queue(device, info.queue_family_index, info.queue_index, out);
}

/// Returns the peer memory features. A device group has one device, which can access all of its own memory.
pub(crate) fn peer_memory(_: &Device, _heap: u32, _: u32, _: u32, mut out: Out<'_, vk::PeerMemoryFeatureFlags>) {
    use vk::PeerMemoryFeatureFlags as Features;
    out.set(Features::COPY_SRC | Features::COPY_DST | Features::GENERIC_SRC | Features::GENERIC_DST);
}

/// The clocks that can be read together.
const DOMAINS: [vk::TimeDomainKHR; 3] =
    [vk::TimeDomainKHR::DEVICE, vk::TimeDomainKHR::CLOCK_MONOTONIC, vk::TimeDomainKHR::CLOCK_MONOTONIC_RAW];

pub(crate) fn time_domains(
    _: &PhysicalDevice,
    count: &mut u32,
    mut list: OutArray<'_, vk::TimeDomainKHR>,
) -> vk::Result {
    list.fill(count, DOMAINS.into_iter())
}

/// Returns the time of a host clock in nanoseconds.
fn nanoseconds(clock: ClockId) -> Result<u64, Failure> {
    let time = clock_gettime(clock).map_err(|_| Failure(vk::Result::ERROR_UNKNOWN))?;
    let (seconds, rest) = (u64::try_from(time.tv_sec()).unwrap_or(0), u64::try_from(time.tv_nsec()).unwrap_or(0));
    Ok(seconds.saturating_mul(1_000_000_000).saturating_add(rest))
}

pub(crate) fn calibrated_timestamps(
    device: &Device,
    count: u32,
    infos: Array<'_, vk::CalibratedTimestampInfoKHR<'_>>,
    mut timestamps: OutArray<'_, u64>,
    mut deviation: Out<'_, u64>,
) -> Result<(), Failure> {
    let begin = nanoseconds(ClockId::CLOCK_MONOTONIC_RAW)?;
    for (index, info) in infos.of(count).iter().enumerate() {
        timestamps.put(
            index,
            match info.time_domain {
                vk::TimeDomainKHR::DEVICE => device.gpu.device.timestamp()?,
                vk::TimeDomainKHR::CLOCK_MONOTONIC => nanoseconds(ClockId::CLOCK_MONOTONIC)?,
                vk::TimeDomainKHR::CLOCK_MONOTONIC_RAW => nanoseconds(ClockId::CLOCK_MONOTONIC_RAW)?,
                _ => return Err(Failure(vk::Result::ERROR_UNKNOWN)),
            },
        );
    }
    // The time between the first and the last, and a tick of the device's clock.
    let tick = 1_000_000 / u64::from(device.gpu.device.info().clock_counter_khz.max(1)) + 1;
    deviation.set(nanoseconds(ClockId::CLOCK_MONOTONIC_RAW)?.saturating_sub(begin).saturating_add(tick));
    Ok(())
}

pub(crate) fn create_slot(
    _: &Device,
    _: &vk::PrivateDataSlotCreateInfo<'_>,
    _: Allocator,
    mut slot: Out<'_, vk::PrivateDataSlot>,
) -> vk::Result {
    slot.set(Handed::new(PrivateSlot::default()).give());
    vk::Result::SUCCESS
}

pub(crate) fn destroy_slot(_: &Device, slot: Option<Handed<PrivateSlot>>, _: Allocator) {
    drop(slot);
}

pub(crate) fn set_private(_: &Device, kind: vk::ObjectType, object: u64, slot: &PrivateSlot, data: u64) -> vk::Result {
    slot.0.lock().insert((kind.as_raw(), object), data);
    vk::Result::SUCCESS
}

pub(crate) fn private(_: &Device, kind: vk::ObjectType, object: u64, slot: &PrivateSlot, mut data: Out<'_, u64>) {
    data.set(slot.0.lock().get(&(kind.as_raw(), object)).copied().unwrap_or(0));
}
