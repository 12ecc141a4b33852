//! `record`: snapshots to a file, with a bound on its size.

use std::{
    fs::{self, File},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
    time::Duration,
};

use amdgpu_output::files;
use flate2::{Compression, write::GzEncoder};

use crate::{
    cli::{Global, Record, View},
    exit::Exit,
    render::{self, Shown},
    session::{self, Outcome, Stop},
};

/// Writes a recording: a JSON object on each line, flushed, so that one that is cut off is whole up to there.
pub(super) fn record(options: &Record, global: &Global, out: &mut dyn Write) -> Outcome {
    let mut source = session::source_at(global, false, options.interval)?;
    let mut files = if options.output == Path::new("-") { None } else { Some(Files::create(options)?) };
    let lines = Global { jsonl: true, json: false, ..global.clone() };
    let mut looks = 0;
    while options.count.is_none_or(|count| looks < count) {
        if looks > 0 {
            pause(source.has_real_time(), options);
        }
        let Some(snapshot) = session::next(&mut *source, global)? else { break };
        let mut line = Vec::new();
        render::render(&snapshot, &Shown::Plain(View::Show), &lines, looks == 0, &mut line)?;
        if let Some(files) = &mut files {
            files.write(&line)?;
        } else {
            out.write_all(&line)?;
            out.flush()?;
        }
        looks += 1;
    }
    if let Some(files) = files {
        files.finish()?;
    }
    Ok(Exit::Fine)
}

/// Waits in real time, also where the source's time is simulated: a recording must not fill a disk at full speed. `--speed 0`
/// lifts that for simulated time.
fn pause(has_real_time: bool, options: &Record) {
    let factor = if has_real_time { 1.0 } else { options.speed };
    if factor > 0.0 {
        std::thread::sleep(Duration::from_secs_f64((options.interval / factor).min(86_400.0)));
    }
}

/// The file that is written, and those that it replaced: `FILE`, `FILE.1`, `FILE.2`.
struct Files {
    path: PathBuf,
    output: Output,
    most: Option<u64>,
    keep: u32,
}

/// A file, compressed where its name ends in `.gz`.
enum Output {
    Plain(BufWriter<Counted>),
    Gzip(GzEncoder<Counted>),
}

/// A file with the number of bytes written to it.
struct Counted {
    file: File,
    written: u64,
}

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.file.write(bytes)?;
        self.written += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Output {
    fn create(path: &Path) -> io::Result<Self> {
        let file = Counted { file: files::create(path)?, written: 0 };
        let is_gzip = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz"));
        Ok(if is_gzip {
            Self::Gzip(GzEncoder::new(file, Compression::default()))
        } else {
            Self::Plain(BufWriter::new(file))
        })
    }

    fn write(&mut self, line: &[u8]) -> io::Result<()> {
        let output: &mut dyn Write = match self {
            Self::Plain(output) => output,
            Self::Gzip(output) => output,
        };
        output.write_all(line)?;
        output.flush()
    }

    fn written(&self) -> u64 {
        match self {
            Self::Plain(output) => output.get_ref().written,
            Self::Gzip(output) => output.get_ref().written,
        }
    }

    fn finish(self) -> io::Result<()> {
        match self {
            Self::Plain(mut output) => output.flush(),
            Self::Gzip(output) => output.finish().map(drop),
        }
    }
}

impl Files {
    fn create(options: &Record) -> Result<Self, Stop> {
        let path = options.output.clone();
        let output = Output::create(&path).map_err(|error| failed(&path, &error))?;
        Ok(Self { path, output, most: options.max_size, keep: options.keep })
    }

    /// Writes a line, into a new file where the present one is full.
    fn write(&mut self, line: &[u8]) -> Result<(), Stop> {
        let written = self.output.written();
        let is_full = |most: u64| written > 0 && written.saturating_add(line.len() as u64) > most;
        if self.most.is_some_and(is_full) {
            self.rotate().map_err(|error| failed(&self.path, &error))?;
        }
        self.output.write(line).map_err(|error| failed(&self.path, &error))
    }

    fn rotate(&mut self) -> io::Result<()> {
        let numbered = |number: u32| {
            let mut name = self.path.as_os_str().to_owned();
            name.push(format!(".{number}"));
            PathBuf::from(name)
        };
        for number in (1..self.keep).rev() {
            let from = numbered(number);
            if from.exists() {
                fs::rename(from, numbered(number + 1))?;
            }
        }
        if self.keep > 0 {
            fs::rename(&self.path, numbered(1))?;
        }
        std::mem::replace(&mut self.output, Output::create(&self.path)?).finish()
    }

    fn finish(self) -> Result<(), Stop> {
        let path = self.path;
        self.output.finish().map_err(|error| failed(&path, &error))
    }
}

fn failed(path: &Path, error: &io::Error) -> Stop {
    Stop::Message(Exit::NotWritten, format!("{}: {error}", path.display()))
}
