//! `capture`: a bug report that is a test case.
//!
//! The collector reads through a [`Tee`], so that exactly the files that it read are written, and the session with each GPU is
//! recorded unchanged. Names are replaced by numbers unless the user wants to keep them.

use std::{
    collections::BTreeMap,
    fs, io,
    io::Write,
    os::unix::fs::symlink,
    path::{Component, Path},
    rc::Rc,
    sync::Arc,
};

use amdgpu_layers::Recording;
use amdgpu_winsys::winsys::Kernel;

use crate::{
    cli::Global,
    collect::{Collector, info},
    exit::Exit,
    files::{Entry, Files, Stamp, Tee},
    machine::{MOMENT_FILE, Machine, Moment, session_path},
    session::{self, Outcome, Stop},
};

/// Writes the tree.
pub(super) fn run(directory: &Path, names: bool, global: &Global, out: &mut dyn Write) -> Outcome {
    if global.from.is_some() {
        return Err(Stop::Message(Exit::Usage, "a recording holds no files to capture".to_owned()));
    }
    let failed = |error: io::Error| Stop::Message(Exit::NotWritten, format!("{}: {error}", directory.display()));
    fs::create_dir_all(directory).map_err(failed)?;
    if directory.read_dir().map_err(failed)?.next().is_some() {
        return Err(Stop::Message(Exit::Usage, format!("{} is not empty", directory.display())));
    }
    let mut collector = Collector::new(Overheard::new(session::machine(global)?), session::wishes(global, false));
    let Some(snapshot) = collector.look()? else { return Ok(Exit::Fine) };
    let overheard = collector.machine();
    let mut seen = overheard.files.seen();
    let now = overheard.machine.now();
    seen.insert(MOMENT_FILE.to_owned(), Entry::File(format!("{} {}\n", now.unix_ms, now.monotonic_ns)));
    if !names {
        anonymise(&mut seen);
    }
    for (path, entry) in &seen {
        put(directory, path, entry).map_err(failed)?;
    }
    for gpu in &snapshot.gpus {
        let node = gpu.render.as_deref().and_then(|node| node.strip_prefix("/dev/dri/")).unwrap_or_default();
        if gpu.heaps.is_some() {
            session(&*overheard.machine, node, &gpu.pci, directory)?;
        }
    }
    writeln!(out, "{}: {} files, {} GPUs", directory.display(), seen.len(), snapshot.gpus.len())?;
    Ok(Exit::Fine)
}

/// A machine whose files are overheard.
struct Overheard {
    machine: Rc<dyn Machine>,
    files: Tee<Borrowed>,
}

impl Overheard {
    fn new(machine: Box<dyn Machine>) -> Self {
        let machine = Rc::<dyn Machine>::from(machine);
        Self { files: Tee::new(Borrowed(Rc::clone(&machine))), machine }
    }
}

/// The files of a machine that others hold too.
struct Borrowed(Rc<dyn Machine>);

impl Files for Borrowed {
    fn read(&self, path: &str) -> io::Result<String> {
        self.0.files().read(path)
    }

    fn link(&self, path: &str) -> io::Result<String> {
        self.0.files().link(path)
    }

    fn list(&self, path: &str) -> io::Result<Vec<String>> {
        self.0.files().list(path)
    }

    fn stamp(&self, path: &str) -> io::Result<Option<Stamp>> {
        self.0.files().stamp(path)
    }
}

impl Machine for Overheard {
    fn kind(&self) -> &'static str {
        self.machine.kind()
    }

    fn files(&self) -> &dyn Files {
        &self.files
    }

    fn open(&self, node: &str, pci: &str) -> io::Result<Box<dyn Kernel>> {
        self.machine.open(node, pci)
    }

    fn now(&self) -> Moment {
        self.machine.now()
    }
}

/// Asks a GPU once more, and writes down what both sides say.
fn session(machine: &dyn Machine, node: &str, pci: &str, directory: &Path) -> Result<(), Stop> {
    let path = directory.join(session_path(pci));
    let failed =
        |error: &dyn std::fmt::Display| Stop::Message(Exit::NotWritten, format!("{}: {error}", path.display()));
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(|error| failed(&error))?;
    }
    let recording = Recording::create(&path).map_err(|error| failed(&error))?;
    let kernel = recording.wrap(Arc::<dyn Kernel>::from(machine.open(node, pci).map_err(Stop::failed)?));
    info::ask(&kernel, None).map_err(Stop::failed)?;
    drop(kernel);
    recording.finish().map_err(|error| failed(&error))?;
    Ok(())
}

/// The folder of cgroups, from the root of a capture.
const ROOT: &str = "sys/fs/cgroup";

/// Replaces names of people and programs by numbers, and drops what is not needed.
fn anonymise(seen: &mut BTreeMap<String, Entry>) {
    let mut users: BTreeMap<String, usize> = BTreeMap::new();
    let mut groups = Groups::default();
    seen.remove("etc/passwd");
    for (path, entry) in seen.iter_mut() {
        let Entry::File(text) = entry else { continue };
        let Some((pid, name)) = path.strip_prefix("proc/").and_then(|rest| rest.split_once('/')) else { continue };
        match name {
            "comm" => *text = format!("process-{pid}\n"),
            "status" => *text = anonymous_status(text, pid, &mut users),
            "stat" => {
                if let Some((_, rest)) = text.rsplit_once(')') {
                    *text = format!("{pid} (process-{pid}){rest}");
                }
            }
            "cgroup" => {
                let path = text.lines().find_map(|line| line.strip_prefix("0::")).unwrap_or(text);
                *text = format!("0::{}\n", groups.numbered(path.trim()));
            }
            _ => {}
        }
    }
    // Paths contain names, too.
    let limits: Vec<String> = seen.keys().filter(|path| path.starts_with("sys/fs/cgroup/")).cloned().collect();
    for path in limits {
        let Some(entry) = seen.remove(&path) else { continue };
        let Some((folder, file)) = path.strip_prefix(ROOT).and_then(|rest| rest.rsplit_once('/')) else { continue };
        let folder = if folder.is_empty() { String::new() } else { groups.numbered(folder) };
        seen.insert(format!("{ROOT}{folder}/{file}"), entry);
    }
}

/// Numbers in place of the names of cgroups. A group keeps its depth and its place below others, because those have limits of
/// their own.
#[derive(Default)]
struct Groups(BTreeMap<String, usize>);

impl Groups {
    fn numbered(&mut self, path: &str) -> String {
        let mut prefix = String::new();
        let mut numbered = String::new();
        for part in path.split('/').filter(|part| !part.is_empty()) {
            prefix = format!("{prefix}/{part}");
            let count = self.0.len() + 1;
            let number = *self.0.entry(prefix.clone()).or_insert(count);
            numbered = format!("{numbered}/group-{number}");
        }
        if numbered.is_empty() { "/".to_owned() } else { numbered }
    }
}

/// The three lines that are read, with another name and another user.
fn anonymous_status(text: &str, pid: &str, users: &mut BTreeMap<String, usize>) -> String {
    let field = |key: &str| {
        text.lines().find_map(|line| line.strip_prefix(key)).and_then(|rest| rest.split_whitespace().next())
    };
    let (parent, user) = (field("PPid:").unwrap_or("0"), field("Uid:").unwrap_or("0").to_owned());
    let count = users.len() + 1000;
    let user = *users.entry(user).or_insert(count);
    format!("Name:\tprocess-{pid}\nPPid:\t{parent}\nUid:\t{user}\n")
}

/// Writes one entry. Paths are the collector's own, with names that a kernel gave; none may lead out of the directory.
fn put(directory: &Path, path: &str, entry: &Entry) -> io::Result<()> {
    if !Path::new(path).components().all(|part| matches!(part, Component::Normal(_))) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("'{path}' leads elsewhere")));
    }
    let target = directory.join(path);
    if let Some(parent) = target.parent() {
        fs::create_dir_all(parent)?;
    }
    match entry {
        Entry::File(text) => amdgpu_output::files::write(&target, text),
        // Dangling where the GPU is not, and only ever read, never followed.
        Entry::Link(link) => symlink(link, target),
        Entry::Denied => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_is_left_in_texts_or_paths() {
        let file = |text: &str| Entry::File(text.to_owned());
        let mut seen = BTreeMap::from([
            ("etc/passwd".to_owned(), file("alice:x:1000:1000::/:\n")),
            ("proc/self/cgroup".to_owned(), file("0::/alice/secret.scope\n")),
            ("proc/7/cgroup".to_owned(), file("0::/alice/secret.scope\n")),
            ("proc/7/comm".to_owned(), file("secret\n")),
            ("proc/7/stat".to_owned(), file("7 (secret) S 1 0\n")),
            ("proc/7/status".to_owned(), file("Name:\tsecret\nPPid:\t1\nUid:\t1234\nNSpid:\t7\n")),
            ("sys/fs/cgroup/alice/secret.scope/dmem.max".to_owned(), file("drm/0000:03:00.0/vram0 4096\n")),
            ("sys/fs/cgroup/alice/dmem.max".to_owned(), file("drm/0000:03:00.0/vram0 2048\n")),
            ("proc/8/cgroup".to_owned(), file("0::/alice/secret-2.scope\n")),
            ("sys/fs/cgroup/alice/secret-2.scope/dmem.max".to_owned(), file("drm/0000:03:00.0/vram0 1024\n")),
            ("sys/fs/cgroup/dmem.capacity".to_owned(), file("drm/0000:03:00.0/vram0 8192\n")),
        ]);
        anonymise(&mut seen);
        let text = format!("{seen:?}");
        for name in ["alice", "secret", "1234"] {
            assert!(!text.contains(name), "{name}: {text}");
        }
        let Some(Entry::File(own)) = seen.get("proc/self/cgroup") else { panic!("{seen:?}") };
        let own = own.trim().strip_prefix("0::").unwrap();
        let limit = |group: &str| seen.get(&format!("sys/fs/cgroup{group}/dmem.max"));
        assert_eq!(limit(own), Some(&file("drm/0000:03:00.0/vram0 4096\n")), "the limit is found again: {seen:?}");
        let (above, _) = own.rsplit_once('/').unwrap();
        assert_eq!(limit(above), Some(&file("drm/0000:03:00.0/vram0 2048\n")), "and that of the cgroup above");
        let Some(Entry::File(other)) = seen.get("proc/8/cgroup") else { panic!("{seen:?}") };
        let other = limit(other.trim().strip_prefix("0::").unwrap());
        assert_eq!(other, Some(&file("drm/0000:03:00.0/vram0 1024\n")), "and that of another process's cgroup");
        assert!(seen.contains_key("sys/fs/cgroup/dmem.capacity"));
    }
}
