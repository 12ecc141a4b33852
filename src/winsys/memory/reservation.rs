//! Addresses that are valid without memory behind them.

use crate::{
    uapi::{Argument, GemVa, VaFlags, VaOperation},
    vamgr::{VaLease, VaRange},
    winsys::{
        Bo, Device, Error, Event, PAGE_SIZE, Result,
        kernel::{send, send_quietly},
        release::release,
    },
};

/// A lease whose addresses the GPU may touch at any time: where no BO is bound, reads give zero and writes are lost.
/// That is *partially resident* (PRT) memory, the ground of Vulkan's sparse resources.
///
/// BOs are bound into it and taken out piece by piece; whatever a new piece covers is replaced. Nothing here keeps a
/// bound BO alive: when the BO's handle is closed the kernel takes its pages out, and touching them is a page fault,
/// not zero. The caller must keep bound BOs alive, as [`SparseRange`](crate::heaps::SparseRange) does.
///
/// Dropping it unbinds everything, and only then gives the addresses back.
///
/// Source: Linux 6.12 `amdgpu_gem.c`, `amdgpu_gem_va_ioctl`, and `amdgpu_vm.c`, `amdgpu_vm_bo_replace_map` and
/// `amdgpu_vm_bo_clear_mappings`.
///
/// ```
/// use amdgpu_winsys::{uapi::VaFlags, vamgr::VaRequest, winsys::Reservation};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let request = amdgpu_winsys::winsys::BoRequest {
/// #     size: 64 << 10, alignment: 0, domains: amdgpu_winsys::uapi::GemDomain::GTT, flags: amdgpu_winsys::uapi::GemCreateFlags::empty(),
/// # };
/// # let bo = amdgpu_winsys::winsys::Bo::create(&device, request)?;
/// let lease = device.addresses().allocate(VaRequest::new(1 << 20).aligned(64 << 10))?;
/// let reservation = Reservation::new(&device, lease).map_err(|(_lease, error)| error)?;
/// reservation.bind(128 << 10, 64 << 10, &bo, 0, VaFlags::READABLE | VaFlags::WRITEABLE)?;
/// reservation.unbind(128 << 10, 64 << 10)?; // reads there give zero again
/// assert_eq!(reservation.range().len(), 1 << 20);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Reservation {
    device: Device,
    /// Taken only by `Drop`.
    lease: Option<VaLease>,
    range: VaRange,
}

impl Reservation {
    /// Makes all addresses of `lease` valid.
    ///
    /// Request: AMDGPU_GEM_VA (map, PRT).
    ///
    /// # Errors
    ///
    /// The lease comes back beside the error. [`Error::Bind`] when the kernel refuses.
    pub fn new(device: &Device, lease: VaLease) -> Result<Self, (VaLease, Error)> {
        let range = lease.range();
        match operate(device, VaOperation::Map, range, None, VaFlags::PRT) {
            Ok(()) => Ok(Self { device: device.clone(), lease: Some(lease), range }),
            Err(error) => Err((lease, error)),
        }
    }

    /// Returns the device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Returns the reserved range of addresses.
    pub fn range(&self) -> VaRange {
        self.range
    }

    /// Binds `len` bytes from byte `bo_offset` of `bo` at byte `offset` of the range, over whatever is there.
    ///
    /// Request: AMDGPU_GEM_VA (replace).
    ///
    /// # Errors
    ///
    /// [`Error::Misaligned`], [`Error::Range`], [`Error::ForeignDevice`], and [`Error::Bind`] when the kernel refuses.
    /// Nothing has changed then.
    pub fn bind(&self, offset: u64, len: u64, bo: &Bo, bo_offset: u64, flags: VaFlags) -> Result<()> {
        let event = self.bind_untold(offset, len, bo, bo_offset, flags)?;
        self.device.tell(|| event);
        Ok(())
    }

    /// Binds like [`Reservation::bind`] without telling the observer: callers do that once they keep the BO.
    pub(crate) fn bind_untold(&self, offset: u64, len: u64, bo: &Bo, bo_offset: u64, flags: VaFlags) -> Result<Event> {
        if *bo.device() != self.device {
            return Err(Error::ForeignDevice { what: "BO" });
        }
        aligned("offset in the BO", bo_offset)?;
        let piece = self.piece(offset, len)?;
        if bo_offset.checked_add(len).is_none_or(|end| end > bo.size()) {
            return Err(Error::Range { handle: bo.handle(), offset: bo_offset, len, size: bo.size() });
        }
        operate(&self.device, VaOperation::Replace, piece, Some((bo, bo_offset)), flags)?;
        Ok(Event::Bound { range: piece, handle: bo.handle(), bo_offset, flags })
    }

    /// Takes away whatever is bound in `len` bytes from byte `offset` on.
    ///
    /// Request: AMDGPU_GEM_VA (replace, PRT).
    ///
    /// # Errors
    ///
    /// [`Error::Misaligned`], [`Error::Range`], and [`Error::Bind`] when the kernel refuses. Nothing has changed then.
    pub fn unbind(&self, offset: u64, len: u64) -> Result<()> {
        let event = self.unbind_untold(offset, len)?;
        self.device.tell(|| event);
        Ok(())
    }

    /// Unbinds like [`Reservation::unbind`] without telling the observer, which callers do.
    pub(crate) fn unbind_untold(&self, offset: u64, len: u64) -> Result<Event> {
        let piece = self.piece(offset, len)?;
        operate(&self.device, VaOperation::Replace, piece, None, VaFlags::PRT)?;
        Ok(Event::Unbound { range: piece })
    }

    fn piece(&self, offset: u64, len: u64) -> Result<VaRange> {
        aligned("offset in the range", offset)?;
        aligned("bound length", len)?;
        let outside = Error::Range { handle: 0, offset, len, size: self.range.len() };
        if len == 0 || offset.checked_add(len).is_none_or(|end| end > self.range.len()) {
            return Err(outside);
        }
        let start = self.range.start().checked_add(offset).ok_or_else(|| outside.clone())?;
        VaRange::new(start, len).ok_or(outside)
    }
}

fn aligned(what: &'static str, value: u64) -> Result<()> {
    if value.is_multiple_of(PAGE_SIZE) { Ok(()) } else { Err(Error::Misaligned { what, value, alignment: PAGE_SIZE }) }
}

fn argument(operation: VaOperation, range: VaRange, backing: Option<(&Bo, u64)>, flags: VaFlags) -> GemVa {
    let (handle, offset_in_bo) = backing.map_or((0, 0), |(bo, offset)| (bo.handle(), offset));
    let (operation, flags) = (operation as u32, flags.bits());
    let (va_address, map_size) = (range.start().as_u64(), range.len());
    GemVa { handle, pad: 0, operation, flags, va_address, offset_in_bo, map_size }
}

fn operate(
    device: &Device,
    operation: VaOperation,
    range: VaRange,
    backing: Option<(&Bo, u64)>,
    flags: VaFlags,
) -> Result<()> {
    let mut argument = argument(operation, range, backing, flags);
    send(device.kernel(), &mut argument).map_err(|errno| Error::Bind {
        request: GemVa::NAME,
        handle: argument.handle,
        at: range.start(),
        len: range.len(),
        errno,
    })
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let (device, range) = (&self.device, self.range);
        let mut argument = argument(VaOperation::Clear, range, None, VaFlags::empty());
        let cleared = release(|| send_quietly(device.kernel(), &mut argument));
        match self.lease.take() {
            Some(lease) if cleared.is_done() => device.addresses().free(lease),
            // The page tables may still point through these addresses: they must not be reused.
            Some(lease) => device.strand(lease),
            None => {}
        }
        if cleared.is_done() {
            device.tell(|| Event::Unbound { range });
        }
        cleared.report(GemVa::NAME, 0);
    }
}
