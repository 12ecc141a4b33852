//! Access to the raw memory of a stream, for callers that encode packets themselves.

use crate::cs::{Language, RecordError, RecordResult as Result, Stream};

/// Raw access to the memory of a stream, for drivers that write dwords themselves.
///
/// [`Stream::window`] returns the free dwords of the current IB, and [`Stream::advance`] counts those that were filled. None of
/// these methods gives access to the memory after the window, which is reserved for padding and the jump to the next IB.
///
/// ```
/// use amdgpu_sim::{SimKernel, profile};
/// use amdgpu_winsys::{cs::{Stream, pm4}, winsys::Device};
///
/// let device = Device::new(SimKernel::open(profile("navi21").ok_or("no such chip")?))?;
/// let mut stream = Stream::new(&device, pm4::Target::gfx(device.info().gfx_level), 64)?;
/// for value in 0..1000 {
///     stream.grow(2)?; // usually a single comparison
///     if let [header, payload, ..] = stream.window() {
///         (*header, *payload) = (0xc000_1000, value);
///     }
///     stream.advance(2)?;
/// }
/// let last = stream.chunk_len() - 1;
/// stream.chunk()[last] = 7; // patched afterwards
/// assert!(stream.advance(usize::MAX).is_err(), "more than there is");
/// let list = stream.finish()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl<L: Language> Stream<L> {
    /// Returns the free dwords of the current IB, possibly none. Dwords written there count as recorded after a call of
    /// [`Stream::advance`]. The memory may be write-combined, so write it in order and do not read it.
    #[inline]
    pub fn window(&mut self) -> &mut [u32] {
        self.memory_mut().window()
    }

    /// Counts the first `dwords` dwords of the window as recorded.
    ///
    /// # Errors
    ///
    /// [`RecordError::TooLong`] if the window is shorter; no dwords are then counted.
    #[inline]
    pub fn advance(&mut self, dwords: usize) -> Result<()> {
        let most = self.remaining();
        if dwords > most {
            return Err(RecordError::TooLong { needed: dwords, most });
        }
        self.memory_mut().advance(dwords);
        Ok(())
    }

    /// Ensures that the window has at least `dwords` dwords. If it is shorter, the stream continues in another IB.
    ///
    /// # Errors
    ///
    /// The errors of [`Stream::reserve`].
    #[inline]
    pub fn grow(&mut self, dwords: usize) -> Result<()> {
        if dwords > self.remaining() { self.go_on(dwords) } else { Ok(()) }
    }

    /// Returns the dwords of the current IB, to read and patch them: first the [`Stream::chunk_len`] recorded ones, then the
    /// window.
    #[inline]
    pub fn chunk(&mut self) -> &mut [u32] {
        self.memory_mut().chunk()
    }

    /// Returns the number of dwords recorded in the current IB.
    #[inline]
    pub fn chunk_len(&self) -> usize {
        self.memory().used()
    }

    /// Records NOPs until the length of the current IB plus `leave` dwords is a multiple of [`Language::PAD_DWORDS`]. Only callers
    /// that copy the IB elsewhere need this; [`Stream::finish`] pads by itself.
    ///
    /// # Errors
    ///
    /// The errors of [`Stream::reserve`].
    pub fn pad(&mut self, leave: usize) -> Result<()> {
        self.grow(L::PAD_DWORDS)?;
        let language = self.language();
        let gap = language.padding(self.chunk_len(), leave);
        language.fill(self.reserve(gap)?);
        Ok(())
    }
}
