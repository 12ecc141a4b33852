//! Warnings with stable names.

use crate::snapshot::{
    model::{Gpu, Resets, Snapshot, Warning},
    units::{Units, percent},
};

/// Returns the warnings about the state in a snapshot.
pub fn of(snapshot: &Snapshot) -> Vec<Warning> {
    snapshot.gpus.iter().flat_map(|gpu| of_gpu(gpu, snapshot)).collect()
}

fn of_gpu(gpu: &Gpu, snapshot: &Snapshot) -> Vec<Warning> {
    let size = |bytes| Units::Auto.text(bytes);
    let mut found = Vec::new();
    let mut warn = |code: &str, text: String| {
        found.push(Warning { code: code.to_owned(), gpu: Some(gpu.index), text });
    };
    let vram = &gpu.domains.vram;
    if gpu.power.as_deref() == Some("suspended") && gpu.heaps.is_none() {
        warn("asleep", "the GPU is asleep and was not woken; heaps and counters are unknown".to_owned());
    }
    if let (Some(true), Some(carve_out), Some(gtt)) = (gpu.apu, vram.total, gpu.domains.gtt.total)
        && carve_out < gtt / 4
    {
        let text = format!(
            "the carve-out is {}, but {} more can be mapped: programs that look at VRAM alone will think this GPU is full",
            size(carve_out),
            size(gtt)
        );
        warn("apu-carveout-small", text);
    }
    if let (Some(true), Some(gtt), Some(memory)) = (gpu.apu, gpu.domains.gtt.total, snapshot.system.mem_total)
        && gtt > memory
    {
        warn("gtt-exceeds-ram", format!("GTT is {}, but the machine has {}", size(gtt), size(memory)));
    }
    if let (Some(false), Some(all), Some(visible)) = (gpu.apu, vram.total, gpu.domains.visible_vram.total)
        && visible.saturating_mul(2) < all
    {
        let text = format!("the CPU sees {} of {} VRAM: resizable BAR is off", size(visible), size(all));
        warn("small-bar", text);
    }
    // What an APU's carve-out does not hold is as fast in GTT.
    if let Some(evicted) = vram.evicted.filter(|&evicted| evicted > 0 && gpu.apu != Some(true)) {
        warn("evicted", format!("{} are displaced from VRAM; the command why tells the reason", size(evicted)));
    }
    let effective = &gpu.effective;
    if let (Some(total), Some(available)) = (effective.total, effective.available)
        && percent(available, total).is_some_and(|free| free < 5)
    {
        warn("nearly-full", format!("{} of {} is left", size(available), size(total)));
    }
    if !gpu.throttled.is_empty() {
        warn("throttled", format!("the firmware holds the clocks back: {}", gpu.throttled.join(", ")));
    }
    if gpu.counters.vram_lost.is_some_and(|lost| lost > 0) {
        warn("vram-lost", "a reset has lost the contents of VRAM since the driver was loaded".to_owned());
    }
    if let Some(Resets { count, pid, process }) = &gpu.resets {
        let times = if *count == 1 { "once".to_owned() } else { format!("{count} times") };
        let culprit = pid.zip(process.as_ref());
        let culprit = culprit.map(|(pid, name)| format!("; the last stuck job was of process {pid} ({name})"));
        warn("reset", format!("the GPU was reset {times} while this program runs{}", culprit.unwrap_or_default()));
    }
    if gpu.unreadable.processes > 0 {
        let (count, reason) = (gpu.unreadable.processes, gpu.unreadable.reason.as_deref().unwrap_or("unknown"));
        warn("unreadable-processes", format!("{count} processes could not be read: {reason}"));
    }
    found
}
