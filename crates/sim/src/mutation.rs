//! Devices that do one thing wrong, to prove that a test can fail.

use amdgpu_winsys::{
    uapi::{Argument, GemClose, GemMmap},
    vamgr::GpuVa,
};
use nix::errno::Errno;

use crate::{
    gpu::{Memory, PageFault},
    space::Space,
};

/// One mistake that a device makes whenever it can. See [`SimDevice::mutate`](crate::SimDevice::mutate).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Mutation {
    /// What packets write from their own data never arrives.
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
    /// A job's end is told to nobody who waits for it in the kernel.
    LostWakeUp,
    /// A job ends without having been run.
    SkippedJob,
    /// A BO is mapped where the one made before it is.
    SwappedHandles,
    /// A handle is closed in words only.
    LeakedHandle,
    /// Every refusal is EINVAL.
    WrongErrno,
}

impl Mutation {
    /// All there are.
    pub const ALL: [Self; 11] = [
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
    ];

    /// From 1 on.
    pub(crate) const fn number(self) -> u8 {
        self as u8 + 1
    }

    pub(crate) fn numbered(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number.checked_sub(1)?)).copied()
    }

    /// Serves a request as this device does.
    pub(crate) fn serve(
        self,
        number: u8,
        bytes: &mut [u8],
        handler: impl FnOnce(&mut [u8]) -> Result<(), Errno>,
    ) -> Result<(), Errno> {
        match self {
            Self::LeakedHandle if number == GemClose::REQUEST.number() => Ok(()),
            Self::SwappedHandles if number == GemMmap::REQUEST.number() => {
                // The lowest byte of a handle is enough to name another one.
                if let Some(low) = bytes.first_mut().filter(|low| **low > 1) {
                    *low -= 1;
                }
                handler(bytes)
            }
            Self::WrongErrno => handler(bytes).map_err(|_| Errno::EINVAL),
            _ => handler(bytes),
        }
    }
}

/// Memory as the packets of a broken device see it.
pub(crate) struct Mutant<'m> {
    pub(crate) memory: &'m Space,
    pub(crate) mutation: Mutation,
}

impl Memory for Mutant<'_> {
    fn read(&self, va: GpuVa, out: &mut [u8]) -> Result<(), PageFault> {
        self.memory.read(va, out)
    }

    fn write(&self, va: GpuVa, data: &[u8]) -> Result<(), PageFault> {
        if self.mutation == Mutation::DropWrite { Ok(()) } else { self.memory.write(va, data) }
    }

    fn copy(&self, to: GpuVa, from: GpuVa, len: u64) -> Result<(), PageFault> {
        let shorter = len.saturating_sub(1);
        match (self.mutation, from.checked_add(1)) {
            (Mutation::ShortCopy, _) => self.memory.copy(to, from, shorter),
            (Mutation::ShiftedCopy, Some(next)) => self.memory.copy(to, next, shorter),
            _ => self.memory.copy(to, from, len),
        }
    }

    fn fill(&self, to: GpuVa, pattern: u32, len: u64) -> Result<(), PageFault> {
        let short = if self.mutation == Mutation::ShortFill { 4 } else { 0 };
        self.memory.fill(to, pattern, len.saturating_sub(short))
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
