//! Decoding of copy-engine packets: from dwords to typed packets.

use super::sink::{Sink, Typed};
use super::{ConstFill, CopyLinear, Fence, FillSize, Nop, PollMem, Timestamp, Version, WriteLinear};
use crate::layout::record::Place;
use crate::layout::records::sdma::Packet as Record;
use crate::layout::{Fields, Listed, Packets, Reader, copy_opcode};
use crate::{DecodeError, DecodeFault, EncodeError, FieldError, Packet};

/// Declares [`Command`] and its functions for each kind of packet.
macro_rules! commands {
    ($($(#[$doc:meta])* $name:ident $(<$life:lifetime>)?,)+) => {
        /// A decoded packet.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Command<'ib> {
            $($(#[$doc])* $name($name $(<$life>)?),)+
            /// A packet without a type, or one that this version does not have.
            Unknown {
                /// The opcode.
                op: u8,
                /// The sub-opcode; 0 on 1.0.
                sub_op: u8,
                /// The packet, including its header; if its length is unknown, all dwords up to the end of the IB.
                rest: &'ib [u32],
            },
        }

        $(impl<'ib> From<$name $(<$life>)?> for Command<'ib> {
            fn from(packet: $name $(<$life>)?) -> Self {
                Self::$name(packet)
            }
        })+

        impl Command<'_> {
            /// Returns the name of the packet.
            pub const fn name(&self) -> &'static str {
                match self {
                    $(Self::$name(_) => <$name as Typed>::NAME,)+
                    Self::Unknown { .. } => "unknown",
                }
            }

            fn write(&self, version: Version, place: Place<'_>) -> Result<usize, EncodeError> {
                match *self {
                    $(Self::$name(packet) => packet.write(Sink::at(<$name as Typed>::NAME, version, place)),)+
                    Self::Unknown { rest, .. } => {
                        if let Place::Memory(out) = place {
                            let (needed, left) = (rest.len(), out.len());
                            let no_room = EncodeError::NoRoom { packet: <Self as Packet>::NAME, needed, left };
                            out.get_mut(..needed).ok_or(no_room)?.copy_from_slice(rest);
                        }
                        Ok(rest.len())
                    }
                }
            }
        }
    };
}

commands! {
    /// Does nothing, after earlier copies are done.
    Nop<'ib>,
    /// Copies bytes.
    CopyLinear,
    /// Writes dwords from the stream to memory.
    WriteLinear<'ib>,
    /// Stores a value when earlier work is done.
    Fence,
    /// Waits until memory has a value.
    PollMem,
    /// Fills memory with a pattern.
    ConstFill,
    /// Stores a clock counter.
    Timestamp,
}

impl Packet for Command<'_> {
    type Language = Version;
    const NAME: &'static str = "packet";

    fn len_dwords(&self, version: Version) -> Result<usize, EncodeError> {
        self.write(version, Place::Nowhere)
    }

    fn encode(&self, version: Version, out: &mut [u32]) -> Result<usize, EncodeError> {
        self.write(version, Place::Memory(out))
    }
}

/// A decoded packet with its location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decoded<'ib> {
    /// The offset of the packet in the IB, in dwords.
    pub offset: usize,
    /// The length of the packet in dwords, including the header.
    pub len: usize,
    /// The first dword of the packet: its header.
    pub header: u32,
    /// The decoded packet.
    pub command: Command<'ib>,
}

/// Decodes the packet at dword `offset` of `ib`; `None` at the end of the IB.
///
/// # Errors
///
/// * [`DecodeFault::PastTheEnd`] if the packet extends beyond the end of `ib`.
/// * [`DecodeFault::Field`] if the packet is known, but a field or its length is invalid.
pub fn decode_at(ib: &[u32], offset: usize, version: Version) -> Option<Result<Decoded<'_>, DecodeError>> {
    Packets::new(ib, offset, Reader::Copy(version)).next().map(|listed| decoded(&listed, version))
}

/// Returns `true` if packets with this opcode have a type. Bits 15:8 are the sub-opcode.
fn is_typed(opcode: u16, version: Version) -> bool {
    use crate::layout::{Layout, dma, sdma};
    const OLD: [&Layout; 6] =
        [&dma::NOP, &dma::COPY_LINEAR, &dma::WRITE, &dma::FENCE, &dma::POLL_REG_MEM, &dma::CONST_FILL];
    const NEW: [&Layout; 7] = [
        &sdma::NOP,
        &sdma::COPY_LINEAR,
        &sdma::WRITE_LINEAR,
        &sdma::FENCE,
        &sdma::POLL_REGMEM,
        &sdma::CONST_FILL,
        &sdma::TIMESTAMP_GET_GLOBAL,
    ];
    let typed = if version == Version::V1_0 { OLD.as_slice() } else { &NEW };
    typed.iter().any(|layout| layout.opcode() == opcode)
}

/// Returns the typed packet for a packet that the tables describe.
fn decoded<'ib>(listed: &Listed<'ib>, version: Version) -> Result<Decoded<'ib>, DecodeError> {
    let Listed { offset, dwords, .. } = *listed;
    let header = dwords.first().copied().unwrap_or_default();
    let (opcode, _) = copy_opcode(header, version);
    let [op, sub_op] = opcode.to_le_bytes();
    let unknown = Command::Unknown { op, sub_op, rest: dwords };
    let command = match listed.content {
        Ok(Some(fields)) => typed(&fields, version)
            .map_err(|source| {
                let fault = DecodeFault::Field { packet: fields.name(), source };
                DecodeError { offset, header, target: version.into(), fault }
            })?
            .unwrap_or(unknown),
        Err(error) if is_typed(opcode, version) => return Err(error),
        Ok(None) | Err(_) => unknown,
    };
    Ok(Decoded { offset, len: dwords.len(), header, command })
}

/// Returns the typed packet; `None` if the packet has no type.
fn typed<'ib>(fields: &Fields<'ib>, version: Version) -> Result<Option<Command<'ib>>, FieldError> {
    let Some(record) = Record::read(fields) else { return Ok(None) };
    let command: Command<'ib> = match record {
        Record::Nop(nop) => Nop { skipped: nop.data }.into(),
        Record::CopyLinear(record) => CopyLinear::read(&record, version)?.into(),
        Record::WriteLinear(record) => WriteLinear::read(record.dst_addr, record.data)?.into(),
        Record::Write(record) => WriteLinear::read(record.dst_addr, record.data)?.into(),
        Record::Fence(record) => Fence::read(&record)?.into(),
        Record::PollRegmem(record) => PollMem::read(&record)?.into(),
        Record::PollRegMem(record) => PollMem::read_poll_reg_mem(&record)?.into(),
        Record::ConstFill(record) => ConstFill::read(&record, version)?.into(),
        Record::TimestampGetGlobal(record) => Timestamp::read(&record)?.into(),
        _ => return Ok(None),
    };
    let read = fields.dwords();
    let filled;
    let read = match (command, read) {
        // The two low bits of the count are ignored in units of dwords.
        (Command::ConstFill(ConstFill { size: FillSize::Dword, .. }), &[header, low, high, pattern, count]) => {
            filled = [header, low, high, pattern, count & !3 | (version.count_bias() * 3)];
            filled.as_slice()
        }
        _ => read,
    };
    command.write(version, Place::Read(read)).map_err(|error| match error {
        EncodeError::Field { source, .. } => source,
        _ => FieldError::NoSuchForm { form: "this packet" },
    })?;
    Ok(Some(command))
}

/// An iterator over the packets of an IB. It ends after a packet that the tables do not know and after an error, because the start
/// of the next packet is then unknown.
#[derive(Clone, Debug)]
pub struct Decoder<'ib> {
    packets: Packets<'ib>,
    version: Version,
}

/// Decodes the packets of `ib` as an engine of this version would.
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
    Decoder { packets: Packets::new(ib, 0, Reader::Copy(version)), version }
}

impl<'ib> Iterator for Decoder<'ib> {
    type Item = Result<Decoded<'ib>, DecodeError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.packets.next().map(|listed| decoded(&listed, self.version))
    }
}

impl std::iter::FusedIterator for Decoder<'_> {}
