//! Streams and queues of video engines.

use std::ptr::null;

use amdgpu_winsys_c::{border::*, objects::*, recording::*};

use super::{
    Life, REFUSED, UNFIT,
    engines::{Chip, LONGEST_UNIT, is_video},
    handles::{Facts, Picked, Stage, State, Stream},
    perhaps,
    queues::soon,
};

/// Dwords of a BO before the IBs that the CPU writes there: streams of other engines store into them.
const BEHIND_STORES: usize = 16;

/// The IBs and calls of a submission of streams to a ring of a video engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Share {
    pub(super) ibs: usize,
    /// Calls that the kernel accepts.
    calls: u64,
    /// `true` if it refuses the one after them.
    is_refused: bool,
}

impl Share {
    /// Returns the results that a submission without other faults may have.
    pub(super) fn fitting(self) -> Vec<i32> {
        match self {
            Self { is_refused: false, .. } => vec![AGW_SUCCESS],
            Self { calls: 0, .. } => REFUSED.to_vec(),
            _ => vec![AGW_ERROR_PARTLY_SUBMITTED],
        }
    }
}

impl Life {
    pub(super) fn video(&mut self, function: u8, a: u8, b: u8, c: u8) {
        match function {
            0 => {
                let (ip, ring) = (self.chip.ip(b), u32::from(c > 224));
                self.create_queue_for(ip, ring, a);
            }
            1 => self.create_video_queue(a, b, c),
            2 | 3 => {
                let ip = self.chip.ip(b);
                self.create_stream_for(ip, a, c);
            }
            4..7 => {
                let picked = self.video_stream(a);
                // A stream that is not open has no window to store into.
                if self.objects.stream(picked).is_some_and(|stream| stream.stage == Stage::Open && is_video(stream.ip))
                {
                    // Now and then more than there is room for, so that it moves.
                    self.encode(picked, if c > 220 { c } else { c % 16 });
                }
            }
            7 => {
                let picked = self.video_stream(a);
                self.finalize(picked);
            }
            8..12 => {
                let queue = self.objects.pick_of(a, |object| is_of_video(&object.facts));
                let ip = self.ip_of(queue);
                let fits = |stage| move |facts: &Facts| matches!(facts, Facts::Stream(own) if Some(own.ip) == ip && own.stage == stage);
                let stages = if c > 240 { [Stage::Closed, Stage::Open] } else { [Stage::Closed; 2] };
                let streams: [Picked<agw_stream>; 2] =
                    [(b, stages[0]), (b.wrapping_add(c), stages[1])].map(|(which, stage)| {
                        let fits = fits(stage);
                        self.objects.pick_of(which, |object| fits(&object.facts))
                    });
                // More than one call to the kernel takes, of which only the last has the second stream.
                let streams = match c % 8 {
                    7 => [&[streams[0]; 52][..], &streams[1..]].concat(),
                    few => streams[..usize::from(few % 3)].to_vec(),
                };
                self.submit_streams(queue, &streams, [a, b, c]);
            }
            12 | 13 => self.submit_video(a, b, c),
            14 => self.use_video_queue(a, b, c),
            _ => {
                let picked = self.video_stream(a);
                if b.is_multiple_of(4) {
                    self.reset(picked);
                } else {
                    self.check_contents(picked);
                }
            }
        }
    }

    fn video_stream(&self, which: u8) -> Picked<agw_stream> {
        self.objects.pick_of(which, |object| matches!(&object.facts, Facts::Stream(stream) if is_video(stream.ip)))
    }

    pub(super) fn is_for_video(&mut self, picked: Picked<agw_stream>) -> bool {
        self.objects.stream(picked).is_some_and(|stream| is_video(stream.ip))
    }

    pub(super) fn ip_of<T>(&mut self, queue: Picked<T>) -> Option<u32> {
        match self.objects.facts(queue) {
            Some(Facts::Queue { ip, .. }) => Some(*ip),
            _ => None,
        }
    }

    /// Stores packets in the open stream of a video engine, each with another value.
    pub(super) fn encode(&mut self, picked: Picked<agw_stream>, packets: u8) {
        let chip = self.chip;
        let Some(stream) = self.objects.stream(picked) else { return };
        if packets == 239 && stream.ip == AGW_IP_VCN_JPEG {
            // A register that is none of the decoder's: the kernel refuses the IB.
            stream.is_refused = true;
            stream.dwords.extend([0x3fff, 0]);
            Self::emit(picked, &[0x3fff, 0]);
        }
        for _ in 0..packets {
            let packet = chip.packet(stream.ip, 0x1_0000 | stream.dwords.len() as u32);
            Self::emit(picked, &packet);
            stream.dwords.extend(packet);
        }
    }

    /// Notes the NOPs that `agw_stream_pad` has stored in the stream of a video engine.
    pub(super) fn padded(&mut self, picked: Picked<agw_stream>, leave: u32) {
        let chip = self.chip;
        if let Some(stream) = self.objects.stream(picked)
            && is_video(stream.ip)
        {
            stream.dwords.extend(chip.padding(stream.ip, stream.dwords.len() + leave as usize));
        }
    }

    /// Compares the IB of a closed stream of a video engine with what was recorded.
    pub(super) fn check_contents(&mut self, picked: Picked<agw_stream>) {
        let chip = self.chip;
        let Some(stream) = self.objects.stream(picked) else { return };
        if stream.stage != Stage::Closed || !is_video(stream.ip) {
            return;
        }
        let mut expected = stream.dwords.clone();
        expected.extend(chip.padding(stream.ip, expected.len()));
        let (mut ib, mut count) = (agw_ib { va: 0, dwords: 0, pad: 0 }, 1);
        let mut found = vec![0x7777_7777; expected.len() + 1];
        // SAFETY: a stream that is alive and begins with its window, and places as long as they are said to be.
        unsafe {
            let result = agw_stream_ibs(picked.handle, &raw mut ib, &raw mut count);
            self.objects.judge("agw_stream_ibs", result, true, &[AGW_SUCCESS]);
            assert_eq!((count == 0, ib.dwords as usize), (expected.is_empty(), expected.len()));
            assert_eq!(picked.handle.cast::<agw_cmd_window>().read().cdw, expected.len() as u64);
            let result = agw_stream_read(picked.handle, 0, found.as_mut_ptr(), found.len() as u32);
            let fitting = if expected.is_empty() { AGW_ERROR_INVALID_ARGUMENT } else { AGW_SUCCESS };
            self.objects.judge("agw_stream_read", result, true, &[fitting]);
        }
        expected.push(0x7777_7777);
        assert_eq!(found, expected);
    }

    /// Returns the results that the creation of a queue for a video ring may have.
    pub(super) fn of_new_queue(&self, ip: u32, ring: u32, is_taken: bool) -> i32 {
        match ip {
            _ if ip > AGW_IP_VPE => AGW_ERROR_INVALID_ARGUMENT,
            _ if !self.chip.has(ip) || ring > 0 => AGW_ERROR_FEATURE_NOT_PRESENT,
            _ if is_taken => AGW_ERROR_IN_USE,
            _ => AGW_SUCCESS,
        }
    }

    fn create_video_queue(&mut self, a: u8, b: u8, c: u8) {
        let ctx: Picked<agw_ctx> = self.objects.pick(a);
        let ip = if c > 248 { u32::from(c % 3) } else { self.chip.ip(b) };
        let ring = u32::from(c > 224);
        let (id, is_taken) = self.of_ring(ctx, ip, ring);
        let fitting = self.of_new_queue(ip, ring, is_taken);
        let of = self.objects.device_of(ctx);
        let facts = |_| Facts::Queue { ctx: id.unwrap_or_default(), ip, ring, last: 0 };
        self.make("agw_video_queue_create", of, &[fitting], facts, |queue| {
            // SAFETY: a handle of this life, and a place for the new one.
            unsafe { agw_video_queue_create(ctx.handle, ip, ring, queue) }
        });
    }

    /// Returns what a ring gets by a submission of these streams, and `None` if one is not for its engine.
    pub(super) fn share(&self, ip: u32, streams: &[Stream]) -> Option<Share> {
        if streams.iter().any(|stream| stream.ip != ip) {
            return None;
        }
        let has_ib = |stream: &&Stream| !stream.dwords.is_empty() || !self.chip.padding(ip, 0).is_empty();
        let ibs: Vec<_> = streams.iter().filter(has_ib).collect();
        let most = Chip::most_ibs(ip);
        let refused = ibs.iter().position(|stream| stream.is_refused || self.chip.refused.contains(&ip));
        let calls = refused.map_or(ibs.len().div_ceil(most), |index| index / most) as u64;
        Some(Share { ibs: ibs.len(), calls, is_refused: refused.is_some() })
    }

    /// Counts the submissions of a video ring that the kernel has accepted, and checks the sequence number, if there is one.
    pub(super) fn count_calls<T>(&mut self, queue: Picked<T>, share: Share, sequence: Option<u64>) {
        let Some(Facts::Queue { ctx, ip, last, .. }) = self.objects.facts(queue) else { return };
        let (ring, own) = ((*ctx, *ip), *last);
        let all = self.sequences.entry(ring).or_default();
        *all += share.calls;
        let now = if share.calls > 0 { *all } else { own };
        assert!(sequence.is_none_or(|sequence| sequence == now), "{sequence:?}, and not {now} of {share:?}");
        if let Some(Facts::Queue { last, .. }) = self.objects.facts(queue) {
            *last = now;
        }
        self.video += share.ibs as u32;
    }

    /// Writes an IB behind the words that other engines store, in a place for the IP, and returns its offset and length. A job may
    /// still read what an earlier call wrote there, which was the same.
    fn write_ib(&mut self, bo: Picked<agw_bo>, ip: u32) -> Option<(u64, u32)> {
        let chip = self.chip;
        let Some(Facts::Bo { size, mapped: Some(start), is_plain: true }) = self.objects.facts(bo) else { return None };
        let ring = chip.rings.iter().position(|&own| own == ip)?;
        let first = BEHIND_STORES + ring * LONGEST_UNIT;
        let dwords = (0..).flat_map(|value| chip.packet(ip, value)).take(chip.unit(ip));
        if (first + chip.unit(ip)) as u64 * 4 > *size {
            return None;
        }
        let place = std::ptr::with_exposed_provenance_mut::<u32>(*start).wrapping_add(first);
        for (index, dword) in dwords.enumerate() {
            // SAFETY: inside of the mapping, in a place that the GPU reads alone.
            unsafe { place.wrapping_add(index).write_volatile(dword) };
        }
        Some((first as u64 * 4, chip.unit(ip) as u32))
    }

    /// Submits IBs in BOs.
    fn submit_video(&mut self, a: u8, b: u8, c: u8) {
        let queue: Picked<agw_video_queue> = self.objects.pick(a);
        let ip = self.ip_of(queue).unwrap_or(AGW_IP_VCN_DEC);
        let is_home = |facts: &Facts| matches!(facts, Facts::Bo { size: 1024.., mapped: Some(_), is_plain: true });
        let bo: Picked<agw_bo> = self.objects.pick_of(b, |object| is_home(&object.facts));
        let (other, set): (Picked<agw_bo>, Picked<agw_residents>) = (self.objects.pick(a ^ b), self.objects.pick(b));
        let (signal, wait): (Picked<agw_sync>, Picked<agw_sync>) = (self.objects.pick(c), self.objects.pick(b ^ c));
        let written = self.write_ib(bo, ip);
        let (mut offset, mut dwords) = written.unwrap_or((0, 16));
        let is_odd = c > 200 || written.is_none();
        if is_odd {
            match c % 4 {
                0 => offset += 1 + u64::from(c % 3),
                1 => dwords = 0,
                2 => offset = u64::MAX << (b % 64),
                _ => dwords = u32::MAX >> (b % 8),
            }
        }
        let most = Chip::most_ibs(ip) + usize::from(c == 200);
        let ibs = vec![agw_video_ib { bo: bo.handle, offset, dwords, pad: 0 }; if b > 200 { most } else { 1 }];
        let has = |bit: u8, is_good: bool| c >> bit & 1 != 0 && (is_good || c >> 7 != 0);
        let (bos, sets, signals) = (has(2, other.is_good()), has(3, set.is_good()), has(4, signal.is_good()));
        let waits = c >> 5 & 1 != 0 && self.state(wait) == State::Known(true);
        let point = |sync: Picked<agw_sync>, point| agw_sync_point { sync: sync.handle, point };
        let (signalled, waited) = (point(signal, u64::from(b % 3)), point(wait, 0));
        let (set_handle, bo_handle) = (set.handle.cast_const(), other.handle.cast_const());
        let ib_count = if c == 199 { 0 } else { ibs.len() as u32 };
        let submission = agw_video_submission {
            struct_size: if c == 198 { 7 } else { size_of::<agw_video_submission>() as u32 },
            reserved: 0,
            ibs: if c == 197 { null() } else { ibs.as_ptr() },
            bos: &raw const bo_handle,
            sets: &raw const set_handle,
            waits: &raw const waited,
            signals: &raw const signalled,
            ib_count,
            bo_count: bos.into(),
            set_count: sets.into(),
            wait_count: waits.into(),
            signal_count: signals.into(),
            pad: 0,
        };
        let mut sequence = 0x77;
        // SAFETY: a handle of this life, arrays that are as long as they are said to be or absent, and a place of this function.
        let result = unsafe { agw_video_queue_submit(queue.handle, &raw const submission, &raw mut sequence) };
        if signals {
            self.set_state(signal, State::Unknown);
        }

        let has_ibs = ib_count > 0 && c != 197;
        let is_good = queue.is_good()
            && (!has_ibs || bo.is_good())
            && (!bos || other.is_good())
            && (!sets || set.is_good())
            && (!signals || signal.is_good());
        let device = self.objects.device_of(queue);
        let is_foreign = self.objects.device_of(bo) != device
            || bos && self.objects.device_of(other) != device
            || signals && self.objects.device_of(signal) != device
            || waits && self.objects.device_of(wait) != device;
        let has_mixed = sets
            && (matches!(self.objects.facts(set), Some(Facts::Residents(true)))
                || self.objects.device_of(set) != device);
        let fitting = match c {
            197..200 => vec![AGW_ERROR_INVALID_ARGUMENT],
            _ if ibs.len() > Chip::most_ibs(ip) => vec![AGW_ERROR_INVALID_ARGUMENT],
            _ if is_foreign => REFUSED.to_vec(),
            _ if is_odd || has_mixed || self.has_odd_domains => perhaps(),
            _ if self.chip.refused.contains(&ip) => REFUSED.to_vec(),
            _ => vec![AGW_SUCCESS],
        };
        self.objects.judge("agw_video_queue_submit", result, is_good, &fitting);
        if result == AGW_SUCCESS {
            self.count_calls(queue, Share { ibs: ibs.len(), calls: 1, is_refused: false }, Some(sequence));
        } else {
            assert_eq!(sequence, 0x77, "agw_video_queue_submit has failed, and has written");
        }
    }

    fn use_video_queue(&mut self, a: u8, b: u8, c: u8) {
        let queue: Picked<agw_video_queue> = self.objects.pick(a);
        let (handle, is_good) = (queue.handle, queue.is_good());
        let chip = self.chip;
        let (ip, last) = match self.objects.facts(queue) {
            Some(Facts::Queue { ctx, ip, .. }) => {
                let ring = (*ctx, *ip);
                (ring.1, self.sequences.get(&ring).copied().unwrap_or(0))
            }
            _ => (AGW_IP_VCN_DEC, 0),
        };
        let (mut fillers, mut count) = ([0x7777_7777; 80], u32::from(b) % 80);
        let mut expected = Chip::nops(ip, usize::from(c).next_multiple_of(chip.unit(ip)) - usize::from(c));
        let room = count as usize;
        // SAFETY: a handle of this life, and places that are no shorter than they are said to be.
        unsafe {
            let result = agw_video_queue_padding(handle, c.into(), fillers.as_mut_ptr(), &raw mut count);
            let fitting = if expected.len() > room { AGW_INCOMPLETE } else { AGW_SUCCESS };
            self.objects.judge("agw_video_queue_padding", result, is_good, &[fitting]);
            if is_good {
                expected.truncate(room);
                assert_eq!(fillers[..expected.len()], expected, "of {c} dwords for IP {ip}");
            } else {
                expected.clear();
            }
            assert!(fillers[expected.len()..].iter().all(|&dword| dword == 0x7777_7777));

            let sequence = match b % 8 {
                0 => last + 1 + u64::from(c),
                1 => u64::MAX >> (c % 64),
                _ => last.saturating_sub(u64::from(b % 3)),
            };
            let is_known = sequence <= last;
            let deadline = if c.is_multiple_of(2) && is_known { soon() } else { 0 };
            let result = agw_video_queue_wait(handle, sequence, deadline);
            let fitting = match deadline {
                _ if !is_known => UNFIT.to_vec(),
                0 => vec![AGW_SUCCESS, AGW_TIMEOUT],
                _ => vec![AGW_SUCCESS],
            };
            // The greatest number stands for the last submission.
            let fitting = if sequence == u64::MAX { perhaps() } else { fitting };
            self.objects.judge("agw_video_queue_wait", result, is_good, &fitting);
            let result = agw_video_queue_retire(handle);
            self.objects.judge("agw_video_queue_retire", result, is_good, &[AGW_SUCCESS]);
        }
    }
}

/// Returns `true` for the facts of a queue for a video engine.
fn is_of_video(facts: &Facts) -> bool {
    matches!(facts, Facts::Queue { ip, .. } if is_video(*ip))
}
