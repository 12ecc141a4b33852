//! Paths followed a component at a time, as libsystemd does, and from other places than the root.

use std::{
    fs::{self, Permissions},
    os::{
        fd::{AsRawFd as _, OwnedFd},
        unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _},
    },
    path::Path,
};

use nix::{
    errno::Errno,
    fcntl::{AtFlags, OFlag, openat, readlinkat},
    sys::{
        stat::{Mode, fstat, fstatat},
        statfs::{SYSFS_MAGIC, fstatfs, statfs},
    },
    unistd::{AccessFlags, faccessat, fchdir, getcwd},
};

use crate::node::{RENDER, create, open};

/// Opens what is behind a directory's descriptor, without following a link.
fn step(from: &OwnedFd, name: &str) -> OwnedFd {
    openat(from, name, OFlag::O_PATH | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC, Mode::empty()).expect(name)
}

/// Follows a path from the root, a component at a time: a link is read by its descriptor, and its target is followed from the
/// directory that holds it. Returns the descriptor, and the path without links.
fn chase(path: &str) -> (OwnedFd, String) {
    let mut at = vec![(step(&open("/dev/null"), "/"), String::new())];
    let mut rest: Vec<_> = path.rsplit('/').filter(|part| !part.is_empty()).map(str::to_owned).collect();
    while let Some(name) = rest.pop() {
        let (directory, _) = at.last().expect("the root stays");
        if name == ".." {
            let parent = step(directory, "..");
            at.pop();
            let (_, shown) = at.pop().expect("not above the root");
            at.push((parent, shown));
            continue;
        }
        let found = step(directory, &name);
        if fstat(&found).expect("fstat").st_mode & libc::S_IFMT == libc::S_IFLNK {
            let target = readlinkat(&found, "").expect("readlink").into_string().expect("text");
            assert!(!target.starts_with('/'), "{target}");
            rest.extend(target.rsplit('/').map(str::to_owned));
        } else {
            at.push((found, name));
        }
    }
    let shown = at.iter().skip(1).flat_map(|(_, name)| ["/", name]).collect();
    (at.pop().expect("the root stays").0, shown)
}

/// Walks lead to the same place as whole paths do.
pub(crate) fn walks() {
    const DEVICE: &str = "/sys/devices/pci0000:03/0000:03:00.0";
    let (device, shown) = chase("/sys/dev/char/226:128/device");
    assert_eq!(shown, DEVICE);
    assert_eq!(fstatfs(&device).expect("fstatfs").filesystem_type(), SYSFS_MAGIC);
    assert_eq!(statfs(DEVICE).expect("statfs").filesystem_type(), SYSFS_MAGIC);
    let (_, subsystem) = chase(&format!("{DEVICE}/subsystem"));
    assert_eq!(subsystem, "/sys/bus/pci");
    assert_eq!(chase("/sys/class/drm/card0/device/drm/renderD128").1, format!("{DEVICE}/drm/renderD128"));

    // From real directories above the tree, by several steps at once, and out of the tree again.
    let null = open("/dev/null");
    for (from, name) in
        [("/", "sys/class/drm"), ("/sys", "class/drm"), ("/sys/class", "drm"), ("/dev", "../sys/class/drm")]
    {
        let from = step(&null, from);
        assert!(fstatat(&from, name, AtFlags::empty()).expect(name).st_mode & libc::S_IFMT == libc::S_IFDIR);
        faccessat(&from, name, AccessFlags::R_OK, AtFlags::empty()).expect(name);
    }
    let drm = step(&null, "/sys/class/drm");
    let class = step(&drm, "..");
    let real = fstat(step(&null, "/sys/class")).expect("fstat");
    let reached = fstat(&class).expect("fstat");
    assert_eq!((reached.st_dev, reached.st_ino), (real.st_dev, real.st_ino), "the same list");
    assert_eq!(fstatat(&class, "drm", AtFlags::empty()).expect("stat").st_ino, fstat(&drm).expect("fstat").st_ino);

    let dev = step(&null, "/dev");
    let node = openat(&dev, "dri/renderD128", OFlag::O_RDWR, Mode::empty()).expect("openat");
    assert_eq!(create(&node, 4096), Ok(1), "a node, not what stands for it");
    assert_eq!(openat(&dev, "dri/card9", OFlag::O_RDWR, Mode::empty()).map(drop), Err(Errno::ENOENT));
}

/// libudev finds devices by the list of classes, which has `drm` also where the host has no DRM, and each name of it leads to a
/// class.
pub(crate) fn classes() {
    let classes = fs::read_dir("/sys/class").expect("the list").map(|class| class.expect("a class").file_name());
    let classes: Vec<_> = classes.collect();
    assert!(classes.iter().any(|class| class == "drm"), "{classes:?}");
    for class in &classes {
        let path = Path::new("/sys/class").join(class);
        assert!(fs::metadata(&path).expect("a class").is_dir(), "{}", path.display());
    }
    let cards: Vec<_> =
        fs::read_dir("/sys/class/drm").expect("drm").map(|card| card.expect("a card").file_name()).collect();
    assert!(cards.iter().any(|card| card == "card0") && cards.iter().any(|card| card == "renderD128"), "{cards:?}");
}

/// A program may enter directories of the tree, and leave them.
pub(crate) fn working_directory() {
    let before = std::env::current_dir().expect("getcwd");
    std::env::set_current_dir("/sys/class/drm").expect("chdir");
    assert_eq!(getcwd().expect("getcwd"), Path::new("/sys/class/drm"));
    assert_eq!(fs::read_to_string("card0/device/vendor").expect("vendor"), "0x1002\n");
    assert_eq!(fs::canonicalize("card0/device").expect("realpath"), Path::new("/sys/devices/pci0000:03/0000:03:00.0"));
    std::env::set_current_dir("..").expect("chdir");
    assert_eq!(getcwd().expect("getcwd"), Path::new("/sys/class"));
    assert!(fs::metadata("drm/renderD128").expect("stat").is_dir());
    std::env::set_current_dir("/dev").expect("chdir");
    let node = open("dri/renderD128");
    assert_eq!(create(&node, 4096), Ok(1));
    fchdir(step(&node, "/dev/dri")).expect("fchdir");
    assert!(fs::metadata("card0").expect("stat").file_type().is_char_device());
    crate::node::in_child(|| assert_eq!(create(&open("renderD128"), 4096), Ok(1)));
    std::env::set_current_dir(&before).expect("chdir");
    assert!(fs::metadata("card0").is_err());
}

/// A descriptor's link in `/proc` opens the node anew; rights that a program gives a node stay.
pub(crate) fn reopened() {
    let node = open(RENDER);
    let handle = create(&node, 4096).expect("a BO");
    let named = step(&node, RENDER);
    let about = fstat(&named).expect("fstat");
    assert_eq!((about.st_mode & libc::S_IFMT, about.st_rdev), (libc::S_IFCHR, libc::makedev(226, 128)));
    for descriptor in [node.as_raw_fd(), named.as_raw_fd()] {
        let again = open(&format!("/proc/self/fd/{descriptor}"));
        assert_eq!(create(&again, 4096), Ok(handle), "another file, with handles of its own");
        let directory = step(&node, "/proc/self/fd");
        let again = openat(&directory, descriptor.to_string().as_str(), OFlag::O_RDWR, Mode::empty()).expect("openat");
        assert_eq!(create(&again, 4096), Ok(handle));
    }
    assert_eq!(fs::metadata(RENDER).expect("stat").mode() & 0o7777, 0o666);
    fs::set_permissions(RENDER, Permissions::from_mode(0o640)).expect("chmod");
    assert_eq!(fs::metadata(RENDER).expect("stat").mode(), libc::S_IFCHR | 0o640);
    assert_eq!(fstat(&node).expect("fstat").st_mode, libc::S_IFCHR | 0o640);
}
