//! The ioctls of sync files.
//!
//! Source: Linux 6.12 `sync_file.c`, `sync_file_ioctl`.

use amdgpu_uapi::{
    Errno, Request, SYNC_FILE_INFO, SYNC_FILE_MERGE, SYNC_FILE_SET_DEADLINE, SyncFileInfo, SyncMerge, SyncSetDeadline,
};

use crate::{
    features::Features,
    kernel::{files::descriptors::SharedObject, machine::Machine, sync::sync_file::SyncFile, user},
};

/// Performs an ioctl on a sync file. The number of a request includes its size and direction.
pub(crate) fn serve(machine: &Machine, sync_file: &SyncFile, request: Request, address: u64) -> Result<(), Errno> {
    match request {
        SYNC_FILE_MERGE => merge(machine, sync_file, address),
        SYNC_FILE_INFO => info(machine, sync_file, address),
        SYNC_FILE_SET_DEADLINE => {
            let request: SyncSetDeadline = user::read(address)?;
            if request.pad != 0 {
                return Err(Errno::EINVAL);
            }
            sync_file.fence().set_deadline(request.deadline_ns);
            Ok(())
        }
        _ => Err(Errno::ENOTTY),
    }
}

/// Performs SYNC_IOC_MERGE.
fn merge(machine: &Machine, sync_file: &SyncFile, address: u64) -> Result<(), Errno> {
    let mut request: SyncMerge = user::read(address)?;
    if request.flags != 0 || request.pad != 0 {
        return Err(Errno::EINVAL);
    }
    let other = user::descriptor(request.fd2).and_then(|fd| machine.descriptors.find(fd)).map_err(|_| Errno::ENOENT)?;
    let Some(SharedObject::SyncFile(other)) = other else { return Err(Errno::ENOENT) };
    let merged = machine.descriptors.add_sync_file(sync_file.merge(&other, &request))?;
    request.fence = user::install(merged)?;
    user::write_slice(address, &[request])
}

/// Performs SYNC_IOC_FILE_INFO.
fn info(machine: &Machine, sync_file: &SyncFile, address: u64) -> Result<(), Errno> {
    let request: SyncFileInfo = user::read(address)?;
    if request.flags != 0 || request.pad != 0 {
        return Err(Errno::EINVAL);
    }
    let (answer, entries) = sync_file.info(request.num_fences, machine.has(Features::DETACHED_FENCES))?;
    user::write_slice(request.sync_fence_info, &entries)?;
    user::write_slice(address, &[SyncFileInfo { sync_fence_info: request.sync_fence_info, ..answer }])
}
