//! The buffer object and its creation.

use std::sync::Arc;

use amdgpu_hw::num::wide;

use super::{
    handle::Handle,
    request::{BoRequest, PAGE_SIZE},
};
use crate::host_memory::ArcRoom;
use crate::uapi::{
    Answered, Argument, Errno, GEM_OP_GET_CREATE_INFO, GEM_OP_SET_PLACEMENT, GemCreate, GemCreateFlags, GemDomain,
    GemOp, GemWaitIdle,
};
use crate::winsys::{
    Deadline, Device, DeviceRef, Error, Event, Result, UsageEntry, answers,
    kernel::{send, send_raw},
};

/// The kernel's record of a BO's creation.
///
/// ```
/// use amdgpu_winsys::{uapi::{GemCreateFlags, GemDomain}, winsys::{Bo, BoRequest}};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// let flags = GemCreateFlags::CPU_ACCESS_REQUIRED;
/// let bo = Bo::create(&device, BoRequest { size: 5000, alignment: 0, domains: GemDomain::VRAM, flags })?;
/// let info = bo.create_info()?; // what an importer of the BO sees too
/// assert_eq!((info.size, info.domains), (8192, GemDomain::VRAM));
/// assert!(!info.flags.contains(flags)); // the kernel does not remember it
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoCreateInfo {
    /// Size in bytes, rounded to a page.
    pub size: u64,
    /// Physical alignment in bytes.
    pub alignment: u64,
    /// Domains in which the kernel prefers to place it.
    pub domains: GemDomain,
    /// Its flags: those asked for, plus VRAM_CLEARED and VRAM_WIPE_ON_RELEASE, less CPU_ACCESS_REQUIRED.
    pub flags: GemCreateFlags,
}

/// A GEM buffer object. A `Bo` is a handle: a clone of it is the same object, and equal to it. Dropping the last one closes
/// the kernel's handle; the kernel frees the storage once the GPU is done.
///
/// # Examples
///
/// ```
/// use amdgpu_winsys::{uapi::{GemCreateFlags, GemDomain}, winsys::{Bo, BoRequest, Device}};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let kernel = amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?);
/// let device = Device::new(kernel)?;
/// let request = BoRequest { size: 1 << 20, alignment: 0, domains: GemDomain::GTT, flags: GemCreateFlags::empty() };
/// let bo = Bo::create(&device, request)?;
/// let kept = bo.clone();
/// drop(bo);
/// assert_eq!(kept.size(), 1 << 20);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Bo(pub(super) Arc<BoState>);

/// The state that all handles of a BO share.
#[derive(Debug)]
pub(in crate::winsys) struct BoState {
    pub(super) handle: Handle,
    pub(super) size: u64,
    pub(super) domains: GemDomain,
    pub(super) flags: GemCreateFlags,
}

/// Two handles are equal if they are of the same object.
impl PartialEq for Bo {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Bo {}

impl Bo {
    /// Creates a BO.
    ///
    /// Request: AMDGPU_GEM_CREATE.
    ///
    /// # Errors
    ///
    /// * [`Error::BoRule`]: no kernel would agree ([`BoRequest::check`]); nothing was asked.
    /// * [`Error::HostMemory`]: nothing was asked.
    /// * [`Error::CreateBo`]: the kernel refuses, with `ENOMEM` if it fits nowhere.
    pub fn create(device: &Device, request: BoRequest) -> Result<Self> {
        Self::create_with(DeviceRef::new(device).map_err(|error| error.of("a BO"))?, &request)
    }

    /// Creates a BO that has this share of the device.
    #[inline]
    pub(crate) fn create_with(device: DeviceRef, request: &BoRequest) -> Result<Self> {
        let is_heard = device.is_heard();
        let room = Self::room()?;
        let raw = ask(&device, request)?;
        let bo = Self::created(room, device, raw, request);
        if is_heard {
            bo.announce();
        }
        Ok(bo)
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "so that it is made where it stays, and not copied there")]
    fn created(room: ArcRoom<BoState>, device: DeviceRef, raw: u32, request: &BoRequest) -> Self {
        let &BoRequest { size, domains, flags, .. } = request;
        Self::own(room, device, raw, size.next_multiple_of(PAGE_SIZE), domains, flags) // the request was checked
    }

    /// The BO of a handle that has no other owner, charged. Observers have not heard of it yet.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "so that it is made where it stays, and not copied there")]
    pub(super) fn own(
        room: ArcRoom<BoState>,
        device: DeviceRef,
        raw: u32,
        size: u64,
        domains: GemDomain,
        flags: GemCreateFlags,
    ) -> Self {
        let entry = device.usage_tracker().enter_bo(domains, flags, size);
        let handle = Handle::new(device, raw, entry);
        Self(room.fill(BoState { handle, size, domains, flags }))
    }

    /// Host memory for a BO, before its handle exists.
    #[inline]
    pub(super) fn room() -> Result<ArcRoom<BoState>> {
        ArcRoom::new().map_err(|error| error.of("a BO"))
    }

    /// Tells of the BO, which owns its handle and its charge by now.
    #[cold]
    pub(super) fn announce(&self) {
        let &BoState { ref handle, size, domains, flags } = &*self.0;
        tracing::trace!(handle = handle.raw(), size, ?domains, ?flags, "BO opened");
        handle.device().tell(|| Event::BoOpened { handle: handle.raw(), size, domains, flags });
    }

    /// Returns the kernel's name for the BO within the device's file.
    pub fn handle(&self) -> u32 {
        self.0.handle.raw()
    }

    /// Returns the device it belongs to.
    pub fn device(&self) -> &Device {
        self.0.handle.device()
    }

    /// Returns its charge on the device's [`UsageTracker`](crate::winsys::UsageTracker): once, however many values share the handle. `None` for
    /// a BO that is in neither VRAM nor GTT.
    pub fn charge(&self) -> Option<UsageEntry> {
        self.0.handle.entry()
    }

    /// Returns the size in bytes, a multiple of the page size.
    pub fn size(&self) -> u64 {
        self.0.size
    }

    /// Returns the domains it was requested in; for an imported BO, those that the kernel prefers.
    pub fn domains(&self) -> GemDomain {
        self.0.domains
    }

    /// Returns the flags it was asked to have; for an imported BO, those the kernel reports.
    pub fn flags(&self) -> GemCreateFlags {
        self.0.flags
    }

    /// Asks the kernel what it remembers of the BO's creation.
    ///
    /// Request: AMDGPU_GEM_OP (get creation info).
    ///
    /// # Errors
    ///
    /// [`Error::Bo`].
    pub fn create_info(&self) -> Result<BoCreateInfo> {
        create_info(self.device(), self.handle())
    }

    /// Waits until no submission that listed the BO is running; false when the deadline came first.
    ///
    /// Request: AMDGPU_GEM_WAIT_IDLE.
    ///
    /// # Errors
    ///
    /// [`Error::Bo`].
    pub fn wait_idle(&self, deadline: Deadline) -> Result<bool> {
        let mut argument = GemWaitIdle { handle: self.handle(), flags: 0, timeout: deadline.for_amdgpu() };
        send(self.device().kernel(), &mut argument).map_err(|errno| self.refused(GemWaitIdle::NAME, errno))?;
        Ok(argument.answer().status == 0)
    }

    /// Tells the kernel where to prefer the BO from its next validation on; nothing moves now. Exactly VRAM also allows GTT.
    ///
    /// Request: AMDGPU_GEM_OP (set placement).
    ///
    /// # Errors
    ///
    /// [`Error::Bo`]: `EPERM` for user memory, `EINVAL` for VRAM and a BO of another GPU.
    pub fn prefer(&self, domains: GemDomain) -> Result<()> {
        let mut argument = GemOp { handle: self.handle(), op: GEM_OP_SET_PLACEMENT, value: domains.bits() };
        // SAFETY: with this operation the value is a set of domains; the kernel follows no address.
        unsafe { send_raw(self.device().kernel(), GemOp::REQUEST, &mut argument) }
            .map_err(|errno| self.refused(GemOp::NAME, errno))
    }

    /// Gives the BO a name for people: `vkSetDebugUtilsObjectNameEXT`. It stays in this process.
    pub fn set_name(&self, name: &str) {
        self.0.handle.set_name(name);
    }

    /// Returns the name it was given last.
    pub fn name(&self) -> Option<String> {
        self.0.handle.name().map(|name| (*name).to_owned())
    }

    pub(in crate::winsys) fn refused(&self, request: &'static str, errno: Errno) -> Error {
        Error::Bo { request, handle: self.handle(), errno }
    }
}

/// Asks for a BO's handle.
#[inline]
fn ask(device: &Device, request: &BoRequest) -> Result<u32> {
    let &BoRequest { size, alignment, domains, flags } = request;
    request.check(device.info()).map_err(|rule| Error::BoRule { size, domains, flags, rule })?;
    let refused = |errno| Error::CreateBo { size, alignment, domains, flags, errno };
    let mut argument = GemCreate { bo_size: size, alignment, domains: domains.bits(), domain_flags: flags.bits() };
    send(device.kernel(), &mut argument).map_err(refused)?;
    let answer = argument.answer().handle;
    if answer == size as u32 && is_untouched(&argument, request) {
        return ask_again(device, request).map_err(refused);
    }
    answers::handle(answer).map_err(refused)
}

/// Returns `true` if what is behind the size is as it was asked. The kernel clears all of it: only a request that has zeros there
/// does not tell.
fn is_untouched(argument: &GemCreate, request: &BoRequest) -> bool {
    let &BoRequest { alignment, domains, flags, .. } = request;
    (argument.alignment, argument.domains, argument.domain_flags) == (alignment, domains.bits(), flags.bits())
}

/// Asks once more for a BO, after an answer that may not have been written: the handle is written over the size, and is
/// equal to it, and what is behind it is as it was, while the kernel clears that (Linux 6.12 `amdgpu_gem.c`,
/// `amdgpu_gem_create_ioctl`). The size is a byte off now, which comes to the same pages. An answer that equals that one, too,
/// was not written. The first one is left alone: it may be the handle of something else.
#[cold]
fn ask_again(device: &Device, request: &BoRequest) -> Result<u32, Errno> {
    let &BoRequest { size, alignment, domains, flags } = request;
    let bo_size = if size % PAGE_SIZE == 1 { size + 1 } else { size - 1 };
    let mut argument = GemCreate { bo_size, alignment, domains: domains.bits(), domain_flags: flags.bits() };
    send(device.kernel(), &mut argument)?;
    let answer = argument.answer().handle;
    let is_unwritten = answer == bo_size as u32 && is_untouched(&argument, request);
    if is_unwritten { Err(answers::UNWRITTEN) } else { answers::handle(answer) }
}

/// Asks the kernel about the creation of the BO behind a handle.
pub(super) fn create_info(device: &Device, handle: u32) -> Result<BoCreateInfo> {
    let mut answer = GemCreate::ZEROED;
    let value = wide(std::ptr::from_mut(&mut answer).expose_provenance());
    let mut argument = GemOp { handle, op: GEM_OP_GET_CREATE_INFO, value };
    // SAFETY: the one address is that of `answer`, exclusive for the call and as large as what the kernel writes.
    unsafe { send_raw(device.kernel(), GemOp::REQUEST, &mut argument) }.map_err(|errno| Error::Bo {
        request: GemOp::NAME,
        handle,
        errno,
    })?;
    Ok(BoCreateInfo {
        size: answer.bo_size,
        alignment: answer.alignment,
        domains: GemDomain::from_bits_retain(answer.domains),
        flags: GemCreateFlags::from_bits_retain(answer.domain_flags),
    })
}
