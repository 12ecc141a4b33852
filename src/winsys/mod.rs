//! The kernel's objects, one safe wrapper per ioctl.

mod chip;
#[expect(unsafe_code, reason = "the seam: ioctl arguments with addresses in them")]
mod kernel;
#[expect(unsafe_code, reason = "the seam: the system calls themselves")]
mod render_node;

pub use self::{
    chip::{GfxLevel, Ip},
    kernel::{Kernel, Plain, Protection},
    render_node::RenderNode,
};
