//! The buffers of a process: what each of its open files of a GPU holds.
//!
//! The kernel lists the buffers of an open file to whoever has a descriptor of it, from Linux 6.18 on (`GEM_LIST_HANDLES`; `GEM_OP`
//! with `GET_MAPPING_INFO` for the addresses). A process of the same user lends its descriptors (`pidfd_getfd`, Linux 5.6), where it may
//! be traced. Nothing is changed, and no work of the process is disturbed.

mod buffer;
mod request;

use std::{collections::BTreeSet, io};

use amdgpu_winsys::winsys::Errno;
use serde::Serialize;

pub use self::buffer::{Buffer, Range};

use crate::{fdinfo::FdInfo, machine::Machine};

/// The name and version of the JSON.
pub const SCHEMA: &str = "amdgpu-budget-buffers/1";

/// An open file of a GPU with its buffers, the largest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OpenGpu {
    /// The GPU's PCI address.
    pub pci: String,
    /// The number of the descriptor.
    pub fd: u32,
    /// The number of the client in fdinfo.
    pub client: Option<u64>,
    /// The buffers.
    pub buffers: Vec<Buffer>,
}

/// The reason why the buffers of a process are not known.
#[derive(Debug, thiserror::Error)]
pub enum BuffersError {
    /// There is no such process.
    #[error("there is no process {0}")]
    NoProcess(u32),
    /// The descriptors of the process may not be seen.
    #[error("the descriptors of process {0} may not be read: only its own user may, and root")]
    Hidden(u32),
    /// The process has no GPU open.
    #[error("process {0} has no open file of an amdgpu GPU")]
    NoFile(u32),
    /// The process does not lend its descriptors.
    #[error(
        "process {pid} does not lend its descriptors ({error}): the kernel lets the same user have them if the process may be traced \
         (kernel.yama.ptrace_scope=0, or CAP_SYS_PTRACE), from Linux 5.6 on"
    )]
    NotLent {
        /// The process.
        pid: u32,
        /// The error of `pidfd_open` or `pidfd_getfd`.
        error: io::Error,
    },
    /// The kernel is older than the request.
    #[error("this kernel does not list the buffers of a file: Linux 6.18 and later do (AMDGPU_GEM_LIST_HANDLES)")]
    NotListed,
    /// The kernel refuses the request.
    #[error("the kernel refuses the list of the buffers of descriptor {fd}: {errno}")]
    Refused {
        /// The descriptor.
        fd: u32,
        /// The error.
        errno: Errno,
    },
}

/// Returns the open GPUs of a process with their buffers. A file that has several descriptors is listed once.
///
/// # Errors
///
/// [`BuffersError`].
pub fn of_process(machine: &dyn Machine, pid: u32) -> Result<Vec<OpenGpu>, BuffersError> {
    let files = machine.files();
    let directory = format!("proc/{pid}/fd");
    let names = files.list(&directory).map_err(|error| match error.kind() {
        io::ErrorKind::PermissionDenied => BuffersError::Hidden(pid),
        _ => BuffersError::NoProcess(pid),
    })?;
    let mut numbers: Vec<u32> = names.iter().filter_map(|name| name.parse().ok()).collect();
    numbers.sort_unstable();
    let (mut known, mut open) = (BTreeSet::new(), Vec::new());
    for fd in numbers {
        let Ok(text) = files.read(&format!("proc/{pid}/fdinfo/{fd}")) else { continue };
        let info = FdInfo::parse(&text);
        let (true, Some(pci)) = (info.is_amdgpu(), info.pci.clone()) else { continue };
        let client = info.client_key();
        if client.is_some() && !known.insert((pci.clone(), client)) {
            continue;
        }
        let kernel = match machine.file_of(pid, fd, &pci) {
            Ok(kernel) => kernel,
            // The process has closed it since.
            Err(error) if error.raw_os_error() == Some(Errno::EBADF.raw()) => continue,
            Err(error) => return Err(BuffersError::NotLent { pid, error }),
        };
        let mut buffers = request::list(&*kernel).map_err(|errno| match errno {
            Errno::EINVAL | Errno::ENOTTY => BuffersError::NotListed,
            errno => BuffersError::Refused { fd, errno },
        })?;
        buffers.sort_by_key(|buffer| (std::cmp::Reverse(buffer.size), buffer.handle));
        open.push(OpenGpu { pci, fd, client, buffers });
    }
    if open.is_empty() { Err(BuffersError::NoFile(pid)) } else { Ok(open) }
}
