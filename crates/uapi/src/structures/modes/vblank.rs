//! Requests that wait for vertical blanks or count them, and the event of a count.
//!
//! Source: Linux 6.12 `include/uapi/drm/drm.h`; behaviour: `drm_vblank.c`.

use crate::structures::macros::{requests, uapi};

uapi! {
    /// WAIT_VBLANK: waits for a vertical blank, or asks for an event. The question is a type, a count and a number for the
    /// event; the answer has the time in place of that number.
    struct WaitVblank = "drm_wait_vblank", 24 bytes {
        /// [`VBLANK_RELATIVE`] or not, with [`VBLANK_EVENT`], [`VBLANK_NEXT_ON_MISS`] and the index of a CRTC.
        0 kind: u32 as "request.type",
        /// The vertical blank; in the answer the one that is over.
        4 sequence: u32 as "request.sequence",
        /// Number that the event repeats; in the answer the time, seconds of the monotonic clock.
        8 signal: u64 as "request.signal",
        /// In the answer the microseconds of the time.
        16 microseconds: u64 as "reply.tval_usec",
    }

    /// CRTC_GET_SEQUENCE: the vertical blanks of a CRTC so far.
    struct CrtcGetSequence = "drm_crtc_get_sequence", 24 bytes {
        /// The CRTC.
        0 crtc_id: u32,
        /// 1 if it has a mode.
        4 active: u32,
        /// Vertical blanks so far.
        8 sequence: u64,
        /// Time of the last one on the monotonic clock, ns.
        16 sequence_ns: i64,
    }

    /// CRTC_QUEUE_SEQUENCE: asks for an event at a vertical blank.
    struct CrtcQueueSequence = "drm_crtc_queue_sequence", 24 bytes {
        /// The CRTC.
        0 crtc_id: u32,
        /// [`CRTC_SEQUENCE_RELATIVE`] and [`CRTC_SEQUENCE_NEXT_ON_MISS`].
        4 flags: u32,
        /// The vertical blank; in the answer counted from the first.
        8 sequence: u64,
        /// Number that the event repeats.
        16 user_data: u64,
    }

    /// An event that a primary node's file reads at a vertical blank that CRTC_QUEUE_SEQUENCE asked for.
    struct EventCrtcSequence = "drm_event_crtc_sequence", 32 bytes {
        /// [`EVENT_CRTC_SEQUENCE`].
        0 kind: u32 as "base.type",
        /// Length of the event, bytes.
        4 length: u32 as "base.length",
        /// Number that the request gave.
        8 user_data: u64,
        /// Time of the vertical blank on the monotonic clock, ns.
        16 time_ns: i64,
        /// Number of the vertical blank.
        24 sequence: u64,
    }
}

requests! {
    WaitVblank: "WAIT_VBLANK" = read_write(0x3a), 0xc018_643a;
    CrtcGetSequence: "CRTC_GET_SEQUENCE" = read_write(0x3b), 0xc018_643b;
    CrtcQueueSequence: "CRTC_QUEUE_SEQUENCE" = read_write(0x3c), 0xc018_643c;
}

/// The count of a WAIT_VBLANK is from now on.
pub const VBLANK_RELATIVE: u32 = 1;
/// The index of a CRTC in a WAIT_VBLANK.
pub const VBLANK_HIGH_CRTC_MASK: u32 = 0x3e;
/// An event tells of the vertical blank, and the request does not wait.
pub const VBLANK_EVENT: u32 = 0x0400_0000;
/// A vertical blank that is over counts as the next one.
pub const VBLANK_NEXT_ON_MISS: u32 = 0x1000_0000;
/// The second CRTC, for clients that know no indices.
pub const VBLANK_SECONDARY: u32 = 0x2000_0000;
/// A signal for the vertical blank, which no kernel sends any more.
pub const VBLANK_SIGNAL: u32 = 0x4000_0000;
/// The count of a CRTC_QUEUE_SEQUENCE is from now on.
pub const CRTC_SEQUENCE_RELATIVE: u32 = 1;
/// A vertical blank that is over counts as the next one.
pub const CRTC_SEQUENCE_NEXT_ON_MISS: u32 = 2;
/// The kind of an [`EventVblank`](super::EventVblank) of WAIT_VBLANK.
pub const EVENT_VBLANK: u32 = 1;
/// The kind of an [`EventCrtcSequence`].
pub const EVENT_CRTC_SEQUENCE: u32 = 3;
