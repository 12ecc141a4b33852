//! Requests that set properties, one at a time or several in an atomic commit, and requests for blobs.
//!
//! Source: Linux 6.12 `include/uapi/drm/drm_mode.h`; behaviour: `drm_atomic_uapi.c`, `drm_mode_object.c`, `drm_property.c`.

use crate::structures::macros::{requests, uapi};

uapi! {
    /// MODE_ATOMIC: sets properties of several objects in one commit, which succeeds or fails as a whole.
    struct ModeAtomic = "drm_mode_atomic", 56 bytes {
        /// Options of the commit: [`MODE_ATOMIC_TEST_ONLY`], [`MODE_ATOMIC_NONBLOCK`], [`MODE_ATOMIC_ALLOW_MODESET`] and the flags
        /// of page flips.
        0 flags: u32,
        /// Number of objects whose properties are set.
        4 count_objs: u32,
        /// Address of an array of the objects' IDs.
        8 objs_ptr: u64,
        /// Address of an array with the number of properties of each object.
        16 count_props_ptr: u64,
        /// Address of an array of the properties' IDs, object by object.
        24 props_ptr: u64,
        /// Address of an array of the properties' values, in the same order.
        32 prop_values_ptr: u64,
        /// Must be 0.
        40 reserved: u64,
        /// A value chosen by the caller, which the kernel copies to the events.
        48 user_data: u64,
    }

    /// MODE_CREATEPROPBLOB: creates a blob for use as the value of a property.
    struct ModeCreateBlob = "drm_mode_create_blob", 16 bytes {
        /// Address of the content.
        0 data: u64,
        /// Length of the content in bytes.
        8 length: u32,
        /// ID of the new blob.
        12 blob_id: u32,
    }

    /// MODE_DESTROYPROPBLOB: destroys a blob of the file.
    struct ModeDestroyBlob = "drm_mode_destroy_blob", 4 bytes {
        /// ID of the blob.
        0 blob_id: u32,
    }

    /// MODE_OBJ_SETPROPERTY: sets one property of an object.
    struct ModeObjSetProperty = "drm_mode_obj_set_property", 24 bytes {
        /// The new value of the property.
        0 value: u64,
        /// ID of the property.
        8 prop_id: u32,
        /// ID of the object.
        12 obj_id: u32,
        /// Kind of the object, such as [`MODE_OBJECT_CRTC`](super::MODE_OBJECT_CRTC); 0 for any.
        16 obj_type: u32,
        /// Always 0.
        20 padding: u32 as "",
    }

    /// MODE_SETPROPERTY: sets one property of a connector.
    struct ModeConnectorSetProperty = "drm_mode_connector_set_property", 16 bytes {
        /// The new value of the property.
        0 value: u64,
        /// ID of the property.
        8 prop_id: u32,
        /// ID of the connector.
        12 connector_id: u32,
    }
}

requests! {
    ModeConnectorSetProperty: "MODE_SETPROPERTY" = read_write(0xab), 0xc010_64ab, change;
    ModeObjSetProperty: "MODE_OBJ_SETPROPERTY" = read_write(0xba), 0xc018_64ba, change;
    ModeAtomic: "MODE_ATOMIC" = read_write(0xbc), 0xc038_64bc, change with addresses;
    ModeCreateBlob: "MODE_CREATEPROPBLOB" = read_write(0xbd), 0xc010_64bd, create with addresses;
    ModeDestroyBlob: "MODE_DESTROYPROPBLOB" = read_write(0xbe), 0xc004_64be, destroy;
}

/// A flag of [`ModeAtomic::flags`]: checks the commit without performing it.
pub const MODE_ATOMIC_TEST_ONLY: u32 = 0x100;
/// A flag of [`ModeAtomic::flags`]: returns before the commit is shown.
pub const MODE_ATOMIC_NONBLOCK: u32 = 0x200;
/// A flag of [`ModeAtomic::flags`]: allows the commit to change modes.
pub const MODE_ATOMIC_ALLOW_MODESET: u32 = 0x400;
