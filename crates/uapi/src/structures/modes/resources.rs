//! Requests of mode setting that ask what a display engine has, and those of dumb buffers.
//!
//! Source: Linux 6.12 `include/uapi/drm/drm_mode.h`; behaviour: `drm_mode_config.c`, `drm_crtc.c`, `drm_connector.c`,
//! `drm_encoder.c`, `drm_plane.c`, `drm_property.c`, `drm_mode_object.c`, `drm_dumb_buffers.c`.

use crate::structures::macros::{requests, uapi};

uapi! {
    /// MODE_GETRESOURCES: the ids of what there is.
    struct ModeCardRes = "drm_mode_card_res", 64 bytes {
        /// Address of an array of ids of the file's framebuffers.
        0 fb_id_ptr: u64,
        /// Address of an array of ids.
        8 crtc_id_ptr: u64,
        /// Address of an array of ids.
        16 connector_id_ptr: u64,
        /// Address of an array of ids.
        24 encoder_id_ptr: u64,
        /// Length of the array, afterwards the number of framebuffers; so with the others.
        32 count_fbs: u32,
        /// See `count_fbs`.
        36 count_crtcs: u32,
        /// See `count_fbs`.
        40 count_connectors: u32,
        /// See `count_fbs`.
        44 count_encoders: u32,
        /// Smallest framebuffer, pixels.
        48 min_width: u32,
        /// Largest framebuffer, pixels.
        52 max_width: u32,
        /// Smallest framebuffer, pixels.
        56 min_height: u32,
        /// Largest framebuffer, pixels.
        60 max_height: u32,
    }

    /// MODE_GETCRTC: the state of a CRTC.
    struct ModeCrtc = "drm_mode_crtc", 104 bytes {
        /// Address of an array of connectors; not used to ask.
        0 set_connectors_ptr: u64,
        /// Length of the array.
        8 count_connectors: u32,
        /// The CRTC.
        12 crtc_id: u32,
        /// The framebuffer that it scans out, or 0.
        16 fb_id: u32,
        /// Position in the framebuffer.
        20 x: u32,
        /// Position in the framebuffer.
        24 y: u32,
        /// Entries of the gamma table.
        28 gamma_size: u32,
        /// 1 if it has a mode.
        32 mode_valid: u32,
        /// The mode, `struct drm_mode_modeinfo`.
        36 mode: [u8; 68],
    }

    /// MODE_GETENCODER: an encoder.
    struct ModeGetEncoder = "drm_mode_get_encoder", 20 bytes {
        /// The encoder.
        0 encoder_id: u32,
        /// Its kind, such as [`MODE_ENCODER_TMDS`].
        4 encoder_type: u32,
        /// The CRTC that it is fed from, or 0.
        8 crtc_id: u32,
        /// Mask of CRTCs, by their index, that can feed it.
        12 possible_crtcs: u32,
        /// Mask of encoders, by their index, that can show the same.
        16 possible_clones: u32,
    }

    /// MODE_GETCONNECTOR: a connector.
    struct ModeGetConnector = "drm_mode_get_connector", 80 bytes {
        /// Address of an array of ids.
        0 encoders_ptr: u64,
        /// Address of an array of modes.
        8 modes_ptr: u64,
        /// Address of an array of ids of properties.
        16 props_ptr: u64,
        /// Address of an array of the properties' values.
        24 prop_values_ptr: u64,
        /// Length of the array, afterwards the number of modes.
        32 count_modes: u32,
        /// Length of the arrays, afterwards the number of properties.
        36 count_props: u32,
        /// Length of the array, afterwards the number of encoders.
        40 count_encoders: u32,
        /// The encoder in use, or 0.
        44 encoder_id: u32,
        /// The connector.
        48 connector_id: u32,
        /// Its kind, such as [`MODE_CONNECTOR_DISPLAY_PORT`].
        52 connector_type: u32,
        /// Its number among those of its kind, from 1 on.
        56 connector_type_id: u32,
        /// 1 connected, [`MODE_DISCONNECTED`], 3 unknown.
        60 connection: u32,
        /// Width of the display, mm.
        64 mm_width: u32,
        /// Height of the display, mm.
        68 mm_height: u32,
        /// Order of the subpixels; 0 for unknown.
        72 subpixel: u32,
        /// Always 0.
        76 pad: u32,
    }

    /// MODE_GETPROPERTY: a property.
    struct ModeGetProperty = "drm_mode_get_property", 64 bytes {
        /// Address of an array of u64: bounds of a range, values of an enum, the kind of an object.
        0 values_ptr: u64,
        /// Address of an array of [`ModePropertyEnum`].
        8 enum_blob_ptr: u64,
        /// The property.
        16 prop_id: u32,
        /// Its kind and rights.
        20 flags: u32,
        /// Its name, NUL-terminated.
        24 name: [u8; 32],
        /// Length of the array, afterwards the number of values.
        56 count_values: u32,
        /// Length of the array, afterwards the number of an enum's values.
        60 count_enum_blobs: u32,
    }

    /// One value of a property that is an enum.
    struct ModePropertyEnum = "drm_mode_property_enum", 40 bytes {
        /// The value.
        0 value: u64,
        /// Its name, NUL-terminated.
        8 name: [u8; 32],
    }

    /// MODE_GETPROPBLOB: the content of a blob.
    struct ModeGetBlob = "drm_mode_get_blob", 16 bytes {
        /// The blob.
        0 blob_id: u32,
        /// Room in bytes, afterwards the blob's length.
        4 length: u32,
        /// Address for the content.
        8 data: u64,
    }

    /// MODE_CREATE_DUMB: a BO for pixels that the CPU draws.
    struct ModeCreateDumb = "drm_mode_create_dumb", 32 bytes {
        /// Height, pixels.
        0 height: u32,
        /// Width, pixels.
        4 width: u32,
        /// Bits of a pixel.
        8 bpp: u32,
        /// Must be 0.
        12 flags: u32,
        /// The new BO's handle.
        16 handle: u32,
        /// Length of its rows, bytes.
        20 pitch: u32,
        /// Its length, bytes.
        24 size: u64,
    }

    /// MODE_MAP_DUMB: the offset at which to map it.
    struct ModeMapDumb = "drm_mode_map_dumb", 16 bytes {
        /// The BO.
        0 handle: u32,
        /// Not used.
        4 pad: u32,
        /// The offset for `mmap` of the node.
        8 offset: u64,
    }

    /// MODE_DESTROY_DUMB: closes the handle.
    struct ModeDestroyDumb = "drm_mode_destroy_dumb", 4 bytes {
        /// The BO.
        0 handle: u32,
    }

    /// MODE_GETPLANERESOURCES: the ids of the planes.
    struct ModeGetPlaneRes = "drm_mode_get_plane_res", 16 bytes {
        /// Address of an array of ids.
        0 plane_id_ptr: u64,
        /// Length of the array, afterwards the number of planes.
        8 count_planes: u32,
        /// Always 0.
        12 padding: u32 as "",
    }

    /// MODE_GETPLANE: a plane.
    struct ModeGetPlane = "drm_mode_get_plane", 32 bytes {
        /// The plane.
        0 plane_id: u32,
        /// The CRTC that shows it, or 0.
        4 crtc_id: u32,
        /// The framebuffer that it shows, or 0.
        8 fb_id: u32,
        /// Mask of CRTCs, by their index, that can show it.
        12 possible_crtcs: u32,
        /// Always 0.
        16 gamma_size: u32,
        /// Length of the array, afterwards the number of formats.
        20 count_format_types: u32,
        /// Address of an array of formats (`drm_fourcc.h`).
        24 format_type_ptr: u64,
    }

    /// MODE_OBJ_GETPROPERTIES: the properties of an object.
    struct ModeObjGetProperties = "drm_mode_obj_get_properties", 32 bytes {
        /// Address of an array of ids of properties.
        0 props_ptr: u64,
        /// Address of an array of the properties' values.
        8 prop_values_ptr: u64,
        /// Length of the arrays, afterwards the number of properties.
        16 count_props: u32,
        /// The object.
        20 obj_id: u32,
        /// Its kind, such as [`MODE_OBJECT_CRTC`]; 0 for any.
        24 obj_type: u32,
        /// Always 0.
        28 padding: u32 as "",
    }
}

requests! {
    ModeCardRes: "MODE_GETRESOURCES" = read_write(0xa0), 0xc040_64a0;
    ModeCrtc: "MODE_GETCRTC" = read_write(0xa1), 0xc068_64a1;
    ModeGetEncoder: "MODE_GETENCODER" = read_write(0xa6), 0xc014_64a6;
    ModeGetConnector: "MODE_GETCONNECTOR" = read_write(0xa7), 0xc050_64a7;
    ModeGetProperty: "MODE_GETPROPERTY" = read_write(0xaa), 0xc040_64aa;
    ModeGetBlob: "MODE_GETPROPBLOB" = read_write(0xac), 0xc010_64ac;
    ModeCreateDumb: "MODE_CREATE_DUMB" = read_write(0xb2), 0xc020_64b2;
    ModeMapDumb: "MODE_MAP_DUMB" = read_write(0xb3), 0xc010_64b3;
    ModeDestroyDumb: "MODE_DESTROY_DUMB" = read_write(0xb4), 0xc004_64b4;
    ModeGetPlaneRes: "MODE_GETPLANERESOURCES" = read_write(0xb5), 0xc010_64b5;
    ModeGetPlane: "MODE_GETPLANE" = read_write(0xb6), 0xc020_64b6;
    ModeObjGetProperties: "MODE_OBJ_GETPROPERTIES" = read_write(0xb9), 0xc020_64b9;
}

/// Kinds of mode objects.
pub const MODE_OBJECT_CRTC: u32 = 0xcccc_cccc;
/// See [`MODE_OBJECT_CRTC`].
pub const MODE_OBJECT_CONNECTOR: u32 = 0xc0c0_c0c0;
/// See [`MODE_OBJECT_CRTC`].
pub const MODE_OBJECT_ENCODER: u32 = 0xe0e0_e0e0;
/// See [`MODE_OBJECT_CRTC`].
pub const MODE_OBJECT_PROPERTY: u32 = 0xb0b0_b0b0;
/// See [`MODE_OBJECT_CRTC`].
pub const MODE_OBJECT_FB: u32 = 0xfbfb_fbfb;
/// See [`MODE_OBJECT_CRTC`].
pub const MODE_OBJECT_BLOB: u32 = 0xbbbb_bbbb;
/// See [`MODE_OBJECT_CRTC`].
pub const MODE_OBJECT_PLANE: u32 = 0xeeee_eeee;

/// An encoder of digital displays.
pub const MODE_ENCODER_TMDS: u32 = 2;
/// A DisplayPort.
pub const MODE_CONNECTOR_DISPLAY_PORT: u32 = 10;
/// An HDMI port of type A.
pub const MODE_CONNECTOR_HDMI_A: u32 = 11;
/// Nothing is plugged in.
pub const MODE_DISCONNECTED: u32 = 2;

/// A property whose values lie between two bounds.
pub const MODE_PROP_RANGE: u32 = 1 << 1;
/// A property that only the kernel changes.
pub const MODE_PROP_IMMUTABLE: u32 = 1 << 2;
/// A property with named values.
pub const MODE_PROP_ENUM: u32 = 1 << 3;
/// A property that names a blob.
pub const MODE_PROP_BLOB: u32 = 1 << 4;
/// A property that names an object.
pub const MODE_PROP_OBJECT: u32 = 1 << 6;
/// A property whose values lie between two signed bounds.
pub const MODE_PROP_SIGNED_RANGE: u32 = 2 << 6;
/// A property that shows to clients of atomic mode setting alone.
pub const MODE_PROP_ATOMIC: u32 = 1 << 31;

/// Capabilities of clients, for SET_CLIENT_CAP.
pub mod client_cap {
    /// Knows modes of stereo displays.
    pub const STEREO_3D: u64 = 1;
    /// Wants to see all planes, not overlays alone.
    pub const UNIVERSAL_PLANES: u64 = 2;
    /// Sets modes atomically, and sees the properties of that.
    pub const ATOMIC: u64 = 3;
    /// Knows aspect ratios of modes.
    pub const ASPECT_RATIO: u64 = 4;
    /// Wants to see writeback connectors.
    pub const WRITEBACK_CONNECTORS: u64 = 5;
    /// Sets the hot spot of the cursor plane, for virtual machines.
    pub const CURSOR_PLANE_HOTSPOT: u64 = 6;
}
