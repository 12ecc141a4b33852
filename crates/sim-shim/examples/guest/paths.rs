//! Contents of `/dev`, `/sys` and `/proc`.

use std::{
    fs,
    os::{
        fd::AsRawFd as _,
        unix::fs::{FileTypeExt as _, MetadataExt as _},
    },
    path::Path,
};

use amdgpu_winsys::{
    uapi::Client,
    winsys::{Device, Node},
};
use nix::{dir::Dir, errno::Errno, fcntl::OFlag, sys::stat::Mode};

use crate::node::{RENDER, create, ioctl, open, open_with};

/// The node and its device look like the real ones, by whichever call.
pub(crate) fn paths() {
    let device = libc::makedev(226, 128);
    for about in [fs::metadata(RENDER), fs::symlink_metadata("/dev//dri/./renderD128")] {
        let about = about.expect("stat");
        assert!(about.file_type().is_char_device());
        assert_eq!(about.rdev(), device);
    }
    let node = open(RENDER);
    let about = nix::sys::stat::fstat(&node).expect("fstat");
    assert_eq!((about.st_rdev, about.st_mode & libc::S_IFMT), (device, libc::S_IFCHR));
    let shown = format!("/proc/self/fd/{}", node.as_raw_fd());
    assert_eq!(fs::read_link(&shown).expect("readlink"), Path::new(RENDER));
    assert_eq!(fs::metadata(&shown).expect("stat").rdev(), device);

    let listed = fs::read_dir("/dev/dri").expect("readdir").map(|entry| entry.expect("an entry"));
    let mut names: Vec<_> = listed
        .filter(|entry| entry.file_type().expect("a type").is_char_device())
        .map(|entry| entry.file_name().into_string().expect("text"))
        .collect();
    names.sort();
    assert_eq!(names, ["card0", "renderD128"]);

    let real = fs::canonicalize("/sys/dev/char/226:128/device").expect("realpath");
    assert_eq!(real, Path::new("/sys/devices/pci0000:03/0000:03:00.0"));
    let link = fs::read_link(real.join("subsystem")).expect("readlink");
    assert!(link.ends_with("bus/pci"), "{}", link.display());
    assert_eq!(fs::read_to_string(real.join("vendor")).expect("vendor"), "0x1002\n");
    assert_eq!(fs::write(real.join("enable"), "0").map_err(|error| error.raw_os_error()), Err(Some(libc::EACCES)));

    let directory = Dir::open("/dev/dri", OFlag::O_RDONLY | OFlag::O_DIRECTORY, Mode::empty()).expect("/dev/dri");
    let relative = nix::fcntl::openat(&directory, "renderD128", OFlag::O_RDWR, Mode::empty()).expect("openat");
    assert_eq!(create(&relative, 4096), Ok(1), "a node, not the stand-in");

    let used = || fs::read_to_string("/sys/class/drm/card0/device/mem_info_gtt_used").expect("mem_info_gtt_used");
    let before: u64 = used().trim().parse().expect("a number");
    create(&node, 1 << 20).expect("a BO");
    assert_eq!(used().trim().parse::<u64>(), Ok(before + (1 << 20)));
}

/// The number of devices asked for, in that order.
pub(crate) fn devices(chips: &[String]) {
    let nodes = Node::enumerate(Path::new("/")).expect("/dev/dri");
    let found: Vec<_> = nodes
        .iter()
        .map(|node| Device::open(&node.path).expect("a device").info().chip_name().to_lowercase())
        .collect();
    assert_eq!(found, chips);
}

/// Another process's descriptor says whose it is.
pub(crate) fn fdinfo() {
    let node = open(RENDER);
    let other = open(RENDER);
    let text = |fd: i32| fs::read_to_string(format!("/proc/self/fdinfo/{fd}")).expect("fdinfo");
    let mine = text(node.as_raw_fd());
    for line in ["drm-driver:\tamdgpu", "drm-pdev:\t0000:03:00.0"] {
        assert!(mine.lines().any(|found| found == line), "{mine}");
    }
    assert!(mine.starts_with("pos:"), "{mine}");
    let client = |text: &str| text.lines().find(|line| line.starts_with("drm-client-id:")).map(str::to_owned);
    assert_ne!(client(&mine), client(&text(other.as_raw_fd())));
    let copy = node.try_clone().expect("dup");
    assert_eq!(client(&mine), client(&text(copy.as_raw_fd())));
    let parent = std::process::id();
    crate::node::in_child(|| {
        let seen =
            fs::read_to_string(format!("/proc/{parent}/fdinfo/{}", node.as_raw_fd())).expect("the parent's fdinfo");
        assert_eq!(client(&seen), client(&mine));
    });
}

/// Opens that must be refused.
pub(crate) fn refused() {
    assert_eq!(open_with("/dev/dri/renderD129", 0).unwrap_err(), Errno::ENOENT);
    assert_eq!(open_with("/dev/dri/card7", 0).unwrap_err(), Errno::ENOENT);
    assert_eq!(open_with(RENDER, libc::O_EXCL).unwrap_err(), Errno::EBUSY);
    assert_eq!(open_with(RENDER, libc::O_DIRECTORY).unwrap_err(), Errno::ENOTDIR);
    let node = open_with(RENDER, libc::O_NONBLOCK).expect("a node");
    assert_eq!(nix::unistd::read(&node, &mut [0; 64]), Err(Errno::EAGAIN), "no events");
}

/// The primary node serves its first opener.
pub(crate) fn primary() {
    let node = open("/dev/dri/card0");
    let mut client = Client::ZEROED;
    ioctl(&node, &mut client).expect("GET_CLIENT");
    assert_eq!((client.auth, client.pid), (1, u64::from(std::process::id())));
    assert_eq!(create(&node, 4096), Ok(1));
}

/// A node is the same file by its path, its descriptor and its link in `/proc`, and another node is another.
pub(crate) fn same_file() {
    let identity = |about: &fs::Metadata| (about.dev(), about.ino(), about.rdev(), about.mode(), about.uid());
    let mut seen = Vec::new();
    for path in [RENDER, "/dev/dri/card0"] {
        let by_path = identity(&fs::metadata(path).expect("stat"));
        let node = fs::File::open(path).expect("a node");
        let copy = node.try_clone().expect("dup");
        let other = fs::File::open(path).expect("the node again");
        for file in [&node, &copy, &other] {
            assert_eq!(identity(&file.metadata().expect("statx")), by_path);
            let about = nix::sys::stat::fstat(file).expect("fstat");
            assert_eq!((about.st_dev, about.st_ino, about.st_rdev), (by_path.0, by_path.1, by_path.2));
            let shown = format!("/proc/self/fd/{}", file.as_raw_fd());
            assert_eq!(identity(&fs::metadata(shown).expect("stat")), by_path);
        }
        // What looks like one file is two to the driver.
        assert_eq!((create(&node, 4096), create(&other, 4096)), (Ok(1), Ok(1)));
        seen.push(by_path);
    }
    assert_ne!((seen[0].0, seen[0].1), (seen[1].0, seen[1].1));
}
