//! User queues: rings in a process's memory that it fills itself and starts by a store to a doorbell.
//!
//! Each queue has a thread that polls its doorbell: frequently while there is work, and rarely otherwise. It executes the ring up
//! to the write pointer in the doorbell. All data that the thread reads can change concurrently and need not be valid: invalid data
//! hangs the queue, but no other queue.
//!
//! Source: Linux 6.17 `amdgpu_userq.c`, `amdgpu_userq_fence.c`, `mes_userqueue.c`.

mod batch;
mod discipline;
mod doorbells;
mod queue;
mod shared;
mod slots;
mod stream;
mod view;

pub(crate) use self::{doorbells::Doorbells, queue::UserQueue, shared::Parts, slots::Slots, view::View};
use amdgpu_uapi::UqFwAreas;

/// The areas that the firmware of GFX11 needs for a graphics queue.
///
/// Source: Linux 6.17 `gfx_v11_0.c`, `MQD_SHADOW_BASE_SIZE` and `MQD_FWWORKAREA_SIZE`.
pub(crate) const AREAS: UqFwAreas =
    UqFwAreas { shadow_size: 73_728, shadow_alignment: 256, csa_size: 484, csa_alignment: 256 };
