//! The CS request: submissions.
//!
//! The kernel processes the chunks in two passes, and guarantees that nothing observable happens unless the whole request succeeds.
//! So does the simulator.
//!
//! Source: Linux 6.12 `amdgpu_cs.c`, `amdgpu_cs_ioctl` and the functions it calls.

use std::sync::Arc;

use amdgpu_hw::{GfxLevel, Ip};
use amdgpu_uapi::{
    BoList, BoListEntry, CP_GFX_SHADOW_INIT, Cs, CsAnswer, CsChunk, CsChunkCpGfxShadow, CsChunkDep, CsChunkFence,
    CsChunkIb, CsChunkSem, CsChunkSyncobj, Errno, GemCreateFlags, IbFlags, chunk_id,
};
use zerocopy::{FromBytes, IntoBytes};

use crate::{
    features::Features,
    gpu::{Ib, Memory as _, video},
    kernel::{
        files::file::{self, File},
        ioctl::{
            args::{answer, argument},
            memory::bo_list,
            node::info::max_ibs,
            sync::syncobj::find_fence,
        },
        mm::{
            bo::{Bo, PAGE, UserPages},
            mappings::Listed,
            space::Space,
        },
        process::client,
        sched::{
            context::{Context, Entity, Numbered},
            gang::Gang,
            ring::{self, Job},
            shadow::Shadow,
        },
        sync::{events::Until, fence::Fence, syncobj::Syncobj},
        user,
    },
};

/// The most entities in a submission (`AMDGPU_CS_GANG_SIZE`).
const GANG: usize = 4;

/// Performs CS.
pub(crate) fn cs(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let request: Cs = argument(bytes)?;
    if request.num_chunks == 0 {
        return Err(Errno::EINVAL);
    }
    let context = file.context(request.ctx_id)?;
    // With errors of entities no context is marked; the look-up of the entity fails instead.
    if context.is_guilty() {
        return Err(Errno::ECANCELED);
    }
    let (mut parsed, chunks) = first_pass(file, &context, &request)?;
    if parsed.members.is_empty() {
        return Err(Errno::EINVAL);
    }
    if context.is_stale(file.gpu.rings.losses()) {
        return Err(Errno::ECANCELED);
    }
    second_pass(file, &mut parsed, &chunks)?;
    let bos = listed_bos(file, &request, parsed.bos.take())?;
    let number = commit(file, &context, &parsed, bos)?;
    answer::<Cs>(bytes, &CsAnswer { handle: number })
}

/// A chunk and its payload.
struct Chunk {
    id: u32,
    payload: Vec<u32>,
}

impl Chunk {
    /// Returns the payload as one structure; EINVAL if it is too short.
    fn one<T: FromBytes>(&self) -> Result<T, Errno> {
        T::read_from_prefix(self.payload.as_bytes()).map(|(value, _)| value).map_err(|_| Errno::EINVAL)
    }

    /// Returns the payload as an array, without a partial element at the end.
    fn all<T: FromBytes>(&self) -> impl Iterator<Item = T> {
        self.payload.as_bytes().chunks_exact(size_of::<T>()).filter_map(|bytes| T::read_from_bytes(bytes).ok())
    }
}

/// The most chunks in a submission, far more than IBs and dependencies need.
const MOST_CHUNKS: u32 = 1 << 16;
/// The most bytes that the chunks of a submission, and the list in it, can have together. The kernel takes as much as there is
/// memory for, and returns ENOMEM beyond that; a server of many clients cannot give all its memory to one of them. The largest
/// useful list of BOs takes a tenth of this.
const MOST_BYTES: usize = 16 << 20;

/// The number of bytes that the chunks of a submission may still take.
struct Allowance(usize);

impl Allowance {
    /// Deducts the size of `count` elements before they are read.
    fn take(&mut self, count: usize, each: usize) -> Result<(), Errno> {
        let left = count.checked_mul(each).and_then(|bytes| self.0.checked_sub(bytes));
        self.0 = left.ok_or(Errno::ENOMEM)?;
        Ok(())
    }

    /// Reads the chunk whose header is at an address.
    fn read_chunk(&mut self, address: u64) -> Result<Chunk, Errno> {
        let header: CsChunk = user::read_slice(address, 1)?.pop().ok_or(Errno::EFAULT)?;
        self.take(header.length_dw as usize, size_of::<u32>())?;
        let payload = user::read_slice(header.chunk_data, header.length_dw as usize)?;
        Ok(Chunk { id: header.chunk_id, payload })
    }
}

/// The part of a submission for one entity.
struct Member {
    ip: Ip,
    entity: Arc<Entity>,
    ibs: Vec<CsChunkIb>,
}

#[derive(Default)]
struct Parsed {
    /// The members in the order of their first IBs. The leader is recorded separately.
    members: Vec<Member>,
    /// The index of the entity of the last IB chunk.
    leader: usize,
    user_fence: Option<(Arc<Bo>, u64)>,
    bos: Option<file::BoList>,
    dependencies: Vec<Arc<Fence>>,
    /// `true` if there are dependencies that have signalled and are forgotten.
    has_forgotten: bool,
    scheduled: Vec<Arc<Fence>>,
    signals: Vec<(Arc<Syncobj>, u64)>,
    /// The shadow area of the graphics jobs, from the last such chunk.
    shadow: Option<Shadow>,
}

/// Reads the chunks, and makes the checks that need one chunk alone, chunk by chunk.
fn first_pass(file: &File, context: &Context, request: &Cs) -> Result<(Parsed, Vec<Chunk>), Errno> {
    if request.num_chunks > MOST_CHUNKS {
        return Err(Errno::ENOMEM);
    }
    let addresses: Vec<u64> = user::read_slice(request.chunks, request.num_chunks as usize)?;
    let mut parsed = Parsed::default();
    let mut chunks = Vec::with_capacity(addresses.len());
    let mut allowance = Allowance(MOST_BYTES);
    for address in addresses {
        let chunk = allowance.read_chunk(address)?;
        check_chunk(file, context, &mut parsed, &chunk, &mut allowance)?;
        chunks.push(chunk);
    }
    Ok((parsed, chunks))
}

fn check_chunk(
    file: &File,
    context: &Context,
    parsed: &mut Parsed,
    chunk: &Chunk,
    allowance: &mut Allowance,
) -> Result<(), Errno> {
    match chunk.id {
        chunk_id::IB => add_ib(file, context, parsed, chunk.one()?),
        chunk_id::FENCE => {
            let fence: CsChunkFence = chunk.one()?;
            if parsed.user_fence.is_some() {
                return Err(Errno::EINVAL);
            }
            parsed.user_fence = Some(check_user_fence(file, fence)?);
            Ok(())
        }
        chunk_id::BO_HANDLES => {
            let list: BoList = chunk.one()?;
            if parsed.bos.is_some() {
                return Err(Errno::EINVAL);
            }
            allowance.take(list.bo_number as usize, size_of::<BoListEntry>())?;
            let entries = bo_list::read_entries(&list)?;
            parsed.bos = Some(bo_list::resolve(file, &entries)?);
            Ok(())
        }
        chunk_id::CP_GFX_SHADOW => chunk.one::<CsChunkCpGfxShadow>().map(drop),
        chunk_id::DEPENDENCIES
        | chunk_id::SYNCOBJ_IN
        | chunk_id::SYNCOBJ_OUT
        | chunk_id::SCHEDULED_DEPENDENCIES
        | chunk_id::SYNCOBJ_TIMELINE_WAIT
        | chunk_id::SYNCOBJ_TIMELINE_SIGNAL => Ok(()),
        unknown => {
            file.gpu.board.complaints.report(format!("CS: unknown chunk {unknown:#x}"));
            Err(Errno::EINVAL)
        }
    }
}

fn add_ib(file: &File, context: &Context, parsed: &mut Parsed, ib: CsChunkIb) -> Result<(), Errno> {
    let (ip, entity) = context.entity(ib.ip_type, ib.ip_instance, ib.ring)?;
    if file.gpu.facts.ring_count(ip) == 0 {
        file.gpu.board.complaints.report(format!("CS: the chip has no {ip} ring"));
        return Err(Errno::EINVAL);
    }
    let known = parsed.members.iter().position(|member| Arc::ptr_eq(&member.entity, &entity));
    let index = match known {
        Some(index) => index,
        None if parsed.members.len() == GANG => return Err(Errno::EINVAL),
        None => {
            parsed.members.push(Member { ip, entity, ibs: Vec::new() });
            parsed.members.len() - 1
        }
    };
    let member = &mut parsed.members[index];
    if member.ibs.len() as u32 >= max_ibs(ip) {
        return Err(Errno::EINVAL);
    }
    member.ibs.push(ib);
    parsed.leader = index;
    Ok(())
}

/// Source: `amdgpu_cs_p1_user_fence`.
fn check_user_fence(file: &File, fence: CsChunkFence) -> Result<(Arc<Bo>, u64), Errno> {
    let bo = file.bo(fence.handle).ok_or(Errno::EINVAL)?;
    let offset = u64::from(fence.offset);
    if bo.size() != PAGE || offset > PAGE - 8 || bo.is_user_memory() {
        return Err(Errno::EINVAL);
    }
    Ok((bo, offset))
}

/// Processes the sizes of IBs, the dependencies and the sync objects, in the order of the chunks.
fn second_pass(file: &File, parsed: &mut Parsed, chunks: &[Chunk]) -> Result<(), Errno> {
    let mut signals_seen = false;
    let mut preemptible = (false, false);
    for chunk in chunks {
        match chunk.id {
            chunk_id::IB => {
                let ib = chunk.one()?;
                check_ib(&ib, parsed.user_fence.is_some(), &mut preemptible)?;
                check_engine(file, &ib)?;
            }
            chunk_id::DEPENDENCIES => {
                for dep in chunk.all() {
                    let found = dependency(file, &dep)?;
                    parsed.has_forgotten |= found.is_none();
                    parsed.dependencies.extend(found);
                }
            }
            chunk_id::SCHEDULED_DEPENDENCIES => {
                for dep in chunk.all() {
                    parsed.scheduled.extend(dependency(file, &dep)?);
                }
            }
            chunk_id::SYNCOBJ_IN => {
                for CsChunkSem { handle } in chunk.all() {
                    parsed.dependencies.push(find_fence(file, handle, 0, 0)?);
                }
            }
            chunk_id::SYNCOBJ_TIMELINE_WAIT => {
                for CsChunkSyncobj { handle, flags, point } in chunk.all() {
                    parsed.dependencies.push(find_fence(file, handle, point, flags)?);
                }
            }
            chunk_id::SYNCOBJ_OUT | chunk_id::SYNCOBJ_TIMELINE_SIGNAL => {
                if std::mem::replace(&mut signals_seen, true) {
                    return Err(Errno::EINVAL);
                }
                let targets: Vec<(u32, u64)> = if chunk.id == chunk_id::SYNCOBJ_OUT {
                    chunk.all().map(|CsChunkSem { handle }| (handle, 0)).collect()
                } else {
                    chunk.all().map(|CsChunkSyncobj { handle, point, .. }| (handle, point)).collect()
                };
                for (handle, point) in targets {
                    parsed.signals.push((file.syncobj(handle).ok_or(Errno::EINVAL)?, point));
                }
            }
            chunk_id::CP_GFX_SHADOW => parsed.shadow = shadow(file, &chunk.one()?)?,
            _ => {}
        }
    }
    Ok(())
}

/// Source: `amdgpu_cs_p2_ib`. Neither address nor alignment of an IB is checked.
fn check_ib(ib: &CsChunkIb, has_user_fence: bool, preemptible: &mut (bool, bool)) -> Result<(), Errno> {
    let ip = Ip::from_raw(ib.ip_type).ok_or(Errno::EINVAL)?;
    let is_video = !matches!(ip, Ip::Gfx | Ip::Compute | Ip::Sdma | Ip::Vpe);
    if is_video && has_user_fence {
        return Err(Errno::EINVAL);
    }
    let flags = IbFlags::from_bits_retain(ib.flags);
    if ip == Ip::Gfx && flags.contains(IbFlags::PREEMPT) {
        let seen = if flags.contains(IbFlags::CE) { &mut preemptible.1 } else { &mut preemptible.0 };
        if std::mem::replace(seen, true) {
            return Err(Errno::EINVAL);
        }
    }
    let most = if is_video { 0x7f_fff0 } else { 0xf_ffff };
    if ib.ib_bytes / 4 > most { Err(Errno::EINVAL) } else { Ok(()) }
}

/// Refuses an IB for a constant engine that the chip lacks. Linux 6.12 accepts it, and then fails an assertion in the scheduler's
/// thread (`gfx_v11_0.c`, `gfx_v11_0_ring_emit_ib_gfx`). With [`Features::NO_CONSTANT_ENGINE`] Linux refuses every IB with the flag, on
/// all chips and rings (`amdgpu_cs.c`, `amdgpu_cs_p2_ib`).
fn check_engine(file: &File, ib: &CsChunkIb) -> Result<(), Errno> {
    let level = file.gpu.facts.profile.gfx_level;
    let has_flag = IbFlags::from_bits_retain(ib.flags).contains(IbFlags::CE);
    if has_flag && file.gpu.facts.has(Features::NO_CONSTANT_ENGINE) {
        file.gpu.board.complaints.report("CS: an IB for the constant engine, which this kernel refuses".to_owned());
        return Err(Errno::EINVAL);
    }
    if ib.ip_type == Ip::Gfx as u32 && is_constant(Ip::Gfx, ib) && level > GfxLevel::Gfx10_3 {
        file.gpu.board.complaints.report(format!("CS: {level} has no constant engine"));
        return Err(Errno::EINVAL);
    }
    Ok(())
}

/// Returns the shadow area of a submission's graphics jobs. If the firmware does not shadow registers, the kernel accepts the chunk
/// and ignores it.
///
/// Source: `amdgpu_cs_p2_shadow`; Linux 6.12 `gfx_v11_0.c`, `gfx_v11_0_ring_emit_gfx_shadow`.
fn shadow(file: &File, chunk: &CsChunkCpGfxShadow) -> Result<Option<Shadow>, Errno> {
    if chunk.flags & !CP_GFX_SHADOW_INIT != 0 {
        return Err(Errno::EINVAL);
    }
    let is_new = chunk.flags & CP_GFX_SHADOW_INIT != 0;
    let is_shadowed = file.gpu.facts.profile.dev_info.shadow_size != 0;
    Ok(Shadow::new(chunk.shadow_va, is_new).filter(|_| is_shadowed))
}

/// Returns the fence of a dependency; `None` if the fence has signalled and is forgotten.
fn dependency(file: &File, dep: &CsChunkDep) -> Result<Option<Arc<Fence>>, Errno> {
    let context = file.context(dep.ctx_id)?;
    let (_, entity) = context.entity(dep.ip_type, dep.ip_instance, dep.ring)?;
    Ok(match entity.numbered(dep.handle)? {
        Numbered::Done => None,
        Numbered::Fence(fence) => Some(fence),
    })
}

/// Returns the BOs that the submission lists. The client's own memory among them must still be mapped.
fn listed_bos(file: &File, request: &Cs, inline: Option<file::BoList>) -> Result<Vec<Arc<Bo>>, Errno> {
    let listed = match (request.bo_list_handle, inline) {
        (0, inline) => inline,
        (_, Some(_)) => return Err(Errno::EINVAL),
        (handle, None) => Some(file.bo_lists.lock().get(handle).cloned().ok_or(Errno::ENOENT)?),
    };
    let bos: Vec<Arc<Bo>> = listed.map_or_else(Vec::new, |list| list.to_vec());
    bos.iter().filter_map(|bo| bo.user_pages()).try_for_each(UserPages::validate)?;
    Ok(bos)
}

/// Waits until the leader has room for a submission, and submits.
///
/// The submissions of a file are made one after the other, and one that has to wait delays the others, because the kernel holds the
/// reservation of the page tables meanwhile. The submissions of all files are put into one order, so that two submissions use what
/// they share in that order.
fn commit(file: &File, context: &Arc<Context>, parsed: &Parsed, mut bos: Vec<Arc<Bo>>) -> Result<u64, Errno> {
    let _file_order = file.submitting.lock();
    let leader = &parsed.members[parsed.leader].entity;
    if let Some(oldest) = leader.oldest_outstanding() {
        file.gpu.machine.events.wait(Until::Never, || oldest.outcome());
    }
    bos.extend(parsed.user_fence.iter().map(|(bo, _)| Arc::clone(bo)));
    parse_video_ibs(file, parsed, &bos)?;
    let _device_order = file.gpu.queues.submitting.lock();
    file.gpu.machine.descriptors.sweep();
    let validated =
        file.gpu.pools.validate(file.number, file.payer().as_deref(), bos.iter().map(|bo| &bo.allocation))?;
    let rings: Vec<_> = parsed
        .members
        .iter()
        .map(|member| file.gpu.rings.ring_for(member.ip, &member.entity))
        .collect::<Result<_, _>>()?;
    // No error is possible from here on.
    let mut dependencies = parsed.dependencies.clone();
    dependencies.extend(implicit_dependencies(file, &bos));
    let fences: Vec<_> = parsed.members.iter().map(|_| Fence::of_job(&file.gpu.machine.events, file.number)).collect();
    let leader_fence = &fences[parsed.leader];
    let number = leader.issue(leader_fence);
    for reservation in bos.iter().map(|bo| &bo.reservation).chain([&file.root]) {
        for fence in &fences {
            reservation.add(file.number, fence);
        }
    }
    drop(validated);
    for (syncobj, point) in &parsed.signals {
        syncobj.add_point(*point, Arc::clone(leader_fence));
    }
    let listed = file.gpu.facts.options.strict.then(|| Arc::new(Listed::new(&bos, &file.gpu.board.complaints)));
    let space = Space::new(file.vm.lock().snapshot(), listed);
    let is_forgotten = parsed.has_forgotten || dependencies.iter().any(|fence| fence.jobs().is_none());
    let caches = file.gpu.board.caches().map(|caches| (caches, Arc::new(caches.known(is_forgotten))));
    let followers: Vec<_> = fences.iter().filter(|fence| !Arc::ptr_eq(fence, leader_fence)).cloned().collect();
    for ((member, fence), ring) in parsed.members.iter().zip(&fences).zip(rings) {
        let is_leader = Arc::ptr_eq(fence, leader_fence);
        let mut scheduled = parsed.scheduled.clone();
        if is_leader {
            // The leader of a gang does not start before the gang's other members have started.
            scheduled.extend(followers.iter().cloned());
        }
        let user_fence = parsed.user_fence.as_ref().filter(|_| is_leader);
        member.entity.queued(fence);
        ring.push(Job {
            ibs: ibs_of(member, |is_constant| !is_constant),
            constant: ibs_of(member, |is_constant| is_constant),
            space: space.clone(),
            context: Arc::clone(context),
            entity: Arc::clone(&member.entity),
            fence: Arc::clone(fence),
            dependencies: dependencies.clone(),
            scheduled,
            gang: (!followers.is_empty()).then(|| Gang::new(leader_fence, &file.gpu.queues.gangs)),
            user_fence: user_fence.map(|(bo, offset)| (Arc::clone(bo), *offset, number)),
            shadow: parsed.shadow.filter(|_| member.ip == Ip::Gfx),
            faults: Arc::clone(&file.faults),
            pid: client::accessing(),
            meter: file.work.meter(member.ip),
            keep: bos.clone(),
            is_on_the_ring: false,
            is_killed: file.is_killed(),
            known: caches.as_ref().map(|(caches, known)| (caches.number_submission(), Arc::clone(known))),
        });
    }
    file.gpu.machine.events.wake_all();
    Ok(number)
}

/// Returns `true` if an IB is for the constant engine. Graphics rings have a flag for it; other rings ignore the flag.
fn is_constant(ip: Ip, ib: &CsChunkIb) -> bool {
    ip == Ip::Gfx && IbFlags::from_bits_retain(ib.flags).contains(IbFlags::CE)
}

/// Returns the IBs of a member that are not empty and that are wanted: `wanted` gets whether the IB is for the constant engine.
fn ibs_of(member: &Member, wanted: impl Fn(bool) -> bool) -> Vec<Ib> {
    let chosen = member.ibs.iter().filter(|ib| wanted(is_constant(member.ip, ib)));
    chosen.map(|ib| ring::ib(ib.va_start, ib.ib_bytes)).filter(|ib| ib.dwords > 0).collect()
}

/// Checks the IBs of video engines where the kernel does.
///
/// Source: Linux 6.12 `amdgpu_cs.c`, `amdgpu_cs_patch_ibs` and `amdgpu_cs_find_mapping`.
fn parse_video_ibs(file: &File, parsed: &Parsed, bos: &[Arc<Bo>]) -> Result<(), Errno> {
    for member in &parsed.members {
        let engine = file.gpu.facts.video_engine(member.ip);
        let Some((engine, check)) = engine.and_then(|engine| Some((engine, engine.check()?))) else { continue };
        let listed = Arc::new(Listed::new(bos, &file.gpu.board.complaints));
        let space = Space::new(file.vm.lock().snapshot(), Some(listed));
        for ib in &member.ibs {
            let Ib { va, dwords } = ring::ib(ib.va_start, ib.ib_bytes);
            let refused = |reason: String| {
                file.gpu.board.complaints.report(format!("CS: the IB at {va} for {engine}: {reason}"));
                Errno::EINVAL
            };
            let mut copy = Vec::new();
            copy.try_reserve_exact(dwords as usize).map_err(|_| Errno::ENOMEM)?;
            copy.resize(dwords as usize, 0);
            space.read(va, copy.as_mut_bytes()).map_err(|fault| refused(fault.to_string()))?;
            video::check(&copy, check).map_err(|reason| refused(reason.to_owned()))?;
        }
    }
    Ok(())
}

/// Returns the fences of other users of the listed BOs that a submission waits for: always the fences that are no jobs of amdgpu,
/// and jobs of other files unless the BO opts out.
///
/// Source: Linux 6.12 `amdgpu_sync.c`, `amdgpu_sync_test_fence`.
fn implicit_dependencies(file: &File, bos: &[Arc<Bo>]) -> Vec<Arc<Fence>> {
    let mut fences = Vec::new();
    for bo in bos {
        let is_explicit = bo.attributes().flags.contains(GemCreateFlags::EXPLICIT_SYNC);
        let matters = |user: u64| user == 0 || (!is_explicit && user != file.number);
        fences.extend(
            bo.reservation.uses().into_iter().filter(|earlier| matters(earlier.file)).map(|earlier| earlier.fence),
        );
    }
    fences
}
