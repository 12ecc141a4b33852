//! Events of the kernel about resets of a GPU during a check.

use std::{
    borrow::Cow,
    os::fd::{AsRawFd as _, OwnedFd},
};

use amdgpu_sim::SimDevice;
use amdgpu_winsys::uapi::{KERNEL_UEVENTS, LONGEST_UEVENT, WedgedEvent};
use nix::{
    errno::Errno,
    sys::socket::{AddressFamily, NetlinkAddr, SockFlag, SockProtocol, SockType, bind, recvfrom, socket},
};

/// The maximum number of events that are kept for one check.
const MOST: usize = 50;

/// A reader of the kernel's events about resets. Linux sends them from 6.15 on, to any process that listens.
#[derive(Debug)]
pub(crate) enum Resets {
    /// There is nothing to listen to, for this reason.
    None(Cow<'static, str>),
    /// A socket, and the PCI address of the GPU if it is known.
    Socket(OwnedFd, Option<String>),
    /// A simulated GPU, and the number of the last event.
    Simulated(SimDevice, u64),
}

impl Resets {
    /// Creates a reader without a GPU.
    pub(crate) const fn none() -> Self {
        Self::None(Cow::Borrowed("no GPU"))
    }

    /// Starts listening to the events of the GPU at this PCI address, or of all GPUs.
    pub(crate) fn open(pci: Option<String>) -> Self {
        let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
        let opened = socket(AddressFamily::Netlink, SockType::Raw, flags, SockProtocol::NetlinkKObjectUEvent);
        let bound = opened.and_then(|socket| {
            bind(socket.as_raw_fd(), &NetlinkAddr::new(0, KERNEL_UEVENTS))?;
            Ok(socket)
        });
        match bound {
            Ok(socket) => Self::Socket(socket, pci),
            Err(errno) => Self::None(Cow::Owned(errno.desc().to_owned())),
        }
    }

    /// Starts listening to the events of a simulated GPU.
    pub(crate) fn of(device: &SimDevice) -> Self {
        let last = device.machine().uevents_after(0).last().map_or(0, |event| event.number);
        Self::Simulated(device.clone(), last)
    }

    /// Returns the reason why nothing is heard, if so.
    pub(crate) fn trouble(&self) -> Option<&str> {
        if let Self::None(reason) = self { Some(reason) } else { None }
    }

    /// Returns the events since the last call, the first [`MOST`] of them.
    pub(crate) fn read(&mut self) -> Vec<WedgedEvent> {
        match self {
            Self::None(_) => Vec::new(),
            Self::Socket(socket, pci) => {
                let mut found = Vec::new();
                let mut datagram = [0; 2 * LONGEST_UEVENT];
                while found.len() < MOST {
                    match recvfrom::<NetlinkAddr>(socket.as_raw_fd(), &mut datagram) {
                        // Only the kernel has the address 0.
                        Ok((len, Some(from))) if from.pid() == 0 => {
                            let event = datagram.get(..len).and_then(WedgedEvent::parse);
                            found.extend(event.filter(|event| pci.as_deref().is_none_or(|pci| event.is_of(pci))));
                        }
                        // Events were lost, or a signal came.
                        Ok(_) | Err(Errno::ENOBUFS | Errno::EINTR) => {}
                        Err(_) => break,
                    }
                }
                found
            }
            Self::Simulated(device, last) => {
                let pci = device.place().pci().to_string();
                let new = device.machine().uevents_after(*last);
                *last = new.last().map_or(*last, |event| event.number);
                let events = new.iter().filter_map(|event| WedgedEvent::parse(&event.message));
                events.filter(|event| event.is_of(&pci)).take(MOST).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use amdgpu_sim::{KernelRelease, SimOptions, profile};

    use super::*;

    #[test]
    fn events_of_the_own_gpu_are_reported_once_and_earlier_ones_are_left_out() {
        let [own, other] = [0, 1].map(|index| SimOptions {
            place: amdgpu_sim::sysfs::Place::new(index).unwrap(),
            ..SimOptions::of_kernel(KernelRelease::V7_2)
        });
        let device = SimDevice::new(profile("navi21").unwrap(), own);
        let other = device.machine().add(profile("navi31").unwrap(), other);
        device.reset();
        let mut resets = Resets::of(&device);
        assert_eq!(resets.read(), []);
        device.reset();
        other.reset();
        assert_eq!(
            resets.read().iter().map(ToString::to_string).collect::<Vec<_>>(),
            ["the GPU was reset and works again"]
        );
        assert_eq!(resets.read(), []);
    }

    #[test]
    fn a_quiet_socket_has_no_events() {
        let mut resets = Resets::open(Some("0000:03:00.0".to_owned()));
        // In a container there may be no such sockets.
        assert!(matches!(resets, Resets::Socket(..)) != resets.trouble().is_some());
        assert_eq!(resets.read(), []);
        assert_eq!((Resets::none().trouble(), Resets::none().read()), (Some("no GPU"), Vec::new()));
    }
}
