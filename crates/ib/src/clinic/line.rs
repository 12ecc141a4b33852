//! One line of a log: its time, its GPU and its text, without the prefixes of the programs that it went through.
//!
//! Known forms: `dmesg` with and without `-x`, `-r`, `-T`, `--time-format`; `journalctl` with `-o short`, `short-monotonic`,
//! `short-iso`, `cat`; syslog files; `/dev/kmsg`. Names of months and days are not looked at, because they are translated.

use std::{fmt, time::Duration};

/// The PCI address of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Bus {
    domain: u32,
    number: u8,
    device: u8,
    function: u8,
}

impl Bus {
    /// Parses an address such as `0000:03:00.0`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        // Logs of faults have millions of such addresses.
        let (domain, [b':', bus @ .., b'.', function]) = text.as_bytes().split_last_chunk::<8>()? else { return None };
        let [bus_high, bus_low, b':', device_high, device_low] = *bus else { return None };
        if !(4..=8).contains(&domain.len()) {
            return None;
        }
        let digit = |byte: u8| char::from(byte).to_digit(16);
        let pair = |high, low| u8::try_from(digit(high)? << 4 | digit(low)?).ok();
        Some(Self {
            domain: domain.iter().try_fold(0, |all, byte| Some(all << 4 | digit(*byte)?))?,
            number: pair(bus_high, bus_low)?,
            device: pair(device_high, device_low)?,
            function: u8::try_from(digit(*function)?).ok()?,
        })
    }
}

impl fmt::Display for Bus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { domain, number, device, function } = self;
        write!(f, "{domain:04x}:{number:02x}:{device:02x}.{function:x}")
    }
}

/// The clock of a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Clock {
    /// Since boot.
    Boot,
    /// Since midnight.
    Day,
}

/// The names of the kernel as a writer: some programs that show logs translate it.
const KERNEL: [&str; 8] = ["kernel", "Kernel", "noyau", "núcleo", "nucleo", "ядро", "カーネル", "内核"];

/// The microseconds of a day.
const DAY: i64 = 24 * 3600 * 1_000_000;

/// The time of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    clock: Clock,
    micros: i64,
}

impl Stamp {
    /// Returns a time since boot.
    pub(crate) fn boot(seconds: f64) -> Self {
        Self { clock: Clock::Boot, micros: (seconds * 1e6) as i64 }
    }

    /// Returns the seconds from another time to this one; `None` if the clocks differ. Times of day pass midnight.
    pub(crate) fn since(self, earlier: Self) -> Option<f64> {
        let mut micros = self.micros.checked_sub(earlier.micros)?;
        if self.clock != earlier.clock {
            return None;
        }
        if self.clock == Clock::Day && micros < -DAY / 2 {
            micros += DAY;
        }
        let seconds = Duration::from_micros(micros.unsigned_abs()).as_secs_f64();
        Some(if micros < 0 { -seconds } else { seconds })
    }

    /// Returns `true` if the machine was started between another time and this one.
    pub(crate) fn is_after_reboot(self, earlier: Self) -> bool {
        self.clock == Clock::Boot && self.since(earlier).is_some_and(|seconds| seconds < -1.0)
    }
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, micros) = (self.micros / 1_000_000, self.micros % 1_000_000);
        match self.clock {
            Clock::Boot => write!(f, "{seconds}.{micros:06} s after boot"),
            Clock::Day => write!(f, "{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60),
        }
    }
}

/// The writer of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The kernel, or a program whose name the line does not have.
    Kernel,
    /// A program, according to its name in the journal.
    Program,
}

/// The form of the driver's prefix, which differs between releases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// The device by address, and the driver's name, as up to Linux 6.18.
    Module,
    /// The device by address.
    Address,
    /// The driver's function, as in most lines up to Linux 6.9.
    Function,
    /// Another one.
    Other,
}

/// A line without its prefixes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Line<'l> {
    /// The time; `None` if the line has none.
    pub(crate) stamp: Option<Stamp>,
    /// The GPU that the line names.
    pub(crate) gpu: Option<Bus>,
    /// The writer.
    pub(crate) origin: Origin,
    /// The form of the driver's prefix.
    pub(crate) form: Form,
    /// `true` if the driver wrote the line.
    pub(crate) is_driver: bool,
    /// `true` if the line is marked as an error, and names amdgpu's module or device: other drivers use the same mark.
    pub(crate) is_error: bool,
    /// The text.
    pub(crate) text: &'l str,
}

impl<'l> Line<'l> {
    /// Parses a line. Colours must be removed before.
    pub(crate) fn parse(line: &'l str) -> Self {
        let mut rest = line.trim_end();
        while let Some(inner) =
            ["<br>", "<br/>", "<br />", "</pre>", "</code>"].iter().find_map(|end| rest.strip_suffix(end))
        {
            rest = inner.trim_end();
        }
        let whole = rest;
        while let Some(inner) = rest.trim_start().strip_prefix('>') {
            rest = inner;
        }
        rest = rest.trim_start();
        let mut stamp = None;
        rest = level(rest);
        if let Some((time, text)) = kmsg(rest) {
            (stamp, rest) = (Some(time), text);
        }
        rest = brackets(rest, &mut stamp);
        let mut origin = Origin::Kernel;
        if !is_driver(rest)
            && let Some((time, is_kernel, text)) = syslog(rest, stamp.is_some())
        {
            stamp = time.or(stamp);
            origin = if is_kernel { Origin::Kernel } else { Origin::Program };
            rest = if is_kernel { brackets(level(text), &mut stamp) } else { text };
        }
        let mut line =
            Self { stamp, gpu: None, origin, form: Form::Other, is_driver: false, is_error: false, text: rest };
        if origin == Origin::Kernel {
            line.strip_driver();
            if !line.is_driver {
                line.search(whole);
            }
        }
        line
    }

    /// Searches for the driver's prefix behind a head of another form: of other tools, or numbers of lines.
    fn search(&mut self, whole: &'l str) {
        let Some(at) = driver(whole) else { return };
        let (head, rest) = whole.split_at(at);
        if !is_plain_head(head) {
            return;
        }
        self.stamp = self.stamp.or_else(|| head_time(head));
        self.text = rest;
        self.strip_driver();
    }

    /// Removes what the driver and DRM put before the text.
    fn strip_driver(&mut self) {
        let text = self.text;
        if let Some((bus, rest)) = text.strip_prefix("amdgpu ").and_then(device) {
            (self.gpu, self.text, self.is_driver, self.form) = (Some(bus), rest, true, Form::Address);
        } else if let Some((number, rest)) = text.strip_prefix("drmn").and_then(|rest| rest.split_once(": "))
            && number.len() <= 2
            && number.bytes().all(|byte| byte.is_ascii_digit())
        {
            (self.text, self.is_driver) = (rest, true);
        }
        let mut is_own = self.gpu.is_some();
        loop {
            let text = self.text.trim_start();
            if let Some(rest) = text.strip_prefix("amdgpu: ") {
                (self.is_driver, self.text) = (true, rest);
                if self.form == Form::Address {
                    self.form = Form::Module;
                }
            } else if let Some(rest) = text.strip_prefix("*ERROR* ") {
                (self.is_driver, self.is_error, self.text) = (true, is_own, rest);
            } else if let Some(rest) = text.strip_prefix("[drm] ") {
                (self.is_driver, self.text) = (true, rest);
            } else if let Some(rest) = text.strip_prefix("[drm:").and_then(after_function) {
                is_own |= text.split_once(']').is_some_and(|(function, _)| function.ends_with(" [amdgpu"));
                (self.form, self.is_driver, self.text) = (Form::Function, true, rest);
            } else if let Some((_, rest)) = text.strip_prefix("[drm ERROR :").and_then(|rest| rest.split_once("] ")) {
                (self.is_driver, self.text) = (true, rest);
            } else {
                self.text = text;
                return;
            }
        }
    }
}

/// Returns the text after a function's name in brackets, which may contain the module's name in brackets.
fn after_function(text: &str) -> Option<&str> {
    let end = text.find(']')?;
    let (function, rest) = (&text[..end], &text[end + 1..]);
    if function.contains(" [") { rest.strip_prefix("] ") } else { rest.strip_prefix(' ') }
}

/// Removes the level and facility of a message: `<3>`, or `kern  :err   : `.
fn level(text: &str) -> &str {
    if let Some((digits, rest)) = text.strip_prefix('<').and_then(|rest| rest.split_once('>'))
        && digits.len() <= 3
        && digits.bytes().all(|byte| byte.is_ascii_digit())
    {
        return rest.trim_start();
    }
    match text.strip_prefix("kern ").and_then(|rest| rest.trim_start().strip_prefix(':')) {
        Some(rest) => rest.split_once(": ").map_or(text, |(_, rest)| rest.trim_start()),
        None => text,
    }
}

/// Parses the head of a record of `/dev/kmsg`: priority, number, microseconds and flags.
fn kmsg(text: &str) -> Option<(Stamp, &str)> {
    if !text.as_bytes().first()?.is_ascii_digit() {
        return None;
    }
    let (head, rest) = text.split_once(';').filter(|(head, _)| head.len() < 64)?;
    let mut parts = head.split(',');
    parts.next()?.parse::<u32>().ok()?;
    parts.next()?.parse::<u64>().ok()?;
    let micros = parts.next()?.parse().ok()?;
    parts.next()?;
    Some((Stamp { clock: Clock::Boot, micros }, rest))
}

/// Removes times and callers in brackets at the start.
fn brackets<'l>(text: &'l str, stamp: &mut Option<Stamp>) -> &'l str {
    let mut rest = text.trim_start();
    while let Some((inside, after)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        let inside = inside.trim();
        if inside.len() > 40 {
            break;
        }
        if let Some(seconds) = seconds(inside) {
            *stamp = Some(seconds);
        } else if let Some(time) = time_of_day(inside) {
            *stamp = Some(time.0);
        } else if !is_caller(inside) {
            break;
        }
        rest = after.trim_start();
    }
    rest
}

/// Parses seconds with a fraction, such as `123.456789`.
fn seconds(text: &str) -> Option<Stamp> {
    let (whole, part) = text.split_once('.')?;
    let digits = |text: &str| !text.is_empty() && text.len() <= 12 && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(part) {
        return None;
    }
    let mut micros = 0;
    for place in 0..6 {
        micros = micros * 10 + i64::from(part.as_bytes().get(place).map_or(0, |digit| digit - b'0'));
    }
    Some(Stamp { clock: Clock::Boot, micros: whole.parse::<i64>().ok()?.checked_mul(1_000_000)?.checked_add(micros)? })
}

/// Returns `true` for the caller of a message, such as `T1234` or `C0`, and for a time since the last line, such as `+0.000003`.
fn is_caller(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    text.strip_prefix(['T', 'C', '+']).is_some_and(|rest| digits(rest.trim_start()))
}

/// Finds a time such as `10:16:18` or `10:16:18.123456`, and returns the offset of its end.
fn time_of_day(text: &str) -> Option<(Stamp, usize)> {
    let bytes = text.as_bytes();
    let pair = |at: usize| {
        let (tens, ones) = (bytes.get(at)?, bytes.get(at + 1)?);
        (tens.is_ascii_digit() && ones.is_ascii_digit()).then(|| i64::from(tens - b'0') * 10 + i64::from(ones - b'0'))
    };
    // A part of an address or of a longer number is no time.
    let begins = |at: usize| at == 0 || matches!(bytes[at - 1], b' ' | b'[' | b'T' | b'\t');
    let is_pair = |at: usize| {
        pair(at).is_some() && bytes.get(at + 2) == Some(&b':') && pair(at + 3).is_some_and(|part| part < 60)
    };
    let mut places =
        (0..bytes.len().min(48)).filter(|&at| begins(at) && is_pair(at) && pair(at).is_some_and(|part| part < 24));
    let has_seconds = |at: usize| bytes.get(at + 5) == Some(&b':') && pair(at + 6).is_some();
    // The reader of the kernel's log shows hours and minutes alone with relative times.
    let at = places.clone().find(|&at| has_seconds(at)).or_else(|| places.next())?;
    let has_seconds = has_seconds(at);
    let (hours, minutes) = (pair(at)?, pair(at + 3)?);
    let seconds = if has_seconds { pair(at + 6)? } else { 0 };
    let mut end = at + if has_seconds { 8 } else { 5 };
    let mut micros = ((hours * 60 + minutes) * 60 + seconds) * 1_000_000;
    if has_seconds && matches!(bytes.get(end), Some(b'.' | b',')) {
        let mut unit = 100_000;
        end += 1;
        while let Some(digit) = bytes.get(end).filter(|digit| digit.is_ascii_digit()) {
            micros += unit * i64::from(digit - b'0');
            unit /= 10;
            end += 1;
        }
    }
    Some((Stamp { clock: Clock::Day, micros }, end))
}

/// Parses the head of a line of the journal or of a syslog file: a time, unless it was removed before, a host and the name of the
/// writer. Returns the time, whether the kernel is the writer, and the text.
fn syslog(text: &str, has_time: bool) -> Option<(Option<Stamp>, bool, &str)> {
    let (stamp, rest) = match time_of_day(text) {
        // The zone belongs to the time.
        Some((stamp, end)) => {
            (Some(stamp), text.get(end..)?.trim_start_matches(|letter: char| !letter.is_whitespace()))
        }
        None if has_time => (None, text),
        None => return None,
    };
    let rest = rest.trim_start();
    let of_kernel = Some((stamp, true, rest));
    if is_driver(rest) || rest.starts_with("Linux version ") || rest.starts_with("Command line: ") {
        return of_kernel;
    }
    let Some((_host, after)) = rest.split_once(' ') else { return of_kernel };
    let after = after.trim_start();
    // A driver and its device, without a host.
    if device(after).is_some() {
        return of_kernel;
    }
    let Some((writer, message)) = after.split_once(':') else { return of_kernel };
    let (name, pid) = writer.split_once('[').map_or((writer, None), |(name, pid)| (name, Some(pid)));
    if name.is_empty()
        || name.contains(char::is_whitespace)
        || stamp.is_none() && pid.is_none() && !KERNEL.contains(&name)
    {
        return of_kernel;
    }
    Some((stamp, KERNEL.contains(&name), message.strip_prefix(' ').unwrap_or(message)))
}

/// Parses the address of a device, a colon and a space, and returns the text after them.
fn device(text: &str) -> Option<(Bus, &str)> {
    // Logs of faults have millions of such lines: bytes are faster than patterns.
    let end = text.as_bytes().iter().take(20).position(|byte| *byte == b' ')?;
    Some((Bus::parse(text.get(..end)?.strip_suffix(':')?)?, text.get(end + 1..)?))
}

/// Returns the place at which the driver's prefix begins, not far from the start of a line.
fn driver(line: &str) -> Option<usize> {
    const MOST: usize = 200;
    let end = (0..=line.len().min(MOST)).rev().find(|at| line.is_char_boundary(*at))?;
    let near = &line[..end];
    let place = |part: &str| near.find(part);
    let bus = near.match_indices("amdgpu ").find(|(at, _)| device(&line[at + 7..]).is_some()).map(|(at, _)| at);
    [bus, place("amdgpu: "), place("[drm"), place("drmn")]
        .into_iter()
        .flatten()
        .min()
        .filter(|at| is_driver(&line[*at..]))
}

/// Returns `true` if what precedes the driver's prefix is a time, a host, the kernel's name or numbers, and names no program.
fn is_plain_head(head: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    head.split_whitespace().all(|word| {
        let Some(name) = word.strip_suffix(':') else { return !word.contains("]:") };
        // `kernel:`, `12:` of a numbered line, and `FILE:12:` of a search.
        KERNEL.contains(&name) || is_number(name) || name.rsplit_once(':').is_some_and(|(_, number)| is_number(number))
    })
}

/// Returns the time in a head: seconds since boot in brackets, a time of day, or seconds since 1970.
fn head_time(head: &str) -> Option<Stamp> {
    let bracket =
        head.split_once('[').and_then(|(_, inside)| seconds(inside.split_whitespace().next()?.trim_end_matches(']')));
    let unix = || {
        let Stamp { micros, .. } = seconds(head.split_whitespace().next()?)?;
        (micros > 365 * DAY).then_some(Stamp { clock: Clock::Day, micros: micros % DAY })
    };
    bracket.or_else(|| time_of_day(head).map(|(stamp, _)| stamp)).or_else(unix)
}

/// Returns `true` if a text begins as the driver's messages do.
fn is_driver(text: &str) -> bool {
    let is_bus = |rest: &str| device(rest).is_some();
    text.starts_with("[drm") || text.starts_with("amdgpu: ") || text.strip_prefix("amdgpu ").is_some_and(is_bus)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The forms in which one message of the kernel reaches people.
    const FORMS: &[&str] = &[
        "[ 5120.101221] amdgpu 0000:c2:00.0: ring gfx timeout, X",
        "[ 5120.101221] [T1234] amdgpu 0000:c2:00.0: ring gfx timeout, X",
        "[ 5120.101221][  T12] amdgpu 0000:c2:00.0: amdgpu: ring gfx timeout, X",
        "<3>[ 5120.101221] amdgpu 0000:c2:00.0: [drm] *ERROR* ring gfx timeout, X",
        "3,1234,5120101221,-;amdgpu 0000:c2:00.0: ring gfx timeout, X",
        "kern  :err   : [ 5120.101221] amdgpu 0000:c2:00.0: ring gfx timeout, X",
        "Nov 29 10:16:18 host kernel: [ 5120.101221] amdgpu 0000:c2:00.0: ring gfx timeout, X",
        "[ 5120.101221] host kernel: amdgpu 0000:c2:00.0: ring gfx timeout, X",
        "> [ 5120.101221] amdgpu 0000:c2:00.0: ring gfx timeout, X\r",
        "    [ 5120.101221] amdgpu 0000:c2:00.0: ring gfx timeout, X",
    ];

    #[test]
    fn each_form_of_a_line_gives_time_gpu_and_text() {
        for form in FORMS {
            let line = Line::parse(form);
            assert_eq!(
                (line.text, line.origin, line.is_driver),
                ("ring gfx timeout, X", Origin::Kernel, true),
                "{form}"
            );
            assert_eq!(line.stamp, Some(Stamp::boot(5_120.101_221)), "{form}");
            assert_eq!(line.gpu, Bus::parse("0000:c2:00.0"), "{form}");
        }
    }

    #[test]
    fn times_of_day_are_read_in_all_languages_and_zones() {
        for head in [
            "Nov 29 10:16:18 host kernel:",
            "nov. 29 10:16:18 host kernel:",
            "29. Nov 10:16:18 rechner kernel:",
            "11月 29 10:16:18 host kernel:",
            "lis 29 10:16:18 host kernel:",
            "2026-11-29T10:16:18.123456+00:00 host kernel:",
            "2026-11-29T10:16:18,123456+01:00",
            "2026-11-29T10:16:18+0000 host kernel:",
            "[Sun Nov 29 10:16:18 2026]",
            "[dim. nov. 29 10:16:18 2026]",
        ] {
            let line = format!("{head} amdgpu 0000:c2:00.0: GPU reset begin!");
            let line = Line::parse(&line);
            assert_eq!((line.text, line.origin), ("GPU reset begin!", Origin::Kernel), "{head}");
            let stamp = line.stamp.expect(head);
            let noon = Stamp { clock: Clock::Day, micros: 12 * 3_600_000_000 };
            assert!((noon.since(stamp).unwrap() - 6222.0).abs() < 1.0, "{head} {stamp}");
        }
    }

    #[test]
    fn what_programs_write_into_the_journal_is_not_the_kernels() {
        for line in [
            "Nov 29 10:16:18 host evil[12]: amdgpu 0000:c2:00.0: ring gfx timeout, X",
            "Nov 29 10:16:18 host evil[12]: kernel: amdgpu 0000:c2:00.0: ring gfx timeout, X",
            "[ 5120.101221] host evil[12]: [ 5120.1] amdgpu 0000:c2:00.0: ring gfx timeout, X",
            "2026-11-29T10:16:18+0000 host evil[12]: ring gfx timeout, X",
        ] {
            let parsed = Line::parse(line);
            assert_eq!((parsed.origin, parsed.is_driver), (Origin::Program, false), "{line}");
        }
    }

    #[test]
    fn heads_of_other_tools_are_skipped_and_those_of_programs_are_not() {
        let message = "amdgpu 0000:c2:00.0: amdgpu: GPU reset begin!";
        for (head, has_time) in [
            ("Sun 2026-11-29 10:16:18 UTC host kernel: ", true),
            ("Sun 2026-11-29 10:16:18 UTC host init.scope kernel: ", true),
            ("11/29/2026 10:16:18 AM host kernel: ", true),
            ("10:16:18 kernel: ", true),
            ("1795947378.123456 host kernel: ", true),
            ("[ 5120.101221 <    0.000003 >] host kernel: ", true),
            ("[ 5120.101221 <    0.000003>] ", true),
            ("[<    0.000003>] ", false),
            ("* [ 5120.101221] ", true),
            ("12: [ 5120.101221] ", true),
            ("kern.log:12:[ 5120.101221] ", true),
        ] {
            let line = format!("{head}{message}");
            let parsed = Line::parse(&line);
            assert_eq!(
                (parsed.text, parsed.is_driver, parsed.gpu.is_some()),
                ("GPU reset begin!", true, true),
                "{head}"
            );
            assert_eq!(parsed.stamp.is_some(), has_time, "{head}");
        }
        for head in [
            "Sun 2026-11-29 10:16:18 UTC host evil[12]: ",
            "11/29/2026 10:16:18 AM host evil: ",
            "10:16:18 evil[1]: ",
            "1795947378.123456 host evil[12]: kernel: ",
            "evil: says ",
            "[evil]: ",
        ] {
            let line = format!("{head}{message}");
            assert!(!Line::parse(&line).is_driver, "{head}");
        }
        assert_eq!(Line::parse("<pre>[ 5120.1] amdgpu: GPU reset begin!<br></pre>").text, "GPU reset begin!");
    }

    #[test]
    fn functions_and_freebsd_prefixes_are_removed() {
        for line in [
            "[drm:amdgpu_job_timedout [amdgpu]] *ERROR* GPU reset begin!",
            "[drm:drm_thing] *ERROR* GPU reset begin!",
            "drmn0: GPU reset begin!",
            "[drm ERROR :amdgpu_job_timedout] GPU reset begin!",
            "amdgpu: GPU reset begin!",
        ] {
            let parsed = Line::parse(line);
            assert_eq!((parsed.text, parsed.gpu, parsed.is_driver), ("GPU reset begin!", None, true), "{line}");
        }
    }

    #[test]
    fn no_text_is_too_strange() {
        for text in [
            "",
            "[",
            "[]",
            "<",
            "<3>",
            ">",
            "[ 1.2",
            "3,4,5,-;",
            "99:99:99",
            "é12:34:5",
            "[99999999999999999.1]",
            "[é]",
        ] {
            let _ = Line::parse(text);
        }
        let whole = FORMS[6];
        (0..whole.len()).for_each(|len| drop(format!("{:?}", Line::parse(&whole[..len]))));
    }

    #[test]
    fn midnight_is_passed_and_a_reboot_is_seen() {
        let of_day = |text: &str| time_of_day(text).unwrap().0;
        assert_eq!(of_day("00:00:01").since(of_day("23:59:59")), Some(2.0));
        assert!(Stamp::boot(3.0).is_after_reboot(Stamp::boot(90.0)));
        assert!(!Stamp::boot(90.0).is_after_reboot(Stamp::boot(90.5)));
        assert_eq!(of_day("10:00:00").since(Stamp::boot(1.0)), None);
    }
}
