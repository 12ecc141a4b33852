//! The Vulkan memory types of a GPU, computed by the library's heap code. The heaps are those of `amdgpu-pool`.

use amdgpu_winsys::{
    heaps::{FactsError, MemoryFacts, MemoryProperties, TableOptions},
    winsys::GpuInfo,
};

use crate::snapshot::model::MemoryType;

/// Returns the memory types of a GPU, ordered by index, as RADV has them without any options.
///
/// # Errors
///
/// [`FactsError`] if the kernel's values are not possible for any GPU.
pub fn memory_types(gpu: &GpuInfo) -> Result<Vec<MemoryType>, FactsError> {
    let properties = MemoryProperties::new(&MemoryFacts::try_from(gpu)?, &TableOptions::default());
    let types = properties.types().iter().enumerate();
    let flags =
        |ty: &amdgpu_winsys::heaps::MemoryType| ty.properties.iter_names().map(|(name, _)| name.to_owned()).collect();
    Ok(types.map(|(index, ty)| MemoryType { index, heap: ty.heap as usize, flags: flags(ty) }).collect())
}
