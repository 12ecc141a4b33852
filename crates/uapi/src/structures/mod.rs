//! The requests and their structures, with a file for each kind of object. `request.rs` has the request numbers.

mod context;
mod device_info;
mod dma_buf;
mod drm;
mod effect;
mod gem;
mod harmless;
mod info;
mod macros;
mod modes;
mod request;
mod submission;
mod sw_sync;
mod syncobj;
mod userq;

pub use self::{
    context::*,
    device_info::*,
    dma_buf::*,
    drm::*,
    effect::Effect,
    gem::*,
    harmless::{Harmless, Plain},
    info::*,
    modes::*,
    request::*,
    submission::*,
    sw_sync::*,
    syncobj::*,
    userq::*,
};
