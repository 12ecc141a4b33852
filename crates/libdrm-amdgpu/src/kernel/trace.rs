//! The trace of requests, which `AMDGPU_WINSYS_TRACE` turns on.

use std::{
    fmt::Write as _,
    fs::{File, OpenOptions},
    io::{Write as _, stderr},
};

use amdgpu_winsys::winsys::Errno;

use crate::{border::complain, environment};

/// The place where the requests of a device are written: standard error, or a file.
pub(crate) struct Trace {
    file: Option<File>,
}

impl Trace {
    /// Opens the trace that the variable asks for: standard error for `1`, otherwise a file of that name, to which it appends.
    pub(crate) fn from_environment() -> Option<Self> {
        let place = environment::variable("AMDGPU_WINSYS_TRACE").filter(|place| !place.is_empty() && place != "0")?;
        if place == "1" {
            return Some(Self { file: None });
        }
        match OpenOptions::new().append(true).create(true).open(&place) {
            Ok(file) => Some(Self { file: Some(file) }),
            Err(error) => {
                complain(format_args!("amdgpu-winsys: AMDGPU_WINSYS_TRACE: {}: {error}", place.display()));
                None
            }
        }
    }

    /// Writes a line for a request: its name, the result, and the bytes of the argument after it.
    pub(super) fn request(&self, name: &str, argument: &[u8], outcome: Result<(), Errno>) {
        let mut line = format!("amdgpu-winsys: {name} ");
        let _ = match outcome {
            Ok(()) => line.write_str("ok"),
            Err(errno) => write!(line, "{errno:?}"),
        };
        for (index, byte) in argument.iter().enumerate() {
            let gap = if index % 4 == 0 { " " } else { "" };
            let _ = write!(line, "{gap}{byte:02x}");
        }
        line.push('\n');
        // One call for each line, so that lines of several threads and processes do not mix. A full disk stops nothing.
        let _ = match &self.file {
            Some(file) => (&*file).write_all(line.as_bytes()),
            None => stderr().write_all(line.as_bytes()),
        };
    }
}
