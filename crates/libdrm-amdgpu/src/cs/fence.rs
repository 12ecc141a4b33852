//! Fences: submissions of a ring.

use amdgpu_winsys::uapi::{CsChunkDep, CsFence as KernelFence};

use super::{context::Context, ring::Ring};
use crate::border::{Answer, CValue, Handle};

/// The structure `amdgpu_cs_fence` of the header.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct CsFence {
    pub(super) context: Handle<Context>,
    pub(super) ip_type: u32,
    pub(super) ip_instance: u32,
    pub(super) ring: u32,
    pub(super) fence: u64,
}

const _: () = assert!(size_of::<CsFence>() == 32);

// SAFETY: a handle and integers.
unsafe impl CValue for CsFence {}

impl CsFence {
    /// Converts to the kernel's structure.
    pub(super) fn dependency(&self) -> Answer<CsChunkDep> {
        Ok(CsChunkDep {
            ip_type: self.ip_type,
            ip_instance: self.ip_instance,
            ring: self.ring,
            ctx_id: self.context.get()?.id(),
            handle: self.fence,
        })
    }

    /// Checks the context and the ring of a fence.
    pub(super) fn checked<'a>(&self) -> Answer<&'a Context> {
        let context = self.context.get()?;
        Ring::new(self.ip_type, 0, self.ring)?;
        Ok(context)
    }

    /// Converts to the kernel's structure.
    pub(super) fn of_kernel(&self, context: &Context) -> KernelFence {
        KernelFence {
            ctx_id: context.id(),
            ip_type: self.ip_type,
            ip_instance: self.ip_instance,
            ring: self.ring,
            seq_no: self.fence,
        }
    }
}
