//! Requests that create and show framebuffers, and the event of a page flip.
//!
//! Source: Linux 6.12 `include/uapi/drm/drm_mode.h` and `drm.h`; behaviour: `drm_framebuffer.c`, `drm_crtc.c`, `drm_plane.c`,
//! `drm_vblank.c`.

use crate::structures::{
    ModeCrtc, Request,
    macros::{requests, uapi},
};

uapi! {
    /// The timing of a display mode.
    struct ModeInfo = "drm_mode_modeinfo", 68 bytes {
        /// Pixel clock in kHz.
        0 clock: u32,
        /// Visible width in pixels.
        4 hdisplay: u16,
        /// Start of the horizontal sync pulse in pixels.
        6 hsync_start: u16,
        /// End of the horizontal sync pulse in pixels.
        8 hsync_end: u16,
        /// Total width of a line in pixels.
        10 htotal: u16,
        /// Horizontal skew in pixels.
        12 hskew: u16,
        /// Visible height in lines.
        14 vdisplay: u16,
        /// Start of the vertical sync pulse in lines.
        16 vsync_start: u16,
        /// End of the vertical sync pulse in lines.
        18 vsync_end: u16,
        /// Total height of a frame in lines.
        20 vtotal: u16,
        /// Number of scans of a line; 0 and 1 both mean one.
        22 vscan: u16,
        /// Number of frames per second.
        24 vrefresh: u32,
        /// Flags, such as the polarities of the sync pulses.
        28 flags: u32,
        /// Origin of the mode, such as [`MODE_TYPE_PREFERRED`].
        32 kind: u32 as "type",
        /// Name of the mode, NUL-terminated.
        36 name: [u8; 32],
    }

    /// MODE_ADDFB: creates a framebuffer from a BO with a linear image. MODE_GETFB queries one.
    struct ModeFbCmd = "drm_mode_fb_cmd", 28 bytes {
        /// ID of the framebuffer.
        0 fb_id: u32,
        /// Width of the framebuffer in pixels.
        4 width: u32,
        /// Height of the framebuffer in pixels.
        8 height: u32,
        /// Distance between rows in bytes.
        12 pitch: u32,
        /// Bits per pixel.
        16 bpp: u32,
        /// Number of colour bits per pixel.
        20 depth: u32,
        /// GEM handle of the BO.
        24 handle: u32,
    }

    /// MODE_ADDFB2: creates a framebuffer from BOs with a format and modifier. MODE_GETFB2 queries one.
    struct ModeFbCmd2 = "drm_mode_fb_cmd2", 104 bytes {
        /// ID of the framebuffer.
        0 fb_id: u32,
        /// Width of the framebuffer in pixels.
        4 width: u32,
        /// Height of the framebuffer in pixels.
        8 height: u32,
        /// Pixel format, a constant of `drm_fourcc.h`.
        12 pixel_format: u32,
        /// Flags, such as [`MODE_FB_MODIFIERS`] if the modifiers are valid.
        16 flags: u32,
        /// GEM handles of the planes' BOs.
        20 handles: [u32; 4],
        /// Distances between rows of the planes in bytes.
        36 pitches: [u32; 4],
        /// Offsets of the planes in their BOs in bytes.
        52 offsets: [u32; 4],
        /// Always 0.
        68 padding: u32 as "",
        /// Modifiers of the planes.
        72 modifier: [u64; 4],
    }

    /// MODE_PAGE_FLIP: shows another framebuffer, starting with the next vertical blank.
    struct ModePageFlip = "drm_mode_crtc_page_flip", 24 bytes {
        /// ID of the CRTC.
        0 crtc_id: u32,
        /// ID of the framebuffer.
        4 fb_id: u32,
        /// Options of the flip: [`MODE_PAGE_FLIP_EVENT`] and [`MODE_PAGE_FLIP_ASYNC`].
        8 flags: u32,
        /// Must be 0.
        12 reserved: u32,
        /// A value chosen by the caller, which the kernel copies to the event.
        16 user_data: u64,
    }

    /// MODE_DIRTYFB: reports that the CPU has drawn to a framebuffer.
    struct ModeFbDirty = "drm_mode_fb_dirty_cmd", 24 bytes {
        /// ID of the framebuffer.
        0 fb_id: u32,
        /// The meaning of the rectangles: [`MODE_FB_DIRTY_COPY`] or [`MODE_FB_DIRTY_FILL`]; 0 for changed areas.
        4 flags: u32,
        /// Colour of a fill.
        8 color: u32,
        /// Number of rectangles that were drawn.
        12 num_clips: u32,
        /// Address of the array of rectangles, with 8 bytes each.
        16 clips_ptr: u64,
    }

    /// MODE_CLOSEFB: releases a framebuffer of the file. Planes that show it keep it.
    struct ModeCloseFb = "drm_mode_closefb", 8 bytes {
        /// ID of the framebuffer.
        0 fb_id: u32,
        /// Must be 0.
        4 pad: u32,
    }

    /// The event of a page flip or vertical blank, which is read from a primary node's file.
    struct EventVblank = "drm_event_vblank", 32 bytes {
        /// Kind of the event, such as [`EVENT_FLIP_COMPLETE`].
        0 kind: u32 as "base.type",
        /// Length of the event in bytes.
        4 length: u32 as "base.length",
        /// The `user_data` of the request.
        8 user_data: u64,
        /// Time of the vertical blank on CLOCK_MONOTONIC: whole seconds.
        16 tv_sec: u32,
        /// Time of the vertical blank on CLOCK_MONOTONIC: microseconds within the second.
        20 tv_usec: u32,
        /// Number of the vertical blank, counted by the CRTC.
        24 sequence: u32,
        /// ID of the CRTC.
        28 crtc_id: u32,
    }
}

requests! {
    ModeFbDirty: "MODE_DIRTYFB" = read_write(0xb1), 0xc018_64b1, change with addresses;
    ModeCloseFb: "MODE_CLOSEFB" = read_write(0xd0), 0xc008_64d0, destroy;
    ModeFbCmd: "MODE_ADDFB" = read_write(0xae), 0xc01c_64ae, share;
    ModePageFlip: "MODE_PAGE_FLIP" = read_write(0xb0), 0xc018_64b0, change;
    ModeFbCmd2: "MODE_ADDFB2" = read_write(0xb8), 0xc068_64b8, share;
}

/// The request MODE_SETCRTC, which carries a [`ModeCrtc`].
pub const MODE_SETCRTC: Request = Request::read_write::<ModeCrtc>(b'd', 0xa2);
/// The request MODE_RMFB, which carries the ID of a framebuffer.
pub const MODE_RMFB: Request = Request::read_write::<u32>(b'd', 0xaf);

/// The request MODE_GETFB, which carries a [`ModeFbCmd`].
pub const MODE_GETFB: Request = Request::read_write::<ModeFbCmd>(b'd', 0xad);
/// The request MODE_GETFB2, which carries a [`ModeFbCmd2`].
pub const MODE_GETFB2: Request = Request::read_write::<ModeFbCmd2>(b'd', 0xce);

/// A flag of [`ModeFbDirty::flags`]: the rectangles are pairs of a source and the destination to which it was copied.
pub const MODE_FB_DIRTY_COPY: u32 = 1;
/// A flag of [`ModeFbDirty::flags`]: the rectangles were filled with one colour.
pub const MODE_FB_DIRTY_FILL: u32 = 2;

/// A value of [`ModeGetConnector::connection`](super::ModeGetConnector::connection): a display is connected.
pub const MODE_CONNECTED: u32 = 1;
/// A flag of [`ModeInfo::kind`]: the preferred mode of the display.
pub const MODE_TYPE_PREFERRED: u32 = 1 << 3;
/// A flag of [`ModeInfo::kind`]: the display or driver reported the mode.
pub const MODE_TYPE_DRIVER: u32 = 1 << 6;
/// A flag of [`ModeFbCmd2::flags`]: the framebuffer is a field of an interlaced frame.
pub const MODE_FB_INTERLACED: u32 = 1 << 0;
/// A flag of [`ModeFbCmd2::flags`]: the modifiers are valid.
pub const MODE_FB_MODIFIERS: u32 = 1 << 1;
/// A flag of [`ModePageFlip::flags`]: sends an event when the framebuffer is shown.
pub const MODE_PAGE_FLIP_EVENT: u32 = 1 << 0;
/// A flag of [`ModePageFlip::flags`]: shows the framebuffer at once.
pub const MODE_PAGE_FLIP_ASYNC: u32 = 1 << 1;
/// The kind of an [`EventVblank`] after a page flip.
pub const EVENT_FLIP_COMPLETE: u32 = 2;
