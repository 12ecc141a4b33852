//! `doctor`: the sources that can and cannot be read, and how to fix missing ones.

use std::io::Write;

use serde::Serialize;
use serde_json::json;

use crate::{
    cli::Global,
    collect::{Collector, LookError},
    exit::Exit,
    files::{Files, reason},
    render,
    session::{self, Outcome},
    snapshot::model::{Gpu, Process},
};

/// One thing that was tried.
#[derive(Serialize)]
struct Finding {
    /// `ok`, `no`, or `optional` for what need not be there.
    state: &'static str,
    text: String,
    /// The remedy.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

#[derive(Default)]
struct Findings(Vec<Finding>);

impl Findings {
    fn ok(&mut self, text: impl Into<String>) {
        self.0.push(Finding { state: "ok", text: text.into(), hint: None });
    }

    fn no(&mut self, text: impl Into<String>, hint: Option<String>) {
        self.0.push(Finding { state: "no", text: text.into(), hint });
    }

    fn optional(&mut self, is_there: bool, text: impl Into<String>) {
        self.0.push(Finding { state: if is_there { "ok" } else { "optional" }, text: text.into(), hint: None });
    }
}

/// Writes a line for each thing that was tried: `ok`, `no` with the remedy below it, or `--` for what need not be there.
pub(super) fn run(global: &Global, out: &mut dyn Write) -> Outcome {
    let machine = session::machine(global)?;
    let mut collector = Collector::new(machine, session::wishes(global, false));
    let found = collector.look();
    let mut list = Findings::default();
    match &found {
        Ok(_) => list.ok("sysfs shows amdgpu GPUs"),
        Err(error) => {
            let hint = "is the module loaded (lsmod), and does the container see /sys/class/drm?".to_owned();
            let text = error.to_string();
            list.no(text.strip_prefix("no ").unwrap_or(&text), Some(hint));
        }
    }
    for gpu in found.iter().flatten().flat_map(|snapshot| &snapshot.gpus) {
        of_gpu(gpu, &mut list);
    }
    if let Some(snapshot) = found.iter().flatten().next() {
        let unreadable = snapshot.gpus.first().map(|gpu| gpu.unreadable.clone()).unwrap_or_default();
        if unreadable.processes > 0 {
            let hint = "processes of other users need CAP_SYS_PTRACE: run as root".to_owned();
            list.no(format!("{} processes in /proc cannot be read", unreadable.processes), Some(hint));
        } else {
            list.ok("every process in /proc can be read");
        }
    }
    system(collector.machine().files(), &mut list);
    if global.json || global.jsonl {
        render::object(&json!({ "schema": "amdgpu-budget-doctor/1", "findings": list.0 }), global.json, out)?;
    } else {
        for Finding { state, text, hint } in &list.0 {
            let word = if *state == "optional" { "--" } else { state };
            writeln!(out, "{word}  {text}")?;
            if let Some(hint) = hint {
                writeln!(out, "    {hint}")?;
            }
        }
    }
    match found {
        Ok(_) => Ok(Exit::Fine),
        Err(LookError::NotReadable(_)) => Ok(Exit::NotReadable),
        Err(_) => Ok(Exit::NoGpu),
    }
}

fn of_gpu(gpu: &Gpu, list: &mut Findings) {
    let (pci, node) = (&gpu.pci, gpu.render.as_deref().unwrap_or("the render node"));
    match gpu.missing.iter().find(|missing| missing.source == "INFO") {
        None => list.ok(format!("{pci}: {node} opens, and the driver answers")),
        Some(missing) => {
            let hint = if missing.reason.contains("permission") {
                Some(format!("add yourself to the group that owns {node} (usually render), and log in again"))
            } else if missing.reason == "not there" {
                Some(format!("the container needs --device {node}"))
            } else {
                None
            };
            list.no(format!("{pci}: {}", missing.reason), hint);
        }
    }
    for missing in gpu.missing.iter().filter(|missing| missing.source != "INFO") {
        let text = format!("{pci}: {}: {}", missing.source, missing.reason);
        if missing.is_replaced {
            list.optional(false, format!("{text}; this is what the kernel says"));
        } else {
            list.no(text, None);
        }
    }
    let any = |of: fn(&Process) -> bool| gpu.processes.iter().flatten().any(of);
    if any(|_| true) {
        for (what, known) in [
            ("what is requested and displaced (Linux 6.1 and later)", any(|process| process.evicted.vram.is_some())),
            ("what is shared (Linux 6.12 and later)", any(|process| process.shared.vram.is_some())),
        ] {
            list.optional(known, format!("{pci}: fdinfo reports {what}"));
        }
    }
    let limit = gpu.cgroup_limit.is_some();
    list.optional(limit, format!("{pci}: cgroup v2 limits its memory (dmem, Linux 6.14 and later)"));
}

fn system(files: &dyn Files, list: &mut Findings) {
    match files.read("proc/meminfo") {
        Ok(_) => list.ok("/proc/meminfo can be read: the pool of an APU is known"),
        Err(error) => list.no(format!("/proc/meminfo: {}; the pool of an APU is unknown", reason(&error)), None),
    }
    let release = files.read("proc/sys/kernel/osrelease").unwrap_or_default();
    if !release.trim().is_empty() {
        list.ok(format!("Linux {}", release.trim()));
    }
    let kfd = files.list("sys/class/kfd/kfd/topology/nodes").is_ok();
    list.optional(kfd, "the compute driver (KFD) is there; nothing here needs it");
}
