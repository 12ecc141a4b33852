//! Events of the kernel, and the carve-out of an APU.

use std::{
    fs,
    io::IoSliceMut,
    os::fd::{AsFd as _, AsRawFd as _, OwnedFd},
    time::{Duration, Instant},
};

use amdgpu_winsys::uapi::{KERNEL_UEVENTS, LONGEST_UEVENT, WedgedEvent};
use nix::{
    cmsg_space,
    errno::Errno,
    poll::{PollFd, PollFlags, PollTimeout, poll},
    sys::socket::{
        AddressFamily, ControlMessageOwned, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, UnixCredentials,
        bind, getsockname, recv, recvmsg, setsockopt, socket,
        sockopt::{PassCred, RcvBuf},
    },
};

use crate::hangs;

/// The group of udevd's events.
const UDEV_EVENTS: u32 = 2;

fn open() -> OwnedFd {
    let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
    socket(AddressFamily::Netlink, SockType::Raw, flags, SockProtocol::NetlinkKObjectUEvent).expect("a socket")
}

/// Waits until a socket can be read; `false` if that takes too long.
fn is_readable(socket: &OwnedFd, time: Duration) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < time {
        let mut state = [PollFd::new(socket.as_fd(), PollFlags::POLLIN)];
        if poll(&mut state, PollTimeout::from(100_u8)) == Ok(1) {
            return true;
        }
    }
    false
}

/// Receives the event that udevd makes of the kernel's.
fn expect_of_udevd(socket: &OwnedFd, event: &[u8]) {
    assert!(is_readable(socket, Duration::from_secs(30)), "no event for libudev");
    let (mut bytes, mut control) = ([0; LONGEST_UEVENT], cmsg_space!(UnixCredentials));
    let mut parts = [IoSliceMut::new(&mut bytes)];
    let received = recvmsg::<NetlinkAddr>(socket.as_raw_fd(), &mut parts, Some(&mut control), MsgFlags::empty());
    let received = received.expect("an event for libudev");
    assert_eq!(received.address.expect("an address").groups(), UDEV_EVENTS);
    let mut beside = received.cmsgs().expect("control messages");
    let Some(ControlMessageOwned::ScmCredentials(credentials)) = beside.next() else { panic!("no credentials") };
    assert_eq!(credentials.uid(), 0, "root's");
    let len = received.bytes;
    let properties = event.iter().position(|&byte| byte == 0).map(|end| &event[end + 1..]);
    assert!(bytes.starts_with(b"libudev\0\xfe\xed\xca\xfe"), "{:?}", &bytes[..len]);
    assert_eq!(Some(&bytes[40..len]), properties);
}

/// A job times out while sockets listen, as those of libudev do. What they hear is `nothing`, of a `reset`, or of its `culprit`.
pub(crate) fn uevents(arguments: &[String]) {
    let told = arguments.first().map_or("", String::as_str);
    let (listening, udev, unbound) = (open(), open(), open());
    bind(listening.as_raw_fd(), &NetlinkAddr::new(0, KERNEL_UEVENTS)).expect("a group");
    setsockopt(&udev, PassCred, &true).expect("credentials");
    bind(udev.as_raw_fd(), &NetlinkAddr::new(0, UDEV_EVENTS)).expect("a group");
    assert_eq!(bind(listening.as_raw_fd(), &nix::sys::socket::UnixAddr::new("/x").unwrap()), Err(Errno::EINVAL));
    let own: NetlinkAddr = getsockname(listening.as_raw_fd()).expect("an address");
    assert_eq!(own.pid(), std::process::id());
    setsockopt(&listening, PassCred, &true).expect("credentials");
    setsockopt(&listening, RcvBuf, &(1 << 20)).expect("a buffer");
    assert_eq!(recv(listening.as_raw_fd(), &mut [0; 16], MsgFlags::empty()), Err(Errno::EAGAIN));
    hangs::hang(&["waits".to_owned()]);
    if told == "nothing" {
        assert!(!is_readable(&listening, Duration::from_secs(1)), "an event");
        return;
    }
    assert!(is_readable(&listening, Duration::from_secs(30)), "no event");
    let len = recv(listening.as_raw_fd(), &mut [], MsgFlags::MSG_PEEK | MsgFlags::MSG_TRUNC).expect("a length");
    let (mut bytes, mut control) = ([0; LONGEST_UEVENT], cmsg_space!(UnixCredentials));
    let mut parts = [IoSliceMut::new(&mut bytes)];
    let received = recvmsg::<NetlinkAddr>(listening.as_raw_fd(), &mut parts, Some(&mut control), MsgFlags::empty());
    let received = received.expect("an event");
    assert_eq!(received.bytes, len);
    let from = received.address.expect("an address");
    assert_eq!((from.pid(), from.groups()), (0, KERNEL_UEVENTS), "the kernel's");
    let mut beside = received.cmsgs().expect("control messages");
    let Some(ControlMessageOwned::ScmCredentials(credentials)) = beside.next() else { panic!("no credentials") };
    assert_eq!((credentials.uid(), credentials.pid()), (0, 0), "the kernel's");
    let event = WedgedEvent::parse(&bytes[..len]).expect("the event of a reset");
    assert!(event.is_recovered() && event.is_of("0000:03:00.0"), "{event:?}");
    assert!(fs::metadata(format!("/sys{}", event.path)).is_ok_and(|about| about.is_dir()), "{event:?}");
    let culprit = (told == "culprit").then(|| (std::process::id(), "guest".to_owned()));
    assert_eq!(event.process, culprit);
    expect_of_udevd(&udev, &event.to_message(0, 1));
    let later = open();
    bind(later.as_raw_fd(), &NetlinkAddr::new(0, KERNEL_UEVENTS)).expect("a group");
    for socket in [&listening, &udev, &unbound, &later] {
        assert!(!is_readable(socket, Duration::from_millis(500)), "one event for those that listened");
    }
}

/// The carve-out of the next start is chosen; the present one stays.
pub(crate) fn carve_out() {
    let file = |name: &str| format!("/sys/class/drm/card0/device/{name}");
    let read = |name: &str| fs::read_to_string(file(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    let options = read("uma/carveout_options");
    assert!(options.starts_with("0: Minimum (") && options.lines().count() > 2, "{options}");
    let (chosen, memory) = (read("uma/carveout"), read("mem_info_vram_total"));
    let other = if chosen == "1\n" { "2\n" } else { "1\n" };
    fs::write(file("uma/carveout"), other).expect("an option");
    assert_eq!((read("uma/carveout").as_str(), read("mem_info_vram_total")), (other, memory));
    for wrong in ["99", "none"] {
        assert_eq!(fs::write(file("uma/carveout"), wrong).unwrap_err().raw_os_error(), Some(libc::EINVAL), "{wrong}");
    }
    assert_eq!(read("uma/carveout"), other);
}
