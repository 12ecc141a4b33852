//! `doctor`: what can be read, what cannot, and how to mend it.

use std::io::{self, Write};

use crate::{
    cli::Global,
    collect::{Collector, LookError},
    exit::Exit,
    files::{Files, reason},
    session::{self, Outcome},
    snapshot::model::Gpu,
};

/// Writes a line for each thing looked at: `ok`, `no` with the cure, or `--` for what need not be there.
pub(super) fn run(global: &Global, out: &mut dyn Write) -> Outcome {
    let machine = session::machine(global)?;
    let mut collector = Collector::new(machine, session::wishes(global, false));
    let found = collector.look();
    let files = collector.machine().files();
    match &found {
        Ok(_) => line(out, "ok", "sysfs shows amdgpu GPUs")?,
        Err(error) => {
            line(out, "no", &error.to_string())?;
            line(out, "  ", "is the module loaded (lsmod), and does the container see /sys/class/drm?")?;
        }
    }
    for gpu in found.iter().flatten().flat_map(|snapshot| &snapshot.gpus) {
        of_gpu(gpu, out)?;
    }
    if let Some(snapshot) = found.iter().flatten().next() {
        let unreadable = snapshot.gpus.first().map(|gpu| gpu.unreadable.clone()).unwrap_or_default();
        if unreadable.processes > 0 {
            line(
                out,
                "no",
                &format!(
                    "{} processes cannot be looked at: other users' ones need CAP_SYS_PTRACE (run as root)",
                    unreadable.processes
                ),
            )?;
        } else {
            line(out, "ok", "every process in /proc can be looked at")?;
        }
    }
    system(files, out)?;
    match found {
        Ok(_) => Ok(Exit::Fine),
        Err(LookError::NotReadable(_)) => Ok(Exit::NotReadable),
        Err(_) => Ok(Exit::NoGpu),
    }
}

fn line(out: &mut dyn Write, word: &str, text: &str) -> io::Result<()> {
    writeln!(out, "{word}  {text}")
}

fn of_gpu(gpu: &Gpu, out: &mut dyn Write) -> io::Result<()> {
    let (pci, node) = (&gpu.pci, gpu.render.as_deref().unwrap_or("the render node"));
    let asked = gpu.missing.iter().find(|missing| missing.source.starts_with("INFO"));
    match asked {
        None => line(out, "ok", &format!("{pci}: {node} opens, and the driver answers"))?,
        Some(missing) => {
            line(out, "no", &format!("{pci}: {}", missing.reason))?;
            if missing.reason.contains("permission") {
                line(
                    out,
                    "  ",
                    &format!("add yourself to the group that owns {node} (usually render), and log in again"),
                )?;
            } else if missing.reason == "not there" {
                line(out, "  ", &format!("the container needs --device {node}"))?;
            }
        }
    }
    for missing in gpu.missing.iter().filter(|missing| !missing.source.starts_with("INFO")) {
        line(out, "no", &format!("{pci}: {}: {}", missing.source, missing.reason))?;
    }
    let tells = |what: &str, known: bool| {
        let word = if known { "ok" } else { "--" };
        (word, format!("{pci}: fdinfo tells {what}"))
    };
    let any = |of: fn(&crate::snapshot::model::Process) -> bool| gpu.processes.iter().flatten().any(of);
    if any(|_| true) {
        for (word, text) in [
            tells("what is requested and evicted (Linux 6.1 and later)", any(|process| process.evicted.vram.is_some())),
            tells("what is shared (Linux 6.12 and later)", any(|process| process.shared.vram.is_some())),
        ] {
            line(out, word, &text)?;
        }
    }
    let limit = if gpu.cgroup_limit.is_some() { "ok" } else { "--" };
    line(out, limit, &format!("{pci}: cgroup v2 limits its memory (dmem, Linux 6.14 and later)"))
}

fn system(files: &dyn Files, out: &mut dyn Write) -> io::Result<()> {
    match files.read("proc/meminfo") {
        Ok(_) => line(out, "ok", "/proc/meminfo can be read: the pool of an APU is known")?,
        Err(error) => line(out, "no", &format!("/proc/meminfo: {}; the pool of an APU is unknown", reason(&error)))?,
    }
    let release = files.read("proc/sys/kernel/osrelease").unwrap_or_default();
    if !release.trim().is_empty() {
        line(out, "ok", &format!("Linux {}", release.trim()))?;
    }
    let kfd = files.list("sys/class/kfd/kfd/topology/nodes").is_ok();
    line(out, if kfd { "ok" } else { "--" }, "the compute driver (KFD) is there; nothing here needs it")
}
