//! Atomic operations on memory and their packets.

use super::packet::described;
use crate::{
    cs::{EncodeError, FieldError, Packet, layout, pm4, sdma},
    vamgr::GpuVa,
};

/// An atomic operation on a dword or qword in memory.
///
/// Source: Mesa 25.0.7 `src/amd/registers/pkt3.json`, `TC_OP`; Linux 6.12 `cikd.h`, `TC_OP_*`.
///
/// ```
/// use amdgpu_winsys::{
///     cs::{Stream, Submission, commands::{Atomic, AtomicOp, Commands, Recorder}},
///     winsys::Deadline,
/// };
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// # let readback = manager.properties().type_for(amdgpu_winsys::heaps::MemoryUsage::Readback).ok_or("no such type")?;
/// # let memory = manager.allocate(&amdgpu_winsys::heaps::AllocateInfo::new(readback, 4096))?;
/// # let context = amdgpu_winsys::winsys::Context::new(&device, amdgpu_winsys::winsys::Priority::Normal)?;
/// # let queue = amdgpu_winsys::cs::Queue::new(&context, amdgpu_winsys::winsys::Ip::Gfx, 0)?;
/// # let target = amdgpu_winsys::cs::pm4::Target::gfx(device.info().gfx_level);
/// memory.map()?.store_u32(0, 40)?;
/// let mut recorder = Recorder::new(Stream::new(&device, target, 64)?);
/// recorder.atomic(memory.address(), Atomic::dword(AtomicOp::Add, 2))?;
/// let (list, used) = (recorder.finish()?, [memory.binding().clone()]);
/// queue.submit(&Submission { lists: &[&list], memory: &used, ..Submission::default() })?.wait(Deadline::NEVER)?;
/// assert_eq!(memory.map()?.load_u32(0)?, 42);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AtomicOp {
    /// Replaces the value by the operand.
    Swap,
    /// Replaces the value by the operand if the value equals this one.
    CompareSwap(u64),
    /// Adds the operand to the value; overflow wraps.
    Add,
    /// Subtracts the operand from the value; overflow wraps.
    Sub,
    /// Stores the smaller of value and operand, both signed.
    SignedMin,
    /// Stores the smaller of value and operand, both unsigned.
    UnsignedMin,
    /// Stores the larger of value and operand, both signed.
    SignedMax,
    /// Stores the larger of value and operand, both unsigned.
    UnsignedMax,
    /// Replaces the value by its bitwise AND with the operand.
    And,
    /// Replaces the value by its bitwise OR with the operand.
    Or,
    /// Replaces the value by its bitwise XOR with the operand.
    Xor,
    /// Adds one; a value that is equal to or above the operand becomes zero.
    Increment,
    /// Subtracts one; a value that is zero or above the operand becomes the operand.
    Decrement,
}

/// An atomic operation with its operand and width.
///
/// ```
/// use amdgpu_winsys::{
///     cs::{Stream, commands::{Atomic, AtomicOp, CommandError, Commands, Recorder}},
///     vamgr::GpuVa,
/// };
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let target = amdgpu_winsys::cs::pm4::Target::gfx(device.info().gfx_level);
/// let swap = Atomic::qword(AtomicOp::CompareSwap(7), 9); // stores 9 if the value is 7
/// assert_eq!((swap.bytes(), swap.is_wide, Atomic::dword(AtomicOp::Or, 1).bytes()), (8, true, 4));
/// let mut recorder = Recorder::new(Stream::new(&device, target, 64)?);
/// let odd = GpuVa::new(0x1004)?;
/// let error = recorder.atomic(odd, swap).unwrap_err();
/// assert!(matches!(error, CommandError::Misaligned { value: 0x1004, multiple: 8, .. }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Atomic {
    /// The operation that combines the value in memory with the operand.
    pub op: AtomicOp,
    /// The operand; below 2^32 for a dword.
    pub operand: u64,
    /// `true` for a qword at a multiple of 8, `false` for a dword at a multiple of 4.
    pub is_wide: bool,
}

impl Atomic {
    /// Creates an operation on a dword, at a multiple of 4 bytes.
    pub const fn dword(op: AtomicOp, operand: u32) -> Self {
        Self { op, operand: operand as u64, is_wide: false }
    }

    /// Creates an operation on a qword, at a multiple of 8 bytes.
    pub const fn qword(op: AtomicOp, operand: u64) -> Self {
        Self { op, operand, is_wide: true }
    }

    /// Returns the size of the operand in bytes: 4 or 8.
    pub const fn bytes(self) -> u64 {
        if self.is_wide { 8 } else { 4 }
    }

    /// Returns the opcode of the L2 cache: 0x20 is added for qwords, and 0x40 because the old value is not returned.
    const fn number(self) -> u32 {
        const NO_RETURN: u32 = 0x40;
        let number = match self.op {
            AtomicOp::Swap => 7,
            AtomicOp::CompareSwap(_) => 8,
            AtomicOp::Add => 15,
            AtomicOp::Sub => 16,
            AtomicOp::SignedMin => 17,
            AtomicOp::UnsignedMin => 18,
            AtomicOp::SignedMax => 19,
            AtomicOp::UnsignedMax => 20,
            AtomicOp::And => 21,
            AtomicOp::Or => 22,
            AtomicOp::Xor => 23,
            AtomicOp::Increment => 24,
            AtomicOp::Decrement => 25,
        };
        number | NO_RETURN | if self.is_wide { 0x20 } else { 0 }
    }

    const fn compare(self) -> u64 {
        if let AtomicOp::CompareSwap(compare) = self.op { compare } else { 0 }
    }

    fn check(self, at: GpuVa) -> Result<(), FieldError> {
        let multiple = self.bytes();
        if !at.is_aligned(multiple) {
            return Err(FieldError::Misaligned { field: "addr", value: at.as_u64(), multiple });
        }
        let max = if self.is_wide { u64::MAX } else { u32::MAX.into() };
        match [("src", self.operand), ("cmp", self.compare())].into_iter().find(|&(_, value)| value > max) {
            Some((field, value)) => Err(FieldError::TooWide { field, value, max }),
            None => Ok(()),
        }
    }
}

/// The ATOMIC_MEM packet of ME or MEC. It runs the operation once and does not return the old value: [`layout::pm4::ATOMIC_MEM`].
///
/// Source: Mesa 25.0.7 `src/amd/common/sid.h`, `PKT3_ATOMIC_MEM`; `src/amd/vulkan/radv_perfcounter.c`.
#[derive(Clone, Copy, Debug)]
pub(super) struct AtomicMem {
    pub(super) at: GpuVa,
    pub(super) atomic: Atomic,
}

impl AtomicMem {
    fn fields(&self) -> [(layout::FieldName, u64); 4] {
        let Self { at, atomic } = self;
        [
            (layout::names::op, atomic.number().into()),
            (layout::names::addr, at.as_u64()),
            (layout::names::src, atomic.operand),
            (layout::names::cmp, atomic.compare()),
        ]
    }
}

impl Packet for AtomicMem {
    type Language = pm4::Target;
    const NAME: &'static str = "ATOMIC_MEM";

    fn len_dwords(&self, target: pm4::Target) -> Result<usize, EncodeError> {
        described(&layout::pm4::ATOMIC_MEM, &self.fields()).len_dwords(target)
    }

    fn encode(&self, target: pm4::Target, out: &mut [u32]) -> Result<usize, EncodeError> {
        let check = self.atomic.check(self.at);
        check.map_err(|source| EncodeError::Field { packet: Self::NAME, target: target.into(), source })?;
        described(&layout::pm4::ATOMIC_MEM, &self.fields()).encode(target, out)
    }
}

/// The ATOMIC packet of copy engines 3.0 and later, which does not return the old value: [`layout::sdma::ATOMIC`].
///
/// Source: Linux 6.12 `drivers/gpu/drm/amd/amdgpu/vega10_sdma_pkt_open.h`, `SDMA_PKT_ATOMIC`.
#[derive(Clone, Copy, Debug)]
pub(super) struct SdmaAtomic {
    pub(super) at: GpuVa,
    pub(super) atomic: Atomic,
}

impl SdmaAtomic {
    fn fields(&self) -> [(layout::FieldName, u64); 4] {
        let Self { at, atomic } = self;
        [
            (layout::names::atomic_op, atomic.number().into()),
            (layout::names::addr, at.as_u64()),
            (layout::names::src_data, atomic.operand),
            (layout::names::cmp, atomic.compare()),
        ]
    }
}

impl Packet for SdmaAtomic {
    type Language = sdma::Version;
    const NAME: &'static str = "ATOMIC";

    fn len_dwords(&self, version: sdma::Version) -> Result<usize, EncodeError> {
        described(&layout::sdma::ATOMIC, &self.fields()).len_dwords(version)
    }

    fn encode(&self, version: sdma::Version, out: &mut [u32]) -> Result<usize, EncodeError> {
        let check = self.atomic.check(self.at);
        check.map_err(|source| EncodeError::Field { packet: Self::NAME, target: version.into(), source })?;
        described(&layout::sdma::ATOMIC, &self.fields()).encode(version, out)
    }
}
