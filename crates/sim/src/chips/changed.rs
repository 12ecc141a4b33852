//! The chips with changes.

use amdgpu_hw::GfxLevel;
use amdgpu_uapi::{HeapInfo, MemoryInfo};

use super::{
    changes::{ChangeError, Changes},
    profile::Profile,
};

const MIB: u64 = 1 << 20;
const PAGE: u64 = 4096;
/// The step in which drivers round VRAM up. What a card's VRAM lacks to a multiple of it is reserved.
const VRAM_STEP: u64 = 256 * MIB;
/// The least VRAM: twice what the kernel keeps for itself.
const LEAST_VRAM: u64 = 16 * MIB;

impl Profile {
    /// Returns the chip with changes.
    ///
    /// # Errors
    ///
    /// [`ChangeError::Impossible`] if the chip cannot have this: a BAR of an APU, a carve-out of a card, or more compute units than
    /// the chip has.
    pub fn changed(&self, changes: &Changes) -> Result<Self, ChangeError> {
        let mut changed = self.clone();
        if changes.is_empty() {
            return Ok(changed);
        }
        let is_apu = self.is_apu();
        let impossible = |key, reason: &str| Err(ChangeError::Impossible { key, reason: reason.to_owned() });
        match (changes.vram, changes.carve_out, changes.bar) {
            (Some(_), ..) if is_apu => return impossible("vram", "an APU has a carve-out of the machine's memory"),
            (_, _, Some(_)) if is_apu => return impossible("bar", "all memory of an APU is visible"),
            (_, Some(_), _) if !is_apu => return impossible("carve-out", "a card has memory of its own"),
            (Some(size), ..) | (_, Some(size), _) if size < LEAST_VRAM => {
                return impossible(if is_apu { "carve-out" } else { "vram" }, "less than 16 MiB");
            }
            _ => {}
        }
        changed.memory = memory(&self.memory, changes, is_apu);
        changed.memory_usable_captured = false;
        changed.system_memory = changes.system_memory.or(self.system_memory);
        if let Some(units) = changes.compute_units {
            changed.set_compute_units(units)?;
        }
        Ok(changed)
    }

    /// Distributes active compute units evenly over the shader arrays, in whole pairs from GFX10 on.
    fn set_compute_units(&mut self, units: u32) -> Result<(), ChangeError> {
        let step = if self.gfx_level >= GfxLevel::Gfx10 { 2 } else { 1 };
        let dev = &mut self.dev_info;
        let (engines, arrays) = (dev.num_shader_engines, dev.num_shader_arrays_per_engine);
        let places: Vec<(usize, usize)> = (0..engines)
            .flat_map(|engine| (0..arrays).map(move |array| ((engine % 4) as usize, (array + engine / 4 * 2) as usize)))
            .collect();
        let in_use = |bitmap: &[[u32; 4]; 4]| -> Vec<(usize, usize)> {
            places.iter().copied().filter(|&(row, column)| bitmap[row][column] != 0).collect()
        };
        let places = in_use(&dev.cu_bitmap);
        let (count, each) = (u32::try_from(places.len()).unwrap_or(0), dev.num_cu_per_sh.min(32));
        let most = count * each;
        if units == 0 || units > most || !units.is_multiple_of(step) {
            let pairs = if step == 2 { ", in pairs" } else { "" };
            let reason = format!("{units}: the chip has {step} to {most}{pairs}");
            return Err(ChangeError::Impossible { key: "compute-units", reason });
        }
        let groups = units / step;
        for (index, (row, column)) in (0..).zip(places) {
            let share = groups / count + u32::from(index < groups % count);
            let bits = share * step;
            let mask = u32::try_from((1_u64 << bits) - 1).unwrap_or(u32::MAX);
            dev.cu_bitmap[row][column] = mask;
            dev.cu_ao_bitmap[row][column] &= mask;
        }
        dev.cu_active_number = units;
        Ok(())
    }
}

/// Returns the heaps with changes. Sizes that were captured keep their distance from the totals.
fn memory(captured: &MemoryInfo, changes: &Changes, is_apu: bool) -> MemoryInfo {
    let old = captured.vram.total_heap_size;
    let reserved = old.next_multiple_of(VRAM_STEP) - old;
    let vram = match (changes.vram, changes.carve_out) {
        (Some(size), _) if size.is_multiple_of(VRAM_STEP) => size - reserved,
        (Some(size), _) | (None, Some(size)) => size,
        (None, None) => old,
    };
    let old_visible = captured.cpu_accessible_vram.total_heap_size;
    let visible = match changes.bar {
        Some(bar) => bar.min(vram),
        None if is_apu || old_visible == old => vram,
        None => old_visible.min(vram),
    };
    let half = changes.system_memory.map(|memory| memory / 2 / PAGE * PAGE);
    let gtt = changes.gtt.or(half).unwrap_or(captured.gtt.total_heap_size);
    let heap = |total: u64| HeapInfo {
        total_heap_size: total,
        usable_heap_size: total,
        heap_usage: 0,
        max_allocation: total / 4 * 3,
    };
    MemoryInfo { vram: heap(vram), cpu_accessible_vram: heap(visible), gtt: heap(gtt) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chips::profile;

    fn changed(chip: &str, changes: &str) -> Result<Profile, ChangeError> {
        profile(chip).unwrap().changed(&changes.parse()?)
    }

    #[test]
    fn a_bar_is_the_visible_part_of_vram() {
        for (chip, bar, expected) in [("navi31", "bar=256M", 256 << 20), ("navi21", "bar=64G", 0x3_ff00_0000)] {
            let memory = changed(chip, bar).unwrap().memory;
            assert_eq!(memory.cpu_accessible_vram.total_heap_size, expected);
            assert_eq!(memory.vram.total_heap_size, profile(chip).unwrap().memory.vram.total_heap_size);
        }
    }

    #[test]
    fn other_sizes_of_vram_lack_what_the_kernel_reserves() {
        let memory = changed("navi31", "vram=20G").unwrap().memory;
        assert_eq!(memory.vram.total_heap_size, (20 << 30) - (16 << 20));
        assert_eq!(memory.cpu_accessible_vram.total_heap_size, memory.vram.total_heap_size, "all of it is visible");
        let small = changed("navi21", "vram=8G").unwrap().memory;
        assert_eq!(small.cpu_accessible_vram.total_heap_size, 256 << 20, "the BAR stays");
    }

    #[test]
    fn half_of_the_system_memory_is_gtt_and_a_carve_out_is_all_of_vram() {
        let memory = changed("gfx1151", "carve-out=512M:memory=128G").unwrap().memory;
        let totals = [memory.vram, memory.cpu_accessible_vram, memory.gtt].map(|heap| heap.total_heap_size);
        assert_eq!(totals, [512 << 20, 512 << 20, 64 << 30]);
    }

    #[test]
    fn compute_units_are_distributed_over_the_arrays() {
        let dev = changed("navi31", "compute-units=84").unwrap().dev_info;
        let units: Vec<u32> = dev.cu_bitmap.iter().flatten().map(|mask| mask.count_ones()).filter(|&n| n > 0).collect();
        assert_eq!((dev.cu_active_number, units.iter().sum::<u32>(), units.len()), (84, 84, 12));
        assert!(units.iter().all(|units| [6, 8].contains(units)), "{units:?}");
        let vega = changed("vega10", "compute-units=55").unwrap().dev_info;
        assert_eq!(vega.cu_bitmap.iter().flatten().map(|mask| mask.count_ones()).sum::<u32>(), 55);
    }

    #[test]
    fn what_a_chip_cannot_have_is_refused() {
        for (chip, text, message) in [
            ("navi31", "carve-out=1G", "carve-out: a card has memory of its own"),
            ("renoir", "vram=1G", "vram: an APU has a carve-out of the machine's memory"),
            ("renoir", "bar=256M", "bar: all memory of an APU is visible"),
            ("navi31", "vram=8M", "vram: less than 16 MiB"),
            ("navi31", "compute-units=97", "compute-units: 97: the chip has 2 to 96, in pairs"),
            ("navi31", "compute-units=98", "compute-units: 98: the chip has 2 to 96, in pairs"),
            ("navi31", "compute-units=0", "compute-units: 0: the chip has 2 to 96, in pairs"),
            ("vega10", "compute-units=65", "compute-units: 65: the chip has 1 to 64"),
        ] {
            assert_eq!(changed(chip, text).unwrap_err().to_string(), message);
        }
    }
}
