//! Scanning processes for open files of GPUs.
//!
//! Examining every descriptor of every process once a second is too expensive, so the scanner keeps an index. If the descriptor
//! table of a process has not changed ([`Files::stamp`]), only the fdinfo of descriptors that are known GPU clients is read, once
//! for each client, from a file that stays open ([`Files::keep`]). This takes two system calls per process. Kernels before 6.2 do
//! not report the number of descriptors; there each process is examined again in one of [`ROUNDS`] snapshots. The same slow round
//! detects a process that closed one file and opened another.

mod container;
pub(crate) mod proc_file;
pub(crate) mod sums;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    io,
};

use self::{container::container, proc_file::Identity};
use crate::{
    fdinfo::{FdInfo, MOST_BYTES},
    files::{Files, Kept, Stamp},
    heaps::OwnUsage,
    model::{Client, Evicted, Pair, Process, Unreadable, add},
    seam,
};

/// Number of snapshots after which an apparently unchanged process is read again.
const ROUNDS: u64 = 16;
/// Descriptors of one process that are looked at, at most.
const MOST_DESCRIPTORS: usize = 65_536;

/// An open file of a GPU: the GPU's PCI address and the client's number.
type ClientKey = (String, u64);

/// State kept for a process between scans.
#[derive(Debug, Default)]
struct Known {
    stamp: Option<Stamp>,
    clients: Vec<Watched>,
    identity: Option<Identity>,
    denied: bool,
}

/// A client of a process: one descriptor of it, and its fdinfo, if that could be kept open.
#[derive(Debug)]
struct Watched {
    key: ClientKey,
    fd: u64,
    file: Option<Kept>,
}

/// The index of processes.
#[derive(Debug, Default)]
pub(crate) struct Scanner {
    round: u64,
    /// Contents of the last file read.
    bytes: Vec<u8>,
    users: Option<BTreeMap<u32, String>>,
    known: HashMap<u32, Known>,
    /// The largest engine time seen of each client: counters may step back (`drm-usage-stats.rst`), time does not.
    engines: HashMap<ClientKey, BTreeMap<String, u64>>,
}

/// Result of one scan.
#[derive(Default)]
struct Found {
    /// Number of further files that may be kept open.
    room: usize,
    clients: BTreeMap<ClientKey, FdInfo>,
    /// In the order of process numbers.
    holders: Vec<(u32, Vec<ClientKey>)>,
}

/// The processes that hold memory.
#[derive(Default)]
pub(crate) struct Scan {
    /// By the GPU's PCI address.
    pub(crate) by_pci: BTreeMap<String, Vec<Process>>,
    /// The usage of one process, by the GPU's PCI address; also through files that others have, too.
    pub(crate) own: BTreeMap<String, OwnUsage>,
    pub(crate) unreadable: Unreadable,
}

impl Found {
    fn usage_of(&self, pid: u32) -> BTreeMap<String, OwnUsage> {
        let mut by_pci: BTreeMap<String, OwnUsage> = BTreeMap::new();
        for key in self.holders.iter().filter(|(holder, _)| *holder == pid).flat_map(|(_, keys)| keys) {
            let Some(info) = self.clients.get(key) else { continue };
            let usage = by_pci.entry(key.0.clone()).or_default();
            let vram = info.resident.vram.unwrap_or(0);
            // Kernels from 6.12 on do not say which part is visible; where all VRAM is, the heaps count both parts together.
            let visible = info.resident.visible_vram.unwrap_or(0).min(vram);
            usage.visible_vram = usage.visible_vram.saturating_add(visible);
            usage.invisible_vram = usage.invisible_vram.saturating_add(vram - visible);
            usage.gtt = usage.gtt.saturating_add(info.resident.gtt.unwrap_or(0));
        }
        by_pci
    }
}

impl Scanner {
    /// All processes by GPU, what the process `own` has itself, and how many could not be looked at.
    pub(crate) fn scan(&mut self, files: &dyn Files, per_client: bool, own: Option<u32>) -> Scan {
        self.round += 1;
        let mut unreadable = Unreadable::default();
        let mut pids: Vec<u32> = match files.list("proc") {
            Ok(names) => names.iter().filter_map(|name| name.parse().ok()).collect(),
            Err(error) => {
                unreadable.reason = Some(format!("/proc: {}", crate::files::reason(&error)));
                Vec::new()
            }
        };
        pids.sort_unstable();
        if self.known.len() > pids.len() {
            self.known.retain(|pid, _| pids.binary_search(pid).is_ok());
        }
        let kept: usize = self.known.values().map(Known::kept).sum();
        let mut found = Found { room: most_kept().saturating_sub(kept), ..Found::default() };
        for pid in pids {
            let clients = self.clients_of(files, pid, &mut found);
            if self.known.get(&pid).is_some_and(|known| known.denied) {
                unreadable.processes += 1;
                unreadable.reason = Some("permission denied".to_owned());
            }
            if !clients.is_empty() {
                found.holders.push((pid, clients));
            }
        }
        self.keep_largest(&mut found);
        let own = own.map(|own| found.usage_of(own)).unwrap_or_default();
        Scan { by_pci: self.rows(files, &found, per_client), own, unreadable }
    }

    /// The clients of a process; their fdinfo is in `found` afterwards.
    fn clients_of(&mut self, files: &dyn Files, pid: u32, found: &mut Found) -> Vec<ClientKey> {
        let known = self.known.entry(pid).or_default();
        let stamp = files.stamp(&format!("proc/{pid}/fd")).ok().flatten();
        let is_due = (u64::from(pid) + self.round).is_multiple_of(ROUNDS);
        let is_same =
            stamp.is_some_and(|stamp| known.stamp == Some(stamp) && (stamp.tells() || known.identity.is_none()));
        if is_same && !is_due && known.refresh(files, pid, &mut self.bytes, found) {
            return known.keys();
        }
        // The name goes too: the number may be another process's by now.
        *known = Known { stamp, ..Known::default() };
        match descriptors(files, pid) {
            Ok(descriptors) => known.rescan(files, pid, descriptors, &mut self.bytes, found),
            Err(error) => known.denied = error.kind() == io::ErrorKind::PermissionDenied,
        }
        known.keys()
    }

    fn keep_largest(&mut self, found: &mut Found) {
        for (key, info) in &mut found.clients {
            let largest = self.engines.entry(key.clone()).or_default();
            for (engine, &time) in &info.engines_ns {
                let known = largest.entry(engine.clone()).or_default();
                *known = time.max(*known);
            }
            info.engines_ns.clone_from(largest);
        }
        if self.engines.len() > found.clients.len() {
            self.engines.retain(|key, _| found.clients.contains_key(key));
        }
    }

    fn rows(&mut self, files: &dyn Files, found: &Found, per_client: bool) -> BTreeMap<String, Vec<Process>> {
        let uptime = proc_file::uptime(files);
        let mut charged = BTreeSet::new();
        let mut by_pci: BTreeMap<String, Vec<Process>> = BTreeMap::new();
        for (pid, keys) in &found.holders {
            let mut rows: BTreeMap<&str, Process> = BTreeMap::new();
            for key in keys {
                let Some(info) = found.clients.get(key) else { continue };
                let row = rows.entry(key.0.as_str()).or_insert_with(|| Process { pid: *pid, ..Process::default() });
                row.clients.push(key.1);
                if charged.insert(key) {
                    charge(row, info, key.1, per_client);
                } else {
                    row.charged_elsewhere.push(key.1);
                    charge(row, &FdInfo::default(), key.1, false);
                }
            }
            if rows.is_empty() {
                continue;
            }
            let identity = self.identity(files, *pid);
            for (pci, mut row) in rows {
                let own = row.own();
                (row.own_vram, row.own_gtt) = (own.vram, own.gtt);
                row.clients.sort_unstable();
                row.name.clone_from(&identity.name);
                row.user.clone_from(&identity.user);
                row.cgroup.clone_from(&identity.cgroup);
                row.container = identity.cgroup.as_deref().and_then(container);
                row.ppid = identity.ppid;
                row.age_s = identity.started_s.zip(uptime).map(|(started, now)| now.saturating_sub(started));
                by_pci.entry(pci.to_owned()).or_default().push(row);
            }
        }
        by_pci
    }

    fn identity(&mut self, files: &dyn Files, pid: u32) -> Identity {
        let users = self.users.get_or_insert_with(|| proc_file::users(files));
        let known = self.known.entry(pid).or_default();
        let bytes = &mut self.bytes;
        known.identity.get_or_insert_with(|| proc_file::identity(files, pid, users, bytes)).clone()
    }
}

impl Known {
    fn keys(&self) -> Vec<ClientKey> {
        self.clients.iter().map(|client| client.key.clone()).collect()
    }

    /// Files that are open.
    fn kept(&self) -> usize {
        self.clients.iter().filter(|client| client.file.is_some()).count()
    }

    /// Reads the fdinfo of the known clients again; whether they still are what they were.
    fn refresh(&self, files: &dyn Files, pid: u32, bytes: &mut Vec<u8>, found: &mut Found) -> bool {
        self.clients.iter().all(|client| {
            if found.clients.contains_key(&client.key) {
                return true;
            }
            let read = match &client.file {
                Some(file) => file.read(bytes),
                None => files.read_piece(&fdinfo_path(pid, client.fd), bytes),
            };
            match read.ok().and_then(|()| parse(bytes)) {
                Some((now, info)) if now == client.key => {
                    found.clients.insert(now, info);
                    true
                }
                _ => false,
            }
        })
    }

    fn rescan(&mut self, files: &dyn Files, pid: u32, fds: Vec<u64>, bytes: &mut Vec<u8>, found: &mut Found) {
        for fd in fds {
            let path = fdinfo_path(pid, fd);
            let file = if found.room > 0 { files.keep(&path) } else { None };
            let read = match &file {
                Some(file) => file.read(bytes),
                None => files.read_piece(&path, bytes),
            };
            let Some((key, info)) = read.ok().and_then(|()| parse(bytes)) else { continue };
            if self.clients.iter().all(|known| known.key != key) {
                found.room -= usize::from(file.is_some());
                self.clients.push(Watched { key: key.clone(), fd, file });
            }
            found.clients.entry(key).or_insert(info);
        }
    }
}

/// Returns the number of files that may be kept open: half of the process's limit.
fn most_kept() -> usize {
    usize::try_from(seam::most_descriptors()).unwrap_or(usize::MAX).min(MOST_DESCRIPTORS) / 2
}

/// The descriptors of a process that are DRM nodes.
fn descriptors(files: &dyn Files, pid: u32) -> io::Result<Vec<u64>> {
    let names = files.links_to(&format!("proc/{pid}/fd"), "/dev/dri/")?;
    let mut numbers: Vec<u64> = names.iter().filter_map(|name| name.parse().ok()).take(MOST_DESCRIPTORS).collect();
    numbers.sort_unstable();
    Ok(numbers)
}

fn fdinfo_path(pid: u32, fd: u64) -> String {
    format!("proc/{pid}/fdinfo/{fd}")
}

/// The client that an fdinfo speaks of; `None` when it is no GPU of ours.
fn parse(bytes: &[u8]) -> Option<(ClientKey, FdInfo)> {
    let text = String::from_utf8_lossy(bytes.get(..MOST_BYTES).unwrap_or(bytes));
    let mut info = FdInfo::parse(&text);
    if !info.is_amdgpu() {
        return None;
    }
    let pci = info.pci.take()?;
    let client = info.client_key()?;
    Some(((pci, client), info))
}

/// Adds a client to a process's row.
fn charge(row: &mut Process, info: &FdInfo, number: u64, per_client: bool) {
    let mut client = Client {
        client: number,
        own_vram: None,
        own_gtt: None,
        vram: info.resident.vram,
        visible_vram: info.resident.visible_vram,
        gtt: info.resident.gtt,
        cpu: info.resident.cpu,
        shared: Pair { vram: info.shared.vram, gtt: info.shared.gtt },
        requested: Pair { vram: info.requested.vram, gtt: info.requested.gtt },
        evicted: Evicted { vram: info.evicted.vram, visible_vram: info.evicted.visible_vram },
    };
    let own = client.own();
    (client.own_vram, client.own_gtt) = (own.vram, own.gtt);
    add(&mut row.vram, client.vram);
    add(&mut row.visible_vram, client.visible_vram);
    add(&mut row.gtt, client.gtt);
    add(&mut row.cpu, client.cpu);
    add(&mut row.shared.vram, client.shared.vram);
    add(&mut row.shared.gtt, client.shared.gtt);
    add(&mut row.requested.vram, client.requested.vram);
    add(&mut row.requested.gtt, client.requested.gtt);
    add(&mut row.evicted.vram, client.evicted.vram);
    add(&mut row.evicted.visible_vram, client.evicted.visible_vram);
    for (engine, time) in &info.engines_ns {
        let sum = row.engines_ns.entry(engine.clone()).or_default();
        *sum = sum.saturating_add(*time);
    }
    if per_client {
        row.per_client.push(client);
    }
}
