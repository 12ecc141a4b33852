//! Leases: objects of the display engine that a master lends to the master of another file.
//!
//! Source: Linux 6.12 `include/uapi/drm/drm_mode.h`; behaviour: `drm_lease.c`.

use crate::structures::macros::{requests, uapi};

uapi! {
    /// MODE_CREATE_LEASE: opens the node once more, as a master of the given objects.
    struct ModeCreateLease = "drm_mode_create_lease", 24 bytes {
        /// Address of the ids of the objects.
        0 object_ids: u64,
        /// Number of objects.
        8 object_count: u32,
        /// `O_CLOEXEC` and `O_NONBLOCK` or neither.
        12 flags: u32,
        /// The lessee's number, from 1.
        16 lessee_id: u32,
        /// Descriptor of the new file.
        20 fd: u32,
    }

    /// MODE_LIST_LESSEES: the lessees of the file's master that still have objects.
    struct ModeListLessees = "drm_mode_list_lessees", 16 bytes {
        /// Room for lessees, afterwards their number.
        0 count_lessees: u32,
        /// Must be 0.
        4 pad: u32,
        /// Address for the numbers of the lessees.
        8 lessees_ptr: u64,
    }

    /// MODE_GET_LEASE: the objects that the file's master may use.
    struct ModeGetLease = "drm_mode_get_lease", 16 bytes {
        /// Room for objects, afterwards their number.
        0 count_objects: u32,
        /// Must be 0.
        4 pad: u32,
        /// Address for the ids of the objects.
        8 objects_ptr: u64,
    }

    /// MODE_REVOKE_LEASE: takes the objects from a lessee.
    struct ModeRevokeLease = "drm_mode_revoke_lease", 4 bytes {
        /// The lessee's number.
        0 lessee_id: u32,
    }
}

requests! {
    ModeCreateLease: "MODE_CREATE_LEASE" = read_write(0xc6), 0xc018_64c6;
    ModeListLessees: "MODE_LIST_LESSEES" = read_write(0xc7), 0xc010_64c7;
    ModeGetLease: "MODE_GET_LEASE" = read_write(0xc8), 0xc010_64c8;
    ModeRevokeLease: "MODE_REVOKE_LEASE" = read_write(0xc9), 0xc004_64c9;
}
