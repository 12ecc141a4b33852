//! `serve`: Prometheus.

use std::{
    fs,
    io::Write,
    net::{Ipv4Addr, TcpListener},
    path::Path,
};

use crate::{
    cli::{Global, Serve},
    exit::Exit,
    http::{Answer, Server},
    session::{self, Outcome, Stop},
    snapshot::figures::{Labels, prometheus},
    source::Source,
};

/// Writes a file once, or answers requests.
pub(super) fn run(options: &Serve, global: &Global, out: &mut dyn Write) -> Outcome {
    let labels = Labels { per_process: options.per_process, most_processes: options.most_processes };
    let mut source = session::source(global, false)?;
    if let Some(path) = &options.textfile {
        let text = prometheus(&session::first(&mut *source, global)?, labels);
        write_whole(path, &text)
            .map_err(|error| Stop::Message(Exit::NotWritten, format!("{}: {error}", path.display())))?;
        return Ok(Exit::Fine);
    }
    let address = options.listen.unwrap_or_else(|| (Ipv4Addr::LOCALHOST, options.port).into());
    let listener = TcpListener::bind(address)
        .map_err(|error| Stop::Message(Exit::Failed, format!("cannot listen on {address}: {error}")))?;
    let address = listener.local_addr().map_err(Stop::failed)?;
    writeln!(out, "http://{address}/metrics")?;
    out.flush()?;
    let mut server = Server::new(listener).map_err(Stop::failed)?;
    let mut answered = 0;
    while options.requests.is_none_or(|requests| answered < requests) {
        answered += server.step(|path| answer(path, &mut *source, global, labels)).map_err(Stop::failed)?;
    }
    Ok(Exit::Fine)
}

/// Puts the whole file in place at once: a collector never reads half of it.
fn write_whole(path: &Path, text: &str) -> std::io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    let beside = path.with_file_name(name);
    let done = fs::write(&beside, text).and_then(|()| fs::rename(&beside, path));
    if done.is_err() {
        let _ = fs::remove_file(&beside);
    }
    done
}

fn answer(path: &str, source: &mut dyn Source, global: &Global, labels: Labels) -> Answer {
    match path {
        "/metrics" => metrics(source, global, labels),
        "/" => Answer::text("200 OK", "amdgpu-budget: /metrics\n"),
        _ => Answer::text("404 Not Found", "only /metrics is here\n"),
    }
}

fn metrics(source: &mut dyn Source, global: &Global, labels: Labels) -> Answer {
    const KIND: &str = "text/plain; version=0.0.4; charset=utf-8";
    let unavailable = |why: String| Answer::text("503 Service Unavailable", why);
    match session::next(source, global) {
        Ok(Some(snapshot)) => Answer { status: "200 OK", kind: KIND, body: prometheus(&snapshot, labels) },
        Ok(None) => unavailable("the recording has no more snapshots\n".to_owned()),
        Err(Stop::Message(_, message)) => unavailable(format!("{message}\n")),
        Err(_) => unavailable("failed\n".to_owned()),
    }
}
