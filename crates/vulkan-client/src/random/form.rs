//! Forms of subgroup operations.

use rspirv::spirv::Capability;

/// Form of a shader's subgroup operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Subgroups {
    /// Instructions, on subgroups of this size.
    Native(u32),
    /// Shared memory, in place of subgroups of this size.
    Emulated(u32),
}

impl Subgroups {
    /// Returns the lanes of a subgroup.
    pub(super) const fn size(self) -> u32 {
        match self {
            Self::Native(size) | Self::Emulated(size) => size,
        }
    }

    /// Returns the capabilities that the instructions need.
    pub(super) const fn capabilities(self) -> &'static [Capability] {
        match self {
            Self::Emulated(_) => &[],
            Self::Native(_) => &[
                Capability::GroupNonUniform,
                Capability::GroupNonUniformVote,
                Capability::GroupNonUniformArithmetic,
                Capability::GroupNonUniformBallot,
                Capability::GroupNonUniformShuffle,
                Capability::GroupNonUniformShuffleRelative,
                Capability::GroupNonUniformClustered,
                Capability::GroupNonUniformQuad,
            ],
        }
    }
}
