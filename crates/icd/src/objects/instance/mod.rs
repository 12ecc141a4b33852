//! Instances, and the machines and program settings that they consist of.

mod instance;
mod machine;
mod program;

pub(crate) use self::{
    instance::Instance,
    machine::Machine,
    program::{Messenger, Program},
};
