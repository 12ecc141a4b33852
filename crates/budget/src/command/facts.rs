//! `list --facts`: the GPUs with what Mesa prints of them for `AMD_DEBUG=info`.

use std::io::Write;

use amdgpu_winsys::winsys::RadeonField;
use serde_json::{Map, Value, json};

use crate::{
    cli::{Global, View},
    collect::{CollectOptions, Collector},
    exit::Exit,
    render::{self, Shown},
    session::{self, Outcome, Stop},
    snapshot::model::Gpu,
};

/// The schema of the object that `--json` prints.
const SCHEMA: &str = "amdgpu-budget-facts/1";

/// Prints the list of GPUs, and for each its facts by section.
pub(super) fn run(global: &Global, out: &mut dyn Write) -> Outcome {
    if global.from.is_some() {
        return Err(Stop::Message(Exit::Usage, "a recording has figures of memory alone, and no facts".to_owned()));
    }
    let wishes = CollectOptions { processes: false, ..session::wishes(global, false) };
    let mut collector = Collector::new(session::machine(global)?, wishes);
    let snapshot = session::first(&mut collector, global)?;
    let facts = |gpu: &Gpu| collector.facts(&gpu.pci).map(amdgpu_winsys::winsys::GpuInfo::radeon_info);
    if global.json || global.jsonl {
        let gpus: Vec<Value> = snapshot
            .gpus
            .iter()
            .map(|gpu| {
                let facts = facts(gpu);
                json!({
                    "index": gpu.index, "pci": gpu.pci, "name": gpu.name, "facts": facts.as_deref().map(sections),
                    "reason": facts.is_none().then(|| reason(gpu)),
                })
            })
            .collect();
        let object = json!({ "schema": SCHEMA, "time": snapshot.time, "source": snapshot.source, "gpus": gpus });
        render::object(&object, global.json, out)?;
        return Ok(Exit::Fine);
    }
    render::render(&snapshot, &Shown::Plain(View::List), global, true, out)?;
    for gpu in &snapshot.gpus {
        writeln!(out, "\nGPU {} at {}", gpu.index, gpu.pci)?;
        let Some(facts) = facts(gpu) else {
            writeln!(out, "    no facts: {}", reason(gpu))?;
            continue;
        };
        for fields in facts.chunk_by(|one, other| one.section == other.section) {
            if let Some(first) = fields.first() {
                writeln!(out, "{}:", first.section)?;
            }
            for field in fields {
                writeln!(out, "    {field}")?;
            }
        }
    }
    Ok(Exit::Fine)
}

/// Returns the facts as an object of sections, each an object of names and texts.
fn sections(facts: &[RadeonField]) -> Value {
    let fields = |fields: &[RadeonField]| -> Map<String, Value> {
        fields.iter().map(|field| (field.name.clone(), field.value.clone().into())).collect()
    };
    facts
        .chunk_by(|one, other| one.section == other.section)
        .filter_map(|chunk| Some((chunk.first()?.section.to_owned(), fields(chunk).into())))
        .collect::<Map<_, _>>()
        .into()
}

/// Returns the reason why a GPU has no facts.
fn reason(gpu: &Gpu) -> String {
    match gpu.missing.first() {
        _ if gpu.power.as_deref().is_some_and(|power| power != "active") => "it is asleep; --wake wakes it".to_owned(),
        Some(missing) => format!("{}: {}", missing.source, missing.reason),
        None => "it could not be opened".to_owned(),
    }
}
