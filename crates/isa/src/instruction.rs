//! A decoded instruction.

use amdgpu_hw::GfxLevel;

use crate::{
    Field, Format, Opcode,
    table::{FormatLayout, table},
};

/// The number of lanes of a wave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WaveSize {
    /// 32 lanes; GFX10 and later.
    Wave32,
    /// 64 lanes.
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

    /// Returns the dwords of a lane mask in SGPRs.
    pub const fn mask_dwords(self) -> u8 {
        match self {
            Self::Wave32 => 1,
            Self::Wave64 => 2,
        }
    }
}

/// The extra dword of a vector instruction that selects lanes or parts of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extension {
    /// `Sdwa`, `Sdwab`, `Dpp`, `Dpp16` or `Dpp8`.
    pub format: Format,
    /// The dword.
    pub dword: u32,
}

/// One decoded instruction: its operation and the dwords it is encoded in.
#[derive(Clone, Copy, Debug)]
pub struct Instruction {
    pub(crate) level: GfxLevel,
    pub(crate) wave: WaveSize,
    pub(crate) layout: &'static FormatLayout,
    pub(crate) opcode: &'static Opcode,
    /// The second operation of a dual-issue instruction.
    pub(crate) second: Option<&'static Opcode>,
    /// Up to three dwords of the format, then NSA addresses, extra dword or literal.
    pub(crate) words: [u32; Self::MAX_DWORDS],
    pub(crate) len: u8,
    pub(crate) extension: Option<Extension>,
    pub(crate) literal: Option<u32>,
}

impl Instruction {
    /// The most dwords that an instruction has: MIMG of GFX10 with three dwords of addresses.
    pub const MAX_DWORDS: usize = 5;

    /// Returns the generation it was decoded for.
    pub const fn level(&self) -> GfxLevel {
        self.level
    }

    /// Returns the wave size it was decoded for.
    pub const fn wave(&self) -> WaveSize {
        self.wave
    }

    /// Returns the operation; of a dual-issue instruction the first.
    pub const fn opcode(&self) -> &'static Opcode {
        self.opcode
    }

    /// Returns the second operation of a dual-issue instruction (VOPD).
    pub const fn second_opcode(&self) -> Option<&'static Opcode> {
        self.second
    }

    /// Returns the format, without extra dwords.
    pub const fn format(&self) -> Format {
        self.layout.format
    }

    /// Returns the operation's name, without the suffix of its format.
    pub const fn name(&self) -> &'static str {
        self.opcode.name
    }

    /// Returns all dwords.
    pub fn dwords(&self) -> &[u32] {
        &self.words[..usize::from(self.len)]
    }

    /// Returns the extra dword of SDWA or DPP.
    pub const fn extension(&self) -> Option<Extension> {
        self.extension
    }

    /// Returns the literal.
    pub const fn literal(&self) -> Option<u32> {
        self.literal
    }

    /// Returns the value of a field; 0 where the format lacks it.
    pub fn field(&self, field: Field) -> u32 {
        self.layout.field(field).map_or(0, |layout| layout.get(self.dwords()))
    }

    /// Returns `true` if the format has the field.
    pub fn has_field(&self, field: Field) -> bool {
        self.layout.field(field).is_some()
    }

    /// Returns the value of a field of the extra dword; 0 without one, or where it lacks the field.
    pub fn extension_field(&self, field: Field) -> u32 {
        self.extension
            .and_then(|extension| {
                let layout = table(self.level).format(extension.format)?.field(field)?;
                Some(layout.get(&[extension.dword]))
            })
            .unwrap_or(0)
    }
}
