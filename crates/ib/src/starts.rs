//! Draws and dispatches of a dump, with the registers that were set before each.

use std::collections::{BTreeMap, HashMap, HashSet};

use amdgpu_isa::WaveSize;
use amdgpu_winsys::{
    cs::dump::{Dump, Packet, Register, Shown},
    vamgr::GpuVa,
    winsys::GfxLevel,
};

/// The start of a draw or dispatch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// Registers that packets of the dump wrote before, by offset, each with its last value.
    pub registers: Vec<Register>,
    /// The shader, of a dispatch whose address was written.
    pub shader: Option<Shader>,
}

/// The shader that a dispatch runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shader {
    /// Bits 8 to 39 of its address: COMPUTE_PGM_LO.
    pub low: u32,
    /// The bits from 40 on: COMPUTE_PGM_HI. `None` where another IB of the submission wrote it, as the preambles of RADV do.
    pub high: Option<u8>,
    /// The wave size that the dispatch's initiator selects.
    pub wave: WaveSize,
}

impl Shader {
    /// Returns `true` if machine code at an address may be that of the shader.
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

/// Draws and dispatches by their IB's index and their offset there.
pub type Starts = HashMap<(usize, usize), Start>;

/// Finds the draws and dispatches of a dump. Called IBs are followed where they are called; an IB that is called twice is
/// looked at once.
pub fn starts(dump: &Dump, level: GfxLevel) -> Starts {
    let mut walk = Walk { dump, level, registers: BTreeMap::new(), seen: HashSet::new(), starts: HashMap::new() };
    walk.ib(0);
    walk.starts
}

struct Walk<'d> {
    dump: &'d Dump,
    level: GfxLevel,
    registers: BTreeMap<u32, Register>,
    seen: HashSet<usize>,
    starts: Starts,
}

impl Walk<'_> {
    fn ib(&mut self, index: usize) {
        // Calls are as deep as the dumper follows them.
        if !self.seen.insert(index) {
            return;
        }
        for packet in self.dump.ibs.get(index).map_or(&[][..], |ib| &ib.packets) {
            for register in &packet.registers {
                self.registers.insert(register.offset, register.clone());
            }
            if packet.problem.is_none() && (is_dispatch(packet) || packet.name.starts_with("DRAW_IN")) {
                let shader = is_dispatch(packet).then(|| self.shader(packet)).flatten();
                let registers = self.registers.values().cloned().collect();
                self.starts.insert((index, packet.offset), Start { registers, shader });
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

/// Returns the wave size that COMPUTE_DISPATCH_INITIATOR selects: CS_W32_EN exists from GFX10 on.
fn wave(level: GfxLevel, initiator: u64) -> WaveSize {
    const CS_W32_EN: u64 = 1 << 15;
    if level >= GfxLevel::Gfx10 && initiator & CS_W32_EN != 0 { WaveSize::Wave32 } else { WaveSize::Wave64 }
}
