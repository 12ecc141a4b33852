//! The hang clinic: what the traces of a hang tell about its cause.
//!
//! Inputs come as streams in any mixture and order: kernel logs in all forms in which they reach people, devcoredumps, events about
//! wedged devices, RADV's hang reports, reports of `amdgpu-smoke`. A [`Clinic`] reads them in bounded memory and gathers
//! [incidents](incident::Incident); [rules](rules::cause) name the likely cause of each. Nothing here opens files.

mod coredump;
mod fault;
mod gather;
mod incident;
mod journal;
mod json;
mod kernel;
mod line;
mod message;
mod objects;
mod page;
mod radv;
mod rules;
mod scan;
mod smoke;
mod state;
mod uevent;

use std::{
    borrow::Cow,
    io::{self, Read},
};

use amdgpu_isa::{Listing, WaveSize};

use self::{
    gather::Gatherer,
    incident::{Event, Incident, Kind, Place},
    journal::{Entry, Export, Fields},
    kernel::{Kernel, Release},
    line::{Line, Origin},
    message::{Message, Process},
    objects::Objects,
    radv::Radv,
    scan::Wanted,
    uevent::{Uevents, Wedged},
};
use crate::input::{COREDUMP_TITLE, InputError, foreign, read_coredump, without_colour};
use crate::level_of;

pub(crate) use json::{SCHEMA, document};
pub(crate) use page::page;
pub(crate) use radv::pid_of;
pub(crate) use rules::{Class, cause};

/// The bytes at the start of an input by which its kind is recognised.
const HEAD: u64 = 4096;
/// The most bytes of a devcoredump or report that are kept.
const MOST_KEPT: usize = 64 << 20;

/// The incidents that the inputs tell of.
#[derive(Debug, Default)]
pub(crate) struct Diagnosis {
    /// The incidents, in the order of the inputs.
    pub(crate) incidents: Vec<Incident>,
    /// The number of further incidents.
    pub(crate) dropped: u64,
    /// The names of the inputs.
    pub(crate) inputs: Vec<String>,
    /// Remarks about inputs.
    pub(crate) notes: Vec<String>,
    /// The names of inputs that were cut off.
    pub(crate) incomplete: Vec<String>,
    /// `true` if there is no incident, and the driver reports errors that no rule explains.
    pub(crate) has_errors: bool,
}

/// A reader of all inputs.
#[derive(Debug, Default)]
pub(crate) struct Clinic {
    inputs: Vec<String>,
    notes: Vec<String>,
    incomplete: Vec<String>,
    gatherer: Gatherer,
    radv: Radv,
    coredumps: Vec<(String, Place)>,
    hung: Vec<(String, Place)>,
    failed: Vec<(smoke::Failed, Place)>,
    /// The number of the driver's errors that no rule knows, and the first of them.
    other_errors: (u64, Option<(String, Place)>),
    reports: u32,
    /// The state of reading lines one by one.
    live: Reading,
}

/// The state of reading one input.
#[derive(Debug, Default)]
struct Reading {
    input: usize,
    export: Export,
    /// The reader of a journal in JSON with a field on each line, for inputs of that form.
    fields: Option<Fields>,
    events: Uevents,
    /// The devcoredump that is being read.
    dump: Option<(String, Place)>,
    /// `true` for a file of RADV's folder.
    is_radv: bool,
    program_lines: u64,
    /// `true` for the JSON of dmesg, which has a field on each line.
    is_dmesg_json: bool,
    /// The time of the message that follows in the JSON of dmesg.
    time: Option<line::Stamp>,
}

impl Clinic {
    /// Reads an input.
    ///
    /// # Errors
    ///
    /// [`InputError`] if it cannot be read or is of a kind without traces of hangs.
    pub(crate) fn read(&mut self, name: &str, mut reader: impl Read) -> Result<(), InputError> {
        let failed = |error| InputError::Io { name: name.to_owned(), error };
        let mut head = Vec::new();
        reader.by_ref().take(HEAD).read_to_end(&mut head).map_err(failed)?;
        if let Some(found) = foreign(&head) {
            return Err(InputError::Foreign { name: name.to_owned(), found });
        }
        let input = self.inputs.len();
        self.inputs.push(name.to_owned());
        self.gatherer.next_input();
        if smoke::is_report(&head) {
            return self.report(input, head.as_slice().chain(reader)).map_err(failed);
        }
        let is_radv =
            ["Trace ID: ", "annotated disassembly", "VM fault report", "VA=", "AMD_IP_", "Application name: "]
                .iter()
                .any(|sign| memory_contains(&head, sign.as_bytes()));
        let is_dmesg_json = head.trim_ascii_start().starts_with(b"{") && memory_contains(&head, b"\"dmesg\": [");
        let fields = (!is_dmesg_json && journal::has_field_lines(&head)).then(Fields::default);
        let mut reading = Reading { input, fields, is_radv, is_dmesg_json, ..Reading::default() };
        let mut all: Box<dyn Read + '_> = Box::new(head.as_slice().chain(reader));
        if reading.fields.is_none() && !is_dmesg_json && objects::is_sequence(&head) {
            all = Box::new(Objects::new(all));
        }
        if let Some(text) = utf16(&head, &mut all).map_err(failed)? {
            if text.len() >= MOST_KEPT / 2 {
                self.notes.push(format!("{name}: of text in UTF-16 the first {} MiB were read", MOST_KEPT >> 20));
            }
            all = Box::new(io::Cursor::new(text));
        }
        let is_whole = is_radv || is_dmesg_json || reading.fields.is_some();
        let wanted = if is_whole { Wanted::All } else { Wanted::Words };
        scan::lines(all, wanted, |number, bytes| self.bytes(&mut reading, number, bytes)).map_err(failed)?;
        self.end(reading);
        Ok(())
    }

    /// Reads a file of RADV's folder.
    ///
    /// # Errors
    ///
    /// The errors of [`Clinic::read`].
    pub(crate) fn read_radv(&mut self, folder: &str, name: &str, reader: impl Read) -> Result<(), InputError> {
        // RADV writes the folder when it meets a hang, whatever its files have.
        self.radv.pid = pid_of(folder).or(self.radv.pid);
        self.radv.is_hang |= pid_of(folder).is_some();
        if name == "dmesg.log" {
            return self.read(name, reader);
        }
        let input = self.inputs.len();
        self.inputs.push(name.to_owned());
        self.gatherer.next_input();
        let mut number = 0;
        let mut buffered = io::BufReader::new(reader);
        loop {
            let mut line = Vec::new();
            let read =
                io::BufRead::read_until(&mut buffered.by_ref().take(scan::LONGEST_LINE as u64), b'\n', &mut line);
            if read.map_err(|error| InputError::Io { name: name.to_owned(), error })? == 0 {
                return Ok(());
            }
            number += 1;
            let text = without_colour(&String::from_utf8_lossy(&line));
            self.radv.line(text.trim_end_matches(['\r', '\n']), Place { input, line: number });
        }
    }

    /// Begins an input whose lines come one by one.
    pub(crate) fn begin(&mut self, name: &str) {
        self.live = Reading { input: self.inputs.len(), ..Reading::default() };
        self.inputs.push(name.to_owned());
    }

    /// Reads a line of the input that was begun last.
    pub(crate) fn line(&mut self, number: u64, bytes: &[u8]) {
        let mut live = std::mem::take(&mut self.live);
        self.bytes(&mut live, number, bytes);
        self.live = live;
    }

    /// Adds a remark.
    pub(crate) fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    /// Returns `true` if an incident has begun whose end is not told yet, `false` if all have ended, and `None` if there is none.
    pub(crate) fn is_open(&mut self) -> Option<bool> {
        if let Some(event) = self.live.events.end() {
            self.wedged(event, Place { input: self.live.input, line: 0 });
        }
        self.gatherer.is_open()
    }

    /// Returns the incidents so far, which are taken to be over, with the dumps that belong to them.
    pub(crate) fn settle(&mut self, dumps: &[String]) -> Diagnosis {
        let mut live = std::mem::take(&mut self.live);
        self.end_dump(&mut live);
        let place = Place { input: live.input, line: 0 };
        self.live = live;
        let mut incidents = std::mem::take(self.gatherer.incidents());
        let texts = dumps.iter().cloned().chain(std::mem::take(&mut self.coredumps).into_iter().map(|(text, _)| text));
        for text in texts {
            // A dump alone is one of an incident that was told before.
            let dump = read_coredump(&text).0;
            if incidents.iter().any(|incident| incident.coredump.is_none()) {
                let count = incidents.len();
                coredump::join(&mut incidents, dump, place);
                incidents.truncate(count);
            }
        }
        for (text, place) in std::mem::take(&mut self.hung) {
            join_hung(&mut incidents, &text, place);
        }
        Diagnosis { incidents, inputs: self.inputs.clone(), ..Diagnosis::default() }
    }

    /// Returns the diagnosis.
    pub(crate) fn finish(mut self) -> Diagnosis {
        let incidents = self.gatherer.incidents();
        remove_copies(incidents);
        for (text, place) in std::mem::take(&mut self.coredumps) {
            coredump::join(incidents, read_coredump(&text).0, place);
        }
        if self.radv.has_news() {
            join_radv(incidents, &self.radv);
        }
        for (failed, place) in std::mem::take(&mut self.failed) {
            join_check(incidents, failed, place);
        }
        for (text, place) in std::mem::take(&mut self.hung) {
            join_hung(incidents, &text, place);
        }
        if self.reports > 0
            && self.reports as usize == self.inputs.len()
            && incidents.is_empty()
            && self.incomplete.is_empty()
        {
            self.notes.push("no check failed".to_owned());
        }
        let Self { inputs, mut notes, incomplete, gatherer, other_errors, .. } = self;
        let (incidents, dropped) = gatherer.finish();
        let has_errors = incidents.is_empty() && other_errors.0 > 0;
        if let (count, Some((text, Place { line, input }))) = other_errors
            && has_errors
        {
            let place =
                if inputs.len() > 1 { format!("{}, line {line}", inputs[input]) } else { format!("line {line}") };
            let lines = if count == 1 { "1 error".to_owned() } else { format!("{count} errors") };
            notes.push(format!("{lines} of amdgpu that no rule explains, the first: {text} [{place}]"));
        }
        Diagnosis { incidents, dropped, inputs, notes, incomplete, has_errors }
    }

    fn report(&mut self, input: usize, reader: impl Read) -> io::Result<()> {
        let mut bytes = Vec::new();
        reader.take(MOST_KEPT as u64 + 1).read_to_end(&mut bytes)?;
        self.reports += 1;
        match smoke::failed(&String::from_utf8_lossy(&bytes)) {
            Ok((failed, cut)) => {
                if let Some(cut) = cut {
                    self.incomplete(input, &cut);
                }
                let place = Place { input, line: 0 };
                for check in failed {
                    let mut reading = Reading { input, ..Reading::default() };
                    for message in &check.messages {
                        self.text(&mut reading, 0, message);
                    }
                    self.failed.push((check, place));
                }
            }
            Err(reason) => self.incomplete(input, &reason),
        }
        Ok(())
    }

    /// Reads the bytes of a line. Messages of netlink are lines that end with NUL.
    fn bytes(&mut self, reading: &mut Reading, number: u64, bytes: &[u8]) -> Wanted {
        let mut text = std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed);
        if !bytes.is_ascii() {
            // Pages on the web turn spaces into such that do not break.
            if text.contains('\u{a0}') {
                text = Cow::Owned(text.replace('\u{a0}', " "));
            }
            if let Some(rest) = text.strip_prefix('\u{feff}') {
                text = Cow::Owned(rest.to_owned());
            }
        }
        if bytes.contains(&0) && reading.dump.is_none() {
            text.split('\0').for_each(|part| self.text(reading, number, part));
        } else if bytes.contains(&0x1b) {
            self.text(reading, number, &without_colour(&text));
        } else {
            self.text(reading, number, &text);
        }
        let is_whole = reading.dump.is_some() || reading.is_radv || reading.is_dmesg_json || reading.fields.is_some();
        if is_whole { Wanted::All } else { Wanted::Words }
    }

    fn text(&mut self, reading: &mut Reading, number: u64, text: &str) {
        let place = Place { input: reading.input, line: number };
        let text = text.trim_end_matches(['\r', '\n']);
        let unquoted = text.trim_start_matches(['>', ' ']);
        if unquoted.starts_with(COREDUMP_TITLE) {
            self.end_dump(reading);
            reading.dump = Some((format!("{unquoted}\n"), place));
            return;
        }
        if let Some((dump, _)) = &mut reading.dump {
            let is_end = unquoted.starts_with("```") || unquoted.starts_with("~~~") || is_log(unquoted);
            if !is_end {
                if dump.len() + text.len() < MOST_KEPT {
                    let quotes = text.len() - text.trim_start_matches(['>', ' ']).len();
                    dump.push_str(if text.starts_with('>') { &text[quotes..] } else { text });
                    dump.push('\n');
                }
                return;
            }
            self.end_dump(reading);
        }
        if reading.is_dmesg_json {
            return self.dmesg_json(reading, unquoted.trim(), place);
        }
        if let Some(fields) = &mut reading.fields {
            if let Some((entry, line)) = fields.line(unquoted.trim(), number) {
                self.entry(reading, &entry, Place { line, ..place });
            }
            return;
        }
        if journal::is_object(unquoted) {
            // Other lines of JSON have nothing that the kernel wrote.
            match journal::json(unquoted) {
                Some(entry) => self.entry(reading, &entry, place),
                None if journal::is_cut(unquoted) => self.cut(place),
                None => {}
            }
            return;
        }
        // Most lines of long logs are the driver's behind their time.
        if unquoted.starts_with('[') && !reading.is_radv && !reading.export.is_open() {
            let line = Line::parse(text);
            if line.is_driver && line.stamp.is_some() {
                return self.parsed(reading, &line, place);
            }
        }
        let (is_export, before) = reading.export.line(unquoted);
        if let Some(entry) = before {
            self.entry(reading, &entry, place);
        }
        if is_export {
            return;
        }
        let (is_event, before) = reading.events.line(unquoted);
        if let Some(event) = before {
            self.wedged(event, place);
        }
        if is_event {
            return;
        }
        if (reading.is_radv || unquoted.contains("radv") || unquoted.contains("context is lost"))
            && self.radv.line(unquoted, place)
        {
            return;
        }
        if unquoted.contains(" hangs: ") || unquoted.contains(" hangs at 0x") {
            self.hung.push((unquoted.to_owned(), place));
            return;
        }
        self.parsed(reading, &Line::parse(text), place);
    }

    /// Reads a line of `dmesg --json`, which is a field of a message.
    fn dmesg_json(&mut self, reading: &mut Reading, line: &str, place: Place) {
        let line = line.trim_end_matches(',');
        if let Some(seconds) = line.strip_prefix("\"time\":").and_then(|time| time.trim().parse().ok()) {
            reading.time = Some(line::Stamp::boot(seconds));
        }
        if let Some(message) = line.strip_prefix("\"msg\":").and_then(|text| serde_json::from_str(text.trim()).ok()) {
            let message: String = message;
            let mut parsed = Line::parse(&message);
            parsed.stamp = parsed.stamp.or(reading.time.take());
            self.parsed(reading, &parsed, place);
        }
    }

    fn entry(&mut self, reading: &mut Reading, entry: &Entry, place: Place) {
        let mut line = Line::parse(&entry.message);
        line.stamp = line.stamp.or(entry.stamp);
        if !entry.is_kernel {
            line.origin = Origin::Program;
        }
        self.parsed(reading, &line, place);
    }

    fn parsed(&mut self, reading: &mut Reading, line: &Line<'_>, place: Place) {
        if line.origin == Origin::Program {
            reading.program_lines += 1;
            self.radv.line(line.text, place);
            return;
        }
        let message = if line.is_driver {
            Message::driver(line.text)
        } else {
            // The prefix is often removed from lines that people quote. Only what is not to be confused is taken then.
            Message::other(line.text).or_else(|| Message::driver(line.text).filter(Message::is_unmistakable))
        };
        if matches!(message, Some(Message::TimedOut { jobs: None, .. }))
            || message.is_none() && line.is_driver && message::is_cut(line.text)
        {
            self.cut(place);
        }
        if line.is_error && matches!(message, None | Some(Message::DisplayFirmware(_) | Message::Psp { .. })) {
            let (count, first) = &mut self.other_errors;
            *count += 1;
            first.get_or_insert_with(|| (message::short(line.text), place));
        }
        if let Some(message) = message {
            self.gatherer.line(line, message, place);
        }
    }

    /// Remarks that a line was cut off.
    fn cut(&mut self, place: Place) {
        self.incomplete(place.input, &format!("line {} is cut off", place.line));
    }

    /// Remarks once that an input is incomplete.
    fn incomplete(&mut self, input: usize, why: &str) {
        let Some(name) = self.inputs.get(input) else { return };
        if !self.incomplete.contains(name) {
            self.incomplete.push(name.clone());
            self.notes.push(format!("{name}: incomplete, {why}"));
        }
    }

    fn wedged(&mut self, event: Wedged, place: Place) {
        let outcome = event.outcome();
        self.gatherer.wedged(event.gpu, event.process, outcome, event.stamp, place);
    }

    fn end_dump(&mut self, reading: &mut Reading) {
        // Each dump takes memory until the end.
        const MOST_DUMPS: usize = 4;
        if let Some(dump) = reading.dump.take() {
            if self.coredumps.len() < MOST_DUMPS {
                self.coredumps.push(dump);
            } else {
                self.notes.push("more than four devcoredumps: the others were skipped".to_owned());
            }
        }
    }

    fn end(&mut self, mut reading: Reading) {
        self.end_dump(&mut reading);
        let place = Place { input: reading.input, line: 0 };
        if let Some(entry) = reading.export.end(false) {
            self.entry(&mut reading, &entry, place);
        }
        if let Some(event) = reading.events.end() {
            self.wedged(event, place);
        }
    }
}

impl Message<'_> {
    /// Returns `true` if the text alone shows that the message is one of the driver.
    fn is_unmistakable(&self) -> bool {
        matches!(
            self,
            Self::TimedOut { .. }
                | Self::SoftRecovered { .. }
                | Self::Fault { .. }
                | Self::FaultAddress { .. }
                | Self::OldFault { .. }
                | Self::FaultStatus { .. }
                | Self::FaultClient { .. }
                | Self::Smu { .. }
        )
    }
}

/// Returns `true` if a line is one of a log: it has a time, and no line of a dump does.
fn is_log(text: &str) -> bool {
    // The dwords of a dump, of which there are millions, have none of what a time is written with.
    if !text.bytes().any(|byte| matches!(byte, b'[' | b':' | b';')) {
        return false;
    }
    let line = Line::parse(text);
    line.stamp.is_some() && line.text.len() < text.len() && !text.starts_with("time:")
}

/// Returns the text of an input in UTF-16, which shells of Windows write, with a mark at its start or without; `None` for other
/// inputs, of which nothing is read.
fn utf16(head: &[u8], reader: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let is_little = match head {
        [0xff, 0xfe, ..] => true,
        [0xfe, 0xff, ..] => false,
        _ => match is_little_without_mark(head) {
            Some(is_little) => is_little,
            None => return Ok(None),
        },
    };
    let mut bytes = Vec::new();
    reader.take(MOST_KEPT as u64).read_to_end(&mut bytes)?;
    let (units, _) = bytes.as_chunks::<2>();
    let unit = |pair: &[u8; 2]| if is_little { u16::from_le_bytes(*pair) } else { u16::from_be_bytes(*pair) };
    let text = char::decode_utf16(units.iter().map(unit)).map(|letter| letter.unwrap_or(char::REPLACEMENT_CHARACTER));
    Ok(Some(text.collect::<String>().into_bytes()))
}

/// Returns `true` if text has a NUL in each second byte, from the second one on, `false` from the first one on, and `None` if it has
/// not.
fn is_little_without_mark(head: &[u8]) -> Option<bool> {
    let (pairs, _) = head[..head.len().min(512)].as_chunks::<2>();
    let most = |is_nul: fn(&[u8; 2]) -> bool| {
        pairs.len() >= 8 && pairs.iter().filter(|pair| is_nul(pair)).count() * 10 >= pairs.len() * 9
    };
    if most(|pair| pair[0] != 0 && pair[1] == 0) {
        return Some(true);
    }
    most(|pair| pair[0] == 0 && pair[1] != 0).then_some(false)
}

fn memory_contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

/// Removes incidents that several inputs tell of, such as the kernel's log and the journal.
fn remove_copies(incidents: &mut Vec<Incident>) {
    let mut kept: Vec<Incident> = Vec::with_capacity(incidents.len());
    for incident in std::mem::take(incidents) {
        let is_copy = |other: &&mut Incident| {
            let is_other_input = other.place.map(|place| place.input) != incident.place.map(|place| place.input);
            let jobs = |incident: &Incident| incident.ring().map(|ring| (ring.ring.clone(), ring.jobs));
            let is_same_job = jobs(other).is_some()
                && incident.ring().is_some_and(|ring| ring.jobs.is_some())
                && jobs(other) == jobs(&incident);
            let address = |incident: &Incident| incident.lead_fault().map(|fault| (fault.address, fault.pasid));
            let is_same_fault = other.ring().is_none()
                && incident.ring().is_none()
                && address(other).is_some()
                && address(other) == address(&incident);
            is_other_input
                && (other.gpu == incident.gpu || other.gpu.is_none() || incident.gpu.is_none())
                && (is_same_job || is_same_fault)
        };
        match kept.iter_mut().find(is_copy) {
            // The one that tells more stays.
            Some(known) if incident.steps.len() + incident.faults.len() > known.steps.len() + known.faults.len() => {
                *known = incident;
            }
            Some(_) => {}
            None => kept.push(incident),
        }
    }
    *incidents = kept;
}

/// Adds what RADV tells to the incident of its process, or as one of its own.
fn join_radv(incidents: &mut Vec<Incident>, radv: &Radv) {
    let is_own = |incident: &&mut Incident| {
        let pid = incident.process().map(|process| process.pid);
        incident.is_hang() && radv.pid.zip(pid).is_none_or(|(own, pid)| own == pid)
    };
    let place = radv.place().unwrap_or(Place { input: 0, line: 0 });
    let found = if radv.pid.is_some() || incidents.len() == 1 { incidents.iter_mut().rev().find(is_own) } else { None };
    if let Some(incident) = found {
        radv.add_to(incident);
    } else {
        let kernel = Kernel { release: radv.kernel.as_deref().and_then(Release::parse), ..Kernel::default() };
        // The folder's name has the process ID.
        let process = radv.pid.map(|pid| Process { name: radv.application(), pid, thread: String::new() });
        let mut incident = Incident {
            kernel,
            wedged_process: process,
            place: Some(place),
            last_place: Some(place),
            ..Incident::default()
        };
        radv.add_to(&mut incident);
        incident.events.push(event(Kind::Program, "RADV reports a hang".to_owned(), place));
        incidents.push(incident);
    }
}

fn event(kind: Kind, text: String, place: Place) -> Event {
    Event { kind, text, number: None, is_after: false, count: 1, stamp: None, place }
}

/// Adds a failed check to the incident that the kernel's messages during it tell of, or as one of its own.
fn join_check(incidents: &mut Vec<Incident>, failed: smoke::Failed, place: Place) {
    let own = incidents.iter_mut().find(|incident| {
        let is_same_ring = failed
            .ring
            .as_ref()
            .is_none_or(|ring| incident.ring().is_none_or(|known| known.ring.starts_with(ring.as_str())));
        incident.place.is_some_and(|known| known.input == place.input) && is_same_ring && !failed.messages.is_empty()
    });
    if let Some(incident) = own {
        incident.work.packet = incident.work.packet.take().or(failed.packet);
        return;
    }
    let mut incident = Incident { place: Some(place), last_place: Some(place), ..Incident::default() };
    let fault = failed.fault.map(|fault| format!("; {fault}")).unwrap_or_default();
    incident.events.push(event(Kind::CheckFailed, format!("{}{fault}", failed.text), place));
    incident.work.packet = failed.packet;
    incidents.push(incident);
}

/// Adds what the simulator said about a hang: the packet, and the file with the IB.
fn join_hung(incidents: &mut Vec<Incident>, text: &str, place: Place) {
    if let Some((wave, place_and_why)) = text.split_once(" hangs at 0x") {
        let wave = wave.rsplit_once(": ").map_or(wave, |(_, wave)| wave);
        let (at, why) = place_and_why.split_once(": ").unwrap_or((place_and_why, ""));
        let (why, code) = why.rsplit_once(" (").unwrap_or((why, ""));
        let instruction = instruction(code.trim_end_matches(')')).map(|text| format!("{text}, ")).unwrap_or_default();
        let shader = format!("{instruction}at 0x{at}: {wave}, {why}");
        let own = incidents.iter_mut().find(|incident| incident.is_hang() && incident.work.shader.is_none());
        if let Some(incident) = own {
            incident.work.shader = Some(shader);
        }
        return;
    }
    let saved = text.rsplit_once(" (saved as ").map(|(_, file)| file.trim_end_matches([')', ' ']).to_owned());
    let packet = text.split_once(" hangs: ").map(|(_, why)| why.split(" (saved as ").next().unwrap_or(why).to_owned());
    let own = incidents.iter_mut().find(|incident| incident.is_hang() && incident.work.saved.is_none());
    let incident = if let Some(incident) = own {
        incident
    } else {
        let mut incident = Incident { place: Some(place), last_place: Some(place), ..Incident::default() };
        incident.events.push(event(Kind::Program, "the simulator reports a hang".to_owned(), place));
        incidents.push(incident);
        let last = incidents.len() - 1;
        &mut incidents[last]
    };
    incident.work.packet = incident.work.packet.take().or(packet);
    incident.work.saved = saved;
}

/// Returns the first instruction of a generation and dwords, such as `GFX10_3, bf82ffff 00000000`.
fn instruction(code: &str) -> Option<String> {
    let (level, dwords) = code.split_once(", ")?;
    let dwords: Vec<_> = dwords.split(' ').map_while(|dword| u32::from_str_radix(dword, 16).ok()).collect();
    let listing = Listing::new(level_of(level).ok()?, WaveSize::Wave64, &dwords);
    Some(listing.lines().first()?.content.as_ref().ok()?.to_string())
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod variations;
#[cfg(test)]
mod wordings;
