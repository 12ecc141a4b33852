//! The DRM core requests that a render client uses.
//!
//! Source: Linux 6.12 `include/uapi/drm/drm.h`; behaviour: `drivers/gpu/drm/drm_ioctl.c`, `drm_gem.c`, `drm_prime.c`.

use super::macros::{requests, uapi};

uapi! {
    /// VERSION: the driver's version. The kernel copies strings without NUL to the three addresses, and returns their full lengths.
    struct Version = "drm_version", 64 bytes {
        /// Major version; 3 for amdgpu.
        0 version_major: i32,
        /// Minor version, which increases with new features.
        4 version_minor: i32,
        /// Patch level of the driver.
        8 version_patchlevel: i32,
        /// Padding that the C compiler inserts.
        12 pad: u32 as "",
        /// Length in bytes of the buffer at `name`; on return the length of the name.
        16 name_len: u64,
        /// Address of the buffer for the driver's name.
        24 name: u64,
        /// Length in bytes of the buffer at `date`; on return the length of the date.
        32 date_len: u64,
        /// Address of the buffer for the date.
        40 date: u64,
        /// Length in bytes of the buffer at `desc`; on return the length of the description.
        48 desc_len: u64,
        /// Address of the buffer for the description.
        56 desc: u64,
    }

    /// GET_UNIQUE and SET_UNIQUE: the bus ID of a primary node.
    struct Unique = "drm_unique", 16 bytes {
        /// Length in bytes of the buffer; on return the length of the string.
        0 unique_len: u64,
        /// Address of the buffer for the bus ID, which is not NUL-terminated.
        8 unique: u64,
    }

    /// GET_MAGIC and AUTH_MAGIC: the token with which a client is authenticated.
    struct Auth = "drm_auth", 4 bytes {
        /// The token, which the client passes to the DRM master.
        0 magic: u32,
    }

    /// GET_CLIENT: the clients that have the primary node open.
    struct Client = "drm_client", 40 bytes {
        /// Index of the client; the kernel supports only 0.
        0 idx: i32,
        /// 1 if the client is authenticated.
        4 auth: i32,
        /// Process ID of the client.
        8 pid: u64,
        /// User ID of the client.
        16 uid: u64,
        /// Always 0.
        24 magic: u64,
        /// Always 0.
        32 iocs: u64,
    }

    /// GET_STATS: counters that Linux no longer implements. All are 0.
    struct Stats = "drm_stats", 248 bytes {
        /// Number of counters.
        0 count: u64,
        /// Value and kind of each counter.
        8 data: [u64; 30],
    }

    /// SET_VERSION: the interface version that a master requests.
    struct SetVersion = "drm_set_version", 16 bytes {
        /// Requested major version of the DRM interface, or -1; on return the kernel's version.
        0 drm_di_major: i32,
        /// Requested minor version of the DRM interface, or -1; on return the kernel's version.
        4 drm_di_minor: i32,
        /// Requested major version of the driver, or -1; on return the driver's version.
        8 drm_dd_major: i32,
        /// Requested minor version of the driver, or -1; on return the driver's version.
        12 drm_dd_minor: i32,
    }

    /// GEM_CLOSE: closes a handle. The object stays alive if it is shared.
    struct GemClose = "drm_gem_close", 8 bytes {
        /// The handle to close; EINVAL if it is unknown.
        0 handle: u32,
        /// Ignored.
        4 pad: u32,
    }

    /// GEM_FLINK: creates a global name for a BO (primary nodes only).
    struct GemFlink = "drm_gem_flink", 8 bytes {
        /// GEM handle of the BO.
        0 handle: u32,
        /// The BO's global name, 1 or greater. Each call for the same BO returns the same name.
        4 name: u32,
    }

    /// GEM_OPEN: creates a handle for a global name (primary nodes only).
    struct GemOpen = "drm_gem_open", 16 bytes {
        /// The global name that GEM_FLINK returned.
        0 name: u32,
        /// A new handle for every call.
        4 handle: u32,
        /// Size of the BO in bytes.
        8 size: u64,
    }

    /// GET_CAP: queries a capability of the device.
    struct GetCap = "drm_get_cap", 16 bytes {
        /// A constant of [`cap`].
        0 capability: u64,
        /// The value of the capability.
        8 value: u64,
    }

    /// SET_CLIENT_CAP: declares a capability of the client (not on render nodes).
    struct SetClientCap = "drm_set_client_cap", 16 bytes {
        /// The capability: a constant of [`client_cap`](super::client_cap).
        0 capability: u64,
        /// The value of the capability.
        8 value: u64,
    }

    /// SET_CLIENT_NAME: names the client for tools that read its fdinfo (Linux 6.13).
    struct SetClientName = "", 16 bytes {
        /// The length in bytes, at most [`CLIENT_NAME_MAX`]; 0 removes the name.
        0 name_len: u64,
        /// Address of the name: graphic ASCII characters without a NUL.
        8 name: u64,
    }

    /// PRIME_HANDLE_TO_FD and PRIME_FD_TO_HANDLE: export a BO as a dma-buf, and import a dma-buf.
    struct PrimeHandle = "drm_prime_handle", 12 bytes {
        /// GEM handle of the BO.
        0 handle: u32,
        /// [`PRIME_CLOEXEC`] and [`PRIME_RDWR`]; ignored on import.
        4 flags: u32,
        /// The descriptor of the dma-buf.
        8 fd: i32,
    }
}

requests! {
    Version: "VERSION" = read_write(0x00), 0xc040_6400, query with addresses;
    Unique: "GET_UNIQUE" = read_write(0x01), 0xc010_6401, query with addresses;
    Auth: "GET_MAGIC" = read(0x02), 0x8004_6402, share;
    Client: "GET_CLIENT" = read_write(0x05), 0xc028_6405, query;
    Stats: "GET_STATS" = read(0x06), 0x80f8_6406, query;
    SetVersion: "SET_VERSION" = read_write(0x07), 0xc010_6407, change;
    GemClose: "GEM_CLOSE" = write(0x09), 0x4008_6409, destroy;
    GemFlink: "GEM_FLINK" = read_write(0x0a), 0xc008_640a, share;
    GemOpen: "GEM_OPEN" = read_write(0x0b), 0xc010_640b, share;
    GetCap: "GET_CAP" = read_write(0x0c), 0xc010_640c, query;
    SetClientCap: "SET_CLIENT_CAP" = write(0x0d), 0x4010_640d, change;
    SetClientName: "SET_CLIENT_NAME" = read_write(0xd1), 0xc010_64d1, change with addresses;
    PrimeHandle: "PRIME_HANDLE_TO_FD" = read_write(0x2d), 0xc00c_642d, share;
}

/// The request SET_MASTER, which has no argument.
pub const SET_MASTER: super::Request = super::Request::bare(b'd', 0x1e);
/// The request DROP_MASTER, which has no argument.
pub const DROP_MASTER: super::Request = super::Request::bare(b'd', 0x1f);
/// The request AUTH_MAGIC, which carries an [`Auth`].
pub const AUTH_MAGIC: super::Request = super::Request::write::<Auth>(b'd', 0x11);
/// The request PRIME_FD_TO_HANDLE, which carries a [`PrimeHandle`].
pub const PRIME_FD_TO_HANDLE: super::Request = super::Request::read_write::<PrimeHandle>(b'd', 0x2e);

/// The greatest length of a client's name in bytes.
pub const CLIENT_NAME_MAX: usize = 64;

/// Closes the exported descriptor on exec: `O_CLOEXEC`.
pub const PRIME_CLOEXEC: u32 = 0o2_000_000;
/// Allows writable mappings of the exported dma-buf: `O_RDWR`.
pub const PRIME_RDWR: u32 = 2;

/// Capabilities for [`GetCap::capability`].
pub mod cap {
    /// 1 if the device has dumb buffers.
    pub const DUMB_BUFFER: u64 = 0x1;
    /// 1 if vertical-blank requests accept CRTCs beyond the second.
    pub const VBLANK_HIGH_CRTC: u64 = 0x2;
    /// Preferred depth of dumb buffers, in bits.
    pub const DUMB_PREFERRED_DEPTH: u64 = 0x3;
    /// 1 if a shadow buffer is preferred for dumb buffers.
    pub const DUMB_PREFER_SHADOW: u64 = 0x4;
    /// dma-buf import (bit 0) and export (bit 1).
    pub const PRIME: u64 = 0x5;
    /// 1 if timestamps use CLOCK_MONOTONIC.
    pub const TIMESTAMP_MONOTONIC: u64 = 0x6;
    /// 1 if page flips can be asynchronous.
    pub const ASYNC_PAGE_FLIP: u64 = 0x7;
    /// Cursor width in pixels.
    pub const CURSOR_WIDTH: u64 = 0x8;
    /// Cursor height in pixels.
    pub const CURSOR_HEIGHT: u64 = 0x9;
    /// 1 if framebuffers can have format modifiers.
    pub const ADDFB2_MODIFIERS: u64 = 0x10;
    /// 1 if page flips can have a target frame.
    pub const PAGE_FLIP_TARGET: u64 = 0x11;
    /// 1 if vertical-blank events have the CRTC's ID.
    pub const CRTC_IN_VBLANK_EVENT: u64 = 0x12;
    /// 1 if the device has sync objects.
    pub const SYNCOBJ: u64 = 0x13;
    /// 1 if the device has timeline sync objects.
    pub const SYNCOBJ_TIMELINE: u64 = 0x14;
    /// 1 if atomic page flips can be asynchronous.
    pub const ATOMIC_ASYNC_PAGE_FLIP: u64 = 0x15;
}
