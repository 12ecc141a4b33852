//! Events of the kernel for user space, as `udevadm monitor --property` prints them and as netlink sends them.

use super::{
    line::{Bus, Stamp},
    message::{Process, short},
};

/// An event about a device that is wedged.
#[derive(Debug, PartialEq)]
pub(crate) struct Wedged {
    /// The GPU.
    pub(crate) gpu: Option<Bus>,
    /// The process whose job hung.
    pub(crate) process: Option<Process>,
    /// The ways of recovery.
    pub(crate) methods: String,
    /// The time.
    pub(crate) stamp: Option<Stamp>,
}

/// A reader of events.
#[derive(Debug, Default)]
pub(crate) struct Uevents {
    stamp: Option<Stamp>,
    gpu: Option<Bus>,
    methods: Option<String>,
    pid: Option<u32>,
    task: Option<String>,
}

impl Uevents {
    /// Reads a line. Returns `true` if it is of an event, and the event before if the line begins another one.
    pub(crate) fn line(&mut self, line: &str) -> (bool, Option<Wedged>) {
        let is_header = line.starts_with("KERNEL[") || line.starts_with("UDEV ") || line.starts_with("change@");
        if is_header {
            let before = self.end();
            let seconds =
                line.split_once('[').and_then(|(_, rest)| rest.split(']').next()).and_then(|time| time.parse().ok());
            self.stamp = seconds.map(Stamp::boot);
            self.path(line);
            return (true, before);
        }
        let Some((name, value)) = line.split_once('=') else { return (false, None) };
        match name {
            "DEVPATH" => self.path(value),
            "WEDGED" => self.methods = Some(short(value)),
            "PID" => self.pid = value.parse().ok(),
            "TASK" => self.task = Some(short(value)),
            _ => return (false, None),
        }
        (true, None)
    }

    /// Takes the GPU from a path in sysfs: the last device on it.
    fn path(&mut self, path: &str) {
        self.gpu = path.split(['/', ' ', '\0']).filter_map(Bus::parse).next_back().or(self.gpu);
    }

    /// Returns the event that the lines before describe.
    pub(crate) fn end(&mut self) -> Option<Wedged> {
        let Self { stamp, gpu, methods, pid, task } = std::mem::take(self);
        let process = pid.map(|pid| Process { name: task.unwrap_or_default(), pid, thread: String::new() });
        Some(Wedged { gpu, process, methods: methods?, stamp })
    }
}

/// The state of a device after the event.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It works again, or always did: there is nothing to do.
    Recovered,
    /// It does not work, and user space may recover it in these ways.
    Offered(String),
    /// The event does not tell.
    Untold,
}

impl Wedged {
    /// Returns the state of the device.
    ///
    /// Source: Linux `Documentation/gpu/drm-uapi.rst`, "Device Wedging", and `drm_dev_wedged_event`, which writes `unknown` where
    /// the driver names no way, and never an empty value.
    pub(crate) fn outcome(&self) -> Outcome {
        let mut methods = self.methods.split(',').map(str::trim).filter(|method| !method.is_empty());
        match methods.clone().next() {
            None => Outcome::Untold,
            Some(_) if methods.any(|method| method == "none") => Outcome::Recovered,
            Some(_) => Outcome::Offered(self.methods.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_read_to_its_end() {
        let mut events = Uevents::default();
        let text = "KERNEL[5120.118815] change   /devices/pci0000:00/0000:00:01.1/0000:03:00.0/drm/card1 (drm)\nACTION=change\n\
                    DEVPATH=/devices/pci0000:00/0000:00:01.1/0000:03:00.0/drm/card1\nSUBSYSTEM=drm\nWEDGED=none\nPID=20411\nTASK=game.exe";
        text.lines().for_each(|line| assert_eq!(events.line(line).1, None));
        let event = events.end().unwrap();
        assert_eq!(event.outcome(), Outcome::Recovered);
        assert_eq!((event.gpu, event.process.unwrap().pid), (Bus::parse("0000:03:00.0"), 20411));
        assert_eq!(events.end(), None);
    }
}
