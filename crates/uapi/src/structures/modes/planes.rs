//! Requests for planes, cursors and gamma tables without atomic commits.
//!
//! Source: Linux 6.12 `include/uapi/drm/drm_mode.h`; behaviour: `drm_plane.c`, `drm_color_mgmt.c`.

use crate::structures::{
    Request,
    macros::{requests, uapi},
};

uapi! {
    /// MODE_SETPLANE: shows a part of a framebuffer on a plane.
    struct ModeSetPlane = "drm_mode_set_plane", 48 bytes {
        /// ID of the plane.
        0 plane_id: u32,
        /// The CRTC on which it is shown.
        4 crtc_id: u32,
        /// The framebuffer; 0 to disable the plane.
        8 fb_id: u32,
        /// Ignored.
        12 flags: u32,
        /// Horizontal position on the display in pixels.
        16 crtc_x: i32,
        /// Vertical position on the display in pixels.
        20 crtc_y: i32,
        /// Width on the display in pixels.
        24 crtc_w: u32,
        /// Height on the display in pixels.
        28 crtc_h: u32,
        /// Horizontal position in the framebuffer in units of 1/65536 of a pixel.
        32 src_x: u32,
        /// Vertical position in the framebuffer in units of 1/65536 of a pixel.
        36 src_y: u32,
        /// Height in the framebuffer, in units of 1/65536 of a pixel.
        40 src_h: u32,
        /// Width in the framebuffer, in units of 1/65536 of a pixel.
        44 src_w: u32,
    }

    /// MODE_CURSOR: moves the cursor of a CRTC, or changes its image.
    struct ModeCursor = "drm_mode_cursor", 28 bytes {
        /// The changes to make: [`MODE_CURSOR_BO`], [`MODE_CURSOR_MOVE`] or both.
        0 flags: u32,
        /// ID of the CRTC.
        4 crtc_id: u32,
        /// Horizontal position on the display in pixels.
        8 x: i32,
        /// Vertical position on the display in pixels.
        12 y: i32,
        /// Width of the image in pixels.
        16 width: u32,
        /// Height of the image in pixels.
        20 height: u32,
        /// GEM handle of the BO with the image; 0 to hide the cursor.
        24 handle: u32,
    }

    /// MODE_CURSOR2: moves the cursor of a CRTC, or changes its image and hot spot.
    struct ModeCursor2 = "drm_mode_cursor2", 36 bytes {
        /// The changes to make: [`MODE_CURSOR_BO`], [`MODE_CURSOR_MOVE`] or both.
        0 flags: u32,
        /// ID of the CRTC.
        4 crtc_id: u32,
        /// Horizontal position on the display in pixels.
        8 x: i32,
        /// Vertical position on the display in pixels.
        12 y: i32,
        /// Width of the image in pixels.
        16 width: u32,
        /// Height of the image in pixels.
        20 height: u32,
        /// GEM handle of the BO with the image; 0 to hide the cursor.
        24 handle: u32,
        /// Horizontal position of the hot spot in the image, in pixels.
        28 hot_x: i32,
        /// Vertical position of the hot spot in the image, in pixels.
        32 hot_y: i32,
    }

    /// MODE_GETGAMMA and MODE_SETGAMMA: read or write the gamma table of a CRTC.
    struct ModeCrtcLut = "drm_mode_crtc_lut", 32 bytes {
        /// ID of the CRTC.
        0 crtc_id: u32,
        /// Number of entries of each table.
        4 gamma_size: u32,
        /// Address of the table for red, an array of u16.
        8 red: u64,
        /// Address of the table for green, an array of u16.
        16 green: u64,
        /// Address of the table for blue, an array of u16.
        24 blue: u64,
    }

    /// An entry of the table in the property GAMMA_LUT.
    struct ColorLut = "drm_color_lut", 8 bytes {
        /// Red, from 0 to 65535.
        0 red: u16,
        /// Green, from 0 to 65535.
        2 green: u16,
        /// Blue, from 0 to 65535.
        4 blue: u16,
        /// Ignored.
        6 reserved: u16,
    }
}

requests! {
    ModeCursor: "MODE_CURSOR" = read_write(0xa3), 0xc01c_64a3, change;
    ModeCrtcLut: "MODE_GETGAMMA" = read_write(0xa4), 0xc020_64a4, change with addresses;
    ModeSetPlane: "MODE_SETPLANE" = read_write(0xb7), 0xc030_64b7, change;
    ModeCursor2: "MODE_CURSOR2" = read_write(0xbb), 0xc024_64bb, change;
}

/// The request MODE_SETGAMMA, which carries a [`ModeCrtcLut`].
pub const MODE_SETGAMMA: Request = Request::read_write::<ModeCrtcLut>(b'd', 0xa5);

/// A flag of [`ModeCursor::flags`]: changes the image.
pub const MODE_CURSOR_BO: u32 = 1 << 0;
/// A flag of [`ModeCursor::flags`]: moves the cursor.
pub const MODE_CURSOR_MOVE: u32 = 1 << 1;
