//! The creation of BOs, and what they can be asked.

use amdgpu_hw::num::wide;
use triomphe::UniqueArc;

use super::{
    block::{Block, Bo},
    request::BoRequest,
};
use crate::uapi::{
    Answered, Argument, Errno, GEM_OP_GET_CREATE_INFO, GEM_OP_SET_PLACEMENT, GemCreate, GemCreateFlags, GemDomain,
    GemOp, GemWaitIdle,
};
use crate::winsys::{
    BrokenBoRule, CreateBoError, Deadline, Device, KernelError, PAGE_SIZE, Subject, UsageEntry, answers,
    kernel::send_raw, own::send,
};

/// The kernel's record of a BO's creation.
///
/// ```
/// use amdgpu_winsys::{uapi::{GemCreateFlags, GemDomain}, winsys::{Bo, BoRequest}};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// let flags = GemCreateFlags::CPU_ACCESS_REQUIRED;
/// let bo = Bo::create(&device, BoRequest { size: 5000, alignment: 0, domains: GemDomain::VRAM, flags })?;
/// let info = bo.create_info()?; // an importer of the BO gets the same
/// assert_eq!((info.size, info.domains), (8192, GemDomain::VRAM));
/// assert!(!info.flags.contains(flags)); // the kernel does not record this flag
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoCreateInfo {
    /// Size in bytes, rounded up to a multiple of the page size.
    pub size: u64,
    /// Physical alignment in bytes.
    pub alignment: u64,
    /// Domains in which the kernel prefers to place the BO.
    pub domains: GemDomain,
    /// Creation flags: the requested ones, plus VRAM_CLEARED and VRAM_WIPE_ON_RELEASE, minus CPU_ACCESS_REQUIRED.
    pub flags: GemCreateFlags,
}

impl Bo {
    /// Allocates a BO.
    ///
    /// Request: AMDGPU_GEM_CREATE.
    ///
    /// # Errors
    ///
    /// * [`CreateBoError::Rule`] if the request breaks a rule of every kernel ([`BoRequest::check`]); no request is made.
    /// * [`CreateBoError::HostMemory`] if host memory is exhausted; no request is made.
    /// * [`CreateBoError::Kernel`] if the kernel refuses the request, with `ENOMEM` if no allowed domain has room.
    #[inline]
    pub fn create(device: &Device, request: BoRequest) -> Result<Self, CreateBoError> {
        Ok(NewBo::create(device, request)?.share())
    }

    /// Returns the GEM handle, which is valid in the device's open file.
    pub fn handle(&self) -> u32 {
        self.state().handle.raw()
    }

    /// Returns the device that the BO belongs to.
    #[inline]
    pub fn device(&self) -> &Device {
        self.state().handle.device()
    }

    /// Returns the BO's charge on the device's [`UsageTracker`](crate::winsys::UsageTracker), which all clones and imports
    /// of the handle share. `None` if the BO is in neither VRAM nor GTT.
    pub fn charge(&self) -> Option<UsageEntry> {
        self.state().handle.entry()
    }

    /// Returns the size in bytes, a multiple of the page size.
    pub fn size(&self) -> u64 {
        self.state().size
    }

    /// Returns the requested domains; for an imported BO, the preferred domains that the kernel reports.
    pub fn domains(&self) -> GemDomain {
        self.state().domains
    }

    /// Returns the requested flags; for an imported BO, the flags that the kernel reports.
    pub fn flags(&self) -> GemCreateFlags {
        self.state().flags
    }

    /// Queries the kernel's record of the BO's creation.
    ///
    /// Request: AMDGPU_GEM_OP (get creation info).
    ///
    /// # Errors
    ///
    /// [`KernelError`] if the kernel refuses the request.
    pub fn create_info(&self) -> Result<BoCreateInfo, KernelError> {
        create_info(self.device(), self.handle())
    }

    /// Waits until no submission that listed the BO is running. Returns `false` if the deadline passes first.
    ///
    /// Request: AMDGPU_GEM_WAIT_IDLE.
    ///
    /// # Errors
    ///
    /// [`KernelError`] if the kernel refuses the request.
    pub fn wait_idle(&self, deadline: Deadline) -> Result<bool, KernelError> {
        let mut argument = GemWaitIdle { handle: self.handle(), flags: 0, timeout: deadline.for_amdgpu() };
        send(self.device().kernel(), &mut argument).map_err(|errno| self.refused(GemWaitIdle::NAME, errno))?;
        Ok(argument.answer().status == 0)
    }

    /// Sets the domains that the kernel prefers when it next validates the BO; this call does not move it. With VRAM alone, GTT is
    /// allowed too.
    ///
    /// Request: AMDGPU_GEM_OP (set placement).
    ///
    /// # Errors
    ///
    /// [`KernelError`] if the kernel refuses the request: `EPERM` for user memory, `EINVAL` for VRAM if the BO comes from
    /// another GPU.
    pub fn prefer(&self, domains: GemDomain) -> Result<(), KernelError> {
        let mut argument = GemOp { handle: self.handle(), op: GEM_OP_SET_PLACEMENT, value: domains.bits() };
        // SAFETY: with this operation the value is a set of domains; the kernel follows no address. The handle is that of this BO.
        unsafe { send_raw(self.device().kernel(), GemOp::REQUEST, &mut argument) }
            .map_err(|errno| self.refused(GemOp::NAME, errno))
    }

    /// Gives the BO a debug name, as `vkSetDebugUtilsObjectNameEXT` does. The name is not passed to the kernel.
    pub fn set_name(&self, name: &str) {
        self.state().handle.set_name(name);
    }

    /// Returns the debug name; `None` if none was set.
    pub fn name(&self) -> Option<String> {
        self.state().handle.name().map(|name| (*name).to_owned())
    }

    pub(in crate::winsys) fn refused(&self, request: &'static str, errno: Errno) -> KernelError {
        KernelError::of_bo(request, self.handle(), errno)
    }
}

/// A BO that has no other owner yet.
pub(crate) struct NewBo(pub(in crate::winsys) UniqueArc<Block>);

impl NewBo {
    /// Allocates a BO, see [`Bo::create`].
    #[inline]
    pub(crate) fn create(device: &Device, request: BoRequest) -> Result<Self, CreateBoError> {
        let BoRequest { size, domains, flags, .. } = request;
        request.check(device.info()).map_err(|rule| BrokenBoRule { size, domains, flags, rule })?;
        Self::create_checked(device, request)
    }

    /// Allocates a BO for a request that breaks no [rule](BoRequest::check).
    #[inline]
    pub(crate) fn create_checked(device: &Device, request: BoRequest) -> Result<Self, CreateBoError> {
        let mut block = Block::blank(device)?;
        let raw = ask(device, &request)?;
        let BoRequest { size, domains, flags, .. } = request;
        block.own(raw, size.next_multiple_of(PAGE_SIZE), domains, flags);
        if device.has_listeners() {
            block.bo().announce();
        }
        Ok(Self(block))
    }

    #[inline]
    fn share(self) -> Bo {
        Bo(self.0.shareable())
    }
}

/// Requests a new BO and returns its handle.
#[inline]
fn ask(device: &Device, request: &BoRequest) -> Result<u32, KernelError> {
    let &BoRequest { size, alignment, domains, flags } = request;
    let subject = Subject::NewBo { size, alignment, domains, flags };
    let refused = |errno| KernelError { request: GemCreate::NAME, subject, errno };
    let mut argument = GemCreate { bo_size: size, alignment, domains: domains.bits(), domain_flags: flags.bits() };
    send(device.kernel(), &mut argument).map_err(refused)?;
    let answer = argument.answer().handle;
    if answer == size as u32 && is_untouched(&argument, request) {
        return ask_again(device, request).map_err(refused);
    }
    answers::handle(answer).map_err(refused)
}

/// Returns `true` if the fields after the size still have the requested values. A kernel that answers clears all of them,
/// so the check cannot tell only if the request has zeros there.
fn is_untouched(argument: &GemCreate, request: &BoRequest) -> bool {
    let &BoRequest { alignment, domains, flags, .. } = request;
    (argument.alignment, argument.domains, argument.domain_flags) == (alignment, domains.bits(), flags.bits())
}

/// Repeats a request whose answer may not have been written. The kernel writes the handle over the size and clears the
/// fields after it (Linux 6.12 `amdgpu_gem.c`, `amdgpu_gem_create_ioctl`); here the handle equals the size and those fields
/// are unchanged. The second request asks for one byte more or less, which rounds to the same pages. If its answer also
/// equals its size, no answer was written. The first handle is not closed, because it may belong to another object.
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

/// Queries the kernel's record of the creation of the BO with this handle.
pub(super) fn create_info(device: &Device, handle: u32) -> Result<BoCreateInfo, KernelError> {
    let mut answer = GemCreate::ZEROED;
    let value = wide(std::ptr::from_mut(&mut answer).expose_provenance());
    let mut argument = GemOp { handle, op: GEM_OP_GET_CREATE_INFO, value };
    // SAFETY: the only address is that of `answer`, which is borrowed exclusively for the call and as large as the kernel's write. The
    // operation is a query.
    unsafe { send_raw(device.kernel(), GemOp::REQUEST, &mut argument) }
        .map_err(|errno| KernelError::of_bo(GemOp::NAME, handle, errno))?;
    Ok(BoCreateInfo {
        size: answer.bo_size,
        alignment: answer.alignment,
        domains: GemDomain::from_bits_retain(answer.domains),
        flags: GemCreateFlags::from_bits_retain(answer.domain_flags),
    })
}
