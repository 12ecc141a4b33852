//! Recording one job in whichever language the ring reads.

use amdgpu_descriptors::target::RegisterWrite;
use amdgpu_isa::builder::Program;
use amdgpu_winsys::{
    cs::{
        CommandList, Described, RecordError, RecordResult as Result, Target, layout::pm4::SET_SH_REG_INDEX, pm4,
        registers, sdma,
    },
    packet,
    vamgr::GpuVa,
    winsys::{Device, GfxLevel, InvalidReply},
};

use crate::gpu::packet_trace::{PacketTrace, TracedStream};

/// Room for any job of this test, in dwords.
const CAPACITY: usize = 4096;

/// A stream for one ring, and the few commands that PM4 and SDMA have in common.
pub(crate) enum Recorder {
    Pm4(TracedStream<pm4::Target>),
    Sdma(TracedStream<sdma::Version>),
}

impl Recorder {
    /// Starts a job. On graphics and compute rings it begins with an invalidation of all caches: nothing else makes what the CPU
    /// wrote since the last job visible, because the kernel only writes L2 back at the end of a job.
    pub(crate) fn new(device: &Device, target: Target) -> Result<Self> {
        Ok(match target {
            Target::Pm4(target) => {
                let mut stream = TracedStream::new(device, target, CAPACITY)?;
                acquire(&mut stream, pm4::CacheActions::ACQUIRE)?;
                Self::Pm4(stream)
            }
            Target::Sdma(version) => Self::Sdma(TracedStream::new(device, version, CAPACITY)?),
        })
    }

    pub(crate) fn finish(self) -> Result<(CommandList, PacketTrace)> {
        match self {
            Self::Pm4(stream) => stream.finish(),
            Self::Sdma(stream) => stream.finish(),
        }
    }

    /// Does nothing. The old SDMA 1.0 knows no payload.
    pub(crate) fn nop(&mut self) -> Result<()> {
        match self {
            Self::Pm4(stream) => stream.push(&pm4::Nop::Skip(&[0x736d_6f6b, 0x6521_2121])),
            Self::Sdma(stream) => stream.push(&sdma::Nop::default()),
        }
    }

    /// Stores dwords that travel in the stream.
    pub(crate) fn write(&mut self, to: GpuVa, data: &[u32]) -> Result<()> {
        match self {
            Self::Pm4(stream) => stream.push(&pm4::WriteData::new(to, data)),
            Self::Sdma(stream) => stream.push(&sdma::WriteLinear { to, data }),
        }
    }

    /// Fills whole dwords. Later commands wait for it.
    pub(crate) fn fill(&mut self, to: GpuVa, pattern: u32, bytes: u64) -> Result<()> {
        match self {
            Self::Pm4(stream) => {
                let level = stream.language().level;
                let fill = |to, _, bytes| pm4::CpDma::fill(level, to, pattern, bytes);
                cp_dma(stream, level, to, to, bytes, fill)
            }
            Self::Sdma(stream) => {
                let most = stream.language().max_fill_bytes();
                for (offset, bytes) in pieces(bytes, most) {
                    stream.push(&sdma::ConstFill::new(offset_by(to, offset)?, pattern, bytes))?;
                }
                stream.push(&sdma::Nop::default())
            }
        }
    }

    /// Copies bytes between ranges that do not overlap. Later commands wait for it.
    pub(crate) fn copy(&mut self, to: GpuVa, from: GpuVa, bytes: u64) -> Result<()> {
        match self {
            Self::Pm4(stream) => {
                let level = stream.language().level;
                let copy = |to, from, bytes| pm4::CpDma::copy(level, to, from, bytes);
                cp_dma(stream, level, to, from, bytes, copy)
            }
            Self::Sdma(stream) => {
                let most = stream.language().max_copy_bytes();
                for (offset, bytes) in pieces(bytes, most) {
                    let (to, from) = (offset_by(to, offset)?, offset_by(from, offset)?);
                    stream.push(&sdma::CopyLinear::new(to, from, bytes))?;
                }
                stream.push(&sdma::Nop::default())
            }
        }
    }

    /// Waits until the dword at `at` is `value`.
    pub(crate) fn wait_for(&mut self, at: GpuVa, value: u32) -> Result<()> {
        match self {
            Self::Pm4(stream) => stream.push(&pm4::WaitRegMem::new(at, pm4::Compare::Equal, value)),
            Self::Sdma(stream) => stream.push(&sdma::PollMem::new(at, pm4::Compare::Equal, value)),
        }
    }

    /// Stores the GPU's clock, 8 bytes, at `to`, when everything before is done. `scratch` as for [`Recorder::fence`].
    pub(crate) fn timestamp(&mut self, to: GpuVa, scratch: GpuVa) -> Result<()> {
        match self {
            Self::Pm4(stream) => stream.push(&pm4::EndOfPipeSequence { event: pm4::EndOfPipe::timestamp(to), scratch }),
            Self::Sdma(stream) => stream.push(&sdma::Timestamp { va: to }),
        }
    }

    /// Starts a grid of compute groups and waits for it; what it stored is then in memory. All registers on which it depends are
    /// set, because on a graphics ring they have the values that another process left there.
    ///
    /// Source: Mesa 25.0.7 `src/amd/vulkan/radv_queue.c`, `radv_emit_compute`, and `radv_cmd_buffer.c`,
    /// `radv_emit_dispatch_packets`, for the registers.
    pub(crate) fn dispatch(&mut self, grid: &Grid<'_>) -> Result<()> {
        use registers as r;
        let Self::Pm4(stream) = self else { return Ok(()) };
        let target = stream.language();
        let level = target.level;
        let flags = if target.ring == pm4::Ring::Gfx { pm4::HeaderFlags::COMPUTE } else { pm4::HeaderFlags::empty() };
        acquire(stream, pm4::CacheActions::ACQUIRE)?;
        set_thread_masks(stream, flags, grid.engines)?;
        let mut set = |first: r::Register, values: &[u32]| {
            let Some(first) = first.offset(level) else { return Ok(()) };
            stream.push(&r::SetRegisters { first, flags, values })
        };
        let address = |va: GpuVa| [va.as_u64() >> 8, va.as_u64() >> 40].map(|half| (half & 0xffff_ffff) as u32);
        let [low, high] = address(grid.code);
        let [first, second, third] = grid.program.resources();
        set(r::COMPUTE_PGM_LO, &[low, high & 0xff])?;
        set(r::COMPUTE_PGM_RSRC1, &[first, second])?;
        set(r::COMPUTE_RESOURCE_LIMITS, &[0])?;
        if level >= GfxLevel::Gfx10 {
            set(r::COMPUTE_PGM_RSRC3, &[third])?;
            set(r::COMPUTE_USER_ACCUM_0, &[0; 4])?;
            set(r::COMPUTE_DISPATCH_TUNNEL, &[0])?;
        }
        // RADV's number of work-groups that an engine receives in a row. It exists on GFX11 and later.
        set(r::COMPUTE_DISPATCH_INTERLEAVE, &[64])?;
        match level {
            GfxLevel::Gfx9 => set(r::CP_COHER_START_DELAY, &[0])?,
            GfxLevel::Gfx10 | GfxLevel::Gfx10_3 => set(r::CP_COHER_START_DELAY, &[0x20])?,
            _ => {}
        }
        set(r::COMPUTE_TMPRING_SIZE, &[grid.program.scratch_ring(grid.scratch_waves)])?;
        if level >= GfxLevel::Gfx11 {
            let [low, high] = address(grid.scratch);
            set(r::COMPUTE_DISPATCH_SCRATCH_BASE_LO, &[low, high & 0xff])?;
        }
        set(r::COMPUTE_START_X, &[0, 0, 0])?;
        set(r::COMPUTE_NUM_THREAD_X, &[grid.threads, 1, 1])?;
        set(r::COMPUTE_USER_DATA_0, grid.user)?;
        let initiator = grid.program.initiator();
        stream.push(&pm4::DispatchDirect { flags, x: grid.groups, y: 1, z: 1, initiator })?;
        stream.push(&pm4::EventWrite::new(pm4::Event::CS_PARTIAL_FLUSH))?;
        acquire(stream, pm4::CacheActions::WRITE_BACK_L2 | pm4::CacheActions::INVALIDATE_VECTOR)
    }

    /// Draws, and waits until the targets are in memory.
    ///
    /// Source: Mesa 25.0.7 `src/amd/vulkan/radv_queue.c`, `radv_emit_graphics`, for CONTEXT_CONTROL and for the wait before rings
    /// are set; `radv_cs.c`, `radv_cs_emit_cache_flush`, for the end.
    pub(crate) fn draw(&mut self, draw: &Draw<'_>) -> Result<()> {
        const ONLY_UPDATE: u32 = 1 << 31;
        const AUTO_INDEX: u32 = 2;
        let Self::Pm4(stream) = self else { return Ok(()) };
        let level = stream.language().level;
        // No stage may still be busy with another process's work when its registers change.
        for event in [pm4::Event::VS_PARTIAL_FLUSH, pm4::Event::PS_PARTIAL_FLUSH] {
            if event.exists(level) {
                stream.push(&pm4::EventWrite::new(event))?;
            }
        }
        acquire(stream, pm4::CacheActions::ACQUIRE)?;
        stream.push(&pm4::ContextControl {
            load: ONLY_UPDATE,
            shadow: ONLY_UPDATE,
            ..pm4::ContextControl::default()
        })?;
        for write in draw.writes {
            stream.push(&registers::SetRegister { register: write.register, value: write.value })?;
        }
        stream.push(&pm4::NumInstances { instances: 1, ..pm4::NumInstances::default() })?;
        let auto =
            pm4::DrawIndexAuto { vertices: draw.vertices, initiator: AUTO_INDEX, ..pm4::DrawIndexAuto::default() };
        stream.push(&auto)?;
        let store = pm4::EopStore::Dword { va: draw.done, value: 1 };
        let event = pm4::EndOfPipe::new(pm4::EopEvent::CacheFlushAndInvalidate, store)
            .with_caches(level, pm4::CacheActions::WRITE_BACK_L2);
        stream.push(&pm4::EndOfPipeSequence { event, scratch: draw.scratch })?;
        stream.push(&pm4::WaitRegMem::new(draw.done, pm4::Compare::Equal, 1))?;
        acquire(stream, pm4::CacheActions::WRITE_BACK_L2 | pm4::CacheActions::INVALIDATE_VECTOR)
    }

    /// Dwords that no engine understands.
    pub(crate) fn garbage(&mut self) -> Result<()> {
        match self {
            // A type-3 packet with an opcode that nothing has, and a body that is none either.
            Self::Pm4(stream) => stream.push_raw(&[0xc001_0600 | 0xff << 8, 0xdead_beef, 0xdead_beef]),
            Self::Sdma(stream) => stream.push_raw(&[0xff, 0xdead_beef]),
        }
    }

    /// Stores `value` at `to` when everything before is done. `scratch` is memory that some generations need for it.
    pub(crate) fn fence(&mut self, to: GpuVa, value: u32, scratch: GpuVa) -> Result<()> {
        match self {
            Self::Pm4(stream) => {
                stream.push(&pm4::EndOfPipeSequence { event: pm4::EndOfPipe::fence(to, value), scratch })
            }
            Self::Sdma(stream) => {
                let version = stream.language();
                if matches!(version, sdma::Version::V2_4 | sdma::Version::V3_0) {
                    stream.push(&sdma::Nop::default())?;
                }
                stream.push(&sdma::Fence::new(version, to, value))
            }
        }
    }
}

/// Records cache operations over all memory. Up to GFX9 the prefetch parser executes them, and waits for the micro engine before:
/// otherwise they would come before earlier packets.
///
/// Source: Mesa 25.0.7 `src/amd/vulkan/radv_cs.c`, `radv_cs_emit_cache_flush`.
fn acquire(stream: &mut TracedStream<pm4::Target>, actions: pm4::CacheActions) -> Result<()> {
    let target = stream.language();
    if target.ring == pm4::Ring::Gfx && target.level < GfxLevel::Gfx10 {
        stream.push(&pm4::PfpSyncMe)?;
    }
    pm4::AcquireMem::each(target, actions).try_for_each(|acquire| stream.push(&acquire))
}

/// Records the masks of compute units: all units of each shader engine, and none of engines that the chip does not have. From GFX10
/// on the packet leaves out units that the kernel reserves.
///
/// Source: Mesa 25.0.7 `src/amd/vulkan/radv_queue.c`, `radv_emit_compute`.
fn set_thread_masks(stream: &mut TracedStream<pm4::Target>, flags: pm4::HeaderFlags, engines: u32) -> Result<()> {
    use registers as r;
    const KEEP_RESERVED: u64 = 3;
    let level = stream.language().level;
    let masks = [
        (GfxLevel::Gfx6, r::COMPUTE_STATIC_THREAD_MGMT_SE0),
        (GfxLevel::Gfx6, r::COMPUTE_STATIC_THREAD_MGMT_SE1),
        (GfxLevel::Gfx7, r::COMPUTE_STATIC_THREAD_MGMT_SE2),
        (GfxLevel::Gfx7, r::COMPUTE_STATIC_THREAD_MGMT_SE3),
        (GfxLevel::Gfx11, r::COMPUTE_STATIC_THREAD_MGMT_SE4),
        (GfxLevel::Gfx11, r::COMPUTE_STATIC_THREAD_MGMT_SE5),
        (GfxLevel::Gfx11, r::COMPUTE_STATIC_THREAD_MGMT_SE6),
        (GfxLevel::Gfx11, r::COMPUTE_STATIC_THREAD_MGMT_SE7),
        (GfxLevel::Gfx12, r::COMPUTE_STATIC_THREAD_MGMT_SE8),
    ];
    for (engine, (since, register)) in (0..).zip(masks) {
        let Some(first) = register.offset(level).filter(|_| level >= since) else { continue };
        let mask = if engine < engines { u32::MAX } else { 0 };
        if level >= GfxLevel::Gfx10 {
            let place = u64::from((first - SH_REGISTERS) / 4);
            let data = [mask];
            let packet = packet!(SET_SH_REG_INDEX { reg_offset: place, index: KEEP_RESERVED }, &data);
            stream.push(&Described { flags, ..packet })?;
        } else {
            stream.push(&r::SetRegisters { first, flags, values: &[mask] })?;
        }
    }
    Ok(())
}

/// The byte offset of the SH registers.
const SH_REGISTERS: u32 = 0xb000;

/// A grid of compute groups.
pub(crate) struct Grid<'g> {
    pub(crate) code: GpuVa,
    pub(crate) program: &'g Program,
    pub(crate) groups: u32,
    pub(crate) threads: u32,
    pub(crate) user: &'g [u32],
    pub(crate) scratch: GpuVa,
    /// The number of waves in the register: see [`Program::scratch_ring`].
    pub(crate) scratch_waves: u32,
    /// The number of shader engines of the chip.
    pub(crate) engines: u32,
}

/// A draw with all its registers.
pub(crate) struct Draw<'d> {
    pub(crate) writes: &'d [RegisterWrite],
    pub(crate) vertices: u32,
    /// A dword that is 0 before the draw and 1 behind it.
    pub(crate) done: GpuVa,
    /// Memory that some generations need, as for [`Recorder::fence`].
    pub(crate) scratch: GpuVa,
}

/// Transfers by the command processor, split into packets; the last one synchronizes with what follows.
fn cp_dma(
    stream: &mut TracedStream<pm4::Target>,
    level: GfxLevel,
    to: GpuVa,
    from: GpuVa,
    bytes: u64,
    packet: impl Fn(GpuVa, GpuVa, u32) -> pm4::CpDma,
) -> Result<()> {
    for (offset, len) in pieces(bytes, pm4::CpDma::max_chunk_bytes(level)) {
        let is_last = offset + u64::from(len) == bytes;
        let packet = packet(offset_by(to, offset)?, offset_by(from, offset)?, len);
        stream.push(&packet.with_sync(is_last))?;
    }
    Ok(())
}

/// Cuts `bytes` into pieces of at most `most`: where each starts and how long it is.
fn pieces(bytes: u64, most: u32) -> impl Iterator<Item = (u64, u32)> {
    let most = most.max(1);
    let starts = (0..bytes).step_by(most as usize);
    starts.map(move |start| (start, u32::try_from(bytes - start).map_or(most, |left| left.min(most))))
}

/// `va + bytes`, as an error of the layer where the address would have gone.
fn offset_by(va: GpuVa, bytes: u64) -> Result<GpuVa> {
    let sum = va.as_u64().wrapping_add(bytes);
    va.checked_add(bytes).ok_or_else(|| {
        RecordError::from(amdgpu_winsys::winsys::Error::InvalidReply(InvalidReply {
            field: "GPU address",
            value: sum,
            reason: "past the end of its half",
        }))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_cover_everything_once_and_none_is_too_long() {
        for (bytes, most) in [(0, 8), (1, 8), (8, 8), (9, 8), (1 << 20, 0x7fe0), (1 << 33, 1 << 30)] {
            let mut next = 0;
            for (start, len) in pieces(bytes, most) {
                assert_eq!(start, next);
                assert!(0 < len && len <= most);
                next += u64::from(len);
            }
            assert_eq!(next, bytes);
        }
    }
}
