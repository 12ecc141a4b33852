//! Requests about vertical blanks.
//!
//! Source: Linux 6.12 `drm_vblank.c`, `drm_wait_vblank_ioctl`, `drm_queue_vblank_event`, `drm_crtc_get_sequence_ioctl` and
//! `drm_crtc_queue_sequence_ioctl`.

use std::{sync::Arc, time::Duration};

use amdgpu_uapi::{
    CRTC_SEQUENCE_NEXT_ON_MISS, CRTC_SEQUENCE_RELATIVE, CrtcGetSequence, CrtcQueueSequence, Errno, VBLANK_EVENT,
    VBLANK_HIGH_CRTC_MASK, VBLANK_NEXT_ON_MISS, VBLANK_RELATIVE, VBLANK_SECONDARY, VBLANK_SIGNAL, WaitVblank,
};

use super::screen;
use crate::kernel::{
    files::file::File,
    ioctl::args::{argument, fill},
    modes::{Awaited, Object, Screen, has_passed},
    sync::events::{Until, monotonic_now},
};

const KNOWN: u32 =
    VBLANK_RELATIVE | VBLANK_HIGH_CRTC_MASK | VBLANK_EVENT | VBLANK_NEXT_ON_MISS | VBLANK_SECONDARY | VBLANK_SIGNAL;
/// The longest time that a request waits for its vertical blank.
const LONGEST: Duration = Duration::from_secs(3);

/// Returns the display if the CRTC with the given index is active.
fn active(file: &File, crtc: u32) -> Result<&Arc<Screen>, Errno> {
    let screen = screen(file)?;
    if screen.configuration().is_active(crtc) { Ok(screen) } else { Err(Errno::EINVAL) }
}

/// Returns the vertical blank to wait for: the requested one or, if that is over and `moves_on` is set, the next one.
const fn wanted(count: u64, asked: u64, moves_on: bool) -> u64 {
    if moves_on && has_passed(count, asked) { count + 1 } else { asked }
}

/// Sends the event of a vertical blank to the file, now or when the vertical blank comes. Returns the number of the vertical blank,
/// or of the last one if it is already over.
fn queue_event(file: &File, screen: &Arc<Screen>, awaited: Awaited) -> Result<u64, Errno> {
    file.outbox.reserve()?;
    let count = screen.blanks.count();
    if has_passed(count, awaited.count) {
        awaited.deliver(screen.blanks, count);
        return Ok(count);
    }
    let wanted = awaited.count;
    screen.await_blank(awaited);
    Ok(wanted)
}

/// Returns the index of a CRTC from its index among those that the file's master may use.
fn nth_visible(file: &File, nth: u32) -> Result<u32, Errno> {
    let visible = (0..).zip(file.gpu.display.modes.crtcs()).filter(|(_, id)| file.node.holds(*id));
    visible.map(|(index, _)| index).nth(nth as usize).ok_or(Errno::EINVAL)
}

/// Performs WAIT_VBLANK.
pub(crate) fn wait(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let request: WaitVblank = argument(bytes)?;
    let has = |flag: u32| request.kind & flag != 0;
    if has(VBLANK_SIGNAL) || request.kind & !KNOWN != 0 {
        return Err(Errno::EINVAL);
    }
    let by_index = (request.kind & VBLANK_HIGH_CRTC_MASK) >> VBLANK_HIGH_CRTC_MASK.trailing_zeros();
    let asked = if by_index != 0 { by_index } else { u32::from(has(VBLANK_SECONDARY)) };
    let crtc = nth_visible(file, asked)?;
    let screen = active(file, crtc)?;
    let (blanks, count) = (screen.blanks, screen.blanks.count());
    let asked = if has(VBLANK_RELATIVE) { count + u64::from(request.sequence) } else { blanks.wide(request.sequence) };
    let wanted = wanted(count, asked, has(VBLANK_NEXT_ON_MISS));
    if has(VBLANK_EVENT) {
        let (crtc_id, user_data) = (file.gpu.display.modes.crtc(crtc), request.signal);
        let outbox = Arc::clone(&file.outbox);
        let count =
            queue_event(file, screen, Awaited { count: wanted, crtc_id, user_data, is_sequence: false, outbox })?;
        return fill(bytes, &WaitVblank { sequence: count as u32, ..request });
    }
    let is_over = || has_passed(blanks.count(), wanted) || !screen.configuration().is_active(crtc);
    let left = blanks.at(wanted).saturating_sub(monotonic_now()).max(1);
    let until = Until::after(Some(left.min(LONGEST.as_nanos() as u64)));
    file.gpu.machine.events.wait(until, || is_over().then_some(())).ok_or(Errno::EBUSY)?;
    let count = blanks.count();
    let time = Duration::from_nanos(blanks.at(count));
    let answer = WaitVblank {
        sequence: count as u32,
        signal: time.as_secs(),
        microseconds: time.subsec_micros().into(),
        ..request
    };
    fill(bytes, &answer)
}

/// Performs CRTC_GET_SEQUENCE.
pub(crate) fn get_sequence(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let CrtcGetSequence { crtc_id, .. } = argument(bytes)?;
    let Some(Object::Crtc(crtc)) = file.object(crtc_id) else { return Err(Errno::ENOENT) };
    let blanks = active(file, crtc)?.blanks;
    let sequence = blanks.count();
    let sequence_ns = blanks.at(sequence).cast_signed();
    fill(bytes, &CrtcGetSequence { crtc_id, active: 1, sequence, sequence_ns })
}

/// Performs CRTC_QUEUE_SEQUENCE.
pub(crate) fn queue_sequence(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let request: CrtcQueueSequence = argument(bytes)?;
    let CrtcQueueSequence { crtc_id, flags, user_data, .. } = request;
    let Some(Object::Crtc(crtc)) = file.object(crtc_id) else { return Err(Errno::ENOENT) };
    if flags & !(CRTC_SEQUENCE_RELATIVE | CRTC_SEQUENCE_NEXT_ON_MISS) != 0 {
        return Err(Errno::EINVAL);
    }
    let screen = active(file, crtc)?;
    let count = screen.blanks.count();
    let start = if flags & CRTC_SEQUENCE_RELATIVE != 0 { count } else { 0 };
    let asked = request.sequence.wrapping_add(start);
    let wanted = wanted(count, asked, flags & CRTC_SEQUENCE_NEXT_ON_MISS != 0);
    let outbox = Arc::clone(&file.outbox);
    let sequence = queue_event(file, screen, Awaited { count: wanted, crtc_id, user_data, is_sequence: true, outbox })?;
    fill(bytes, &CrtcQueueSequence { sequence, ..request })
}
