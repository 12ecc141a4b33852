//! Files of IBs that the simulator captured.

use std::{
    fs,
    path::{Path, PathBuf},
};

use amdgpu_winsys::cs::{Target, sdma::Version};
use amdgpu_winsys::vamgr::GpuVa;

use super::{
    content,
    error::InputError,
    file_name::name,
    ib::{Engine, FileIb},
};
use crate::level_of;

/// An IB that the simulator captured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// The path of the file.
    pub path: PathBuf,
    /// The ring and generation that executed the IB.
    pub target: Target,
    /// The GPU address of the IB.
    pub va: GpuVa,
    /// The dwords of the IB.
    pub dwords: Vec<u32>,
}

impl Kept {
    /// Returns the properties in the name of a file, `NUMBER-LANGUAGE-ADDRESS.ib`, with empty contents; `None` for other names.
    pub fn name(path: &Path) -> Option<FileIb> {
        let name = path.file_name()?.to_str()?.strip_suffix(".ib")?;
        let parts: Vec<_> = name.split('-').collect();
        let [number, engine, language, va] = *parts.as_slice() else { return None };
        number.parse::<u32>().ok()?;
        let va = Some(GpuVa::new(u64::from_str_radix(va, 16).ok()?).ok()?);
        let ib = FileIb { va, ..FileIb::default() };
        let ring = |engine| Some(FileIb { engine: Some(engine), level: Some(level_of(language).ok()?), ..ib.clone() });
        match engine {
            "gfx" => ring(Engine::Gfx),
            "compute" => ring(Engine::Compute),
            "sdma" => {
                let sdma = Some(Version::ALL.into_iter().find(|version| version.name() == language)?);
                Some(FileIb { engine: Some(Engine::Sdma), sdma, ..ib })
            }
            _ => None,
        }
    }

    /// Returns all captured IBs of a directory, in the order in which they were fetched.
    ///
    /// # Errors
    ///
    /// [`InputError`] if the directory or a file cannot be read, or there are no IBs.
    pub fn all(directory: &Path) -> Result<Vec<Self>, InputError> {
        let failed = |path: &Path, error| InputError::Io { name: name(path), error };
        let entries = fs::read_dir(directory).map_err(|error| failed(directory, error))?;
        let mut all = Vec::new();
        for entry in entries {
            let path = entry.map_err(|error| failed(directory, error))?.path();
            let Some(ib) = Self::name(&path) else { continue };
            let (Some(target), Some(va)) = (ib.target(None, None), ib.va) else { continue };
            match fs::read(&path) {
                Ok(bytes) => all.push(Self { path, target, va, dwords: content::from_bytes(&bytes) }),
                // The simulator may have removed the oldest files in the meantime.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(failed(&path, error)),
            }
        }
        all.sort_by(|a, b| number(&a.path).cmp(&number(&b.path)).then_with(|| a.path.cmp(&b.path)));
        if all.is_empty() { Err(InputError::NoIbs { name: name(directory) }) } else { Ok(all) }
    }
}

/// Returns the number in the name of a captured file.
pub(crate) fn number(path: &Path) -> Option<u32> {
    path.file_name()?.to_str()?.split('-').next()?.parse().ok()
}
