//! Kernel log messages about amdgpu during a check.

use std::{
    fs::{File, OpenOptions},
    io::{ErrorKind, Read, Seek, SeekFrom},
    os::unix::fs::OpenOptionsExt,
};

/// `/dev/kmsg` from some point on, where it may be read.
#[derive(Debug)]
pub(crate) struct KernelLog(Option<File>);

/// Levels up to this are warnings and worse (`KERN_WARNING`).
const WARNING: u32 = 4;

/// Lines kept for one check.
const MOST: usize = 50;

impl KernelLog {
    /// From now on. Nothing of a simulated GPU is in there.
    pub(crate) fn open(simulated: bool) -> Self {
        if simulated {
            return Self(None);
        }
        let nonblocking = nix::fcntl::OFlag::O_NONBLOCK.bits();
        Self(OpenOptions::new().read(true).custom_flags(nonblocking).open("/dev/kmsg").ok())
    }

    /// Forgets what was said so far.
    pub(crate) fn skip(&mut self) {
        if let Some(file) = &mut self.0
            && file.seek(SeekFrom::End(0)).is_err()
        {
            self.0 = None;
        }
    }

    /// Returns the warnings about amdgpu that were logged since the last call.
    pub(crate) fn read(&mut self) -> Vec<String> {
        let Some(file) = &mut self.0 else { return Vec::new() };
        let mut found = Vec::new();
        // One read is one record.
        let mut record = [0; 8192];
        loop {
            match file.read(&mut record) {
                Ok(0) => break,
                Ok(len) => found.extend(record.get(..len).and_then(warning)),
                // Records were overwritten before they were read.
                Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
                Err(_) => break,
            }
        }
        found.truncate(MOST);
        found
    }
}

/// The text of a record `level,sequence,time,flags;text` that warns of amdgpu.
///
/// Source: Linux `Documentation/ABI/testing/dev-kmsg`.
fn warning(record: &[u8]) -> Option<String> {
    let record = String::from_utf8_lossy(record);
    let (head, text) = record.split_once(';')?;
    let level: u32 = head.split(',').next()?.parse().ok()?;
    let text = text.lines().next()?;
    // The facility is above the level's three bits.
    let is_warning = level & 7 <= WARNING;
    (is_warning && (text.contains("amdgpu") || text.contains("[drm"))).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_warnings_of_amdgpu_are_taken() {
        let taken = |record: &str| warning(record.as_bytes());
        assert_eq!(
            taken("3,1,2,-;amdgpu 0000:03:00.0: ring\n SUB=pci\n"),
            Some("amdgpu 0000:03:00.0: ring".to_owned())
        );
        assert_eq!(
            taken("4,1,2,-;[drm:amdgpu_job_timedout] *ERROR*"),
            Some("[drm:amdgpu_job_timedout] *ERROR*".to_owned())
        );
        for other in ["6,1,2,-;amdgpu: ready", "3,1,2,-;usb 1-1: gone", "", "x", "3;", "a,b;amdgpu"] {
            assert_eq!(taken(other), None, "{other}");
        }
        assert_eq!(KernelLog::open(true).read(), Vec::<String>::new());
    }
}
