//! Requests of planes, cursors and gamma tables that are older than atomic commits.
//!
//! Source: Linux 6.12 `include/uapi/drm/drm_mode.h`; behaviour: `drm_plane.c`, `drm_color_mgmt.c`.

use crate::structures::{
    Request,
    macros::{requests, uapi},
};

uapi! {
    /// MODE_SETPLANE: shows a part of a framebuffer on a plane.
    struct ModeSetPlane = "drm_mode_set_plane", 48 bytes {
        /// The plane.
        0 plane_id: u32,
        /// The CRTC that shows it.
        4 crtc_id: u32,
        /// The framebuffer; 0 turns the plane off.
        8 fb_id: u32,
        /// Not used.
        12 flags: u32,
        /// Position on the display, pixels.
        16 crtc_x: i32,
        /// Position on the display, pixels.
        20 crtc_y: i32,
        /// Width on the display, pixels.
        24 crtc_w: u32,
        /// Height on the display, pixels.
        28 crtc_h: u32,
        /// Position in the framebuffer, in units of 1/65536 of a pixel.
        32 src_x: u32,
        /// Position in the framebuffer, in units of 1/65536 of a pixel.
        36 src_y: u32,
        /// Height in the framebuffer, in units of 1/65536 of a pixel.
        40 src_h: u32,
        /// Width in the framebuffer, in units of 1/65536 of a pixel.
        44 src_w: u32,
    }

    /// MODE_CURSOR: moves the cursor of a CRTC, or gives it a picture.
    struct ModeCursor = "drm_mode_cursor", 28 bytes {
        /// [`MODE_CURSOR_BO`] and [`MODE_CURSOR_MOVE`].
        0 flags: u32,
        /// The CRTC.
        4 crtc_id: u32,
        /// Position on the display, pixels.
        8 x: i32,
        /// Position on the display, pixels.
        12 y: i32,
        /// Width of the picture, pixels.
        16 width: u32,
        /// Height of the picture, pixels.
        20 height: u32,
        /// The BO with the picture; 0 hides the cursor.
        24 handle: u32,
    }

    /// MODE_CURSOR2: the same with the point in the picture that points.
    struct ModeCursor2 = "drm_mode_cursor2", 36 bytes {
        /// See [`ModeCursor`], as the fields that follow.
        0 flags: u32,
        /// The CRTC.
        4 crtc_id: u32,
        /// Position on the display, pixels.
        8 x: i32,
        /// Position on the display, pixels.
        12 y: i32,
        /// Width of the picture, pixels.
        16 width: u32,
        /// Height of the picture, pixels.
        20 height: u32,
        /// The BO with the picture; 0 hides the cursor.
        24 handle: u32,
        /// Position of the point, pixels.
        28 hot_x: i32,
        /// Position of the point, pixels.
        32 hot_y: i32,
    }

    /// MODE_GETGAMMA: reads the gamma table of a CRTC.
    struct ModeCrtcLut = "drm_mode_crtc_lut", 32 bytes {
        /// The CRTC.
        0 crtc_id: u32,
        /// Entries of each table.
        4 gamma_size: u32,
        /// Address of an array of u16.
        8 red: u64,
        /// Address of an array of u16.
        16 green: u64,
        /// Address of an array of u16.
        24 blue: u64,
    }

    /// An entry of the table that the property GAMMA_LUT names.
    struct ColorLut = "drm_color_lut", 8 bytes {
        /// Red, of 65535.
        0 red: u16,
        /// Green, of 65535.
        2 green: u16,
        /// Blue, of 65535.
        4 blue: u16,
        /// Not used.
        6 reserved: u16,
    }
}

requests! {
    ModeCursor: "MODE_CURSOR" = read_write(0xa3), 0xc01c_64a3;
    ModeCrtcLut: "MODE_GETGAMMA" = read_write(0xa4), 0xc020_64a4;
    ModeSetPlane: "MODE_SETPLANE" = read_write(0xb7), 0xc030_64b7;
    ModeCursor2: "MODE_CURSOR2" = read_write(0xbb), 0xc024_64bb;
}

/// MODE_SETGAMMA, with a [`ModeCrtcLut`].
pub const MODE_SETGAMMA: Request = Request::read_write::<ModeCrtcLut>(b'd', 0xa5);

/// The cursor gets a picture.
pub const MODE_CURSOR_BO: u32 = 1 << 0;
/// The cursor moves.
pub const MODE_CURSOR_MOVE: u32 = 1 << 1;
