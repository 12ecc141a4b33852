//! Packets that write, copy and poll memory.

mod copy_data;
mod cp_dma;
mod wait_reg_mem;
mod write_data;

pub use copy_data::{CopyData, CopySize, CopySource, CopyTo};
pub use cp_dma::{CpDma, DmaPath, DmaSource, DmaTo};
pub use wait_reg_mem::WaitRegMem;
pub use write_data::{WriteData, WritePath, WriteTo};
