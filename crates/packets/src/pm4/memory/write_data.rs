//! WRITE_DATA: writes dwords from the stream to memory or registers.

use crate::choices::choices;
use crate::error::{address, require, require_form};
use crate::layout::records::pm4 as records;
use crate::layout::values::WriteDst;
use crate::pm4::common::{Caching, Engine, Register, reach};
use crate::pm4::header::MAX_PAYLOAD;
use crate::pm4::sink::{Sink, Typed, packet_impl};
use crate::pm4::target::Target;
use crate::{EncodeError, FieldError};
use amdgpu_hw::GpuVa;

choices! {
    /// The path of a store to memory. All paths have the same result.
    ///
    /// Source: Mesa 25.0.7 `src/amd/common/sid.h`, `V_370_MEM_GRBM`, `V_370_TC_L2`, `V_370_MEM`.
    pub enum WritePath: WriteDst {
        /// In order with register writes, through the GRBM. ME only.
        Grbm = MEMORY_GRBM_SYNC,
        /// Into L2.
        L2 = TC_L2,
        /// Directly to memory. On GFX10 and later an alias of L2. Drivers use it on all generations.
        Memory = MEMORY,
    }
}

/// The destination of WRITE_DATA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteTo {
    /// Memory, starting at an address.
    Memory {
        /// The address of the first dword, a multiple of 4.
        va: GpuVa,
        /// The path to memory.
        path: WritePath,
    },
    /// Registers, starting at this one.
    Register(Register),
}

impl WriteTo {
    /// Returns memory as the destination, by the path that all engines support.
    #[inline]
    pub const fn memory(va: GpuVa) -> Self {
        Self::Memory { va, path: WritePath::Memory }
    }
}

/// WRITE_DATA, opcode 0x37: stores the dwords in the packet.
///
/// | dword | bits  | field        | meaning                                              |
/// |-------|-------|--------------|------------------------------------------------------|
/// | 1     | 11:8  | dst_sel      | 0 register, 1, 2 and 5 memory, see [`WritePath`]     |
/// | 1     | 16    | no_increment | every dword goes to the same place                   |
/// | 1     | 20    | wr_confirm   | the next packet waits until the stores are done      |
/// | 1     | 27:24 |              | see [`Caching`]                                      |
/// | 1     | 31:30 | engine_sel   | see [`Engine`]                                       |
/// | 2, 3  |       | dst          | address, low half first, or register index           |
/// | 4..   |       |              | 1 to 16380 dwords of data                            |
///
/// Source: Mesa 25.0.7 `src/amd/common/sid.h`, `PKT3_WRITE_DATA`; Linux 6.12 `soc15d.h`, `PACKET3_WRITE_DATA`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteData<'a> {
    /// The engine that stores.
    pub engine: Engine,
    /// The destination of the dwords.
    pub to: WriteTo,
    /// `true` to store all dwords to the same address, so that the last one remains.
    pub no_increment: bool,
    /// `true` if the next packet waits until the stores are done.
    pub confirm: bool,
    /// The caching of the stores.
    pub caching: Caching,
    /// The dwords to store: 1 to [`WriteData::MAX_DATA`].
    pub data: &'a [u32],
}

impl<'a> WriteData<'a> {
    /// The maximum number of dwords of a packet.
    pub const MAX_DATA: usize = MAX_PAYLOAD - 3;

    /// Creates a store of `data` by ME to memory, starting at `va`, a multiple of 4. The next packet waits for the store.
    ///
    /// ```
    /// use amdgpu_packets::{Packet, pm4};
    /// use amdgpu_hw::GpuVa;
    /// use amdgpu_hw::GfxLevel;
    ///
    /// let mut ib = [0; 16];
    /// let packet = pm4::WriteData::new(GpuVa::new(0x81_2345_6780)?, &[0x1111_1111]);
    /// let len = packet.encode(pm4::Target::gfx(GfxLevel::Gfx9), &mut ib)?;
    /// assert_eq!(ib[..len], [0xc003_3700, 0x0010_0500, 0x2345_6780, 0x81, 0x1111_1111]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub const fn new(va: GpuVa, data: &'a [u32]) -> Self {
        Self {
            engine: Engine::Me,
            to: WriteTo::memory(va),
            no_increment: false,
            confirm: true,
            caching: Caching::NONE,
            data,
        }
    }
}

impl<'a> WriteData<'a> {
    #[inline(always)]
    fn record(self, target: Target) -> Result<records::WriteData<'a>, FieldError> {
        require(!self.data.is_empty(), FieldError::Empty { field: "data" })?;
        let (dst_sel, dst_addr, dst_reg) = match self.to {
            WriteTo::Register(register) => (WriteDst::REGISTER, 0, register.index().into()),
            WriteTo::Memory { va, path } => (path.raw(), reach("dst_addr", va, target.level)?, 0),
        };
        let is_ordered = dst_sel == WritePath::Grbm.raw();
        require_form(
            !is_ordered || (self.engine == Engine::Me && !target.is_mec()),
            "a store in order with registers",
        )?;
        let (cache_policy, temporal) = self.caching.policies(target.level);
        Ok(records::WriteData {
            dst_sel,
            no_increment: self.no_increment,
            wr_confirm: self.confirm,
            atc: self.caching.atc,
            cache_policy,
            temporal,
            volatile: self.caching.volatile,
            engine_sel: self.engine.raw(),
            dst_addr,
            dst_reg,
            data: self.data,
            ..records::WriteData::default()
        })
    }

    /// Converts the fields of the packet.
    #[inline]
    pub(in crate::pm4) fn read(record: &records::WriteData<'a>) -> Result<Self, FieldError> {
        let to = match record.dst_sel {
            WriteDst::REGISTER => WriteTo::Register(Register::read("dst_reg", record.dst_reg)?),
            path => {
                WriteTo::Memory { va: address("dst_addr", record.dst_addr)?, path: WritePath::read("dst_sel", path)? }
            }
        };
        Ok(Self {
            engine: Engine::read("engine_sel", record.engine_sel)?,
            to,
            no_increment: record.no_increment,
            confirm: record.wr_confirm,
            caching: Caching::read(record.atc, record.cache_policy, record.temporal, record.volatile)?,
            data: record.data,
        })
    }
}

impl Typed for WriteData<'_> {
    const NAME: &'static str = "WRITE_DATA";

    #[inline(always)]
    fn write(self, sink: Sink<'_>) -> Result<usize, EncodeError> {
        let record = self.record(sink.target);
        sink.put(record)
    }
}

packet_impl!(WriteData<'a>);
