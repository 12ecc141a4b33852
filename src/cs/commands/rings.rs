//! Commands on the graphics and compute rings.

use amdgpu_hw::num::wide;

use super::{
    Atomic, Barrier, CommandError, Commands, Flushes, Point, Recorder, Result, Span, Stages,
    atomic::AtomicMem,
    check::{UPDATE_DWORDS, check_copy, check_fill, check_update},
    conditional::CondExec,
    error::require_multiple,
};
use crate::{
    cs::{
        Language, PacketBuf,
        pm4::{
            AcquireMem, Compare, CopyData, CpDma, EndOfPipe, Engine, EopEvent, EopStore, Event, EventWrite, PfpSyncMe,
            Ring, Target, WaitRegMem, WriteData, WritePath, WriteTo,
        },
    },
    vamgr::GpuVa,
    winsys::GfxLevel,
};

impl Recorder<Target> {
    fn ring(&self) -> Target {
        self.stream.language()
    }

    /// Returns `true` if the ring has PFP in front of ME.
    fn has_pfp(&self) -> bool {
        self.ring().ring == Ring::Gfx
    }

    /// Records a wait for CP DMA if an operation may be incomplete.
    fn wait_dma(&mut self) -> Result<()> {
        if self.dma_is_busy {
            self.stream.push(&CpDma::wait_idle(self.ring().level))?;
            self.dma_is_busy = false;
        }
        Ok(())
    }

    /// Copies more bytes than the limit of a packet.
    #[cold]
    fn copy_in_pieces(&mut self, to: Span, from: Span) -> Result<()> {
        let level = self.ring().level;
        for (offset, bytes) in to.pieces(CpDma::max_chunk_bytes(level).into()) {
            let is_last = offset + bytes == to.len();
            let copy = CpDma::copy(level, to.at(offset), from.at(offset), bytes as u32);
            self.stream.push(&copy.with_sync(is_last && level == GfxLevel::Gfx6))?;
            self.dma_is_busy = level > GfxLevel::Gfx6;
        }
        Ok(())
    }

    /// Records the invalidation of all caches, with which each submission has to begin, see [`Stream::acquire`](crate::cs::Stream).
    ///
    /// # Errors
    ///
    /// The errors of [`Stream::push`](crate::cs::Stream::push).
    pub fn acquire(&mut self) -> crate::cs::RecordResult<()> {
        self.stream.acquire()
    }

    /// Records the packets of `body`, which the ring executes if the dword at `at` is 1 and skips if it is 0. On the graphics ring
    /// PFP waits for ME first.
    ///
    /// # Errors
    ///
    /// [`CommandError::Stream`] if the stream refuses the packets or `body` has more than
    /// [`MAX_CONDITIONAL_DWORDS`](super::MAX_CONDITIONAL_DWORDS) dwords.
    pub fn conditional(&mut self, at: GpuVa, body: &PacketBuf<Target>) -> Result<()> {
        let mut whole = PacketBuf::new(self.ring());
        if self.has_pfp() {
            whole.push(&PfpSyncMe)?;
        }
        whole.push(&CondExec { at, dwords: body.dwords().len() })?;
        conditional(self, &whole, body)
    }
}

/// Records the condition and its body in one reservation, so that both are in the same IB.
pub(super) fn conditional<L: Language>(
    recorder: &mut Recorder<L>,
    head: &PacketBuf<L>,
    body: &PacketBuf<L>,
) -> Result<()> {
    let (recorded, stream) = (body.language().into(), recorder.stream.language().into());
    if recorded != stream {
        return Err(crate::cs::RecordError::WrongStream { recorded, stream }.into());
    }
    let (head, body) = (head.dwords(), body.dwords());
    let (to_head, to_body) = recorder.stream.reserve(head.len() + body.len())?.split_at_mut(head.len());
    to_head.copy_from_slice(head);
    to_body.copy_from_slice(body);
    Ok(())
}

impl Commands for Recorder<Target> {
    fn target(&self) -> crate::cs::Target {
        self.ring().into()
    }

    /// Source: Mesa 25.0.7 `src/amd/vulkan/radv_cp_dma.c`, `radv_cp_dma_copy_memory`, without its dummy copies, which align an
    /// internal counter of old chips for speed. On GFX6 each copy waits for its own end, because it is not known whether GFX6
    /// supports the copy of zero bytes with which later chips wait.
    #[inline]
    fn copy(&mut self, to: Span, from: Span) -> Result<()> {
        check_copy(to, from)?;
        let level = self.ring().level;
        if to.len() > CpDma::max_chunk_bytes(level).into() {
            return self.copy_in_pieces(to, from);
        }
        let copy = CpDma::copy(level, to.address(), from.address(), to.len() as u32);
        self.stream.push(&copy.with_sync(level == GfxLevel::Gfx6))?;
        self.dma_is_busy = level > GfxLevel::Gfx6;
        Ok(())
    }

    /// Source: Mesa 25.0.7 `src/amd/vulkan/radv_cp_dma.c`, `radv_cp_dma_fill_memory`.
    fn fill(&mut self, to: Span, pattern: u32) -> Result<()> {
        check_fill(to)?;
        let level = self.ring().level;
        for (offset, bytes) in to.pieces(CpDma::max_chunk_bytes(level).into()) {
            let fill = CpDma::fill(level, to.at(offset), pattern, bytes as u32);
            self.stream.push(&fill.with_sync(offset + bytes == to.len()))?;
        }
        self.dma_is_busy = false;
        if self.has_pfp() {
            self.stream.push(&PfpSyncMe)?;
        }
        Ok(())
    }

    /// Source: Mesa 25.0.7 `src/amd/vulkan/meta/radv_meta_buffer.c`, `radv_update_memory_cp`.
    fn update(&mut self, to: Span, data: &[u32]) -> Result<()> {
        check_update(to, data)?;
        let path = if self.ring().is_mec() { WritePath::Memory } else { WritePath::Grbm };
        for (piece, data) in data.chunks(UPDATE_DWORDS).enumerate() {
            let va = to.at(wide(piece * UPDATE_DWORDS * 4));
            self.stream.push(&WriteData { to: WriteTo::Memory { va, path }, ..WriteData::new(va, data) })?;
        }
        Ok(())
    }

    /// Source: Mesa 25.0.7 `src/amd/vulkan/radv_query.c`, `radv_write_timestamp`.
    fn timestamp(&mut self, at: GpuVa, after: Point) -> Result<()> {
        require_multiple("timestamp", at.as_u64(), 8)?;
        match after {
            Point::Top | Point::Front => Ok(self.stream.push(&CopyData::timestamp(at))?),
            Point::Bottom => {
                self.wait_dma()?;
                Ok(self.stream.end_of_pipe(EndOfPipe::timestamp(at))?)
            }
            Point::PixelShaders | Point::ComputeShaders => {
                Err(CommandError::Unsupported { what: "a timestamp at the end of shaders", target: self.target() })
            }
        }
    }

    /// Source: Mesa 25.0.7 `src/amd/vulkan/radv_cmd_buffer.c`, `write_event`.
    fn store(&mut self, at: GpuVa, value: u32, after: Point) -> Result<()> {
        require_multiple("store", at.as_u64(), 4)?;
        let done = |event| EndOfPipe::new(event, EopStore::Dword { va: at, value });
        match after {
            Point::Top | Point::Front => {
                let is_pfp = after == Point::Top && self.has_pfp();
                let engine = if is_pfp { Engine::Pfp } else { Engine::Me };
                Ok(self.stream.push(&WriteData { engine, ..WriteData::new(at, &[value]) })?)
            }
            Point::PixelShaders if !self.has_pfp() => {
                Err(CommandError::Unsupported { what: "the end of pixel shaders", target: self.target() })
            }
            Point::PixelShaders => Ok(self.stream.end_of_pipe(done(EopEvent::PixelDone))?),
            Point::ComputeShaders => Ok(self.stream.end_of_pipe(done(EopEvent::ComputeDone))?),
            Point::Bottom => {
                self.wait_dma()?;
                Ok(self.stream.end_of_pipe(done(EopEvent::BottomOfPipe))?)
            }
        }
    }

    fn wait(&mut self, at: GpuVa, function: Compare, reference: u32, mask: u32) -> Result<()> {
        require_multiple("wait", at.as_u64(), 4)?;
        Ok(self.stream.push(&WaitRegMem { mask, ..WaitRegMem::new(at, function, reference) })?)
    }

    /// Records partial flushes, cache actions, and a wait of PFP for ME. From GFX10 on the cache actions make PFP wait.
    ///
    /// Source: Mesa 25.0.7 `src/amd/vulkan/radv_cs.c`, `radv_cs_emit_cache_flush` and `gfx10_cs_emit_cache_flush`.
    fn barrier(&mut self, barrier: Barrier) -> Result<()> {
        if barrier.is_empty() {
            return Ok(());
        }
        let ring = self.ring();
        let Flushes { waits, caches } = barrier.flushes(ring);
        if waits.contains(Stages::TRANSFER) {
            self.wait_dma()?;
        }
        // A wait for pixel shaders includes their vertex shaders.
        let last_drawn = if waits.contains(Stages::FRAGMENT) { Stages::FRAGMENT } else { Stages::VERTEX };
        let events = [
            (Stages::FRAGMENT & last_drawn, Event::PS_PARTIAL_FLUSH),
            (Stages::VERTEX & last_drawn, Event::VS_PARTIAL_FLUSH),
            (Stages::COMPUTE, Event::CS_PARTIAL_FLUSH),
        ];
        for (_, event) in events.into_iter().filter(|&(stage, _)| waits.intersects(stage)) {
            self.stream.push(&EventWrite::new(event))?;
        }
        let acquires = !caches.is_empty();
        if self.has_pfp() && !(acquires && ring.level >= GfxLevel::Gfx10) {
            self.stream.push(&PfpSyncMe)?;
        }
        // Two packets if the chip cannot write back L2 and invalidate the vector caches with one.
        for acquire in AcquireMem::each(ring, caches) {
            self.stream.push(&acquire)?;
        }
        Ok(())
    }

    fn atomic(&mut self, at: GpuVa, atomic: Atomic) -> Result<()> {
        require_multiple("atomic", at.as_u64(), atomic.bytes())?;
        Ok(self.stream.push(&AtomicMem { at, atomic })?)
    }

    /// Waits for CP DMA, because the kernel does not at the end of an IB.
    ///
    /// Source: Mesa 25.0.7 `src/amd/vulkan/radv_cmd_buffer.c`, `radv_EndCommandBuffer`.
    fn settle(&mut self) -> Result<()> {
        self.wait_dma()
    }
}
