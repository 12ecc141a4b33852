//! Reading PM4: dwords to typed packets.

use super::header::{Describe, Flagged, HeaderFlags, MAX_PAYLOAD, measure, read, type3, write};
use super::nop::Skip;
use super::target::TYPE_2_FILLER;
use super::{
    AcquireMem, CopyData, CpDma, EndOfPipe, EventWrite, IndirectBuffer, Nop, PfpSyncMe, Target, WaitRegMem, WriteData,
    opcode,
};
use crate::field::FieldError;
use crate::{DecodeError, DecodeFault, EncodeError, Packet};
use amdgpu_hw::GfxLevel;

/// Declares [`Command`] and what it does with each kind of packet.
macro_rules! commands {
    ($($(#[$doc:meta])* $name:ident $(<$life:lifetime>)? = $($opcode:ident)|+,)+) => {
        /// A packet, understood as far as it can be.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Command<'ib> {
            /// Nothing.
            Nop(Nop<'ib>),
            $($(#[$doc])* $name($name $(<$life>)?),)+
            /// A packet that this library does not describe, or that this ring does not take, kept whole.
            Unknown {
                /// The opcode, which [`opcode::name`] may put a name to.
                opcode: u8,
                /// The dwords behind the header.
                body: &'ib [u32],
            },
        }

        $(impl<'ib> From<$name $(<$life>)?> for Command<'ib> {
            fn from(packet: $name $(<$life>)?) -> Self {
                Self::$name(packet)
            }
        })+

        impl<'ib> Command<'ib> {
            fn read(packet: &'ib [u32], target: Target, opcode: u8) -> Result<Self, DecodeFault> {
                let known = match opcode {
                    opcode::NOP => {
                        let skip = read::<Skip>(packet, target, opcode);
                        skip.map(|r| r.map(|skip| Self::Nop(Nop::Skip(skip.0))))
                    }
                    $($(opcode::$opcode)|+ => read::<$name>(packet, target, opcode).map(|r| r.map(Self::$name)),)+
                    _ => None,
                };
                known.unwrap_or(Ok(Self::Unknown { opcode, body: packet.get(1..).unwrap_or_default() }))
            }

            /// The packet's name; for an unknown one what AMD's headers call its opcode, or `unknown`.
            pub fn name(&self) -> &'static str {
                match self {
                    Self::Nop(_) => <Nop as Packet>::NAME,
                    $(Self::$name(_) => <$name as Describe>::NAME,)+
                    Self::Unknown { opcode, .. } => opcode::name(*opcode).unwrap_or("unknown"),
                }
            }

            fn measure(&self, target: Target, flags: HeaderFlags) -> Result<usize, EncodeError> {
                match *self {
                    Self::Nop(nop) => nop.measure(target, flags),
                    $(Self::$name(packet) => measure(packet, target, flags),)+
                    Self::Unknown { opcode, body } => measure(Raw { opcode, body }, target, flags),
                }
            }

            fn write(&self, target: Target, flags: HeaderFlags, out: &mut [u32]) -> Result<usize, EncodeError> {
                match *self {
                    Self::Nop(nop) => nop.write(target, flags, out),
                    $(Self::$name(packet) => write(packet, target, flags, out),)+
                    Self::Unknown { opcode, body } => write(Raw { opcode, body }, target, flags, out),
                }
            }
        }
    };
}

commands! {
    /// Dwords from the stream to memory or registers.
    WriteData<'ib> = WRITE_DATA,
    /// One dword or qword from here to there.
    CopyData = COPY_DATA,
    /// A copy or fill.
    CpDma = CP_DMA | DMA_DATA,
    /// Cache actions.
    AcquireMem = SURFACE_SYNC | ACQUIRE_MEM,
    /// A store at the end of the pipe.
    EndOfPipe = EVENT_WRITE_EOP | EVENT_WRITE_EOS | RELEASE_MEM,
    /// On to another IB.
    IndirectBuffer = INDIRECT_BUFFER,
    /// Wait for memory.
    WaitRegMem = WAIT_REG_MEM,
    /// PFP waits for ME.
    PfpSyncMe = PFP_SYNC_ME,
    /// A pipeline event.
    EventWrite = EVENT_WRITE,
}

/// A packet written back as it was found.
#[derive(Clone, Copy)]
struct Raw<'a> {
    opcode: u8,
    body: &'a [u32],
}

impl<'a> Describe<'a> for Raw<'a> {
    const NAME: &'static str = "unknown packet";
    const BLANK: Self = Self { opcode: opcode::NOP, body: &[] };

    fn opcode(self, _: Target) -> Option<u8> {
        Some(self.opcode)
    }

    fn describe<W: crate::field::Wire<'a>>(self, wire: &mut W, _: Target, opcode: u8) -> Result<Self, W::Error> {
        let body = wire.rest(self.body)?;
        if body.is_empty() { Err(FieldError::Empty { field: "payload" }.into()) } else { Ok(Self { opcode, body }) }
    }
}

impl Packet for Command<'_> {
    type Language = Target;
    const NAME: &'static str = "packet";

    fn len_dwords(&self, target: Target) -> Result<usize, EncodeError> {
        self.measure(target, HeaderFlags::empty())
    }

    fn encode(&self, target: Target, out: &mut [u32]) -> Result<usize, EncodeError> {
        self.write(target, HeaderFlags::empty(), out)
    }
}

impl Packet for Flagged<Command<'_>> {
    type Language = Target;
    const NAME: &'static str = "packet";

    fn len_dwords(&self, target: Target) -> Result<usize, EncodeError> {
        self.packet.measure(target, self.flags)
    }

    fn encode(&self, target: Target, out: &mut [u32]) -> Result<usize, EncodeError> {
        self.packet.write(target, self.flags, out)
    }
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
    /// The flags in the header.
    pub flags: HeaderFlags,
    /// The packet.
    pub command: Command<'ib>,
}

/// Reads the packet that starts at dword `offset` of `ib`; `None` at the end.
///
/// # Errors
///
/// * [`DecodeFault::HeaderType`]: the dword is no header of type 2 or 3.
/// * [`DecodeFault::PastTheEnd`]: the packet runs past the end of `ib`.
/// * [`DecodeFault::Field`]: the packet is known and something in it is wrong.
pub fn decode_at(ib: &[u32], offset: usize, target: Target) -> Option<Result<Decoded<'_>, DecodeError>> {
    let rest = ib.get(offset..)?;
    let header = *rest.first()?;
    let decoded = split(rest, header, target.level).and_then(|packet| {
        let (flags, command) = understand(packet, header, target)?;
        Ok(Decoded { offset, len: packet.len(), header, flags, command })
    });
    Some(decoded.map_err(|fault| DecodeError { offset, header, target: target.into(), fault }))
}

const fn count(header: u32) -> usize {
    (header >> 16) as usize & 0x3fff
}

const fn opcode_of(header: u32) -> u8 {
    (header >> 8) as u8
}

/// COUNT 0x3fff: a NOP without payload from GFX7 on, reserved for all else.
fn is_bare(header: u32, level: GfxLevel) -> bool {
    count(header) == MAX_PAYLOAD && opcode_of(header) == opcode::NOP && level >= GfxLevel::Gfx7
}

/// Cuts the packet off the rest of the IB.
fn split(rest: &[u32], header: u32, level: GfxLevel) -> Result<&[u32], DecodeFault> {
    let len = match header >> 30 {
        2 => 1,
        3 if is_bare(header, level) => 1,
        3 if count(header) == MAX_PAYLOAD => {
            let source = FieldError::Unknown { field: "count", value: MAX_PAYLOAD as u32 };
            return Err(DecodeFault::Field {
                packet: opcode::name(opcode_of(header)).unwrap_or("unknown packet"),
                source,
            });
        }
        3 => count(header) + 2,
        kind => return Err(DecodeFault::HeaderType { kind: kind as u8 }),
    };
    rest.get(..len).ok_or(DecodeFault::PastTheEnd { needed: len, left: rest.len() })
}

fn understand(packet: &[u32], header: u32, target: Target) -> Result<(HeaderFlags, Command<'_>), DecodeFault> {
    let plain = |value: u32, expected: u32, command| {
        let source = FieldError::Reserved { dword: 0, bits: value ^ expected };
        if value == expected {
            Ok((HeaderFlags::empty(), command))
        } else {
            Err(DecodeFault::Field { packet: "NOP", source })
        }
    };
    if header >> 30 == 2 {
        return plain(header, TYPE_2_FILLER, Command::Nop(Nop::Filler));
    }
    let opcode = opcode_of(header);
    if is_bare(header, target.level) {
        return plain(header, super::target::HEADER_ONLY_NOP, Command::Nop(Nop::Bare));
    }
    let flags = HeaderFlags::from_bits_truncate(header) & HeaderFlags::known(target.level);
    let bits = header ^ type3(opcode, packet.len() - 1, flags);
    if bits != 0 {
        let packet = opcode::name(opcode).unwrap_or("unknown packet");
        return Err(DecodeFault::Field { packet, source: FieldError::Reserved { dword: 0, bits } });
    }
    Ok((flags, Command::read(packet, target, opcode)?))
}

/// The packets of an IB, one after the other.
///
/// After a packet with a wrong field the walk goes on behind it, for its length is known; after any other error it
/// ends.
#[derive(Clone, Debug)]
pub struct Decoder<'ib> {
    ib: &'ib [u32],
    offset: usize,
    target: Target,
}

/// Reads the packets of `ib` as `target` would.
///
/// ```
/// use amdgpu_packets::pm4;
/// use amdgpu_hw::GfxLevel;
///
/// let ib = [0xc000_4600, 0x407, 0xffff_1000];
/// let mut packets = pm4::decode(&ib, pm4::Target::gfx(GfxLevel::Gfx9));
/// let flush = pm4::EventWrite::new(pm4::Event::CS_PARTIAL_FLUSH);
/// assert_eq!(packets.next().unwrap()?.command, flush.into());
/// assert_eq!(packets.next().unwrap()?.command, pm4::Command::Nop(pm4::Nop::Bare));
/// assert_eq!(packets.next(), None);
/// # Ok::<(), amdgpu_packets::DecodeError>(())
/// ```
pub const fn decode(ib: &[u32], target: Target) -> Decoder<'_> {
    Decoder { ib, offset: 0, target }
}

impl<'ib> Iterator for Decoder<'ib> {
    type Item = Result<Decoded<'ib>, DecodeError>;

    fn next(&mut self) -> Option<Self::Item> {
        let item = decode_at(self.ib, self.offset, self.target)?;
        self.offset = match &item {
            Ok(decoded) => decoded.offset + decoded.len,
            Err(DecodeError { fault: DecodeFault::Field { .. }, header, .. }) if header >> 30 == 2 => self.offset + 1,
            Err(DecodeError { fault: DecodeFault::Field { .. }, header, .. }) if count(*header) < MAX_PAYLOAD => {
                self.offset + count(*header) + 2
            }
            Err(_) => self.ib.len(),
        };
        Some(item)
    }
}

impl std::iter::FusedIterator for Decoder<'_> {}
