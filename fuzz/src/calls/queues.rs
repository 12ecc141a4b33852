//! Contexts, queues, submissions.

use std::{
    ptr::{null, null_mut},
    time::Duration,
};

use amdgpu_winsys_c::{border::*, objects::*, recording::*};
use nix::time::{ClockId, clock_gettime};

use super::{
    Life, REFUSED, UNFIT,
    engines::is_video,
    handles::{Facts, Picked, Stage, State, Stream},
    perhaps,
    streams::stored,
};

/// A deadline that no job of a life misses.
pub(super) fn soon() -> u64 {
    let now = Duration::from(clock_gettime(ClockId::CLOCK_MONOTONIC).expect("a clock"));
    (now + Duration::from_mins(1)).as_nanos() as u64
}

impl Life {
    pub(super) fn queue(&mut self, function: u8, a: u8, b: u8, c: u8) {
        match function {
            0 | 1 => self.create_ctx(a, b),
            2 => self.use_ctx(a, b, c),
            3 | 4 => self.create_queue(a, b, c),
            5 => self.use_queue(a, b),
            6 => self.abandon(a),
            7 => self.raw_submit(a, b),
            _ => self.submit(a, b, c),
        }
    }

    fn create_ctx(&mut self, a: u8, b: u8) {
        let device: Picked<agw_device> = self.objects.pick(a);
        let priority = match b {
            0..200 => AGW_PRIORITY_NORMAL,
            200..210 => AGW_PRIORITY_LOW,
            210..220 => AGW_PRIORITY_HIGH,
            220..230 => AGW_PRIORITY_VERY_HIGH,
            _ => i32::from(b) * 8,
        };
        let fitting = match b {
            0..210 => vec![AGW_SUCCESS],
            210..230 => vec![AGW_SUCCESS, AGW_ERROR_NOT_PERMITTED],
            _ => vec![AGW_ERROR_INVALID_ARGUMENT],
        };
        let of = self.objects.device_of(device);
        self.make(
            "agw_ctx_create",
            of,
            &fitting,
            |_| Facts::None,
            |ctx: *mut *mut agw_ctx| {
                // SAFETY: a handle of this life, and a place for the new one.
                unsafe { agw_ctx_create(device.handle, priority, ctx) }
            },
        );
    }

    fn use_ctx(&mut self, a: u8, b: u8, c: u8) {
        let ctx: Picked<agw_ctx> = self.objects.pick(a);
        let (handle, is_good) = (ctx.handle, ctx.is_good());
        // SAFETY: a handle of this life.
        unsafe {
            assert_eq!(agw_ctx_id(handle) == 0, !is_good);
            let result = agw_ctx_check(handle, u32::from(b % 4), u32::from(c % 4));
            self.objects.judge("agw_ctx_check", result, is_good, &perhaps());
            let result = agw_ctx_wait(handle, u32::from(b % 4), u32::from(c % 4), u64::from(b % 8), 0);
            self.objects.judge("agw_ctx_wait", result, is_good, &perhaps());
            let result = agw_ctx_pin_clocks(handle, u32::from(c % 6));
            self.objects.judge("agw_ctx_pin_clocks", result, is_good, &perhaps());
        }
    }

    fn create_queue(&mut self, a: u8, b: u8, c: u8) {
        let (ip, ring) = (u32::from(b % 8 / 3), if c > 240 { c.into() } else { u32::from(c % 2) });
        self.create_queue_for(ip, ring, a);
    }

    /// Returns the number of a context, and `true` if a queue has the ring of it.
    pub(super) fn of_ring(&self, ctx: Picked<agw_ctx>, ip: u32, ring: u32) -> (Option<u64>, bool) {
        let id = ctx.index.map(|index| self.objects.alive[index].id);
        let is_taken = self.objects.alive.iter().any(|object| {
            matches!(object.facts, Facts::Queue { ctx, ip: own, ring: place, .. } if Some(ctx) == id && (own, place) == (ip, ring))
        });
        (id, is_taken)
    }

    pub(super) fn create_queue_for(&mut self, ip: u32, ring: u32, a: u8) {
        let ctx: Picked<agw_ctx> = self.objects.pick(a);
        let (id, is_taken) = self.of_ring(ctx, ip, ring);
        let fitting = match ip {
            AGW_IP_UVD.. => vec![self.of_new_queue(ip, ring, is_taken)],
            _ if is_taken => vec![AGW_ERROR_IN_USE],
            _ => vec![AGW_SUCCESS, AGW_ERROR_FEATURE_NOT_PRESENT],
        };
        let of = self.objects.device_of(ctx);
        let facts = |_| Facts::Queue { ctx: id.unwrap_or_default(), ip, ring, last: 0 };
        self.make("agw_queue_create", of, &fitting, facts, |queue| {
            // SAFETY: a handle of this life, and a place for the new one.
            unsafe { agw_queue_create(ctx.handle, ip, ring, queue) }
        });
    }

    fn use_queue(&mut self, a: u8, b: u8) {
        let queue: Picked<agw_queue> = self.objects.pick(a);
        let (handle, is_good) = (queue.handle, queue.is_good());
        // SAFETY: a handle of this life.
        unsafe {
            if b.is_multiple_of(2) {
                let result = agw_queue_wait_idle(handle, soon());
                self.objects.judge("agw_queue_wait_idle", result, is_good, &[AGW_SUCCESS]);
            } else {
                let result = agw_queue_wait_idle(handle, 0);
                self.objects.judge("agw_queue_wait_idle", result, is_good, &[AGW_SUCCESS, AGW_TIMEOUT]);
            }
            let result = agw_queue_retire(handle);
            self.objects.judge("agw_queue_retire", result, is_good, &[AGW_SUCCESS]);
            let result = agw_queue_check(handle);
            self.objects.judge("agw_queue_check", result, is_good, &[AGW_SUCCESS]);
        }
    }

    /// Abandons a queue. What runs when its last reference goes would never be freed, so that it is the last one, and all has ended
    /// before.
    fn abandon(&mut self, a: u8) {
        let queue: Picked<agw_queue> = self.objects.pick(a);
        if queue.index.is_some_and(|index| self.objects.alive[index].references > 1) {
            return;
        }
        // SAFETY: a handle of this life, and a reference of its own.
        unsafe {
            let result = agw_queue_wait_idle(queue.handle, soon());
            self.objects.judge("agw_queue_wait_idle", result, queue.is_good(), &[AGW_SUCCESS]);
            self.let_go(queue.index);
            agw_queue_abandon(queue.handle);
        }
    }

    /// Submits requests that have nothing to run, or arrays that are not there.
    fn raw_submit(&mut self, a: u8, b: u8) {
        let ctx: Picked<agw_ctx> = self.objects.pick(a);
        let cs = agw_cs {
            struct_size: size_of::<agw_cs>() as u32,
            reserved: 0,
            ibs: null(),
            bos: null(),
            dependencies: null(),
            waits: null(),
            signals: null(),
            ib_count: u32::from(b & 1),
            bo_count: u32::from(b >> 1 & 1),
            dependency_count: u32::from(b >> 2 & 1),
            wait_count: u32::from(b >> 3 & 1),
            signal_count: u32::from(b >> 4 & 1),
            pad: 0,
        };
        let mut sequence = 0x77;
        // SAFETY: a handle of this life, a structure of its size without arrays, and a place of this function.
        let result = unsafe { agw_ctx_submit(ctx.handle, &raw const cs, &raw mut sequence) };
        let fitting = if b.is_multiple_of(32) { REFUSED.to_vec() } else { vec![AGW_ERROR_INVALID_ARGUMENT] };
        self.objects.judge("agw_ctx_submit", result, ctx.is_good(), &fitting);
        assert_eq!(sequence, 0x77, "agw_ctx_submit has failed, and has written");
    }

    fn submit(&mut self, a: u8, b: u8, c: u8) {
        let queue: Picked<agw_queue> = self.objects.pick(a);
        let streams: [Picked<agw_stream>; 2] = [self.objects.pick(b), self.objects.pick(b.wrapping_add(c))];
        self.submit_streams(queue, &streams[..usize::from(c % 3)], [a, b, c]);
    }

    pub(super) fn submit_streams(
        &mut self,
        queue: Picked<agw_queue>,
        streams: &[Picked<agw_stream>],
        [a, b, c]: [u8; 3],
    ) {
        let ip = self.ip_of(queue);
        let is_of_video = ip.is_some_and(is_video);
        let (signal, wait): (Picked<agw_sync>, Picked<agw_sync>) = (self.objects.pick(c), self.objects.pick(b ^ c));
        let set: Picked<agw_residents> = self.objects.pick(b);
        let bo: Picked<agw_bo> = self.objects.pick(a ^ b);
        let has = |bit: u8, is_good: bool| c >> bit & 1 != 0 && (is_good || c >> 7 != 0);
        let (signals, sets) = (has(2, signal.is_good()), has(3, set.is_good()));
        let bos = has(4, bo.is_good());
        // A submission that waits for what was never submitted waits for seconds.
        let waits = c >> 5 & 1 != 0 && self.state(wait) == State::Known(true);
        let keep = u32::from(a % 3);
        let point = u64::from(b % 3);
        let handles: Vec<*const agw_stream> = streams.iter().map(|stream| stream.handle.cast_const()).collect();
        let (signalled, waited) =
            (agw_sync_point { sync: signal.handle, point }, agw_sync_point { sync: wait.handle, point: 0 });
        let (set_handle, bo_handle) = (set.handle.cast_const(), bo.handle.cast_const());
        let submission = agw_submission {
            struct_size: size_of::<agw_submission>() as u32,
            reserved: 0,
            streams: handles.as_ptr(),
            initial: null(),
            further: null(),
            last: null(),
            followers: null(),
            bos: &raw const bo_handle,
            sets: &raw const set_handle,
            waits: &raw const waited,
            signals: &raw const signalled,
            stream_count: handles.len() as u32,
            initial_count: 0,
            further_count: 0,
            last_count: 0,
            follower_count: 0,
            bo_count: bos.into(),
            set_count: sets.into(),
            wait_count: waits.into(),
            signal_count: signals.into(),
            keep,
            flags: 0,
            pad: 0,
        };
        let mut sequence = 0x77;
        let place = if is_of_video || b.is_multiple_of(2) { &raw mut sequence } else { null_mut() };
        // SAFETY: a handle of this life, arrays that are as long as they are said to be, and null or a place of this function.
        let result = unsafe { agw_queue_submit(queue.handle, &raw const submission, place) };
        assert!(result == AGW_SUCCESS || sequence == 0x77, "agw_queue_submit has failed, and has written");
        if signals {
            self.set_state(signal, State::Unknown);
        }

        let is_good = queue.is_good()
            && streams.iter().all(Picked::is_good)
            && (!signals || signal.is_good())
            && (!sets || set.is_good())
            && (!bos || bo.is_good());
        let device = self.objects.device_of(queue);
        let own: Vec<_> = streams
            .iter()
            .filter_map(|&stream| Some((self.objects.device_of(stream)?, self.objects.stream(stream)?.clone())))
            .collect();
        let lists: Vec<_> = own.iter().map(|(_, stream)| stream.clone()).collect();
        let share = ip.filter(|_| is_of_video).map(|ip| self.share(ip, &lists));
        // BOs and sets are for IBs.
        let has_ibs = !own.is_empty() && !matches!(share, Some(Some(share)) if share.ibs == 0);
        let is_foreign = own.iter().any(|(of, _)| Some(*of) != device)
            || signals && self.objects.device_of(signal) != device
            || waits && self.objects.device_of(wait) != device
            || bos && has_ibs && self.objects.device_of(bo) != device;
        let is_mixed = matches!(self.objects.facts(set), Some(Facts::Residents(true)));
        let has_mixed = sets && (is_mixed || self.objects.device_of(set) != device);
        let is_plain = own.iter().all(|(_, stream)| !stream.is_odd && (is_of_video || Some(stream.ip) == ip))
            && !has_mixed
            && !self.has_odd_domains;
        let of_streams = of_lists(&lists, is_of_video).or((share == Some(None)).then(|| {
            // A stream of another device has two faults.
            if is_foreign { REFUSED.to_vec() } else { vec![AGW_ERROR_INVALID_ARGUMENT] }
        }));
        let has_faulty_stream = of_streams.is_some() || is_of_video && own.iter().any(|(of, _)| Some(*of) != device);
        let fitting = match (of_streams, share) {
            (Some(fitting), _) => fitting,
            _ if is_foreign => REFUSED.to_vec(),
            (None, Some(Some(share))) if is_plain || !has_ibs => share.fitting(),
            _ if is_plain => vec![AGW_SUCCESS],
            _ => perhaps(),
        };
        if is_good || !has_faulty_stream {
            self.objects.judge("agw_queue_submit", result, is_good, &fitting);
        } else {
            // Two faults: the first one counts.
            self.objects.judge("agw_queue_submit", result, true, &UNFIT);
        }
        if let Some(Some(share)) = share
            && matches!(result, AGW_SUCCESS | AGW_ERROR_PARTLY_SUBMITTED)
        {
            self.count_calls(queue, share, (result == AGW_SUCCESS).then_some(sequence));
        }
        if result == AGW_SUCCESS && keep != AGW_SUBMIT_KEEP_EVERYTHING {
            // The caller keeps what is used, and waits before it lets go.
            // SAFETY: a handle of this life.
            let idle = unsafe { agw_queue_wait_idle(queue.handle, soon()) };
            self.objects.judge("agw_queue_wait_idle", idle, true, &[AGW_SUCCESS]);
            for (id, word) in own.iter().flat_map(|(_, stream)| &stream.stores) {
                self.look(*id, *word);
            }
        }
    }

    /// Looks into a BO that the CPU has mapped for the word that the GPU has stored.
    fn look(&self, id: u64, word: u32) {
        let object = self.objects.alive.iter().find(|object| object.id == id);
        if let Some(Facts::Bo { mapped: Some(start), .. }) = object.map(|object| &object.facts) {
            let place = std::ptr::with_exposed_provenance::<u32>(*start).wrapping_add(word as usize);
            // SAFETY: inside of the mapping, for the BO has as many words.
            let found = unsafe { place.read_volatile() };
            assert_eq!(found, stored(word), "the GPU has not stored word {word}");
            self.found.set(self.found.get() + 1);
        }
    }
}

/// Returns the results of a submission of streams of which one is not finalized, or is for a video engine and not for the queue;
/// `None` if there is none. Such a fault is found before those of what comes behind the streams.
fn of_lists(streams: &[Stream], is_of_video: bool) -> Option<Vec<i32>> {
    streams.iter().find_map(|stream| match stream.stage {
        Stage::Open => Some(vec![AGW_ERROR_INVALID_ARGUMENT]),
        Stage::Poisoned(_) => Some(UNFIT.to_vec()),
        Stage::Closed if !is_of_video && is_video(stream.ip) => Some(vec![AGW_ERROR_FEATURE_NOT_PRESENT]),
        Stage::Closed => None,
    })
}
