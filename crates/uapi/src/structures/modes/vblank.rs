//! Requests that wait for vertical blanks or count them, and their event.
//!
//! Source: Linux 6.12 `include/uapi/drm/drm.h`; behaviour: `drm_vblank.c`.

use crate::structures::macros::{requests, uapi};

uapi! {
    /// WAIT_VBLANK: waits for a vertical blank, or requests an event for it. In the answer, `signal` and `microseconds` contain the
    /// time of the vertical blank.
    struct WaitVblank = "drm_wait_vblank", 24 bytes {
        /// The kind of wait: [`VBLANK_RELATIVE`], [`VBLANK_EVENT`], [`VBLANK_NEXT_ON_MISS`] and the index of a CRTC.
        0 kind: u32 as "request.type",
        /// The number of the vertical blank; in the answer the number of the last one.
        4 sequence: u32 as "request.sequence",
        /// A value chosen by the caller, which the kernel copies to the event; in the answer the seconds of CLOCK_MONOTONIC.
        8 signal: u64 as "request.signal",
        /// In the answer the microseconds of the time.
        16 microseconds: u64 as "reply.tval_usec",
    }

    /// CRTC_GET_SEQUENCE: queries the number of vertical blanks of a CRTC.
    struct CrtcGetSequence = "drm_crtc_get_sequence", 24 bytes {
        /// ID of the CRTC.
        0 crtc_id: u32,
        /// 1 if the CRTC has a mode.
        4 active: u32,
        /// Current vertical-blank count of the CRTC.
        8 sequence: u64,
        /// Time of the last vertical blank in ns of CLOCK_MONOTONIC.
        16 sequence_ns: i64,
    }

    /// CRTC_QUEUE_SEQUENCE: requests an event for a vertical blank.
    struct CrtcQueueSequence = "drm_crtc_queue_sequence", 24 bytes {
        /// ID of the CRTC.
        0 crtc_id: u32,
        /// The meaning of `sequence`: [`CRTC_SEQUENCE_RELATIVE`] and [`CRTC_SEQUENCE_NEXT_ON_MISS`].
        4 flags: u32,
        /// The number of the vertical blank; in the answer the absolute number.
        8 sequence: u64,
        /// A value chosen by the caller, which the kernel copies to the event.
        16 user_data: u64,
    }

    /// The event that CRTC_QUEUE_SEQUENCE requests, which is read from a primary node's file.
    struct EventCrtcSequence = "drm_event_crtc_sequence", 32 bytes {
        /// Kind of the event, always [`EVENT_CRTC_SEQUENCE`].
        0 kind: u32 as "base.type",
        /// Length of the event in bytes.
        4 length: u32 as "base.length",
        /// The `user_data` of the request.
        8 user_data: u64,
        /// Time of the vertical blank in ns of CLOCK_MONOTONIC.
        16 time_ns: i64,
        /// Number of the vertical blank.
        24 sequence: u64,
    }
}

requests! {
    WaitVblank: "WAIT_VBLANK" = read_write(0x3a), 0xc018_643a, change;
    CrtcGetSequence: "CRTC_GET_SEQUENCE" = read_write(0x3b), 0xc018_643b, query;
    CrtcQueueSequence: "CRTC_QUEUE_SEQUENCE" = read_write(0x3c), 0xc018_643c, change;
}

/// A flag of [`WaitVblank::kind`]: the number counts from the current vertical blank.
pub const VBLANK_RELATIVE: u32 = 1;
/// The mask of the CRTC index in [`WaitVblank::kind`].
pub const VBLANK_HIGH_CRTC_MASK: u32 = 0x3e;
/// A flag of [`WaitVblank::kind`]: sends an event instead of waiting.
pub const VBLANK_EVENT: u32 = 0x0400_0000;
/// A flag of [`WaitVblank::kind`]: if the vertical blank has passed, the next one is used.
pub const VBLANK_NEXT_ON_MISS: u32 = 0x1000_0000;
/// A flag of [`WaitVblank::kind`]: selects the second CRTC, for clients that do not use indices.
pub const VBLANK_SECONDARY: u32 = 0x2000_0000;
/// A flag of [`WaitVblank::kind`]: requests a signal, which kernels no longer support.
pub const VBLANK_SIGNAL: u32 = 0x4000_0000;
/// A flag of [`CrtcQueueSequence::flags`]: the number counts from the current vertical blank.
pub const CRTC_SEQUENCE_RELATIVE: u32 = 1;
/// A flag of [`CrtcQueueSequence::flags`]: if the vertical blank has passed, the next one is used.
pub const CRTC_SEQUENCE_NEXT_ON_MISS: u32 = 2;
/// The kind of an [`EventVblank`](super::EventVblank) of WAIT_VBLANK.
pub const EVENT_VBLANK: u32 = 1;
/// The kind of an [`EventCrtcSequence`].
pub const EVENT_CRTC_SEQUENCE: u32 = 3;
