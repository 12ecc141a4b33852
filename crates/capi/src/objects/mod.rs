//! The lower tier: one function for each operation of the kernel, with ownership.

mod bo;
mod bo_memory;
mod context;
mod device;
mod query;
mod residents;
mod sparse;
mod sync;

pub(crate) use self::{
    bo::body as bo_body,
    bo_memory::in_time,
    context::{ctx, ip},
    device::{DeviceState, SINK_DWORDS, device},
    residents::residents,
    sparse::sparse,
    sync::sync,
};
pub use self::{bo::*, bo_memory::*, context::*, device::*, query::*, residents::*, sparse::*, sync::*};
