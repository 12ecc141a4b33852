//! A client of this program's own server, for one request.

use std::{
    io::{self, Read, Write},
    net::TcpStream,
    os::unix::net::UnixStream,
    time::Duration,
};

use super::Address;

/// The time in which the server must accept a connection, and in which each read and write must get on.
const PATIENCE: Duration = Duration::from_secs(5);
/// The maximum number of bytes of an answer.
const MOST_BYTES: u64 = 64 << 20;

/// Returns the body of an answer with status 200.
///
/// # Errors
///
/// The errors of connecting, writing and reading; an error with the status line for other answers.
pub fn get(address: &Address, path: &str) -> io::Result<Vec<u8>> {
    match address {
        Address::Tcp(socket) => {
            let stream = TcpStream::connect_timeout(socket, PATIENCE)?;
            stream.set_read_timeout(Some(PATIENCE))?;
            stream.set_write_timeout(Some(PATIENCE))?;
            ask(stream, path)
        }
        Address::Unix(name) => {
            let stream = UnixStream::connect(name)?;
            stream.set_read_timeout(Some(PATIENCE))?;
            stream.set_write_timeout(Some(PATIENCE))?;
            ask(stream, path)
        }
    }
}

fn ask(mut stream: impl Read + Write, path: &str) -> io::Result<Vec<u8>> {
    let other = |text: String| io::Error::new(io::ErrorKind::InvalidData, text);
    // In one write: a server that refuses at once has closed before a second one.
    stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").as_bytes())?;
    let mut answer = Vec::new();
    stream.take(MOST_BYTES).read_to_end(&mut answer)?;
    let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n");
    let end = end.ok_or_else(|| other("the answer is not HTTP".to_owned()))?;
    let head = String::from_utf8_lossy(answer.get(..end).unwrap_or_default()).into_owned();
    let status = head.lines().next().unwrap_or_default();
    if status.split(' ').nth(1) != Some("200") {
        return Err(other(format!("the answer is '{status}'")));
    }
    let body = answer.split_off(end + 4);
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    });
    if length.is_some_and(|length| length != body.len()) {
        return Err(other(format!("the answer ends after {} bytes", body.len())));
    }
    Ok(body)
}
