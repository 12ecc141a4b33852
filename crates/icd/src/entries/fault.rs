//! Reports of page faults: `VK_EXT_device_fault` and `VK_KHR_device_fault`.

use std::{
    thread,
    time::{Duration, Instant},
};

use amdgpu_winsys::winsys::{FaultAccess, FaultReport, PAGE_SIZE};
use ash::vk;

use crate::{
    border::{
        Failure, OutArray, copy_text,
        fault::{DEVICE_LOST, FaultDebugInfo, FaultInfo, MEMORY_ADDRESS, VENDOR},
        list,
    },
    objects::{Device, News},
};

/// The GPU client that fetches instructions for shaders, as the library names it.
const INSTRUCTIONS: &str = "SQC (inst)";
/// Between two looks for a fault.
const PAUSE: Duration = Duration::from_millis(1);

/// Returns the last page fault of the GPU, if there was one: the page with the kind of access, and the fault status register with the
/// hub that reported it. There is no vendor binary.
pub(crate) fn info(
    device: &Device,
    counts: &mut vk::DeviceFaultCountsEXT<'_>,
    info: Option<&mut vk::DeviceFaultInfoEXT<'_>>,
) -> Result<vk::Result, Failure> {
    let report = device.gpu.watch.fault_report(&device.gpu.device)?;
    counts.vendor_binary_size = 0;
    let found = u32::from(report.is_some());
    let Some(info) = info else {
        (counts.address_info_count, counts.vendor_info_count) = (found, found);
        return Ok(vk::Result::SUCCESS);
    };
    let room = (counts.address_info_count.min(found), counts.vendor_info_count.min(found));
    (counts.address_info_count, counts.vendor_info_count) = room;
    let Some(report) = report else {
        info.description = copy_text("no page fault");
        return Ok(vk::Result::SUCCESS);
    };
    info.description = copy_text(&report.to_string());
    if room.0 > 0 {
        list::put_first(info.p_address_infos, access(&report));
    }
    if room.1 > 0 {
        list::put_first(info.p_vendor_infos, vendor(&report));
    }
    Ok(if room == (1, 1) { vk::Result::SUCCESS } else { vk::Result::INCOMPLETE })
}

/// Returns the access that faulted, with its page.
fn access(report: &FaultReport) -> vk::DeviceFaultAddressInfoEXT {
    let address_type = match (report.status.access, report.client) {
        (FaultAccess::Write | FaultAccess::Atomic, _) => vk::DeviceFaultAddressTypeEXT::WRITE_INVALID,
        (FaultAccess::Read, Some(INSTRUCTIONS)) => vk::DeviceFaultAddressTypeEXT::EXECUTE_INVALID,
        (FaultAccess::Read, _) => vk::DeviceFaultAddressTypeEXT::READ_INVALID,
    };
    let reported_address = report.fault.page.as_u64();
    vk::DeviceFaultAddressInfoEXT { address_type, reported_address, address_precision: PAGE_SIZE }
}

/// Returns the codes of a fault.
fn vendor(report: &FaultReport) -> vk::DeviceFaultVendorInfoEXT {
    vk::DeviceFaultVendorInfoEXT {
        description: copy_text("VM fault status register, and the VM hub (type in bits 0-7, index in bits 8-15)"),
        vendor_fault_code: report.fault.status.into(),
        vendor_fault_data: report.fault.hub.into(),
    }
}

/// Returns the report that no call has returned yet, or waits for one until `timeout` nanoseconds have passed. The kernel tells the
/// last fault alone: one that equals the fault before is not noticed.
pub(crate) fn reports(
    device: &Device,
    timeout: u64,
    count: &mut u32,
    mut out: OutArray<'_, FaultInfo>,
) -> Result<vk::Result, Failure> {
    // A time beyond the clock's range is no limit.
    let until = Instant::now().checked_add(Duration::from_nanos(timeout));
    loop {
        let reported = device.faults.notify(device, |news, group| {
            let info = match news {
                News::Fault(report) => {
                    let mut info = FaultInfo::new(group, copy_text(&report.to_string()));
                    (info.flags, info.access, info.vendor) =
                        (MEMORY_ADDRESS | VENDOR, access(&report), vendor(&report));
                    info
                }
                News::Loss => {
                    let description = "the device is lost, and no page fault was recorded since the last report";
                    let mut info = FaultInfo::new(group, copy_text(description));
                    info.flags = DEVICE_LOST;
                    info
                }
            };
            let has_room = *count > 0;
            let result = out.fill(count, [info].into_iter());
            // What was only counted, or did not fit, is returned by a later call.
            (result, has_room && !out.is_null())
        })?;
        if let Some(result) = reported {
            return Ok(result);
        }
        if until.is_some_and(|until| Instant::now() >= until) {
            *count = 0;
            return Ok(vk::Result::TIMEOUT);
        }
        let rest = until.map_or(PAUSE, |until| until.saturating_duration_since(Instant::now()));
        thread::sleep(rest.min(PAUSE));
    }
}

/// Returns the vendor's crash dump, which has no bytes.
pub(crate) fn debug_info(_: &Device, info: &mut FaultDebugInfo) -> vk::Result {
    info.vendor_binary_size = 0;
    vk::Result::SUCCESS
}
