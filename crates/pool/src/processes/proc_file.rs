//! Single files of `/proc`.

use std::collections::BTreeMap;

use crate::{files::Files, model::System};

/// MemTotal and MemAvailable.
pub(crate) fn meminfo(files: &dyn Files) -> System {
    let text = files.read("proc/meminfo").unwrap_or_default();
    let value = |key: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
        let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        kib.checked_mul(1024)
    };
    System { mem_total: value("MemTotal"), mem_available: value("MemAvailable"), ttm_limit: None }
}

/// Identity of a process, which rarely changes during its life.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Identity {
    pub(super) name: Option<String>,
    pub(super) ppid: Option<u32>,
    pub(super) user: Option<String>,
    pub(super) cgroup: Option<String>,
    /// Seconds after boot that it was started.
    pub(super) started_s: Option<u64>,
}

/// Clock ticks in a second, for user space on every architecture that amdgpu runs on (USER_HZ).
const TICKS: u64 = 100;

/// Reads a process's identity; `bytes` is overwritten. The name is in `comm` and again in `stat`, so `comm` is read only if
/// there is no `stat`.
pub(super) fn identity(files: &dyn Files, pid: u32, users: &BTreeMap<u32, String>, bytes: &mut Vec<u8>) -> Identity {
    let mut read = |name: &str| {
        let read = files.read_piece(&format!("proc/{pid}/{name}"), bytes);
        read.ok().map(|()| String::from_utf8_lossy(bytes).into_owned())
    };
    let status = read("status").unwrap_or_default();
    let field = |key: &str| {
        status.lines().find_map(|line| line.strip_prefix(key)).and_then(|rest| rest.split_whitespace().next())
    };
    let uid: Option<u32> = field("Uid:").and_then(|word| word.parse().ok());
    // The name is in parentheses and may hold any character, so fields count from the last one that closes.
    let stat = read("stat").unwrap_or_default();
    let (named, rest) = stat.rsplit_once(')').unwrap_or_default();
    let started = rest.split_whitespace().nth(19).and_then(|ticks| ticks.parse::<u64>().ok());
    let name = named.split_once('(').map(|(_, name)| clean(name));
    let cgroup = read("cgroup");
    Identity {
        name: name.or_else(|| read("comm").map(|name| clean(name.trim_end_matches('\n')))),
        ppid: field("PPid:").and_then(|word| word.parse().ok()),
        user: uid.map(|uid| users.get(&uid).cloned().unwrap_or_else(|| uid.to_string())),
        cgroup: cgroup.as_deref().and_then(|text| text.lines().find_map(|line| line.strip_prefix("0::"))).map(clean),
        started_s: started.map(|ticks| ticks / TICKS),
    }
}

/// A name without control characters: a process may call itself anything, and a terminal would obey.
fn clean(name: &str) -> String {
    name.chars().take(256).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// Names of users by number.
pub(super) fn users(files: &dyn Files) -> BTreeMap<u32, String> {
    let text = files.read("etc/passwd").unwrap_or_default();
    let entry = |line: &str| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        Some((fields.nth(1)?.parse().ok()?, clean(name)))
    };
    let mut users = BTreeMap::new();
    for (number, name) in text.lines().filter_map(entry) {
        users.insert(number, name);
    }
    users
}

/// Seconds since boot.
pub(super) fn uptime(files: &dyn Files) -> Option<u64> {
    files.read("proc/uptime").ok()?.split('.').next()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::Memory;

    #[test]
    fn a_process_may_call_itself_anything() {
        let mut files = Memory::default();
        files.put("proc/7/stat", format!("7 (a) b\u{1b}[31m) S 1 {}4200 0\n", "0 ".repeat(17)));
        files.put("proc/7/status", "Name:\tx\nPPid:\t1\nUid:\t1000\t1000\n");
        let identity = identity(&files, 7, &BTreeMap::new(), &mut Vec::new());
        assert_eq!(identity.name.as_deref(), Some("a) b\u{fffd}[31m"));
        assert_eq!((identity.started_s, identity.ppid, identity.user.as_deref()), (Some(42), Some(1), Some("1000")));
        files.remove("proc/7/stat");
        files.put("proc/7/comm", "a) b\u{1b}[31m\n");
        let without = super::identity(&files, 7, &BTreeMap::new(), &mut Vec::new());
        assert_eq!((without.name, without.started_s), (identity.name, None));
    }

    #[test]
    fn what_cannot_be_read_is_unknown() {
        assert_eq!(identity(&Memory::default(), 7, &BTreeMap::new(), &mut Vec::new()), Identity::default());
        let mut files = Memory::default();
        files.put("proc/meminfo", "MemTotal: 99999999999999999999 kB\nMemAvailable: 12\n");
        assert_eq!(meminfo(&files), System::default());
    }
}
