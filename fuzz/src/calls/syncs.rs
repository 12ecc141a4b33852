//! Sync objects.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use amdgpu_winsys_c::{border::*, objects::*};

use super::{
    Life, REFUSED,
    handles::{Facts, Picked, State},
    perhaps,
};

impl Life {
    /// Notes the state of a sync object, unless another object may change it.
    pub(super) fn set_state(&mut self, picked: Picked<agw_sync>, new: State) {
        if let Some(Facts::Sync(state)) = self.objects.facts(picked)
            && *state != State::Shared
        {
            *state = new;
        }
    }

    pub(super) fn state(&mut self, picked: Picked<agw_sync>) -> State {
        match self.objects.facts(picked) {
            Some(Facts::Sync(state)) => *state,
            _ => State::Unknown,
        }
    }

    pub(super) fn sync(&mut self, function: u8, a: u8, b: u8, c: u8) {
        let picked: Picked<agw_sync> = self.objects.pick(a);
        let (handle, is_good) = (picked.handle, picked.is_good());
        let point = u64::from(b % 4);
        match function {
            0 | 1 => {
                let device: Picked<agw_device> = self.objects.pick(a);
                let signalled = b.is_multiple_of(2);
                let of = self.objects.device_of(device);
                self.make(
                    "agw_sync_create",
                    of,
                    &[AGW_SUCCESS],
                    |_| Facts::Sync(State::Known(signalled)),
                    |sync| {
                        // SAFETY: a handle of this life, and a place for the new one.
                        unsafe { agw_sync_create(device.handle, signalled, sync) }
                    },
                );
            }
            2 => {
                // SAFETY: a handle of this life.
                let result = unsafe { agw_sync_signal(handle, point) };
                self.objects.judge("agw_sync_signal", result, is_good, &perhaps());
                let is_binary = point == 0 && result == AGW_SUCCESS;
                self.set_state(picked, if is_binary { State::Known(true) } else { State::Unknown });
            }
            3 => {
                // SAFETY: as above.
                let result = unsafe { agw_sync_reset(handle) };
                self.objects.judge("agw_sync_reset", result, is_good, &perhaps());
                self.set_state(picked, if result == AGW_SUCCESS { State::Known(false) } else { State::Unknown });
            }
            4 => self.wait(a, b, c),
            5 => {
                let (mut reached, mut submitted) = (u64::MAX, u64::MAX);
                // SAFETY: as above, and places of this function.
                unsafe {
                    let result = agw_sync_query(handle, &raw mut reached);
                    self.objects.judge("agw_sync_query", result, is_good, &perhaps());
                    let result = agw_sync_last_submitted(handle, &raw mut submitted);
                    self.objects.judge("agw_sync_last_submitted", result, is_good, &perhaps());
                }
                assert!(reached <= submitted, "{reached} was reached, and {submitted} submitted");
                // SAFETY: as above.
                assert_eq!(unsafe { agw_sync_handle(handle) } == 0, !is_good);
            }
            6 => {
                let from: Picked<agw_sync> = self.objects.pick(b);
                let is_foreign = self.objects.device_of(picked) != self.objects.device_of(from);
                // SAFETY: handles of this life.
                let result = unsafe { agw_sync_transfer(handle, u64::from(c % 3), from.handle, u64::from(c / 3 % 3)) };
                let fitting = if is_foreign { REFUSED.to_vec() } else { perhaps() };
                self.objects.judge("agw_sync_transfer", result, is_good && from.is_good(), &fitting);
                if result == AGW_SUCCESS {
                    self.set_state(picked, State::Unknown);
                }
            }
            7 => {
                let other: Picked<agw_sync> = self.objects.pick(b);
                let is_foreign = self.objects.device_of(picked) != self.objects.device_of(other);
                // SAFETY: handles of this life, which one thread uses.
                let result = unsafe { agw_sync_swap(handle, other.handle) };
                let fitting = if is_foreign { &REFUSED[..] } else { &[AGW_SUCCESS][..] };
                self.objects.judge("agw_sync_swap", result, is_good && other.is_good(), fitting);
                if result == AGW_SUCCESS {
                    let (one, two) = (self.state(picked), self.state(other));
                    for (place, state) in [(picked, two), (other, one)] {
                        if let Some(Facts::Sync(own)) = self.objects.facts(place) {
                            *own = state;
                        }
                    }
                }
            }
            8 | 9 => self.export_sync(picked, b % 3, point),
            10 => {
                let fd = self.descriptor(b);
                if c.is_multiple_of(2) {
                    let device: Picked<agw_device> = self.objects.pick(a);
                    let of = self.objects.device_of(device);
                    self.make(
                        "agw_sync_import_fd",
                        of,
                        &perhaps(),
                        |_| Facts::Sync(State::Shared),
                        |sync| {
                            // SAFETY: a handle of this life, and a place for the new one.
                            unsafe { agw_sync_import_fd(device.handle, fd, sync) }
                        },
                    );
                } else {
                    // SAFETY: a handle of this life.
                    let result = unsafe { agw_sync_import_sync_file(handle, fd) };
                    self.objects.judge("agw_sync_import_sync_file", result, is_good, &perhaps());
                    self.set_state(picked, State::Unknown);
                }
            }
            _ => {
                let fd = if c.is_multiple_of(2) { self.event.as_raw_fd() } else { self.descriptor(c) };
                // SAFETY: a handle of this life.
                let result = unsafe { agw_sync_tell(handle, point, u32::from(b) % 5, fd) };
                self.objects.judge("agw_sync_tell", result, is_good, &perhaps());
            }
        }
    }

    /// Polls points.
    fn wait(&mut self, a: u8, b: u8, c: u8) {
        let picked: [Picked<agw_sync>; 2] = [self.objects.pick(a), self.objects.pick(b)];
        let count = usize::from(c % 3);
        let points = picked.map(|sync| agw_sync_point { sync: sync.handle, point: u64::from(c >> 6) });
        let flags = u32::from(c >> 3) % 5;
        // SAFETY: as many points as it is said, of handles of this life.
        let result = unsafe { agw_sync_wait(points.as_ptr(), count as u32, flags, 0) };
        let picked = &picked[..count];
        let is_good = picked.iter().all(Picked::is_good);
        let states: Vec<_> = picked.iter().map(|&sync| self.state(sync)).collect();
        let devices: Vec<_> = picked.iter().map(|&sync| self.objects.device_of(sync)).collect();
        let is_foreign = devices.windows(2).any(|pair| pair[0] != pair[1]);
        let known =
            states.into_iter().map(|state| if let State::Known(signalled) = state { Some(signalled) } else { None });
        let known: Option<Vec<bool>> = known.collect();
        let fitting = match known {
            _ if flags == 4 => vec![AGW_ERROR_INVALID_ARGUMENT],
            _ if is_foreign => REFUSED.to_vec(),
            _ if count == 0 => vec![AGW_SUCCESS],
            Some(signalled) if c >> 6 == 0 => {
                let is_any = flags & AGW_WAIT_ANY != 0;
                let is_met = if is_any { signalled.contains(&true) } else { !signalled.contains(&false) };
                vec![if is_met { AGW_SUCCESS } else { AGW_TIMEOUT }]
            }
            _ => perhaps(),
        };
        self.objects.judge("agw_sync_wait", result, is_good, &fitting);
    }

    fn export_sync(&mut self, picked: Picked<agw_sync>, kind: u8, point: u64) {
        let mut fd = -7;
        // SAFETY: a handle of this life, and a place of this function.
        let (name, result) = unsafe {
            match kind {
                0 => ("agw_sync_export_fd", agw_sync_export_fd(picked.handle, &raw mut fd)),
                1 => ("agw_sync_export_sync_file", agw_sync_export_sync_file(picked.handle, &raw mut fd)),
                _ => ("agw_sync_export_sync_file_at", agw_sync_export_sync_file_at(picked.handle, point, &raw mut fd)),
            }
        };
        let fitting = if kind == 0 { vec![AGW_SUCCESS] } else { perhaps() };
        self.objects.judge(name, result, picked.is_good(), &fitting);
        if kind == 0 {
            // An object that imports it may signal and reset.
            self.set_state(picked, State::Shared);
        }
        self.keep_descriptor(name, result, fd);
    }

    /// Keeps a descriptor that a function exported.
    pub(super) fn keep_descriptor(&mut self, name: &str, result: i32, fd: i32) {
        if result == AGW_SUCCESS {
            assert!(fd >= 0, "{name} gave {fd}");
            // SAFETY: it was exported to this caller, who owns it.
            self.descriptors.push(unsafe { OwnedFd::from_raw_fd(fd) });
            if self.descriptors.len() > 16 {
                self.descriptors.swap_remove(0);
            }
        } else {
            assert_eq!(fd, -7, "{name} has failed, and has written");
        }
    }
}
