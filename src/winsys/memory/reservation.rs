//! GPU addresses that are valid without a BO.

use crate::{
    uapi::{Argument, GemVa, VaFlags, VaOperation},
    vamgr::{VaLease, VaRange},
    winsys::{
        Bo, Device, Error, Event, KernelError, Misaligned, OutOfRange, PAGE_SIZE, Result,
        own::{send, send_quietly},
        release::release,
    },
};

/// A lease whose addresses the GPU may access at any time. If no BO is bound at an address, reads return zero and writes are
/// discarded. This is *partially resident* (PRT) memory, on which Vulkan's sparse resources are built.
///
/// BOs are bound and unbound piece by piece; a new piece replaces the bindings that it overlaps. A reservation does not
/// keep bound BOs alive: when the BO's handle is closed, the kernel unmaps its pages, and an access to them is a VM fault
/// instead of zero. The caller must keep bound BOs alive, as [`SparseRange`](crate::heaps::SparseRange) does.
///
/// Dropping the reservation unbinds all of it and then frees the addresses.
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
/// reservation.unbind(128 << 10, 64 << 10)?; // reads there return zero again
/// assert_eq!(reservation.range().len(), 1 << 20);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Reservation {
    device: Device,
    /// `Some` until `Drop` takes it.
    lease: Option<VaLease>,
    range: VaRange,
}

impl Reservation {
    /// Makes all addresses of `lease` valid, with no BO bound.
    ///
    /// Request: AMDGPU_GEM_VA (map, PRT).
    ///
    /// # Errors
    ///
    /// [`Error::Kernel`] if the kernel refuses the request. The lease is returned with the error.
    pub fn new(device: &Device, lease: VaLease) -> Result<Self, (VaLease, Error)> {
        let range = lease.range();
        match operate(device, VaOperation::Map, range, None, VaFlags::PRT) {
            Ok(()) => Ok(Self { device: device.clone(), lease: Some(lease), range }),
            Err(error) => Err((lease, error)),
        }
    }

    /// Returns the device whose address space contains the range.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Returns the reserved range of addresses.
    pub fn range(&self) -> VaRange {
        self.range
    }

    /// Binds `len` bytes of `bo`, starting at byte offset `bo_offset`, at byte offset `offset` of the range. Replaces existing
    /// bindings there.
    ///
    /// Request: AMDGPU_GEM_VA (replace).
    ///
    /// # Errors
    ///
    /// On error, no binding has changed.
    ///
    /// * [`Error::Misaligned`] if an offset or the length is not a multiple of the page size;
    /// * [`Error::OutOfRange`] if `len` is 0, or the piece is not inside the range or the BO;
    /// * [`Error::ForeignDevice`] if the BO belongs to another device;
    /// * [`Error::Kernel`] if the kernel refuses the request.
    pub fn bind(&self, offset: u64, len: u64, bo: &Bo, bo_offset: u64, flags: VaFlags) -> Result<()> {
        let event = self.bind_quiet(offset, len, bo, bo_offset, flags)?;
        self.device.notify(|| event);
        Ok(())
    }

    /// Binds like [`Reservation::bind`] and returns the event, which the caller reports once it holds the BO.
    pub(crate) fn bind_quiet(&self, offset: u64, len: u64, bo: &Bo, bo_offset: u64, flags: VaFlags) -> Result<Event> {
        if *bo.device() != self.device {
            return Err(Error::ForeignDevice { what: "BO" });
        }
        aligned("offset in the BO", bo_offset)?;
        let piece = self.piece(offset, len)?;
        if bo_offset.checked_add(len).is_none_or(|end| end > bo.size()) {
            return Err(Error::OutOfRange(OutOfRange { handle: bo.handle(), offset: bo_offset, len, size: bo.size() }));
        }
        operate(&self.device, VaOperation::Replace, piece, Some((bo, bo_offset)), flags)?;
        Ok(Event::Bound { range: piece, handle: bo.handle(), bo_offset, flags })
    }

    /// Removes all bindings in the `len` bytes that start at byte offset `offset` of the range.
    ///
    /// Request: AMDGPU_GEM_VA (replace, PRT).
    ///
    /// # Errors
    ///
    /// On error, no binding has changed.
    ///
    /// * [`Error::Misaligned`] if the offset or the length is not a multiple of the page size;
    /// * [`Error::OutOfRange`] if `len` is 0, or the piece is not inside the range;
    /// * [`Error::Kernel`] if the kernel refuses the request.
    pub fn unbind(&self, offset: u64, len: u64) -> Result<()> {
        let event = self.unbind_quiet(offset, len)?;
        self.device.notify(|| event);
        Ok(())
    }

    /// Unbinds like [`Reservation::unbind`] and returns the event, which the caller reports.
    pub(crate) fn unbind_quiet(&self, offset: u64, len: u64) -> Result<Event> {
        let piece = self.piece(offset, len)?;
        operate(&self.device, VaOperation::Replace, piece, None, VaFlags::PRT)?;
        Ok(Event::Unbound { range: piece })
    }

    fn piece(&self, offset: u64, len: u64) -> Result<VaRange> {
        aligned("offset in the range", offset)?;
        aligned("bound length", len)?;
        let outside = Error::OutOfRange(OutOfRange { handle: 0, offset, len, size: self.range.len() });
        if len == 0 || offset.checked_add(len).is_none_or(|end| end > self.range.len()) {
            return Err(outside);
        }
        let start = self.range.start().checked_add(offset).ok_or_else(|| outside.clone())?;
        VaRange::new(start, len).ok_or(outside)
    }
}

fn aligned(what: &'static str, value: u64) -> Result<()> {
    if value.is_multiple_of(PAGE_SIZE) {
        Ok(())
    } else {
        Err(Error::Misaligned(Misaligned { what, value, alignment: PAGE_SIZE }))
    }
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
    send(device.kernel(), &mut argument).map_err(|errno| {
        Error::Kernel(KernelError::of_range(GemVa::NAME, argument.handle, range.start(), range.len(), errno))
    })?;
    device.page_table_changes().note();
    Ok(())
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let (device, range) = (&self.device, self.range);
        let mut argument = argument(VaOperation::Clear, range, None, VaFlags::empty());
        let cleared = release(|| send_quietly(device.kernel(), &mut argument));
        match self.lease.take() {
            Some(lease) if cleared.is_done() => device.addresses().free(lease),
            // The page tables may still map these addresses, so they must not be reused.
            Some(lease) => device.leak(lease),
            None => {}
        }
        if cleared.is_done() {
            device.notify(|| Event::Unbound { range });
        }
        cleared.report(GemVa::NAME, 0);
    }
}
