//! Sparse resources: address ranges whose pages are bound and unbound while they are in use.
//!
//! A [`SparseRange`] is such a range, which can be changed at once. A [`SparseQueue`] changes ranges in order with semaphores.
//!
//! RADV keeps a list of pieces, which it sorts again for each change, and makes one ioctl per change (Mesa 25.0.7
//! `src/amd/vulkan/winsys/amdgpu/radv_amdgpu_bo.c`, `radv_amdgpu_winsys_bo_virtual_bind`). Here, a change takes time
//! logarithmic in the number of pieces, adjacent changes are combined into one ioctl, and the recorded bindings match those of
//! the kernel after every error.

mod queue;
mod range;

pub use self::{
    queue::{SparseFence, SparsePoint, SparseQueue, SparseSubmission},
    range::{Backing, SparseBind, SparseRange},
};
