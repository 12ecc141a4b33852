//! User mode queues: submissions without an ioctl.

mod packets;
mod queue;

pub use self::queue::{UserQueue, UserQueueFence};
