//! The report for people: one line a check, while the run goes on.

use std::{
    fmt::{self, Display},
    io::{IsTerminal, Write},
    time::Duration,
};

use crate::{
    report::{CheckResult, Facts, Gpu, Report, Summary, Word},
    run::Observer,
};

/// Writes a run as text. When nobody reads any more, the run goes on in silence.
pub(crate) struct Human<W> {
    out: Option<W>,
    coloured: bool,
    /// Width of the widest id.
    width: usize,
}

impl<W: Write> Human<W> {
    pub(crate) fn new(out: W, coloured: bool) -> Self {
        Self { out: Some(out), coloured, width: 0 }
    }

    fn line(&mut self, line: impl Display) {
        let line = line.to_string();
        if self.out.as_mut().is_some_and(|out| writeln!(out, "{}", line.trim_end()).is_err()) {
            self.out = None;
        }
    }

    fn facts(&mut self, facts: &Facts) {
        let Facts { name, chip, gfx_level, driver, .. } = facts;
        self.line(format_args!("{name}: {chip}, {gfx_level}, amdgpu {driver}, rings {}", facts.rings.join(" ")));
        if facts.stand_in {
            self.line("This kernel only pretends: it takes every request and does nothing.");
        }
        self.line(format_args!("\nheap {:>11}  {:<14} flags", "size", "memory"));
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
}

impl<W: Write> Observer for Human<W> {
    fn began(&mut self, gpu: &Gpu) {
        let location = &gpu.location;
        match (gpu.simulated, gpu.fallback) {
            (false, _) => self.line(format_args!("Testing the GPU {location}")),
            (true, false) => self.line(format_args!("Testing a simulated GPU: {location}")),
            (true, true) => self.line(format_args!(
                "No Radeon here: testing a simulated GPU, {location} (--list-profiles names others)"
            )),
        }
    }

    fn planned(&mut self, gpu: &Gpu, ids: &[&str]) {
        self.width = ids.iter().map(|id| id.len()).max().unwrap_or(0);
        if let Some(facts) = &gpu.facts {
            self.facts(facts);
        }
    }

    fn finished(&mut self, result: &CheckResult) {
        let word = Coloured { word: result.word, coloured: self.coloured };
        let CheckResult { id, detail, time, .. } = result;
        let width = self.width;
        self.line(format_args!("{word} {id:<width$} {:>9}  {detail}", Milliseconds(*time)));
    }

    fn ended(&mut self, report: &Report) {
        if report.results.is_empty() {
            self.line("No check fits the filter.");
        }
        if report.aborted {
            self.line(format_args!("Aborted: the GPU was lost, {} checks were not run.", report.summary.notrun));
        }
        let summary = report.summary;
        let crashed = if summary.crash > 0 { format!(", {} crashed", summary.crash) } else { String::new() };
        let Summary { pass, fail, skip, .. } = summary;
        self.line(format_args!("{pass} passed, {fail} failed, {skip} skipped{crashed}"));
    }
}

/// Whether text on standard output may be coloured: on a terminal, unless NO_COLOR is set (<https://no-color.org>).
pub(crate) fn stdout_takes_colours() -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    std::io::stdout().is_terminal() && !set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// A word, five columns wide.
struct Coloured {
    word: Word,
    coloured: bool,
}

impl Display for Coloured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (text, colour) = match self.word {
            Word::Pass => ("pass", 32),
            Word::Fail => ("FAIL", 31),
            Word::Skip => ("skip", 33),
            Word::Crash => ("CRASH", 35),
        };
        if self.coloured { write!(f, "\x1b[{colour}m{text:<5}\x1b[0m") } else { write!(f, "{text:<5}") }
    }
}

/// Flags as Vulkan lists them.
struct Flags<'a>(&'a [String]);

impl Display for Flags<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { f.write_str("-") } else { f.write_str(&self.0.join(" ")) }
    }
}

/// Bytes in the unit that suits a heap.
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

/// A time with one digit after the point.
struct Milliseconds(Duration);

impl Display for Milliseconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{:.1} ms", self.0.as_secs_f64() * 1e3))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(coloured: bool, tell: impl FnOnce(&mut Human<&mut Vec<u8>>)) -> String {
        let mut out = Vec::new();
        tell(&mut Human::new(&mut out, coloured));
        String::from_utf8(out).unwrap()
    }

    fn result(word: Word) -> CheckResult {
        let (id, detail) = ("bo.map".to_owned(), "two mappings".to_owned());
        CheckResult { id, word, detail, time: Duration::from_micros(1250) }
    }

    #[test]
    fn the_first_line_says_what_is_tested() {
        let gpu = |simulated, fallback| Gpu { simulated, fallback, location: "navi21".to_owned(), facts: None };
        let first = |gpu| written(false, |human| human.began(&gpu));
        assert_eq!(first(gpu(false, false)), "Testing the GPU navi21\n");
        assert_eq!(first(gpu(true, false)), "Testing a simulated GPU: navi21\n");
        assert!(first(gpu(true, true)).starts_with("No Radeon here: testing a simulated GPU, navi21"));
    }

    #[test]
    fn a_check_is_one_aligned_line() {
        let text = written(false, |human| {
            human.planned(&Gpu::default(), &["bo.map", "exec.copy.sdma1"]);
            human.finished(&result(Word::Fail));
        });
        assert_eq!(text, "FAIL  bo.map             1.2 ms  two mappings\n");
        let text = written(true, |human| human.finished(&result(Word::Pass)));
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
    fn a_reader_who_left_does_not_end_the_run() {
        struct Closed;
        impl Write for Closed {
            fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
                Err(std::io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        let mut human = Human::new(Closed, false);
        human.began(&Gpu::default());
        human.finished(&result(Word::Pass));
        assert!(human.out.is_none());
    }
}
