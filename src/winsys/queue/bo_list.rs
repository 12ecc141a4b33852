//! Lists of BOs that the kernel keeps.

use amdgpu_hw::num::{count, wide};

use crate::{
    uapi::{self, Answered, Argument, BoListEntry, Errno, bo_list_op},
    winsys::{Device, Error, Result, answers, kernel::send_raw_quietly, release::release},
};

/// A list of BOs that submissions can name instead of carrying it: the kernel then neither copies the entries nor looks up
/// their handles. Destroyed on drop; jobs that run keep what they need.
///
/// **It keeps its BOs alive**, as long as it names them: closing a handle gives no memory back then. (Their bindings go
/// all the same.)
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
    /// Makes a list; duplicates are allowed.
    ///
    /// Request: AMDGPU_BO_LIST (create).
    ///
    /// # Errors
    ///
    /// [`Error::Ioctl`]: `EINVAL` for more than [`BO_LIST_MAX_ENTRIES`](uapi::BO_LIST_MAX_ENTRIES), `ENOENT` for an unknown
    /// handle, `ENOMEM`. There is no list then, and none to give back.
    pub fn new(device: &Device, entries: &[BoListEntry]) -> Result<Self> {
        // The operation, over which the answer is written, is 0.
        let handle = answers::handle(request(device, bo_list_op::CREATE, 0, entries)?)
            .map_err(|errno| Error::Ioctl { request: uapi::BoList::NAME, errno })?;
        Ok(Self { device: device.clone(), handle })
    }

    /// Replaces all entries. Submissions from before keep the old ones.
    ///
    /// Request: AMDGPU_BO_LIST (update).
    ///
    /// # Errors
    ///
    /// Those of [`BoList::new`]; the list is then as it was.
    pub fn update(&mut self, entries: &[BoListEntry]) -> Result<()> {
        request(&self.device, bo_list_op::UPDATE, self.handle, entries).map(drop)
    }

    /// Returns the kernel's name for it within the device's file.
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
    let refused = |errno| Error::Ioctl { request: uapi::BoList::NAME, errno };
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
    // SAFETY: the one address is that of `entries`, as many as `bo_number` says and as large as `bo_info_size` says, which
    // the kernel only reads.
    unsafe { send_raw_quietly(device.kernel(), uapi::BoList::REQUEST, &mut argument) }?;
    Ok(argument.answer().list_handle)
}
