//! Finds the AMD GPUs of this machine and prints what each of them is.
//!
//! `cargo run --example gpu_info`

use std::{io::Write as _, path::Path};

use amdgpu_winsys::winsys::{Device, Ip, Node, RenderNode};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = std::io::stdout().lock();
    let nodes = Node::enumerate(Path::new("/"))?;
    if nodes.is_empty() {
        writeln!(out, "no AMD render node; amdgpu-smoke can show a simulated one")?;
    }
    for node in nodes {
        let opened = RenderNode::open(&node.path)?;
        // The `drm` crate's requests work on the same descriptor.
        let driver = drm::Device::get_driver(&opened)?;
        let device = Device::new(opened)?;
        let info = device.info();
        writeln!(out, "{} at {}: {} (RADV {})", node.path.display(), node.pci, info.marketing_name, info.chip_name())?;
        writeln!(
            out,
            "  {} on driver {}.{} ({})",
            info.gfx_level,
            info.driver.major,
            info.driver.minor,
            driver.description().display()
        )?;
        for ip in Ip::ALL {
            if let Some(block) = info.ip_block(ip) {
                writeln!(out, "  {ip} {}.{}: {} rings", block.version.major, block.version.minor, block.rings)?;
            }
        }
        let memory = info.memory;
        writeln!(
            out,
            "  VRAM {} MiB, {} MiB of it visible, GTT {} MiB",
            memory.vram >> 20,
            memory.visible_vram >> 20,
            memory.gtt >> 20
        )?;
    }
    Ok(())
}
