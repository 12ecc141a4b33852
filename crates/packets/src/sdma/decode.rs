//! Reading copy-engine packets: dwords to typed packets.

use super::wire::{Describe, measure, read, write};
use super::{ConstFill, CopyLinear, Fence, Nop, PollMem, Timestamp, Version, WriteLinear};
use crate::{DecodeError, DecodeFault, EncodeError, Packet};

/// Declares [`Command`] and what it does with each kind of packet. The numbers are
/// op / sub_op, and op on 1.0.
macro_rules! commands {
    ($($(#[$doc:meta])* $name:ident $(<$life:lifetime>)? = $op:literal / $sub_op:literal, $old:literal,)+) => {
        /// A packet, understood as far as it can be.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Command<'ib> {
            $($(#[$doc])* $name($name $(<$life>)?),)+
            /// A packet that this library does not describe, or that this version does not have. Its length is unknown,
            /// so everything up to the end of the IB is kept with it.
            Unknown {
                /// The opcode.
                op: u8,
                /// The sub-opcode; 0 on 1.0.
                sub_op: u8,
                /// The dwords from the header to the end of the IB.
                rest: &'ib [u32],
            },
        }

        $(impl<'ib> From<$name $(<$life>)?> for Command<'ib> {
            fn from(packet: $name $(<$life>)?) -> Self {
                Self::$name(packet)
            }
        })+

        impl<'ib> Command<'ib> {
            fn read(rest: &'ib [u32], version: Version, op: u8, sub_op: u8) -> Result<(Self, usize), DecodeFault> {
                let known = match (version == Version::V1_0, op, sub_op) {
                    $((false, $op, $sub_op) | (true, $old, _) => {
                        read::<$name>(rest, version).map(|r| r.map(|(packet, len)| (Self::$name(packet), len)))
                    })+
                    _ => None,
                };
                known.unwrap_or(Ok((Self::Unknown { op, sub_op, rest }, rest.len())))
            }

            /// The packet's name.
            pub const fn name(&self) -> &'static str {
                match self {
                    $(Self::$name(_) => <$name as Describe>::NAME,)+
                    Self::Unknown { .. } => "unknown",
                }
            }
        }

        impl Packet for Command<'_> {
            type Language = Version;
            const NAME: &'static str = "packet";

            fn len_dwords(&self, version: Version) -> Result<usize, EncodeError> {
                match *self {
                    $(Self::$name(packet) => measure(packet, version),)+
                    Self::Unknown { rest, .. } => Ok(rest.len()),
                }
            }

            fn encode(&self, version: Version, out: &mut [u32]) -> Result<usize, EncodeError> {
                match *self {
                    $(Self::$name(packet) => write(packet, version, out),)+
                    Self::Unknown { rest, .. } => {
                        let left = out.len();
                        let no_room = EncodeError::NoRoom { packet: Self::NAME, needed: rest.len(), left };
                        out.get_mut(..rest.len()).ok_or(no_room)?.copy_from_slice(rest);
                        Ok(rest.len())
                    }
                }
            }
        }
    };
}

commands! {
    /// Nothing, but not before earlier copies are done.
    Nop<'ib> = 0 / 0, 15,
    /// Bytes from here to there.
    CopyLinear = 1 / 0, 3,
    /// Dwords from the stream to memory.
    WriteLinear<'ib> = 2 / 0, 2,
    /// A store when earlier work is done.
    Fence = 5 / 0, 6,
    /// Wait for memory.
    PollMem = 8 / 0, 14,
    /// One pattern, many times.
    ConstFill = 11 / 0, 13,
    /// Store a counter.
    Timestamp = 13 / 2, 16,
}

/// A packet and where it was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decoded<'ib> {
    /// Where the packet starts, in dwords from the start of the IB.
    pub offset: usize,
    /// Its length with the header, in dwords.
    pub len: usize,
    /// The header.
    pub header: u32,
    /// The packet.
    pub command: Command<'ib>,
}

/// Reads the packet that starts at dword `offset` of `ib`; `None` at the end.
///
/// # Errors
///
/// * [`DecodeFault::PastTheEnd`]: the packet runs past the end of `ib`.
/// * [`DecodeFault::Field`]: the packet is known and something in it is wrong.
pub fn decode_at(ib: &[u32], offset: usize, version: Version) -> Option<Result<Decoded<'_>, DecodeError>> {
    let rest = ib.get(offset..)?;
    let header = *rest.first()?;
    let (op, sub_op) = match version {
        Version::V1_0 => ((header >> 28) as u8, 0),
        _ => (header as u8, (header >> 8) as u8),
    };
    let decoded = Command::read(rest, version, op, sub_op);
    Some(match decoded {
        Ok((command, len)) => Ok(Decoded { offset, len, header, command }),
        Err(fault) => Err(DecodeError { offset, header, target: version.into(), fault }),
    })
}

/// The packets of an IB, one after the other. An unknown packet or an error is the last, for where the next one starts
/// is then unknown.
#[derive(Clone, Debug)]
pub struct Decoder<'ib> {
    ib: &'ib [u32],
    offset: usize,
    version: Version,
}

/// Reads the packets of `ib` as an engine of this version would.
///
/// ```
/// use amdgpu_packets::sdma;
///
/// let ib = [0, 0x20d, 0x1000, 0x80];
/// let mut packets = sdma::decode(&ib, sdma::Version::V5_2);
/// assert_eq!(packets.next().unwrap()?.command, sdma::Nop::default().into());
/// assert_eq!(packets.next().unwrap()?.command.name(), "TIMESTAMP");
/// # Ok::<(), amdgpu_packets::DecodeError>(())
/// ```
pub const fn decode(ib: &[u32], version: Version) -> Decoder<'_> {
    Decoder { ib, offset: 0, version }
}

impl<'ib> Iterator for Decoder<'ib> {
    type Item = Result<Decoded<'ib>, DecodeError>;

    fn next(&mut self) -> Option<Self::Item> {
        let item = decode_at(self.ib, self.offset, self.version)?;
        self.offset = match &item {
            Ok(decoded) => decoded.offset + decoded.len,
            Err(_) => self.ib.len(),
        };
        Some(item)
    }
}

impl std::iter::FusedIterator for Decoder<'_> {}
