//! Contexts.

use std::{
    ffi::{c_int, c_uint},
    sync::{
        Arc,
        atomic::Ordering::{AcqRel, Relaxed},
    },
};

use amdgpu_winsys::uapi::{
    Answered as _, CsChunkDep, Ctx, CtxStateAnswer, SCHED_OP_CONTEXT_PRIORITY_OVERRIDE, Sched, ctx_op, priority,
};
use parking_lot::{Mutex, MutexGuard};

use super::{
    priority::of_environment,
    ring::{IPS, RINGS},
    semaphore::Semaphore,
};
use crate::{
    border::{Answer, Failure, Handle, Out, entry},
    device::{Count, Device, report_fault},
};

/// A context. Its first fields are where libdrm has them.
#[repr(C)]
pub(crate) struct Context {
    device: Count,
    unused: [u64; 5],
    id: u32,
    rings: Mutex<Rings>,
}

const _: () = assert!(std::mem::offset_of!(Context, id) == 48);

/// The rings of a context.
pub(super) struct Rings {
    /// The last sequence number of each ring.
    pub(super) last: [u64; IPS * RINGS],
    /// The semaphores that the next submission of a ring waits for, the newest first; made when one is queued.
    pub(super) waiting: Vec<(usize, Arc<Semaphore>)>,
}

impl Rings {
    /// Resets the semaphores that the next submission of a ring waits for, and returns what their signals stood for. After an error
    /// the ring still waits for all of them.
    ///
    /// # Errors
    ///
    /// ENOMEM if there is no memory for the signals.
    pub(super) fn take_signals(&mut self, ring: usize) -> Answer<Vec<CsChunkDep>> {
        let mut signals = Vec::new();
        signals.try_reserve_exact(self.waiting.len()).map_err(|_| Failure::NO_MEMORY)?;
        let mine = self.waiting.extract_if(.., |&mut (waiting, _)| waiting == ring);
        signals.extend(mine.filter_map(|(_, semaphore)| semaphore.reset()));
        Ok(signals)
    }
}

impl Context {
    pub(super) fn device(&self) -> &Device {
        &self.device
    }

    pub(super) fn id(&self) -> u32 {
        self.id
    }

    pub(super) fn rings(&self) -> MutexGuard<'_, Rings> {
        self.rings.lock()
    }

    /// Makes a request about the context, and returns what the kernel wrote.
    fn ask(&self, op: u32, flags: u32) -> Answer<CtxStateAnswer> {
        let mut argument = Ctx { op, flags, ctx_id: self.id, priority: 0 };
        self.device.kernel()?.plain(&mut argument)?;
        Ok(argument.answer())
    }
}

/// Creates a context with normal priority.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_cs_ctx_create(device: Handle<Device>, place: Out<*mut Context>) -> c_int {
    entry(|| create(device, priority::NORMAL, place))
}

/// Creates a context.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_cs_ctx_create2(device: Handle<Device>, priority: u32, place: Out<*mut Context>) -> c_int {
    entry(|| create(device, priority.cast_signed(), place))
}

fn create(handle: Handle<Device>, priority: i32, place: Out<*mut Context>) -> Answer {
    let device = handle.get()?;
    place.check()?;
    let priority = of_environment().unwrap_or(priority);
    let mut argument = Ctx { op: ctx_op::ALLOC_CTX, flags: 0, ctx_id: 0, priority };
    device.kernel()?.plain(&mut argument)?;
    // The answer to ALLOC_CTX begins with the ID.
    let id = argument.op;
    let rings = Rings { last: [0; IPS * RINGS], waiting: Vec::new() };
    device.contexts.fetch_add(1, Relaxed);
    let context = Context { device: Count::of(handle)?, unused: [0; 5], id, rings: Mutex::new(rings) };
    place.put(Box::into_raw(Box::new(context)));
    Ok(())
}

/// Frees a context, whatever the kernel says, and lets go of the semaphores that it waits for.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_cs_ctx_free(handle: Handle<Context>) -> c_int {
    entry(|| {
        let context = handle.get()?;
        let freed = match context.device.kernel() {
            Ok(_) => context.ask(ctx_op::FREE_CTX, 0).map(drop),
            // The context went with its file.
            Err(_) => Ok(()),
        };
        for (_, semaphore) in context.rings().waiting.drain(..) {
            semaphore.reset();
        }
        context.device.contexts.fetch_sub(1, AcqRel);
        // SAFETY: made by `Box::into_raw` in `create`, and freed once, as the contract is.
        drop(unsafe { Box::from_raw(handle.pointer()) });
        freed
    })
}

/// Changes the priority of a context through the descriptor of a master.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_cs_ctx_override_priority(
    device: Handle<Device>,
    context: Handle<Context>,
    master: c_int,
    priority: c_uint,
) -> c_int {
    entry(|| {
        let (device, context) = (device.get()?, context.get()?);
        if master < 0 {
            return Err(Failure::INVALID);
        }
        let mut argument = Sched {
            op: SCHED_OP_CONTEXT_PRIORITY_OVERRIDE,
            fd: device.fd().cast_unsigned(),
            priority: priority.cast_signed(),
            ctx_id: context.id,
        };
        Ok(device.foreign(master)?.plain(&mut argument)?)
    })
}

/// Gets or sets the stable clocks.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_cs_ctx_stable_pstate(context: Handle<Context>, op: u32, flags: u32, place: Out<u32>) -> c_int {
    entry(|| {
        let answer = context.get()?.ask(op, flags)?;
        // The answer of these operations is one word.
        place.put(answer.flags as u32);
        Ok(())
    })
}

/// Returns whether there was a reset since the last query.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_cs_query_reset_state(context: Handle<Context>, state: Out<u32>, hangs: Out<u32>) -> c_int {
    entry(|| {
        let context = context.get()?;
        state.check()?;
        hangs.check()?;
        let answer = context.ask(ctx_op::QUERY_STATE, 0)?;
        state.put(answer.reset_status);
        if answer.reset_status != 0 {
            report_fault(context.device());
        }
        hangs.put(answer.hangs);
        Ok(())
    })
}

/// Returns the flags about resets.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_cs_query_reset_state2(context: Handle<Context>, flags: Out<u64>) -> c_int {
    entry(|| {
        let context = context.get()?;
        flags.check()?;
        let state = context.ask(ctx_op::QUERY_STATE2, 0)?.flags;
        flags.put(state);
        if state != 0 {
            report_fault(context.device());
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use std::{
        alloc::{GlobalAlloc, Layout, System},
        cell::Cell,
        ptr::null_mut,
    };

    use amdgpu_winsys::uapi::Errno;

    use super::*;

    thread_local! {
        /// `true` while this thread gets no memory.
        static HAS_NO_MEMORY: Cell<bool> = const { Cell::new(false) };
    }

    struct Failing;

    // SAFETY: every call is passed on to the system's allocator unchanged, or answers that there is no memory.
    unsafe impl GlobalAlloc for Failing {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            if HAS_NO_MEMORY.get() {
                return null_mut();
            }
            // SAFETY: the caller's promises are passed on unchanged.
            unsafe { System.alloc(layout) }
        }

        unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
            // SAFETY: the caller's promises are passed on unchanged.
            unsafe { System.dealloc(pointer, layout) }
        }
    }

    #[global_allocator]
    static ALLOCATOR: Failing = Failing;

    #[test]
    fn a_ring_still_waits_for_its_semaphores_if_there_is_no_memory_for_their_signals() {
        let semaphores = [3, 5].map(|handle| {
            let semaphore = Arc::new(Semaphore::default());
            semaphore.state().signal = Some(CsChunkDep { handle, ..CsChunkDep::ZEROED });
            semaphore.state().is_queued = true;
            semaphore
        });
        let waiting = semaphores.iter().map(|semaphore| (1, Arc::clone(semaphore))).collect();
        let mut rings = Rings { last: [0; IPS * RINGS], waiting };
        HAS_NO_MEMORY.set(true);
        let refused = rings.take_signals(1);
        HAS_NO_MEMORY.set(false);
        assert!(matches!(refused, Err(Failure::Negative(Errno::ENOMEM))));
        assert!(rings.waiting.len() == 2 && semaphores.iter().all(|semaphore| semaphore.state().is_queued));
        assert!(rings.take_signals(0).is_ok_and(|others| others.is_empty()));
        let signals: Vec<u64> = rings.take_signals(1).unwrap_or_default().iter().map(|signal| signal.handle).collect();
        assert_eq!((signals, rings.waiting.len()), (vec![3, 5], 0));
        assert!(semaphores.iter().all(|semaphore| !semaphore.state().is_queued));
    }
}
