//! Register shadowing: a graphics job's registers live in memory that its client gives.
//!
//! The kernel puts SET_Q_PREEMPTION_MODE with the addresses in front of the job's IBs, and the firmware keeps the registers in the
//! shadow area from then on. The area is loaded here before the first IB and stored after the last one. The other two
//! areas are for preemption in the middle of an IB, which does not happen here: they are not touched.
//!
//! Source: Linux 6.12 `amdgpu_cs.c`, `amdgpu_cs_p2_shadow`; `gfx_v11_0.c`, `gfx_v11_0_ring_emit_gfx_shadow`.

use amdgpu_hw::GpuVa;
use zerocopy::{FromZeros, IntoBytes};

use crate::gpu::{self, Memory, PageFault};

/// Shadow area of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shadow {
    va: GpuVa,
    /// `true` if the job initialises it.
    is_new: bool,
}

impl Shadow {
    /// Returns the area at an address; `None` for the null address, which turns shadowing off.
    pub(crate) fn new(va: u64, is_new: bool) -> Option<Self> {
        (va != 0).then(|| Self { va: GpuVa::from_48_bits(va), is_new })
    }

    /// Starts a job: loads its registers, or initialises the area with zeros.
    ///
    /// # Errors
    ///
    /// [`PageFault`] if the area is not mapped; the registers stay as they are.
    pub(crate) fn begin(self, state: &mut gpu::State, memory: &dyn Memory) -> Result<(), PageFault> {
        let mut area = gpu::State::new().registers().to_shadow();
        area.zero();
        if self.is_new {
            memory.write(self.va, area.as_bytes())?;
        } else {
            memory.read(self.va, area.as_mut_bytes())?;
        }
        state.load_shadow(&area);
        Ok(())
    }

    /// Ends a job: stores its registers.
    ///
    /// # Errors
    ///
    /// [`PageFault`] if the area is not mapped for writing.
    pub(crate) fn end(self, state: &gpu::State, memory: &dyn Memory) -> Result<(), PageFault> {
        memory.write(self.va, state.registers().to_shadow().as_bytes())
    }
}
