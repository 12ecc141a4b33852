//! WRITE_DATA: dwords from the stream to memory or registers.

use super::common::{Caching, Engine, Register, address};
use super::header::{Describe, Flagged, HeaderFlags, MAX_PAYLOAD, measure, packet_impl, write};
use super::{Target, opcode};
use crate::field::{Bits, FieldError, Wire, choices, require, require_form};
use amdgpu_hw::GpuVa;

choices! {
    /// The way a store to memory takes. All three end in the same place.
    ///
    /// Source: Mesa 25.0.7 `src/amd/common/sid.h`, `V_370_MEM_GRBM`, `V_370_TC_L2`, `V_370_MEM`.
    pub enum WritePath {
        /// In order with register writes, through the GRBM. Only ME can.
        Grbm = 1,
        /// Into L2.
        L2 = 2,
        /// Straight to memory; an alias of L2 from GFX10 on, and what drivers use everywhere.
        Memory = 5,
    }
}

/// Where WRITE_DATA stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteTo {
    /// Memory from an address on, a multiple of 4.
    Memory {
        /// The first dword's address.
        va: GpuVa,
        /// The way there.
        path: WritePath,
    },
    /// Registers from this one on.
    Register(Register),
}

impl WriteTo {
    /// Memory by the way that every engine has.
    pub const fn memory(va: GpuVa) -> Self {
        Self::Memory { va, path: WritePath::Memory }
    }

    const REGISTER: u32 = 0;

    const fn selector(self) -> u32 {
        match self {
            Self::Register(_) => Self::REGISTER,
            Self::Memory { path, .. } => path as u32,
        }
    }

    #[expect(clippy::inline_always, reason = "see the writer")]
    #[inline(always)]
    fn describe<'a, W: Wire<'a>>(self, wire: &mut W, target: Target, selector: u32) -> Result<Self, W::Error> {
        if selector == Self::REGISTER {
            let register = if let Self::Register(register) = self { register } else { Register::new(0) };
            return Ok(Self::Register(register.describe(wire, target.level)?));
        }
        let path = <WritePath as crate::field::Choice>::from_raw(selector)
            .ok_or(FieldError::Unknown { field: "dst_sel", value: selector })?;
        let va = if let Self::Memory { va, .. } = self { va } else { GpuVa::NULL };
        Ok(Self::Memory { va: address::<2, W>(wire, "dst_addr", target, va)?, path })
    }
}

/// WRITE_DATA, opcode 0x37: the engine stores dwords that travel in the packet.
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
    /// Who stores.
    pub engine: Engine,
    /// Where to.
    pub to: WriteTo,
    /// Every dword goes to the same place, the last one stays.
    pub no_increment: bool,
    /// The next packet waits until the stores are done.
    pub confirm: bool,
    /// How the stores are cached.
    pub caching: Caching,
    /// What is stored: 1 to [`WriteData::MAX_DATA`] dwords.
    pub data: &'a [u32],
}

impl<'a> WriteData<'a> {
    /// The most dwords one packet carries.
    pub const MAX_DATA: usize = MAX_PAYLOAD - 3;

    /// Stores `data` to memory from `va` on (a multiple of 4), with ME, and waits for it.
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
    pub const fn new(va: GpuVa, data: &'a [u32]) -> Self {
        Self {
            engine: Engine::Me,
            to: WriteTo::memory(va),
            no_increment: false,
            confirm: true,
            caching: Caching { policy: super::Policy::Lru, atc: false, volatile: false },
            data,
        }
    }
}

impl<'a> Describe<'a> for WriteData<'a> {
    const NAME: &'static str = "WRITE_DATA";
    const BLANK: Self = Self::new(GpuVa::NULL, &[]);

    #[inline]
    fn opcode(self, _: Target) -> Option<u8> {
        Some(opcode::WRITE_DATA)
    }

    #[expect(clippy::inline_always, reason = "see the writer")]
    #[inline(always)]
    fn describe<W: Wire<'a>>(self, wire: &mut W, target: Target, _: u8) -> Result<Self, W::Error> {
        let mut d = wire.open()?;
        let selector = d.bits::<11, 8>("dst_sel", self.to.selector())?;
        let no_increment = d.flag::<16>(self.no_increment);
        let confirm = d.flag::<20>(self.confirm);
        let caching = self.caching.describe(&mut d, 24, Caching::ALL, target.level)?;
        let engine = d.choice::<31, 30, _>("engine_sel", self.engine)?;
        wire.close(d)?;

        let to = self.to.describe(wire, target, selector)?;
        let data = wire.rest(self.data)?;
        require(!data.is_empty(), FieldError::Empty { field: "data" })?;
        let ordered = selector == WritePath::Grbm as u32;
        require_form(!ordered || (engine == Engine::Me && !target.is_mec()), "a store in order with registers")?;
        Ok(Self { engine, to, no_increment, confirm, caching, data })
    }
}

packet_impl!(WriteData<'a>);
