//! Layers around a kernel that observe, count, fail, record and replay the calls of a client.
//!
//! | | is |
//! |---|---|
//! | [`Forward`] | a kernel wrapper whose calls pass through a [`Layer`], which needs no `unsafe` code |
//! | [`Counter`] | a layer that counts calls |
//! | [`FaultInjector`] | a kernel wrapper that fails selected calls |
//! | [`Recorder`] | a kernel wrapper that records all calls |
//! | [`Replayer`] | a kernel that returns recorded results |
//!
//! The crate depends neither on the simulator nor on a GPU nor on the library, but only on the binary interface of `amdgpu-uapi`.
//!
//! # Recordings
//!
//! [`Recording`] wraps real or simulated kernels in [`Recorder`]s that write every call to a file. [`Replay`] reads such a file and
//! serves it through [`Replayer`]s. Both are [`Kernel`](amdgpu_uapi::Kernel)s, which a client uses like any other. A failure on a
//! remote machine can therefore be examined on any machine, any number of times. To record the real kernel, wrap a `RenderNode` of
//! `amdgpu-winsys`.
//!
//! ```no_run
//! use std::path::Path;
//! use amdgpu_layers::{Recording, Replay};
//! use amdgpu_winsys::winsys::{Device, RenderNode};
//!
//! let recording = Recording::create(Path::new("run.rec"))?;
//! let device = Device::new(recording.wrap(RenderNode::open(Path::new("/dev/dri/renderD128"))?))?;
//! // Use the device, and then drop it:
//! drop(device);
//! recording.finish()?;
//!
//! let replay = Replay::open(Path::new("run.rec"))?;
//! let device = Device::new(replay.open_file()?)?;
//! // The same calls return the same results.
//! # drop(device);
//! replay.finish()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ## Comparison
//!
//! A replay serves a call only if it equals the recorded one in file, request, argument and nested memory. Three kinds of fields
//! differ from run to run and are replaced before the comparison: addresses of the client (null or not), deadlines of
//! CLOCK_MONOTONIC (polls, never expires, or another time) and descriptors (none or one). At the first call that differs, the
//! replay stops with a [`ReplayError`] that names it, and every later call returns ENODEV.
//!
//! ## Memory
//!
//! The GPU writes memory while the client reads it, at times that a replay cannot reproduce. Under a recorder the client therefore
//! does not map the BO itself, but a *view*: memory of the recorder. View and BO are synchronized only at calls. Before a call that
//! submits, waits or shares, the client's stores since the last synchronization are copied to the BO, dword by dword. After a call
//! that waits, and after one that maps, the GPU's stores are copied to the view, and recorded. BOs of one page, which user fences
//! are, are compared after every call, because clients poll them. If one has changed, all others are compared too. A replay has
//! views without BOs, and stores the same dwords after the same calls: a client with a single thread reads the same bytes at every
//! point, independent of the speed of the GPU.
//!
//! As a consequence, a recorded client observes the GPU's writes late. If it makes no call for half a second, the writes are copied
//! nevertheless, because it may be polling for them. Each wait reads every mapping once, which is slow for mapped video memory, so
//! a recording is not suitable for measurements of time.
//!
//! The client's own pages (GEM_USERPTR) cannot be replaced by a view. Their changes, by GPU or client, are recorded after the same
//! calls and after submissions. Mappings of dma-buf descriptors belong to another file, and are not recorded.
//!
//! ## Untrusted recordings
//!
//! A replay does not trust its recording with the client's resources:
//!
//! * Every descriptor that it returns was created by the replay in the same call.
//! * Memory that it maps is its own, sealed in size, and never shared by two BOs. It is written only if the client bound the BO as
//!   writable, made it a user fence or shared it, and before the client first gets the mapping.
//! * The client's own pages are written only while the client has registered them for writing by the GPU.
//! * A file to which a sync object signals is an eventfd.
//!
//! A recording that violates these rules gives [`ReplayError::Nonsense`].
//!
//! ## IBs
//!
//! Before a submission is forwarded to the kernel, its IBs are read, including the IBs that they call or chain to. They are read
//! through the client's own mappings, or through a temporary mapping if the client has none. IBs that have changed since the last
//! submission are recorded, so that [`Submissions`] can return the memory that the GPU reads in each, and `amdgpu-ib dump
//! --recording` can print it. For this the recorder queries the generation of the chip once, and records it as the note
//! `generation`.
//!
//! ## Threads
//!
//! Calls are recorded in the order in which they return, with the number of their thread. In a replay each thread waits for its
//! turn, so the order is the same. A new thread is identified by its first call.
//!
//! ## File format
//!
//! `AMDGPUrr`, the version as u32, then records. A record is its length as u32, the CRC-32 of its bytes as u32, and its
//! bytes: one byte of kind, then fields. All u32 are little-endian; numbers are LEB128; `bytes` is a number and that number
//! of bytes; `list` is a number and that number of items.
//!
//! | kind | record | fields |
//! |---|---|---|
//! | 1 | note | key: bytes, value: bytes, both UTF-8 |
//! | 2, 3 | open, close | file, thread, errno |
//! | 4 | ioctl | file, thread, errno, request, returned, argument: bytes, read: list of bytes, written: list of bytes, changed: list of (offset, bytes), descriptor: u8 and number, memory: u8 and number |
//! | 5 | mmap | file, thread, errno, memory, offset, length, flags: u8 (1 writable, 2 fixed) |
//! | 6 | munmap | file, thread, errno, memory, length |
//! | 7 | page | memory, page, runs: list of (first dword × 2 + 1 for a fill, count, then that many dwords or one) |
//! | 8 | end | |
//! | 9 | ib | file, address, length in dwords, dwords: list of u32 |
//!
//! The crate writes version 2, which added kind 9, and also reads version 1.
//!
//! The last record is an end. A file without one was cut off, and [`FileError::CutOff`](format::FileError::CutOff) gives the
//! offset. Writing is buffered, and flushed after every submission and every wait. Reading buffers one record at a time, and
//! allocates memory only as the file provides data. Damaged, malformed and hostile files give a [`FileError`](format::FileError)
//! with the offset and the reason.

#[expect(unsafe_code, reason = "a layer is a kernel, whose calls are raw")]
mod around;
mod client;
pub mod format;
mod recorder;
mod replayer;
mod submissions;

pub use self::{
    around::{
        Answered, Attempt, Chunk, Counter, FaultInjector, Faults, Forward, Ioctl, Layer, Mapped, Mmap, Munmap, Reserve,
        Reserved, Unmapped,
    },
    client::SubmittedIb,
    recorder::{Recorder, Recording},
    replayer::{Replay, ReplayError, Replayer},
    submissions::{Submissions, Submitted},
};
