//! The mistakes that there are, and memory as a mistaken device shows it.

use amdgpu_hw::{GpuVa, Ip};
use amdgpu_waves::Flaw;

use crate::{
    gpu::{Memory, PageFault},
    kernel::mm::space::Space,
};

/// One mistake that a device makes whenever it can. See [`SimDevice::mutate`](crate::SimDevice::mutate).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Mutation {
    /// Packets do not write their own data.
    DropWrite,
    /// A copy leaves its last byte out.
    ShortCopy,
    /// A copy takes its bytes from one further on.
    ShiftedCopy,
    /// A fill leaves its last dword out.
    ShortFill,
    /// A job sees the page tables as they were for the ring's job before it.
    StalePageTable,
    /// The user fence gets the number before the job's.
    WrongFenceValue,
    /// The end of a job wakes no waiter in the kernel.
    LostWakeUp,
    /// A job ends without having been run.
    SkippedJob,
    /// A BO is mapped where the one made before it is.
    SwappedHandles,
    /// A handle is closed in words only.
    LeakedHandle,
    /// Every refusal is EINVAL.
    WrongErrno,
    /// A bit in the middle of what a copy moves is always 1 afterwards.
    StuckBit,
    /// One bit of one byte in every 4 MiB of VRAM's addresses is 0, whatever is written.
    WeakCell,
    /// The IBs of a job run in reverse order.
    ReversedIbs,
    /// A job does not wait for others that it depends on.
    IgnoredWait,
    /// A page fault is noted nowhere.
    SilentFault,
    /// A BO that is moved to make room loses what is in it.
    EvictionWithoutRestore,
    /// Binding addresses changes nothing.
    IgnoredMap,
    /// Unbinding addresses changes nothing.
    IgnoredUnmap,
    /// Replacing what addresses are bound to changes nothing.
    IgnoredReplace,
    /// BOs requested in VRAM are placed in GTT.
    WrongDomain,
    /// The words to store with a BO are forgotten.
    LostMetadata,
    /// Signalling a sync object from the CPU changes nothing.
    LostSignal,
    /// Resetting a sync object changes nothing.
    LostReset,
    /// Every sync object is called signalled when it is waited for.
    NoWait,
    /// Every job is called done when it is waited for.
    NoJobWait,
    /// A context is freed in words only.
    LeakedContext,
    /// A sync object is destroyed in words only.
    LeakedSyncobj,
    /// The last lane of each wave of a shader is off.
    LostLane,
    /// Barriers of shaders hold no wave up.
    OpenBarrier,
    /// All lanes share the scratch memory of the first.
    SharedScratch,
    /// Additions and subtractions of shaders report no carry.
    LostCarry,
    /// Shaders load from 4 bytes further on.
    ShiftedLoad,
    /// Shader stores to every eighth dword are lost.
    LostStore,
    /// Atomic operations of shaders give back what they stored.
    LateAtomic,
    /// Shader stores to images exchange the texels of each pair in a row.
    SwappedTexel,
    /// Shader loads from images take the texel of the other row of each pair.
    WrongRow,
    /// Samplers give the nearest texel.
    Unfiltered,
}

impl Mutation {
    /// All there are.
    pub const ALL: [Self; 38] = [
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
    ];

    /// Returns `true` if it is a mistake of a ring, and can be made by the rings of one IP only.
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

    /// Returns `true` if it is a mistake of shaders, which rings of SDMA do not run.
    pub const fn is_of_a_shader(self) -> bool {
        self.flaw().is_some()
    }

    /// Returns the mistake that waves make.
    pub(crate) const fn flaw(self) -> Option<Flaw> {
        Some(match self {
            Self::LostLane => Flaw::LostLane,
            Self::OpenBarrier => Flaw::OpenBarrier,
            Self::SharedScratch => Flaw::SharedScratch,
            Self::LostCarry => Flaw::LostCarry,
            Self::ShiftedLoad => Flaw::ShiftedLoad,
            Self::LostStore => Flaw::LostStore,
            Self::LateAtomic => Flaw::LateAtomic,
            Self::SwappedTexel => Flaw::SwappedTexel,
            Self::WrongRow => Flaw::WrongRow,
            Self::Unfiltered => Flaw::Unfiltered,
            _ => return None,
        })
    }

    /// From 1 on.
    pub(crate) const fn number(self) -> u8 {
        self as u8 + 1
    }

    pub(crate) fn numbered(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number.checked_sub(1)?)).copied()
    }
}

/// A mistake, and whose it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scope(pub(crate) Option<Ip>);

impl Scope {
    /// Returns `true` if rings of an IP are in it.
    pub(crate) fn holds(self, ip: Ip) -> bool {
        self.0.is_none_or(|only| only == ip)
    }
}

/// Memory as the packets of a broken device see it.
pub(crate) struct Mutant<'m> {
    pub(crate) memory: &'m Space,
    pub(crate) mutation: Mutation,
}

/// Distance of weak cells, bytes.
const WEAK_EVERY: u64 = 4 << 20;
/// Address of a weak cell within that distance.
const WEAK_AT: u64 = 0x3a_5a44;
/// The bit that a weak cell does not keep.
const WEAK_BIT: u8 = 1 << 6;

impl Mutant<'_> {
    /// Clears the weak bits of a range that was written.
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
