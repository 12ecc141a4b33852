//! Engines on a small flat memory.

mod chaos;
mod control;
mod copies;
mod data;
mod draws;
mod flow;
mod model;
mod pm4;
mod raw;
mod registers;
mod sdma;
mod trouble;
mod vectors;

use std::cell::{Cell, RefCell};

use amdgpu_hw::GfxLevel;
use amdgpu_hw::GpuVa;
use amdgpu_packets::{Packet, Target, sdma as dma};

use super::port::pages;
use super::{
    Access, Clock, Engine, Environment, Ib, Job, Memory, NoShaders, PageFault, Place, State, Stop, Tally, Watched,
};

/// Start and size of memory.
const BASE: u64 = 0x10_0000;
const SIZE: usize = 0x1_0000;
/// A page without access rights, in the middle of it, and one that can only be read.
const HOLE: u64 = BASE + 0x8000;
const READ_ONLY: u64 = BASE + 0xc000;
const PAGE: u64 = 0x1000;
/// Addresses of IBs and data.
const IB: u64 = BASE;
const DATA: u64 = BASE + 0x4000;

fn va(raw: u64) -> GpuVa {
    GpuVa::new(raw).unwrap()
}

/// Memory with a hole, in which every call that fails does nothing.
struct Flat(RefCell<Vec<u8>>);

impl Flat {
    fn at(at: GpuVa, len: u64, access: Access) -> Result<std::ops::Range<usize>, PageFault> {
        let bad = |byte: u64| {
            let outside = !(BASE..BASE + SIZE as u64).contains(&byte) || (HOLE..HOLE + PAGE).contains(&byte);
            outside || (access == Access::Write && (READ_ONLY..READ_ONLY + PAGE).contains(&byte))
        };
        if let Some((va, _)) = pages(at, len).find(|(page, _)| bad(page.as_u64())) {
            return Err(PageFault { va, access });
        }
        let start = at.as_u64().saturating_sub(BASE) as usize;
        Ok(if len == 0 { 0..0 } else { start..start + len as usize })
    }
}

impl Memory for Flat {
    fn read(&self, at: GpuVa, out: &mut [u8]) -> Result<(), PageFault> {
        let range = Self::at(at, out.len() as u64, Access::Read)?;
        out.copy_from_slice(&self.0.borrow()[range]);
        Ok(())
    }

    fn write(&self, at: GpuVa, data: &[u8]) -> Result<(), PageFault> {
        let range = Self::at(at, data.len() as u64, Access::Write)?;
        self.0.borrow_mut()[range].copy_from_slice(data);
        Ok(())
    }

    fn copy(&self, to: GpuVa, from: GpuVa, len: u64) -> Result<(), PageFault> {
        let from = Self::at(from, len, Access::Read)?;
        let to = Self::at(to, len, Access::Write)?;
        self.0.borrow_mut().copy_within(from, to.start);
        Ok(())
    }

    fn fill(&self, to: GpuVa, pattern: u32, len: u64) -> Result<(), PageFault> {
        let range = Self::at(to, len, Access::Write)?;
        let pattern = pattern.to_le_bytes();
        self.0.borrow_mut()[range].iter_mut().zip(pattern.iter().cycle()).for_each(|(byte, &value)| *byte = value);
        Ok(())
    }
}

/// Everything an engine needs. Each look at the clock is a tick; the job waits `patience` times.
pub(super) struct Rig {
    memory: Flat,
    ticks: Cell<u64>,
    patience: Cell<u32>,
    waited: Cell<u32>,
    pub(super) cancelled: Cell<bool>,
    faults: RefCell<Vec<(PageFault, Place)>>,
}

impl Clock for Rig {
    fn ticks(&self) -> u64 {
        self.ticks.set(self.ticks.get() + 1);
        self.ticks.get()
    }
}

impl Job for Rig {
    fn keep_waiting(&self) -> bool {
        self.waited.set(self.waited.get() + 1);
        self.patience.get() >= self.waited.get()
    }

    fn fault(&self, fault: PageFault, place: Place) {
        self.faults.borrow_mut().push((fault, place));
    }

    fn is_cancelled(&self) -> bool {
        self.cancelled.get()
    }
}

impl Rig {
    pub(super) fn new() -> Self {
        Self {
            memory: Flat(RefCell::new(vec![0; SIZE])),
            ticks: Cell::new(0x1_0000_0000),
            patience: Cell::new(0),
            waited: Cell::new(0),
            cancelled: Cell::new(false),
            faults: RefCell::default(),
        }
    }

    fn put(&self, at: u64, dwords: &[u32]) {
        let bytes: Vec<_> = dwords.iter().flat_map(|dword| dword.to_le_bytes()).collect();
        self.memory.write(va(at), &bytes).unwrap();
    }

    fn u32(&self, at: u64) -> u32 {
        let mut bytes = [0; 4];
        self.memory.read(va(at), &mut bytes).unwrap();
        u32::from_le_bytes(bytes)
    }

    fn u64(&self, at: u64) -> u64 {
        u64::from(self.u32(at + 4)) << 32 | u64::from(self.u32(at))
    }

    fn faults(&self) -> Vec<PageFault> {
        self.faults.borrow().iter().map(|(fault, _)| *fault).collect()
    }

    /// Puts the stream at [`IB`] and executes it.
    fn run(&self, engine: &mut Engine, ib: &[u32]) -> Result<(), Stop> {
        self.put(IB, ib);
        self.run_at(engine, IB, ib.len() as u32)
    }

    fn run_at(&self, engine: &mut Engine, at: u64, dwords: u32) -> Result<(), Stop> {
        engine.run(Ib { va: va(at), dwords }, &self.environment())
    }

    pub(super) fn environment(&self) -> Environment<'_> {
        Environment { memory: &self.memory, clock: self, job: self, shaders: &NoShaders, observer: None }
    }
}

/// A stream.
struct Stream<L>(L, Vec<u32>);

impl<L: amdgpu_packets::Language> Stream<L> {
    fn new(language: L) -> Self {
        Self(language, Vec::new())
    }

    fn add<P: Packet<Language = L>>(mut self, packet: P) -> Self {
        let mut out = [0; 64];
        let len = packet.encode(self.0, &mut out).unwrap();
        self.1.extend_from_slice(&out[..len]);
        self
    }

    /// The stream, padded as a recorder would.
    fn padded(mut self) -> Vec<u32> {
        let used = self.1.len();
        self.1.resize(used + self.0.padding(used, 0), 0xcccc_cccc);
        self.0.fill(&mut self.1[used..]);
        self.1
    }

    /// Executes the stream on a new engine.
    fn run(self, rig: &Rig) -> Result<Engine, Stop> {
        let mut engine = Engine::new(self.0.into());
        rig.run(&mut engine, &self.padded()).map(|()| engine)
    }
}
