//! The state of client processes, as the host's kernel reports it.

/// Flag of a process that is ending (`PF_EXITING`). The host's kernel sets it before it closes the process's descriptors.
const EXITING: u32 = 0x4;

/// A process, told from later ones that get its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Process {
    pid: libc::pid_t,
    /// The time at which it started, in clock ticks since the host did; `None` if the host does not tell.
    start: Option<u64>,
}

impl Process {
    /// Returns the process that has a number now.
    pub(crate) fn of(pid: libc::pid_t) -> Self {
        Self { pid, start: stat(pid).and_then(|stat| field(&stat, START_TIME)) }
    }

    pub(crate) const fn pid(self) -> libc::pid_t {
        self.pid
    }

    /// Returns the name of its program; `None` if it has ended.
    pub(crate) fn name(self) -> Option<String> {
        let name = std::fs::read_to_string(format!("/proc/{}/comm", self.pid)).ok()?;
        Some(name.trim_end_matches('\n').to_owned())
    }

    /// Returns the path of its cgroup in the hierarchy of version 2; `None` if it has none.
    pub(crate) fn cgroup(self) -> Option<String> {
        group_of(&std::fs::read_to_string(format!("/proc/{}/cgroup", self.pid)).ok()?)
    }

    /// Returns `true` if the process is ending or has ended.
    pub(crate) fn is_over(self) -> bool {
        stat(self.pid).is_none_or(|stat| is_exiting(&stat) || field(&stat, START_TIME) != self.start)
    }
}

/// The places of `flags` and `starttime` behind the name of the program, see proc_pid_stat(5).
const FLAGS: usize = 6;
const START_TIME: usize = 19;

/// Returns the path in the hierarchy of version 2, which has the number 0 and no controllers, in `/proc/PID/cgroup`.
fn group_of(groups: &str) -> Option<String> {
    groups.lines().find_map(|line| line.strip_prefix("0::")).map(str::to_owned)
}

fn stat(pid: libc::pid_t) -> Option<String> {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()
}

/// Returns a number in a line of `/proc/PID/stat`.
fn field(stat: &str, place: usize) -> Option<u64> {
    // The name of the program, in parentheses, may have spaces and parentheses of its own.
    stat.rsplit(')').next()?.split_ascii_whitespace().nth(place)?.parse().ok()
}

/// Returns `true` if a line of `/proc/PID/stat` has the flag.
fn is_exiting(stat: &str) -> bool {
    field(stat, FLAGS).is_some_and(|flags| flags & u64::from(EXITING) != 0)
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_process_is_over_once_it_ends_whether_or_not_it_was_waited_for() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let process = Process::of(child.id().cast_signed());
        assert!(!process.is_over() && !Process::of(std::process::id().cast_signed()).is_over());
        child.kill().unwrap();
        while !process.is_over() {
            std::thread::yield_now();
        }
        child.wait().unwrap();
        assert!(process.is_over());
    }

    #[test]
    fn another_process_with_the_number_is_not_the_same() {
        let this = Process::of(std::process::id().cast_signed());
        let earlier = Process { start: this.start.map(|ticks| ticks - 1), ..this };
        assert!(!this.is_over() && earlier.is_over() && Process { start: None, ..this }.is_over());
    }

    #[test]
    fn the_group_of_a_process_is_that_of_the_hierarchy_with_all_controllers() {
        assert_eq!(group_of("4:memory:/old\n0::/user.slice/game.scope\n").as_deref(), Some("/user.slice/game.scope"));
        assert_eq!(group_of("4:memory:/old\n"), None);
    }

    #[test]
    fn names_of_programs_do_not_hide_the_flags() {
        let line = |flags: u32| format!("7 (a) 1 2 (b) S 1 7 7 0 -1 {flags} 104 0");
        assert!(is_exiting(&line(0x0040_0004)) && !is_exiting(&line(0x0040_0000)) && !is_exiting(""));
    }
}
