//! Report outputs, and the write errors that occurred.

use std::{
    fs::File,
    io::{self, BufWriter, ErrorKind, Write},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use amdgpu_output::{Visible, files};

/// The write errors of all outputs of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Troubles(Arc<Mutex<Vec<String>>>);

impl Troubles {
    /// Records a write error. A closed pipe is not an error.
    pub(crate) fn note(&self, name: &str, error: &io::Error) {
        if error.kind() != ErrorKind::BrokenPipe {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(format!("{name}: {error}"));
        }
    }

    /// Returns the errors recorded so far.
    pub(crate) fn all(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// An output for text. After the first error, text is discarded and the run continues.
pub(crate) struct Sink {
    out: Option<Box<dyn Write + Send>>,
    name: String,
    troubles: Troubles,
    /// The path of the file, if it is a regular file that can be replaced.
    file: Option<PathBuf>,
}

/// The name that stands for standard output.
pub(crate) const STDOUT: &str = "-";

/// The error of an output file that cannot be created.
#[derive(Debug, thiserror::Error)]
#[error("{}: {source}", path.display())]
pub(crate) struct CannotCreate {
    path: PathBuf,
    source: io::Error,
}

impl Sink {
    pub(crate) fn new(out: impl Write + Send + 'static, name: &str, troubles: &Troubles) -> Self {
        Self { out: Some(Box::new(out)), name: name.to_owned(), troubles: troubles.clone(), file: None }
    }

    pub(crate) fn stdout(troubles: &Troubles) -> Self {
        Self::new(Visible::new(io::stdout()), "standard output", troubles)
    }

    /// Creates a file immediately, so that an invalid path fails before any check runs. `-` is standard output.
    pub(crate) fn create(path: &Path, troubles: &Troubles) -> Result<Self, CannotCreate> {
        if path.as_os_str() == STDOUT {
            return Ok(Self::stdout(troubles));
        }
        let file = files::create(path).map_err(|source| CannotCreate { path: path.to_owned(), source })?;
        // Another path than the one given: a symbolic link stays one.
        let regular = file.metadata().is_ok_and(|metadata| metadata.is_file());
        let file_path = path.canonicalize().ok().filter(|_| regular);
        Ok(Self { file: file_path, ..Self::new(BufWriter::new(file), &path.display().to_string(), troubles) })
    }

    /// Creates a file like [`Sink::create`], whose writes return only when the data is on the disk, so that it survives a machine
    /// that freezes.
    pub(crate) fn create_synced(path: &Path, troubles: &Troubles) -> Result<Self, CannotCreate> {
        if path.as_os_str() == STDOUT {
            return Ok(Self::stdout(troubles));
        }
        let file = files::create(path).map_err(|source| CannotCreate { path: path.to_owned(), source })?;
        Ok(Self::new(BufWriter::new(Synced(file)), &path.display().to_string(), troubles))
    }

    /// Writes text and flushes it.
    pub(crate) fn write(&mut self, text: &str) {
        let Some(out) = &mut self.out else { return };
        if let Err(error) = out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            self.troubles.note(&self.name, &error);
            self.out = None;
        }
    }

    /// Replaces the whole file atomically. Does nothing if the output is not a file that can be replaced.
    pub(crate) fn replace(&mut self, text: &str) {
        let Some(path) = self.file.clone().filter(|_| self.out.is_some()) else { return };
        // A folder may take no new files and the file be writable. A full disk would cut the file: what it has is whole.
        let refused = [ErrorKind::PermissionDenied, ErrorKind::ReadOnlyFilesystem];
        let replaced = files::replace(&path, text)
            .or_else(|error| if refused.contains(&error.kind()) { files::write(&path, text) } else { Err(error) });
        if let Err(error) = replaced {
            self.troubles.note(&self.name, &error);
            self.out = None;
        }
    }

    /// Writes a complete document: replaces the file, or writes to an output that is not a file.
    pub(crate) fn write_whole(&mut self, text: &str) {
        if self.file.is_some() { self.replace(text) } else { self.write(text) }
    }

    /// Returns `true` if the output is a file that can be replaced.
    pub(crate) const fn is_file(&self) -> bool {
        self.file.is_some()
    }

    /// Writes a line.
    pub(crate) fn line(&mut self, line: &str) {
        self.write(&format!("{}\n", line.trim_end()));
    }
}

/// A file whose flush waits until the data is on the disk.
struct Synced(File);

impl Write for Synced {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.0.sync_data() {
            // Pipes and character devices have nothing to sync (fsync(2): EINVAL).
            Err(error) if error.kind() == ErrorKind::InvalidInput => Ok(()),
            synced => synced,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_full_disk_is_noted_once_and_a_reader_who_left_never() {
        let troubles = Troubles::default();
        let mut full = Sink::create(Path::new("/dev/full"), &troubles).unwrap();
        full.line("one");
        full.line("two");
        assert_eq!(troubles.all().len(), 1, "{troubles:?}");
        assert!(troubles.all()[0].starts_with("/dev/full: No space left on device"), "{troubles:?}");
        troubles.note("a pipe", &ErrorKind::BrokenPipe.into());
        assert_eq!(troubles.all().len(), 1);
    }

    #[test]
    fn a_document_takes_the_place_of_the_one_before_and_leaves_nothing_beside_it() {
        let folder = std::env::temp_dir().join(format!("amdgpu-smoke-sink-{}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("real"), "old").unwrap();
        std::os::unix::fs::symlink("real", folder.join("link")).unwrap();
        let troubles = Troubles::default();
        let mut sink = Sink::create(&folder.join("link"), &troubles).unwrap();
        sink.replace("the first, which is longer");
        sink.write_whole("the last");
        assert_eq!(fs::read_to_string(folder.join("real")).unwrap(), "the last");
        assert!(folder.join("link").is_symlink());
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
        fs::remove_dir_all(&folder).unwrap();
        sink.write_whole("nowhere");
        sink.write_whole("nowhere again");
        assert_eq!(troubles.all().len(), 1, "{troubles:?}");
    }

    #[test]
    fn a_path_that_cannot_be_made_says_which() {
        let error = Sink::create(Path::new("/nonexistent/report"), &Troubles::default()).err().unwrap();
        assert!(error.to_string().starts_with("/nonexistent/report: No such file"), "{error}");
    }
}
