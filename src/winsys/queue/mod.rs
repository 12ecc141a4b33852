//! Contexts, submission with the CS ioctl, kernel BO lists, sync objects and fences.

#[expect(unsafe_code, reason = "BO_LIST carries the address of its entries")]
mod bo_list;
mod clocks;
mod context;
#[expect(unsafe_code, reason = "WAIT_FENCES carries the address of its fences; descriptors")]
mod fence;
mod loss;
mod priority;
#[expect(unsafe_code, reason = "CS carries the addresses of its chunks")]
mod submission;
#[expect(unsafe_code, reason = "waits and queries carry the addresses of handles and points")]
mod syncobj;
mod syncobj_handles;
mod user_fence;
#[expect(unsafe_code, reason = "USERQ carries the address of parameters, USERQ_SIGNAL that of handles")]
mod user_ring;
mod vmid;

pub(crate) use self::user_ring::PageTables;
pub use self::{
    bo_list::BoList,
    clocks::{PinnedClocks, StablePstate},
    context::Context,
    fence::wait_fences,
    loss::{Blame, Loss, LossReason},
    priority::Priority,
    submission::{ChunkScratch, Chunks},
    syncobj::{Syncobj, Until, WaitFor},
    user_fence::UserFence,
    user_ring::UserRing,
    vmid::VmidReservation,
};
