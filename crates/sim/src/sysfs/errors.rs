//! Files that count errors of the PCI Express link and of memory with ECC.

use std::fmt::Write as _;

use crate::{device::SimDevice, kernel::health::HardwareError};

/// The names of a link's correctable errors, in the order of their bits.
const CORRECTABLE: [&str; 8] =
    ["RxErr", "BadTLP", "BadDLLP", "Rollover", "Timeout", "NonFatalErr", "CorrIntErr", "HeaderOF"];

/// The names of a link's uncorrectable errors, in the order of their bits.
const UNCORRECTABLE: [&str; 18] = [
    "Undefined",
    "DLP",
    "SDES",
    "TLP",
    "FCP",
    "CmpltTO",
    "CmpltAbrt",
    "UnxCmplt",
    "RxOF",
    "MalfTLP",
    "ECRC",
    "UnsupReq",
    "ACSViol",
    "UncorrIntErr",
    "BlockedTLP",
    "AtomicOpBlocked",
    "TLPBlockedErr",
    "PoisonTLPBlocked",
];

/// Returns the files of errors in a device's directory: the path of each file in the directory, and its current contents. These are
/// the AER counters of the PCI device and, with [`SimOptions::ras`](crate::SimOptions::ras), the directory `ras`.
///
/// Source: Linux 6.12 `drivers/pci/pcie/aer.c`, `aer_stats_attrs`; `amdgpu_ras.c`, `amdgpu_ras_sysfs_read` and
/// `amdgpu_ras_sysfs_features_read`.
pub fn error_files(device: &SimDevice) -> Vec<(&'static str, String)> {
    let count = |error| device.error_count(error);
    let mut files = vec![
        ("aer_dev_correctable", table(&CORRECTABLE, "BadTLP", "COR", count(HardwareError::AerCorrectable))),
        ("aer_dev_fatal", table(&UNCORRECTABLE, "DLP", "FATAL", count(HardwareError::AerFatal))),
        ("aer_dev_nonfatal", table(&UNCORRECTABLE, "CmpltTO", "NONFATAL", count(HardwareError::AerNonfatal))),
    ];
    if device.has_ras() {
        let (ue, ce) = (count(HardwareError::RasUncorrectable), count(HardwareError::RasCorrectable));
        // Bit 0 stands for the memory controller (`AMDGPU_RAS_BLOCK__UMC`).
        files.push(("ras/features", "feature mask: 0x1\n".to_owned()));
        files.push(("ras/umc_err_count", format!("ue: {ue}\nce: {ce}\nde: 0\n")));
    }
    files
}

/// Returns a line with the count of each error, and a line with the total. Only the error `counted` has a count.
fn table(names: &[&str], counted: &str, total: &str, count: u64) -> String {
    let mut text = String::new();
    for name in names {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name} {}", if *name == counted { count } else { 0 });
    }
    let _ = writeln!(text, "TOTAL_ERR_{total} {count}");
    text
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::{SimOptions, profile};

    fn device(ras: bool) -> SimDevice {
        SimDevice::new(profile("navi21").unwrap(), SimOptions { ras, ..SimOptions::default() })
    }

    fn files(device: &SimDevice) -> HashMap<&'static str, String> {
        error_files(device).into_iter().collect()
    }

    #[test]
    fn errors_of_the_link_are_counted_by_kind_and_in_total() {
        let device = device(false);
        let before = files(&device);
        assert!(before["aer_dev_fatal"].starts_with("Undefined 0\nDLP 0\nSDES 0\n"));
        assert!(before["aer_dev_correctable"].ends_with("\nHeaderOF 0\nTOTAL_ERR_COR 0\n"));
        for error in [HardwareError::AerFatal, HardwareError::AerNonfatal, HardwareError::AerCorrectable] {
            device.inject_hardware_error(error);
        }
        device.inject_hardware_error(HardwareError::AerCorrectable);
        let after = files(&device);
        for (name, lines) in [
            ("aer_dev_fatal", ["\nDLP 1\n", "\nTOTAL_ERR_FATAL 1\n"]),
            ("aer_dev_nonfatal", ["\nCmpltTO 1\n", "\nTOTAL_ERR_NONFATAL 1\n"]),
            ("aer_dev_correctable", ["\nBadTLP 2\n", "\nTOTAL_ERR_COR 2\n"]),
        ] {
            assert!(lines.iter().all(|line| after[name].contains(line)), "{name}: {}", after[name]);
        }
    }

    #[test]
    fn memory_errors_are_counted_where_the_memory_has_ecc() {
        assert!(files(&device(false)).keys().all(|name| !name.starts_with("ras/")));
        let device = device(true);
        assert_eq!(files(&device)["ras/umc_err_count"], "ue: 0\nce: 0\nde: 0\n");
        device.inject_hardware_error(HardwareError::RasCorrectable);
        device.inject_hardware_error(HardwareError::RasCorrectable);
        device.inject_hardware_error(HardwareError::RasUncorrectable);
        assert_eq!(files(&device)["ras/umc_err_count"], "ue: 1\nce: 2\nde: 0\n");
    }
}
