//! `buffers`: the buffers of a process.

use std::io::Write;

use serde_json::json;

use crate::{
    buffers::{BuffersError, SCHEMA, of_process},
    cli::{self, Global},
    exit::Exit,
    machine::Machine as _,
    render,
    session::{self, Outcome, Stop},
    text::buffers as text,
};

/// Lists them.
pub(super) fn run(options: &cli::Buffers, global: &Global, out: &mut dyn Write) -> Outcome {
    if global.from.is_some() {
        return Err(Stop::Message(Exit::Usage, "a recording has no single buffers".to_owned()));
    }
    let machine = session::machine(global)?;
    let pid = options.pid;
    let mut open = of_process(&machine, pid).map_err(|error| {
        let exit = match error {
            BuffersError::Hidden(_) | BuffersError::NotLent { .. } | BuffersError::NotListed => Exit::NotReadable,
            BuffersError::NoProcess(_) | BuffersError::NoFile(_) | BuffersError::Refused { .. } => Exit::Failed,
        };
        Stop::Message(exit, error.to_string())
    })?;
    if !global.gpu.is_empty() {
        open.retain(|one| global.gpu.iter().any(|gpu| *gpu == one.pci || one.pci.strip_prefix("0000:") == Some(gpu)));
        if open.is_empty() {
            let wanted = global.gpu.join(", ");
            return Err(Stop::Message(
                Exit::NoGpu,
                format!("process {pid} has no GPU {wanted} open: --gpu takes PCI addresses here"),
            ));
        }
    }
    let name = machine.files().read(&format!("proc/{pid}/comm")).ok().map(|name| name.trim_end().to_owned());
    if global.json || global.jsonl {
        let object = json!({
            "schema": SCHEMA, "time": machine.now().rfc3339(), "source": machine.kind(), "pid": pid, "name": name,
            "files": open,
        });
        render::object(&object, global.json, out)?;
    } else {
        text::write(pid, name.as_deref(), &open, &render::style(global), out)?;
    }
    Ok(Exit::Fine)
}
