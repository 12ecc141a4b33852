//! The error of a thread's last failing call.
//!
//! Nothing here has a destructor: a thread-local variable with one makes the C library keep the shared object loaded for ever,
//! and a Vulkan loader unloads drivers.

use std::{
    cell::{Cell, UnsafeCell},
    ffi::c_char,
};

use amdgpu_winsys::winsys::{Blame, LossReason};

use super::{
    failure::Failure,
    result::{AGW_ERROR_INVALID_ARGUMENT, AGW_NOT_READY, AGW_SUCCESS},
    versioned::{Versioned, write},
};

/// The longest text, with its zero.
const TEXT_BYTES: usize = 512;

thread_local! {
    static TEXT: UnsafeCell<[u8; TEXT_BYTES]> = const { UnsafeCell::new([0; TEXT_BYTES]) };
    static ERRNO: Cell<i32> = const { Cell::new(0) };
    static LOSS: Cell<Option<agw_loss>> = const { Cell::new(None) };
}

/// The kernel's account of lost work.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agw_loss {
    /// `sizeof(struct agw_loss)`.
    pub struct_size: u32,
    /// Zero.
    pub reserved: u32,
    /// 1 a job of this context hung, 2 a reset took the work along, 3 VRAM was lost, 4 the GPU was removed, 5 its memory is
    /// damaged.
    pub reason: u32,
    /// 0 unknown, 1 a job of this context was the cause, 2 it was not.
    pub blame: u32,
    /// Not zero if the contents of VRAM are undefined now.
    pub vram_lost: u32,
    /// The errno that reported it.
    pub errno_value: i32,
}

// SAFETY: all fields are integers, and the first two are the size and zero.
unsafe impl Versioned for agw_loss {
    const NAME: &'static str = "struct agw_loss";
}

/// Keeps the failure for [`agw_last_error`] and its likes.
pub(super) fn keep(failure: &Failure) {
    let Some(details) = failure.details() else { return };
    ERRNO.set(details.errno);
    LOSS.set(details.loss.map(|loss| agw_loss {
        struct_size: 0,
        reserved: 0,
        reason: match loss.reason {
            LossReason::Hung => 1,
            LossReason::Reset => 2,
            LossReason::VramLost => 3,
            LossReason::Unplugged => 4,
            LossReason::Poisoned => 5,
            _ => 0,
        },
        blame: match loss.blame {
            Blame::Unknown => 0,
            Blame::Guilty => 1,
            Blame::Innocent => 2,
        },
        vram_lost: loss.vram_lost.into(),
        errno_value: details.errno,
    }));
    // At the start of a character, so that what is cut off leaves whole ones.
    let text = &details.text;
    let len = (0..TEXT_BYTES).rev().find(|&len| text.is_char_boundary(len)).unwrap_or(0);
    let bytes = text.as_bytes().get(..len).unwrap_or(text.as_bytes());
    TEXT.with(|room| {
        // SAFETY: the room is this thread's, and no reference to it is held anywhere: C has its address only.
        let room = unsafe { &mut *room.get() };
        room.fill(0);
        for (to, from) in room.iter_mut().zip(bytes) {
            *to = *from;
        }
    });
}

/// Returns the text of the calling thread's last failing call, which is empty before the first. It is valid until the thread's
/// next failing call.
#[unsafe(no_mangle)]
pub extern "C" fn agw_last_error() -> *const c_char {
    TEXT.with(|room| room.get().cast::<c_char>().cast_const())
}

/// Returns the kernel's errno of the calling thread's last failing call; 0 if the kernel was not asked.
#[unsafe(no_mangle)]
pub extern "C" fn agw_last_errno() -> i32 {
    ERRNO.get()
}

/// Writes the account of lost work to `loss`, after a call that failed with `AGW_ERROR_DEVICE_LOST`; `AGW_NOT_READY` if the calling thread's last
/// failing call reported no loss.
///
/// # Safety
///
/// `loss` is null, or valid for writing as many bytes as its `struct_size` says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_last_loss(loss: *mut agw_loss) -> i32 {
    let Some(last) = LOSS.get() else { return AGW_NOT_READY };
    // SAFETY: the caller's promise.
    match unsafe { write(loss, last) } {
        Ok(()) => AGW_SUCCESS,
        Err(_) => AGW_ERROR_INVALID_ARGUMENT,
    }
}
