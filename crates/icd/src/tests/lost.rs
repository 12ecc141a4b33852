//! A submission that was held back and cannot be made: the device is lost from then on.

use amdgpu_winsys::{
    uapi::{self, Argument},
    winsys::Errno,
};
use ash::vk;

use super::opened::Opened;

#[test]
fn a_late_submission_that_fails_loses_the_device() {
    let Opened { kernel, after, owner: _owner, instance, .. } = Opened::new().unwrap();
    // SAFETY: the instance is live.
    let physical = unsafe { instance.enumerate_physical_devices() }.unwrap()[0];
    let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(0).queue_priorities(&[1.0])];
    let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues);
    // SAFETY: the structure is valid, here and below.
    let device = unsafe { instance.create_device(physical, &info, None) }.unwrap();
    let mut timeline = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
    let info = vk::SemaphoreCreateInfo::default().push_next(&mut timeline);
    // SAFETY: as above.
    let semaphore = unsafe { device.create_semaphore(&info, None) }.unwrap();
    // SAFETY: as above.
    let fence = unsafe { device.create_fence(&vk::FenceCreateInfo::default(), None) }.unwrap();
    // SAFETY: the queue was asked for.
    let queue = unsafe { device.get_device_queue(0, 0) };
    let point = |value| [vk::SemaphoreSubmitInfo::default().semaphore(semaphore).value(value)];
    let (waits, signals) = (point(5), point(8));
    let submit = vk::SubmitInfo2::default().wait_semaphore_infos(&waits).signal_semaphore_infos(&signals);
    // SAFETY: everything named is live, here and below.
    unsafe { device.queue_submit2(queue, &[submit], fence) }.unwrap();
    // SAFETY: as above.
    assert_eq!(unsafe { device.get_fence_status(fence) }, Ok(false), "it waits for 5");

    kernel.fail_every_ioctl(uapi::Cs::REQUEST, Errno::ENOMEM);
    // SAFETY: as above.
    unsafe { device.signal_semaphore(&vk::SemaphoreSignalInfo::default().semaphore(semaphore).value(5)) }.unwrap();
    let lost = Err(vk::Result::ERROR_DEVICE_LOST);
    // SAFETY: as above.
    assert_eq!(unsafe { device.wait_for_fences(&[fence], true, u64::MAX) }, lost, "a wait for it ends");
    kernel.stop();
    let (semaphores, values) = ([semaphore], [8]);
    let wait = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&values);
    // SAFETY: as above.
    assert_eq!(unsafe { device.wait_semaphores(&wait, u64::MAX) }, lost);
    // SAFETY: as above.
    assert_eq!(unsafe { device.queue_submit(queue, &[], vk::Fence::null()) }, lost, "from then on");
    // SAFETY: as above.
    assert_eq!(unsafe { device.queue_bind_sparse(queue, &[], vk::Fence::null()) }, lost);
    // SAFETY: as above.
    assert_eq!(unsafe { device.queue_wait_idle(queue) }, lost);
    // SAFETY: as above.
    assert_eq!(unsafe { device.device_wait_idle() }, lost);
    // SAFETY: nothing uses it, here and below.
    unsafe { device.destroy_fence(fence, None) };
    // SAFETY: as above.
    unsafe { device.destroy_semaphore(semaphore, None) };
    // SAFETY: as above.
    unsafe { device.destroy_device(None) };
    assert_eq!(kernel.inner().census(), after);
}
