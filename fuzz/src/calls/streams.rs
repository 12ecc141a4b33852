//! Streams: recorded, closed, executed, chained, reset.

use std::ptr::null_mut;

use amdgpu_winsys_c::{border::*, objects::*, recording::*};

use super::{
    Life, REFUSED, UNFIT,
    engines::is_video,
    handles::{Facts, Picked, Stage, Stream},
    memory::head,
    perhaps,
};

/// Words of a BO that streams store into.
const WORDS: u32 = 16;

/// The word that a stream stores at an index: the same whichever stream it is.
pub(super) const fn stored(word: u32) -> u32 {
    0xa000_0000 | word
}

/// WRITE_DATA of one word to memory.
const fn write_data(va: u64, value: u32) -> [u32; 5] {
    [0xc003_3700, 5 << 8 | 1 << 20, va as u32, (va >> 32) as u32, value]
}

impl Life {
    pub(super) fn stream(&mut self, function: u8, a: u8, b: u8, c: u8) {
        let picked: Picked<agw_stream> = self.objects.pick(a);
        let handle = picked.handle;
        match function {
            0 | 1 => self.create_stream(a, b, c),
            2..6 => self.store(picked, b, c),
            6 => self.grow(picked, b, c),
            7 | 8 => self.finalize(picked),
            9 => self.reset(picked),
            10 => self.execute(picked, b, c),
            11 => self.chain(picked, b),
            12 => {
                let range: Picked<agw_sparse> = self.objects.pick(b);
                // SAFETY: handles of this life.
                let result = unsafe { agw_stream_add_sparse(handle, range.handle) };
                let is_foreign = self.objects.device_of(picked) != self.objects.device_of(range);
                self.recorded("agw_stream_add_sparse", result, picked, range.is_good(), &[AGW_SUCCESS]);
                if let Some(stream) = self.objects.stream(picked) {
                    stream.is_odd |= is_foreign && result == AGW_SUCCESS;
                }
            }
            13 => {
                let leave = u32::from(b) << (c % 20);
                // SAFETY: a handle of this life, and a text.
                let result = unsafe {
                    if c.is_multiple_of(2) {
                        agw_stream_pad(handle, leave)
                    } else {
                        agw_stream_annotate(handle, c"a note".as_ptr())
                    }
                };
                let fitting = if self.is_for_video(picked) { vec![AGW_SUCCESS] } else { perhaps() };
                self.recorded("agw_stream_pad", result, picked, true, &fitting);
                if result == AGW_SUCCESS && c.is_multiple_of(2) {
                    self.padded(picked, leave);
                }
            }
            14 => self.read(picked, b, c),
            _ => {
                // An IB that is none, for the recording alone: the stream is not submitted.
                // SAFETY: a handle of this life.
                let result = unsafe {
                    if c.is_multiple_of(2) {
                        agw_stream_call(handle, u64::from(b) << 12, u32::from(c) << (b % 20), b > 127)
                    } else {
                        agw_stream_detour(handle, u64::from(b) << 12, u32::from(c), u64::from(c) << 12)
                    }
                };
                let fitting = if self.is_for_video(picked) { vec![AGW_ERROR_FEATURE_NOT_PRESENT] } else { perhaps() };
                self.recorded("agw_stream_call", result, picked, true, &fitting);
                if let Some(stream) = self.objects.stream(picked)
                    && result == AGW_SUCCESS
                {
                    stream.stage = Stage::Poisoned(None);
                    self.forget(picked);
                }
            }
        }
    }

    /// Ends a stream that must not be submitted, and resets it.
    fn forget(&mut self, picked: Picked<agw_stream>) {
        // SAFETY: a handle of this life.
        let result = unsafe { agw_stream_reset(picked.handle) };
        self.objects.judge("agw_stream_reset", result, picked.is_good(), &[AGW_SUCCESS]);
        self.opened(picked);
    }

    fn opened(&mut self, picked: Picked<agw_stream>) {
        if let Some(stream) = self.objects.stream(picked) {
            stream.stage = Stage::Open;
            stream.stores.clear();
            stream.dwords.clear();
            stream.is_refused = false;
        }
    }

    /// Checks a result of a call that records: what it may be while the stream is open, and what the stage says otherwise. An
    /// error poisons an open stream.
    fn recorded(&mut self, name: &str, result: i32, picked: Picked<agw_stream>, others: bool, fitting: &[i32]) {
        let is_good = picked.is_good() && others;
        let stage = self.objects.stream(picked).map(|stream| stream.stage);
        match stage {
            Some(Stage::Closed) => self.objects.judge(name, result, is_good, &[AGW_ERROR_IN_USE]),
            Some(Stage::Poisoned(Some(code))) => self.objects.judge(name, result, is_good, &[code]),
            Some(Stage::Poisoned(None)) => self.objects.judge(name, result, is_good, &UNFIT),
            _ => self.objects.judge(name, result, is_good, fitting),
        }
        if let Some(stream) = self.objects.stream(picked)
            && stream.stage == Stage::Open
            && is_good
            && result < 0
        {
            stream.stage = Stage::Poisoned(Some(result));
        }
    }

    fn create_stream(&mut self, a: u8, b: u8, c: u8) {
        let ip = if b > 240 { b.into() } else { u32::from(b % 8 / 3) };
        self.create_stream_for(ip, a, c);
    }

    pub(super) fn create_stream_for(&mut self, ip: u32, a: u8, c: u8) {
        let device: Picked<agw_device> = self.objects.pick(a);
        let flags = if c > 200 { u32::from(c) % 16 } else { 0 };
        let fitting = match ip {
            _ if ip > AGW_IP_VPE => vec![AGW_ERROR_INVALID_ARGUMENT],
            _ if flags < 8 && c > 0 => vec![AGW_SUCCESS],
            _ => UNFIT.to_vec(),
        };
        let of = self.objects.device_of(device);
        let is_odd = flags & AGW_STREAM_SECONDARY != 0 && !is_video(ip);
        let (stores, dwords) = Default::default();
        let facts = |_| Facts::Stream(Stream { stage: Stage::Open, ip, is_odd, stores, dwords, is_refused: false });
        self.make("agw_stream_create", of, &fitting, facts, |stream| {
            // SAFETY: a handle of this life, and a place for the new one.
            unsafe { agw_stream_create(device.handle, ip, flags, u32::from(c) << 2, stream) }
        });
    }

    /// Stores words into the stream, and now and then lies about how many.
    pub(super) fn emit(picked: Picked<agw_stream>, words: &[u32]) {
        let window = picked.handle.cast::<agw_cmd_window>();
        // SAFETY: a stream that is alive begins with its window, which this thread alone uses; as many words as there is room for.
        unsafe {
            if (*window).max_dw - (*window).cdw < words.len() as u64 {
                agw_stream_grow(picked.handle, words.len() as u64);
            }
            assert!((*window).max_dw - (*window).cdw >= words.len() as u64, "a growth without room");
            for &word in words {
                (*window).buf.add((*window).cdw as usize).write(word);
                (*window).cdw += 1;
            }
        }
    }

    /// Has the stream store a word in a BO.
    fn store(&mut self, picked: Picked<agw_stream>, b: u8, c: u8) {
        let bo: Picked<agw_bo> = self.objects.pick(b);
        // SAFETY: handles of this life.
        let result = unsafe { agw_stream_add_bo(picked.handle, bo.handle) };
        self.recorded("agw_stream_add_bo", result, picked, bo.is_good(), &[AGW_SUCCESS]);
        if result != AGW_SUCCESS {
            return;
        }
        if self.is_for_video(picked) {
            self.encode(picked, c % 16);
        }
        let is_foreign = self.objects.device_of(picked) != self.objects.device_of(bo);
        let Some(index) = bo.index else { return };
        let object = &self.objects.alive[index];
        let id = object.id;
        let has_room = matches!(object.facts, Facts::Bo { size, is_plain: true, .. } if size >= u64::from(WORDS) * 4);
        let Some(stream) = self.objects.stream(picked) else { return };
        stream.is_odd |= is_foreign;
        // The copy engines have another language; a stream of theirs only names the BO.
        if !has_room || stream.ip > AGW_IP_COMPUTE || stream.is_odd {
            return;
        }
        // SAFETY: it is alive.
        let va = unsafe { head(bo.handle.cast()) }.va;
        let words: Vec<u32> = (0..=u32::from(c % 8)).map(|turn| (u32::from(c) + turn) % WORDS).collect();
        for word in words {
            Self::emit(picked, &write_data(va + u64::from(word) * 4, stored(word)));
            if let Some(stream) = self.objects.stream(picked) {
                stream.stores.push((id, word));
            }
        }
    }

    /// Grows a stream by far too much, or says that fewer or more words were stored than there are.
    fn grow(&mut self, picked: Picked<agw_stream>, b: u8, c: u8) {
        let dwords = u64::from(b) << (c % 48);
        // SAFETY: a handle of this life.
        unsafe { agw_stream_grow(picked.handle, dwords) };
        let Some(stream) = self.objects.stream(picked) else { return };
        if stream.stage != Stage::Open {
            return;
        }
        let window = picked.handle.cast::<agw_cmd_window>();
        // SAFETY: alive, and this thread's alone.
        unsafe {
            if dwords > 1 << 19 {
                // Whether it was refused shows in the next call.
                stream.is_odd |= !is_video(stream.ip);
                let result = agw_stream_finalize(picked.handle);
                stream.stage = if result < 0 { Stage::Poisoned(Some(result)) } else { Stage::Closed };
            } else {
                assert!((*window).max_dw - (*window).cdw >= dwords, "a growth without room");
                if c > 200 && (*window).cdw > 0 {
                    (*window).cdw = if b.is_multiple_of(2) { (*window).max_dw + 1 } else { u64::MAX };
                    let result = agw_stream_finalize(picked.handle);
                    assert!(result < 0, "more words than there is room for were taken");
                    stream.stage = Stage::Poisoned(Some(result));
                }
            }
        }
    }

    pub(super) fn finalize(&mut self, picked: Picked<agw_stream>) {
        // SAFETY: a handle of this life.
        let result = unsafe { agw_stream_finalize(picked.handle) };
        self.recorded("agw_stream_finalize", result, picked, true, &[AGW_SUCCESS]);
        if let Some(stream) = self.objects.stream(picked)
            && result == AGW_SUCCESS
        {
            stream.stage = Stage::Closed;
            self.check_contents(picked);
        }
    }

    pub(super) fn reset(&mut self, picked: Picked<agw_stream>) {
        // SAFETY: a handle of this life. Jobs of it may run: what was submitted with a queue that keeps nothing was waited for.
        let result = unsafe { agw_stream_reset(picked.handle) };
        self.objects.judge("agw_stream_reset", result, picked.is_good(), &[AGW_SUCCESS]);
        self.opened(picked);
        if picked.is_good() {
            // SAFETY: alive, and this thread's alone.
            let window = unsafe { picked.handle.cast::<agw_cmd_window>().read() };
            assert_eq!(window.cdw, 0);
        }
    }

    fn execute(&mut self, picked: Picked<agw_stream>, b: u8, c: u8) {
        let child: Picked<agw_stream> = self.objects.pick(b);
        let flags = u32::from(c.is_multiple_of(8)) << 1 | u32::from(c % 2);
        // SAFETY: handles of this life.
        let result = unsafe { agw_stream_execute(picked.handle, child.handle, flags) };
        let (is_good, is_foreign) = (child.is_good(), self.objects.device_of(picked) != self.objects.device_of(child));
        let theirs = self.objects.stream(child).cloned();
        let is_open = theirs.as_ref().is_some_and(|stream| stream.stage == Stage::Open);
        if flags > 1 || is_open {
            // Refused before the stream is looked at.
            self.objects.judge(
                "agw_stream_execute",
                result,
                picked.is_good() && is_good,
                &[AGW_ERROR_INVALID_ARGUMENT],
            );
            return;
        }
        if let Some(Stage::Poisoned(_)) = theirs.as_ref().map(|stream| stream.stage) {
            self.objects.judge("agw_stream_execute", result, picked.is_good() && is_good, &UNFIT);
            return;
        }
        let (ip, their_ip) =
            (self.objects.stream(picked).map(|stream| stream.ip), theirs.as_ref().map(|stream| stream.ip));
        let of_video = [ip, their_ip].map(|ip| ip.is_some_and(is_video));
        let fitting = match of_video {
            [true, _] | [_, true] if ip != their_ip => vec![AGW_ERROR_INVALID_ARGUMENT],
            _ if is_foreign => REFUSED.to_vec(),
            [true, true] => vec![AGW_SUCCESS],
            _ => perhaps(),
        };
        self.recorded("agw_stream_execute", result, picked, is_good, &fitting);
        if let (AGW_SUCCESS, Some(theirs), Some(own)) = (result, theirs, self.objects.stream(picked)) {
            own.is_odd |= theirs.is_odd;
            own.stores.extend(theirs.stores);
            own.dwords.extend(theirs.dwords);
            own.is_refused |= theirs.is_refused;
        }
    }

    fn chain(&mut self, picked: Picked<agw_stream>, b: u8) {
        let next: Picked<agw_stream> = self.objects.pick(b);
        // SAFETY: handles of this life.
        unsafe {
            if agw_stream_chain(picked.handle, next.handle) {
                assert!(picked.is_good() && next.is_good() && picked.handle != next.handle);
                assert_eq!(self.objects.device_of(picked), self.objects.device_of(next), "chained across devices");
                for place in [picked, next] {
                    let stream = self.objects.stream(place).expect("a stream");
                    assert_eq!(stream.stage, Stage::Closed);
                    assert!(!is_video(stream.ip), "a stream of a video engine is chained");
                    stream.is_odd = true;
                }
            } else {
                let result = agw_stream_unchain(picked.handle);
                self.objects.judge("agw_stream_unchain", result, picked.is_good(), &perhaps());
            }
        }
    }

    fn read(&mut self, picked: Picked<agw_stream>, b: u8, c: u8) {
        let mut ibs = [agw_ib { va: 0, dwords: 0, pad: 0 }; 4];
        let (mut dwords, mut count) = ([0; 64], u32::from(c % 5));
        let start = if b > 200 { null_mut() } else { ibs.as_mut_ptr() };
        let stage = self.objects.stream(picked).map(|stream| stream.stage);
        // SAFETY: a handle of this life, and arrays that are no shorter than they are said to be.
        unsafe {
            let result = agw_stream_ibs(picked.handle, start, &raw mut count);
            let listed = if stage == Some(Stage::Closed) { vec![AGW_SUCCESS, AGW_INCOMPLETE] } else { UNFIT.to_vec() };
            self.objects.judge("agw_stream_ibs", result, picked.is_good(), &listed);
            let is_there = stage == Some(Stage::Closed) && u32::from(b % 3) < count;
            let result = agw_stream_read(picked.handle, u32::from(b % 3), dwords.as_mut_ptr(), u32::from(c) % 65);
            let fitting = if is_there { vec![AGW_SUCCESS] } else { UNFIT.to_vec() };
            self.objects.judge("agw_stream_read", result, picked.is_good(), &fitting);
        }
    }
}
