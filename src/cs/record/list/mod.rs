//! Command lists: closed streams, chains of them, and preambles.

mod chain;
mod command_list;
pub(in crate::cs) mod once;
mod preambles;
pub(in crate::cs) mod recorded;

pub use self::{
    chain::ChainFault,
    command_list::CommandList,
    preambles::{NotOneIb, Preambles},
};
