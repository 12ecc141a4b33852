//! Buffers of packets in host memory.

use crate::cs::{EncodeError, Language, Packet, RecordResult as Result, Stream};

/// A buffer of packets in host memory that can be copied into streams any number of times. The packets stay together in one IB.
///
/// ```
/// use amdgpu_winsys::{cs::{PacketBuf, pm4}, winsys::GfxLevel};
///
/// let mut packets = PacketBuf::new(pm4::Target::gfx(GfxLevel::Gfx9));
/// packets.push(&pm4::EventWrite::new(pm4::Event::CS_PARTIAL_FLUSH))?;
/// assert_eq!(packets.dwords(), [0xc000_4600, 0x407]);
/// # Ok::<(), amdgpu_winsys::cs::EncodeError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PacketBuf<L> {
    language: L,
    dwords: Vec<u32>,
}

impl<L: Language> PacketBuf<L> {
    /// Creates an empty buffer for packets in this language.
    pub const fn new(language: L) -> Self {
        Self { language, dwords: Vec::new() }
    }

    /// Appends a packet.
    ///
    /// # Errors
    ///
    /// [`EncodeError::NoSuchPacket`] if the ring does not have the packet, [`EncodeError::Field`] if a value does not fit its
    /// field; the buffer is then unchanged.
    pub fn push<P: Packet<Language = L>>(&mut self, packet: &P) -> Result<(), EncodeError> {
        let start = self.dwords.len();
        self.dwords.resize(start + packet.len_dwords(self.language)?, 0);
        let outcome = packet.encode(self.language, self.dwords.get_mut(start..).unwrap_or_default());
        self.dwords.truncate(start + outcome.as_ref().map_or(0, |&len| len));
        outcome.map(|_| ())
    }

    /// Returns the dwords of the packets.
    pub fn dwords(&self) -> &[u32] {
        &self.dwords
    }

    /// Returns the packet language: the kind of ring and the generation.
    pub fn language(&self) -> L {
        self.language
    }
}

impl<L: Language> Stream<L> {
    /// Appends all packets of a buffer, in one IB.
    ///
    /// # Errors
    ///
    /// [`RecordError::WrongStream`](crate::cs::RecordError::WrongStream) if the buffer is for another ring or generation; otherwise the errors
    /// of [`Stream::reserve`].
    pub fn push_packets(&mut self, packets: &PacketBuf<L>) -> Result<()> {
        let (recorded, stream) = (packets.language.into(), self.language().into());
        if recorded != stream {
            return Err(crate::cs::RecordError::WrongStream { recorded, stream });
        }
        self.reserve(packets.dwords.len())?.copy_from_slice(&packets.dwords);
        Ok(())
    }
}
