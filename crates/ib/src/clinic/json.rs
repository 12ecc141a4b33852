//! The diagnosis as JSON, whose schema is `schema/amdgpu-ib-why-1.schema.json`.

use serde_json::{Value, json};

use super::{
    Diagnosis,
    incident::{Event, Incident, PageFault, Place, Step},
    line::Stamp,
    message::Process,
    page::title,
    rules::cause,
};

/// The schema, which `--schema` prints.
pub(crate) const SCHEMA: &str = include_str!("../../schema/amdgpu-ib-why-1.schema.json");

/// Returns the diagnosis as JSON.
pub(crate) fn document(diagnosis: &Diagnosis) -> Value {
    json!({
        "schema": "amdgpu-ib-why",
        "version": 1,
        "inputs": diagnosis.inputs,
        "incidents": diagnosis.incidents.iter().map(incident).collect::<Vec<_>>(),
        "incidents_not_kept": diagnosis.dropped,
        "notes": diagnosis.notes,
        "incomplete": diagnosis.incomplete,
    })
}

fn incident(incident: &Incident) -> Value {
    let cause = cause(incident);
    let state = incident.state();
    let time_out = incident.ring().map(|ring| incident.kernel.time_out(ring.kind()));
    json!({
        "title": title(incident),
        "start": incident.start.map(stamp),
        "gpu": incident.gpu.map(|gpu| gpu.to_string()),
        "kernel": incident.kernel.release.map(|release| release.to_string()),
        "rings": incident.rings.iter().map(|ring| json!({
            "name": ring.ring,
            "kind": ring.kind().name(),
            "signaled": ring.jobs.map(|jobs| jobs.0),
            "emitted": ring.jobs.map(|jobs| jobs.1),
            "process": ring.process.as_ref().map(process),
            "soft_recovered": ring.is_soft_recovered,
            "at": place(ring.place),
        })).collect::<Vec<_>>(),
        "process": incident.process().map(process),
        "kernel_job": incident.process().is_some_and(Process::is_kernel),
        "time_out": time_out.map(|time_out| json!({
            "ms": time_out.milliseconds,
            "assumed": time_out.is_assumed,
            "basis": time_out.basis,
        })),
        "packet": incident.work.packet,
        "shader": incident.work.shader,
        "saved_ib": incident.work.saved,
        "application": incident.work.application,
        "buffer": incident.work.buffer.as_ref().map(|buffer| json!({"text": buffer.text, "freed": buffer.is_freed})),
        "context": incident.work.guilt,
        "faults": incident.faults.iter().map(fault).collect::<Vec<_>>(),
        "events": incident.events.iter().map(event).collect::<Vec<_>>(),
        "resets": incident.steps.iter().map(step).collect::<Vec<_>>(),
        "method": incident.method,
        "reset_source": incident.source,
        "reset_count": incident.reset_count,
        "vram_lost": incident.vram_lost(),
        "wedged_event": incident.is_wedged,
        "recovery": incident.recovery,
        "coredump": incident.coredump.is_some(),
        "repeats": incident.repeats,
        "state": {"name": state.name, "text": state.text},
        "cause": {
            "class": cause.class.name(),
            "confidence": cause.confidence.name(),
            "text": cause.text,
            "to_blame": cause.blame.0.name(),
            "why": cause.blame.1,
            "lines": cause.lines.iter().map(|line| place(*line)).collect::<Vec<_>>(),
            "also_fits": cause.also,
        },
        "next": cause.next,
    })
}

fn stamp(stamp: Stamp) -> String {
    stamp.to_string()
}

fn place(place: Place) -> Value {
    json!({"input": place.input, "line": place.line})
}

fn process(process: &Process) -> Value {
    json!({"name": process.name, "pid": process.pid, "thread": process.thread})
}

fn fault(fault: &PageFault) -> Value {
    let status = fault.decoded();
    json!({
        "text": fault.text(),
        "hub": fault.hub,
        "vmid": fault.vmid,
        "pasid": fault.pasid,
        "process": fault.process.as_ref().map(process),
        "address": fault.address,
        "status": fault.status.map(|status| status.0),
        "client": fault.client_name(),
        "permissions": status.map(|status| status.permissions),
        "write": status.map(|status| status.access != amdgpu_winsys::winsys::FaultAccess::Read),
        "retry": fault.is_retry,
        "vmid_differs": fault.is_mismatch(),
        "consequence": fault.is_after_reset,
        "count": fault.count,
        "at": place(fault.place),
    })
}

fn event(event: &Event) -> Value {
    json!({
        "kind": event.kind.name(),
        "text": event.text,
        "number": event.number,
        "consequence": event.is_after,
        "count": event.count,
        "at": place(event.place),
    })
}

fn step(step: &Step) -> Value {
    json!({"text": step.text, "succeeded": step.is_done, "at": place(step.place)})
}
