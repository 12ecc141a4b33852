//! `why`: why memory is not where it is wanted.

use std::{
    collections::BTreeMap,
    io::{self, Write},
};

use serde_json::json;

use crate::{
    cli::{self, Global},
    exit::Exit,
    http::client,
    past::{self, Point},
    render,
    session::{self, Outcome, Stop},
    snapshot::model::Snapshot,
    source::recording::Recording,
    text::why as text,
    why::{SCHEMA, Since, judge, select},
};

/// Answers for the last snapshot of a recording, or for now.
pub(super) fn run(options: &cli::Why, global: &Global, out: &mut dyn Write) -> Outcome {
    let (snapshot, past) = match (&global.from, &options.server) {
        (Some(_), _) => recorded(options, global)?,
        (None, Some(address)) => {
            // Without a computer of one's own choice it is the server's: the present and the past are of the same GPUs, and nothing
            // here has to be readable.
            let points = remembered(address)?;
            let snapshot = if global.sim.is_some() || global.root.is_some() {
                session::first(&mut *session::source(global, false)?, global)?
            } else {
                session::first(&mut present(address)?, global)?
            };
            let past = search(&snapshot, options, &points)?;
            (snapshot, past)
        }
        (None, None) => (session::first(&mut *session::source(global, false)?, global)?, BTreeMap::new()),
    };
    let subjects = select(&snapshot, options.subject.as_deref()).map_err(Stop::failed)?;
    let findings: Vec<_> = subjects
        .into_iter()
        .map(|subject| {
            let key = (subject.gpu.pci.clone(), subject.process.map(|process| process.pid));
            judge(subject, past.get(&key), snapshot.monotonic_ns)
        })
        .collect();
    if global.json || global.jsonl {
        let object =
            json!({ "schema": SCHEMA, "time": snapshot.time, "source": snapshot.source, "findings": findings });
        render::object(&object, global.json, out)?;
    } else {
        text::write(&findings, !past.is_empty(), &render::style(global), out)?;
    }
    Ok(Exit::Fine)
}

/// One search for each GPU and process.
type Searches = BTreeMap<(String, Option<u32>), Since>;

/// The last snapshot of a recording, and the searches through the ones before. Of a long recording two points are kept for each
/// process.
fn recorded(options: &cli::Why, global: &Global) -> Result<(Snapshot, Searches), Stop> {
    let mut source = session::source(global, false)?;
    let mut last = session::first(&mut *source, global)?;
    let mut searches = Searches::new();
    let mut before: Option<Point> = None;
    while let Some(next) = session::next(&mut *source, global)? {
        let point = Point::new(&last, usize::MAX);
        for gpu in &point.gpus {
            see(&mut searches, &point, before.as_ref(), &gpu.pci, None);
            for process in &gpu.processes {
                see(&mut searches, &point, before.as_ref(), &gpu.pci, Some(process.pid));
            }
        }
        before = Some(point);
        last = next;
    }
    // A process that came with the last snapshot was not searched for yet.
    if let Some(before) = &before {
        for subject in select(&last, options.subject.as_deref()).map_err(Stop::failed)? {
            let key = (subject.gpu.pci.clone(), subject.process.map(|process| process.pid));
            searches.entry(key.clone()).or_default().see(before, &key.0, key.1);
        }
    }
    Ok((last, searches))
}

/// A search that begins with a process also sees the moment before it: nothing of it was displaced then.
fn see(searches: &mut Searches, point: &Point, before: Option<&Point>, pci: &str, pid: Option<u32>) {
    let search = searches.entry((pci.to_owned(), pid)).or_insert_with(|| {
        let mut search = Since::default();
        if let Some(before) = before {
            search.see(before, pci, pid);
        }
        search
    });
    search.see(point, pci, pid);
}

/// The searches through points that are all at hand.
fn search(snapshot: &Snapshot, options: &cli::Why, points: &[Point]) -> Result<Searches, Stop> {
    let mut searches = Searches::new();
    for subject in select(snapshot, options.subject.as_deref()).map_err(Stop::failed)? {
        let (pci, pid) = (&subject.gpu.pci, subject.process.map(|process| process.pid));
        let search = searches.entry((pci.clone(), pid)).or_default();
        for point in points {
            search.see(point, pci, pid);
        }
    }
    Ok(searches)
}

/// Returns a source of the present snapshot of a server.
fn present(address: &crate::http::Address) -> Result<Recording, Stop> {
    let failed = |error: io::Error| Stop::failed(format_args!("the server at {address}: {error}"));
    let body = client::get(address, "/api/snapshot").map_err(failed)?;
    Recording::new(io::Cursor::new(body)).map_err(failed)
}

/// Returns the points that a server remembers.
fn remembered(address: &crate::http::Address) -> Result<Vec<Point>, Stop> {
    let failed = |reason: String| Stop::failed(format_args!("the server at {address}: {reason}"));
    let body = client::get(address, "/api/history/processes").map_err(|error| failed(error.to_string()))?;
    let document: past::Document =
        serde_json::from_slice(&body).map_err(|error| failed(format!("its answer is no history: {error}")))?;
    if document.schema != past::SCHEMA {
        return Err(failed(format!("the schema is '{}', not {}", document.schema, past::SCHEMA)));
    }
    Ok(document.points)
}
