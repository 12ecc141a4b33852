//! The draws and dispatches of a dump, with the registers that were set before each.

use std::collections::{BTreeMap, HashMap, HashSet};

use amdgpu_isa::WaveSize;
use amdgpu_raster::Call;
use amdgpu_winsys::{
    cs::dump::{Dump, Packet, Register, Shown},
    vamgr::GpuVa,
    winsys::GfxLevel,
};

use crate::draws::Parameters;

/// A draw or dispatch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// The registers that earlier packets of the dump wrote, ordered by offset, with their last values.
    pub registers: Vec<Register>,
    /// The shader, if this is a dispatch whose shader address was written.
    pub shader: Option<Shader>,
    /// The parameters, if this is a draw.
    pub draw: Option<Call>,
}

/// The shader that a dispatch runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shader {
    /// Bits 8 to 39 of the address: COMPUTE_PGM_LO.
    pub low: u32,
    /// Bits 40 and up of the address: COMPUTE_PGM_HI. `None` if another IB of the submission wrote the register, as RADV's
    /// preambles do.
    pub high: Option<u8>,
    /// The wave size that the dispatch's initiator selects.
    pub wave: WaveSize,
}

impl Shader {
    /// Returns `true` if the shader's address may be `va`.
    pub fn may_be_at(&self, va: GpuVa) -> bool {
        let [at, high] = [va.as_u64() >> 8 & 0xffff_ffff, va.as_u64() >> 40 & 0xff];
        at == u64::from(self.low) && self.high.is_none_or(|own| u64::from(own) == high)
    }
}

impl Start {
    /// Returns the registers of compute shaders.
    pub fn compute(&self) -> impl Iterator<Item = &Register> {
        self.registers.iter().filter(|register| register.name.is_some_and(|name| name.starts_with("COMPUTE_")))
    }
}

/// The draws and dispatches, by the index of their IB and their offset in it.
pub type Starts = HashMap<(usize, usize), Start>;

/// Returns the draws and dispatches of a dump. Called IBs are processed at the call; an IB that is called twice is processed once.
pub fn starts(dump: &Dump, level: GfxLevel) -> Starts {
    let mut walk = Walk {
        dump,
        level,
        registers: BTreeMap::new(),
        parameters: Parameters::new(),
        seen: HashSet::new(),
        starts: HashMap::new(),
    };
    walk.ib(0);
    walk.starts
}

struct Walk<'d> {
    dump: &'d Dump,
    level: GfxLevel,
    registers: BTreeMap<u32, Register>,
    parameters: Parameters,
    seen: HashSet<usize>,
    starts: Starts,
}

impl Walk<'_> {
    fn ib(&mut self, index: usize) {
        // The depth of calls is limited by the dumper.
        if !self.seen.insert(index) {
            return;
        }
        for packet in self.dump.ibs.get(index).map_or(&[][..], |ib| &ib.packets) {
            for register in &packet.registers {
                self.registers.insert(register.offset, register.clone());
            }
            self.parameters.take(packet);
            if packet.problem.is_none() && (is_dispatch(packet) || packet.name.starts_with("DRAW_IN")) {
                let shader = is_dispatch(packet).then(|| self.shader(packet)).flatten();
                let registers = self.registers.values().cloned().collect();
                self.starts
                    .insert((index, packet.offset), Start { registers, shader, draw: self.parameters.call(packet) });
            }
            for next in &packet.next {
                if let Shown::As(index) = next.shown {
                    self.ib(index);
                }
            }
        }
    }

    fn shader(&self, dispatch: &Packet) -> Option<Shader> {
        let value = |name| self.registers.values().find(|register| register.name == Some(name))?.value;
        let (low, high) = (value("COMPUTE_PGM_LO")?, value("COMPUTE_PGM_HI").map(|high| high as u8));
        let initiator = dispatch.fields.iter().find(|field| field.name == "dispatch_initiator")?.value;
        Some(Shader { low, high, wave: wave(self.level, initiator) })
    }
}

fn is_dispatch(packet: &Packet) -> bool {
    packet.name.starts_with("DISPATCH_DIRECT") || packet.name.starts_with("DISPATCH_INDIRECT")
}

/// Returns the wave size that COMPUTE_DISPATCH_INITIATOR selects; CS_W32_EN exists on GFX10 and later.
fn wave(level: GfxLevel, initiator: u64) -> WaveSize {
    const CS_W32_EN: u64 = 1 << 15;
    if level >= GfxLevel::Gfx10 && initiator & CS_W32_EN != 0 { WaveSize::Wave32 } else { WaveSize::Wave64 }
}
