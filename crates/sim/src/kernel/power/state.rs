//! The state of a device's power management.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::{
    activity::{Activity, WorkKind},
    figures::{Figures, Load},
    runtime::RuntimePm,
    script::LoadScript,
};
use crate::chips::Profile;

/// The load of a device, from its rings or from a script.
#[derive(Debug)]
pub(crate) struct Power {
    pub(crate) activity: Activity,
    born: Instant,
    script: Mutex<Option<(LoadScript, Instant)>>,
    /// The state of runtime power management, if the driver has it for this device.
    pub(crate) runtime: Option<RuntimePm>,
}

impl Power {
    /// Returns the state of an idle device.
    pub(crate) fn new(runtime: Option<RuntimePm>) -> Self {
        Self { activity: Activity::new(), born: Instant::now(), script: Mutex::default(), runtime }
    }

    /// Keeps the GPU active for a job or user queue, which an active GPU got.
    pub(crate) fn begin_use(&self) {
        if let Some(runtime) = &self.runtime {
            runtime.begin_use();
        }
    }

    /// Ends a use of the GPU.
    pub(crate) fn end_use(&self) {
        if let Some(runtime) = &self.runtime {
            runtime.end_use();
        }
    }

    /// Sets the source of the load: a script, or the rings.
    pub(crate) fn follow(&self, script: Option<LoadScript>) {
        *self.script.lock() = script.map(|script| (script, Instant::now()));
    }

    /// Returns the script if the load is taken from one.
    pub(crate) fn script(&self) -> Option<LoadScript> {
        self.script.lock().as_ref().map(|(script, _)| script.clone())
    }

    /// Returns the time since the device was created.
    pub(crate) fn uptime(&self) -> Duration {
        self.born.elapsed()
    }

    /// Returns the figures of now, with a given temperature (thousandths of a degree Celsius) or the calculated one.
    pub(crate) fn figures(&self, profile: &Profile, temperature: Option<i32>) -> Figures {
        let load = self.load();
        Figures::new(profile, Load { temperature: temperature.or(load.temperature), ..load })
    }

    fn load(&self) -> Load {
        let video = self.activity.percent(WorkKind::Video);
        let step = self.script.lock().as_ref().and_then(|(script, since)| script.at(since.elapsed()));
        if let Some(step) = step {
            return Load { shaders: step.shaders, memory: step.memory, video, temperature: step.temperature };
        }
        let [shaders, copies] = [WorkKind::Shaders, WorkKind::Copies].map(|kind| self.activity.percent(kind));
        // Copies use memory only. Shaders are assumed to use memory half of their time.
        Load { shaders, memory: (copies + shaders / 2).min(100), video, temperature: None }
    }
}
