//! The text report: one line for each check, written during the run.

use std::{
    fmt::{self, Display, Write},
    io::IsTerminal,
    time::Duration,
};

use amdgpu_output::styled;

use crate::{
    checks::inventory,
    hardware::state::Watched,
    output::sink::Sink,
    result::{
        check_result::CheckResult,
        conclusion::Conclusion,
        peers,
        report::{Facts, Gpu, Report},
        soak::Soak,
        status::{Expected, Status},
        tested::Progress,
    },
    run::Observer,
};

/// A writer of the text report. On a terminal it also shows the running check.
pub(crate) struct Human {
    out: Sink,
    coloured: bool,
    /// `true` if the output is a terminal on which a line can be overwritten.
    terminal: bool,
    /// The width of the longest check ID.
    width: usize,
    planned: usize,
    done: usize,
    /// The path of the bundle to attach to a bug report, if one is written.
    bundle: Option<String>,
    /// A hint for a filter that matches no check: the levels at which it matches one.
    hint: Option<String>,
}

/// The maximum number of hardware events in the summary. The JSON report contains all of them.
const EVENTS: usize = 12;

/// The maximum number of lines of evidence for a check. The JSON report contains all of them.
const EVIDENCE: usize = 24;

impl Human {
    pub(crate) fn new(out: Sink, coloured: bool, terminal: bool) -> Self {
        Self { out, coloured, terminal, width: 0, planned: 0, done: 0, bundle: None, hint: None }
    }

    /// Sets the bundle that the report names.
    pub(crate) fn with_bundle(self, bundle: Option<String>) -> Self {
        Self { bundle, ..self }
    }

    /// Sets the hint for a filter that matches no check.
    pub(crate) fn with_hint(self, hint: Option<String>) -> Self {
        Self { hint, ..self }
    }

    fn line(&mut self, line: impl Display) {
        self.out.line(&line.to_string());
    }

    /// Erases the line of progress.
    fn clear(&mut self) {
        if self.terminal {
            // The first column, without the CR that a file could contain as well.
            self.out.write(&[styled("[1G"), styled("[2K")].concat());
        }
    }

    fn facts(&mut self, facts: &Facts, watched: Option<&Watched>) {
        let Facts { name, chip, gfx_level, driver, .. } = facts;
        self.line(format_args!("{name}: {chip}, {gfx_level}, amdgpu {driver}, rings {}", facts.rings.join(" ")));
        if facts.stand_in {
            self.line("This kernel only pretends: it takes every request and does nothing.");
        }
        if let Some(watched) = watched {
            self.line(format_args!("Watched around each check: {watched}"));
        }
        self.line("");
    }

    /// Prints the heaps and memory types.
    fn tables(&mut self, facts: &Facts) {
        self.line(format_args!("heap {:>11}  {:<14} flags", "size", "memory"));
        for (index, heap) in facts.heaps.iter().enumerate() {
            self.line(format_args!("{index:>4} {:>11}  {:<14} {}", Size(heap.size), heap.kind, Flags(&heap.flags)));
        }
        self.line("\ntype heap addresses  properties");
        for (index, row) in facts.memory_types.iter().enumerate() {
            let properties = Flags(&row.properties);
            self.line(format_args!("{index:>4} {:>4} {:>6} bit  {properties}", row.heap, row.addressing));
        }
        self.line("");
    }

    /// Prints the hardware events, with the checks during which they occurred.
    fn hardware(&mut self, report: &Report) {
        let events: Vec<_> = report.hardware_events().collect();
        if events.is_empty() {
            return;
        }
        self.line("\n--- hardware ---");
        for (id, event) in events.iter().take(EVENTS) {
            self.line(format_args!("{id}: {event}"));
        }
        if events.len() > EVENTS {
            self.line(format_args!("... {} events more", events.len() - EVENTS));
        }
    }

    /// Prints what to attach to a bug report.
    fn what_to_send(&mut self, report: &Report) {
        let ids = |is_improved: bool| {
            let failures = report.results.iter().filter(|result| result.is_failure());
            let ids = failures.filter(|result| (result.expected == Some(Expected::UnexpectedPass)) == is_improved);
            ids.map(|result| &*result.id).collect::<Vec<_>>().join(" ")
        };
        let (failed, improved) = (ids(false), ids(true));
        if !improved.is_empty() {
            self.line(format_args!(
                "\nUnexpectedImprovement: {improved}; listed as failing, and to be taken off the list"
            ));
        }
        if failed.is_empty() {
            return;
        }
        self.line("\n--- for the bug report ---");
        let gpu = &report.gpu;
        if let Some(facts) = &gpu.facts {
            let firmware: Vec<_> = facts.firmware.iter().map(|(name, version)| format!("{name} {version}")).collect();
            let unread = if gpu.simulated { "simulated" } else { "unknown" };
            let kernel = facts.kernel.as_deref().unwrap_or(unread);
            self.line(format_args!("gpu       {} ({}) at {}", facts.name, facts.chip, gpu.label()));
            self.line(format_args!("kernel    {kernel}, amdgpu {}, firmware {}", facts.driver, firmware.join(", ")));
        } else {
            self.line(format_args!("gpu       {}", gpu.label()));
        }
        self.line(format_args!(
            "program   amdgpu-smoke {}, level {}, seed {}",
            report.version, report.level, report.seed
        ));
        for line in Conclusion::of(&report.results).iter().flat_map(Conclusion::lines) {
            self.line(line);
        }
        match self.bundle.clone() {
            Some(bundle) => self.line(format_args!("file      {bundle}: this report, and what the kernel was asked")),
            None => self.line("file      run once more with --bundle FILE.tar, and attach that file"),
        }
    }
}

impl Observer for Human {
    fn began(&mut self, gpu: &Gpu) {
        let place = gpu.location_and_mutation();
        match (gpu.simulated, gpu.fallback) {
            (false, _) => self.line(format_args!("Testing the GPU {place}")),
            (true, false) => self.line(format_args!("Testing a simulated GPU: {place}")),
            (true, true) => self
                .line(format_args!("No Radeon here: testing a simulated GPU, {place} (--list-profiles names others)")),
        }
        if let Some(reason) = &gpu.chosen {
            self.line(format_args!("Chosen because {reason}"));
        }
        for other in &gpu.others {
            self.line(format_args!("Not tested: the GPU {other} (--gpu chooses it)"));
        }
    }

    fn planned(&mut self, gpu: &Gpu, ids: &[&str]) {
        self.width = ids.iter().map(|id| id.len()).max().unwrap_or(0);
        self.planned = ids.len();
        if let Some(facts) = &gpu.facts {
            self.facts(facts, gpu.watched.as_ref());
            if ids.contains(&inventory::HEAPS) {
                self.tables(facts);
            }
        }
    }

    fn started(&mut self, id: &str) {
        if self.terminal {
            let (done, planned) = (self.done, self.planned);
            self.out.write(&format!("[{}/{planned}] {id} ...", done + 1));
        }
    }

    fn progressed(&mut self, id: &str, progress: Progress) {
        if self.terminal {
            self.clear();
            let (done, planned, percent) = (self.done, self.planned, progress.percent());
            self.out.write(&format!("[{}/{planned}] {id} {percent} % ...", done + 1));
        }
    }

    fn finished(&mut self, result: &CheckResult) {
        self.clear();
        self.done += 1;
        let label = Label { status: result.status, expected: result.expected, coloured: self.coloured };
        let CheckResult { id, detail, time, .. } = result;
        let width = self.width;
        let expected = match result.expected {
            Some(Expected::Fail) => " (ExpectedFail)",
            Some(Expected::Flake) => " (KnownFlake)",
            Some(Expected::UnexpectedPass) => " (UnexpectedImprovement)",
            Some(Expected::Skip) | None => "",
        };
        self.line(format_args!("{label} {id:<width$} {:>9}  {detail}{expected}", Milliseconds(*time)));
        if !result.peers.is_empty() {
            for line in peers::lines(&result.peers) {
                self.line(format_args!("      | {line}"));
            }
        }
        let evidence = result.evidence_lines();
        for line in evidence.iter().take(EVIDENCE) {
            self.line(format_args!("      | {line}"));
        }
        if evidence.len() > EVIDENCE {
            self.line(format_args!("      | ... {} lines more", evidence.len() - EVIDENCE));
        }
    }

    fn soaked(&mut self, soak: &Soak) {
        self.clear();
        let (rounds, failures) = (soak.rounds, soak.failures());
        let text = format!("rounds {rounds}, in {}, {failures} failures", soak.span());
        if self.terminal {
            self.out.write(&text);
        } else if rounds.is_power_of_two() {
            // In a file, the first rounds and ever fewer of the later ones: a soak of days is some dozen lines.
            self.line(text);
        }
    }

    fn ended(&mut self, report: &Report) {
        self.clear();
        if report.results.is_empty() && !report.aborted {
            let hint = self.hint.take().map(|hint| format!(" {hint}")).unwrap_or_default();
            self.line(format_args!("No check of the level {} fits the filter.{hint}", report.level));
        }
        if let Some(reason) = &report.reason {
            self.line(format_args!("Aborted: {reason}; {} checks were not run.", report.summary.notrun));
        }
        for line in report.soak.iter().flat_map(Soak::lines) {
            self.line(line);
        }
        self.hardware(report);
        self.what_to_send(report);
        self.line(counts(report));
    }
}

/// Returns the last line: the results by status. Results that the user's lists name have the words of deqp-runner.
fn counts(report: &Report) -> String {
    let count = |which: &dyn Fn(&CheckResult) -> bool| report.results.iter().filter(|result| which(result)).count();
    let unlisted = |status: Status| {
        count(&|result| result.status == status && matches!(result.expected, None | Some(Expected::Skip)))
    };
    let listed = |expected| count(&|result| result.expected == Some(expected));
    let mut text = format!(
        "{} passed, {} failed, {} skipped",
        unlisted(Status::Pass),
        unlisted(Status::Fail),
        unlisted(Status::Skip)
    );
    let rare = [
        (unlisted(Status::Crash), "crashed"),
        (unlisted(Status::Timeout), "timed out"),
        (unlisted(Status::Incomplete), "incomplete"),
        (unlisted(Status::Warn) + unlisted(Status::DmesgWarn), "passed with warnings"),
        (listed(Expected::Fail), "ExpectedFail"),
        (listed(Expected::Flake), "KnownFlake"),
        (listed(Expected::UnexpectedPass), "UnexpectedImprovement"),
    ];
    for (count, what) in rare.into_iter().filter(|(count, _)| *count > 0) {
        // Writing into a string does not fail.
        let _ = write!(text, ", {count} {what}");
    }
    text
}

/// Returns `true` if text on standard output may be coloured: on a terminal, unless NO_COLOR is set
/// (<https://no-color.org>).
pub(crate) fn stdout_takes_colours() -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    stdout_is_terminal() && !set("NO_COLOR")
}

/// Returns `true` if standard output is a terminal on which a line can be overwritten.
pub(crate) fn stdout_is_terminal() -> bool {
    std::io::stdout().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// A status, five columns wide.
struct Label {
    status: Status,
    expected: Option<Expected>,
    coloured: bool,
}

impl Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (text, colour) = match self.status {
            _ if self.expected == Some(Expected::Fail) => ("xfail", 33),
            _ if self.expected == Some(Expected::Flake) => ("flake", 33),
            _ if self.expected == Some(Expected::UnexpectedPass) => ("XPASS", 31),
            Status::Pass => ("pass", 32),
            Status::Fail => ("FAIL", 31),
            Status::Skip => ("skip", 33),
            Status::Crash => ("CRASH", 35),
            Status::Warn => ("warn", 33),
            Status::Timeout => ("TIME", 31),
            Status::Incomplete => ("INCO", 35),
            Status::DmesgWarn => ("dmesg", 33),
        };
        if self.coloured {
            write!(f, "{}{text:<5}{}", styled(&format!("[{colour}m")), styled("[0m"))
        } else {
            write!(f, "{text:<5}")
        }
    }
}

/// Flags in the format of Vulkan tools.
struct Flags<'a>(&'a [String]);

impl Display for Flags<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { f.write_str("-") } else { f.write_str(&self.0.join(" ")) }
    }
}

/// A size in a unit that suits heaps.
struct Size(u64);

impl Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const GIB: u64 = 1 << 30;
        let (unit, name) = if self.0 >= GIB { (GIB, "GiB") } else { (1 << 20, "MiB") };
        // Hundredths, rounded down: a heap is never shown larger than it is.
        let hundredths = u128::from(self.0) * 100 / u128::from(unit);
        f.pad(&format!("{}.{:02} {name}", hundredths / 100, hundredths % 100))
    }
}

/// A duration in milliseconds with one decimal place.
struct Milliseconds(Duration);

impl Display for Milliseconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{:.1} ms", self.0.as_secs_f64() * 1e3))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::{sink::Troubles, text::Text};

    fn written(coloured: bool, tell: impl FnOnce(&mut Human)) -> String {
        let captured = Text::default();
        tell(&mut Human::new(captured.sink(&Troubles::default()), coloured, false));
        captured.get()
    }

    fn result(status: Status) -> CheckResult {
        CheckResult::new("bo.map", status, "two mappings", Duration::from_micros(1250))
    }

    #[test]
    fn the_first_line_says_what_is_tested() {
        let gpu = |simulated, fallback| Gpu { simulated, fallback, location: "navi21".to_owned(), ..Gpu::default() };
        let first = |gpu| written(false, |human| human.began(&gpu));
        assert_eq!(first(gpu(false, false)), "Testing the GPU navi21\n");
        assert_eq!(first(gpu(true, false)), "Testing a simulated GPU: navi21\n");
        assert!(first(gpu(true, true)).starts_with("No Radeon here: testing a simulated GPU, navi21"));
        let broken = Gpu { mutation: Some("drop-write:sdma".to_owned()), ..gpu(true, false) };
        assert_eq!(first(broken), "Testing a simulated GPU: navi21, broken by drop-write:sdma\n");
        let one_of_two = Gpu { others: vec!["/dev/dri/renderD129".to_owned()], ..gpu(false, false) };
        assert!(first(one_of_two).contains("\nNot tested: the GPU /dev/dri/renderD129 (--gpu chooses it)\n"));
    }

    #[test]
    fn a_check_is_one_aligned_line() {
        let text = written(false, |human| {
            human.planned(&Gpu::default(), &["bo.map", "exec.copy.sdma1"]);
            human.finished(&result(Status::Fail));
        });
        assert_eq!(text, "FAIL  bo.map             1.2 ms  two mappings\n");
        let text = written(true, |human| human.finished(&result(Status::Pass)));
        assert!(text.starts_with("\x1b[32mpass \x1b[0m bo.map"));
    }

    #[test]
    fn sizes_are_never_rounded_up() {
        let sizes = [(0, "0.00 MiB"), ((1 << 30) - 1, "1023.99 MiB"), (16 << 30, "16.00 GiB")];
        for (bytes, text) in sizes {
            assert_eq!(Size(bytes).to_string(), text);
        }
    }

    #[test]
    fn a_failure_shows_its_evidence_and_says_what_to_send() {
        let evidence =
            crate::result::evidence::Evidence { fault: Some("page fault at 0x1000".to_owned()), ..Default::default() };
        let failed = CheckResult { evidence: Some(Box::new(evidence)), ..result(Status::Fail) };
        let report =
            Report::new(Gpu::default(), &crate::Options::default(), vec![failed], crate::run::Ending::default());
        let text = written(false, |human| {
            human.finished(&report.results[0]);
            human.ended(&report);
        });
        for expected in [
            "      | page fault at 0x1000\n",
            "--- for the bug report ---",
            "failed    1 check: two mappings\n",
            "--bundle",
        ] {
            assert!(text.contains(expected), "{expected} in\n{text}");
        }
        assert!(text.ends_with("0 passed, 1 failed, 0 skipped\n"));
    }

    #[test]
    fn on_a_terminal_the_running_check_is_shown_and_wiped() {
        let text = Text::default();
        let mut human = Human::new(text.sink(&Troubles::default()), false, true);
        human.planned(&Gpu::default(), &["bo.map"]);
        human.started("bo.map");
        human.progressed("bo.map", Progress { done: 199, total: 400 });
        human.finished(&result(Status::Pass));
        let expected = "[1/1] bo.map ...\x1b[1G\x1b[2K[1/1] bo.map 49 % ...\x1b[1G\x1b[2Kpass  bo.map";
        assert!(text.get().starts_with(expected), "{:?}", text.get());
    }
}
