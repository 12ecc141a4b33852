//! Events for user space about the devices of a machine (uevents).

use std::collections::VecDeque;

use parking_lot::Mutex;

/// The maximum number of stored events.
const MOST: usize = 256;

/// An event that the kernel has sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uevent {
    /// The number of the event (SEQNUM). The first one of a machine has the number 1.
    pub number: u64,
    /// The datagram that sockets of NETLINK_KOBJECT_UEVENT receive.
    pub message: Vec<u8>,
}

/// The events of a machine.
#[derive(Debug, Default)]
pub(crate) struct Uevents {
    sent: Mutex<Sent>,
}

#[derive(Debug, Default)]
struct Sent {
    count: u64,
    last: VecDeque<Uevent>,
}

impl Uevents {
    /// Sends an event, which is made with its number.
    pub(crate) fn send(&self, message: impl FnOnce(u64) -> Vec<u8>) {
        let mut sent = self.sent.lock();
        sent.count += 1;
        let number = sent.count;
        sent.last.push_back(Uevent { number, message: message(number) });
        if sent.last.len() > MOST {
            sent.last.pop_front();
        }
    }

    /// Returns the events with higher numbers than this one, the oldest first.
    pub(crate) fn after(&self, number: u64) -> Vec<Uevent> {
        self.sent.lock().last.iter().filter(|event| event.number > number).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_numbered_and_the_oldest_are_forgotten() {
        let events = Uevents::default();
        assert_eq!(events.after(0), []);
        for _ in 0..MOST + 2 {
            events.send(|number| number.to_string().into_bytes());
        }
        let kept = events.after(0);
        assert_eq!((kept.len(), kept[0].number), (MOST, 3));
        assert_eq!(events.after(MOST as u64 + 1), [Uevent { number: 258, message: b"258".to_vec() }]);
    }
}
