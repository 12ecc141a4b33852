//! Kernel log messages about a GPU during a check.

use std::{
    borrow::Cow,
    fs::{File, OpenOptions},
    io::{self, ErrorKind, Read, Seek, SeekFrom},
    os::unix::fs::OpenOptionsExt,
};

use super::source::is_pci;

/// A reader of `/dev/kmsg` that starts at some point, if the process may read it.
#[derive(Debug)]
pub(crate) struct KernelLog {
    /// The open file, or the reason why there is none.
    file: Result<File, Cow<'static, str>>,
    /// The GPU's PCI address, if it is known.
    pci: Option<String>,
}

/// A kernel message that is a warning or worse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    /// `true` if it is an error or worse (`KERN_ERR`).
    pub(crate) is_error: bool,
    /// The text of the message.
    pub(crate) text: String,
}

/// Levels up to these are errors and worse (`KERN_ERR`), warnings and worse (`KERN_WARNING`).
const ERROR: u32 = 3;
const WARNING: u32 = 4;

/// The maximum number of messages that are kept for one check.
const MOST: usize = 50;

impl KernelLog {
    /// Creates a reader that reads nothing, for simulated GPUs, which write nothing to the log.
    pub(crate) const fn none() -> Self {
        Self { file: Err(Cow::Borrowed("the GPU is simulated")), pci: None }
    }

    /// Starts reading the messages about the GPU at this PCI address, or about all amdgpu GPUs.
    pub(crate) fn open(device: Option<(String, String)>) -> Self {
        let nonblocking = nix::fcntl::OFlag::O_NONBLOCK.bits();
        let opened = OpenOptions::new().read(true).custom_flags(nonblocking).open("/dev/kmsg");
        Self::over(opened, device.map(|(name, _)| name))
    }

    /// Creates a reader that starts at the end of this file.
    pub(super) fn over(file: io::Result<File>, pci: Option<String>) -> Self {
        let at_end = file.and_then(|mut file| file.seek(SeekFrom::End(0)).map(|_| file));
        Self { file: at_end.map_err(|error| Cow::Owned(format!("/dev/kmsg: {error}"))), pci }
    }

    /// Returns the reason why the log cannot be read, if so.
    pub(crate) fn trouble(&self) -> Option<&str> {
        self.file.as_ref().err().map(|reason| &**reason)
    }

    /// Returns the warnings that were logged since the last call, the first [`MOST`] of them.
    pub(crate) fn read(&mut self) -> Vec<Message> {
        let Ok(file) = &mut self.file else { return Vec::new() };
        let mut found = Vec::new();
        // One read is one record.
        let mut record = [0; 8192];
        while found.len() < MOST {
            match file.read(&mut record) {
                Ok(0) => break,
                Ok(len) => found.extend(record.get(..len).and_then(|record| warning(record, self.pci.as_deref()))),
                // Records were overwritten before they were read (Linux 6.12 `printk.c`, `devkmsg_read`), or a signal came.
                Err(error) if matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::Interrupted) => {}
                Err(_) => return found,
            }
        }
        // Messages beyond the most are left out: a GPU that logs without end must not delay the report.
        let _ = file.seek(SeekFrom::End(0));
        found
    }
}

/// Returns the text of a record `level,sequence,time,flags;text` that is a warning about amdgpu and names no other GPU.
///
/// Source: Linux `Documentation/ABI/testing/dev-kmsg`.
fn warning(record: &[u8], pci: Option<&str>) -> Option<Message> {
    let record = String::from_utf8_lossy(record);
    let (head, text) = record.split_once(';')?;
    let level: u32 = head.split(',').next()?.parse().ok()?;
    let text = text.lines().next()?;
    // The facility is above the level's three bits.
    let level = level & 7;
    let is_of_amdgpu = text.contains("amdgpu") || text.contains("[drm");
    let mut words = text.split(|letter: char| letter.is_whitespace()).map(|word| word.trim_end_matches([':', ',']));
    let is_of_another = pci.is_some_and(|own| words.any(|word| is_pci(word) && word != own));
    let is_taken = level <= WARNING && is_of_amdgpu && !is_of_another;
    is_taken.then(|| Message { is_error: level <= ERROR, text: text.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_warnings_of_amdgpu_are_taken() {
        let taken = |record: &str| warning(record.as_bytes(), None);
        let message = |is_error, text: &str| Some(Message { is_error, text: text.to_owned() });
        assert_eq!(taken("3,1,2,-;amdgpu 0000:03:00.0: ring\n SUB=pci\n"), message(true, "amdgpu 0000:03:00.0: ring"));
        assert_eq!(
            taken("4,1,2,-;[drm:amdgpu_job_timedout] *ERROR*"),
            message(false, "[drm:amdgpu_job_timedout] *ERROR*")
        );
        for other in ["6,1,2,-;amdgpu: ready", "3,1,2,-;usb 1-1: gone", "", "x", "3;", "a,b;amdgpu"] {
            assert_eq!(taken(other), None, "{other}");
        }
        assert_eq!(KernelLog::none().read(), []);
    }

    #[test]
    fn messages_of_another_gpu_are_left_out() {
        let taken = |text: &str| warning(format!("3,1,2,-;{text}").as_bytes(), Some("0000:03:00.0")).is_some();
        assert!(taken("amdgpu 0000:03:00.0: amdgpu: ring gfx timeout") && taken("[drm] *ERROR* ring timeout"));
        assert!(!taken("amdgpu 0000:0c:00.0: amdgpu: ring gfx timeout"));
    }

    #[test]
    fn a_log_that_cannot_be_read_is_reported_with_the_reason() {
        let log = KernelLog::over(Err(ErrorKind::PermissionDenied.into()), None);
        assert_eq!(log.trouble(), Some("/dev/kmsg: permission denied"));
        assert_eq!(KernelLog::none().trouble(), Some("the GPU is simulated"));
    }
}
