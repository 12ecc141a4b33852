//! Names of rings, and fences on them.

use amdgpu_winsys::uapi::CsChunkDep;

use super::context::Context;
use crate::border::{Answer, CValue, Failure, Handle};

/// Number of kinds of IPs, and of rings of each.
pub(super) const IPS: usize = 10;
pub(super) const RINGS: usize = 8;

/// A ring of a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ring {
    pub(super) ip: u32,
    pub(super) ring: u32,
}

impl Ring {
    /// Checks the numbers of a ring. There is one instance of each IP; libdrm reads beyond an array for others.
    pub(super) fn new(ip: u32, instance: u32, ring: u32) -> Answer<Self> {
        if ip as usize >= IPS || ring as usize >= RINGS || instance != 0 {
            return Err(Failure::INVALID);
        }
        Ok(Self { ip, ring })
    }

    /// Returns the place of the ring among all.
    pub(super) fn index(self) -> usize {
        self.ip as usize * RINGS + self.ring as usize
    }
}

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
}
