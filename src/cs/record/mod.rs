//! Recording packets into streams, which become command lists.

mod acquire;
mod annotation;
mod any_stream;
mod end_of_pipe;
mod ib_pool;
pub(super) mod list;
pub(super) mod marker;
pub(super) mod marker_page;
mod packet_buf;
mod packet_writer;
mod record_again;
mod secondary;
mod stream;
mod window;

pub use self::{
    any_stream::AnyStream,
    ib_pool::IbPool,
    list::{ChainFault, CommandList, NotOneIb, Preambles},
    marker::Marker,
    packet_buf::PacketBuf,
    packet_writer::PacketWriter,
    secondary::{Execution, Inclusion},
    stream::{MAX_IB_DWORDS, Stream},
};
