//! Packets that set, load and change registers, and the bases that others start from.

use std::ops::Range;

use amdgpu_hw::GfxLevel;
use amdgpu_hw::GpuVa;
use amdgpu_packets::FieldError;
use amdgpu_packets::pm4::{Register, Ring};
use zerocopy::IntoBytes;

use crate::gpu::registers::{CONFIG, CONTEXT, PERSISTENT, USER_CONFIG};
use crate::gpu::step::Step;
use crate::gpu::{Engine, Stop};
use amdgpu_packets::layout::Reader;

/// The registers that a packet's offsets start from, in bytes.
fn aperture(packet: &str) -> Range<u32> {
    if packet.contains("UCONFIG") {
        USER_CONFIG
    } else if packet.contains("CONFIG") {
        CONFIG
    } else if packet.contains("CONTEXT") {
        CONTEXT
    } else {
        PERSISTENT
    }
}

impl Engine {
    /// Writes the register `offset` dwords into the packet's aperture.
    fn set_relative(&mut self, step: &Step<'_, '_>, offset: u32, value: u32, level: GfxLevel) -> Result<(), Stop> {
        let Range { start, end } = aperture(step.fields.name());
        let index = (start / 4).saturating_add(offset);
        if index >= end / 4 {
            return Err(step.refuse("writes a register outside the apertures"));
        }
        self.set_register(Register::new(index), value, level, step.port)
    }

    /// SET_*_REG and SET_*_REG_INDEX: one register after the other. The index asks firmware to do something besides; the
    /// register gets the value all the same, and there is no mask of compute units to apply.
    pub(super) fn set_registers(&mut self, step: &Step<'_, '_>, level: GfxLevel) -> Result<(), Stop> {
        const INSERT_VMID: u32 = 1;
        let is_sh = step.fields.name().starts_with("SET_SH_REG");
        if is_sh && step.get("index") == INSERT_VMID {
            return Err(step.refuse("asks for the number of the address space, which is not simulated"));
        }
        let first = step.get("reg_offset");
        for (offset, &value) in (first..).zip(step.fields.tail(2)) {
            self.set_relative(step, offset, value, level)?;
        }
        Ok(())
    }

    /// SET_*_REG_PAIRS: offset and value, again and again.
    pub(super) fn set_pairs(&mut self, step: &Step<'_, '_>, level: GfxLevel) -> Result<(), Stop> {
        let (pairs, rest) = step.fields.tail(1).as_chunks::<2>();
        require_whole(step, rest)?;
        for &[offset, value] in pairs {
            self.set_relative(step, offset, value, level)?;
        }
        Ok(())
    }

    /// SET_*_REG_PAIRS_PACKED: a count, then two offsets in a dword and their values.
    pub(super) fn set_packed_pairs(&mut self, step: &Step<'_, '_>, level: GfxLevel) -> Result<(), Stop> {
        /// The most that the short form takes.
        const SHORT: u32 = 14;
        let count = step.get("reg_count");
        let (triplets, rest) = step.fields.tail(2).as_chunks::<3>();
        require_whole(step, rest)?;
        let is_too_long = step.fields.name().ends_with("_N") && count > SHORT;
        if count as usize != 2 * triplets.len() || is_too_long {
            return Err(step.wrong(FieldError::Unknown { field: "reg_count", value: count }));
        }
        for &[offsets, first, second] in triplets {
            self.set_relative(step, offsets & 0xffff, first, level)?;
            self.set_relative(step, offsets >> 16, second, level)?;
        }
        Ok(())
    }

    /// LOAD_*_REG: ranges of registers from an image of the whole aperture.
    pub(super) fn load_registers(&mut self, step: &Step<'_, '_>, level: GfxLevel) -> Result<(), Stop> {
        let image = step.aligned("addr_lo", "addr_hi", 4)?;
        let (ranges, rest) = step.fields.tail(3).as_chunks::<2>();
        require_whole(step, rest)?;
        for &[offset, count] in ranges {
            let from = image.checked_add(4 * u64::from(offset));
            let from = from.ok_or_else(|| step.refuse("reads beyond the end of the address space"))?;
            self.load_block(step, from, offset, count, level)?;
        }
        Ok(())
    }

    /// `count` registers from `offset` on get what lies at `from`.
    fn load_block(
        &mut self,
        step: &Step<'_, '_>,
        from: GpuVa,
        offset: u32,
        count: u32,
        level: GfxLevel,
    ) -> Result<(), Stop> {
        let aperture = aperture(step.fields.name());
        if u64::from(offset) + u64::from(count) > u64::from((aperture.end - aperture.start) / 4) {
            return Err(step.refuse("writes a register outside the apertures"));
        }
        step.port.spend(count.into())?;
        let mut values = vec![0u32; count as usize];
        step.port.read(from, values.as_mut_bytes());
        for (offset, value) in (offset..).zip(values) {
            self.set_relative(step, offset, value, level)?;
        }
        Ok(())
    }

    /// LOAD_*_REG_INDEX: registers from memory where they lie side by side, or each with its offset.
    pub(super) fn load_registers_indexed(&mut self, step: &Step<'_, '_>, level: GfxLevel) -> Result<(), Stop> {
        /// The base that offsets start from.
        const LOAD: u32 = 4;
        let beyond = || step.refuse("reads beyond the end of the address space");
        let mut from = match step.get("index") {
            0 => step.address("addr_lo", "addr_hi")?,
            1 => self.state.base(LOAD).checked_add(step.get("addr_offset").into()).ok_or_else(beyond)?,
            _ => {
                let pointer = step.port.read_u64(step.address("addr_lo", "addr_hi")?);
                let wrong = |source| step.wrong(FieldError::Address { field: "addr_lo", source });
                GpuVa::new(pointer).map_err(wrong)?
            }
        };
        if step.is_set("data_format") {
            let count = step.get("num_dwords");
            step.port.spend(count.into())?;
            let mut pairs = vec![[0u32; 2]; count as usize];
            step.port.read(from, pairs.as_mut_bytes());
            for [offset, value] in pairs {
                self.set_relative(step, offset, value, level)?;
            }
            return Ok(());
        }
        let (ranges, rest) = step.fields.tail(3).as_chunks::<2>();
        require_whole(step, rest)?;
        for &[offset, count] in ranges {
            self.load_block(step, from, offset & 0xffff, count, level)?;
            from = from.checked_add(4 * u64::from(count)).ok_or_else(beyond)?;
        }
        Ok(())
    }

    /// CONTEXT_REG_RMW: some bits of a context register.
    pub(super) fn context_reg_rmw(&mut self, step: &Step<'_, '_>, level: GfxLevel) -> Result<(), Stop> {
        let offset = step.get("reg_offset");
        let old = self.state.register(Register::new(CONTEXT.start / 4 + offset));
        let (mask, data) = (step.get("mask"), step.get("data"));
        self.set_relative(step, offset, old & !mask | data & mask, level)
    }

    /// REG_RMW: some bits of any register, by masks in the packet or in other registers.
    pub(super) fn reg_rmw(&mut self, step: &Step<'_, '_>, level: GfxLevel) -> Result<(), Stop> {
        let register = Register::new(step.get("reg"));
        let mask = |from: &str, mask: &str| {
            let value = step.get(mask);
            if step.is_set(from) { self.get_register(Register::new(value), level, step.port) } else { Ok(value) }
        };
        let (and, or) = (mask("and_src", "and_mask")?, mask("or_src", "or_mask")?);
        let old = self.get_register(register, level, step.port)?;
        self.set_register(register, old & and | or, level, step.port)
    }

    /// SET_SH_REG_OFFSET: an address relative to the IB, or one or two dwords from behind SET_BASE's address.
    pub(super) fn set_sh_reg_offset(&mut self, step: &Step<'_, '_>, level: GfxLevel) -> Result<(), Stop> {
        /// The base that indirect data starts from.
        const DATA: u32 = 5;
        let beyond = || step.refuse("points beyond the end of the address space");
        let first = step.get("reg_offset");
        let index = step.get("index");
        let value = if index == 0 {
            let offset = match level {
                GfxLevel::Gfx6 | GfxLevel::Gfx7 => 4 * u64::from(step.get("ib_dword_offset")),
                GfxLevel::Gfx8 => step.get("data_offset").into(),
                _ => step.get("ib_offset").into(),
            };
            step.place().ib.va.checked_add(offset).ok_or_else(beyond)?.as_u64()
        } else {
            let va = self.state.base(DATA).checked_add(step.get("data_offset").into()).ok_or_else(beyond)?;
            step.port.read_u64(va)
        };
        self.set_relative(step, first, value as u32, level)?;
        if index == 2 {
            return Ok(());
        }
        self.set_relative(step, first + 1, (value >> 32) as u32, level)
    }

    /// SET_BASE: an address for later packets; on the constant engine also the bounds of its memory, which mean nothing
    /// to one that has it all.
    pub(super) fn set_base(&mut self, step: &Step<'_, '_>) -> Result<(), Stop> {
        /// What MEC knows a base for.
        const EXECUTE_INDIRECT: u32 = 6;
        const PARTITION: u32 = 3;
        let index = step.get("base_index");
        let is_mec = matches!(step.reader, Reader::Ring(target) if target.ring == Ring::Compute && target.is_mec());
        if is_mec && index != EXECUTE_INDIRECT {
            return Err(step.wrong(FieldError::Unknown { field: "base_index", value: index }));
        }
        if index == PARTITION {
            return Ok(());
        }
        let va = step.address("addr_lo", "addr_hi")?;
        if let Some(base) = self.state.bases.get_mut(index as usize) {
            *base = va;
        }
        Ok(())
    }

    /// CLEAR_STATE: context registers to their first values, which are zero here; or put aside, and taken back.
    pub(super) fn clear_state(&mut self, step: &Step<'_, '_>) -> Result<(), Stop> {
        /// Nobody nests deeper.
        const DEPTH: usize = 16;
        let command = step.get("cmd");
        let state = &mut self.state;
        if matches!(command, 1 | 3) {
            if state.pushed.len() >= DEPTH {
                return Err(step.refuse("puts more states aside than there is room for"));
            }
            state.pushed.push(state.registers.clone());
        }
        match command {
            0 | 3 => state.registers.clear_context(),
            2 => {
                let last =
                    state.pushed.pop().ok_or_else(|| step.refuse("takes back a state that was not put aside"))?;
                state.registers.restore_context(&last);
            }
            _ => {}
        }
        Ok(())
    }

    /// DRAW_PREAMBLE: three registers of the front end.
    ///
    /// Source: Mesa 25.0.7 `src/amd/registers/gfx7.json` and `gfx8.json`, VGT_PRIMITIVE_TYPE, IA_MULTI_VGT_PARAM and
    /// VGT_LS_HS_CONFIG.
    pub(super) fn draw_preamble(&mut self, step: &Step<'_, '_>, level: GfxLevel) -> Result<(), Stop> {
        for (byte, field) in [(0x30908, "prim_type"), (0x28aa8, "ia_multi_vgt_param"), (0x28b58, "vgt_ls_hs_config")] {
            self.set_register(Register::new(byte / 4), step.get(field), level, step.port)?;
        }
        Ok(())
    }
}

/// Nothing is left over after the last group of dwords.
fn require_whole(step: &Step<'_, '_>, rest: &[u32]) -> Result<(), Stop> {
    match rest.len() {
        0 => Ok(()),
        dwords => Err(step.wrong(FieldError::Surplus { dwords })),
    }
}
