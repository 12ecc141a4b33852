//! Sockets of both families: TCP and Unix.

use std::{
    fmt, fs,
    io::{self, Read, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    os::{
        fd::{AsFd, BorrowedFd},
        unix::{
            fs::FileTypeExt as _,
            net::{UnixListener, UnixStream},
        },
    },
    path::{Path, PathBuf},
    str::FromStr,
};

use listenfd::ListenFd;
use nix::sys::socket::{getsockopt, sockopt};

/// The address of a listening socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// An IP address and a TCP port.
    Tcp(SocketAddr),
    /// The path of a Unix socket, written as `unix:PATH`.
    Unix(PathBuf),
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.strip_prefix("unix:") {
            Some("") => Err("'unix:' names no path".to_owned()),
            Some(path) => Ok(Self::Unix(path.into())),
            None => text.parse().map(Self::Tcp).map_err(|_| {
                format!("'{text}' is neither ADDRESS:PORT, such as 127.0.0.1:9417 or [::1]:9417, nor unix:PATH")
            }),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => write!(f, "http://{address}/"),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

/// A listening socket.
#[derive(Debug)]
pub enum Listener {
    /// A TCP socket.
    Tcp(TcpListener),
    /// A Unix socket with a path or an abstract name.
    Unix(UnixListener),
}

impl Listener {
    /// Binds a socket. A Unix socket that was left behind by a killed server is replaced.
    ///
    /// # Errors
    ///
    /// An I/O error if the address is in use or not available, or the path is a file that is not a socket.
    pub fn bind(address: &Address) -> io::Result<Self> {
        match address {
            Address::Tcp(address) => TcpListener::bind(address).map(Self::Tcp),
            Address::Unix(path) => bind_path(path).map(Self::Unix),
        }
    }

    /// Takes over the sockets that systemd or another service manager has bound for this process and passed in `LISTEN_FDS`
    /// (`sd_listen_fds(3)`).
    ///
    /// # Errors
    ///
    /// An I/O error if a descriptor is not a listening TCP or Unix stream socket.
    pub fn inherited() -> io::Result<Vec<Self>> {
        let mut sockets = ListenFd::from_env();
        let mut listeners = Vec::new();
        for index in 0..sockets.len() {
            let of_tcp = sockets.take_tcp_listener(index).map(|listener| listener.map(Self::Tcp));
            // A socket of another kind was left in its place.
            let listener =
                of_tcp.or_else(|_| sockets.take_unix_listener(index).map(|listener| listener.map(Self::Unix)))?;
            if let Some(listener) = &listener
                && !getsockopt(listener, sockopt::AcceptConn)?
            {
                return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("socket {index} does not listen")));
            }
            listeners.extend(listener);
        }
        Ok(listeners)
    }

    /// Returns the address that clients connect to. For a Unix socket without a path, the path is empty.
    ///
    /// # Errors
    ///
    /// The error of `getsockname`.
    pub fn address(&self) -> io::Result<Address> {
        match self {
            Self::Tcp(listener) => listener.local_addr().map(Address::Tcp),
            Self::Unix(listener) => {
                listener.local_addr().map(|name| Address::Unix(name.as_pathname().unwrap_or(Path::new("")).into()))
            }
        }
    }

    pub(super) fn set_nonblocking(&self) -> io::Result<()> {
        match self {
            Self::Tcp(listener) => listener.set_nonblocking(true),
            Self::Unix(listener) => listener.set_nonblocking(true),
        }
    }

    /// Accepts a connection, which does not block.
    pub(super) fn accept(&self) -> io::Result<Stream> {
        match self {
            Self::Tcp(listener) => listener.accept().map(|(stream, _)| Stream::Tcp(stream)),
            Self::Unix(listener) => listener.accept().map(|(stream, _)| Stream::Unix(stream)),
        }
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Tcp(listener) => listener.as_fd(),
            Self::Unix(listener) => listener.as_fd(),
        }
    }
}

fn bind_path(path: &Path) -> io::Result<UnixListener> {
    match UnixListener::bind(path) {
        // The file outlives its server; one that still listens takes connections.
        Err(error)
            if error.kind() == io::ErrorKind::AddrInUse
                && fs::symlink_metadata(path)?.file_type().is_socket()
                && UnixStream::connect(path).is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused) =>
        {
            fs::remove_file(path)?;
            UnixListener::bind(path)
        }
        bound => bound,
    }
}

/// A client's socket.
#[derive(Debug)]
pub(super) enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Stream {
    pub(super) fn set_nonblocking(&self) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.set_nonblocking(true),
            Self::Unix(stream) => stream.set_nonblocking(true),
        }
    }

    /// Tells the client that nothing more will be sent.
    pub(super) fn finish(&self) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.shutdown(Shutdown::Write),
            Self::Unix(stream) => stream.shutdown(Shutdown::Write),
        }
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Tcp(stream) => stream.as_fd(),
            Self::Unix(stream) => stream.as_fd(),
        }
    }
}

impl Read for Stream {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.read(bytes),
            Self::Unix(stream) => stream.read(bytes),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.write(bytes),
            Self::Unix(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
