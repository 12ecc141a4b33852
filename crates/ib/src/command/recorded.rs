//! The IBs of a recording.

use std::io::Read;

use amdgpu_layers::{Submissions, Submitted, SubmittedIb};
use amdgpu_winsys::{
    cs::dump::{Dump, Dumper},
    winsys::{Errno, GfxLevel},
};
use serde_json::{Value, json};

use crate::{
    json,
    listing::{Block, Detail, blocks},
    outcome::{Error, Exit},
};

/// The selection of a recording's submissions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    All,
    /// The submission with this number.
    One(u64),
    Last,
}

impl Wanted {
    pub(super) const fn new(submission: Option<u64>, last: bool) -> Self {
        match (submission, last) {
            (Some(number), _) => Self::One(number),
            (None, true) => Self::Last,
            (None, false) => Self::All,
        }
    }
}

/// A decoded submission.
pub(super) struct Shown {
    /// The generation of the chip.
    pub(super) level: GfxLevel,
    number: u64,
    submitted: Submitted,
    ibs: Vec<(SubmittedIb, Content)>,
}

/// The contents of an IB, if known.
enum Content {
    Decoded(Dump),
    /// The IB was not recorded.
    Missing,
    /// The dumper does not support the engine's packets.
    Video,
}

/// Decodes the selected submissions of a recording and passes each to `each`.
///
/// If the recording is truncated, the complete records are passed before the error is returned.
pub(super) fn each(
    (recording, name): (impl Read, &str),
    chip: Option<GfxLevel>,
    wanted: Wanted,
    mut each: impl FnMut(Shown) -> Result<(), Error>,
) -> Result<(), Error> {
    let failed = |error| Error::Recording { name: name.to_owned(), error };
    let missing = |wanted: String, there| Err(Error::NoSubmission { name: name.to_owned(), wanted, there });
    let mut submissions = Submissions::new(recording).map_err(failed)?;
    let (mut number, mut last, mut broken) = (0, None, None);
    while let Some(submitted) = submissions.next() {
        let submitted = match submitted {
            Ok(submitted) => submitted,
            Err(error) => {
                broken = Some(failed(error));
                break;
            }
        };
        let level = chip.or(submissions.generation()).ok_or_else(|| Error::NoChip(name.to_owned()))?;
        match wanted {
            Wanted::All => each(decode(&submissions, level, number, submitted))?,
            Wanted::One(wanted) if wanted == number => each(decode(&submissions, level, number, submitted))?,
            Wanted::One(_) => {}
            Wanted::Last => last = Some(decode(&submissions, level, number, submitted)),
        }
        number += 1;
    }
    let has_any = last.is_some();
    last.map(&mut each).transpose()?;
    match (broken, wanted) {
        (Some(error), _) => Err(error),
        (None, Wanted::One(wanted)) if wanted >= number => missing(wanted.to_string(), number),
        (None, Wanted::Last) if !has_any => missing("at all".to_owned(), number),
        (None, _) => Ok(()),
    }
}

fn decode<R: Read>(submissions: &Submissions<R>, level: GfxLevel, number: u64, submitted: Submitted) -> Shown {
    let file = submitted.file;
    let memory = |va, dwords| submissions.content(file, va, dwords).map(<[u32]>::to_vec);
    let names = |address| submissions.name(file, address);
    let content = |ib: &SubmittedIb| {
        let Some(reader) = ib.reader(level) else { return Content::Video };
        let Some(dwords) = memory(ib.va, ib.dwords) else { return Content::Missing };
        Content::Decoded(Dumper::new(reader).with_memory(&memory).with_names(&names).dump(&dwords, Some(ib.va)))
    };
    let ibs = submitted.ibs.iter().map(|ib| (*ib, content(ib))).collect();
    Shown { level, number, submitted, ibs }
}

/// Returns the JSON of a recording's submissions.
pub(super) fn json(level: Option<GfxLevel>, submissions: &[Value]) -> Value {
    json!({
        "schema": "amdgpu-ib-recording",
        "version": 1,
        "generation": level.map(|level| level.to_string()),
        "submissions": submissions,
    })
}

impl Shown {
    /// Returns [`Exit::Problems`] if an IB was not recorded or could not be decoded.
    pub(super) fn exit(&self) -> Exit {
        let is_problem = |content: &Content| match content {
            Content::Decoded(dump) => dump.problems().next().is_some(),
            Content::Missing => true,
            Content::Video => false,
        };
        if self.ibs.iter().any(|(_, content)| is_problem(content)) { Exit::Problems } else { Exit::Understood }
    }

    /// Passes the text to `each`, block by block.
    pub(super) fn blocks(&self, detail: Detail, each: &mut dyn FnMut(Block) -> Result<(), Error>) -> Result<(), Error> {
        let Self { number, submitted: Submitted { call, file, lane, context, sequence, errno, .. }, ibs, .. } = self;
        let what = match errno {
            0 => format!("its number {sequence}"),
            errno => format!("refused with {:?}", Errno::from_raw(*errno)),
        };
        let place = format!("call {call} of file {file} and thread {lane}, context {context}");
        // The number of earlier calls depends on the timing of jobs.
        each(Block::title(0, &format!("submission {number}: {place}, {what}"), &format!("submission {what}")))?;
        for (ib, content) in ibs {
            let mut ring = format!("{} ring {}", ib.ip, ib.ring);
            for (name, _) in ib.flags.iter_names() {
                ring += &[" [", &name.to_lowercase(), "]"].concat();
            }
            each(Block::title(1, &ring, &ring))?;
            let plain = |text: &str| {
                let place = if detail.without_addresses { String::new() } else { format!(" at {}", ib.va) };
                let rest = format!(", {} dwords{text}", ib.dwords);
                Block::title(2, &format!("IB at {}{rest}", ib.va), &format!("IB{place}{rest}"))
            };
            match content {
                Content::Decoded(dump) => blocks(dump, None, detail).try_for_each(&mut *each)?,
                Content::Missing => each(plain(", not recorded"))?,
                Content::Video => each(plain(" of video"))?,
            }
        }
        Ok(())
    }

    pub(super) fn json(&self) -> Value {
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
