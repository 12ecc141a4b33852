//! Leases: objects of the display engine that a master lends to the master of another file.
//!
//! Source: Linux 6.12 `include/uapi/drm/drm_mode.h`; behaviour: `drm_lease.c`.

use crate::structures::macros::{requests, uapi};

uapi! {
    /// MODE_CREATE_LEASE: opens the node once more, as a master of the given objects.
    struct ModeCreateLease = "drm_mode_create_lease", 24 bytes {
        /// Address of an array of the objects' IDs.
        0 object_ids: u64,
        /// Number of objects to lease.
        8 object_count: u32,
        /// `O_CLOEXEC` and `O_NONBLOCK` or neither.
        12 flags: u32,
        /// Number of the new lessee, 1 or greater.
        16 lessee_id: u32,
        /// Descriptor of the new file.
        20 fd: u32,
    }

    /// MODE_LIST_LESSEES: queries the lessees of the file's master that still have objects.
    struct ModeListLessees = "drm_mode_list_lessees", 16 bytes {
        /// Length of the array; on return the number of lessees.
        0 count_lessees: u32,
        /// Must be 0.
        4 pad: u32,
        /// Address of an array for the numbers of the lessees.
        8 lessees_ptr: u64,
    }

    /// MODE_GET_LEASE: queries the objects that the file's master may use.
    struct ModeGetLease = "drm_mode_get_lease", 16 bytes {
        /// Length of the array; on return the number of objects.
        0 count_objects: u32,
        /// Must be 0.
        4 pad: u32,
        /// Address of an array for the objects' IDs.
        8 objects_ptr: u64,
    }

    /// MODE_REVOKE_LEASE: revokes the lease of a lessee.
    struct ModeRevokeLease = "drm_mode_revoke_lease", 4 bytes {
        /// Number of the lessee.
        0 lessee_id: u32,
    }
}

requests! {
    ModeCreateLease: "MODE_CREATE_LEASE" = read_write(0xc6), 0xc018_64c6, share with addresses;
    ModeListLessees: "MODE_LIST_LESSEES" = read_write(0xc7), 0xc010_64c7, query with addresses;
    ModeGetLease: "MODE_GET_LEASE" = read_write(0xc8), 0xc010_64c8, query with addresses;
    ModeRevokeLease: "MODE_REVOKE_LEASE" = read_write(0xc9), 0xc004_64c9, destroy;
}
