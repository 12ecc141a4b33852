//! `serve`: Prometheus.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write},
    net::{Ipv4Addr, TcpListener, TcpStream},
    path::Path,
    time::Duration,
};

use crate::{
    cli::{Global, Serve},
    exit::Exit,
    session::{self, Outcome, Stop},
    snapshot::figures::{Labels, prometheus},
    source::Source,
};

/// A request of more bytes is none of Prometheus's.
const MOST_REQUEST: u64 = 16 << 10;
/// Time without a byte after which a client is disconnected.
const PATIENCE: Duration = Duration::from_secs(5);

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
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port)).map_err(Stop::failed)?;
    let address = listener.local_addr().map_err(Stop::failed)?;
    writeln!(out, "http://{address}/metrics")?;
    out.flush()?;
    let mut answered = 0;
    while options.requests.is_none_or(|requests| answered < requests) {
        let Ok((stream, _)) = listener.accept() else { continue };
        // Who hangs up in the middle is nobody's business but their own.
        let _ = answer(&stream, &mut *source, global, labels);
        answered += 1;
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

fn answer(mut stream: &TcpStream, source: &mut dyn Source, global: &Global, labels: Labels) -> std::io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut request = String::new();
    let mut lines = BufReader::new(stream.take(MOST_REQUEST));
    lines.read_line(&mut request)?;
    // The rest is read so that closing does not reset the connection under the answer.
    let mut header = String::new();
    while lines.read_line(&mut header)? > 2 {
        header.clear();
    }
    let (status, kind, body) = match request.split_whitespace().take(2).collect::<Vec<_>>().as_slice() {
        ["GET", "/metrics"] => metrics(source, global, labels),
        ["GET", "/"] => ("200 OK", "text/plain", "amdgpu-budget: /metrics\n".to_owned()),
        ["GET", _] => ("404 Not Found", "text/plain", "only /metrics is here\n".to_owned()),
        _ => ("405 Method Not Allowed", "text/plain", "only GET\n".to_owned()),
    };
    let kind = if kind == "metrics" { "text/plain; version=0.0.4; charset=utf-8" } else { kind };
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
}

fn metrics(source: &mut dyn Source, global: &Global, labels: Labels) -> (&'static str, &'static str, String) {
    match session::next(source, global) {
        Ok(Some(snapshot)) => ("200 OK", "metrics", prometheus(&snapshot, labels)),
        Ok(None) => ("503 Service Unavailable", "text/plain", "nothing more to see\n".to_owned()),
        Err(Stop::Message(_, message)) => ("503 Service Unavailable", "text/plain", format!("{message}\n")),
        Err(_) => ("503 Service Unavailable", "text/plain", "failed\n".to_owned()),
    }
}
