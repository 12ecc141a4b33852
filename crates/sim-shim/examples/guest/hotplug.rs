//! A GPU that is taken out and found again by writing to files of sysfs, or reset by reading a file of debugfs.

use std::{
    fs::{self, File},
    io::Write as _,
    os::{
        fd::{AsRawFd as _, OwnedFd},
        unix::fs::{MetadataExt as _, OpenOptionsExt as _},
    },
    path::Path,
    process::Command,
    thread,
    time::{Duration, Instant},
};

use amdgpu_winsys::uapi::{CTX_NO_RESET, CTX_UNKNOWN_RESET, Ctx, CtxAllocAnswer, CtxStateAnswer, ctx_op};
use nix::{
    errno::Errno,
    unistd::{Uid, geteuid, seteuid},
};
use zerocopy::{FromBytes as _, IntoBytes as _};

use crate::node::{self, RENDER};

const SLOT: &str = "/sys/bus/pci/devices/0000:03:00.0";
const REMOVE: &str = "/sys/bus/pci/devices/0000:03:00.0/remove";
const RESCAN: &str = "/sys/bus/pci/rescan";

fn errno<T>(result: std::io::Result<T>) -> Result<T, Errno> {
    result.map_err(|error| Errno::from_raw(error.raw_os_error().unwrap_or(0)))
}

fn open_store(path: &str) -> File {
    File::options().write(true).open(path).expect(path)
}

fn works(fd: &OwnedFd) -> Result<(), Errno> {
    node::close_handle(fd, node::create(fd, 4096)?)
}

/// The paths of a GPU by its number.
fn paths(number: u32) -> [String; 6] {
    [
        format!("/dev/dri/card{number}"),
        format!("/dev/dri/renderD{}", 128 + number),
        format!("/sys/class/drm/card{number}/device/vendor"),
        format!("/sys/dev/char/226:{number}"),
        format!("/sys/kernel/debug/dri/{number}"),
        format!("/sys/kernel/debug/dri/{}/amdgpu_gpu_recover", 128 + number),
    ]
}

/// Returns `true` if the GPU is there. Must not be called while it is being removed or added.
fn is_there(number: u32) -> bool {
    let paths = paths(number);
    let there = paths.iter().filter(|path| Path::new(path).exists()).count();
    assert!(there == 0 || there == paths.len(), "only some of {paths:?}");
    there > 0
}

/// Waits until all paths are there, or none: a write by the C library's streams is carried out a moment later, path by path.
fn await_nodes(number: u32, expected: bool) {
    let begun = Instant::now();
    while paths(number).iter().any(|path| Path::new(path).exists() != expected) {
        assert!(begun.elapsed() < Duration::from_secs(30), "card{number} is still as it was");
        thread::sleep(Duration::from_millis(2));
    }
}

pub(crate) fn hotplug() {
    let old = node::open(RENDER);
    works(&old).expect("before");
    refused(&old);

    let mut remove = open_store(REMOVE);
    assert_eq!(errno(remove.write(b"1\n")), Ok(2));
    assert!(!is_there(0) && !Path::new(SLOT).exists());
    assert_eq!(errno(File::open(RENDER)).err(), Some(Errno::ENOENT));
    assert_eq!(works(&old), Err(Errno::ENODEV), "an open descriptor");
    assert_eq!(errno(remove.write(b"1\n")), Err(Errno::ENODEV), "the file of a device that is gone");
    assert!(fs::read_dir("/dev/dri").expect("/dev/dri").all(|entry| entry.is_ok_and(|it| it.file_name() == "by-path")));

    // The old nodes are taken as long as a file of them is open.
    errno(fs::write(RESCAN, "0x1")).expect("rescan");
    assert!(!is_there(0) && is_there(1) && Path::new(SLOT).exists());
    let new = node::open("/dev/dri/renderD129");
    assert_eq!((works(&new), works(&old)), (Ok(()), Err(Errno::ENODEV)));
    errno(fs::write(RESCAN, "1")).expect("rescan again");
    assert!(!is_there(0), "nothing was there to be found");

    errno(open_store(REMOVE).write(b"1")).expect("remove");
    assert_eq!(works(&new), Err(Errno::ENODEV));
    drop((old, new));
    errno(open_store(RESCAN).write(b"+1\n")).expect("rescan");
    assert!(is_there(0) && !is_there(1));
    works(&node::open(RENDER)).expect("after");
    by_shells();
}

/// Writes texts that the kernel refuses, and texts that it ignores.
fn refused(file: &OwnedFd) {
    for path in [REMOVE, RESCAN] {
        for (text, expected) in [
            (&b"yes\n"[..], Err(Errno::EINVAL)),
            (b"-1", Err(Errno::EINVAL)),
            (b"1 1", Err(Errno::EINVAL)),
            (&[0xff; 5000], Err(Errno::EINVAL)),
            (b"99999999999999999999", Err(Errno::ERANGE)),
            (b"0\n", Ok(2)),
            (b"", Ok(0)),
        ] {
            assert_eq!(errno(open_store(path).write(text)), expected, "{path} {text:?}");
        }
        assert_eq!(errno(File::open(path)).err(), Some(Errno::EACCES), "{path} is not read");
        assert_eq!(errno(File::options().read(true).write(true).open(path)).err(), Some(Errno::EACCES), "{path}");
        assert_eq!(errno(fs::read_dir(path)).err(), Some(Errno::ENOTDIR), "{path}");
    }
    let vendor = errno(File::options().write(true).open(format!("{SLOT}/vendor")));
    assert_eq!(vendor.err(), Some(Errno::EACCES), "a file that is read is not written");
    works(file).expect("nothing happened");
}

/// Shells write by descriptors that they move about, and some by streams.
fn by_shells() {
    for shell in ["sh", "bash"] {
        for (path, there) in [(REMOVE, false), (RESCAN, true)] {
            let done = Command::new(shell).arg("-c").arg(format!("echo 1 > {path}")).status().expect(shell);
            assert!(done.success(), "{shell} {path}");
            await_nodes(0, there);
        }
    }
}

/// Returns QUERY_STATE's answer for a context: `true` if there was a reset since the last query.
fn was_reset(file: &OwnedFd, ctx_id: u32) -> bool {
    let mut request = Ctx { op: ctx_op::QUERY_STATE, ctx_id, ..Ctx::ZEROED };
    node::ioctl(file, &mut request).expect("QUERY_STATE");
    let (answer, _) = CtxStateAnswer::read_from_prefix(request.as_bytes()).expect("large enough");
    match answer.reset_status {
        CTX_NO_RESET => false,
        CTX_UNKNOWN_RESET => true,
        other => panic!("reset status {other}"),
    }
}

/// Opens the file that resets the first GPU, by all its paths and in all ways. The second GPU goes on.
pub(crate) fn recover() {
    let directories = ["0", "128", "0000:03:00.0"].map(|name| format!("/sys/kernel/debug/dri/{name}"));
    let paths = directories.each_ref().map(|directory| format!("{directory}/amdgpu_gpu_recover"));
    let contexts = [RENDER, "/dev/dri/renderD129"].map(|path| {
        let file = node::open(path);
        let mut request = Ctx { op: ctx_op::ALLOC_CTX, ..Ctx::ZEROED };
        node::ioctl(&file, &mut request).expect("ALLOC_CTX");
        let (answer, _) = CtxAllocAnswer::read_from_prefix(request.as_bytes()).expect("large enough");
        (file, answer.ctx_id)
    });
    let resets = || contexts.each_ref().map(|(file, context)| was_reset(file, *context));
    let [path, ..] = &paths;

    // None of these reads the file.
    let inodes = paths.each_ref().map(|path| fs::metadata(path).expect(path).ino());
    assert!(inodes.iter().all(|inode| inode == &inodes[0]));
    let named = File::options().read(true).custom_flags(libc::O_PATH).open(path);
    assert!(named.is_ok());
    let listed = File::options().read(true).custom_flags(libc::O_DIRECTORY).open(path);
    assert_eq!(errno(listed).err(), Some(Errno::ENOTDIR));
    assert_eq!(errno(File::options().write(true).open(path)).err(), Some(Errno::EACCES));
    assert_eq!(resets(), [false, false]);

    if geteuid().is_root() {
        let missing = fs::read("/sys/kernel/debug/dri/2/amdgpu_gpu_recover");
        assert_eq!(errno(missing).err(), Some(Errno::ENOENT));
        for path in &paths {
            assert_eq!(fs::read_to_string(path).expect(path), "0\n");
            assert_eq!(resets(), [true, false], "{path}");
        }
        let output = Command::new("cat").arg(path).output().expect("cat");
        assert_eq!(output.stdout, b"0\n");
        assert_eq!(resets(), [true, false], "another program");
        // Nobody.
        seteuid(Uid::from_raw(65534)).expect("seteuid");
    }
    assert_eq!(errno(fs::read(path)).err(), Some(Errno::EACCES), "only root may");
    assert_eq!(resets(), [false, false]);
}

/// The directories of open files in debugfs come and go with the files.
pub(crate) fn clients() {
    const DEBUG: &str = "/sys/kernel/debug/dri";
    let file = node::open(RENDER);
    node::ioctl(&file, &mut Ctx { op: ctx_op::ALLOC_CTX, ..Ctx::ZEROED }).expect("ALLOC_CTX");
    let told = fs::read_to_string(format!("/proc/self/fdinfo/{}", file.as_raw_fd())).expect("fdinfo");
    let id = told.lines().find_map(|line| line.strip_prefix("drm-client-id:\t")).expect("an id");
    let directory = format!("{DEBUG}/client-{id}");
    let read = |name: &str| fs::read_to_string(format!("{directory}/{name}"));
    if !geteuid().is_root() {
        assert_eq!(errno(read("proc_info")).err(), Some(Errno::EACCES));
        return;
    }
    assert_eq!(read("proc_info").expect("proc_info"), format!("pid: {}\ncomm: guest\n", std::process::id()));
    let tables = read("vm_pagetable_info").expect("vm_pagetable_info");
    assert!(tables.starts_with("pd_address: 0x") && tables.contains("\nblock_size: 0x9\n"), "{tables}");
    assert_eq!(fs::read_link(format!("{directory}/device")).expect("a link"), Path::new("../0000:03:00.0"));
    let listed = |wanted: &str| {
        let names = fs::read_dir(DEBUG).expect(DEBUG).map(|entry| entry.expect("a name").file_name());
        names.into_iter().filter(|name| name.to_string_lossy().starts_with(wanted)).count()
    };
    let other = node::open(RENDER);
    assert_eq!((listed("client-"), listed(&format!("client-{id}"))), (2, 1));
    drop(other);
    assert_eq!(listed("client-"), 1);
    drop(file);
    assert_eq!((listed("client-"), errno(read("proc_info")).err()), (0, Some(Errno::ENOENT)));
}
