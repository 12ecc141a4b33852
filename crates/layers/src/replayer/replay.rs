//! Replays of recordings.

use std::{io::Read, path::Path, sync::Arc, time::Duration};

use amdgpu_uapi::Errno;

use super::{ReplayError, kernel::Replayer, turns::Playback};
use crate::{
    client::memory,
    format::{Action, FileError, describe},
};

/// A recording that is served in place of the kernel.
///
/// Clones refer to the same replay. Each call of [`Replay::open_file`] opens the next recorded file.
#[derive(Clone, Debug)]
pub struct Replay {
    shared: Arc<Playback>,
}

impl Replay {
    /// Opens a recording and reads to its first call.
    ///
    /// # Errors
    ///
    /// [`ReplayError::File`] if the recording cannot be read, or if this process may not use `process_vm_readv` on itself.
    pub fn open(path: &Path) -> Result<Self, ReplayError> {
        let file = std::fs::File::open(path).map_err(|error| FileError::Io { offset: 0, error })?;
        Self::new(std::io::BufReader::new(file))
    }

    /// Creates a replay of any input, and reads to its first call.
    ///
    /// # Errors
    ///
    /// [`ReplayError::File`] if the recording cannot be read, or if this process may not use `process_vm_readv` on itself.
    pub fn new(input: impl Read + Send + 'static) -> Result<Self, ReplayError> {
        memory::can_peek().map_err(|error| FileError::Io { offset: 0, error })?;
        Ok(Self { shared: Arc::new(Playback::begin(Box::new(input))?) })
    }

    /// Returns the note with this key that was recorded before the first call.
    pub fn note(&self, key: &str) -> Option<&str> {
        self.shared.notes.get(key).map(String::as_str)
    }

    /// Sets the time that a thread waits for another thread's call that comes before its own. The default is ten seconds.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        self.shared.lock().patience = patience;
        self
    }

    /// Opens the next recorded file.
    ///
    /// # Errors
    ///
    /// ENODEV if no file was opened at this point of the recording, or if the replay has stopped.
    pub fn open_file(&self) -> Result<Replayer, Errno> {
        let file = self.shared.lock().files;
        let (mut state, _) = self.shared.turn(file, Action::Open)?;
        state.files = state.files.saturating_add(1);
        state.advance();
        drop(state);
        Ok(Replayer::new(Arc::clone(&self.shared), file))
    }

    /// Returns the reason why the replay stopped, if it did.
    pub fn error(&self) -> Option<Arc<ReplayError>> {
        self.shared.lock().error.clone()
    }

    /// Checks that all recorded calls were replayed.
    ///
    /// # Errors
    ///
    /// The error that stopped the replay, or [`ReplayError::Unplayed`] if recorded calls remain.
    pub fn finish(&self) -> Result<(), Arc<ReplayError>> {
        let state = self.shared.lock();
        match (&state.error, &state.head) {
            (Some(error), _) => Err(Arc::clone(error)),
            (None, Some(head)) => {
                Err(Arc::new(ReplayError::Unplayed { call: state.call, recorded: describe::call(head) }))
            }
            (None, None) => Ok(()),
        }
    }
}
