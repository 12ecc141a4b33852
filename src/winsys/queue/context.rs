//! Kernel contexts, through which work is submitted and GPU resets are reported.

use std::sync::Arc;

use amdgpu_hw::num::index;
use parking_lot::Mutex;

use crate::{
    host_memory::ArcRoom,
    uapi::{Answered, Argument, Ctx, CtxStateFlags, Errno, WaitCs, ctx_op},
    winsys::{
        Deadline, Device, Error, Ip, KernelError, Loss, Priority, Result, answers,
        own::{send, send_quietly},
        release::{Release, release},
    },
};

/// A kernel context. It has a queue for each IP and ring; submissions to the same queue run in order.
///
/// A `Context` is a reference-counted handle: its clones are the same context and compare equal. Dropping the last one
/// frees the context; queued jobs still run.
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
    /// A mask with one bit for each queue that has an object: see [`Context::queue_bit`].
    taken: Mutex<u128>,
}

/// Two handles are equal if they refer to the same context.
impl PartialEq for Context {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Context {}

/// Causes other than lost work of the context for which the kernel may return the errno of lost work.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Suspects {
    /// The submission waits for sync objects that may have no fence yet.
    pub(super) waits: bool,
    /// The submission depends on other submissions.
    pub(super) dependencies: bool,
}

impl Context {
    /// Allocates a context with exactly this priority.
    ///
    /// Request: AMDGPU_CTX (alloc).
    ///
    /// # Errors
    ///
    /// * [`Error::NotPermitted`] if the process may not use the priority (Linux 6.12 `amdgpu_ctx.c`,
    ///   `amdgpu_ctx_priority_permit`);
    /// * [`Error::HostMemory`] if host memory is exhausted;
    /// * [`Error::Kernel`] if the kernel refuses the request, with `ENOSPC` beyond 4095 contexts, or if it reports success
    ///   without creating a context (`EBADF` or `EINVAL`).
    pub fn new(device: &Device, priority: Priority) -> Result<Self> {
        let room = ArcRoom::new().map_err(|error| error.of("a context"))?;
        let id = allocate(device, priority).map_err(|errno| match errno {
            Errno::EACCES => Error::NotPermitted { priority },
            errno => Error::Kernel(KernelError::new(Ctx::NAME, errno)),
        })?;
        Ok(Self(room.fill(ContextState { device: device.clone(), id, priority, taken: Mutex::new(0) })))
    }

    /// Allocates a context with this priority, or with the highest lower one that the process may use.
    /// [`Context::priority`] returns the result.
    ///
    /// # Errors
    ///
    /// The errors of [`Context::new`], except [`Error::NotPermitted`], because normal priority needs no privilege.
    pub fn new_at_most(device: &Device, priority: Priority) -> Result<Self> {
        let mut wanted = priority;
        loop {
            match (Self::new(device, wanted), wanted.more_modest()) {
                (Err(Error::NotPermitted { .. }), Some(lower)) => wanted = lower,
                (outcome, _) => return outcome,
            }
        }
    }

    /// Returns the priority of the context.
    pub fn priority(&self) -> Priority {
        self.0.priority
    }

    /// Returns the kernel's ID of the context, which is valid in the device's open file.
    pub fn id(&self) -> u32 {
        self.0.id
    }

    /// Returns the number of handles of the context, including those held by queues and pinned clocks.
    pub fn handle_count(&self) -> usize {
        Arc::strong_count(&self.0)
    }

    /// Returns the device that the context belongs to.
    pub fn device(&self) -> &Device {
        &self.0.device
    }

    /// Returns the effects of GPU resets on the context. Once set, a flag stays set for the context's lifetime.
    ///
    /// Request: AMDGPU_CTX (query state 2).
    ///
    /// # Errors
    ///
    /// [`Error::Kernel`] if the kernel refuses the request.
    pub fn state(&self) -> Result<CtxStateFlags> {
        let mut argument = Ctx { op: ctx_op::QUERY_STATE2, flags: 0, ctx_id: self.0.id, priority: 0 };
        send(self.0.device.kernel(), &mut argument)
            .map_err(|errno| Error::Kernel(KernelError::new(Ctx::NAME, errno)))?;
        Ok(CtxStateFlags::from_bits_retain(argument.answer().flags))
    }

    /// Waits for the submission `sequence` of the queue (`ip`, `ring`). Returns `false` if the deadline passes first.
    ///
    /// Sequence number 0 and sequence numbers of submissions before the last 32 count as finished.
    ///
    /// Request: AMDGPU_WAIT_CS.
    ///
    /// # Errors
    ///
    /// * [`Error::DeviceLost`] if the job, or an earlier one of the queue, ended with an error. The kernel then reports the error
    ///   for every later submission of the queue too, even if the submission succeeded.
    /// * [`Error::Kernel`] if the kernel refuses the request: `EINVAL` if the sequence number has not been issued yet.
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

    /// Checks that the queue (`ip`, `ring`) of the context still works, and returns an error with the kind of loss if it does not.
    /// A wait for a sync object does not detect this, because a lost job signals it as well.
    ///
    /// Makes at most two requests: QUERY_STATE2, and WAIT_CS for sequence number 0, which fails only if the queue has lost
    /// work.
    ///
    /// # Errors
    ///
    /// [`Error::DeviceLost`] if the queue has lost work; [`Error::Kernel`] if the kernel refuses a request for another
    /// reason.
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
            Err(errno) => Err(Error::Kernel(KernelError::new(WaitCs::NAME, errno))),
        }
    }

    /// Returns the error for an errno of CS or of a wait.
    ///
    /// The errnos of lost work have other causes too. CS waits five seconds for the work behind a sync object to be
    /// submitted and then returns ETIME; and for a dependency on a queue that has lost work it returns that queue's error.
    /// The context and its queue are therefore checked first, and the other cause is reported if they still work. RADV
    /// reports a loss of its own context in all these cases (Mesa 25.0.7 `radv_amdgpu_cs.c`, `radv_amdgpu_cs_submit`).
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
            return Error::Kernel(KernelError::new(request, errno));
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

    /// Marks the queue (`ip`, `ring`) as used by an object. Returns `false` if it already was.
    pub(crate) fn take_queue(&self, ip: Ip, ring: u32) -> bool {
        let (bit, mut taken) = (Self::queue_bit(ip, ring), self.0.taken.lock());
        let is_free = *taken & bit == 0;
        *taken |= bit;
        is_free
    }

    /// Marks a queue as unused.
    pub(crate) fn give_back_queue(&self, ip: Ip, ring: u32) {
        *self.0.taken.lock() &= !Self::queue_bit(ip, ring);
    }

    /// Returns the bit of a queue, for ten IPs with up to eight rings. The kernel has at most four queues of an IP (Linux
    /// 6.12 `amdgpu_ctx.c`, `amdgpu_ctx_num_entities`).
    fn queue_bit(ip: Ip, ring: u32) -> u128 {
        1 << (ip.index() * 8 + index(ring.min(7)))
    }
}

/// The id that an unwritten answer seems to have: the kernel writes the id over the operation.
const UNWRITTEN_ID: u32 = ctx_op::ALLOC_CTX;

/// Allocates a context.
///
/// The kernel writes the id over the operation, and its first id equals the operation's number. To recognise an unwritten
/// answer, the context with that id is looked up before and after the request. The device's lock ensures that no other
/// context with that id is created or freed in between.
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
            // The context did not exist before, so if it exists now, this call created it.
            let _not_told = free(device, id);
        }
        found?;
    }
    Ok(id)
}

/// Looks up a context; EINVAL if the file has none with this id. The answer has a word that is always 0 in place of the id,
/// so an unwritten answer is recognised.
fn look_up(device: &Device, id: u32) -> Result<(), Errno> {
    let mut argument = Ctx { op: ctx_op::QUERY_STATE2, flags: 0, ctx_id: id, priority: 0 };
    // Sent without an event, because the context has no owner yet.
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
