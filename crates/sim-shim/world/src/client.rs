//! The server's view of a client: the memory and descriptors that a call refers to.

use std::{
    os::fd::{AsFd, AsRawFd, OwnedFd, RawFd},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use amdgpu_sim::{Client, ProcessMemory};
use nix::errno::Errno;
use parking_lot::Mutex;

use crate::{
    process::Process,
    wire::{Ancillary, Arrived, Call, Message, receive, send},
};

/// A process at the other end of a connection.
#[derive(Debug)]
pub(crate) struct Remote {
    process: Process,
    /// The client's memory, once it has given access to it, and the first of the two descriptors for that.
    memory: Mutex<(Option<Arc<ProcessMemory>>, Option<OwnedFd>)>,
    trusted: bool,
    connection: OwnedFd,
    interrupted: AtomicBool,
    /// `true` if the client sent something that is no message, which ends the connection.
    is_broken: AtomicBool,
}

impl Remote {
    pub(crate) fn new(
        process: Process,
        memory: Option<Arc<ProcessMemory>>,
        trusted: bool,
        connection: OwnedFd,
    ) -> Self {
        Self {
            process,
            memory: Mutex::new((memory, None)),
            trusted,
            connection,
            interrupted: AtomicBool::new(false),
            is_broken: AtomicBool::new(false),
        }
    }

    /// Returns `true` if it was of this server's user, or of root, when it connected. Another has what its descriptors give.
    pub(crate) fn is_trusted(&self) -> bool {
        self.trusted
    }

    /// The process that connected.
    pub(crate) fn process(&self) -> Process {
        self.process
    }

    /// The name of the process, as `/proc/PID/comm` has it; empty for one that is gone.
    pub(crate) fn command(&self) -> String {
        let name = std::fs::read(format!("/proc/{}/comm", self.process.pid())).unwrap_or_default();
        String::from_utf8_lossy(name.trim_ascii_end()).into_owned()
    }

    /// Takes a descriptor for access to the client's memory: the memory itself, and then the list of its areas. Returns the access
    /// once it has both.
    fn take_memory(&self, which: u64, fd: Option<OwnedFd>) -> Result<Option<Arc<ProcessMemory>>, Errno> {
        let mut memory = self.memory.lock();
        match (which, fd, memory.1.take()) {
            (0, Some(fd), _) => {
                memory.1 = Some(fd);
                Ok(None)
            }
            (1, Some(areas), Some(fd)) => {
                let access = Arc::new(ProcessMemory::new(fd, areas)?);
                memory.0 = Some(Arc::clone(&access));
                Ok(Some(access))
            }
            _ => Err(Errno::EPROTO),
        }
    }

    /// The next call; an interruption that came too late for the last one is passed over. Access to memory that the client gives
    /// before goes to `kept` too.
    pub(crate) fn next_call(&self, kept: impl Fn(&Arc<ProcessMemory>)) -> Result<Message, Errno> {
        loop {
            if self.is_broken.load(Ordering::Relaxed) {
                return Err(Errno::EPROTO);
            }
            let (message, ancillary) = self.wait(0)?;
            match message.call() {
                Some(Call::Interrupt) => {}
                Some(Call::Memory) => {
                    if let Some(access) = self.take_memory(message.words[0], ancillary)? {
                        kept(&access);
                    }
                }
                _ => {
                    self.interrupted.store(false, Ordering::Relaxed);
                    return Ok(message);
                }
            }
        }
    }

    /// Ends the call.
    pub(crate) fn done(&self, result: Result<u64, Errno>, ancillary: Option<&OwnedFd>) -> Result<(), Errno> {
        let number = ancillary.map(|fd| fd.as_fd().as_raw_fd());
        send(self.connection.as_fd(), &Message::answer(Call::Done, result), number)
    }

    /// Receives a message. A client that sends more than one descriptor, or one for which this server has no number, has lost its
    /// connection: what it meant is not known any more.
    fn wait(&self, flags: libc::c_int) -> Result<(Message, Option<OwnedFd>), Errno> {
        loop {
            let lost = match receive(self.connection.as_fd(), flags) {
                Err(Errno::EINTR) => continue,
                Err(Errno::EAGAIN) => return Err(Errno::EAGAIN),
                Ok(Arrived { message, ancillary: Ancillary::Nothing }) => return Ok((message, None)),
                Ok(Arrived { message, ancillary: Ancillary::Descriptor(fd) }) => return Ok((message, Some(fd))),
                Ok(Arrived { ancillary: Ancillary::Dropped, .. }) => Errno::EPROTO,
                Err(errno) => errno,
            };
            self.is_broken.store(true, Ordering::Relaxed);
            return Err(lost);
        }
    }

    /// Asks something in the middle of a call. A client that breaks off or talks nonsense is as good as gone: EFAULT.
    fn ask(
        &self,
        question: &Message,
        ancillary: Option<RawFd>,
        answer: Call,
    ) -> Result<(Message, Option<OwnedFd>), Errno> {
        send(self.connection.as_fd(), question, ancillary).map_err(|_| Errno::EFAULT)?;
        loop {
            let (message, ancillary) = self.wait(0).map_err(|_| Errno::EFAULT)?;
            match message.call() {
                Some(Call::Interrupt) => self.interrupted.store(true, Ordering::Relaxed),
                Some(call) if call == answer => return Ok((message, ancillary)),
                _ => {
                    self.is_broken.store(true, Ordering::Relaxed);
                    return Err(Errno::EFAULT);
                }
            }
        }
    }
}

impl Client for Remote {
    fn pid(&self) -> libc::pid_t {
        self.process.pid()
    }

    fn memory(&self) -> Result<Option<Arc<ProcessMemory>>, amdgpu_uapi::Errno> {
        // Never that of this process, whatever a client leaves out.
        self.memory.lock().0.clone().map(Some).ok_or(amdgpu_uapi::Errno::EFAULT)
    }

    fn descriptor(&self, fd: RawFd) -> Result<OwnedFd, amdgpu_uapi::Errno> {
        let number = u64::try_from(fd).map_err(|_| Errno::EBADF)?;
        let (answer, ancillary) = self.ask(&Message::new(Call::Fetch, 0, [number, 0, 0]), None, Call::Give)?;
        answer.result()?;
        ancillary.ok_or(amdgpu_uapi::Errno::EBADF)
    }

    fn install(&self, fd: OwnedFd, close_on_exec: bool) -> Result<RawFd, amdgpu_uapi::Errno> {
        let question = Message::new(Call::Install, 0, [close_on_exec.into(), 0, 0]);
        let (answer, _) = self.ask(&question, Some(fd.as_raw_fd()), Call::Installed)?;
        RawFd::try_from(answer.result()?).map_err(|_| amdgpu_uapi::Errno::EFAULT)
    }

    fn cgroup(&self) -> Option<String> {
        self.process.cgroup()
    }

    fn is_interrupted(&self) -> bool {
        // Whatever else comes than nothing ends the wait.
        if !matches!(self.wait(libc::MSG_DONTWAIT), Err(Errno::EAGAIN)) {
            self.interrupted.store(true, Ordering::Relaxed);
        }
        self.interrupted.load(Ordering::Relaxed)
    }
}
