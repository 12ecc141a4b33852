//! Requests about leases of display objects.
//!
//! Source: Linux 6.12 `drm_lease.c`.

use std::collections::BTreeSet;

use amdgpu_uapi::{Errno, ModeCreateLease, ModeGetLease, ModeListLessees, ModeRevokeLease};
use zerocopy::IntoBytes as _;

use crate::kernel::{
    files::{file::File, node::Primary},
    ioctl::args::{argument, fill},
    modes::Object,
    user,
};

fn primary(file: &File) -> Result<&Primary, Errno> {
    file.node.as_primary().ok_or(Errno::EACCES)
}

/// Performs MODE_CREATE_LEASE. The new file waits in this one for its descriptor.
pub(crate) fn create(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let request: ModeCreateLease = argument(bytes)?;
    if request.flags & !(libc::O_CLOEXEC | libc::O_NONBLOCK).cast_unsigned() != 0 {
        return Err(Errno::EINVAL);
    }
    let lessor = primary(file)?;
    if lessor.is_lessee() {
        return Err(Errno::EINVAL);
    }
    user::check_array::<u32>(request.object_count)?;
    let ids: Vec<u32> = user::read_slice(request.object_ids, request.object_count as usize)?;
    let objects = if ids.is_empty() { BTreeSet::new() } else { objects(file, &ids)? };
    let lessee_id = file.lend(lessor, objects)?;
    fill(bytes, &ModeCreateLease { lessee_id, ..request })
}

/// Returns the ids of the objects that a client names. For a client that does not see all planes, a CRTC includes its planes.
///
/// # Errors
///
/// ENOENT for an object that does not exist, EINVAL for one that cannot be leased or if a CRTC, a connector or a plane that the
/// client sees is missing, ENOSPC for one that is named twice.
fn objects(file: &File, ids: &[u32]) -> Result<BTreeSet<u32>, Errno> {
    let modes = file.gpu.display.modes;
    let mut found = Vec::with_capacity(ids.len());
    for &id in ids {
        match modes.find(id) {
            Some(object) if object.is_leasable() => found.push((id, object)),
            Some(_) => return Err(Errno::EINVAL),
            None if is_made_by_a_client(file, id) => return Err(Errno::EINVAL),
            None => return Err(Errno::ENOENT),
        }
    }
    let sees_planes = primary(file)?.caps().universal_planes;
    let has = |wanted: fn(Object) -> bool| found.iter().any(|(_, object)| wanted(*object));
    let is_whole = has(|object| matches!(object, Object::Crtc(_)))
        && has(|object| matches!(object, Object::Connector(..)))
        && (!sees_planes || has(|object| matches!(object, Object::Plane(_))));
    if !is_whole {
        return Err(Errno::EINVAL);
    }
    let mut leased = BTreeSet::new();
    let mut add = |id| if leased.insert(id) { Ok(()) } else { Err(Errno::ENOSPC) };
    for (id, object) in found {
        add(id)?;
        if let Object::Crtc(index) = object
            && !sees_planes
        {
            add(modes.planes().start + index)?;
            add(modes.planes().start + modes.cursor_of(index))?;
        }
    }
    Ok(leased)
}

/// Returns `true` if the id is that of a framebuffer or a blob.
fn is_made_by_a_client(file: &File, id: u32) -> bool {
    file.gpu.display.screen.as_ref().is_some_and(|screen| screen.framebuffer(id).is_some() || screen.blob(id).is_some())
}

/// Performs MODE_LIST_LESSEES.
pub(crate) fn list(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let request: ModeListLessees = argument(bytes)?;
    if request.pad != 0 {
        return Err(Errno::EINVAL);
    }
    let lessees = primary(file)?.lessees();
    let count_lessees = write(request.lessees_ptr, request.count_lessees, &lessees)?;
    fill(bytes, &ModeListLessees { count_lessees, ..request })
}

/// Performs MODE_GET_LEASE: lists all objects for an owner.
pub(crate) fn get(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let request: ModeGetLease = argument(bytes)?;
    if request.pad != 0 {
        return Err(Errno::EINVAL);
    }
    let all = || {
        let made = file.gpu.display.screen.as_ref().map(|screen| screen.ids()).unwrap_or_default();
        file.gpu.display.modes.ids().chain(made).collect()
    };
    let objects = primary(file)?.leased().unwrap_or_else(all);
    let count_objects = write(request.objects_ptr, request.count_objects, &objects)?;
    fill(bytes, &ModeGetLease { count_objects, ..request })
}

/// Performs MODE_REVOKE_LEASE.
pub(crate) fn revoke(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let ModeRevokeLease { lessee_id } = argument(bytes)?;
    primary(file)?.revoke(lessee_id)
}

/// Writes as many ids as the client has room for, and returns the number of all ids.
fn write(address: u64, room: u32, ids: &[u32]) -> Result<u32, Errno> {
    let room = usize::try_from(room).unwrap_or(usize::MAX);
    user::write_bytes(address, ids.get(..room).unwrap_or(ids).as_bytes())?;
    Ok(u32::try_from(ids.len()).unwrap_or(u32::MAX))
}
