//! Instances, and what they are made of.

mod instance;
mod machine;
mod program;

pub(crate) use self::{
    instance::Instance,
    machine::Machine,
    program::{Messenger, Program},
};
