//! The kind of a hardware queue.

/// The kind of a hardware queue.
///
/// ```
/// use amdgpu_winsys::cs::QueueKind;
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let context = amdgpu_winsys::winsys::Context::new(&device, amdgpu_winsys::winsys::Priority::Normal)?;
/// # let queue = amdgpu_winsys::cs::Queue::new(&context, amdgpu_winsys::winsys::Ip::Gfx, 0)?;
/// match queue.kind() {
///     QueueKind::Kernel => assert_eq!(queue.ring(), 0), // submissions are ioctls
///     _ => return Err("a kind that this program does not know".into()),
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum QueueKind {
    /// A kernel queue: each submission is a CS ioctl, and the kernel's scheduler selects a hardware ring. User mode queues are of
    /// type [`UserQueue`](crate::cs::UserQueue) instead.
    Kernel,
}
