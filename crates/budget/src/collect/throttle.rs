//! The reasons for which the firmware holds the clocks of a GPU back, as the file `gpu_metrics` has them.
//!
//! Source: Linux 6.12 `kgd_pp_interface.h`, `struct gpu_metrics_v1_0` to `v1_3` and `v2_0` to `v2_4`; `amdgpu_smu.h`,
//! `SMU_THROTTLER_*_BIT`. The revisions 1.4 and later of accelerators and 3.0 of newer APUs count the time in each state instead, which one
//! reading does not tell.

use crate::files::Files;

/// The bits of `indep_throttle_status`, which mean the same for all chips.
const REASONS: [(u32, &str); 34] = [
    (0, "power limit (PPT0)"),
    (1, "power limit (PPT1)"),
    (2, "power limit (PPT2)"),
    (3, "power limit (PPT3)"),
    (4, "sustained power limit (SPL)"),
    (5, "fast power limit (FPPT)"),
    (6, "slow power limit (SPPT)"),
    (7, "slow power limit of the APU (SPPT_APU)"),
    (16, "current of the graphics supply (TDC_GFX)"),
    (17, "current of the SoC supply (TDC_SOC)"),
    (18, "current of the memory supply (TDC_MEM)"),
    (19, "current of the core supply (TDC_VDD)"),
    (20, "current of the CVIP supply (TDC_CVIP)"),
    (21, "peak current of the CPU (EDC_CPU)"),
    (22, "peak current of the graphics part (EDC_GFX)"),
    (23, "power converter (APCC)"),
    (32, "temperature of the GPU (TEMP_GPU)"),
    (33, "temperature of the CPU cores (TEMP_CORE)"),
    (34, "temperature of the memory (TEMP_MEM)"),
    (35, "temperature of the edge (TEMP_EDGE)"),
    (36, "temperature of the hot spot (TEMP_HOTSPOT)"),
    (37, "temperature of the SoC (TEMP_SOC)"),
    (38, "temperature of the graphics regulator (TEMP_VR_GFX)"),
    (39, "temperature of the SoC regulator (TEMP_VR_SOC)"),
    (40, "temperature of a memory regulator (TEMP_VR_MEM0)"),
    (41, "temperature of a memory regulator (TEMP_VR_MEM1)"),
    (42, "temperature of the liquid (TEMP_LIQUID0)"),
    (43, "temperature of the liquid (TEMP_LIQUID1)"),
    (44, "hot regulator (VRHOT0)"),
    (45, "hot regulator (VRHOT1)"),
    (46, "signal of the CPU (PROCHOT_CPU)"),
    (47, "signal of the graphics part (PROCHOT_GFX)"),
    (56, "firmware's performance policy (PPM)"),
    (57, "firmware's reliability limit (FIT)"),
];

/// Returns the reasons of a GPU whose directory in sysfs is given; none if it is not throttled, or if that is not known.
pub(super) fn reasons(files: &dyn Files, directory: &str) -> Vec<String> {
    let mut bytes = Vec::new();
    match files.read_piece(&format!("{directory}/gpu_metrics"), &mut bytes) {
        Ok(()) => of_metrics(&bytes),
        Err(_) => Vec::new(),
    }
}

/// Returns the reasons in the content of `gpu_metrics`.
fn of_metrics(bytes: &[u8]) -> Vec<String> {
    let &[low, high, format, content, ..] = bytes else { return Vec::new() };
    if usize::from(u16::from_le_bytes([low, high])) != bytes.len() {
        return Vec::new();
    }
    let dword = |at: usize| bytes.get(at..at + 4).and_then(|part| part.try_into().ok()).map(u32::from_le_bytes);
    let qword = |at: usize| bytes.get(at..at + 8).and_then(|part| part.try_into().ok()).map(u64::from_le_bytes);
    let independent = match (format, content) {
        (1, 3) => qword(112),
        (2, 2..=4) => qword(120),
        _ => None,
    };
    // The older field differs between chips. All ones means that the firmware does not tell.
    let own = match (format, content) {
        (1, 0..=3) => dword(68),
        (2, 0) => dword(112),
        (2, 1..=4) => dword(108),
        _ => None,
    };
    match (independent, own) {
        (Some(status), _) if status != u64::MAX && status != 0 => names(status),
        (Some(0), _) => Vec::new(),
        (_, Some(status)) if status != u32::MAX && status != 0 => {
            vec![format!("reason {status:#x}, whose bits differ between chips")]
        }
        _ => Vec::new(),
    }
}

fn names(status: u64) -> Vec<String> {
    let mut names: Vec<String> =
        REASONS.iter().filter(|(bit, _)| status >> bit & 1 == 1).map(|(_, name)| (*name).to_owned()).collect();
    let known = REASONS.iter().fold(0, |known, (bit, _)| known | 1_u64 << bit);
    if status & !known != 0 {
        names.push(format!("unknown bits {:#x}", status & !known));
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of a revision with a value at an offset.
    fn metrics(size: u16, revision: [u8; 2], at: usize, value: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; usize::from(size)];
        bytes[..2].copy_from_slice(&size.to_le_bytes());
        bytes[2..4].copy_from_slice(&revision);
        bytes[at..at + value.len()].copy_from_slice(value);
        bytes
    }

    #[test]
    fn the_field_of_each_revision_is_read() {
        let hot = (1_u64 << 36 | 1).to_le_bytes();
        let expected = ["power limit (PPT0)", "temperature of the hot spot (TEMP_HOTSPOT)"];
        for (size, revision, at) in [(120, [1, 3], 112), (128, [2, 2], 120), (152, [2, 3], 120), (168, [2, 4], 120)] {
            assert_eq!(of_metrics(&metrics(size, revision, at, &hot)), expected, "{revision:?}");
        }
        for (size, revision, at) in
            [(80, [1, 0], 68), (96, [1, 1], 68), (104, [1, 2], 68), (120, [2, 0], 112), (120, [2, 1], 108)]
        {
            let found = of_metrics(&metrics(size, revision, at, &5_u32.to_le_bytes()));
            assert_eq!(found, ["reason 0x5, whose bits differ between chips"], "{revision:?}");
        }
    }

    #[test]
    fn what_is_unknown_or_not_throttled_has_no_reason() {
        assert_eq!(of_metrics(&metrics(120, [1, 3], 112, &[0; 8])), [""; 0]);
        // The firmware does not tell either.
        let mut nothing = metrics(120, [1, 3], 112, &[0xff; 8]);
        nothing[68..72].fill(0xff);
        assert_eq!(of_metrics(&nothing), [""; 0]);
        for bytes in [&b""[..], &[4, 0, 1], &[120, 0, 1, 3], &[4, 0, 9, 9]] {
            assert_eq!(of_metrics(bytes), [""; 0]);
        }
        assert_eq!(names(1 << 60), ["unknown bits 0x1000000000000000"]);
        assert!(REASONS.is_sorted_by_key(|(bit, _)| *bit));
    }
}
