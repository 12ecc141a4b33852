//! Finds the AMD GPUs of this machine and prints their properties.
//!
//! `cargo run --example gpu_info`

use std::{
    io::{self, Write},
    path::Path,
};

use amdgpu_winsys::winsys::{Device, GpuInfo, Ip, Node, RenderNode};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = std::io::stdout().lock();
    let nodes = Node::enumerate(Path::new("/"))?;
    if nodes.is_empty() {
        writeln!(out, "no AMD render node; amdgpu-smoke can show a simulated one")?;
    }
    for node in nodes {
        let opened = RenderNode::open(&node.path)?;
        // The requests of the crate `drm` work on the same descriptor.
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
        units(&mut out, info)?;
        rates(&mut out, info)?;
        queues(&mut out, info)?;
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

fn units(out: &mut impl Write, info: &GpuInfo) -> io::Result<()> {
    let (units, peaks) = (info.units(), info.peaks());
    let pairs = peaks.workgroup_processors.map_or(String::new(), |pairs| format!(" ({pairs} WGPs)"));
    writeln!(
        out,
        "  units    {} shader engines x {} arrays, {} compute units{pairs}, {} SIMDs x {} lanes each, {} render backends",
        units.engines,
        units.arrays_per_engine,
        units.compute_units,
        peaks.simds_per_unit,
        peaks.lanes_per_simd,
        units.render_backends
    )
}

fn rates(out: &mut impl Write, info: &GpuInfo) -> io::Result<()> {
    let (units, peaks, mhz) = (info.units(), info.peaks(), info.max_engine_clock_mhz);
    let per_second = |rate: u64| if mhz == 0 { String::new() } else { format!(" ({rate} M/s)") };
    if mhz == 0 {
        writeln!(out, "  compute  {} FLOPs/clock, clock unknown", peaks.flops_per_clock)?;
    } else {
        writeln!(out, "  compute  {} FLOPs/clock, {} GFLOPS at {mhz} MHz", peaks.flops_per_clock, peaks.gflops)?;
    }
    match (peaks.primitives_per_clock, peaks.primitives_mtris_per_s, peaks.culled_primitives_per_clock) {
        (Some(drawn), Some(rate), Some(culled)) => {
            writeln!(out, "  geometry {drawn} primitives/clock{}, culls {culled}", per_second(rate))?;
        }
        _ => writeln!(out, "  geometry unknown")?,
    }
    write!(out, "  pixels   ")?;
    if let (Some(pixels), Some(rate)) = (peaks.raster_pixels_per_clock, peaks.raster_mpixels_per_s) {
        write!(out, "{pixels} rasterized/clock{}, ", per_second(rate))?;
    }
    writeln!(out, "{} written/clock{}", peaks.rop_pixels_per_clock, per_second(peaks.rop_mpixels_per_s))?;
    let bandwidth = match peaks.memory_gb_per_s {
        0 => "bandwidth unknown".to_owned(),
        rate => format!("{rate} GB/s"),
    };
    writeln!(out, "  memory   {:?} {} bits at {} MHz: {bandwidth}", units.memory, units.memory_bits, units.memory_mhz)
}

fn queues(out: &mut impl Write, info: &GpuInfo) -> io::Result<()> {
    let topology = info.topology();
    match topology.mecs {
        None => writeln!(
            out,
            "  queues   {} graphics and {} compute rings on the ME",
            topology.me_pipes,
            topology.kernel_compute_queues()
        )?,
        Some(mecs) => {
            let last =
                |of: fn(&amdgpu_winsys::winsys::MecQueue) -> u8| mecs.kernel_queues().map(|queue| of(&queue)).max();
            writeln!(
                out,
                "  queues   ME {} pipes; MEC {} x {} pipes x {} queues, {} in the kernel's hands (pipes 0-{}, queues 0-{}), ring 0 \
                 high priority",
                topology.me_pipes,
                mecs.count,
                mecs.pipes,
                mecs.queues,
                topology.kernel_compute_queues(),
                last(|queue| queue.pipe).unwrap_or(0),
                last(|queue| queue.queue).unwrap_or(0)
            )?;
        }
    }
    write!(out, "  rings   ")?;
    for ip in Ip::ALL {
        if let Some(block) = info.ip_block(ip) {
            write!(out, " {ip} {} (version {}.{})", block.rings, block.version.major, block.version.minor)?;
        }
    }
    writeln!(out)
}
