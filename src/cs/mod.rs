//! Recording and submitting command streams.
//!
//! The lowest floor is here: packets as typed values. [`pm4`] is the language of the graphics and compute rings,
//! [`sdma`] that of the copy engines. Each packet is described once, and that description both writes and reads it, so
//! the recorder, the dumper and the simulated GPU can not disagree. Nothing in these modules does I/O or allocates.
//!
//! Above it, a [`Stream`] records packets into GPU-visible memory, [`Stream::finish`] closes it into a [`CommandList`],
//! and a [`Queue`] submits lists with the memory they touch. What a submission uses lives until its [`Fence`].
//!
//! [`commands`] spares one the packets: copies, fills, barriers, timestamps and the like, the same on every ring.
mod annotation;
mod burst;
mod command_list;
pub mod commands;
pub mod dump;
mod error;
mod fence;
mod field;
#[expect(unsafe_code, reason = "IBs are written through their CPU mapping")]
mod ib;
mod ib_placement;
mod ib_pool;
pub mod layout;
mod packet;
pub mod pm4;
mod preambles;
mod queue;
pub mod registers;
pub mod sdma;
mod secondary;
mod snippet;
mod stream;
mod user_fence;
mod wire;

pub use self::{
    annotation::{Annotations, MAX_ANNOTATION_BYTES, annotations, read_annotation},
    burst::Burst,
    command_list::{ChainFault, CommandList, NotChained},
    error::{Error, Result},
    fence::Fence,
    field::FieldError,
    ib_placement::IbPlacement,
    ib_pool::IbPool,
    layout::Described,
    packet::{DecodeError, DecodeFault, EncodeError, Language, Packet, Target},
    preambles::{NotOneIb, Preambles},
    queue::{Queue, Submission, SyncPoint},
    secondary::{Execution, Inclusion},
    snippet::Snippet,
    stream::{MAX_IB_DWORDS, Stream},
};
