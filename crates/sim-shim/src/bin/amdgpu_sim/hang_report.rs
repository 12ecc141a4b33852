//! Traces of a hang: a summary for people, and the files that a real kernel and its user have, for `amdgpu-ib why`.
//!
//! The folder has `dmesg.txt`, the kernel's messages; `devcoredump-N` for each hang, which the kernel has for some minutes; and
//! `simulator.txt`, what only the simulator knows: the packet, and the file with the captured IB. The kernel's messages name the
//! process of a job; the simulator does not know it, and leaves the line out.

use std::{
    fmt::Write as _,
    fs, io,
    path::Path,
    time::{Duration, Instant},
};

use amdgpu_output::files;
use amdgpu_sim::{HangEnd, HangRecord, SimDevice, sysfs::coredump_with_ibs};

/// The seconds after boot at which the world began, for times in the log.
const BEGAN: f64 = 100.0;

/// Returns how many jobs hung and where, in one line; `None` if none did.
pub(crate) fn summary(devices: &[SimDevice]) -> Option<String> {
    let hangs: Vec<_> = devices.iter().flat_map(SimDevice::hangs).collect();
    let first = hangs.first()?;
    let jobs = if hangs.len() == 1 { "1 job hung".to_owned() } else { format!("{} jobs hung", hangs.len()) };
    let end = match first.end {
        HangEnd::Pending | HangEnd::Lost => "it was not waited for until the kernel recovered the ring",
        HangEnd::Soft => "its waves were killed",
        HangEnd::Ring => "the ring was reset",
        HangEnd::Full => "the GPU was reset",
    };
    let first_is = if hangs.len() == 1 { "" } else { "the first " };
    Some(format!("{jobs}: {first_is}on ring {}, {}; {end}", first.ring, first.why.lines().next().unwrap_or_default()))
}

/// Writes the files: the kernel has a release and perhaps the parameter `lockup_timeout`. A folder without hangs has an empty log.
pub(crate) fn write(
    folder: &Path,
    devices: &[SimDevice],
    (kernel, lockup_timeout): (&str, Option<&str>),
) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let hangs: Vec<_> =
        devices.iter().flat_map(|device| device.hangs().into_iter().map(move |hang| (device, hang))).collect();
    let begin = hangs.iter().map(|(_, hang)| hang.started).min();
    let mut log = format!("[    0.000000] Linux version {kernel}.0 (amdgpu-sim)\n");
    if let Some(text) = lockup_timeout {
        let _ = writeln!(log, "[    0.000000] Command line: amdgpu.lockup_timeout={text}");
    }
    let mut said = String::new();
    for device in devices {
        // The instruction at which a wave hangs.
        for complaint in device.complaints().iter().filter(|complaint| complaint.contains(" hangs at 0x")) {
            let _ = writeln!(said, "{}: {}", device.profile().name, complaint.lines().next().unwrap_or_default());
        }
    }
    for (index, (device, hang)) in hangs.iter().enumerate() {
        log += &messages(&device.place().pci().to_string(), hang, begin);
        let profile = device.profile();
        let time = Duration::from_secs_f64(seconds(begin, hang.started));
        files::write(&folder.join(format!("devcoredump-{index}")), coredump_with_ibs(device, hang, time))?;
        let saved = hang.saved.as_ref().map(|name| format!(" (saved as {name})")).unwrap_or_default();
        let _ = writeln!(
            said,
            "{}: ring {} hangs: {}{saved}",
            profile.name,
            hang.ring,
            hang.why.lines().next().unwrap_or_default()
        );
    }
    files::write(&folder.join("dmesg.txt"), log)?;
    files::write(&folder.join("simulator.txt"), said)
}

/// Returns the time of an event in seconds after boot.
fn seconds(begin: Option<Instant>, at: Instant) -> f64 {
    BEGAN + begin.map_or(Duration::ZERO, |begin| at.saturating_duration_since(begin)).as_secs_f64()
}

/// Returns the kernel's messages about a hang.
fn messages(bus: &str, hang: &HangRecord, begin: Option<Instant>) -> String {
    let mut log = String::new();
    let start = seconds(begin, hang.started);
    let mut say = |time: f64, text: String| {
        let _ = writeln!(log, "[{time:12.6}] amdgpu {bus}: {text}");
    };
    if hang.fault.status != 0 {
        let status = hang.fault.status;
        say(start, format!("[gfxhub] page fault (src_id:0 ring:0 vmid:{} pasid:32770)", status >> 20 & 0xf));
        say(start, format!("  in page starting at address {:#018x} from client 0x1b (UTCL2)", hang.fault.addr));
        say(start, format!("GCVM_L2_PROTECTION_FAULT_STATUS:{status:#010X}").replace("0X", "0x"));
    }
    // Nothing is written before the time of the job is over.
    let Some(recovered) = hang.recovered.filter(|_| !matches!(hang.end, HangEnd::Pending | HangEnd::Lost)) else {
        return log;
    };
    let end = seconds(begin, recovered);
    let (signaled, emitted) = hang.jobs;
    let ring = &hang.ring;
    if hang.end == HangEnd::Soft {
        say(end, format!("ring {ring} timeout, but soft recovered"));
        return log;
    }
    say(end, "Dumping IP State".to_owned());
    say(end, "Dumping IP State Completed".to_owned());
    say(end, format!("ring {ring} timeout, signaled seq={signaled}, emitted seq={emitted}"));
    if hang.end == HangEnd::Ring {
        say(end, format!("Starting {ring} ring reset"));
        say(end, format!("Ring {ring} reset succeeded"));
    } else {
        say(end, "GPU reset begin!. Source:  1".to_owned());
        say(end, "MODE2 reset".to_owned());
        say(end, "GPU reset succeeded, trying to resume".to_owned());
        say(end, "GPU reset(1) succeeded!".to_owned());
    }
    say(end, "[drm] device wedged, but recovered through reset".to_owned());
    log
}
