//! Requests that query display resources, and requests for dumb buffers.
//!
//! Source: Linux 6.12 `include/uapi/drm/drm_mode.h`; behaviour: `drm_mode_config.c`, `drm_crtc.c`, `drm_connector.c`,
//! `drm_encoder.c`, `drm_plane.c`, `drm_property.c`, `drm_mode_object.c`, `drm_dumb_buffers.c`.

use crate::structures::macros::{requests, uapi};

uapi! {
    /// MODE_GETRESOURCES: queries the IDs of framebuffers, CRTCs, connectors and encoders.
    struct ModeCardRes = "drm_mode_card_res", 64 bytes {
        /// Address of an array for the IDs of the file's framebuffers.
        0 fb_id_ptr: u64,
        /// Address of an array for the IDs of CRTCs.
        8 crtc_id_ptr: u64,
        /// Address of an array for the IDs of connectors.
        16 connector_id_ptr: u64,
        /// Address of an array for the IDs of encoders.
        24 encoder_id_ptr: u64,
        /// Length of the array; on return the number of framebuffers.
        32 count_fbs: u32,
        /// Length of the array; on return the number of CRTCs.
        36 count_crtcs: u32,
        /// Length of the array; on return the number of connectors.
        40 count_connectors: u32,
        /// Length of the array; on return the number of encoders.
        44 count_encoders: u32,
        /// Minimum width of a framebuffer in pixels.
        48 min_width: u32,
        /// Maximum width of a framebuffer in pixels.
        52 max_width: u32,
        /// Minimum height of a framebuffer in pixels.
        56 min_height: u32,
        /// Maximum height of a framebuffer in pixels.
        60 max_height: u32,
    }

    /// MODE_GETCRTC and MODE_SETCRTC: query or set the state of a CRTC.
    struct ModeCrtc = "drm_mode_crtc", 104 bytes {
        /// Address of an array of connector IDs; not used by MODE_GETCRTC.
        0 set_connectors_ptr: u64,
        /// Length of the array.
        8 count_connectors: u32,
        /// ID of the CRTC.
        12 crtc_id: u32,
        /// The framebuffer that the CRTC scans out; 0 for none.
        16 fb_id: u32,
        /// Horizontal position in the framebuffer in pixels.
        20 x: u32,
        /// Vertical position in the framebuffer in pixels.
        24 y: u32,
        /// Number of entries in the gamma table.
        28 gamma_size: u32,
        /// 1 if the CRTC has a mode.
        32 mode_valid: u32,
        /// The mode, `struct drm_mode_modeinfo`.
        36 mode: [u8; 68],
    }

    /// MODE_GETENCODER: queries an encoder.
    struct ModeGetEncoder = "drm_mode_get_encoder", 20 bytes {
        /// ID of the encoder.
        0 encoder_id: u32,
        /// Kind of the encoder, such as [`MODE_ENCODER_TMDS`].
        4 encoder_type: u32,
        /// The CRTC that feeds the encoder; 0 for none.
        8 crtc_id: u32,
        /// Mask of the CRTCs, by index, that can feed the encoder.
        12 possible_crtcs: u32,
        /// Mask of the encoders, by index, that can show the same image.
        16 possible_clones: u32,
    }

    /// MODE_GETCONNECTOR: queries a connector.
    struct ModeGetConnector = "drm_mode_get_connector", 80 bytes {
        /// Address of an array for the IDs of encoders.
        0 encoders_ptr: u64,
        /// Address of an array for modes.
        8 modes_ptr: u64,
        /// Address of an array for the IDs of properties.
        16 props_ptr: u64,
        /// Address of an array for the properties' values.
        24 prop_values_ptr: u64,
        /// Length of the array; on return the number of modes.
        32 count_modes: u32,
        /// Length of the arrays; on return the number of properties.
        36 count_props: u32,
        /// Length of the array; on return the number of encoders.
        40 count_encoders: u32,
        /// The encoder in use; 0 for none.
        44 encoder_id: u32,
        /// ID of the connector.
        48 connector_id: u32,
        /// Kind of the connector, such as [`MODE_CONNECTOR_DISPLAY_PORT`].
        52 connector_type: u32,
        /// Number of the connector among those of its kind, counted from 1.
        56 connector_type_id: u32,
        /// [`MODE_CONNECTED`](super::MODE_CONNECTED), [`MODE_DISCONNECTED`], or 3 if unknown.
        60 connection: u32,
        /// Width of the display in mm.
        64 mm_width: u32,
        /// Height of the display in mm.
        68 mm_height: u32,
        /// Order of the subpixels; 0 if unknown.
        72 subpixel: u32,
        /// Always 0.
        76 pad: u32,
    }

    /// MODE_GETPROPERTY: queries a property.
    struct ModeGetProperty = "drm_mode_get_property", 64 bytes {
        /// Address of an array of u64: the bounds of a range, the values of an enum, or the kind of an object.
        0 values_ptr: u64,
        /// Address of an array of [`ModePropertyEnum`].
        8 enum_blob_ptr: u64,
        /// ID of the property.
        16 prop_id: u32,
        /// Type and flags of the property, such as [`MODE_PROP_RANGE`].
        20 flags: u32,
        /// Name of the property, NUL-terminated.
        24 name: [u8; 32],
        /// Length of the array; on return the number of values.
        56 count_values: u32,
        /// Length of the array; on return the number of an enum's values.
        60 count_enum_blobs: u32,
    }

    /// A value of an enum property.
    struct ModePropertyEnum = "drm_mode_property_enum", 40 bytes {
        /// The number that represents the value.
        0 value: u64,
        /// Name of the value, NUL-terminated.
        8 name: [u8; 32],
    }

    /// MODE_GETPROPBLOB: reads the content of a blob.
    struct ModeGetBlob = "drm_mode_get_blob", 16 bytes {
        /// ID of the blob.
        0 blob_id: u32,
        /// Size of the buffer in bytes; on return the length of the blob.
        4 length: u32,
        /// Address of the buffer for the content.
        8 data: u64,
    }

    /// MODE_CREATE_DUMB: allocates a BO for images that the CPU draws.
    struct ModeCreateDumb = "drm_mode_create_dumb", 32 bytes {
        /// Height of the buffer in pixels.
        0 height: u32,
        /// Width of the buffer in pixels.
        4 width: u32,
        /// Bits per pixel.
        8 bpp: u32,
        /// Must be 0.
        12 flags: u32,
        /// GEM handle of the new BO.
        16 handle: u32,
        /// Distance between rows in bytes.
        20 pitch: u32,
        /// Size of the BO in bytes.
        24 size: u64,
    }

    /// MODE_MAP_DUMB: queries the offset at which a dumb buffer can be mapped.
    struct ModeMapDumb = "drm_mode_map_dumb", 16 bytes {
        /// GEM handle of the BO.
        0 handle: u32,
        /// Ignored.
        4 pad: u32,
        /// The offset for `mmap` of the node.
        8 offset: u64,
    }

    /// MODE_DESTROY_DUMB: closes the handle of a dumb buffer.
    struct ModeDestroyDumb = "drm_mode_destroy_dumb", 4 bytes {
        /// GEM handle of the BO.
        0 handle: u32,
    }

    /// MODE_GETPLANERESOURCES: queries the IDs of the planes.
    struct ModeGetPlaneRes = "drm_mode_get_plane_res", 16 bytes {
        /// Address of an array for the IDs.
        0 plane_id_ptr: u64,
        /// Length of the array; on return the number of planes.
        8 count_planes: u32,
        /// Always 0.
        12 padding: u32 as "",
    }

    /// MODE_GETPLANE: queries a plane.
    struct ModeGetPlane = "drm_mode_get_plane", 32 bytes {
        /// ID of the plane.
        0 plane_id: u32,
        /// The CRTC that shows the plane; 0 for none.
        4 crtc_id: u32,
        /// The framebuffer that the plane shows; 0 for none.
        8 fb_id: u32,
        /// Mask of the CRTCs, by index, that can show the plane.
        12 possible_crtcs: u32,
        /// Always 0.
        16 gamma_size: u32,
        /// Length of the array; on return the number of formats.
        20 count_format_types: u32,
        /// Address of an array for the formats (`drm_fourcc.h`).
        24 format_type_ptr: u64,
    }

    /// MODE_OBJ_GETPROPERTIES: queries the properties of an object.
    struct ModeObjGetProperties = "drm_mode_obj_get_properties", 32 bytes {
        /// Address of an array for the IDs of properties.
        0 props_ptr: u64,
        /// Address of an array for the properties' values.
        8 prop_values_ptr: u64,
        /// Length of the arrays; on return the number of properties.
        16 count_props: u32,
        /// ID of the object.
        20 obj_id: u32,
        /// Kind of the object, such as [`MODE_OBJECT_CRTC`]; 0 for any.
        24 obj_type: u32,
        /// Always 0.
        28 padding: u32 as "",
    }
}

requests! {
    ModeCardRes: "MODE_GETRESOURCES" = read_write(0xa0), 0xc040_64a0, query with addresses;
    ModeCrtc: "MODE_GETCRTC" = read_write(0xa1), 0xc068_64a1, change with addresses;
    ModeGetEncoder: "MODE_GETENCODER" = read_write(0xa6), 0xc014_64a6, query;
    ModeGetConnector: "MODE_GETCONNECTOR" = read_write(0xa7), 0xc050_64a7, query with addresses;
    ModeGetProperty: "MODE_GETPROPERTY" = read_write(0xaa), 0xc040_64aa, query with addresses;
    ModeGetBlob: "MODE_GETPROPBLOB" = read_write(0xac), 0xc010_64ac, query with addresses;
    ModeCreateDumb: "MODE_CREATE_DUMB" = read_write(0xb2), 0xc020_64b2, create;
    ModeMapDumb: "MODE_MAP_DUMB" = read_write(0xb3), 0xc010_64b3, bind;
    ModeDestroyDumb: "MODE_DESTROY_DUMB" = read_write(0xb4), 0xc004_64b4, destroy;
    ModeGetPlaneRes: "MODE_GETPLANERESOURCES" = read_write(0xb5), 0xc010_64b5, query with addresses;
    ModeGetPlane: "MODE_GETPLANE" = read_write(0xb6), 0xc020_64b6, query with addresses;
    ModeObjGetProperties: "MODE_OBJ_GETPROPERTIES" = read_write(0xb9), 0xc020_64b9, query with addresses;
}

/// Object type of a CRTC (`DRM_MODE_OBJECT_CRTC`).
pub const MODE_OBJECT_CRTC: u32 = 0xcccc_cccc;
/// Object type of a connector (`DRM_MODE_OBJECT_CONNECTOR`).
pub const MODE_OBJECT_CONNECTOR: u32 = 0xc0c0_c0c0;
/// Object type of an encoder (`DRM_MODE_OBJECT_ENCODER`).
pub const MODE_OBJECT_ENCODER: u32 = 0xe0e0_e0e0;
/// Object type of a property (`DRM_MODE_OBJECT_PROPERTY`).
pub const MODE_OBJECT_PROPERTY: u32 = 0xb0b0_b0b0;
/// Object type of a framebuffer (`DRM_MODE_OBJECT_FB`).
pub const MODE_OBJECT_FB: u32 = 0xfbfb_fbfb;
/// Object type of a blob (`DRM_MODE_OBJECT_BLOB`).
pub const MODE_OBJECT_BLOB: u32 = 0xbbbb_bbbb;
/// Object type of a plane (`DRM_MODE_OBJECT_PLANE`).
pub const MODE_OBJECT_PLANE: u32 = 0xeeee_eeee;
/// Object type of an operation of a plane's colour pipeline (`DRM_MODE_OBJECT_COLOROP`), since Linux 6.19.
pub const MODE_OBJECT_COLOROP: u32 = 0xfafa_fafa;

/// The kind of encoder for digital displays.
pub const MODE_ENCODER_TMDS: u32 = 2;
/// The kind of connector of DisplayPort.
pub const MODE_CONNECTOR_DISPLAY_PORT: u32 = 10;
/// The kind of connector of HDMI type A.
pub const MODE_CONNECTOR_HDMI_A: u32 = 11;
/// A value of [`ModeGetConnector::connection`]: no display is connected.
pub const MODE_DISCONNECTED: u32 = 2;

/// A property whose value lies in a range.
pub const MODE_PROP_RANGE: u32 = 1 << 1;
/// A property that only the kernel can change.
pub const MODE_PROP_IMMUTABLE: u32 = 1 << 2;
/// A property with named values.
pub const MODE_PROP_ENUM: u32 = 1 << 3;
/// A property whose value is a blob ID.
pub const MODE_PROP_BLOB: u32 = 1 << 4;
/// A property whose value is an object ID.
pub const MODE_PROP_OBJECT: u32 = 1 << 6;
/// A property whose value lies in a signed range.
pub const MODE_PROP_SIGNED_RANGE: u32 = 2 << 6;
/// A property that is visible only to clients of atomic mode setting.
pub const MODE_PROP_ATOMIC: u32 = 1 << 31;

/// Client capabilities for SET_CLIENT_CAP.
pub mod client_cap {
    /// Supports modes of stereo displays.
    pub const STEREO_3D: u64 = 1;
    /// Reports all planes, not only overlays.
    pub const UNIVERSAL_PLANES: u64 = 2;
    /// Enables atomic mode setting and reports its properties.
    pub const ATOMIC: u64 = 3;
    /// Supports aspect ratios of modes.
    pub const ASPECT_RATIO: u64 = 4;
    /// Reports writeback connectors.
    pub const WRITEBACK_CONNECTORS: u64 = 5;
    /// Sets the hot spot of the cursor plane, for virtual machines.
    pub const CURSOR_PLANE_HOTSPOT: u64 = 6;
    /// Shows the colour pipelines of planes instead of their encodings and ranges (Linux 6.19).
    pub const PLANE_COLOR_PIPELINE: u64 = 7;
}
