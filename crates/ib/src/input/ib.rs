//! The IBs of a file.

use amdgpu_winsys::{
    cs::{Target, pm4, sdma::Version},
    vamgr::GpuVa,
    winsys::GfxLevel,
};
use clap::ValueEnum;

/// An IB of a file, with the properties that the file contains.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileIb {
    /// A description of the IB's place in the file; `None` if the file has only one IB.
    pub title: Option<String>,
    /// The kind of engine that executes the IB.
    pub engine: Option<Engine>,
    /// The generation of the chip; `None` if the file does not contain it.
    pub level: Option<GfxLevel>,
    /// The version of the copy engine.
    pub sdma: Option<Version>,
    /// The GPU address of the IB; `None` if the file does not contain it.
    pub va: Option<GpuVa>,
    /// The dwords of the IB.
    pub dwords: Vec<u32>,
    /// `true` if the file shows the IB as part of another IB, which calls it.
    pub is_called: bool,
    /// `true` if the dwords are what an engine fetched earlier, as it is left in its ring. They are shown for what they tell, and
    /// packets that cannot be decoded are no fault of the file.
    pub is_history: bool,
}

impl FileIb {
    /// Returns the target of the IB. A generation or engine that the user gives has precedence over the file's. Returns `None` if
    /// the generation is unknown.
    pub fn target(&self, level: Option<GfxLevel>, engine: Option<Engine>) -> Option<Target> {
        let engine = engine.or(self.engine).unwrap_or(Engine::Gfx);
        if let (None, Engine::Sdma, Some(version)) = (level, engine, self.sdma) {
            return Some(version.into());
        }
        Some(engine.target(level.or(self.level)?))
    }
}

/// Kinds of engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Engine {
    /// A graphics ring.
    Gfx,
    /// A compute ring.
    Compute,
    /// A copy engine.
    Sdma,
}

impl Engine {
    /// Returns the engine's target on a generation.
    pub fn target(self, level: GfxLevel) -> Target {
        match self {
            Self::Gfx => pm4::Target::gfx(level).into(),
            Self::Compute => pm4::Target::compute(level).into(),
            Self::Sdma => Version::of(level).into(),
        }
    }
}
