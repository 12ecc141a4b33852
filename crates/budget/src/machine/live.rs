//! This computer.

use std::{io, path::Path};

use amdgpu_winsys::winsys::{Kernel, RenderNode};

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

    fn now(&self) -> Moment {
        Moment::now()
    }

    fn has_real_time(&self) -> bool {
        true
    }
}
