//! Translation of paths into the world's tree.

use std::{
    ffi::c_int,
    os::fd::RawFd,
    sync::atomic::{AtomicU8, Ordering},
};

use amdgpu_sim::sysfs::{CLOCKS, COREDUMPS, DEBUG, FIRST_RENDER_MINOR, RESCAN, STATE};
use amdgpu_sim_world::{CLASSES, Call, Message, SW_SYNC, is_server_thread};
use nix::errno::Errno;

use crate::{
    c_text::PathText,
    calls, real, working,
    world::{self, World},
};

/// Directories that the world replaces as a whole: what is really there is hidden.
const REPLACED: [&[u8]; 7] = [
    b"/dev/dri",
    b"/sys/class/drm",
    b"/sys/bus/pci/devices",
    b"/sys/bus/pci/drivers/amdgpu",
    CLOCKS.as_bytes(),
    COREDUMPS.as_bytes(),
    DEBUG.as_bytes(),
];
/// The world has every character device of DRM's major number.
const DRM_DEVICES: &[u8] = b"/sys/dev/char/226:";
/// The world's devices sit on root complexes of their own.
const PCI_ROOTS: &[u8] = b"/sys/devices/pci";

/// A path that belongs to the world.
pub(crate) struct WorldPath {
    /// The path in the world's tree.
    pub(crate) text: PathText,
    /// The minor number, if it names a node.
    pub(crate) node: Option<u32>,
    /// `true` if it is a path of sw_sync, which makes a new file at each open.
    pub(crate) is_sw_sync: bool,
    /// `true` if it is a path of the host after all, to which a relative one leads out of the world's tree.
    pub(crate) is_real: bool,
    pub(crate) world: &'static World,
}

impl WorldPath {
    /// Returns the last part of the path.
    pub(crate) fn name(&self) -> &str {
        let name = self.text.as_bytes().rsplit(|&byte| byte == b'/').next();
        name.and_then(|name| std::str::from_utf8(name).ok()).unwrap_or_default()
    }
}

/// Returns the place of a path, seen from a directory descriptor; `None` for a path outside the world. The threads of a
/// server see all paths as they are.
///
/// # Errors
///
/// ENODEV when the path is the world's and there is no world, ENAMETOOLONG.
pub(crate) fn find(directory: c_int, path: &[u8]) -> Result<Option<WorldPath>, Errno> {
    if is_server_thread() {
        return Ok(None);
    }
    let Some(Whole { text: whole, from_tree }) = absolute(directory, path) else { return Ok(None) };
    let path = whole.as_bytes();
    if !is_ours(path) {
        // Of the tree's own directories above those that replace real ones, only /sys has siblings worth reaching.
        let leaves = from_tree && path.starts_with(b"/sys");
        let world = if leaves { world::known() } else { None };
        return Ok(world.map(|world| WorldPath { node: None, is_sw_sync: false, text: whole, is_real: true, world }));
    }
    let world = world::reach()?;
    if let Some(rest) = path.strip_prefix(DEBUG.as_bytes()) {
        look_at_clients(world, rest)?;
    }
    let mut text = PathText::new();
    text.push(world.root_bytes())?;
    text.push(path)?;
    Ok(Some(WorldPath { node: node_minor(path), is_sw_sync: is_sw_sync(path), text, is_real: false, world }))
}

/// Brings the directories of open files in debugfs up to date, before one is looked at. `rest` is the path behind the directory of all
/// devices.
///
/// # Errors
///
/// EACCES except for root, who alone may enter debugfs.
///
/// Source: Linux 6.12 `fs/debugfs/inode.c`, `DEBUGFS_DEFAULT_MODE`.
fn look_at_clients(world: &'static World, rest: &[u8]) -> Result<(), Errno> {
    if !nix::unistd::geteuid().is_root() {
        return if rest.starts_with(b"/client-") { Err(Errno::EACCES) } else { Ok(()) };
    }
    calls::call(world, &Message::new(Call::RefreshClients, 0, [0; 3])).map(drop)
}

/// An absolute path.
struct Whole {
    text: PathText,
    /// `true` if it was followed from a directory of the world's tree.
    from_tree: bool,
}

/// Returns the path without empty and `.` components, absolute. A relative one is followed from its directory, be that one
/// of the tree or a real one above those that the world replaces.
fn absolute(directory: RawFd, path: &[u8]) -> Option<Whole> {
    let mut text = PathText::new();
    let mut rest = path;
    let mut from_tree = false;
    if path.first() != Some(&b'/') {
        if path.is_empty() {
            return None;
        }
        let in_tree = |at: &[u8]| world::known().is_some_and(|world| inside(world, at).is_some());
        let at = if directory == libc::AT_FDCWD {
            working::directory(|at| leads_to_ours(at) || in_tree(at))
        } else {
            PathText::of_descriptor(directory)
        }?;
        let at = at.as_bytes();
        let tree = world::known().and_then(|world| inside(world, at));
        from_tree = tree.is_some();
        if !from_tree && !leads_to_ours(at) {
            return None;
        }
        // The path of an open directory has no links, so that leading `..` are followed by name.
        let mut base = tree.unwrap_or(at);
        while let Some(behind) = parent_first(rest) {
            base = base.iter().rposition(|&byte| byte == b'/').and_then(|slash| base.get(..slash)).unwrap_or_default();
            rest = behind;
        }
        text.push(if base == b"/" { b"" } else { base }).ok()?;
    } else if !path.starts_with(b"/dev")
        && !path.starts_with(b"/sys")
        && !path.starts_with(b"//")
        && !path.starts_with(b"/.")
    {
        return None;
    }
    for part in rest.split(|&byte| byte == b'/').filter(|part| !part.is_empty() && *part != b".") {
        text.push(b"/").and_then(|()| text.push(part)).ok()?;
    }
    Some(Whole { text, from_tree })
}

/// Returns `true` if a real directory is above, or among, those that the world replaces.
fn leads_to_ours(directory: &[u8]) -> bool {
    directory == b"/"
        || [b"/dev", b"/sys"]
            .iter()
            .any(|top| directory.strip_prefix(*top).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/")))
}

/// Returns the rest of a path behind a leading `..`.
fn parent_first(path: &[u8]) -> Option<&[u8]> {
    let mut rest = path;
    while let Some(behind) = rest.strip_prefix(b"./") {
        rest = behind;
    }
    let behind = rest.strip_prefix(b"..")?;
    let start = behind.iter().position(|&byte| byte != b'/').unwrap_or(behind.len());
    (behind.is_empty() || start > 0).then(|| behind.get(start..).unwrap_or_default())
}

/// The part of a path behind the root of the world's tree.
pub(crate) fn inside<'p>(world: &World, path: &'p [u8]) -> Option<&'p [u8]> {
    path.strip_prefix(world.root_bytes()).filter(|rest| rest.is_empty() || rest.starts_with(b"/"))
}

fn is_ours(path: &[u8]) -> bool {
    let below =
        |directory: &&[u8]| path.strip_prefix(*directory).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"));
    REPLACED.iter().any(below)
        || path == CLASSES.as_bytes() && lacks_drm()
        || path.starts_with(DRM_DEVICES)
        || [RESCAN, STATE].iter().any(|file| path == file.as_bytes())
        || is_sw_sync(path)
        || is_device(path)
}

/// Returns `true` if the list of the host's classes has no `drm`, as on a kernel without DRM. Then the world's list, which has
/// the names of the host's classes and `drm`, takes its place.
fn lacks_drm() -> bool {
    static LACKS: AtomicU8 = AtomicU8::new(0);
    let known = LACKS.load(Ordering::Relaxed);
    if known != 0 {
        return known == 1;
    }
    let lacks = !real::exists(c"/sys/class/drm");
    LACKS.store(if lacks { 1 } else { 2 }, Ordering::Relaxed);
    lacks
}

fn is_sw_sync(path: &[u8]) -> bool {
    SW_SYNC.iter().any(|known| known.as_bytes() == path)
}

/// Returns `true` if it is on the root complex of one of the world's devices: `/sys/devices/pciDDDD:BB`, where
/// `DDDD:BB:00.0` is a slot of the world.
fn is_device(path: &[u8]) -> bool {
    let Some(rest) = path.strip_prefix(PCI_ROOTS) else { return false };
    let Some(bus) = rest.split(|&byte| byte == b'/').next().filter(|bus| !bus.is_empty()) else { return false };
    let Some(world) = world::known() else { return false };
    let mut link = PathText::new();
    let parts = [world.root_bytes(), b"/sys/bus/pci/devices/", bus, b":00.0"];
    parts.iter().try_for_each(|part| link.push(part)).is_ok() && PathText::of_link(&link).is_some()
}

/// The minor number of a node by its path.
pub(crate) fn node_minor(path: &[u8]) -> Option<u32> {
    node_minor_of_name(path.strip_prefix(b"/dev/dri/")?)
}

/// The minor number of a node by its name: `card0` is 0, `renderD128` is 128.
pub(crate) fn node_minor_of_name(name: &[u8]) -> Option<u32> {
    let (digits, first, last) = match name.strip_prefix(b"card") {
        Some(digits) => (digits, 0, FIRST_RENDER_MINOR / 2),
        None => (name.strip_prefix(b"renderD")?, FIRST_RENDER_MINOR, FIRST_RENDER_MINOR * 3 / 2),
    };
    let plain = digits.len() == 1 || digits.first() != Some(&b'0');
    let number = std::str::from_utf8(digits).ok()?.parse().ok()?;
    (plain && digits.iter().all(u8::is_ascii_digit) && (first..last).contains(&number)).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cleaned(path: &str) -> Option<String> {
        let whole = absolute(libc::AT_FDCWD, path.as_bytes());
        whole.map(|whole| String::from_utf8(whole.text.as_bytes().to_vec()).unwrap())
    }

    #[test]
    fn empty_components_do_not_hide_a_path() {
        assert_eq!(cleaned("//dev/./dri//card0/").as_deref(), Some("/dev/dri/card0"));
        assert_eq!(cleaned("/./sys/class/drm").as_deref(), Some("/sys/class/drm"));
        assert_eq!(cleaned("dev/dri"), None);
        assert_eq!(cleaned("/home/dev/dri"), None);
    }

    #[test]
    fn leading_parents_are_taken_off() {
        for (path, behind) in [("..", Some("")), ("../", Some("")), ("..//a/b", Some("a/b")), ("./../a", Some("a"))] {
            assert_eq!(parent_first(path.as_bytes()), behind.map(str::as_bytes), "{path}");
        }
        for other in ["", "a", "...", "..a/b", "a/.."] {
            assert_eq!(parent_first(other.as_bytes()), None, "{other}");
        }
    }

    #[test]
    fn real_directories_above_ours_lead_to_them() {
        for above in ["/", "/sys", "/sys/class", "/dev"] {
            assert!(leads_to_ours(above.as_bytes()), "{above}");
        }
        for other in ["/home", "/system", "/devel", ""] {
            assert!(!leads_to_ours(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn only_whole_components_are_ours() {
        for ours in [
            "/dev/dri",
            "/dev/dri/card0",
            "/sys/dev/char/226:128/device",
            "/sys/class/drm/card0",
            "/dev/sw_sync",
            "/sys/bus/pci/rescan",
            "/sys/power/state",
            "/sys/class/rtc/rtc0/wakealarm",
            "/sys/kernel/debug/dri/0",
        ] {
            assert!(is_ours(ours.as_bytes()), "{ours}");
        }
        for other in [
            "/dev",
            "/dev/drink",
            "/dev/sw_sync/x",
            "/sys/classes",
            "/sys/dev/char/22:1",
            "/sys/devices/pci0000:00/x",
            "/sys/power",
        ] {
            assert!(!is_ours(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn the_list_of_classes_is_ours_where_the_real_one_lacks_drm() {
        // Another process asks, for this one sees the world's files.
        let has_drm =
            std::process::Command::new("test").args(["-e", "/sys/class/drm"]).status().expect("a process").success();
        assert_eq!(is_ours(b"/sys/class"), !has_drm);
    }

    #[test]
    fn nodes_are_known_by_name() {
        for (name, minor) in
            [("card0", Some(0)), ("card63", Some(63)), ("renderD128", Some(128)), ("renderD191", Some(191))]
        {
            assert_eq!(node_minor_of_name(name.as_bytes()), minor, "{name}");
        }
        for other in
            ["card", "card64", "card01", "card+1", "renderD0", "renderD192", "renderD128x", "controlD64", "by-path"]
        {
            assert_eq!(node_minor_of_name(other.as_bytes()), None, "{other}");
        }
    }
}
