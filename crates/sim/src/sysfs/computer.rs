//! Files of the whole computer: its sleep, and the alarm of its clock.

use amdgpu_uapi::Errno;

/// The path of the file that suspends the computer. It contains [`SLEEPS`].
pub const STATE: &str = "/sys/power/state";
/// The directory of the computer's clocks, of which there is one.
pub const CLOCKS: &str = "/sys/class/rtc";
/// The path of the file with the alarm of the computer's clock.
pub const ALARM: &str = "/sys/class/rtc/rtc0/wakealarm";
/// The contents of [`STATE`]: the kinds of sleep that there are.
pub const SLEEPS: &str = "freeze mem\n";

/// Checks the text that was written to [`STATE`]: `mem` or `freeze`, with a line break or without.
///
/// # Errors
///
/// EPERM for `disk`, because hibernation is not available, EINVAL for any other text.
///
/// Source: Linux 7.2 `kernel/power/main.c`, `decode_state` and `state_store`; `hibernate.c`, `hibernate`.
pub fn check_sleep(written: &[u8]) -> Result<(), Errno> {
    match written.split(|&byte| byte == b'\n').next().unwrap_or_default() {
        b"mem" | b"freeze" => Ok(()),
        b"disk" => Err(Errno::EPERM),
        _ => Err(Errno::EINVAL),
    }
}

/// The alarm of the computer's clock. Times are seconds since 1970.
///
/// ```
/// use amdgpu_sim::sysfs::WakeAlarm;
///
/// let mut alarm = WakeAlarm::default();
/// alarm.write(b"+30\n", 1000)?;
/// assert_eq!((alarm.text(1000), alarm.text(1030)), ("1030\n".to_owned(), String::new()));
/// # Ok::<(), amdgpu_uapi::Errno>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WakeAlarm(Option<u64>);

impl WakeAlarm {
    /// Returns the contents of the file at a time: the time of the alarm, or nothing if none is set or it has rung.
    pub fn text(self, now: u64) -> String {
        self.0.filter(|&at| at > now).map(|at| format!("{at}\n")).unwrap_or_default()
    }

    /// Sets the alarm by a text that was written: seconds since 1970, or after `+` seconds from now, or after `+=` seconds from the
    /// alarm that is set. A time that is not in the future switches the alarm off.
    ///
    /// # Errors
    ///
    /// EINVAL if the text is not a number or there is no alarm to add to, EBUSY if an alarm is set already.
    ///
    /// Source: Linux 7.2 `drivers/rtc/sysfs.c`, `wakealarm_store`.
    pub fn write(&mut self, written: &[u8], now: u64) -> Result<(), Errno> {
        let text = std::str::from_utf8(written).map_err(|_| Errno::EINVAL)?;
        let text = text.strip_suffix('\n').unwrap_or(text);
        let (text, is_relative, is_added) = match (text.strip_prefix("+="), text.strip_prefix('+')) {
            (Some(rest), _) => (rest, true, true),
            (None, Some(rest)) => (rest, true, false),
            (None, None) => (text, false, false),
        };
        let number: i64 = text.parse().map_err(|_| Errno::EINVAL)?;
        let set = self.0.filter(|&at| at > now);
        let from = match set {
            Some(at) if is_added => at,
            _ if is_relative => now,
            _ => 0,
        };
        let at = from.saturating_add_signed(number);
        if is_added && (set.is_none() || at <= now) {
            return Err(Errno::EINVAL);
        }
        if at > now && set.is_some() && !is_added {
            return Err(Errno::EBUSY);
        }
        self.0 = Some(at).filter(|&at| at > now);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sleep_is_one_of_those_that_are_offered() {
        for (text, expected) in [
            ("mem", Ok(())),
            ("mem\n", Ok(())),
            ("freeze\n", Ok(())),
            ("disk", Err(Errno::EPERM)),
            ("standby", Err(Errno::EINVAL)),
            ("memory", Err(Errno::EINVAL)),
            ("", Err(Errno::EINVAL)),
            (" mem", Err(Errno::EINVAL)),
        ] {
            assert_eq!(check_sleep(text.as_bytes()), expected, "{text:?}");
        }
    }

    #[test]
    fn an_alarm_is_set_once_moved_by_a_sum_and_switched_off_by_the_past() {
        let mut alarm = WakeAlarm::default();
        for (text, expected, shown) in [
            ("+=5", Err(Errno::EINVAL), ""),
            ("soon", Err(Errno::EINVAL), ""),
            ("+", Err(Errno::EINVAL), ""),
            ("+30\n", Ok(()), "1030\n"),
            ("+40", Err(Errno::EBUSY), "1030\n"),
            ("2000", Err(Errno::EBUSY), "1030\n"),
            ("+=5", Ok(()), "1035\n"),
            ("0\n", Ok(()), ""),
            ("2000", Ok(()), "2000\n"),
            ("-1", Ok(()), ""),
        ] {
            assert_eq!((alarm.write(text.as_bytes(), 1000), &*alarm.text(1000)), (expected, shown), "{text:?}");
        }
        assert_eq!(alarm.write(&[0xff], 1000), Err(Errno::EINVAL));
    }
}
