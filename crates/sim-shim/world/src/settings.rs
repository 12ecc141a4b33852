//! Settings of a world's devices, from the environment.

use amdgpu_sim::SimOptions;

use crate::{KERNEL_VRAM_VARIABLE, LOCKUP_VARIABLE, WIDE_FILLS_VARIABLE, WorldError};

/// Returns the options of a world's devices. Each variable that is set and not empty changes one of them; `variable` looks
/// one up.
///
/// # Errors
///
/// [`WorldError::Lockup`] and [`WorldError::KernelVram`].
pub fn options(variable: impl Fn(&str) -> Option<String>) -> Result<SimOptions, WorldError> {
    let set = |name| variable(name).filter(|text| !text.is_empty());
    // As the kernel, which lets a job touch what its submission does not list.
    let mut options = SimOptions { strict: false, ..SimOptions::default() };
    if let Some(text) = set(LOCKUP_VARIABLE) {
        options.lockup_timeout = text.parse()?;
    }
    if let Some(text) = set(KERNEL_VRAM_VARIABLE) {
        let bytes = text.parse::<u64>().ok().and_then(|mebibytes| mebibytes.checked_mul(1 << 20));
        options.kernel_vram = bytes.ok_or(WorldError::KernelVram { text })?;
    }
    options.wide_fills = set(WIDE_FILLS_VARIABLE).is_some_and(|text| text != "0");
    Ok(options)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use amdgpu_sim::LockupTimeout;

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
    fn a_variable_widens_fills() {
        for (text, wide) in [("", false), ("0", false), ("1", true)] {
            let options = options(|name| (name == WIDE_FILLS_VARIABLE).then(|| text.to_owned())).unwrap();
            assert_eq!(options.wide_fills, wide, "{text:?}");
        }
    }

    #[test]
    fn a_variable_sets_the_lockup_timeout() {
        let with = |text: &str| options(|name| (name == LOCKUP_VARIABLE).then(|| text.to_owned()));
        assert_eq!(options(|_| None).unwrap().lockup_timeout, LockupTimeout::DEFAULT);
        assert_eq!(with("").unwrap().lockup_timeout, LockupTimeout::DEFAULT);
        assert_eq!(with("5,5,5,5").unwrap().lockup_timeout, LockupTimeout::all(Duration::from_millis(5)));
        assert!(with("soon").unwrap_err().to_string().contains("\"soon\""));
    }
}
