//! Sparse resources: address ranges whose pages come and go.
//!
//! A [`SparseRange`] is the range, changed at once; a [`SparseQueue`] changes ranges in the order of semaphores.
//!
//! RADV keeps a list of pieces that it sorts anew at each change, and makes one ioctl per change (Mesa 25.0.7
//! `src/amd/vulkan/winsys/amdgpu/radv_amdgpu_bo.c`, `radv_amdgpu_winsys_bo_virtual_bind`). Here a change costs the
//! logarithm of the number of pieces, changes that are neighbours make one ioctl, and what the library believes to be
//! bound is what the kernel has bound, whatever fails.

mod queue;
mod range;

pub use self::{
    queue::{SparseFence, SparsePoint, SparseQueue, SparseSubmission},
    range::{Backing, SparseBind, SparseRange},
};
