//! The exported functions of semaphores.

use std::{ffi::c_int, sync::Arc};

use amdgpu_winsys::uapi::CsChunkDep;

use super::{context::Context, ring::Ring, semaphore::Semaphore};
use crate::border::{Failure, Handle, Out, entry};

/// Creates a semaphore.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_cs_create_semaphore(place: Out<*const Semaphore>) -> c_int {
    entry(|| {
        place.check()?;
        place.put(Arc::into_raw(Arc::new(Semaphore::default())));
        Ok(())
    })
}

/// Signals a semaphore with the last submission of a ring.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_cs_signal_semaphore(
    context: Handle<Context>,
    ip: u32,
    instance: u32,
    ring: u32,
    semaphore: Handle<Semaphore>,
) -> c_int {
    entry(|| {
        let (context, semaphore) = (context.get()?, semaphore.get()?);
        let ring = Ring::new(ip, instance, ring)?;
        let rings = context.rings();
        let mut state = semaphore.state();
        if state.signal.is_some() {
            return Err(Failure::INVALID);
        }
        state.signal = Some(CsChunkDep {
            ip_type: ring.ip,
            ip_instance: 0,
            ring: ring.ring,
            ctx_id: context.id(),
            handle: rings.last[ring.index()],
        });
        Ok(())
    })
}

/// Makes the next submission of a ring wait for a semaphore that was signalled.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_cs_wait_semaphore(
    context: Handle<Context>,
    ip: u32,
    instance: u32,
    ring: u32,
    handle: Handle<Semaphore>,
) -> c_int {
    entry(|| {
        let (context, semaphore) = (context.get()?, handle.get()?);
        let ring = Ring::new(ip, instance, ring)?;
        let mut rings = context.rings();
        let mut state = semaphore.state();
        if state.signal.is_none() || state.is_queued {
            return Err(Failure::INVALID);
        }
        rings.waiting.try_reserve(1).map_err(|_| Failure::NO_MEMORY)?;
        state.is_queued = true;
        // SAFETY: the handle is the pointer of an `Arc` of which the caller holds a count.
        unsafe { Arc::increment_strong_count(handle.pointer().cast_const()) };
        // SAFETY: the count that was just made is this one's.
        rings.waiting.insert(0, (ring.index(), unsafe { Arc::from_raw(handle.pointer().cast_const()) }));
        Ok(())
    })
}

/// Lets go of a semaphore. One that a ring waits for lives on until the ring's next submission.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_cs_destroy_semaphore(semaphore: Handle<Semaphore>) -> c_int {
    entry(|| {
        semaphore.get()?;
        // SAFETY: the count of `Arc::into_raw` at creation, which the caller gives back once, as the contract is.
        drop(unsafe { Arc::from_raw(semaphore.pointer().cast_const()) });
        Ok(())
    })
}
