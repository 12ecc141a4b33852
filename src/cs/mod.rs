//! Recording and submitting command streams.
//!
//! The lowest floor is here: packets as typed values. [`pm4`] is the language of the graphics and compute rings,
//! [`sdma`] that of the copy engines. Each packet is described once, and that description both writes and reads it, so
//! the recorder, the dumper and the simulated GPU can not disagree. Nothing in these modules does I/O or allocates.
//!
//! Above it, a [`Stream`] records packets into GPU-visible memory, [`Stream::finish`] closes it into a [`CommandList`],
//! and a [`Queue`] submits lists with the memory they touch. What a submission uses lives until its [`Fence`].
mod command_list;
pub mod dump;
mod error;
mod fence;
mod field;
#[expect(unsafe_code, reason = "IBs are written through their CPU mapping")]
mod ib;
pub mod layout;
mod packet;
pub mod pm4;
mod queue;
pub mod registers;
pub mod sdma;
mod stream;
mod user_fence;
mod wire;

pub use self::{
    command_list::CommandList,
    error::{Error, Result},
    fence::Fence,
    field::FieldError,
    layout::Described,
    packet::{DecodeError, DecodeFault, EncodeError, Language, Packet, Target},
    queue::{Queue, Submission, SyncPoint},
    stream::{MAX_IB_DWORDS, Stream},
};
