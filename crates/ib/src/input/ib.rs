//! An IB of a file.

use amdgpu_winsys::{
    cs::{Target, pm4, sdma::Version},
    vamgr::GpuVa,
    winsys::GfxLevel,
};
use clap::ValueEnum;

/// An IB, with the facts about it that its file tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileIb {
    /// Its place in the file, in words, where there are several.
    pub title: Option<String>,
    /// The kind of engine that reads it.
    pub engine: Option<Engine>,
    /// The generation.
    pub level: Option<GfxLevel>,
    /// The version of the copy engine.
    pub sdma: Option<Version>,
    /// GPU address.
    pub va: Option<GpuVa>,
    /// Contents.
    pub dwords: Vec<u32>,
    /// `true` if it was shown with another IB of the file, which calls it.
    pub is_called: bool,
}

impl FileIb {
    /// Returns the reader of the IB, for a chip or an engine that the user names in place of the file's; `None` if neither tells the
    /// generation.
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
    /// Returns the engine's language in a generation.
    pub fn target(self, level: GfxLevel) -> Target {
        match self {
            Self::Gfx => pm4::Target::gfx(level).into(),
            Self::Compute => pm4::Target::compute(level).into(),
            Self::Sdma => Version::of(level).into(),
        }
    }
}
