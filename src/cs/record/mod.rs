//! Recording packets into streams, and the command lists that streams become.

mod annotation;
mod any_stream;
mod burst;
mod ib_pool;
pub(super) mod list;
pub(super) mod marker;
pub(super) mod marker_page;
mod record_again;
mod secondary;
mod snippet;
mod stream;
mod window;

pub use self::{
    any_stream::AnyStream,
    burst::Burst,
    ib_pool::IbPool,
    list::{ChainFault, CommandList, NotOneIb, Preambles},
    marker::Marker,
    secondary::{Execution, Inclusion},
    snippet::Snippet,
    stream::{MAX_IB_DWORDS, Stream},
};
