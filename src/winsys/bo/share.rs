//! Export and import of BOs as dma-bufs.

use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use triomphe::UniqueArc;

use super::{
    block::{Block, Bo, BoState},
    bo::BoCreateInfo,
    handle::{Handle, SharedRoom},
};
use crate::{
    uapi::{Argument, GemCreateFlags, GemDomain, PRIME_CLOEXEC, PRIME_FD_TO_HANDLE, PRIME_RDWR, PrimeHandle},
    winsys::{
        Capabilities, Device, ExportError, ImportError, InvalidReply, KernelError, answers,
        own::{send, send_as},
    },
};

impl Bo {
    /// Exports the BO as a dma-buf that may be mapped writable. The descriptor is closed on exec.
    ///
    /// Request: PRIME_HANDLE_TO_FD.
    ///
    /// # Errors
    ///
    /// * [`ExportError::Kernel`] if the kernel refuses the request: `EPERM` for user memory and for BOs created with VM_ALWAYS_VALID,
    ///   `EMFILE` if the process has no free descriptor;
    /// * [`ExportError::HostMemory`] if host memory is exhausted.
    pub fn export(&self) -> Result<OwnedFd, ExportError> {
        self.device().shared_handles().list(&self.state().handle).map_err(|error| error.of("a BO"))?;
        let mut argument = PrimeHandle { handle: self.handle(), flags: PRIME_CLOEXEC | PRIME_RDWR, fd: -1 };
        send(self.device().kernel(), &mut argument).map_err(|errno| self.refused(PrimeHandle::NAME, errno))?;
        // A shim without PRIME may return success without writing a descriptor.
        Ok(answers::descriptor(argument.fd).map_err(|errno| self.refused(PrimeHandle::NAME, errno))?)
    }

    /// Imports a dma-buf. If the device already has a handle of the same BO, because it created or imported it, both share
    /// that handle.
    ///
    /// Size, placement and flags come from the kernel.
    ///
    /// Requests: PRIME_FD_TO_HANDLE, AMDGPU_GEM_OP.
    ///
    /// # Errors
    ///
    /// * [`ImportError::Kernel`] if the kernel refuses the descriptor: `EINVAL` if it is not a dma-buf;
    /// * [`ImportError::Kernel`] if the kernel does not report the BO's size and placement;
    /// * [`ImportError::InvalidReply`] if the BO's size is not a positive number of pages;
    /// * [`ImportError::HostMemory`] if host memory is exhausted.
    pub fn import(device: &Device, dma_buf: impl AsFd) -> Result<Self, ImportError> {
        let fd = dma_buf.as_fd().as_raw_fd();
        let import = || {
            let mut argument = PrimeHandle { handle: 0, flags: 0, fd };
            send_as(device.kernel(), PRIME_FD_TO_HANDLE, &mut argument)
                .and_then(|()| answers::handle(argument.handle))
                .map_err(|errno| KernelError::of_descriptor("PRIME_FD_TO_HANDLE", fd, errno))
        };
        let blank = Block::blank(device)?;
        let shared = SharedRoom::new(device).map_err(|error| error.of("a BO"))?;
        let handle = device.shared_handles().import(shared, import)?;
        let info = super::bo::create_info(device, handle.raw())?;
        Self::shared(blank, device, handle, info)
    }

    /// Returns the BO of a shared handle, with the properties that the kernel reported.
    pub(super) fn shared(
        mut blank: UniqueArc<Block>,
        device: &Device,
        handle: Handle,
        info: BoCreateInfo,
    ) -> Result<Self, ImportError> {
        if info.size == 0 || !info.size.is_multiple_of(crate::winsys::PAGE_SIZE) {
            let reason = "not a positive number of pages";
            return Err(InvalidReply { field: "bo_size", value: info.size, reason }.into());
        }
        let BoCreateInfo { size, domains, flags, .. } = info;
        handle.charge_imported(|| device.usage_tracker().enter_bo(domains, flags, size));
        blank.put(BoState { handle, size, domains, flags });
        let bo = Self(blank.shareable());
        bo.state().announce();
        Ok(bo)
    }

    /// Returns the origin of the memory, as far as the kernel reports it.
    ///
    /// A BO of another GPU or driver is in GTT and has almost no flags. Since DRM 3.59, GEM_CREATE sets VRAM_CLEARED, which
    /// distinguishes a BO of this GPU from such a BO; older kernels do not distinguish the two. The CPU cannot map a foreign BO
    /// through this device, because an access to its pages would raise SIGBUS. It can map the dma-buf itself.
    ///
    /// Source: Linux 6.12 `amdgpu_dma_buf.c`, `amdgpu_dma_buf_create_obj`; `amdgpu_gem.c`, `amdgpu_gem_create_ioctl`.
    pub fn origin(&self) -> Origin {
        let made_here = GemCreateFlags::VRAM_CLEARED | GemCreateFlags::VRAM_WIPE_ON_RELEASE;
        if !self.state().handle.is_imported()
            || self.domains().contains(GemDomain::VRAM)
            || self.flags().intersects(made_here)
        {
            Origin::SameGpu
        } else if self.device().info().capabilities.contains(Capabilities::ZEROED_VRAM) {
            Origin::Elsewhere
        } else {
            Origin::Unknown
        }
    }
}

/// The origin of a BO's memory, returned by [`Bo::origin`].
///
/// ```
/// use amdgpu_winsys::winsys::{Mapping, Origin};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let request = amdgpu_winsys::winsys::BoRequest {
/// #     size: 64 << 10, alignment: 0, domains: amdgpu_winsys::uapi::GemDomain::GTT, flags: amdgpu_winsys::uapi::GemCreateFlags::empty(),
/// # };
/// # let bo = amdgpu_winsys::winsys::Bo::create(&device, request)?;
/// // The CPU cannot map another GPU's memory through this device.
/// match bo.origin() {
///     Origin::SameGpu | Origin::Unknown => assert_eq!(Mapping::new(&bo)?.len(), 64 << 10),
///     Origin::Elsewhere => return Err("map the dma-buf itself".into()),
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// The driver of this GPU created the BO, in this process or another.
    SameGpu,
    /// Another GPU or another driver created the BO.
    Elsewhere,
    /// Unknown, because the kernel is too old to report it.
    Unknown,
}
