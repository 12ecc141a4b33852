//! Register shadowing: storage of a graphics job's registers in memory of its client.
//!
//! The kernel inserts SET_Q_PREEMPTION_MODE with the addresses before the job's IBs, and from then on the firmware stores the
//! registers in the shadow area. Here the area is loaded before the first IB and stored after the last. The other two areas are for
//! preemption inside an IB, which is not simulated: they are not accessed.
//!
//! Source: Linux 6.12 `amdgpu_cs.c`, `amdgpu_cs_p2_shadow`; `gfx_v11_0.c`, `gfx_v11_0_ring_emit_gfx_shadow`.

use amdgpu_hw::GpuVa;
use zerocopy::{FromZeros, IntoBytes};

use crate::gpu::{self, Memory, PageFault};

/// The shadow area of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shadow {
    va: GpuVa,
    /// `true` if the job initializes the area.
    is_new: bool,
}

impl Shadow {
    /// Returns the area at an address; `None` for the null address, which disables shadowing.
    pub(crate) fn new(va: u64, is_new: bool) -> Option<Self> {
        (va != 0).then(|| Self { va: GpuVa::from_48_bits(va), is_new })
    }

    /// Prepares the registers of a job: loads them from the area, or initializes the area with zeros.
    ///
    /// # Errors
    ///
    /// [`PageFault`] if the area is not mapped; the registers are then unchanged.
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

    /// Stores the registers after a job.
    ///
    /// # Errors
    ///
    /// [`PageFault`] if the area is not mapped for writing.
    pub(crate) fn end(self, state: &gpu::State, memory: &dyn Memory) -> Result<(), PageFault> {
        memory.write(self.va, state.registers().to_shadow().as_bytes())
    }
}
