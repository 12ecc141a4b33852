//! The rings of a devcoredump.

use amdgpu_winsys::cs::{DecodeFault, FieldError, Target, dump::Dumper};

/// The unit in dwords to which the kernel pads each job on a graphics or compute ring, and on a ring of a copy engine, so that jobs
/// begin at its multiples.
///
/// Source: Linux 6.12 `gfx_v9_0.c` to `gfx_v12_0.c` (`align_mask` 0xff), `sdma_v4_0.c` to `sdma_v7_0.c` (0xf or 0xff).
const JOB_UNITS: (u64, u64) = (256, 16);
/// The most dwords of a ring that are searched for the last job.
const MOST: u64 = 1 << 14;

/// A ring with its contents.
#[derive(Default)]
pub(in crate::input) struct Ring {
    pub(in crate::input) name: String,
    pub(in crate::input) read: u64,
    pub(in crate::input) write: u64,
    pub(in crate::input) mask: u64,
    pub(in crate::input) dwords: Vec<u32>,
}

impl Ring {
    /// Returns the number of dwords from the read pointer to the write pointer. Both pointers increase beyond the end of the ring.
    pub(in crate::input) fn waiting(&self) -> u64 {
        self.write.wrapping_sub(self.read) & self.mask
    }

    /// Returns the dwords from the read pointer to the write pointer, or the first of them if the dump is truncated.
    pub(in crate::input) fn pending(&self) -> Vec<u32> {
        self.part(self.read, self.waiting())
    }

    fn part(&self, from: u64, len: u64) -> Vec<u32> {
        let at = |step| usize::try_from(from.wrapping_add(step) & self.mask).ok();
        // A truncated ring has no dword at this index.
        (0..len).map_while(|step| self.dwords.get(at(step)?).copied()).collect()
    }

    /// Returns the dwords before the write pointer with the last job, from the start of a job. An engine that has fetched all of its
    /// ring still works on that job, because it fetches long before it executes.
    pub(in crate::input) fn last_jobs(&self, target: Option<Target>) -> Vec<u32> {
        let size = self.mask.saturating_add(1).min(self.dwords.len() as u64).min(MOST);
        let unit = if matches!(target, Some(Target::Sdma(_))) { JOB_UNITS.1 } else { JOB_UNITS.0 };
        let before = |len: u64| self.part(self.write.wrapping_sub(len), len);
        let first = unit.min(size);
        let has_job = |dwords: &[u32]| {
            target.is_some_and(|target| {
                let dump = Dumper::new(target).dump(dwords, None);
                let calls = dump.ibs.iter().flat_map(|ib| &ib.packets).any(|packet| !packet.next.is_empty());
                // A packet of another length than it should have shows a wrong start, a field that is not known does not.
                let is_misread = |fault: &DecodeFault| match fault {
                    DecodeFault::Field { source, .. } => {
                        matches!(source, FieldError::Surplus { .. } | FieldError::Missing { .. })
                    }
                    _ => true,
                };
                calls && !dump.problems().any(|(_, error)| is_misread(&error.fault))
            })
        };
        let mut lens = (1..).map(|count| count * unit).take_while(|&len| len <= size).chain([size]);
        lens.find_map(|len| Some(before(len)).filter(|dwords| has_job(dwords))).unwrap_or_else(|| before(first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::Engine;
    use amdgpu_winsys::winsys::GfxLevel;

    /// A ring of 1024 dwords whose last job is longer than one unit.
    #[test]
    fn a_job_that_is_longer_than_its_unit_is_shown_from_its_start() {
        let mut dwords = vec![0xffff_1000; 1024];
        // Another job's remains, which end in the middle of a packet, are before it.
        dwords[511] = 0xc003_1500;
        dwords[512..516].copy_from_slice(&[0xc002_3f00, 0x10_0000, 0, 9]);
        let ring = Ring { read: 1024, write: 1024, mask: 1023, dwords, ..Ring::default() };
        let shown = ring.last_jobs(Some(Engine::Gfx.target(GfxLevel::Gfx10_3)));
        assert_eq!((shown.len(), shown[0]), (512, 0xc002_3f00));
    }

    #[test]
    fn absurd_pointers_and_masks_are_no_trouble() {
        for mask in [0, 1, 7, 0xffff_ffff, u64::MAX] {
            for write in [0, 5, u64::MAX] {
                let ring = Ring { read: 3, write, mask, dwords: vec![0xc002_3f00; 8], ..Ring::default() };
                assert!(ring.pending().len() <= 8 && ring.last_jobs(None).len() <= 8, "{mask:#x} {write:#x}");
            }
        }
    }
}
