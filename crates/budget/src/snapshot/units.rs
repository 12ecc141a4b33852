//! Sizes as text: IEC units, rounded down, and back.

use std::fmt;

/// Units of sizes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Units {
    /// The largest unit in which the size is at least one, with three significant digits.
    #[default]
    Auto,
    /// Exact.
    Bytes,
    /// Whole MiB, rounded down.
    #[cfg_attr(feature = "cli", value(name = "MiB", alias = "mib"))]
    MiB,
    /// GiB with two digits, rounded down.
    #[cfg_attr(feature = "cli", value(name = "GiB", alias = "gib"))]
    GiB,
}

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
const TIB: u64 = 1 << 40;

impl Units {
    /// Returns a size as text with a unit. Sizes are rounded down, so that the text never promises more than there is.
    pub fn text(self, bytes: u64) -> String {
        match self {
            Self::Bytes => bytes.to_string(),
            Self::MiB => format!("{} MiB", bytes / MIB),
            Self::GiB => decimal(bytes, GIB, 2, "GiB"),
            Self::Auto if bytes < KIB => format!("{bytes} B"),
            Self::Auto if bytes < MIB => format!("{} KiB", bytes / KIB),
            Self::Auto if bytes < GIB => format!("{} MiB", bytes / MIB),
            Self::Auto if bytes < TIB => decimal(bytes, GIB, 2, "GiB"),
            Self::Auto => decimal(bytes, TIB, 2, "TiB"),
        }
    }

    /// Returns a size like [`text`](Self::text), or `-` if it is unknown.
    pub fn known(self, bytes: Option<u64>) -> String {
        bytes.map_or_else(|| "-".to_owned(), |bytes| self.text(bytes))
    }

    /// Returns the next unit, for the key that cycles through the units.
    #[must_use]
    pub const fn next(self) -> Self {
        match self {
            Self::Auto => Self::MiB,
            Self::MiB => Self::GiB,
            Self::GiB => Self::Bytes,
            Self::Bytes => Self::Auto,
        }
    }
}

/// Digits are cut, not rounded, in integers: no size is too large for it.
fn decimal(bytes: u64, unit: u64, digits: u32, name: &str) -> String {
    let scale = 10_u128.pow(digits);
    let hundredths = u128::from(bytes) * scale / u128::from(unit);
    format!("{}.{:0width$} {name}", hundredths / scale, hundredths % scale, width = digits as usize)
}

/// Returns `part` as a percentage of `whole`, rounded down; `None` if `whole` is zero.
pub fn percent(part: u64, whole: u64) -> Option<u64> {
    let share = (u128::from(part) * 100).checked_div(u128::from(whole))?;
    u64::try_from(share).ok()
}

/// The reason why a text is not a size.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SizeError {
    /// The text has no decimal number.
    #[error("'{0}' is not a number of bytes such as 4GiB, 512M or 1048576")]
    Number(String),
    /// The unit does not exist.
    #[error("'{0}' is not a unit: B, KiB, MiB, GiB and TiB are (K, M, G and T mean the same)")]
    Unit(String),
    /// The size has more than 64 bits.
    #[error("'{0}' is more than any memory has")]
    TooLarge(String),
}

/// Parses a size such as `4GiB`, `1.5 GiB`, `512M` or `1048576`. Units are powers of 1024.
///
/// # Errors
///
/// [`SizeError`] if the number or the unit is invalid, or the size is too large.
pub fn parse_size(text: &str) -> Result<u64, SizeError> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let bad = || SizeError::Number(text.to_owned());
    let large = || SizeError::TooLarge(text.to_owned());
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || fraction.len() > 9 || number.contains('.') && !digits(fraction) {
        return Err(bad());
    }
    let factor = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kib" => KIB,
        "m" | "mib" => MIB,
        "g" | "gib" => GIB,
        "t" | "tib" => TIB,
        _ => return Err(SizeError::Unit(unit.trim().to_owned())),
    };
    let whole = whole.parse::<u64>().map_err(|_| large())?.checked_mul(factor).ok_or_else(large)?;
    if fraction.is_empty() {
        return Ok(whole);
    }
    let scale = 10_u128.pow(fraction.len() as u32);
    let part = fraction.parse::<u128>().map_err(|_| bad())? * u128::from(factor) / scale;
    whole.checked_add(part as u64).ok_or_else(large)
}

/// An age in seconds, whose text form has a suitable unit.
pub struct Age(pub u64);

impl fmt::Display for Age {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0;
        match seconds {
            0..60 => write!(f, "{seconds}s"),
            60..3600 => write!(f, "{}m", seconds / 60),
            3600..86400 => write!(f, "{}h{:02}m", seconds / 3600, seconds / 60 % 60),
            _ => write!(f, "{}d{:02}h", seconds / 86400, seconds / 3600 % 24),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_rounded_down_and_bytes_are_exact() {
        let almost = (8 << 30) - 1;
        assert_eq!(Units::Auto.text(almost), "7.99 GiB");
        assert_eq!(Units::MiB.text(almost), "8191 MiB");
        assert_eq!(Units::GiB.text(almost), "7.99 GiB");
        assert_eq!(Units::Bytes.text(almost), "8589934591");
        assert_eq!(Units::Auto.text(1023), "1023 B");
        assert_eq!(Units::Auto.text(u64::MAX), "16777215.99 TiB");
        assert_eq!(Units::Auto.known(None), "-");
    }

    #[test]
    fn sizes_are_read_as_people_write_them() {
        for (text, bytes) in
            [("4GiB", 4 << 30), ("1.5 GiB", 3 << 29), ("512M", 512 << 20), ("7", 7), ("0.5k", 512), ("2t", 2 << 40)]
        {
            assert_eq!(parse_size(text), Ok(bytes), "{text}");
        }
        for text in ["", "GiB", "-1", "1.", ".5", "1..2", "1e9", "1.2.3", "4 GB", "99999999999T", "1.0000000000"] {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_share_of_nothing_is_unknown() {
        assert_eq!((percent(1, 0), percent(1, 3), percent(u64::MAX, u64::MAX)), (None, Some(33), Some(100)));
    }

    #[test]
    fn ages_have_two_places_at_most() {
        assert_eq!([5, 65, 3700, 90_000].map(|s| Age(s).to_string()), ["5s", "1m", "1h01m", "1d01h"]);
    }
}
