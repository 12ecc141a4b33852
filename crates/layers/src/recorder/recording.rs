//! A recording in the making.

use std::{fs::File, io::Write, path::Path};

use amdgpu_uapi::Kernel;

use super::{
    journal::{Journal, SharedJournal},
    kernel::Recorder,
};
use crate::{
    client::memory,
    format::{FileError, Record},
};

/// A recording of one GPU: the files that are opened of it, and what their clients do.
///
/// Clones are the same recording. It is complete once [`Recording::finish`] was called, or the last clone and the last
/// [`Recorder`] are gone.
#[derive(Clone, Debug)]
pub struct Recording {
    journal: SharedJournal,
}

impl Recording {
    /// Begins a recording in a new file, replacing what is there.
    ///
    /// # Errors
    ///
    /// [`FileError::Io`], also where this process may not use `process_vm_readv` on itself.
    pub fn create(path: &Path) -> Result<Self, FileError> {
        Self::new(File::create(path).map_err(|error| FileError::Io { offset: 0, error })?)
    }

    /// Begins a recording in anything.
    ///
    /// # Errors
    ///
    /// [`FileError::Io`].
    pub fn new(out: impl Write + Send + 'static) -> Result<Self, FileError> {
        memory::can_peek().map_err(|error| FileError::Io { offset: 0, error })?;
        let journal = Journal::begin(Box::new(out)).map_err(|error| FileError::Io { offset: 0, error })?;
        Ok(Self { journal })
    }

    /// Says something about the whole run, which a replay can [ask for](crate::Replay::note).
    pub fn note(&self, key: &str, value: &str) {
        self.journal.lock().write(&Record::Note { key: key.to_owned(), value: value.to_owned() });
    }

    /// Records the calls of one more open file. All files of a recording must be of the same GPU.
    pub fn wrap<K: Kernel>(&self, kernel: K) -> Recorder<K> {
        Recorder::new(SharedJournal::clone(&self.journal), kernel)
    }

    /// Ends the recording, and returns the number of records. What happens afterwards is not written any more.
    ///
    /// # Errors
    ///
    /// [`FileError::Io`] with the first error that writing met; the file ends there.
    pub fn finish(&self) -> Result<u64, FileError> {
        self.journal.lock().finish()
    }
}
