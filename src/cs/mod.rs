//! Recording and submitting command streams.
//!
//! The lowest floor is here: packets as typed values. [`pm4`] is the language of the graphics and compute rings,
//! [`sdma`] that of the copy engines. Each packet is described once, and that description both writes and reads it, so
//! the recorder, the dumper and the simulated GPU can not disagree. Nothing in these modules does I/O or allocates.
mod field;
mod packet;
pub mod pm4;
pub mod sdma;
mod wire;

pub use field::FieldError;
pub use packet::{DecodeError, DecodeFault, EncodeError, Language, Packet, Target};
