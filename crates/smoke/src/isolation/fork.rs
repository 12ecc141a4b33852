//! A child process that is started, observed, and ended if it takes too long.

use std::{
    fs,
    io::{self, BufRead, BufReader},
    os::unix::process::{CommandExt, ExitStatusExt},
    process::{Child, Command, ExitStatus, Stdio},
    sync::mpsc::{self, RecvTimeoutError},
    time::{Duration, Instant},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};

use crate::isolation::message::Message;

/// Time and output limits of a process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// The time limit from start to end.
    pub(crate) whole: Duration,
    /// The time limit without a message from the process.
    pub(crate) silence: Duration,
    /// The time to end after SIGTERM, and again after SIGKILL.
    pub(crate) grace: Duration,
}

/// The way a process ended.
#[derive(Debug)]
pub(crate) enum Ended {
    /// The process exited by itself.
    Exited(ExitStatus),
    /// The process was ended for this reason.
    Stopped(Why),
    /// The child did not end when asked: the reason, and its state in `/proc/PID/stat`.
    Stuck(Why, char),
}

/// The reason why a process was ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// The process exceeded its time limit.
    Time(Duration),
    /// The process sent no message for too long.
    Silence(Duration),
    /// The run has no time left.
    NoTimeLeft,
    /// The user interrupted the run.
    Interrupted,
    /// The process wrote invalid output.
    Babble,
}

/// The interval at which an interruption by the user is checked.
const LOOK: Duration = Duration::from_millis(50);

/// Runs a process until it ends, and passes on its messages. `stop` decides whether to end it early.
pub(crate) fn run(
    command: &mut Command,
    limits: Limits,
    stop: impl Fn() -> Option<Why>,
    mut heard: impl FnMut(Message),
) -> io::Result<Ended> {
    // A group of its own: an interrupt of the terminal goes to the parent alone, which then decides.
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).process_group(0).spawn()?;
    let lines = listen(&mut child)?;
    let start = Instant::now();
    let mut alive = start;
    let why = loop {
        let next = (start + limits.whole).min(alive + limits.silence);
        let wait = next.saturating_duration_since(Instant::now()).min(LOOK);
        match lines.recv_timeout(wait) {
            Ok(Ok(message)) => {
                alive = Instant::now();
                heard(message);
            }
            Ok(Err(())) => break Why::Babble,
            Err(RecvTimeoutError::Disconnected) => return Ok(Ended::Exited(ended(&mut child, limits)?)),
            Err(RecvTimeoutError::Timeout) => {}
        }
        if let Some(why) = stop() {
            break why;
        }
        let now = Instant::now();
        if now >= start + limits.whole {
            break Why::Time(limits.whole);
        }
        if now >= alive + limits.silence {
            break Why::Silence(limits.silence);
        }
    };
    for signal in [Signal::SIGTERM, Signal::SIGKILL] {
        // The child is not reaped yet, so its id is still its own.
        let _ = kill(Pid::from_raw(child.id().cast_signed()), signal);
        if ends_within(&mut child, limits.grace)?.is_some() {
            return Ok(Ended::Stopped(why));
        }
    }
    Ok(Ended::Stuck(why, state(child.id())))
}

/// Returns the lines of the child's standard output as they arrive, valid or not.
fn listen(child: &mut Child) -> io::Result<mpsc::Receiver<Result<Message, ()>>> {
    let (sender, lines) = mpsc::channel();
    let Some(out) = child.stdout.take() else { return Ok(lines) };
    std::thread::Builder::new().name("listener".to_owned()).spawn(move || {
        for line in BufReader::new(out).lines() {
            let Ok(line) = line else { break };
            if sender.send(serde_json::from_str(&line).map_err(drop)).is_err() {
                break;
            }
        }
    })?;
    Ok(lines)
}

/// Waits for the exit status of a child that has closed its output and is about to end.
fn ended(child: &mut Child, limits: Limits) -> io::Result<ExitStatus> {
    if let Some(status) = ends_within(child, limits.grace)? {
        return Ok(status);
    }
    child.kill()?;
    child.wait()
}

fn ends_within(child: &mut Child, time: Duration) -> io::Result<Option<ExitStatus>> {
    let deadline = Instant::now() + time;
    let mut pause = Duration::from_micros(100);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() >= deadline {
            return Ok(None);
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// Returns the state letter of a process, or `?` if it cannot be read. D is an uninterruptible sleep.
fn state(pid: u32) -> char {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name before it is in parentheses, and may hold any character.
    stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next()).unwrap_or('?')
}

/// Describes an exit status in words.
pub(crate) fn description(status: ExitStatus) -> String {
    match (status.code(), status.signal().map(Signal::try_from)) {
        (Some(code), _) => format!("the process ended with exit status {code} and no result"),
        (None, Some(Ok(signal))) => format!("the process was killed by {signal}"),
        (None, _) => format!("the process ended: {status}"),
    }
}

impl std::fmt::Display for Why {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Time(limit) => write!(f, "not done in {} s", limit.as_secs_f64()),
            Self::Silence(limit) => write!(f, "no sign of life for {} s", limit.as_secs_f64()),
            Self::NoTimeLeft => f.write_str("the run has no time left"),
            Self::Interrupted => f.write_str("the user ended the run"),
            Self::Babble => f.write_str("the process said what makes no sense"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits =
        Limits { whole: Duration::from_mins(1), silence: Duration::from_mins(1), grace: Duration::from_secs(20) };

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_process_that_ends_is_reaped_with_its_status() {
        let ended = run(&mut shell("exit 3"), LIMITS, || None, |_| {}).unwrap();
        assert!(matches!(ended, Ended::Exited(status) if status.code() == Some(3)), "{ended:?}");
    }

    #[test]
    fn a_process_that_takes_too_long_is_ended() {
        let limits = Limits { whole: Duration::from_millis(50), ..LIMITS };
        let ended = run(&mut shell("sleep 60"), limits, || None, |_| {}).unwrap();
        assert!(matches!(ended, Ended::Stopped(Why::Time(_))), "{ended:?}");
        let limits = Limits { silence: Duration::from_millis(50), ..LIMITS };
        let ended = run(&mut shell("sleep 60"), limits, || None, |_| {}).unwrap();
        assert!(matches!(ended, Ended::Stopped(Why::Silence(_))), "{ended:?}");
    }

    #[test]
    fn what_a_process_says_is_heard() {
        let mut heard = 0;
        run(&mut shell(r#"echo '{"kind":"alive"}'; echo '{"kind":"alive"}'"#), LIMITS, || None, |_| heard += 1)
            .unwrap();
        assert_eq!(heard, 2);
        let ended = run(&mut shell("echo nonsense; sleep 60"), LIMITS, || None, |_| {}).unwrap();
        assert!(matches!(ended, Ended::Stopped(Why::Babble)), "{ended:?}");
    }

    #[test]
    fn states_are_read_behind_the_name() {
        assert!("RSD".contains(state(std::process::id())));
        assert_eq!(state(0), '?');
    }
}
