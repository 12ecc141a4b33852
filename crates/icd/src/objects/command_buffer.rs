//! Command buffers.

use std::sync::Arc;

use amdgpu_winsys::cs::{
    self, CommandList, IbPool, Inclusion, Target,
    commands::{CommandError, Commands, Recorder, Span},
    pm4, sdma,
};
use ash::vk;

use super::{Gpu, Program};
use crate::border::{Exclusive, Failure};

/// The result if the call violates valid usage.
const UNKNOWN: Failure = Failure(vk::Result::ERROR_UNKNOWN);

/// The initial size of a command buffer in dwords.
const FIRST_DWORDS: usize = 1024;

/// A recorder of either packet language.
#[derive(Debug)]
pub(crate) enum AnyRecorder {
    /// A recorder for a graphics or compute ring.
    Pm4(Recorder<pm4::Target>),
    /// A recorder for a copy engine.
    Sdma(Recorder<sdma::Version>),
}

impl AnyRecorder {
    /// Starts a stream with memory of a pool. It finds what the CPU and other engines wrote before it was submitted, because the
    /// queues of the library invalidate all caches first in each submission.
    fn new(ibs: &IbPool, target: Target, is_primary: bool) -> Result<Self, Failure> {
        Ok(match (target, is_primary) {
            (Target::Pm4(target), true) => Self::Pm4(Recorder::new(ibs.stream(target, FIRST_DWORDS)?)),
            (Target::Pm4(target), false) => Self::Pm4(Recorder::new(ibs.secondary(target, FIRST_DWORDS)?)),
            (Target::Sdma(target), true) => Self::Sdma(Recorder::new(ibs.stream(target, FIRST_DWORDS)?)),
            (Target::Sdma(target), false) => Self::Sdma(Recorder::new(ibs.secondary(target, FIRST_DWORDS)?)),
        })
    }

    /// Returns the interface with the commands of all rings.
    pub(crate) fn commands(&mut self) -> &mut dyn Commands {
        match self {
            Self::Pm4(recorder) => recorder,
            Self::Sdma(recorder) => recorder,
        }
    }

    /// Records a copy of bytes. This most frequent command has its own function, because compilers do not inline it through
    /// [`AnyRecorder::commands`].
    ///
    /// # Errors
    ///
    /// The errors of [`Commands::copy`].
    #[inline]
    pub(crate) fn copy(&mut self, to: Span, from: Span) -> Result<(), CommandError> {
        match self {
            Self::Pm4(recorder) => recorder.copy(to, from),
            Self::Sdma(recorder) => recorder.copy(to, from),
        }
    }

    /// Records a copy with the copy engine's packet for tiled images. Returns `false`, and records nothing, if the ring is not a
    /// copy engine or the engine does not support this copy.
    ///
    /// # Errors
    ///
    /// The errors of the stream.
    pub(crate) fn by_engine(
        &mut self,
        copy: impl FnOnce(&mut Recorder<sdma::Version>) -> Result<(), CommandError>,
    ) -> Result<bool, Failure> {
        let Self::Sdma(recorder) = self else { return Ok(false) };
        match copy(recorder) {
            Ok(()) => Ok(true),
            // A size beyond a field of the packet, which was not recorded.
            Err(CommandError::Stream(cs::RecordError::Encode(_))) => Ok(false),
            Err(CommandError::Stream(error)) => Err(error.into()),
            Err(_) => Ok(false),
        }
    }

    fn execute(&mut self, list: &CommandList) -> Result<(), Failure> {
        match self {
            Self::Pm4(recorder) => recorder.execute(list, Inclusion::Auto)?,
            Self::Sdma(recorder) => recorder.execute(list, Inclusion::Auto)?,
        };
        Ok(())
    }

    fn finish(self) -> Result<CommandList, Failure> {
        Ok(match self {
            Self::Pm4(recorder) => recorder.finish()?,
            Self::Sdma(recorder) => recorder.finish()?,
        })
    }
}

/// The state of a command buffer, see section "Command Buffer Lifecycle" of the specification. The pending state is not
/// distinguished from the executable state.
#[derive(Debug)]
enum State {
    Initial,
    Recording(Box<AnyRecorder>),
    Executable(CommandList),
    /// A command could not be recorded, with the error.
    Invalid(Failure),
}

/// A `VkCommandBuffer`: commands that become a command list of the library.
pub(crate) struct CommandBuffer {
    gpu: Arc<Gpu>,
    program: Arc<Program>,
    ibs: IbPool,
    target: Target,
    is_primary: bool,
    state: Exclusive<State>,
}

impl CommandBuffer {
    /// Creates an empty command buffer.
    pub(crate) fn new(gpu: Arc<Gpu>, program: Arc<Program>, ibs: IbPool, target: Target, is_primary: bool) -> Self {
        Self { gpu, program, ibs, target, is_primary, state: Exclusive::new(State::Initial) }
    }

    /// Returns the GPU of the command buffer.
    pub(crate) fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    /// Begins recording, and discards earlier commands.
    ///
    /// # Errors
    ///
    /// The errors of the stream.
    pub(crate) fn begin(&self) -> Result<(), Failure> {
        self.reset();
        let recorder = AnyRecorder::new(&self.ibs, self.target, self.is_primary)?;
        self.state.change(|state| *state = State::Recording(Box::new(recorder))).ok_or(UNKNOWN)
    }

    /// Ends recording.
    ///
    /// # Errors
    ///
    /// The first error of a command since [`CommandBuffer::begin`], which commands themselves cannot return.
    pub(crate) fn end(&self) -> Result<(), Failure> {
        let ended = self.state.change(|state| {
            let recorded = match std::mem::replace(state, State::Initial) {
                State::Recording(recorder) => recorder.finish(),
                State::Invalid(failure) => Err(failure),
                State::Initial | State::Executable(_) => Err(UNKNOWN),
            };
            *state = State::Executable(recorded.inspect_err(|failure| *state = State::Invalid(*failure))?);
            Ok(())
        });
        ended.ok_or(UNKNOWN)?
    }

    /// Discards the recorded commands.
    pub(crate) fn reset(&self) {
        let _dropped_after_the_change = self.state.change(|state| std::mem::replace(state, State::Initial));
    }

    /// Returns the recorded command list.
    ///
    /// # Errors
    ///
    /// `VK_ERROR_UNKNOWN` if recording has not ended, which valid usage forbids.
    pub(crate) fn list(&self) -> Result<&CommandList, Failure> {
        match self.state.get().ok_or(UNKNOWN)? {
            State::Executable(list) => Ok(list),
            State::Invalid(failure) => Err(*failure),
            State::Initial | State::Recording(_) => Err(UNKNOWN),
        }
    }

    /// Runs a recording function. The first error is returned by [`CommandBuffer::end`].
    #[inline]
    pub(crate) fn attempt(&self, record: impl FnOnce(&mut AnyRecorder) -> Result<(), Failure>) {
        self.state.change(|state| {
            if let State::Recording(recorder) = state
                && let Err(failure) = record(recorder)
            {
                *state = State::Invalid(failure);
            }
        });
    }

    /// Records commands.
    pub(crate) fn record(&self, record: impl FnOnce(&mut dyn Commands) -> Result<(), Failure>) {
        self.attempt(|recorder| record(recorder.commands()));
    }

    /// Refuses a command: [`CommandBuffer::end`] fails, and a message states the reason.
    pub(crate) fn refuse(&self, command: &str, reason: &str) {
        self.attempt(|_recorder| Err(UNKNOWN));
        self.program.refuse(command, reason);
    }

    /// Records a secondary command buffer. A command buffer that executes itself, which valid usage forbids, is refused: its list
    /// would be looked at while it changes.
    pub(crate) fn execute(&self, secondary: &Self) {
        if std::ptr::eq(self, secondary) {
            return self.attempt(|_recorder| Err(UNKNOWN));
        }
        let list = secondary.list();
        self.attempt(|recorder| recorder.execute(list?));
    }
}

impl From<CommandError> for Failure {
    /// Returns the result of a command that could not be recorded: a violation of valid usage, or an error of the stream.
    fn from(error: CommandError) -> Self {
        match error {
            CommandError::Stream(error) => error.into(),
            _ => Self(vk::Result::ERROR_UNKNOWN),
        }
    }
}
