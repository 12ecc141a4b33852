//! The state of client processes, as the host's kernel reports it.

/// Flag of a process that is ending (`PF_EXITING`). The host's kernel sets it before it closes the process's descriptors.
const EXITING: u32 = 0x4;

/// Returns `true` if a process is ending or has ended.
pub(crate) fn is_over(pid: libc::pid_t) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).map_or(true, |stat| is_exiting(&stat))
}

/// Returns `true` if a line of `/proc/PID/stat` has the flag.
fn is_exiting(stat: &str) -> bool {
    // The name of the program, in parentheses, may have spaces and parentheses of its own.
    let flags = stat.rsplit(')').next().and_then(|rest| rest.split_ascii_whitespace().nth(6));
    flags.and_then(|flags| flags.parse().ok()).is_some_and(|flags: u32| flags & EXITING != 0)
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_process_is_over_once_it_ends_whether_or_not_it_was_waited_for() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let pid = child.id().cast_signed();
        assert!(!is_over(pid) && !is_over(std::process::id().cast_signed()));
        child.kill().unwrap();
        while !is_over(pid) {
            std::thread::yield_now();
        }
        child.wait().unwrap();
        assert!(is_over(pid));
    }

    #[test]
    fn names_of_programs_do_not_hide_the_flags() {
        let line = |flags: u32| format!("7 (a) 1 2 (b) S 1 7 7 0 -1 {flags} 104 0");
        assert!(is_exiting(&line(0x0040_0004)) && !is_exiting(&line(0x0040_0000)) && !is_exiting(""));
    }
}
