//! The cgroup of this process, and what it and those above it limit.
//!
//! Source: Linux 7.2 `kernel/cgroup/dmem.c`; `Documentation/admin-guide/cgroup-v2.rst`, "DMEM" (Linux 6.14 and later). amdgpu's region
//! is `drm/0000:03:00.0/vram`, followed by a number in some releases: VRAM, and the carve-out of an APU. There is none for GTT.

use crate::{files::Files, model::CgroupLimit};

/// The cgroup of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cgroup {
    /// A path in the hierarchy of version 2.
    V2(String),
    /// Only hierarchies of version 1, in which amdgpu's limits are not looked for.
    V1,
    /// It is not known, for the given reason.
    Unknown(String),
}

/// Reads the cgroup of this process.
pub fn cgroup(files: &dyn Files) -> Cgroup {
    let text = match files.read("proc/self/cgroup") {
        Ok(text) => text,
        Err(error) => return Cgroup::Unknown(format!("/proc/self/cgroup: {}", crate::files::reason(&error))),
    };
    match text.lines().find_map(|line| line.strip_prefix("0::")).map(str::trim) {
        Some(path) if path.split('/').any(|part| part == "..") => {
            Cgroup::Unknown(format!("{path} is outside of the namespace"))
        }
        Some(path) if path.starts_with('/') => Cgroup::V2(path.to_owned()),
        Some(path) => Cgroup::Unknown(format!("'{path}' is no path")),
        None if text.trim().is_empty() => Cgroup::Unknown("/proc/self/cgroup is empty".to_owned()),
        None => Cgroup::V1,
    }
}

/// The folders of a cgroup and of those above it, the cgroup itself first, with their paths in the hierarchy.
fn levels(path: &str) -> impl Iterator<Item = &str> {
    let path = path.trim_end_matches('/');
    std::iter::successors(Some(path), |path| path.rsplit_once('/').map(|(above, _)| above))
}

/// Returns the limits and the protection of a cgroup's share of a GPU's own memory; `None` if there are none to be read.
///
/// A group whose parent does not pass the controller on is charged to the nearest group above that has it.
pub fn dmem(files: &dyn Files, path: &str, pci: &str) -> Option<CgroupLimit> {
    let value = |level: &str, file: &str| of_region(&files.read(&format!("sys/fs/cgroup{level}/{file}")).ok()?, pci);
    let own = path.trim_end_matches('/');
    let mut limit = CgroupLimit {
        path: path.to_owned(),
        current: value(own, "dmem.current"),
        low: value(own, "dmem.low"),
        min: value(own, "dmem.min"),
        max: value(own, "dmem.max"),
        left: None,
        limited_at: None,
        protected: None,
        protected_at: None,
    };
    for level in levels(path) {
        let left = value(level, "dmem.max")
            .and_then(|max| Some(max.saturating_sub(value(level, "dmem.current")?)))
            .filter(|&left| limit.left.is_none_or(|least| left < least));
        if let Some(left) = left {
            limit.left = Some(left);
            limit.limited_at = Some(if level.is_empty() { "/" } else { level }.to_owned());
        }
        let protected = value(level, "dmem.low").max(value(level, "dmem.min"));
        if let Some(bytes) = protected.filter(|&bytes| limit.protected.is_none_or(|least| bytes < least)) {
            limit.protected = Some(bytes);
            limit.protected_at = Some(level.to_owned());
        }
    }
    let is_known = [limit.current, limit.max, limit.left, limit.protected].iter().any(Option::is_some);
    is_known.then_some(limit)
}

/// The figure of a GPU in a file of the controller; `max` is none.
pub(crate) fn of_region(text: &str, pci: &str) -> Option<u64> {
    let region = format!("drm/{pci}/vram");
    let rest = text.lines().find_map(|line| {
        let (name, value) = line.trim().split_once(char::is_whitespace)?;
        let number = name.strip_prefix(&region)?;
        number.bytes().all(|byte| byte.is_ascii_digit()).then_some(value)
    })?;
    rest.trim().parse().ok()
}

/// Returns the least limit of the memory controller (`memory.max`) among a cgroup and those above it, with the cgroup that has it;
/// `None` if there is none.
pub fn memory_max(files: &dyn Files, path: &str) -> Option<(u64, String)> {
    let limit = |level: &str| {
        let max = files.read(&format!("sys/fs/cgroup{level}/memory.max")).ok()?.trim().parse().ok()?;
        Some((max, if level.is_empty() { "/" } else { level }.to_owned()))
    };
    levels(path).filter_map(limit).min_by_key(|(max, _)| *max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::Memory;

    fn tree(cgroup: &str) -> Memory {
        let mut files = Memory::default();
        files.put("proc/self/cgroup", cgroup);
        files
    }

    #[test]
    fn version_1_and_paths_outside_of_the_namespace_have_no_path() {
        assert_eq!(cgroup(&tree("0::/a/b.scope\n")), Cgroup::V2("/a/b.scope".to_owned()));
        assert_eq!(cgroup(&tree("1:name=systemd:/x\n0::/y\n")), Cgroup::V2("/y".to_owned()), "both versions");
        assert_eq!(cgroup(&tree("4:memory:/docker/1\n3:cpu:/docker/1\n")), Cgroup::V1);
        for (text, reason) in [("0::/../../x\n", "namespace"), ("", "empty"), ("0::x\n", "no path")] {
            let found = cgroup(&tree(text));
            assert!(matches!(&found, Cgroup::Unknown(why) if why.contains(reason)), "{text:?}: {found:?}");
        }
        assert!(matches!(cgroup(&Memory::default()), Cgroup::Unknown(why) if why.contains("not there")));
    }

    #[test]
    fn the_tightest_of_all_cgroups_above_is_the_limit() {
        let mut files = tree("");
        let line = |bytes: &str| format!("drm/0000:0b:00.0/vram 7\ndrm/0000:03:00.0/vram {bytes}\n");
        for (level, max, current) in [("", "max", "9000"), ("/a", "6000", "5000"), ("/a/b", "4000", "1000")] {
            files.put(format!("sys/fs/cgroup{level}/dmem.max"), line(max));
            files.put(format!("sys/fs/cgroup{level}/dmem.current"), line(current));
        }
        let limit = dmem(&files, "/a/b", "0000:03:00.0").unwrap();
        assert_eq!((limit.max, limit.current), (Some(4000), Some(1000)), "the own cgroup's figures");
        assert_eq!((limit.left, limit.limited_at.as_deref()), (Some(1000), Some("/a")));
        assert_eq!(dmem(&files, "/c", "0000:03:00.0"), None, "the root has no limit");
        assert_eq!(dmem(&files, "/a/b", "0000:03:00.1"), None, "another GPU");
    }

    #[test]
    fn a_cgroup_is_protected_only_as_far_as_all_above_it_are() {
        let mut files = tree("");
        let line = |bytes: u64| format!("drm/0000:03:00.0/vram {bytes}\n");
        for (level, low, min) in [("/a", 5000, 0), ("/a/b", 1000, 7000)] {
            files.put(format!("sys/fs/cgroup{level}/dmem.low"), line(low));
            files.put(format!("sys/fs/cgroup{level}/dmem.min"), line(min));
        }
        let protection = |path: &str| {
            let limit = dmem(&files, path, "0000:03:00.0");
            limit.and_then(|limit| limit.protected.zip(limit.protected_at))
        };
        assert_eq!(protection("/a/b"), Some((5000, "/a".to_owned())), "min protects as low does, but the parent less");
        assert_eq!(protection("/a"), Some((5000, "/a".to_owned())));
        assert_eq!(protection("/a/b/without-controller"), Some((5000, "/a".to_owned())), "charged to the group above");
        assert_eq!(protection("/c"), None);
    }

    #[test]
    fn the_region_may_have_a_number() {
        assert_eq!(of_region("drm/0000:03:00.0/vram0 42\n", "0000:03:00.0"), Some(42));
        for text in ["drm/0000:03:00.0/vramx 42", "drm/0000:03:00.0/vram max", "drm/0000:03:00.0/vram", "", "42"] {
            assert_eq!(of_region(text, "0000:03:00.0"), None, "{text}");
        }
    }
}
