//! The open files of a world and what keeps them open: descriptors, and mappings.

use std::{
    collections::HashMap,
    os::fd::{AsFd, AsRawFd, OwnedFd, RawFd},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use amdgpu_sim::{Jobs, Mappable, SimDevice, SimKernel, sysfs::Store};
use nix::{
    errno::Errno,
    fcntl::{FcntlArg, OFlag, fcntl, open},
    sys::{
        epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout},
        inotify::{AddWatchFlags, InitFlags, Inotify, WatchDescriptor},
        socket::{AddressFamily, MsgFlags, SockFlag, SockType, UnixAddr, bind, send, socketpair},
        stat::{Mode, fstat},
        time::TimeSpec,
        timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags},
    },
};
use parking_lot::Mutex;

use crate::{NodeName, process::Process, tree::stores::Stores};

/// epoll's data for events that concern no file; files count from 1.
const MAPPINGS: u64 = 0;

/// epoll's data for the time to look at doubtful mappings and orphaned jobs again.
const DOUBTS: u64 = u64::MAX;

/// Time between two checks of doubtful mappings and of orphaned jobs while no client calls.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// Time for which a mapping stays doubtful: far more than a thread needs from telling that a file is closed to giving up its locks,
/// regardless of the load of the machine.
const DOUBTED_FOR: Duration = Duration::from_secs(5);

/// Time that jobs have to be done after their process has ended, which all that are no endless loops need: a program may end right after
/// it has submitted its last picture.
const GRACE: Duration = Duration::from_millis(50);

/// Open files of a world at most, each of which takes a descriptor of the server's.
const MOST_FILES: usize = 1 << 14;

/// An open file of a node.
#[derive(Debug)]
pub(crate) struct OpenFile {
    pub(crate) number: u64,
    pub(crate) minor: u32,
    pub(crate) kernel: SimKernel,
    /// The process that made the last request; `None` before the first.
    last_user: Mutex<Option<Process>>,
}

impl OpenFile {
    /// Notes that a process makes a request.
    pub(crate) fn used_by(&self, process: Process) {
        *self.last_user.lock() = Some(process);
    }

    /// Returns the text of `proc_info`: the process that made the last request.
    ///
    /// Source: Linux 7.2 `drm_debugfs.c`, `drm_debugfs_proc_info_show`.
    pub(crate) fn proc_info(&self) -> String {
        let process = *self.last_user.lock();
        let (pid, name) = process.map_or((0, None), |process| (process.pid(), process.name()));
        format!("pid: {pid}\ncomm: {}\n", name.as_deref().unwrap_or("Unset"))
    }
}

/// Jobs of a file that was closed before they were done.
#[derive(Debug)]
struct Orphan {
    jobs: Jobs,
    process: Process,
    /// The time at which the process was first seen to have ended.
    ended: Option<Instant>,
}

impl Orphan {
    /// Ends the jobs if their process has ended some time ago. Returns `true` if they must be looked at again.
    fn goes_on(&mut self, now: Instant) -> bool {
        if self.jobs.are_over() {
            return false;
        }
        if self.ended.is_none() && self.process.is_over() {
            self.ended = Some(now);
        }
        let is_enough = self.ended.is_some_and(|ended| now.duration_since(ended) >= GRACE);
        if is_enough {
            self.jobs.end();
        }
        !is_enough
    }
}

/// An open file that still has descriptors, with the server's end of its socket pair.
#[derive(Debug)]
struct Opened {
    file: Arc<OpenFile>,
    /// File system and inode of the client's end.
    device: u64,
    inode: u64,
    _end: Arc<OwnedFd>,
}

/// A BO that some process has mapped through a file: both stay.
#[derive(Debug)]
struct Mapped {
    /// By the lock on it the server sees whether the mapping is still there.
    bo: Mappable,
    _file: Arc<OpenFile>,
}

/// All open files.
#[derive(Debug)]
pub(crate) struct Files {
    /// Number of open files at most.
    most: usize,
    next: AtomicU64,
    epoll: Epoll,
    inotify: Inotify,
    opened: Mutex<HashMap<u64, Opened>>,
    /// By the watch on the BO's memory, and the number of the file.
    mapped: Mutex<HashMap<(WatchDescriptor, u64), Mapped>>,
    /// Watches that told of a close while the lock on the memory was still there, and until when they are looked at again.
    ///
    /// The kernel reports of a close first and gives up the locks after that (Linux 6.12 `file_table.c`, `__fput`), and tells
    /// nothing more.
    doubted: Mutex<HashMap<WatchDescriptor, Instant>>,
    timer: TimerFd,
    orphans: Mutex<Vec<Orphan>>,
    /// Files of sysfs that can be written, numbered with the others.
    pub(crate) stores: Stores,
    /// Held while closed files are released, so that the next caller sees them gone.
    releasing: Mutex<()>,
}

impl Files {
    pub(crate) fn new() -> Result<Self, Errno> {
        Self::of_at_most(MOST_FILES)
    }

    fn of_at_most(most: usize) -> Result<Self, Errno> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        let inotify = Inotify::init(InitFlags::IN_CLOEXEC | InitFlags::IN_NONBLOCK)?;
        let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_CLOEXEC | TimerFlags::TFD_NONBLOCK)?;
        epoll.add(inotify.as_fd(), EpollEvent::new(EpollFlags::EPOLLIN, MAPPINGS))?;
        epoll.add(timer.as_fd(), EpollEvent::new(EpollFlags::EPOLLIN, DOUBTS))?;
        Ok(Self {
            most,
            next: AtomicU64::new(1),
            epoll,
            inotify,
            opened: Mutex::default(),
            mapped: Mutex::default(),
            doubted: Mutex::default(),
            timer,
            orphans: Mutex::default(),
            stores: Stores::default(),
            releasing: Mutex::default(),
        })
    }

    /// Makes a node descriptor for a file; the client's end.
    pub(crate) fn add(&self, world: &str, minor: u32, kernel: SimKernel) -> Result<OwnedFd, Errno> {
        if self.opened.lock().len() >= self.most {
            return Err(Errno::ENFILE);
        }
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let (ours, theirs) = socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::SOCK_CLOEXEC)?;
        let name = NodeName::unguessable(world, minor, number);
        bind(theirs.as_raw_fd(), &UnixAddr::new_abstract(&name.to_bytes())?)?;
        let about = fstat(&theirs)?;
        self.epoll.add(&ours, EpollEvent::new(EpollFlags::EPOLLRDHUP, number))?;
        // Requests that name a node by descriptor (AMDGPU_SCHED) find the file.
        kernel.stands_for(theirs.as_fd())?;
        // Not the end itself: it is closed with the file, and is no descriptor of the file's that the file keeps open.
        let ours = Arc::new(ours);
        let end = Arc::downgrade(&ours);
        let flags = MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_NOSIGNAL;
        kernel
            .lead_events_to(move |event| end.upgrade().is_some_and(|end| send(end.as_raw_fd(), event, flags).is_ok()));
        let file = Arc::new(OpenFile { number, minor, kernel, last_user: Mutex::default() });
        self.opened.lock().insert(number, Opened { file, device: about.st_dev, inode: about.st_ino, _end: ours });
        Ok(theirs)
    }

    /// Opens a file that can be written; the client's end.
    pub(crate) fn open_store(&self, store: (Store, Option<SimDevice>), pid: libc::pid_t) -> Result<OwnedFd, Errno> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let wanted = EpollFlags::EPOLLIN | EpollFlags::EPOLLRDHUP;
        self.stores.open(number, store, pid, |end| self.epoll.add(end, EpollEvent::new(wanted, number)))
    }

    /// The file of that number, while it has descriptors.
    pub(crate) fn get(&self, number: u64) -> Option<Arc<OpenFile>> {
        self.opened.lock().get(&number).map(|opened| Arc::clone(&opened.file))
    }

    /// Returns `true` if a descriptor is one of the file's.
    pub(crate) fn is_of(&self, number: u64, descriptor: impl AsFd) -> bool {
        let Ok(about) = fstat(descriptor) else { return false };
        let opened = self.opened.lock();
        opened.get(&number).is_some_and(|opened| (opened.device, opened.inode) == (about.st_dev, about.st_ino))
    }

    /// The node whose descriptor has this inode.
    pub(crate) fn of_inode(&self, inode: u64) -> Option<Arc<OpenFile>> {
        let opened = self.opened.lock();
        opened.values().find(|opened| opened.inode == inode).map(|opened| Arc::clone(&opened.file))
    }

    /// Returns all files that have descriptors.
    pub(crate) fn all(&self) -> Vec<Arc<OpenFile>> {
        self.opened.lock().values().map(|opened| Arc::clone(&opened.file)).collect()
    }

    /// Returns the number of open files, and of mappings that keep something alive.
    pub(crate) fn counts(&self) -> (usize, usize) {
        (self.opened.lock().len(), self.mapped.lock().len())
    }

    /// A descriptor for a client to map.
    ///
    /// It is an open file of its own, with a lock that says which file mapped it. A mapping holds its open file, so the lock
    /// goes with the last piece of the mapping, in whichever process and however it ends.
    pub(crate) fn map(&self, file: &Arc<OpenFile>, offset: u64, len: u64) -> Result<OwnedFd, Errno> {
        let bo = file.kernel.mappable(offset, len)?;
        let path = path_of(bo.file()?.as_raw_fd());
        let theirs = open(path.as_str(), OFlag::O_RDWR | OFlag::O_CLOEXEC, Mode::empty())?;
        fcntl(&theirs, FcntlArg::F_OFD_SETLK(&lock_of(file.number, libc::F_RDLCK)))?;
        let mut mapped = self.mapped.lock();
        let watch = self.inotify.add_watch(path.as_str(), AddWatchFlags::IN_CLOSE)?;
        mapped.entry((watch, file.number)).or_insert_with(|| Mapped { bo, _file: Arc::clone(file) });
        Ok(theirs)
    }

    /// Drops the files and mappings that no client holds any more: all that were closed before the call.
    pub(crate) fn release(&self) {
        self.release_after(EpollTimeout::ZERO);
    }

    /// Waits until something is over, then releases it. For a thread that does nothing else.
    pub(crate) fn wait_and_release(&self) {
        self.release_after(EpollTimeout::NONE);
    }

    fn release_after(&self, timeout: EpollTimeout) {
        let mut events = [EpollEvent::empty(); 32];
        if timeout == EpollTimeout::NONE {
            // Only to sleep; what happened is read again with the lock held.
            let _ = self.epoll.wait(&mut events[..1], timeout);
        }
        let _releasing = self.releasing.lock();
        loop {
            let count = self.epoll.wait(&mut events, EpollTimeout::ZERO).unwrap_or(0);
            for event in events.iter().take(count) {
                self.release_what_is_over(*event);
            }
            if count < events.len() {
                break;
            }
        }
        self.look_again();
    }

    fn release_what_is_over(&self, event: EpollEvent) {
        match event.data() {
            MAPPINGS => self.release_mappings(),
            // Fails where another thread was faster.
            DOUBTS => drop(self.timer.wait()),
            number => {
                // What the client writes to a node goes nowhere; only its hang-up counts.
                let ends = EpollFlags::EPOLLRDHUP | EpollFlags::EPOLLHUP | EpollFlags::EPOLLERR;
                let is_closed = event.events().intersects(ends);
                if !self.stores.read(number, is_closed) && is_closed {
                    let gone = self.opened.lock().remove(&number);
                    if let Some(gone) = gone {
                        self.release_file(gone);
                    }
                }
            }
        }
    }

    /// Releases a file without descriptors, and notes its jobs that are not done.
    fn release_file(&self, gone: Opened) {
        let jobs = gone.file.kernel.jobs();
        let process = *gone.file.last_user.lock();
        drop(gone);
        if let Some(process) = process.filter(|_| !jobs.are_over()) {
            self.orphans.lock().push(Orphan { jobs, process, ended: None });
        }
    }

    /// Releases the doubtful mappings that are over, and ends jobs whose process has ended. Sets the timer if any are left.
    fn look_again(&self) {
        let doubted: Vec<_> = self.doubted.lock().iter().map(|(watch, until)| (*watch, *until)).collect();
        let now = Instant::now();
        for (watch, until) in doubted {
            if !self.release_mappings_of(watch) || until <= now {
                self.doubted.lock().remove(&watch);
            }
        }
        let has_orphans = {
            let mut orphans = self.orphans.lock();
            orphans.retain_mut(|orphan| orphan.goes_on(now));
            !orphans.is_empty()
        };
        if has_orphans || !self.doubted.lock().is_empty() {
            let expiration = Expiration::OneShot(TimeSpec::from_duration(LOOK_AGAIN));
            // Fails for no duration that is a constant; and the next call looks again without it.
            let _ = self.timer.set(expiration, TimerSetTimeFlags::empty());
        }
    }

    fn release_mappings(&self) {
        while let Ok(events) = self.inotify.read_events() {
            for event in events {
                if self.release_mappings_of(event.wd) {
                    self.doubted.lock().insert(event.wd, Instant::now() + DOUBTED_FOR);
                }
            }
        }
    }

    /// Releases the mappings of a watch that are over. Returns `true` if any is left.
    fn release_mappings_of(&self, watch: WatchDescriptor) -> bool {
        let (gone, left) = {
            let mut mapped = self.mapped.lock();
            let over: Vec<_> = mapped
                .iter()
                .filter(|((of, number), mapping)| *of == watch && !is_mapped(&mapping.bo, *number))
                .map(|(key, _)| *key)
                .collect();
            let gone: Vec<_> = over.into_iter().filter_map(|key| mapped.remove(&key)).collect();
            let left = mapped.keys().any(|(of, _)| *of == watch);
            if !gone.is_empty() && !left {
                // Fails where the memory went first.
                let _ = self.inotify.rm_watch(watch);
            }
            (gone, left)
        };
        drop(gone);
        left
    }
}

/// The path by which a descriptor of this thread's table is opened anew.
fn path_of(fd: RawFd) -> String {
    format!("/proc/thread-self/fd/{fd}")
}

/// The lock that says that a file mapped a BO: one byte per file.
fn lock_of(file: u64, kind: libc::c_int) -> libc::flock {
    libc::flock {
        l_type: kind as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: file.cast_signed(),
        l_len: 1,
        l_pid: 0,
    }
}

/// Returns `true` if a mapping that a file made is still there. If in doubt, it is.
fn is_mapped(bo: &Mappable, file: u64) -> bool {
    let Ok(memory) = bo.file() else { return true };
    let mut lock = lock_of(file, libc::F_WRLCK);
    match fcntl(memory, FcntlArg::F_OFD_GETLK(&mut lock)) {
        Ok(_) => lock.l_type != libc::F_UNLCK as libc::c_short,
        Err(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use amdgpu_sim::{SimOptions, profile};
    use amdgpu_uapi::{Answered as _, GemCreate, GemDomain, GemMmap, send_plain};

    use super::*;

    #[test]
    fn a_world_has_a_number_of_open_files_at_most_and_a_closed_one_makes_room() {
        let device = SimDevice::new(profile("navi21").unwrap(), SimOptions::default());
        let files = Files::of_at_most(2).unwrap();
        let open = || files.add("world", 128, device.open());
        let (first, _second) = (open().unwrap(), open().unwrap());
        assert_eq!(open().unwrap_err(), Errno::ENFILE);
        assert_eq!(device.census().files, 2, "the refused file is gone");
        drop(first);
        files.release();
        open().unwrap();
    }

    #[test]
    fn more_files_than_one_look_tells_of_are_released_at_once() {
        let device = SimDevice::new(profile("navi21").unwrap(), SimOptions::default());
        let files = Files::new().unwrap();
        let open: Vec<_> = (0..100).map(|_| files.add("world", 128, device.open()).unwrap()).collect();
        drop(open);
        files.release();
        assert_eq!((files.counts(), device.census().files), ((0, 0), 0));
    }

    /// The state between the two halves of a close: the kernel has told of it, and the lock is still there.
    struct HalfClosed {
        files: Files,
        mapping: OwnedFd,
        number: u64,
        _node: OwnedFd,
    }

    impl HalfClosed {
        #[expect(unsafe_code, reason = "requests for a BO of the test's own")]
        fn new() -> Self {
            let device = SimDevice::new(profile("navi21").unwrap(), SimOptions::default());
            let files = Files::new().unwrap();
            let node = files.add("world", 128, device.open()).unwrap();
            let file = files.get(1).unwrap();
            let mut create =
                GemCreate { bo_size: 4096, alignment: 4096, domains: GemDomain::GTT.bits(), domain_flags: 0 };
            // SAFETY: it only creates an object, which is the test's.
            unsafe { send_plain(&file.kernel, &mut create) }.unwrap();
            let mut mmap = GemMmap { handle: create.answer().handle, pad: 0 };
            // SAFETY: the BO was just created here.
            unsafe { send_plain(&file.kernel, &mut mmap) }.unwrap();
            let mapping = files.map(&file, mmap.answer().addr_ptr, 4096).unwrap();
            // Tells the watch of a close, as the last close of the mapping's own file does.
            let path = path_of(mapping.as_raw_fd());
            drop(open(path.as_str(), OFlag::O_RDWR | OFlag::O_CLOEXEC, Mode::empty()).unwrap());
            Self { files, mapping, number: file.number, _node: node }
        }
    }

    /// The kernel reports a close before it releases the locks; a check in between must be repeated.
    #[test]
    fn a_mapping_whose_lock_goes_after_its_close_was_told_of_is_released() {
        for waits in [false, true] {
            let HalfClosed { files, mapping, number, _node } = HalfClosed::new();
            files.release();
            assert_eq!(files.counts(), (1, 1), "looked at while the lock is there");
            fcntl(&mapping, FcntlArg::F_OFD_SETLK(&lock_of(number, libc::F_UNLCK))).unwrap();
            if waits {
                // Returns because of the timer, for nothing else happens.
                files.wait_and_release();
            } else {
                files.release();
            }
            assert_eq!(files.counts(), (1, 0), "after the lock is gone");
        }
    }
}
