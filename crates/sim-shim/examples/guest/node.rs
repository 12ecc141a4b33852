//! Nodes by raw system calls, as a C program would use them.

use std::{
    ffi::c_void,
    fs::{File, OpenOptions},
    os::{
        fd::{AsRawFd, OwnedFd, RawFd},
        unix::fs::OpenOptionsExt as _,
    },
    process::{Child, Command, Stdio},
};

use amdgpu_winsys::uapi::{
    Argument, GemClose, GemCreate, GemCreateAnswer, GemMmap, GemMmapAnswer, Request, Userq, UserqSignal, UserqWait,
};
use nix::errno::Errno;
use zerocopy::{FromBytes as _, IntoBytes as _};

pub(crate) const RENDER: &str = "/dev/dri/renderD128";
pub(crate) const GTT: u64 = 2;

/// Opens a node; closed on exec.
pub(crate) fn open(path: &str) -> OwnedFd {
    File::options().read(true).write(true).open(path).expect(path).into()
}

/// Opens a node that stays open over exec.
pub(crate) fn open_for_exec(path: &str) -> OwnedFd {
    let fd = open(path);
    nix::fcntl::fcntl(&fd, nix::fcntl::FcntlArg::F_SETFD(nix::fcntl::FdFlag::empty())).expect("F_SETFD");
    fd
}

pub(crate) fn open_with(path: &str, flags: i32) -> Result<OwnedFd, Errno> {
    let opened = OpenOptions::new().read(true).write(true).custom_flags(flags).open(path);
    opened.map(OwnedFd::from).map_err(|error| Errno::from_raw(error.raw_os_error().unwrap_or(0)))
}

#[expect(unsafe_code, reason = "raw ioctls")]
pub(crate) fn ioctl_at(fd: RawFd, request: Request, address: *mut c_void) -> Result<(), Errno> {
    // SAFETY: whatever the address is, the simulator asks the kernel to copy from and to it, which checks it.
    Errno::result(unsafe { libc::ioctl(fd, request.bits().into(), address) }).map(drop)
}

pub(crate) fn ioctl<A: Argument>(fd: &impl AsRawFd, argument: &mut A) -> Result<(), Errno> {
    ioctl_as(fd, A::REQUEST, argument)
}

pub(crate) fn ioctl_as<A>(fd: &impl AsRawFd, request: Request, argument: &mut A) -> Result<(), Errno> {
    assert!(request.size() <= size_of::<A>());
    ioctl_at(fd.as_raw_fd(), request, std::ptr::from_mut(argument).cast())
}

/// A BO in system memory; its handle.
pub(crate) fn create(fd: &impl AsRawFd, size: u64) -> Result<u32, Errno> {
    create_in(fd, size, GTT)
}

pub(crate) fn create_in(fd: &impl AsRawFd, size: u64, domains: u64) -> Result<u32, Errno> {
    let mut request = GemCreate { bo_size: size, alignment: 0, domains, domain_flags: 0 };
    ioctl(fd, &mut request)?;
    let (answer, _) = GemCreateAnswer::read_from_prefix(request.as_bytes()).expect("large enough");
    Ok(answer.handle)
}

pub(crate) fn close_handle(fd: &impl AsRawFd, handle: u32) -> Result<(), Errno> {
    ioctl(fd, &mut GemClose { handle, pad: 0 })
}

/// A mapped BO.
pub(crate) struct Mapped {
    pub(crate) address: *mut u64,
    len: usize,
}

/// Maps a BO.
#[expect(unsafe_code, reason = "mmap of a node")]
pub(crate) fn map(fd: &impl AsRawFd, handle: u32, len: usize) -> Result<Mapped, Errno> {
    let mut request = GemMmap { handle, pad: 0 };
    ioctl(fd, &mut request)?;
    let (answer, _) = GemMmapAnswer::read_from_prefix(request.as_bytes()).expect("large enough");
    let rights = libc::PROT_READ | libc::PROT_WRITE;
    let offset = answer.addr_ptr.cast_signed();
    // SAFETY: no address is asked for, so nothing that exists is replaced.
    let address = unsafe { libc::mmap(std::ptr::null_mut(), len, rights, libc::MAP_SHARED, fd.as_raw_fd(), offset) };
    if address == libc::MAP_FAILED { Err(Errno::last()) } else { Ok(Mapped { address: address.cast(), len }) }
}

impl Mapped {
    #[expect(unsafe_code, reason = "memory that others change")]
    pub(crate) fn load(&self) -> u64 {
        // SAFETY: the mapping lives as long as `self`, and is at least a page.
        unsafe { self.address.read_volatile() }
    }

    #[expect(unsafe_code, reason = "memory that others change")]
    pub(crate) fn store(&self, value: u64) {
        // SAFETY: as in `load`.
        unsafe { self.address.write_volatile(value) };
    }

    /// Writes the same everywhere.
    #[expect(unsafe_code, reason = "memory that others change")]
    pub(crate) fn fill(&self, value: u64) {
        for at in 0..self.len / 8 {
            // SAFETY: `at` lies within the mapping, which lives as long as `self`.
            unsafe { self.address.wrapping_add(at).write_volatile(value) };
        }
    }

    /// Unmaps the first bytes.
    #[expect(unsafe_code, reason = "munmap")]
    pub(crate) fn unmap(&self, from: usize, len: usize) {
        assert!(from + len <= self.len);
        // SAFETY: a part of this mapping, which the scenario does not use again.
        let returned = unsafe { libc::munmap(self.address.wrapping_byte_add(from).cast(), len) };
        assert_eq!(returned, 0);
    }
}

/// Returns the census of the world.
pub(crate) fn census() -> String {
    census_by(&launcher())
}

/// The launcher's path.
pub(crate) fn launcher() -> String {
    std::env::var("GUEST_LAUNCHER").expect("the test says where the launcher is")
}

pub(crate) fn census_by(launcher: &str) -> String {
    let output = Command::new(launcher).arg("census").output().expect("the census");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// Another guest.
pub(crate) fn guest(arguments: &[&str]) -> Child {
    let program = std::env::current_exe().expect("this program");
    Command::new(program).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a guest")
}

/// Runs a function in a forked child, which must end well.
#[expect(unsafe_code, reason = "fork")]
pub(crate) fn in_child(work: impl FnOnce()) {
    // SAFETY: the guest has one thread wherever it forks, so the child may do anything.
    match unsafe { nix::unistd::fork() }.expect("fork") {
        nix::unistd::ForkResult::Child => {
            let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
            std::process::exit(i32::from(done.is_err()));
        }
        nix::unistd::ForkResult::Parent { child } => {
            let status = nix::sys::wait::waitpid(child, None).expect("the child");
            assert_eq!(status, nix::sys::wait::WaitStatus::Exited(child, 0));
        }
    }
}

/// Requests of user queues are refused with ENOTSUPP (524) where there are none, which has no name in user space.
pub(crate) fn unnamed_errno() {
    let fd = open(RENDER);
    let mut bytes = [0_u8; 72];
    for request in [Userq::REQUEST, UserqSignal::REQUEST, UserqWait::REQUEST] {
        #[expect(unsafe_code, reason = "a raw ioctl")]
        // SAFETY: no argument of these requests is longer than the buffer, and zeros refer to nothing.
        let returned = unsafe { libc::ioctl(fd.as_raw_fd(), request.bits().into(), bytes.as_mut_ptr()) };
        let errno = std::io::Error::last_os_error().raw_os_error();
        assert_eq!((returned, errno), (-1, Some(524)), "{request:?}");
    }
}
