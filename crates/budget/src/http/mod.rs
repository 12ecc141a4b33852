//! A small HTTP/1.1 server for many slow clients, with one thread, non-blocking sockets and one answer per connection.
//!
//! A client has [`REQUEST_TIME`] to send its whole request and [`ANSWER_TIME`] to receive the answer. When there are
//! [`MOST_CONNECTIONS`] connections, the oldest one is closed for a new one. A client therefore cannot delay other clients.

pub mod client;
mod connection;
mod hosts;
mod listener;
mod message;

use std::{
    collections::VecDeque,
    io,
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
};

use self::connection::{Connection, Step};
pub use self::{
    connection::{ANSWER_TIME, REQUEST_TIME},
    hosts::Hosts,
    listener::{Address, Listener},
    message::{Answer, MOST_REQUEST},
};

/// The maximum number of concurrent connections.
pub const MOST_CONNECTIONS: usize = 512;

/// An HTTP server with its open connections.
#[derive(Debug)]
pub struct Server {
    listeners: Vec<Listener>,
    hosts: Hosts,
    /// Oldest first.
    connections: VecDeque<Connection>,
}

impl Server {
    /// Creates a server on bound sockets, which answers requests for these hosts. The limits apply to the connections of all sockets
    /// together.
    ///
    /// # Errors
    ///
    /// An I/O error if a socket cannot be made non-blocking.
    pub fn new(listeners: Vec<Listener>, hosts: Hosts) -> io::Result<Self> {
        listeners.iter().try_for_each(Listener::set_nonblocking)?;
        Ok(Self { listeners, hosts, connections: VecDeque::new() })
    }

    /// Waits for events on the sockets, until `wake` at most, and handles them. Calls `answer` with the path, without the query, of each GET or HEAD
    /// request. Returns the number of requests that were answered completely, including refused ones.
    ///
    /// # Errors
    ///
    /// An I/O error if waiting fails. An invalid request or a broken connection is not an error.
    pub fn step(&mut self, wake: Option<Instant>, mut answer: impl FnMut(&str) -> Answer) -> io::Result<u64> {
        let ready = self.wait(wake)?;
        let now = Instant::now();
        let mut answered = 0;
        let mut kept = VecDeque::with_capacity(self.connections.len());
        for (mut connection, ready) in self.connections.drain(..).zip(ready.connections) {
            let step = if ready { connection.go_on(now, &self.hosts, &mut answer) } else { Step::Stay };
            if step == Step::Answered {
                answered += 1;
            }
            if step != Step::Close && !connection.is_late(now) {
                kept.push_back(connection);
            }
        }
        self.connections = kept;
        for index in (0..self.listeners.len()).filter(|&index| ready.listeners.get(index) == Some(&true)) {
            self.accept(index, now);
        }
        Ok(answered)
    }

    /// Returns the number of open connections.
    pub fn connections(&self) -> usize {
        self.connections.len()
    }

    fn wait(&self, wake: Option<Instant>) -> io::Result<Ready> {
        let first = self.connections.iter().map(Connection::deadline).chain(wake).min();
        let timeout = first.map(|at| {
            // A millisecond more: a deadline must have passed when it wakes the loop.
            let left = at.saturating_duration_since(Instant::now()) + Duration::from_millis(1);
            Timespec { tv_sec: left.as_secs().try_into().unwrap_or(i64::MAX), tv_nsec: left.subsec_nanos().into() }
        });
        let mut polled = Vec::with_capacity(self.listeners.len() + self.connections.len());
        polled.extend(self.listeners.iter().map(|listener| PollFd::new(listener, PollFlags::IN)));
        polled.extend(self.connections.iter().map(|connection| {
            PollFd::new(connection.stream(), if connection.writes() { PollFlags::OUT } else { PollFlags::IN })
        }));
        match poll(&mut polled, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
        let mut ready = polled.iter().map(|polled| !polled.revents().is_empty());
        Ok(Ready { listeners: ready.by_ref().take(self.listeners.len()).collect(), connections: ready.collect() })
    }

    fn accept(&mut self, index: usize, now: Instant) {
        while let Some(listener) = self.listeners.get(index) {
            match listener.accept() {
                Ok(stream) => {
                    if self.connections.len() >= MOST_CONNECTIONS {
                        self.connections.pop_front();
                    }
                    // A socket that cannot be made non-blocking could stall the loop.
                    self.connections.extend(Connection::new(stream, now).ok());
                }
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                // Out of descriptors: the oldest connection makes room, and where there is none, the next turn tries again.
                Err(_) => {
                    if self.connections.pop_front().is_none() {
                        std::thread::sleep(Duration::from_millis(10));
                        return;
                    }
                }
            }
        }
    }
}

/// Sockets on which something can be done.
struct Ready {
    listeners: Vec<bool>,
    connections: Vec<bool>,
}
