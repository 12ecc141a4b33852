//! The computers whose GPUs can be looked at.

use std::{
    io,
    path::{Path, PathBuf},
};

use crate::{
    files::{Disk, Files},
    info::{RenderNode, Session},
};

/// A computer: its files and its GPUs.
pub trait Machine {
    /// Returns the machine's `/proc` and `/sys`.
    fn files(&self) -> &dyn Files;

    /// Opens a render node, such as `renderD128` of the GPU at `0000:03:00.0`. This may wake the GPU.
    ///
    /// # Errors
    ///
    /// The errors of `open`.
    fn open(&self, node: &str, pci: &str) -> io::Result<Box<dyn Session + '_>>;

    /// Returns the process whose usage is the caller's own; `None` if it is not on this machine.
    fn own_process(&self) -> Option<u32> {
        None
    }
}

/// This computer, or a tree that holds the `/sys` and `/proc` of another one.
#[derive(Clone, Debug)]
pub struct Root {
    root: PathBuf,
    files: Disk,
}

impl Root {
    /// Returns this computer.
    pub fn live() -> Self {
        Self::at(Path::new("/"))
    }

    /// Returns the computer whose `/sys`, `/proc` and `/dev` are below `root`.
    pub fn at(root: &Path) -> Self {
        Self { root: root.to_owned(), files: Disk::new(root) }
    }
}

impl Machine for Root {
    fn files(&self) -> &dyn Files {
        &self.files
    }

    fn open(&self, node: &str, _pci: &str) -> io::Result<Box<dyn Session + '_>> {
        Ok(Box::new(RenderNode::open(&self.root.join("dev/dri").join(node))?))
    }

    fn own_process(&self) -> Option<u32> {
        (self.root == Path::new("/")).then(std::process::id)
    }
}
