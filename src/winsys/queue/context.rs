//! Kernel contexts: who submits, with which priority, and whether the GPU was reset under it.

use std::sync::Arc;

use amdgpu_hw::num::index;
use parking_lot::Mutex;

use crate::{
    host_memory::ArcRoom,
    uapi::{Answered, Argument, Ctx, CtxStateFlags, Errno, WaitCs, ctx_op},
    winsys::{
        Deadline, Device, Error, Ip, Loss, Priority, Result, answers,
        kernel::{send, send_quietly},
        release::{Release, release},
    },
};

/// A kernel context. Its queues are numbered by IP and ring; each is a FIFO of its own.
///
/// A `Context` is a handle: a clone of it is the same context, and equal to it. Dropping the last one frees the context;
/// queued jobs still run.
///
/// # Examples
///
/// ```
/// use amdgpu_winsys::{cs::Queue, winsys::{Context, Device, Ip, Priority}};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let kernel = amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?);
/// let device = Device::new(kernel)?;
/// let context = Context::new(&device, Priority::Normal)?;
/// let queue = Queue::new(&context, Ip::Gfx, 0)?;
/// assert_eq!((queue.context(), context.handle_count()), (&context, 2));
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Context(Arc<ContextState>);

/// The state that all handles of a context share.
#[derive(Debug)]
struct ContextState {
    device: Device,
    id: u32,
    priority: Priority,
    /// One bit for each queue that has an object, [`Context::queue_bit`].
    taken: Mutex<u128>,
}

/// Two handles are equal if they are of the same context.
impl PartialEq for Context {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Context {}

/// Causes besides the context itself that can make a submission fail as if its work had been lost.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Suspects {
    /// It waits for sync objects that may have no fence yet.
    pub(super) waits: bool,
    /// It depends on other submissions.
    pub(super) dependencies: bool,
}

impl Context {
    /// Allocates a context with just this priority.
    ///
    /// Request: AMDGPU_CTX (alloc).
    ///
    /// # Errors
    ///
    /// [`Error::NotPermitted`] for a priority that the process may not have (Linux 6.12 `amdgpu_ctx.c`,
    /// `amdgpu_ctx_priority_permit`); [`Error::Ioctl`], with `ENOSPC` beyond 4095 contexts, and `EBADF` or `EINVAL`
    /// when the kernel reports success without making one.
    pub fn new(device: &Device, priority: Priority) -> Result<Self> {
        let room = ArcRoom::new().map_err(|error| error.of("a context"))?;
        let id = allocate(device, priority).map_err(|errno| match errno {
            Errno::EACCES => Error::NotPermitted { priority },
            errno => Error::Ioctl { request: Ctx::NAME, errno },
        })?;
        Ok(Self(room.fill(ContextState { device: device.clone(), id, priority, taken: Mutex::new(0) })))
    }

    /// Allocates a context with this priority, or the highest below it that the process may have;
    /// [`Context::priority`] returns it.
    ///
    /// # Errors
    ///
    /// Those of [`Context::new`], but never [`Error::NotPermitted`]: normal priority needs no privilege.
    pub fn new_at_most(device: &Device, priority: Priority) -> Result<Self> {
        let mut wanted = priority;
        loop {
            match (Self::new(device, wanted), wanted.more_modest()) {
                (Err(Error::NotPermitted { .. }), Some(lower)) => wanted = lower,
                (outcome, _) => return outcome,
            }
        }
    }

    /// Returns the priority it was made with.
    pub fn priority(&self) -> Priority {
        self.0.priority
    }

    /// Returns the kernel's name for the context within the device's file.
    pub fn id(&self) -> u32 {
        self.0.id
    }

    /// Returns the number of its handles: the caller's, and those of queues and pinned clocks.
    pub fn handle_count(&self) -> usize {
        Arc::strong_count(&self.0)
    }

    /// Returns the device it belongs to.
    pub fn device(&self) -> &Device {
        &self.0.device
    }

    /// Returns the effects of resets on the context; the flags stay set for its life.
    ///
    /// Request: AMDGPU_CTX (query state 2).
    ///
    /// # Errors
    ///
    /// [`Error::Ioctl`].
    pub fn state(&self) -> Result<CtxStateFlags> {
        let mut argument = Ctx { op: ctx_op::QUERY_STATE2, flags: 0, ctx_id: self.0.id, priority: 0 };
        send(self.0.device.kernel(), &mut argument).map_err(|errno| Error::Ioctl { request: Ctx::NAME, errno })?;
        Ok(CtxStateFlags::from_bits_retain(argument.answer().flags))
    }

    /// Waits for the submission `sequence` on the queue (`ip`, `ring`); false when the deadline came first.
    ///
    /// Sequence 0 has always passed, and so have those more than 32 submissions back.
    ///
    /// Request: AMDGPU_WAIT_CS.
    ///
    /// # Errors
    ///
    /// [`Error::DeviceLost`] when the job ended with an error, or an earlier one of the queue did: from then on the kernel
    /// answers nothing about the queue, old successes included. [`Error::Ioctl`] with `EINVAL` for a sequence number that
    /// was not issued yet.
    pub fn wait(&self, ip: Ip, ring: u32, sequence: u64, deadline: Deadline) -> Result<bool> {
        self.try_wait(ip, ring, sequence, deadline)
            .map_err(|errno| self.submission_error((ip, ring), WaitCs::NAME, errno, Suspects::default()))
    }

    fn try_wait(&self, ip: Ip, ring: u32, sequence: u64, deadline: Deadline) -> Result<bool, Errno> {
        let mut argument = WaitCs {
            handle: sequence,
            timeout: deadline.for_amdgpu(),
            ip_type: ip.raw(),
            ip_instance: 0,
            ring,
            ctx_id: self.0.id,
        };
        send(self.0.device.kernel(), &mut argument)?;
        Ok(argument.answer().status == 0)
    }

    /// Returns an error if the queue (`ip`, `ring`) of the context no longer works, with the kind of loss. A wait for a sync
    /// object never tells: one whose job was lost counts as signalled.
    ///
    /// Two ioctls at most: QUERY_STATE2, and a WAIT_CS for the submission that has always passed, which fails only for
    /// what became of the queue.
    ///
    /// # Errors
    ///
    /// [`Error::DeviceLost`]; [`Error::Ioctl`].
    pub fn check(&self, ip: Ip, ring: u32) -> Result<()> {
        let request = Ctx::NAME;
        let state = self.state().map_err(|error| match error.errno() {
            Some(Errno::ENODEV) => self.lost(request, Errno::ENODEV, CtxStateFlags::empty()),
            _ => error,
        })?;
        if state.intersects(CtxStateFlags::GUILTY | CtxStateFlags::VRAMLOST) {
            return Err(self.lost(request, Errno::ECANCELED, state));
        }
        match self.try_wait(ip, ring, 0, Deadline::POLL) {
            Ok(_) => Ok(()),
            Err(errno) if Loss::is_behind(errno) => Err(self.lost(WaitCs::NAME, errno, state)),
            Err(errno) => Err(Error::Ioctl { request: WaitCs::NAME, errno }),
        }
    }

    /// Returns the meaning of a refused submission or wait.
    ///
    /// The errnos of lost work have other causes too: a wait for submission inside CS gives up with ETIME after five
    /// seconds, and a dependency on a queue that has lost work is refused with the error of that queue. So the context
    /// and its queue are asked, and another is named only if they are well. RADV takes all of them for a loss of its
    /// own (Mesa 25.0.7 `radv_amdgpu_cs.c`, `radv_amdgpu_cs_submit`).
    ///
    /// Source: Linux 6.12 `drm_syncobj.c`, `drm_syncobj_find_fence`; `amdgpu_ctx.c`, `amdgpu_ctx_get_entity`.
    pub(super) fn submission_error(
        &self,
        (ip, ring): (Ip, u32),
        request: &'static str,
        errno: Errno,
        suspects: Suspects,
    ) -> Error {
        if !Loss::is_behind(errno) {
            return Error::Ioctl { request, errno };
        }
        let elsewhere = match errno {
            Errno::ETIME if suspects.waits => Some(Error::NotSubmitted { request }),
            Errno::ECANCELED | Errno::ENODATA | Errno::ETIME if suspects.dependencies => {
                Some(Error::DependencyLost { request, context: self.0.id, errno })
            }
            _ => None,
        };
        if let Some(elsewhere) = elsewhere
            && self.check(ip, ring).is_ok()
        {
            return elsewhere;
        }
        self.lost(request, errno, self.state().unwrap_or(CtxStateFlags::empty()))
    }

    fn lost(&self, request: &'static str, errno: Errno, state: CtxStateFlags) -> Error {
        Error::DeviceLost { request, context: self.0.id, errno, loss: Loss::new(errno, state) }
    }

    /// Takes the queue (`ip`, `ring`) for an object that stands for it; `false` if it is taken.
    pub(crate) fn take_queue(&self, ip: Ip, ring: u32) -> bool {
        let (bit, mut taken) = (Self::queue_bit(ip, ring), self.0.taken.lock());
        let is_free = *taken & bit == 0;
        *taken |= bit;
        is_free
    }

    /// Gives a queue back that was taken.
    pub(crate) fn give_back_queue(&self, ip: Ip, ring: u32) {
        *self.0.taken.lock() &= !Self::queue_bit(ip, ring);
    }

    /// Ten IPs of up to eight rings. The kernel has four queues of an IP at most (Linux 6.12 `amdgpu_ctx.c`,
    /// `amdgpu_ctx_num_entities`).
    fn queue_bit(ip: Ip, ring: u32) -> u128 {
        1 << (ip.index() * 8 + index(ring.min(7)))
    }
}

/// The id that an answer which was not written looks like: the operation, over which it is written.
const UNWRITTEN_ID: u32 = ctx_op::ALLOC_CTX;

/// Allocates a context.
///
/// The kernel's first id is the number of the operation, and the kernel answers in the operation's place. So whether that
/// context exists is looked up before and after; meanwhile no other context of the device comes or goes with that id.
fn allocate(device: &Device, priority: Priority) -> Result<u32, Errno> {
    let mut has_ambiguous = device.has_ambiguous_context().lock();
    let existed = *has_ambiguous
        || match look_up(device, UNWRITTEN_ID) {
            Ok(()) => true,
            Err(Errno::EINVAL) => false,
            Err(errno) => return Err(errno),
        };
    let mut argument = Ctx { op: ctx_op::ALLOC_CTX, flags: 0, ctx_id: 0, priority: priority as i32 };
    send(device.kernel(), &mut argument)?;
    // The answer to ALLOC_CTX is the first word.
    let id = answers::handle(argument.op)?;
    if id == UNWRITTEN_ID {
        if existed {
            return Err(answers::UNWRITTEN);
        }
        let found = look_up(device, id);
        *has_ambiguous = found.is_ok();
        if found.is_err() {
            // It did not exist before, so if it does now it is this one.
            let _not_told = free(device, id);
        }
        found?;
    }
    Ok(id)
}

/// Looks a context up: EINVAL if the file has none with this id. The answer has a word that is always 0 where the question
/// has the id, so one that was not written is recognised.
fn look_up(device: &Device, id: u32) -> Result<(), Errno> {
    let mut argument = Ctx { op: ctx_op::QUERY_STATE2, flags: 0, ctx_id: id, priority: 0 };
    // Quietly: the context that is looked up has no owner yet.
    send_quietly(device.kernel(), &mut argument)?;
    if argument.answer().hangs == 0 { Ok(()) } else { Err(answers::UNWRITTEN) }
}

/// Frees a context.
fn free(device: &Device, id: u32) -> Release {
    release(|| {
        let mut argument = Ctx { op: ctx_op::FREE_CTX, flags: 0, ctx_id: id, priority: 0 };
        send_quietly(device.kernel(), &mut argument)
    })
}

impl Drop for ContextState {
    fn drop(&mut self) {
        let freed = if self.id == UNWRITTEN_ID {
            let mut has_ambiguous = self.device.has_ambiguous_context().lock();
            let freed = free(&self.device, self.id);
            *has_ambiguous = !freed.is_over();
            freed
        } else {
            free(&self.device, self.id)
        };
        freed.report(Ctx::NAME, self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_queue_of_a_context_has_a_bit_of_its_own() {
        let bits = Ip::ALL.into_iter().flat_map(|ip| (0..8).map(move |ring| Context::queue_bit(ip, ring)));
        let mut taken = 0;
        for bit in bits {
            assert!(bit.is_power_of_two() && taken & bit == 0, "{bit:#x}");
            taken |= bit;
        }
        assert_eq!(taken, (1 << 80) - 1);
        assert_eq!(Context::queue_bit(Ip::Gfx, 9), Context::queue_bit(Ip::Gfx, 7), "no kernel has so many");
    }
}
