//! The error of a thread's last failing call.
//!
//! Nothing here has a destructor. A thread-local variable with a destructor makes the C library keep the shared object loaded
//! for ever, but Vulkan loaders unload drivers.

use std::{
    cell::{Cell, UnsafeCell},
    ffi::c_char,
};

use amdgpu_winsys::winsys::{Blame, LossReason};

use super::{
    checked::within,
    failure::Failure,
    memory::check_out,
    result::{AGW_NOT_READY, AGW_SUCCESS},
    versioned::{Versioned, write},
};

/// Maximum size of the text in bytes, including the terminating zero.
const TEXT_BYTES: usize = 512;

thread_local! {
    static TEXT: UnsafeCell<[u8; TEXT_BYTES]> = const { UnsafeCell::new([0; TEXT_BYTES]) };
    static ERRNO: Cell<i32> = const { Cell::new(0) };
    static LOSS: Cell<Option<agw_loss>> = const { Cell::new(None) };
}

/// The details of lost work that the kernel reported.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agw_loss {
    /// `sizeof(struct agw_loss)`.
    pub struct_size: u32,
    /// Reserved, zero.
    pub reserved: u32,
    /// The reason: 1 a job of this context hung, 2 a reset lost the work, 3 VRAM was lost, 4 the GPU was removed, 5 its memory
    /// is damaged.
    pub reason: u32,
    /// The cause: 0 unknown, 1 a job of this context, 2 not a job of this context.
    pub blame: u32,
    /// Not zero if the contents of VRAM are undefined.
    pub vram_lost: u32,
    /// The errno that reported the loss.
    pub errno_value: i32,
}

// SAFETY: all fields are integers, and the first two are the size and zero.
unsafe impl Versioned for agw_loss {
    const NAME: &'static str = "struct agw_loss";
}

/// Stores the failure for [`agw_last_error`] and the similar functions.
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
    keep_text(&details.text);
}

fn keep_text(text: &str) {
    // Cut at the start of a character, so that the rest consists of whole characters.
    let len = (0..TEXT_BYTES).rev().find(|&len| text.is_char_boundary(len)).unwrap_or(0);
    let bytes = text.as_bytes().get(..len).unwrap_or(text.as_bytes());
    TEXT.with(|room| {
        // SAFETY: the buffer belongs to this thread, and no reference to it exists; C only has its address.
        let room = unsafe { &mut *room.get() };
        room.fill(0);
        for (to, from) in room.iter_mut().zip(bytes) {
            *to = *from;
        }
    });
}

/// Returns the text of the calling thread's last failed call, which is empty before the first. It is valid until the next
/// failed call of the thread.
#[unsafe(no_mangle)]
pub extern "C" fn agw_last_error() -> *const c_char {
    TEXT.with(|room| room.get().cast::<c_char>().cast_const())
}

/// Returns the kernel's errno of the calling thread's last failed call; 0 if the call failed without a request to the kernel.
#[unsafe(no_mangle)]
pub extern "C" fn agw_last_errno() -> i32 {
    ERRNO.get()
}

/// Writes the details of lost work to `loss`, after a call that returned `AGW_ERROR_DEVICE_LOST`. Returns `AGW_NOT_READY` if
/// the calling thread's last failed call reported no loss.
///
/// # Safety
///
/// `loss` is null, or valid for writing as many bytes as its `struct_size` says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_last_loss(loss: *mut agw_loss) -> i32 {
    let answer = || {
        check_out(loss, "loss")?;
        let last = LOSS.get().ok_or_else(|| Failure::outcome(AGW_NOT_READY))?;
        // SAFETY: the caller's promise.
        unsafe { write(loss, last) }
    };
    match within(answer) {
        Ok(()) => AGW_SUCCESS,
        Err(failure) => {
            // The loss stays, so that the call can be repeated with a valid argument.
            if failure.code() < 0 {
                keep_text(failure.text());
            }
            failure.code()
        }
    }
}
