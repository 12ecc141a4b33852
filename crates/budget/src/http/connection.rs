//! One connection: a request, its answer, and the wait for the client to hang up.

use std::{
    io::{self, Read as _, Write as _},
    time::{Duration, Instant},
};

use crate::http::{
    hosts::Hosts,
    listener::Stream,
    message::{Answer, MOST_REQUEST, Request, message, request},
};

/// The time limit for a client to send its whole request.
pub const REQUEST_TIME: Duration = Duration::from_secs(1);
/// The time limit for a client to receive its answer.
pub const ANSWER_TIME: Duration = Duration::from_secs(10);

/// A client's connection.
#[derive(Debug)]
pub(super) struct Connection {
    stream: Stream,
    state: State,
    deadline: Instant,
}

#[derive(Debug)]
enum State {
    Request(Vec<u8>),
    Answer {
        bytes: Vec<u8>,
        written: usize,
    },
    /// The answer is sent. Closing with bytes unread would reset the connection under it.
    HangUp,
}

/// The outcome of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Stay,
    /// The last byte of the answer was handed to the kernel.
    Answered,
    Close,
}

impl Connection {
    pub(super) fn new(stream: Stream, now: Instant) -> io::Result<Self> {
        stream.set_nonblocking()?;
        Ok(Self { stream, state: State::Request(Vec::new()), deadline: now + REQUEST_TIME })
    }

    pub(super) fn stream(&self) -> &Stream {
        &self.stream
    }

    pub(super) fn deadline(&self) -> Instant {
        self.deadline
    }

    pub(super) fn is_late(&self, now: Instant) -> bool {
        self.deadline <= now
    }

    /// Returns `true` if the connection waits for room to write.
    pub(super) fn writes(&self) -> bool {
        matches!(self.state, State::Answer { .. })
    }

    /// Reads or writes as far as possible without blocking.
    pub(super) fn go_on(&mut self, now: Instant, hosts: &Hosts, answer: &mut impl FnMut(&str) -> Answer) -> Step {
        match &mut self.state {
            State::Request(bytes) => {
                let Ok(open) = read(&mut self.stream, bytes) else { return Step::Close };
                let bytes = match request(bytes, hosts) {
                    Request::Incomplete if open => return Step::Stay,
                    Request::Incomplete => return Step::Close,
                    Request::Get { path, head } => message(&answer(&path), head, ""),
                    Request::Refused(status, why) => message(&Answer::text(status, why), false, "Allow: GET, HEAD\r\n"),
                };
                self.state = State::Answer { bytes, written: 0 };
                self.deadline = now + ANSWER_TIME;
                self.write(now)
            }
            State::Answer { .. } => self.write(now),
            State::HangUp => match self.stream.read(&mut [0; 4096]) {
                Ok(0) => Step::Close,
                Ok(_) => Step::Stay,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => Step::Stay,
                Err(_) => Step::Close,
            },
        }
    }

    fn write(&mut self, now: Instant) -> Step {
        let State::Answer { bytes, written } = &mut self.state else { return Step::Stay };
        while let Some(rest) = bytes.get(*written..).filter(|rest| !rest.is_empty()) {
            match self.stream.write(rest) {
                Ok(0) => return Step::Close,
                Ok(count) => *written += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Step::Stay,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return Step::Close,
            }
        }
        self.state = State::HangUp;
        self.deadline = now + REQUEST_TIME;
        // Fails where the client was faster.
        let _ = self.stream.finish();
        Step::Answered
    }
}

/// Reads what is there, up to one byte more than a request may have. Returns `false` after the client's last byte.
fn read(stream: &mut Stream, bytes: &mut Vec<u8>) -> io::Result<bool> {
    let mut chunk = [0; 4096];
    while bytes.len() <= MOST_REQUEST {
        match stream.read(&mut chunk) {
            Ok(0) => return Ok(false),
            Ok(count) => bytes.extend_from_slice(chunk.get(..count).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(true),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}
