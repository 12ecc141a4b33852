//! Observation of a device's compute shaders.

use std::{
    fmt,
    io::Write,
    ops::ControlFlow,
    sync::{Arc, PoisonError},
};

use amdgpu_waves::{Event, Watch, WatchReport};

/// News of a device whose compute shaders are watched. Each is text of one line.
#[derive(Debug)]
#[non_exhaustive]
pub enum ShaderNews<'n> {
    /// A dispatch starts.
    Start {
        /// The address of the program, in 48 bits.
        program: u64,
        /// The group after the last in x, y and z.
        groups: [u32; 3],
        /// The packet that started it.
        packet: String,
    },
    /// A wave did something that the watch asks for.
    Wave(&'n Event),
    /// The dispatch ended.
    End {
        /// The end: done, a page fault, or the reason why a wave hangs.
        how: String,
        /// The counts.
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
                write!(f, "{how}; {}; {} pairs of instructions race", report.counts, report.races)?;
                if report.missed > 0 {
                    write!(f, ", {} accesses were not looked at", report.missed)?;
                }
                Ok(())
            }
        }
    }
}

/// A receiver of news, on the threads of the rings. [`ControlFlow::Break`] at [`ShaderNews::Wave`] makes the wave hang its ring.
pub type ShaderSink = Arc<dyn Fn(&ShaderNews<'_>) -> ControlFlow<()> + Send + Sync>;

/// Returns a receiver that writes each news as a line. With `breaks`, a wave that stores to a watched address hangs there. What
/// cannot be written is lost.
///
/// Several devices may write to one place.
pub fn shader_log(out: impl Write + Send + 'static, breaks: bool) -> ShaderSink {
    let out = std::sync::Mutex::new(out);
    Arc::new(move |news| {
        let mut out = out.lock().unwrap_or_else(PoisonError::into_inner);
        // A program goes on when its log has no room.
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

/// A watch, and who hears of it.
#[derive(Clone)]
pub(crate) struct Watching {
    pub(crate) watch: Watch,
    pub(crate) sink: ShaderSink,
}
