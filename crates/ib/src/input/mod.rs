//! Files of every kind that the tool reads, told apart by their content.

mod content;
mod coredump;
mod error;
mod ib;
mod kept;
mod mesa;

use std::{
    fs::File,
    io::{self, BufReader, Cursor, Read},
    path::Path,
};

use amdgpu_winsys::vamgr::GpuVa;

pub(crate) use content::from_bytes;
pub use error::InputError;
pub use ib::{Engine, FileIb};
pub use kept::Kept;
pub(crate) use kept::number;

/// Bytes of a file without a recording that are read at most: sixteen of the longest IBs.
const MOST_BYTES: u64 = 64 << 20;
/// First bytes of a recording. Source: `amdgpu_layers::format`.
const RECORDING: &[u8] = b"AMDGPUrr";
/// Beginnings of files of other kinds.
const FOREIGN: &[(&[u8], &str)] = &[
    (b"\x7fELF", "an ELF file"),
    (b"\x1f\x8b\x08", "a file compressed with gzip, which zcat unpacks"),
    (b"\x28\xb5\x2f\xfd", "a file compressed with zstd, which zstdcat unpacks"),
    (b"\xfd7zXZ\0", "a file compressed with xz, which xzcat unpacks"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"\x89PNG\r\n", "a picture"),
];

/// Content of a file.
pub enum Input {
    /// A recording, from its first byte on.
    Recording(Box<dyn Read>),
    /// IBs.
    Ibs(Vec<FileIb>),
}

impl std::fmt::Debug for Input {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Recording(_) => f.write_str("Recording"),
            Self::Ibs(ibs) => f.debug_tuple("Ibs").field(ibs).finish(),
        }
    }
}

impl Input {
    /// Reads a file, or standard input for `-`. Its name is used where the content tells no generation: those of the
    /// simulator's files do.
    ///
    /// # Errors
    ///
    /// [`InputError`].
    pub fn open(path: &Path) -> Result<Self, InputError> {
        let name = name(path);
        if path == Path::new("-") {
            return Self::read(io::stdin(), &name);
        }
        let file = File::open(path).map_err(|error| InputError::Io { name: name.clone(), error })?;
        let mut input = Self::read(file, &name)?;
        if let (Self::Ibs(ibs), Some(facts)) = (&mut input, Kept::name(path))
            && let [only] = ibs.as_mut_slice()
        {
            *only = FileIb { dwords: std::mem::take(&mut only.dwords), ..facts };
        }
        Ok(input)
    }

    /// Takes a file, or standard input for `-`, as a recording, whatever it begins with.
    ///
    /// # Errors
    ///
    /// [`InputError::Io`].
    pub fn recording(path: &Path) -> Result<Self, InputError> {
        if path == Path::new("-") {
            return Ok(Self::Recording(Box::new(io::stdin())));
        }
        let file = File::open(path).map_err(|error| InputError::Io { name: name(path), error })?;
        Ok(Self::Recording(Box::new(BufReader::new(file))))
    }

    /// Reads a file of this name from anything.
    ///
    /// # Errors
    ///
    /// [`InputError`].
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
        Self::ibs(&bytes, name).map(Self::Ibs)
    }

    /// Reads a file that holds one IB, or other dwords, and nothing else.
    ///
    /// # Errors
    ///
    /// [`InputError`].
    pub fn dwords(path: &Path) -> Result<Vec<u32>, InputError> {
        let foreign = |found| InputError::Foreign { name: name(path), found };
        match Self::open(path)? {
            Self::Recording(_) => Err(foreign("a recording where machine code belongs")),
            Self::Ibs(ibs) => match <[FileIb; 1]>::try_from(ibs) {
                Ok([only]) => Ok(only.dwords),
                Err(_) => Err(foreign("several IBs where machine code belongs")),
            },
        }
    }

    fn ibs(bytes: &[u8], name: &str) -> Result<Vec<FileIb>, InputError> {
        let foreign = |found| InputError::Foreign { name: name.to_owned(), found };
        if bytes.is_empty() {
            return Err(foreign("an empty file"));
        }
        if let Some((_, found)) = FOREIGN.iter().find(|(start, _)| bytes.starts_with(start)) {
            return Err(foreign(found));
        }
        if bytes.starts_with(coredump::TITLE.as_bytes()) {
            let ibs = coredump::ibs(&String::from_utf8_lossy(bytes));
            return if ibs.is_empty() { Err(InputError::Idle { name: name.to_owned() }) } else { Ok(ibs) };
        }
        // Names of processes are in these dumps, in any encoding; other text has digits alone.
        if !bytes.contains(&0) {
            let text = String::from_utf8_lossy(bytes);
            if mesa::is_dump(&text) {
                return Ok(mesa::ibs(&text));
            }
        }
        Ok(vec![FileIb { dwords: content::dwords(bytes, name)?, ..FileIb::default() }])
    }
}

/// Returns the name of a file in messages.
pub(crate) fn name(path: &Path) -> String {
    if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() }
}

/// Returns the content of the IB of a file at an address, if it is there with this length.
pub(crate) fn find(ibs: &[FileIb], va: GpuVa, dwords: usize) -> Option<&[u32]> {
    ibs.iter().find(|ib| ib.va == Some(va) && ib.dwords.len() == dwords).map(|ib| ib.dwords.as_slice())
}
