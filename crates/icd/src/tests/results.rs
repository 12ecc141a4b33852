//! Results that only a kernel in need gives.

use amdgpu_winsys::{
    uapi::{self, Argument},
    winsys::Errno,
};
use ash::vk;

use super::opened::Opened;

#[test]
fn what_the_kernel_refuses_has_its_own_result() {
    let Opened { kernel, after, owner: _owner, instance, .. } = Opened::new().unwrap();
    // SAFETY: the instance is live.
    let physical = unsafe { instance.enumerate_physical_devices() }.unwrap()[0];
    let create = |priority, errno| {
        let mut priority = vk::DeviceQueueGlobalPriorityCreateInfoKHR::default().global_priority(priority);
        let queue = vk::DeviceQueueCreateInfo::default().queue_family_index(0).queue_priorities(&[1.0]);
        let queues = [queue.push_next(&mut priority)];
        let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues);
        kernel.fail_every_ioctl(uapi::Ctx::REQUEST, errno);
        // SAFETY: the structure is valid.
        let made = unsafe { instance.create_device(physical, &info, None) }.map(|device| device.handle());
        kernel.stop();
        assert_eq!(kernel.inner().census(), after);
        made
    };
    let (normal, high) = (vk::QueueGlobalPriorityKHR::MEDIUM, vk::QueueGlobalPriorityKHR::REALTIME);
    assert_eq!(
        create(high, Errno::EACCES),
        Err(vk::Result::ERROR_NOT_PERMITTED_KHR),
        "realtime without the right to it"
    );
    assert_eq!(create(normal, Errno::ENOSPC), Err(vk::Result::ERROR_TOO_MANY_OBJECTS), "contexts");
    assert_eq!(create(normal, Errno::ENOMEM), Err(vk::Result::ERROR_OUT_OF_HOST_MEMORY));
}
