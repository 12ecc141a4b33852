//! Events that the kernel sends to user space about devices (uevents), as far as they tell of stuck GPUs.
//!
//! A program receives them from a netlink socket of the protocol NETLINK_KOBJECT_UEVENT that is bound to the group 1; one datagram is
//! one event. It needs no rights for that.

use std::fmt::{self, Write as _};

/// The group of NETLINK_KOBJECT_UEVENT that has the kernel's own events.
pub const KERNEL_UEVENTS: u32 = 1;
/// The largest event in bytes.
///
/// Source: Linux 6.12 `include/linux/kobject.h`, `UEVENT_BUFFER_SIZE`.
pub const LONGEST_UEVENT: usize = 2048;

/// An event about a GPU that was stuck: its ring or the whole GPU was reset.
///
/// Source: Linux 7.2 `drm_drv.c`, `drm_dev_wedged_event`; `lib/kobject_uevent.c`, `kobject_uevent_env`.
///
/// ```
/// use amdgpu_uapi::WedgedEvent;
///
/// let path = "/devices/pci0000:03/0000:03:00.0/drm/card0".to_owned();
/// let event = WedgedEvent { path, methods: "none".to_owned(), process: Some((4711, "game".to_owned())) };
/// assert_eq!(event.to_string(), "the GPU was reset and works again; the job was of process 4711 (game)");
/// assert_eq!(WedgedEvent::parse(&event.to_message(0, 7)), Some(event));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WedgedEvent {
    /// The directory of the primary node below `/sys`. The directory of the PCI device is two levels above.
    pub path: String,
    /// The ways in which user space can recover the GPU, with commas: `none` if the kernel has recovered it, otherwise `rebind`,
    /// `bus-reset`, `vendor-specific` or `unknown`. amdgpu sends `none` only.
    pub methods: String,
    /// The number and the name of the thread that submitted the stuck job; `None` if the kernel does not know it, or is older than
    /// Linux 6.17.
    pub process: Option<(u32, String)>,
}

impl WedgedEvent {
    /// Returns the event in a datagram; `None` for events about anything else, and for what is none.
    pub fn parse(datagram: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(datagram);
        let mut parts = text.split('\0');
        parts.next().filter(|header| header.starts_with("change@/"))?;
        let (mut path, mut methods, mut pid, mut task, mut is_of_drm) = (None, None, None, None, false);
        for (key, value) in parts.filter_map(|part| part.split_once('=')) {
            match key {
                "DEVPATH" => path = Some(value),
                "SUBSYSTEM" => is_of_drm = value == "drm",
                "WEDGED" => methods = Some(value),
                "PID" => pid = value.parse().ok(),
                "TASK" => task = Some(value),
                _ => {}
            }
        }
        let process = pid.zip(task.map(str::to_owned));
        Some(Self { path: path?.to_owned(), methods: methods.filter(|_| is_of_drm)?.to_owned(), process })
    }

    /// Returns the datagram of the event as the kernel sends it, for the primary node with this minor number. Events of a machine have
    /// rising numbers.
    pub fn to_message(&self, minor: u32, number: u64) -> Vec<u8> {
        let Self { path, methods, process } = self;
        let mut text = format!("change@{path}\0ACTION=change\0DEVPATH={path}\0SUBSYSTEM=drm\0WEDGED={methods}\0");
        if let Some((pid, task)) = process {
            // Writing to a string cannot fail.
            let _ = write!(text, "PID={pid}\0TASK={task}\0");
        }
        let node = format!("MAJOR=226\0MINOR={minor}\0DEVNAME=dri/card{minor}\0DEVTYPE=drm_minor\0SEQNUM={number}\0");
        (text + &node).into_bytes()
    }

    /// Returns `true` if the GPU works again without help of user space.
    pub fn is_recovered(&self) -> bool {
        self.methods == "none"
    }

    /// Returns `true` if the event is about the GPU with this PCI address, such as `0000:03:00.0`.
    pub fn is_of(&self, pci: &str) -> bool {
        self.path.rsplit('/').nth(2) == Some(pci)
    }
}

impl fmt::Display for WedgedEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_recovered() {
            f.write_str("the GPU was reset and works again")?;
        } else {
            write!(f, "the GPU is stuck, and needs: {}", self.methods)?;
        }
        match &self.process {
            Some((pid, name)) => write!(f, "; the job was of process {pid} ({name})"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event() -> WedgedEvent {
        let path = "/devices/pci0000:00/0000:00:01.1/0000:c2:00.0/drm/card1".to_owned();
        WedgedEvent { path, methods: "none".to_owned(), process: Some((20411, "game.exe".to_owned())) }
    }

    #[test]
    fn an_event_has_the_keys_of_the_kernel_in_their_order() {
        let expected = "change@/devices/pci0000:00/0000:00:01.1/0000:c2:00.0/drm/card1\0ACTION=change\0\
                        DEVPATH=/devices/pci0000:00/0000:00:01.1/0000:c2:00.0/drm/card1\0SUBSYSTEM=drm\0WEDGED=none\0\
                        PID=20411\0TASK=game.exe\0MAJOR=226\0MINOR=1\0DEVNAME=dri/card1\0DEVTYPE=drm_minor\0SEQNUM=99\0";
        assert_eq!(String::from_utf8(event().to_message(1, 99)).unwrap(), expected);
        assert_eq!(WedgedEvent::parse(expected.as_bytes()), Some(event()));
        assert!(event().is_of("0000:c2:00.0") && !event().is_of("0000:00:01.1"));
    }

    #[test]
    fn an_event_without_a_process_names_none() {
        let event = WedgedEvent { process: None, ..event() };
        let message = event.to_message(1, 99);
        assert!(!message.windows(4).any(|word| word == b"PID="));
        assert_eq!(WedgedEvent::parse(&message), Some(event.clone()));
        assert_eq!(event.to_string(), "the GPU was reset and works again");
        let helpless = WedgedEvent { methods: "rebind,bus-reset".to_owned(), ..event };
        assert_eq!(helpless.to_string(), "the GPU is stuck, and needs: rebind,bus-reset");
    }

    #[test]
    fn other_datagrams_tell_of_no_stuck_gpu() {
        let good = String::from_utf8(event().to_message(1, 99)).unwrap();
        for (from, to) in [
            ("change@", "add@"),
            ("SUBSYSTEM=drm", "SUBSYSTEM=usb"),
            ("WEDGED=none", "HOTPLUG=1"),
            ("DEVPATH=", "PATH="),
        ] {
            assert_eq!(WedgedEvent::parse(good.replace(from, to).as_bytes()), None, "{from}");
        }
        for other in [&b""[..], b"libudev\0\xfe\xed\xca\xfe", b"change@", &[0; 64], &[0xff; 64]] {
            assert_eq!(WedgedEvent::parse(other), None);
        }
        let strange = good.replace("PID=20411", "PID=-1");
        assert_eq!(WedgedEvent::parse(strange.as_bytes()).unwrap().process, None);
    }
}
