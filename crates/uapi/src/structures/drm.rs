//! The DRM core requests that a render client uses.
//!
//! Source: Linux 6.12 `include/uapi/drm/drm.h`; behaviour: `drivers/gpu/drm/drm_ioctl.c`, `drm_gem.c`, `drm_prime.c`.

use super::macros::{requests, uapi};

uapi! {
    /// VERSION: lengths in, strings copied to the three addresses, real lengths out. The strings carry no NUL.
    struct Version = "drm_version", 64 bytes {
        /// Major version; 3 for amdgpu.
        0 version_major: i32,
        /// Minor version: a promise of features.
        4 version_minor: i32,
        /// Patch level.
        8 version_patchlevel: i32,
        /// Padding the C compiler inserts.
        12 pad: u32 as "",
        /// Length in bytes of the buffer at `name`; afterwards of the name.
        16 name_len: u64,
        /// Address of the buffer for the driver's name.
        24 name: u64,
        /// Length in bytes of the buffer at `date`; afterwards of the date.
        32 date_len: u64,
        /// Address of the buffer for the date.
        40 date: u64,
        /// Length in bytes of the buffer at `desc`; afterwards of the description.
        48 desc_len: u64,
        /// Address of the buffer for the description.
        56 desc: u64,
    }

    /// GET_UNIQUE and SET_UNIQUE: the bus id of a primary node.
    struct Unique = "drm_unique", 16 bytes {
        /// Length in bytes of the buffer; afterwards of the string.
        0 unique_len: u64,
        /// Address of the buffer.
        8 unique: u64,
    }

    /// GET_MAGIC and AUTH_MAGIC.
    struct Auth = "drm_auth", 4 bytes {
        /// The token that a master authenticates.
        0 magic: u32,
    }

    /// GET_CLIENT: who has the primary node open.
    struct Client = "drm_client", 40 bytes {
        /// Client number; only 0 answers.
        0 idx: i32,
        /// 1 if the client is authenticated.
        4 auth: i32,
        /// Process id.
        8 pid: u64,
        /// User id.
        16 uid: u64,
        /// Always 0.
        24 magic: u64,
        /// Always 0.
        32 iocs: u64,
    }

    /// GET_STATS: counters that Linux no longer has, all of them 0.
    struct Stats = "drm_stats", 248 bytes {
        /// Number of counters.
        0 count: u64,
        /// Value and kind of each.
        8 data: [u64; 30],
    }

    /// SET_VERSION: the interface version a master asks for.
    struct SetVersion = "drm_set_version", 16 bytes {
        /// Interface major, or -1.
        0 drm_di_major: i32,
        /// Interface minor, or -1.
        4 drm_di_minor: i32,
        /// Driver major, or -1.
        8 drm_dd_major: i32,
        /// Driver minor, or -1.
        12 drm_dd_minor: i32,
    }

    /// GEM_CLOSE: `handle` names nothing afterwards, whether or not others still share the object.
    struct GemClose = "drm_gem_close", 8 bytes {
        /// The handle to close; an unknown one is EINVAL.
        0 handle: u32,
        /// Ignored.
        4 pad: u32,
    }

    /// GEM_FLINK: a global name for a BO (primary nodes only).
    struct GemFlink = "drm_gem_flink", 8 bytes {
        /// The BO.
        0 handle: u32,
        /// Its name, from 1 on; the same at every call.
        4 name: u32,
    }

    /// GEM_OPEN: a handle for a global name (primary nodes only).
    struct GemOpen = "drm_gem_open", 16 bytes {
        /// The name.
        0 name: u32,
        /// A new handle, every time.
        4 handle: u32,
        /// Size of the BO in bytes.
        8 size: u64,
    }

    /// GET_CAP: one capability of the device.
    struct GetCap = "drm_get_cap", 16 bytes {
        /// A number of [`cap`].
        0 capability: u64,
        /// Its value.
        8 value: u64,
    }

    /// SET_CLIENT_CAP (not on render nodes).
    struct SetClientCap = "drm_set_client_cap", 16 bytes {
        /// The capability the client has.
        0 capability: u64,
        /// Its value.
        8 value: u64,
    }

    /// PRIME_HANDLE_TO_FD and PRIME_FD_TO_HANDLE: a BO as a dma-buf and back.
    struct PrimeHandle = "drm_prime_handle", 12 bytes {
        /// The BO.
        0 handle: u32,
        /// [`PRIME_CLOEXEC`] and [`PRIME_RDWR`]; ignored on import.
        4 flags: u32,
        /// The descriptor.
        8 fd: i32,
    }
}

requests! {
    Version: "VERSION" = read_write(0x00), 0xc040_6400;
    Unique: "GET_UNIQUE" = read_write(0x01), 0xc010_6401;
    Auth: "GET_MAGIC" = read(0x02), 0x8004_6402;
    Client: "GET_CLIENT" = read_write(0x05), 0xc028_6405;
    Stats: "GET_STATS" = read(0x06), 0x80f8_6406;
    SetVersion: "SET_VERSION" = read_write(0x07), 0xc010_6407;
    GemClose: "GEM_CLOSE" = write(0x09), 0x4008_6409;
    GemFlink: "GEM_FLINK" = read_write(0x0a), 0xc008_640a;
    GemOpen: "GEM_OPEN" = read_write(0x0b), 0xc010_640b;
    GetCap: "GET_CAP" = read_write(0x0c), 0xc010_640c;
    SetClientCap: "SET_CLIENT_CAP" = write(0x0d), 0x4010_640d;
    PrimeHandle: "PRIME_HANDLE_TO_FD" = read_write(0x2d), 0xc00c_642d;
}

/// SET_MASTER, without argument.
pub const SET_MASTER: super::Request = super::Request::bare(b'd', 0x1e);
/// DROP_MASTER, without argument.
pub const DROP_MASTER: super::Request = super::Request::bare(b'd', 0x1f);
/// AUTH_MAGIC, with an [`Auth`].
pub const AUTH_MAGIC: super::Request = super::Request::write::<Auth>(b'd', 0x11);
/// PRIME_FD_TO_HANDLE, with a [`PrimeHandle`].
pub const PRIME_FD_TO_HANDLE: super::Request = super::Request::read_write::<PrimeHandle>(b'd', 0x2e);

/// The exported descriptor is closed on exec: `O_CLOEXEC`.
pub const PRIME_CLOEXEC: u32 = 0o2_000_000;
/// The exported dma-buf may be mapped writable: `O_RDWR`.
pub const PRIME_RDWR: u32 = 2;

/// Numbers for [`GetCap::capability`].
pub mod cap {
    /// Dumb buffers.
    pub const DUMB_BUFFER: u64 = 0x1;
    /// CRTCs beyond the second in vertical-blank requests.
    pub const VBLANK_HIGH_CRTC: u64 = 0x2;
    /// Preferred depth of dumb buffers, in bits.
    pub const DUMB_PREFERRED_DEPTH: u64 = 0x3;
    /// Reports 1 if a shadow buffer is preferred.
    pub const DUMB_PREFER_SHADOW: u64 = 0x4;
    /// dma-buf import (1) and export (2).
    pub const PRIME: u64 = 0x5;
    /// Time stamps are CLOCK_MONOTONIC.
    pub const TIMESTAMP_MONOTONIC: u64 = 0x6;
    /// Asynchronous page flips.
    pub const ASYNC_PAGE_FLIP: u64 = 0x7;
    /// Cursor width in pixels.
    pub const CURSOR_WIDTH: u64 = 0x8;
    /// Cursor height in pixels.
    pub const CURSOR_HEIGHT: u64 = 0x9;
    /// Framebuffers with format modifiers.
    pub const ADDFB2_MODIFIERS: u64 = 0x10;
    /// Page flips at a target frame.
    pub const PAGE_FLIP_TARGET: u64 = 0x11;
    /// CRTC id in vertical-blank events.
    pub const CRTC_IN_VBLANK_EVENT: u64 = 0x12;
    /// Sync objects.
    pub const SYNCOBJ: u64 = 0x13;
    /// Timeline sync objects.
    pub const SYNCOBJ_TIMELINE: u64 = 0x14;
    /// Asynchronous atomic page flips.
    pub const ATOMIC_ASYNC_PAGE_FLIP: u64 = 0x15;
}
