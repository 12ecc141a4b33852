//! A writer for many small packets.

use amdgpu_packets::own;

use crate::cs::{EncodeError, Language, Packet, RecordError, RecordResult as Result, Stream};

/// A writer that fills reserved space of a stream, made by [`Stream::packet_writer`]. It is the fastest way to record many small
/// packets, because its position stays in a register. The dwords written count as recorded when the writer is dropped.
///
/// ```
/// use amdgpu_winsys::cs::{Stream, pm4};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// let mut stream = Stream::new(&device, pm4::Target::gfx(device.info().gfx_level), 64)?;
/// let values = [1, 2, 3];
/// let mut writer = stream.packet_writer(3 * values.len() + 2)?;
/// for (offset, value) in (0x200..).zip(values) {
///     writer.put([0xc001_7600, offset, value])?; // SET_SH_REG
/// }
/// writer.push(&pm4::EventWrite::new(pm4::Event::CS_PARTIAL_FLUSH))?;
/// assert_eq!(writer.left(), 0);
/// drop(writer);
/// assert_eq!(stream.len(), 11);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct PacketWriter<'s, L> {
    /// The free part of the reserved range.
    rest: &'s mut [u32],
    /// The stream's counter of used dwords, to which the writer adds its own when it is dropped.
    put: PutBack<'s>,
    /// The number of reserved dwords.
    len: usize,
    language: L,
}

/// The counter of the memory that the space was borrowed from.
type PutBack<'s> = &'s mut usize;

impl<'s, L: Language> PacketWriter<'s, L> {
    /// Creates a writer that adds the number of dwords written to `room` to `used` when it is dropped.
    #[inline]
    fn new(language: L, room: &'s mut [u32], used: &'s mut usize) -> Self {
        Self { len: room.len(), rest: room, put: used, language }
    }

    /// Appends a packet.
    ///
    /// # Errors
    ///
    /// [`RecordError::Encode`] if the ring does not have the packet or a value does not fit, [`RecordError::TooLong`] if the packet exceeds the
    /// space that is left; nothing is then appended.
    #[expect(clippy::inline_always, reason = "as for `Stream::push`")]
    #[inline(always)]
    pub fn push<P: Packet<Language = L>>(&mut self, packet: &P) -> Result<()> {
        if let Some(len) = packet.put(self.language, self.rest) {
            self.advance(len);
            return Ok(());
        }
        let (rest, outcome) = push_slowly(*packet, self.language, std::mem::take(&mut self.rest));
        self.rest = rest;
        outcome
    }

    #[inline]
    fn advance(&mut self, dwords: usize) {
        let rest = std::mem::take(&mut self.rest);
        self.rest = rest.get_mut(dwords..).unwrap_or_default();
    }

    /// Appends dwords.
    ///
    /// # Errors
    ///
    /// [`RecordError::TooLong`] if the dwords exceed the space that is left; nothing is then appended.
    #[inline]
    pub fn put<const N: usize>(&mut self, dwords: [u32; N]) -> Result<()> {
        if N > self.rest.len() {
            return Err(RecordError::TooLong { needed: N, most: self.rest.len() });
        }
        let (room, rest) = std::mem::take(&mut self.rest).split_at_mut(N);
        room.copy_from_slice(&dwords);
        self.rest = rest;
        Ok(())
    }

    /// Returns the number of dwords that can still be written.
    pub fn left(&self) -> usize {
        self.rest.len()
    }
}

/// Appends a packet if the fast path failed, because little space is left or a value is invalid. Returns the space that is left.
/// Takes its arguments by value, so that the writer stays in registers.
#[cold]
#[inline(never)]
fn push_slowly<L: Language, P: Packet<Language = L>>(
    mut packet: P,
    language: L,
    rest: &mut [u32],
) -> (&mut [u32], Result<()>) {
    own(&mut packet);
    match packet.encode(language, rest) {
        Ok(len) => (rest.get_mut(len..).unwrap_or_default(), Ok(())),
        Err(EncodeError::NoRoom { needed, left, .. }) => (rest, Err(RecordError::TooLong { needed, most: left })),
        Err(error) => (rest, Err(error.into())),
    }
}

impl<L> Drop for PacketWriter<'_, L> {
    #[inline]
    fn drop(&mut self) {
        *self.put += self.len - self.rest.len();
    }
}

impl<L: Language> Stream<L> {
    /// Returns a writer with space for at most `dwords` dwords in one IB. Only the dwords written count as recorded.
    ///
    /// # Errors
    ///
    /// The errors of [`Stream::reserve`].
    #[inline]
    pub fn packet_writer(&mut self, dwords: usize) -> Result<PacketWriter<'_, L>> {
        self.grow(dwords)?;
        let language = self.language();
        let (room, used) = self.memory_mut().lend(dwords);
        Ok(PacketWriter::new(language, room, used))
    }
}
