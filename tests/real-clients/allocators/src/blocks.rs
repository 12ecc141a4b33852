//! VMA's virtual blocks: its arithmetic alone, which needs no driver.

use vk_mem::{
    VirtualAllocationCreateFlags, VirtualAllocationCreateInfo, VirtualBlock, VirtualBlockCreateFlags,
    VirtualBlockCreateInfo,
};

use crate::{
    Check, Outcome,
    world::{World, ask},
};

pub const CHECKS: &[Check] = &[("vma.virtual_block", virtual_block)];

fn virtual_block(_: &World) -> Outcome {
    let mut block = VirtualBlock::new(VirtualBlockCreateInfo {
        size: 1 << 20,
        flags: VirtualBlockCreateFlags::empty(),
        allocation_callbacks: None,
    })?;
    let flags = VirtualAllocationCreateFlags::empty();
    let info = |size| VirtualAllocationCreateInfo { size, alignment: 256, user_data: 0, flags };
    let mut all = Vec::new();
    for _ in 0..16 {
        all.push(ask!(block.allocate(info(1 << 16)))?);
    }
    if ask!(block.allocate(info(256))).is_ok() {
        return Err("more than the block has".into());
    }
    for (allocation, _) in &mut all {
        ask!(block.free(allocation));
    }
    Ok("16 of 64 KiB in 1 MiB".into())
}
