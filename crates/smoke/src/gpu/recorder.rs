//! Recording one job in whichever language the ring reads.

use amdgpu_isa::builder::Program;
use amdgpu_winsys::{
    cs::{CommandList, Error, Result, Target, pm4, registers, sdma},
    vamgr::GpuVa,
    winsys::{Device, GfxLevel},
};

use crate::gpu::tape::{Tape, Taped};

/// Room for any job of this test, in dwords.
const CAPACITY: usize = 4096;

/// A stream for one ring, and the few commands that PM4 and SDMA have in common.
pub(crate) enum Recorder {
    Pm4(Taped<pm4::Target>),
    Sdma(Taped<sdma::Version>),
}

impl Recorder {
    pub(crate) fn new(device: &Device, target: Target) -> Result<Self> {
        Ok(match target {
            Target::Pm4(target) => Self::Pm4(Taped::new(device, target, CAPACITY)?),
            Target::Sdma(version) => Self::Sdma(Taped::new(device, version, CAPACITY)?),
        })
    }

    pub(crate) fn finish(self) -> Result<(CommandList, Tape)> {
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
            Self::Pm4(stream) => {
                let target = stream.language();
                if target.ring == pm4::Ring::Gfx && target.level == GfxLevel::Gfx9 {
                    stream.push(&pm4::EventWrite::sample(pm4::Event::ZPASS_DONE, scratch))?;
                }
                stream.push(&pm4::EndOfPipe::timestamp(to))
            }
            Self::Sdma(stream) => stream.push(&sdma::Timestamp { va: to }),
        }
    }

    /// Starts a grid of compute groups and waits for it; what it stored is then in memory.
    ///
    /// Source: Mesa 25.0.7 `src/amd/vulkan/radv_queue.c`, `radv_emit_compute`, and `radv_cmd_buffer.c`,
    /// `radv_emit_dispatch_packets`, for the registers.
    pub(crate) fn dispatch(&mut self, grid: &Grid<'_>) -> Result<()> {
        use registers as r;
        let Self::Pm4(stream) = self else { return Ok(()) };
        let target = stream.language();
        let level = target.level;
        let flags = if target.ring == pm4::Ring::Gfx { pm4::HeaderFlags::COMPUTE } else { pm4::HeaderFlags::empty() };
        let before = pm4::CacheActions::INVALIDATE_INSTRUCTIONS
            | pm4::CacheActions::INVALIDATE_SCALAR
            | pm4::CacheActions::INVALIDATE_VECTOR
            | pm4::CacheActions::INVALIDATE_L2;
        acquire(stream, before)?;
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
        for engine in [r::COMPUTE_STATIC_THREAD_MGMT_SE0, r::COMPUTE_STATIC_THREAD_MGMT_SE1] {
            set(engine, &[u32::MAX])?;
        }
        if level >= GfxLevel::Gfx7 {
            for engine in [r::COMPUTE_STATIC_THREAD_MGMT_SE2, r::COMPUTE_STATIC_THREAD_MGMT_SE3] {
                set(engine, &[u32::MAX])?;
            }
        }
        if level >= GfxLevel::Gfx10 {
            set(r::COMPUTE_PGM_RSRC3, &[third])?;
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

    /// Dwords that no engine understands.
    pub(crate) fn garbage(&mut self) -> Result<()> {
        match self {
            // A type-3 packet with an opcode that nothing has, and a body that is none either.
            Self::Pm4(stream) => stream.push_raw(&[0xc001_0600 | 0xff << 8, 0xdead_beef, 0xdead_beef]),
            Self::Sdma(stream) => stream.push_raw(&[0xff, 0xdead_beef]),
        }
    }

    /// Stores `value` at `to` when everything before is done. `scratch` is 2 KiB that some generations need for it.
    ///
    /// The detours of the generations are those of Mesa 25.0.7 `radv_cs.c`, `radv_cs_emit_write_event_eop`.
    pub(crate) fn fence(&mut self, to: GpuVa, value: u32, scratch: GpuVa) -> Result<()> {
        match self {
            Self::Pm4(stream) => {
                let target = stream.language();
                let graphics = target.ring == pm4::Ring::Gfx;
                match target.level {
                    GfxLevel::Gfx7 | GfxLevel::Gfx8 if graphics => {
                        stream.push(&pm4::EndOfPipe::fence(to, value.wrapping_sub(1)))?;
                    }
                    GfxLevel::Gfx9 if graphics => {
                        stream.push(&pm4::EventWrite::sample(pm4::Event::ZPASS_DONE, scratch))?;
                    }
                    _ => {}
                }
                stream.push(&pm4::EndOfPipe::fence(to, value))
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

/// Cache operations over all memory.
fn acquire(stream: &mut Taped<pm4::Target>, actions: pm4::CacheActions) -> Result<()> {
    let target = stream.language();
    stream.push(&pm4::AcquireMem::all(target, actions))
}

/// A grid of compute groups.
pub(crate) struct Grid<'g> {
    pub(crate) code: GpuVa,
    pub(crate) program: &'g Program,
    pub(crate) groups: u32,
    pub(crate) threads: u32,
    pub(crate) user: &'g [u32],
    pub(crate) scratch: GpuVa,
    pub(crate) scratch_waves: u32,
}

/// Transfers by the command processor, split into packets; the last one synchronizes with what follows.
fn cp_dma(
    stream: &mut Taped<pm4::Target>,
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
        Error::from(amdgpu_winsys::winsys::Error::InvalidReply {
            field: "GPU address",
            value: sum,
            reason: "past the end of its half",
        })
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
