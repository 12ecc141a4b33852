//! The USERQ request, which creates and frees user queues.
//!
//! Linux 6.17 does not check the addresses of a queue, and a queue with wrong addresses hangs. The checks here are those of Linux
//! 6.18. Since Linux 7.2 a doorbell belongs to one queue, and since Linux 7.3 areas are checked to the byte.
//!
//! Source: Linux 6.17, 6.18, 7.2 and 7.3 `amdgpu_userq.c`, `amdgpu_userq_ioctl` and `amdgpu_userq_create`; `mes_userqueue.c`,
//! `mes_userq_mqd_create`.

use std::sync::Arc;

use amdgpu_hw::{GpuVa, Ip};
use amdgpu_uapi::{
    Errno, GemDomain, IdsFlags, USERQ_PRIORITY_MASK, USERQ_SECURE, Userq, UserqAnswer, UserqCompute, UserqGfx,
    UserqSdma, userq_op, userq_priority,
};
use parking_lot::MutexGuard;
use zerocopy::{FromBytes, IntoBytes};

use crate::{
    features::Features,
    kernel::{
        files::file::File,
        ioctl::args::{answer, argument},
        mm::{
            bo::{Bo, PAGE},
            vm::Vm,
        },
        process::identity::Process,
        user,
        userq::{AREAS, Parts, UserQueue, View},
    },
};

/// The kernel's own error number for an unsupported operation. Programs have no name for it.
const ENOTSUPP: i32 = 524;
/// The size in bytes of the end-of-pipe area of a compute queue.
const EOP_BYTES: u64 = 2048;
/// The size in bytes of the save area of a copy queue.
const COPY_SAVE_BYTES: u64 = 32;
/// The size of a doorbell in bytes.
const DOORBELL: u64 = 8;

/// Returns an error if the device has no user queues.
pub(crate) fn require(file: &File) -> Result<(), Errno> {
    if file.gpu.facts.has_user_queues() { Ok(()) } else { Err(Errno::from_raw(ENOTSUPP)) }
}

/// Performs USERQ.
pub(crate) fn userq(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    require(file)?;
    let request: Userq = argument(bytes)?;
    match request.op {
        userq_op::CREATE => {
            let queue = create(file, &request)?;
            let queue_id = file.user_queues.lock().insert(Arc::new(queue)).map_err(|_| full(file))?;
            answer::<Userq>(bytes, &UserqAnswer { queue_id, pad: 0 })
        }
        userq_op::FREE => {
            if (Userq { op: request.op, queue_id: request.queue_id, ..Userq::ZEROED }) != request {
                return Err(Errno::EINVAL);
            }
            let queue = file.user_queues.lock().remove(request.queue_id).ok_or(Errno::ENOENT)?;
            queue.finish();
            Ok(())
        }
        _ => Err(Errno::EINVAL),
    }
}

fn create(file: &File, request: &Userq) -> Result<UserQueue, Errno> {
    let ip = check(file, request)?;
    let priority = request.flags & USERQ_PRIORITY_MASK;
    if priority == userq_priority::HIGH
        && !file.gpu.facts.options.may_raise_priority
        && !file.gpu.display.masters.is_master(&file.node)
    {
        return Err(Errno::EACCES);
    }
    if file.gpu.facts.user_queue_ips() >> ip as u32 & 1 == 0 {
        return Err(Errno::EINVAL);
    }
    let executor = file.gpu.facts.executor(ip).ok_or(Errno::EINVAL)?;
    let target = executor.target().ok_or(Errno::EINVAL)?;
    check_addresses(file, request)?;
    let (doorbell, doorbell_offset) = doorbell(file, request)?;
    let areas = check_areas(file, ip, request)?;
    let write_bo = write_pointer(file, request)?;
    let queues = &file.gpu.queues;
    let is_exclusive = file.gpu.facts.has(Features::QUEUE_XARRAYS);
    let claim = is_exclusive.then(|| queues.doorbells.claim(&doorbell, doorbell_offset)).transpose()?;
    let evicted = file.gpu.pools.evicted();
    validate(file)?;
    let parts = Parts {
        ip,
        target,
        ring_va: GpuVa::from_48_bits(request.queue_va).low_48_bits(),
        ring_bytes: request.queue_size,
        read_va: GpuVa::from_48_bits(request.rptr_va),
        write_va: GpuVa::from_48_bits(request.wptr_va),
        doorbell,
        doorbell_offset,
        claim,
        write_bo,
        view: View::new(&file.vm, &queues.slots),
        areas: [vec![request.queue_va, request.rptr_va, request.wptr_va], areas].concat(),
        pools: Arc::clone(&file.gpu.pools),
        evicted,
        slot: queues.slots.take()?,
        faults: Arc::clone(&file.faults),
        meter: file.work.meter(ip),
        owner: file.number,
        process: Process::current(),
    };
    UserQueue::start(parts, Arc::clone(&file.gpu.board), file.gpu.rings.recovery())
}

/// Returns the error of a file that has no room for another queue.
///
/// Source: Linux 6.17 and 7.2 `amdgpu_userq.c`, `amdgpu_userq_create`.
fn full(file: &File) -> Errno {
    if file.gpu.facts.has(Features::QUEUE_XARRAYS) { Errno::EBUSY } else { Errno::ENOMEM }
}

/// Checks the argument alone, and returns the IP of the queue.
///
/// Source: `amdgpu_userq_input_args_validate`.
fn check(file: &File, request: &Userq) -> Result<Ip, Errno> {
    let ip = Ip::from_raw(request.ip_type).filter(|ip| matches!(ip, Ip::Gfx | Ip::Compute | Ip::Sdma));
    let ip = ip.ok_or(Errno::EINVAL)?;
    let tmz = IdsFlags::from_bits_retain(file.gpu.facts.profile.dev_info.ids_flags).contains(IdsFlags::TMZ);
    let is_secure = request.flags & USERQ_SECURE != 0;
    let refused = request.flags & !(USERQ_PRIORITY_MASK | USERQ_SECURE) != 0
        || (is_secure && ip == Ip::Sdma && !tmz)
        || matches!(request.queue_va, 0 | u64::MAX)
        || !request.queue_size.is_power_of_two()
        || request.queue_size < PAGE
        || request.rptr_va == 0
        || request.wptr_va == 0;
    if refused { Err(Errno::EINVAL) } else { Ok(ip) }
}

/// The bindings of a file, in which the areas of its queues must lie.
struct Bindings<'v> {
    vm: MutexGuard<'v, Vm>,
    is_exact: bool,
}

impl<'v> Bindings<'v> {
    fn of(file: &'v File) -> Self {
        Self { vm: file.vm.lock(), is_exact: file.gpu.facts.has(Features::QUEUE_AREAS) }
    }

    /// Returns the BO behind an area that is bound as a whole.
    fn require(&self, va: u64, bytes: u64) -> Result<&Arc<Bo>, Errno> {
        self.vm.bound_at(va, bytes, self.is_exact).ok_or(Errno::EINVAL)
    }
}

fn check_addresses(file: &File, request: &Userq) -> Result<(), Errno> {
    let bound = Bindings::of(file);
    bound.require(request.queue_va, request.queue_size)?;
    bound.require(request.rptr_va, PAGE)?;
    bound.require(request.wptr_va, PAGE)?;
    Ok(())
}

/// Returns the BO of the doorbell, and the offset of the doorbell in it in bytes.
///
/// Source: `amdgpu_userq_get_doorbell_index`.
fn doorbell(file: &File, request: &Userq) -> Result<(Arc<Bo>, u64), Errno> {
    let bo = file.bo(request.doorbell_handle).ok_or(Errno::EINVAL)?;
    let offset = u64::from(request.doorbell_offset) * DOORBELL;
    if bo.attributes().preferred != GemDomain::DOORBELL || offset + DOORBELL > bo.size() {
        return Err(Errno::EINVAL);
    }
    Ok((bo, offset))
}

/// Checks the areas that the engine needs, and returns their addresses.
fn check_areas(file: &File, ip: Ip, request: &Userq) -> Result<Vec<u64>, Errno> {
    match ip {
        Ip::Gfx => {
            let UserqGfx { shadow_va, csa_va } = own(request)?;
            let bound = Bindings::of(file);
            bound.require(shadow_va, AREAS.shadow_size.into())?;
            bound.require(csa_va, AREAS.csa_size.into())?;
            Ok(vec![shadow_va, csa_va])
        }
        Ip::Compute => {
            let UserqCompute { eop_va } = own(request)?;
            Bindings::of(file).require(eop_va, EOP_BYTES)?;
            Ok(vec![eop_va])
        }
        _ => {
            let UserqSdma { csa_va } = own(request)?;
            Bindings::of(file).require(csa_va, COPY_SAVE_BYTES)?;
            Ok(vec![csa_va])
        }
    }
}

/// Returns the engine's own parameters.
fn own<T: FromBytes + IntoBytes>(request: &Userq) -> Result<T, Errno> {
    if request.mqd_size != size_of::<T>() as u64 || request.mqd == 0 {
        return Err(Errno::EINVAL);
    }
    user::read(request.mqd)
}

/// Returns the BO of the write pointer. The scheduler's firmware reads it too.
///
/// Source: `mes_userq_create_wptr_mapping`.
fn write_pointer(file: &File, request: &Userq) -> Result<Arc<Bo>, Errno> {
    let bound = Bindings::of(file);
    let bo = bound.require(request.wptr_va, PAGE)?;
    if bo.size() > PAGE { Err(Errno::EINVAL) } else { Ok(Arc::clone(bo)) }
}

/// Moves all bound BOs to where the GPU can access them. A queue needs them there for all its life.
///
/// Source: Linux 6.17 `amdgpu_userq.c`, `amdgpu_userq_validate_bos`.
fn validate(file: &File) -> Result<(), Errno> {
    let bound = file.vm.lock().known();
    file.gpu.pools.validate(file.number, file.payer().as_deref(), bound.iter().map(|bo| &bo.allocation)).map(drop)
}
