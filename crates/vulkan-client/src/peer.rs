//! The other process of the checks that share something: this program again, asked over a socket.
//!
//! The socket is the other's standard input, and keeps message boundaries. A request is a line of words with at most one
//! descriptor beside it (`SCM_RIGHTS`); the answer is `ok`, or what went wrong.

use std::{
    fmt,
    io::{IoSlice, IoSliceMut},
    os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd},
    process::{Child, Command, Stdio},
    str::FromStr,
    time::Duration,
};

use nix::{
    cmsg_space,
    errno::Errno,
    poll::{PollFd, PollFlags, PollTimeout, poll},
    sys::socket::{
        AddressFamily, ControlMessage, ControlMessageOwned, MsgFlags, SockFlag, SockType, recvmsg, sendmsg, socketpair,
    },
};

use crate::{
    checks::copies::pattern,
    exit::Exit,
    gpu::{Gpu, HandleType, MemoryPlace, Order, QueueKind, Source},
    outcome::{ErrorContext, Stop, fail, same_bytes},
};

/// Bytes shared.
pub(crate) const SHARED: u64 = 2000;
/// Seeds of what the asking process writes, and what the other one answers with.
pub(crate) const OURS: u8 = 1;
pub(crate) const THEIRS: u8 = 2;

/// Bytes of the longest message.
const MESSAGE: usize = 512;
/// Long enough for work of the asking process.
const PATIENCE: Duration = Duration::from_mins(1);

/// Task of the other process for the descriptor beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    /// Import this memory, find our pattern there, leave another.
    Memory { what: HandleType, size: u64, kind: u32 },
    /// Import this binary semaphore, and let a queue wait for it.
    Binary,
    /// Import this timeline, wait for 1, let a queue signal 2.
    Timeline,
    /// Import this sync file into a semaphore, and let a queue wait for it.
    SyncFile,
    /// Import this fence and wait for it.
    Fence(HandleType),
}

const fn word(what: HandleType) -> &'static str {
    match what {
        HandleType::Opaque => "opaque",
        HandleType::DmaBuf => "dma-buf",
        HandleType::SyncFile => "sync-file",
    }
}

fn of_word(word: &str) -> Option<HandleType> {
    [HandleType::Opaque, HandleType::DmaBuf, HandleType::SyncFile].into_iter().find(|&what| self::word(what) == word)
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory { what, size, kind } => write!(f, "memory {} {size} {kind}", word(*what)),
            Self::Binary => f.write_str("binary"),
            Self::Timeline => f.write_str("timeline"),
            Self::SyncFile => f.write_str("sync-file"),
            Self::Fence(what) => write!(f, "fence {}", word(*what)),
        }
    }
}

impl FromStr for Request {
    type Err = Stop;

    fn from_str(line: &str) -> Result<Self, Stop> {
        let words: Vec<_> = line.split(' ').collect();
        let request = match words[..] {
            ["memory", what, size, kind] => of_word(what)
                .zip(size.parse().ok().zip(kind.parse().ok()))
                .map(|(what, (size, kind))| Self::Memory { what, size, kind }),
            ["binary"] => Some(Self::Binary),
            ["timeline"] => Some(Self::Timeline),
            ["sync-file"] => Some(Self::SyncFile),
            ["fence", what] => of_word(what).map(Self::Fence),
            _ => None,
        };
        request.map_or_else(|| fail(format!("not a request: {line}")), Ok)
    }
}

/// The other process.
pub(crate) struct Peer {
    child: Child,
    socket: OwnedFd,
}

impl Peer {
    /// Starts it.
    ///
    /// # Errors
    ///
    /// When the system refuses a socket or a process.
    pub(crate) fn start(any_device: bool) -> Result<Self, Stop> {
        let (socket, theirs) = socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::SOCK_CLOEXEC)
            .context("make a socket pair")?;
        let mut command = Command::new(std::env::current_exe().context("find this program")?);
        command.arg("--peer").stdin(Stdio::from(theirs)).stdout(Stdio::null());
        if any_device {
            command.arg("--any-device");
        }
        Ok(Self { child: command.spawn().context("start the other process")?, socket })
    }

    /// Hands it a request with a descriptor, which stays open there only.
    ///
    /// # Errors
    ///
    /// When the socket is broken.
    #[expect(clippy::needless_pass_by_value, reason = "the descriptor is given away")]
    pub(crate) fn ask(&self, request: Request, descriptor: Option<OwnedFd>) -> Result<(), Stop> {
        let fds: Vec<RawFd> = descriptor.iter().map(AsRawFd::as_raw_fd).collect();
        send(self.socket.as_fd(), &request.to_string(), &fds).context("ask the other process")
    }

    /// Waits for its answer.
    ///
    /// # Errors
    ///
    /// The fault that it found, or that it does not answer.
    pub(crate) fn answer(&self, time: Duration) -> Result<(), Stop> {
        let limit = PollTimeout::try_from(time).unwrap_or(PollTimeout::MAX);
        let mut ready = [PollFd::new(self.socket.as_fd(), PollFlags::POLLIN)];
        if poll(&mut ready, limit).context("wait for the other process")? == 0 {
            return fail("the other process does not answer");
        }
        match receive(self.socket.as_fd()).context("hear the other process")? {
            (text, _) if text == "ok" => Ok(()),
            (text, _) if text.is_empty() => fail("the other process ended without an answer"),
            (text, _) => fail(format!("the other process: {text}")),
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // Either it has ended, or it must now; there is nothing to do about an error.
        let _: std::io::Result<()> = self.child.kill();
        let _: std::io::Result<_> = self.child.wait();
    }
}

fn send(socket: BorrowedFd<'_>, text: &str, fds: &[RawFd]) -> Result<(), Errno> {
    let rights = [ControlMessage::ScmRights(fds)];
    let control = if fds.is_empty() { &[][..] } else { &rights[..] };
    let bytes = [IoSlice::new(text.as_bytes())];
    sendmsg::<()>(socket.as_raw_fd(), &bytes, control, MsgFlags::MSG_NOSIGNAL, None).map(drop)
}

/// The most descriptors that Linux passes with one message (`SCM_MAX_FD` of `include/net/scm.h`).
const MOST_DESCRIPTORS: usize = 253;

/// Receives a text and the descriptor beside it. There is room for every descriptor that can arrive, so each is owned and closed,
/// and more than one is refused.
fn receive(socket: BorrowedFd<'_>) -> Result<(String, Option<OwnedFd>), Errno> {
    let mut bytes = [0; MESSAGE];
    let mut control = cmsg_space!([RawFd; MOST_DESCRIPTORS]);
    let mut parts = [IoSliceMut::new(&mut bytes)];
    let message = recvmsg::<()>(socket.as_raw_fd(), &mut parts, Some(&mut control), MsgFlags::MSG_CMSG_CLOEXEC)?;
    let mut descriptors = Vec::new();
    for part in message.cmsgs()? {
        if let ControlMessageOwned::ScmRights(fds) = part {
            descriptors.extend(fds.into_iter().map(crate::gpu::received));
        }
    }
    if descriptors.len() > 1 || message.flags.contains(MsgFlags::MSG_CTRUNC) {
        return Err(Errno::EPROTO);
    }
    let (descriptor, len) = (descriptors.pop(), message.bytes);
    Ok((String::from_utf8_lossy(bytes.get(..len).unwrap_or_default()).into_owned(), descriptor))
}

/// Answers one request from standard input.
pub(crate) fn serve(any_device: bool) -> Exit {
    let stdin = std::io::stdin();
    let socket = stdin.as_fd();
    let outcome = receive(socket).context("hear the request").and_then(|(text, descriptor)| {
        let Some(descriptor) = descriptor else { return fail("no descriptor came with the request") };
        let gpu = Gpu::open(any_device)?;
        serve_one(&gpu, text.parse()?, descriptor)
    });
    let answer = match &outcome {
        Ok(()) => "ok",
        Err(Stop::Fail(text) | Stop::Skip(text)) => text,
    };
    match send(socket, answer.get(..MESSAGE).unwrap_or(answer), &[]) {
        Ok(()) if outcome.is_ok() => Exit::Pass,
        _ => Exit::Fail,
    }
}

fn serve_one(gpu: &Gpu, request: Request, descriptor: OwnedFd) -> Result<(), Stop> {
    let lane = gpu.need(QueueKind::Graphics)?;
    match request {
        Request::Memory { what, size, kind } => {
            let source = Source::Descriptor(what, descriptor);
            exchange(gpu, gpu.allocate(size, kind, source).context("import")?, what)
        }
        Request::Binary | Request::SyncFile => {
            let what = if request == Request::Binary { HandleType::Opaque } else { HandleType::SyncFile };
            let semaphore = gpu.binary(None).context("make a semaphore")?;
            semaphore.import(what, descriptor).context("import")?;
            let work = gpu.submit(lane, &Order::free().after(&semaphore, 0), |_| {}).context("submit")?;
            work.finish().context("finish")
        }
        Request::Timeline => {
            let line = gpu.timeline(0, None).context("make a semaphore")?;
            line.import(HandleType::Opaque, descriptor).context("import")?;
            line.wait(1, PATIENCE).context("wait for 1")?;
            let work = gpu.submit(lane, &Order::free().after(&line, 1).then(&line, 2), |_| {}).context("submit")?;
            work.finish().context("finish")
        }
        Request::Fence(what) => {
            let fence = gpu.fence(None).context("make a fence")?;
            fence.import(what, descriptor).context("import")?;
            fence.wait(PATIENCE).context("wait")
        }
    }
}

/// Finds what the asker wrote, and writes what it expects.
fn exchange(gpu: &Gpu, memory: crate::gpu::Memory<'_>, what: HandleType) -> Result<(), Stop> {
    let lane = gpu.need(QueueKind::Graphics)?;
    let shared = gpu.on(memory, what.of_memory()).context("bind")?;
    let host = gpu.buffer(SHARED, MemoryPlace::Host).context("make a buffer")?;
    let read = gpu.submit(lane, &Order::free(), |record| {
        record.copy((&shared, 0), (&host, 0), SHARED);
        record.barrier();
    });
    read.context("submit")?.finish().context("finish")?;
    same_bytes("what was shared", &host.memory().read(0, SHARED as usize), &pattern(SHARED as usize, OURS))?;
    host.memory().write(0, &pattern(SHARED as usize, THEIRS));
    let write = gpu.submit(lane, &Order::free(), |record| {
        record.copy((&host, 0), (&shared, 0), SHARED);
        record.barrier();
    });
    write.context("submit")?.finish().context("finish")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_read_as_it_was_written() {
        let all = [
            Request::Memory { what: HandleType::DmaBuf, size: 4096, kind: 3 },
            Request::Binary,
            Request::Timeline,
            Request::SyncFile,
            Request::Fence(HandleType::SyncFile),
        ];
        for request in all {
            assert_eq!(request.to_string().parse(), Ok(request));
        }
        assert!("memory opaque many 3".parse::<Request>().is_err());
    }

    #[test]
    fn a_text_has_one_descriptor_at_most_and_the_others_are_closed() {
        let socket = || socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::SOCK_CLOEXEC).unwrap();
        for count in 0..4 {
            let ((ours, theirs), (reader, writer)) = (socket(), std::io::pipe().unwrap());
            send(ours.as_fd(), "x", &vec![writer.as_raw_fd(); count]).unwrap();
            drop(writer);
            let found = receive(theirs.as_fd()).map(|(text, fd)| (text, fd.is_some()));
            assert_eq!(found, if count < 2 { Ok(("x".to_owned(), count == 1)) } else { Err(Errno::EPROTO) });
            let mut ready = [PollFd::new(reader.as_fd(), PollFlags::POLLIN)];
            poll(&mut ready, PollTimeout::ZERO).unwrap();
            assert!(ready[0].revents().unwrap().contains(PollFlags::POLLHUP), "one of {count} is still open");
        }
    }
}
