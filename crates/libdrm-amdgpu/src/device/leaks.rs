//! Objects that a client did not free, if `AMDGPU_WINSYS_LEAKS` asks for it.

use std::sync::atomic::Ordering::Acquire;

use super::Device;
use crate::{bo::Bo, border::complain, environment};

/// Prints the objects of a device that are still there, a line for each BO and one for each other kind.
pub(super) fn report(device: &Device) {
    if environment::variable("AMDGPU_WINSYS_LEAKS").is_none_or(|value| value.is_empty() || value == "0") {
        return;
    }
    let name = device.title().to_string_lossy();
    for bo in device.table.lock().records().filter_map(|record| record.cast::<Bo>().get().ok()) {
        let (handle, size, count) = (bo.handle(), bo.size(), bo.references());
        let plural = if count == 1 { "" } else { "s" };
        let mapped = if bo.mapping().count() > 0 { ", mapped for the CPU" } else { "" };
        complain(format_args!(
            "amdgpu-winsys: {name}: not freed: BO {handle} of {size} bytes, {count} reference{plural}{mapped}"
        ));
    }
    let others = [
        ("context", device.contexts.load(Acquire)),
        ("BO list", device.lists.load(Acquire)),
        ("address range", device.addresses.live()),
    ];
    for (what, count) in others.into_iter().filter(|&(_, count)| count > 0) {
        let plural = if count == 1 { "" } else { "s" };
        complain(format_args!("amdgpu-winsys: {name}: not freed: {count} {what}{plural}"));
    }
}
