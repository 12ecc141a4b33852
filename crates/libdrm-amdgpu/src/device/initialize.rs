//! Initialisation, with libdrm's requests in libdrm's order.

use std::{ffi::c_int, os::fd::AsRawFd as _, sync::Arc};

use amdgpu_winsys::{
    uapi::{Client, InfoHwIp, query},
    winsys::Errno,
};

use super::{
    Device, Opened,
    device::duplicate,
    facts::{DevInfoAnswer, ask, version},
    gpu_info::GpuInfo,
    list::List,
    names,
    node::NodeName,
};
use crate::{
    border::{Answer, Failure, Plainly as _, complain},
    kernel::{Lent, Trace},
    va::Bounds,
};

/// The type of graphics engines in HW_IP queries.
const GFX: u32 = 0;

/// Returns the device of a descriptor, counted up: that of the list if `shares`, or a new one.
pub(super) fn initialize(fd: c_int, shares: bool) -> Answer<*const Device> {
    let node = NodeName::of(fd);
    let is_authenticated = authenticated(fd, &node).inspect_err(|errno| {
        complain(format_args!("amdgpu_device_initialize: amdgpu_get_auth (1) failed (-1: {errno})"));
    });
    let is_authenticated = is_authenticated.plainly()?;
    let list = List::lock();
    if shares && let Some(device) = list.find(&node) {
        // Looked up again: a client may have closed the device's descriptor, and the number may be another file's.
        let kept = authenticated(device.fd(), &NodeName::of(device.fd())).inspect_err(|errno| {
            complain(format_args!("amdgpu_device_initialize: amdgpu_get_auth (2) failed (-1: {errno})"));
        });
        let kept = kept.plainly()?;
        if is_authenticated && !kept {
            device.set_names(duplicate(fd)?);
        }
        device.reference();
        return Ok(device);
    }
    let device = Device::new(open(fd, node)?);
    if shares {
        list.enter(&device);
    }
    Ok(Arc::into_raw(device))
}

/// Returns `true` if the client may use names of BOs: one that is authenticated, which clients of render nodes never are.
fn authenticated(fd: c_int, node: &NodeName) -> Result<bool, Errno> {
    if node.is_render {
        return Ok(false);
    }
    let mut client = Client::ZEROED;
    Lent::new(fd, None)?.plain(&mut client)?;
    Ok(client.auth != 0)
}

/// Looks a GPU over through a duplicate of the descriptor.
fn open(fd: c_int, node: NodeName) -> Answer<Opened> {
    let trace = Trace::from_environment();
    let lent = Lent::new(fd, trace.as_ref())?;
    let (major, minor) = version(&lent)?;
    if major != 3 {
        complain(format_args!(
            "amdgpu_device_initialize: DRM version is {major}.{minor} but this driver is only compatible with 3.x.x."
        ));
        return Err(Errno::EBADF.into());
    }
    let own = duplicate(fd)?;
    let lent = Lent::new(own.as_raw_fd(), trace.as_ref())?;
    let mut works = [0_u32];
    ask(&lent, query::ACCEL_WORKING, [0; 4], &mut works).inspect_err(|errno| {
        complain(format_args!("amdgpu_device_initialize: amdgpu_query_info(ACCEL_WORKING) failed ({errno})"));
    })?;
    if works == [0] {
        complain(format_args!("amdgpu_device_initialize: AMDGPU_INFO_ACCEL_WORKING = 0"));
        return Err(Errno::EBADF.into());
    }
    let mut dev_info = [DevInfoAnswer::default()];
    ask(&lent, query::DEV_INFO, [0; 4], &mut dev_info).map_err(not_described)?;
    let [dev_info] = dev_info;
    let info = GpuInfo::collect(&lent, &dev_info).map_err(not_described)?;
    let dev = &dev_info.known;
    let bounds = Bounds {
        low_offset: dev.virtual_address_offset,
        low_max: dev.virtual_address_max,
        high_offset: dev.high_va_offset,
        high_max: dev.high_va_max,
        alignment: dev.virtual_address_alignment,
        has_split: is_split(&lent, minor),
    };
    let name = names::of_gpu(dev);
    Ok(Opened {
        major: major.cast_unsigned(),
        minor: minor.cast_unsigned(),
        dev_info,
        info,
        bounds,
        name,
        node,
        fd: own,
        trace,
    })
}

fn not_described(errno: Errno) -> Failure {
    complain(format_args!("amdgpu_device_initialize: amdgpu_query_gpu_info_init failed ({errno})"));
    errno.into()
}

/// Returns `true` if half of the topmost half of the addresses is for sparse memory: on chips with graphics of generations 6 to 12,
/// but for the 9th. Errors count as no.
fn is_split(lent: &Lent<'_>, minor: i32) -> bool {
    let mut count = [0_u32];
    if ask(lent, query::HW_IP_COUNT, [GFX, 0, 0, 0], &mut count).is_err() || count == [0] {
        return false;
    }
    let mut ip = [InfoHwIp::ZEROED];
    if ask(lent, query::HW_IP_INFO, [GFX, 0, 0, 0], &mut ip).is_err() {
        return false;
    }
    let [ip] = ip;
    let generation = match ip.ip_discovery_version {
        0 => ip.hw_ip_version_major,
        _ if minor < 48 => ip.hw_ip_version_major,
        version => version >> 16 & 0xff,
    };
    (6..=12).contains(&generation) && generation != 9
}
