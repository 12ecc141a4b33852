//! Fences: events that will be signalled, with success or an error.

use std::{
    collections::{HashMap, hash_map::Entry},
    fmt,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use amdgpu_uapi::Errno;
use parking_lot::Mutex;

use crate::kernel::sync::{
    events::{Events, monotonic_now},
    number::Number,
    point::Point,
};

/// A fence. It is signalled once, with or without an error.
#[derive(Debug)]
pub(crate) enum Fence {
    /// The end of a job, a vertical blank, or a point of a timeline that user space advances.
    Single(Single),
    /// A fence that the CPU signalled at this time, in ns of CLOCK_MONOTONIC.
    Signalled(u64),
    /// A fence that is signalled when all of these single fences are. Its error is the first error among them.
    All(Vec<Arc<Fence>>),
    /// A point of a timeline, which is signalled when its own fence and those of all earlier points are.
    Link(Link),
}

#[derive(Debug)]
pub(crate) struct Single {
    end: OnceLock<End>,
    started: AtomicBool,
    /// The number of the job in the strict mode, from 1 on.
    job: AtomicU64,
    /// The file that submitted the job; 0 for none.
    owner: u64,
    origin: Origin,
    events: Arc<Events>,
    /// The functions to call when the fence signals.
    callbacks: Mutex<Vec<Callback>>,
}

/// The source of a fence's signal.
#[derive(Debug)]
enum Origin {
    /// A job.
    Job,
    /// A timeline that user space advances.
    Point(Point),
    /// A user queue, which writes this value.
    Number(Arc<Number>, u64),
    /// A CRTC with this ID, which shows a commit.
    Crtc(u32),
}

/// The fences of which a merged fence contains only the latest.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Context {
    /// This fence alone.
    Own(*const Fence),
    /// The points of the timeline with this number.
    Timeline(u64),
}

/// The result and time of a fence's signal.
#[derive(Clone, Copy, Debug)]
struct End {
    outcome: Result<(), Errno>,
    /// The time in ns of CLOCK_MONOTONIC.
    at: u64,
}

/// A function that is called when a fence signals.
struct Callback(Box<dyn FnOnce() + Send + Sync>);

impl fmt::Debug for Callback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Callback")
    }
}

impl Fence {
    /// Creates an unsignalled fence that belongs to no job.
    #[cfg(test)]
    pub(crate) fn pending(events: &Arc<Events>) -> Arc<Self> {
        Self::of_job(events, 0)
    }

    /// Creates the fence of a job that a file submits.
    pub(crate) fn of_job(events: &Arc<Events>, owner: u64) -> Arc<Self> {
        Self::single(events, owner, Origin::Job)
    }

    /// Creates a fence that signals when the CRTC with this ID shows a commit.
    pub(crate) fn of_crtc(events: &Arc<Events>, id: u32) -> Arc<Self> {
        Self::single(events, 0, Origin::Crtc(id))
    }

    /// Creates the fence of a point of a timeline that user space advances.
    pub(crate) fn of_point(events: &Arc<Events>, point: Point) -> Arc<Self> {
        Self::single(events, 0, Origin::Point(point))
    }

    /// Creates a fence that signals when a file's user queue reaches a value.
    pub(crate) fn of_number(events: &Arc<Events>, owner: u64, number: &Arc<Number>, value: u64) -> Arc<Self> {
        Self::single(events, owner, Origin::Number(Arc::clone(number), value))
    }

    fn single(events: &Arc<Events>, owner: u64, origin: Origin) -> Arc<Self> {
        Arc::new(Self::Single(Single {
            end: OnceLock::new(),
            started: AtomicBool::new(false),
            job: AtomicU64::new(0),
            owner,
            origin,
            events: Arc::clone(events),
            callbacks: Mutex::default(),
        }))
    }

    /// Returns the point of a timeline that user space advances; `None` for all other fences.
    pub(crate) fn point(&self) -> Option<&Point> {
        match self {
            Self::Single(Single { origin: Origin::Point(point), .. }) => Some(point),
            _ => None,
        }
    }

    /// Returns the number and value for which the fence of a user queue waits; `None` for all other fences.
    pub(crate) fn number(&self) -> Option<(&Arc<Number>, u64)> {
        match self {
            Self::Single(Single { origin: Origin::Number(number, value), .. }) => Some((number, *value)),
            _ => None,
        }
    }

    /// Returns the ID of the CRTC that shows a commit; `None` for all other fences.
    pub(crate) fn crtc(&self) -> Option<u32> {
        match self {
            Self::Single(Single { origin: Origin::Crtc(id), .. }) => Some(*id),
            _ => None,
        }
    }

    /// Passes a waiter's deadline to all parts of the fence that have not signalled.
    ///
    /// Source: Linux 6.12 `dma-fence.c`, `dma_fence_set_deadline`; `dma-fence-chain.c`, `dma-fence-array.c`.
    pub(crate) fn set_deadline(self: &Arc<Self>, deadline_ns: u64) {
        for leaf in self.leaves().iter().filter(|leaf| !leaf.is_signalled()) {
            match (&**leaf, leaf.point()) {
                (Self::Link(_), _) => leaf.set_deadline(deadline_ns),
                (_, Some(point)) => point.set_deadline(deadline_ns),
                _ => {}
            }
        }
    }

    /// Returns a fence that is signalled when all of these are. It contains only unsignalled fences without duplicates, of each
    /// timeline that user space advances only the latest point, and their parts in place of compound ones: so compound fences are
    /// nested no further than [`Self::leaves`] says, and keep no signalled fence alive. Errors of fences that have already signalled are lost.
    ///
    /// The kernel also keeps only the latest of several jobs of one queue of a context. They signal in order, so the result differs
    /// only in its number of fences.
    ///
    /// Source: Linux 6.12 `dma-fence-unwrap.c`, `__dma_fence_unwrap_merge`; 7.2 `dma_fence_dedup_array`.
    pub(crate) fn merge(fences: impl IntoIterator<Item = Arc<Self>>) -> Arc<Self> {
        let (mut pending, mut seen, mut latest) = (Vec::<Arc<Self>>::new(), HashMap::new(), 0);
        for leaf in fences.into_iter().flat_map(|fence| fence.leaves()) {
            if let Some(at) = leaf.signalled_at() {
                latest = latest.max(at);
                continue;
            }
            match seen.entry(leaf.context()) {
                Entry::Vacant(new) => {
                    new.insert(pending.len());
                    pending.push(leaf);
                }
                Entry::Occupied(known) => match pending.get_mut(*known.get()) {
                    Some(kept) if leaf.is_later_than(kept) => *kept = leaf,
                    _ => {}
                },
            }
        }
        // Timelines are in the order in which they were opened, whichever fence was merged with which.
        pending.sort_by_key(|leaf| leaf.point().map(Point::context));
        match pending.len() {
            0 => Arc::new(Self::Signalled(latest)),
            1 => pending.swap_remove(0),
            _ => Arc::new(Self::All(pending)),
        }
    }

    fn context(self: &Arc<Self>) -> Context {
        self.point().map_or_else(|| Context::Own(Arc::as_ptr(self)), |point| Context::Timeline(point.context()))
    }

    /// Returns `true` for a later point of the same timeline.
    fn is_later_than(&self, other: &Self) -> bool {
        self.point().zip(other.point()).is_some_and(|(point, other)| point.is_later_than(other))
    }

    /// Creates a fence that is signalled now.
    pub(crate) fn signalled() -> Arc<Self> {
        Arc::new(Self::Signalled(monotonic_now()))
    }

    /// Returns the fences that this fence is made of, for a timeline those of its points, the newest first. A point whose own fence
    /// is a timeline, which came in a sync file, has that as one fence.
    ///
    /// Source: Linux 6.12 `dma-fence-unwrap.c`, `dma_fence_unwrap_first` and `dma_fence_unwrap_next`.
    pub(crate) fn leaves(self: &Arc<Self>) -> Vec<Arc<Self>> {
        let (mut leaves, mut next) = (Vec::new(), Some(Arc::clone(self)));
        while let Some(fence) = next.take() {
            match &*fence {
                Self::Single(_) | Self::Signalled(_) => leaves.push(fence),
                Self::All(fences) => leaves.extend(fences.iter().cloned()),
                Self::Link(link) => {
                    match &**link.own() {
                        Self::All(fences) => leaves.extend(fences.iter().cloned()),
                        _ => leaves.push(Arc::clone(link.own())),
                    }
                    next = link.walk();
                }
            }
        }
        leaves
    }

    /// Returns the result; `None` before the signal. A timeline does not report the errors of its fences.
    pub(crate) fn outcome(&self) -> Option<Result<(), Errno>> {
        match self {
            Self::Single(single) => single.end.get().map(|end| end.outcome),
            Self::Signalled(_) => Some(Ok(())),
            Self::All(fences) => {
                let mut all = Ok(());
                for fence in fences {
                    all = all.and(fence.outcome()?);
                }
                Some(all)
            }
            Self::Link(link) => link.is_signalled().then_some(Ok(())),
        }
    }

    pub(crate) fn is_signalled(&self) -> bool {
        match self {
            Self::Single(single) => single.end.get().is_some(),
            Self::Signalled(_) => true,
            Self::All(fences) => fences.iter().all(|fence| fence.is_signalled()),
            Self::Link(link) => link.is_signalled(),
        }
    }

    /// Returns the time of the signal in ns of CLOCK_MONOTONIC. The time of a timeline is that of its newest fence.
    pub(crate) fn signalled_at(&self) -> Option<u64> {
        match self {
            Self::Single(single) => single.end.get().map(|end| end.at),
            Self::Signalled(at) => Some(*at),
            Self::All(fences) => fences.iter().map(|fence| fence.signalled_at()).try_fold(0, |a, b| Some(a.max(b?))),
            Self::Link(link) => link.own().signalled_at().filter(|_| link.is_signalled()),
        }
    }

    /// Returns the file that submitted the job; `None` if the fence is not that of a job.
    pub(crate) fn owner(&self) -> Option<u64> {
        match self {
            Self::Single(single) => Some(single.owner).filter(|&owner| owner != 0),
            _ => None,
        }
    }

    /// Returns `true` if the job of the fence has started, for which scheduled dependencies wait.
    pub(crate) fn has_started(&self) -> bool {
        match self {
            Self::Single(single) => single.started.load(Ordering::Acquire) || single.end.get().is_some(),
            Self::All(fences) => fences.iter().all(|fence| fence.has_started()),
            Self::Signalled(_) | Self::Link(_) => self.is_signalled(),
        }
    }

    /// Gives the fence the number that its job has in the strict mode.
    pub(crate) fn set_job(&self, number: u64) {
        if let Self::Single(single) = self {
            single.job.store(number, Ordering::Relaxed);
        }
    }

    /// Returns the numbers of the jobs of a fence in the strict mode, 0 for what has none; `None` if a part of it is forgotten.
    pub(crate) fn jobs(self: &Arc<Self>) -> Option<Vec<u64>> {
        let number = |leaf: &Arc<Self>| match &**leaf {
            Self::Single(single) => Some(single.job.load(Ordering::Relaxed)),
            _ => None,
        };
        self.leaves().iter().map(number).collect()
    }

    pub(crate) fn start(&self) {
        if let Self::Single(single) = self {
            single.started.store(true, Ordering::Release);
            single.events.wake_all();
        }
    }

    /// Signals the fence. Later calls have no effect.
    pub(crate) fn signal(&self, outcome: Result<(), Errno>) {
        if let Self::Single(single) = self
            && single.end.set(End { outcome, at: monotonic_now() }).is_ok()
        {
            // Called without the lock, because a callback may wait for another fence.
            let callbacks = std::mem::take(&mut *single.callbacks.lock());
            for Callback(call) in callbacks {
                call();
            }
            single.events.wake_all();
        }
    }

    /// Calls the function when the whole fence is signalled; immediately if it already is. It waits for one single fence after the
    /// other, and keeps them alive.
    pub(crate) fn when_signalled(self: &Arc<Self>, call: impl FnOnce() + Send + Sync + 'static) {
        self.call_later(Box::new(call));
    }

    fn call_later(self: &Arc<Self>, call: Box<dyn FnOnce() + Send + Sync>) {
        let mut call = call;
        while let Some(leaf) = self.pending_leaf() {
            let Self::Single(single) = &*leaf else { break };
            // The single fence must not keep itself alive.
            let whole = (!Arc::ptr_eq(&leaf, self)).then(|| Arc::clone(self));
            let again = move || match whole {
                Some(fence) => fence.call_later(call),
                None => call(),
            };
            match single.attach(Callback(Box::new(again))) {
                Ok(()) => return,
                Err(Callback(rejected)) => call = rejected,
            }
        }
        call();
    }

    /// Returns a single fence of this fence that has not signalled.
    fn pending_leaf(self: &Arc<Self>) -> Option<Arc<Self>> {
        let mut at = Arc::clone(self);
        loop {
            let next = match &*at {
                Self::Signalled(_) => return None,
                Self::Single(single) => return single.end.get().is_none().then(|| Arc::clone(&at)),
                Self::All(fences) => return fences.iter().find(|fence| !fence.is_signalled()).cloned(),
                Self::Link(link) => match link.own().pending_leaf() {
                    Some(leaf) => return Some(leaf),
                    None => link.walk()?,
                },
            };
            at = next;
        }
    }
}

impl Single {
    /// Registers a callback; returns it if the fence has signalled.
    fn attach(&self, callback: Callback) -> Result<(), Callback> {
        let mut callbacks = self.callbacks.lock();
        // `signal` sets the end first and takes the callbacks under the lock afterwards.
        if self.end.get().is_some() {
            return Err(callback);
        }
        callbacks.push(callback);
        Ok(())
    }
}

/// A point of a timeline.
///
/// A timeline is a linked list from the newest point to the oldest, as in Linux 6.12 `dma-fence-chain.c`.
#[derive(Debug)]
pub(crate) struct Link {
    point: u64,
    /// The previous point; 0 if a new order of points starts here.
    earlier: u64,
    /// An identity that is shared by all points that were added in order.
    order: Arc<()>,
    own: Arc<Fence>,
    /// The fence that must signal first: the previous point, or a plain fence from before the timeline.
    previous: Mutex<Option<Arc<Fence>>>,
}

impl Link {
    /// Creates a point after the existing ones. A point that is not greater than the newest point takes the newest's number, and
    /// starts a new order.
    ///
    /// Source: `dma_fence_chain_init`.
    pub(crate) fn append(previous: Option<Arc<Fence>>, point: u64, own: Arc<Fence>) -> Arc<Fence> {
        let newest = previous.as_deref().and_then(|fence| match fence {
            Fence::Link(link) => Some((link.point, Arc::clone(&link.order))),
            _ => None,
        });
        let (point, earlier, order) = match newest {
            Some((newest, order)) if point > newest => (point, newest, order),
            Some((newest, _)) => (newest, 0, Arc::new(())),
            None => (point, 0, Arc::new(())),
        };
        let link = Self { point, earlier, order, own, previous: Mutex::new(previous) };
        // Collects signalled points.
        link.walk();
        Arc::new(Fence::Link(link))
    }

    pub(crate) const fn point(&self) -> u64 {
        self.point
    }

    /// Returns the previous point; 0 if a new order of points starts here.
    pub(crate) const fn earlier(&self) -> u64 {
        self.earlier
    }

    /// Returns `true` if both points were added in order.
    pub(crate) fn is_in_order_with(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.order, &other.order)
    }

    /// Returns the fence of this point alone.
    pub(crate) fn own(&self) -> &Arc<Fence> {
        &self.own
    }

    /// Returns the previous fence that has not signalled. Points whose own fence has signalled are removed from the chain.
    ///
    /// Source: `dma_fence_chain_walk`.
    pub(crate) fn walk(&self) -> Option<Arc<Fence>> {
        let mut previous = self.previous.lock();
        while let Some(fence) = &*previous {
            let rest = match &**fence {
                Fence::Link(link) if link.own.is_signalled() => link.previous.lock().clone(),
                Fence::Link(_) => break,
                plain if plain.is_signalled() => None,
                _ => break,
            };
            *previous = rest;
        }
        previous.clone()
    }

    pub(crate) fn is_signalled(&self) -> bool {
        self.own.is_signalled() && self.walk().is_none()
    }
}

impl Drop for Link {
    /// Drops the chain link by link, because recursion could overflow the stack.
    fn drop(&mut self) {
        let mut next = self.previous.get_mut().take();
        while let Some(fence) = next {
            next = match Arc::into_inner(fence) {
                Some(Fence::Link(mut link)) => link.previous.get_mut().take(),
                _ => None,
            };
        }
    }
}
