//! From messages to incidents: which message belongs to which incident.
//!
//! An incident begins with the first abnormal line of a GPU and lasts until its end is told, and ten seconds longer, because a reset
//! has consequences. The address on the bus keeps GPUs apart; a line without it belongs to the only open incident, or to the last
//! one. A machine that was started again has no open incident.

use std::time::Duration;

use super::{
    incident::{End, Event, Incident, Kind, PageFault, Place, RingTimeOut, StatusLayout, Step},
    kernel::{Kernel, Release, RingKind},
    line::{Bus, Form, Line, Stamp},
    message::{Message, Process, is_graphics, short},
    uevent::Outcome,
};

/// The seconds after the end of an incident in which its consequences follow.
const CASCADE: f64 = 10.0;
/// The longest time-out of any kernel and ring in seconds, and some more.
const LONGEST: f64 = 75.0;
/// The incidents that are kept; more are counted.
const MOST_INCIDENTS: usize = 400;
/// The entries of one kind that are kept of an incident; more are counted.
const MOST: usize = 32;
/// The index of a fault that is counted with another one, and whose lines say nothing new.
const FOLDED: usize = usize::MAX;

/// A collector of incidents.
#[derive(Debug, Default)]
pub(crate) struct Gatherer {
    kernel: Kernel,
    open: Vec<Incident>,
    done: Vec<Incident>,
    dropped: u64,
    bridge: Option<Event>,
    /// The last event that is of interest only if a hang follows, such as a refusal of the security processor.
    lead: Option<(Option<Bus>, Event)>,
    /// The first line of the kernel about an invalid access of its own, whose function follows.
    oops: Option<(String, Option<Stamp>, Place)>,
    /// The first line of the kernel about a thread that waits, whose functions follow.
    blocked: Option<(String, Option<Stamp>, Place)>,
    /// The GPUs that did not recover, and where the inputs tell so.
    lost: Vec<(Option<Bus>, Place)>,
    last_stamp: Option<Stamp>,
    /// The GPU of the last line that named one, for lines that follow without it.
    last_touched: usize,
}

impl Gatherer {
    /// Adds a line of the kernel's log.
    pub(crate) fn line(&mut self, line: &Line<'_>, message: Message<'_>, place: Place) {
        if let Some(stamp) = line.stamp {
            if self.last_stamp.is_some_and(|last| stamp.is_after_reboot(last)) {
                self.reboot();
            }
            self.last_stamp = Some(stamp);
        }
        match message {
            Message::Kernel(version) => {
                // The first line after a start.
                if !self.open.is_empty() || self.kernel.release.is_some() {
                    self.reboot();
                }
                self.kernel = Kernel { release: Release::parse(version), ..Kernel::default() };
                return;
            }
            Message::Parameters(line) => return self.kernel.parameters(line),
            Message::Bridge(text) => {
                let (text, stamp) = (short(text), line.stamp);
                let event = Event { kind: Kind::Bridge, text, number: None, is_after: false, count: 1, stamp, place };
                self.bridge = Some(event);
                return;
            }
            Message::Started { text } => {
                self.started(line.gpu.or_else(|| text.split_whitespace().find_map(Bus::parse)));
                return;
            }
            Message::Psp { command } if self.find(line.gpu).is_none() && is_lead(command) => {
                let (text, stamp) = (format!("PSP refuses {}", short(command)), line.stamp);
                let event = Event { kind: Kind::Psp, text, number: None, is_after: false, count: 1, stamp, place };
                self.lead = Some((line.gpu, event));
                return;
            }
            Message::DisplayFirmware(text) if self.find(line.gpu).is_none() => {
                // Many displays report one while they start, and nothing follows.
                let (kind, text) = (Kind::DisplayFirmware, text.to_owned());
                let event = Event { kind, text, number: None, is_after: false, count: 1, stamp: line.stamp, place };
                self.lead = Some((line.gpu, event));
                return;
            }
            Message::Oops(text) => {
                self.oops = Some((short(text), line.stamp, place));
                return;
            }
            Message::OopsAt(at) => {
                if is_graphics(at) {
                    self.blocked_at(line, at, place);
                }
                return self.oops_at(line, at, place);
            }
            Message::Blocked(text) => {
                self.blocked = Some((short(text), line.stamp, place));
                return;
            }
            Message::Frame(at) => return self.blocked_at(line, at, place),
            Message::Killed { .. } if self.find(None).is_none() => return,
            Message::LetGo if !self.is_removed(line.stamp) => return,
            _ => {}
        }
        self.narrow(line, &message);
        let stamp = line.stamp;
        self.expire(stamp);
        let Some(index) = self.target(line.gpu, &message, stamp, place) else { return };
        self.last_touched = index;
        let describes = matches!(
            message,
            Message::FaultAddress { .. }
                | Message::OldFault { .. }
                | Message::FaultStatus { .. }
                | Message::FaultClient { .. }
                | Message::Process(_)
        );
        let incident = &mut self.open[index];
        incident.gpu = incident.gpu.or(line.gpu);
        incident.last_place = Some(place);
        let is_consequence = incident.end != End::Unknown;
        if !is_consequence {
            incident.last = stamp.or(incident.last);
        }
        if incident.kernel == Kernel::default() || !is_consequence {
            incident.kernel = self.kernel.clone();
        }
        let fault = incident.described.take().filter(|_| describes);
        incident.described = apply(incident, message, (stamp, place), fault);
    }

    /// Forgets the clock and the kernel, before another input.
    pub(crate) fn next_input(&mut self) {
        self.close_all();
        self.forget();
    }

    /// Returns the incidents in order, and the number of others that were not kept.
    pub(crate) fn finish(mut self) -> (Vec<Incident>, u64) {
        self.close_all();
        (self.done, self.dropped)
    }

    /// Returns `true` if an incident is open whose end is not told, `false` if all have ended, and `None` if there is none.
    pub(crate) fn is_open(&self) -> Option<bool> {
        let is_unknown = |incident: &Incident| incident.end == End::Unknown;
        let is_any = !self.open.is_empty() || !self.done.is_empty();
        is_any.then(|| self.open.iter().any(is_unknown))
    }

    /// Adds an event for user space: the device is wedged.
    pub(crate) fn wedged(
        &mut self,
        gpu: Option<Bus>,
        process: Option<Process>,
        outcome: Outcome,
        stamp: Option<Stamp>,
        place: Place,
    ) {
        let (is_recovered, end, recovery) = match outcome {
            Outcome::Recovered => (true, End::Recovered, None),
            Outcome::Offered(methods) => (false, End::Wedged, Some(methods)),
            Outcome::Untold => (false, End::Unknown, Some(String::new())),
        };
        let is_own = |incident: &Incident| gpu.is_none() || incident.gpu.is_none() || incident.gpu == gpu;
        let is_near = |incident: &Incident| {
            stamp.zip(incident.last).and_then(|(now, last)| now.since(last)).is_none_or(|gap| gap.abs() < CASCADE)
        };
        let known = self
            .open
            .iter_mut()
            .chain(self.done.iter_mut())
            .rev()
            .find(|incident| is_own(incident) && is_near(incident));
        if let Some(incident) = known {
            incident.is_wedged |= is_recovered;
            incident.recovery = recovery.or(incident.recovery.take());
            if incident.end == End::Unknown && end == End::Wedged {
                incident.end = end;
            }
            incident.wedged_process = incident.wedged_process.take().or(process);
            return;
        }
        self.open.push(Incident {
            gpu,
            is_wedged: is_recovered,
            wedged_process: process,
            recovery,
            end,
            start: stamp,
            last: stamp,
            place: Some(place),
            last_place: Some(place),
            ..Incident::default()
        });
    }

    /// Returns all incidents, to add what other inputs tell.
    pub(crate) fn incidents(&mut self) -> &mut Vec<Incident> {
        self.close_all();
        &mut self.done
    }

    fn reboot(&mut self) {
        self.close_all();
        self.forget();
    }

    /// Forgets what is true of one run of the kernel alone.
    fn forget(&mut self) {
        (self.kernel, self.last_stamp, self.bridge, self.lead) = (Kernel::default(), None, None, None);
        (self.oops, self.blocked, self.lost) = (None, None, Vec::new());
    }

    /// Returns `true` if the slot told just now that its card is gone.
    fn is_removed(&self, stamp: Option<Stamp>) -> bool {
        self.bridge.as_ref().is_some_and(|bridge| {
            let gap = stamp.zip(bridge.stamp).and_then(|(now, then)| now.since(then));
            ["Link Down", "Card not present"].iter().any(|what| bridge.text.contains(what))
                && gap.is_none_or(|gap| gap.abs() < CASCADE)
        })
    }

    /// Adds the function in which the kernel failed, if it is one of the graphics drivers.
    fn oops_at(&mut self, line: &Line<'_>, at: &str, place: Place) {
        // A warning has the same form without the first line.
        let Some((what, stamp, first)) = self.oops.take() else { return };
        if is_report(first, place) && is_graphics(at) {
            let text = format!("{what}, in {}", function(at));
            self.line(&Line { stamp, ..*line }, Message::KernelBug(&text), first);
        }
    }

    /// Adds the first function of the graphics drivers in which a thread of the kernel waits.
    fn blocked_at(&mut self, line: &Line<'_>, at: &str, place: Place) {
        let Some((what, stamp, first)) = self.blocked.take() else { return };
        if is_report(first, place) {
            let text = format!("{what}, in {}", function(at));
            self.line(&Line { stamp, ..*line }, Message::Waits(&text), first);
        }
    }

    /// Forgets firmware files that were missing, because the driver started without them, and that the GPU was lost.
    fn started(&mut self, gpu: Option<Bus>) {
        let is_own = |incident: &Incident| gpu.is_none() || incident.gpu.is_none() || incident.gpu == gpu;
        self.open.retain(|incident| !(is_own(incident) && incident.is_firmware_alone()));
        let is_over = |incident: &Incident| is_own(incident) && matches!(incident.end, End::Failed | End::Wedged);
        let (over, open) = std::mem::take(&mut self.open).into_iter().partition(is_over);
        self.open = open;
        for incident in over {
            self.push(incident);
        }
        self.lost.retain(|(of, _)| gpu.is_some() && *of != gpu);
        self.last_touched = self.open.len().saturating_sub(1);
    }

    /// Concludes from the form of a line which kernels write it.
    fn narrow(&mut self, line: &Line<'_>, message: &Message<'_>) {
        match line.form {
            Form::Module => self.kernel.narrow(None, Some(Release(6, 18))),
            // Kernels without the driver's name before 5.7 name the process of a fault in the same line.
            Form::Address if matches!(message, Message::TimedOut { .. } | Message::Fault { process: None, .. }) => {
                self.kernel.narrow(Some(Release(6, 19)), None);
            }
            // `amdgpu_job_timedout` names the device since 6.9.
            Form::Function if matches!(message, Message::TimedOut { .. } | Message::SoftRecovered { .. }) => {
                self.kernel.narrow(None, Some(Release(6, 14)));
            }
            Form::Address | Form::Function | Form::Other => {}
        }
        match message {
            Message::RingReset { .. } => self.kernel.narrow(Some(Release(6, 13)), None),
            Message::Reset { source: Some(_) } => self.kernel.narrow(Some(Release(6, 17)), None),
            Message::Process(_) if line.text.starts_with("Process information: ") => {
                self.kernel.narrow(None, Some(Release(6, 14)));
            }
            Message::Process(_) => self.kernel.narrow(Some(Release(6, 15)), None),
            _ => {}
        }
    }

    /// Closes the incidents that are over.
    fn expire(&mut self, now: Option<Stamp>) {
        let is_over = |incident: &Incident| {
            let gap = now.zip(incident.last).and_then(|(now, last)| now.since(last));
            gap.is_some_and(|gap| gap > if incident.end == End::Unknown { LONGEST } else { CASCADE })
        };
        if self.open.iter().any(is_over) {
            let (over, open) = std::mem::take(&mut self.open).into_iter().partition(is_over);
            self.open = open;
            self.last_touched = self.open.len().saturating_sub(1);
            for incident in over {
                self.push(incident);
            }
        }
    }

    fn close_all(&mut self) {
        for incident in std::mem::take(&mut self.open) {
            self.push(incident);
        }
    }

    fn push(&mut self, mut incident: Incident) {
        let has_news = !incident.rings.is_empty() || !incident.faults.is_empty() || !incident.events.is_empty();
        if !has_news
            && incident.steps.is_empty()
            && !incident.is_wedged
            && incident.recovery.is_none()
            && incident.end == End::Unknown
        {
            // The GPU's state was dumped, and nothing else happened.
            return;
        }
        // Where no line names the GPU, it is the one that was lost, unless several were.
        let is_single = self.lost.len() == 1;
        let gpu = incident.gpu;
        let is_own = |(of, _): &&(Option<Bus>, Place)| *of == gpu || gpu.is_none() && is_single;
        incident.after_failure = self.lost.iter().find(is_own).map(|(_, place)| *place);
        match incident.end {
            End::Failed | End::Wedged if incident.after_failure.is_none() => {
                self.lost.extend(incident.last_place.map(|place| (gpu, place)));
            }
            End::Full | End::Recovered => self.lost.retain(|(of, _)| *of != gpu),
            _ => {}
        }
        if let Some(last) = self.done.last_mut().filter(|last| is_same_kind(last, &incident)) {
            last.repeats += 1 + incident.repeats;
            last.reset_count = incident.reset_count.or(last.reset_count);
            last.last_place = incident.last_place.or(last.last_place);
            return;
        }
        if self.done.len() < MOST_INCIDENTS { self.done.push(incident) } else { self.dropped += 1 }
    }

    /// Returns the incident that a message belongs to, and begins one if there is none.
    fn target(&mut self, gpu: Option<Bus>, message: &Message<'_>, stamp: Option<Stamp>, place: Place) -> Option<usize> {
        let found = self.find(gpu);
        if found.is_none() && self.is_late(gpu, message, stamp, place) {
            return None;
        }
        let is_new = match found.map(|index| &self.open[index]) {
            None => begins(message),
            Some(incident) => begins(message) && is_separate(incident, message, stamp),
        };
        if !is_new {
            return found;
        }
        let mut carried = Vec::new();
        if let Some(index) = found {
            let mut old = self.open.remove(index);
            if matches!(message, Message::TimedOut { .. } | Message::SoftRecovered { .. }) && old.end != End::Unknown {
                // A fault after the end of one incident and before the next time-out belongs to the next one.
                let is_next = |fault: &PageFault| fault.is_after_reset && fault.vmid.is_none_or(|vmid| vmid != 0);
                let (next, own) = std::mem::take(&mut old.faults).into_iter().partition(is_next);
                (carried, old.faults) = (next, own);
                for fault in &mut carried {
                    let fault: &mut PageFault = fault;
                    fault.is_after_reset = false;
                }
            }
            self.push(old);
        }
        let mut incident = Incident {
            gpu,
            kernel: self.kernel.clone(),
            start: carried.first().map_or(stamp, |fault| fault.stamp),
            last: stamp,
            place: Some(carried.first().map_or(place, |fault| fault.place)),
            faults: carried,
            ..Incident::default()
        };
        if let Some(bridge) = self.bridge.take() {
            let gap = stamp.zip(bridge.stamp).and_then(|(now, then)| now.since(then));
            if gap.is_none_or(|gap| gap.abs() < CASCADE) {
                incident.events.push(bridge);
            }
        }
        if let Some((of, lead)) = self.lead.take() {
            let gap = stamp.zip(lead.stamp).and_then(|(now, then)| now.since(then));
            let is_own = of.is_none() || gpu.is_none() || of == gpu;
            if is_own && gap.is_none_or(|gap| gap.abs() < LONGEST) {
                incident.events.push(lead);
            }
        }
        self.open.push(incident);
        Some(self.open.len() - 1)
    }

    fn find(&self, gpu: Option<Bus>) -> Option<usize> {
        let Some(gpu) = gpu else {
            return match self.open.len() {
                0 => None,
                1 => Some(0),
                count => Some(self.last_touched.min(count - 1)),
            };
        };
        let own = self.open.iter().rposition(|incident| incident.gpu == Some(gpu));
        own.or_else(|| self.open.iter().rposition(|incident| incident.gpu.is_none()))
    }

    /// Adds a consequence that comes long after a reset to its incident. Returns `true` if there is one.
    fn is_late(&mut self, gpu: Option<Bus>, message: &Message<'_>, stamp: Option<Stamp>, place: Place) -> bool {
        let is_own = |incident: &&mut Incident| gpu.is_none() || incident.gpu.is_none() || incident.gpu == gpu;
        let Some(incident) = self.done.iter_mut().rev().find(is_own).filter(|incident| incident.is_hang()) else {
            return false;
        };
        let is_late = match message {
            Message::LostInterrupt { ring } => incident.rings.iter().any(|known| known.ring == *ring),
            Message::Refused { error } => *error == -125,
            Message::Wedged { is_recovered } => *is_recovered && !incident.is_wedged,
            _ => false,
        };
        if is_late {
            apply(incident, message.clone(), (stamp, place), None);
        }
        is_late
    }
}

/// Returns `true` if two lines are of one report of the kernel, whose lines follow each other.
const fn is_report(first: Place, other: Place) -> bool {
    const MOST_LINES: u64 = 40;
    first.input == other.input && other.line.saturating_sub(first.line) <= MOST_LINES
}

/// Returns the name of a function without the offset and the module.
fn function(at: &str) -> String {
    short(at.split(['+', ' ']).next().unwrap_or(at))
}

/// Returns `true` if the refusal of a command by the security processor may lead to a hang. What trusted applications are told, such
/// as those of copy protection for displays, is refused often, and nothing follows.
fn is_lead(command: &str) -> bool {
    !["UNLOAD_TA", "LOAD_TA", "INVOKE_CMD"].iter().any(|harmless| command.starts_with(harmless))
}

/// Returns `true` if a message may be the first one of an incident.
fn begins(message: &Message<'_>) -> bool {
    !matches!(
        message,
        Message::Process(_)
            | Message::FaultAddress { .. }
            | Message::OldFault { .. }
            | Message::FaultStatus { .. }
            | Message::FaultClient { .. }
            | Message::Psp { .. }
            | Message::DisplayFirmware(_)
            | Message::Killed { .. }
            | Message::Oops(_)
            | Message::OopsAt(_)
            | Message::Blocked(_)
            | Message::Frame(_)
            | Message::Kernel(_)
            | Message::Parameters(_)
            | Message::Bridge(_)
            | Message::Started { .. }
    )
}

/// Returns `true` if a message begins an incident although another one of the GPU is open.
fn is_separate(incident: &Incident, message: &Message<'_>, stamp: Option<Stamp>) -> bool {
    let gap = stamp.zip(incident.last).and_then(|(now, last)| now.since(last));
    let ended = incident.end != End::Unknown;
    match message {
        Message::TimedOut { ring, .. } | Message::SoftRecovered { ring } => {
            if ended {
                // Another ring's time-out shortly after is a consequence; the same ring's is the next incident.
                return incident.rings.iter().any(|known| known.ring == *ring) || gap.is_none_or(|gap| gap > CASCADE);
            }
            if !incident.is_hang() {
                let is_fault_alone = incident.events.is_empty() && !incident.faults.is_empty();
                let limit = incident.kernel.time_out(RingKind::of(ring)).milliseconds.unwrap_or(60_000);
                return is_fault_alone && gap.is_some_and(|gap| gap > Duration::from_millis(limit).as_secs_f64() + 3.0);
            }
            false
        }
        Message::Fault { vmid, process, .. } => {
            if ended || incident.is_hang() {
                return ended && *vmid != Some(0) && gap.is_some_and(|gap| gap > CASCADE);
            }
            // Faults of one program are one incident until it times out.
            let other = incident.faults.last().and_then(|fault| fault.process.as_ref());
            let is_other = other.zip(process.as_ref()).is_some_and(|(old, new)| old.pid != new.pid);
            !incident.faults.is_empty() && (is_other || gap.is_some_and(|gap| gap > CASCADE))
        }
        Message::Dumping => {
            // A dump precedes the time-out's line. A cascade has none of its own while the reset is under way.
            ended && gap.is_none_or(|gap| gap > 0.5)
        }
        Message::Reset { .. } => ended && !matches!(incident.end, End::Ring | End::Soft),
        Message::NoMemory | Message::NotPinned { .. } | Message::Firmware { .. } | Message::TooHot { .. } => {
            !incident.is_hang() && incident.events.is_empty() && !incident.faults.is_empty()
        }
        _ => false,
    }
}

/// Returns `true` if an incident repeats the one before: only these lines differ, so that the later one says nothing new.
fn is_same_kind(last: &Incident, new: &Incident) -> bool {
    let rings = |incident: &Incident| incident.rings.iter().map(|ring| ring.ring.clone()).collect::<Vec<_>>();
    let who = |incident: &Incident| incident.process().map(|process| (process.name.clone(), process.pid));
    let events = |incident: &Incident| {
        let own = incident.events.iter().filter(|event| !event.is_after);
        own.map(|event| (event.kind, event.number)).collect::<Vec<_>>()
    };
    let faults = |incident: &Incident| {
        let part = |fault: &PageFault| (fault.vmid == Some(0), fault.status.map(|status| status.0 & 0x7f_fffe));
        incident.faults.iter().map(part).collect::<Vec<_>>()
    };
    last.place.map(|place| place.input) == new.place.map(|place| place.input)
        && last.gpu == new.gpu
        && last.end == new.end
        && last.method == new.method
        && rings(last) == rings(new)
        && who(last) == who(new)
        && events(last) == events(new)
        && faults(last) == faults(new)
        && last.coredump.is_none()
        && new.coredump.is_none()
        && last.work == new.work
}

/// Applies a message to its incident. Returns the fault that the next lines describe.
#[expect(clippy::too_many_lines, reason = "an arm for each message")]
fn apply(
    incident: &mut Incident,
    message: Message<'_>,
    (stamp, place): (Option<Stamp>, Place),
    fault: Option<usize>,
) -> Option<usize> {
    let step = |incident: &mut Incident, text: String, is_done: Option<bool>| {
        if incident.steps.len() < MOST {
            incident.steps.push(Step { text, is_done, stamp, end: None, place });
        }
    };
    let event = |incident: &mut Incident, kind: Kind, text: String, number: Option<i64>| {
        let is_after = incident.is_hang();
        let has_room = incident.events.len() < MOST;
        let same = incident.events.iter_mut().find(|event| {
            (event.kind, event.number, event.is_after) == (kind, number, is_after)
                && (number.is_some() || event.text == text)
        });
        match same {
            Some(event) => event.count += 1,
            None if has_room => {
                incident.events.push(Event { kind, text, number, is_after, count: 1, stamp, place });
            }
            None => {}
        }
    };
    match message {
        Message::TimedOut { ring, jobs } => time_out(incident, ring, jobs, false, (stamp, place)),
        Message::SoftRecovered { ring } => {
            time_out(incident, ring, None, true, (stamp, place));
            incident.end = End::Soft;
        }
        Message::Process(process) => return name(incident, process, fault),
        Message::RingReset { ring } => step(incident, format!("reset of ring {}", short(ring)), None),
        Message::RingResetEnd { ring, is_done } => {
            let text = format!("reset of ring {}", short(ring));
            match incident.steps.iter_mut().rev().find(|step| step.text == text && step.is_done.is_none()) {
                Some(step) => (step.is_done, step.end) = (Some(is_done), stamp),
                None => step(incident, text, Some(is_done)),
            }
            if is_done {
                incident.end = End::Ring;
            }
        }
        Message::Step(text) if text.starts_with("GPU reset succeeded, trying") => {
            // This is not the end: the parts of the GPU start afterwards, and may fail.
            step(incident, "parts start again".to_owned(), None);
        }
        Message::Step(text) => step(incident, short(text), step_result(text)),
        Message::Wedged { is_recovered } => {
            incident.is_wedged = is_recovered;
            if is_recovered && incident.end == End::Unknown {
                incident.end = if incident.method.is_some() { End::Full } else { End::Recovered };
            } else if !is_recovered && incident.end != End::Failed {
                incident.end = End::Wedged;
            }
        }
        Message::Reset { source } => {
            incident.source = source.or(incident.source);
            incident.end = End::Unknown;
            step(incident, "reset of the whole GPU".to_owned(), None);
        }
        Message::Method(method) => {
            incident.method = Some(method);
            let text = format!("{method} reset");
            if incident.steps.iter().all(|step| step.text != text) {
                step(incident, text, None);
            }
        }
        Message::VramLost => incident.is_vram_lost = true,
        Message::PartFailed { text, error } => event(incident, Kind::PartFailed, short(text), error.map(i64::from)),
        Message::ResetEnd { count, is_done, error } => {
            incident.reset_count = count.or(incident.reset_count);
            incident.reset_error = error.or(incident.reset_error);
            // A failure is told several times, and a success is not the last word after one.
            incident.end = if is_done && incident.end != End::Failed { End::Full } else { End::Failed };
            let whole = incident.steps.iter_mut().rev().find(|step| step.text == "reset of the whole GPU");
            if let Some(step) = whole.filter(|step| step.is_done.is_none()) {
                (step.is_done, step.end) = (Some(is_done), stamp);
            }
        }
        Message::RecoveryDisabled => {
            incident.end = End::Disabled;
            event(incident, Kind::RecoveryDisabled, "GPU recovery disabled".to_owned(), None);
        }
        Message::Fault { hub, vmid, pasid, is_retry, process } => {
            return page_fault(
                incident,
                PageFault {
                    hub: short(hub),
                    vmid,
                    pasid,
                    process,
                    address: None,
                    status: None,
                    client: None,
                    is_retry,
                    is_after_reset: incident.is_hang(),
                    count: 1,
                    stamp,
                    place,
                },
            );
        }
        Message::FaultAddress { address } => {
            let known = incident.faults.get_mut(fault?)?;
            known.address = Some(extend(address));
            return fault;
        }
        Message::OldFault { address, vmid, pasid, client } => {
            let known = incident.faults.get_mut(fault?)?;
            known.address = Some(address);
            (known.vmid, known.pasid) = (vmid.or(known.vmid), pasid.or(known.pasid));
            known.client = client.map(short).or_else(|| known.client.take());
            return fault;
        }
        Message::FaultStatus { status, is_gfx9, is_old } => {
            let known = incident.faults.get_mut(fault?)?;
            let layout = if is_old {
                StatusLayout::Old
            } else if is_gfx9 {
                StatusLayout::Gfx9
            } else {
                StatusLayout::Gfx10
            };
            known.status = Some((status, layout));
            return fault;
        }
        Message::FaultClient { name } => {
            incident.faults.get_mut(fault?)?.client = Some(short(name));
            return fault;
        }
        Message::Illegal { what } => event(incident, Kind::Illegal, format!("illegal {what}"), None),
        Message::Mes { message } => {
            event(incident, Kind::Mes, format!("MES does not answer {}", short(message)), None);
        }
        Message::Smu { message, parameter } => {
            let message_text = message.map(|message| format!(" message {message:#x}")).unwrap_or_default();
            let parameter = parameter.map(|value| format!(" with parameter {value:#x}")).unwrap_or_default();
            event(incident, Kind::Smu, format!("SMU does not answer{message_text}{parameter}"), message.map(i64::from));
        }
        Message::Psp { command } => event(incident, Kind::Psp, format!("PSP refuses {}", short(command)), None),
        Message::Firmware { file, error } => event(incident, Kind::Firmware, short(file), error.map(i64::from)),
        Message::NotStarted { text } => event(incident, Kind::NotStarted, short(text), None),
        Message::NoMemory => {
            event(incident, Kind::NoMemory, "submission refused: not enough memory".to_owned(), Some(-12));
        }
        Message::NotPinned { error } => {
            event(incident, Kind::NotPinned, format!("framebuffer not pinned: error {error}"), Some(error.into()));
        }
        Message::Refused { error } => {
            event(incident, Kind::Refused, format!("submission refused: error {error}"), Some(error.into()));
        }
        Message::LostInterrupt { ring } => event(incident, Kind::LostInterrupt, short(ring), None),
        Message::DisplayWaits => event(incident, Kind::DisplayWaits, "the display waits".to_owned(), None),
        Message::TooHot { is_off, is_hardware } => {
            let who = if is_hardware { "hardware" } else { "software" };
            let kind = if is_off { Kind::PowerOff } else { Kind::TooHot };
            event(incident, kind, format!("critical temperature ({who} limit)"), None);
            if is_off {
                incident.end = End::PowerOff;
            }
        }
        Message::Unreachable(text) => {
            event(incident, Kind::Unreachable, short(text), None);
            incident.end = End::Failed;
        }
        Message::LetGo => {
            event(incident, Kind::Unreachable, "the slot reports that the card is gone".to_owned(), None);
            incident.end = End::Removed;
        }
        Message::AllOnes(text) => event(incident, Kind::AllOnes, short(text), None),
        Message::BusError(text) => event(incident, Kind::Bridge, short(text), None),
        Message::DisplayFirmware(text) => event(incident, Kind::DisplayFirmware, text.to_owned(), None),
        Message::Killed { process } => event(incident, Kind::Killed, short(process), None),
        Message::KernelBug(text) => event(incident, Kind::KernelBug, short(text), None),
        Message::HardwareError(text) => event(incident, Kind::HardwareError, short(text), None),
        Message::KfdStuck(text) => event(incident, Kind::KfdStuck, short(text), None),
        Message::Waits(text) => event(incident, Kind::Waits, short(text), None),
        Message::Dumping => incident.has_dump = true,
        Message::Kernel(_)
        | Message::Parameters(_)
        | Message::Bridge(_)
        | Message::Started { .. }
        | Message::Oops(_)
        | Message::OopsAt(_)
        | Message::Blocked(_)
        | Message::Frame(_) => {}
    }
    None
}

/// Returns the result that the text of a step tells.
fn step_result(text: &str) -> Option<bool> {
    (text.starts_with("failed") || text.contains("failed and")).then_some(false)
}

fn time_out(
    incident: &mut Incident,
    ring: &str,
    jobs: Option<(u32, u32)>,
    is_soft_recovered: bool,
    (stamp, place): (Option<Stamp>, Place),
) {
    let ring = short(ring);
    if incident.rings.len() < MOST && incident.rings.iter().all(|known| known.ring != ring || known.jobs != jobs) {
        incident.rings.push(RingTimeOut { ring, jobs, process: None, is_soft_recovered, stamp, place });
    }
}

/// Names the process of the fault or of the ring in the lines before.
fn name(incident: &mut Incident, process: Process, fault: Option<usize>) -> Option<usize> {
    if let Some(index) = fault {
        if let Some(known) = incident.faults.get_mut(index) {
            known.process.get_or_insert(process);
        }
        return fault;
    }
    if let Some(ring) = incident.rings.last_mut() {
        ring.process.get_or_insert(process);
    }
    None
}

/// Adds a fault, or counts it with one of the same access.
fn page_fault(incident: &mut Incident, fault: PageFault) -> Option<usize> {
    // The first one has the status; the status of later ones is often 0, because the register is latched.
    let same = incident.faults.iter().position(|known| {
        // The first line of a fault of GFX6 to GFX8 has no address space.
        let space = (fault.vmid, fault.pasid);
        (space == (None, None) || (known.vmid, known.pasid) == space)
            && (&known.hub, known.is_after_reset) == (&fault.hub, fault.is_after_reset)
            && fault
                .process
                .as_ref()
                .is_none_or(|process| known.process.as_ref().is_some_and(|known| known.pid == process.pid))
            && known.address.is_some()
    });
    if let Some(index) = same {
        incident.faults[index].count += 1;
        return Some(FOLDED);
    }
    if incident.faults.len() >= MOST {
        return None;
    }
    incident.faults.push(fault);
    Some(incident.faults.len() - 1)
}

/// Extends bit 47 of an address, as programs see it.
pub(super) const fn extend(address: u64) -> u64 {
    ((address << 16).cast_signed() >> 16).cast_unsigned()
}
