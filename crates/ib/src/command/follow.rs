//! `amdgpu-ib why --follow`: waits for incidents.

use std::{
    fs::{self, File},
    io::{self, BufRead as _, BufReader, Read, Seek as _, SeekFrom, Write as _},
    path::Path,
    process::{Command, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    thread,
    time::{Duration, Instant},
};

use super::terminal::{complain, output};
use crate::{
    cli::WhyArguments,
    clinic::{self, Clinic},
    input::{InputError, name},
    outcome::{Error, Exit},
};

/// The kernel's log.
const LOG: &str = "/dev/kmsg";
/// The time without lines after which an incident whose end was told is over, and one whose end was not told.
const QUIET: [Duration; 2] = [Duration::from_secs(2), Duration::from_secs(20)];
/// The longest line in bytes.
const LONGEST: u64 = 64 << 10;
/// The most bytes of a devcoredump.
const MOST_DUMPED: u64 = 64 << 20;

/// Explains incidents as they happen. Returns the exit status.
pub(super) fn follow(arguments: &WhyArguments) -> Result<u8, Error> {
    let (sender, lines) = sync_channel(1024);
    let mut clinic = Clinic::default();
    match arguments.files.as_slice() {
        [] => {
            let mut log = File::open(LOG).map_err(Error::KernelLog)?;
            // What happened before is no news.
            log.seek(SeekFrom::End(0)).map_err(Error::KernelLog)?;
            clinic.begin("the kernel's log");
            watch_events(sender.clone());
            // Each read returns one record.
            spawn(move || records(log, &sender));
        }
        [only] if only == Path::new("-") => {
            clinic.begin("standard input");
            spawn(move || send_lines(io::stdin(), &sender));
        }
        [only] => {
            let file = File::open(only).map_err(|error| InputError::Io { name: name(only), error })?;
            clinic.begin(&name(only));
            spawn(move || send_lines(file, &sender));
        }
        _ => return Err(Error::FollowsOne),
    }
    let is_live = arguments.files.is_empty();
    explain(arguments, clinic, &lines, is_live)
}

fn spawn(work: impl FnOnce() + Send + 'static) {
    // The thread ends with its input or with the process.
    drop(thread::spawn(work));
}

/// Reads records of the kernel's log.
fn records(mut log: File, sender: &SyncSender<Vec<u8>>) {
    let mut record = vec![0; 8192];
    loop {
        match log.read(&mut record) {
            Ok(0) => return,
            Ok(len) => {
                // Further lines of a record are fields of the device.
                let line = record[..len].split(|byte| *byte == b'\n').next().unwrap_or_default();
                if sender.send(line.to_vec()).is_err() {
                    return;
                }
            }
            // The kernel overwrote records that were not read in time.
            Err(error) if matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::Interrupted) => {}
            Err(_) => return,
        }
    }
}

fn send_lines(reader: impl Read, sender: &SyncSender<Vec<u8>>) {
    let mut reader = BufReader::new(reader);
    loop {
        let mut line = Vec::new();
        match reader.by_ref().take(LONGEST).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {
                if line.last() == Some(&b'\n') {
                    line.pop();
                }
                if sender.send(line).is_err() {
                    return;
                }
            }
        }
    }
}

/// Reads the kernel's events about graphics devices, as udev's monitor prints them.
fn watch_events(sender: SyncSender<Vec<u8>>) {
    let monitor = Command::new("udevadm")
        .args(["monitor", "--kernel", "--property", "--subsystem-match=drm"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    match monitor {
        Ok(mut monitor) => spawn(move || {
            if let Some(events) = monitor.stdout.take() {
                send_lines(events, &sender);
            }
            let _ = monitor.wait();
        }),
        Err(error) => {
            complain(&format!("udevadm: {error}; events of wedged devices are not read, the kernel's log is"));
        }
    }
}

fn explain(
    arguments: &WhyArguments,
    mut clinic: Clinic,
    lines: &Receiver<Vec<u8>>,
    is_live: bool,
) -> Result<u8, Error> {
    let mut out = output();
    let (mut number, mut told, mut last) = (0, 0, Instant::now());
    let mut code = Exit::Understood.code();
    loop {
        let line = lines.recv_timeout(Duration::from_millis(200));
        let is_end = line == Err(RecvTimeoutError::Disconnected);
        if let Ok(line) = line {
            number += 1;
            clinic.line(number, &line);
            last = Instant::now();
            continue;
        }
        let is_over = match clinic.is_open() {
            Some(is_unknown) => is_end || last.elapsed() >= QUIET[usize::from(is_unknown)],
            None => false,
        };
        if is_over {
            let dumps = if is_live { dumps() } else { Vec::new() };
            let diagnosis = clinic.settle(&dumps);
            if let Some(incident) = diagnosis.incidents.first() {
                code = if arguments.exit_class { clinic::cause(incident).class.code() } else { Exit::Problems.code() };
                told += diagnosis.incidents.len() as u64;
                if arguments.json {
                    writeln!(out, "{}", clinic::document(&diagnosis))?;
                } else {
                    write!(out, "{}", clinic::page(&diagnosis, arguments.verbose))?;
                }
                out.flush()?;
            }
        }
        if is_end || arguments.incidents.is_some_and(|most| told >= most) {
            return Ok(code);
        }
    }
}

/// Returns the devcoredumps of all GPUs that may be read.
fn dumps() -> Vec<String> {
    let Ok(cards) = fs::read_dir("/sys/class/drm") else { return Vec::new() };
    let read = |card: io::Result<fs::DirEntry>| {
        let file = File::open(card.ok()?.path().join("device/devcoredump/data")).ok()?;
        let mut bytes = Vec::new();
        file.take(MOST_DUMPED).read_to_end(&mut bytes).ok()?;
        Some(String::from_utf8_lossy(&bytes).trim_end_matches('\0').to_owned())
    };
    let mut dumps: Vec<_> = cards.filter_map(read).collect();
    // A card and its connectors have the same device.
    dumps.sort();
    dumps.dedup();
    dumps
}
