//! The lower tier: one function for each operation of the kernel, with objects that own kernel resources.

mod address;
mod bo;
mod bo_memory;
mod context;
mod device;
mod info;
mod query;
mod residents;
mod sparse;
mod sync;

pub(crate) use self::{
    address::{chosen_address, gpu_address},
    bo::{body as bo_body, lent, object as bo_object},
    bo_memory::in_time,
    context::{ctx, ip},
    device::{DeviceState, SINK_DWORDS, device, duplicate},
    residents::residents,
    sparse::sparse,
    sync::sync,
};
pub use self::{bo::*, bo_memory::*, context::*, device::*, info::*, query::*, residents::*, sparse::*, sync::*};
