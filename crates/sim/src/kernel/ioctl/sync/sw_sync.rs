//! The ioctls of sw_sync files.
//!
//! Source: Linux 6.12 `drivers/dma-buf/sw_sync.c`, `sw_sync_ioctl`.

use amdgpu_uapi::{
    Errno, Request, SW_SYNC_CREATE_FENCE, SW_SYNC_GET_DEADLINE, SW_SYNC_INC, SwSyncCreateFence, SwSyncGetDeadline,
};

use super::dma_buf::sync_file;
use crate::kernel::{
    machine::Machine,
    sync::{sync_file::SyncFile, timeline::Timeline},
    user,
};

/// Performs an ioctl on a sw_sync file. The number of a request includes its size and direction.
pub(crate) fn serve(machine: &Machine, timeline: &Timeline, request: Request, address: u64) -> Result<(), Errno> {
    match request {
        SW_SYNC_CREATE_FENCE => create_fence(machine, timeline, address),
        SW_SYNC_INC => {
            timeline.advance(user::read(address)?);
            Ok(())
        }
        SW_SYNC_GET_DEADLINE => get_deadline(machine, address),
        _ => Err(Errno::ENOTTY),
    }
}

/// Performs SW_SYNC_IOC_CREATE_FENCE.
fn create_fence(machine: &Machine, timeline: &Timeline, address: u64) -> Result<(), Errno> {
    let mut request: SwSyncCreateFence = user::read(address)?;
    // If the argument cannot be written back, the client must not lose a descriptor.
    user::write_slice(address, &[request])?;
    let sync_file = SyncFile::new(timeline.fence(request.value));
    request.fence = user::install(machine.descriptors.add_sync_file(sync_file)?)?;
    user::write_slice(address, &[request])
}

/// Performs SW_SYNC_GET_DEADLINE; ENOENT if no deadline was set.
fn get_deadline(machine: &Machine, address: u64) -> Result<(), Errno> {
    let mut request: SwSyncGetDeadline = user::read(address)?;
    if request.deadline_ns != 0 || request.pad != 0 {
        return Err(Errno::EINVAL);
    }
    let sync_file = sync_file(machine, request.fence_fd)?;
    request.deadline_ns = sync_file.fence().point().ok_or(Errno::EINVAL)?.deadline().ok_or(Errno::ENOENT)?;
    user::write_slice(address, &[request])
}
