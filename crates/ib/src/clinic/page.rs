//! The page for people: what happened, is it over, why, and what to do next.

use std::fmt::Write as _;

use super::{
    Diagnosis,
    incident::{End, Incident, Kind, Place, Step},
    kernel::RingKind,
    message::Process,
    rules::{Cause, Class, Confidence, cause},
};

/// The widest line.
const WIDTH: usize = 110;
/// The column at which values begin.
const INDENT: usize = 14;
/// The incidents that are shown in full without `-v`.
const IN_FULL: usize = 2;
/// The rows of the table of incidents without `-v`.
const ROWS: usize = 12;

/// Returns the page.
pub(crate) fn page(diagnosis: &Diagnosis, is_verbose: bool) -> String {
    let mut text = String::new();
    let all = &diagnosis.incidents;
    if all.is_empty() {
        let kind = if diagnosis.has_errors { "hang" } else { "trouble" };
        let found = format!("no {kind} of amdgpu found in {}", inputs(diagnosis));
        let _ = match diagnosis.incomplete.as_slice() {
            [] => writeln!(text, "{found}"),
            [one] => writeln!(text, "{found}, but {one} is incomplete: nothing is known of the rest"),
            many => writeln!(text, "{found}, but {} of them are incomplete: nothing is known of the rest", many.len()),
        };
        notes(&mut text, diagnosis);
        return text;
    }
    let count = all.len() as u64 + diagnosis.dropped;
    if is_verbose || all.len() <= IN_FULL {
        for (index, incident) in all.iter().enumerate() {
            let of = if count > 1 { format!("Incident {} of {count}: ", index + 1) } else { String::new() };
            one(&mut text, diagnosis, incident, &of);
        }
    } else {
        let _ = writeln!(text, "{count} incidents in {}; -v shows all in full", inputs(diagnosis));
        for (index, incident) in all.iter().enumerate().take(ROWS) {
            let _ = writeln!(text, "{}", row(index, incident));
        }
        if all.len() > ROWS {
            let _ = writeln!(text, "  ... and {} more", all.len() - ROWS);
        }
        let worst =
            all.iter().enumerate().max_by_key(|(index, incident)| (weight(incident), std::cmp::Reverse(*index)));
        if let Some((index, incident)) = worst {
            one(&mut text, diagnosis, incident, &format!("Incident {} of {count}: ", index + 1));
        }
    }
    notes(&mut text, diagnosis);
    text
}

/// Orders incidents by how much of the machine they took.
fn weight(incident: &Incident) -> u8 {
    match incident.end {
        End::PowerOff => 6,
        End::Failed | End::Removed | End::Wedged | End::Disabled => 5,
        End::Full => 4,
        End::Unknown if incident.is_hang() => 3,
        End::Ring | End::Recovered => 2,
        End::Soft => 1,
        End::Unknown => 0,
    }
}

fn inputs(diagnosis: &Diagnosis) -> String {
    match diagnosis.inputs.as_slice() {
        [one] => one.clone(),
        many => format!("{} inputs", many.len()),
    }
}

fn notes(text: &mut String, diagnosis: &Diagnosis) {
    for note in &diagnosis.notes {
        field(text, "note", note);
    }
}

/// Returns what happened in a few words.
pub(super) fn title(incident: &Incident) -> String {
    let times = if incident.repeats > 0 { format!(" ({} times)", incident.repeats + 1) } else { String::new() };
    let what = match incident.ring() {
        Some(ring) => format!("ring {} timed out", ring.ring),
        None if !incident.steps.is_empty() && !incident.is_resume_alone() => "the GPU was reset".to_owned(),
        None if incident.is_reported_alone() => {
            let after = if incident.lead_fault().is_some() { ", after a page fault" } else { "" };
            let first = incident.of(Kind::Program).next().map_or("a program reports a hang", |event| &event.text);
            format!("{first}{after}")
        }
        None if incident.lead_fault().is_some_and(|fault| fault.address.is_none()) => "a page fault".to_owned(),
        None if incident.lead_fault().is_some() => "a page fault, without a hang".to_owned(),
        None if incident.of(Kind::Waits).next().is_some() => {
            "a thread of the kernel stands still in the graphics driver".to_owned()
        }
        None if incident.of(Kind::NotStarted).next().is_none() && cause(incident).class == Class::NotStarted => {
            "a part of the GPU did not start again".to_owned()
        }
        None => match cause(incident).class {
            Class::Unknown => unknown(incident).to_owned(),
            class => class.meaning().to_owned(),
        },
    };
    format!("{what}{times}")
}

/// Returns what happened where no cause is known.
fn unknown(incident: &Incident) -> &'static str {
    let refused = incident.of(Kind::Refused).next().and_then(|event| event.number);
    match incident.end {
        End::Wedged => "the device is wedged",
        End::Recovered => "the device was wedged, and works again",
        _ if incident.recovery.is_some() => "an event about a wedged device, which was cut off",
        _ if refused == Some(-125) => "submissions were cancelled",
        _ if refused.is_some() => "submissions were refused",
        _ if incident.of(Kind::DisplayWaits).next().is_some() => "the display waited for a picture",
        _ => "trouble whose kind the inputs do not tell",
    }
}

fn row(index: usize, incident: &Incident) -> String {
    let when = incident.start.map(|stamp| stamp.to_string()).unwrap_or_default();
    let gpu = incident.gpu.map(|gpu| gpu.to_string()).unwrap_or_default();
    let who = incident.process().filter(|process| !process.is_kernel()).map(|process| process.name.clone());
    let parts = [
        when,
        gpu,
        title(incident),
        who.unwrap_or_default(),
        cause(incident).class.name().to_owned(),
        incident.state().name.to_owned(),
    ];
    let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    let mut line = format!("  {:>3}  {}", index + 1, parts.join("; "));
    if line.chars().count() > WIDTH {
        line = line.chars().take(WIDTH - 3).chain("...".chars()).collect();
    }
    line
}

fn one(text: &mut String, diagnosis: &Diagnosis, incident: &Incident, of: &str) {
    let cause = cause(incident);
    let _ = writeln!(text, "{of}{}", title(incident));
    let mut add = |name: &str, value: &str| field(text, name, value);
    if let Some(start) = incident.start {
        let took = incident.last.and_then(|last| last.since(start)).filter(|took| *took > 0.0);
        add("when", &format!("{start}{}", took.map(|took| format!(", during {}", seconds(took))).unwrap_or_default()));
    }
    if let Some(gpu) = incident.gpu {
        let chip = incident.coredump.as_ref().and_then(|dump| dump.soc.chip.as_ref());
        add("GPU", &format!("{gpu}{}", chip.map(|chip| format!(" ({chip})")).unwrap_or_default()));
    } else if let Some(chip) = incident.coredump.as_ref().and_then(|dump| dump.soc.chip.as_ref()) {
        add("GPU", chip);
    }
    for ring in incident.rings.iter().take(3) {
        let jobs = match (ring.jobs, ring.outstanding()) {
            (Some((signaled, emitted)), Some(outstanding)) => match outstanding {
                0 => format!("; all jobs up to {emitted} were done"),
                1 => format!("; job {emitted} hung, none waited behind it"),
                _ => format!("; job {} hung, {outstanding} outstanding up to {emitted}", signaled.wrapping_add(1)),
            },
            _ if ring.is_soft_recovered || ring.place.line == 0 => String::new(),
            _ => "; which job is not told".to_owned(),
        };
        add("ring", &format!("{} ({}){jobs}", ring.ring, ring.kind().name()));
    }
    add("process", &process(incident));
    if let Some(ring) = incident.ring() {
        add("time-out", &incident.kernel.time_out(ring.kind()).text());
    }
    let work = &incident.work;
    work.application.iter().for_each(|text| add("application", text));
    work.packet.iter().for_each(|text| add("packet", text));
    work.shader.iter().for_each(|text| add("shader", text));
    work.saved.iter().for_each(|text| add("saved IB", text));
    work.buffer.iter().for_each(|buffer| add("buffer", &buffer.text));
    work.guilt.iter().for_each(|text| add("context", text));
    for fault in incident.faults.iter().take(3) {
        let late = if fault.is_after_reset { "after the reset began, a consequence: " } else { "" };
        // Another process than the one above must be named here.
        let of = fault.process.as_ref().filter(|process| incident.process() != Some(process));
        let of = of.map(|process| format!(", of {} (PID {})", process.called(), process.pid)).unwrap_or_default();
        add("page fault", &format!("{late}{}{of}", fault.text()));
    }
    if incident.faults.len() > 3 {
        add("page fault", &format!("and {} others", incident.faults.len() - 3));
    }
    if incident.faults.is_empty()
        && incident
            .coredump
            .as_ref()
            .is_some_and(|dump| !dump.faults.is_empty() && dump.faults.iter().all(|fault| fault.status == 0))
    {
        add("page fault", "none is recorded in the dump (status 0)");
    }
    if !incident.steps.is_empty() {
        add("resets", &steps(incident));
    }
    let consequences = consequences(incident);
    if !consequences.is_empty() {
        add("afterwards", &consequences);
    }
    add("state", &incident.state().text);
    add("cause", &cause_text(diagnosis, &cause));
    add("to blame", &format!("{}: {}", cause.blame.0.name(), cause.blame.1));
    if !cause.also.is_empty() {
        add("also fits", &cause.also.join("; "));
    }
    let missing = missing(incident);
    if !missing.is_empty() {
        add("not known", &missing);
    }
    for (index, next) in cause.next.iter().enumerate() {
        add(if index == 0 { "next" } else { "" }, &format!("{}. {next}", index + 1));
    }
}

/// Returns what the inputs lack.
fn missing(incident: &Incident) -> String {
    if incident.is_reported_alone() {
        return "ring, time-out, resets and state (the kernel's log has them: journalctl -k -b)".to_owned();
    }
    if incident.rings.is_empty() {
        return String::new();
    }
    let mut parts = Vec::new();
    if incident.work.packet.is_none() {
        parts.push("packet (a devcoredump has it)");
    }
    // Engines that copy and decode execute no shaders.
    let has_shaders = incident.rings.iter().any(|ring| matches!(ring.kind(), RingKind::Graphics | RingKind::Compute));
    if incident.work.shader.is_none() && has_shaders {
        parts.push("shader line (RADV_DEBUG=hang with umr)");
    }
    if incident.lead_fault().is_some() && incident.work.buffer.is_none() {
        parts.push("buffer at the address (RADV_DEBUG=hang)");
    }
    parts.join(", ")
}

fn process(incident: &Incident) -> String {
    let name = |process: &Process| {
        let thread = if process.thread.is_empty() || process.thread == process.name {
            String::new()
        } else {
            format!(", thread {}", process.thread)
        };
        let name = if process.name.is_empty() { "name unknown" } else { &process.name };
        format!("{name} (PID {}{thread})", process.pid)
    };
    match incident.process() {
        Some(process) if process.is_kernel() => "none: a job of the kernel itself".to_owned(),
        Some(process) => {
            let others = incident.rings.iter().filter_map(|ring| ring.process.as_ref());
            let other = others.filter(|other| *other != process && !other.is_kernel()).map(name).next();
            format!("{}{}", name(process), other.map(|other| format!("; also {other}")).unwrap_or_default())
        }
        None => "the inputs name none".to_owned(),
    }
}

/// Returns the steps of the reset with results and durations. The way of resetting the whole GPU is a part of that step, whose result
/// the kernel tells later.
fn steps(incident: &Incident) -> String {
    const WHOLE: &str = "reset of the whole GPU";
    let has_whole = incident.steps.iter().any(|step| step.text == WHOLE);
    let method = incident.method.filter(|_| has_whole);
    let is_method = |step: &&Step| method.is_some_and(|method| step.text == format!("{method} reset"));
    let one = |step: &Step| {
        let took = step.end.zip(step.stamp).and_then(|(end, start)| end.since(start));
        let took = took.map(|took| format!(" after {}", seconds(took))).unwrap_or_default();
        let text = match method {
            Some(method) if step.text == WHOLE => format!("{WHOLE} ({method})"),
            _ => step.text.clone(),
        };
        match step.is_done {
            Some(true) => format!("{text}: succeeded{took}"),
            Some(false) if text.starts_with("failed") => text,
            Some(false) => format!("{text}: failed{took}"),
            None => text,
        }
    };
    let shown: Vec<_> = incident.steps.iter().filter(|step| !is_method(step)).collect();
    let mut parts: Vec<_> = shown.iter().take(8).map(|step| one(step)).collect();
    if shown.len() > 8 {
        parts.push(format!("{} more", shown.len() - 8));
    }
    let count = incident.reset_count.map(|count| format!("; reset number {count} since boot")).unwrap_or_default();
    let source = incident.source.map(|source| {
        let name =
            ["unknown", "a job's time-out", "RAS", "MES", "ROCm's scheduler", "a user's request", "a user queue"];
        format!("; begun by {}", name.get(source as usize).copied().unwrap_or("an unknown source"))
    });
    format!("{}{count}{}", parts.join(" -> "), source.unwrap_or_default())
}

fn consequences(incident: &Incident) -> String {
    let is_one = |event: &&super::incident::Event| {
        event.is_after && !matches!(event.kind, Kind::Program | Kind::RecoveryDisabled)
            || matches!(event.kind, Kind::DisplayWaits) && (incident.is_hang() || incident.lead_fault().is_some())
    };
    let text = |event: &super::incident::Event| {
        let what = match event.kind {
            Kind::LostInterrupt => format!("an interrupt of ring {} was lost (harmless after a reset)", event.text),
            Kind::Refused if event.number == Some(-125) => "submissions are cancelled (-125)".to_owned(),
            Kind::Killed => format!("the kernel killed {} for lack of memory", event.text),
            _ => event.text.clone(),
        };
        if event.count > 1 { format!("{what}, {} times", event.count) } else { what }
    };
    incident.events.iter().filter(is_one).map(text).collect::<Vec<_>>().join("; ")
}

fn cause_text(diagnosis: &Diagnosis, cause: &Cause) -> String {
    let places: Vec<_> = cause.lines.iter().take(6).map(|place| place_text(diagnosis, *place)).collect();
    let proof = if places.is_empty() { String::new() } else { format!(" [{}]", places.join(", ")) };
    match cause.confidence {
        Confidence::Unknown => format!("{}{proof}", cause.text),
        confidence => format!("{}: {}{proof}", confidence.name(), cause.text),
    }
}

/// Returns the place of a line for people.
pub(super) fn place_text(diagnosis: &Diagnosis, place: Place) -> String {
    let name = diagnosis.inputs.get(place.input).filter(|_| diagnosis.inputs.len() > 1);
    match (name, place.line) {
        (Some(name), 0) => name.clone(),
        (None, 0) => "the input".to_owned(),
        (Some(name), line) => format!("{name} line {line}"),
        (None, line) => format!("line {line}"),
    }
}

fn seconds(seconds: f64) -> String {
    if seconds < 1.0 { format!("{:.0} ms", seconds * 1e3) } else { format!("{seconds:.1} s") }
}

/// Adds a field, wrapped.
fn field(text: &mut String, name: &str, value: &str) {
    let mut line = format!("  {name:<width$}", width = INDENT - 2);
    let mut is_first = true;
    for word in value.split_whitespace() {
        if !is_first && line.chars().count() + 1 + word.chars().count() > WIDTH {
            let _ = writeln!(text, "{}", line.trim_end());
            line = " ".repeat(INDENT);
            is_first = true;
        }
        if !is_first {
            line.push(' ');
        }
        line.push_str(word);
        is_first = false;
    }
    let _ = writeln!(text, "{}", line.trim_end());
}
