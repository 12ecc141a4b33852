//! This computer.

use std::{
    io,
    os::fd::{AsRawFd as _, OwnedFd},
    path::Path,
};

use amdgpu_winsys::{
    uapi::{KERNEL_UEVENTS, LONGEST_UEVENT, WedgedEvent},
    winsys::{Kernel, RenderNode},
};
use nix::{
    errno::Errno,
    sys::socket::{AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, bind, recv, socket},
};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};

use super::{Machine, Moment};
use crate::files::{Disk, Files};

/// This computer, with its `/proc`, `/sys` and `/dev/dri`.
#[derive(Debug)]
pub struct Live {
    files: Disk,
    /// A socket for the kernel's events; none where a container has no such sockets.
    events: Option<OwnedFd>,
}

impl Default for Live {
    fn default() -> Self {
        Self { files: Disk::new(Path::new("/")), events: listen().ok() }
    }
}

/// Opens a socket for the kernel's events.
fn listen() -> nix::Result<OwnedFd> {
    let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
    let socket = socket(AddressFamily::Netlink, SockType::Raw, flags, SockProtocol::NetlinkKObjectUEvent)?;
    bind(socket.as_raw_fd(), &NetlinkAddr::new(0, KERNEL_UEVENTS))?;
    Ok(socket)
}

impl Machine for Live {
    fn kind(&self) -> &'static str {
        "live"
    }

    fn files(&self) -> &dyn Files {
        &self.files
    }

    fn open(&self, node: &str, _pci: &str) -> io::Result<Box<dyn Kernel>> {
        let opened = RenderNode::open(&Path::new("/dev/dri").join(node)).map_err(io::Error::from)?;
        Ok(Box::new(opened))
    }

    fn file_of(&self, pid: u32, fd: u32, _pci: &str) -> io::Result<Box<dyn Kernel>> {
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or(io::ErrorKind::InvalidInput)?;
        let fd = i32::try_from(fd).map_err(|_| io::ErrorKind::InvalidInput)?;
        let process = pidfd_open(pid, PidfdFlags::empty())?;
        Ok(Box::new(RenderNode::from_fd(pidfd_getfd(process, fd, PidfdGetfdFlags::empty())?)))
    }

    fn resets(&mut self) -> Vec<WedgedEvent> {
        /// The most events that are read at once: a device that comes and goes without end delays no snapshot.
        const MOST: usize = 4096;
        let Some(events) = &self.events else { return Vec::new() };
        let mut datagram = [0; 2 * LONGEST_UEVENT];
        let mut found = Vec::new();
        for _ in 0..MOST {
            match recv(events.as_raw_fd(), &mut datagram, MsgFlags::empty()) {
                // Only the kernel may send to this group, and root.
                Ok(len) => found.extend(datagram.get(..len).and_then(WedgedEvent::parse)),
                // Events were lost, or a signal came.
                Err(Errno::ENOBUFS | Errno::EINTR) => {}
                Err(_) => break,
            }
        }
        found
    }

    fn now(&self) -> Moment {
        Moment::now()
    }

    fn has_real_time(&self) -> bool {
        true
    }
}
