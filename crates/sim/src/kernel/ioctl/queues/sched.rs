//! The SCHED request, by which the master changes the priority of other clients.
//!
//! Source: Linux 6.12 `amdgpu_sched.c`, `amdgpu_sched_ioctl`.

use amdgpu_uapi::{Errno, SCHED_OP_CONTEXT_PRIORITY_OVERRIDE, SCHED_OP_PROCESS_PRIORITY_OVERRIDE, Sched, priority};

use crate::kernel::{
    files::{descriptors::SharedObject, file::File},
    ioctl::args::argument,
    user,
};

/// Performs SCHED.
pub(crate) fn sched(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let request: Sched = argument(bytes)?;
    if !is_priority(request.priority) {
        return Err(Errno::EINVAL);
    }
    let context = match request.op {
        SCHED_OP_PROCESS_PRIORITY_OVERRIDE => None,
        SCHED_OP_CONTEXT_PRIORITY_OVERRIDE => Some(request.ctx_id),
        _ => return Err(Errno::EINVAL),
    };
    let other = user::descriptor(request.fd.cast_signed()).and_then(|fd| file.gpu.machine.descriptors.find(fd));
    let Ok(Some(SharedObject::Node(other))) = other else { return Err(Errno::EINVAL) };
    let contexts = other.upgrade().ok_or(Errno::EINVAL)?;
    let contexts = contexts.lock();
    match context {
        Some(id) => contexts.get(id).ok_or(Errno::EINVAL)?.override_priority(request.priority),
        None => contexts.iter().for_each(|(_, context)| context.override_priority(request.priority)),
    }
    Ok(())
}

/// Returns `true` for the five valid priorities. The value for an unset priority is not one of them.
///
/// Source: Linux 6.12 `amdgpu_ctx.c`, `amdgpu_ctx_priority_is_valid`.
fn is_priority(value: i32) -> bool {
    use priority::{HIGH, LOW, NORMAL, VERY_HIGH, VERY_LOW};
    matches!(value, VERY_LOW | LOW | NORMAL | HIGH | VERY_HIGH)
}
