//! Sockets on which clients listen to the kernel's events.
//!
//! The client's end stands for a netlink socket; the preload library makes it look like one.

use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};

use amdgpu_sim::Uevent;
use amdgpu_uapi::KERNEL_UEVENTS;
use nix::{
    errno::Errno,
    poll::{PollFd, PollFlags, PollTimeout, poll},
    sys::socket::{AddressFamily, MsgFlags, SockFlag, SockType, UnixAddr, bind, recv, send, socketpair},
};
use parking_lot::Mutex;

use super::udev::{UDEV_EVENTS, udev_event};
use crate::name::uevent_socket_name;

/// The maximum number of sockets in a world.
const MOST: usize = 256;

/// A socket.
#[derive(Debug)]
struct Listener {
    end: OwnedFd,
    /// The groups that the client has bound it to.
    groups: u32,
    /// The number of the last event before the socket was opened, or that it was told of.
    last: u64,
}

/// The sockets of a world.
#[derive(Debug, Default)]
pub(crate) struct Listeners(Mutex<Vec<Listener>>);

impl Listeners {
    /// Opens a socket that hears the events after the last one; returns the client's end.
    ///
    /// # Errors
    ///
    /// ENFILE if there are too many.
    pub(crate) fn open(&self, world: &str, last: u64) -> Result<OwnedFd, Errno> {
        let mut open = self.0.lock();
        open.retain(|listener| !is_closed(listener));
        if open.len() >= MOST {
            return Err(Errno::ENFILE);
        }
        let (end, theirs) = socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::SOCK_CLOEXEC)?;
        bind(theirs.as_raw_fd(), &UnixAddr::new_abstract(&uevent_socket_name(world))?)?;
        open.push(Listener { end, groups: 0, last });
        Ok(theirs)
    }

    /// Tells all sockets of events. A client that does not read loses them, as on Linux.
    pub(crate) fn tell(&self, events: &[Uevent]) {
        let Some(newest) = events.last() else { return };
        let mut open = self.0.lock();
        open.retain(|listener| !is_closed(listener));
        for listener in &mut *open {
            listener.read_groups();
            let flags = MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_NOSIGNAL;
            for event in events.iter().filter(|event| event.number > listener.last) {
                if listener.groups & KERNEL_UEVENTS != 0 {
                    let _ = send(listener.end.as_raw_fd(), &event.message, flags);
                }
                if listener.groups & UDEV_EVENTS != 0 {
                    let _ = send(listener.end.as_raw_fd(), &udev_event(&event.message), flags);
                }
            }
            listener.last = newest.number.max(listener.last);
        }
    }

    /// Returns `true` if a client may listen.
    pub(crate) fn is_any(&self) -> bool {
        !self.0.lock().is_empty()
    }
}

impl Listener {
    /// Reads the masks of groups that the client has written.
    fn read_groups(&mut self) {
        let mut word = [0; 4];
        while recv(self.end.as_raw_fd(), &mut word, MsgFlags::MSG_DONTWAIT) == Ok(word.len()) {
            self.groups |= u32::from_ne_bytes(word);
        }
    }
}

/// Returns `true` if no client has the other end any more.
fn is_closed(listener: &Listener) -> bool {
    let mut state = [PollFd::new(listener.end.as_fd(), PollFlags::empty())];
    let _ = poll(&mut state, PollTimeout::ZERO);
    state[0].revents().is_some_and(|events| events.intersects(PollFlags::POLLHUP | PollFlags::POLLERR))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(number: u64) -> Uevent {
        let device = amdgpu_sim::SimDevice::new(
            amdgpu_sim::profile("navi21").unwrap(),
            amdgpu_sim::SimOptions::of_kernel(amdgpu_sim::KernelRelease::V7_2),
        );
        (0..number).for_each(|_| device.reset());
        device.machine().uevents_after(number - 1).pop().unwrap()
    }

    fn heard(socket: &OwnedFd) -> usize {
        let mut room = [0; 2048];
        let flags = MsgFlags::MSG_DONTWAIT;
        std::iter::from_fn(|| recv(socket.as_raw_fd(), &mut room, flags).ok().filter(|&len| len > 0)).count()
    }

    #[test]
    fn only_bound_sockets_hear_and_only_what_comes_after_their_opening() {
        let listeners = Listeners::default();
        assert!(!listeners.is_any());
        let [unbound, other, bound, both] = [(); 4].map(|()| listeners.open("world", 1).unwrap());
        for (socket, groups) in [(&other, 4_u32), (&bound, 1), (&both, 3)] {
            nix::unistd::write(socket, &groups.to_ne_bytes()).unwrap();
        }
        let (first, second) = (event(1), event(2));
        listeners.tell(&[first.clone(), second.clone()]);
        assert_eq!([&unbound, &other, &bound, &both].map(heard), [0, 0, 1, 2]);
        listeners.tell(&[first, second]);
        assert_eq!(heard(&bound), 0, "once");
        drop((unbound, other, bound, both));
        listeners.tell(&[event(3)]);
        assert!(!listeners.is_any(), "closed sockets are forgotten");
    }

    #[test]
    fn a_world_has_a_number_of_sockets_at_most_and_a_closed_one_makes_room() {
        let listeners = Listeners::default();
        let mut open: Vec<_> = (0..MOST).map(|_| listeners.open("world", 0).unwrap()).collect();
        assert_eq!(listeners.open("world", 0).unwrap_err(), Errno::ENFILE);
        open.pop();
        listeners.open("world", 0).unwrap();
    }
}
