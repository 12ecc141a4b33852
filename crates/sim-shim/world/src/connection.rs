//! The client's side of one connection.

use std::{
    ffi::CStr,
    os::fd::{AsFd, AsRawFd, BorrowedFd, IntoRawFd, OwnedFd, RawFd},
    path::Path,
};

use nix::{
    errno::Errno,
    fcntl::{FcntlArg, FdFlag, fcntl},
    sys::socket::{AddressFamily, SockFlag, SockType, UnixAddr, connect, getsockopt, socket, sockopt::PeerCredentials},
};

use crate::{
    Layout,
    table::own,
    trust::is_trusted,
    wire::{Arrived, Call, Message, receive, send},
};

/// A client's connection to the server of a world. It carries one call at a time.
#[derive(Debug)]
pub struct Connection {
    fd: OwnedFd,
}

/// The result of a call.
#[derive(Debug)]
pub struct Answer {
    /// The return value of the call.
    pub value: u64,
    /// The descriptor that the server sent with it; `None` if it sent none.
    pub descriptor: Option<OwnedFd>,
}

impl Answer {
    /// Returns the result of a request: its value, or an errno that has no name in user space, such as ENOTSUPP (524).
    ///
    /// # Errors
    ///
    /// The number of such an errno; the others are errors of [`Connection::call`].
    pub fn returned(&self) -> Result<i32, i32> {
        let word = self.value.cast_signed();
        if word < 0 {
            return Err(i32::try_from(word.unsigned_abs()).unwrap_or(i32::MAX));
        }
        Ok(i32::try_from(word).unwrap_or(i32::MAX))
    }
}

impl Connection {
    /// Connects to the server whose socket is at this path. The server must belong to this user or to root. A process that has no
    /// access to the directory of the socket (any more) can connect too, and use the node descriptors that it has.
    ///
    /// # Errors
    ///
    /// ENOENT, ECONNREFUSED or ECONNRESET if there is no server (any more); EACCES if it belongs to another user or refuses this
    /// user; EUSERS if the server, or this process, has the maximum number of connections; EMFILE if this process has no descriptor left for
    /// `/proc/self/mem`, through which the server accesses the arguments of calls.
    pub fn open(socket_path: &Path) -> Result<Self, Errno> {
        let fd = socket(AddressFamily::Unix, SockType::SeqPacket, SockFlag::SOCK_CLOEXEC, None)?;
        let address = UnixAddr::new(socket_path)?;
        match again(|| connect(fd.as_raw_fd(), &address)) {
            Err(Errno::EACCES) => {
                let layout = Layout::new(socket_path.parent().unwrap_or(socket_path).to_owned());
                let address = UnixAddr::new_abstract(layout.back_door().as_bytes())?;
                again(|| connect(fd.as_raw_fd(), &address))?;
            }
            other => other?,
        }
        if !is_trusted(&getsockopt(&fd, PeerCredentials)?) {
            return Err(Errno::EACCES);
        }
        let Arrived { message, .. } = again(|| receive(fd.as_fd(), 0))?;
        if message.call() != Some(Call::Welcome) {
            return Err(Errno::EPROTO);
        }
        let wants_memory = message.result()? != 0;
        if wants_memory {
            // One descriptor at a time, for a program that has few left.
            for (which, path, flags) in [(0, c"/proc/self/mem", libc::O_RDWR), (1, c"/proc/self/maps", libc::O_RDONLY)]
            {
                let file = match open_file(path, flags) {
                    Err(Errno::EMFILE | Errno::ENFILE) => return Err(Errno::EMFILE),
                    // The server says so to calls that need it: a process that gave up rights may not look at itself.
                    Err(_) => break,
                    Ok(file) => file,
                };
                send(fd.as_fd(), &Message::new(Call::Memory, 0, [which, 0, 0]), Some(file.as_raw_fd()))?;
            }
        }
        Ok(Self { fd })
    }

    /// Creates a connection from the descriptor of a connected socket.
    pub fn from_fd(fd: OwnedFd) -> Self {
        Self { fd }
    }

    /// Returns the descriptor of the connection, which the caller then owns.
    pub fn into_fd(self) -> OwnedFd {
        self.fd
    }

    /// Makes a call and waits for its result. A signal whose handler does not restart system calls interrupts a wait in the server.
    ///
    /// # Errors
    ///
    /// The errno of the call; ENODEV if the server has ended or sends an invalid message, after which the connection cannot be
    /// used.
    pub fn call(&self, message: &Message) -> Result<Answer, Errno> {
        let lost = |_| Errno::ENODEV;
        send(self.fd.as_fd(), message, None).map_err(lost)?;
        let mut interrupted = false;
        loop {
            let Arrived { message: answer, ancillary } = match receive(self.fd.as_fd(), 0) {
                Err(Errno::EINTR) => {
                    if !interrupted {
                        send(self.fd.as_fd(), &Message::new(Call::Interrupt, 0, [0; 3]), None).map_err(lost)?;
                        interrupted = true;
                    }
                    continue;
                }
                other => other.map_err(lost)?,
            };
            match answer.call() {
                Some(Call::Done) => {
                    return answer.result().map(|value| Answer { value, descriptor: ancillary.descriptor() });
                }
                Some(Call::Fetch) => self.give(answer.words[0]).map_err(lost)?,
                Some(Call::Install) => {
                    // The kernel drops a descriptor for which this process has no number left.
                    let result =
                        ancillary.descriptor().ok_or(Errno::EMFILE).and_then(|fd| install(fd, answer.words[0] != 0));
                    let told = Message::answer(Call::Installed, result);
                    send(self.fd.as_fd(), &told, None).map_err(lost)?;
                }
                _ => return Err(Errno::ENODEV),
            }
        }
    }

    /// Sends the server a descriptor of ours, or the reason why not.
    fn give(&self, number: u64) -> Result<(), Errno> {
        let given = RawFd::try_from(number).map_err(|_| Errno::EBADF);
        let sent = given.and_then(|fd| send(self.fd.as_fd(), &Message::new(Call::Give, 0, [0; 3]), Some(fd)));
        match sent {
            Err(Errno::EBADF) => send(self.fd.as_fd(), &Message::answer(Call::Give, Err(Errno::EBADF)), None),
            other => other,
        }
    }
}

/// Opens a file past the C library, whose function of this name a preload library replaces.
fn open_file(path: &CStr, flags: libc::c_int) -> Result<OwnedFd, Errno> {
    // SAFETY: the path ends with a zero byte and outlives the call, which reads nothing else of this process.
    let fd = unsafe { libc::syscall(libc::SYS_openat, libc::AT_FDCWD, path.as_ptr(), flags | libc::O_CLOEXEC, 0) };
    let fd = RawFd::try_from(Errno::result(fd)?).map_err(|_| Errno::EBADF)?;
    Ok(own(fd))
}

/// Makes a system call anew that a signal ended.
fn again<T>(mut call: impl FnMut() -> Result<T, Errno>) -> Result<T, Errno> {
    loop {
        match call() {
            Err(Errno::EINTR) => {}
            other => return other,
        }
    }
}

impl AsFd for Connection {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Keeps a received descriptor under its number, which closes on exec so far.
fn install(fd: OwnedFd, close_on_exec: bool) -> Result<u64, Errno> {
    if !close_on_exec {
        fcntl(&fd, FcntlArg::F_SETFD(FdFlag::empty()))?;
    }
    u64::try_from(fd.into_raw_fd()).map_err(|_| Errno::EBADF)
}
