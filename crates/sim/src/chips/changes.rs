//! Changes of a chip: what other cards and machines with the same chip have.

use std::{fmt, str::FromStr};

const MIB: u64 = 1 << 20;
const PAGE: u64 = 4096;
/// The most bytes of a heap.
const MOST_BYTES: u64 = 1 << 44;

/// The values of a card or machine that replace those of its chip's capture. The text of changes is `key=value` with colons between,
/// such as `vram=20G:compute-units=84`.
///
/// ```
/// use amdgpu_sim::{Changes, profile};
///
/// let changes: Changes = "vram=20G:compute-units=84:bar=256M".parse()?;
/// let card = profile("navi31").ok_or("no such chip")?.changed(&changes)?;
/// assert_eq!(card.dev_info.cu_active_number, 84);
/// assert_eq!(card.memory.cpu_accessible_vram.total_heap_size, 256 << 20);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// The VRAM of a card in bytes. What the kernel reserves of it is subtracted, as in the capture.
    pub vram: Option<u64>,
    /// The part of the memory in bytes that the firmware of an APU's machine sets aside as VRAM.
    pub carve_out: Option<u64>,
    /// The size of a card's BAR in bytes: the VRAM that the CPU can access.
    pub bar: Option<u64>,
    /// The size of GTT in bytes, as the kernel's parameter `gttsize` sets it.
    pub gtt: Option<u64>,
    /// The machine's memory in bytes, of which the kernel uses half for GTT.
    ///
    /// Source: Linux 6.12 `ttm_module.c`, `ttm_global_init`; `amdgpu_ttm.c`, `amdgpu_ttm_init`.
    pub system_memory: Option<u64>,
    /// The number of active compute units.
    pub compute_units: Option<u32>,
}

/// The reason why changes are refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChangeError {
    /// The text is not `key=value`.
    #[error("{text:?} is no change: key=value, where key is one of {}", KEYS.map(|(key, _)| key).join(", "))]
    Syntax {
        /// The text.
        text: String,
    },
    /// The value is no size or number.
    #[error("{key}={value}: {reason}")]
    BadValue {
        /// The key.
        key: &'static str,
        /// The value.
        value: String,
        /// The rule that the value breaks.
        reason: &'static str,
    },
    /// The chip cannot have this.
    #[error("{key}: {reason}")]
    Impossible {
        /// The key.
        key: &'static str,
        /// The rule that the change breaks.
        reason: String,
    },
}

/// The keys of changes, and whether their values are sizes.
const KEYS: [(&str, bool); 6] =
    [("vram", true), ("carve-out", true), ("bar", true), ("gtt", true), ("memory", true), ("compute-units", false)];

impl Changes {
    /// Returns `true` if nothing is changed.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns these changes with others, which win.
    #[must_use]
    pub fn then(self, later: Self) -> Self {
        Self {
            vram: later.vram.or(self.vram),
            carve_out: later.carve_out.or(self.carve_out),
            bar: later.bar.or(self.bar),
            gtt: later.gtt.or(self.gtt.filter(|_| later.system_memory.is_none())),
            system_memory: later.system_memory.or(self.system_memory.filter(|_| later.gtt.is_none())),
            compute_units: later.compute_units.or(self.compute_units),
        }
    }

    fn set(&mut self, key: &'static str, value: u64) -> Result<(), ChangeError> {
        let field = match key {
            "vram" => &mut self.vram,
            "carve-out" => &mut self.carve_out,
            "bar" => &mut self.bar,
            "gtt" => &mut self.gtt,
            "memory" => &mut self.system_memory,
            _ => {
                let units = u32::try_from(value).ok();
                let bad = || ChangeError::BadValue { key, value: value.to_string(), reason: "more than any chip has" };
                self.compute_units = Some(units.ok_or_else(bad)?);
                return Ok(());
            }
        };
        *field = Some(value);
        Ok(())
    }
}

/// Returns the key at the start of a `key=value`.
pub(super) fn key_of(text: &str) -> Option<&'static str> {
    let (name, _) = text.split_once('=')?;
    KEYS.iter().find(|(key, _)| *key == name).map(|(key, _)| *key)
}

impl FromStr for Changes {
    type Err = ChangeError;

    fn from_str(text: &str) -> Result<Self, ChangeError> {
        let mut changes = Self::default();
        for part in text.split(':').filter(|part| !part.is_empty()) {
            let syntax = || ChangeError::Syntax { text: part.chars().take(40).collect() };
            let key = key_of(part).ok_or_else(syntax)?;
            let (_, value) = part.split_once('=').ok_or_else(syntax)?;
            let is_size = KEYS.iter().any(|(name, is_size)| *name == key && *is_size);
            let bad = |reason| ChangeError::BadValue { key, value: value.chars().take(40).collect(), reason };
            let number = if is_size {
                size(value).ok_or_else(|| bad("no size such as 256M or 20G"))?
            } else {
                value.parse().map_err(|_| bad("no number"))?
            };
            if is_size && !(PAGE..=MOST_BYTES).contains(&number) {
                return Err(bad("not from 4 KiB to 16 TiB"));
            }
            changes.set(key, number)?;
        }
        Ok(changes)
    }
}

impl fmt::Display for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let values =
            [self.vram, self.carve_out, self.bar, self.gtt, self.system_memory, self.compute_units.map(u64::from)];
        let mut is_first = true;
        for ((key, is_size), value) in KEYS.into_iter().zip(values) {
            let Some(value) = value else { continue };
            f.write_str(if is_first { "" } else { ":" })?;
            is_first = false;
            match value {
                _ if is_size && value.is_multiple_of(MIB) => write!(f, "{key}={}M", value / MIB)?,
                _ => write!(f, "{key}={value}")?,
            }
        }
        Ok(())
    }
}

/// Returns a number of bytes: a number with K, M, G or T, or without.
fn size(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|last: char| !last.is_ascii_digit());
    let shift = match text.get(digits.len()..)? {
        "" => 0,
        "K" | "KiB" => 10,
        "M" | "MiB" => 20,
        "G" | "GiB" => 30,
        "T" | "TiB" => 40,
        _ => return None,
    };
    if !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_read_and_written() {
        let changes: Changes = "vram=20G:bar=256M:compute-units=84".parse().unwrap();
        assert_eq!((changes.vram, changes.bar, changes.compute_units), (Some(20 << 30), Some(256 << 20), Some(84)));
        assert_eq!(changes.to_string().parse(), Ok(changes));
        assert!("".parse::<Changes>().unwrap().is_empty());
        for (text, message) in [
            (
                "bar",
                "\"bar\" is no change: key=value, where key is one of vram, carve-out, bar, gtt, memory, compute-units",
            ),
            (
                "ram=1G",
                "\"ram=1G\" is no change: key=value, where key is one of vram, carve-out, bar, gtt, memory, compute-units",
            ),
            ("bar=256X", "bar=256X: no size such as 256M or 20G"),
            ("bar=-1", "bar=-1: no size such as 256M or 20G"),
            ("bar=", "bar=: no size such as 256M or 20G"),
            ("vram=99999999999G", "vram=99999999999G: no size such as 256M or 20G"),
            ("vram=17T", "vram=17T: not from 4 KiB to 16 TiB"),
            ("compute-units=many", "compute-units=many: no number"),
        ] {
            assert_eq!(text.parse::<Changes>().unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn a_later_size_of_the_system_memory_takes_the_place_of_a_size_of_gtt() {
        let of = |text: &str| text.parse::<Changes>().unwrap();
        assert_eq!(of("gtt=2G").then(of("memory=64G")), of("memory=64G"));
        assert_eq!(of("memory=64G:vram=1G").then(of("gtt=2G")), of("gtt=2G:vram=1G"));
    }
}
