//! This computer.

use std::{io, path::Path};

use amdgpu_winsys::winsys::{Kernel, RenderNode};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};

use super::{Machine, Moment};
use crate::files::{Disk, Files};

/// This computer, with its `/proc`, `/sys` and `/dev/dri`.
#[derive(Debug)]
pub struct Live {
    files: Disk,
}

impl Default for Live {
    fn default() -> Self {
        Self { files: Disk::new(Path::new("/")) }
    }
}

impl Machine for Live {
    fn kind(&self) -> &'static str {
        "live"
    }

    fn files(&self) -> &dyn Files {
        &self.files
    }

    fn open(&self, node: &str, _pci: &str) -> io::Result<Box<dyn Kernel>> {
        let opened = RenderNode::open(&Path::new("/dev/dri").join(node)).map_err(io::Error::from)?;
        Ok(Box::new(opened))
    }

    fn file_of(&self, pid: u32, fd: u32, _pci: &str) -> io::Result<Box<dyn Kernel>> {
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or(io::ErrorKind::InvalidInput)?;
        let fd = i32::try_from(fd).map_err(|_| io::ErrorKind::InvalidInput)?;
        let process = pidfd_open(pid, PidfdFlags::empty())?;
        Ok(Box::new(RenderNode::from_fd(pidfd_getfd(process, fd, PidfdGetfdFlags::empty())?)))
    }

    fn now(&self) -> Moment {
        Moment::now()
    }

    fn has_real_time(&self) -> bool {
        true
    }
}
