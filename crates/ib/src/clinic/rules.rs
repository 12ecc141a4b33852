//! The likely cause of an incident: a table of rules, the first of which that applies names the cause.
//!
//! Order decides. What precedes the time-out of a ring may be its cause; what follows within the reset is a consequence. Without
//! evidence there is no cause.

use super::{
    fault::Accessor,
    incident::{End, Incident, Kind, PageFault, Place, RingTimeOut},
    kernel::RingKind,
    message::Process,
};

/// The class of a cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Class {
    Overheated,
    LinkLost,
    HardwareError,
    PowerController,
    FirmwareMissing,
    NotStarted,
    OutOfMemory,
    SchedulerFirmware,
    InvalidCommands,
    PageFault,
    KernelFault,
    LostInterrupt,
    KernelJob,
    VideoEngine,
    EndlessWait,
    LongWork,
    StuckJob,
    ComputeQueue,
    Requested,
    CheckFailed,
    SecurityProcessor,
    DisplayFirmware,
    KernelBug,
    Unknown,
}

impl Class {
    /// All classes with the names in JSON, the exit codes of `--exit-class`, and what they mean.
    pub(crate) const TABLE: [(Self, &'static str, u8, &'static str); 24] = [
        (Self::Overheated, "overheated", 10, "the GPU was too hot"),
        (Self::LinkLost, "link-lost", 11, "the GPU was no longer reachable"),
        (Self::HardwareError, "hardware-error", 12, "memory or another part reported an uncorrectable error"),
        (Self::PowerController, "power-controller", 13, "the power controller (SMU) hung first"),
        (Self::FirmwareMissing, "firmware-missing", 14, "a firmware file is missing"),
        (Self::NotStarted, "not-started", 15, "the driver did not start"),
        (Self::OutOfMemory, "out-of-memory", 16, "a submission has more memory than there is"),
        (Self::SchedulerFirmware, "scheduler-firmware", 17, "the scheduler's firmware (MES) hung first"),
        (Self::InvalidCommands, "invalid-commands", 18, "the command stream has something that cannot be executed"),
        (Self::PageFault, "page-fault", 19, "a program accessed memory that is not mapped"),
        (Self::KernelFault, "kernel-fault", 20, "the kernel or a firmware accessed memory that is not mapped"),
        (Self::LostInterrupt, "lost-interrupt", 21, "the work was done, and nobody was told in time"),
        (Self::KernelJob, "kernel-job", 22, "a job of the kernel itself hung"),
        (Self::VideoEngine, "video-engine", 23, "a video engine hung"),
        (Self::EndlessWait, "endless-wait", 24, "the commands wait for a value that does not come"),
        (Self::LongWork, "long-work", 25, "one job ran longer than the time-out"),
        (Self::StuckJob, "stuck-job", 26, "a job is endless, or its engine is stuck"),
        (Self::ComputeQueue, "compute-queue", 27, "a queue of ROCm is stuck"),
        (Self::Requested, "requested", 28, "somebody asked for the reset"),
        (Self::CheckFailed, "check-failed", 29, "a check of amdgpu-smoke failed"),
        (Self::SecurityProcessor, "security-processor", 31, "the security processor (PSP) failed first"),
        (Self::DisplayFirmware, "display-firmware", 32, "the display's microcontroller (DMUB) failed first"),
        (Self::KernelBug, "kernel-bug", 33, "the kernel's graphics driver failed itself"),
        (Self::Unknown, "unknown", 30, "the inputs do not tell"),
    ];

    fn row(self) -> &'static (Self, &'static str, u8, &'static str) {
        // The table has every class, which a test proves.
        Self::TABLE.iter().find(|row| row.0 == self).unwrap_or(&Self::TABLE[Self::TABLE.len() - 1])
    }

    /// Returns the name.
    pub(crate) fn name(self) -> &'static str {
        self.row().1
    }

    /// Returns the exit code of `--exit-class`.
    pub(crate) fn code(self) -> u8 {
        self.row().2
    }

    /// Returns the meaning in a few words.
    pub(crate) fn meaning(self) -> &'static str {
        self.row().3
    }
}

/// The confidence in a cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Confidence {
    /// Nothing points to a cause.
    Unknown,
    /// It fits, and others fit as well.
    Possible,
    /// It fits better than others.
    Likely,
    /// The kernel says so.
    Certain,
}

impl Confidence {
    /// Returns the word.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Possible => "possible",
            Self::Likely => "likely",
            Self::Certain => "certain",
        }
    }
}

/// The verdict on the program of the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Blame {
    Yes,
    No,
    Unknown,
}

impl Blame {
    /// Returns the word.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::No => "no",
            Self::Unknown => "unknown",
        }
    }
}

/// A cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cause {
    /// The class.
    pub(crate) class: Class,
    /// The confidence in it.
    pub(crate) confidence: Confidence,
    /// The cause in a sentence.
    pub(crate) text: String,
    /// The verdict on the program, with its reason.
    pub(crate) blame: (Blame, String),
    /// The lines that prove it.
    pub(crate) lines: Vec<Place>,
    /// Other causes that fit.
    pub(crate) also: Vec<String>,
    /// The next steps.
    pub(crate) next: Vec<String>,
}

/// Programs that draw what other programs give them.
const COMPOSITORS: &[&str] = &[
    "kwin_wayland",
    "kwin_x11",
    "plasmashell",
    "gnome-shell",
    "mutter",
    "Xorg",
    "Xwayland",
    "X",
    "cosmic-comp",
    "sway",
    "Hyprland",
    "weston",
    "gamescope",
    "gamescope-wl",
    "labwc",
    "wayfire",
    "niri",
    "river",
    "cinnamon",
    "muffin",
    "picom",
    "xfwm4",
    "compton",
    "marco",
    "budgie-wm",
    "enlightenment",
];

/// Returns `true` if a process is a compositor.
pub(crate) fn is_compositor(process: &Process) -> bool {
    // Some distributions wrap programs: the name is then `.NAME-wrapped`, and the kernel keeps 15 bytes of it.
    let name = process.name.as_str();
    let is_wrapped = |compositor: &&str| {
        let rest = name.strip_prefix('.').and_then(|name| name.strip_prefix(*compositor));
        rest.is_some_and(|rest| "-wrapped".starts_with(rest))
    };
    COMPOSITORS.contains(&name) || COMPOSITORS.iter().any(is_wrapped)
}

type Rule = fn(&Incident) -> Option<Cause>;

/// The rules, in the order in which they outrank each other.
const RULES: [Rule; 28] = [
    after_failure,
    overheated,
    link_lost,
    hardware_error,
    kernel_bug,
    firmware_missing,
    not_started,
    power_controller,
    security_processor,
    all_ones,
    not_resumed,
    scheduler_firmware,
    invalid_commands,
    page_fault,
    kernel_fault,
    late_fence,
    kernel_job,
    video_engine,
    endless_wait,
    first_jobs,
    long_work,
    stuck_job,
    compute_queue,
    requested,
    out_of_memory,
    lost_interrupt,
    display_firmware,
    check_failed,
];

/// Returns the likely cause of an incident.
pub(crate) fn cause(incident: &Incident) -> Cause {
    let mut found = RULES.iter().filter_map(|rule| rule(incident));
    let mut cause = found.next().unwrap_or_else(|| nothing(incident));
    if incident.work.guilt.is_some_and(|guilt| guilt.contains("innocent")) && incident.process().is_none() {
        cause.blame =
            (Blame::No, "RADV says that the program's context is innocent: another one was guilty".to_owned());
    }
    if let Some((fault, process)) = other_fault(incident) {
        cause.also.push(format!(
            "the page fault of another program, {} (PID {}), before: a GPU that hangs for one program may hang for others",
            process.called(),
            process.pid
        ));
        cause.lines.push(fault.place);
    }
    cause.lines.sort();
    cause.lines.dedup();
    if !incident.rings.is_empty() && incident.coredump.is_none() && cause.class != Class::PowerController {
        let what = if incident.has_dump {
            "the kernel wrote a dump and drops it"
        } else {
            "next time save the dump, which the kernel drops"
        };
        let save = format!(
            "{what} after 5 minutes: sudo cat /sys/class/drm/card*/device/devcoredump/data >dump; give it to this command with the log"
        );
        cause.next.push(save);
    }
    cause
}

/// Returns the page fault before a time-out that another process than the ring's made, and that process.
fn other_fault(incident: &Incident) -> Option<(&PageFault, &Process)> {
    let of_ring = incident.ring()?.process.as_ref()?;
    let fault = incident.lead_fault()?;
    let process = fault.process.as_ref().filter(|process| process.pid != of_ring.pid)?;
    Some((fault, process))
}

fn who(incident: &Incident) -> String {
    match incident.process() {
        Some(process) if !process.is_kernel() => process.called(),
        _ => "the program".to_owned(),
    }
}

fn new(class: Class, confidence: Confidence, text: impl Into<String>) -> Cause {
    Cause {
        class,
        confidence,
        text: text.into(),
        blame: (Blame::Unknown, "the inputs do not tell".to_owned()),
        lines: Vec::new(),
        also: Vec::new(),
        next: Vec::new(),
    }
}

impl Cause {
    fn blame(self, blame: Blame, why: impl Into<String>) -> Self {
        Self { blame: (blame, why.into()), ..self }
    }

    fn lines(mut self, places: impl IntoIterator<Item = Place>) -> Self {
        self.lines.extend(places);
        self
    }

    fn also(mut self, text: impl Into<String>) -> Self {
        self.also.push(text.into());
        self
    }

    fn next(mut self, text: impl Into<String>) -> Self {
        self.next.push(text.into());
        self
    }
}

/// Returns the text about an earlier event: how long before the time-out of a ring it was.
fn lead(incident: &Incident, stamp: Option<super::line::Stamp>) -> String {
    let gap = incident.ring().and_then(|ring| ring.stamp).zip(stamp).and_then(|(ring, event)| ring.since(event));
    match gap.filter(|gap| *gap > 0.0) {
        Some(gap) if gap < 1.0 => format!(", {:.0} ms before ring {} timed out", gap * 1e3, ring_name(incident)),
        Some(gap) => format!(", {gap:.0} s before ring {} timed out", ring_name(incident)),
        None => String::new(),
    }
}

fn ring_name(incident: &Incident) -> &str {
    incident.ring().map_or("", |ring| &ring.ring)
}

/// A GPU that did not recover completes no job any more.
fn after_failure(incident: &Incident) -> Option<Cause> {
    let failure = incident.after_failure?;
    Some(
        new(Class::Unknown, Confidence::Likely, "a consequence: this GPU did not recover from the incident before")
            .blame(Blame::No, "no program can use this GPU until the machine is restarted")
            .lines([failure])
            .lines(incident.place)
            .next("restart the machine, and read the incident before"),
    )
}

fn kernel_bug(incident: &Incident) -> Option<Cause> {
    let first = incident.before(Kind::KernelBug)?;
    Some(
        new(
            Class::KernelBug,
            Confidence::Certain,
            format!("the kernel's graphics driver failed itself: {}{}", first.text, lead(incident, first.stamp)),
        )
        .blame(Blame::No, "programs must not be able to make the kernel fail, whatever they ask for")
        .lines([first.place])
        .also("memory that something else overwrote, or faulty RAM, if the function differs each time")
        .next("restart the machine: the thread that failed holds its locks for ever")
        .next("try another kernel; report it with the whole text from the first line to the end of the trace"),
    )
}

/// Registers that read all ones while nothing else tells that the GPU is gone.
fn all_ones(incident: &Incident) -> Option<Cause> {
    let first = incident.before(Kind::AllOnes)?;
    Some(
        new(
            Class::LinkLost,
            Confidence::Possible,
            format!("{}: the GPU is powered off, or no longer reachable{}", first.text, lead(incident, first.stamp)),
        )
        .blame(Blame::No, "a program cannot remove the card from the bus")
        .lines([first.place])
        .also("runtime suspend (D3cold) from which the GPU does not come back, power supply, riser or cable")
        .next("test with amdgpu.runpm=0 and pcie_aspm=off; check seat, cable and power plugs")
        .next("look at the lines before about pcieport and the power state (D3cold)"),
    )
}

fn display_firmware(incident: &Incident) -> Option<Cause> {
    let first = incident.before(Kind::DisplayFirmware)?;
    let waits = incident.of(Kind::DisplayWaits).next();
    Some(
        new(
            Class::DisplayFirmware,
            Confidence::Possible,
            format!("no ring timed out: {}, and the display waits for a picture to be shown", first.text),
        )
        .blame(Blame::No, "programs give this microcontroller no commands")
        .lines([first.place])
        .lines(waits.map(|event| event.place))
        .also("power saving of the panel (PSR, Replay), a cable or dock, clocks of the display")
        .next("as a test, no power saving of the panel: amdgpu.dcdebugmask=0x10 (PSR), 0x410 (and Replay)")
        .next("update the firmware package (dcn_*_dmcub.bin) and the kernel"),
    )
}

fn overheated(incident: &Incident) -> Option<Cause> {
    let first = incident.before(Kind::TooHot).or_else(|| incident.before(Kind::PowerOff))?;
    let off = incident.of(Kind::PowerOff).next();
    let then = if off.is_some() { "; the machine is powered off on purpose" } else { "" };
    Some(
        new(Class::Overheated, Confidence::Certain, format!("the hot spot passed the {}{then}", first.text))
            .blame(Blame::No, "no program hung; whoever loads a GPU may do so")
            .lines(incident.of(Kind::TooHot).chain(incident.of(Kind::PowerOff)).map(|event| event.place))
            .also("a raised power limit, or a hot room")
            .next("check cooling: fan, dust, paste; compare temp2 (junction) in hwmon with its crit value under load")
            .next("undo overclocking and raised power limits"),
    )
}

fn link_lost(incident: &Incident) -> Option<Cause> {
    let own = incident.before(Kind::Unreachable);
    let bridge = incident.before(Kind::Bridge);
    let first = own.or(bridge)?;
    let confidence = if own.is_some() { Confidence::Certain } else { Confidence::Likely };
    Some(
        new(
            Class::LinkLost,
            confidence,
            format!("the link to the GPU was lost ({}){}", first.text, lead(incident, first.stamp)),
        )
        .blame(Blame::No, "a program cannot remove the card from the bus")
        .lines(own.into_iter().chain(bridge).map(|event| event.place))
        .also("power supply or a crash of the card's firmware, which look the same from outside")
        .next("check the seat of the card, riser, cable (for external boxes) and power plugs")
        .next("test with amdgpu.runpm=0 and pcie_aspm=off"),
    )
}

fn hardware_error(incident: &Incident) -> Option<Cause> {
    let first = incident.before(Kind::HardwareError)?;
    if incident.of(Kind::HardwareError).all(|event| counts_all_ones(&event.text)) {
        return Some(
            new(
                Class::HardwareError,
                Confidence::Possible,
                format!(
                    "{}: counters that read all ones, as they do while the GPU sleeps or is unreachable",
                    first.text
                ),
            )
            .blame(Blame::No, "no program takes part in it")
            .lines([first.place])
            .next("read the counters in /sys/class/drm/card*/device/ras while the GPU is awake (power/control: on)"),
        );
    }
    Some(
        new(Class::HardwareError, Confidence::Certain, format!("{}{}", first.text, lead(incident, first.stamp)))
            .blame(Blame::No, "the hardware reports the error itself")
            .lines([first.place])
            .next("run amdgpu-smoke --filter memory, and keep the counters in /sys/class/drm/card*/device/ras")
            .next("if it repeats, the card is to be replaced"),
    )
}

/// Returns `true` if the number of errors is a multiple of what a counter of 16 bits that reads all ones gives.
fn counts_all_ones(text: &str) -> bool {
    let (head, _) = text.split_once("uncorrectable").unwrap_or((text, ""));
    let count = head.split_whitespace().rev().find_map(|word| word.parse::<u64>().ok());
    count.is_some_and(|count| count > 0 && count % 0xffff == 0)
}

fn power_controller(incident: &Incident) -> Option<Cause> {
    let first = incident.before(Kind::Smu)?;
    let (text, blame) = if incident.is_hang() {
        let text = format!("the power controller hung first: {}{}", first.text, lead(incident, first.stamp));
        (text, format!("{} only drew when it happened", who(incident)))
    } else {
        let is_resume = incident.of(Kind::PartFailed).any(|part| part.text.contains("resume"));
        let then = if is_resume { "the GPU did not come back after suspend" } else { "no ring timed out" };
        let text = format!("the power controller hung: {}; {then}", first.text);
        (text, "programs give the power controller no commands".to_owned())
    };
    Some(
        new(Class::PowerController, Confidence::Likely, text)
            .blame(Blame::No, blame)
            .lines(incident.of(Kind::Smu).map(|event| event.place).chain(incident.ring().map(|ring| ring.place)))
            .also("a monitor that polls the metrics, undervolting or overclocking, GFXOFF, the power supply")
            .next("power the machine off and on: a warm restart may leave the controller stuck")
            .next("as a test: stop monitoring tools, undo overclocking, update BIOS and firmware"),
    )
}

fn security_processor(incident: &Incident) -> Option<Cause> {
    let first = incident.before(Kind::Psp).filter(|_| incident.is_hang())?;
    Some(
        new(
            Class::SecurityProcessor,
            Confidence::Likely,
            format!("the security processor failed first: {}{}", first.text, lead(incident, first.stamp)),
        )
        .blame(Blame::No, "programs give the security processor no commands")
        .lines([first.place])
        .lines(incident.ring().map(|ring| ring.place))
        .also("a power supply or clocks that are not stable")
        .next("power the machine off and on; update firmware, BIOS and kernel"),
    )
}

/// A part that does not start again after suspend, or does not execute the driver's own test.
fn not_resumed(incident: &Incident) -> Option<Cause> {
    let first = incident.of(Kind::PartFailed).next();
    let first = first.filter(|_| !incident.is_hang() || incident.is_resume_alone())?;
    let is_resume = incident.of(Kind::PartFailed).any(|event| event.text.contains("resume"));
    let what =
        if is_resume { "the GPU did not come back after suspend" } else { "a ring does not execute the driver's test" };
    Some(
        new(Class::NotStarted, Confidence::Likely, format!("no hang of a program: {what}: {}", first.text))
            .blame(Blame::No, "the driver's own test failed, before any program's work")
            .lines(incident.of(Kind::PartFailed).map(|event| event.place))
            .also("firmware, power states (runtime suspend, GFXOFF), or a card that lost power")
            .next("power off and on; update firmware, BIOS and kernel together; send the log from its start"),
    )
}

fn firmware_missing(incident: &Incident) -> Option<Cause> {
    let file = incident.of(Kind::Firmware).next()?;
    if incident.is_firmware_alone() {
        return Some(
            new(
                Class::FirmwareMissing,
                Confidence::Possible,
                format!("the firmware file {} was not loaded; no line tells that the driver did not start", file.text),
            )
            .blame(Blame::No, "no program takes part in it")
            .lines([file.place])
            .also("an optional file, without which the driver works")
            .next("look further down in the log: 'Initialized amdgpu' means that it started"),
        );
    }
    // Optional files are tried first, and their absence stops nothing.
    if !incident.events.iter().any(|event| event.kind == Kind::NotStarted) {
        return None;
    }
    let early = file.stamp.and_then(|stamp| stamp.since(super::line::Stamp::boot(0.0))).is_some_and(|time| time < 15.0);
    let initramfs =
        if early { ", or it is not in the initramfs (the driver started before the root file system)" } else { "" };
    let error = file.number.map(|error| format!(" (error {error})")).unwrap_or_default();
    Some(
        new(
            Class::FirmwareMissing,
            Confidence::Certain,
            format!("no hang: the driver did not start, because the firmware file {}{error} was not loaded: linux-firmware is older than the chip needs{initramfs}", file.text),
        )
        .blame(Blame::No, "no program was running on the GPU")
        .lines([file.place])
        .next("install or update the firmware package, and rebuild the initramfs")
        .next(format!("look for the file: ls /lib/firmware/{}*; the kernel must be able to read .xz or .zst", file.text)),
    )
}

fn not_started(incident: &Incident) -> Option<Cause> {
    let first = incident.of(Kind::NotStarted).next().filter(|_| !incident.is_hang())?;
    let smu = incident.before(Kind::Smu).or_else(|| incident.before(Kind::Psp));
    let lead = smu.map(|smu| format!(", after {}", smu.text)).unwrap_or_default();
    Some(
        new(Class::NotStarted, Confidence::Likely, format!("no hang: the driver did not start: {}{lead}", first.text))
            .blame(Blame::No, "no program was running on the GPU")
            .lines(smu.map(|smu| smu.place))
            .lines([first.place])
            .also("firmware that is there and refuses (-62 of smu, -22 of psp), or a card that is not powered")
            .next("power off and on; update firmware, BIOS and kernel together; send the log from its start"),
    )
}

fn scheduler_firmware(incident: &Incident) -> Option<Cause> {
    let first = incident.before(Kind::Mes)?;
    // These messages make the firmware wait until the queue's work stops. Queues of ROCm and of programs have no time-out.
    let waits = ["REMOVE_QUEUE", "SUSPEND", "RESET"].iter().any(|message| first.text.ends_with(message));
    // A queue whose work waits at a page fault cannot be taken away: the fault is the cause.
    if waits && incident.lead_fault().is_some_and(|fault| fault.place < first.place) {
        return None;
    }
    if incident.ring().is_none() && incident.steps.is_empty() && incident.of(Kind::KfdStuck).next().is_none() {
        let text = format!("{}; no ring timed out, and no reset follows", first.text);
        return Some(
            new(Class::SchedulerFirmware, Confidence::Possible, text)
                .blame(Blame::No, "no job was late")
                .lines([first.place])
                .also("a register of a part that sleeps (GFXOFF, a video engine), which the firmware waits for")
                .next("update the firmware package (GC and MES) and the kernel")
                .next("send the log from its start if programs stand still"),
        );
    }
    let has_queue = incident.of(Kind::KfdStuck).next().is_some() || incident.source == Some(6);
    let text = format!("the scheduler's firmware hung first: {}{}", first.text, lead(incident, first.stamp));
    let cause = if waits && (has_queue || incident.ring().is_none()) {
        new(Class::SchedulerFirmware, Confidence::Possible, text)
            .blame(Blame::Unknown, "the firmware may wait for a queue of a program whose work does not stop")
            .also("a kernel of ROCm or work of a user queue that is endless: the firmware cannot take its queue away")
    } else {
        new(Class::SchedulerFirmware, Confidence::Likely, text)
            .blame(Blame::No, "the firmware hung before any job was late")
    };
    Some(
        cause
            .lines([first.place])
            .next("update the firmware package (GC and MES) and the kernel")
            .next("as a test on GFX11: amdgpu.mes=0 where the chip allows it"),
    )
}

fn invalid_commands(incident: &Incident) -> Option<Cause> {
    let event = incident.of(Kind::Illegal).next()?;
    Some(
        new(
            Class::InvalidCommands,
            Confidence::Likely,
            format!("{}: the driver of {} wrote it, or its memory was overwritten", event.text, who(incident)),
        )
        .lines([event.place])
        .blame(Blame::Unknown, "usually the Vulkan or OpenGL driver writes commands, not the program itself")
        .next("decode the IB: amdgpu-ib dump devcoredump names the packet"),
    )
}

/// Returns `true` if a fault may be the cause of a ring's time-out: of the same process, and not long before.
fn may_cause(incident: &Incident, fault: &PageFault, ring: &RingTimeOut) -> bool {
    let is_other = ring.process.as_ref().zip(fault.process.as_ref()).is_some_and(|(ring, fault)| ring.pid != fault.pid);
    let limit = incident.kernel.time_out(ring.kind()).milliseconds.unwrap_or(60_000);
    let limit = std::time::Duration::from_millis(limit).as_secs_f64() + 3.0;
    let gap = ring.stamp.zip(fault.stamp).and_then(|(ring, fault)| ring.since(fault));
    !is_other && gap.is_none_or(|gap| gap <= limit)
}

fn page_fault(incident: &Incident) -> Option<Cause> {
    let fault = incident.lead_fault()?;
    let ring = incident.ring();
    if ring.is_some_and(|ring| !may_cause(incident, fault, ring)) {
        return None;
    }
    let process = fault.process.as_ref().or_else(|| incident.process());
    let name = process.filter(|process| !process.is_kernel()).map_or("the program".to_owned(), Process::called);
    let access = fault.access();
    let by = match fault.accessor() {
        Some(Accessor::Commands) => "the command processor",
        Some(Accessor::Copy) => "a copy",
        Some(Accessor::FixedFunction) => "drawing",
        Some(Accessor::Video) => "a video engine",
        Some(Accessor::Display) => "the display",
        Some(Accessor::Firmware) => "a firmware",
        Some(Accessor::ShaderMemory | Accessor::ShaderScalar | Accessor::ShaderCode) => "a shader",
        Some(Accessor::Other) | None => "work",
    };
    let article = article(&access);
    let address = fault.address.map_or(String::new(), |address| format!(" at {address:#x}"));
    let mes = incident.of(Kind::Mes).find(|event| event.place > fault.place);
    let then = match ring {
        None if mes.is_some() => "; then the scheduler's firmware could not take the queue away",
        Some(_) if fault.is_retry => "; the access is retried for ever, hence the time-out",
        Some(_) => "; the time-out followed",
        None => "",
    };
    let of = if incident.gpu_side_unknown() { String::new() } else { format!(" of {name}") };
    let is_shader = fault.accessor().is_some_and(Accessor::is_shader);
    let why = match (&incident.work.buffer, fault.is_read_only()) {
        (Some(buffer), _) if buffer.is_freed => "; the memory was freed before",
        (_, true) => "; the page is mapped, and writing is not allowed",
        _ if fault.is_null_code() => {
            "; the program counter is near 0: code that was not loaded, or a call through a null pointer"
        }
        _ if fault.own_status().is_none() => "",
        _ if is_shader && fault.is_near_null() => {
            "; the address is near 0: a null pointer, or a descriptor that was not written"
        }
        _ => "; its memory was unmapped too early, or an address or index is wrong",
    };
    let samples = process.is_some_and(is_compositor);
    let confidence = match ring {
        _ if fault.is_mismatch() || fault.decoded().is_none() => Confidence::Possible,
        // That the access happened is certain; why it did is not.
        _ => Confidence::Likely,
    };
    let blame = if samples {
        (Blame::Unknown, format!("{name} is a compositor: it may only sample what a client gave it and took away"))
    } else if is_shader && process.is_some() {
        (Blame::Yes, format!("the access is one of {name} (the program or its graphics driver)"))
    } else {
        (Blame::Unknown, "the inputs do not tell that it was a shader of a named process".to_owned())
    };
    let mut cause = new(Class::PageFault, confidence, format!("{by}{of} made {article} {access}{address}{why}{then}"))
        .blame(blame.0, blame.1)
        .lines(incident.faults.iter().filter(|fault| !fault.is_after_reset).map(|fault| fault.place))
        .lines(ring.map(|ring| ring.place).or(mes.map(|event| event.place)))
        .also("use after free, or an index or size out of range: the address alone does not tell them apart");
    if samples {
        cause = cause.next("look for a client that closed a window or was killed just before");
    }
    if incident.source == Some(4) || incident.of(Kind::KfdStuck).next().is_some() || fault.is_rocm() {
        return Some(cause.next(format!(
            "run {name} with AMD_SERIALIZE_KERNEL=3 and AMD_LOG_LEVEL=3, or under rocgdb, to learn the kernel of ROCm"
        )));
    }
    if fault.hub.starts_with("mmhub") && !is_shader {
        return Some(cause.next(format!(
            "repeat it with decoding and encoding in software as a test; report the codec, the size, and the versions of Mesa and of the video firmware with {name}"
        )));
    }
    cause = cause.next(format!(
        "run {name} with RADV_DEBUG=hang (Vulkan) and give the folder radv_dumps_* to this command: it names the buffer at the address"
    ));
    Some(cause.next("try robustness: the application's debug layer, or radv_zero_vram and RADV_DEBUG=nodcc as tests"))
}

/// Returns the article of an access.
fn article(access: &str) -> &'static str {
    if access.starts_with('a') { "an" } else { "a" }
}

fn kernel_fault(incident: &Incident) -> Option<Cause> {
    let fault = incident.faults.iter().find(|fault| !fault.is_after_reset && fault.vmid == Some(0))?;
    Some(
        new(
            Class::KernelFault,
            Confidence::Likely,
            format!("the kernel or a firmware made {} {} (VMID 0)", article(&fault.access()), fault.access()),
        )
        .blame(Blame::No, "VMID 0 is the kernel's address space")
        .lines([fault.place])
        .next("update kernel and firmware; report it with the whole log"),
    )
}

fn late_fence(incident: &Incident) -> Option<Cause> {
    let ring = incident.ring()?;
    let (signaled, emitted) = ring.jobs?;
    // An engine that cannot be reset is in trouble itself, beside its interrupt.
    let smu = incident.of(Kind::Smu).find(|event| event.is_after);
    let failed = incident.steps.iter().find(|step| step.is_done == Some(false));
    let confidence = if smu.is_some() || failed.is_some() { Confidence::Possible } else { Confidence::Likely };
    (signaled == emitted).then(|| {
        let cause = new(
            Class::LostInterrupt,
            confidence,
            format!(
                "the work of ring {} was done when its time was over (job {emitted}): an interrupt was lost or late",
                ring.ring
            ),
        )
        .blame(Blame::No, "the job was completed")
        .lines([ring.place])
        .lines(smu.map(|event| event.place))
        .also("a job that ended just when the time was over");
        let cause = match smu {
            Some(smu) => cause
                .also(format!("power of the engine or its controller: {} during the reset", smu.text))
                .next("as a test, another firmware package or kernel; note the versions of SMU driver and firmware"),
            None if failed.is_some() => cause.also("an engine in trouble: its ring could not be reset"),
            None => cause,
        };
        cause.next("as tests: pci=nomsi for the card's slot, another slot, irqbalance off; look for a busy CPU")
    })
}

fn kernel_job(incident: &Incident) -> Option<Cause> {
    let ring = incident.ring().filter(|ring| !ring.is_soft_recovered)?;
    let is_told = ring.process.as_ref().is_some_and(Process::is_kernel);
    // The kernel leaves the line out for its own jobs from 6.15 on. If nothing follows, the line may be cut off.
    let is_left_out = ring.process.is_none()
        && incident.wedged_process.is_none()
        && !incident.steps.is_empty()
        && match ring.kind() {
            RingKind::Copy => true,
            RingKind::Graphics | RingKind::Compute => incident.kernel.leaves_out_own_jobs(),
            RingKind::Video | RingKind::Other => false,
        }
        && incident.coredump.is_none()
        && incident.work == super::incident::Work::default();
    if !is_told && !is_left_out {
        return None;
    }
    let confidence = if is_told { Confidence::Likely } else { Confidence::Possible };
    Some(
        new(
            Class::KernelJob,
            confidence,
            format!("a job of the kernel itself hung on ring {} (a page move, a clear or an update of page tables): the engine's power state or memory traffic", ring.ring),
        )
        .blame(Blame::No, "no program submitted the job")
        .lines([ring.place])
        .also("suspend and resume just before, GFXOFF, errors of memory; not a shader")
        .next("note whether the machine was suspended just before; update kernel and firmware")
        .next("as a test, GFXOFF off: amdgpu.ppfeaturemask=0xfff73fff"),
    )
}

fn video_engine(incident: &Incident) -> Option<Cause> {
    let ring = incident.ring().filter(|ring| ring.kind() == RingKind::Video)?;
    let part = incident.of(Kind::PartFailed).next();
    let end = part.map(|part| format!("; afterwards: {}", part.text)).unwrap_or_default();
    Some(
        new(Class::VideoEngine, Confidence::Possible, format!("a video session of {} hung on ring {}: unsupported size or parameters, or the engine's firmware{end}", who(incident), ring.ring))
            .blame(Blame::Unknown, "a program can ask for what the engine cannot do, and the driver should refuse it")
            .lines([ring.place])
            .lines(part.map(|part| part.place))
            .next("repeat it with other parameters (size, codec, reference frames); note the firmware's version of the engine"),
    )
}

fn endless_wait(incident: &Incident) -> Option<Cause> {
    let ring = incident.ring()?;
    let packet = incident
        .work
        .packet
        .as_deref()
        .filter(|packet| packet.contains("WAIT_REG_MEM") || packet.contains("POLL_REGMEM"))?;
    Some(
        new(
            Class::EndlessWait,
            Confidence::Likely,
            format!(
                "the commands of {} wait for a value in memory or a register that did not come: {packet}",
                who(incident)
            ),
        )
        .lines([ring.place])
        .also("earlier work that never ends, for which the wait waits")
        .next("decode the IB around the packet: amdgpu-ib dump; who writes the value?"),
    )
}

/// The test that tells long work from an endless one where the kernel's time-out is short.
const SLOW_OR_ENDLESS: &str = "tell slow from endless: boot with amdgpu.lockup_timeout=10000 and repeat it";

/// The first jobs of a ring hang because of the ring, more often than because of the work.
fn first_jobs(incident: &Incident) -> Option<Cause> {
    const FEW: u32 = 32;
    // Where the work is known to be at an instruction, it is suspected first.
    let ring = incident.ring().filter(|_| incident.work.shader.is_none())?;
    let (signaled, _) = ring.jobs.filter(|(signaled, _)| *signaled < FEW)?;
    let after = incident.faults.iter().find(|fault| fault.is_after_reset && fault.vmid == Some(0));
    let is_short = incident.kernel.is_short(ring.kind());
    let fault = after.map_or(
        "",
        |_| "; the page fault of VMID 0 follows the reset and is its consequence, no null pointer of the program",
    );
    Some(
        new(Class::Unknown, Confidence::Unknown, format!("the inputs do not tell; ring {} had done only {signaled} {}, so the queue or its firmware is suspected before the work{fault}", ring.ring, if signaled == 1 { "job" } else { "jobs" }))
            .blame(Blame::Unknown, format!("nothing points to memory accesses of {}", who(incident)))
            .lines([ring.place])
            .lines(after.map(|fault| fault.place))
            .also(if is_short {
                "a first job that never ends, or that takes longer than the time-out of 2 s"
            } else {
                "a first shader that never ends"
            })
            .next(format!("update the firmware package and the kernel; repeat it without {}", who(incident))),
    )
    .map(|cause| if is_short { cause.next(SLOW_OR_ENDLESS) } else { cause })
}

fn long_work(incident: &Incident) -> Option<Cause> {
    let ring = incident.ring()?;
    let recovers =
        matches!(incident.end, End::Soft | End::Ring) || incident.end == End::Unknown && incident.steps.is_empty();
    if !incident.kernel.is_short(ring.kind()) || !recovers || incident.method.is_some() {
        return None;
    }
    let job = ring.running().map(|job| format!(" (job {job})")).unwrap_or_default();
    Some(
        new(
            Class::LongWork,
            Confidence::Likely,
            format!(
                "one job of {} on ring {}{job} ran longer than the time-out of 2 s; there is no page fault",
                who(incident),
                ring.ring
            ),
        )
        .blame(
            Blame::Unknown,
            format!(
                "the job is one of {}; whether the program, its driver or the time-out is wrong is not known",
                who(incident)
            ),
        )
        .lines([ring.place])
        .also("an endless loop in a shader: if a small batch hangs as well, it is a loop")
        .next(SLOW_OR_ENDLESS)
        .next("submit smaller batches, or use a compute queue where nothing else waits"),
    )
}

fn stuck_job(incident: &Incident) -> Option<Cause> {
    let ring = incident.ring()?;
    let is_silent = incident.of(Kind::Mes).any(|event| event.is_after);
    let failed = incident.steps.iter().find(|step| step.is_done == Some(false));
    let how = match (is_silent, failed) {
        (true, _) => {
            "hung so hard that the scheduler's firmware (MES) is stuck behind it; MES is the messenger, because the ring was late first"
        }
        (false, Some(step)) if step.text.starts_with("reset of the whole GPU") => {
            "hung so hard that resetting the GPU failed"
        }
        (false, Some(_)) => "hung so hard that resetting its ring failed",
        _ => "did not end: endless or very long work, or a stuck engine",
    };
    let job = ring.running().map(|job| format!(" (job {job})")).unwrap_or_default();
    let who = who(incident);
    let mut cause = new(
        Class::StuckJob,
        Confidence::Possible,
        format!("the job of {who} on ring {}{job} {how}; there is no page fault before", ring.ring),
    )
    .blame(
        Blame::Unknown,
        format!("the job is one of {who}; the program, its driver, firmware or hardware may be at fault"),
    )
    .lines([ring.place])
    .lines(failed.map(|step| step.place))
    .lines(incident.of(Kind::Mes).map(|event| event.place))
    .also("an endless loop of a shader, a wait that nobody ends, firmware, unstable clocks");
    if ring.is_soft_recovered {
        cause = cause.also("a compute or graphics shader that is only slow");
    }
    let next = if is_silent { "update the firmware package (GC and MES); " } else { "" };
    cause = cause.next(format!("{next}run {who} with RADV_DEBUG=hang (Vulkan) to learn the draw or dispatch"));
    if incident.reset_count.is_some_and(|count| count > 1) {
        cause = cause.next("it is not the first reset since boot: read the log from the first one");
    }
    Some(cause.next("undo overclocking and undervolting as a test"))
}

fn compute_queue(incident: &Incident) -> Option<Cause> {
    let event = incident.of(Kind::KfdStuck).next()?;
    Some(
        new(
            Class::ComputeQueue,
            Confidence::Likely,
            format!("a queue of ROCm is stuck, and cannot be preempted: {}", event.text),
        )
        .lines([event.place])
        .also("an endless kernel, or firmware")
        .next("end the ROCm program that runs longest; update firmware; dmesg from the first such line"),
    )
}

fn requested(incident: &Incident) -> Option<Cause> {
    let (class, text) = match incident.source? {
        5 => (Class::Requested, "somebody asked for the reset (debugfs or a tool)"),
        2 => (Class::HardwareError, "the reset was begun because of an error that the hardware reported (RAS)"),
        3 => (Class::SchedulerFirmware, "the reset was begun because the scheduler's firmware (MES) hung"),
        4 => (Class::ComputeQueue, "the reset was begun because a queue of ROCm is stuck"),
        6 => (Class::StuckJob, "a user queue hung: its work is endless or very long, or the engine is stuck"),
        _ => return None,
    };
    let is_requested = class == Class::Requested;
    let confidence = if class == Class::StuckJob { Confidence::Possible } else { Confidence::Likely };
    let cause = new(class, confidence, text).lines(incident.steps.first().map(|step| step.place));
    Some(if is_requested {
        cause.blame(Blame::No, "no job was late")
    } else {
        cause.next("send the log from before the reset")
    })
}

fn out_of_memory(incident: &Incident) -> Option<Cause> {
    if incident.is_hang() {
        return None;
    }
    let is_memory = |event: &&super::incident::Event| {
        event.kind == Kind::NoMemory
            || matches!(event.kind, Kind::NotPinned | Kind::Refused) && event.number == Some(-12)
    };
    let first = incident.events.iter().find(is_memory)?;
    let pinned = incident
        .of(Kind::NotPinned)
        .next()
        .map_or("", |_| ", and the framebuffer of the display was not pinned in VRAM");
    let killed = incident.of(Kind::Killed).next();
    let killer = killed.map_or(String::new(), |event| {
        format!(
            "; the kernel then killed {}, because the memory of the system, of which GTT is a part, was used up",
            event.text
        )
    });
    Some(
        new(
            Class::OutOfMemory,
            Confidence::Certain,
            format!(
                "no hang: the buffers of one submission do not fit into VRAM and GTT (error -12, no memory){pinned}{killer}"
            ),
        )
        .blame(
            Blame::Unknown,
            "the lines name no process: the one that uses most is not always the one that was refused",
        )
        .lines(incident.events.iter().filter(is_memory).map(|event| event.place).chain([first.place]))
        .lines(killed.map(|event| event.place))
        .also("a leak, much pinned memory, or VRAM that is fragmented for the framebuffer")
        .next("see who has the memory: amdgpu-budget (or fdinfo of each process)")
        .next("smaller textures or one program less; on an APU a larger GTT (ttm.pages_limit) or carve-out"),
    )
}

fn lost_interrupt(incident: &Incident) -> Option<Cause> {
    let event = incident.of(Kind::LostInterrupt).next()?;
    Some(
        new(
            Class::LostInterrupt,
            Confidence::Possible,
            format!("an interrupt of ring {} was lost, and a timer took its place; the work goes on", event.text),
        )
        .blame(Blame::No, "programs do not handle interrupts")
        .lines([event.place])
        .also("harmless if a reset or resume was just before")
        .next("if it repeats: trouble with MSI; try another slot, or pci=nomsi as a test"),
    )
}

fn check_failed(incident: &Incident) -> Option<Cause> {
    let event = incident.of(Kind::CheckFailed).next()?;
    Some(
        new(Class::CheckFailed, Confidence::Likely, format!("a check of amdgpu-smoke failed: {}", event.text))
            .blame(Blame::No, "the check is known to work on good hardware and drivers")
            .lines([event.place])
            .next("run the check alone: amdgpu-smoke --filter ID --record FILE"),
    )
}

/// Returns the cause of an incident about which nothing is known.
fn nothing(incident: &Incident) -> Cause {
    let cancelled = incident.of(Kind::Refused).next();
    let waits = incident.of(Kind::DisplayWaits).next();
    let text = if cancelled.is_some_and(|event| event.number == Some(-125)) {
        "the inputs do not tell: submissions of a context are cancelled (-125), which is the consequence of a reset that the inputs do not have"
    } else if cancelled.is_some_and(|event| event.number == Some(-19)) {
        "the inputs do not tell: submissions are refused because the GPU is gone (-19), which is a consequence"
    } else if let Some(event) = cancelled {
        return new(Class::InvalidCommands, Confidence::Possible, format!("the kernel refused a submission as invalid ({}): the driver in user space made a mistake, or a handle was gone", event.text))
            .lines([event.place])
            .next("update Mesa; send the program's name and the log");
    } else if let Some(event) = incident.of(Kind::Waits).next() {
        return new(
            Class::Unknown,
            Confidence::Unknown,
            format!(
                "the inputs do not tell: a thread of the kernel stands still in the graphics driver ({}), because of a lock that is never released or a GPU that does not answer",
                event.text
            ),
        )
        .blame(Blame::Unknown, "the thread that stands still may wait for another one, or for the GPU")
        .lines([event.place])
        .next("send the log from before the first of these lines: what the GPU did first is there, or nowhere")
        .next("while it stands: echo w >/proc/sysrq-trigger (root) writes the traces of all threads that wait");
    } else if incident.recovery.as_ref().is_some_and(|methods| !methods.is_empty()) || incident.end == End::Wedged {
        let address = incident.gpu.map_or("ADDRESS".to_owned(), |gpu| gpu.to_string());
        return new(Class::Unknown, Confidence::Unknown, "the inputs do not tell: the event says that the device is wedged, and not why")
            .lines(incident.place)
            .next("send the kernel's log from before the event: journalctl -k -b")
            .next(format!(
                "with nothing that uses the device: echo {address} >/sys/bus/pci/drivers/amdgpu/unbind, then the same to bind (root), or restart the machine"
            ));
    } else if incident.is_reported_alone() {
        return new(
            Class::Unknown,
            Confidence::Unknown,
            "the inputs do not tell: a program reported a hang, and what it wrote names no cause",
        )
        .lines(incident.events.first().map(|event| event.place))
        .next("give the kernel's log of the same time with it: journalctl -k -b, or -b -1 after a restart");
    } else if waits.is_some() {
        "the inputs do not tell: the display waits for work that is late, which is a consequence"
    } else if !incident.steps.is_empty() {
        "the inputs do not tell: the log begins in the middle of a reset"
    } else {
        "the inputs do not tell"
    };
    new(Class::Unknown, Confidence::Unknown, text)
        .lines(incident.events.first().map(|event| event.place))
        .next("send the log from before the first of these lines: journalctl -k -b, or -b -1 after a restart")
}

impl Incident {
    /// Returns `true` if no input names the process of the access.
    fn gpu_side_unknown(&self) -> bool {
        self.process().is_none()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn each_class_has_one_name_and_one_exit_code() {
        let classes: HashSet<_> = Class::TABLE.iter().map(|row| row.0).collect();
        let names: HashSet<_> = Class::TABLE.iter().map(|row| row.1).collect();
        let codes: HashSet<_> = Class::TABLE.iter().map(|row| row.2).collect();
        assert_eq!((classes.len(), names.len(), codes.len()), (24, 24, 24));
        // The last class of the enum is in the table, and so are all before it.
        assert_eq!(Class::Unknown as usize, Class::TABLE.len() - 1);
        assert!(codes.iter().all(|code| *code >= 10), "codes below have other meanings");
    }

    #[test]
    fn the_schema_has_each_class() {
        let schema: serde_json::Value = serde_json::from_str(super::super::SCHEMA).unwrap();
        let known = &schema["$defs"]["incident"]["properties"]["cause"]["properties"]["class"]["enum"];
        let known: HashSet<_> = known.as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
        assert_eq!(known, Class::TABLE.iter().map(|row| row.1).collect());
    }
}
