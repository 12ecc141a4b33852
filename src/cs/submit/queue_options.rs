//! Options of a queue.

use std::time::Duration;

/// Time for which a submission that does not fit into memory is retried: other processes may free some.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// From the first refusal to the last attempt.
    pub total: Duration,
    /// From one attempt to the next.
    pub pause: Duration,
}

impl Default for RetryPolicy {
    /// A second, every millisecond: what RADV does (Mesa 25.0.7 `radv_amdgpu_cs.c`, `radv_amdgpu_cs_submit`).
    fn default() -> Self {
        Self { total: Duration::from_secs(1), pause: Duration::from_millis(1) }
    }
}

impl RetryPolicy {
    /// One attempt.
    pub const NONE: Self = Self { total: Duration::ZERO, pause: Duration::ZERO };
}

/// The way a queue lists the memory of a submission to the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum BoListMode {
    /// With each submission.
    #[default]
    Inline,
    /// By a list that the kernel keeps, as long as submissions list the same: it then looks no handles up. It costs one
    /// ioctl when two submissions in a row are the first to list the same, and one when a later one does not; and **memory
    /// that was freed meanwhile is given back only then**, or by [`Queue::forget_memory`](crate::cs::Queue::forget_memory).
    /// Worth it for thousands of BOs that hardly ever change.
    Kept,
}

/// Options of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueOptions {
    /// Retries if memory is short.
    pub retry: RetryPolicy,
    /// The way memory is listed to the kernel.
    pub bo_list_mode: BoListMode,
}
