//! The requests that query the kernel: INFO, VERSION and GET_CAP.

use amdgpu_hw::num::{count, wide};
use zerocopy::FromBytes;

use crate::{
    uapi::{self, Argument, Errno, GetCap, Info, Version},
    winsys::{
        DriverVersion, Error, Kernel, KernelError, MINIMUM_MINOR, OpenError, Result,
        kernel::{send, send_raw},
    },
};

/// A size that is larger than every answer that a kernel is known to write.
///
/// Mesa's no-op shim writes its own structure's size, whatever size was requested (448 bytes for DEV_INFO), so the buffer
/// always has this size.
const ANSWER_BYTES: usize = 1024;

#[repr(C, align(8))]
struct AnswerBuffer([u8; ANSWER_BYTES]);

/// Makes an INFO query and returns the answer as a `T`; bytes that the kernel did not write are zero.
pub(in crate::winsys) fn info<T: FromBytes>(
    kernel: &dyn Kernel,
    name: &'static str,
    query: u32,
    input: [u32; 4],
) -> Result<T> {
    const { assert!(size_of::<T>() <= ANSWER_BYTES) };
    let buffer =
        ask(kernel, query, input, size_of::<T>()).map_err(|errno| Error::Kernel(KernelError::of_query(name, errno)))?;
    match T::read_from_prefix(&buffer.0) {
        Ok((answer, _)) => Ok(answer),
        Err(_) => Err(Error::Kernel(KernelError::of_query(name, Errno::EIO))),
    }
}

/// The initial contents of a buffer that detect a short answer. No byte is zero, because padding is, and adjacent bytes
/// differ.
const MARKS: [u8; ANSWER_BYTES] = {
    let mut marks = [0; ANSWER_BYTES];
    let mut at = 0;
    while at < ANSWER_BYTES {
        marks[at] = (at * 73 % 251) as u8 + 1;
        at += 1;
    }
    marks
};

/// Makes an INFO query like [`info`], and also returns the number of bytes of `T` that the kernel wrote, a multiple of 4.
///
/// The request does not report this number, so the buffer is filled with marks: those left at its end were not overwritten.
/// An answer whose last four bytes equal their marks would count as shorter.
pub(super) fn info_counted<T: FromBytes>(
    kernel: &dyn Kernel,
    name: &'static str,
    query: u32,
    input: [u32; 4],
) -> Result<(T, usize)> {
    const { assert!(size_of::<T>() <= ANSWER_BYTES && size_of::<T>().is_multiple_of(4)) };
    let mut buffer = AnswerBuffer(MARKS);
    ask_into(&mut buffer, kernel, query, input, size_of::<T>())
        .map_err(|errno| Error::Kernel(KernelError::of_query(name, errno)))?;
    let (answer, marks) = (&mut buffer.0[..size_of::<T>()], &MARKS[..size_of::<T>()]);
    let last = answer.iter().zip(marks).rposition(|(byte, mark)| byte != mark);
    let written = last.map_or(0, |at| (at + 1).next_multiple_of(4));
    answer[written..].fill(0);
    match T::read_from_prefix(answer) {
        Ok((answer, _)) => Ok((answer, written)),
        Err(_) => Err(Error::Kernel(KernelError::of_query(name, Errno::EIO))),
    }
}

fn ask(kernel: &dyn Kernel, query: u32, input: [u32; 4], len: usize) -> Result<AnswerBuffer, Errno> {
    let mut buffer = AnswerBuffer([0; ANSWER_BYTES]);
    ask_into(&mut buffer, kernel, query, input, len)?;
    Ok(buffer)
}

fn ask_into(
    buffer: &mut AnswerBuffer,
    kernel: &dyn Kernel,
    query: u32,
    input: [u32; 4],
    len: usize,
) -> Result<(), Errno> {
    let mut argument =
        Info { return_pointer: wide(buffer.0.as_mut_ptr().expose_provenance()), return_size: count(len), query, input };
    // SAFETY: the only address is that of `buffer`, which is exclusive, outlives the call and is at least as long as any kernel or shim
    // writes. The request is a query.
    unsafe { send_raw(kernel, Info::REQUEST, &mut argument) }
}

/// Reads `N` consecutive registers, starting at dword offset `register`; `instance` selects engine and array.
pub(super) fn registers<const N: usize>(kernel: &dyn Kernel, register: u32, instance: u32) -> Result<[u32; N]> {
    const { assert!(N <= 128, "the kernel reads at most 128 registers at once") };
    info(kernel, "READ_MMR_REG", uapi::query::READ_MMR_REG, [register, count(N), instance, 0])
}

/// Reads registers, starting at dword offset `first`, with as few requests as the kernel's limit permits.
pub(super) fn read_registers(kernel: &dyn Kernel, first: u32, values: &mut [u32], instance: u32) -> Result<()> {
    /// Source: Linux 6.12 `amdgpu_kms.c`, `amdgpu_info_ioctl`, READ_MMR_REG.
    const MOST: usize = 128;
    let name = "READ_MMR_REG";
    for (number, part) in (0..).zip(values.chunks_mut(MOST)) {
        let Some(register) = first.checked_add(number * count(MOST)) else {
            return Err(Error::Kernel(KernelError::of_query(name, Errno::EINVAL)));
        };
        let input = [register, count(part.len()), instance, 0];
        let buffer = ask(kernel, uapi::query::READ_MMR_REG, input, size_of_val(part))
            .map_err(|errno| Error::Kernel(KernelError::of_query(name, errno)))?;
        for (value, bytes) in part.iter_mut().zip(buffer.0.as_chunks().0) {
            *value = u32::from_ne_bytes(*bytes);
        }
    }
    Ok(())
}

/// Makes any INFO query and copies the answer.
pub(super) fn info_bytes(kernel: &dyn Kernel, question: u32, input: [u32; 4], answer: &mut [u8]) -> Result<()> {
    let mut buffer = vec![0_u64; answer.len().max(ANSWER_BYTES).div_ceil(size_of::<u64>())];
    let mut argument = Info {
        return_pointer: wide(buffer.as_mut_ptr().expose_provenance()),
        return_size: count(answer.len()),
        query: question,
        input,
    };
    // SAFETY: the only address is that of `buffer`, which is exclusive, outlives the call and is at least as long as `return_size` and as
    // any shim writes. Every query takes the words of `input` as numbers. The request is a query.
    unsafe { send_raw(kernel, Info::REQUEST, &mut argument) }
        .map_err(|errno| Error::Kernel(KernelError::of_query("by its number", errno)))?;
    let bytes = zerocopy::IntoBytes::as_bytes(buffer.as_slice());
    answer.copy_from_slice(bytes.get(..answer.len()).unwrap_or_default());
    Ok(())
}

/// Queries the driver's name and version.
pub(super) fn version(kernel: &dyn Kernel) -> Result<(String, DriverVersion)> {
    let mut name = [0_u8; 64];
    let mut argument =
        Version { name_len: wide(name.len()), name: wide(name.as_mut_ptr().expose_provenance()), ..Version::ZEROED };
    // SAFETY: the only non-null address is that of `name`, which is exclusive and `name_len` bytes long; the other two strings have length
    // 0, so the kernel copies nothing to them. The request is a query.
    unsafe { send_raw(kernel, Version::REQUEST, &mut argument) }
        .map_err(|errno| Error::Kernel(KernelError::new(Version::NAME, errno)))?;
    // The kernel stores the full length, which may exceed the number of copied bytes.
    let len = usize::try_from(argument.name_len).unwrap_or(usize::MAX).min(name.len());
    let text = String::from_utf8_lossy(&name[..len]).trim_end_matches('\0').to_owned();
    let version = DriverVersion {
        major: argument.version_major,
        minor: argument.version_minor,
        patch: argument.version_patchlevel,
    };
    Ok((text, version))
}

/// Queries the driver's version and checks that this library supports it.
pub(super) fn check_driver(kernel: &dyn Kernel) -> Result<DriverVersion> {
    let (name, driver) = version(kernel)?;
    if name != "amdgpu" {
        return Err(Error::Open(OpenError::NotAmdgpu { name }));
    }
    if driver.major != 3 || driver.minor < MINIMUM_MINOR {
        return Err(Error::Open(OpenError::DriverVersion { major: driver.major, minor: driver.minor }));
    }
    Ok(driver)
}

/// Queries a capability of [`uapi::cap`]; 0 if the kernel does not know it. The kernel returns EINVAL for an unknown
/// number, EOPNOTSUPP if a driver without mode setting does not have the capability (Linux 6.12 `drm_ioctl.c`,
/// `drm_getcap`), and ENOTTY if it does not know the request. EPERM comes from Mesa's no-op shim, which returns -1 for
/// every capability but two; a kernel allows the query to every client.
pub(super) fn capability(kernel: &dyn Kernel, capability: u64) -> Result<u64> {
    let mut argument = GetCap { capability, value: 0 };
    match send(kernel, &mut argument) {
        Ok(()) => Ok(argument.value),
        Err(Errno::EINVAL | Errno::EOPNOTSUPP | Errno::ENOTTY | Errno::EPERM) => Ok(0),
        Err(errno) => Err(Error::Kernel(KernelError::new(GetCap::NAME, errno))),
    }
}
