//! The views as JSON: the content of `list`, `ps`, `heaps` and `explain`.
//!
//! The JSON of `show` is the whole snapshot, which recordings contain too. Each other view has its own schema, which is named after
//! the view: `amdgpu-budget-ps/1`.

use serde_json::{Value, json};

use crate::{
    snapshot::model::{Gpu, Snapshot},
    text::{Style, explain, ps},
};

fn view(name: &str, snapshot: &Snapshot, of: impl Fn(&Gpu) -> Value) -> Value {
    let gpu = |gpu: &Gpu| {
        let mut object = json!({ "index": gpu.index, "pci": gpu.pci, "name": gpu.name });
        if let (Some(object), Value::Object(more)) = (object.as_object_mut(), of(gpu)) {
            object.extend(more);
        }
        object
    };
    let gpus: Vec<Value> = snapshot.gpus.iter().map(gpu).collect();
    json!({
        "schema": format!("amdgpu-budget-{name}/1"),
        "time": snapshot.time,
        "monotonic_ns": snapshot.monotonic_ns,
        "source": snapshot.source,
        "gpus": gpus,
    })
}

/// Returns the JSON of the view `list`: the GPUs.
pub fn list(snapshot: &Snapshot) -> Value {
    view("list", snapshot, |gpu| {
        json!({
            "render": gpu.render, "chip": gpu.chip, "apu": gpu.apu, "power": gpu.power, "driver": gpu.driver,
            "vram_vendor": gpu.vram_vendor, "sensors": gpu.sensors,
        })
    })
}

/// Returns the JSON of the view `ps`: the selected processes in order, and the memory that belongs to no process.
pub fn processes(snapshot: &Snapshot, options: &ps::Options) -> Value {
    view("ps", snapshot, |gpu| {
        let chosen = gpu
            .processes
            .as_ref()
            .map(|list| options.choose(list).into_iter().map(|(_, process)| process.clone()).collect::<Vec<_>>());
        json!({ "processes": chosen, "unattributed": gpu.unattributed, "unreadable": gpu.unreadable })
    })
}

/// Returns the JSON of the view `heaps`: the Vulkan heaps and memory types.
pub fn heaps(snapshot: &Snapshot) -> Value {
    view("heaps", snapshot, |gpu| json!({ "heaps": gpu.heaps, "memory_types": gpu.memory_types }))
}

/// Returns the JSON of the view `explain`: the explanations of the figures whose name begins with `figure`, or of all figures if it
/// is `None`.
pub fn explanations(snapshot: &Snapshot, figure: Option<&str>) -> Value {
    let style = Style { units: crate::snapshot::units::Units::Bytes, ..Style::default() };
    view("explain", snapshot, |gpu| {
        let mut list = explain::explanations(gpu, &snapshot.system, &style);
        list.retain(|one| figure.is_none_or(|figure| one.figure.starts_with(figure)));
        json!({ "figures": list, "missing": gpu.missing })
    })
}
