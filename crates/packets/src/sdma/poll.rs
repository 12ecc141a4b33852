//! POLL_REGMEM: wait until memory compares.

use super::Version;
use super::wire::{Describe, measure, opcode, packet_impl, write};
use crate::field::{Bits, Wire, join};
use crate::pm4::Compare;
use amdgpu_hw::GpuVa;

/// POLL_REGMEM, opcode 8 (14 on 1.0): the engine waits until the dword at an address, masked, compares with a
/// reference.
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
/// On 1.0 the retries are in dword 2 (27:16), the mask comes before the reference, the function is in dword 5 (30:28)
/// and mem_poll in bit 27 of the header. Polls of registers are the kernel's and are not taken.
///
/// Source: Linux 6.12 `drivers/gpu/drm/amd/amdgpu/`, `*_sdma_pkt_open.h`, `SDMA_PKT_POLL_REGMEM`, and `si_dma.c`,
/// `si_dma_ring_emit_pipeline_sync`; Mesa 25.0.7 `src/amd/vulkan/radv_cs.h`, `radv_cp_wait_mem`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PollMem {
    /// The dword watched: a multiple of 4.
    pub va: GpuVa,
    /// How the masked value and the reference compare when the wait is over.
    pub function: Compare,
    /// What the masked value is compared with.
    pub reference: u32,
    /// The bits of the value that count.
    pub mask: u32,
    /// How often the engine looks, in units of 16 clocks.
    pub interval: u16,
    /// How many looks before it gives up and goes on: at most [`PollMem::FOREVER`], which means it never does.
    pub retries: u16,
}

impl PollMem {
    /// The number of retries that never end.
    pub const FOREVER: u16 = 0xfff;

    /// Waits, as long as it takes, until the whole dword compares with `reference`.
    pub const fn new(va: GpuVa, function: Compare, reference: u32) -> Self {
        Self { va, function, reference, mask: u32::MAX, interval: 10, retries: Self::FOREVER }
    }

    #[expect(clippy::inline_always, reason = "see the writer")]
    #[inline(always)]
    fn describe_1_0<'a, W: Wire<'a>>(self, wire: &mut W) -> Result<Self, W::Error> {
        let mut d = wire.open()?;
        opcode(&mut d, Version::V1_0, 14, 8, 0)?;
        d.fixed::<27, 27>("mem_poll", 1)?;
        wire.close(d)?;
        let mut d = wire.open()?;
        let low = d.aligned::<2>("addr", self.va.low())?;
        wire.close(d)?;
        let mut d = wire.open()?;
        let high = d.bits::<7, 0>("addr", self.va.high())?;
        let retries = d.bits::<27, 16>("retry_count", self.retries.into())? as u16;
        wire.close(d)?;
        let mask = wire.word(self.mask)?;
        let reference = wire.word(self.reference)?;
        let mut d = wire.open()?;
        let interval = d.bits::<15, 0>("interval", self.interval.into())? as u16;
        let function = d.choice::<30, 28, _>("function", self.function)?;
        wire.close(d)?;
        Ok(Self { va: join("addr", low, high)?, function, reference, mask, interval, retries })
    }
}

impl<'a> Describe<'a> for PollMem {
    const NAME: &'static str = "POLL_REGMEM";
    const BLANK: Self = Self::new(GpuVa::NULL, Compare::Always, 0);

    #[expect(clippy::inline_always, reason = "see the writer")]
    #[inline(always)]
    fn describe<W: Wire<'a>>(self, wire: &mut W, version: Version) -> Result<Self, W::Error> {
        if version == Version::V1_0 {
            return self.describe_1_0(wire);
        }
        let mut d = wire.open()?;
        opcode(&mut d, version, 14, 8, 0)?;
        let function = d.choice::<30, 28, _>("function", self.function)?;
        d.fixed::<31, 31>("mem_poll", 1)?;
        wire.close(d)?;
        let va = wire.address::<2, 31>("addr", self.va)?;
        let reference = wire.word(self.reference)?;
        let mask = wire.word(self.mask)?;
        let mut d = wire.open()?;
        let interval = d.bits::<15, 0>("interval", self.interval.into())? as u16;
        let retries = d.bits::<27, 16>("retry_count", self.retries.into())? as u16;
        wire.close(d)?;
        Ok(Self { va, function, reference, mask, interval, retries })
    }
}

packet_impl!(PollMem);
