//! The server: figures for Prometheus, the page and its JSON, and clients that mean no good.

use std::{
    fs,
    io::Read as _,
    net::TcpStream,
    process::{Command, Stdio},
};

use crate::{
    SIM,
    support::{Directory, command, run},
};

#[test]
fn prometheus_is_served_on_the_loopback_interface() {
    let arguments = [&SIM[..], &["serve", "--port", "0", "--requests", "2", "--per-process"]].concat();
    let mut child = command(&arguments).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.take().unwrap()), &mut line).unwrap();
    let address = line.trim().strip_prefix("http://").unwrap().strip_suffix("/").unwrap();
    let ask = |path: &str| {
        let mut stream = TcpStream::connect(address).unwrap();
        std::io::Write::write_all(&mut stream, format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes())
            .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    let answer = ask("/metrics");
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4"), "{answer}");
    assert!(answer.contains("amdgpu_process_vram_bytes{gpu=\"0000:03:00.0\",pid=\"3301\",name=\"game\"}"), "{answer}");
    assert!(ask("/other").starts_with("HTTP/1.1 404"));
    assert!(child.wait().unwrap().success());
}

/// A browser's preconnect, a port scan, a client on a slow line: none holds up a scrape.
#[test]
fn silent_and_dripping_clients_do_not_hold_up_a_scrape_and_are_dropped() {
    let arguments = [&SIM[..], &["serve", "--listen", "127.0.0.1:0", "--requests", "2"]].concat();
    let mut child = command(&arguments).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.take().unwrap()), &mut line).unwrap();
    let address = line.trim().strip_prefix("http://").unwrap().strip_suffix("/").unwrap();
    let scrape = || {
        let mut stream = TcpStream::connect(address).unwrap();
        std::io::Write::write_all(&mut stream, b"GET /metrics?x=1 HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    };
    // Served one after the other without a time limit, 200 clients would take minutes.
    let mut silent: Vec<_> = (0..200).map(|_| TcpStream::connect(address).unwrap()).collect();
    for stream in silent.iter_mut().skip(100) {
        std::io::Write::write_all(stream, b"GET /met").unwrap();
    }
    scrape();
    let mut dripping = TcpStream::connect(address).unwrap();
    let dropped = (0..10_000).find(|_| {
        std::thread::sleep(std::time::Duration::from_millis(5));
        std::io::Write::write_all(&mut dripping, b"G").is_err()
    });
    assert!(dropped.is_some(), "a client that sends a byte at a time has no more time than others");
    for mut stream in silent {
        let closed = stream.read(&mut [0; 64]);
        assert!(matches!(closed, Ok(0) | Err(_)), "{closed:?}");
    }
    scrape();
    assert!(child.wait().unwrap().success());
}

/// promtool, Prometheus's own checker, has nothing to say; skipped where it is not installed.
#[test]
fn promtool_accepts_the_metrics() {
    let directory = Directory::new();
    let file = directory.join("metrics.prom");
    assert_eq!(run(&["--sim", "navi21,renoir", "serve", "--textfile", &file, "--per-process"]).code, 0);
    let tool = Command::new("promtool").args(["check", "metrics"]).stdin(fs::File::open(&file).unwrap()).output();
    let Ok(output) = tool else { return };
    assert!(output.status.success() && output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A server on a port of its own, for as long as this lives.
pub(crate) struct Served {
    child: std::process::Child,
    address: String,
}

impl Served {
    pub(crate) fn new(chips: &str) -> Self {
        Self::with(chips, &[])
    }

    /// The same with more options.
    pub(crate) fn with(chips: &str, options: &[&str]) -> Self {
        let arguments = [&["--sim", chips, "serve", "--port", "0"], options].concat();
        let mut child = command(&arguments).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.take().unwrap()), &mut line).unwrap();
        let address = line.trim().strip_prefix("http://").unwrap().strip_suffix('/').unwrap().to_owned();
        Self { child, address }
    }

    /// The address and port.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// All that the server says to these bytes until it hangs up.
    pub(crate) fn say(&self, bytes: &[u8]) -> Vec<u8> {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        // A server that has answered already resets the connection.
        let _ = std::io::Write::write_all(&mut stream, bytes);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        answer
    }

    pub(crate) fn get(&self, path: &str) -> String {
        let answer = self.say(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes());
        String::from_utf8(answer).unwrap()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_page_needs_nothing_from_elsewhere_and_its_json_is_that_of_the_commands() {
    let served = Served::new("navi21,renoir");
    let page = served.get("/");
    assert!(page.starts_with("HTTP/1.1 200 OK\r\nContent-Type: text/html"), "{}", &page[..100]);
    for elsewhere in ["https://", "src=", "@import", "url("] {
        assert!(!page.contains(elsewhere), "{elsewhere}");
    }
    assert_eq!(page.matches("http://").count(), 1, "the name space of SVG");
    // A process may be called anything.
    assert!(!page.contains("innerHTML") && !page.contains("insertAdjacentHTML") && !page.contains("document.write"));
    let body = |path: &str| served.get(path).split_once("\r\n\r\n").unwrap().1.trim().to_owned();
    let shown = run(&["--sim", "navi21,renoir", "show", "--json"]).stdout;
    let parsed = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    assert_eq!(parsed(&body("/api/snapshot")), parsed(&shown));
    let explained = run(&["--sim", "navi21,renoir", "explain", "--json"]).stdout;
    assert_eq!(parsed(&body("/api/explain")), parsed(&explained));
}

/// Fifty requests that no browser sends: each is answered or dropped, and the server goes on.
#[test]
fn hostile_requests_are_answered_or_dropped() {
    let served = Served::new("renoir");
    let mut requests: Vec<Vec<u8>> = Vec::new();
    for path in [
        "/../../etc/passwd",
        "//etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/metrics/../../x",
        "/.",
        "/..",
        "/metrics%00",
        "/api",
        "/api/",
        "/api/snapshot/",
        "/api/../metrics",
        "/\u{e9}",
        "*",
        "http://elsewhere/metrics",
        "/metrics#x",
        "/?/../metrics",
        "/METRICS",
        "/favicon.ico",
        "/index.html",
        "/page.html",
        "/<script>alert(1)</script>",
        "/'\"",
    ] {
        requests.push(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").into_bytes());
    }
    for method in ["POST", "PUT", "DELETE", "TRACE", "CONNECT", "OPTIONS", "PRI", "get", ""] {
        requests.push(format!("{method} / HTTP/1.1\r\n\r\n").into_bytes());
    }
    requests.push([&b"A".repeat(100_000)[..], b" / HTTP/1.1\r\n\r\n"].concat());
    requests.push([b"GET /", &b"a".repeat(100_000)[..], b" HTTP/1.1\r\n\r\n"].concat());
    requests.push([b"GET / HTTP/1.1\r\n", &b"a: b\r\n".repeat(50_000)[..], b"\r\n"].concat());
    requests.push([b"GET / HTTP/1.1\r\nHost: ", &b"a".repeat(100_000)[..], b"\r\n\r\n"].concat());
    for text in [
        &b"GET / HTTP/9.9\r\n\r\n"[..],
        b"GET / HTTP/1.1",
        b"GET  /  HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\n\n",
        b"GET / HTTP/1.1\r\n folded: x\r\n\r\n",
        b"GET / HTTP/1.1\r\n: x\r\n\r\n",
        b"GET / HTTP/1.1\r\na\0b: c\r\n\r\n",
        b"GET / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n",
        b"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffff\r\n",
        b"GET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nExpect: 100-continue\r\n\r\n",
        b"GET / HTTP/1.1\r\nUpgrade: h2c\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"\0\0\0\0",
        b"\r\n\r\n",
        b"",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\xff\xfe\xfd",
    ] {
        requests.push(text.to_vec());
    }
    assert!(requests.len() >= 50, "{}", requests.len());
    for request in &requests {
        let answer = served.say(request);
        let first = String::from_utf8_lossy(answer.get(..12).unwrap_or(&answer)).into_owned();
        let shown = String::from_utf8_lossy(request.get(..60).unwrap_or(request)).into_owned();
        assert!(first.is_empty() || first.starts_with("HTTP/1.1 "), "{shown:?}: {first:?}");
        assert!(!String::from_utf8_lossy(&answer).contains("root:"), "{shown:?}");
    }
    assert!(served.get("/metrics").starts_with("HTTP/1.1 200 OK"));
}
