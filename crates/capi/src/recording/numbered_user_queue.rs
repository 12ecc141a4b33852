//! A user queue of the kernel, and what is known of its submissions.

use std::collections::VecDeque;

use amdgpu_winsys::{
    cs::{QueueError, UserQueue, UserQueueFence},
    uapi::Deadline,
    winsys::{Device, Error, Feature, Ip},
};
use parking_lot::Mutex;

use crate::border::{Answer, Failure};

/// A user queue, and the sequence numbers of its submissions.
pub(super) struct NumberedUserQueue {
    pub(super) queue: UserQueue,
    pub(super) device: Device,
    /// Held while a submission is made, so that sequence numbers rise in the order of the ring.
    pub(super) turn: Mutex<()>,
    pub(super) order: Mutex<Order>,
}

#[derive(Default)]
pub(super) struct Order {
    pub(super) last: u64,
    /// The submissions that were running at the last look, the oldest first.
    pub(super) running: VecDeque<UserQueueFence>,
}

impl NumberedUserQueue {
    pub(super) fn new(device: &Device, ip: Ip) -> Answer<Self> {
        let queue = UserQueue::new(device, ip)?;
        let (turn, order) = (Mutex::new(()), Mutex::default());
        Ok(Self { queue, device: device.clone(), turn, order })
    }

    /// Returns the failure of a function that user queues do not have.
    pub(super) fn unsupported() -> Failure {
        QueueError::from(Error::Unsupported { feature: Feature::UserQueues }).into()
    }

    /// Waits until all submissions so far have completed. Returns `false` if the deadline passes first.
    pub(super) fn wait_idle(&self, deadline: Deadline) -> Answer<bool> {
        let last = self.order.lock().running.back().cloned();
        Ok(last.map_or(Ok(true), |fence| fence.wait(deadline))?)
    }

    /// Releases the memory of completed submissions.
    pub(super) fn retire(&self) {
        let mut order = self.order.lock();
        while order.running.front().is_some_and(UserQueueFence::is_signalled) {
            order.running.pop_front();
        }
        drop(order);
        self.queue.in_flight();
    }
}
