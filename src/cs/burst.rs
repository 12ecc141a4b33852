//! Many small packets at once.

use super::{Error, Language, Result, Stream};

/// Room in a stream that is filled piece by piece, with its place in a register instead of in memory: the fastest way to
/// record many small packets. Made by [`Stream::burst`]; what was put counts as recorded when it is dropped.
///
/// ```no_run
/// # use amdgpu_winsys::cs::{Error, Stream, pm4};
/// # fn registers(stream: &mut Stream<pm4::Target>, values: &[u32]) -> Result<(), Error> {
/// let mut burst = stream.burst(3 * values.len())?;
/// for (offset, &value) in (0x200..).zip(values) {
///     burst.put([0xc001_7600, offset, value])?;
/// }
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Burst<'s> {
    /// What is still free.
    rest: &'s mut [u32],
    /// Where to say how much was used, in dwords from the start of the room.
    put: PutBack<'s>,
    /// The length of the room.
    len: usize,
}

/// The memory that lent the room.
type PutBack<'s> = &'s mut usize;

impl<'s> Burst<'s> {
    /// `used` grows by what is put into `room`.
    pub(super) fn new(room: &'s mut [u32], used: &'s mut usize) -> Self {
        Self { len: room.len(), rest: room, put: used }
    }

    /// Appends dwords.
    ///
    /// # Errors
    ///
    /// [`Error::TooLong`] beyond what [`Stream::burst`] was asked for; nothing is then appended.
    #[inline]
    pub fn put<const N: usize>(&mut self, dwords: [u32; N]) -> Result<()> {
        if N > self.rest.len() {
            return Err(Error::TooLong { needed: N, most: self.rest.len() });
        }
        let (room, rest) = std::mem::take(&mut self.rest).split_at_mut(N);
        room.copy_from_slice(&dwords);
        self.rest = rest;
        Ok(())
    }

    /// Dwords that can still be put.
    pub fn left(&self) -> usize {
        self.rest.len()
    }
}

impl Drop for Burst<'_> {
    #[inline]
    fn drop(&mut self) {
        *self.put += self.len - self.rest.len();
    }
}

impl<L: Language> Stream<L> {
    /// Room for at most `dwords` dwords, to be filled in small pieces. What is not put does not count as recorded.
    ///
    /// # Errors
    ///
    /// As [`Stream::reserve`].
    #[inline]
    pub fn burst(&mut self, dwords: usize) -> Result<Burst<'_>> {
        self.make_room(dwords)?;
        Ok(self.memory_mut().burst(dwords))
    }
}
