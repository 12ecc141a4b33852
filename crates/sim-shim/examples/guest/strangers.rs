//! Clients that mean no good.

use std::{
    fs::File,
    io::Write as _,
    num::NonZeroUsize,
    os::fd::{AsFd, AsRawFd, FromRawFd as _, OwnedFd, RawFd},
    path::{Path, PathBuf},
};

use amdgpu_sim_world::{Call, Connection, Layout, Message, NodeName, WORLD_VARIABLE};
use amdgpu_winsys::{
    cs::{Marker as _, Queue, Stream, Submission, Target, pm4},
    uapi::{
        Argument as _, GemClose, GemCreate, GemMmap, GemMmapAnswer, PRIME_CLOEXEC, PRIME_RDWR, PrimeHandle, VaFlags,
    },
    vamgr::VaRequest,
    winsys::{Binding, Bo, Context, Deadline, Device, Ip, Priority, UserMemory},
};
use nix::{
    errno::Errno,
    sys::{
        memfd::{MFdFlags, memfd_create},
        mman::{MapFlags, ProtFlags, mmap},
        socket::{AddressFamily, SockFlag, SockType, UnixAddr, bind, socket},
    },
    unistd::{ftruncate, geteuid, setgid, setgroups, setuid},
};
use zerocopy::{FromBytes as _, IntoBytes as _};

use crate::node::{GTT, RENDER, census, create, in_child, ioctl, map, open};

fn world() -> Layout {
    Layout::new(PathBuf::from(std::env::var_os(WORLD_VARIABLE).expect("a world")))
}

/// A connection past the preload library, on which anything can be said.
fn connection() -> Result<Connection, Errno> {
    Connection::open(&world().socket())
}

fn call(connection: &Connection, what: Call, node: &OwnedFd, words: [u64; 2], shown: RawFd) -> Result<u64, Errno> {
    let file = NodeName::of(node.as_raw_fd()).expect("a node").file;
    connection
        .call(&Message::new(what, file, [words[0], words[1], i64::from(shown).cast_unsigned()]))
        .map(|answer| answer.value)
}

/// The number of another client's open file opens nothing.
pub(crate) fn by_number() {
    let node = open(RENDER);
    let (other, unrelated) = (open(RENDER), File::open("/dev/null").expect("/dev/null"));
    let stranger = connection().expect("a connection");
    let mut request = GemCreate { bo_size: 4096, alignment: 0, domains: GTT, domain_flags: 0 };
    let words = [GemCreate::REQUEST.bits().into(), std::ptr::from_mut(&mut request).expose_provenance() as u64];
    let ask = |shown: RawFd| call(&stranger, Call::Ioctl, &node, words, shown);
    for shown in [-1, 9999, unrelated.as_raw_fd(), other.as_raw_fd(), stranger.as_fd().as_raw_fd()] {
        assert_eq!(ask(shown), Err(Errno::EBADF), "descriptor {shown}");
        assert_eq!(call(&stranger, Call::Map, &node, [0, 4096], shown), Err(Errno::EBADF), "descriptor {shown}");
    }
    assert!(census().contains(" bos 0 "), "{}", census());
    let copy = node.try_clone().expect("dup");
    assert_eq!(ask(copy.as_raw_fd()), Ok(0), "a copy is as good");
    drop(copy);
    assert_eq!(ask(-1), Ok(0), "it was shown on this connection");
    assert!(census().contains(" bos 2 "), "{}", census());
}

/// Names that another user could have taken before.
pub(crate) fn squatter() {
    drop(open(RENDER));
    let name = world().name();
    let squatted: Vec<_> = (1..40)
        .map(|number| {
            let fd = socket(AddressFamily::Unix, SockType::Stream, SockFlag::SOCK_CLOEXEC, None).expect("a socket");
            let address = UnixAddr::new_abstract(format!("amdgpu-sim/{name}/128/{number}").as_bytes()).expect("short");
            bind(fd.as_raw_fd(), &address).map(|()| fd)
        })
        .filter_map(Result::ok)
        .collect();
    assert!(!squatted.is_empty());
    let nodes: Vec<_> = (0..20).map(|_| open(RENDER)).collect();
    let nonces: std::collections::HashSet<_> =
        nodes.iter().map(|node| NodeName::of(node.as_raw_fd()).expect("a node").nonce).collect();
    assert_eq!(nonces.len(), nodes.len());
}

/// The size of shared memory is fixed: a client cannot truncate what the server has mapped.
pub(crate) fn truncate() {
    const LEN: usize = 1 << 20;
    let node = open(RENDER);
    let handle = create(&node, LEN as u64).expect("a BO");
    let mapping = map(&node, handle, LEN).expect("a mapping");
    let mut export = PrimeHandle { handle, flags: PRIME_CLOEXEC | PRIME_RDWR, fd: -1 };
    ioctl(&node, &mut export).expect("an export");
    let dma_buf = own(export.fd);
    let mut request = GemMmap { handle, pad: 0 };
    ioctl(&node, &mut request).expect("an offset");
    let (offset, _) = GemMmapAnswer::read_from_prefix(request.as_bytes()).expect("large enough");
    let file = NodeName::of(node.as_raw_fd()).expect("a node").file;
    let words = [offset.addr_ptr, LEN as u64, i64::from(node.as_raw_fd()).cast_unsigned()];
    let asked = connection().expect("a connection").call(&Message::new(Call::Map, file, words));
    let to_map = asked.expect("the memory itself").descriptor.expect("a descriptor");
    let fdinfo = File::open(format!("/proc/self/fdinfo/{}", node.as_raw_fd())).expect("fdinfo");
    for fd in [&dma_buf, &to_map, &OwnedFd::from(fdinfo)] {
        let again = File::options().read(true).write(true).open(format!("/proc/self/fd/{}", fd.as_raw_fd()));
        for fd in [fd.as_fd(), again.expect("the same file").as_fd()] {
            assert_eq!(ftruncate(fd, 0), Err(Errno::EPERM));
        }
    }
    mapping.store(9);
    assert_eq!(mapping.load(), 9);
    in_child(|| assert!(create(&open(RENDER), 4096).is_ok(), "the server is alive"));
}

#[expect(unsafe_code, reason = "descriptors by number")]
fn own(fd: RawFd) -> OwnedFd {
    // SAFETY: the kernel just installed it for us.
    unsafe { OwnedFd::from_raw_fd(fd) }
}

/// Pages of a file that is truncated while the server has it mapped: the GPU reads zeros there, and no process dies.
#[expect(unsafe_code, reason = "memory of the guest's own")]
pub(crate) fn cut_pages() {
    const LEN: usize = 4096;
    let device = Device::open(Path::new(RENDER)).expect("the device");
    let file = memfd_create(c"cut", MFdFlags::MFD_CLOEXEC).expect("a memfd");
    ftruncate(&file, 4096).expect("a page");
    let (size, rights) = (NonZeroUsize::new(LEN).expect("some"), ProtFlags::PROT_READ | ProtFlags::PROT_WRITE);
    // SAFETY: no address is asked for, so nothing that exists is replaced.
    let page = unsafe { mmap(None, size, rights, MapFlags::MAP_SHARED, &file, 0) }.expect("a mapping");
    let memory = UserMemory { may_be_file: true, ..UserMemory::new(page.cast(), LEN as u64) };
    // SAFETY: nothing of Rust's is there, and it stays mapped.
    let bo = unsafe { Bo::from_user_memory(&device, memory) }.expect("a BO of the page");
    let lease = device.addresses().allocate(VaRequest::new(LEN as u64)).expect("addresses");
    let rights = VaFlags::READABLE | VaFlags::WRITEABLE;
    let binding = Binding::new(&bo, lease, rights).map_err(|(_, error)| error).expect("a binding");
    ftruncate(&file, 0).expect("the guest's own file");
    let context = Context::new(&device, Priority::Normal).expect("a context");
    let queue = Queue::new(&context, Ip::Gfx, 0).expect("a queue");
    let Target::Pm4(target) = queue.target() else { panic!("the graphics ring does not speak PM4") };
    let mut stream = Stream::new(&device, target, 64).expect("a stream");
    pm4::Target::store(&mut stream, binding.address(), 7).expect("room");
    let list = stream.finish().expect("a list");
    let memory = [binding.clone()];
    let submitted = queue.submit(&Submission { lists: &[&list], memory: &memory, ..Submission::default() });
    if let Ok(fence) = submitted {
        let _ = fence.wait(Deadline::NEVER);
    }
    in_child(|| assert!(create(&open(RENDER), 4096).is_ok(), "the server is alive"));
}

/// A process takes all the connections it can get: others are still served.
pub(crate) fn crowd() {
    let node = open(RENDER);
    let mut taken = Vec::new();
    let refused = loop {
        match connection() {
            Ok(connection) => taken.push(connection),
            Err(errno) => break errno,
        }
        assert!(taken.len() < 1000, "there is no end of connections");
    };
    assert_eq!(refused, Errno::EUSERS);
    assert!(taken.len() >= 64, "{} connections are too few for a program of many threads", taken.len());
    in_child(|| assert!(create(&open(RENDER), 4096).is_ok(), "another process is served"));
    assert!(create(&node, 4096).is_ok(), "the connection that is kept goes on");
    drop(taken);
    // The server hears of it in its own time.
    while connection().is_err() {
        std::thread::yield_now();
    }
    let mut close = GemClose { handle: 1, pad: 0 };
    ioctl(&node, &mut close).expect("GEM_CLOSE");
}

/// A world of root serves root alone: a process that gives root up is refused, whatever descriptors it has kept.
pub(crate) fn sandbox() {
    const NOBODY: u32 = 65_534;
    assert!(geteuid().is_root(), "only root can give it up");
    let node = open(RENDER);
    let handle = create(&node, 4096).expect("a BO");
    let mapping = map(&node, handle, 4096).expect("a mapping");
    in_child(|| {
        setgroups(&[]).expect("setgroups");
        setgid(NOBODY.into()).expect("setgid");
        setuid(NOBODY.into()).expect("setuid");
        assert_eq!(create(&node, 4096), Err(Errno::EACCES), "an ioctl on the descriptor that was kept");
        assert_eq!(map(&node, handle, 4096).map(drop), Err(Errno::EACCES));
        mapping.store(7);
        assert!(File::open(RENDER).is_err(), "the directory is root's");
        let stranger = connection().expect("a connection");
        for what in [Call::Open, Call::OpenStore, Call::Outcome, Call::Refresh, Call::Census, Call::Fdinfo] {
            let refused = stranger.call(&Message::new(what, 0, [128, 0, 0])).map(|answer| answer.value);
            assert_eq!(refused, Err(Errno::EACCES), "{what:?}");
        }
        // The number alone opens nothing, as for anybody else.
        let mut request = GemCreate { bo_size: 4096, alignment: 0, domains: GTT, domain_flags: 0 };
        let words = [GemCreate::REQUEST.bits().into(), std::ptr::from_mut(&mut request).expose_provenance() as u64];
        for shown in [-1, node.as_raw_fd()] {
            assert_eq!(call(&stranger, Call::Ioctl, &node, words, shown), Err(Errno::EACCES));
        }
    });
    assert_eq!(mapping.load(), 7, "what was mapped stays mapped");
    assert_eq!(create(&node, 4096), Ok(handle + 1), "root is served as before");
}

/// A copy of this program with the set-user-id bit, which is removed again.
struct Privileged(PathBuf);

impl Privileged {
    fn new() -> Self {
        use std::os::unix::fs::PermissionsExt as _;
        let path = std::env::temp_dir().join(format!("amdgpu-sim-privileged-{}", std::process::id()));
        std::fs::copy(std::env::current_exe().expect("this program"), &path).expect("a copy");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o4755)).expect("the bit");
        Self(path)
    }
}

impl Drop for Privileged {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// A process that was root connects, gives root up and becomes a program with the set-user-id bit. Its child has kept the
/// connection, and has the server write to an address of that program.
pub(crate) fn deputy() {
    use std::{
        io::{BufRead as _, BufReader},
        os::unix::process::CommandExt as _,
        process::{Command, Stdio},
    };
    const NOBODY: u32 = 65_534;
    assert!(geteuid().is_root(), "only root can give it up");
    // Not the world of the child, which would end where that becomes another program.
    drop(open(RENDER));
    let program = Privileged::new();
    let ((from_victim, to_us), (from_us, to_victim)) = (pipe(), pipe());
    in_child(|| {
        let node = open(RENDER);
        assert_eq!(create(&node, 4096), Ok(1));
        let connection = connection().expect("a connection");
        let mut request = GemCreate { bo_size: 4096, alignment: 0, domains: GTT, domain_flags: 0 };
        let words = [GemCreate::REQUEST.bits().into(), std::ptr::from_mut(&mut request).expose_provenance() as u64];
        assert_eq!(call(&connection, Call::Ioctl, &node, words, node.as_raw_fd()), Ok(0), "before");
        let parent = std::process::id();
        // SAFETY: this process has one thread, so the child may do anything.
        #[expect(unsafe_code, reason = "fork")]
        let forked = unsafe { nix::unistd::fork() }.expect("fork");
        if forked.is_parent() {
            setgroups(&[]).expect("setgroups");
            setgid(NOBODY.into()).expect("setgid");
            setuid(NOBODY.into()).expect("setuid");
            let mut victim = Command::new(&program.0);
            victim.arg("victim").stdin(Stdio::from(from_us)).stdout(Stdio::from(to_us)).env_clear();
            panic!("{}", victim.exec());
        }
        drop((to_us, from_us));
        let mut line = String::new();
        let mut victim = BufReader::new(File::from(from_victim));
        victim.read_line(&mut line).expect("the victim's address");
        let (pid, address) = line.trim().split_once(' ').expect("two numbers");
        assert_eq!(pid, parent.to_string(), "the process that connected");
        let address: u64 = address.parse().expect("an address");
        let words = [GemCreate::REQUEST.bits().into(), address];
        let answer = call(&connection, Call::Ioctl, &node, words, node.as_raw_fd());
        // Without this byte the victim fails, and with it the test.
        assert_eq!(answer, Err(Errno::EFAULT));
        File::from(to_victim).write_all(b"!").expect("the victim lives");
        std::process::exit(0);
    });
}

/// A program with rights, as the attacked one: it says where its secret is, and at the end whether that has changed.
pub(crate) fn victim() {
    use std::{
        io::Read as _,
        sync::atomic::{AtomicU64, Ordering},
    };
    // As the argument of GEM_CREATE it would be changed: 4096 bytes in system memory.
    static SECRET: [AtomicU64; 4] = [AtomicU64::new(4096), AtomicU64::new(0), AtomicU64::new(GTT), AtomicU64::new(0)];
    println!("{} {}", std::process::id(), (&raw const SECRET).expose_provenance());
    std::io::stdin().read_exact(&mut [0]).expect("a byte");
    assert!(geteuid().is_root(), "the set-user-id bit has no effect here");
    assert_eq!(SECRET[0].load(Ordering::SeqCst), 4096, "the server reached into a program with rights");
}

fn pipe() -> (OwnedFd, OwnedFd) {
    nix::unistd::pipe().expect("a pipe")
}

/// Says which world this is, and ends by a signal.
pub(crate) fn die(signal: &str) -> ! {
    let node = open(RENDER);
    create(&node, 4096).expect("a BO");
    println!("{}", world().directory().display());
    std::io::stdout().flush().expect("stdout");
    let signal: nix::sys::signal::Signal = signal.parse().expect("a signal");
    loop {
        // The standard library's handler of SIGBUS takes itself away the first time.
        nix::sys::signal::raise(signal).expect("raise");
    }
}
