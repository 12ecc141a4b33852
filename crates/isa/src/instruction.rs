//! Decoded instructions.

use amdgpu_hw::GfxLevel;

use crate::{
    Field, Format, Op, Opcode,
    table::{FormatLayout, table},
};

/// The number of lanes of a wave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WaveSize {
    /// 32 lanes; GFX10 and later.
    Wave32,
    /// 64 lanes; all generations.
    Wave64,
}

impl WaveSize {
    /// Returns the number of lanes.
    pub const fn lanes(self) -> u32 {
        match self {
            Self::Wave32 => 32,
            Self::Wave64 => 64,
        }
    }

    /// Returns the number of dwords of a lane mask in SGPRs.
    pub const fn mask_dwords(self) -> u8 {
        match self {
            Self::Wave32 => 1,
            Self::Wave64 => 2,
        }
    }
}

/// The extra dword of a vector instruction, which selects lanes or parts of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extension {
    /// The kind of extra dword: `Sdwa`, `Sdwab`, `Dpp`, `Dpp16` or `Dpp8`.
    pub format: Format,
    /// The value of the extra dword.
    pub dword: u32,
}

/// A decoded instruction: its operation, and the dwords of its encoding.
#[derive(Clone, Copy, Debug)]
pub struct Instruction {
    pub(crate) level: GfxLevel,
    pub(crate) wave: WaveSize,
    pub(crate) layout: &'static FormatLayout,
    pub(crate) opcode: &'static Opcode,
    /// The second operation of a dual-issue instruction.
    pub(crate) second: Option<&'static Opcode>,
    /// Up to three dwords of the format, followed by NSA addresses, and the extra dword or literal.
    pub(crate) words: [u32; Self::MAX_DWORDS],
    pub(crate) len: u8,
    pub(crate) extension: Option<Extension>,
    pub(crate) literal: Option<u32>,
}

impl Instruction {
    /// The maximum number of dwords of an instruction: MIMG of GFX10 with three dwords of addresses.
    pub const MAX_DWORDS: usize = 5;

    /// Returns the generation for which the instruction was decoded.
    #[inline]
    pub const fn level(&self) -> GfxLevel {
        self.level
    }

    /// Returns the wave size for which the instruction was decoded.
    #[inline]
    pub const fn wave(&self) -> WaveSize {
        self.wave
    }

    /// Returns the operation; for a dual-issue instruction the first operation.
    #[inline]
    pub const fn opcode(&self) -> &'static Opcode {
        self.opcode
    }

    /// Returns the second operation of a dual-issue instruction (VOPD); `None` for other instructions.
    pub const fn second_opcode(&self) -> Option<&'static Opcode> {
        self.second
    }

    /// Returns the format of the instruction, without extra dwords.
    #[inline]
    pub const fn format(&self) -> Format {
        self.layout.format
    }

    /// Returns the operation without its encoding; for a dual-issue instruction the first one.
    ///
    /// ```
    /// use amdgpu_hw::GfxLevel;
    /// use amdgpu_isa::{Op, WaveSize, decode};
    ///
    /// let add = decode(GfxLevel::Gfx9, WaveSize::Wave64, &[0x020a_290a])?;
    /// assert_eq!(add.op(), Op::VAddF32);
    /// # Ok::<_, amdgpu_isa::DecodeError>(())
    /// ```
    #[inline]
    pub const fn op(&self) -> Op {
        self.opcode.op
    }

    /// Returns the name of the operation, without the suffix of its format.
    pub const fn name(&self) -> &'static str {
        self.opcode.op.name()
    }

    /// Returns all dwords of the instruction.
    #[inline]
    pub fn dwords(&self) -> &[u32] {
        &self.words[..usize::from(self.len)]
    }

    /// Returns the extra dword of SDWA or DPP, if the instruction has one.
    #[inline]
    pub const fn extension(&self) -> Option<Extension> {
        self.extension
    }

    /// Returns the literal, if the instruction has one.
    #[inline]
    pub const fn literal(&self) -> Option<u32> {
        self.literal
    }

    /// Returns the value of a field; 0 if the format does not have the field.
    #[inline]
    pub fn field(&self, field: Field) -> u32 {
        // Dwords behind the last one are 0.
        self.layout.field(field).map_or(0, |layout| layout.get(&self.words))
    }

    /// Returns `true` if the format has the field.
    #[inline]
    pub fn has_field(&self, field: Field) -> bool {
        self.layout.field(field).is_some()
    }

    /// Returns the value of a field of the extra dword; 0 if there is no extra dword or it does not have the field.
    #[inline]
    pub fn extension_field(&self, field: Field) -> u32 {
        self.extension.map_or(0, |extension| {
            let layout = table(self.level).format(extension.format).and_then(|format| format.field(field));
            layout.map_or(0, |layout| layout.get(&[extension.dword]))
        })
    }
}
