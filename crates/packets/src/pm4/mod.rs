//! PM4: the packets of the graphics and compute rings, GFX6 to GFX12.
//!
//! A [`Target`] is a generation and a ring: the graphics ring (PFP and ME) or a compute ring (MEC). If the generations have
//! different packets for one purpose, a single type covers all of them and selects the packet by the target:
//!
//! | type          | packets                                         | purpose                            |
//! |---------------|-------------------------------------------------|------------------------------------|
//! | [`AcquireMem`]| SURFACE_SYNC, ACQUIRE_MEM                       | cache actions, then a wait         |
//! | [`CpDma`]     | CP_DMA, DMA_DATA                                | copy and fill                      |
//! | [`EndOfPipe`] | EVENT_WRITE_EOP, EVENT_WRITE_EOS, RELEASE_MEM   | store when earlier work is done    |
//!
//! The types define the meaning of packets; the positions of their fields are generated from the tables. Decoding an encoded packet
//! returns the same packet, and encoding a decoded packet returns the same dwords: dwords that a type cannot represent are rejected
//! when they are decoded.
//!
//! ```
//! use amdgpu_packets::{Packet, pm4};
//! use amdgpu_hw::GpuVa;
//! use amdgpu_hw::GfxLevel;
//!
//! let target = pm4::Target::compute(GfxLevel::Gfx10);
//! let fence = pm4::EndOfPipe::fence(GpuVa::new(0x8000_1000)?, 7);
//! let mut ib = [0; 8];
//! let len = fence.encode(target, &mut ib)?;
//!
//! let read = pm4::decode(&ib[..len], target).next().unwrap()?;
//! assert_eq!(read.command, fence.into());
//!
//! // MEC has no prefetch parser to wait for.
//! let error = pm4::PfpSyncMe.encode(target, &mut ib).unwrap_err();
//! assert_eq!(error.to_string(), "PFP_SYNC_ME does not exist on the GFX10 compute ring");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A packet for the copy engine does not compile in a PM4 stream:
//!
//! ```compile_fail
//! # use amdgpu_packets::{Packet, pm4, sdma};
//! # use amdgpu_hw::GfxLevel;
//! sdma::Nop::default().encode(pm4::Target::gfx(GfxLevel::Gfx9), &mut [0; 8]);
//! ```
#![expect(
    clippy::inline_always,
    reason = "a packet is a few stores once what its recorder knows is folded, and 40 ns if not"
)]

mod common;
mod decode;
mod header;
mod indirect_buffer;
mod language;
mod memory;
mod nop;
pub mod opcode;
mod plain;
mod sink;
mod sync;
mod target;

pub use common::{Caching, Compare, Engine, Policy, Register};
pub use decode::{Command, Decoded, Decoder, decode, decode_at};
pub use header::{Flagged, HeaderFlags};
pub(crate) use header::{Header, type3};
pub use indirect_buffer::IndirectBuffer;
pub use memory::{
    CopyData, CopySize, CopySource, CopyTo, CpDma, DmaPath, DmaSource, DmaTo, WaitRegMem, WriteData, WritePath, WriteTo,
};
pub use nop::Nop;
pub use plain::{ContextControl, DispatchDirect, DrawIndexAuto, IndexBufferSize, NumInstances};
pub use sync::{
    AcquireMem, AcquireWait, CacheActions, CacheRange, CoherCntl, EndOfPipe, EndOfPipeSequence, EopEvent, EopInterrupt,
    EopPath, EopStore, Event, EventWrite, Gcr, PfpSyncMe, PwsCounter, PwsStage, TcActions,
};
pub use target::{Ring, Target};
