//! Reading PM4: dwords to typed packets.

use super::header::HeaderFlags;
use super::sink::{Sink, Typed};
use super::target::TYPE_2_FILLER;
use super::{
    AcquireMem, CopyData, CpDma, EndOfPipe, EventWrite, Flagged, IndirectBuffer, Nop, PfpSyncMe, Target, WaitRegMem,
    WriteData, opcode,
};
use crate::layout::records::pm4::Packet as Record;
use crate::layout::{Fields, Listed, Packets, Reader, holds_all};
use crate::{DecodeError, DecodeFault, EncodeError, FieldError, Packet};

/// Declares [`Command`] and what it does with each kind of packet.
macro_rules! commands {
    ($($(#[$doc:meta])* $name:ident $(<$life:lifetime>)?,)+) => {
        /// A packet, understood as far as it can be.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Command<'ib> {
            $($(#[$doc])* $name($name $(<$life>)?),)+
            /// A packet that has no type, or that this ring does not take, kept whole.
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

        impl Command<'_> {
            /// The packet's name; for an unknown one what AMD's headers call its opcode, or `unknown`.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$name(_) => <$name as Typed>::NAME,)+
                    Self::Unknown { opcode, .. } => opcode::name(*opcode).unwrap_or("unknown"),
                }
            }

            fn write(
                &self,
                target: Target,
                flags: HeaderFlags,
                out: Option<&mut [u32]>,
            ) -> Result<usize, EncodeError> {
                match *self {
                    $(Self::$name(packet) => packet.write(Sink::new(<$name as Typed>::NAME, target, flags, out)),)+
                    Self::Unknown { opcode, body } => {
                        Sink::new("unknown packet", target, flags, out).put_unknown(opcode, body)
                    }
                }
            }
        }
    };
}

commands! {
    /// Nothing.
    Nop<'ib>,
    /// Dwords from the stream to memory or registers.
    WriteData<'ib>,
    /// One dword or qword from here to there.
    CopyData,
    /// A copy or fill.
    CpDma,
    /// Cache actions.
    AcquireMem,
    /// A store at the end of the pipe.
    EndOfPipe,
    /// On to another IB.
    IndirectBuffer,
    /// Wait for memory.
    WaitRegMem,
    /// PFP waits for ME.
    PfpSyncMe,
    /// A pipeline event.
    EventWrite,
}

/// Returns `true` if an opcode has a type on some ring.
const fn is_typed(opcode: u8) -> bool {
    matches!(
        opcode,
        opcode::NOP
            | opcode::WRITE_DATA
            | opcode::COPY_DATA
            | opcode::CP_DMA
            | opcode::DMA_DATA
            | opcode::SURFACE_SYNC
            | opcode::ACQUIRE_MEM
            | opcode::EVENT_WRITE_EOP
            | opcode::EVENT_WRITE_EOS
            | opcode::RELEASE_MEM
            | opcode::INDIRECT_BUFFER
            | opcode::WAIT_REG_MEM
            | opcode::PFP_SYNC_ME
            | opcode::EVENT_WRITE
    )
}

impl Packet for Command<'_> {
    type Language = Target;
    const NAME: &'static str = "packet";

    fn len_dwords(&self, target: Target) -> Result<usize, EncodeError> {
        self.write(target, HeaderFlags::empty(), None)
    }

    fn encode(&self, target: Target, out: &mut [u32]) -> Result<usize, EncodeError> {
        self.write(target, HeaderFlags::empty(), Some(out))
    }
}

impl Packet for Flagged<Command<'_>> {
    type Language = Target;
    const NAME: &'static str = "packet";

    fn len_dwords(&self, target: Target) -> Result<usize, EncodeError> {
        self.packet.write(target, self.flags, None)
    }

    fn encode(&self, target: Target, out: &mut [u32]) -> Result<usize, EncodeError> {
        self.packet.write(target, self.flags, Some(out))
    }
}

/// A packet and where it was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decoded<'ib> {
    /// Start of the packet, in dwords from the start of the IB.
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
    Packets::new(ib, offset, Reader::Ring(target)).next().map(|listed| decoded(&listed, target))
}

/// Returns the typed packet of one that was found by the tables.
fn decoded<'ib>(listed: &Listed<'ib>, target: Target) -> Result<Decoded<'ib>, DecodeError> {
    let Listed { offset, dwords, flags, .. } = *listed;
    let header = dwords.first().copied().unwrap_or_default();
    let byte = super::Header::opcode(header);
    let unknown = Command::Unknown { opcode: byte, body: dwords.get(1..).unwrap_or_default() };
    let command = match listed.content {
        Ok(None) if header == TYPE_2_FILLER => Nop::Filler.into(),
        Ok(None) => Nop::Bare.into(),
        Ok(Some(fields)) => typed(&fields, flags, target)
            .map_err(|source| {
                let fault = DecodeFault::Field { packet: fields.name(), source };
                DecodeError { offset, header, target: target.into(), fault }
            })?
            .unwrap_or(unknown),
        Err(DecodeError { fault: DecodeFault::UnknownOpcode { .. }, .. }) => unknown,
        Err(
            error @ DecodeError {
                fault: DecodeFault::Field { source: FieldError::Reserved { dword: 0, .. }, .. }, ..
            },
        ) => {
            return Err(error);
        }
        // What the tables say of a packet that has no type is theirs.
        Err(DecodeError { fault: DecodeFault::Field { .. }, .. }) if is_whole(dwords) && !is_typed(byte) => unknown,
        Err(error) => return Err(error),
    };
    Ok(Decoded { offset, len: dwords.len(), header, flags, command })
}

/// Returns `true` if dwords are a packet with its header.
fn is_whole(dwords: &[u32]) -> bool {
    dwords.first().is_some_and(|&header| header >> 30 == 3 && super::Header::dwords(header) == Some(dwords.len()))
}

/// Returns the typed packet; `None` where it has no type.
fn typed<'ib>(fields: &Fields<'ib>, flags: HeaderFlags, target: Target) -> Result<Option<Command<'ib>>, FieldError> {
    let level = target.level;
    let Some(record) = Record::read(fields) else { return Ok(None) };
    let command: Command<'ib> = match record {
        Record::Nop(nop) => Nop::Skip(nop.data).into(),
        Record::WriteData(record) => WriteData::read(&record)?.into(),
        Record::CopyData(record) => CopyData::read(&record)?.into(),
        Record::CpDma(record) => CpDma::read_cp_dma(&record)?.into(),
        Record::DmaData(record) => CpDma::read(&record)?.into(),
        Record::SurfaceSync(record) => AcquireMem::read_surface_sync(&record).into(),
        Record::AcquireMem(record) => {
            let packet = AcquireMem::read(&record, level)?;
            // The graphics rings of GFX7 and GFX8 take it, and are given SURFACE_SYNC.
            holds_all(fields, 0, |out| packet.write_acquire_mem(Sink::new(fields.name(), target, flags, Some(out))))?;
            return Ok(Some(packet.into()));
        }
        Record::EventWriteEop(record) => EndOfPipe::read_event_write_eop(&record)?.into(),
        Record::EventWriteEos(record) => EndOfPipe::read_event_write_eos(&record)?.into(),
        Record::ReleaseMem(record) => EndOfPipe::read(&record)?.into(),
        Record::IndirectBuffer(record) => IndirectBuffer::read(&record)?.into(),
        Record::WaitRegMem(record) => WaitRegMem::read(&record)?.into(),
        Record::PfpSyncMe(_) => PfpSyncMe.into(),
        Record::EventWrite(record) => EventWrite::read(&record, level)?.into(),
        _ => return Ok(None),
    };
    holds_all(fields, 0, |out| command.write(target, flags, Some(out)))?;
    Ok(Some(command))
}

/// The packets of an IB, one after the other.
///
/// After a packet with a wrong field the walk goes on behind it, for its length is known; after any other error it
/// ends.
#[derive(Clone, Debug)]
pub struct Decoder<'ib> {
    packets: Packets<'ib>,
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
    Decoder { packets: Packets::new(ib, 0, Reader::Ring(target)), target }
}

impl<'ib> Iterator for Decoder<'ib> {
    type Item = Result<Decoded<'ib>, DecodeError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.packets.next().map(|listed| decoded(&listed, self.target))
    }
}

impl std::iter::FusedIterator for Decoder<'_> {}
