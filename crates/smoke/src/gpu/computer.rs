//! Events of the computer around the GPU: it sleeps, and the GPU is taken out and found again. On a simulated GPU of this process
//! the simulator does both; elsewhere files of sysfs are written, which only root may do.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use amdgpu_winsys::winsys::{Node, PciAddress};
use nix::time::{ClockId, clock_gettime};

use crate::{
    gpu::{host, slot::Slot, target::Target},
    result::outcome::{ErrorContext, Stop, fail, skip},
};

/// The file that suspends the computer, below the root.
///
/// Source: Linux 7.2 `Documentation/ABI/testing/sysfs-power`.
const STATE: &str = "sys/power/state";
/// The file that finds removed PCI devices again, below the root.
///
/// Source: Linux 7.2 `drivers/pci/pci-sysfs.c`, `rescan_store`.
const RESCAN: &str = "sys/bus/pci/rescan";
/// Seconds after which the clock wakes the computer: more than it takes to move any VRAM to memory.
const SLEEP: u32 = 30;
/// The clocks that are asked to wake it.
const CLOCKS: u32 = 8;
/// The time in which a node goes after its GPU.
const GOING: Duration = Duration::from_secs(10);
/// The time in which the driver starts a GPU that was found again.
const COMING: Duration = Duration::from_mins(1);
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(20);

/// Suspends the computer and wakes it. Returns how that went. `is_accepted` is `true` if the user agreed to it for a real computer.
///
/// # Errors
///
/// A skip with the reason if that cannot be done here, and a failure if the kernel refuses to sleep.
pub(crate) fn suspend(target: &Target, is_accepted: bool) -> Result<String, Stop> {
    if let Some(slot) = target.slot() {
        let began = Instant::now();
        drop(slot.device().suspend().context("suspending the simulated computer")?);
        return Ok(format!("slept in {:.1} ms (simulated)", began.elapsed().as_secs_f64() * 1e3));
    }
    if target.node().is_none() {
        return skip(
            "the GPU is in no computer that could sleep: its kernel is recorded, replayed or of another program",
        );
    }
    if !is_accepted {
        return skip("it suspends the computer for half a minute: needs --i-accept-a-suspend");
    }
    suspend_below(Path::new("/"))
}

/// Suspends the computer whose files are below `root`.
fn suspend_below(root: &Path) -> Result<String, Stop> {
    let path = root.join(STATE);
    let offered = match fs::read_to_string(&path) {
        Ok(offered) => offered,
        Err(error) => return skip(format!("the computer cannot be suspended: /{STATE}: {error}")),
    };
    if !offered.split_whitespace().any(|word| word == "mem") {
        return skip(format!("the computer does not suspend to memory: /{STATE} offers {:?}", offered.trim()));
    }
    let mut state = writable(&path, "suspend the computer")?;
    let alarm = Alarm::set(root)?;
    let before = asleep();
    let slept = state.write_all(b"mem");
    let time = asleep().saturating_sub(before);
    drop(alarm);
    match slept {
        Ok(()) => Ok(format!("slept for {:.1} s", time.as_secs_f64())),
        Err(error) => fail(format!(
            "the computer did not sleep: /{STATE}: {error}; the kernel's log names the driver that refused, or what woke it"
        )),
    }
}

/// Returns the time that the computer has been asleep since it was started.
fn asleep() -> Duration {
    let now = |clock| clock_gettime(clock).map(Duration::from).unwrap_or_default();
    now(ClockId::CLOCK_BOOTTIME).saturating_sub(now(ClockId::CLOCK_MONOTONIC))
}

/// Opens a file of sysfs to write it.
fn writable(path: &Path, what: &str) -> Result<File, Stop> {
    OpenOptions::new().write(true).open(path).or_else(|error| match error.kind() {
        io::ErrorKind::PermissionDenied => skip(format!("only root may {what}: {} may not be written", path.display())),
        io::ErrorKind::ReadOnlyFilesystem => {
            skip(format!("a container may not {what}: {} is on a read-only file system", path.display()))
        }
        _ => skip(format!("this kernel cannot {what}: {}: {error}", path.display())),
    })
}

/// A clock that wakes the computer. The alarm is taken back on drop.
#[derive(Debug)]
struct Alarm(PathBuf);

impl Alarm {
    /// Sets the alarm of the first clock that has one.
    ///
    /// Source: Linux 7.2 `drivers/rtc/sysfs.c`, `wakealarm_show` and `wakealarm_store`.
    fn set(root: &Path) -> Result<Self, Stop> {
        let clocks = (0..CLOCKS).map(|number| root.join(format!("sys/class/rtc/rtc{number}/wakealarm")));
        let Some((path, set)) = clocks
            .into_iter()
            .find_map(|path| Some((fs::read_to_string(&path).ok()?, path)))
            .map(|(set, path)| (path, set))
        else {
            return skip("no clock would wake the computer: /sys/class/rtc has none with an alarm");
        };
        if !set.trim().is_empty() {
            return skip(format!(
                "{} is set already, at {}: the alarm belongs to another program",
                path.display(),
                set.trim()
            ));
        }
        let mut file = writable(&path, "set the alarm that wakes the computer")?;
        match file.write_all(format!("+{SLEEP}\n").as_bytes()) {
            Ok(()) => Ok(Self(path)),
            Err(error) => skip(format!("the clock does not wake the computer: {}: {error}", path.display())),
        }
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        // One that has rung is none any more.
        let _ = fs::write(&self.0, "0\n");
    }
}

/// A GPU that was taken out of its slot. It is found again on drop at the latest.
#[derive(Debug)]
pub(crate) struct TakenOut {
    place: Place,
    is_back: bool,
}

/// The place of a GPU.
#[derive(Debug)]
enum Place {
    Simulated(Slot),
    Bus { root: PathBuf, pci: PciAddress, node: PathBuf },
}

impl TakenOut {
    /// Takes the GPU out of its slot, as far as the kernel can tell. `is_accepted` is `true` if the user agreed to it for a real GPU.
    ///
    /// # Errors
    ///
    /// A skip with the reason if that cannot be done here, and a failure if the kernel refuses it.
    pub(crate) fn new(target: &Target, is_accepted: bool) -> Result<Self, Stop> {
        if let Some(slot) = target.slot() {
            slot.device().unplug();
            return Ok(Self { place: Place::Simulated(slot.clone()), is_back: false });
        }
        let Some(node) = target.node() else {
            return skip("the GPU is in no slot: its kernel is recorded, replayed or of another program");
        };
        if !is_accepted {
            return skip("it takes the GPU away from all programs: needs --i-accept-an-unplug");
        }
        Self::from_bus(Path::new("/"), node)
    }

    fn from_bus(root: &Path, node: &Path) -> Result<Self, Stop> {
        let directory = host::device(root, node).and_then(|directory| fs::canonicalize(directory).ok());
        let found =
            directory.and_then(|directory| Some((PciAddress::parse(directory.file_name()?.to_str()?)?, directory)));
        let Some((pci, directory)) = found else {
            return skip(format!("sysfs has no PCI device for {}", node.display()));
        };
        // A GPU that could not be found again is not taken out.
        drop(writable(&root.join(RESCAN), "find a removed GPU again")?);
        let mut remove = writable(&directory.join("remove"), "take a GPU out")?;
        remove.write_all(b"1").context("removing the GPU")?;
        let taken = Self { place: Place::Bus { root: root.to_owned(), pci, node: node.to_owned() }, is_back: false };
        if !within(GOING, || !node.exists()) {
            return fail(format!("{} is still there {} s after its GPU was removed", node.display(), GOING.as_secs()));
        }
        Ok(taken)
    }

    /// Finds the GPU again and returns the node that it has now, if that is another one.
    pub(crate) fn put_back(&mut self) -> Result<Option<PathBuf>, Stop> {
        self.is_back = true;
        let (root, pci, before) = match &self.place {
            Place::Simulated(slot) => {
                slot.rescan();
                return Ok(None);
            }
            Place::Bus { root, pci, node } => (root, *pci, node),
        };
        fs::write(root.join(RESCAN), "1").context("rescanning the PCI buses")?;
        let node = || Node::enumerate(root).ok()?.into_iter().find(|node| node.pci == pci).map(|node| node.path);
        let mut found = None;
        let is_there = within(COMING, || {
            found = node().filter(|path| path.exists());
            found.is_some()
        });
        match found.filter(|_| is_there) {
            Some(node) => Ok((node != *before).then_some(node)),
            None => fail(format!("the GPU at {pci} has no node {} s after the rescan", COMING.as_secs())),
        }
    }
}

impl Drop for TakenOut {
    fn drop(&mut self) {
        if !self.is_back {
            // The check has failed already.
            let _ = self.put_back();
        }
    }
}

/// Waits until a condition holds. Returns `false` if it did not in time.
fn within(time: Duration, mut condition: impl FnMut() -> bool) -> bool {
    let patience = Instant::now() + time;
    while !condition() {
        if Instant::now() >= patience {
            return false;
        }
        thread::sleep(PAUSE);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Tree(PathBuf);

    impl Tree {
        fn new(name: &str, files: &[(&str, &str)]) -> Self {
            let root = std::env::temp_dir().join(format!("amdgpu-smoke-computer-{}-{name}", std::process::id()));
            for (path, text) in files {
                let path = root.join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            Self(root)
        }

        fn suspended(&self) -> Result<String, String> {
            suspend_below(&self.0).map_err(|stop| match stop {
                Stop::Skip(reason) => reason,
                Stop::Fail(failure) => panic!("{}", failure.detail),
            })
        }

        fn text(&self, path: &str) -> String {
            fs::read_to_string(self.0.join(path)).unwrap()
        }
    }

    impl Drop for Tree {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    const ALARM: &str = "sys/class/rtc/rtc1/wakealarm";

    #[test]
    fn a_computer_that_nothing_would_wake_is_not_suspended() {
        for (name, files, reason) in [
            ("none", &[][..], "cannot be suspended"),
            ("disk", &[(STATE, "freeze disk\n")], "offers \"freeze disk\""),
            ("clockless", &[(STATE, "freeze mem\n")], "no clock"),
            ("taken", &[(STATE, "mem\n"), (ALARM, "1790000000\n")], "set already, at 1790000000"),
        ] {
            let tree = Tree::new(name, files);
            let refusal = tree.suspended().unwrap_err();
            assert!(refusal.contains(reason), "{name}: {refusal}");
            if let Some((path, text)) = files.first() {
                assert_eq!(tree.text(path), *text, "{name}: not written");
            }
        }
    }

    #[test]
    fn the_alarm_is_set_before_the_computer_sleeps_and_taken_back_after_it() {
        let tree = Tree::new("well", &[(STATE, "freeze mem\n"), (ALARM, "")]);
        assert!(tree.suspended().unwrap().starts_with("slept for"));
        assert_eq!((tree.text(STATE).as_str(), tree.text(ALARM).as_str()), ("memeze mem\n", "0\n"));
    }
}
