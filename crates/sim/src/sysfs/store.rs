//! Writable files in sysfs.

use amdgpu_uapi::Errno;

/// A file that can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Store {
    /// A non-zero number removes the device of the directory: [`SimDevice::unplug`](crate::SimDevice::unplug).
    ///
    /// Source: Linux 6.12 `pci-sysfs.c`, `remove_store`.
    Remove,
    /// A non-zero number discovers removed devices again: [`SimDevice::found_again`](crate::SimDevice::found_again).
    ///
    /// Source: Linux 6.12 `pci-sysfs.c`, `rescan_store` and `dev_rescan_store`.
    Rescan,
    /// A setting of runtime power management: [`SimDevice::write_setting`](crate::SimDevice::write_setting).
    Setting(Setting),
    /// The name of a sleep suspends the computer with all its GPUs, and wakes it: [`SimDevice::suspend`](crate::SimDevice::suspend).
    ///
    /// Source: Linux 7.2 `kernel/power/main.c`, `state_store`.
    Suspend,
    /// A time sets the alarm of the computer's clock: [`WakeAlarm`](super::WakeAlarm).
    Alarm,
    /// The number of an option chooses the carve-out of an APU for the next start of the computer:
    /// [`SimDevice::write_carve_out`](crate::SimDevice::write_carve_out).
    CarveOut,
    /// Anything deletes the core dump with this number.
    ///
    /// Source: Linux 6.12 `drivers/base/devcoredump.c`, `devcd_data_write`.
    Coredump(u64),
    /// The number 1 deletes all core dumps, and there will be no others.
    ///
    /// Source: Linux 6.12 `drivers/base/devcoredump.c`, `disabled_store`.
    DisableCoredumps,
}

/// A setting of runtime power management, which exists with [`SimOptions::runtime_pm`](crate::SimOptions::runtime_pm).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Setting {
    /// `power/control`: `auto` permits suspension, `on` prevents it.
    Control,
    /// `power/autosuspend_delay_ms`: the delay in milliseconds; a negative one prevents suspension.
    AutosuspendDelay,
}

impl Setting {
    /// All settings.
    pub const ALL: [Self; 2] = [Self::Control, Self::AutosuspendDelay];

    /// Returns the path of the file in the device's directory.
    pub const fn path(self) -> &'static str {
        match self {
            Self::Control => "power/control",
            Self::AutosuspendDelay => "power/autosuspend_delay_ms",
        }
    }
}

/// The path of the file that rescans all PCI buses.
pub const RESCAN: &str = "/sys/bus/pci/rescan";
/// The maximum number of bytes of a write: a page.
const PAGE: usize = 4096;

/// Parses the text that was written to a file and returns `true` if it is a non-zero number.
///
/// The number is decimal, hexadecimal after `0x`, or octal after `0`. It may have a plus sign before it and a line break after it.
///
/// # Errors
///
/// EINVAL if the text is not a number, ERANGE if the number has more than 64 bits.
///
/// Source: Linux 6.12 `lib/kstrtox.c`, `kstrtoul`.
pub fn is_true(written: &[u8]) -> Result<bool, Errno> {
    let written = written.get(..PAGE).unwrap_or(written);
    // The kernel's text ends at a NUL.
    let text = written.split(|&byte| byte == 0).next().unwrap_or_default();
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    let text = text.strip_prefix(b"+").unwrap_or(text);
    let (digits, base) = match text {
        [b'0', b'x' | b'X', digits @ ..] if digits.first().is_some_and(u8::is_ascii_hexdigit) => (digits, 16),
        [b'0', _, ..] => (text, 8),
        _ => (text, 10),
    };
    if digits.is_empty() {
        return Err(Errno::EINVAL);
    }
    let mut number = 0_u64;
    for &digit in digits {
        let digit = char::from(digit).to_digit(base).ok_or(Errno::EINVAL)?;
        let next = number.checked_mul(base.into()).and_then(|number| number.checked_add(digit.into()));
        number = next.ok_or(Errno::ERANGE)?;
    }
    Ok(number != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_kernel() {
        for (text, expected) in [
            ("1\n", Ok(true)),
            ("0\n", Ok(false)),
            ("+1", Ok(true)),
            ("0x10", Ok(true)),
            ("010\n", Ok(true)),
            ("00", Ok(false)),
            ("18446744073709551615", Ok(true)),
            ("1\0junk", Ok(true)),
            ("18446744073709551616", Err(Errno::ERANGE)),
            ("", Err(Errno::EINVAL)),
            ("\n", Err(Errno::EINVAL)),
            ("+", Err(Errno::EINVAL)),
            ("++1", Err(Errno::EINVAL)),
            ("-1", Err(Errno::EINVAL)),
            ("1 ", Err(Errno::EINVAL)),
            ("1\n\n", Err(Errno::EINVAL)),
            ("yes", Err(Errno::EINVAL)),
            ("0x", Err(Errno::EINVAL)),
            ("08", Err(Errno::EINVAL)),
        ] {
            assert_eq!(is_true(text.as_bytes()), expected, "{text:?}");
        }
        assert_eq!(is_true(&vec![b'1'; 1 << 16]), Err(Errno::ERANGE));
        assert_eq!(is_true(&[0xff, 0xfe]), Err(Errno::EINVAL));
    }
}
