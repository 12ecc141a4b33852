//! Kernels around a kernel: layers that look at, count, fail, record and replay what a client and its kernel say to each
//! other.
//!
//! | | is |
//! |---|---|
//! | [`Forward`] | a kernel whose calls pass through a [`Layer`], which needs no `unsafe` of its own |
//! | [`Counter`] | a layer that counts |
//! | [`FaultInjector`] | a kernel that fails chosen calls |
//! | [`Recorder`] | a kernel that is written down |
//! | [`Replayer`] | a recording that stands in for its kernel |
//!
//! The crate needs neither the simulator nor a GPU nor the library: it speaks the bytes of `amdgpu-uapi` alone.
//!
//! # Recordings
//!
//! [`Recording`] wraps kernels, real ones as well as simulated ones, in [`Recorder`]s that write every call to a file;
//! [`Replay`] reads such a file and serves it through [`Replayer`]s. Both are [`Kernel`](amdgpu_uapi::Kernel)s, so a client
//! notices neither. So a failure on a remote Radeon can be examined on any machine, any number of times. The real
//! kernel is recorded through `RenderNode` of `amdgpu-winsys`.
//!
//! ```no_run
//! use std::path::Path;
//! use amdgpu_layers::{Recording, Replay};
//! use amdgpu_winsys::winsys::{Device, RenderNode};
//!
//! let recording = Recording::create(Path::new("run.rec"))?;
//! let device = Device::new(recording.wrap(RenderNode::open(Path::new("/dev/dri/renderD128"))?))?;
//! // Work with the device; drop it; then:
//! drop(device);
//! recording.finish()?;
//!
//! let replay = Replay::open(Path::new("run.rec"))?;
//! let device = Device::new(replay.open_file()?)?;
//! // The same work finds the same answers.
//! # drop(device);
//! replay.finish()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ## What is compared
//!
//! A replay serves a call only if it is the recorded one: the same file, request, argument and nested memory. Three kinds
//! of field differ from run to run and are made the same first: addresses of the client's own (null or not), moments of
//! CLOCK_MONOTONIC (polls, never, or some time) and descriptors (one or none). The first call that differs stops the replay
//! with a [`ReplayError`] that names it, and every call from then on ends in ENODEV.
//!
//! ## Memory
//!
//! The GPU writes while the client reads, at moments that no replay could meet again. So under a recorder the client does
//! not see the BO itself: its mapping is a *view*, memory of the recorder's own, and the two are brought together only at
//! calls. Before a call that submits, waits or shares, what the client has stored since the last time goes to the BO,
//! dword by dword; after a call that waits, and after one that maps, what the GPU has stored goes to the view, and into the
//! file. BOs of one page, which user fences are, are looked at after every call, because clients poll them; when one has
//! changed, so is all the rest. A replay has
//! views without BOs behind them and stores the same dwords after the same calls: a client with one thread sees the same
//! bytes at every moment, whatever the GPU's pace was.
//!
//! The price: a recorded client sees the GPU's writes late. One that makes no call at all for half a second is shown them
//! anyhow (it may be waiting for just that). And each wait reads every mapping once, which is slow for mapped video memory;
//! a recording is no place to measure time.
//!
//! Pages of the client's own (GEM_USERPTR) cannot be put aside; their changes, whosever they are, are recorded after the
//! same calls and after submissions.
//! Mappings of dma-buf descriptors are the client's affair with another file, and are not recorded.
//!
//! ## Recordings from strangers
//!
//! A replay believes nothing that its recording says about the client's things. Descriptors that it gives out were made by
//! itself in that call; memory that it maps is its own, sealed in its size, and never that of two BOs; it is written where
//! the client bound the BO as writeable, made it a user fence or shared it, and before the client first sees the mapping;
//! pages of the client's own are written while the client has lent them for writing, and nowhere else; a file that is reported
//! a sync object is an eventfd. A recording that says otherwise is [`ReplayError::Nonsense`].
//!
//! ## IBs
//!
//! Before a submission goes to the kernel, its IBs are read, and those that they call or chain to, through the client's own
//! mappings, or through one that is made for it where the client has none. Bytes that have changed since the last submission are
//! recorded, so that [`Submissions`] knows what each of them gave the GPU to read, and `amdgpu-ib dump --recording` shows it.
//! For that the recorder once asks the kernel itself which generation the chip is, and notes it as `generation`.
//!
//! ## Threads
//!
//! Calls are recorded in the order in which they returned, with the number of their thread. In a replay each thread waits for
//! its turn, so the order is the same again; a new thread is the recorded one whose first call it makes.
//!
//! ## The file
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
//! Version 2, which is written, added kind 9; version 1 is read, too.
//!
//! The last record is an end; a file without one was cut off, and [`FileError::CutOff`](format::FileError::CutOff) says where. Writing is buffered and
//! flushed after every submission and every wait. Reading holds one record at a time and never more of it than the file
//! has; damaged, malformed and hostile files end in a [`FileError`](format::FileError) with the offset and the reason.

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
