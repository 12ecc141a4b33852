//! Peak rates and queues of every chip that it has, against the published arithmetic worked out elsewhere
//! (`tests/data/gpu-facts.json`).

mod support;

use amdgpu_winsys::winsys::{GpuInfo, Ip, Mecs};
use serde_json::{Map, Value, json};
use support::{chips, device_like_the_recording};

/// Returns the library's facts, in the keys of the file.
fn ours(info: &GpuInfo) -> Value {
    let (units, peaks, topology) = (info.units(), info.peaks(), info.topology());
    let mut facts = json!({
        "gfx_level": info.gfx_level.name(),
        "shader_engines": units.engines,
        "shader_engines_made": units.engines_made,
        "arrays_per_engine": units.arrays_per_engine,
        "compute_units": units.compute_units,
        "simds_per_unit": peaks.simds_per_unit,
        "lanes_per_simd": peaks.lanes_per_simd,
        "render_backends": units.render_backends,
        "rbplus": peaks.rbplus,
        "engine_mhz": units.engine_mhz,
        "flops_per_clock": peaks.flops_per_clock,
        "gflops": peaks.gflops,
        "rop_pixels_per_clock": peaks.rop_pixels_per_clock,
        "rop_mpixels_per_s": peaks.rop_mpixels_per_s,
        "primitives_per_clock": peaks.primitives_per_clock,
        "culled_primitives_per_clock": peaks.culled_primitives_per_clock,
        "raster_pixels_per_clock": peaks.raster_pixels_per_clock,
        "primitives_mtris_per_s": peaks.primitives_mtris_per_s,
        "raster_mpixels_per_s": peaks.raster_mpixels_per_s,
        "memory_mhz": units.memory_mhz,
        "memory_bits": units.memory_bits,
        "memory_gb_per_s": peaks.memory_gb_per_s,
    });
    if let Some(pairs) = peaks.workgroup_processors {
        facts["workgroup_processors"] = pairs.into();
    }
    let mut queues = Map::new();
    queues.insert("me_pipes".to_owned(), topology.me_pipes.into());
    queues.insert("mecs".to_owned(), topology.mecs.map_or(0, |mecs| mecs.count).into());
    queues.insert("kernel_compute_queues".to_owned(), topology.kernel_compute_queues().into());
    queues.insert("gfx_rings".to_owned(), info.ring_count(Ip::Gfx).into());
    queues.insert("compute_rings".to_owned(), info.ring_count(Ip::Compute).into());
    if let Some(mecs) = topology.mecs {
        let kernel: Vec<_> = mecs.kernel_queues().map(|queue| json!([queue.mec, queue.pipe, queue.queue])).collect();
        queues.insert("pipes_per_mec".to_owned(), mecs.pipes.into());
        queues.insert("queues_per_pipe".to_owned(), mecs.queues.into());
        queues.insert("hardware_compute_queues".to_owned(), mecs.hardware_queues().into());
        queues.insert("kernel_queues".to_owned(), kernel.into());
        queues.insert("high_priority".to_owned(), Mecs::HIGH_PRIORITY_RING.into());
    }
    facts["queues"] = queues.into();
    facts
}

#[test]
fn every_captured_chip_has_the_published_rates_and_queues() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/gpu-facts.json");
    let known: Map<String, Value> = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    for name in chips() {
        let Some(known) = known.get(name) else { continue };
        assert_eq!(ours(device_like_the_recording(name).info()), *known, "{name}");
    }
}
