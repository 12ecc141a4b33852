//! Engines behind rings.

use std::fmt;

use amdgpu_hw::GfxLevel;
use amdgpu_packets::Target;

use crate::gpu::{
    self, Engine, Environment, Ib, PageFault, Stop,
    video::{VideoEngine, VideoStop},
};

/// The kind of what stands behind a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Executor {
    /// An engine that executes packets.
    Engine(Target),
    /// An engine that executes NOPs.
    Video(VideoEngine),
}

impl Executor {
    /// Returns the packets that it executes; `None` for a video engine.
    pub(crate) const fn target(self) -> Option<Target> {
        match self {
            Self::Engine(target) => Some(target),
            Self::Video(_) => None,
        }
    }

    /// Returns `true` for a graphics or compute ring of this generation or a later one.
    pub(crate) fn is_pm4_from(self, first: GfxLevel) -> bool {
        matches!(self, Self::Engine(Target::Pm4(target)) if target.level >= first)
    }
}

impl fmt::Display for Executor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Engine(target) => target.fmt(f),
            Self::Video(engine) => engine.fmt(f),
        }
    }
}

/// Reason why a job did not come to its end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Halt {
    /// That of an engine that executes packets.
    #[error(transparent)]
    Engine(#[from] Stop),
    /// That of a video engine.
    #[error(transparent)]
    Video(#[from] VideoStop),
}

impl Halt {
    /// Returns the failed fetch that it is about, if it is about one.
    pub(crate) const fn fetch(&self) -> Option<PageFault> {
        match *self {
            Self::Engine(Stop::Fetch { fault, .. }) | Self::Video(VideoStop::Fetch { fault, .. }) => Some(fault),
            _ => None,
        }
    }

    /// Returns `true` if waves hang, and not the engine itself.
    pub(crate) const fn is_of_waves(&self) -> bool {
        matches!(self, Self::Engine(Stop::Wave { .. }))
    }
}

/// An engine behind a ring.
#[derive(Debug)]
pub(crate) enum Processor {
    /// An engine that executes packets.
    Engine(Box<Engine>),
    /// An engine that executes NOPs.
    Video(VideoEngine),
}

impl Processor {
    /// Executes an IB to its end.
    pub(crate) fn run(&mut self, ib: Ib, env: &Environment<'_>) -> Result<(), Halt> {
        match self {
            Self::Engine(engine) => Ok(engine.run(ib, env)?),
            Self::Video(engine) => Ok(engine.run(ib, env)?),
        }
    }

    /// Executes the IBs of a job, beside those that are the constant engine's.
    pub(crate) fn run_beside(&mut self, constant: &[Ib], ibs: &[Ib], env: &Environment<'_>) -> Result<(), Halt> {
        match self {
            Self::Engine(engine) => Ok(engine.run_beside(constant, ibs, env)?),
            Self::Video(engine) => ibs.iter().try_for_each(|&ib| Ok(engine.run(ib, env)?)),
        }
    }

    /// Goes on with the state of another context, and gives back the one it had.
    pub(crate) fn switch(&mut self, state: gpu::State) -> gpu::State {
        match self {
            Self::Engine(engine) => engine.switch(state),
            // It has none.
            Self::Video(_) => state,
        }
    }
}
