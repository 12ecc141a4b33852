//! Contexts, and submission of arrays that the caller provides.

use std::sync::Arc;

use amdgpu_winsys::{
    cs,
    uapi::{BoListEntry, CsChunkDep, CsChunkIb, CsChunkSyncobj, Deadline},
    winsys::{ChunkScratch, Chunks, Context, Errno, Error, Ip, PinnedClocks, Priority, StablePstate},
};
use parking_lot::Mutex;

use super::{
    bo_memory::in_time,
    device::{DeviceState, agw_device, device},
};
use crate::border::{
    Answer, Failure, Handle, Out, Versioned, array, create, entry, get, put_unless_null, read, reference, release,
    value, within,
};

/// Low priority.
pub const AGW_PRIORITY_LOW: i32 = -512;
/// Normal priority.
pub const AGW_PRIORITY_NORMAL: i32 = 0;
/// High priority.
pub const AGW_PRIORITY_HIGH: i32 = 512;
/// The highest priority.
pub const AGW_PRIORITY_VERY_HIGH: i32 = 1023;

/// A kernel context.
pub struct agw_ctx {
    _private: [u8; 0],
}

impl Handle for agw_ctx {
    type Head = ();
    type Body = CtxBody;
    const NAME: &'static str = "agw_ctx";
}

pub(crate) struct CtxBody {
    pinned: Mutex<Option<PinnedClocks>>,
    /// Room for chunks, kept from one submission to the next.
    scratch: Mutex<ChunkScratch>,
    pub(crate) context: Context,
    pub(crate) state: Arc<DeviceState>,
}

/// An IB of a submission, with the layout of `struct drm_amdgpu_cs_chunk_ib`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agw_cs_ib {
    /// Reserved, zero.
    pub pad: u32,
    /// Flags, `AMDGPU_IB_FLAG_*`.
    pub flags: u32,
    /// GPU address.
    pub va: u64,
    /// Length in bytes.
    pub bytes: u32,
    /// IP type, `AGW_IP_*`.
    pub ip: u32,
    /// Reserved, zero.
    pub ip_instance: u32,
    /// Index of the ring.
    pub ring: u32,
}

/// A BO of a submission, with the layout of `struct drm_amdgpu_bo_list_entry`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agw_cs_bo {
    /// The kernel's GEM handle.
    pub handle: u32,
    /// Priority, 0 to 32.
    pub priority: u32,
}

/// A submission that must complete first, with the layout of `struct drm_amdgpu_cs_chunk_dep`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agw_cs_dependency {
    /// IP type, `AGW_IP_*`.
    pub ip: u32,
    /// Reserved, zero.
    pub ip_instance: u32,
    /// Index of the ring.
    pub ring: u32,
    /// The kernel's ID of the context.
    pub context: u32,
    /// Sequence number of the submission.
    pub sequence: u64,
}

/// A point of a sync object, with the layout of `struct drm_amdgpu_cs_chunk_syncobj`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agw_cs_sync {
    /// The kernel's handle.
    pub handle: u32,
    /// For waits, 2 (WAIT_FOR_SUBMIT) or 0.
    pub flags: u32,
    /// The timeline point; 0 is the binary state.
    pub point: u64,
}

/// A submission by one CS ioctl.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agw_cs {
    /// `sizeof(struct agw_cs)`.
    pub struct_size: u32,
    /// Reserved, zero.
    pub reserved: u32,
    /// IBs, at least one. The ring of the last one is the leader.
    pub ibs: *const agw_cs_ib,
    /// BOs that must be resident.
    pub bos: *const agw_cs_bo,
    /// Submissions that must complete first.
    pub dependencies: *const agw_cs_dependency,
    /// Points of sync objects to wait for.
    pub waits: *const agw_cs_sync,
    /// Points of sync objects to signal.
    pub signals: *const agw_cs_sync,
    /// Length of `ibs`.
    pub ib_count: u32,
    /// Length of `bos`.
    pub bo_count: u32,
    /// Length of `dependencies`.
    pub dependency_count: u32,
    /// Length of `waits`.
    pub wait_count: u32,
    /// Length of `signals`.
    pub signal_count: u32,
    /// Reserved, zero.
    pub pad: u32,
}

// SAFETY: integers and raw pointers, and the first two are the size and zero.
unsafe impl Versioned for agw_cs {
    const NAME: &'static str = "struct agw_cs";

    fn unused(&self) -> u32 {
        self.reserved | self.pad
    }
}

/// Returns the body behind a handle, and records that the current call works on its device.
///
/// # Safety
///
/// The requirements of `shell`.
pub(crate) unsafe fn ctx<'a>(handle: *const agw_ctx, argument: &str) -> Answer<&'a CtxBody> {
    // SAFETY: the caller's promise.
    let body = unsafe { get(handle, argument) }?;
    body.state.touch()?;
    Ok(body)
}

/// Returns the IP with a number.
pub(crate) fn ip(number: u32) -> Answer<Ip> {
    Ip::from_raw(number).ok_or_else(|| Failure::argument("ip_type", "is no AGW_IP_*"))
}

/// Checks the index of a ring.
fn ring_of(body: &CtxBody, ip: Ip, ring: u32) -> Answer<(Ip, u32)> {
    let rings = body.state.device.info().ip_block(ip).map_or(0, |block| block.rings);
    if ring < rings { Ok((ip, ring)) } else { Err(cs::QueueError::NoSuchRing { ip, ring, rings }.into()) }
}

/// Creates a context. Returns `AGW_ERROR_NOT_PERMITTED` if the process may not use the priority.
///
/// # Safety
///
/// `device` is null or a device that was not freed; `ctx` is null or valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_ctx_create(device: *const agw_device, priority: i32, ctx: *mut *mut agw_ctx) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let state = unsafe { self::device(device) }?;
        // SAFETY: the caller's promise.
        let ctx = unsafe { Out::new(ctx, "ctx") }?;
        let priority = match priority {
            AGW_PRIORITY_LOW => Priority::Low,
            AGW_PRIORITY_NORMAL => Priority::Normal,
            AGW_PRIORITY_HIGH => Priority::High,
            AGW_PRIORITY_VERY_HIGH => Priority::VeryHigh,
            _ => return Err(Failure::argument("priority", "is no AGW_PRIORITY_*")),
        };
        let context = Context::new(&state.device, priority)?;
        let (pinned, scratch) = Default::default();
        let made = create((), CtxBody { pinned, scratch, context, state: Arc::clone(state) })?;
        ctx.put(made);
        Ok(())
    })
}

/// Returns the kernel's ID of a context; 0 if `ctx` is null.
///
/// # Safety
///
/// `ctx` is null or a context that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_ctx_id(ctx: *const agw_ctx) -> u32 {
    // SAFETY: the caller's promise.
    value(0, || Ok(unsafe { self::ctx(ctx, "ctx") }?.context.id()))
}

/// Returns `AGW_ERROR_DEVICE_LOST` if work of a ring of the context was lost. A wait for a sync object does not report lost
/// work.
///
/// # Safety
///
/// `ctx` is null or a context that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_ctx_check(ctx: *const agw_ctx, ip_type: u32, ring: u32) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let body = unsafe { self::ctx(ctx, "ctx") }?;
        let (ip, ring) = ring_of(body, ip(ip_type)?, ring)?;
        Ok(body.context.check(ip, ring)?)
    })
}

/// Waits for a submission of `agw_ctx_submit`. Returns `AGW_TIMEOUT` if the deadline, in nanoseconds of CLOCK_MONOTONIC, passes
/// first.
///
/// # Safety
///
/// `ctx` is null or a context that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_ctx_wait(
    ctx: *const agw_ctx,
    ip_type: u32,
    ring: u32,
    sequence: u64,
    deadline_ns: u64,
) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let body = unsafe { self::ctx(ctx, "ctx") }?;
        let (ip, ring) = ring_of(body, ip(ip_type)?, ring)?;
        in_time(body.context.wait(ip, ring, sequence, Deadline::at(deadline_ns))?)
    })
}

/// Pins the clocks of the GPU at a level (`AMDGPU_CTX_STABLE_PSTATE_*`) until another level is set or the context is freed; 0
/// releases them. Returns `AGW_ERROR_IN_USE` while another context has pinned them.
///
/// # Safety
///
/// `ctx` is null or a context that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_ctx_pin_clocks(ctx: *const agw_ctx, level: u32) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let body = unsafe { self::ctx(ctx, "ctx") }?;
        let level = match level {
            0 => StablePstate::None,
            1 => StablePstate::Standard,
            2 => StablePstate::MinEngine,
            3 => StablePstate::MinMemory,
            4 => StablePstate::Peak,
            _ => return Err(Failure::argument("level", "is not 0 to 4")),
        };
        let mut pinned = body.pinned.lock();
        *pinned = None;
        if level != StablePstate::None {
            *pinned = Some(body.context.pin_clocks(level)?);
        }
        Ok(())
    })
}

/// Submits by one CS ioctl, without retries. The library keeps nothing alive: the caller keeps all memory that the IBs use
/// bound until they have completed.
///
/// # Safety
///
/// `ctx` is null or a context that was not freed; `cs` is null or a structure of its `struct_size`, whose arrays have the
/// lengths that it says; `sequence` is null or valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_ctx_submit(ctx: *const agw_ctx, cs: *const agw_cs, sequence: *mut u64) -> i32 {
    const {
        assert!(size_of::<agw_cs_ib>() == size_of::<CsChunkIb>() && size_of::<agw_cs_bo>() == size_of::<BoListEntry>());
        assert!(size_of::<agw_cs_dependency>() == size_of::<CsChunkDep>());
        assert!(size_of::<agw_cs_sync>() == size_of::<CsChunkSyncobj>());
    }
    entry(|| {
        // SAFETY: the caller's promise.
        let body = unsafe { self::ctx(ctx, "ctx") }?;
        // SAFETY: the caller's promise.
        let cs = unsafe { read(cs) }?;
        // SAFETY: the caller's promise; the layouts are those of the kernel, and equal.
        let ibs = unsafe { array(cs.ibs.cast::<CsChunkIb>(), cs.ib_count, "ibs") }?;
        // SAFETY: as above.
        let bos = unsafe { array(cs.bos.cast::<BoListEntry>(), cs.bo_count, "bos") }?;
        // SAFETY: as above.
        let dependencies = unsafe { array(cs.dependencies.cast::<CsChunkDep>(), cs.dependency_count, "dependencies") }?;
        // SAFETY: as above.
        let waits = unsafe { array(cs.waits.cast::<CsChunkSyncobj>(), cs.wait_count, "waits") }?;
        // SAFETY: as above.
        let signals = unsafe { array(cs.signals.cast::<CsChunkSyncobj>(), cs.signal_count, "signals") }?;
        if ibs.is_empty() {
            return Err(Failure::argument("ib_count", "is 0, but a submission needs an IB"));
        }
        let chunks = Chunks { ibs, bos, dependencies, waits, signals, ..Chunks::default() };
        // If two threads submit at once, the second one allocates its own room.
        let number = match body.scratch.try_lock() {
            Some(mut scratch) => body.context.submit(chunks, &mut scratch),
            None => body.context.submit(chunks, &mut ChunkScratch::default()),
        }
        .map_err(|error| explained(error, body, ibs))?;
        // SAFETY: the caller's promise.
        unsafe { put_unless_null(sequence, number) };
        Ok(())
    })
}

/// Creates the failure of a refused submission. The kernel says only that something is invalid or unknown; the library then finds
/// out what it can.
#[cold]
fn explained(error: Error, body: &CtxBody, ibs: &[CsChunkIb]) -> Failure {
    let errno = error.errno().map_or(0, Errno::raw);
    let fault = ibs.iter().zip(0_usize..).find_map(|(ib, at)| {
        let Some(ip) = Ip::from_raw(ib.ip_type) else { return Some(format!("ibs[{at}].ip is no AGW_IP_*")) };
        let fault = ring_of(body, ip, ib.ring).err()?;
        Some(format!("ibs[{at}]: {}", fault.text()))
    });
    match (errno, fault) {
        (libc::EINVAL, Some(fault)) => Failure::from(error).with_hint(&fault),
        (libc::ENOENT, _) => Failure::from(error).with_hint("the device has no such handle in bos, waits or signals"),
        _ => error.into(),
    }
}

/// Adds a reference to a context, and returns it.
///
/// # Safety
///
/// `ctx` is null or a context that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_ctx_ref(ctx: *mut agw_ctx) -> *mut agw_ctx {
    // SAFETY: the caller's promise.
    unsafe { within(|| reference(ctx, "ctx")) }
}

/// Removes a reference to a context. Queued jobs still run.
///
/// # Safety
///
/// `ctx` is null or a context that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_ctx_unref(ctx: *mut agw_ctx) {
    // SAFETY: the caller's promise.
    unsafe { within(|| release(ctx, "ctx")) };
}
