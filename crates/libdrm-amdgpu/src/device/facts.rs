//! Queries into memory of this library.

use amdgpu_winsys::{
    uapi::{DevInfo, Info, Version},
    winsys::Errno,
};

use crate::kernel::Lent;

/// The answer to DEV_INFO in the size that libdrm 2.4.134 asks for.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DevInfoAnswer {
    pub(crate) known: DevInfo,
    more: u64,
}

const _: () = assert!(size_of::<DevInfoAnswer>() == 448);

/// Types that a kernel may overwrite with any bytes.
///
/// # Safety
///
/// Every bit pattern is a value of the type.
pub(super) unsafe trait Answer {}

// SAFETY: an integer.
unsafe impl Answer for u32 {}
// SAFETY: integers, as the layout of the kernel's header.
unsafe impl Answer for amdgpu_winsys::uapi::GpuvmFault {}
// SAFETY: integers, as the layout of the kernel's header.
unsafe impl Answer for DevInfoAnswer {}
// SAFETY: integers, as the layout of the kernel's header.
unsafe impl Answer for amdgpu_winsys::uapi::InfoHwIp {}

/// Makes an INFO query whose answer has the size of `values`.
pub(super) fn ask<T: Answer>(node: &Lent<'_>, query: u32, input: [u32; 4], values: &mut [T]) -> Result<(), Errno> {
    let mut argument = Info {
        return_pointer: values.as_mut_ptr().expose_provenance() as u64,
        return_size: u32::try_from(size_of_val(values)).map_err(|_| Errno::EINVAL)?,
        query,
        input,
    };
    // SAFETY: the only address is that of `values`, which are exclusive, as long as the size says, and may take any bytes.
    unsafe { node.follow(&mut argument) }
}

/// Asks for the driver's version as `drmGetVersion` does: the lengths of three strings first, and then the strings, which nobody
/// looks at.
pub(super) fn version(node: &Lent<'_>) -> Result<(i32, i32), Errno> {
    /// The longest string that is believed.
    const LONGEST: u64 = 1 << 16;
    let mut argument = Version::ZEROED;
    // SAFETY: all lengths are 0, so the kernel writes to no address.
    unsafe { node.follow(&mut argument) }?;
    let Version { name_len, date_len, desc_len, .. } = argument;
    let buffer = |len: u64| -> Result<Vec<u8>, Errno> {
        if len > LONGEST { Err(Errno::ENOMEM) } else { Ok(vec![0; len as usize]) }
    };
    let mut buffers = [buffer(name_len)?, buffer(date_len)?, buffer(desc_len)?];
    let [name, date, desc] =
        buffers.each_mut().map(|text| if text.is_empty() { 0 } else { text.as_mut_ptr().expose_provenance() as u64 });
    argument.name = name;
    argument.date = date;
    argument.desc = desc;
    // SAFETY: the three buffers are exclusive, and as long as the lengths that were asked for.
    unsafe { node.follow(&mut argument) }?;
    Ok((argument.version_major, argument.version_minor))
}
