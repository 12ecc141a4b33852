//! Contents of a stream besides dwords, and operations on closed streams.

use std::{ffi::c_char, ops::Deref};

use amdgpu_hw::num::count;
use amdgpu_winsys::{
    cs::{AnyStream, ChainFault, CommandList, Inclusion, Packet, Target, pm4},
    vamgr::GpuVa,
};

use super::stream::{Stage, StreamBody, agw_stream, busy, record, stream};
use crate::{
    border::{AGW_ERROR_IN_USE, Answer, Failure, Turn, array_mut, entry, fill, text},
    objects::{agw_bo, agw_sparse, bo_body, sparse},
};

/// The list is copied, not called.
pub const AGW_EXECUTE_COPY: u32 = 1 << 0;

/// An IB of a finalized stream.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agw_ib {
    /// GPU address.
    pub va: u64,
    /// Length, dwords.
    pub dwords: u32,
    /// Zero.
    pub pad: u32,
}

/// The list of a finalized stream. A clone of the list would cost more than the look.
pub(super) struct Closed<'a> {
    pub(super) list: &'a CommandList,
    pub(super) turn: Turn<'a>,
}

impl Deref for Closed<'_> {
    type Target = CommandList;

    #[inline]
    fn deref(&self) -> &CommandList {
        self.list
    }
}

/// Returns the list of a finalized stream.
///
/// # Safety
///
/// Nothing records, finalizes, resets or destroys the stream as long as the list is used.
#[inline]
pub(super) unsafe fn closed<'a>(body: &'a StreamBody, argument: &str) -> Answer<Closed<'a>> {
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

/// Returns the list of the finalized stream behind a handle.
///
/// # Safety
///
/// `handle` is null or a stream that was not destroyed; the rest as for [`closed`].
#[inline]
pub(super) unsafe fn list_of<'a>(handle: *const agw_stream, argument: &str) -> Answer<Closed<'a>> {
    // SAFETY: the caller's promise.
    let stream = unsafe { stream(handle, argument) }?;
    // SAFETY: the caller's promise.
    unsafe { closed(stream.body(), argument) }
}

/// Returns the failure of a stream without a list.
#[cold]
fn not_closed(stage: &Stage, argument: &str) -> Failure {
    match stage {
        Stage::Poisoned { code, text } => Failure::new(*code, text.clone()),
        Stage::Open(_) | Stage::Closed(_) => Failure::argument(argument, "was not finalized"),
    }
}

/// Keeps a BO resident and alive for every run of the list. One that is kept already costs a look.
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

/// Keeps what is bound in a sparse range resident for every run of the list.
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

/// Records fillers, so that with `leave` dwords more the chunk ends where an IB may.
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
        unsafe { record(stream, |open| Ok(open.pad(amdgpu_hw::num::index(leave))?)) }
    })
}

/// Records words that dumps show. At most 1,000 bytes or so, as `MAX_ANNOTATION_BYTES` says.
///
/// # Safety
///
/// `stream` is null or a stream that was not destroyed, and that nothing else uses; `words` is null or a text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_stream_annotate(stream: *mut agw_stream, words: *const c_char) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let stream = unsafe { self::stream(stream, "stream") }?;
        // SAFETY: the caller's promise.
        let words = unsafe { text(words, "words") }?;
        // SAFETY: the caller's promise.
        unsafe { record(stream, |open| Ok(open.annotate(words)?)) }
    })
}

/// Runs a finalized stream here: by a call where the ring can, unless `flags` says `AGW_EXECUTE_COPY`, else by a copy.
///
/// # Safety
///
/// Both are null or streams that were not destroyed, and that nothing else uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_stream_execute(stream: *mut agw_stream, child: *const agw_stream, flags: u32) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let stream = unsafe { self::stream(stream, "stream") }?;
        if flags & !AGW_EXECUTE_COPY != 0 {
            return Err(Failure::argument("flags", "has unknown bits"));
        }
        // SAFETY: the caller's promise.
        let list = unsafe { list_of(child, "child") }?.list.clone();
        let inclusion = if flags & AGW_EXECUTE_COPY != 0 { Inclusion::Copy } else { Inclusion::Auto };
        // SAFETY: the caller's promise.
        unsafe {
            record(stream, |open| {
                open.execute(&list, inclusion)?;
                Ok(())
            })
        }
    })
}

/// Records a call of an IB at an address, with the predicate bit of the packet or without. The caller keeps its memory alive
/// and resident. Graphics rings only.
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
        unsafe { record(stream, |open| call(open, va, dwords, predicate)) }
    })
}

fn call(open: &mut AnyStream, va: u64, dwords: u32, predicate: bool) -> Answer {
    let target = match open.target() {
        Target::Pm4(target) if target.ring == pm4::Ring::Gfx => target,
        target => return Err(Failure::argument("stream", &format!("{target} calls no IBs"))),
    };
    let packet = pm4::IndirectBuffer::call(GpuVa::from_48_bits(va), dwords);
    let mut words = [0; pm4::IndirectBuffer::LEN];
    packet.encode(target, &mut words).map_err(amdgpu_winsys::cs::Error::from)?;
    if let Some(header) = words.first_mut() {
        *header |= u32::from(predicate);
    }
    open.reserve(words.len())?.copy_from_slice(&words);
    Ok(())
}

/// Runs commands that the GPU itself writes: by a call on graphics rings; on compute rings, from GFX9 on, by a jump there and one
/// back, which this stream stores at `trailer_va`, the address of the last four dwords of the commands.
///
/// # Safety
///
/// `stream` is null or a stream that was not destroyed, and that nothing else uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_stream_detour(stream: *mut agw_stream, va: u64, dwords: u32, trailer_va: u64) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let stream = unsafe { self::stream(stream, "stream") }?;
        let (va, trailer) = (GpuVa::from_48_bits(va), GpuVa::from_48_bits(trailer_va));
        // SAFETY: the caller's promise.
        unsafe { record(stream, |open| Ok(open.detour(va, amdgpu_hw::num::index(dwords), trailer)?)) }
    })
}

/// Puts a finalized stream behind another one, so that submitting the first runs both. Returns `false`, and changes nothing,
/// where that cannot be: on rings without jumps, and while either is in use.
///
/// # Safety
///
/// Both are null or streams that were not destroyed, and that nothing else uses; no job of them is running.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_stream_chain(stream: *mut agw_stream, next: *mut agw_stream) -> bool {
    // SAFETY: the caller's promise.
    unsafe { put_behind(stream, next, CommandList::chain) }
}

/// Puts a finalized stream behind another one as `agw_stream_chain` does, and has the graphics engine replay `next` when the
/// context comes back after a preemption, by the bit PRE_ENA of the jump. For drivers that shadow registers and submit with
/// `AGW_SUBMIT_PREEMPTIBLE`. Returns `false` where the ring replays nothing, too: on compute rings, and before GFX8.
///
/// # Safety
///
/// Those of `agw_stream_chain`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_stream_chain_replayed(stream: *mut agw_stream, next: *mut agw_stream) -> bool {
    // SAFETY: the caller's promise.
    unsafe { put_behind(stream, next, CommandList::chain_replayed) }
}

/// Puts a stream behind another one, unless either was made to be unchained.
///
/// # Safety
///
/// Those of [`agw_stream_chain`].
unsafe fn put_behind(
    stream: *mut agw_stream,
    next: *mut agw_stream,
    chain: impl FnOnce(&CommandList, &CommandList) -> Result<(), ChainFault>,
) -> bool {
    let mut is_chained = false;
    entry(|| {
        // SAFETY: the caller's promise.
        let before = unsafe { self::stream(stream, "stream") }?.body();
        // SAFETY: the caller's promise.
        let behind = unsafe { self::stream(next, "next") }?.body();
        if before.is_unchained || behind.is_unchained {
            return Ok(());
        }
        // SAFETY: the caller's promise.
        let first = unsafe { closed(before, "stream") }?;
        // SAFETY: as above.
        let second = unsafe { closed(behind, "next") }?;
        is_chained = chain(&first, &second).is_ok();
        Ok(())
    });
    is_chained
}

/// Takes a stream off the one that was put behind it.
///
/// # Safety
///
/// `stream` is null or a stream that was not destroyed, and that nothing else uses; no job of it is running.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_stream_unchain(stream: *mut agw_stream) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let list = unsafe { list_of(stream, "stream") }?;
        // Nearly always, and without the lock that a look at the next one would need.
        if !list.is_chained() {
            return Ok(());
        }
        list.unchain().map_err(|fault| Failure::new(AGW_ERROR_IN_USE, fault.to_string()))
    })
}

/// Writes the IBs of a finalized stream to `ibs`, in order. `ib_count` says how long the array is, and afterwards how many there are;
/// `AGW_INCOMPLETE` if that is more.
///
/// # Safety
///
/// `stream` is null or a stream that was not destroyed, and that nothing else changes; `ib_count` is null or valid for reading and writing; `ibs` is null, or
/// valid for writing as many IBs as `ib_count` says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_stream_ibs(stream: *const agw_stream, ibs: *mut agw_ib, ib_count: *mut u32) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let list = unsafe { list_of(stream, "stream") }?;
        let all = list.ibs().map(|(va, dwords)| agw_ib { va: va.as_u64(), dwords: count(dwords), pad: 0 });
        // SAFETY: the caller's promise.
        unsafe { fill(ibs, ib_count, ["ibs", "ib_count"], all) }
    })
}

/// Copies the contents of IB number `ib` of a finalized stream into `dwords`, as far as they fit.
///
/// # Safety
///
/// `stream` is null or a stream that was not destroyed, and that nothing else changes; `dwords` is null, or valid for writing `room` words.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_stream_read(stream: *const agw_stream, ib: u32, dwords: *mut u32, room: u32) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let list = unsafe { list_of(stream, "stream") }?;
        // SAFETY: the caller's promise.
        let places = unsafe { array_mut(dwords, room, "dwords") }?;
        let contents = list.dwords().nth(amdgpu_hw::num::index(ib));
        let contents = contents.ok_or_else(|| Failure::argument("ib", "is not one of the stream's"))?;
        for (place, word) in places.iter_mut().zip(contents) {
            *place = word;
        }
        Ok(())
    })
}
