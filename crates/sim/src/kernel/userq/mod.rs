//! User queues: rings in a process's memory that it fills itself, and starts with a store to a doorbell.
//!
//! Each queue has a thread that looks at its doorbell, often while there is work and seldom while there is none. It follows the
//! ring up to the write pointer that the doorbell was given. All that the thread reads can change under it and is not to be
//! trusted: what makes no sense hangs the queue, and no other one.
//!
//! Source: Linux 6.17 `amdgpu_userq.c`, `amdgpu_userq_fence.c`, `mes_userqueue.c`.

mod batch;
mod number;
mod queue;
mod shared;
mod slots;
mod stream;
mod view;

pub(crate) use self::{number::Number, queue::UserQueue, shared::Parts, slots::Slots, view::View};
use amdgpu_uapi::UqFwAreas;

/// Areas that the firmware of GFX11 wants beside a graphics queue.
///
/// Source: Linux 6.17 `gfx_v11_0.c`, `MQD_SHADOW_BASE_SIZE` and `MQD_FWWORKAREA_SIZE`.
pub(crate) const AREAS: UqFwAreas =
    UqFwAreas { shadow_size: 73_728, shadow_alignment: 256, csa_size: 484, csa_alignment: 256 };
