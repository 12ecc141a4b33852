//! Recording packets into streams, and the command lists that streams become.

mod annotation;
mod burst;
mod command_list;
mod ib_pool;
pub(super) mod marker;
pub(super) mod marker_page;
mod preambles;
mod record_again;
mod secondary;
mod snippet;
mod stream;

pub use self::{
    burst::Burst,
    command_list::{ChainFault, CommandList, NotChained},
    ib_pool::IbPool,
    marker::Marker,
    preambles::{NotOneIb, Preambles},
    secondary::{Execution, Inclusion},
    snippet::Snippet,
    stream::{MAX_IB_DWORDS, Stream},
};
