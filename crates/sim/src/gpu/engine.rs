//! An engine: what stands behind one ring.

use amdgpu_winsys::cs::{DecodeError, DecodeFault, Target};
use amdgpu_winsys::vamgr::GpuVa;

use super::fetch::Frame;
use super::{Environment, Place, Registers, Stop};

/// An IB in GPU memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ib {
    /// Where it starts: a multiple of 4.
    pub va: GpuVa,
    /// Its length in dwords.
    pub dwords: u32,
}

/// One ring's engine: ME with PFP, MEC, or a copy engine.
///
/// ```
/// use amdgpu_sim::gpu::{Clock, Engine, Environment, Ib, Job, Memory, PageFault, Place};
/// use amdgpu_winsys::cs::{Packet, Target, pm4};
/// use amdgpu_winsys::vamgr::GpuVa;
/// use amdgpu_winsys::winsys::{GfxLevel, Ip};
/// use std::cell::RefCell;
///
/// /// All of memory, from address 0 on.
/// struct Flat(RefCell<Vec<u8>>);
///
/// impl Memory for Flat {
///     fn read(&self, va: GpuVa, out: &mut [u8]) -> Result<(), PageFault> {
///         let at = va.as_u64() as usize;
///         out.copy_from_slice(&self.0.borrow()[at..at + out.len()]);
///         Ok(())
///     }
///     fn write(&self, va: GpuVa, data: &[u8]) -> Result<(), PageFault> {
///         let at = va.as_u64() as usize;
///         self.0.borrow_mut()[at..at + data.len()].copy_from_slice(data);
///         Ok(())
///     }
///     // ...
/// #   fn copy(&self, _: GpuVa, _: GpuVa, _: u64) -> Result<(), PageFault> { Ok(()) }
/// #   fn fill(&self, _: GpuVa, _: u32, _: u64) -> Result<(), PageFault> { Ok(()) }
/// }
/// # struct Now;
/// # impl Clock for Now { fn ticks(&self) -> u64 { 0 } }
/// # struct Plain;
/// # impl Job for Plain {
/// #     fn keep_waiting(&self) -> bool { false }
/// #     fn fault(&self, _: PageFault, _: Place) {}
/// # }
/// # let (clock, job) = (Now, Plain);
///
/// // A stream that stores 7 at 0x1000 lies at 0x0.
/// let mut ib = [0; 8];
/// let target = pm4::Target::compute(GfxLevel::Gfx10);
/// let dwords = pm4::EndOfPipe::fence(GpuVa::new(0x1000)?, 7).encode(target, &mut ib)?;
/// let memory = Flat(RefCell::new(vec![0; 0x2000]));
/// for (at, dword) in ib.iter().enumerate() {
///     memory.write(GpuVa::new(4 * at as u64)?, &dword.to_le_bytes())?;
/// }
///
/// let mut engine = Engine::new(Target::Pm4(target));
/// let env = Environment { memory: &memory, clock: &clock, job: &job };
/// engine.run(Ib { va: GpuVa::NULL, dwords: dwords as u32 }, &env)?;
/// assert_eq!(memory.0.borrow()[0x1000], 7);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Engine {
    pub(super) target: Target,
    pub(super) registers: Registers,
    pub(super) render_backends: u32,
    /// One for each level; they keep their memory from job to job.
    pub(super) frames: [Frame; 2],
}

impl Engine {
    /// An engine with all registers zero and one render backend.
    pub const fn new(target: Target) -> Self {
        Self { target, registers: Registers::new(), render_backends: 1, frames: [Frame::new(), Frame::new()] }
    }

    /// With the render backends of this mask, each of which stores a count when a sample count is asked for.
    #[must_use]
    pub fn with_render_backends(self, mask: u32) -> Self {
        Self { render_backends: mask, ..self }
    }

    /// What the engine speaks.
    pub const fn target(&self) -> Target {
        self.target
    }

    /// The registers, which outlive a job.
    pub const fn registers(&self) -> &Registers {
        &self.registers
    }

    /// Executes an IB to its end. What it did before a stop stays done.
    ///
    /// # Errors
    ///
    /// [`Stop`]: the stream can not be followed, or the job's patience ended.
    pub fn run(&mut self, ib: Ib, env: &Environment<'_>) -> Result<(), Stop> {
        match self.target {
            Target::Pm4(target) => self.run_pm4(ib, target, env),
            Target::Sdma(version) => self.run_sdma(ib, version, env),
        }
    }
}

/// Counts down what a job may do before it is taken to run in circles.
pub(super) struct Budget {
    left: u64,
    packets: u64,
}

impl Budget {
    /// What a job may spend: one for each packet and each dword fetched. No honest stream has 4 GiB of commands.
    const WHOLE: u64 = 1 << 30;
    /// What it costs to begin another IB, besides its dwords.
    const JUMP: u64 = 1 << 10;

    pub(super) const fn new() -> Self {
        Self { left: Self::WHOLE, packets: 0 }
    }

    /// Pays for a packet.
    pub(super) fn packet(&mut self, place: Place) -> Result<(), Stop> {
        self.packets += 1;
        self.spend(1, place)
    }

    /// Pays for going to another IB, and asks whether the job still wants to.
    pub(super) fn jump(&mut self, ib: Ib, place: Place, env: &Environment<'_>) -> Result<(), Stop> {
        if env.job.is_cancelled() {
            return Err(Stop::Cancelled { place });
        }
        self.spend(Self::JUMP + u64::from(ib.dwords), place)
    }

    fn spend(&mut self, cost: u64, place: Place) -> Result<(), Stop> {
        self.left = self.left.checked_sub(cost).ok_or(Stop::Endless { place, packets: self.packets })?;
        Ok(())
    }
}

/// Tells a packet that is cut off because the rest could not be fetched from one that is wrong.
pub(super) fn malformed(frame: &Frame, target: Target, level: u8, source: DecodeError) -> Stop {
    let cut = matches!(source.fault, DecodeFault::PastTheEnd { .. });
    let packet = match source.fault {
        DecodeFault::Field { packet, .. } => packet,
        _ => "packet",
    };
    match frame.failed_fetch(target, level) {
        Some(stop) if cut => stop,
        _ => Stop::Malformed { place: frame.place(target, level, packet), source },
    }
}
