//! Text in a stream, for readers of its dump.

use crate::cs::{Error, Language, MAX_ANNOTATION_BYTES, Packet, Result, Stream, Target, annotation, pm4, sdma};

impl<L: Language> Stream<L> {
    /// Records an annotation, which the engine skips and [`annotations`](crate::cs::annotations) finds. The copy engine of
    /// GFX6 has no NOP that skips, so nothing is recorded there.
    ///
    /// RADV keeps its annotations beside the stream, keyed by address, so that they are lost to a dump made by anyone
    /// else (Mesa 25.0.7 `src/amd/vulkan/winsys/amdgpu/radv_amdgpu_cs.c`, `radv_amdgpu_cs_annotate`).
    ///
    /// # Errors
    ///
    /// [`Error::TooLong`] beyond [`MAX_ANNOTATION_BYTES`]; else as [`Stream::reserve`].
    pub fn annotate(&mut self, text: &str) -> Result<()> {
        let skipped = annotation(text)
            .ok_or_else(|| Error::TooLong { needed: dwords(text.len()), most: dwords(MAX_ANNOTATION_BYTES) })?;
        let dwords = 1 + skipped.len();
        match self.language().into() {
            Target::Sdma(sdma::Version::V1_0) => 0,
            Target::Sdma(version) => sdma::Nop { skipped: &skipped }.encode(version, self.reserve(dwords)?)?,
            Target::Pm4(target) => pm4::Nop::Skip(&skipped).encode(target, self.reserve(dwords)?)?,
        };
        Ok(())
    }
}

/// The length of the packet that holds `bytes` of text: header, magic number, length, text.
const fn dwords(bytes: usize) -> usize {
    3 + bytes.div_ceil(4)
}
