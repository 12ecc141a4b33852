//! Generates sources from the text tables in the tree: the registers of `crates/registers/spec`, and the packets of
//! `crates/packets/spec`; and the manual pages of the C ABI from its header. Reads the
//! ledgers that name tests.
//!
//! The generated files are checked in; `tests/generated.rs` fails when a generated file differs from what its tables say.

mod checks;
mod claims;
mod manual;
mod packets;
mod registers;
mod text;
pub mod traceability;
mod vulkan;

use std::path::{Path, PathBuf};

pub use claims::claims;
pub use text::SpecError;

/// The reason why nothing was generated.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file cannot be read or written.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
    /// A table is wrong.
    #[error("{path}: {source}")]
    Spec {
        /// The table.
        path: PathBuf,
        /// The line, and the fault.
        source: SpecError,
    },
    /// Tables that contradict each other, or are too large for their types.
    #[error("{0}")]
    Table(String),
}

/// A generated file.
#[derive(Debug)]
pub struct Source {
    /// Its place.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
}

/// Generates the tables of `crates/registers`.
///
/// # Errors
///
/// [`Error`] where a table cannot be read or is wrong.
pub fn registers() -> Result<Vec<Source>, Error> {
    let home = workspace().join("crates/registers");
    let spec = registers::spec::read(&home.join("spec"))?;
    registers::emit::sources(&spec, &home.join("src/generated"))
}

/// Generates the table of Vulkan's commands of `crates/icd` from Khronos' registry, which Debian's `libvulkan-dev` installs.
///
/// # Errors
///
/// [`Error`] where the registry cannot be read.
pub fn vulkan() -> Result<Vec<Source>, Error> {
    let table = workspace().join("crates/icd/src/dispatch/commands.rs");
    Ok(vec![vulkan::source(Path::new("/usr/share/vulkan/registry/vk.xml"), &table)?])
}

/// Generates the tables of `crates/packets`.
///
/// # Errors
///
/// [`Error`] where a table cannot be read or is wrong.
pub fn packets() -> Result<Vec<Source>, Error> {
    let home = workspace().join("crates/packets");
    let registers = registers::spec::read(&workspace().join("crates/registers/spec"))?;
    let spec = packets::spec::read(&home.join("spec"), &registers)?;
    let flags = packets::flags::source(&home.join("spec"), &spec, &registers)?;
    packets::emit::sources(&spec, flags, &home.join("src/layout/generated"))
}

/// Generates `.ci/README.md` from the first comments of the scripts there.
///
/// # Errors
///
/// [`Error`] where a script cannot be read, or has no comment.
pub fn checks() -> Result<Vec<Source>, Error> {
    Ok(vec![checks::page(&workspace().join(".ci"))?])
}

/// Generates the manual pages of `crates/capi` from its header.
///
/// # Errors
///
/// [`Error`] where the header cannot be read, or has a comment without an end.
pub fn manual() -> Result<Vec<Source>, Error> {
    let home = workspace().join("crates/capi");
    manual::sources(&home.join("include/amdgpu_winsys.h"), &home.join("man"))
}

/// Writes generated files.
///
/// # Errors
///
/// [`Error::File`].
pub fn write(sources: &[Source]) -> Result<(), Error> {
    sources.iter().try_for_each(|source| {
        std::fs::write(&source.path, &source.text)
            .map_err(|error| Error::File { path: source.path.clone(), source: error })
    })
}

/// Returns the workspace's directory.
fn workspace() -> &'static Path {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.ancestors().nth(2).unwrap_or(own)
}

/// Reads a table, and parses it.
fn parse<T>(path: &Path, parser: impl FnOnce(&str) -> Result<T, SpecError>) -> Result<T, Error> {
    let text = std::fs::read_to_string(path).map_err(|source| Error::File { path: path.into(), source })?;
    parser(&text).map_err(|source| Error::Spec { path: path.into(), source })
}
