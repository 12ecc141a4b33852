//! Machine code of shaders in files, and its relation to the dispatches that run it.

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use amdgpu_isa::{Listing, WaveSize};
use amdgpu_winsys::{
    cs::{
        Target,
        dump::{Dump, Packet},
    },
    vamgr::GpuVa,
    winsys::GfxLevel,
};
use serde_json::{Value, json};

use crate::{
    counts, draws,
    input::{Input, InputError, number},
    level_of,
    resources::{self, Code, KeptMemory},
    starts::{Start, Starts},
};

/// A shader that the simulator captured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptShader {
    /// The path of the file.
    pub path: PathBuf,
    /// The number of the file, which is greater than the number of the IB that started the shader.
    pub number: u32,
    /// The generation of the machine code.
    pub level: GfxLevel,
    /// The wave size with which the shader was executed.
    pub wave: WaveSize,
    /// The GPU address of the shader.
    pub va: GpuVa,
    /// The machine code.
    pub code: Vec<u32>,
}

impl KeptShader {
    /// Returns the number, generation, wave size and address in the name of a file, `NUMBER-shader-GENERATION-WAVE-ADDRESS.bin`;
    /// `None` for other names.
    pub fn name(path: &Path) -> Option<(u32, GfxLevel, WaveSize, GpuVa)> {
        let name = path.file_name()?.to_str()?.strip_suffix(".bin")?;
        let parts: Vec<_> = name.split('-').collect();
        let [number, "shader", level, wave, va] = *parts.as_slice() else { return None };
        let wave = match wave {
            "w32" => WaveSize::Wave32,
            "w64" => WaveSize::Wave64,
            _ => return None,
        };
        let va = GpuVa::new(u64::from_str_radix(va, 16).ok()?).ok()?;
        Some((number.parse().ok()?, level_of(level).ok()?, wave, va))
    }

    /// Returns the captured shaders of a directory that were started after the IB with number `first`, in the order in which they
    /// were started.
    ///
    /// # Errors
    ///
    /// [`InputError`] if the directory or a file cannot be read.
    pub fn after(directory: &Path, first: u32) -> Result<Vec<Self>, InputError> {
        let io = |error| InputError::Io { name: crate::input::name(directory), error };
        let mut shaders = Vec::new();
        for entry in fs::read_dir(directory).map_err(io)? {
            let path = entry.map_err(io)?.path();
            let Some((number, level, wave, va)) = Self::name(&path).filter(|name| name.0 > first) else { continue };
            let code = Input::dwords(&path)?;
            shaders.push(Self { path, number, level, wave, va, code });
        }
        shaders.sort_by_key(|shader| shader.number);
        Ok(shaders)
    }

    fn machine_code(&self) -> Code<'_> {
        Code { level: self.level, wave: self.wave, dwords: &self.code }
    }

    /// Returns the captured shaders in the directory of an IB that its dispatches may have started.
    pub(crate) fn beside(ib: &Path) -> Vec<Self> {
        let after = number(ib).zip(ib.parent()).map(|(first, directory)| Self::after(directory, first));
        after.and_then(Result::ok).unwrap_or_default()
    }
}

/// Explanations of draws and dispatches: their shaders, and optionally the registers that were set before.
pub(crate) struct Explained<'d> {
    dump: &'d Dump,
    starts: Starts,
    shaders: Vec<KeptShader>,
    memory: KeptMemory,
    with_state: bool,
}

impl<'d> Explained<'d> {
    pub(crate) fn new(dump: &'d Dump, starts: Starts, shaders: Vec<KeptShader>, with_state: bool) -> Self {
        Self { dump, starts, shaders, memory: KeptMemory::default(), with_state }
    }

    /// Sets the memory from which shaders loaded descriptors.
    pub(crate) fn with_memory(self, memory: KeptMemory) -> Self {
        Self { memory, ..self }
    }

    /// Returns the generation of a dump of PM4.
    fn level(&self) -> Option<GfxLevel> {
        match self.dump.reader.target() {
            Target::Pm4(target) => Some(target.level),
            Target::Sdma(_) => None,
        }
    }

    /// Returns the machine code that a dispatch executed: the first captured code at its address.
    fn code(&self, start: &Start) -> Option<&KeptShader> {
        let wanted = start.shader?;
        self.shaders.iter().find(|shader| wanted.may_be_at(shader.va) && shader.wave == wanted.wave)
    }

    /// Returns the text to print below a packet.
    pub(crate) fn remark(&self, ib: usize, packet: &Packet) -> Option<String> {
        let remarks = [counts::remark(self.dump, ib, packet), self.start(ib, packet)];
        remarks.into_iter().flatten().reduce(|one, next| format!("{one}\n{next}"))
    }

    /// Returns the text to print below a draw or dispatch.
    fn start(&self, ib: usize, packet: &Packet) -> Option<String> {
        let start = self.starts.get(&(ib, packet.offset))?;
        let code = self.code(start);
        let mut text = String::new();
        if self.with_state {
            for register in &start.registers {
                let _ = writeln!(text, "state: {register}");
            }
        }
        if let Some((call, level)) = start.draw.zip(self.level()) {
            for line in draws::lines(call, level, &start.registers) {
                let _ = writeln!(text, "{line}");
            }
        }
        if let Some(shader) = code {
            let (bytes, lanes) = (4 * shader.code.len(), shader.wave.lanes());
            let _ = writeln!(text, "shader at {:#x}, wave{lanes}, {bytes} bytes", shader.va.as_u64());
            if !self.with_state {
                for register in start.compute() {
                    let _ = writeln!(text, "  {register}");
                }
            }
            let _ = write!(text, "{}", Listing::new(shader.level, shader.wave, &shader.code));
            text += &resources::text(&shader.machine_code(), start, &self.memory);
        }
        Some(text).filter(|text| !text.is_empty())
    }

    /// Adds the explanations to the JSON of the dump.
    pub(crate) fn add_to(&self, dump: &mut Value) {
        for (index, ib) in self.dump.ibs.iter().enumerate() {
            for (place, packet) in ib.packets.iter().enumerate() {
                let Some(start) = self.starts.get(&(index, packet.offset)) else { continue };
                let packet = &mut dump["ibs"][index]["packets"][place];
                if self.with_state {
                    packet["state"] = start.registers.iter().map(crate::json::register).collect();
                }
                if let Some((call, level)) = start.draw.zip(self.level()) {
                    packet["draw"] = draws::json(call, level, &start.registers);
                }
                if let Some(shader) = self.code(start) {
                    packet["shader"] = listing(shader.va, shader.level, shader.wave, &shader.code);
                    packet["shader"]["descriptors"] = resources::json(&shader.machine_code(), start, &self.memory);
                }
            }
        }
    }
}

/// Returns the JSON of a shader.
fn listing(va: GpuVa, level: GfxLevel, wave: WaveSize, code: &[u32]) -> Value {
    let listing = Listing::new(level, wave, code);
    let line = |line: &amdgpu_isa::Line| {
        let (text, problem) = match &line.content {
            Ok(instruction) => (Some(instruction.to_string()), None),
            Err(error) => (None, Some(error.to_string())),
        };
        json!({"offset": line.offset, "dwords": line.dwords, "text": text, "target": line.target, "problem": problem})
    };
    json!({
        "va": va.as_u64(),
        "generation": level.to_string(),
        "wave": wave.lanes(),
        "instructions": listing.lines().iter().map(line).collect::<Vec<_>>(),
    })
}

/// Prints a program. Returns `true` if all of it could be decoded.
pub(crate) fn disassemble(
    level: GfxLevel,
    wave: WaveSize,
    va: Option<GpuVa>,
    code: &[u32],
    is_json: bool,
) -> (String, bool) {
    let shown = Listing::new(level, wave, code);
    let is_whole = shown.lines().iter().all(|line| line.content.is_ok());
    if is_json {
        let mut value = listing(va.unwrap_or_default(), level, wave, code);
        value["schema"] = json!("amdgpu-ib-shader");
        value["version"] = json!(1);
        return (format!("{value:#}\n"), is_whole);
    }
    (shown.to_string(), is_whole)
}
