//! All kinds of input files, distinguished by their content.

mod colour;
mod content;
mod contents;
mod coredump;
mod error;
mod file_name;
mod ib;
mod kept;
mod live_ring;
mod mesa;
mod pasted;
mod umr;

use std::{
    fs::File,
    io::{self, BufReader, Cursor, Read},
    path::Path,
};

use amdgpu_winsys::vamgr::GpuVa;

pub(crate) use colour::without_colour;
pub(crate) use content::from_bytes;
pub use contents::Contents;
pub use coredump::{Coredump, DumpedRing, EngineRegister, Fault, MissingIb, Soc, TimedOut};
pub(crate) use coredump::{TITLE as COREDUMP_TITLE, read as read_coredump};
pub use error::InputError;
pub(crate) use file_name::name;
pub use ib::{Engine, FileIb};
pub use kept::Kept;
pub(crate) use kept::number;

/// The maximum size in bytes of a file that is not a recording: sixteen of the longest IBs.
const MOST_BYTES: u64 = 64 << 20;
/// The first bytes of a recording. Source: `amdgpu_layers::format`.
const RECORDING: &[u8] = b"AMDGPUrr";
/// The first bytes of files of other kinds.
const FOREIGN: &[(&[u8], &str)] = &[
    (b"\x7fELF", "an ELF file"),
    (b"\x1f\x8b\x08", "a file compressed with gzip, which zcat unpacks"),
    (b"\x28\xb5\x2f\xfd", "a file compressed with zstd, which zstdcat unpacks"),
    (b"\xfd7zXZ\0", "a file compressed with xz, which xzcat unpacks"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"\x89PNG\r\n", "a picture"),
];

/// The content of an input file.
pub enum Input {
    /// A recording, read from its first byte.
    Recording(Box<dyn Read>),
    /// One or more IBs, or a devcoredump.
    Ibs(Contents),
}

impl std::fmt::Debug for Input {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Recording(_) => f.write_str("Recording"),
            Self::Ibs(contents) => f.debug_tuple("Ibs").field(contents).finish(),
        }
    }
}

impl Input {
    /// Opens a file, or standard input for `-`. If the content does not contain the generation, the properties in the file's name
    /// are used, which the simulator's files have.
    ///
    /// # Errors
    ///
    /// [`InputError`] if the file cannot be read or contains no IB.
    pub fn open(path: &Path) -> Result<Self, InputError> {
        let name = name(path);
        if path == Path::new("-") {
            return Self::read(io::stdin(), &name);
        }
        let file = File::open(path).map_err(|error| InputError::Io { name: name.clone(), error })?;
        if file.metadata().is_ok_and(|about| about.is_dir()) {
            return Err(InputError::Directory { name });
        }
        if let Some(ring) = live_ring::ring(path) {
            let mut bytes = Vec::new();
            let read = file.take(MOST_BYTES).read_to_end(&mut bytes);
            read.map_err(|error| InputError::Io { name: name.clone(), error })?;
            return live_ring::read(ring, &bytes, &name).map(Self::Ibs);
        }
        let mut input = Self::read(file, &name)?;
        if let (Self::Ibs(contents), Some(facts)) = (&mut input, Kept::name(path))
            && let [only] = contents.ibs.as_mut_slice()
        {
            *only = FileIb { dwords: std::mem::take(&mut only.dwords), ..facts };
        }
        Ok(input)
    }

    /// Opens a file, or standard input for `-`, as a recording without checking its first bytes.
    ///
    /// # Errors
    ///
    /// [`InputError::Io`] if the file cannot be opened.
    pub fn recording(path: &Path) -> Result<Self, InputError> {
        if path == Path::new("-") {
            return Ok(Self::Recording(Box::new(io::stdin())));
        }
        let file = File::open(path).map_err(|error| InputError::Io { name: name(path), error })?;
        Ok(Self::Recording(Box::new(BufReader::new(file))))
    }

    /// Reads the content of a file with this name from any reader.
    ///
    /// # Errors
    ///
    /// [`InputError`] if the content cannot be read or contains no IB.
    pub fn read(mut file: impl Read + 'static, name: &str) -> Result<Self, InputError> {
        let failed = |error| InputError::Io { name: name.to_owned(), error };
        let mut bytes = Vec::new();
        file.by_ref().take(RECORDING.len() as u64).read_to_end(&mut bytes).map_err(failed)?;
        if bytes == RECORDING {
            return Ok(Self::Recording(Box::new(Cursor::new(bytes).chain(BufReader::new(file)))));
        }
        file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() as u64 > MOST_BYTES {
            return Err(InputError::TooLong { name: name.to_owned(), most: MOST_BYTES });
        }
        Self::contents(&bytes, name).map(Self::Ibs)
    }

    /// Reads a file that contains a single IB or other dwords.
    ///
    /// # Errors
    ///
    /// [`InputError`] if the file cannot be read or contains anything else.
    pub fn dwords(path: &Path) -> Result<Vec<u32>, InputError> {
        let foreign = |found| InputError::Foreign { name: name(path), found };
        match Self::open(path)? {
            Self::Recording(_) => Err(foreign("a recording where machine code belongs")),
            Self::Ibs(contents) if !contents.coredumps.is_empty() => {
                Err(foreign("a devcoredump where machine code belongs"))
            }
            Self::Ibs(contents) => match <[FileIb; 1]>::try_from(contents.ibs) {
                Ok([only]) => Ok(only.dwords),
                Err(_) => Err(foreign("several IBs where machine code belongs")),
            },
        }
    }

    fn contents(bytes: &[u8], name: &str) -> Result<Contents, InputError> {
        let foreign = |found| InputError::Foreign { name: name.to_owned(), found };
        if bytes.is_empty() {
            return Err(foreign("an empty file"));
        }
        if let Some((_, found)) = FOREIGN.iter().find(|(start, _)| bytes.starts_with(start)) {
            return Err(foreign(found));
        }
        // Dumps may contain names of processes in any encoding; other text consists of digits.
        if let Some(contents) = pasted::text(bytes).and_then(|text| pasted::read(&text)) {
            return Ok(contents);
        }
        let ib = FileIb { dwords: content::dwords(bytes, name)?, ..FileIb::default() };
        Ok(Contents { ibs: vec![ib], ..Contents::default() })
    }
}

/// Returns a description of a file that is no text, by its first bytes; `None` for text and for kinds that are not known.
pub(crate) fn foreign(head: &[u8]) -> Option<&'static str> {
    if head.starts_with(RECORDING) {
        return Some("a recording, which amdgpu-ib dump reads");
    }
    FOREIGN.iter().find(|(start, _)| head.starts_with(start)).map(|(_, found)| *found)
}

/// Returns the contents of the IB at an address, if the file has it with this length.
pub(crate) fn find(ibs: &[FileIb], va: GpuVa, dwords: usize) -> Option<&[u32]> {
    ibs.iter().find(|ib| ib.va == Some(va) && ib.dwords.len() == dwords).map(|ib| ib.dwords.as_slice())
}
