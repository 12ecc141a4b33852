//! Messages between client and server: a fixed structure, with at most one descriptor.
//!
//! In both directions, each datagram of a `SOCK_SEQPACKET` socket is one message. This module does not allocate memory, because the
//! client's side runs inside the ioctl calls of other programs.

use std::{
    mem::MaybeUninit,
    os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd},
};

use nix::errno::Errno;
use zerocopy::{FromBytes, Immutable, IntoBytes};

/// The kinds of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Call {
    /// Client: open the node `words[0]` (minor) with the flags `words[1]`; `words[2]` is 1 for an administrator.
    Open = 1,
    /// Client: ioctl on `file` with request `words[0]` and the argument at address `words[1]`. The client's descriptor `words[2]`
    /// proves that it has the file; the server fetches it once on each connection.
    Ioctl,
    /// Client: ioctl on the descriptor `words[2]` of a dma-buf, a sync file or a sw_sync file, with request `words[0]` and the
    /// argument at address `words[1]`. ENOTTY if the descriptor is none of these.
    DescriptorIoctl,
    /// Client: map `words[1]` bytes of `file`, whose descriptor is `words[2]`, at offset `words[0]`.
    Map,
    /// Client: query the node whose socket has inode `words[0]`.
    Inode,
    /// Client: update the sysfs files that change over time: only the memory files, or all if `words[0]` is not 0. If `words[1]` is
    /// not 0, it is the inode of a file that is about to be read and that may wake its GPU; ESTALE if there is no such file any more.
    Refresh,
    /// Client: query the driver's part of fdinfo for the node whose descriptor has inode `words[0]`.
    Fdinfo,
    /// Client: query the numbers of live objects of the world, as text.
    Census,
    /// Client: query the current or last image on the first GPU's display. The answer has width and height as two halves of a
    /// number, and a file with red, green, blue and alpha of the pixels.
    Picture,
    /// Client: open sw_sync.
    SwSync,
    /// Client: open the sysfs file with inode `words[0]` for writing. ENOENT if that file cannot be written.
    OpenStore,
    /// Client: query the outcome of the last write to a sysfs file whose descriptor has inode `words[0]`.
    Outcome,
    /// Client: reset the GPU by the debugfs file with inode `words[0]`.
    Recover,
    /// Client, during a call: a signal was received; the server should end a wait.
    Interrupt,
    /// Client, answer to [`Self::Fetch`]: the descriptor, or `errno`.
    Give,
    /// Client, answer to [`Self::Install`]: the number of the descriptor in `words[0]`, or `errno`.
    Installed,
    /// Server: the call has ended, with `errno` (0 for success), the return value `words[0]`, and possibly a descriptor.
    Done,
    /// Server, during a call: the client must send its descriptor `words[0]`.
    Fetch,
    /// Server, during a call: the client must install this descriptor, with close-on-exec if `words[0]` is not 0, and send its
    /// number.
    Install,
    /// Server, first message: the connection is accepted, or refused with `errno`. `words[0]` is 1 if the server has no access to the
    /// memory of the client's process.
    Welcome,
    /// Client, between calls: a descriptor for access to its memory, `/proc/self/mem` if `words[0]` is 0, or `/proc/self/maps` if it
    /// is 1. It is not answered.
    Memory,
    /// Client: open a socket for the kernel's events (NETLINK_KOBJECT_UEVENT). What the client writes to it is the mask of the groups
    /// that it is bound to, as a u32.
    Uevents,
    /// Client: write the directories of open files in debugfs anew.
    RefreshClients,
}

impl Call {
    const ALL: [Self; 23] = [
        Self::Open,
        Self::Ioctl,
        Self::DescriptorIoctl,
        Self::Map,
        Self::Inode,
        Self::Refresh,
        Self::Fdinfo,
        Self::Census,
        Self::Picture,
        Self::SwSync,
        Self::OpenStore,
        Self::Outcome,
        Self::Recover,
        Self::Interrupt,
        Self::Give,
        Self::Installed,
        Self::Done,
        Self::Fetch,
        Self::Install,
        Self::Welcome,
        Self::Memory,
        Self::Uevents,
        Self::RefreshClients,
    ];
}

/// A message between client and server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub struct Message {
    kind: u32,
    /// 0, or the errno of a failure.
    pub errno: i32,
    /// The number of the open file.
    pub file: u64,
    /// The arguments or results; [`Call`] describes them for each kind.
    pub words: [u64; 3],
}

impl Message {
    /// Creates a message without an errno.
    pub const fn new(call: Call, file: u64, words: [u64; 3]) -> Self {
        Self { kind: call as u32, errno: 0, file, words }
    }

    /// Creates an answer with an errno or a word.
    pub fn answer(call: Call, result: Result<u64, Errno>) -> Self {
        match result {
            Ok(word) => Self::new(call, 0, [word, 0, 0]),
            Err(errno) => Self { errno: errno as i32, ..Self::new(call, 0, [0; 3]) },
        }
    }

    /// Returns the kind of the message; `None` if this version does not know it.
    pub fn call(&self) -> Option<Call> {
        Call::ALL.into_iter().find(|call| *call as u32 == self.kind)
    }

    /// Returns the first word of an answer.
    ///
    /// # Errors
    ///
    /// The errno of the message, if it has one.
    pub fn result(&self) -> Result<u64, Errno> {
        if self.errno == 0 { Ok(self.words[0]) } else { Err(Errno::from_raw(self.errno)) }
    }
}

/// A control message with one descriptor, and the padding that `CMSG_SPACE` asks for.
#[repr(C)]
struct Control {
    head: libc::cmsghdr,
    descriptor: RawFd,
    padding: u32,
}

/// `CMSG_LEN(sizeof(int))`.
const CONTROL_USED: usize = size_of::<libc::cmsghdr>() + size_of::<RawFd>();

impl Control {
    const fn new(len: usize, descriptor: RawFd) -> Self {
        let head = libc::cmsghdr { cmsg_len: len, cmsg_level: libc::SOL_SOCKET, cmsg_type: libc::SCM_RIGHTS };
        Self { head, descriptor, padding: 0 }
    }
}

/// A message that was received, and its ancillary data.
#[derive(Debug)]
pub(crate) struct Arrived {
    pub(crate) message: Message,
    pub(crate) ancillary: Ancillary,
}

/// The ancillary data of a message: the descriptor that came with it.
#[derive(Debug)]
pub(crate) enum Ancillary {
    /// No descriptor was sent.
    Nothing,
    /// The descriptor.
    Descriptor(OwnedFd),
    /// A descriptor was sent that the kernel did not install: this process has no number left for it.
    Dropped,
}

impl Ancillary {
    /// Returns the descriptor, if one came.
    pub(crate) fn descriptor(self) -> Option<OwnedFd> {
        match self {
            Self::Descriptor(fd) => Some(fd),
            Self::Nothing | Self::Dropped => None,
        }
    }
}

/// Sends a message, whatever signals come.
///
/// # Errors
///
/// The errno of `sendmsg`: EPIPE when the peer is gone, EBADF when the descriptor beside it is not open.
pub(crate) fn send(to: BorrowedFd<'_>, message: &Message, ancillary: Option<RawFd>) -> Result<(), Errno> {
    let mut control = Control::new(CONTROL_USED, ancillary.unwrap_or(-1));
    let mut part =
        libc::iovec { iov_base: message.as_bytes().as_ptr().cast_mut().cast(), iov_len: size_of::<Message>() };
    let mut header = blank_header(&mut part);
    if ancillary.is_some() {
        header.msg_control = (&raw mut control).cast();
        header.msg_controllen = size_of::<Control>();
    }
    loop {
        // SAFETY: every address in `header` is that of a local that outlives the call, with its true length.
        let sent = unsafe { libc::sendmsg(to.as_raw_fd(), &raw const header, libc::MSG_NOSIGNAL) };
        match Errno::result(sent) {
            Err(Errno::EINTR) => {}
            other => return other.map(drop),
        }
    }
}

/// Receives a message, with `MSG_DONTWAIT` only what is already there.
///
/// Every descriptor that the kernel installs is owned by the result, or closed. There is room for one: with `CMSG_SPACE` instead of
/// `CMSG_LEN` the padding would be room for a second, which the kernel would fill (Linux 6.12 `net/core/scm.c`, `scm_max_fds`).
///
/// # Errors
///
/// ECONNRESET when the other side is gone, EPROTO when it sent something else than messages or more than one descriptor, and the
/// errno of `recvmsg`: EINTR when a signal came, EAGAIN when nothing is there. After EPROTO the connection is of no further use.
pub(crate) fn receive(from: BorrowedFd<'_>, flags: libc::c_int) -> Result<Arrived, Errno> {
    let mut control = Control::new(0, -1);
    let mut message = Message::default();
    let bytes = message.as_mut_bytes();
    let mut part = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    let mut header = blank_header(&mut part);
    header.msg_control = (&raw mut control).cast();
    header.msg_controllen = CONTROL_USED;
    // SAFETY: every address in `header` is that of a local that outlives the call, with its true length or less.
    let received = unsafe { libc::recvmsg(from.as_raw_fd(), &raw mut header, flags | libc::MSG_CMSG_CLOEXEC) };
    let received = Errno::result(received)?;
    let descriptor = descriptor(&control, header.msg_controllen);
    let ancillary = match (descriptor, header.msg_flags & libc::MSG_CTRUNC != 0) {
        (descriptor, false) => descriptor.map_or(Ancillary::Nothing, Ancillary::Descriptor),
        (None, true) => Ancillary::Dropped,
        // There were more; this one is closed.
        (Some(_), true) => return Err(Errno::EPROTO),
    };
    match received.unsigned_abs() {
        0 => Err(Errno::ECONNRESET),
        len if len == size_of::<Message>() && header.msg_flags & libc::MSG_TRUNC == 0 => {
            Ok(Arrived { message, ancillary })
        }
        _ => Err(Errno::EPROTO),
    }
}

/// Returns the descriptor in a control message of which the kernel has used so many bytes.
fn descriptor(control: &Control, used: usize) -> Option<OwnedFd> {
    if used < CONTROL_USED {
        return None;
    }
    let head = &control.head;
    if (head.cmsg_level, head.cmsg_type) != (libc::SOL_SOCKET, libc::SCM_RIGHTS) || head.cmsg_len < CONTROL_USED {
        return None;
    }
    // SAFETY: `recvmsg` has filled in `CONTROL_USED` bytes: a header that says SCM_RIGHTS, and one number, which it has installed
    // for this call. No other code knows the number, so nothing else closes it.
    Some(unsafe { OwnedFd::from_raw_fd(control.descriptor) })
}

fn blank_header(part: &mut libc::iovec) -> libc::msghdr {
    // SAFETY: null pointers and zero lengths are a valid `msghdr`; it has private padding on some systems, so it cannot be
    // written as a literal.
    let mut header: libc::msghdr = unsafe { MaybeUninit::zeroed().assume_init() };
    header.msg_iov = part;
    header.msg_iovlen = 1;
    header
}

#[cfg(test)]
mod tests {
    use std::{io::IoSlice, os::fd::AsFd};

    use nix::{
        poll::{PollFd, PollFlags, PollTimeout, poll},
        sys::socket::{AddressFamily, ControlMessage, MsgFlags, SockFlag, SockType, sendmsg, socketpair},
    };

    use super::*;

    fn pair() -> (OwnedFd, OwnedFd) {
        socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::SOCK_CLOEXEC).unwrap()
    }

    #[test]
    fn the_control_sizes_are_those_of_the_c_macros() {
        // SAFETY: arithmetic on a constant.
        assert_eq!(unsafe { libc::CMSG_SPACE(4) } as usize, size_of::<Control>());
        // SAFETY: arithmetic on a constant.
        assert_eq!(unsafe { libc::CMSG_LEN(4) } as usize, CONTROL_USED);
    }

    /// Sends a message with any number of descriptors, as a hostile peer would.
    fn send_with(to: &OwnedFd, bytes: &[u8], fds: &[RawFd]) {
        let rights = [ControlMessage::ScmRights(fds)];
        let parts = [IoSlice::new(bytes)];
        sendmsg::<()>(to.as_raw_fd(), &parts, &rights, MsgFlags::empty(), None).unwrap();
    }

    /// Returns `true` if nobody but the caller's pipe end has the other end open: all copies that were sent are closed.
    fn is_alone(reader: &OwnedFd) -> bool {
        let mut ready = [PollFd::new(reader.as_fd(), PollFlags::POLLIN)];
        poll(&mut ready, PollTimeout::ZERO).unwrap();
        ready[0].revents().unwrap().contains(PollFlags::POLLHUP)
    }

    #[test]
    fn a_message_arrives_with_its_descriptor() {
        let (a, b) = pair();
        let message = Message::new(Call::Ioctl, 7, [1, 2, 3]);
        send(a.as_fd(), &message, Some(b.as_raw_fd())).unwrap();
        let arrived = receive(b.as_fd(), 0).unwrap();
        assert_eq!((arrived.message, arrived.message.call()), (message, Some(Call::Ioctl)));
        assert!(matches!(arrived.ancillary, Ancillary::Descriptor(_)));
        send(a.as_fd(), &message, None).unwrap();
        assert!(matches!(receive(b.as_fd(), 0).unwrap().ancillary, Ancillary::Nothing));
    }

    #[test]
    fn more_descriptors_than_one_are_refused_and_none_stays_open() {
        for count in [2, 3, 4, 253] {
            let (a, b) = pair();
            let (reader, writer) = nix::unistd::pipe().unwrap();
            send_with(&a, Message::default().as_bytes(), &vec![writer.as_raw_fd(); count]);
            drop(writer);
            assert_eq!(receive(b.as_fd(), 0).unwrap_err(), Errno::EPROTO, "{count} descriptors");
            assert!(is_alone(&reader), "{count} descriptors: one is still open");
        }
    }

    #[test]
    fn descriptors_of_what_is_no_message_are_closed() {
        for (bytes, count) in [(&[0_u8; 3][..], 1), (&[0; 100], 1), (&[0; 100], 3), (&[0; 3], 2)] {
            let (a, b) = pair();
            let (reader, writer) = nix::unistd::pipe().unwrap();
            send_with(&a, bytes, &vec![writer.as_raw_fd(); count]);
            drop(writer);
            assert_eq!(receive(b.as_fd(), 0).unwrap_err(), Errno::EPROTO);
            assert!(is_alone(&reader), "{count} descriptors beside {} bytes", bytes.len());
        }
    }

    #[test]
    fn a_closed_descriptor_cannot_be_sent() {
        let (a, _b) = pair();
        assert_eq!(send(a.as_fd(), &Message::default(), Some(-1)), Err(Errno::EBADF));
    }

    #[test]
    fn what_is_no_message_is_refused() {
        let (a, b) = pair();
        nix::unistd::write(&a, b"hello").unwrap();
        assert_eq!(receive(b.as_fd(), 0).unwrap_err(), Errno::EPROTO);
        nix::unistd::write(&a, &[0; 100]).unwrap();
        assert_eq!(receive(b.as_fd(), 0).unwrap_err(), Errno::EPROTO);
        drop(a);
        assert_eq!(receive(b.as_fd(), 0).unwrap_err(), Errno::ECONNRESET);
    }
}
