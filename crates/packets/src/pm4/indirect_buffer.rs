//! INDIRECT_BUFFER: executes another IB.

use super::common::{Caching, Policy, reach};
use super::sink::{Sink, Typed, packet_impl};
use super::target::{Ring, Target};
use crate::error::{address, require_form};
use crate::layout::records::pm4 as records;
use crate::{EncodeError, FieldError};
use amdgpu_hw::{GfxLevel, GpuVa};

/// INDIRECT_BUFFER, opcode 0x3f: the engine fetches from another IB.
///
/// A *chain* leaves the current IB: packets after it are not executed. A *call* returns after the other IB. Only the graphics ring
/// supports calls, and only from an IB that was not called itself.
///
/// | dword | bits  | field     | meaning                                                                       |
/// |-------|-------|-----------|-------------------------------------------------------------------------------|
/// | 1, 2  |       | address   | a multiple of 4; drivers align IBs to 256                                     |
/// | 3     | 19:0  | ib_size   | in dwords                                                                     |
/// | 3     | 20    | chain     | chain instead of call                                                         |
/// | 3     | 21    | pre_ena   | a preamble, replayed when the context comes back. GFX8 and later, gfx         |
/// | 3     | 23    | valid     | MEC demands it; RADV sets it with chain everywhere                            |
/// | 3     | 27:24 | vmid      | the kernel's; 0 in an IB. 31:24 on GFX6                                       |
/// | 3     | 29:28 |           | see [`Policy`]. GFX7 and later                                                |
///
/// Source: Mesa 25.0.7 `src/amd/common/sid.h`, `S_3F2_*`; `src/amd/vulkan/winsys/amdgpu/radv_amdgpu_cs.c`,
/// `radv_amdgpu_cs_grow` and `radv_amdgpu_cs_execute_ib`; Linux 6.12 `gfx_v10_0.c`, `gfx_v10_0_ring_emit_ib_gfx`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndirectBuffer {
    /// The address of the IB, a multiple of 4.
    pub va: GpuVa,
    /// The length of the IB in dwords, at most [`IndirectBuffer::MAX_DWORDS`].
    pub dwords: u32,
    /// `true` to chain, `false` to call.
    pub chain: bool,
    /// The VALID bit, which MEC requires.
    pub valid: bool,
    /// `true` to replay the IB when the context is restored.
    pub preamble: bool,
    /// The caching policy for fetching the IB.
    pub policy: Policy,
}

impl IndirectBuffer {
    /// The maximum length of an IB in dwords: 4 MiB minus 4 bytes.
    pub const MAX_DWORDS: u32 = 0xf_ffff;

    /// The length of the packet in dwords. Recorders reserve this much space at the end of each IB.
    pub const LEN: usize = 4;

    /// Creates a call, after which the engine returns.
    #[inline]
    pub const fn call(va: GpuVa, dwords: u32) -> Self {
        Self { va, dwords, chain: false, valid: false, preamble: false, policy: Policy::Lru }
    }

    /// Creates a chain, after which the engine does not return.
    ///
    /// ```
    /// use amdgpu_packets::{Packet, pm4};
    /// use amdgpu_hw::GpuVa;
    /// use amdgpu_hw::GfxLevel;
    ///
    /// let mut tail = [0; pm4::IndirectBuffer::LEN];
    /// let packet = pm4::IndirectBuffer::chain(GpuVa::new(0x80_0010_0000)?, 256);
    /// packet.encode(pm4::Target::compute(GfxLevel::Gfx9), &mut tail)?;
    /// assert_eq!(tail, [0xc002_3f00, 0x0010_0000, 0x80, 0x0090_0100]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub const fn chain(va: GpuVa, dwords: u32) -> Self {
        Self { chain: true, valid: true, ..Self::call(va, dwords) }
    }
}

impl IndirectBuffer {
    #[inline(always)]
    fn record(self, target: Target) -> Result<records::IndirectBuffer, FieldError> {
        let can_replay = target.ring == Ring::Gfx && target.level >= GfxLevel::Gfx8;
        require_form(can_replay || !self.preamble, "a preamble")?;
        let (cache_policy, temporal) = Caching { policy: self.policy, ..Caching::NONE }.policies(target.level);
        Ok(records::IndirectBuffer {
            addr: reach("ib_base", self.va, target.level)?,
            ib_size: self.dwords,
            chain: self.chain,
            pre_ena: self.preamble,
            valid: self.valid,
            cache_policy,
            temporal,
            ..records::IndirectBuffer::default()
        })
    }

    /// Converts the fields of the packet.
    #[inline]
    pub(super) fn read(record: &records::IndirectBuffer) -> Result<Self, FieldError> {
        Ok(Self {
            va: address("ib_base", record.addr)?,
            dwords: record.ib_size,
            chain: record.chain,
            valid: record.valid,
            preamble: record.pre_ena,
            policy: Policy::of(record.cache_policy, record.temporal)?,
        })
    }
}

impl Typed for IndirectBuffer {
    const NAME: &'static str = "INDIRECT_BUFFER";

    #[inline(always)]
    fn write(self, sink: Sink<'_>) -> Result<usize, EncodeError> {
        let record = self.record(sink.target);
        sink.put(record)
    }
}

packet_impl!(IndirectBuffer);
