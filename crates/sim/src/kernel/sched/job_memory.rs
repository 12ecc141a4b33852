//! The memory of a job, as shaders access it, and the faults that they report.

use amdgpu_hw::{GfxLevel, GpuVa};
use amdgpu_packets::pm4::Register;
use amdgpu_waves::{Access, CodeCache, PageFault, Reach};
use zerocopy::IntoBytes;

use crate::gpu::{self, Client, FaultSource, Job, Memory, Scene, State};

/// Returns the address in TA_CS_BC_BASE_ADDR, which has a high half on GFX7 and later.
pub(super) fn border_colors(level: GfxLevel, state: &State) -> u64 {
    let at = |offset| Register::at_byte(offset).map_or(0, |register| u64::from(state.register(register)));
    if level == GfxLevel::Gfx6 { at(0x950c) << 8 } else { (at(0x30e00) | at(0x30e04) << 32) << 8 }
}

/// The memory of a job, as waves access it, and the job, which may be cancelled.
pub(super) struct JobMemory<'s, M: ?Sized, J: ?Sized> {
    pub(super) memory: &'s M,
    pub(super) job: &'s J,
    /// The decoded code of earlier dispatches and draws; `None` if each decodes its own.
    pub(super) code: Option<&'s CodeCache>,
}

impl<M: ?Sized, J: ?Sized> Clone for JobMemory<'_, M, J> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M: ?Sized, J: ?Sized> Copy for JobMemory<'_, M, J> {}

/// Returns a page fault of the type that waves use.
fn fault(va: u64, access: Access) -> PageFault {
    PageFault { va, access }
}

impl<M: Memory + ?Sized, J: Job + ?Sized> amdgpu_waves::Memory for JobMemory<'_, M, J> {
    fn load(&self, va: u64, out: &mut [u8]) -> Result<(), PageFault> {
        let read = self.memory.read(GpuVa::from_48_bits(va), out);
        read.map_err(|at| fault(at.va.low_48_bits(), Access::Load))
    }

    fn store(&self, va: u64, data: &[u8]) -> Result<(), PageFault> {
        let written = self.memory.write(GpuVa::from_48_bits(va), data);
        written.map_err(|at| fault(at.va.low_48_bits(), Access::Store))
    }

    fn atomic(&self, va: u64, bytes: u8, change: &mut dyn FnMut(u64) -> u64) -> Result<u64, PageFault> {
        let old = self.memory.update(GpuVa::from_48_bits(va), bytes, change);
        old.map_err(|at| {
            let access = if at.access == gpu::Access::Read { Access::Load } else { Access::Store };
            fault(at.va.low_48_bits(), access)
        })
    }

    fn fetch(&self, va: u64, out: &mut [u8]) -> Result<(), PageFault> {
        let read = self.memory.read_code(GpuVa::from_48_bits(va), out);
        read.map_err(|at| fault(at.va.low_48_bits(), Access::Fetch))
    }

    fn route(&self, is_scalar: bool, reach: Reach) {
        self.memory.route(if is_scalar { Client::Scalar } else { Client::Vector }, reach);
    }

    fn load_lanes(&self, addresses: &[u64; 64], lanes: u64, out: &mut [u32; 64]) -> Result<(), PageFault> {
        let read = self.memory.read_lanes(addresses, lanes, out);
        read.map_err(|at| fault(at.va.low_48_bits(), Access::Load))
    }

    fn store_lanes(&self, addresses: &[u64; 64], lanes: u64, data: &[u32; 64]) -> Result<(), PageFault> {
        let written = self.memory.write_lanes(addresses, lanes, data);
        written.map_err(|at| fault(at.va.low_48_bits(), Access::Store))
    }

    fn load_row(&self, va: u64, out: &mut [u32]) -> Result<(), PageFault> {
        self.load(va, out.as_mut_bytes())?;
        for word in out {
            *word = u32::from_le(*word);
        }
        Ok(())
    }

    fn store_row(&self, va: u64, data: &[u32]) -> Result<(), PageFault> {
        let mut row = [0; 64];
        let row = &mut row[..data.len()];
        for (to, word) in row.iter_mut().zip(data) {
            *to = word.to_le();
        }
        self.store(va, row.as_bytes())
    }

    fn is_stopped(&self) -> bool {
        self.job.is_cancelled()
    }

    fn on_thread(&self, work: &mut dyn FnMut(&dyn amdgpu_waves::Memory)) -> bool {
        self.memory.on_thread(&mut |memory| work(&JobMemory { memory, job: self.job, code: self.code }))
    }

    fn code_cache(&self) -> Option<&CodeCache> {
        self.code
    }
}

/// Reports a page fault of a wave.
pub(super) fn report(fault: PageFault, scene: &Scene<'_>) {
    let (access, client) = match fault.access {
        Access::Load => (gpu::Access::Read, Client::Vector),
        Access::Store | Access::Atomic => (gpu::Access::Write, Client::Vector),
        Access::ScalarLoad => (gpu::Access::Read, Client::Scalar),
        Access::ScalarStore => (gpu::Access::Write, Client::Scalar),
        Access::Fetch => (gpu::Access::Fetch, Client::Instructions),
    };
    let is_atomic = fault.access == Access::Atomic;
    let fault = gpu::PageFault { va: GpuVa::from_48_bits(fault.va), access };
    let source = FaultSource { is_atomic, ..FaultSource::new(client, &fault, scene.memory) };
    scene.job.fault_by(fault, source, scene.place);
}
