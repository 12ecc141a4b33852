//! Handing a mapping out of the function that owns its memory.

use amdgpu_winsys::{heaps::MemoryManager, heaps::AllocateInfo, winsys::Mapping};

fn map(manager: &MemoryManager) -> &Mapping {
    let memory = manager.allocate(&AllocateInfo::new(0, 4096)).unwrap();
    memory.map().unwrap()
}

fn main() {
    let _ = map;
}
