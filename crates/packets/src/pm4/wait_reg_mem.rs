//! WAIT_REG_MEM: wait until memory compares.

use super::common::{Caching, Compare, Engine, address};
use super::header::{Describe, Flagged, HeaderFlags, measure, packet_impl, write};
use super::{Target, opcode};
use crate::field::{Bits, Wire};
use amdgpu_hw::GfxLevel;
use amdgpu_hw::GpuVa;

/// WAIT_REG_MEM, opcode 0x3c: the engine waits until the dword at an address, masked, compares with a reference. A wait
/// on ME does not hold PFP up.
///
/// | dword | bits  | field         | meaning                       |
/// |-------|-------|---------------|-------------------------------|
/// | 1     | 2:0   | function      | see [`Compare`]               |
/// | 1     | 5:4   | mem_space     | 1 memory                      |
/// | 1     | 9:8   | engine_sel    | see [`Engine`]                |
/// | 1     | 27:24 |               | see [`Caching`]; not on GFX9  |
/// | 2, 3  |       | poll_addr     | a multiple of 4               |
/// | 4     |       | reference     |                               |
/// | 5     |       | mask          |                               |
/// | 6     | 15:0  | poll_interval | in units of 16 clocks         |
///
/// Waits on registers are the kernel's and are not taken.
///
/// Source: Mesa 25.0.7 `src/amd/common/sid.h`, `PKT3_WAIT_REG_MEM`; `src/amd/vulkan/radv_cs.h`, `radv_cp_wait_mem`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitRegMem {
    /// Who waits.
    pub engine: Engine,
    /// How the masked value and the reference compare when the wait is over.
    pub function: Compare,
    /// The dword watched: a multiple of 4.
    pub va: GpuVa,
    /// What the masked value is compared with.
    pub reference: u32,
    /// The bits of the value that count.
    pub mask: u32,
    /// How often the engine looks, in units of 16 clocks.
    pub poll_interval: u16,
    /// How the reads are cached.
    pub caching: Caching,
}

impl WaitRegMem {
    /// ME waits until the whole dword compares with `reference`.
    pub const fn new(va: GpuVa, function: Compare, reference: u32) -> Self {
        Self {
            engine: Engine::Me,
            function,
            va,
            reference,
            mask: u32::MAX,
            poll_interval: 4,
            caching: Caching { policy: super::Policy::Lru, atc: false, volatile: false },
        }
    }
}

impl<'a> Describe<'a> for WaitRegMem {
    const NAME: &'static str = "WAIT_REG_MEM";
    const BLANK: Self = Self::new(GpuVa::NULL, Compare::Always, 0);

    #[inline]
    fn opcode(self, _: Target) -> Option<u8> {
        Some(opcode::WAIT_REG_MEM)
    }

    #[inline(always)]
    fn describe<W: Wire<'a>>(self, wire: &mut W, target: Target, _: u8) -> Result<Self, W::Error> {
        const MEMORY: u32 = 1;
        let mut d = wire.open()?;
        let function = d.choice::<2, 0, _>("function", self.function)?;
        d.fixed::<5, 4>("mem_space", MEMORY)?;
        let engine = d.choice::<9, 8, _>("engine_sel", self.engine)?;
        let has = if target.level == GfxLevel::Gfx9 { 0 } else { Caching::ALL };
        let caching = self.caching.describe(&mut d, 24, has, target.level)?;
        wire.close(d)?;

        let va = address::<2, W>(wire, "poll_addr", target, self.va)?;
        let reference = wire.word(self.reference)?;
        let mask = wire.word(self.mask)?;
        let mut d = wire.open()?;
        let poll_interval = d.bits::<15, 0>("poll_interval", self.poll_interval.into())? as u16;
        wire.close(d)?;
        Ok(Self { engine, function, va, reference, mask, poll_interval, caching })
    }
}

packet_impl!(WaitRegMem);
