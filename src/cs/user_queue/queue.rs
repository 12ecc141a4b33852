//! User mode queues for command lists.

use std::{collections::VecDeque, fmt, mem, sync::Arc, time::Duration};

use parking_lot::Mutex;

use super::packets;
use crate::{
    cs::{CommandList, Keep, Target, UserQueueError, record::list::recorded::Recorded},
    host_memory::{self, ArcRoom, NoHostMemory},
    winsys::{Binding, Deadline, Device, Error as WinsysError, Ip, PageTables, Resident, Syncobj, UserRing},
};

/// The first and the longest pause between two reads of a sequence number in memory.
const SOONEST: Duration = Duration::from_micros(20);
const LATEST: Duration = Duration::from_millis(1);
/// The longest wait of a submission for space in the ring.
const PATIENCE: Duration = Duration::from_secs(10);

/// A user mode queue for command lists. A submission is not an ioctl: the IBs of its lists are called from a ring buffer of this
/// process, which a doorbell write starts. Requires a kernel with user mode queues ([`UserRing`]).
///
/// Submissions run in order. The memory that they use stays alive until they have ended, as with [`Queue`](crate::cs::Queue), unless
/// [`submit_keeping`](UserQueue::submit_keeping) says otherwise; if
/// the kernel refuses to destroy a dropped queue, that of unfinished submissions stays alive until the process ends.
/// Memory that was bound since the last [`UserQueue::wait_for_bindings`] may not be in the page tables yet.
///
/// Each submission begins with a flush of HDP and the invalidation of all caches, and ends with the write-back of L2, because the
/// kernel does nothing of this for user mode queues. Copy engines have no packet for HDP: record their lists with
/// [`IbPlacement::System`](crate::cs::IbPlacement::System), and keep data that the CPU writes for them in system memory.
///
/// This type is separate from [`Queue`](crate::cs::Queue), because it cannot give the same guarantees. The kernel does not see a
/// submission, so it cannot wait for bindings and sync objects before it: AMDGPU_USERQ_WAIT returns addresses and values that the
/// ring itself would have to poll, and this library does not record such waits. A submission has no sequence number of a context
/// either, on which fences, dependencies, gangs and queries for lost work of a `Queue` are based. A common type would have to
/// refuse most operations for one of the two kinds. Both share lists, memory, [`Target`] and the concept of a fence.
///
/// ```
/// use amdgpu_sim::{KernelRelease, SimDevice, SimOptions, profile};
/// use amdgpu_winsys::{
///     cs::{Stream, UserQueue, pm4},
///     winsys::{Deadline, Device, Ip, Syncobj},
/// };
///
/// let options = SimOptions { user_queues: true, ..SimOptions::of_kernel(KernelRelease::V6_17) };
/// let device = Device::new(SimDevice::new(profile("navi31").ok_or("no such chip")?, options).open())?;
/// let queue = UserQueue::new(&device, Ip::Gfx)?;
/// let list = Stream::new(&device, pm4::Target::gfx(device.info().gfx_level), 64)?.finish()?;
/// queue.wait_for_bindings(Deadline::NEVER)?; // the binding of the list
/// let fence = queue.submit(&[&list], &[])?; // no ioctl
/// assert!(fence.wait(Deadline::NEVER)?);
/// let done = Syncobj::new(&device, false)?;
/// queue.signal(&[&done])?; // for other queues and processes
/// assert!(done.wait(Deadline::NEVER)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct UserQueue(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    target: Target,
    device: Device,
    /// Held while a submission is made, which may wait for space in the ring. Submissions wait for one another, and nothing else
    /// waits for them.
    turn: Mutex<()>,
    /// Held only for a few steps at a time.
    state: Mutex<State>,
    page_tables: Arc<PageTables>,
}

#[derive(Debug)]
struct State {
    ring: UserRing,
    /// The number of the last submission; numbers wrap.
    last: u32,
    used: VecDeque<Used>,
    packets: Vec<u32>,
}

/// The resources of a submission, kept alive until it has ended.
#[derive(Debug)]
struct Used {
    number: u32,
    _lists: Vec<Arc<Recorded>>,
    _memory: Vec<Binding>,
}

/// A submission's position on its user mode queue. It is signalled when the submission and all earlier ones have completed.
///
/// ```
/// # use amdgpu_sim::{KernelRelease, SimDevice, SimOptions, profile};
/// use amdgpu_winsys::{cs::{Stream, UserQueue, sdma}, winsys::{Deadline, Device, Ip}};
///
/// # let options = SimOptions { user_queues: true, ..SimOptions::of_kernel(KernelRelease::V6_17) };
/// # let device = Device::new(SimDevice::new(profile("navi31").ok_or("no such chip")?, options).open())?;
/// # let list = Stream::new(&device, sdma::Version::of(device.info().gfx_level), 64)?.finish()?;
/// let queue = UserQueue::new(&device, Ip::Sdma)?;
/// let [first, second] = [queue.submit(&[&list], &[])?, queue.submit(&[&list], &[])?];
/// assert!(second.wait(Deadline::NEVER)? && first.is_signalled());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct UserQueueFence {
    shared: Arc<Shared>,
    number: u32,
}

impl fmt::Debug for UserQueueFence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UserQueueFence").field("number", &self.number).finish_non_exhaustive()
    }
}

#[cold]
fn no_memory(error: NoHostMemory) -> UserQueueError {
    error.of("a submission to a user queue").into()
}

/// Returns `true` if `number` is not after `reached`, the last number reached; numbers wrap.
const fn has_reached(reached: u32, number: u32) -> bool {
    reached.wrapping_sub(number) <= u32::MAX / 2
}

impl UserQueue {
    /// Creates a user mode queue of an IP.
    ///
    /// # Errors
    ///
    /// [`UserQueueError::UnsupportedIp`] if `ip` is a video engine; [`UserQueueError::Winsys`] with [`Unsupported`](crate::winsys::Error::Unsupported)
    /// if the kernel has no user mode queues of the IP, and with the other errors of [`UserRing::new`].
    pub fn new(device: &Device, ip: Ip) -> Result<Self, UserQueueError> {
        let target = Target::new(device.info().gfx_level, ip).ok_or(UserQueueError::UnsupportedIp { ip })?;
        let room = ArcRoom::new().map_err(no_memory)?;
        let ring = UserRing::new(device, ip)?;
        let page_tables = Arc::clone(ring.page_tables());
        let state = Mutex::new(State { ring, last: 0, used: VecDeque::new(), packets: Vec::new() });
        let (device, turn) = (device.clone(), Mutex::new(()));
        Ok(Self(room.fill(Shared { target, device, turn, state, page_tables })))
    }

    /// Returns the ring and generation for which streams must be recorded.
    pub fn target(&self) -> Target {
        self.0.target
    }

    /// Submits lists with the memory that they use. Makes no ioctl. If the ring is full, the call waits for space. This blocks
    /// other submissions to the queue, but neither its fences nor its other methods.
    ///
    /// # Errors
    ///
    /// * [`UserQueueError::WrongQueue`] if a list is for another ring or generation;
    /// * [`UserQueueError::RingFull`] if the ring is too small for the IBs, or had no space for ten seconds;
    /// * [`UserQueueError::Winsys`] if an object belongs to another device, or the process has no memory left.
    ///
    /// If an error is returned, no work was submitted.
    pub fn submit(&self, lists: &[&CommandList], memory: &[&dyn Resident]) -> Result<UserQueueFence, UserQueueError> {
        self.submit_keeping(lists, memory, Keep::Everything)
    }

    /// Submits like [`submit`](Self::submit), with a choice of the resources that the queue keeps alive. A driver whose callers keep them
    /// alive, like those of Vulkan, uses [`Keep::Nothing`], so that lists are recorded again in the same memory without a new binding.
    ///
    /// # Errors
    ///
    /// The errors of [`submit`](Self::submit).
    ///
    /// ```
    /// # use amdgpu_sim::{KernelRelease, SimDevice, SimOptions, profile};
    /// use amdgpu_winsys::{cs::{Keep, Stream, UserQueue, sdma}, winsys::{Deadline, Device, Ip}};
    ///
    /// # let options = SimOptions { user_queues: true, ..SimOptions::of_kernel(KernelRelease::V6_17) };
    /// # let device = Device::new(SimDevice::new(profile("navi31").ok_or("no such chip")?, options).open())?;
    /// # let version = sdma::Version::of(device.info().gfx_level);
    /// let queue = UserQueue::new(&device, Ip::Sdma)?;
    /// let list = Stream::new(&device, version, 64)?.finish()?;
    /// queue.wait_for_bindings(Deadline::NEVER)?;
    /// queue.submit_keeping(&[&list], &[], Keep::Nothing)?.wait(Deadline::NEVER)?;
    /// assert!(list.record_again(version).is_ok(), "the queue does not hold the list");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn submit_keeping(
        &self,
        lists: &[&CommandList],
        memory: &[&dyn Resident],
        keep: Keep,
    ) -> Result<UserQueueFence, UserQueueError> {
        let used = self.acquire_refs(lists, memory, keep)?;
        self.0.retire();
        let _turn = self.0.turn.lock();
        let mut used = Some(used);
        let mut number = 0;
        let is_submitted = || {
            let mut state = self.0.state.lock();
            let state = &mut *state;
            number = state.last.wrapping_add(1);
            self.write_packets(state, lists, number)?;
            if state.ring.free_dwords()? < state.packets.len() {
                return Ok(false);
            }
            state.used.try_reserve(1).map_err(|_| no_memory(NoHostMemory))?;
            state.ring.push(&state.packets)?;
            // From here on the engine may execute the packets.
            state.used.extend(used.take().map(|resources| Used { number, ..resources }));
            state.last = number;
            state.ring.start()?;
            Ok(true)
        };
        if !poll(Deadline::after(PATIENCE), is_submitted)? {
            return Err(UserQueueError::RingFull { dwords: self.0.state.lock().packets.len() });
        }
        Ok(UserQueueFence { shared: Arc::clone(&self.0), number })
    }

    /// Checks the resources of a submission, which has no number yet, and takes references to those that are kept.
    fn acquire_refs(
        &self,
        lists: &[&CommandList],
        memory: &[&dyn Resident],
        keep: Keep,
    ) -> Result<Used, UserQueueError> {
        for list in lists {
            if !list.recorded().is_of(&self.0.device) {
                return Err(WinsysError::ForeignDevice { what: "command list" }.into());
            }
            if list.target() != self.0.target {
                return Err(UserQueueError::WrongQueue { recorded: list.target(), queue: self.0.target });
            }
        }
        let (mut bindings, mut named, mut is_foreign) = (Vec::new(), Ok(()), false);
        for memory in memory {
            memory.each_binding(&mut |binding| {
                is_foreign |= *binding.device() != self.0.device;
                if keep == Keep::Everything && named.is_ok() {
                    named = host_memory::push(&mut bindings, binding.clone());
                }
            });
        }
        if is_foreign {
            return Err(WinsysError::ForeignDevice { what: "memory" }.into());
        }
        named.map_err(no_memory)?;
        let kept = if keep == Keep::Nothing { &[] } else { lists };
        let mut recorded = Vec::new();
        host_memory::extend(&mut recorded, kept.iter().map(|list| Arc::clone(list.recorded()))).map_err(no_memory)?;
        Ok(Used { number: 0, _lists: recorded, _memory: bindings })
    }

    fn write_packets(&self, state: &mut State, lists: &[&CommandList], number: u32) -> Result<(), UserQueueError> {
        let State { ring, packets, .. } = state;
        packets.clear();
        let room = ring.dwords();
        host_memory::reserve(packets, packets::MOST_OF_A_BEGIN).map_err(no_memory)?;
        packets::begin(self.0.target, packets)?;
        for ib in lists.iter().flat_map(|list| list.submitted_ibs()) {
            if packets.len() + packets::MOST_OF_A_CALL + packets::MOST_OF_AN_END > room {
                return Err(UserQueueError::RingFull { dwords: room });
            }
            host_memory::reserve(packets, packets::MOST_OF_A_CALL).map_err(no_memory)?;
            packets::call(self.0.target, ib, ring.pushed() + packets.len() as u64, packets);
        }
        host_memory::reserve(packets, packets::MOST_OF_AN_END).map_err(no_memory)?;
        Ok(packets::end(self.0.target, ring.number_address(), number, packets)?)
    }

    /// Makes sync objects signal when all submissions so far have completed, for other queues and processes.
    ///
    /// # Errors
    ///
    /// [`UserQueueError::Winsys`] with the errors of [`UserRing::signal`].
    pub fn signal(&self, syncobjs: &[&Syncobj]) -> Result<(), UserQueueError> {
        Ok(self.0.state.lock().ring.signal(syncobjs)?)
    }

    /// Waits until all bindings so far are in the page tables. Returns `false` if the deadline passes first. Makes no ioctl if the
    /// device has bound nothing since the last wait.
    ///
    /// # Errors
    ///
    /// [`UserQueueError::Winsys`] with the errors of [`UserRing::wait_for_bindings`].
    pub fn wait_for_bindings(&self, deadline: Deadline) -> Result<bool, UserQueueError> {
        Ok(self.0.page_tables.wait(deadline)?)
    }

    /// Releases the resources of completed submissions, and returns the number of submissions that have not completed. Makes no
    /// ioctl.
    pub fn in_flight(&self) -> usize {
        self.0.retire();
        self.0.state.lock().used.len()
    }
}

/// The kernel destroys the queue before the resources of its submissions are dropped. If it refuses, the engine may still execute
/// them, so the resources of unfinished submissions stay alive until the process ends.
impl Drop for State {
    fn drop(&mut self) {
        if !self.ring.free() {
            while self.pop_ended().is_some() {}
            mem::forget(mem::take(&mut self.used));
        }
    }
}

impl State {
    /// Takes the resources of the oldest submission out of the list, if it has ended.
    fn pop_ended(&mut self) -> Option<Used> {
        let reached = self.ring.number();
        self.used.pop_front_if(|used| has_reached(reached, used.number))
    }
}

impl Shared {
    /// Drops the resources of the submissions that have ended, without a lock: that may make ioctls and call observers.
    fn retire(&self) {
        loop {
            let ended = self.state.lock().pop_ended();
            if ended.is_none() {
                return;
            }
        }
    }
}

/// Calls `holds` until it returns `true`, with increasing pauses. Returns `false` if the deadline passes first.
fn poll(deadline: Deadline, mut holds: impl FnMut() -> Result<bool, UserQueueError>) -> Result<bool, UserQueueError> {
    let mut pause = SOONEST;
    loop {
        if holds()? {
            return Ok(true);
        }
        let left = deadline.remaining();
        if left.is_zero() {
            return Ok(false);
        }
        std::thread::sleep(pause.min(left));
        pause = (pause * 2).min(LATEST);
    }
}

impl UserQueueFence {
    /// Returns `true` if the GPU has written the number of the submission. Makes no ioctl.
    pub fn is_signalled(&self) -> bool {
        has_reached(self.shared.state.lock().ring.number(), self.number)
    }

    /// Waits for the submission by polling its number in memory. Returns `false` if the deadline passes first. Makes no ioctl. If
    /// the queue hangs, the number is never written.
    ///
    /// # Errors
    ///
    /// None at present; future kernels may report a loss.
    pub fn wait(&self, deadline: Deadline) -> Result<bool, UserQueueError> {
        poll(deadline, || Ok(self.is_signalled()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_round() {
        assert!(has_reached(5, 5) && has_reached(6, 5) && !has_reached(4, 5));
        assert!(has_reached(3, u32::MAX - 2) && !has_reached(u32::MAX - 2, 3));
    }
}
