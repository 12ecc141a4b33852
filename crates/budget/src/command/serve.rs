//! `serve`: a web page, its figures as JSON, and Prometheus.

use std::{
    fs,
    hash::{BuildHasher as _, RandomState},
    io::Write,
    net::Ipv4Addr,
    path::PathBuf,
    time::{Duration, Instant},
};

use amdgpu_output::files;
use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    cli::{Global, Serve},
    exit::Exit,
    http::{Address, Answer, Hosts, Listener, Server},
    past::{self, Past},
    session::{self, Outcome, Stop},
    snapshot::{
        model::Snapshot,
        prometheus::{Labels, prometheus},
        views,
    },
    source::Source,
    text::{self, Style},
    why::{self, Since, Subject, judge},
};

/// Writes a file once, or answers requests.
pub(super) fn run(options: &Serve, global: &Global, out: &mut dyn Write) -> Outcome {
    let labels = Labels { per_process: options.per_process, most_processes: options.most_processes };
    let mut source = session::source(global, false)?;
    if let Some(path) = &options.textfile {
        let text = prometheus(&session::first(&mut *source, global)?, labels);
        files::replace(path, &text)
            .map_err(|error| Stop::Message(Exit::NotWritten, format!("{}: {error}", path.display())))?;
        return Ok(Exit::Fine);
    }
    let mut listeners = Listener::inherited()
        .map_err(|error| Stop::Message(Exit::Failed, format!("cannot use the sockets of LISTEN_FDS: {error}")))?;
    let mut paths = Paths(Vec::new());
    for address in addresses(options, !listeners.is_empty()) {
        let listener = Listener::bind(&address)
            .map_err(|error| Stop::Message(Exit::Failed, format!("cannot listen on {address}: {error}")))?;
        listeners.push(listener);
        if let Address::Unix(path) = address {
            paths.0.push(path);
        }
    }
    for listener in &listeners {
        writeln!(out, "{}", listener.address().map_err(Stop::failed)?)?;
    }
    out.flush()?;
    let hosts = Hosts::new(&listeners, &options.allow_host).map_err(Stop::failed)?;
    let mut server = Server::new(listeners, hosts).map_err(Stop::failed)?;
    let mut pages = Pages { source: &mut *source, global, labels, last: None, past: Past::default() };
    // Only what happens by itself is worth looking at unasked.
    let interval = pages.source.has_real_time().then(|| Duration::from_nanos(past::INTERVAL_NS));
    let mut next = Instant::now();
    let mut answered = 0;
    while options.requests.is_none_or(|requests| answered < requests) {
        if let Some(interval) = interval
            && Instant::now() >= next
        {
            // A moment that cannot be read is missing in the past; whoever asks is told why.
            let _ = pages.look();
            next = Instant::now() + interval;
        }
        answered += server.step(interval.map(|_| next), |path| pages.answer(path)).map_err(Stop::failed)?;
    }
    Ok(Exit::Fine)
}

/// Returns the addresses to bind.
fn addresses(options: &Serve, has_inherited: bool) -> Vec<Address> {
    const DEFAULT_PORT: u16 = 9417;
    match options.port {
        None if has_inherited || !options.listen.is_empty() => options.listen.clone(),
        port => vec![Address::Tcp((Ipv4Addr::LOCALHOST, port.unwrap_or(DEFAULT_PORT)).into())],
    }
}

/// Paths of Unix sockets, which go away with their server.
struct Paths(Vec<PathBuf>);

impl Drop for Paths {
    fn drop(&mut self) {
        for path in &self.0 {
            // Somebody else may have removed it.
            let _ = fs::remove_file(path);
        }
    }
}

/// The page: one file with all that it needs.
const PAGE: &str = include_str!("../http/page.html");

const INDEX: &str = "/ is a page for browsers, /api/snapshot, /api/history, /api/history/processes, /api/explain and /api/why are its \
                     JSON, /metrics is Prometheus's text\n";

/// The pages and the source of their figures.
struct Pages<'s> {
    source: &'s mut dyn Source,
    global: &'s Global,
    labels: Labels,
    /// The last snapshot, which explanations are of.
    last: Option<Snapshot>,
    /// The last hour.
    past: Past,
}

impl Pages<'_> {
    fn answer(&mut self, path: &str) -> Answer {
        const METRICS: &str = "text/plain; version=0.0.4; charset=utf-8";
        let labels = self.labels;
        let ok = |kind, body| Answer { status: "200 OK", kind, body, nonce: None };
        match path {
            "/" => {
                let nonce = RandomState::new().hash_one(path);
                let page = PAGE.replace("<script>", &format!("<script nonce=\"{nonce:016x}\">"));
                Answer { nonce: Some(nonce), ..ok("text/html; charset=utf-8", page) }
            }
            "/metrics" => match self.look() {
                Ok(snapshot) => ok(METRICS, prometheus(snapshot, labels)),
                Err(answer) => answer,
            },
            "/api/snapshot" => match self.look() {
                Ok(snapshot) => as_json(snapshot),
                Err(answer) => answer,
            },
            "/api/history" | "/api/history/processes" => {
                if self.past.is_empty()
                    && let Err(answer) = self.look()
                {
                    return answer;
                }
                as_json(&self.past.document(path.ends_with("/processes")))
            }
            "/api/why" => {
                if self.last.is_none()
                    && let Err(answer) = self.look()
                {
                    return answer;
                }
                self.last.as_ref().map_or_else(not_here, |snapshot| as_json(&why_all(snapshot, &self.past)))
            }
            "/api/explain" => {
                if self.last.is_none()
                    && let Err(answer) = self.look()
                {
                    return answer;
                }
                self.last.as_ref().map_or_else(not_here, |snapshot| as_json(&views::explanations(snapshot, None)))
            }
            _ => not_here(),
        }
    }

    fn look(&mut self) -> Result<&Snapshot, Answer> {
        let unavailable = |why: String| Answer::text("503 Service Unavailable", why);
        match session::next(self.source, self.global) {
            Ok(Some(snapshot)) => {
                self.past.see(&snapshot);
                Ok(self.last.insert(snapshot))
            }
            Ok(None) => Err(unavailable("the recording has no more snapshots\n".to_owned())),
            Err(Stop::Message(_, message)) => Err(unavailable(format!("{message}\n"))),
            Err(_) => Err(unavailable("failed\n".to_owned())),
        }
    }
}

/// Returns the reasons for each GPU and each process with displaced memory, as `why` prints them.
fn why_all(snapshot: &Snapshot, past: &Past) -> Value {
    let points = past.document(true).points;
    let mut findings = Vec::new();
    for gpu in &snapshot.gpus {
        let processes =
            gpu.processes.iter().flatten().filter(|process| process.evicted.vram.is_some_and(|bytes| bytes > 0));
        for process in [None].into_iter().chain(processes.map(Some)) {
            let mut since = Since::default();
            for point in &points {
                since.see(point, &gpu.pci, process.map(|process| process.pid));
            }
            findings.push(judge(Subject { gpu, process }, Some(&since), snapshot.monotonic_ns));
        }
    }
    let texts = findings.iter().map(|finding| {
        let mut text = Vec::new();
        // Writing to memory does not fail.
        let _ = text::why::write(std::slice::from_ref(finding), true, &Style::default(), &mut text);
        let mut value = serde_json::to_value(finding).unwrap_or_default();
        if let Some(object) = value.as_object_mut() {
            object.insert("text".to_owned(), String::from_utf8_lossy(&text).into());
        }
        value
    });
    let findings: Vec<Value> = texts.collect();
    json!({ "schema": why::SCHEMA, "time": snapshot.time, "source": snapshot.source, "findings": findings })
}

fn not_here() -> Answer {
    Answer::text("404 Not Found", INDEX)
}

fn as_json(value: &impl Serialize) -> Answer {
    match serde_json::to_string(value) {
        Ok(body) => Answer { status: "200 OK", kind: "application/json", body, nonce: None },
        Err(error) => Answer::text("500 Internal Server Error", format!("{error}\n")),
    }
}
