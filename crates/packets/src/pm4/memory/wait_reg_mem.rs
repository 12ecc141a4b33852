//! WAIT_REG_MEM: waits until a comparison with memory passes.

use crate::error::{address, require};
use crate::layout::records::pm4 as records;
use crate::layout::values::WaitSpace;
use crate::pm4::common::{Caching, Compare, Engine, reach};
use crate::pm4::sink::{Sink, Typed, packet_impl};
use crate::pm4::target::Target;
use crate::{EncodeError, FieldError};
use amdgpu_hw::GpuVa;

/// WAIT_REG_MEM, opcode 0x3c: waits until the masked dword at an address compares with a reference. A wait by ME does not stall
/// PFP.
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
/// Waits on registers are reserved for the kernel and are not supported.
///
/// Source: Mesa 25.0.7 `src/amd/common/sid.h`, `PKT3_WAIT_REG_MEM`; `src/amd/vulkan/radv_cs.h`, `radv_cp_wait_mem`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitRegMem {
    /// The engine that waits.
    pub engine: Engine,
    /// The comparison of the masked value with the reference that ends the wait.
    pub function: Compare,
    /// The address of the dword, a multiple of 4.
    pub va: GpuVa,
    /// The reference value.
    pub reference: u32,
    /// The mask that is applied to the value.
    pub mask: u32,
    /// The interval between polls in units of 16 clocks.
    pub poll_interval: u16,
    /// The caching of the reads.
    pub caching: Caching,
}

impl WaitRegMem {
    /// Creates a wait by ME until the whole dword compares with `reference`.
    #[inline]
    pub const fn new(va: GpuVa, function: Compare, reference: u32) -> Self {
        Self { engine: Engine::Me, function, va, reference, mask: u32::MAX, poll_interval: 4, caching: Caching::NONE }
    }
}

impl WaitRegMem {
    #[inline(always)]
    fn record(self, target: Target) -> Result<records::WaitRegMem, FieldError> {
        let (cache_policy, temporal) = self.caching.policies(target.level);
        Ok(records::WaitRegMem {
            function: self.function.raw(),
            mem_space: WaitSpace::MEMORY,
            engine_sel: self.engine.of_wait(),
            atc: self.caching.atc,
            cache_policy,
            temporal,
            volatile: self.caching.volatile,
            poll_addr: reach("poll_addr", self.va, target.level)?,
            reference: self.reference,
            mask: self.mask,
            poll_interval: self.poll_interval.into(),
            ..records::WaitRegMem::default()
        })
    }

    /// Converts the fields of the packet.
    #[inline]
    pub(in crate::pm4) fn read(record: &records::WaitRegMem) -> Result<Self, FieldError> {
        let unknown = FieldError::Unknown { field: "mem_space", value: record.mem_space.number() };
        require(record.mem_space == WaitSpace::MEMORY, unknown)?;
        Ok(Self {
            engine: Engine::read_wait(record.engine_sel)?,
            function: Compare::read("function", record.function)?,
            va: address("poll_addr", record.poll_addr)?,
            reference: record.reference,
            mask: record.mask,
            poll_interval: record.poll_interval as u16,
            caching: Caching::read(record.atc, record.cache_policy, record.temporal, record.volatile)?,
        })
    }
}

impl Typed for WaitRegMem {
    const NAME: &'static str = "WAIT_REG_MEM";

    #[inline(always)]
    fn write(self, sink: Sink<'_>) -> Result<usize, EncodeError> {
        let record = self.record(sink.target);
        sink.put(record)
    }
}

packet_impl!(WaitRegMem);
