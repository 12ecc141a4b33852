//! Text annotations in a stream, for readers of a dump.

use crate::cs::{
    Language, MAX_ANNOTATION_BYTES, Packet, RecordError, RecordResult as Result, Stream, Target, annotation, pm4, sdma,
};

impl<L: Language> Stream<L> {
    /// Records text that the engine skips and that [`annotations`](crate::cs::annotations) finds in a dump. On the copy engine of
    /// GFX6, which has no NOP with data, nothing is recorded.
    ///
    /// RADV stores its annotations outside the stream, keyed by address, so they are missing from dumps that other programs make
    /// (Mesa 25.0.7 `src/amd/vulkan/winsys/amdgpu/radv_amdgpu_cs.c`, `radv_amdgpu_cs_annotate`).
    ///
    /// # Errors
    ///
    /// [`RecordError::TooLong`] if the text is longer than [`MAX_ANNOTATION_BYTES`]; otherwise the errors of [`Stream::reserve`].
    pub fn annotate(&mut self, text: &str) -> Result<()> {
        let skipped = annotation(text)
            .ok_or_else(|| RecordError::TooLong { needed: dwords(text.len()), most: dwords(MAX_ANNOTATION_BYTES) })?;
        let dwords = 1 + skipped.len();
        match self.language().into() {
            Target::Sdma(sdma::Version::V1_0) => 0,
            Target::Sdma(version) => sdma::Nop { skipped: &skipped }.encode(version, self.reserve(dwords)?)?,
            Target::Pm4(target) => pm4::Nop::Skip(&skipped).encode(target, self.reserve(dwords)?)?,
        };
        Ok(())
    }
}

/// Returns the dwords of the packet that contains `bytes` bytes of text: header, magic number, length, text.
const fn dwords(bytes: usize) -> usize {
    3 + bytes.div_ceil(4)
}
