//! Requests of mode setting that make framebuffers and show them, and the events that tell when they are shown.
//!
//! Source: Linux 6.12 `include/uapi/drm/drm_mode.h` and `drm.h`; behaviour: `drm_framebuffer.c`, `drm_crtc.c`, `drm_plane.c`,
//! `drm_vblank.c`.

use crate::structures::{
    ModeCrtc, Request,
    macros::{requests, uapi},
};

uapi! {
    /// The timing of a display, as modes have it.
    struct ModeInfo = "drm_mode_modeinfo", 68 bytes {
        /// Pixel clock, kHz.
        0 clock: u32,
        /// Width that shows, pixels.
        4 hdisplay: u16,
        /// Start of the horizontal sync pulse, pixels.
        6 hsync_start: u16,
        /// End of the horizontal sync pulse, pixels.
        8 hsync_end: u16,
        /// Length of a line, pixels.
        10 htotal: u16,
        /// Skew, pixels.
        12 hskew: u16,
        /// Height that shows, lines.
        14 vdisplay: u16,
        /// Start of the vertical sync pulse, lines.
        16 vsync_start: u16,
        /// End of the vertical sync pulse, lines.
        18 vsync_end: u16,
        /// Lines of a frame.
        20 vtotal: u16,
        /// Scans of a line; 0 and 1 are one.
        22 vscan: u16,
        /// Frames a second.
        24 vrefresh: u32,
        /// Polarities of the sync pulses and more.
        28 flags: u32,
        /// Origin, such as [`MODE_TYPE_PREFERRED`].
        32 kind: u32 as "type",
        /// Name, NUL-terminated.
        36 name: [u8; 32],
    }

    /// MODE_ADDFB: makes a framebuffer of a BO with rows of pixels.
    struct ModeFbCmd = "drm_mode_fb_cmd", 28 bytes {
        /// The new framebuffer's id.
        0 fb_id: u32,
        /// Width, pixels.
        4 width: u32,
        /// Height, pixels.
        8 height: u32,
        /// Bytes from one row to the next.
        12 pitch: u32,
        /// Bits of a pixel.
        16 bpp: u32,
        /// Bits of a pixel's colour.
        20 depth: u32,
        /// The BO.
        24 handle: u32,
    }

    /// MODE_ADDFB2: makes a framebuffer of BOs by format and modifier.
    struct ModeFbCmd2 = "drm_mode_fb_cmd2", 104 bytes {
        /// The new framebuffer's id.
        0 fb_id: u32,
        /// Width, pixels.
        4 width: u32,
        /// Height, pixels.
        8 height: u32,
        /// Format (`drm_fourcc.h`).
        12 pixel_format: u32,
        /// [`MODE_FB_MODIFIERS`] if the modifiers count.
        16 flags: u32,
        /// BOs of the planes.
        20 handles: [u32; 4],
        /// Bytes from one row of each plane to the next.
        36 pitches: [u32; 4],
        /// Starts of the planes in their BOs, bytes.
        52 offsets: [u32; 4],
        /// Always 0.
        68 padding: u32 as "",
        /// Modifiers of the planes.
        72 modifier: [u64; 4],
    }

    /// MODE_PAGE_FLIP: shows another framebuffer from the next vertical blank on.
    struct ModePageFlip = "drm_mode_crtc_page_flip", 24 bytes {
        /// The CRTC.
        0 crtc_id: u32,
        /// The framebuffer.
        4 fb_id: u32,
        /// [`MODE_PAGE_FLIP_EVENT`] and [`MODE_PAGE_FLIP_ASYNC`].
        8 flags: u32,
        /// Must be 0.
        12 reserved: u32,
        /// Number that the event repeats.
        16 user_data: u64,
    }

    /// MODE_DIRTYFB: the CPU drew into a framebuffer.
    struct ModeFbDirty = "drm_mode_fb_dirty_cmd", 24 bytes {
        /// The framebuffer.
        0 fb_id: u32,
        /// Annotations, [`MODE_FB_DIRTY_COPY`] and [`MODE_FB_DIRTY_FILL`].
        4 flags: u32,
        /// Colour of a fill.
        8 color: u32,
        /// Rectangles that were drawn.
        12 num_clips: u32,
        /// Address of an array of rectangles, 8 bytes each.
        16 clips_ptr: u64,
    }

    /// MODE_CLOSEFB: gives up a framebuffer of the file, which planes that show it keep.
    struct ModeCloseFb = "drm_mode_closefb", 8 bytes {
        /// The framebuffer.
        0 fb_id: u32,
        /// Must be 0.
        4 pad: u32,
    }

    /// An event that a primary node's file reads once a framebuffer is shown.
    struct EventVblank = "drm_event_vblank", 32 bytes {
        /// Kind, such as [`EVENT_FLIP_COMPLETE`].
        0 kind: u32 as "base.type",
        /// Length of the event, bytes.
        4 length: u32 as "base.length",
        /// Number that the request gave.
        8 user_data: u64,
        /// Time of the vertical blank on the monotonic clock, seconds.
        16 tv_sec: u32,
        /// Its microseconds.
        20 tv_usec: u32,
        /// Number of the vertical blank.
        24 sequence: u32,
        /// The CRTC.
        28 crtc_id: u32,
    }
}

requests! {
    ModeFbDirty: "MODE_DIRTYFB" = read_write(0xb1), 0xc018_64b1;
    ModeCloseFb: "MODE_CLOSEFB" = read_write(0xd0), 0xc008_64d0;
    ModeFbCmd: "MODE_ADDFB" = read_write(0xae), 0xc01c_64ae;
    ModePageFlip: "MODE_PAGE_FLIP" = read_write(0xb0), 0xc018_64b0;
    ModeFbCmd2: "MODE_ADDFB2" = read_write(0xb8), 0xc068_64b8;
}

/// MODE_SETCRTC, with a [`ModeCrtc`].
pub const MODE_SETCRTC: Request = Request::read_write::<ModeCrtc>(b'd', 0xa2);
/// MODE_RMFB, with a framebuffer's id.
pub const MODE_RMFB: Request = Request::read_write::<u32>(b'd', 0xaf);

/// MODE_GETFB, with a [`ModeFbCmd`].
pub const MODE_GETFB: Request = Request::read_write::<ModeFbCmd>(b'd', 0xad);
/// MODE_GETFB2, with a [`ModeFbCmd2`].
pub const MODE_GETFB2: Request = Request::read_write::<ModeFbCmd2>(b'd', 0xce);

/// Flag of DIRTYFB: the rectangles are pairs, of which the second is a copy of the first.
pub const MODE_FB_DIRTY_COPY: u32 = 1;
/// Flag of DIRTYFB: the rectangles were filled with one colour.
pub const MODE_FB_DIRTY_FILL: u32 = 2;

/// A display is plugged in.
pub const MODE_CONNECTED: u32 = 1;
/// The mode that a display likes best.
pub const MODE_TYPE_PREFERRED: u32 = 1 << 3;
/// A mode that the display itself tells.
pub const MODE_TYPE_DRIVER: u32 = 1 << 6;
/// A framebuffer of a field of an interlaced frame.
pub const MODE_FB_INTERLACED: u32 = 1 << 0;
/// The modifiers of a framebuffer count.
pub const MODE_FB_MODIFIERS: u32 = 1 << 1;
/// An event tells when the framebuffer is shown.
pub const MODE_PAGE_FLIP_EVENT: u32 = 1 << 0;
/// The framebuffer is shown at once.
pub const MODE_PAGE_FLIP_ASYNC: u32 = 1 << 1;
/// The kind of an [`EventVblank`] after a page flip.
pub const EVENT_FLIP_COMPLETE: u32 = 2;
