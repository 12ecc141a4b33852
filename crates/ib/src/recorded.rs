//! The IBs of a recording.

use std::{
    io::{self, Write},
    path::Path,
};

use amdgpu_layers::{Submissions, Submitted, SubmittedIb};
use amdgpu_winsys::{
    cs::dump::{Dump, Dumper},
    winsys::{Errno, GfxLevel},
};
use serde_json::{Value, json};

use crate::{
    json, level_of,
    outcome::{Error, Exit, Style},
};

/// Selection of a recording's submissions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    All,
    /// The one with this number.
    One(u64),
    Last,
}

impl Wanted {
    pub(crate) const fn new(submission: Option<u64>, last: bool) -> Self {
        match (submission, last) {
            (Some(number), _) => Self::One(number),
            (None, true) => Self::Last,
            (None, false) => Self::All,
        }
    }
}

/// A submission, decoded.
struct Shown {
    number: u64,
    submitted: Submitted,
    ibs: Vec<(SubmittedIb, Content)>,
}

/// Known contents of an IB.
enum Content {
    Decoded(Dump),
    /// It was not recorded.
    Missing,
    /// The dumper does not know that engine's language.
    Video,
}

/// Prints submissions of a recording.
pub(crate) fn dump(path: &Path, chip: Option<&str>, wanted: Wanted, style: Style) -> Result<Exit, Error> {
    let failed = |error| Error::Recording { path: path.to_owned(), error };
    let chip = chip.map(level_of).transpose()?;
    let mut submissions = Submissions::open(path).map_err(failed)?;
    let mut printer = Printer { out: io::stdout().lock(), style, shown: Vec::new(), exit: Exit::Understood };
    let (mut number, mut last, mut broken) = (0, None, None);
    while let Some(submitted) = submissions.next() {
        let submitted = match submitted {
            Ok(submitted) => submitted,
            Err(error) => {
                // What came before is worth printing all the same.
                broken = Some(failed(error));
                break;
            }
        };
        let level = chip.or(submissions.generation()).ok_or_else(|| Error::NoChip(path.to_owned()))?;
        let is_wanted = match wanted {
            Wanted::All | Wanted::Last => true,
            Wanted::One(wanted) => wanted == number,
        };
        if is_wanted {
            let shown = decode(&submissions, level, number, submitted);
            if wanted == Wanted::Last {
                last = Some(shown);
            } else {
                printer.print(&shown)?;
            }
        }
        number += 1;
    }
    match (wanted, last) {
        (Wanted::One(wanted), _) if wanted >= number && broken.is_none() => {
            return Err(Error::NoSubmission { path: path.to_owned(), wanted: wanted.to_string(), there: number });
        }
        (Wanted::Last, None) if broken.is_none() => {
            return Err(Error::NoSubmission { path: path.to_owned(), wanted: "at all".to_owned(), there: number });
        }
        (_, Some(shown)) => printer.print(&shown)?,
        _ => {}
    }
    let exit = printer.finish(chip.or(submissions.generation()))?;
    broken.map_or(Ok(exit), Err)
}

fn decode<R: io::Read>(submissions: &Submissions<R>, level: GfxLevel, number: u64, submitted: Submitted) -> Shown {
    let file = submitted.file;
    let memory = |va, dwords| submissions.content(file, va, dwords).map(<[u32]>::to_vec);
    let names = |address| submissions.name(file, address);
    let content = |ib: &SubmittedIb| {
        let Some(reader) = ib.reader(level) else { return Content::Video };
        let Some(dwords) = memory(ib.va, ib.dwords) else { return Content::Missing };
        Content::Decoded(Dumper::new(reader).with_memory(&memory).with_names(&names).dump(&dwords, Some(ib.va)))
    };
    let ibs = submitted.ibs.iter().map(|ib| (*ib, content(ib))).collect();
    Shown { number, submitted, ibs }
}

struct Printer<W> {
    out: W,
    style: Style,
    /// IBs shown, for JSON.
    shown: Vec<Value>,
    exit: Exit,
}

impl<W: Write> Printer<W> {
    fn print(&mut self, shown: &Shown) -> Result<(), Error> {
        let is_problem = |content: &Content| match content {
            Content::Decoded(dump) => dump.problems().next().is_some(),
            Content::Missing => true,
            Content::Video => false,
        };
        if shown.ibs.iter().any(|(_, content)| is_problem(content)) {
            self.exit = Exit::Problems;
        }
        if self.style == Style::Json {
            self.shown.push(shown.json());
            return Ok(());
        }
        let Shown { number, submitted: Submitted { call, file, lane, context, sequence, errno, .. }, ibs } = shown;
        write!(self.out, "submission {number}: call {call} of file {file} and thread {lane}, context {context}, ")?;
        match errno {
            0 => writeln!(self.out, "its number {sequence}")?,
            errno => writeln!(self.out, "refused with {:?}", Errno::from_raw(*errno))?,
        }
        for (ib, content) in ibs {
            write!(self.out, "{} ring {}", ib.ip, ib.ring)?;
            for (name, _) in ib.flags.iter_names() {
                write!(self.out, " [{}]", name.to_lowercase())?;
            }
            writeln!(self.out)?;
            match (content, self.style) {
                (Content::Decoded(dump), Style::Raw) => write!(self.out, "{}", dump.with_dwords())?,
                (Content::Decoded(dump), _) => write!(self.out, "{dump}")?,
                (Content::Missing, _) => writeln!(self.out, "IB at {}, {} dwords, not recorded", ib.va, ib.dwords)?,
                (Content::Video, _) => writeln!(self.out, "IB at {}, {} dwords of video", ib.va, ib.dwords)?,
            }
        }
        Ok(())
    }

    fn finish(mut self, level: Option<GfxLevel>) -> Result<Exit, Error> {
        if self.style == Style::Json {
            let all = json!({
                "schema": "amdgpu-ib-recording",
                "version": 1,
                "generation": level.map(|level| level.to_string()),
                "submissions": self.shown,
            });
            writeln!(self.out, "{all:#}")?;
        }
        Ok(self.exit)
    }
}

impl Shown {
    fn json(&self) -> Value {
        let ib = |(ib, content): &(SubmittedIb, Content)| {
            json!({
                "ip": ib.ip.name(),
                "ring": ib.ring,
                "flags": ib.flags.iter_names().map(|(name, _)| name.to_lowercase()).collect::<Vec<_>>(),
                "va": ib.va.as_u64(),
                "dwords": ib.dwords,
                "dump": if let Content::Decoded(dump) = content { Some(json::dump(dump)) } else { None },
            })
        };
        json!({
            "number": self.number,
            "call": self.submitted.call,
            "file": self.submitted.file,
            "thread": self.submitted.lane,
            "context": self.submitted.context,
            "sequence": self.submitted.sequence,
            "errno": self.submitted.errno,
            "ibs": self.ibs.iter().map(ib).collect::<Vec<_>>(),
        })
    }
}
