//! vkFreeMemory while a mapping is in use.

use amdgpu_winsys::heaps::{DeviceMemory, MemoryError};

fn free_first(memory: DeviceMemory) -> Result<usize, MemoryError> {
    let mapping = memory.map()?;
    drop(memory);
    Ok(mapping.len())
}

fn main() {
    let _ = free_first;
}
