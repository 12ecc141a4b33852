//! Decoding of PM4: from dwords to typed packets.
//!
//! Generated code reads packets that have a type, without the tables: it extracts the fields, creates the typed value, and compares
//! the value's encoding with the dwords. Exactly the packets that can be written are therefore accepted, because both directions
//! are generated from one description. The tables are only used after a failure, to find the reason.

use super::header::{Header, HeaderFlags};
use super::sink::{Sink, Typed};
use super::target::TYPE_2_FILLER;
use super::{
    AcquireMem, CopyData, CpDma, EndOfPipe, EventWrite, Flagged, IndirectBuffer, Nop, PfpSyncMe, Target, WaitRegMem,
    WriteData, opcode,
};
use crate::layout::record::Load;
use crate::layout::records::pm4 as records;
use crate::layout::written::{AcquireMemPws, EventWriteSample};
use crate::layout::{Layout, Listed, Packets, Reader, pm4 as tables};
use crate::{DecodeError, DecodeFault, EncodeError, FieldError, Packet};

/// Declares [`Command`] and its functions for each kind of packet.
macro_rules! commands {
    ($($(#[$doc:meta])* $name:ident $(<$life:lifetime>)?,)+) => {
        /// A decoded packet.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Command<'ib> {
            $($(#[$doc])* $name($name $(<$life>)?),)+
            /// A packet without a type, or one that this ring does not accept.
            Unknown {
                /// The opcode. [`opcode::name`] returns its name if it is known.
                opcode: u8,
                /// The dwords after the header.
                body: &'ib [u32],
            },
        }

        $(impl<'ib> From<$name $(<$life>)?> for Command<'ib> {
            fn from(packet: $name $(<$life>)?) -> Self {
                Self::$name(packet)
            }
        })+

        impl Command<'_> {
            /// Returns the name of the packet. For [`Command::Unknown`], returns the name of the opcode in AMD's headers, or
            /// `unknown`.
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
    /// Does nothing.
    Nop<'ib>,
    /// Writes dwords from the stream to memory or registers.
    WriteData<'ib>,
    /// Copies one dword or qword.
    CopyData,
    /// Copies or fills memory.
    CpDma,
    /// Writes back or invalidates caches.
    AcquireMem,
    /// Stores a value at the end of the pipe.
    EndOfPipe,
    /// Continues in another IB.
    IndirectBuffer,
    /// Waits until memory has a value.
    WaitRegMem,
    /// Makes PFP wait for ME.
    PfpSyncMe,
    /// Triggers a pipeline event.
    EventWrite,
}

/// The packets that have a type.
const TYPED: [&Layout; 14] = [
    &tables::NOP,
    &tables::WRITE_DATA,
    &tables::COPY_DATA,
    &tables::CP_DMA,
    &tables::DMA_DATA,
    &tables::SURFACE_SYNC,
    &tables::ACQUIRE_MEM,
    &tables::EVENT_WRITE_EOP,
    &tables::EVENT_WRITE_EOS,
    &tables::RELEASE_MEM,
    &tables::INDIRECT_BUFFER,
    &tables::WAIT_REG_MEM,
    &tables::PFP_SYNC_ME,
    &tables::EVENT_WRITE,
];

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

/// A decoded packet with its location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decoded<'ib> {
    /// The offset of the packet in the IB, in dwords.
    pub offset: usize,
    /// The length of the packet in dwords, including the header.
    pub len: usize,
    /// The first dword of the packet: its header.
    pub header: u32,
    /// The flags of the header.
    pub flags: HeaderFlags,
    /// The decoded packet.
    pub command: Command<'ib>,
}

/// Decodes the packet at dword `offset` of `ib`; `None` at the end of the IB.
///
/// # Errors
///
/// * [`DecodeFault::HeaderType`] if the dword is not a header of type 2 or 3.
/// * [`DecodeFault::PastTheEnd`] if the packet extends beyond the end of `ib`.
/// * [`DecodeFault::Field`] if the packet is known, but a field or its length is invalid.
pub fn decode_at(ib: &[u32], offset: usize, target: Target) -> Option<Result<Decoded<'_>, DecodeError>> {
    Decoder { packets: Packets::new(ib, offset, Reader::Ring(target)), target }.next()
}

/// Decodes by the tables a packet that the generated code did not accept. `refused` is the reason if the packet's opcode has a
/// type.
#[cold]
fn listed<'ib>(listed: &Listed<'ib>, refused: Option<FieldError>, target: Target) -> Result<Decoded<'ib>, DecodeError> {
    let Listed { offset, dwords, flags, .. } = *listed;
    let header = dwords.first().copied().unwrap_or_default();
    let byte = Header::opcode(header);
    let unknown = Command::Unknown { opcode: byte, body: dwords.get(1..).unwrap_or_default() };
    let command = match (listed.content, refused) {
        (Ok(None), _) if header == TYPE_2_FILLER => Nop::Filler.into(),
        (Ok(None), _) => Nop::Bare.into(),
        // An opcode can belong both to a packet with a type and to one without.
        (Ok(Some(fields)), Some(source)) if TYPED.iter().any(|typed| std::ptr::eq(*typed, fields.layout())) => {
            let fault = DecodeFault::Field { packet: fields.name(), source };
            return Err(DecodeError { offset, header, target: target.into(), fault });
        }
        (Ok(Some(_)) | Err(DecodeError { fault: DecodeFault::UnknownOpcode { .. }, .. }), _) => unknown,
        (Err(error), _) => return Err(error),
    };
    Ok(Decoded { offset, len: dwords.len(), header, flags, command })
}

/// A whole packet, including its header, with its ring.
#[derive(Clone, Copy)]
struct Read<'ib> {
    dwords: &'ib [u32],
    flags: HeaderFlags,
    target: Target,
}

impl<'ib> Read<'ib> {
    /// Decodes the packet, if it has a type.
    #[inline]
    fn typed(self, opcode: u8) -> Option<Result<Command<'ib>, FieldError>> {
        let level = self.target.level;
        Some(match opcode {
            opcode::NOP => self.exactly(|nop: &records::Nop<'ib>| Ok(Nop::Skip(nop.data)), Nop::write),
            opcode::WRITE_DATA => self.exactly(WriteData::read, WriteData::write),
            opcode::COPY_DATA => self.exactly(CopyData::read, CopyData::write),
            opcode::CP_DMA => self.exactly(CpDma::read_cp_dma, CpDma::write),
            opcode::DMA_DATA => self.exactly(CpDma::read, CpDma::write),
            opcode::SURFACE_SYNC => self
                .exactly(|record: &records::SurfaceSync| Ok(AcquireMem::read_surface_sync(record)), AcquireMem::write),
            // The graphics rings of GFX7 and GFX8 accept this packet, but drivers use SURFACE_SYNC.
            opcode::ACQUIRE_MEM if self.is_pws() => {
                self.exactly(|record: &AcquireMemPws| AcquireMem::read(&record.0, level), AcquireMem::write_acquire_mem)
            }
            opcode::ACQUIRE_MEM => self
                .exactly(|record: &records::AcquireMem| AcquireMem::read(record, level), AcquireMem::write_acquire_mem),
            opcode::EVENT_WRITE_EOP => self.exactly(EndOfPipe::read_event_write_eop, EndOfPipe::write),
            opcode::EVENT_WRITE_EOS => self.exactly(EndOfPipe::read_event_write_eos, EndOfPipe::write),
            opcode::RELEASE_MEM => self.exactly(EndOfPipe::read, EndOfPipe::write),
            opcode::INDIRECT_BUFFER => self.exactly(IndirectBuffer::read, IndirectBuffer::write),
            opcode::WAIT_REG_MEM => self.exactly(WaitRegMem::read, WaitRegMem::write),
            opcode::PFP_SYNC_ME => self.exactly(|_: &records::PfpSyncMe| Ok(PfpSyncMe), PfpSyncMe::write),
            opcode::EVENT_WRITE if self.dwords.len() == 2 => {
                self.exactly(|record: &records::EventWrite| EventWrite::read(record, level), EventWrite::write)
            }
            opcode::EVENT_WRITE => {
                self.exactly(|record: &EventWriteSample| EventWrite::read(&record.0, level), EventWrite::write)
            }
            _ => return None,
        })
    }

    /// Returns `true` if an ACQUIRE_MEM is a pixel-wait-sync.
    fn is_pws(self) -> bool {
        AcquireMemPws::load(self.dwords, self.target.level as u8).is_ok_and(|packet| packet.0.pws_ena)
    }

    /// Reads one form of a packet. `write` must reproduce the dwords.
    fn exactly<R: Load<'ib>, P: Copy + Into<Command<'ib>>>(
        self,
        read: impl FnOnce(&R) -> Result<P, FieldError>,
        write: impl FnOnce(P, Sink<'_>) -> Result<usize, EncodeError>,
    ) -> Result<Command<'ib>, FieldError> {
        let packet = read(&R::load(self.dwords, self.target.level as u8)?)?;
        match write(packet, Sink::comparing(self.target, self.flags, self.dwords)) {
            Ok(_) => Ok(packet.into()),
            Err(EncodeError::Field { source, .. }) => Err(source),
            Err(_) => Err(FieldError::NoSuchForm { form: "this packet" }),
        }
    }
}

/// An iterator over the packets of an IB.
///
/// After a packet with an invalid field the iteration continues with the next packet, because the length is known. It ends after
/// any other error.
#[derive(Clone, Debug)]
pub struct Decoder<'ib> {
    packets: Packets<'ib>,
    target: Target,
}

/// Decodes the packets of `ib` as `target` would.
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
        let (offset, rest) = self.packets.rest()?;
        let header = *rest.first()?;
        let mut refused = None;
        if let Ok(Header::Packet { opcode, dwords: len, flags }) = Header::read(header, self.target.level)
            && let Some(dwords) = rest.get(..len)
        {
            match (Read { dwords, flags, target: self.target }).typed(opcode) {
                Some(Ok(command)) => {
                    self.packets.pass(len);
                    return Some(Ok(Decoded { offset, len, header, flags, command }));
                }
                Some(Err(source)) => refused = Some(source),
                // The fields of a packet without a type are not read, so the tables are not needed.
                None => {
                    self.packets.pass(len);
                    let body = dwords.get(1..).unwrap_or_default();
                    return Some(Ok(Decoded {
                        offset,
                        len,
                        header,
                        flags,
                        command: Command::Unknown { opcode, body },
                    }));
                }
            }
        }
        self.packets.next().map(|packet| listed(&packet, refused, self.target))
    }
}

impl std::iter::FusedIterator for Decoder<'_> {}
