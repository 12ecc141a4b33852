//! Traits and errors shared by the packets of all languages.

use std::fmt;

use super::error::FieldError;
use super::{pm4, sdma};
use amdgpu_hw::GpuVa;
use amdgpu_hw::{GfxLevel, Ip};

/// A packet language as one ring of one chip speaks it.
///
/// A stream is generic over its language, so that a copy-engine packet in a graphics stream does not compile.
pub trait Language: Copy + Into<Target> {
    /// IBs are padded to a multiple of this many dwords.
    ///
    /// Source: Mesa 25.0.7 `src/amd/common/ac_gpu_info.c`, `ib_pad_dw_mask`.
    const PAD_DWORDS: usize;

    /// The length of the packet that goes on in another IB, in dwords; 0 where there is none.
    const CHAIN_DWORDS: usize;

    /// Fills `gap` with packets that do nothing, whatever its length.
    ///
    /// Source: Mesa 25.0.7 `src/amd/vulkan/winsys/amdgpu/radv_amdgpu_cs.c`, `radv_amdgpu_winsys_cs_pad`.
    fn fill(self, gap: &mut [u32]);

    /// Writes a jump to an IB of `dwords` dwords at `va` over the [`Self::CHAIN_DWORDS`] dwords of `tail`.
    ///
    /// # Errors
    ///
    /// Those of [`Packet::encode`]; [`EncodeError::NoSuchPacket`] where there is no such packet.
    fn chain(self, tail: &mut [u32], va: GpuVa, dwords: u32) -> Result<(), EncodeError>;

    /// Returns the dwords of filler that an IB of `used` dwords needs so that, with `reserve` more behind them (4 where a
    /// chain packet follows, else 0), it ends on a multiple of [`Self::PAD_DWORDS`].
    fn padding(self, used: usize, reserve: usize) -> usize {
        (Self::PAD_DWORDS - (used % Self::PAD_DWORDS + reserve % Self::PAD_DWORDS) % Self::PAD_DWORDS)
            % Self::PAD_DWORDS
    }
}

/// A typed packet.
///
/// Encoding neither allocates nor locks; it is generic, and inlines into the recorder.
pub trait Packet: Copy {
    /// The language the packet belongs to.
    type Language: Language;

    /// The packet's name in AMD's headers, such as `WRITE_DATA`; where one type stands for several, the newest.
    const NAME: &'static str;

    /// The packet's length with its header.
    ///
    /// # Errors
    ///
    /// Those of [`Packet::encode`], except for [`EncodeError::NoRoom`].
    fn len_dwords(&self, language: Self::Language) -> Result<usize, EncodeError>;

    /// Writes the packet to the start of `out` and returns its length in dwords. After an error what `out` holds is
    /// unspecified.
    ///
    /// # Errors
    ///
    /// * [`EncodeError::NoSuchPacket`]: this generation or ring has no such packet.
    /// * [`EncodeError::Field`]: a value does not fit, or this generation or ring lacks the variant.
    /// * [`EncodeError::NoRoom`]: `out` is too short.
    fn encode(&self, language: Self::Language, out: &mut [u32]) -> Result<usize, EncodeError>;

    /// Encodes without a reason for failures, and may fail where `out` has fewer than 16 dwords more than the packet's
    /// data. It is the hot path of recorders, which call `encode` when it returns `None`. It is inlined, so that constant
    /// fields cost nothing.
    #[inline]
    fn put(&self, language: Self::Language, out: &mut [u32]) -> Option<usize> {
        self.encode(language, out).ok()
    }
}

/// Hands a cold function a copy of a packet. Without it the compiler passes the address of the recorder's own packet, which
/// must then be put together in memory even where the function is not called.
#[inline]
#[doc(hidden)]
pub fn own<P>(packet: &mut P) {
    std::hint::black_box(packet);
}

/// Target of packets: a language, a generation and a ring, for error messages and where the language is only known at run
/// time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// A graphics or compute ring.
    Pm4(pm4::Target),
    /// A copy engine.
    Sdma(sdma::Version),
}

impl Target {
    /// Returns the target of the rings of `ip` on chips of `level`; `None` for the video blocks. GFX8 is taken to have SDMA
    /// 3.0, see [`sdma::Version::of`].
    pub const fn new(level: GfxLevel, ip: Ip) -> Option<Self> {
        match ip {
            Ip::Gfx => Some(Self::Pm4(pm4::Target::gfx(level))),
            Ip::Compute => Some(Self::Pm4(pm4::Target::compute(level))),
            Ip::Sdma => Some(Self::Sdma(sdma::Version::of(level))),
            _ => None,
        }
    }

    /// Returns [`Language::PAD_DWORDS`] of the language.
    pub const fn pad_dwords(self) -> usize {
        match self {
            Self::Pm4(_) => pm4::Target::PAD_DWORDS,
            Self::Sdma(_) => sdma::Version::PAD_DWORDS,
        }
    }

    /// Returns [`Language::padding`] of the language.
    pub fn padding(self, used: usize, reserve: usize) -> usize {
        match self {
            Self::Pm4(target) => target.padding(used, reserve),
            Self::Sdma(version) => version.padding(used, reserve),
        }
    }

    /// Calls [`Language::fill`] of the language.
    pub fn fill(self, gap: &mut [u32]) {
        match self {
            Self::Pm4(target) => target.fill(gap),
            Self::Sdma(version) => version.fill(gap),
        }
    }
}

impl From<pm4::Target> for Target {
    fn from(target: pm4::Target) -> Self {
        Self::Pm4(target)
    }
}

impl From<sdma::Version> for Target {
    fn from(version: sdma::Version) -> Self {
        Self::Sdma(version)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pm4(target) => target.fmt(f),
            Self::Sdma(version) => version.fmt(f),
        }
    }
}

/// The reason why a packet was not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// This generation or ring has no such packet.
    #[error("{packet} does not exist on {target}")]
    NoSuchPacket {
        /// The packet's name.
        packet: &'static str,
        /// The packet's target.
        target: Target,
    },
    /// A value does not fit, or this generation or ring lacks the variant.
    #[error("{packet} on {target}: {source}")]
    Field {
        /// The packet's name.
        packet: &'static str,
        /// The packet's target.
        target: Target,
        /// The value that does not fit.
        source: FieldError,
    },
    /// The space handed over is too short.
    #[error("{packet} needs {needed} dwords, {left} are left")]
    NoRoom {
        /// The packet's name.
        packet: &'static str,
        /// The packet's length in dwords.
        needed: usize,
        /// The length of the space in dwords.
        left: usize,
    },
}

/// The reason why dwords are not a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("dword {offset} ({header:#010x}) for {target}: {fault}")]
pub struct DecodeError {
    /// Start of the packet, in dwords from the start of the IB.
    pub offset: usize,
    /// The dword found there.
    pub header: u32,
    /// The packet's target.
    pub target: Target,
    /// The fault.
    pub fault: DecodeFault,
}

/// Fault of a packet's dwords.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeFault {
    /// The packet runs past the end of the IB; hardware would go on fetching whatever lies behind it.
    #[error("the packet takes {needed} dwords and the IB ends after {left}")]
    PastTheEnd {
        /// The packet's length in dwords, at least.
        needed: usize,
        /// Number of dwords left in the IB from the header on.
        left: usize,
    },
    /// A PM4 header of type 0 (register write) or 1 (reserved), which no driver puts into an IB.
    #[error("a type-{kind} header has no place in an IB")]
    HeaderType {
        /// The type, 0 or 1.
        kind: u8,
    },
    /// The ring takes no packet with this opcode.
    #[error("opcode {opcode:#04x} is not known here")]
    UnknownOpcode {
        /// The opcode; for the copy engine with the sub-opcode in bits 15:8.
        opcode: u16,
    },
    /// The packet is known, but a field is wrong, or its length.
    #[error("{packet}: {source}")]
    Field {
        /// The packet's name.
        packet: &'static str,
        /// The value at fault.
        source: FieldError,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_ends_on_a_multiple_with_the_reserve_behind_it() {
        for ip in [Ip::Gfx, Ip::Compute, Ip::Sdma] {
            let target = Target::new(GfxLevel::Gfx9, ip).unwrap();
            for (used, reserve) in (1..40).flat_map(|used| [0, 4].map(|reserve| (used, reserve))) {
                let n = target.padding(used, reserve);
                assert!(n < target.pad_dwords(), "{target} {used}");
                assert_eq!((used + n + reserve) % target.pad_dwords(), 0, "{target} {used}");
            }
        }
    }

    #[test]
    fn video_blocks_speak_neither_language() {
        assert_eq!(Target::new(GfxLevel::Gfx9, Ip::VcnDec), None);
    }

    #[test]
    fn an_error_names_packet_generation_and_ring() {
        let target = Target::Pm4(pm4::Target::compute(GfxLevel::Gfx10_3));
        let error = EncodeError::NoSuchPacket { packet: "PFP_SYNC_ME", target };
        assert_eq!(error.to_string(), "PFP_SYNC_ME does not exist on the GFX10_3 compute ring");
    }
}
