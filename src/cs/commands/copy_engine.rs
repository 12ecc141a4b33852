//! Commands on the copy engine.

use amdgpu_hw::num::wide;

use super::{
    Atomic, Barrier, CommandError, Commands, Point, Recorder, Result, Span,
    atomic::SdmaAtomic,
    check::{UPDATE_DWORDS, check_copy, check_fill, check_update},
    conditional::CondExe,
    error::require_multiple,
    rings::conditional,
};
use crate::{
    cs::{
        PacketBuf, Target,
        pm4::Compare,
        sdma::{ConstFill, CopyLinear, Fence, Nop, PollMem, Timestamp, Version, WriteLinear},
    },
    vamgr::GpuVa,
};

impl Recorder<Version> {
    fn version(&self) -> Version {
        self.stream.language()
    }

    /// Copies the bytes `part` of a copy, split into packets.
    fn copy_part(&mut self, to: Span, from: Span, part: std::ops::Range<u64>) -> Result<()> {
        let most = u64::from(self.version().max_copy_bytes());
        let mut at = part.start;
        while at < part.end {
            let bytes = most.min(part.end - at);
            self.stream.push(&CopyLinear::new(to.at(at), from.at(at), bytes as u32))?;
            at += bytes;
        }
        Ok(())
    }

    /// Records the packets of `body`, which the engine executes if the dword at `at` is 1 and skips if it is 0.
    ///
    /// # Errors
    ///
    /// [`CommandError::Stream`] if the stream refuses the packets or `body` has more than
    /// [`MAX_CONDITIONAL_DWORDS`](super::MAX_CONDITIONAL_DWORDS) dwords.
    pub fn conditional(&mut self, at: GpuVa, body: &PacketBuf<Version>) -> Result<()> {
        let mut head = PacketBuf::new(self.version());
        head.push(&CondExe { at, dwords: body.dwords().len() })?;
        conditional(self, &head, body)
    }
}

impl Commands for Recorder<Version> {
    fn target(&self) -> Target {
        self.version().into()
    }

    /// Copies the bytes after the last whole dword in a packet of their own if both ranges begin at multiples of 4, so that the
    /// other bytes are copied in dwords.
    ///
    /// Source: Mesa 25.0.7 `src/amd/vulkan/radv_sdma.c`, `radv_sdma_copy_memory`.
    fn copy(&mut self, to: Span, from: Span) -> Result<()> {
        check_copy(to, from)?;
        let (bytes, is_aligned) = (to.len(), to.address().is_aligned(4) && from.address().is_aligned(4));
        let whole = if is_aligned { bytes & !3 } else { bytes };
        self.copy_part(to, from, 0..whole)?;
        self.copy_part(to, from, whole..bytes)
    }

    /// Source: Mesa 25.0.7 `src/amd/vulkan/radv_sdma.c`, `radv_sdma_fill_buffer`.
    fn fill(&mut self, to: Span, pattern: u32) -> Result<()> {
        check_fill(to)?;
        for (offset, bytes) in to.pieces(self.version().max_fill_bytes().into()) {
            self.stream.push(&ConstFill::new(to.at(offset), pattern, bytes as u32))?;
        }
        Ok(())
    }

    fn update(&mut self, to: Span, data: &[u32]) -> Result<()> {
        check_update(to, data)?;
        for (piece, data) in data.chunks(UPDATE_DWORDS).enumerate() {
            self.stream.push(&WriteLinear { to: to.at(wide(piece * UPDATE_DWORDS * 4)), data })?;
        }
        Ok(())
    }

    fn timestamp(&mut self, at: GpuVa, _: Point) -> Result<()> {
        require_multiple("timestamp", at.as_u64(), 8)?;
        if self.version() == Version::V1_0 {
            return Err(CommandError::Unsupported { what: "a timestamp", target: self.target() });
        }
        Ok(self.stream.push(&Timestamp { va: at })?)
    }

    /// Records a NOP before the fence on 2.4 and 3.0, which hang without it.
    ///
    /// Source: Mesa 25.0.7 `src/amd/vulkan/radv_cs.c`, `radv_cs_emit_write_event_eop`.
    fn store(&mut self, at: GpuVa, value: u32, after: Point) -> Result<()> {
        require_multiple("store", at.as_u64(), 4)?;
        if after == Point::PixelShaders {
            return Err(CommandError::Unsupported { what: "the end of pixel shaders", target: self.target() });
        }
        let version = self.version();
        if matches!(version, Version::V2_4 | Version::V3_0) {
            self.stream.push(&Nop::default())?;
        }
        Ok(self.stream.push(&Fence::new(version, at, value))?)
    }

    fn wait(&mut self, at: GpuVa, function: Compare, reference: u32, mask: u32) -> Result<()> {
        require_multiple("wait", at.as_u64(), 4)?;
        Ok(self.stream.push(&PollMem { mask, ..PollMem::new(at, function, reference) })?)
    }

    /// Records a NOP: commands after it begin when earlier copies have finished. The engine has no caches.
    ///
    /// Source: Mesa 25.0.7 `src/amd/vulkan/radv_cs.c`, `radv_cs_emit_cache_flush`.
    fn barrier(&mut self, barrier: Barrier) -> Result<()> {
        if barrier.is_empty() { Ok(()) } else { Ok(self.stream.push(&Nop::default())?) }
    }

    fn atomic(&mut self, at: GpuVa, atomic: Atomic) -> Result<()> {
        require_multiple("atomic", at.as_u64(), atomic.bytes())?;
        if self.version() < Version::V3_0 {
            return Err(CommandError::Unsupported { what: "an atomic operation", target: self.target() });
        }
        Ok(self.stream.push(&SdmaAtomic { at, atomic })?)
    }

    /// Records nothing, because the kernel's own fence waits for all copies.
    fn settle(&mut self) -> Result<()> {
        Ok(())
    }
}
