//! Marks that show how far a ring has come.

use crate::{
    cs::{Marker, Result, Stream, record::marker_page::MarkerPage},
    vamgr::GpuVa,
    winsys::{Binding, Device},
};

/// Two dwords in system memory that a stream writes as it goes: the mark that the ring has come to, and the mark up to
/// which everything is done. When a GPU hangs, what hangs is between the two.
///
/// One for each queue. Its [binding](Breadcrumbs::binding) is part of each submission that writes marks.
#[derive(Debug)]
pub struct Breadcrumbs {
    page: MarkerPage,
}

/// Progress of a ring, by its marks; 0 before the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// The last mark that the ring has come to.
    pub begun: u32,
    /// The last mark before which everything is done.
    pub done: u32,
}

/// Indices of the dwords, in lines of their own.
const BEGUN: usize = 0;
const DONE: usize = 16;

impl Breadcrumbs {
    /// Without a mark yet.
    ///
    /// # Errors
    ///
    /// [`Error::Address`](crate::cs::Error::Address) or [`Error::Winsys`](crate::cs::Error::Winsys) when there is no memory.
    pub fn new(device: &Device) -> Result<Self> {
        Ok(Self { page: MarkerPage::new(device)? })
    }

    /// Returns the binding that submissions must list if their streams write marks.
    pub fn binding(&self) -> &Binding {
        self.page.binding()
    }

    /// Marks that the ring has come here. `mark` is the caller's to choose, such as the number of a draw, and not 0.
    ///
    /// # Errors
    ///
    /// Those of [`Stream::push`].
    pub fn begin<L: Marker>(&self, stream: &mut Stream<L>, mark: u32) -> Result<()> {
        L::note(stream, self.page.at(BEGUN), mark)
    }

    /// Marks that all that was recorded so far is done. Costs a wait at the end of the pipe.
    ///
    /// # Errors
    ///
    /// Those of [`Stream::push`].
    pub fn end<L: Marker>(&self, stream: &mut Stream<L>, mark: u32) -> Result<()> {
        L::store(stream, self.page.at(DONE), mark)
    }

    /// Returns the ring's progress.
    pub fn progress(&self) -> Progress {
        Progress { begun: self.page.load(BEGUN), done: self.page.load(DONE) }
    }

    /// Returns the address of the mark up to which everything is done, and that mark.
    pub(super) fn done_mark(&self) -> (GpuVa, u32) {
        (self.page.at(DONE), self.page.load(DONE))
    }

    /// Returns the address of the last mark, and the mark that is there now.
    pub(super) fn last_mark(&self) -> (GpuVa, u32) {
        let Progress { begun, done } = self.progress();
        if begun == 0 { (self.page.at(DONE), done) } else { (self.page.at(BEGUN), begun) }
    }
}
