//! Node descriptors across dup, fork and exec.

use std::{
    ffi::CString,
    fs::File,
    io::{IoSlice, IoSliceMut, Read as _, Write as _},
    os::{
        fd::{AsFd as _, AsRawFd as _, FromRawFd as _, OwnedFd, RawFd},
        unix::process::CommandExt as _,
    },
    process::Command,
    ptr::null,
};

use amdgpu_winsys::{
    cs::{Queue, Stream, Submission, pm4, sdma},
    heaps::{AllocateFlags, AllocateInfo, MemoryManager, TableOptions},
    uapi::{PRIME_FD_TO_HANDLE, PRIME_RDWR, PrimeHandle, Request, SyncobjCreate, SyncobjHandle},
    winsys::{Context, Device, Ip, Priority},
};
use nix::{
    errno::Errno,
    sys::{
        resource::{Resource, setrlimit},
        socket::{
            AddressFamily, ControlMessage, ControlMessageOwned, MsgFlags, SockFlag, SockType, recvmsg, sendmsg,
            socketpair,
        },
        wait::{WaitStatus, waitpid},
    },
    unistd::Pid,
};

use crate::{
    node::{
        RENDER, census, census_by, close_handle, create, guest, in_child, ioctl, ioctl_as, launcher, map, open,
        open_for_exec, open_with,
    },
    timelines::status,
};

/// A copy is the same file, and outlives the original; another open is another file.
pub(crate) fn duplicates() {
    let first = open(RENDER);
    let handle = create(&first, 4096).expect("a BO");
    let copy = first.try_clone().expect("dup");
    let number = first.as_raw_fd();
    drop(first);
    // Whatever gets the number of the original now is no node.
    let other = File::open("/dev/null").expect("/dev/null");
    assert_eq!(other.as_raw_fd(), number);
    assert_eq!(create(&other, 4096), Err(Errno::ENOTTY));
    let another = open(RENDER);
    assert_eq!(close_handle(&another, handle), Err(Errno::EINVAL));
    assert_eq!(close_handle(&copy, handle), Ok(()));
    assert!(census().starts_with("open 2 mapped 0\n"), "{}", census());
    drop(copy);
    drop(another);
    assert!(census().starts_with("open 0 mapped 0\n"), "{}", census());
}

/// A program without a free descriptor maps all the same, and gets no further descriptor.
pub(crate) fn exhausted() {
    const MOST: u64 = 256;
    let node = open(RENDER);
    let handle = create(&node, 4096).expect("a BO");
    setrlimit(Resource::RLIMIT_NOFILE, MOST, MOST).expect("setrlimit");
    let null = File::open("/dev/null").expect("/dev/null");
    let mut taken = Vec::new();
    let refused = loop {
        match null.try_clone() {
            Ok(copy) => taken.push(copy),
            Err(error) => break error,
        }
        assert!(taken.len() < 1000, "there is no end of descriptors");
    };
    assert_eq!(refused.raw_os_error(), Some(libc::EMFILE));
    for round in 0..3 {
        let mapping = map(&node, handle, 4096).expect("a mapping");
        mapping.store(round);
        assert_eq!(mapping.load(), round);
        mapping.unmap(0, 4096);
        assert_eq!(null.try_clone().map(drop).map_err(|error| error.raw_os_error()), Err(Some(libc::EMFILE)));
    }
    let mut export = PrimeHandle { handle, flags: PRIME_RDWR, fd: -1 };
    assert_eq!(ioctl(&node, &mut export), Err(Errno::EMFILE));
    let mut syncobj = SyncobjCreate { handle: 0, flags: 0 };
    ioctl(&node, &mut syncobj).expect("a sync object");
    let mut to_fd = SyncobjHandle { handle: syncobj.handle, flags: 0, fd: -1, pad: 0 };
    assert_eq!(ioctl(&node, &mut to_fd), Err(Errno::EMFILE));
    assert_eq!(open_with(RENDER, 0).map(drop), Err(Errno::EMFILE));
    drop(taken.pop());
    ioctl(&node, &mut export).expect("an export, with the one descriptor that is free");
    assert_eq!(null.try_clone().map(drop).map_err(|error| error.raw_os_error()), Err(Some(libc::EMFILE)));
    assert_eq!(close_handle(&node, handle), Ok(()));
}

/// A child shares its parent's files.
pub(crate) fn fork() {
    let node = open(RENDER);
    let handle = create(&node, 4096).expect("a BO");
    in_child(|| {
        let second = create(&node, 4096).expect("a BO of the child");
        assert_eq!(second, handle + 1);
        in_child(|| assert_eq!(close_handle(&node, second), Ok(())));
    });
    assert_eq!(close_handle(&node, handle + 1), Err(Errno::EINVAL), "the grandchild closed it");
    assert_eq!(close_handle(&node, handle), Ok(()));
}

/// A descriptor that stays open over exec is the same file in the new program.
pub(crate) fn exec() {
    let node = open_for_exec(RENDER);
    let handle = create(&node, 4096).expect("a BO");
    let closed = open(RENDER);
    let numbers = [node.as_raw_fd().to_string(), closed.as_raw_fd().to_string(), handle.to_string()];
    let program = std::env::current_exe().expect("this program");
    let error = Command::new(program).arg("inherited").args(numbers).exec();
    panic!("exec: {error}");
}

/// Programs that are started with an empty environment, by each of the C library's functions, use the same GPU.
#[expect(unsafe_code, reason = "starts programs as C does")]
pub(crate) fn without_variables() {
    let _node = open(RENDER);
    let program = std::env::current_exe().expect("this program").into_os_string().into_encoded_bytes();
    let [program, launcher] = [program, launcher().into_bytes()].map(|path| CString::new(path).expect("a path"));
    let arguments = [program.as_ptr(), c"joined".as_ptr(), launcher.as_ptr(), null()];
    let empty = [null()];
    let mut child = 0;
    let list = arguments.as_ptr().cast();
    // SAFETY: the list ends with a null, and the strings outlive the call.
    let spawned = unsafe { libc::posix_spawn(&raw mut child, program.as_ptr(), null(), null(), list, null()) };
    assert_eq!(spawned, 0);
    let child = Pid::from_raw(child);
    assert_eq!(waitpid(child, None).expect("the child"), WaitStatus::Exited(child, 0), "posix_spawn");
    in_child(|| {
        // SAFETY: both lists end with a null.
        unsafe { libc::execve(program.as_ptr(), arguments.as_ptr(), empty.as_ptr()) };
        panic!("execve: {}", Errno::last());
    });
    in_child(|| {
        // SAFETY: the child has one thread.
        unsafe { libc::clearenv() };
        // SAFETY: the list ends with a null.
        unsafe { libc::execvp(program.as_ptr(), arguments.as_ptr()) };
        panic!("execvp: {}", Errno::last());
    });
}

/// The process that started this one has a file open, and so it is not the only one.
pub(crate) fn joined(launcher: &str) {
    let _node = open(RENDER);
    let census = census_by(launcher);
    assert!(census.starts_with("open 2 mapped 0\n"), "{census}");
}

#[expect(unsafe_code, reason = "descriptors by number")]
pub(crate) fn inherited(arguments: &[String]) {
    let number = |index: usize| arguments[index].parse::<RawFd>().expect("a number");
    // SAFETY: the program before exec left it open for us.
    let node = unsafe { OwnedFd::from_raw_fd(number(0)) };
    // SAFETY: only to see that nothing is there.
    let flags = unsafe { libc::fcntl(number(1), libc::F_GETFD) };
    assert_eq!(flags, -1, "the other one closed on exec");
    assert_eq!(close_handle(&node, arguments[2].parse().expect("a handle")), Ok(()));
    let census = census();
    assert!(census.starts_with("open 1 mapped 0\n"), "{census}");
}

/// A descriptor passed to another process is the same file there.
pub(crate) fn pass() {
    let (ours, theirs) = socketpair(AddressFamily::Unix, SockType::Stream, None, SockFlag::empty()).expect("a pair");
    // The parent is the first to look for a GPU, so the child joins its world.
    drop(open(RENDER));
    in_child(|| {
        let node = open(RENDER);
        let handle = create(&node, 4096).expect("a BO");
        assert_eq!(handle, 1);
        let rights = [node.as_raw_fd()];
        let message = ControlMessage::ScmRights(&rights);
        sendmsg::<()>(theirs.as_raw_fd(), &[IoSlice::new(b"x")], &[message], MsgFlags::empty(), None).expect("sendmsg");
    });
    let node = receive(&ours);
    assert_eq!(close_handle(&node, 1), Ok(()), "the file outlived the process that opened it");
}

#[expect(unsafe_code, reason = "descriptors by number")]
pub(crate) fn receive(from: &OwnedFd) -> OwnedFd {
    let mut byte = [0];
    let mut parts = [IoSliceMut::new(&mut byte)];
    let mut room = nix::cmsg_space!(RawFd);
    let message = recvmsg::<()>(from.as_raw_fd(), &mut parts, Some(&mut room), MsgFlags::empty()).expect("recvmsg");
    let rights = message.cmsgs().expect("control messages").find_map(|message| match message {
        ControlMessageOwned::ScmRights(rights) => Some(rights),
        _ => None,
    });
    let [fd] = rights.unwrap_or_default()[..] else { panic!("not one descriptor") };
    // SAFETY: the kernel just installed it for us.
    unsafe { OwnedFd::from_raw_fd(fd) }
}

/// A program that closes descriptors which are not its own harms only itself, and not for long.
#[expect(unsafe_code, reason = "descriptors by number")]
pub(crate) fn closed_behind() {
    let node = open(RENDER);
    create(&node, 4096).expect("a BO");
    for number in (3..64).filter(|number| *number != node.as_raw_fd()) {
        // SAFETY: that is the point; nothing of this program's own is open there.
        unsafe { libc::close(number) };
    }
    let strangers: Vec<_> = (0..8).map(|_| File::open("/dev/null").expect("/dev/null")).collect();
    create(&node, 4096).expect("a BO after the connections were closed");
    for stranger in &strangers {
        stranger.metadata().expect("the strangers' descriptors are as they were");
    }
}

/// A guest with a bit of everything, killed: nothing stays.
pub(crate) fn killed() {
    drop(open(RENDER));
    let before = census();
    let mut held = guest(&["hold"]);
    let mut ready = [0];
    held.stdout.as_mut().expect("a pipe").read_exact(&mut ready).expect("the guest is ready");
    assert!(census().starts_with("open 1 mapped 1\n"), "{}", census());
    held.kill().expect("kill");
    held.wait().expect("wait");
    // The server is told by the kernel; it has released the file before it answers the next call.
    while census() != before {
        std::thread::yield_now();
    }
}

/// Takes a bit of everything, says so, and waits for what never comes.
pub(crate) fn hold() {
    let node = open(RENDER);
    let handle = create(&node, 1 << 20).expect("a BO");
    map(&node, handle, 1 << 20).expect("a mapping").store(1);
    let mut syncobj = amdgpu_winsys::uapi::SyncobjCreate { handle: 0, flags: 0 };
    ioctl(&node, &mut syncobj).expect("a sync object");
    std::io::stdout().write_all(b"!").and_then(|()| std::io::stdout().flush()).expect("stdout");
    let error = crate::waits::wait_for_submission(&node, syncobj.handle, i64::MAX);
    panic!("the wait ended: {error:?}");
}

/// A guest that is killed with jobs on its way, the first of which waits for ever: all are dropped.
pub(crate) fn dropped_jobs() {
    let (ours, theirs) = socketpair(AddressFamily::Unix, SockType::Stream, None, SockFlag::empty()).expect("a pair");
    let node = open(RENDER);
    let mut submitter = Command::new(std::env::current_exe().expect("this program"))
        .arg("submit")
        .stdin(theirs)
        .spawn()
        .expect("a guest");
    let [dma_buf, first, second, third] = std::array::from_fn(|_| receive(&ours));
    submitter.kill().expect("kill");
    submitter.wait().expect("wait");
    while !census().contains(" files 1 ") {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let fences = [first, second, third];
    let mut import = PrimeHandle { handle: 0, flags: 0, fd: dma_buf.as_raw_fd() };
    ioctl_as(&node, PRIME_FD_TO_HANDLE, &mut import).expect("an import");
    let memory = map(&node, import.handle, 4096).expect("a mapping");
    while fences.iter().any(|fence| status(fence) == 0) {
        std::thread::yield_now();
    }
    let dropped = -(Errno::ESRCH as i32);
    assert_eq!(fences.each_ref().map(status), [dropped; 3]);
    memory.store(1);
    assert_eq!(memory.load(), 1, "no job has stored its number");
}

/// Guests that are killed while a job of theirs runs that never ends by itself: it ends within 100 ms, or the fastest of five does,
/// and the ring serves others. The same for one that has closed its node before it is killed.
pub(crate) fn endless_jobs() {
    // This guest is the first to look for a GPU, so the others join its world.
    drop(open(RENDER));
    for (kind, closes) in [("loop", ""), ("groups", ""), ("wait", ""), ("copies", ""), ("loop", "closes")] {
        let times: Vec<_> = (0..5)
            .map(|_| {
                let (ours, theirs) =
                    socketpair(AddressFamily::Unix, SockType::Stream, None, SockFlag::empty()).expect("a pair");
                let mut guest = Command::new(std::env::current_exe().expect("this program"))
                    .args(["endless", kind, closes])
                    .stdin(theirs)
                    .spawn()
                    .expect("a guest");
                let fence = receive(&ours);
                std::thread::sleep(std::time::Duration::from_millis(80));
                assert_eq!(status(&fence), 0, "{kind} {closes}: its process lives");
                guest.kill().expect("kill");
                let killed = std::time::Instant::now();
                while status(&fence) == 0 {
                    assert!(killed.elapsed().as_secs() < 9, "{kind} {closes} goes on without its process");
                    std::thread::sleep(std::time::Duration::from_millis(1));
                }
                let time = killed.elapsed();
                guest.wait().expect("wait");
                assert_eq!(status(&fence), -(Errno::ESRCH as i32), "{kind} {closes}");
                time
            })
            .collect();
        let fastest = times.iter().min().expect("five");
        println!("{kind} {closes}: {times:?}");
        assert!(fastest.as_millis() <= 100, "{kind} {closes}: {times:?}");
    }
}

/// Submits a job that never ends, gives its fence away, and waits to be killed.
pub(crate) fn endless(arguments: &[String]) {
    let [kind, closes] = arguments else { panic!("two arguments") };
    let device = Device::open(std::path::Path::new(RENDER)).expect("the device");
    let manager = MemoryManager::new(&device, &TableOptions::default()).expect("its memory");
    let memory = manager.allocate(&AllocateInfo::new(5, 64 << 20)).expect("memory");
    let mapping = memory.map().expect("a mapping");
    let moves = ["wait", "copies"].contains(&kind.as_str());
    let ip = if moves { Ip::Sdma } else { Ip::Compute };
    let queue = Queue::new(&Context::new(&device, Priority::Normal).expect("a context"), ip, 0).expect("a queue");
    let at = memory.address();
    let list = if moves {
        let version = sdma::Version::of(device.info().gfx_level);
        let mut stream = Stream::new(&device, version, 1 << 16).expect("a stream");
        if kind == "wait" {
            stream.push(&sdma::PollMem::new(at, pm4::Compare::Equal, 1)).expect("room");
        } else {
            let to = at.checked_add(32 << 20).expect("inside");
            for _ in 0..5000 {
                stream.push(&sdma::CopyLinear::new(to, at, 32 << 20)).expect("room");
            }
        }
        stream.finish().expect("a list")
    } else {
        // s_branch to itself, or s_endpgm
        mapping.store_u32(0, if kind == "loop" { 0xbf82_ffff } else { 0xbf81_0000 }).expect("inside");
        let groups = if kind == "loop" { [1, 1, 1] } else { [u32::MAX, u32::MAX, 1] };
        let program = at.as_u64();
        let mut words = vec![0xc002_7602, 0x20c, (program >> 8) as u32, (program >> 40) as u32];
        words.extend([0xc002_7602, 0x212, 0x00ac_0000, 0x90, 0xc003_7602, 0x207, 64, 1, 1]);
        words.extend([0xc003_1502, groups[0], groups[1], groups[2], 1]);
        let target = pm4::Target::compute(device.info().gfx_level);
        let mut stream = Stream::new(&device, target, words.len() + 64).expect("a stream");
        stream.reserve(words.len()).expect("room").copy_from_slice(&words);
        stream.finish().expect("a list")
    };
    let used = [memory.binding().clone()];
    let job = Submission { lists: &[&list], memory: &used, ..Submission::default() };
    let file = queue.submit(&job).expect("a submission").to_sync_file().expect("a sync file");
    let rights = [file.as_raw_fd()];
    let message = ControlMessage::ScmRights(&rights);
    let peer = std::io::stdin();
    sendmsg::<()>(peer.as_raw_fd(), &[IoSlice::new(b"x")], &[message], MsgFlags::empty(), None).expect("sendmsg");
    if closes == "closes" {
        for number in 3..64 {
            let path = std::fs::read_link(format!("/proc/self/fd/{number}")).unwrap_or_default();
            if path == std::path::Path::new(RENDER) {
                // The device is not used again.
                nix::unistd::close(number).expect("close");
            }
        }
    }
    let error = std::io::stdin().read_exact(&mut [0]);
    panic!("the other guest ended: {error:?}");
}

/// Submits a job that waits for memory to become 1, and behind it three jobs that store their numbers; gives the memory and
/// the fences of the three away, and waits for what never comes.
pub(crate) fn submit() {
    let peer = std::io::stdin();
    let give = |file: OwnedFd| {
        let rights = [file.as_raw_fd()];
        let message = ControlMessage::ScmRights(&rights);
        sendmsg::<()>(peer.as_raw_fd(), &[IoSlice::new(b"x")], &[message], MsgFlags::empty(), None).expect("sendmsg");
    };
    let device = Device::open(std::path::Path::new(RENDER)).expect("the device");
    let manager = MemoryManager::new(&device, &TableOptions::default()).expect("its memory");
    let info = AllocateInfo { flags: AllocateFlags::EXPORTABLE, ..AllocateInfo::new(5, 4096) };
    let memory = manager.allocate(&info).expect("memory");
    memory.map().expect("a mapping").store_u32(0, 0).expect("inside");
    give(memory.bo().export().expect("an export"));
    let version = sdma::Version::of(device.info().gfx_level);
    let queue = Queue::new(&Context::new(&device, Priority::Normal).expect("a context"), Ip::Sdma, 0).expect("a queue");
    let used = [memory.binding().clone()];
    for number in 0..4 {
        let mut stream = Stream::new(&device, version, 64).expect("a stream");
        if number == 0 {
            let wait = sdma::PollMem::new(memory.address(), pm4::Compare::Equal, 1);
            stream.push(&wait).expect("room");
        } else {
            let to = memory.address().checked_add(4).expect("the next dword");
            stream.push(&sdma::WriteLinear { to, data: &[number] }).expect("room");
        }
        let list = stream.finish().expect("a list");
        let job = Submission { lists: &[&list], memory: &used, ..Submission::default() };
        let fence = queue.submit(&job).expect("a submission");
        if number > 0 {
            give(fence.to_sync_file().expect("a sync file"));
        }
    }
    let error = std::io::stdin().read_exact(&mut [0]);
    panic!("the other guest ended: {error:?}");
}

/// A dma-buf of another process: the same bytes, and the memory is counted once.
pub(crate) fn share() {
    let (ours, theirs) = socketpair(AddressFamily::Unix, SockType::Stream, None, SockFlag::empty()).expect("a pair");
    let node = open(RENDER);
    let handle = create(&node, 1 << 20).expect("a BO");
    let mapping = map(&node, handle, 1 << 20).expect("a mapping");
    let mut export = PrimeHandle { handle, flags: PRIME_RDWR, fd: -1 };
    ioctl(&node, &mut export).expect("an export");
    let rights = [export.fd];
    let message = ControlMessage::ScmRights(&rights);
    sendmsg::<()>(ours.as_raw_fd(), &[IoSlice::new(b"x")], &[message], MsgFlags::empty(), None).expect("sendmsg");
    mapping.store(7);
    in_child(|| {
        let device = Device::open(std::path::Path::new(RENDER)).expect("the device again");
        let before = device.memory_info().expect("MEMORY").gtt.heap_usage;
        let node = open(RENDER);
        let dma_buf = receive(&theirs);
        let mut import = PrimeHandle { handle: 0, flags: 0, fd: dma_buf.as_fd().as_raw_fd() };
        ioctl_as(&node, Request::from_bits(0xc00c_642e), &mut import).expect("an import");
        let mapping = map(&node, import.handle, 1 << 20).expect("a mapping of the import");
        assert_eq!(mapping.load(), 7);
        mapping.store(8);
        assert_eq!(device.memory_info().expect("MEMORY").gtt.heap_usage, before);
        let mut stranger = PrimeHandle { handle: 0, flags: 0, fd: 999 };
        assert_eq!(ioctl_as(&node, Request::from_bits(0xc00c_642e), &mut stranger), Err(Errno::EBADF));
    });
    assert_eq!(mapping.load(), 8);
}
