//! Simulated video engines. They fetch an IB but execute only NOPs.

mod commands;
mod engine;
mod nops;
mod parser;

pub(crate) use self::{
    engine::{VideoEngine, VideoStop},
    parser::check,
};
