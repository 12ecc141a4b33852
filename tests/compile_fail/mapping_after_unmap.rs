//! vkUnmapMemory while a mapping is in use, with and without keeping the addresses.

use amdgpu_winsys::heaps::{DeviceMemory, MemoryError};

fn unmap_first(memory: &mut DeviceMemory) -> Result<usize, MemoryError> {
    let mapping = memory.map()?;
    memory.unmap();
    Ok(mapping.len())
}

fn reserve_first(memory: &mut DeviceMemory) -> Result<usize, MemoryError> {
    let mapping = memory.map()?;
    memory.unmap_reserving()?;
    Ok(mapping.len())
}

fn main() {
    let _ = (unmap_first, reserve_first);
}
