//! The CTX and VM requests.
//!
//! Source: Linux 6.12 `amdgpu_ctx.c`, `amdgpu_ctx_ioctl`; `amdgpu_vm.c`, `amdgpu_vm_ioctl`.

use std::sync::Arc;

use amdgpu_uapi::{
    CTX_NO_RESET, CTX_UNKNOWN_RESET, Ctx, CtxAllocAnswer, CtxPstateAnswer, CtxStateAnswer, Errno, VM_OP_RESERVE_VMID,
    VM_OP_UNRESERVE_VMID, Vm, ctx_op, priority,
};
use zerocopy::{Immutable, IntoBytes};

use crate::kernel::{files::file::File, ioctl::args::argument, sched::context::Context};

/// Performs CTX.
pub(crate) fn ctx(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let request: Ctx = argument(bytes)?;
    if request.flags != 0 && request.op != ctx_op::SET_STABLE_PSTATE {
        return Err(Errno::EINVAL);
    }
    match request.op {
        ctx_op::ALLOC_CTX => alloc(file, request.priority, bytes),
        ctx_op::FREE_CTX => free(file, request.ctx_id),
        ctx_op::QUERY_STATE => {
            let context = file.context(request.ctx_id)?;
            let reset = context.take_reset(file.gpu.rings.resets());
            let reset_status = if reset { CTX_UNKNOWN_RESET } else { CTX_NO_RESET };
            put(bytes, &CtxStateAnswer { flags: 0, hangs: 0, reset_status })
        }
        ctx_op::QUERY_STATE2 => {
            let context = file.context(request.ctx_id)?;
            let flags =
                context.state(file.gpu.rings.resets(), file.gpu.rings.losses(), file.gpu.facts.options.features).bits();
            // The word of reset_status keeps the input's priority.
            put(bytes, &flags).and_then(|()| bytes.get_mut(8..12).ok_or(Errno::EFAULT).map(|hangs| hangs.fill(0)))
        }
        ctx_op::GET_STABLE_PSTATE => {
            file.context(request.ctx_id)?;
            put(bytes, &CtxPstateAnswer { flags: file.gpu.queues.pstate.lock().level(), pad: 0 })
        }
        ctx_op::SET_STABLE_PSTATE => set_pstate(file, &request),
        _ => Err(Errno::EINVAL),
    }
}

fn alloc(file: &File, wanted: i32, bytes: &mut [u8]) -> Result<(), Errno> {
    let high = matches!(wanted, priority::HIGH | priority::VERY_HIGH);
    if high && !file.gpu.facts.options.may_raise_priority && !file.gpu.display.masters.is_master(&file.node) {
        // The answer's first word, which overlays the operation, is written even so.
        put(bytes, &0_u32)?;
        return Err(Errno::EACCES);
    }
    let context = Arc::new(Context::new(file.gpu.rings.resets(), file.gpu.rings.losses(), wanted));
    let ctx_id = file.contexts.lock().insert(context).map_err(|_| Errno::ENOSPC)?;
    put(bytes, &CtxAllocAnswer { ctx_id, pad: 0 })
}

fn free(file: &File, id: u32) -> Result<(), Errno> {
    let context = file.contexts.lock().remove(id).ok_or(Errno::EINVAL)?;
    file.gpu.queues.pstate.lock().release(&context);
    Ok(())
}

fn set_pstate(file: &File, request: &Ctx) -> Result<(), Errno> {
    const HIGHEST: u32 = 4;
    let context = file.context(request.ctx_id)?;
    if request.flags > HIGHEST {
        return Err(Errno::EINVAL);
    }
    file.gpu.queues.pstate.lock().set(&context, request.flags)
}

/// Performs VM. All files that reserve a VMID share one, so VMIDs cannot run out.
pub(crate) fn vm(_file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let request: Vm = argument(bytes)?;
    let known = matches!(request.op, VM_OP_RESERVE_VMID | VM_OP_UNRESERVE_VMID);
    if request.flags == 0 && known { Ok(()) } else { Err(Errno::EINVAL) }
}

fn put<T: IntoBytes + Immutable>(bytes: &mut [u8], value: &T) -> Result<(), Errno> {
    value.write_to_prefix(bytes).map_err(|_| Errno::EFAULT)
}
