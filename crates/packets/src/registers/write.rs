//! Register writes in a command stream.

use std::collections::HashMap;

use super::{Aperture, Register, RegisterValue, TypedRegister};
use crate::layout::record::copy;
use crate::layout::{self, Layout, Reader};
use crate::pm4::{HeaderFlags, Target, type3};
use crate::{EncodeError, FieldError, Packet};
use amdgpu_hw::GfxLevel;

/// An error of writing a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegisterError {
    /// The generation does not have the register.
    #[error("there is no {register} on {level}")]
    NoSuchRegister {
        /// The name of the register.
        register: &'static str,
        /// The generation that lacks the register.
        level: GfxLevel,
    },
    /// No SET packet of this ring can write the offset.
    #[error("no SET packet reaches register {offset:#x} on {target}")]
    OutOfReach {
        /// The rejected register offset in bytes.
        offset: u32,
        /// The generation and ring of the writer.
        target: Target,
    },
    /// The offset is not a multiple of 4.
    #[error("register offset {offset:#x} is not a multiple of 4")]
    Misaligned {
        /// The rejected register offset in bytes.
        offset: u32,
    },
}

const fn layout_of(aperture: Aperture) -> &'static Layout {
    match aperture {
        Aperture::Config => &layout::pm4::SET_CONFIG_REG,
        Aperture::Sh => &layout::pm4::SET_SH_REG,
        Aperture::Context => &layout::pm4::SET_CONTEXT_REG,
        Aperture::Uconfig => &layout::pm4::SET_UCONFIG_REG,
    }
}

/// SET_CONFIG_REG, SET_SH_REG, SET_CONTEXT_REG or SET_UCONFIG_REG: writes values to consecutive registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetRegisters<'a> {
    /// The byte offset of the first register in the register space: a multiple of 4 in one of the apertures.
    pub first: u32,
    /// The flags of the header; [`HeaderFlags::COMPUTE`] for COMPUTE_* registers on the graphics ring.
    pub flags: HeaderFlags,
    /// The values of consecutive registers: at least one.
    pub values: &'a [u32],
}

impl<'a> SetRegisters<'a> {
    /// Creates a write of `values` to consecutive registers, starting at byte offset `first`.
    pub const fn new(first: u32, values: &'a [u32]) -> Self {
        Self { first, flags: HeaderFlags::empty(), values }
    }

    /// Returns the packet for the aperture, and the index of the first register in it.
    #[expect(
        clippy::inline_always,
        reason = "the first register is mostly a constant, and the errors go away in `put`"
    )]
    #[inline(always)]
    fn place(&self, target: Target) -> Result<(&'static Layout, u32), EncodeError> {
        let none = EncodeError::NoSuchPacket { packet: Self::NAME, target: target.into() };
        let aperture = Aperture::of(self.first, target.level).ok_or(none)?;
        let layout = layout_of(aperture);
        let bytes = aperture.bytes(target.level).ok_or(none)?;
        let wrong = |source| EncodeError::Field { packet: layout.name(), target: target.into(), source };
        if !Reader::Ring(target).takes(layout) {
            return Err(EncodeError::NoSuchPacket { packet: layout.name(), target: target.into() });
        }
        if !self.first.is_multiple_of(4) {
            return Err(wrong(FieldError::Misaligned { field: "first", value: self.first.into(), multiple: 4 }));
        }
        let most = (bytes.end - self.first) / 4;
        match self.values.len() {
            0 => Err(wrong(FieldError::Empty { field: "values" })),
            len if len as u64 > u64::from(most) => {
                Err(wrong(FieldError::TooWide { field: "values", value: len as u64, max: most.into() }))
            }
            _ => Ok((layout, (self.first - bytes.start) / 4)),
        }
    }
}

impl SetRegisters<'_> {
    /// Writes the packet; does nothing if `out` is too short.
    #[expect(clippy::inline_always, reason = "as for `place`")]
    #[inline(always)]
    fn fill(&self, layout: &Layout, index: u32, out: &mut [u32]) -> Option<usize> {
        let dwords = self.values.len() + 2;
        let packet = out.get_mut(..dwords)?;
        copy(packet, 2, self.values);
        let [header, offset, ..] = packet else { return None };
        *header = type3(layout.opcode() as u8, dwords - 1, self.flags);
        *offset = index;
        Some(dwords)
    }
}

impl Packet for SetRegisters<'_> {
    type Language = Target;
    const NAME: &'static str = "SET_*_REG";

    #[inline]
    fn len_dwords(&self, target: Target) -> Result<usize, EncodeError> {
        self.place(target).map(|_| self.values.len() + 2)
    }

    #[inline]
    fn encode(&self, target: Target, out: &mut [u32]) -> Result<usize, EncodeError> {
        let (layout, index) = self.place(target)?;
        let (needed, left) = (self.values.len() + 2, out.len());
        self.fill(layout, index, out).ok_or(EncodeError::NoRoom { packet: layout.name(), needed, left })
    }

    #[expect(clippy::inline_always, reason = "as for `place`")]
    #[inline(always)]
    fn put(&self, target: Target, out: &mut [u32]) -> Option<usize> {
        let (layout, index) = self.place(target).ok()?;
        self.fill(layout, index, out)
    }
}

/// The write of one register, by the packet that the firmware of the generation expects for it: SET_SH_REG_INDEX or
/// SET_UCONFIG_REG_INDEX for registers that it handles itself, and otherwise one of [`SetRegisters`].
///
/// | register | since | index | what the firmware does |
/// |---|---|---|---|
/// | masks of compute units (`CU_EN`) | GFX10 | 3 | leaves out units that the kernel reserves |
/// | VGT_PRIMITIVE_TYPE | GFX9 | 1 | keeps the value for a draw that is interrupted |
/// | VGT_INDEX_TYPE | GFX9 | 2 | the same |
/// | IA_MULTI_VGT_PARAM | GFX9 | 4 | the same |
///
/// Source: Mesa 25.0.7 `src/amd/vulkan/radv_cs.h`, `radeon_set_sh_reg_idx` and `radeon_set_uconfig_reg_idx`, and their callers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetRegister {
    /// The register.
    pub register: Register,
    /// The value.
    pub value: u32,
}

impl SetRegister {
    /// Returns the packet with an index that the register needs, and the index.
    fn index(self, level: GfxLevel, aperture: Aperture) -> Option<(&'static Layout, u32)> {
        use amdgpu_registers::constants as r;
        match aperture {
            Aperture::Sh if level >= GfxLevel::Gfx10 && self.register.field("CU_EN", level).is_some() => {
                Some((&layout::pm4::SET_SH_REG_INDEX, 3))
            }
            Aperture::Uconfig if level >= GfxLevel::Gfx9 => {
                let indices = [(r::VGT_PRIMITIVE_TYPE, 1), (r::VGT_INDEX_TYPE, 2), (r::IA_MULTI_VGT_PARAM, 4)];
                let found = indices.into_iter().find(|(register, _)| *register == self.register)?;
                Some((&layout::pm4::SET_UCONFIG_REG_INDEX, found.1))
            }
            _ => None,
        }
    }
}

impl Packet for SetRegister {
    type Language = Target;
    const NAME: &'static str = "SET_*_REG";

    #[inline]
    fn len_dwords(&self, _: Target) -> Result<usize, EncodeError> {
        Ok(3)
    }

    fn encode(&self, target: Target, out: &mut [u32]) -> Result<usize, EncodeError> {
        let none = EncodeError::NoSuchPacket { packet: Self::NAME, target: target.into() };
        let first = self.register.offset(target.level).ok_or(none)?;
        let values = [self.value];
        let plain = SetRegisters::new(first, &values);
        let (_, place) = plain.place(target)?;
        let len = plain.encode(target, out)?;
        let aperture = Aperture::of(first, target.level).ok_or(none)?;
        if let (Some((layout, index)), [header, offset, ..]) = (self.index(target.level, aperture), out) {
            *header = type3(layout.opcode() as u8, 2, HeaderFlags::empty());
            *offset = place | index << 28;
        }
        Ok(len)
    }
}

/// The register values that a stream is known to have written.
///
/// The values are valid only as long as nothing else writes the registers: another IB, another stream of the same context,
/// CLEAR_STATE, or a register load. Code that does so calls [`RegisterShadow::forget`].
#[derive(Clone, Debug, Default)]
pub struct RegisterShadow {
    known: HashMap<u32, u32>,
}

impl RegisterShadow {
    /// Creates a shadow without known values.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the value of the register at this byte offset; `None` if it is not known.
    pub fn get(&self, offset: u32) -> Option<u32> {
        self.known.get(&offset).copied()
    }

    /// Forgets all values.
    pub fn forget(&mut self) {
        self.known.clear();
    }

    /// Records a write. Returns `true` if it changes the known value.
    fn note(&mut self, offset: u32, value: u32) -> bool {
        self.known.insert(offset, value) != Some(value)
    }
}

/// A collector of register writes. It combines writes to consecutive registers into one packet, without changing the order of
/// writes. With a [`RegisterShadow`] it omits writes that would not change a value.
///
/// ```
/// use amdgpu_packets::{Packet, pm4, registers::{self, RegisterWriter}};
/// use amdgpu_hw::GfxLevel;
///
/// let target = pm4::Target::compute(GfxLevel::Gfx10);
/// let mut writer = RegisterWriter::with_shadow(target);
/// writer.set(registers::COMPUTE_NUM_THREAD_X, 64)?;
/// writer.set(registers::COMPUTE_NUM_THREAD_Y, 1)?;
/// writer.set(registers::COMPUTE_NUM_THREAD_X, 64)?; // already there
/// let mut ib = [0; 8];
/// let mut packets = writer.packets();
/// assert_eq!(packets.next().unwrap().encode(target, &mut ib)?, 4);
/// assert_eq!(ib[..4], [0xc002_7600, 0x207, 64, 1]);
/// assert!(packets.next().is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct RegisterWriter {
    target: Target,
    /// The first register of each run, and the index of its first value.
    runs: Vec<(u32, usize)>,
    values: Vec<u32>,
    shadow: Option<RegisterShadow>,
}

impl RegisterWriter {
    /// Creates a collector that keeps every write.
    pub const fn new(target: Target) -> Self {
        Self { target, runs: Vec::new(), values: Vec::new(), shadow: None }
    }

    /// Creates a collector that omits writes that would not change a value.
    pub fn with_shadow(target: Target) -> Self {
        Self { shadow: Some(RegisterShadow::new()), ..Self::new(target) }
    }

    /// Returns the shadow of known register values; `None` if the collector keeps every write.
    pub const fn shadow(&mut self) -> Option<&mut RegisterShadow> {
        self.shadow.as_mut()
    }

    /// Adds the write of a register.
    ///
    /// # Errors
    ///
    /// [`RegisterError`] if the generation does not have the register, or this ring cannot write it.
    pub fn set(&mut self, register: Register, value: u32) -> Result<(), RegisterError> {
        let level = self.target.level;
        let offset =
            register.offset(level).ok_or(RegisterError::NoSuchRegister { register: register.name(), level })?;
        self.set_at(offset, value)
    }

    /// Adds the write of a value that was composed from fields.
    ///
    /// # Errors
    ///
    /// [`RegisterError`] if the generation does not have the register, or this ring cannot write it.
    pub fn set_value<R: TypedRegister>(&mut self, value: RegisterValue<R>) -> Result<(), RegisterError> {
        self.set(R::REGISTER, value.raw())
    }

    /// Adds the write of the register at a byte offset.
    ///
    /// # Errors
    ///
    /// [`RegisterError`] if the offset is not a multiple of 4, or this ring cannot write it.
    pub fn set_at(&mut self, offset: u32, value: u32) -> Result<(), RegisterError> {
        let target = self.target;
        if !offset.is_multiple_of(4) {
            return Err(RegisterError::Misaligned { offset });
        }
        let aperture = Aperture::of(offset, target.level);
        let takes = |aperture: &Aperture| Reader::Ring(target).takes(layout_of(*aperture));
        let aperture = aperture.filter(takes).ok_or(RegisterError::OutOfReach { offset, target })?;
        if self.shadow.as_mut().is_some_and(|shadow| !shadow.note(offset, value)) {
            return Ok(());
        }
        let goes_on = |&(first, at): &(u32, usize)| {
            let next = u64::from(first) + 4 * (self.values.len() - at) as u64;
            next == u64::from(offset) && Aperture::of(first, target.level) == Some(aperture)
        };
        if !self.runs.last().is_some_and(goes_on) {
            self.runs.push((offset, self.values.len()));
        }
        self.values.push(value);
        Ok(())
    }

    /// Returns the packets for the pending writes.
    pub fn packets(&self) -> impl Iterator<Item = SetRegisters<'_>> {
        self.runs.iter().enumerate().map(|(index, &(first, from))| {
            let to = self.runs.get(index + 1).map_or(self.values.len(), |next| next.1);
            SetRegisters::new(first, self.values.get(from..to).unwrap_or_default())
        })
    }

    /// Returns `true` if there are no pending writes.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Clears the pending writes once they are recorded. The shadow keeps their values.
    pub fn clear(&mut self) {
        self.runs.clear();
        self.values.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use amdgpu_registers::constants as r;

    fn encoded(register: Register, level: GfxLevel) -> Result<[u32; 3], EncodeError> {
        let mut out = [0; 3];
        SetRegister { register, value: 7 }.encode(Target::gfx(level), &mut out).map(|_| out)
    }

    #[test]
    fn registers_that_the_firmware_handles_have_an_index() {
        let place = |first: u32, start: u32| (first - start) / 4;
        let primitive = encoded(r::VGT_PRIMITIVE_TYPE, GfxLevel::Gfx10).unwrap();
        assert_eq!(primitive, [0xc001_7a00, place(0x3_0908, 0x3_0000) | 1 << 28, 7]);
        assert_eq!(encoded(r::VGT_PRIMITIVE_TYPE, GfxLevel::Gfx7).unwrap()[0], 0xc001_7900);
        assert_eq!(encoded(r::VGT_PRIMITIVE_TYPE, GfxLevel::Gfx6).unwrap()[0], 0xc001_6800);
        let units = encoded(r::SPI_SHADER_PGM_RSRC3_PS, GfxLevel::Gfx10).unwrap();
        assert_eq!(units, [0xc001_9b00, place(0xb01c, 0xb000) | 3 << 28, 7]);
        assert_eq!(encoded(r::SPI_SHADER_PGM_RSRC3_PS, GfxLevel::Gfx9).unwrap()[0], 0xc001_7600);
        assert_eq!(encoded(r::CB_TARGET_MASK, GfxLevel::Gfx12).unwrap()[0], 0xc001_6900);
    }

    #[test]
    fn a_register_of_another_generation_is_refused() {
        assert!(encoded(r::SPI_SHADER_PGM_LO_VS, GfxLevel::Gfx11).is_err());
        let draw = SetRegister { register: r::CB_TARGET_MASK, value: 0 };
        assert!(draw.encode(Target::compute(GfxLevel::Gfx9), &mut [0; 3]).is_err());
    }
}
