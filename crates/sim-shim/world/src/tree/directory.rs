//! The directory of a world: its socket, and the tree that stands for `/dev/dri` and `/sys`.

use std::{
    collections::BTreeSet,
    fs::{self, File, Permissions},
    io,
    mem::ManuallyDrop,
    os::unix::fs::{MetadataExt, PermissionsExt, symlink},
    path::{Path, PathBuf},
    time::Instant,
};

use amdgpu_sim::{
    SimDevice,
    sysfs::{self, Entry, Setting, Store},
};
use nix::{
    fcntl::Flock,
    unistd::{AccessFlags, access},
};

use crate::{
    WorldError,
    tree::{
        coredumps::{Coredumps, uptime},
        owned,
        slots::Slots,
    },
};

/// The paths of sw_sync: the device file of Android kernels, and the file in debugfs.
///
/// Source: Linux 6.12 `drivers/dma-buf/sync_debug.c`, `sync_debugfs_init`.
pub const SW_SYNC: [&str; 2] = ["/dev/sw_sync", "/sys/kernel/debug/sync/sw_sync"];
/// The list of device classes, which libudev reads.
pub const CLASSES: &str = "/sys/class";
/// Directories where worlds are made unless TMPDIR says otherwise.
const PARENTS: [&str; 2] = ["/dev/shm", "/tmp"];

/// The paths in the directory of a world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    directory: PathBuf,
}

impl Layout {
    /// Creates the layout of the world in this directory.
    pub fn new(directory: PathBuf) -> Self {
        Self { directory }
    }

    /// Returns the path of the directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns the path of the server's socket.
    pub fn socket(&self) -> PathBuf {
        self.directory.join("socket")
    }

    /// The abstract name of the server's other socket, for processes that have given up the right to enter the directory.
    pub(crate) fn back_door(&self) -> String {
        format!("amdgpu-sim/{}/server", self.name())
    }

    /// Returns the path of the root of the tree, in which `/dev/dri` is `root/dev/dri`.
    pub fn root(&self) -> PathBuf {
        self.directory.join("root")
    }

    /// Returns the name of the world: the last component of its directory.
    pub fn name(&self) -> String {
        self.directory.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }
}

/// The directory of an open file in debugfs.
#[derive(Debug)]
pub(crate) struct ClientDirectory {
    pub(crate) name: String,
    /// The PCI address of the device, whose directory is beside it.
    pub(crate) pci: String,
    /// The texts of files by their paths in the directory.
    pub(crate) files: Vec<(String, String)>,
}

/// The directory of a world, which is removed on drop. It is locked as long as the server's threads exist. A directory that is not locked
/// has lost its owner, and the next world removes it.
#[derive(Debug)]
pub struct Directory {
    layout: Layout,
    /// Never closed by this value: it is often dropped by a thread of the process around the server, which has another descriptor table,
    /// where the number stands for another file. It is closed with the table of the server's threads.
    _lock: ManuallyDrop<Flock<File>>,
    coredumps: Coredumps,
}

impl Directory {
    /// Creates the directory of a world with its tree.
    ///
    /// # Errors
    ///
    /// [`WorldError::Write`].
    pub(crate) fn create(devices: &[SimDevice]) -> Result<Self, WorldError> {
        let parent = parent();
        // Killed servers may have had another TMPDIR, or none.
        [parent.as_path()].into_iter().chain(PARENTS.map(Path::new)).for_each(owned::sweep);
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| WorldError::Write { path, source }
        };
        let (directory, lock) = owned::create(&parent).map_err(failed(&parent))?;
        let directory =
            Self { layout: Layout::new(directory), _lock: ManuallyDrop::new(lock), coredumps: Coredumps::default() };
        let root = directory.layout.root();
        for device in devices {
            directory.add(device)?;
        }
        let others = SW_SYNC.map(|path| (path, Entry::Node(0)));
        for (path, entry) in others.into_iter().chain([(sysfs::RESCAN, Entry::Store(Store::Rescan))]) {
            let path = directory.path(path);
            write(&path, &entry).map_err(failed(&path))?;
        }
        for (path, text) in [(sysfs::STATE, sysfs::SLEEPS), (sysfs::ALARM, ""), (sysfs::COREDUMPS_DISABLED, "0\n")] {
            let path = directory.path(path);
            write(&path, &Entry::File(text.into())).map_err(failed(&path))?;
        }
        // A world without devices has an empty /dev/dri.
        for path in ["dev/dri", "sys/class/drm", "sys/dev/char", "sys/bus/pci/devices", "sys/bus/pci/drivers/amdgpu"] {
            let path = root.join(path);
            fs::create_dir_all(&path).map_err(failed(&path))?;
        }
        directory.list_classes(Path::new(CLASSES))?;
        Ok(directory)
    }

    /// Adds the names of the host's classes to the list of classes, which stands for the host's where that has no `drm`. Paths
    /// below them lead to the host's.
    fn list_classes(&self, host: &Path) -> Result<(), WorldError> {
        // A host without sysfs has no classes.
        for class in fs::read_dir(host).into_iter().flatten().flatten() {
            let path = self.path(CLASSES).join(class.file_name());
            fs::create_dir_all(&path).map_err(|source| WorldError::Write { path, source })?;
        }
        Ok(())
    }

    /// Returns the paths in the directory.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The path in this directory of a path of the tree.
    fn path(&self, path: &str) -> PathBuf {
        self.layout.root().join(path.trim_start_matches('/'))
    }

    /// Writes the tree of a device.
    ///
    /// # Errors
    ///
    /// [`WorldError::Write`].
    pub(crate) fn add(&self, device: &SimDevice) -> Result<(), WorldError> {
        for (path, entry) in sysfs::tree(device, device.place()) {
            let path = self.path(&path);
            write(&path, &entry).map_err(|source| WorldError::Write { path: path.clone(), source })?;
        }
        Ok(())
    }

    /// Writes the core dumps of jobs that have timed out, and removes old ones.
    pub(crate) fn update_coredumps(&mut self, devices: &Slots) -> io::Result<()> {
        let now = Instant::now();
        for number in self.coredumps.old(now) {
            self.delete_coredump(number)?;
        }
        for device in devices.present() {
            let Some((number, hang)) = self.coredumps.due(device, now) else { continue };
            let (directory, place) = (self.path(&dump(number)), device.place().directory());
            let failing = Entry::Link(format!("../../..{}", place.trim_start_matches("/sys")));
            write(&directory.join("failing_device"), &failing)?;
            // All directories of devices are three levels below /sys.
            let target = format!("../../..{}", dump(number).trim_start_matches("/sys"));
            symlink(target, self.path(&place).join("devcoredump"))?;
            // The file comes last and whole: clients wait for it.
            let fresh = directory.join("data~");
            fs::write(&fresh, sysfs::coredump(device, &hang, uptime()))?;
            fs::set_permissions(&fresh, Permissions::from_mode(0o600))?;
            fs::rename(fresh, directory.join("data"))?;
        }
        Ok(())
    }

    /// Removes a core dump. Returns `false` if there is none with this number.
    pub(crate) fn delete_coredump(&mut self, number: u64) -> io::Result<bool> {
        let Some(place) = self.coredumps.forget(number) else { return Ok(false) };
        // It is gone if the device was removed.
        let _ = fs::remove_file(self.path(&place.directory()).join("devcoredump"));
        fs::remove_dir_all(self.path(&dump(number)))?;
        Ok(true)
    }

    /// Removes all core dumps, and makes no others.
    pub(crate) fn disable_coredumps(&mut self) -> io::Result<()> {
        self.coredumps.disable();
        for number in self.coredumps.numbers() {
            self.delete_coredump(number)?;
        }
        replace(&self.path(sysfs::COREDUMPS_DISABLED), b"1\n")
    }

    /// Removes the tree of a device, its nodes first.
    pub(crate) fn remove(&mut self, device: &SimDevice) -> io::Result<()> {
        let place = device.place();
        for number in self.coredumps.of(place) {
            self.delete_coredump(number)?;
        }
        for (path, entry) in sysfs::tree(device, place) {
            if matches!(entry, Entry::Node(_) | Entry::Link(_)) {
                fs::remove_file(self.path(&path))?;
            }
        }
        fs::remove_dir_all(self.path(&sysfs::debug_directory(place)))?;
        fs::remove_dir_all(self.path(&place.directory()))
    }

    /// Returns the device that the file of debugfs with this inode resets.
    pub(crate) fn reset_by(&self, inode: u64, devices: &Slots) -> Option<SimDevice> {
        devices.present().find(|device| self.has_inode(&sysfs::recover_path(device.place()), inode)).cloned()
    }

    fn has_inode(&self, path: &str, inode: u64) -> bool {
        fs::metadata(self.path(path)).is_ok_and(|about| about.ino() == inode)
    }

    /// Returns the file that can be written and has this inode, with its device.
    pub(crate) fn store(&self, inode: u64, devices: &Slots) -> Option<(Store, Option<SimDevice>)> {
        let has_inode = |path: &str| self.has_inode(path, inode);
        if has_inode(sysfs::RESCAN) {
            return Some((Store::Rescan, None));
        }
        let files = [
            (sysfs::STATE, Store::Suspend),
            (sysfs::ALARM, Store::Alarm),
            (sysfs::COREDUMPS_DISABLED, Store::DisableCoredumps),
        ];
        if let Some((_, store)) = files.into_iter().find(|(path, _)| has_inode(path)) {
            return Some((store, None));
        }
        let dump = self.coredumps.numbers().into_iter().find(|&number| has_inode(&format!("{}/data", dump(number))));
        if let Some(number) = dump {
            return Some((Store::Coredump(number), None));
        }
        devices.present().find_map(|device| {
            let settings = Setting::ALL.iter().filter(|_| device.has_runtime_pm());
            let mut settings =
                settings.map(|&setting| (setting, format!("{}/{}", device.place().directory(), setting.path())));
            if let Some((setting, _)) = settings.find(|(_, path)| has_inode(path)) {
                return Some((Store::Setting(setting), Some(device.clone())));
            }
            let carve_out = format!("{}/{}", device.place().directory(), sysfs::CARVE_OUT);
            if device.has_carve_outs() && has_inode(&carve_out) {
                return Some((Store::CarveOut, Some(device.clone())));
            }
            sysfs::tree(device, device.place()).into_iter().find_map(|(path, entry)| match entry {
                Entry::Store(store) if has_inode(&path) => Some((store, Some(device.clone()))),
                _ => None,
            })
        })
    }

    /// Returns the device and the path in its directory of the file with this inode, if its reading may wake a GPU.
    pub(crate) fn waking_file(&self, inode: u64, devices: &Slots) -> Option<(SimDevice, String)> {
        devices.present().find_map(|device| {
            let directory = self.path(&device.place().directory());
            let names = sysfs::power_files(device).into_iter().map(|(name, _)| name);
            let mut waking = names.filter(|name| sysfs::wakes(name.rsplit('/').next().unwrap_or_default()));
            let name =
                waking.find(|name| fs::metadata(directory.join(name)).is_ok_and(|about| about.ino() == inode))?;
            Some((device.clone(), name))
        })
    }

    /// Writes the alarm of the computer's clock.
    pub(crate) fn write_alarm(&self, text: &str) -> io::Result<()> {
        replace(&self.path(sysfs::ALARM), text.as_bytes())
    }

    /// Writes the files of a device's carve-out.
    pub(crate) fn write_carve_out(&self, device: &SimDevice) -> io::Result<()> {
        let directory = self.path(&device.place().directory());
        let mut files = sysfs::carve_out_files(device).into_iter();
        files.try_for_each(|(name, text)| replace(&directory.join(name), text.as_bytes()))
    }

    /// Writes the directories of open files in debugfs, and removes those of files that were closed.
    pub(crate) fn refresh_clients(&self, clients: &[ClientDirectory]) -> io::Result<()> {
        let debug = self.path(sysfs::DEBUG);
        let mut wanted = BTreeSet::new();
        for client in clients {
            let directory = debug.join(&client.name);
            let device = directory.join("device");
            if fs::symlink_metadata(&device).is_err() {
                write(&device, &Entry::Link(format!("../{}", client.pci)))?;
            }
            wanted.insert(directory.clone());
            for (path, text) in &client.files {
                let path = directory.join(path);
                let parent = path.parent().unwrap_or(&directory);
                fs::create_dir_all(parent)?;
                wanted.insert(parent.to_owned());
                replace(&path, text.as_bytes())?;
            }
        }
        // Directories of queues that were freed are below those of their files.
        for entry in fs::read_dir(&debug)?.flatten().filter(|entry| is_of_client(&entry.path(), "client-")) {
            let directory = entry.path();
            if !wanted.contains(&directory) {
                fs::remove_dir_all(&directory)?;
                continue;
            }
            let queues = fs::read_dir(&directory)?.flatten().map(|entry| entry.path());
            for gone in queues.filter(|path| is_of_client(path, "queue_") && !wanted.contains(path)) {
                fs::remove_dir_all(gone)?;
            }
        }
        Ok(())
    }

    /// Writes the files of memory, or all that change.
    pub(crate) fn refresh(&self, devices: &Slots, all: bool) -> io::Result<()> {
        for device in devices.present() {
            let directory = self.path(&device.place().directory());
            let memory =
                sysfs::memory_files(device).into_iter().map(|(name, text)| (name.to_owned(), text.into_bytes()));
            let words = sysfs::link_files(device).into_iter().chain(sysfs::error_files(device));
            let words = words.map(|(name, text)| (name.to_owned(), text.into_bytes()));
            let power = sysfs::power_files(device).into_iter().chain(sysfs::connector_files(device, device.place()));
            let changes = |path: &str| sysfs::changes(path.rsplit('/').next().unwrap_or_default());
            let rest = words.chain(power).filter(|(path, _)| all && changes(path));
            for (name, content) in memory.chain(rest) {
                replace(&directory.join(name), &content)?;
            }
        }
        Ok(())
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        if let Err(error) = owned::remove(&self.layout.directory) {
            tracing::warn!(%error, "a world's directory stays behind");
        }
    }
}

/// Returns the parent folder of worlds: `TMPDIR` if set, else memory, else `/tmp`.
///
/// The tree is dozens of small files that live as long as a program; on a disk they cost more than the program's calls.
fn parent() -> PathBuf {
    let memory = Path::new("/dev/shm");
    if std::env::var_os("TMPDIR").is_none() && access(memory, AccessFlags::W_OK | AccessFlags::X_OK).is_ok() {
        return memory.to_owned();
    }
    std::env::temp_dir()
}

/// Returns `true` if the last part of a path starts so.
fn is_of_client(path: &Path, start: &str) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(start))
}

/// Returns the directory of a core dump.
fn dump(number: u64) -> String {
    format!("{}/devcd{number}", sysfs::COREDUMPS)
}

/// Replaces the contents of a file by renaming, so that no reader sees half of it.
fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut fresh = path.as_os_str().to_owned();
    fresh.push("~");
    fs::write(&fresh, content)?;
    fs::rename(&fresh, path)
}

/// Writes an entry, and the directories above it that are not there yet.
fn write(path: &Path, entry: &Entry) -> io::Result<()> {
    match (write_in_place(path, entry), path.parent()) {
        // Most have neighbours that were written before them.
        (Err(error), Some(parent)) if error.kind() == io::ErrorKind::NotFound => {
            fs::create_dir_all(parent)?;
            write_in_place(path, entry)
        }
        (result, _) => result,
    }
}

fn write_in_place(path: &Path, entry: &Entry) -> io::Result<()> {
    match entry {
        Entry::File(content) => fs::write(path, content),
        Entry::Link(target) => symlink(target, path),
        // Any user may open a node, until a program changes that.
        Entry::Node(_) => {
            fs::write(path, [])?;
            fs::set_permissions(path, Permissions::from_mode(0o666))
        }
        Entry::Store(_) => {
            fs::write(path, [])?;
            fs::set_permissions(path, Permissions::from_mode(0o220))
        }
        Entry::Recover => {
            fs::write(path, "0\n")?;
            fs::set_permissions(path, Permissions::from_mode(0o444))
        }
    }
}
