//! GPU addresses: four windows with libdrm's first fit, and the managers that clients make without a device.

mod exact;
mod functions;
mod manager;
mod window;

pub(crate) use self::manager::{Bounds, Manager};
