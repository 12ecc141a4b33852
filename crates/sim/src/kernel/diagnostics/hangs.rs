//! Records of jobs that hung.

use std::time::Instant;

use amdgpu_hw::GpuVa;
use amdgpu_uapi::GpuvmFault;

use crate::kernel::process::identity::Process;

/// The way in which the kernel recovered from a hang.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HangEnd {
    /// The time that the job may run is not over.
    #[default]
    Pending,
    /// The waves of the job were killed.
    Soft,
    /// The ring was reset.
    Ring,
    /// The whole GPU was reset, without loss of VRAM.
    Full,
    /// The process of the job ended, or another reset took the job, before its time was over.
    Lost,
}

/// The memory of a hardware ring when a job timed out. It has the packets that start the IBs of the jobs on the ring; everything else is
/// a packet that does nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RingImage {
    /// The name of the ring as the kernel has it, such as `gfx_0.0.0`.
    pub name: String,
    /// The position of the first packet of the oldest job that has not ended, in dwords.
    pub read: u64,
    /// The position behind the last packet, in dwords.
    pub write: u64,
    /// `true` if a job on the ring has not ended.
    pub is_busy: bool,
    /// All dwords of the ring.
    pub dwords: Vec<u32>,
}

/// A job that hung.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HangRecord {
    /// The name of the ring as the kernel has it, such as `gfx_0.0.0`.
    pub ring: String,
    /// The kind of engine as the kernel numbers it; `None` for user queues.
    pub ip_type: Option<u32>,
    /// The reason, in one line.
    pub why: String,
    /// The name of the captured file of the IB that hung.
    pub saved: Option<String>,
    /// The header of the packet that hung.
    pub header: Option<u32>,
    /// The number of jobs that the ring had done before, and the number of those that were submitted.
    pub jobs: (u64, u64),
    /// The submitted IBs of the job: address, length in dwords, and contents, unless they cannot be read.
    pub ibs: Vec<(GpuVa, usize, Vec<u32>)>,
    /// The number of the address space for the kernel (PASID).
    pub pasid: u32,
    /// The number of the address space for the hardware.
    pub vmid: u32,
    /// The process that submitted the job; `None` for user queues.
    pub process: Option<Process>,
    /// The last page fault of the file that submitted the job.
    pub fault: GpuvmFault,
    /// The memory of the stuck ring and of busy ones, before Linux 7.2 of all rings; none for user queues.
    pub rings: Vec<RingImage>,
    /// The time at which the job started.
    pub started: Instant,
    /// The time at which the recovery ended.
    pub recovered: Option<Instant>,
    /// The way of the recovery.
    pub end: HangEnd,
}
