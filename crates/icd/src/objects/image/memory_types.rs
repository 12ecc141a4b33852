//! The format modifiers of a GPU, and its host-visible memory types.

use amdgpu_surface::modifier::{FormatClass, ListOptions, Modifier, ModifierList};
use amdgpu_winsys::heaps::MemoryPropertyFlags;

use crate::objects::Gpu;

impl Gpu {
    /// Returns the modifiers for texels of this size in bytes, best first. All have one plane, because none is compressed.
    pub(crate) fn modifiers(&self, bytes: u32) -> Vec<u64> {
        let class = FormatClass { bits: bytes * 8, compressed: false, depth_stencil: false, planes: 1 };
        let plain = ListOptions { dcc: false, retile: false };
        let list =
            self.tiles.as_ref().filter(|_| bytes.is_power_of_two()).map(|chip| ModifierList::new(chip, class, plain));
        let all = list.iter().flat_map(|list| list.as_slice().iter().copied().map(Modifier::encode));
        all.collect()
    }

    /// Returns the host-visible types among the given memory types.
    pub(crate) fn host_types(&self, types: u32) -> u32 {
        let all = self.memory.properties().types().iter().zip(0..);
        let unseen = all.filter(|(kind, _)| !kind.properties.contains(MemoryPropertyFlags::HOST_VISIBLE));
        unseen.fold(types, |types, (_, index)| types & !(1 << index))
    }
}
