//! Signals to the selected process, after a question.
//!
//! The process is held by a descriptor (pidfd) from the question to the answer. A number that is given to another program in
//! between is therefore never hit.

use std::{fs, sync::Arc};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::{asked::Asked, state::State};
use crate::text::known;

/// Asks whether the selected process should get a signal. The message says why not, if that is impossible.
pub(super) fn ask(state: &mut State) {
    match held(state) {
        Ok(asked) => state.asked = Some(asked),
        Err(message) => state.message = Some(message),
    }
}

fn held(state: &State) -> Result<Asked, String> {
    let process = state.process().ok_or("no process is selected")?;
    if state.snapshot.source != "live" {
        return Err(format!("this is not a live view ({}): its processes get no signals", state.snapshot.source));
    }
    let name = known(process.name.as_deref()).to_owned();
    let failed = |reason: &dyn std::fmt::Display| format!("{name} ({}): {reason}", process.pid);
    let pid = i32::try_from(process.pid).ok().and_then(Pid::from_raw).ok_or_else(|| failed(&"not a process"))?;
    let held = pidfd_open(pid, PidfdFlags::empty()).map_err(|errno| failed(&errno))?;
    // The name was read a moment ago: another program may have the number since.
    let now = fs::read_to_string(format!("/proc/{}/comm", process.pid)).map_err(|error| failed(&error))?;
    if amdgpu_output::name(now.trim_end()) != name {
        return Err(failed(&"it has ended"));
    }
    Ok(Asked { pid: process.pid, name, process: Arc::new(held) })
}

/// Sends the signal that the answer chooses.
pub(super) fn answer(state: &mut State, letter: Option<char>) {
    let Some(asked) = state.asked.take() else { return };
    let (signal, name) = match letter {
        Some('t') => (Signal::TERM, "SIGTERM"),
        Some('k') => (Signal::KILL, "SIGKILL"),
        _ => return,
    };
    state.message = Some(match pidfd_send_signal(&*asked.process, signal) {
        Ok(()) => format!("{name} was sent to {} ({})", asked.name, asked.pid),
        Err(errno) => format!("{} ({}): {errno}", asked.name, asked.pid),
    });
}
