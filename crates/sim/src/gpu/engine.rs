//! The engine that executes the packets of a ring.

use amdgpu_packets::{DecodeError, DecodeFault, Target, layout};
use amdgpu_surface::Chip;

use super::fetch::Frame;
use super::late::Late;
use super::{Environment, Ib, Registers, State, Stop};

/// The engine of a ring: ME with PFP, MEC, or a copy engine.
///
/// ```
/// use amdgpu_sim::gpu::{Clock, Engine, Environment, Ib, Job, Memory, NoShaders, PageFault, Place};
/// use amdgpu_packets::{Packet, Target, pm4};
/// use amdgpu_hw::GpuVa;
/// use amdgpu_hw::{GfxLevel, Ip};
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
/// let env = Environment { memory: &memory, clock: &clock, job: &job, shaders: &NoShaders, observer: None };
/// engine.run(Ib { va: GpuVa::NULL, dwords: dwords as u32 }, &env)?;
/// assert_eq!(memory.0.borrow()[0x1000], 7);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Engine {
    pub(super) target: Target,
    pub(super) state: State,
    pub(super) render_backends: u32,
    /// `true` if fills of copy engines before 6.0 have counts of 30 bits.
    pub(super) wide_fills: bool,
    /// The chip, for the tiling of images. Without it images are not copied.
    pub(super) chip: Option<Chip>,
    /// A frame for each call depth and one for the constant engine. Their memory is reused by later jobs.
    pub(super) frames: [Frame; 3],
    /// The work that is not executed yet, in the late schedule.
    pub(super) late: Option<Late>,
    /// The IBs that the constant engine has yet to execute, the last one first.
    pub(super) queued: Vec<Ib>,
}

impl Engine {
    /// Creates an engine in which all registers are zero, with one render backend.
    pub const fn new(target: Target) -> Self {
        Self {
            target,
            state: State::new(),
            render_backends: 1,
            wide_fills: false,
            chip: None,
            late: None,
            frames: [Frame::new(), Frame::new(), Frame::new()],
            queued: Vec::new(),
        }
    }

    /// Sets the mask of render backends, each of which stores a sample count.
    #[must_use]
    pub fn with_render_backends(self, mask: u32) -> Self {
        Self { render_backends: mask, ..self }
    }

    /// Sets whether CONST_FILL on copy engines 4.0 and 5.0 has counts of 30 bits, or of 22 bits as in the kernel's headers
    /// ([`SimOptions::wide_fills`](crate::SimOptions::wide_fills)).
    #[must_use]
    pub fn with_wide_fills(self, wide_fills: bool) -> Self {
        Self { wide_fills, ..self }
    }

    /// Sets the chip whose tiling is used to copy images.
    #[must_use]
    pub fn with_chip(self, chip: Option<Chip>) -> Self {
        Self { chip, ..self }
    }

    /// Sets whether dispatches, draws and DMA are executed when something waits for them, instead of in the order of the packets.
    #[must_use]
    pub fn with_late_work(self, is_late: bool) -> Self {
        Self { late: is_late.then(Late::default), ..self }
    }

    /// Returns the target whose packets the engine executes.
    pub const fn target(&self) -> Target {
        self.target
    }

    /// Returns the state that earlier packets set. It survives a job.
    pub const fn state(&self) -> &State {
        &self.state
    }

    /// Replaces the state with that of another context, and returns the old state.
    pub const fn switch(&mut self, state: State) -> State {
        std::mem::replace(&mut self.state, state)
    }

    /// Returns the registers of the state.
    pub const fn registers(&self) -> &Registers {
        &self.state.registers
    }

    /// Executes an IB to its end. If the engine stops, the effects of earlier packets remain.
    ///
    /// # Errors
    ///
    /// [`Stop`] if the stream cannot be executed, or the job timed out or was cancelled.
    pub fn run(&mut self, ib: Ib, env: &Environment<'_>) -> Result<(), Stop> {
        match self.target {
            Target::Pm4(target) => self.run_pm4(&[], &[ib], target, env),
            Target::Sdma(version) => self.run_sdma(ib, version, env),
        }
    }

    /// Executes the IBs of a job. The IBs in `constant` are for the constant engine, as after INDIRECT_BUFFER_CONST on the ring. It
    /// executes them in order, concurrently with the others, and shares its counters with them. The job ends when all are complete.
    ///
    /// Only graphics rings up to GFX10.3 have a constant engine. On other rings `constant` is ignored.
    ///
    /// # Errors
    ///
    /// The errors of [`run`](Self::run).
    ///
    /// Source: Linux 6.12 `gfx_v6_0.c` to `gfx_v10_0.c`, `emit_ib` of the graphics rings.
    pub fn run_beside(&mut self, constant: &[Ib], ibs: &[Ib], env: &Environment<'_>) -> Result<(), Stop> {
        match self.target {
            Target::Pm4(target) => self.run_pm4(constant, ibs, target, env),
            Target::Sdma(version) => ibs.iter().try_for_each(|&ib| self.run_sdma(ib, version, env)),
        }
    }
}

/// Returns the error for a packet that cannot be decoded: a fetch fault if the packet is truncated because of one, otherwise a
/// malformed packet.
pub(super) fn malformed(frame: &Frame, target: Target, level: u8, source: DecodeError) -> Stop {
    let cut = matches!(source.fault, DecodeFault::PastTheEnd { .. });
    let packet = match (source.fault, target) {
        (DecodeFault::Field { packet, .. }, _) => packet,
        (_, Target::Sdma(version)) => layout::copy_name(source.header, version).unwrap_or("packet"),
        _ => "packet",
    };
    match frame.failed_fetch(target, level) {
        Some(stop) if cut => stop,
        _ => Stop::Malformed { place: frame.place(target, level, packet), source },
    }
}
