//! Gangs: queues whose jobs run at the same time.

use std::sync::Arc;

use super::state::QueueState;
use crate::{
    cs::{
        CommandList, Fence, GangError, GangFault, MAX_GANG, Queue, RecordError, Submission, SubmitError,
        record::{
            marker::{self, Step},
            marker_page::MarkerPage,
        },
    },
    winsys::{Capabilities, Error as WinsysError, Feature, ResidencySet},
};

/// Several queues whose jobs the kernel starts together, so that work on one may wait for work on another: for example a task
/// shader on a compute ring that feeds a mesh shader on the graphics ring.
///
/// The kernel's fence is that of the leader only, and the kernel lets the followers begin before the leader's earlier work has
/// completed. Each submission is therefore surrounded by a handshake: the followers wait for the leader to begin, and the leader
/// waits for the followers to end. The fence then covers all queues, and the resources of all stay alive until it signals.
///
/// Requires [`Capabilities::GANG_SUBMIT`]. The kernel refuses gangs on virtual functions (SR-IOV). While a [VMID is
/// reserved](crate::winsys::VmidReservation), it also refuses them on chips before Vega10, on Navi10 and on Navi14.
///
/// Source: Linux 6.12 `amdgpu_cs.c`, `amdgpu_cs_pass1`, `amdgpu_cs_submit`; Mesa 25.0.7 `src/amd/vulkan/radv_queue.c`,
/// `radv_create_gang_wait_preambles_postambles`.
///
/// ```
/// use amdgpu_winsys::{
///     cs::{AnyStream, Gang, Queue, Submission},
///     winsys::{Deadline, Ip},
/// };
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let context = amdgpu_winsys::winsys::Context::new(&device, amdgpu_winsys::winsys::Priority::Normal)?;
/// # let queue = amdgpu_winsys::cs::Queue::new(&context, amdgpu_winsys::winsys::Ip::Gfx, 0)?;
/// let compute = Queue::new(&context, Ip::Compute, 0)?;
/// let list = |queue: &Queue| AnyStream::new(&device, queue.target(), 64)?.finish();
/// let (mesh_shaders, task_shaders) = (list(&queue)?, list(&compute)?);
/// let gang = Gang::new(&queue, &[&compute])?;
/// let submission = Submission { lists: &[&mesh_shaders], ..Submission::default() };
/// let fence = gang.submit(&[&[&task_shaders]], &submission)?; // covers both queues
/// assert!(fence.wait(Deadline::NEVER)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Gang {
    leader: Arc<QueueState>,
    followers: Vec<Arc<QueueState>>,
    /// The lists before and after those of each follower, which wait for the leader and report the end, and finally those of
    /// the leader, which start the followers and wait for their ends. Empty without a handshake.
    handshake: Vec<[CommandList; 2]>,
    /// The page of the handshake.
    resident: ResidencySet,
}

impl Gang {
    /// Creates a gang of queues of one context.
    ///
    /// # Errors
    ///
    /// [`GangError::NoGang`] if the queues cannot form a gang, see [`GangFault`];
    /// [`GangError::Winsys`] with [`Unsupported`](WinsysError::Unsupported) before driver minor 49, or if an
    /// allocation fails.
    pub fn new(leader: &Queue, followers: &[&Queue]) -> Result<Self, GangError> {
        let leader = checked(leader, followers)?;
        let page = MarkerPage::new(leader.device())?;
        let start = |at: usize| page.at(marks(at)[0]);
        let done = |at: usize| page.at(marks(at)[1]);
        let record = |queue: &QueueState, steps: &[Step]| marker::record(queue.device(), queue.target, steps);
        let all = 0..followers.len();
        let begin: Vec<_> = all.clone().map(|at| Step::Store(start(at), 1)).collect();
        let end: Vec<_> = all.flat_map(|at| [Step::WaitFor(done(at), 1), Step::Store(done(at), 0)]).collect();
        let resident = ResidencySet::new();
        resident.add(page.binding());
        let of_follower = |(at, follower): (usize, &&Queue)| {
            let queue = follower.state();
            let begin = record(queue, &[Step::WaitFor(start(at), 1), Step::Store(start(at), 0)])?;
            Ok([begin, record(queue, &[Step::Store(done(at), 1)])?])
        };
        let mut handshake = followers.iter().enumerate().map(of_follower).collect::<Result<Vec<_>, RecordError>>()?;
        handshake.push([record(&leader, &begin)?, record(&leader, &end)?]);
        let gang = Self { leader, followers: states(followers), handshake, resident };
        // The CPU mapping is no longer needed. It is dropped after the gang was created, because an observer may panic.
        drop(page);
        Ok(gang)
    }

    /// Creates a gang of queues of one context without the handshake. The lists of each queue may begin with the preambles of its
    /// ring; an empty [`Preambles`](crate::cs::Preambles) in the submission then leaves out those of the queues.
    ///
    /// The lists themselves must make the leader wait for the ends of the followers. If they do not, the fence signals too early,
    /// and resources of the submission are dropped too early; the kernel's own references keep the memory until all jobs have
    /// ended, see [`Keep`](crate::cs::Keep).
    ///
    /// ```
    /// use std::sync::Arc;
    /// use amdgpu_sim::{SimKernel, profile};
    /// use amdgpu_winsys::{
    ///     cs::{AnyStream, Gang, Queue, Submission},
    ///     winsys::{Context, Deadline, Device, Ip, Priority},
    /// };
    ///
    /// let device = Device::new(SimKernel::open(profile("navi21").ok_or("no such chip")?))?;
    /// let context = Context::new(&device, Priority::Normal)?;
    /// let (leader, follower) = (Queue::new(&context, Ip::Gfx, 0)?, Queue::new(&context, Ip::Compute, 0)?);
    /// let list = |queue: &Queue| AnyStream::new(&device, queue.target(), 64)?.finish();
    /// let (main, preamble, share) = (list(&leader)?, list(&follower)?, list(&follower)?);
    /// let gang = Gang::bare(&leader, &[&follower])?;
    /// let fence = gang.submit(&[&[&preamble, &share]], &Submission { lists: &[&main], ..Submission::default() })?;
    /// assert!(fence.wait(Deadline::NEVER)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`Gang::new`].
    pub fn bare(leader: &Queue, followers: &[&Queue]) -> Result<Self, GangError> {
        let leader = checked(leader, followers)?;
        Ok(Self { leader, followers: states(followers), handshake: Vec::new(), resident: ResidencySet::new() })
    }

    /// Submits to all queues in one kernel call: `submission` to the leader, and one of `shares` to each follower, in the order in
    /// which the gang was created. The memory, waits and signals of `submission` apply to all. If it has no preambles, the lists of
    /// each queue begin with [those of that queue](crate::cs::QueueOptions::acquires).
    ///
    /// # Errors
    ///
    /// The errors of [`Queue::submit`]; [`SubmitError::NoGang`] if the number of shares is not that of the
    /// followers; [`SubmitError::GangTooLong`] if a share does not fit into one kernel call.
    pub fn submit(&self, shares: &[&[&CommandList]], submission: &Submission<'_>) -> Result<Fence, SubmitError> {
        let (given, followers) = (shares.len(), self.followers.len());
        if given != followers {
            return Err(GangFault::Shares { given, followers }.into());
        }
        let shares: Vec<Vec<&CommandList>> = self
            .followers
            .iter()
            .zip(shares)
            .enumerate()
            .map(|(at, (follower, share))| {
                // Behind the wait for the leader, so that it finds the results of the leader's earlier work.
                let acquires = submission.acquires_of(follower);
                let acquires = acquires.map_or(&[][..], |all| all.before(0, submission.has_waits()));
                around(self.handshake.get(at), acquires.iter().chain(share.iter().copied()))
            })
            .collect();
        let members: Vec<_> =
            self.followers.iter().zip(&shares).map(|(follower, share)| (&**follower, &share[..])).collect();
        let lists = around(self.handshake.last(), submission.lists.iter().copied());
        let sets: Vec<_> = [&self.resident].into_iter().chain(submission.sets.iter().copied()).collect();
        let sequence = self.leader.submit(&members, &Submission { lists: &lists, sets: &sets, ..*submission })?;
        Ok(Fence::new(Arc::clone(&self.leader), sequence))
    }
}

/// Returns the dwords of the page that start a follower and report its end. Each is in its own cache line, so that rings that poll
/// do not slow down rings that store.
const fn marks(follower: usize) -> [usize; 2] {
    [2 * LINE * follower, 2 * LINE * follower + LINE]
}

/// Dwords of a cache line of 64 bytes.
const LINE: usize = 16;

/// Returns the lists with the handshake around them, if there is one.
fn around<'a>(
    handshake: Option<&'a [CommandList; 2]>,
    lists: impl Iterator<Item = &'a CommandList>,
) -> Vec<&'a CommandList> {
    let (begin, end) = handshake.map(|[begin, end]| (begin, end)).unzip();
    begin.into_iter().chain(lists).chain(end).collect()
}

fn states(queues: &[&Queue]) -> Vec<Arc<QueueState>> {
    queues.iter().map(|queue| Arc::clone(queue.state())).collect()
}

/// Returns the shared state of a leader if it can form a gang with the followers.
fn checked(leader: &Queue, followers: &[&Queue]) -> Result<Arc<QueueState>, GangError> {
    let leader = Arc::clone(leader.state());
    check(&leader, followers)?;
    if !leader.device().info().capabilities.contains(Capabilities::GANG_SUBMIT) {
        return Err(WinsysError::Unsupported { feature: Feature::Gangs }.into());
    }
    Ok(leader)
}

fn check(leader: &Arc<QueueState>, followers: &[&Queue]) -> Result<(), GangFault> {
    if followers.is_empty() {
        return Err(GangFault::NoFollowers);
    }
    let count = followers.len() + 1;
    if count > MAX_GANG {
        return Err(GangFault::TooMany { count });
    }
    for (at, follower) in followers.iter().enumerate() {
        let queue = follower.state();
        let mut earlier = followers.iter().take(at).map(|earlier| earlier.state()).chain([leader]);
        if earlier.any(|earlier| Arc::ptr_eq(earlier, queue)) {
            return Err(GangFault::Twice { at });
        }
        if queue.context != leader.context {
            return Err(GangFault::OtherContext { at });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_mark_of_a_gang_has_a_line_of_its_own() {
        let mut lines: Vec<usize> = (0..MAX_GANG).flat_map(marks).map(|dword| dword * 4 / 64).collect();
        lines.dedup();
        assert_eq!(lines, (0..2 * MAX_GANG).collect::<Vec<_>>());
    }
}
