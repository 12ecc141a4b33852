//! The files of the cgroup controller `dmem`, which limits and protects the VRAM of groups of processes.
//!
//! Source: Linux 7.2 `kernel/cgroup/dmem.c`; `amdgpu_vram_mgr.c`, `amdgpu_vram_mgr_init`.

use std::sync::{Arc, Weak};

use amdgpu_uapi::Errno;
use parking_lot::Mutex;

use crate::kernel::mm::bo::{
    Pools,
    groups::{NO_LIMIT, Setting},
};

/// The regions of a machine: the VRAM of each device. GTT has none.
#[derive(Debug, Default)]
pub(crate) struct Regions(Mutex<Vec<Region>>);

/// A region, which ends with its device.
#[derive(Clone, Debug)]
struct Region {
    name: String,
    pools: Weak<Pools>,
    /// `true` if a limit below the usage is taken, and evicts.
    reclaims: bool,
}

impl Regions {
    /// Adds the VRAM of the device at a PCI address.
    pub(crate) fn add(&self, pci: &str, pools: &Arc<Pools>, reclaims: bool) {
        let name = format!("drm/{pci}/vram");
        let mut regions = self.0.lock();
        regions.retain(|region| region.name != name && region.pools.strong_count() > 0);
        regions.push(Region { name, pools: Arc::downgrade(pools), reclaims });
    }

    fn present(&self) -> Vec<(Region, Arc<Pools>)> {
        let regions = self.0.lock();
        regions.iter().filter_map(|region| Some((region.clone(), region.pools.upgrade()?))).collect()
    }

    /// Returns the contents of a file of a group: a line for each region, also for those that the group never used.
    ///
    /// # Errors
    ///
    /// ENOENT if the group has no such file.
    pub(crate) fn read(&self, path: &str, file: &str) -> Result<String, Errno> {
        let regions = self.present();
        let is_root = path.trim_end_matches('/').is_empty();
        let reclaims = regions.iter().any(|(region, _)| region.reclaims);
        let value: fn(&Pools, &str) -> u64 = match file {
            _ if regions.is_empty() => return Err(Errno::ENOENT),
            "dmem.capacity" if is_root => |pools, _| pools.real_vram(),
            "dmem.current" => Pools::group_usage,
            "dmem.peak" if !is_root && reclaims => Pools::group_peak,
            "dmem.min" if !is_root => |pools, path| pools.group_setting(path, Setting::Min),
            "dmem.low" if !is_root => |pools, path| pools.group_setting(path, Setting::Low),
            "dmem.max" if !is_root => |pools, path| pools.group_setting(path, Setting::Max),
            _ => return Err(Errno::ENOENT),
        };
        let line = |(region, pools): &(Region, Arc<Pools>)| match value(pools, path) {
            NO_LIMIT => format!("{} max\n", region.name),
            bytes => format!("{} {bytes}\n", region.name),
        };
        Ok(regions.iter().map(line).collect())
    }

    /// Writes a file of a group. What stands before a line that is refused is done.
    ///
    /// # Errors
    ///
    /// ENOENT if the group has no such file, EACCES for one that cannot be written, EINVAL for an unknown region or a value that is no
    /// number of bytes.
    pub(crate) fn write(&self, path: &str, file: &str, text: &str) -> Result<(), Errno> {
        let regions = self.present();
        self.read(path, file)?;
        let setting = match file {
            "dmem.min" => Setting::Min,
            "dmem.low" => Setting::Low,
            "dmem.max" => Setting::Max,
            _ => return Err(Errno::EACCES),
        };
        let takes_one = regions.iter().any(|(region, _)| region.reclaims);
        let lines: Vec<&str> = text.split('\n').map(|line| line.trim_matches(is_space)).collect();
        if takes_one && lines.iter().filter(|line| !line.is_empty()).count() != 1 {
            return Err(Errno::EINVAL);
        }
        for line in lines.into_iter().filter(|line| !line.is_empty()) {
            let (name, value) = line.split_once([' ', '\t']).ok_or(Errno::EINVAL)?;
            let (region, pools) = regions.iter().find(|(region, _)| region.name == name).ok_or(Errno::EINVAL)?;
            pools.set_group(path, setting, parse(value)?, region.reclaims);
        }
        Ok(())
    }
}

/// Returns `true` for what the kernel strips from the ends of lines.
const fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t'..='\r')
}

/// Reads a number of bytes: decimal, octal or hexadecimal as in C, with a suffix for 1024, its square and so on; or `max`. As in the
/// kernel, a suffix alone is 0.
///
/// Source: Linux 7.2 `lib/cmdline.c`, `memparse`.
fn parse(text: &str) -> Result<u64, Errno> {
    if text == "max" {
        return Ok(NO_LIMIT);
    }
    let (digits, radix) = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) if digits.starts_with(|c: char| c.is_ascii_hexdigit()) => (digits, 16),
        _ if text.starts_with('0') => (text, 8),
        _ => (text, 10),
    };
    let end = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
    let (digits, suffix) = digits.split_at(end);
    let digit = |c: char| u64::from(c.to_digit(radix).unwrap_or(0));
    let number = digits.chars().fold(0_u64, |sum, c| sum.wrapping_mul(radix.into()).wrapping_add(digit(c)));
    let shift = match suffix {
        "" if end > 0 => 0,
        "k" | "K" => 10,
        "m" | "M" => 20,
        "g" | "G" => 30,
        "t" | "T" => 40,
        "p" | "P" => 50,
        "e" | "E" => 60,
        _ => return Err(Errno::EINVAL),
    };
    Ok(number << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_the_kernel_reads_them() {
        for (text, value) in
            [("0", 0), ("4096", 4096), ("010", 8), ("0x10k", 16 << 10), ("3G", 3 << 30), ("K", 0), ("max", NO_LIMIT)]
        {
            assert_eq!(parse(text), Ok(value), "{text}");
        }
        for text in ["", " 5", "5 K", "5KB", "-1", "1.5G", "MAX", "0x"] {
            assert_eq!(parse(text), Err(Errno::EINVAL), "{text}");
        }
    }
}
