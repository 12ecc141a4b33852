//! The memory of indirect buffers: placement, CPU mapping, and return to a pool.

pub(super) mod home;
#[expect(unsafe_code, reason = "IBs are written through their CPU mapping")]
pub(super) mod memory;
mod placement;

pub use self::placement::IbPlacement;
