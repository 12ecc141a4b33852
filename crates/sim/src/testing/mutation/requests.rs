//! Mutations of requests.

use amdgpu_uapi::{
    Argument, Ctx, Errno, GemClose, GemCreate, GemDomain, GemMetadata, GemMmap, GemVa, METADATA_OP_SET, SYNCOBJ_SIGNAL,
    SYNCOBJ_TIMELINE_SIGNAL, SyncobjArray, SyncobjDestroy, SyncobjTimelineWait, SyncobjWait, VaOperation, WaitCs,
    ctx_op,
};

use super::kinds::Mutation;

/// Returns the u32 at a byte offset of an argument.
fn word(bytes: &[u8], at: usize) -> u32 {
    let word = bytes.get(at..).and_then(|rest| rest.first_chunk::<4>());
    word.map_or(0, |word| u32::from_le_bytes(*word))
}

/// The offset of the domains in `drm_amdgpu_gem_create_in`.
const DOMAINS: usize = 16;

/// The offset of the operation in `drm_amdgpu_gem_va`.
const VA_OPERATION: usize = 8;

/// The offset of the operation in `drm_amdgpu_gem_metadata`.
const METADATA_OPERATION: usize = 4;

impl Mutation {
    /// Returns `true` if the request succeeds without effect.
    fn shrugs_at(self, number: u8, bytes: &[u8]) -> bool {
        let is = |request: u8| number == request;
        let maps = |operations: &[VaOperation]| {
            let asked = word(bytes, VA_OPERATION);
            is(GemVa::REQUEST.number()) && operations.iter().any(|operation| *operation as u32 == asked)
        };
        match self {
            Self::LeakedHandle => is(GemClose::REQUEST.number()),
            Self::LeakedSyncobj => is(SyncobjDestroy::REQUEST.number()),
            Self::LeakedContext => is(Ctx::REQUEST.number()) && word(bytes, 0) == ctx_op::FREE_CTX,
            Self::IgnoredMap => maps(&[VaOperation::Map]),
            Self::IgnoredUnmap => maps(&[VaOperation::Unmap, VaOperation::Clear]),
            Self::IgnoredReplace => maps(&[VaOperation::Replace]),
            Self::LostMetadata => {
                is(GemMetadata::REQUEST.number()) && word(bytes, METADATA_OPERATION) == METADATA_OP_SET
            }
            Self::LostSignal => is(SYNCOBJ_SIGNAL.number()) || is(SYNCOBJ_TIMELINE_SIGNAL.number()),
            Self::LostReset => is(SyncobjArray::REQUEST.number()),
            Self::NoWait => is(SyncobjWait::REQUEST.number()) || is(SyncobjTimelineWait::REQUEST.number()),
            _ => false,
        }
    }

    /// Performs a request with the mutation.
    pub(crate) fn serve(
        self,
        number: u8,
        bytes: &mut [u8],
        handler: impl FnOnce(&mut [u8]) -> Result<(), Errno>,
    ) -> Result<(), Errno> {
        if self.shrugs_at(number, bytes) {
            return Ok(());
        }
        match self {
            Self::NoJobWait if number == WaitCs::REQUEST.number() => {
                // The answer begins with a u64 that is zero for success.
                bytes.iter_mut().take(8).for_each(|byte| *byte = 0);
                Ok(())
            }
            Self::WrongDomain if number == GemCreate::REQUEST.number() => {
                if let Some(low) = bytes.get_mut(DOMAINS)
                    && u64::from(*low) == GemDomain::VRAM.bits()
                {
                    *low = GemDomain::GTT.bits() as u8;
                }
                handler(bytes)
            }
            Self::SwappedHandles if number == GemMmap::REQUEST.number() => {
                // Changing the lowest byte of a handle suffices to name another object.
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
