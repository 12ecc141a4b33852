//! Captures of all IBs that rings fetch and all compute shaders that they start, as files for `amdgpu-ib`.

mod directory;
mod memory;

use std::{
    collections::{HashMap, HashSet},
    ffi::OsStr,
    io,
    path::PathBuf,
};

use amdgpu_hw::{GfxLevel, GpuVa};
use amdgpu_isa::{WaveSize, program_len};
use amdgpu_packets::{Target, pm4::Ring};
use parking_lot::Mutex;
use zerocopy::IntoBytes;

use self::directory::CaptureDirectory;
pub(crate) use self::memory::user_data;
use crate::{
    gpu::{Ib, Memory},
    kernel::complaints::Complaints,
};

/// The environment variable with the directory for captured IBs, which is created if necessary. Every IB that a simulated ring
/// fetches is written as `NUMBER-LANGUAGE-ADDRESS.ib`, with its dwords as in memory. The language is for example `gfx-GFX10_3` or
/// `sdma-5.2`, and the address is hexadecimal. Numbers increase in the order of fetches, over all rings.
///
/// The compute shaders that an IB starts are written after it as `NUMBER-shader-GENERATION-WAVE-ADDRESS.bin`, such as
/// `000007-shader-GFX10_3-w32-800000200.bin`: their machine code up to its end. The memory from which they load descriptors is
/// written as `NUMBER-memory-ADDRESS.bin`.
pub const IBS_VARIABLE: &str = "AMDGPU_SIM_IBS";

/// The environment variable with the number of files to keep in the directory of [`IBS_VARIABLE`]: the latest ones, by default
/// [`DEFAULT_KEPT`]. 0 keeps all files, which eventually fills the disk.
pub const KEPT_VARIABLE: &str = "AMDGPU_SIM_IBS_KEEP";

/// The number of files to keep if [`KEPT_VARIABLE`] is not set.
pub const DEFAULT_KEPT: u64 = 4096;

/// A directory for the IBs that a ring fetches.
#[derive(Debug)]
pub(crate) struct IbCaptures {
    /// The directory; an error with the value of [`KEPT_VARIABLE`] if it is not a number.
    directory: Result<CaptureDirectory, String>,
    /// The addresses of the shaders that were written since the last IB.
    shaders: Mutex<HashSet<GpuVa>>,
    /// The memory that was written since the last IB: addresses and dwords.
    memory: Mutex<HashSet<(u64, Vec<u32>)>>,
    /// The last files of this ring's IBs, by address.
    saved: Mutex<HashMap<GpuVa, String>>,
}

/// The maximum number of IBs whose files a ring remembers.
const MOST_SAVED: usize = 4096;

/// The maximum length of a captured shader in dwords.
const MOST_DWORDS: usize = 1 << 18;

impl IbCaptures {
    /// Returns the directory in the environment variable, if it is set.
    pub(crate) fn from_environment() -> Option<Self> {
        let directory = std::env::var_os(IBS_VARIABLE).filter(|path| !path.is_empty())?;
        let kept = std::env::var_os(KEPT_VARIABLE).filter(|kept| !kept.is_empty());
        Some(Self::into_directory(&directory, kept.as_deref()))
    }

    fn into_directory(directory: &OsStr, kept: Option<&OsStr>) -> Self {
        let kept = kept.map_or(Ok(DEFAULT_KEPT), |kept| {
            kept.to_str().and_then(|kept| kept.parse().ok()).ok_or_else(|| kept.to_string_lossy().into_owned())
        });
        let directory = kept.map(|kept| CaptureDirectory::new(PathBuf::from(directory), kept));
        Self { directory, shaders: Mutex::default(), memory: Mutex::default(), saved: Mutex::default() }
    }

    /// Writes an IB. Errors are recorded as complaints.
    pub(crate) fn keep(&self, target: Target, ib: Ib, dwords: &[u32], complaints: &Complaints) {
        self.shaders.lock().clear();
        self.memory.lock().clear();
        let name = self.write("an IB", &format!("{}-{:x}.ib", language(target), ib.va.as_u64()), dwords, complaints);
        let mut saved = self.saved.lock();
        if saved.len() >= MOST_SAVED {
            saved.clear();
        }
        saved.extend(name.map(|name| (ib.va, name)));
    }

    /// Returns the name of the last file of an IB of this ring.
    pub(crate) fn saved(&self, va: GpuVa) -> Option<String> {
        self.saved.lock().get(&va).cloned()
    }

    /// Writes the shader at `program`, once for each IB. Errors are recorded as complaints. A shader without an end is not written.
    pub(crate) fn keep_shader(
        &self,
        (level, wave): (GfxLevel, WaveSize),
        program: GpuVa,
        memory: &dyn Memory,
        complaints: &Complaints,
    ) {
        if !self.shaders.lock().insert(program) {
            return;
        }
        let Some(code) = machine_code((level, wave), program, memory) else { return };
        let name = format!("shader-{level}-w{}-{:x}.bin", wave.lanes(), program.as_u64());
        self.write("a shader", &name, &code, complaints);
    }

    /// Writes a file with the next number, and returns its name.
    fn write(&self, what: &str, name: &str, dwords: &[u32], complaints: &Complaints) -> Option<String> {
        let directory = match &self.directory {
            Ok(directory) => directory,
            Err(kept) => {
                complaints.report(format!("{KEPT_VARIABLE} is {kept:?}, which is not a number of files"));
                return None;
            }
        };
        let done: io::Result<String> = directory.write(name, dwords.as_bytes());
        done.map_err(|error| complaints.report(format!("cannot write {what} to {}: {error}", directory.path()))).ok()
    }
}

/// Reads the shader at `program` up to its end; `None` if no end is found within the maximum length.
fn machine_code((level, wave): (GfxLevel, WaveSize), program: GpuVa, memory: &dyn Memory) -> Option<Vec<u32>> {
    const STEP: usize = 64;
    let mut code = Vec::new();
    while code.len() < MOST_DWORDS {
        let mut bytes = [0; 4 * STEP];
        let at = program.low_48_bits() + 4 * code.len() as u64;
        // The last page may end after the shader.
        let read = match memory.read(GpuVa::from_48_bits(at), &mut bytes) {
            Ok(()) => bytes.len(),
            Err(fault) => usize::try_from(fault.va.low_48_bits().saturating_sub(at)).ok()?.min(bytes.len()),
        };
        let (dwords, _) = bytes[..read].as_chunks::<4>();
        code.extend(dwords.iter().map(|&dword| u32::from_le_bytes(dword)));
        // Decodes again only after the code has doubled.
        if ((code.len() / STEP).is_power_of_two() || read < bytes.len())
            && let Some(len) = program_len(level, wave, &code)
        {
            code.truncate(len);
            return Some(code);
        }
        if read < bytes.len() {
            return None;
        }
    }
    None
}

/// Returns the name of the ring's packet language, for a file name.
fn language(target: Target) -> String {
    match target {
        Target::Pm4(target) if target.ring == Ring::Gfx => format!("gfx-{}", target.level),
        Target::Pm4(target) => format!("compute-{}", target.level),
        Target::Sdma(version) => format!("sdma-{}", version.name()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::gpu::{Access, PageFault};
    use amdgpu_packets::pm4;

    #[test]
    fn rings_that_share_a_directory_share_its_numbers() {
        let directory = std::env::temp_dir().join(format!("amdgpu-sim-ibs-{}", std::process::id()));
        let rings = [(); 2].map(|()| IbCaptures::into_directory(directory.as_os_str(), None));
        let ib = Ib { va: GpuVa::from_48_bits(0x10_0000), dwords: 1 };
        let target = pm4::Target::gfx(GfxLevel::Gfx10_3).into();
        for ring in &rings {
            ring.keep(target, ib, &[0xffff_1000], &Complaints::default());
        }
        let mut names: Vec<_> = fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.retain(|name| !name.to_string_lossy().starts_with('.'));
        names.sort();
        fs::remove_dir_all(&directory).unwrap();
        assert_eq!(names, ["000000-gfx-GFX10_3-100000.ib", "000001-gfx-GFX10_3-100000.ib"]);
    }

    #[test]
    fn the_number_of_files_is_bounded_and_a_wrong_bound_is_told() {
        let directory = std::env::temp_dir().join(format!("amdgpu-sim-kept-{}", std::process::id()));
        let is_ib = |entry: &io::Result<fs::DirEntry>| {
            entry.as_ref().is_ok_and(|entry| entry.path().extension() == Some(OsStr::new("ib")))
        };
        let keep = |kept: Option<&str>, ibs| {
            let ring = IbCaptures::into_directory(directory.as_os_str(), kept.map(OsStr::new));
            let complaints = Complaints::default();
            for _ in 0..ibs {
                let ib = Ib { va: GpuVa::from_48_bits(0x10_0000), dwords: 1 };
                ring.keep(pm4::Target::gfx(GfxLevel::Gfx10_3).into(), ib, &[0xffff_1000], &complaints);
            }
            let names = fs::read_dir(&directory).map(|entries| entries.filter(is_ib).count());
            (names.unwrap_or_default(), complaints.list())
        };
        assert_eq!(keep(Some("4"), 9), (4, vec![]));
        let (files, said) = keep(Some("many"), 1);
        assert_eq!(files, 4);
        assert!(said[0].contains("AMDGPU_SIM_IBS_KEEP is \"many\""), "{said:?}");
        let all = usize::try_from(DEFAULT_KEPT).unwrap();
        assert_eq!(keep(None, all + 10), (all, vec![]));
        fs::remove_dir_all(&directory).unwrap();
    }

    /// Memory at 0x1000 up to its end, of dwords.
    struct Flat(Vec<u32>);

    impl Memory for Flat {
        fn read(&self, va: GpuVa, out: &mut [u8]) -> Result<(), PageFault> {
            let bytes = self.0.as_bytes();
            for (offset, byte) in out.iter_mut().enumerate() {
                let at = va.as_u64() + offset as u64;
                let place = usize::try_from(at - 0x1000).unwrap();
                *byte = *bytes.get(place).ok_or(PageFault { va: GpuVa::from_48_bits(at), access: Access::Read })?;
            }
            Ok(())
        }

        fn write(&self, va: GpuVa, _: &[u8]) -> Result<(), PageFault> {
            Err(PageFault { va, access: Access::Write })
        }

        fn copy(&self, to: GpuVa, _: GpuVa, _: u64) -> Result<(), PageFault> {
            Err(PageFault { va: to, access: Access::Write })
        }

        fn fill(&self, to: GpuVa, _: u32, _: u64) -> Result<(), PageFault> {
            Err(PageFault { va: to, access: Access::Write })
        }
    }

    #[test]
    fn a_shader_is_kept_up_to_its_end_wherever_its_memory_ends() {
        const NOP: u32 = 0xbf80_0000;
        const END: u32 = 0xbf81_0000;
        let kept = |memory: &[u32]| {
            let (how, va) = ((GfxLevel::Gfx9, WaveSize::Wave64), GpuVa::from_48_bits(0x1000));
            machine_code(how, va, &Flat(memory.to_vec())).map(|code| code.len())
        };
        for nops in [0, 1, 63, 64, 65, 200] {
            let mut memory = vec![NOP; nops];
            assert_eq!(kept(&memory), None);
            memory.push(END);
            assert_eq!(kept(&memory), Some(nops + 1));
            memory.extend([NOP; 1000]);
            assert_eq!(kept(&memory), Some(nops + 1));
        }
    }

    #[test]
    fn a_shader_is_written_once_for_each_ib() {
        let directory = std::env::temp_dir().join(format!("amdgpu-sim-shaders-{}", std::process::id()));
        let ring = IbCaptures::into_directory(directory.as_os_str(), None);
        let (how, target) = ((GfxLevel::Gfx10_3, WaveSize::Wave32), pm4::Target::gfx(GfxLevel::Gfx10_3).into());
        let (ib, program) = (Ib { va: GpuVa::from_48_bits(0x10_0000), dwords: 1 }, GpuVa::from_48_bits(0x1000));
        for _ in 0..2 {
            ring.keep(target, ib, &[0xffff_1000], &Complaints::default());
            for _ in 0..2 {
                ring.keep_shader(how, program, &Flat(vec![0xbf81_0000]), &Complaints::default());
            }
        }
        let names = fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.filter(|name| name.contains("-shader-")).collect();
        names.sort();
        fs::remove_dir_all(&directory).unwrap();
        assert_eq!(names, ["000001-shader-GFX10_3-w32-1000.bin", "000003-shader-GFX10_3-w32-1000.bin"]);
    }

    #[test]
    fn memory_that_descriptors_are_loaded_from_is_written_once_for_each_content_and_ib() {
        let scratch = std::env::temp_dir().join(format!("amdgpu-sim-descriptors-{}", std::process::id()));
        let ring = IbCaptures::into_directory(scratch.as_os_str(), None);
        let how = (GfxLevel::Gfx9, WaveSize::Wave64);
        let line = |text| amdgpu_isa::assemble(how.0, how.1, text).unwrap().dwords().to_vec();
        let lines = ["s_load_dwordx4 s[4:7], s[0:1], 0x100", "s_buffer_load_dword s8, s[4:7], 0x0", "s_endpgm"];
        let mut memory: Vec<u32> = lines.into_iter().flat_map(line).collect();
        memory.resize(0x200, 0);
        memory[0x40..0x44].copy_from_slice(&[1, 2, 3, 4]);
        let (ib, target) = (Ib { va: GpuVa::from_48_bits(0x10_0000), dwords: 1 }, pm4::Target::gfx(how.0).into());
        let keep = |memory: &[u32]| {
            let user = [Some(0x1000), Some(0)];
            let program = GpuVa::from_48_bits(0x1000);
            ring.keep_descriptors(how, program, &user, &Flat(memory.to_vec()), &Complaints::default());
        };
        ring.keep(target, ib, &[0xffff_1000], &Complaints::default());
        keep(&memory);
        keep(&memory);
        memory[0x41] = 9;
        keep(&memory);
        let mut names: Vec<_> =
            fs::read_dir(&scratch).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.retain(|name| name.contains("-memory-"));
        names.sort();
        let contents: Vec<_> = names.iter().map(|name| fs::read(scratch.join(name)).unwrap()[4]).collect();
        fs::remove_dir_all(&scratch).unwrap();
        assert_eq!(names, ["000001-memory-1100.bin", "000002-memory-1100.bin"]);
        assert_eq!(contents, [2, 9]);
    }
}
