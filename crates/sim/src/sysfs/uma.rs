//! The carve-out of an APU: the part of the machine's memory that the firmware sets aside as VRAM, and the files that choose it.

use std::sync::Arc;

use amdgpu_uapi::Errno;

use crate::{chips::Changes, device::SimDevice, features::Features};

/// The path of the file with the number of the chosen option, in the device's directory.
pub const CARVE_OUT: &str = "uma/carveout";

const MIB: u64 = 1 << 20;
/// The sizes that firmware offers, in MiB. No capture contains those of a real machine.
const OFFERED: [u64; 10] = [512, 1 << 10, 2 << 10, 4 << 10, 8 << 10, 16 << 10, 32 << 10, 48 << 10, 64 << 10, 96 << 10];
/// The step in MiB to which a carve-out is rounded up: what it lacks is reserved.
const STEP: u64 = 256;

/// Returns the sizes of carve-outs to choose from in MiB, the smallest first, with the number of the present one. None of them leaves
/// less than a quarter of the machine's memory to the system.
fn offered(device: &SimDevice) -> Option<(Vec<u64>, usize)> {
    if !device.has(Features::UMA_CARVEOUT) || !device.profile().is_apu() {
        return None;
    }
    let own = device.profile().memory.vram.total_heap_size.div_ceil(MIB).next_multiple_of(STEP);
    let all = own + memory_beside(device) / MIB;
    let mut sizes: Vec<u64> = OFFERED.into_iter().filter(|&size| size == own || size <= all / 4 * 3).collect();
    if let Err(place) = sizes.binary_search(&own) {
        sizes.insert(place, own);
    }
    let present = sizes.iter().position(|&size| size == own)?;
    Some((sizes, present))
}

/// Returns the memory of the machine in bytes beside the carve-out.
fn memory_beside(device: &SimDevice) -> u64 {
    let profile = device.profile();
    profile.system_memory.unwrap_or_else(|| profile.memory.gtt.total_heap_size.saturating_mul(2))
}

/// Returns the current files of the directory `uma`, with their paths in the device's directory: none for a card, and before
/// Linux 7.0. On a real machine they are there if the firmware can be asked for another size.
///
/// Source: Linux 7.2 `amdgpu_acpi.c` and `amdgpu_device.c`, `carveout_options_show` and `carveout_show`.
pub fn carve_out_files(device: &SimDevice) -> Vec<(&'static str, String)> {
    let Some((sizes, present)) = offered(device) else { return Vec::new() };
    let line = |(index, &size): (usize, &u64)| {
        let name = match index {
            0 => "Minimum",
            _ if index + 1 == sizes.len() => "High",
            _ => "",
        };
        let size = if size < 1 << 10 { format!("{size} MB") } else { format!("{} GB", size >> 10) };
        format!("{index}: {name} ({size})\n")
    };
    let options = sizes.iter().enumerate().map(line).collect();
    let chosen = device.gpu().carve_out.lock().unwrap_or(present);
    vec![("uma/carveout_options", options), (CARVE_OUT, format!("{chosen}\n"))]
}

impl SimDevice {
    /// Returns `true` if the size of the carve-out can be chosen.
    pub fn has_carve_outs(&self) -> bool {
        offered(self).is_some()
    }

    /// Chooses the carve-out for the next start of the computer ([`restarted`](Self::restarted)) by a text that was written to
    /// [`CARVE_OUT`]: the number of an option. The present memory stays as it is.
    ///
    /// ```
    /// use amdgpu_sim::{KernelRelease, SimDevice, SimOptions, profile, sysfs::carve_out_files};
    ///
    /// let gpu = SimDevice::new(profile("renoir").ok_or("no such chip")?, SimOptions::of_kernel(KernelRelease::V7_2));
    /// gpu.write_carve_out(b"1\n")?;
    /// assert!(carve_out_files(&gpu).contains(&("uma/carveout", "1\n".to_owned())));
    /// assert_eq!(gpu.restarted().memory_info().vram.total_heap_size, 512 << 20);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// EINVAL if the text is not a number or there is no such option, ENOENT if the device has no such file.
    ///
    /// Source: Linux 7.2 `amdgpu_device.c`, `carveout_store`.
    pub fn write_carve_out(&self, text: &[u8]) -> Result<(), Errno> {
        let (sizes, _) = offered(self).ok_or(Errno::ENOENT)?;
        let text = std::str::from_utf8(text).map_err(|_| Errno::EINVAL)?;
        let index: usize = text.strip_suffix('\n').unwrap_or(text).parse().map_err(|_| Errno::EINVAL)?;
        if index >= sizes.len() {
            return Err(Errno::EINVAL);
        }
        *self.gpu().carve_out.lock() = Some(index);
        Ok(())
    }

    /// Restarts the computer: returns the device in a new machine, with the same options and the chosen carve-out. GTT is half of the
    /// memory that is left. This device goes on as it is.
    #[must_use]
    pub fn restarted(&self) -> Self {
        let profile = &self.gpu().facts.profile;
        let chosen = self.gpu().carve_out.lock().zip(offered(self));
        let chosen = chosen.filter(|(index, (_, present))| index != present);
        let changed = chosen.and_then(|(index, (sizes, present))| {
            let (size, own) = (sizes.get(index)?, sizes.get(present)?);
            let all = memory_beside(self).saturating_add(own * MIB);
            let left = all.checked_sub(size * MIB)?;
            let changes = Changes { carve_out: Some(size * MIB), system_memory: Some(left), ..Changes::default() };
            profile.changed(&changes).ok()
        });
        Self::new(changed.map_or_else(|| Arc::clone(profile), Arc::new), self.gpu().facts.options)
    }
}
