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

/// Replaces names of people and programs by numbers, and drops what is not needed.
fn anonymise(seen: &mut BTreeMap<String, Entry>) {
    let mut users: BTreeMap<String, usize> = BTreeMap::new();
    let mut cgroups: BTreeMap<String, usize> = BTreeMap::new();
    seen.remove("etc/passwd");
    let named = limits_of(seen);
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
                let count = cgroups.len() + 1;
                let number = *cgroups.entry(text.clone()).or_insert(count);
                // As deep as it was: the cgroups above have limits of their own.
                let above = "/above".repeat(text.trim().matches('/').count().saturating_sub(1));
                *text = format!("0::{above}/cgroup-{number}\n");
            }
            _ => {}
        }
    }
    // Paths contain names, too.
    let Some((named, numbered)) = named.zip(limits_of(seen)) else { return };
    let limits: Vec<String> = seen.keys().filter(|path| path.starts_with("sys/fs/cgroup/")).cloned().collect();
    for path in limits {
        let Some(entry) = seen.remove(&path) else { continue };
        let Some((folder, file)) = path.rsplit_once('/') else { continue };
        let depth = folder.matches('/').count();
        if format!("{folder}/") == named {
            seen.insert(format!("{numbered}{file}"), entry);
        } else if named.starts_with(&format!("{folder}/")) {
            seen.insert(format!("sys/fs/cgroup{}/{file}", "/above".repeat(depth.saturating_sub(2))), entry);
        }
    }
}

/// Returns the path of the own cgroup's limits in the tree.
fn limits_of(seen: &BTreeMap<String, Entry>) -> Option<String> {
    match seen.get("proc/self/cgroup")? {
        Entry::File(text) => {
            Some(format!("sys/fs/cgroup{}/", text.lines().find_map(|line| line.strip_prefix("0::"))?.trim()))
        }
        _ => None,
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
        ]);
        anonymise(&mut seen);
        let text = format!("{seen:?}");
        for name in ["alice", "secret", "1234"] {
            assert!(!text.contains(name), "{name}: {text}");
        }
        let own = format!("{}dmem.max", limits_of(&seen).unwrap());
        assert_eq!(seen.get(&own), Some(&file("drm/0000:03:00.0/vram0 4096\n")), "the limit is found again: {seen:?}");
        let (folder, _) = own.trim_end_matches("/dmem.max").rsplit_once('/').unwrap();
        let above = seen.get(&format!("{folder}/dmem.max"));
        assert_eq!(above, Some(&file("drm/0000:03:00.0/vram0 2048\n")), "and that of the cgroup above");
    }
}
