//! Stream contents other than dwords, and operations on finalized streams.

use std::{ffi::c_char, ops::Deref};

use amdgpu_hw::num::count;
use amdgpu_winsys::{
    cs::{AnyStream, ChainFault, CommandList, Inclusion, Packet, RecordError, Target, pm4},
    vamgr::GpuVa,
};

use super::{
    open::List,
    stream::{Stage, StreamBody, agw_stream, busy, note_chained, record, stream},
};
use crate::{
    border::{AGW_ERROR_IN_USE, Answer, Failure, Turn, array_mut, entry, fill, text},
    objects::{agw_bo, agw_sparse, bo_body, gpu_address, sparse},
};

/// Copies the list instead of calling it.
pub const AGW_EXECUTE_COPY: u32 = 1 << 0;

/// An IB of a finalized stream.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agw_ib {
    /// GPU address.
    pub va: u64,
    /// Length in dwords.
    pub dwords: u32,
    /// Reserved, zero.
    pub pad: u32,
}

/// The list of a finalized stream. It is borrowed, because cloning it would take longer than the access.
pub(super) struct Closed<'a, L = CommandList> {
    pub(super) list: &'a L,
    pub(super) turn: Turn<'a>,
}

impl<L> Deref for Closed<'_, L> {
    type Target = L;

    #[inline]
    fn deref(&self) -> &L {
        self.list
    }
}

/// Returns the list of a finalized stream, of any kind of ring.
///
/// # Safety
///
/// Nothing records, finalizes, resets or destroys the stream while the list is used.
#[inline]
pub(super) unsafe fn any_closed<'a>(body: &'a StreamBody, argument: &str) -> Answer<Closed<'a, List>> {
    // SAFETY: the caller's promise.
    let Some(recording) = (unsafe { body.recording.look() }) else { return Err(busy(argument)) };
    let list = recording.part(|recording| match &recording.stage {
        Stage::Closed(list) => Some(list),
        Stage::Open(_) | Stage::Poisoned { .. } => None,
    });
    match list {
        Ok((list, turn)) => Ok(Closed { list, turn }),
        Err(recording) => Err(not_closed(&recording.stage, argument)),
    }
}

/// Returns the list of a finalized stream of packets.
///
/// # Safety
///
/// The requirements of [`any_closed`].
#[inline]
pub(super) unsafe fn closed<'a>(body: &'a StreamBody, argument: &str) -> Answer<Closed<'a>> {
    // SAFETY: the caller's promise.
    match unsafe { any_closed(body, argument) }? {
        Closed { list: List::Packets(list), turn } => Ok(Closed { list, turn }),
        Closed { list: List::Video(list), .. } => Err(RecordError::UnsupportedIp { ip: list.ip() }.into()),
    }
}

/// Returns the list of the finalized stream of a handle, of packets.
///
/// # Safety
///
/// `handle` is null or a stream that was not destroyed; the other requirements are those of [`any_closed`].
#[inline]
pub(super) unsafe fn list_of<'a>(handle: *const agw_stream, argument: &str) -> Answer<Closed<'a>> {
    // SAFETY: the caller's promise.
    let stream = unsafe { stream(handle, argument) }?;
    // SAFETY: the caller's promise.
    unsafe { closed(stream.body(), argument) }
}

/// Returns the list of the finalized stream of a handle, of any kind of ring.
///
/// # Safety
///
/// The requirements of [`list_of`].
pub(super) unsafe fn any_list_of<'a>(handle: *const agw_stream, argument: &str) -> Answer<Closed<'a, List>> {
    // SAFETY: the caller's promise.
    let stream = unsafe { stream(handle, argument) }?;
    // SAFETY: the caller's promise.
    unsafe { any_closed(stream.body(), argument) }
}

/// Returns the failure for a stream without a list.
#[cold]
fn not_closed(stage: &Stage, argument: &str) -> Failure {
    match stage {
        Stage::Poisoned { code, text } => Failure::new(*code, text.clone()),
        Stage::Open(_) | Stage::Closed(_) => Failure::argument(argument, "was not finalized"),
    }
}

/// Keeps a BO resident and alive for every execution of the list. Adding a BO again costs only a lookup.
///
/// # Safety
///
/// `stream` is null or a stream that was not destroyed, and that nothing else uses; `bo` is null or was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_stream_add_bo(stream: *mut agw_stream, bo: *const agw_bo) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let stream = unsafe { self::stream(stream, "stream") }?;
        // SAFETY: the caller's promise.
        let memory = unsafe { bo_body(bo) }?;
        // SAFETY: the caller's promise.
        unsafe {
            record(stream, |open| {
                open.keep(&memory.binding);
                Ok(())
            })
        }
    })
}

/// Keeps the memory that is bound in a sparse range resident for every execution of the list.
///
/// # Safety
///
/// `stream` is null or a stream that was not destroyed, and that nothing else uses; `range` is null or was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_stream_add_sparse(stream: *mut agw_stream, range: *const agw_sparse) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let stream = unsafe { self::stream(stream, "stream") }?;
        // SAFETY: the caller's promise.
        let range = &unsafe { sparse(range) }?.range;
        // SAFETY: the caller's promise.
        unsafe {
            record(stream, |open| {
                open.keep_set(range.residents());
                Ok(())
            })
        }
    })
}

/// Records NOPs, so that the chunk has a valid IB length after `leave` more dwords.
///
/// # Safety
///
/// `stream` is null or a stream that was not destroyed, and that nothing else uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_stream_pad(stream: *mut agw_stream, leave: u32) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let stream = unsafe { self::stream(stream, "stream") }?;
        // SAFETY: the caller's promise.
        unsafe { record(stream, |open| open.pad(amdgpu_hw::num::index(leave))) }
    })
}

/// Records a text that dumps show, of about 1,000 bytes at most.
///
/// # Safety
///
/// `stream` is null or a stream that was not destroyed, and that nothing else uses; `words` is null or a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_stream_annotate(stream: *mut agw_stream, words: *const c_char) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let stream = unsafe { self::stream(stream, "stream") }?;
        // SAFETY: the caller's promise.
        let words = unsafe { text(words, "words") }?;
        // SAFETY: the caller's promise.
        unsafe { record(stream, |open| open.annotate(words)) }
    })
}

/// Executes a finalized stream from this stream: by a call if the ring supports calls, otherwise, or with `AGW_EXECUTE_COPY` in
/// `flags`, by a copy.
///
/// # Safety
///
/// Both are null or streams that were not destroyed, and that nothing else uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_stream_execute(stream: *mut agw_stream, child: *const agw_stream, flags: u32) -> i32 {
    entry(|| {
        let stream_handle = stream.cast_const();
        // SAFETY: the caller's promise.
        let stream = unsafe { self::stream(stream, "stream") }?;
        if flags & !AGW_EXECUTE_COPY != 0 {
            return Err(Failure::argument("flags", "has unknown bits"));
        }
        // SAFETY: the caller's promise.
        let list = unsafe { any_list_of(child, "child") }?;
        if std::ptr::eq(child, stream_handle) {
            drop(list);
            // It was finalized, and records nothing.
            // SAFETY: the caller's promise.
            return unsafe { record(stream, |_| Ok(())) };
        }
        let inclusion = if flags & AGW_EXECUTE_COPY != 0 { Inclusion::Copy } else { Inclusion::Auto };
        // SAFETY: the caller's promise.
        unsafe { record(stream, |open| open.execute(&list, inclusion)) }
    })
}

/// Records a call of an IB at an address, with or without the predicate bit of the packet. The caller keeps the memory of the
/// IB alive and resident. Only for graphics rings.
///
/// # Safety
///
/// `stream` is null or a stream that was not destroyed, and that nothing else uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_stream_call(stream: *mut agw_stream, va: u64, dwords: u32, predicate: bool) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let stream = unsafe { self::stream(stream, "stream") }?;
        // SAFETY: the caller's promise.
        unsafe { record(stream, |open| call(open.packets()?, va, dwords, predicate)) }
    })
}

fn call(open: &mut AnyStream, va: u64, dwords: u32, predicate: bool) -> Answer {
    let target = match open.target() {
        Target::Pm4(target) if target.ring == pm4::Ring::Gfx => target,
        target => return Err(Failure::argument("stream", &format!("{target} calls no IBs"))),
    };
    let packet = pm4::IndirectBuffer::call(gpu_address(va, "va")?, dwords);
    let mut words = [0; pm4::IndirectBuffer::LEN];
    packet.encode(target, &mut words).map_err(RecordError::from)?;
    if let Some(header) = words.first_mut() {
        *header |= u32::from(predicate);
    }
    open.reserve(words.len())?.copy_from_slice(&words);
    Ok(())
}

/// Executes commands that the GPU generates. Graphics rings call them. Compute rings, from GFX8 on, jump to them and back: this
/// stream stores the jump back at `trailer_va`, the address of the last four dwords of the commands.
///
/// # Safety
///
/// `stream` is null or a stream that was not destroyed, and that nothing else uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_stream_detour(stream: *mut agw_stream, va: u64, dwords: u32, trailer_va: u64) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let stream = unsafe { self::stream(stream, "stream") }?;
        // SAFETY: the caller's promise.
        unsafe {
            record(stream, |open| {
                let (va, trailer) = (gpu_address(va, "va")?, gpu_address(trailer_va, "trailer_va")?);
                Ok(open.packets()?.detour(va, amdgpu_hw::num::index(dwords), trailer)?)
            })
        }
    })
}

/// Appends a finalized stream to another one, so that submitting `stream` executes both. Returns `false`, and changes nothing,
/// if this is not possible: on rings without jumps, or while either stream is in use.
///
/// # Safety
///
/// Both are null or streams that were not destroyed, and that nothing else uses; no job of them is running.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_stream_chain(stream: *mut agw_stream, next: *mut agw_stream) -> bool {
    // SAFETY: the caller's promise.
    unsafe { put_behind(stream, next, CommandList::chain) }
}

/// Appends a finalized stream to another one like `agw_stream_chain`, and makes the graphics ring replay `next` when the
/// context resumes after a preemption (bit PRE_ENA of the jump). It is meant for drivers that shadow registers and submit with
/// `AGW_SUBMIT_PREEMPTIBLE`. Also returns `false` if the ring does not replay: on compute rings, and before GFX8.
///
/// # Safety
///
/// The requirements of `agw_stream_chain`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_stream_chain_replayed(stream: *mut agw_stream, next: *mut agw_stream) -> bool {
    // SAFETY: the caller's promise.
    unsafe { put_behind(stream, next, CommandList::chain_replayed) }
}

/// Appends a stream to another one, unless either was created as unchained.
///
/// # Safety
///
/// The requirements of [`agw_stream_chain`].
unsafe fn put_behind(
    stream: *mut agw_stream,
    next: *mut agw_stream,
    chain: impl FnOnce(&CommandList, &CommandList) -> Result<(), ChainFault>,
) -> bool {
    let mut is_chained = false;
    entry(|| {
        // SAFETY: the caller's promise.
        let stream = unsafe { self::stream(stream, "stream") }?;
        let before = stream.body();
        // SAFETY: the caller's promise.
        let behind = unsafe { self::stream(next, "next") }?.body();
        if before.is_unchained || behind.is_unchained {
            return Ok(());
        }
        // SAFETY: the caller's promise.
        let first = unsafe { any_closed(before, "stream") }?;
        // SAFETY: as above.
        let second = unsafe { any_closed(behind, "next") }?;
        if let (List::Packets(first), List::Packets(second)) = (first.list, second.list) {
            is_chained = chain(first, second).is_ok();
            if is_chained {
                // SAFETY: the caller's promise.
                unsafe { note_chained(stream, true) };
            }
        }
        Ok(())
    });
    is_chained
}

/// Undoes `agw_stream_chain`: submitting `stream` executes no appended stream any more.
///
/// # Safety
///
/// `stream` is null or a stream that was not destroyed, and that nothing else uses; no job of it is running.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_stream_unchain(stream: *mut agw_stream) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let stream = unsafe { self::stream(stream, "stream") }?;
        // SAFETY: the caller's promise.
        let list = unsafe { any_closed(stream.body(), "stream") }?;
        // Those of video engines are never chained.
        let List::Packets(list) = list.list else { return Ok(()) };
        // The common case, without the lock that access to the appended list needs.
        if list.is_chained() {
            list.unchain().map_err(|fault| Failure::new(AGW_ERROR_IN_USE, fault.to_string()))?;
        }
        // SAFETY: the caller's promise.
        unsafe { note_chained(stream, false) };
        Ok(())
    })
}

/// Writes the IBs of a finalized stream to `ibs`, in order. `ib_count` contains the length of the array, and is set to the
/// number of IBs. Returns `AGW_INCOMPLETE` if the array is too short.
///
/// # Safety
///
/// `stream` is null or a stream that was not destroyed, and that nothing else changes; `ib_count` is null or valid for reading
/// and writing; `ibs` is null, or valid for writing `*ib_count` IBs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_stream_ibs(stream: *const agw_stream, ibs: *mut agw_ib, ib_count: *mut u32) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let list = unsafe { any_list_of(stream, "stream") }?;
        let ib = |(va, dwords): (GpuVa, usize)| agw_ib { va: va.as_u64(), dwords: count(dwords), pad: 0 };
        let names = ["ibs", "ib_count"];
        match list.list {
            // SAFETY: the caller's promise.
            List::Packets(list) => unsafe { fill(ibs, ib_count, names, list.ibs().map(ib)) },
            List::Video(list) => {
                let only = list.ib().map(|_| ib((list.address(), list.len())));
                // SAFETY: the caller's promise.
                unsafe { fill(ibs, ib_count, names, only.into_iter()) }
            }
        }
    })
}

/// Copies the contents of the IB with index `ib` of a finalized stream to `dwords`, up to `room` dwords.
///
/// # Safety
///
/// `stream` is null or a stream that was not destroyed, and that nothing else changes; `dwords` is null, or valid for writing
/// `room` words.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_stream_read(stream: *const agw_stream, ib: u32, dwords: *mut u32, room: u32) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let list = unsafe { any_list_of(stream, "stream") }?;
        // SAFETY: the caller's promise.
        let places = unsafe { array_mut(dwords, room, "dwords") }?;
        let contents = match list.list {
            List::Packets(list) => list.dwords().nth(amdgpu_hw::num::index(ib)),
            List::Video(list) => (ib == 0 && !list.is_empty()).then(|| list.dwords().to_vec()),
        };
        let contents = contents.ok_or_else(|| Failure::argument("ib", "is not one of the stream's"))?;
        for (place, word) in places.iter_mut().zip(contents) {
            *place = word;
        }
        Ok(())
    })
}
