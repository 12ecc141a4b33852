//! The fences of user queues as values in memory: a slot for each queue, which every process can read and only its queue writes.
//!
//! Source: Linux 6.17 `amdgpu_seq64.c`; `amdgpu_userq_fence.c`, `amdgpu_userq_fence_driver_alloc` and
//! `amdgpu_userq_fence_driver_process`.

use std::{
    sync::{Arc, Weak},
    time::Instant,
};

use amdgpu_uapi::Errno;
use parking_lot::Mutex;

use crate::kernel::{
    process::ids::Ids,
    sync::{
        events::Events,
        fence::Fence,
        number::{BYTES, Number},
    },
};

/// The size of the address range with slots in bytes (`AMDGPU_VA_RESERVED_SEQ64_SIZE`).
const WINDOW: u64 = 2 << 20;

/// The slots of a device.
#[derive(Debug)]
pub(crate) struct Slots(Mutex<Ids<Weak<Number>>>);

impl Default for Slots {
    fn default() -> Self {
        Self(Mutex::new(Ids::new((WINDOW / BYTES) as u32)))
    }
}

impl Slots {
    /// Reserves a slot with the value 0.
    ///
    /// # Errors
    ///
    /// ENOMEM if all slots are in use.
    pub(crate) fn take(&self) -> Result<Slot, Errno> {
        let mut numbers = self.0.lock();
        let gone: Vec<u32> =
            numbers.iter().filter(|(_, number)| number.strong_count() == 0).map(|(id, _)| id).collect();
        for id in gone {
            numbers.remove(id);
        }
        let id = numbers.insert(Weak::new()).map_err(|_| Errno::ENOMEM)?;
        let number = Arc::new(Number::new(id));
        // The place was just reserved.
        let _ = numbers.replace(id, Arc::downgrade(&number));
        Ok(Slot { number, pending: Mutex::default() })
    }

    /// Reads bytes of the slots; unused slots read as zero. Returns `false` if the range is beyond the slots.
    pub(crate) fn read(&self, offset: u64, out: &mut [u8]) -> bool {
        if offset.checked_add(out.len() as u64).is_none_or(|end| end > WINDOW) {
            return false;
        }
        let value_of = |index: u64| {
            let number = self.0.lock().get(index as u32 + 1).and_then(Weak::upgrade);
            number.map_or(0, |number| number.value())
        };
        let (mut at, mut word) = (offset, (u64::MAX, [0; 8]));
        for byte in out {
            if word.0 != at / BYTES {
                word = (at / BYTES, value_of(at / BYTES).to_le_bytes());
            }
            *byte = word.1[(at % BYTES) as usize];
            at += 1;
        }
        true
    }
}

/// The fences of a queue.
#[derive(Debug)]
pub(crate) struct Slot {
    number: Arc<Number>,
    pending: Mutex<Vec<Pending>>,
}

/// A fence that has not signalled.
#[derive(Debug)]
struct Pending {
    value: u64,
    since: Instant,
    fence: Arc<Fence>,
}

impl Slot {
    /// Creates a fence that signals once the slot has at least this value.
    pub(crate) fn fence(&self, value: u64, events: &Arc<Events>, owner: u64) -> Arc<Fence> {
        let fence = Fence::of_number(events, owner, &self.number, value);
        let mut pending = self.pending.lock();
        // `write` first stores the value and then checks the fences under the lock.
        if self.number.value() >= value {
            drop(pending);
            fence.signal(Ok(()));
        } else {
            pending.push(Pending { value, since: Instant::now(), fence: Arc::clone(&fence) });
        }
        fence
    }

    /// Stores the value that the queue has reached.
    pub(crate) fn write(&self, value: u64) {
        self.number.set(value);
        self.end(Ok(()), |pending| pending.value <= value);
    }

    /// Ends all pending fences with an error.
    pub(crate) fn cancel(&self) {
        self.end(Err(Errno::ECANCELED), |_| true);
    }

    fn end(&self, outcome: Result<(), Errno>, is_over: impl Fn(&Pending) -> bool) {
        let over: Vec<_> = self.pending.lock().extract_if(.., |pending| is_over(pending)).collect();
        for Pending { fence, .. } in over {
            fence.signal(outcome);
        }
    }

    /// Returns the creation time of the oldest pending fence.
    pub(crate) fn waits_since(&self) -> Option<Instant> {
        self.pending.lock().iter().map(|pending| pending.since).min()
    }

    /// Returns `true` if all fences have signalled.
    pub(crate) fn is_idle(&self) -> bool {
        self.pending.lock().is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_signals_at_its_value_and_not_before() {
        let (slots, events) = (Slots::default(), Arc::default());
        let slot = slots.take().unwrap();
        let [five, nine] = [5, 9].map(|value| slot.fence(value, &events, 1));
        slot.write(4);
        assert!(!five.is_signalled());
        slot.write(8);
        assert!(five.is_signalled() && !nine.is_signalled());
        assert!(slot.fence(8, &events, 1).is_signalled(), "it was there already");
        slot.cancel();
        assert_eq!(nine.outcome(), Some(Err(Errno::ECANCELED)));
    }

    #[test]
    fn slots_are_read_where_they_lie_and_are_free_when_nothing_knows_them() {
        let slots = Slots::default();
        let (first, second) = (slots.take().unwrap(), slots.take().unwrap());
        second.write(0x0102_0304_0506_0708);
        let mut out = [9; 10];
        assert!(slots.read(7, &mut out));
        assert_eq!(out, [0, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
        assert!(!slots.read(WINDOW - 9, &mut out));
        assert_eq!(second.number.address(0x1000).as_u64(), 0x1008);
        drop(first);
        assert_eq!(slots.take().unwrap().number.address(0).as_u64(), 0);
    }
}
