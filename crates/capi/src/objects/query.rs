//! Queries of a device.

use std::ffi::{CString, c_char, c_void};

use amdgpu_winsys::winsys::{Device, Ip, Sensor, UserRing};

use super::device::{agw_device, device};
use crate::border::{
    AGW_ERROR_FEATURE_NOT_PRESENT, Answer, Failure, Out, Versioned, array_mut, check_out, entry, value, write,
};

/// Bytes of CPU-invisible VRAM that the device's own BOs occupy.
pub const AGW_QUERY_OWN_INVISIBLE_VRAM: u32 = 0;
/// Bytes of CPU-visible VRAM that the device's own BOs occupy.
pub const AGW_QUERY_OWN_VISIBLE_VRAM: u32 = 1;
/// Bytes of GTT that the device's own BOs occupy.
pub const AGW_QUERY_OWN_GTT: u32 = 2;
/// The GPU's timestamp counter.
pub const AGW_QUERY_TIMESTAMP: u32 = 3;
/// Bytes that the kernel has moved between memory domains.
pub const AGW_QUERY_BYTES_MOVED: u32 = 4;
/// Number of BOs that the kernel has evicted from VRAM.
pub const AGW_QUERY_EVICTIONS: u32 = 5;
/// Number of CPU page faults for which the kernel had to move a BO.
pub const AGW_QUERY_CPU_PAGE_FAULTS: u32 = 6;
/// Bytes of VRAM that all processes use.
pub const AGW_QUERY_VRAM_USAGE: u32 = 7;
/// Bytes of CPU-visible VRAM that all processes use.
pub const AGW_QUERY_VISIBLE_VRAM_USAGE: u32 = 8;
/// Bytes of GTT that all processes use.
pub const AGW_QUERY_GTT_USAGE: u32 = 9;
/// Temperature in thousandths of a degree Celsius; 0 if there is no sensor.
pub const AGW_QUERY_TEMPERATURE: u32 = 10;
/// Shader clock in MHz; 0 if there is no sensor.
pub const AGW_QUERY_SHADER_CLOCK: u32 = 11;
/// Memory clock in MHz; 0 if there is no sensor.
pub const AGW_QUERY_MEMORY_CLOCK: u32 = 12;
/// Number of resets so far that lost the contents of VRAM.
pub const AGW_QUERY_VRAM_LOST: u32 = 13;
/// IPs of which `agw_queue_create_user` makes queues, a bit `1 << AGW_IP_*` each; 0 where the chip or the kernel has no user queues.
pub const AGW_QUERY_USER_QUEUE_IPS: u32 = 14;

/// The last VM fault of a device.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agw_page_fault {
    /// `sizeof(struct agw_page_fault)`.
    pub struct_size: u32,
    /// Reserved, zero.
    pub reserved: u32,
    /// Address of the page that faulted, 48 bits, as the kernel reports it.
    pub address: u64,
    /// Value of the fault status register; 0 if there was no fault.
    pub status: u32,
    /// The hub that reported the fault.
    pub hub: u32,
}

// SAFETY: all fields are integers, and the first two are the size and zero.
unsafe impl Versioned for agw_page_fault {
    const NAME: &'static str = "struct agw_page_fault";
}

/// Makes the INFO query `query` with four words of input, for callers that derive facts themselves. Writes `size` bytes to
/// `answer`, with zeros after the bytes that the kernel wrote.
///
/// # Safety
///
/// `device` is null or a device that was not freed; `input` is null (for four zeros) or four words; `answer` is null or valid
/// for writing `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_device_info_raw(
    device: *const agw_device,
    query: u32,
    input: *const u32,
    answer: *mut c_void,
    size: u32,
) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let state = unsafe { self::device(device) }?;
        // SAFETY: not null, and then the caller's promise.
        let input = if input.is_null() { [0; 4] } else { unsafe { input.cast::<[u32; 4]>().read() } };
        // SAFETY: the caller's promise.
        let answer = unsafe { array_mut(answer.cast::<u8>(), size, "answer") }?;
        Ok(state.device.info_raw(query, input, answer)?)
    })
}

/// Reads `count` consecutive registers, starting at the dword offset `dword_offset`. `instance` is all ones for all engines.
///
/// # Safety
///
/// `device` is null or a device that was not freed; `values` is null or valid for writing `count` words.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_device_read_registers(
    device: *const agw_device,
    dword_offset: u32,
    count: u32,
    instance: u32,
    values: *mut u32,
) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let state = unsafe { self::device(device) }?;
        // SAFETY: the caller's promise.
        let values = unsafe { array_mut(values, count, "values") }?;
        Ok(state.device.read_registers(dword_offset, values, instance)?)
    })
}

fn user_queue_ips(device: &Device) -> Answer<u64> {
    let mut ips = 0;
    for ip in [Ip::Gfx, Ip::Compute, Ip::Sdma] {
        ips |= u64::from(UserRing::is_supported(device, ip)?) << ip.raw();
    }
    Ok(ips)
}

fn number(device: &Device, id: u32) -> Answer<u64> {
    let sensor = |sensor| device.sensor(sensor).map(|value| u64::from(value.unwrap_or(0)));
    Ok(match id {
        AGW_QUERY_OWN_INVISIBLE_VRAM => device.usage_tracker().usage().invisible_vram,
        AGW_QUERY_OWN_VISIBLE_VRAM => device.usage_tracker().usage().visible_vram,
        AGW_QUERY_OWN_GTT => device.usage_tracker().usage().gtt,
        AGW_QUERY_TIMESTAMP => device.timestamp()?,
        AGW_QUERY_BYTES_MOVED => device.move_counters()?.bytes_moved,
        AGW_QUERY_EVICTIONS => device.evictions()?,
        AGW_QUERY_CPU_PAGE_FAULTS => device.cpu_page_faults()?,
        AGW_QUERY_VRAM_USAGE => device.vram_usage()?,
        AGW_QUERY_VISIBLE_VRAM_USAGE => device.visible_vram_usage()?,
        AGW_QUERY_GTT_USAGE => device.gtt_usage()?,
        AGW_QUERY_TEMPERATURE => sensor(Sensor::Temperature)?,
        AGW_QUERY_SHADER_CLOCK => sensor(Sensor::ShaderClock)?,
        AGW_QUERY_MEMORY_CLOCK => sensor(Sensor::MemoryClock)?,
        AGW_QUERY_VRAM_LOST => device.vram_lost_counter()?.into(),
        AGW_QUERY_USER_QUEUE_IPS => user_queue_ips(device)?,
        _ => return Err(Failure::argument("id", "is no AGW_QUERY_*")),
    })
}

/// Queries a value, one of `AGW_QUERY_*`. The device's own usage takes no ioctl.
///
/// # Safety
///
/// `device` is null or a device that was not freed; `value` is null or valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_device_query(device: *const agw_device, id: u32, value: *mut u64) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let state = unsafe { self::device(device) }?;
        // SAFETY: the caller's promise.
        let value = unsafe { Out::new(value, "value") }?;
        let answer = number(&state.device, id)?;
        value.put(answer);
        Ok(())
    })
}

/// Writes the last VM fault in the device's address space to `fault`. The status is 0 if there was none.
///
/// # Safety
///
/// `device` is null or a device that was not freed; `fault` is null, or valid for writing as many bytes as its `struct_size`
/// says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_device_page_fault(device: *const agw_device, fault: *mut agw_page_fault) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let state = unsafe { self::device(device) }?;
        check_out(fault, "fault")?;
        let mut last = agw_page_fault { struct_size: 0, reserved: 0, address: 0, status: 0, hub: 0 };
        if let Some(seen) = state.device.page_fault()? {
            last.address = seen.page.as_u64() & ((1 << 48) - 1);
            (last.status, last.hub) = (seen.status, seen.hub);
        }
        // SAFETY: the caller's promise.
        unsafe { write(fault, last) }
    })
}

/// Calls `line` with a string for each range that is currently bound and, with `AGW_DUMP_HISTORY`, for each event in the history
/// of the BOs. Returns `AGW_ERROR_FEATURE_NOT_PRESENT` unless the device was opened with `AGW_DEVICE_OBSERVE`.
///
/// # Safety
///
/// `device` is null or a device that was not freed; it is valid to call `line` with `user` and a string that is valid during the
/// call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_device_dump(
    device: *const agw_device,
    flags: u32,
    line: Option<unsafe extern "C" fn(user: *mut c_void, text: *const c_char)>,
    user: *mut c_void,
) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let state = unsafe { self::device(device) }?;
        let Some(line) = line else { return Err(Failure::argument("line", "is null")) };
        if flags & !AGW_DUMP_HISTORY != 0 {
            return Err(Failure::argument("flags", "has unknown bits"));
        }
        let (Some(book), Some(history)) = (state.device.va_map(), state.device.history()) else {
            let text = "the device was opened without AGW_DEVICE_OBSERVE";
            return Err(Failure::new(AGW_ERROR_FEATURE_NOT_PRESENT, text));
        };
        let mut lines: Vec<String> = book
            .live()
            .iter()
            .map(|place| format!("{:?} BO {} offset {:#x}", place.range, place.handle, place.offset))
            .collect();
        if flags & AGW_DUMP_HISTORY != 0 {
            lines.extend(history.entries().iter().map(|entry| format!("{:?} {:?}", entry.at, entry.event)));
        }
        for text in lines {
            let text = CString::new(text).unwrap_or_default();
            // SAFETY: the caller's promise. No lock is held.
            unsafe { line(user, text.as_ptr()) };
        }
        Ok(())
    })
}

/// Includes the history of BOs and addresses in a dump.
pub const AGW_DUMP_HISTORY: u32 = 1 << 0;

/// Returns the address alignment in bytes for a BO of `size` bytes: `alignment`, but at least the fragment of the page tables
/// if the BO is as large as one. Returns 0 if `device` is null.
///
/// # Safety
///
/// `device` is null or a device that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_device_fragment_alignment(device: *const agw_device, size: u64, alignment: u64) -> u64 {
    // SAFETY: the caller's promise.
    value(0, || Ok(unsafe { self::device(device) }?.device.addresses().fragment_alignment(size, alignment)))
}
