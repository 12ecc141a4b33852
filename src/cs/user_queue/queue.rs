//! A user queue for command lists.

use std::{collections::VecDeque, fmt, sync::Arc, time::Duration};

use parking_lot::Mutex;

use super::packets;
use crate::{
    cs::{CommandList, Error, Result, Target, record::list::recorded::Recorded},
    winsys::{Binding, Deadline, Device, Error as WinsysError, Ip, Resident, Syncobj, UserRing},
};

/// Times between two looks at memory.
const SOONEST: Duration = Duration::from_micros(20);
const LATEST: Duration = Duration::from_millis(1);
/// Time that a submission waits for room in the ring.
const PATIENCE: Duration = Duration::from_secs(10);

/// A queue of command lists whose submissions are no ioctls: the lists' IBs are called from a ring of this process's own, which
/// a store to a doorbell starts. For kernels that have user queues ([`UserRing`]).
///
/// Submissions run in order. What they use stays alive until they have ended, as with [`Queue`](crate::cs::Queue). Memory that
/// was bound since the last [`UserQueue::wait_for_bindings`] may not be in the page tables yet.
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
/// queue.wait_for_bindings(Deadline::NEVER)?; // that of the list
/// let fence = queue.submit(&[&list], &[])?; // stores alone
/// assert!(fence.wait(Deadline::NEVER)?);
/// let done = Syncobj::new(&device, false)?;
/// queue.signal(&[&done])?; // for others
/// assert!(done.wait(Deadline::NEVER)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct UserQueue(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    target: Target,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    // The ring goes first: the kernel lets go of the queue before what it uses goes.
    ring: UserRing,
    /// The number of the last submission; numbers go round.
    last: u32,
    used: VecDeque<Used>,
    packets: Vec<u32>,
}

/// Resources of a submission.
#[derive(Debug)]
struct Used {
    number: u32,
    _lists: Vec<Arc<Recorded>>,
    _memory: Vec<Binding>,
}

/// A submission's place on its user queue. It has signalled once the submission and all before it are done.
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

/// Returns `true` if numbers that go round have come to one: it is not ahead of the last one reached.
const fn has_reached(reached: u32, number: u32) -> bool {
    reached.wrapping_sub(number) <= u32::MAX / 2
}

impl UserQueue {
    /// Makes a queue of an IP.
    ///
    /// # Errors
    ///
    /// [`Error::NoLanguage`] for a video block; [`Error::Winsys`] with
    /// [`Unsupported`](crate::winsys::Error::Unsupported) where the kernel has no user queues of the IP, and with the other
    /// errors of [`UserRing::new`].
    pub fn new(device: &Device, ip: Ip) -> Result<Self> {
        let target = Target::new(device.info().gfx_level, ip).ok_or(Error::NoLanguage { ip })?;
        let ring = UserRing::new(device, ip)?;
        let state = Mutex::new(State { ring, last: 0, used: VecDeque::new(), packets: Vec::new() });
        Ok(Self(Arc::new(Shared { target, state })))
    }

    /// Returns the target that streams for this queue are recorded for.
    pub fn target(&self) -> Target {
        self.0.target
    }

    /// Submits lists with the memory that they use. No ioctl. Waits while the ring is full.
    ///
    /// # Errors
    ///
    /// [`Error::WrongQueue`]; [`Error::RingFull`] for more IBs than the ring has room for, or if it has had none for ten
    /// seconds; [`Error::Winsys`] for objects of another device. Nothing was then submitted.
    pub fn submit(&self, lists: &[&CommandList], memory: &[&dyn Resident]) -> Result<UserQueueFence> {
        let mut state = self.0.state.lock();
        let state = &mut *state;
        let used = self.name_resources(state, lists, memory)?;
        let number = used.number;
        self.write_packets(state, lists, number)?;
        state.make_room()?;
        state.retire();
        state.ring.push(&state.packets)?;
        // From here on the engine may run it.
        state.used.push_back(used);
        state.last = number;
        state.ring.start()?;
        Ok(UserQueueFence { shared: Arc::clone(&self.0), number })
    }

    fn name_resources(&self, state: &State, lists: &[&CommandList], memory: &[&dyn Resident]) -> Result<Used> {
        for list in lists {
            if !list.recorded().is_of(state.ring.device()) {
                return Err(WinsysError::ForeignDevice { what: "command list" }.into());
            }
            if list.target() != self.0.target {
                return Err(Error::WrongQueue { recorded: list.target(), queue: self.0.target });
            }
        }
        let mut bindings = Vec::new();
        for memory in memory {
            memory.each_binding(&mut |binding| bindings.push(binding.clone()));
        }
        if bindings.iter().any(|binding| binding.device() != state.ring.device()) {
            return Err(WinsysError::ForeignDevice { what: "memory" }.into());
        }
        let lists = lists.iter().map(|list| Arc::clone(list.recorded())).collect();
        Ok(Used { number: state.last.wrapping_add(1), _lists: lists, _memory: bindings })
    }

    fn write_packets(&self, state: &mut State, lists: &[&CommandList], number: u32) -> Result<()> {
        let State { ring, packets, .. } = state;
        packets.clear();
        let room = ring.dwords();
        for ib in lists.iter().flat_map(|list| list.submitted_ibs()) {
            if packets.len() + packets::MOST_OF_A_CALL + packets::MOST_OF_AN_END > room {
                return Err(Error::RingFull { dwords: room });
            }
            packets::call(self.0.target, ib, ring.pushed() + packets.len() as u64, packets);
        }
        Ok(packets::end(self.0.target, ring.number_address(), number, packets)?)
    }

    /// Makes sync objects signal when everything submitted so far is done, for other queues and processes.
    ///
    /// # Errors
    ///
    /// [`Error::Winsys`]: those of [`UserRing::signal`].
    pub fn signal(&self, syncobjs: &[&Syncobj]) -> Result<()> {
        Ok(self.0.state.lock().ring.signal(syncobjs)?)
    }

    /// Waits until all that was bound so far is in the page tables; false when the deadline came first.
    ///
    /// # Errors
    ///
    /// [`Error::Winsys`]: those of [`UserRing::wait_for_bindings`].
    pub fn wait_for_bindings(&self, deadline: Deadline) -> Result<bool> {
        Ok(self.0.state.lock().ring.wait_for_bindings(deadline)?)
    }

    /// Lets go of what finished submissions used, and returns the number of the others. No ioctl.
    pub fn in_flight(&self) -> usize {
        let mut state = self.0.state.lock();
        state.retire();
        state.used.len()
    }
}

impl State {
    /// Waits until the packets fit into the ring.
    fn make_room(&self) -> Result<()> {
        let needed = self.packets.len();
        let has_room = || Ok(self.ring.free_dwords()? >= needed);
        if poll(Deadline::after(PATIENCE), has_room)? { Ok(()) } else { Err(Error::RingFull { dwords: needed }) }
    }

    fn retire(&mut self) {
        let reached = self.ring.number();
        while self.used.front().is_some_and(|used| has_reached(reached, used.number)) {
            self.used.pop_front();
        }
    }
}

/// Looks until something holds, with longer and longer pauses; false when the deadline came first.
fn poll(deadline: Deadline, holds: impl Fn() -> Result<bool>) -> Result<bool> {
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
    /// Returns `true` if the GPU has written the submission's number. No ioctl.
    pub fn is_signalled(&self) -> bool {
        has_reached(self.shared.state.lock().ring.number(), self.number)
    }

    /// Waits for the submission by looking at its number in memory; false when the deadline came first. No ioctl. A queue that
    /// hangs never comes to it.
    ///
    /// # Errors
    ///
    /// None today; kernels may learn to tell of a loss.
    pub fn wait(&self, deadline: Deadline) -> Result<bool> {
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
