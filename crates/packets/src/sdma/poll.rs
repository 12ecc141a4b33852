//! POLL_REGMEM: waits until a comparison with memory passes.

use super::sink::{Sink, Typed, packet_impl};
use super::version::Version;
use crate::error::{address, require_multiple};
use crate::layout::records::sdma as records;
use crate::pm4::Compare;
use crate::{EncodeError, FieldError};
use amdgpu_hw::GpuVa;

/// POLL_REGMEM, opcode 8 (14 on 1.0): waits until the masked dword at an address compares with a reference.
///
/// | dword | bits  | field       | meaning                                                     |
/// |-------|-------|-------------|-------------------------------------------------------------|
/// | 0     | 30:28 | function    | see [`Compare`]                                             |
/// | 0     | 31    | mem_poll    | 1 memory                                                    |
/// | 1, 2  |       | address     | a multiple of 4                                             |
/// | 3     |       | reference   |                                                             |
/// | 4     |       | mask        |                                                             |
/// | 5     | 15:0  | interval    | in units of 16 clocks                                       |
/// | 5     | 27:16 | retry_count | give up, and go on, after that many looks; 0xfff means never |
///
/// On 1.0 the retries are in dword 2 (27:16), the mask comes before the reference, the function is in dword 5 (30:28) and mem_poll
/// in bit 27 of the header. Polls of registers are reserved for the kernel and are not supported.
///
/// Source: Linux 6.12 `drivers/gpu/drm/amd/amdgpu/`, `*_sdma_pkt_open.h`, `SDMA_PKT_POLL_REGMEM`, and `si_dma.c`,
/// `si_dma_ring_emit_pipeline_sync`; Mesa 25.0.7 `src/amd/vulkan/radv_cs.h`, `radv_cp_wait_mem`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PollMem {
    /// The address of the dword, a multiple of 4.
    pub va: GpuVa,
    /// The comparison of the masked value with the reference that ends the wait.
    pub function: Compare,
    /// The reference value.
    pub reference: u32,
    /// The mask that is applied to the value.
    pub mask: u32,
    /// The interval between polls in units of 16 clocks.
    pub interval: u16,
    /// The number of polls after which the engine gives up and continues. [`PollMem::FOREVER`], the maximum, means that it never
    /// gives up.
    pub retries: u16,
}

impl PollMem {
    /// The number of retries that means no limit.
    pub const FOREVER: u16 = 0xfff;

    /// Creates a wait without limit until the whole dword compares with `reference`.
    #[inline]
    pub const fn new(va: GpuVa, function: Compare, reference: u32) -> Self {
        Self { va, function, reference, mask: u32::MAX, interval: 10, retries: Self::FOREVER }
    }

    #[inline(always)]
    fn poll_reg_mem(self) -> records::PollRegMem {
        records::PollRegMem {
            mem_poll: true,
            addr: self.va.as_u64(),
            retry_count: self.retries.into(),
            mask: self.mask,
            reference: self.reference,
            interval: self.interval.into(),
            function: self.function.raw(),
        }
    }

    #[inline(always)]
    fn poll_regmem(self) -> Result<records::PollRegmem, FieldError> {
        require_multiple("addr", self.va.as_u64(), 4)?;
        Ok(records::PollRegmem {
            function: self.function.raw(),
            mem_poll: true,
            addr: self.va.as_u64(),
            value: self.reference,
            mask: self.mask,
            interval: self.interval.into(),
            retry_count: self.retries.into(),
            ..records::PollRegmem::default()
        })
    }

    /// Converts the fields of the packet.
    #[inline]
    pub(super) fn read(record: &records::PollRegmem) -> Result<Self, FieldError> {
        Ok(Self {
            va: address("addr", record.addr)?,
            function: Compare::read("function", record.function)?,
            reference: record.value,
            mask: record.mask,
            interval: record.interval as u16,
            retries: record.retry_count as u16,
        })
    }

    /// Converts the fields of the packet of 1.0.
    #[inline]
    pub(super) fn read_poll_reg_mem(record: &records::PollRegMem) -> Result<Self, FieldError> {
        Ok(Self {
            va: address("addr", record.addr)?,
            function: Compare::read("function", record.function)?,
            reference: record.reference,
            mask: record.mask,
            interval: record.interval as u16,
            retries: record.retry_count as u16,
        })
    }
}

impl Typed for PollMem {
    const NAME: &'static str = "POLL_REGMEM";

    #[inline(always)]
    fn write(self, sink: Sink<'_>) -> Result<usize, EncodeError> {
        match sink.version {
            Version::V1_0 => sink.put(Ok(self.poll_reg_mem())),
            _ => sink.put(self.poll_regmem()),
        }
    }
}

packet_impl!(PollMem);
