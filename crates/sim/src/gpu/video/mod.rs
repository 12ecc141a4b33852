//! Video engines, as far as they are simulated: they fetch an IB and do nothing in it.

mod commands;
mod engine;
mod nops;
mod parser;

pub(crate) use self::{
    engine::{VideoEngine, VideoStop},
    parser::check,
};
