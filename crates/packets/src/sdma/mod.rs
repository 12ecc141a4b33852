//! SDMA: the packets of the copy engines, versions 1.0 (GFX6) to 7.0 (GFX12).
//!
//! A stream is executed in order and cannot chain. The unit of counts differs between versions (dwords, bytes, bytes less one). The
//! types here use bytes or a slice. The size limits of a packet, such as [`Version::max_copy_bytes`], allow recorders to split
//! transfers.
//!
//! ```
//! use amdgpu_packets::{Packet, sdma};
//! use amdgpu_hw::GpuVa;
//!
//! let fill = sdma::ConstFill::new(GpuVa::new(0x1000)?, 0xdead_beef, 4096);
//! let mut ib = [0; 16];
//! for version in sdma::Version::ALL {
//!     let len = fill.encode(version, &mut ib)?;
//!     let read = sdma::decode(&ib[..len], version).next().unwrap()?;
//!     assert_eq!(read.command, fill.into());
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![expect(
    clippy::inline_always,
    reason = "a packet is a few stores once what its recorder knows is folded, and 40 ns if not"
)]

mod const_fill;
mod copy;
mod decode;
mod fence;
mod language;
mod nop;
mod poll;
mod sink;
mod timestamp;
mod version;
mod write_linear;

pub use const_fill::{ConstFill, FillSize};
pub use copy::CopyLinear;
pub use decode::{Command, Decoded, Decoder, decode, decode_at};
pub use fence::Fence;
pub use nop::Nop;
pub use poll::PollMem;
pub use timestamp::Timestamp;
pub use version::Version;
pub use write_linear::WriteLinear;
