//! The null kernel: ioctls and mappings of nodes are answered here and at once, not by the server of the world.
//!
//! `AMDGPU_SIM_NULL` names the chip; with `AMDGPU_SIM_NULL_COSTS=1`, requests take about as long as those of Linux. Paths, and what descriptors are, remain the world's business.

use std::{
    ffi::{c_int, c_void},
    os::fd::RawFd,
    ptr::NonNull,
    sync::{
        OnceLock,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
};

use amdgpu_sim::{NullKernel, RequestCosts, chip};
use amdgpu_sim_world::NULL_VARIABLE;
use amdgpu_uapi::{Kernel as _, Protection, Request};
use nix::errno::Errno;

use crate::world;

/// The variable that makes requests take time.
const COSTS_VARIABLE: &str = "AMDGPU_SIM_NULL_COSTS";

static KERNEL: OnceLock<Option<NullKernel>> = OnceLock::new();

/// Descriptors that were seen to be nodes. Asking each time what a descriptor is would take longer than the answer. A
/// number that becomes another file's stays here: DRM requests on it, which no other file has, are then answered too.
static NODES: [AtomicBool; 1024] = [const { AtomicBool::new(false) }; 1024];

/// `true` while requests are counted; not by default, as threads that are measured would share the counter.
static IS_COUNTING: AtomicBool = AtomicBool::new(false);
static REQUESTS: AtomicU64 = AtomicU64::new(0);

/// Starts or stops counting the requests that the null kernel answers, and returns those counted since the last start. For
/// benchmarks, which find it by its name in the process.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn amdgpu_sim_null_count(is_counting: bool) -> u64 {
    IS_COUNTING.store(is_counting, Relaxed);
    if is_counting { REQUESTS.swap(0, Relaxed) } else { REQUESTS.load(Relaxed) }
}

/// The null kernel, if this process was asked to have one.
fn kernel() -> Option<&'static NullKernel> {
    KERNEL.get_or_init(make).as_ref()
}

fn make() -> Option<NullKernel> {
    let word = std::env::var(NULL_VARIABLE).ok().filter(|word| !word.is_empty())?;
    let profile = chip(&word).inspect_err(|error| world::say(&format!("{NULL_VARIABLE}={word}: {error}"))).ok()?;
    let costs = if std::env::var(COSTS_VARIABLE).is_ok_and(|value| value == "1") {
        RequestCosts::LINUX
    } else {
        RequestCosts::default()
    };
    NullKernel::open(profile)
        .map(|kernel| kernel.with_costs(costs))
        .inspect_err(|errno| world::say(&format!("{NULL_VARIABLE}={word}: no addresses to map to: {errno}")))
        .ok()
}

/// Answers a DRM request on a node; `None` if there is no null kernel, or this is none of its business.
///
/// # Safety
///
/// The requirements of the request.
#[inline]
pub(crate) unsafe fn ioctl(
    fd: RawFd,
    request: u32,
    argument: *mut c_void,
    is_node: impl FnOnce(RawFd) -> bool,
) -> Option<Result<c_int, Errno>> {
    let request = Request::from_bits(request);
    if request.kind() != b'd' {
        return None;
    }
    let kernel = kernel()?;
    let known = NODES.get(usize::try_from(fd).ok()?);
    if !known.is_some_and(|known| known.load(Relaxed)) {
        if !is_node(fd) {
            return None;
        }
        if let Some(known) = known {
            known.store(true, Relaxed);
        }
    }
    if IS_COUNTING.load(Relaxed) {
        REQUESTS.fetch_add(1, Relaxed);
    }
    // SAFETY: the caller's promise.
    Some(unsafe { kernel.ioctl(request, argument) }.map_err(Errno::from))
}

/// Maps at an offset that the null kernel gave out; `None` for any other.
///
/// # Safety
///
/// The requirements of `mmap`.
#[inline]
pub(crate) unsafe fn map(
    address: *mut c_void,
    len: usize,
    protection: c_int,
    flags: c_int,
    offset: u64,
) -> Option<Result<*mut c_void, Errno>> {
    if !NullKernel::is_offset(offset) {
        return None;
    }
    let kernel = kernel()?;
    let at = if flags & libc::MAP_FIXED == 0 { None } else { NonNull::new(address.cast()) };
    let protection = if protection & libc::PROT_WRITE == 0 { Protection::Read } else { Protection::ReadWrite };
    // SAFETY: the caller's promise.
    let mapped = unsafe { kernel.mmap(len, protection, at, offset) };
    Some(mapped.map(|mapped| mapped.as_ptr().cast()).map_err(Errno::from))
}

/// Returns `true` if an address is in a mapping of the null kernel, which needs no unmapping.
#[inline]
pub(crate) fn owns(address: *mut c_void) -> bool {
    // Not `kernel`: it is not for this to make one, and it may be called while one is made.
    KERNEL.get().and_then(Option::as_ref).is_some_and(|kernel| kernel.owns(address.addr()))
}
