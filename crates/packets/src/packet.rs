//! Traits and errors of the packets of all languages.

use std::fmt;

use super::error::FieldError;
use super::{pm4, sdma};
use amdgpu_hw::GpuVa;
use amdgpu_hw::{GfxLevel, Ip};

/// The packet language of a ring: the packets that a ring of a generation accepts.
///
/// Streams are generic over the language, so that recording a copy-engine packet in a graphics stream does not compile.
pub trait Language: Copy + Into<Target> {
    /// The unit of IB lengths in dwords: IBs are padded to a multiple of it.
    ///
    /// Source: Mesa 25.0.7 `src/amd/common/ac_gpu_info.c`, `ib_pad_dw_mask`.
    const PAD_DWORDS: usize;

    /// The length in dwords of the packet that chains to another IB; 0 if the language has none.
    const CHAIN_DWORDS: usize;

    /// Fills `gap`, of any length, with NOP packets.
    ///
    /// Source: Mesa 25.0.7 `src/amd/vulkan/winsys/amdgpu/radv_amdgpu_cs.c`, `radv_amdgpu_winsys_cs_pad`.
    fn fill(self, gap: &mut [u32]);

    /// Writes a jump to an IB of `dwords` dwords at `va` over the last [`Self::CHAIN_DWORDS`] dwords of a stream, `tail`.
    ///
    /// # Errors
    ///
    /// The errors of [`Packet::encode`]; [`EncodeError::NoSuchPacket`] if the language has no such packet.
    fn chain(self, tail: &mut [u32], va: GpuVa, dwords: u32) -> Result<(), EncodeError>;

    /// Returns the number of padding dwords for an IB of `used` dwords. With the padding and `reserve` more dwords (4 if a chain
    /// packet follows, otherwise 0), the length of the IB is a multiple of [`Self::PAD_DWORDS`].
    fn padding(self, used: usize, reserve: usize) -> usize {
        (Self::PAD_DWORDS - (used % Self::PAD_DWORDS + reserve % Self::PAD_DWORDS) % Self::PAD_DWORDS)
            % Self::PAD_DWORDS
    }
}

/// A typed packet.
///
/// Encoding does not allocate or lock. It is generic, and is inlined into the recorder.
pub trait Packet: Copy {
    /// The language that the packet belongs to.
    type Language: Language;

    /// The packet's name in AMD's headers, such as `WRITE_DATA`. If the type covers several packets, the newest name.
    const NAME: &'static str;

    /// Returns the length of the packet in dwords, including the header.
    ///
    /// # Errors
    ///
    /// The errors of [`Packet::encode`], except [`EncodeError::NoRoom`].
    fn len_dwords(&self, language: Self::Language) -> Result<usize, EncodeError>;

    /// Writes the packet to the start of `out` and returns its length in dwords. After an error the contents of `out` are
    /// unspecified.
    ///
    /// # Errors
    ///
    /// * [`EncodeError::NoSuchPacket`] if this generation or ring does not have the packet.
    /// * [`EncodeError::Field`] if a value does not fit, or this generation or ring does not have the variant.
    /// * [`EncodeError::NoRoom`] if `out` is too short.
    fn encode(&self, language: Self::Language, out: &mut [u32]) -> Result<usize, EncodeError>;

    /// Writes the packet like [`encode`](Self::encode), but returns `None` without a reason if that fails; it may also fail if
    /// `out` has less than 16 dwords more than the packet's data. This is the hot path of recorders, which call `encode` after a
    /// failure. It is inlined, so that constant fields cost nothing.
    #[inline]
    fn put(&self, language: Self::Language, out: &mut [u32]) -> Option<usize> {
        self.encode(language, out).ok()
    }
}

/// Passes a copy of a packet to a cold function. Otherwise the compiler passes the address of the recorder's own packet, which must
/// then be assembled in memory even if the function is not called.
#[inline]
#[doc(hidden)]
pub fn own<P>(packet: &mut P) {
    std::hint::black_box(packet);
}

/// A target of packets: language, generation and ring. For error messages, and for code that knows the language only at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// A graphics or compute ring.
    Pm4(pm4::Target),
    /// A copy engine.
    Sdma(sdma::Version),
}

impl Target {
    /// Returns the target for the rings of `ip` on chips of `level`; `None` for video engines. GFX8 is assumed to have SDMA 3.0,
    /// see [`sdma::Version::of`].
    pub const fn new(level: GfxLevel, ip: Ip) -> Option<Self> {
        match ip {
            Ip::Gfx => Some(Self::Pm4(pm4::Target::gfx(level))),
            Ip::Compute => Some(Self::Pm4(pm4::Target::compute(level))),
            Ip::Sdma => Some(Self::Sdma(sdma::Version::of(level))),
            _ => None,
        }
    }

    /// Returns the unit of IB lengths in dwords, see [`Language::PAD_DWORDS`].
    pub const fn pad_dwords(self) -> usize {
        match self {
            Self::Pm4(_) => pm4::Target::PAD_DWORDS,
            Self::Sdma(_) => sdma::Version::PAD_DWORDS,
        }
    }

    /// Returns the number of padding dwords for an IB of `used` dwords, see [`Language::padding`].
    pub fn padding(self, used: usize, reserve: usize) -> usize {
        match self {
            Self::Pm4(target) => target.padding(used, reserve),
            Self::Sdma(version) => version.padding(used, reserve),
        }
    }

    /// Fills `gap`, of any length, with NOP packets of the target's language, see [`Language::fill`].
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

/// An error of writing a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// This generation or ring does not have the packet.
    #[error("{packet} does not exist on {target}")]
    NoSuchPacket {
        /// The name of the packet.
        packet: &'static str,
        /// The target of the packet.
        target: Target,
    },
    /// A value does not fit, or this generation or ring does not have the variant.
    #[error("{packet} on {target}: {source}")]
    Field {
        /// The name of the packet.
        packet: &'static str,
        /// The target of the packet.
        target: Target,
        /// The error of the value.
        source: FieldError,
    },
    /// The output buffer is too short.
    #[error("{packet} needs {needed} dwords, {left} are left")]
    NoRoom {
        /// The name of the packet.
        packet: &'static str,
        /// The length of the packet in dwords.
        needed: usize,
        /// The length of the buffer in dwords.
        left: usize,
    },
}

/// An error of reading a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("dword {offset} ({header:#010x}) for {target}: {fault}")]
pub struct DecodeError {
    /// The offset of the packet in the IB, in dwords.
    pub offset: usize,
    /// The dword at that offset.
    pub header: u32,
    /// The target of the packet.
    pub target: Target,
    /// The reason why the dwords are not a valid packet.
    pub fault: DecodeFault,
}

/// The reason why dwords are not a valid packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeFault {
    /// The packet extends beyond the end of the IB. Hardware would continue to fetch whatever follows.
    #[error("the packet takes {needed} dwords and the IB ends after {left}")]
    PastTheEnd {
        /// The minimum length of the packet in dwords.
        needed: usize,
        /// The number of dwords left in the IB, including the header.
        left: usize,
    },
    /// A PM4 header of type 0 (register write) or 1 (reserved), which drivers do not write to IBs.
    #[error("a type-{kind} header has no place in an IB")]
    HeaderType {
        /// The type: 0 or 1.
        kind: u8,
    },
    /// The ring does not accept packets with this opcode.
    #[error("opcode {opcode:#04x} is not known here")]
    UnknownOpcode {
        /// The opcode; for copy engines with the sub-opcode in bits 15:8.
        opcode: u16,
    },
    /// A field or the length of a known packet is invalid.
    #[error("{packet}: {source}")]
    Field {
        /// The name of the packet.
        packet: &'static str,
        /// The error of the value.
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
