//! The set of all queues of a context.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use amdgpu_hw::num::{count, index};
use parking_lot::Mutex;

use crate::{
    cs::{Queue, QueueError, QueueOptions},
    winsys::{Context, Ip},
};

/// All queues of a context, each created on first use. A driver can build its queue families on it.
///
/// ```
/// use std::sync::Arc;
/// use amdgpu_sim::{SimKernel, profile};
/// use amdgpu_winsys::{cs::Queues, winsys::{Context, Device, Ip, Priority}};
///
/// let device = Device::new(SimKernel::open(profile("navi21").ok_or("no such chip")?))?;
/// let queues = Queues::new(&Context::new(&device, Priority::Normal)?);
/// let rings: Vec<_> = (0..5).map(|_| queues.next(Ip::Compute).map(|queue| queue.ring())).collect::<Result<_, _>>()?;
/// assert_eq!((queues.rings(Ip::Compute), rings), (4, vec![0, 1, 2, 3, 0]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A `Queues` is a handle: a clone refers to the same queues.
#[derive(Clone, Debug)]
pub struct Queues {
    context: Context,
    options: QueueOptions,
    /// The queues by IP and ring. A hash table would leak its other queues if the drop of one panics.
    made: Arc<Mutex<BTreeMap<(u32, u32), Queue>>>,
    turns: Arc<[AtomicUsize; 10]>,
}

impl Queues {
    /// Creates the set of queues of a context. No queue is created yet.
    pub fn new(context: &Context) -> Self {
        Self::with_options(context, QueueOptions::default())
    }

    /// Creates the set of queues of a context, all of which get the same options. No queue is created yet.
    pub fn with_options(context: &Context, options: QueueOptions) -> Self {
        let (made, turns) = Default::default();
        Self { context: context.clone(), options, made, turns }
    }

    /// Returns the number of queues of an IP, one for each ring that the kernel reports: at most one graphics, four compute and
    /// two copy rings (Linux 6.12 `amdgpu_kms.c`, `amdgpu_hw_ip_info`).
    pub fn rings(&self, ip: Ip) -> u32 {
        self.context.device().info().ring_count(ip)
    }

    /// Returns the queue of a ring, and creates it on the first call.
    ///
    /// # Errors
    ///
    /// The errors of [`Queue::new`].
    pub fn get(&self, ip: Ip, ring: u32) -> Result<Queue, QueueError> {
        let mut made = self.made.lock();
        if let Some(queue) = made.get(&(ip.raw(), ring)) {
            return Ok(queue.clone());
        }
        let queue = Queue::with_options(&self.context, ip, ring, self.options)?;
        made.insert((ip.raw(), ring), queue.clone());
        Ok(queue)
    }

    /// Returns the next queue of an IP in round-robin order, and creates it if it does not exist yet.
    ///
    /// # Errors
    ///
    /// The errors of [`Queue::new`]; [`QueueError::NoSuchRing`] if the IP has no rings.
    pub fn next(&self, ip: Ip) -> Result<Queue, QueueError> {
        let rings = index(self.rings(ip));
        if rings == 0 {
            return Err(QueueError::NoSuchRing { ip, ring: 0, rings: 0 });
        }
        let turn = self.turns.get(ip.index()).map_or(0, |turn| turn.fetch_add(1, Ordering::Relaxed));
        self.get(ip, count(turn % rings))
    }

    /// Returns all queues of an IP, ordered by ring. Creates the queues that do not exist yet.
    ///
    /// # Errors
    ///
    /// The errors of [`Queue::new`].
    pub fn of_ip(&self, ip: Ip) -> Result<Vec<Queue>, QueueError> {
        (0..self.rings(ip)).map(|ring| self.get(ip, ring)).collect()
    }

    /// Returns the queues created so far, ordered by IP and ring.
    pub fn made(&self) -> Vec<Queue> {
        self.made.lock().values().cloned().collect()
    }

    /// Returns the context of the queues.
    pub fn context(&self) -> &Context {
        &self.context
    }
}
