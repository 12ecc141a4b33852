//! Settings of a world's devices, from the environment.

use std::{fs::File, io::Read as _, path::Path};

use amdgpu_sim::{FeatureChanges, KernelRelease, LoadError, LoadScript, LockupTimeout, SimOptions};

use crate::{
    DISPLAY_VARIABLE, FEATURES_VARIABLE, KERNEL_VARIABLE, KERNEL_VRAM_VARIABLE, LOCKUP_VARIABLE, RAS_VARIABLE,
    RUNTIME_PM_VARIABLE, SHADER_INSTRUCTIONS_VARIABLE, SHADER_THREADS_VARIABLE, USER_QUEUES_VARIABLE, VIDEO_VARIABLE,
    WIDE_FILLS_VARIABLE, WorldError,
};

/// The kernel of a world that names none: the newest whose behaviour was compared with Linux itself.
pub const DEFAULT_KERNEL: KernelRelease = KernelRelease::V7_2;

/// Returns the options of a world's devices. Each environment variable that is set and not empty changes an option; `variable`
/// returns the value of a variable.
///
/// # Errors
///
/// [`WorldError::Kernel`], [`WorldError::Features`], [`WorldError::Display`], [`WorldError::Lockup`], [`WorldError::KernelVram`],
/// [`WorldError::ShaderInstructions`] or [`WorldError::ShaderThreads`] if the value of the variable is invalid.
pub fn options(variable: impl Fn(&str) -> Option<String>) -> Result<SimOptions, WorldError> {
    let set = |name| variable(name).filter(|text| !text.is_empty());
    // As the kernel, which lets a job touch what its submission does not list.
    let kernel = set(KERNEL_VARIABLE).map_or(Ok(DEFAULT_KERNEL), |text| text.parse())?;
    let mut options = SimOptions { strict: false, power: true, ..SimOptions::of_kernel(kernel) };
    if let Some(text) = set(FEATURES_VARIABLE) {
        options.features = text.parse::<FeatureChanges>()?.applied_to(options.features);
        options.lockup_timeout = LockupTimeout::of_kernel(options.features);
    }
    options.display = set(DISPLAY_VARIABLE).map(|text| text.parse()).transpose()?;
    if let Some(text) = set(LOCKUP_VARIABLE) {
        options.lockup_timeout = LockupTimeout::parse(&text, options.features)?;
    }
    if let Some(text) = set(KERNEL_VRAM_VARIABLE) {
        let bytes = text.parse::<u64>().ok().and_then(|mebibytes| mebibytes.checked_mul(1 << 20));
        options.kernel_vram = bytes.ok_or(WorldError::KernelVram { text })?;
    }
    if let Some(text) = set(SHADER_INSTRUCTIONS_VARIABLE) {
        options.shader_instructions = text.parse().map_err(|_| WorldError::ShaderInstructions { text })?;
    }
    if let Some(text) = set(SHADER_THREADS_VARIABLE) {
        let threads = text.parse().ok().filter(|threads| (1..=256).contains(threads));
        options.shader_threads = threads.ok_or(WorldError::ShaderThreads { text })?;
    }
    let is_on = |name| set(name).is_some_and(|text| text != "0");
    options.wide_fills = is_on(WIDE_FILLS_VARIABLE);
    options.video = is_on(VIDEO_VARIABLE);
    options.ras = is_on(RAS_VARIABLE);
    options.runtime_pm = is_on(RUNTIME_PM_VARIABLE);
    options.user_queues = is_on(USER_QUEUES_VARIABLE);
    Ok(options)
}

/// Reads a load script from a file.
///
/// # Errors
///
/// [`WorldError::Load`] if the file cannot be read or is not a load script.
pub fn load(path: &Path) -> Result<LoadScript, WorldError> {
    let failed = |reason: String| WorldError::Load { path: path.to_owned(), reason };
    let file = File::open(path).map_err(|error| failed(error.to_string()))?;
    let mut text = String::new();
    file.take(LONGEST_LOAD).read_to_string(&mut text).map_err(|error| failed(error.to_string()))?;
    text.parse().map_err(|error: LoadError| failed(error.to_string()))
}

/// Bytes of a load's file that are read.
const LONGEST_LOAD: u64 = 1 << 20;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use amdgpu_sim::Features;

    use super::*;

    #[test]
    fn a_variable_says_what_the_kernel_has() {
        let with = |text: &str| options(|name| (name == KERNEL_VRAM_VARIABLE).then(|| text.to_owned()));
        assert_eq!(with("").unwrap().kernel_vram, 0);
        assert_eq!(with("24").unwrap().kernel_vram, 24 << 20);
        for wrong in ["much", "-1", "18446744073709551615"] {
            assert!(with(wrong).unwrap_err().to_string().contains(wrong));
        }
    }

    #[test]
    fn a_variable_limits_the_instructions_of_a_dispatch() {
        let with = |text: &str| options(|name| (name == SHADER_INSTRUCTIONS_VARIABLE).then(|| text.to_owned()));
        assert_eq!(with("").unwrap().shader_instructions, SimOptions::SHADER_INSTRUCTIONS);
        assert_eq!(with("5000000000").unwrap().shader_instructions, 5_000_000_000);
        for wrong in ["many", "-1", "1e9"] {
            assert!(with(wrong).unwrap_err().to_string().contains(wrong));
        }
    }

    #[test]
    fn a_variable_limits_the_threads_of_a_dispatch() {
        let with = |text: &str| options(|name| (name == SHADER_THREADS_VARIABLE).then(|| text.to_owned()));
        assert_eq!(with("").unwrap().shader_threads, SimOptions::default().shader_threads);
        assert_eq!(with("3").unwrap().shader_threads, 3);
        for wrong in ["many", "-1", "0", "257"] {
            assert!(with(wrong).unwrap_err().to_string().contains(wrong));
        }
    }

    #[test]
    fn a_variable_names_the_kernel() {
        let with = |text: &str| options(|name| (name == KERNEL_VARIABLE).then(|| text.to_owned()));
        let reported = |text: &str| with(text).map(|options| (options.features, options.drm_minor)).unwrap();
        assert_eq!(reported(""), (Features::of(DEFAULT_KERNEL), 64));
        assert_eq!(reported("6.12"), (Features::empty(), 61));
        for kernel in KernelRelease::ALL {
            assert_eq!(reported(&kernel.to_string()), (Features::of(kernel), kernel.drm_minor()));
        }
        assert!(with("5.4").unwrap_err().to_string().contains("\"5.4\""));
    }

    #[test]
    fn a_variable_changes_the_features_of_the_kernel() {
        let with = |kernel: &str, changes: &str, timeout: &str| {
            options(|name| match name {
                KERNEL_VARIABLE => Some(kernel.to_owned()),
                FEATURES_VARIABLE => Some(changes.to_owned()),
                LOCKUP_VARIABLE => Some(timeout.to_owned()),
                _ => None,
            })
        };
        let old = with("6.17", "+list-handles,-client-name", "").unwrap();
        let expected =
            Features::of(KernelRelease::V6_17).difference(Features::CLIENT_NAME).union(Features::LIST_HANDLES);
        assert_eq!(old.features, expected);
        assert_eq!((old.drm_minor, old.lockup_timeout), (64, LockupTimeout::DEFAULT));
        let two = Duration::from_secs(2);
        assert_eq!(with("6.12", "+short-lockup", "").unwrap().lockup_timeout, LockupTimeout::all(two));
        assert_eq!(with("7.2", "", "500").unwrap().lockup_timeout, LockupTimeout::all(Duration::from_millis(500)));
        assert_eq!(with("7.2", "-short-lockup", "").unwrap().lockup_timeout, LockupTimeout::DEFAULT);
        assert!(with("6.12", "+speed", "").unwrap_err().to_string().contains("\"speed\""));
    }

    #[test]
    fn a_variable_plugs_a_display_in() {
        let with = |text: &str| options(|name| (name == DISPLAY_VARIABLE).then(|| text.to_owned()));
        assert_eq!(with("").unwrap().display, None);
        assert_eq!(with("800x600").unwrap().display, "800x600".parse().ok());
        assert!(with("large").unwrap_err().to_string().contains("\"large\""));
    }

    #[test]
    fn switches_are_on_unless_they_are_empty_or_0() {
        for (text, is_on) in [("", false), ("0", false), ("1", true)] {
            let with = |set| options(|name| (name == set).then(|| text.to_owned())).unwrap();
            let (fills, video) = (with(WIDE_FILLS_VARIABLE), with(VIDEO_VARIABLE));
            assert_eq!((fills.wide_fills, fills.video), (is_on, false), "{text:?}");
            assert_eq!((video.wide_fills, video.video), (false, is_on), "{text:?}");
            assert_eq!(with(USER_QUEUES_VARIABLE).user_queues, is_on, "{text:?}");
            assert_eq!(with(RAS_VARIABLE).ras, is_on, "{text:?}");
            assert_eq!(with(RUNTIME_PM_VARIABLE).runtime_pm, is_on, "{text:?}");
        }
    }

    #[test]
    fn a_variable_sets_the_lockup_timeout() {
        let with = |text: &str| options(|name| (name == LOCKUP_VARIABLE).then(|| text.to_owned()));
        let two_seconds = LockupTimeout::all(Duration::from_secs(2));
        assert_eq!(options(|_| None).unwrap().lockup_timeout, two_seconds);
        assert_eq!(with("").unwrap().lockup_timeout, two_seconds);
        assert_eq!(with("5,5,5,5").unwrap().lockup_timeout, LockupTimeout::all(Duration::from_millis(5)));
        assert!(with("soon").unwrap_err().to_string().contains("\"soon\""));
    }
}
