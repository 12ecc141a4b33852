//! All queues of a context.

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
    cs::{Error, Queue, QueueOptions, Result},
    winsys::{Context, Ip},
};

/// The queues of a context, made when they are first asked for: what a driver's queue families are made on.
///
/// ```
/// use std::sync::Arc;
/// use amdgpu_sim::{SimKernel, profile};
/// use amdgpu_winsys::{cs::Queues, winsys::{Context, Device, Ip, Priority}};
///
/// let device = Device::new(SimKernel::open(profile("navi21").ok_or("no such chip")?))?;
/// let queues = Queues::new(&Arc::new(Context::new(&device, Priority::Normal)?));
/// let rings: Vec<_> = (0..5).map(|_| queues.next(Ip::Compute).map(|queue| queue.ring())).collect::<Result<_, _>>()?;
/// assert_eq!((queues.rings(Ip::Compute), rings), (4, vec![0, 1, 2, 3, 0]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Queues {
    context: Arc<Context>,
    options: QueueOptions,
    /// By IP and ring. A hash table would forget the rest of its queues when the end of one panics.
    made: Mutex<BTreeMap<(u32, u32), Arc<Queue>>>,
    turns: [AtomicUsize; 10],
}

impl Queues {
    /// None is made yet.
    pub fn new(context: &Arc<Context>) -> Self {
        Self::with_options(context, QueueOptions::default())
    }

    /// Creates the set with options that all of its queues have.
    pub fn with_options(context: &Arc<Context>, options: QueueOptions) -> Self {
        Self { context: Arc::clone(context), options, made: Mutex::default(), turns: Default::default() }
    }

    /// Returns the number of queues of an IP: one for each ring that the kernel reports, which are at most one graphics,
    /// four compute and two copy queues (Linux 6.12 `amdgpu_kms.c`, `amdgpu_hw_ip_info`).
    pub fn rings(&self, ip: Ip) -> u32 {
        self.context.device().info().ring_count(ip)
    }

    /// One queue: the same object each time.
    ///
    /// # Errors
    ///
    /// Those of [`Queue::new`].
    pub fn get(&self, ip: Ip, ring: u32) -> Result<Arc<Queue>> {
        let mut made = self.made.lock();
        if let Some(queue) = made.get(&(ip.raw(), ring)) {
            return Ok(Arc::clone(queue));
        }
        let queue = Arc::new(Queue::with_options(&self.context, ip, ring, self.options)?);
        made.insert((ip.raw(), ring), Arc::clone(&queue));
        Ok(queue)
    }

    /// The queues of an IP in turn.
    ///
    /// # Errors
    ///
    /// Those of [`Queue::new`]; [`Error::NoSuchRing`] when the IP has none.
    pub fn next(&self, ip: Ip) -> Result<Arc<Queue>> {
        let rings = index(self.rings(ip));
        if rings == 0 {
            return Err(Error::NoSuchRing { ip, ring: 0, rings: 0 });
        }
        let turn = self.turns.get(ip.index()).map_or(0, |turn| turn.fetch_add(1, Ordering::Relaxed));
        self.get(ip, count(turn % rings))
    }

    /// All queues of an IP, in the order of their rings.
    ///
    /// # Errors
    ///
    /// Those of [`Queue::new`].
    pub fn of_ip(&self, ip: Ip) -> Result<Vec<Arc<Queue>>> {
        (0..self.rings(ip)).map(|ring| self.get(ip, ring)).collect()
    }

    /// Those that were made so far.
    pub fn made(&self) -> Vec<Arc<Queue>> {
        self.made.lock().values().cloned().collect()
    }

    /// The context.
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }
}
