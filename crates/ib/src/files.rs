//! IBs in files.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use amdgpu_winsys::cs::{Target, pm4, sdma::Version};
use amdgpu_winsys::vamgr::GpuVa;

use crate::level_of;

/// Bytes of a file at most: sixteen of the longest IBs.
const MOST_BYTES: u64 = 64 << 20;

/// The reason why a file is no IB.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// It cannot be read.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The cause.
        error: io::Error,
    },
    /// It is too long to be one.
    #[error("{}: {bytes} bytes are more than any IB has", path.display())]
    TooLong {
        /// The file.
        path: PathBuf,
        /// Its length.
        bytes: u64,
    },
    /// It holds no whole dwords.
    #[error("{}: {bytes} bytes are no dwords, and no hexadecimal text", path.display())]
    NoDwords {
        /// The file.
        path: PathBuf,
        /// Its length.
        bytes: usize,
    },
    /// A word of the text is no dword.
    #[error("{}: line {line}: {word:?} is no hexadecimal dword", path.display())]
    NoNumber {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The word.
        word: String,
    },
    /// A directory without kept IBs.
    #[error("{}: no IBs are kept here", path.display())]
    NoIbs {
        /// The directory.
        path: PathBuf,
    },
}

/// Dwords of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content(pub Vec<u32>);

impl Content {
    /// Reads raw little-endian dwords, or text: hexadecimal dwords between spaces, with or without 0x; `#` starts a comment.
    ///
    /// # Errors
    ///
    /// [`InputError`].
    pub fn read(path: &Path) -> Result<Self, InputError> {
        let io = |error| InputError::Io { path: path.to_owned(), error };
        let bytes = fs::metadata(path).map_err(io)?.len();
        if bytes > MOST_BYTES {
            return Err(InputError::TooLong { path: path.to_owned(), bytes });
        }
        let bytes = fs::read(path).map_err(io)?;
        let is_text = |byte: &u8| byte.is_ascii_graphic() || byte.is_ascii_whitespace();
        match str::from_utf8(&bytes) {
            Ok(text) if bytes.iter().all(is_text) => Self::parse(text, path),
            _ if bytes.len() % 4 == 0 => Ok(Self::from_bytes(&bytes)),
            _ => Err(InputError::NoDwords { path: path.to_owned(), bytes: bytes.len() }),
        }
    }

    fn from_bytes(bytes: &[u8]) -> Self {
        let (dwords, _) = bytes.as_chunks::<4>();
        Self(dwords.iter().map(|&dword| u32::from_le_bytes(dword)).collect())
    }

    fn parse(text: &str, path: &Path) -> Result<Self, InputError> {
        let mut dwords = Vec::new();
        for (line, content) in text.lines().enumerate() {
            let content = content.split('#').next().unwrap_or_default();
            for word in content.split([' ', '\t', ',']).filter(|word| !word.is_empty()) {
                let digits = word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")).unwrap_or(word);
                let number = u32::from_str_radix(digits, 16).map_err(|_| InputError::NoNumber {
                    path: path.to_owned(),
                    line: line + 1,
                    word: word.to_owned(),
                })?;
                dwords.push(number);
            }
        }
        Ok(Self(dwords))
    }
}

/// An IB that the simulator kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// The file.
    pub path: PathBuf,
    /// The ring and generation that executed it.
    pub target: Target,
    /// GPU address.
    pub va: GpuVa,
    /// Contents.
    pub content: Content,
}

impl Kept {
    /// Returns the target and address that a file's name gives: `NUMBER-LANGUAGE-ADDRESS.ib`.
    pub fn name(path: &Path) -> Option<(Target, GpuVa)> {
        let name = path.file_name()?.to_str()?.strip_suffix(".ib")?;
        let parts: Vec<_> = name.split('-').collect();
        let [number, ip, level, va] = *parts.as_slice() else { return None };
        number.parse::<u32>().ok()?;
        let va = GpuVa::new(u64::from_str_radix(va, 16).ok()?).ok()?;
        let target = match ip {
            "gfx" => pm4::Target::gfx(level_of(level).ok()?).into(),
            "compute" => pm4::Target::compute(level_of(level).ok()?).into(),
            "sdma" => Version::ALL.into_iter().find(|version| version.name() == level)?.into(),
            _ => return None,
        };
        Some((target, va))
    }

    /// Returns every kept IB of a directory, in the order of fetching.
    ///
    /// # Errors
    ///
    /// [`InputError`].
    pub fn all(directory: &Path) -> Result<Vec<Self>, InputError> {
        let io = |error| InputError::Io { path: directory.to_owned(), error };
        let entries = fs::read_dir(directory).map_err(io)?;
        let mut paths: Vec<_> =
            entries.map(|entry| entry.map(|entry| entry.path()).map_err(io)).collect::<Result<_, _>>()?;
        paths.sort();
        let named = paths.into_iter().filter_map(|path| Self::name(&path).map(|name| (path, name)));
        let kept = |(path, (target, va)): (PathBuf, _)| {
            let bytes = fs::read(&path).map_err(|error| InputError::Io { path: path.clone(), error })?;
            Ok(Self { path, target, va, content: Content::from_bytes(&bytes) })
        };
        let all: Vec<_> = named.map(kept).collect::<Result<_, _>>()?;
        if all.is_empty() { Err(InputError::NoIbs { path: directory.to_owned() }) } else { Ok(all) }
    }
}

/// Returns the number that the name of a kept file begins with.
pub(crate) fn number(path: &Path) -> Option<u32> {
    path.file_name()?.to_str()?.split('-').next()?.parse().ok()
}
