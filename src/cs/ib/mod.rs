//! Memory for indirect buffers: its placement, its CPU mapping, and its return for reuse.

pub(super) mod home;
#[expect(unsafe_code, reason = "IBs are written through their CPU mapping")]
pub(super) mod memory;
mod placement;

pub use self::placement::IbPlacement;
