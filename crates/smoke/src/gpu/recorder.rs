//! Recording one job in whichever language the ring reads.

use amdgpu_winsys::{
    cs::{CommandList, Error, Result, Target, pm4, sdma},
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

    /// Fills whole dwords. What follows waits for it.
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

    /// Copies bytes between ranges that do not overlap. What follows waits for it.
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
        Error::from(amdgpu_winsys::winsys::Error::Absurd {
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
