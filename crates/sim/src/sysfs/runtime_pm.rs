//! Runtime power management of simulated devices: their sleep, and who wakes them.

use amdgpu_uapi::Errno;

use super::{sleep::wakes, store::Setting};
use crate::{
    device::SimDevice,
    kernel::{
        power::{RuntimeStatus, WakeCause, WakeUps},
        process::identity::Process,
    },
};

impl SimDevice {
    /// Returns `true` if the driver has suspended the GPU ([`SimOptions::runtime_pm`](crate::SimOptions::runtime_pm)). The question
    /// does not wake it.
    ///
    /// ```
    /// use amdgpu_sim::{SimDevice, SimOptions, WakeCause, profile, sysfs::Setting};
    ///
    /// let options = SimOptions { runtime_pm: true, ..SimOptions::default() };
    /// let gpu = SimDevice::new(profile("navi21").ok_or("no such chip")?, options);
    /// gpu.write_setting(Setting::AutosuspendDelay, b"0")?;
    /// assert!(gpu.is_suspended());
    /// let _file = gpu.open();
    /// assert_eq!(gpu.wake_ups().latest[0].cause, WakeCause::Open);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn is_suspended(&self) -> bool {
        self.runtime_status().is_some_and(|status| status.is_suspended)
    }

    /// Returns the accesses that woke the GPU. The question does not wake it.
    pub fn wake_ups(&self) -> WakeUps {
        self.gpu().runtime(|state, _| state.wake_ups()).unwrap_or_default()
    }

    /// Wakes a suspended GPU if the reading of a file does so ([`wakes`]). `file` is its path in the device's directory.
    /// A program that shows clients the files of a device calls this before each reading.
    pub fn before_read(&self, file: &str) {
        if wakes(file.rsplit('/').next().unwrap_or_default()) && !self.is_unplugged() {
            drop(self.gpu().awake(Process::current, WakeCause::Read(file.to_owned())));
        }
    }

    /// Writes a setting of runtime power management.
    ///
    /// # Errors
    ///
    /// EINVAL if the text is not one of the file's values; EIO if the driver does not suspend the device.
    ///
    /// Source: Linux 6.12 `drivers/base/power/sysfs.c`, `control_store` and `autosuspend_delay_ms_store`.
    pub fn write_setting(&self, setting: Setting, text: &[u8]) -> Result<(), Errno> {
        let text = std::str::from_utf8(text).map_err(|_| Errno::EINVAL)?;
        let text = text.strip_suffix('\n').unwrap_or(text);
        let written = match setting {
            Setting::Control => {
                let is_allowed = match text {
                    "auto" => true,
                    "on" => false,
                    _ => return Err(Errno::EINVAL),
                };
                self.gpu().runtime(|state, now| state.allow(is_allowed, now, Process::current))
            }
            Setting::AutosuspendDelay => {
                let delay = text.parse().map_err(|_| Errno::EINVAL)?;
                self.gpu().runtime(|state, now| state.set_delay(delay, now, Process::current))
            }
        };
        written.ok_or(Errno::EIO)
    }

    /// Returns the state of runtime power management; `None` if the driver does not suspend the device.
    pub(crate) fn runtime_status(&self) -> Option<RuntimeStatus> {
        self.gpu().runtime(|state, now| state.status(now))
    }

    /// Returns `true` if the driver suspends the device when it is not used.
    pub fn has_runtime_pm(&self) -> bool {
        self.runtime_status().is_some()
    }
}
