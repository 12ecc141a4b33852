//! The engines of rings.

use std::fmt;

use amdgpu_hw::GfxLevel;
use amdgpu_packets::Target;

use crate::gpu::{
    self, Engine, Environment, Ib, PageFault, Place, Stop,
    video::{VideoEngine, VideoStop},
};

/// The kind of engine of a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Executor {
    /// An engine that executes packets.
    Engine(Target),
    /// An engine that executes NOPs.
    Video(VideoEngine),
}

impl Executor {
    /// Returns the target whose packets it executes; `None` for a video engine.
    pub(crate) const fn target(self) -> Option<Target> {
        match self {
            Self::Engine(target) => Some(target),
            Self::Video(_) => None,
        }
    }

    /// Returns `true` for a graphics or compute ring of this or a later generation.
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

/// The reason why a job did not run to its end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Halt {
    /// The reason of an engine that executes packets.
    #[error(transparent)]
    Engine(#[from] Stop),
    /// The reason of a video engine.
    #[error(transparent)]
    Video(#[from] VideoStop),
}

impl Halt {
    /// Returns the location in the job; `None` for video engines.
    pub(crate) const fn place(&self) -> Option<Place> {
        match self {
            Self::Engine(stop) => Some(stop.place()),
            Self::Video(_) => None,
        }
    }

    /// Returns the failed fetch, if that is the reason.
    pub(crate) const fn fetch(&self) -> Option<PageFault> {
        match *self {
            Self::Engine(Stop::Fetch { fault, .. }) | Self::Video(VideoStop::Fetch { fault, .. }) => Some(fault),
            _ => None,
        }
    }

    /// Returns `true` if waves hang instead of the engine itself.
    pub(crate) const fn is_of_waves(&self) -> bool {
        matches!(self, Self::Engine(Stop::Wave { .. } | Stop::WavesCancelled { .. }))
    }

    /// Returns `true` if the job could have gone on, but has ended: it was cancelled, or its time is over.
    pub(crate) const fn is_early(&self) -> bool {
        matches!(self, Self::Engine(Stop::Cancelled { .. } | Stop::WavesCancelled { .. }))
    }
}

/// The engine of a ring.
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

    /// Executes the IBs of a job, concurrently with those of the constant engine.
    pub(crate) fn run_beside(&mut self, constant: &[Ib], ibs: &[Ib], env: &Environment<'_>) -> Result<(), Halt> {
        match self {
            Self::Engine(engine) => Ok(engine.run_beside(constant, ibs, env)?),
            Self::Video(engine) => ibs.iter().try_for_each(|&ib| Ok(engine.run(ib, env)?)),
        }
    }

    /// Replaces the state with that of another context, and returns the old state.
    pub(crate) fn switch(&mut self, state: gpu::State) -> gpu::State {
        match self {
            Self::Engine(engine) => engine.switch(state),
            // It has no state.
            Self::Video(_) => state,
        }
    }
}
