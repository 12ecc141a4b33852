//! The kinds of mutations, and the memory of a mutated device.

use amdgpu_hw::{GpuVa, Ip};
use amdgpu_waves::WaveMutation;

use crate::{
    gpu::{Memory, PageFault},
    kernel::{health::HardwareError, mm::space::Space},
};

/// A mutation: a mistake that a device makes whenever possible. See [`SimDevice::mutate`](crate::SimDevice::mutate).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Mutation {
    /// Packets with immediate data do not write it.
    DropWrite,
    /// A copy omits its last byte.
    ShortCopy,
    /// A copy reads from one byte after its source.
    ShiftedCopy,
    /// A fill omits its last dword.
    ShortFill,
    /// A job uses the page tables from the time of the ring's previous job.
    StalePageTable,
    /// The user fence receives the previous sequence number.
    WrongFenceValue,
    /// The end of a job wakes no waiters in the kernel.
    LostWakeUp,
    /// A job ends without being executed.
    SkippedJob,
    /// A BO is mapped at the address of the BO that was created before it.
    SwappedHandles,
    /// Closing a handle succeeds without closing it.
    LeakedHandle,
    /// Every error is EINVAL.
    WrongErrno,
    /// A bit in the middle of a copied range is always 1.
    StuckBit,
    /// One bit of a byte in every 4 MiB of VRAM addresses is always 0.
    WeakCell,
    /// The IBs of a job run in reverse order.
    ReversedIbs,
    /// A job does not wait for its dependencies.
    IgnoredWait,
    /// A VM fault is not reported.
    SilentFault,
    /// A BO that is evicted loses its contents.
    EvictionWithoutRestore,
    /// Mapping addresses has no effect.
    IgnoredMap,
    /// Unmapping addresses has no effect.
    IgnoredUnmap,
    /// Replacing mappings has no effect.
    IgnoredReplace,
    /// BOs for VRAM are placed in GTT.
    WrongDomain,
    /// Storing a BO's metadata has no effect.
    LostMetadata,
    /// Signalling a sync object from the CPU has no effect.
    LostSignal,
    /// Resetting a sync object has no effect.
    LostReset,
    /// Waits for sync objects return as if all were signalled.
    NoWait,
    /// Waits for jobs return as if all had completed.
    NoJobWait,
    /// Freeing a context succeeds without freeing it.
    LeakedContext,
    /// Destroying a sync object succeeds without destroying it.
    LeakedSyncobj,
    /// The last lane of each wave is disabled.
    LostLane,
    /// Barriers do not block waves.
    OpenBarrier,
    /// All lanes share the scratch memory of the first lane.
    SharedScratch,
    /// Additions and subtractions of shaders produce no carry.
    LostCarry,
    /// Shader loads read from 4 bytes after the address.
    ShiftedLoad,
    /// Shader stores to every eighth dword are lost.
    LostStore,
    /// Atomic operations of shaders return the stored value instead of the old one.
    LateAtomic,
    /// Image stores exchange the texels of each pair in a row.
    SwappedTexel,
    /// Image loads read the other row of each pair.
    WrongRow,
    /// Samplers return the nearest texel without filtering.
    Unfiltered,
    /// Right and bottom edges belong to a triangle that is drawn, and top and left ones do not.
    WrongEdge,
    /// Draws exchange red and blue.
    SwappedChannel,
    /// Draws do not store depths.
    StaleDepth,
    /// Samplers return the texel below.
    WrongTexel,
    /// Each job leaves an error in memory that ECC cannot correct.
    RasUncorrectable,
    /// Each job leaves an error in memory that ECC corrects.
    RasCorrectable,
    /// Each job causes a fatal error of the PCI Express link.
    AerFatal,
    /// Each job causes a non-fatal error of the PCI Express link.
    AerNonfatal,
    /// Each job causes a corrected error of the PCI Express link.
    AerCorrectable,
    /// After the first job, the link has only half of its lanes.
    NarrowLink,
    /// After the first job, the die is at its critical temperature.
    Overheating,
    /// The contents of VRAM are lost while the computer sleeps.
    ForgetfulSleep,
    /// Requests on a GPU that was removed are performed as if it were there.
    UnnoticedRemoval,
    /// A page flip ends, and the display still shows the old framebuffer.
    LostFlip,
    /// The compute driver (KFD) speaks another major version of its interface.
    ForeignInterface,
}

impl Mutation {
    /// All mutations.
    pub const ALL: [Self; 53] = [
        Self::DropWrite,
        Self::ShortCopy,
        Self::ShiftedCopy,
        Self::ShortFill,
        Self::StalePageTable,
        Self::WrongFenceValue,
        Self::LostWakeUp,
        Self::SkippedJob,
        Self::SwappedHandles,
        Self::LeakedHandle,
        Self::WrongErrno,
        Self::StuckBit,
        Self::WeakCell,
        Self::ReversedIbs,
        Self::IgnoredWait,
        Self::SilentFault,
        Self::EvictionWithoutRestore,
        Self::IgnoredMap,
        Self::IgnoredUnmap,
        Self::IgnoredReplace,
        Self::WrongDomain,
        Self::LostMetadata,
        Self::LostSignal,
        Self::LostReset,
        Self::NoWait,
        Self::NoJobWait,
        Self::LeakedContext,
        Self::LeakedSyncobj,
        Self::LostLane,
        Self::OpenBarrier,
        Self::SharedScratch,
        Self::LostCarry,
        Self::ShiftedLoad,
        Self::LostStore,
        Self::LateAtomic,
        Self::SwappedTexel,
        Self::WrongRow,
        Self::Unfiltered,
        Self::WrongEdge,
        Self::SwappedChannel,
        Self::StaleDepth,
        Self::WrongTexel,
        Self::RasUncorrectable,
        Self::RasCorrectable,
        Self::AerFatal,
        Self::AerNonfatal,
        Self::AerCorrectable,
        Self::NarrowLink,
        Self::Overheating,
        Self::ForgetfulSleep,
        Self::UnnoticedRemoval,
        Self::LostFlip,
        Self::ForeignInterface,
    ];

    /// Returns `true` if the mutation affects rings and can be restricted to the rings of one IP.
    pub const fn is_of_a_ring(self) -> bool {
        self.is_of_a_shader()
            || matches!(
                self,
                Self::DropWrite
                    | Self::ShortCopy
                    | Self::ShiftedCopy
                    | Self::ShortFill
                    | Self::StalePageTable
                    | Self::WrongFenceValue
                    | Self::LostWakeUp
                    | Self::SkippedJob
                    | Self::StuckBit
                    | Self::ReversedIbs
                    | Self::IgnoredWait
                    | Self::SilentFault
            )
    }

    /// Returns `true` if the mutation affects shaders, which SDMA rings do not run. Mutations that are there for draws are not among
    /// them.
    pub const fn is_of_a_shader(self) -> bool {
        self.wave_mutation().is_some() && !matches!(self, Self::WrongTexel)
    }

    /// Returns the mistake that waves make.
    pub(crate) const fn wave_mutation(self) -> Option<WaveMutation> {
        Some(match self {
            Self::LostLane => WaveMutation::LostLane,
            Self::OpenBarrier => WaveMutation::OpenBarrier,
            Self::SharedScratch => WaveMutation::SharedScratch,
            Self::LostCarry => WaveMutation::LostCarry,
            Self::ShiftedLoad => WaveMutation::ShiftedLoad,
            Self::LostStore => WaveMutation::LostStore,
            Self::LateAtomic => WaveMutation::LateAtomic,
            Self::SwappedTexel => WaveMutation::SwappedTexel,
            Self::WrongRow => WaveMutation::WrongRow,
            Self::Unfiltered => WaveMutation::Unfiltered,
            Self::WrongTexel => WaveMutation::WrongTexel,
            _ => return None,
        })
    }

    /// Returns the mistake that the fixed functions of draws make.
    pub(crate) const fn draw_mutation(self) -> Option<amdgpu_raster::DrawMutation> {
        Some(match self {
            Self::WrongEdge => amdgpu_raster::DrawMutation::WrongEdge,
            Self::SwappedChannel => amdgpu_raster::DrawMutation::SwappedChannel,
            Self::StaleDepth => amdgpu_raster::DrawMutation::StaleDepth,
            _ => return None,
        })
    }

    /// Returns the hardware fault that each job causes; `None` if the mutation is not a hardware fault.
    pub const fn hardware_error(self) -> Option<HardwareError> {
        Some(match self {
            Self::RasUncorrectable => HardwareError::RasUncorrectable,
            Self::RasCorrectable => HardwareError::RasCorrectable,
            Self::AerFatal => HardwareError::AerFatal,
            Self::AerNonfatal => HardwareError::AerNonfatal,
            Self::AerCorrectable => HardwareError::AerCorrectable,
            Self::NarrowLink => HardwareError::NarrowLink,
            Self::Overheating => HardwareError::Overheating,
            _ => return None,
        })
    }

    /// Returns the number of the mutation, counted from 1.
    pub(crate) const fn number(self) -> u8 {
        self as u8 + 1
    }

    pub(crate) fn numbered(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number.checked_sub(1)?)).copied()
    }
}

/// The rings that a mutation affects: those of one IP, or all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scope(pub(crate) Option<Ip>);

impl Scope {
    /// Returns `true` if the mutation affects the rings of an IP.
    pub(crate) fn holds(self, ip: Ip) -> bool {
        self.0.is_none_or(|only| only == ip)
    }
}

/// Memory as the packets of a mutated device access it.
pub(crate) struct Mutant<'m> {
    pub(crate) memory: &'m Space,
    pub(crate) mutation: Mutation,
}

/// The distance of weak cells in bytes.
const WEAK_EVERY: u64 = 4 << 20;
/// The address of a weak cell within that distance.
const WEAK_AT: u64 = 0x3a_5a44;
/// The bit that a weak cell loses.
const WEAK_BIT: u8 = 1 << 6;

impl Mutant<'_> {
    /// Clears the weak bits of a written range.
    fn weaken(&self, va: GpuVa, len: u64) -> Result<(), PageFault> {
        let mut offset = WEAK_AT.wrapping_sub(va.low_48_bits()) % WEAK_EVERY;
        while offset < len {
            if let Some(at) = va.checked_add(offset)
                && self.memory.is_in_vram(at)
            {
                let mut byte = [0];
                self.memory.read(at, &mut byte)?;
                self.memory.write(at, &byte.map(|byte| byte & !WEAK_BIT))?;
            }
            offset += WEAK_EVERY;
        }
        Ok(())
    }
}

impl Memory for Mutant<'_> {
    fn read(&self, va: GpuVa, out: &mut [u8]) -> Result<(), PageFault> {
        self.memory.read(va, out)
    }

    fn read_lanes(&self, addresses: &[u64; 64], lanes: u64, out: &mut [u32; 64]) -> Result<(), PageFault> {
        self.memory.read_lanes(addresses, lanes, out)
    }

    fn write(&self, va: GpuVa, data: &[u8]) -> Result<(), PageFault> {
        match self.mutation {
            Mutation::DropWrite => Ok(()),
            Mutation::WeakCell => {
                self.memory.write(va, data)?;
                self.weaken(va, data.len() as u64)
            }
            _ => self.memory.write(va, data),
        }
    }

    fn copy(&self, to: GpuVa, from: GpuVa, len: u64) -> Result<(), PageFault> {
        let shorter = len.saturating_sub(1);
        match (self.mutation, from.checked_add(1)) {
            (Mutation::ShortCopy, _) => self.memory.copy(to, from, shorter),
            (Mutation::ShiftedCopy, Some(next)) => self.memory.copy(to, next, shorter),
            (Mutation::StuckBit, _) => {
                self.memory.copy(to, from, len)?;
                let Some(at) = to.checked_add(len / 2).filter(|_| len > 0) else { return Ok(()) };
                let mut byte = [0];
                self.memory.read(at, &mut byte)?;
                self.memory.write(at, &byte.map(|byte| byte | 0x10))
            }
            (Mutation::WeakCell, _) => {
                self.memory.copy(to, from, len)?;
                self.weaken(to, len)
            }
            _ => self.memory.copy(to, from, len),
        }
    }

    fn fill(&self, to: GpuVa, pattern: u32, len: u64) -> Result<(), PageFault> {
        let short = if self.mutation == Mutation::ShortFill { 4 } else { 0 };
        self.memory.fill(to, pattern, len.saturating_sub(short))?;
        if self.mutation == Mutation::WeakCell { self.weaken(to, len) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mutation_has_a_number_and_is_listed_under_it() {
        for mutation in Mutation::ALL {
            assert_eq!(Mutation::numbered(mutation.number()), Some(mutation));
        }
        assert_eq!(Mutation::numbered(0), None);
        assert_eq!(Mutation::numbered(u8::MAX), None);
    }
}
