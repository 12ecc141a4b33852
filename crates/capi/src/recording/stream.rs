//! Streams, which are recorded through a window of memory.

use std::{ffi::c_void, sync::Arc};

use amdgpu_hw::num::{index, wide};
use amdgpu_winsys::winsys::Ip;

use super::open::{Kind, List, Open};
use crate::{
    border::{
        AGW_ERROR_IN_USE, Answer, Contracted, Failure, Handle, IS_CHECKED, Out, Shell, broken, create, entry, release,
        shell, within,
    },
    objects::{DeviceState, SINK_DWORDS, agw_device, device, ip},
};

/// The stream is executed by other streams, not by a queue.
pub const AGW_STREAM_SECONDARY: u32 = 1 << 0;
/// The stream is never chained to another one, in either order.
pub const AGW_STREAM_UNCHAINED: u32 = 1 << 1;
/// The commands are in system memory, also where VRAM would be faster. Streams for user queues of `AGW_IP_SDMA` need this: nothing
/// flushes what the CPU wrote to VRAM before the engine reads it. Streams with `AGW_STREAM_SECONDARY` ignore it.
pub const AGW_STREAM_IN_SYSTEM_MEMORY: u32 = 1 << 2;

/// A command stream and, after `agw_stream_finalize`, its command list.
pub struct agw_stream {
    _private: [u8; 0],
}

/// The window of memory that a stream is recorded through, at the start of every `agw_stream`. Its layout is that of Mesa's
/// `struct radeon_cmdbuf`, so that a stream can be used in its place.
///
/// Between two calls the caller owns `buf[0 .. max_dw)`: it stores dwords, advances `cdw`, and may read and patch the dwords
/// below `cdw`. Before it stores `n` dwords, it ensures with `agw_stream_reserve` that `max_dw - cdw` is at least `n`, after
/// which all four fields may have changed. The counters have 64 bits, so that a compiler knows that stores through `buf` do not
/// change them.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agw_cmd_window {
    /// Number of dwords that are used in this chunk.
    pub cdw: u64,
    /// Size of the chunk in dwords. There is room for padding and a jump after it.
    pub max_dw: u64,
    /// For the caller's use. After each call it is at least `cdw`, and equal to it in a new chunk.
    pub reserved_dw: u64,
    /// The memory of the chunk.
    pub buf: *mut u32,
}

/// The first bytes of every `agw_stream`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agw_stream_head {
    /// The window that the stream is recorded through.
    pub window: agw_cmd_window,
    /// For the caller's use; the library does not access it.
    pub user: *mut c_void,
    /// IP type, `AGW_IP_*`; read-only.
    pub ip: u32,
    /// 1 while `agw_stream_unchain` has something to undo, else 0; read-only.
    pub is_chained: u32,
}

impl Handle for agw_stream {
    type Head = agw_stream_head;
    type Body = StreamBody;
    const NAME: &'static str = "agw_stream";
}

pub(crate) struct StreamBody {
    /// One thread at a time records, but several may submit a finalized stream.
    pub(crate) recording: Contracted<Recording>,
    pub(crate) is_unchained: bool,
    pub(crate) state: Arc<DeviceState>,
}

/// A stream in one of its stages, and its creation parameters.
pub(crate) struct Recording {
    pub(crate) stage: Stage,
    ip: Ip,
    kind: Kind,
    dwords: usize,
}

#[expect(clippy::large_enum_variant, reason = "there is one in each stream, which stays where it is")]
pub(crate) enum Stage {
    Open(Open),
    Closed(List),
    /// Recorded dwords are discarded; `agw_stream_finalize` returns the reason.
    Poisoned {
        code: i32,
        text: String,
    },
}

/// Returns the object behind a handle, and records that the current call works on its device.
///
/// # Safety
///
/// The requirements of [`shell`].
#[inline]
pub(crate) unsafe fn stream<'a>(handle: *const agw_stream, argument: &str) -> Answer<&'a Shell<agw_stream>> {
    // SAFETY: the caller promises that `handle` is null, which is answered, or an object of its type that nothing frees before this call
    // returns. The reference ends with the call, and until then the object is changed through its own cells only.
    let stream = unsafe { shell(handle, argument) }?;
    stream.body().state.touch()?;
    Ok(stream)
}

/// Runs a call on a stream that is being recorded. Accounts for the dwords that the caller stored first, and updates the window
/// afterwards.
///
/// An error poisons the stream, and is returned.
///
/// # Safety
///
/// Nothing else uses the stream, as the rules of streams require.
pub(crate) unsafe fn record(stream: &Shell<agw_stream>, call: impl FnOnce(&mut Open) -> Answer) -> Answer {
    let (head, body) = (window_of(stream), stream.body());
    // SAFETY: the caller's promise; `call` uses no other stream.
    let Some(mut recording) = (unsafe { body.recording.change() }) else { return Err(busy("stream")) };
    let stage = &mut recording.stage;
    match stage {
        Stage::Open(open) => {
            // SAFETY: the head of a live object; C does not access it during the call.
            let before = unsafe { head.read() };
            let outcome = take_over(open, before.cdw).and_then(|()| call(open));
            if let Err(failure) = outcome {
                // SAFETY: as above.
                unsafe { poison(stream, stage, &failure) };
                return Err(failure);
            }
            let mut after = window(open);
            if after.buf == before.buf {
                after.reserved_dw = before.reserved_dw.max(after.cdw);
            }
            // SAFETY: as above.
            unsafe { head.write(after) };
            Ok(())
        }
        Stage::Poisoned { code, text } => {
            // SAFETY: as above.
            unsafe { (*head).cdw = 0 };
            Err(Failure::new(*code, text.clone()))
        }
        Stage::Closed(_) => Err(Failure::new(AGW_ERROR_IN_USE, "the stream was finalized")),
    }
}

/// Returns the address of a stream's window, with which its head begins.
fn window_of(stream: &Shell<agw_stream>) -> *mut agw_cmd_window {
    stream.head().cast()
}

/// Returns the failure for a stream that another call uses, against the rule of one thread at a time.
#[cold]
pub(super) fn busy(argument: &str) -> Failure {
    const FAULT: &str = "another thread uses the stream";
    if IS_CHECKED {
        return broken(argument, FAULT);
    }
    Failure::new(AGW_ERROR_IN_USE, format!("{argument}: {FAULT}"))
}

/// Stores in the head of a stream whether another stream is appended to it.
///
/// # Safety
///
/// Nothing else uses the stream.
pub(super) unsafe fn note_chained(stream: &Shell<agw_stream>, is_chained: bool) {
    // SAFETY: the head of a live object, and the caller's promise.
    unsafe { (*stream.head()).is_chained = is_chained.into() };
}

/// Records the dwords that the caller stored.
fn take_over(open: &mut Open, used: u64) -> Answer {
    let stored = used.checked_sub(wide(open.chunk_len()));
    match stored.and_then(|stored| usize::try_from(stored).ok()) {
        Some(stored) => open.advance(stored).map_err(|_| Failure::argument("cdw", "is more than max_dw")),
        None => Err(Failure::argument("cdw", "is less than it was after the last call")),
    }
}

/// Returns the window of a stream.
fn window(open: &mut Open) -> agw_cmd_window {
    let cdw = wide(open.chunk_len());
    let chunk = open.chunk();
    agw_cmd_window { cdw, max_dw: wide(chunk.len()), reserved_dw: cdw, buf: chunk.as_mut_ptr() }
}

/// Poisons a stream: dwords that are recorded from now on are discarded.
///
/// # Safety
///
/// Nothing else uses the stream.
unsafe fn poison(stream: &Shell<agw_stream>, stage: &mut Stage, failure: &Failure) {
    *stage = Stage::Poisoned { code: failure.code(), text: failure.text().to_owned() };
    let (max_dw, buf) = (wide(SINK_DWORDS), stream.body().state.sink());
    // SAFETY: the head of a live object, and the caller's promise.
    unsafe { window_of(stream).write(agw_cmd_window { cdw: 0, max_dw, reserved_dw: 0, buf }) };
}

/// Creates a stream for the rings of an IP, with room for `dwords` dwords before it grows.
///
/// A stream for a video engine (`AGW_IP_UVD` to `AGW_IP_VPE`) has one IB of dwords that the caller encodes: when it
/// grows, the window moves to larger memory with a copy of the dwords. It is padded where the engine has NOPs, ignores annotations,
/// copies the streams that it executes, and is never chained.
///
/// # Safety
///
/// `device` is null or a device that was not freed; `stream` is null or valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_stream_create(
    device: *const agw_device,
    ip_type: u32,
    flags: u32,
    dwords: u32,
    stream: *mut *mut agw_stream,
) -> i32 {
    entry(|| {
        // SAFETY: the caller promises that `device` is null, which is answered, or a device that nothing frees before this call returns.
        // The reference ends with the call, and until then the object is changed through its own cells only.
        let state = unsafe { self::device(device) }?;
        // SAFETY: the caller's promise.
        let stream = unsafe { Out::new(stream, "stream") }?;
        if flags & !(AGW_STREAM_SECONDARY | AGW_STREAM_UNCHAINED | AGW_STREAM_IN_SYSTEM_MEMORY) != 0 {
            return Err(Failure::argument("flags", "has unknown bits"));
        }
        let ip = ip(ip_type)?;
        let kind = Kind {
            is_secondary: flags & AGW_STREAM_SECONDARY != 0,
            is_in_system_memory: flags & AGW_STREAM_IN_SYSTEM_MEMORY != 0,
        };
        let dwords = index(dwords);
        let mut open = Open::new(&state.device, ip, kind, dwords)?;
        let head =
            agw_stream_head { window: window(&mut open), user: std::ptr::null_mut(), ip: ip_type, is_chained: 0 };
        let is_unchained = flags & AGW_STREAM_UNCHAINED != 0;
        let recording = Recording { stage: Stage::Open(open), ip, kind, dwords };
        let body = StreamBody { recording: Contracted::new(recording), is_unchained, state: Arc::clone(state) };
        let made = create(head, body)?;
        stream.put(made);
        Ok(())
    })
}

/// Makes room for at least `dwords` dwords, up to 2^20. Never fails: if there is no memory, the stream is poisoned, stored
/// dwords are discarded, and `agw_stream_finalize` returns the error.
///
/// # Safety
///
/// `stream` is null or a stream that was not destroyed, and that nothing else uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_stream_grow(stream: *mut agw_stream, dwords: u64) {
    entry(|| {
        // SAFETY: the caller promises that `stream` is null, which is answered, or a stream that nothing frees before this call returns.
        // The reference ends with the call, and until then the object is changed through its own cells only.
        let stream = unsafe { self::stream(stream, "stream") }?;
        let dwords = usize::try_from(dwords).unwrap_or(usize::MAX);
        // SAFETY: the caller promises that nothing else uses the stream until this call returns, which is when the exclusive access of
        // `record` has ended.
        unsafe { record(stream, |open| open.grow(dwords)) }
    });
}

/// Finalizes a stream, which can then be submitted, executed, chained and reset. If the stream is poisoned, returns the error
/// that poisoned it.
///
/// # Safety
///
/// `stream` is null or a stream that was not destroyed, and that nothing else uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_stream_finalize(stream: *mut agw_stream) -> i32 {
    entry(|| {
        // SAFETY: the caller promises that `stream` is null, which is answered, or a stream that nothing frees before this call returns.
        // The reference ends with the call, and until then the object is changed through its own cells only.
        let stream = unsafe { self::stream(stream, "stream") }?;
        // SAFETY: the caller promises that nothing else uses the stream until this call returns, which is when the exclusive access of
        // `record` has ended.
        unsafe { record(stream, |_| Ok(())) }?;
        // SAFETY: the caller promises that nothing else uses the stream until this call returns. Access that an earlier call in this
        // function took has ended with it, so this is the only one.
        let Some(mut recording) = (unsafe { stream.body().recording.change() }) else { return Err(busy("stream")) };
        let stage = &mut recording.stage;
        let empty = Stage::Poisoned { code: AGW_ERROR_IN_USE, text: String::new() };
        let Stage::Open(open) = std::mem::replace(stage, empty) else { return Err(busy("stream")) };
        match open.finish() {
            Ok(list) => {
                let last = list.last_len();
                // SAFETY: the head of a live object, which only the caller uses. The chunk stays in place: the list owns it.
                unsafe { (*window_of(stream)).cdw = wide(last) };
                *stage = Stage::Closed(list);
                Ok(())
            }
            Err(failure) => {
                // SAFETY: the caller promises that nothing else uses the stream until this call returns, and `stage` is the one access to
                // its state here.
                unsafe { poison(stream, stage, &failure) };
                Err(failure)
            }
        }
    })
}

/// Discards the recorded commands, and an error if there was one. The memory is reused, unless a queue or another stream still
/// uses it.
///
/// # Safety
///
/// `stream` is null or a stream that was not destroyed, and that nothing else uses; no job of it is running.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_stream_reset(stream: *mut agw_stream) -> i32 {
    entry(|| {
        // SAFETY: the caller promises that `stream` is null, which is answered, or a stream that nothing frees before this call returns.
        // The reference ends with the call, and until then the object is changed through its own cells only.
        let stream = unsafe { self::stream(stream, "stream") }?;
        let body = stream.body();
        // SAFETY: the caller promises that nothing else uses the stream until this call returns. `record` has returned and given its
        // access up, so this is the only one.
        let Some(mut recording) = (unsafe { body.recording.change() }) else { return Err(busy("stream")) };
        let Recording { stage, ip, kind, dwords } = &mut *recording;
        let empty = Stage::Poisoned { code: AGW_ERROR_IN_USE, text: String::new() };
        let anew = || Open::new(&body.state.device, *ip, *kind, *dwords);
        let opened = match std::mem::replace(stage, empty) {
            Stage::Open(mut open) => {
                open.clear();
                Ok(open)
            }
            Stage::Closed(list) => Open::again(list).or_else(|_in_use| anew()),
            Stage::Poisoned { .. } => anew(),
        };
        match opened {
            Ok(mut open) => {
                // SAFETY: the head of a live object, which only the caller uses.
                unsafe { window_of(stream).write(window(&mut open)) };
                // SAFETY: the caller promises that nothing else uses the stream until this call returns.
                unsafe { note_chained(stream, false) };
                *stage = Stage::Open(open);
                Ok(())
            }
            Err(failure) => {
                // SAFETY: the caller promises that nothing else uses the stream until this call returns, and `stage` is the one access to
                // its state here.
                unsafe { poison(stream, stage, &failure) };
                Err(failure)
            }
        }
    })
}

/// Destroys a stream. Queues and streams that use its list keep the list.
///
/// # Safety
///
/// `stream` is null or a stream that was not destroyed, and that nothing else uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_stream_destroy(stream: *mut agw_stream) {
    // SAFETY: the caller promises that `stream` is null, which is ignored, or an object whose reference it gives up: it does not use it again.
    unsafe { within(|| release(stream, "stream")) };
}
