//! The simulated kernel as an implementation of the library's `Kernel` trait.

use std::{
    ffi::{c_int, c_void},
    fmt,
    num::NonZeroUsize,
    os::{
        fd::{BorrowedFd, OwnedFd},
        unix::net::UnixStream,
    },
    ptr::NonNull,
    sync::Arc,
};

use amdgpu_uapi::{
    Errno, EventVblank, FileIdentity, Kernel, ModeCreateLease, NotReserved, OpenFile, Protection, Request,
    replace_by_nothing,
};
use nix::{
    fcntl::{FcntlArg, FdFlag, fcntl},
    sys::mman::{MapFlags, ProtFlags, mmap, munmap},
};
use parking_lot::Mutex;

use crate::{
    kernel::{
        card::Gpu,
        client::{self, Client},
        dispatch,
        files::{census::Census, descriptors::has_peer, file::File, file_id::FileId, jobs::Jobs},
        ioctl::args,
        mm::bo::Bo,
        power::WakeCause,
        process::errno::errno_of,
        process::identity::Process,
        user,
    },
    options::place::Place,
};

/// An open file of a simulated node: a render node, or a primary node
/// ([`SimDevice::open_primary`](crate::SimDevice::open_primary)).
#[derive(Debug)]
pub struct SimKernel {
    file: File,
    identity: FileIdentity,
    lessees: Lessees,
}

impl SimKernel {
    pub(crate) fn new(gpu: &Arc<Gpu>) -> Self {
        Self::of(File::new(gpu))
    }

    pub(crate) fn primary(gpu: &Arc<Gpu>, is_admin: bool) -> Self {
        Self::of(File::primary(gpu, is_admin))
    }

    fn of(file: File) -> Self {
        Self { file, identity: FileIdentity::new(), lessees: Lessees::default() }
    }

    pub(crate) const fn file(&self) -> &File {
        &self.file
    }

    /// Associates a descriptor of the host with this file, for requests that name a file by descriptor (only AMDGPU_SCHED does). A
    /// program that gives descriptors of nodes to clients calls this once for each open; copies of the descriptor are recognized
    /// too.
    ///
    /// # Errors
    ///
    /// EBADF if the descriptor is not open.
    pub fn stands_for(&self, fd: BorrowedFd<'_>) -> Result<(), Errno> {
        self.file.gpu.machine.descriptors.add_node(FileId::of(fd)?, &self.file.contexts);
        Ok(())
    }

    /// Sends all further events of the display to `sink`. `sink` gets the bytes that the client reads from its descriptor, and
    /// returns `true` if it had room for them.
    pub fn lead_events_to(&self, sink: impl Fn(&[u8]) -> bool + Send + Sync + 'static) {
        self.file.outbox.lead_to(Box::new(sink));
    }

    /// Reads the oldest event of the display, as a client would from the node's descriptor; `None` if there is none.
    pub fn read_event(&self) -> Option<EventVblank> {
        self.file.outbox.read()
    }

    /// Returns `true` if jobs of the file wait for room on a hardware ring, which has room for the running job and one more.
    pub fn has_queued_jobs(&self) -> bool {
        self.file.has_queued_jobs()
    }

    /// Ends the file's work as the death of its process does. Jobs on the hardware rings finish. The call waits up to a second for
    /// queued jobs to reach a ring. The remaining jobs do not run, and their fences signal with ESRCH once their dependencies and
    /// the jobs before them have ended. Jobs that are submitted later are dropped in the same way. The file stays open until it is
    /// dropped.
    ///
    /// Dropping a file without this call closes it as `close()` does: its queued jobs still run.
    ///
    /// ```
    /// use amdgpu_sim::{SimKernel, profile};
    ///
    /// let file = SimKernel::open(profile("navi21").ok_or("no such chip")?);
    /// assert!(!file.has_queued_jobs());
    /// file.kill();
    /// drop(file);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Source: Linux 6.12 `sched_entity.c`, `drm_sched_entity_flush`, `drm_sched_entity_kill` and `drm_sched_entity_fini`.
    pub fn kill(&self) {
        self.file.kill();
    }

    /// Returns the jobs of the file, which may run on after it was dropped.
    pub fn jobs(&self) -> Jobs {
        self.file.jobs()
    }

    /// Sets the function that passes a file to the client. MODE_CREATE_LEASE opens such a file. The function gets the file, and
    /// returns the client's descriptor of it or an errno for the client. A server calls this once for each file of a primary node.
    ///
    /// Without it, MODE_CREATE_LEASE gives this process a descriptor that stands for the file: see
    /// [`take_lessee`](Self::take_lessee).
    pub fn open_lessees_by(&self, open: impl Fn(Self) -> Result<OwnedFd, Errno> + Send + Sync + 'static) {
        *self.lessees.open.lock() = Some(Arc::new(open));
    }

    /// Takes the file of a lease that this file has created, by the descriptor that MODE_CREATE_LEASE returned; `None` for
    /// another descriptor. The descriptor is of no further use.
    ///
    /// # Errors
    ///
    /// EBADF if the descriptor is not open.
    pub fn take_lessee(&self, fd: BorrowedFd<'_>) -> Result<Option<Self>, Errno> {
        let id = FileId::of(fd)?;
        Ok(self.lessees.kept.lock().extract_if(.., |(known, _, _)| *known == id).next().map(|(_, _, kernel)| kernel))
    }

    /// Gives the client a descriptor of the file that a request has just leased objects to.
    fn hand_out_lessee(&self, bytes: &mut [u8]) -> Result<(), Errno> {
        let mut request: ModeCreateLease = args::argument(bytes)?;
        let lessee = Self::of(self.file.take_lessee(request.lessee_id).ok_or(Errno::EINVAL)?);
        let open = self.lessees.open.lock().clone();
        let descriptor = match open {
            Some(open) => open(lessee)?,
            None => self.lessees.keep(lessee)?,
        };
        let closes_on_exec = request.flags & libc::O_CLOEXEC.cast_unsigned() != 0;
        let flags = if closes_on_exec { FdFlag::FD_CLOEXEC } else { FdFlag::empty() };
        fcntl(&descriptor, FcntlArg::F_SETFD(flags))?;
        request.fd = client::install(descriptor)?.cast_unsigned();
        args::fill(bytes, &request)
    }

    /// Performs an ioctl of another process, whose argument is at `address` in the client's memory.
    ///
    /// # Errors
    ///
    /// The kernel's errno; EINTR if the client was interrupted in a wait, which then changed nothing.
    pub fn serve(&self, client: Arc<dyn Client>, request: Request, address: u64) -> Result<c_int, Errno> {
        let _serving = client::enter(client);
        self.dispatch(request, address)
    }

    /// Returns the object that a mapping of `len` bytes of the node at `offset` would show, for clients that map it themselves.
    ///
    /// # Errors
    ///
    /// The errors of `mmap` of the node: EINVAL if the range is not that of a BO; EACCES, EPERM or ENOMEM if the BO cannot be
    /// mapped.
    pub fn mappable(&self, offset: u64, len: u64) -> Result<Mappable, Errno> {
        let bo = dispatch::mmap_target(&self.file, offset, len)?;
        bo.file_to_map()?;
        Ok(Mappable { bo })
    }

    fn dispatch(&self, request: Request, address: u64) -> Result<c_int, Errno> {
        self.file.gpu.machine.timelines.close_what_is_over();
        let entry = dispatch::lookup(&self.file, request);
        let name = entry.as_ref().ok().map(|entry| entry.name);
        let _awake = self.file.gpu.awake(Process::current, WakeCause::Ioctl(name));
        let entry = entry?;
        let size = request.size();
        let (copy_in, copy_out) = entry.directions(request);
        // One buffer for the sizes of both sides' structure; bytes that were not read are zero.
        let mut buffer = vec![0_u64; size.max(entry.size).div_ceil(8)];
        let bytes = zerocopy::IntoBytes::as_mut_bytes(buffer.as_mut_slice());
        // An answer that cannot be written is noticed when the request is done.
        if copy_in && let Some(bytes) = bytes.get_mut(..size) {
            user::read_bytes(address, bytes)?;
        }
        let control = &self.file.gpu.board.control;
        let result = control.serve(request.number(), bytes, |bytes| entry.run(&self.file, bytes));
        let result = result.and_then(|()| if entry.opens_a_file() { self.hand_out_lessee(bytes) } else { Ok(()) });
        tracing::trace!(request = entry.name, ?result, "ioctl");
        if client::was_interrupted() {
            // Waits do not change the argument when they fail.
            return Err(Errno::EINTR);
        }
        if copy_out && let Some(bytes) = bytes.get(..size) {
            user::write_bytes(address, bytes)?;
        }
        result.map(|()| 0)
    }

    /// Returns the PCI slot and the minor numbers of the device.
    pub fn place(&self) -> Place {
        self.file.gpu.facts.options.place
    }

    /// Charges what this file's requests put into VRAM to a cgroup from now on, such as `/games`, as if its process were there. What was
    /// charged before stays where it is.
    ///
    /// Without it the group is that of the client process, or the root for a client in this process.
    pub fn join_cgroup(&self, path: &str) {
        *self.file.cgroup.lock() = Some(path.to_owned());
    }

    /// Returns the numbers of objects of the file.
    pub fn census(&self) -> Census {
        self.file.census()
    }

    /// Returns the complaints about requests of the device's clients that are invalid or not simulated, the oldest first.
    pub fn complaints(&self) -> Vec<String> {
        self.file.gpu.board.complaints.list()
    }
}

/// Code that gives a client a descriptor of a file.
type OpenLessee = Arc<dyn Fn(SimKernel) -> Result<OwnedFd, Errno> + Send + Sync>;

/// Files that a file has leased objects to.
#[derive(Default)]
struct Lessees {
    open: Mutex<Option<OpenLessee>>,
    /// Files of this process, by the descriptors that stand for them: with the other end of each descriptor.
    kept: Mutex<Vec<(FileId, UnixStream, SimKernel)>>,
}

impl Lessees {
    /// Keeps a file until it is taken by its descriptor. Files whose descriptors were closed are dropped.
    fn keep(&self, kernel: SimKernel) -> Result<OwnedFd, Errno> {
        let (theirs, ours) = UnixStream::pair().map_err(errno_of)?;
        let id = FileId::of(&theirs)?;
        let gone: Vec<_> = self.kept.lock().extract_if(.., |(_, end, _)| !has_peer(end)).collect();
        drop(gone);
        self.kept.lock().push((id, ours, kernel));
        Ok(theirs.into())
    }
}

impl fmt::Debug for Lessees {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lessees").field("kept", &self.kept.lock().len()).finish_non_exhaustive()
    }
}

/// A BO that a client maps into its own memory. It keeps the BO alive, but not its file.
#[derive(Debug)]
pub struct Mappable {
    bo: Arc<Bo>,
}

impl Mappable {
    /// Returns the shared memory to map, starting at offset 0.
    ///
    /// # Errors
    ///
    /// ENOMEM if the host has no memory.
    pub fn file(&self) -> Result<BorrowedFd<'_>, Errno> {
        self.bo.file_to_map()
    }
}

// SAFETY: `ioctl` copies at most `request.size()` bytes in and out of the argument, and follows only the addresses that the request
// defines, for the lengths in the argument (`user.rs`). `mmap` returns the result of the C library's mmap of a memfd for exactly
// the requested length; only `munmap` ends the mapping.
unsafe impl Kernel for SimKernel {
    fn open_file(&self) -> OpenFile<'_> {
        OpenFile::InProcess(&self.identity)
    }

    unsafe fn ioctl(&self, request: Request, argument: *mut c_void) -> Result<c_int, Errno> {
        // The caller guarantees the argument's bytes and the memory at its addresses (`user.rs`).
        self.dispatch(request, argument.expose_provenance() as u64)
    }

    unsafe fn mmap(
        &self,
        len: usize,
        protection: Protection,
        at: Option<NonNull<u8>>,
        offset: u64,
    ) -> Result<NonNull<u8>, Errno> {
        let bo = dispatch::mmap_target(&self.file, offset, len as u64)?;
        let protection = match protection {
            Protection::Read => ProtFlags::PROT_READ,
            Protection::ReadWrite => ProtFlags::PROT_READ | ProtFlags::PROT_WRITE,
        };
        let size = NonZeroUsize::new(len).ok_or(Errno::EINVAL)?;
        let mut flags = MapFlags::MAP_SHARED;
        if at.is_some() {
            flags |= MapFlags::MAP_FIXED;
        }
        let address = at.and_then(|at| NonZeroUsize::new(at.as_ptr().expose_provenance()));
        // SAFETY: without MAP_FIXED the kernel selects free addresses; with it the caller owns the range.
        let mapped = unsafe { mmap(address, size, protection, flags, bo.file_to_map()?, 0) }?;
        self.file.mappings.lock().insert(mapped.as_ptr().addr(), (len, bo));
        Ok(mapped.cast())
    }

    unsafe fn munmap(&self, address: NonNull<u8>, len: usize) -> Result<(), Errno> {
        // SAFETY: the caller passes a live mapping that is no longer used.
        unsafe { munmap(address.cast(), len) }?;
        let gone = self.file.mappings.lock().remove(&address.as_ptr().addr());
        // This may free the BO, which must not happen under the lock.
        drop(gone);
        Ok(())
    }

    unsafe fn reserve(&self, address: NonNull<u8>, len: usize) -> Result<(), NotReserved> {
        // SAFETY: the caller's promises are passed on unchanged.
        unsafe { replace_by_nothing(address, len) }?;
        let gone = self.file.mappings.lock().remove(&address.as_ptr().addr());
        drop(gone);
        Ok(())
    }
}
