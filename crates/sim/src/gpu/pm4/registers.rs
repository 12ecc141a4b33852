//! Packets that set, load and change registers, and packets that set base addresses.

use std::ops::Range;

use amdgpu_hw::GfxLevel;
use amdgpu_hw::GpuVa;
use amdgpu_packets::FieldError;
use amdgpu_packets::layout::Reader;
use amdgpu_packets::layout::records::pm4::{
    ClearState, ContextRegRmw, DrawPreamble, LoadContextRegIndex, LoadShRegIndex, LoadUconfigRegIndex, RegRmw, SetBase,
    SetShRegOffset,
};
use amdgpu_packets::layout::values::{
    ClearStateCmd, LoadFormat, LoadIndex, RmwSrc, SetBaseIndex, ShOffsetIndex, ShRegIndex,
};
use amdgpu_packets::pm4::{Register, Ring};
use amdgpu_packets::registers::{IA_MULTI_VGT_PARAM, VGT_LS_HS_CONFIG, VGT_PRIMITIVE_TYPE};
use zerocopy::IntoBytes;

use crate::gpu::{
    Engine, Stop,
    registers::{CONTEXT, PERSISTENT, USER_CONFIG},
    step::Step,
};

/// The most registers that the short form of packed pairs can contain.
const SHORT: u32 = 14;

/// The fields of LOAD_*_REG_INDEX of a range of registers.
pub(super) struct IndexedLoad {
    aperture: Range<u32>,
    index: LoadIndex,
    address: u64,
    offset: u32,
    format: LoadFormat,
    count: u32,
}

impl From<LoadContextRegIndex<'_>> for IndexedLoad {
    fn from(packet: LoadContextRegIndex<'_>) -> Self {
        let LoadContextRegIndex { index, addr, addr_offset, data_format, num_dwords, .. } = packet;
        let (address, offset) = (addr, addr_offset);
        Self { aperture: CONTEXT, index, address, offset, format: data_format, count: num_dwords }
    }
}

impl From<LoadShRegIndex<'_>> for IndexedLoad {
    fn from(packet: LoadShRegIndex<'_>) -> Self {
        let LoadShRegIndex { index, addr, addr_offset, data_format, num_dwords, .. } = packet;
        let (address, offset) = (addr, addr_offset);
        Self { aperture: PERSISTENT, index, address, offset, format: data_format, count: num_dwords }
    }
}

impl From<LoadUconfigRegIndex<'_>> for IndexedLoad {
    fn from(packet: LoadUconfigRegIndex<'_>) -> Self {
        let LoadUconfigRegIndex { index, addr, addr_offset, data_format, num_dwords, .. } = packet;
        let (address, offset) = (addr, addr_offset);
        Self { aperture: USER_CONFIG, index, address, offset, format: data_format, count: num_dwords }
    }
}

impl Engine {
    /// Writes the register that is `offset` dwords after the start of a range.
    fn set_relative(
        &mut self,
        step: &Step<'_, '_>,
        aperture: &Range<u32>,
        offset: u32,
        value: u32,
        level: GfxLevel,
    ) -> Result<(), Stop> {
        let index = (aperture.start / 4).saturating_add(offset);
        if index >= aperture.end / 4 {
            return Err(step.refuse("writes a register outside the apertures"));
        }
        self.set_register(Register::new(index), value, level, step.port)
    }

    /// Executes SET_*_REG and SET_*_REG_INDEX: writes consecutive registers. The index requests another action of the firmware; the
    /// register gets the value in any case, and there is no mask of compute units to apply.
    pub(super) fn set_registers(
        &mut self,
        step: &Step<'_, '_>,
        aperture: &Range<u32>,
        first: u32,
        values: &[u32],
        level: GfxLevel,
    ) -> Result<(), Stop> {
        for (offset, &value) in (first..).zip(values) {
            self.set_relative(step, aperture, offset, value, level)?;
        }
        Ok(())
    }

    /// Executes SET_SH_REG and SET_SH_REG_INDEX.
    pub(super) fn set_sh_registers(
        &mut self,
        step: &Step<'_, '_>,
        index: ShRegIndex,
        first: u32,
        values: &[u32],
        level: GfxLevel,
    ) -> Result<(), Stop> {
        if index == ShRegIndex::INSERT_VMID {
            return Err(step.refuse("asks for the number of the address space, which is not simulated"));
        }
        self.set_registers(step, &PERSISTENT, first, values, level)
    }

    /// Executes SET_*_REG_PAIRS: pairs of an offset and a value.
    pub(super) fn set_pairs(
        &mut self,
        step: &Step<'_, '_>,
        aperture: &Range<u32>,
        level: GfxLevel,
    ) -> Result<(), Stop> {
        let (pairs, rest) = step.dwords.get(1..).unwrap_or_default().as_chunks::<2>();
        require_whole(step, rest)?;
        for &[offset, value] in pairs {
            self.set_relative(step, aperture, offset, value, level)?;
        }
        Ok(())
    }

    /// Executes SET_*_REG_PAIRS_PACKED: a count, then groups of two offsets in a dword and their values.
    pub(super) fn set_packed_pairs(
        &mut self,
        step: &Step<'_, '_>,
        aperture: &Range<u32>,
        count: u32,
        level: GfxLevel,
    ) -> Result<(), Stop> {
        let (triplets, rest) = step.dwords.get(2..).unwrap_or_default().as_chunks::<3>();
        require_whole(step, rest)?;
        if count as usize != 2 * triplets.len() {
            return Err(step.wrong(FieldError::Unknown { field: "reg_count", value: count }));
        }
        for &[offsets, first, second] in triplets {
            self.set_relative(step, aperture, offsets & 0xffff, first, level)?;
            self.set_relative(step, aperture, offsets >> 16, second, level)?;
        }
        Ok(())
    }

    /// Executes SET_SH_REG_PAIRS_PACKED_N, the short form.
    pub(super) fn set_few_packed_pairs(
        &mut self,
        step: &Step<'_, '_>,
        count: u32,
        level: GfxLevel,
    ) -> Result<(), Stop> {
        if count > SHORT {
            return Err(step.wrong(FieldError::Unknown { field: "reg_count", value: count }));
        }
        self.set_packed_pairs(step, &PERSISTENT, count, level)
    }

    /// Executes LOAD_*_REG: loads ranges of registers from an image of the whole range.
    pub(super) fn load_registers(
        &mut self,
        step: &Step<'_, '_>,
        aperture: &Range<u32>,
        address: u64,
        level: GfxLevel,
    ) -> Result<(), Stop> {
        let image = step.aligned("addr_lo", address, 4)?;
        let (ranges, rest) = step.dwords.get(3..).unwrap_or_default().as_chunks::<2>();
        require_whole(step, rest)?;
        for &[offset, count] in ranges {
            let from = image.checked_add(4 * u64::from(offset));
            let from = from.ok_or_else(|| step.refuse("reads beyond the end of the address space"))?;
            self.load_block(step, aperture, from, [offset, count], level)?;
        }
        Ok(())
    }

    /// Loads `count` registers, starting at `offset`, from the memory at `from`.
    fn load_block(
        &mut self,
        step: &Step<'_, '_>,
        aperture: &Range<u32>,
        from: GpuVa,
        [offset, count]: [u32; 2],
        level: GfxLevel,
    ) -> Result<(), Stop> {
        if u64::from(offset) + u64::from(count) > u64::from((aperture.end - aperture.start) / 4) {
            return Err(step.refuse("writes a register outside the apertures"));
        }
        step.port.spend(count.into())?;
        let mut values = vec![0u32; count as usize];
        step.port.read(from, values.as_mut_bytes());
        self.set_registers(step, aperture, offset, &values, level)
    }

    /// Executes LOAD_*_REG_INDEX: loads registers from memory, which has consecutive values, or each value with its offset.
    pub(super) fn load_registers_indexed(
        &mut self,
        step: &Step<'_, '_>,
        packet: &IndexedLoad,
        level: GfxLevel,
    ) -> Result<(), Stop> {
        let beyond = || step.refuse("reads beyond the end of the address space");
        let mut from = match packet.index {
            LoadIndex::DIRECT_ADDRESS => step.address("addr_lo", packet.address)?,
            LoadIndex::BASE_PLUS_OFFSET => {
                let base = self.state.base(SetBaseIndex::LOAD_REG_INDEX);
                base.checked_add(packet.offset.into()).ok_or_else(beyond)?
            }
            _ => {
                let pointer = step.port.read_u64(step.address("addr_lo", packet.address)?);
                step.address("addr_lo", pointer)?
            }
        };
        if packet.format == LoadFormat::OFFSET_AND_DATA {
            step.port.spend(packet.count.into())?;
            let mut pairs = vec![[0u32; 2]; packet.count as usize];
            step.port.read(from, pairs.as_mut_bytes());
            for [offset, value] in pairs {
                self.set_relative(step, &packet.aperture, offset, value, level)?;
            }
            return Ok(());
        }
        let (ranges, rest) = step.dwords.get(3..).unwrap_or_default().as_chunks::<2>();
        require_whole(step, rest)?;
        for &[offset, count] in ranges {
            self.load_block(step, &packet.aperture, from, [offset & 0xffff, count], level)?;
            from = from.checked_add(4 * u64::from(count)).ok_or_else(beyond)?;
        }
        Ok(())
    }

    /// Executes CONTEXT_REG_RMW: changes some bits of a context register.
    pub(super) fn context_reg_rmw(
        &mut self,
        packet: &ContextRegRmw,
        step: &Step<'_, '_>,
        level: GfxLevel,
    ) -> Result<(), Stop> {
        let ContextRegRmw { reg_offset, mask, data } = *packet;
        let old = self.state.register(Register::new(CONTEXT.start / 4 + reg_offset));
        self.set_relative(step, &CONTEXT, reg_offset, old & !mask | data & mask, level)
    }

    /// Executes REG_RMW: changes some bits of any register, with masks in the packet or in other registers.
    pub(super) fn reg_rmw(&mut self, packet: &RegRmw, step: &Step<'_, '_>, level: GfxLevel) -> Result<(), Stop> {
        let mask = |from: RmwSrc, value: u32| match from {
            RmwSrc::IMMEDIATE => Ok(value),
            _ => self.get_register(Register::new(value), level, step.port),
        };
        let (and, or) = (mask(packet.and_src, packet.and_mask)?, mask(packet.or_src, packet.or_mask)?);
        let register = Register::new(packet.reg);
        let old = self.get_register(register, level, step.port)?;
        self.set_register(register, old & and | or, level, step.port)
    }

    /// Executes SET_SH_REG_OFFSET: sets an address relative to the IB, or one or two dwords from memory at an offset from the
    /// address of SET_BASE.
    pub(super) fn set_sh_reg_offset(
        &mut self,
        packet: &SetShRegOffset,
        step: &Step<'_, '_>,
        level: GfxLevel,
    ) -> Result<(), Stop> {
        let beyond = || step.refuse("points beyond the end of the address space");
        let value = if packet.index == ShOffsetIndex::NORMAL.number() {
            let offset = match level {
                GfxLevel::Gfx6 | GfxLevel::Gfx7 => 4 * u64::from(packet.ib_dword_offset),
                GfxLevel::Gfx8 => packet.data_offset.into(),
                _ => packet.ib_offset.into(),
            };
            step.place().ib.va.checked_add(offset).ok_or_else(beyond)?.as_u64()
        } else {
            let base = self.state.base(SetBaseIndex::INDIRECT_DATA);
            step.port.read_u64(base.checked_add(packet.data_offset.into()).ok_or_else(beyond)?)
        };
        self.set_relative(step, &PERSISTENT, packet.reg_offset, value as u32, level)?;
        if packet.index == ShOffsetIndex::DATA_INDIRECT_1DW.number() {
            return Ok(());
        }
        self.set_relative(step, &PERSISTENT, packet.reg_offset + 1, (value >> 32) as u32, level)
    }

    /// Executes SET_BASE: sets an address for later packets. On the constant engine it also sets the bounds of its memory, which
    /// are ignored because the engine has all of it.
    pub(super) fn set_base(&mut self, packet: &SetBase, step: &Step<'_, '_>) -> Result<(), Stop> {
        let index = packet.base_index;
        let is_mec = matches!(step.reader, Reader::Ring(target) if target.ring == Ring::Compute && target.is_mec());
        // The bases that MEC has.
        if is_mec && index != SetBaseIndex::EXECUTE_INDIRECT_V2 {
            return Err(step.wrong(FieldError::Unknown { field: "base_index", value: index.number() }));
        }
        if index == SetBaseIndex::CE_PARTITION {
            return Ok(());
        }
        let va = step.address("addr_lo", packet.addr)?;
        if let Some(base) = self.state.bases.get_mut(index.number() as usize) {
            *base = va;
        }
        Ok(())
    }

    /// Executes CLEAR_STATE: resets the context registers to their initial values, which are zero here, or saves and restores them.
    pub(super) fn clear_state(&mut self, packet: ClearState, step: &Step<'_, '_>) -> Result<(), Stop> {
        /// No driver nests deeper than this.
        const DEPTH: usize = 16;
        let command = packet.cmd;
        let state = &mut self.state;
        if matches!(command, ClearStateCmd::PUSH | ClearStateCmd::PUSH_AND_CLEAR) {
            if state.pushed.len() >= DEPTH {
                return Err(step.refuse("puts more states aside than there is room for"));
            }
            state.pushed.push(state.registers.clone());
        }
        match command {
            ClearStateCmd::CLEAR | ClearStateCmd::PUSH_AND_CLEAR => state.registers.clear_context(),
            ClearStateCmd::POP => {
                let last =
                    state.pushed.pop().ok_or_else(|| step.refuse("takes back a state that was not put aside"))?;
                state.registers.restore_context(&last);
            }
            _ => {}
        }
        Ok(())
    }

    /// Executes DRAW_PREAMBLE, which sets three registers of the front end.
    ///
    /// Source: Mesa 25.0.7 `src/amd/registers/gfx7.json` and `gfx8.json`, VGT_PRIMITIVE_TYPE, IA_MULTI_VGT_PARAM and
    /// VGT_LS_HS_CONFIG.
    pub(super) fn draw_preamble(
        &mut self,
        packet: &DrawPreamble,
        step: &Step<'_, '_>,
        level: GfxLevel,
    ) -> Result<(), Stop> {
        let sets = [
            (VGT_PRIMITIVE_TYPE, packet.prim_type),
            (IA_MULTI_VGT_PARAM, packet.ia_multi_vgt_param),
            (VGT_LS_HS_CONFIG, packet.vgt_ls_hs_config),
        ];
        for (register, value) in sets {
            let register = register.offset(level).and_then(Register::at_byte);
            let register = register.ok_or_else(|| step.refuse("sets a register that the generation does not have"))?;
            self.set_register(register, value, level, step.port)?;
        }
        Ok(())
    }
}

/// Checks that no dwords are left after the last group.
fn require_whole(step: &Step<'_, '_>, rest: &[u32]) -> Result<(), Stop> {
    match rest.len() {
        0 => Ok(()),
        dwords => Err(step.wrong(FieldError::Surplus { dwords })),
    }
}
