//! Recordings that are being written.

use std::{io::Write, path::Path};

use amdgpu_uapi::Kernel;

use super::{
    journal::{Journal, SharedJournal},
    kernel::Recorder,
};
use crate::{
    client::memory,
    format::{FileError, Record},
};

/// A recording of one GPU: the files that are opened on it, and the calls of their clients.
///
/// Clones refer to the same recording. It is complete after [`Recording::finish`], or when the last clone and the last [`Recorder`]
/// have been dropped.
#[derive(Clone, Debug)]
pub struct Recording {
    journal: SharedJournal,
}

impl Recording {
    /// Starts a recording in a file. An existing file is replaced.
    ///
    /// # Errors
    ///
    /// [`FileError::Io`] if the file cannot be created or written, or if this process may not use `process_vm_readv` on itself.
    pub fn create(path: &Path) -> Result<Self, FileError> {
        Self::new(amdgpu_output::files::create(path).map_err(|error| FileError::Io { offset: 0, error })?)
    }

    /// Starts a recording to any output.
    ///
    /// # Errors
    ///
    /// [`FileError::Io`] if the output cannot be written, or if this process may not use `process_vm_readv` on itself.
    pub fn new(out: impl Write + Send + 'static) -> Result<Self, FileError> {
        memory::can_peek().map_err(|error| FileError::Io { offset: 0, error })?;
        let journal = Journal::begin(Box::new(out)).map_err(|error| FileError::Io { offset: 0, error })?;
        Ok(Self { journal })
    }

    /// Records a named fact about the whole recording, which [`Replay::note`](crate::Replay::note) returns if it comes before the
    /// first call.
    pub fn note(&self, key: &str, value: &str) {
        self.journal.lock().write(&Record::Note { key: key.to_owned(), value: value.to_owned() });
    }

    /// Wraps a kernel, so that all its calls are recorded. All files of a recording must be opened on the same GPU.
    pub fn wrap<K: Kernel>(&self, kernel: K) -> Recorder<K> {
        Recorder::new(SharedJournal::clone(&self.journal), kernel)
    }

    /// Ends the recording, and returns the number of records. Later calls are not recorded.
    ///
    /// # Errors
    ///
    /// [`FileError::Io`] with the first error of writing; the file ends there.
    pub fn finish(&self) -> Result<u64, FileError> {
        self.journal.lock().finish()
    }
}
