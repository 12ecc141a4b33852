//! Observation of a device's compute shaders.

use std::{
    fmt,
    io::Write,
    ops::ControlFlow,
    sync::{Arc, PoisonError},
};

use amdgpu_waves::{Event, Watch, WatchReport};

/// An event of a device whose compute shaders are watched. Its text form is one line.
#[derive(Debug)]
#[non_exhaustive]
pub enum ShaderNews<'n> {
    /// A dispatch starts.
    Start {
        /// The address of the program: 48 bits.
        program: u64,
        /// The exclusive end of the work-group IDs in x, y and z.
        groups: [u32; 3],
        /// The packet that started the dispatch.
        packet: String,
    },
    /// A wave did something that is watched.
    Wave(&'n Event),
    /// The dispatch ended.
    End {
        /// The result: completion, a page fault, or the reason why a wave hangs.
        how: String,
        /// The counts of the dispatch.
        report: WatchReport,
    },
}

impl fmt::Display for ShaderNews<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start { program, groups: [x, y, z], packet } => {
                write!(f, "dispatch of {program:#x}, groups up to {x},{y},{z}: {packet}")
            }
            Self::Wave(event) => event.fmt(f),
            Self::End { how, report } => {
                write!(f, "{how}; {}; {} waits missing; ", report.counts, report.waits)?;
                write!(f, "{} pairs of instructions race", report.races)?;
                if report.missed > 0 {
                    write!(f, ", {} accesses were not looked at", report.missed)?;
                }
                Ok(())
            }
        }
    }
}

/// A receiver of events, which is called on the threads of the rings. If it returns [`ControlFlow::Break`] for
/// [`ShaderNews::Wave`], the wave hangs its ring.
pub type ShaderSink = Arc<dyn Fn(&ShaderNews<'_>) -> ControlFlow<()> + Send + Sync>;

/// Returns a receiver that writes each event as a line. If `breaks` is `true`, a wave that stores to a watched address hangs. Write
/// errors are ignored.
///
/// Several devices may write to one output.
pub fn shader_log(out: impl Write + Send + 'static, breaks: bool) -> ShaderSink {
    let out = std::sync::Mutex::new(out);
    Arc::new(move |news| {
        let mut out = out.lock().unwrap_or_else(PoisonError::into_inner);
        // The program continues if the log cannot be written.
        let _ = writeln!(out, "{news}");
        if matches!(news, ShaderNews::End { .. }) {
            let _ = out.flush();
        }
        match news {
            ShaderNews::Wave(Event::Store(_)) if breaks => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    })
}

/// A watch and its receiver.
#[derive(Clone)]
pub(crate) struct Watching {
    pub(crate) watch: Watch,
    pub(crate) sink: ShaderSink,
}
