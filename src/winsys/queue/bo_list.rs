//! BO lists that the kernel keeps between submissions.

use amdgpu_hw::num::{count, wide};

use crate::{
    uapi::{self, Answered, Argument, BoListEntry, Errno, bo_list_op},
    winsys::{Device, Error, KernelError, Result, answers, kernel::send_raw_quietly, release::release},
};

/// A BO list in the kernel, for submissions to refer to instead of passing their own: the kernel then neither copies the
/// entries nor looks up their handles. Dropping it destroys the list; running jobs keep the BOs that they use.
///
/// **The list keeps its BOs alive**: closing a handle does not free the memory of a listed BO, although its GPU addresses
/// are unmapped.
///
/// Source: Linux 6.12 `amdgpu_bo_list.c`, `amdgpu_bo_list_ioctl`.
///
/// ```
/// use amdgpu_winsys::{uapi::BoListEntry, winsys::BoList};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let request = amdgpu_winsys::winsys::BoRequest {
/// #     size: 64 << 10, alignment: 0, domains: amdgpu_winsys::uapi::GemDomain::GTT, flags: amdgpu_winsys::uapi::GemCreateFlags::empty(),
/// # };
/// # let bo = amdgpu_winsys::winsys::Bo::create(&device, request)?;
/// let entry = BoListEntry { bo_handle: bo.handle(), bo_priority: 14 };
/// let mut list = BoList::new(&device, &[entry])?;
/// assert_ne!(list.handle(), 0); // for `Chunks::bo_list`
/// list.update(&[])?;
/// let unknown = BoListEntry { bo_handle: 99, bo_priority: 0 };
/// assert!(list.update(&[unknown]).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct BoList {
    device: Device,
    handle: u32,
}

impl BoList {
    /// Creates a list. A BO may be listed more than once.
    ///
    /// Request: AMDGPU_BO_LIST (create).
    ///
    /// # Errors
    ///
    /// [`Error::Kernel`] if the kernel refuses the request: `EINVAL` for more than
    /// [`BO_LIST_MAX_ENTRIES`](uapi::BO_LIST_MAX_ENTRIES) entries, `ENOENT` for an unknown handle, `ENOMEM` if the kernel
    /// is out of memory. No list is created.
    pub fn new(device: &Device, entries: &[BoListEntry]) -> Result<Self> {
        // The kernel writes the answer over the operation, which is 0.
        let handle = answers::handle(request(device, bo_list_op::CREATE, 0, entries)?)
            .map_err(|errno| Error::Kernel(KernelError::new(uapi::BoList::NAME, errno)))?;
        Ok(Self { device: device.clone(), handle })
    }

    /// Replaces all entries. Earlier submissions keep the old ones.
    ///
    /// Request: AMDGPU_BO_LIST (update).
    ///
    /// # Errors
    ///
    /// The errors of [`BoList::new`]; the list is then unchanged.
    pub fn update(&mut self, entries: &[BoListEntry]) -> Result<()> {
        request(&self.device, bo_list_op::UPDATE, self.handle, entries).map(drop)
    }

    /// Returns the handle of the list, which is valid in the device's open file.
    pub fn handle(&self) -> u32 {
        self.handle
    }
}

impl Drop for BoList {
    fn drop(&mut self) {
        let destroy = || ask(&self.device, bo_list_op::DESTROY, self.handle, &[]).map(drop);
        release(destroy).report(uapi::BoList::NAME, self.handle);
    }
}

fn request(device: &Device, operation: u32, list_handle: u32, entries: &[BoListEntry]) -> Result<u32> {
    let refused = |errno| Error::Kernel(KernelError::new(uapi::BoList::NAME, errno));
    ask(device, operation, list_handle, entries).map_err(refused)
}

fn ask(device: &Device, operation: u32, list_handle: u32, entries: &[BoListEntry]) -> Result<u32, Errno> {
    let bo_number = u32::try_from(entries.len()).map_err(|_| Errno::EINVAL)?;
    let mut argument = uapi::BoList {
        operation,
        list_handle,
        bo_number,
        bo_info_size: count(size_of::<BoListEntry>()),
        bo_info_ptr: wide(entries.as_ptr().expose_provenance()),
    };
    // SAFETY: the only address is that of `entries`, which has `bo_number` elements of `bo_info_size` bytes; the kernel only reads them.
    // The list that the request makes or changes is this one.
    unsafe { send_raw_quietly(device.kernel(), uapi::BoList::REQUEST, &mut argument) }?;
    Ok(argument.answer().list_handle)
}
