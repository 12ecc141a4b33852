//! Every IB that a ring fetches, as a file: what `amdgpu-ib` reads.

use std::{
    ffi::OsStr,
    fs::{self, OpenOptions},
    io::{self, ErrorKind, Write},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
};

use amdgpu_packets::{Target, pm4::Ring};
use zerocopy::IntoBytes;

use crate::{gpu::Ib, kernel::complaints::Complaints};

/// Names a directory, which is made if need be. Every IB that a simulated ring fetches is written there, as
/// `NUMBER-LANGUAGE-ADDRESS.ib`: dwords as they lay in memory; the language is `gfx-GFX10_3` or `sdma-5.2`, the address
/// hexadecimal. Numbers rise in the order of fetching, over all rings that write there.
pub const IBS_VARIABLE: &str = "AMDGPU_SIM_IBS";

/// A directory for the IBs that a ring fetches.
#[derive(Debug)]
pub(crate) struct IbCaptures {
    directory: PathBuf,
    next: AtomicU32,
}

impl IbCaptures {
    /// The directory of the environment, if it names one.
    pub(crate) fn from_environment() -> Option<Self> {
        let directory = std::env::var_os(IBS_VARIABLE).filter(|path| !path.is_empty())?;
        Some(Self::into_directory(&directory))
    }

    fn into_directory(directory: &OsStr) -> Self {
        Self { directory: PathBuf::from(directory), next: AtomicU32::new(0) }
    }

    /// Writes an IB; what fails is complained of.
    pub(crate) fn keep(&self, target: Target, ib: Ib, dwords: &[u32], complaints: &Complaints) {
        if let Err(error) = self.write(target, ib, dwords) {
            complaints.say(format!("cannot write an IB to {}: {error}", self.directory.display()));
        }
    }

    fn write(&self, target: Target, ib: Ib, dwords: &[u32]) -> io::Result<()> {
        fs::create_dir_all(&self.directory)?;
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let name = format!("{number:06}-{}-{:x}.ib", language(target), ib.va.as_u64());
            // Rings share the directory, and so the numbers.
            let claim = self.directory.join(format!(".{number:06}"));
            match claimed(&claim) {
                Ok(()) => return fs::write(self.directory.join(name), dwords.as_bytes()),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// Creates the file, unless it exists.
fn claimed(path: &Path) -> io::Result<()> {
    OpenOptions::new().write(true).create_new(true).open(path)?.flush()
}

/// Returns the ring's language, for a file's name.
fn language(target: Target) -> String {
    match target {
        Target::Pm4(target) if target.ring == Ring::Gfx => format!("gfx-{}", target.level),
        Target::Pm4(target) => format!("compute-{}", target.level),
        Target::Sdma(version) => format!("sdma-{}", version.name()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use amdgpu_hw::{GfxLevel, GpuVa};
    use amdgpu_packets::pm4;

    #[test]
    fn rings_that_share_a_directory_share_its_numbers() {
        let directory = std::env::temp_dir().join(format!("amdgpu-sim-ibs-{}", std::process::id()));
        let rings = [(); 2].map(|()| IbCaptures::into_directory(directory.as_os_str()));
        let ib = Ib { va: GpuVa::from_48_bits(0x10_0000), dwords: 1 };
        let target = pm4::Target::gfx(GfxLevel::Gfx10_3).into();
        for ring in &rings {
            ring.write(target, ib, &[0xffff_1000]).unwrap();
        }
        let mut names: Vec<_> = fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.retain(|name| !name.to_string_lossy().starts_with('.'));
        names.sort();
        fs::remove_dir_all(&directory).unwrap();
        assert_eq!(names, ["000000-gfx-GFX10_3-100000.ib", "000001-gfx-GFX10_3-100000.ib"]);
    }
}
