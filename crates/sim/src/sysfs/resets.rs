//! Files that list the supported resets of each kind of ring.

use amdgpu_hw::Ip;

use crate::{device::SimDevice, features::Features};

/// Returns the reset files in a device's directory: none before Linux 6.13.
///
/// Source: Linux 6.13 `amdgpu_gfx.c`, `amdgpu_gfx_sysfs_reset_mask_init`; `amdgpu_sdma.c`, `amdgpu_jpeg.c`; Linux 6.17
/// `amdgpu_vcn.c`, `amdgpu_vcn_sysfs_reset_mask_init`.
pub fn reset_files(device: &SimDevice) -> Vec<(&'static str, String)> {
    let files = [
        ("gfx_reset_mask", Ip::Gfx),
        ("compute_reset_mask", Ip::Compute),
        ("sdma_reset_mask", Ip::Sdma),
        ("vcn_reset_mask", Ip::VcnEnc),
        ("jpeg_reset_mask", Ip::VcnJpeg),
    ];
    let is_named = device.has(Features::SOFT_RECOVERY_WORD);
    let text = |kinds: String| if is_named { kinds.replace("soft ", "soft_recovery ") } else { kinds };
    let listed = |(name, ip)| device.reset_kinds(ip).map(|kinds| (name, text(format!("{kinds}\n"))));
    files.into_iter().filter_map(listed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{KernelRelease, SimOptions, profile};

    fn listed(chip: &str, kernel: KernelRelease) -> String {
        let options = SimOptions { video: true, ..SimOptions::of_kernel(kernel) };
        let device = SimDevice::new(profile(chip).unwrap(), options);
        let lines = reset_files(&device).into_iter();
        let lines = lines.map(|(name, text)| format!("{}: {text}", name.trim_end_matches("_reset_mask")));
        lines.collect::<Vec<_>>().concat()
    }

    #[test]
    fn linux_6_12_has_no_files_of_resets() {
        for profile in crate::profiles() {
            assert_eq!(listed(&profile.name, KernelRelease::V6_12), "");
        }
    }

    #[test]
    fn linux_6_13_resets_copy_engines_alone_and_command_processors_of_gfx11() {
        let of = |chip| listed(chip, KernelRelease::V6_13);
        for old in ["pitcairn", "polaris10", "stoney"] {
            assert_eq!(of(old), "", "{old}");
        }
        assert_eq!(of("vega10"), "gfx: soft full \ncompute: soft full \n");
        assert_eq!(of("navi21"), "gfx: soft full \ncompute: soft full \nsdma: queue full \n");
        assert_eq!(of("vangogh"), "gfx: soft full \ncompute: soft full \nsdma: full \n");
        // The capture has older microcode than the driver requires.
        assert_eq!(of("navi31"), "gfx: soft full \ncompute: soft full \nsdma: queue full \njpeg: full \n");
    }

    #[test]
    fn linux_6_17_resets_queues_of_gfx10_and_compute_queues_of_gfx9_alone() {
        let of = |chip| listed(chip, KernelRelease::V6_17);
        for old in ["pitcairn", "polaris10", "stoney"] {
            assert_eq!(of(old), "", "{old}");
        }
        assert_eq!(of("vega10"), "gfx: soft full \ncompute: soft queue full \n");
        let new = "gfx: soft queue full \ncompute: soft queue full \n";
        assert_eq!(of("navi21"), format!("{new}sdma: queue full \nvcn: queue full \njpeg: queue \n"));
        assert_eq!(of("vangogh"), format!("{new}sdma: full \nvcn: queue full \njpeg: queue \n"));
        let expected = "gfx: soft full \ncompute: soft full \nsdma: queue full \nvcn: queue full \njpeg: queue \n";
        assert_eq!(of("navi31"), expected);
    }

    #[test]
    fn microcode_decides_on_gfx11() {
        let mut profile = profile("navi31").unwrap().clone();
        let mut of = |me, mec| {
            (profile.firmware.me.ver, profile.firmware.mec.ver) = (me, mec);
            let device = SimDevice::new(&profile, SimOptions::of_kernel(KernelRelease::V6_13));
            reset_files(&device).into_iter().filter(|(_, text)| text == "soft queue full \n").count()
        };
        assert_eq!([of(2280, 2410), of(2279, 2410), of(2280, 2409)], [2, 0, 0]);
    }
}
