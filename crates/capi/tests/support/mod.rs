//! Structures of the C ABI that several test programs fill in.
#![allow(dead_code, reason = "each program uses some of them")]

use std::{mem::size_of, ptr::null};

use amdgpu_winsys_c::{objects::*, recording::*};

/// The size of a structure, as its first field wants it.
pub(crate) fn size<T>() -> u32 {
    u32::try_from(size_of::<T>()).unwrap()
}

/// A mapped BO in system memory.
pub(crate) fn request(size: u64) -> agw_bo_request {
    agw_bo_request {
        struct_size: self::size::<agw_bo_request>(),
        reserved: 0,
        size,
        alignment: 0,
        va_alignment: 0,
        address: 0,
        domains: 2,
        flags: 1,
        va_flags: 2 | 4,
        va_placement: 0,
        priority: 0,
        pad: 0,
    }
}

/// WRITE_DATA of one word to memory.
pub(crate) fn store(va: u64, value: u32) -> [u32; 5] {
    [0xc003_3700, 5 << 8 | 1 << 20, va as u32, (va >> 32) as u32, value]
}

/// A submission of streams that signals points, and keeps nothing.
pub(crate) fn submission(streams: &[*const agw_stream], signals: &[agw_sync_point]) -> agw_submission {
    agw_submission {
        struct_size: size::<agw_submission>(),
        reserved: 0,
        streams: streams.as_ptr(),
        initial: null(),
        further: null(),
        last: null(),
        followers: null(),
        bos: null(),
        sets: null(),
        waits: null(),
        signals: signals.as_ptr(),
        stream_count: u32::try_from(streams.len()).unwrap(),
        initial_count: 0,
        further_count: 0,
        last_count: 0,
        follower_count: 0,
        bo_count: 0,
        set_count: 0,
        wait_count: 0,
        signal_count: u32::try_from(signals.len()).unwrap(),
        keep: AGW_SUBMIT_KEEP_NOTHING,
        flags: 0,
        pad: 0,
    }
}
