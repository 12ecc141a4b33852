//! A kernel that lies, and the life of a driver on it.
//!
//! The kernel is the simulator, but for what a script of bytes says: a request is answered with yes and nothing written, with
//! yes and numbers that name nothing, or refused. Beside the driver, somebody else has objects in the same open file and
//! descriptors in the same process. The library must neither panic nor touch any of them.

use std::{
    collections::HashMap,
    mem::offset_of,
    os::fd::{AsRawFd, OwnedFd},
    ptr::NonNull,
    sync::Arc,
};

use amdgpu_layers::{Answered, Forward, Ioctl, Layer, Mapped, Mmap, Munmap, Reserve, Reserved, Unmapped};
use amdgpu_sim::{SimDevice, SimKernel, SimOptions, profile};
use amdgpu_winsys::{
    cs::{Queue, Stream, Submission, pm4},
    heaps::{AllocateInfo, MemoryManager, TableOptions},
    uapi::{
        Argument, BoList as BoListArgument, BoListEntry, Cs, CsFence, Ctx, FenceToHandle, GemClose, GemCreate,
        GemCreateFlags, GemDomain, GemMmap, GemOp, GemUserptr, GemVa, GemWaitIdle, PRIME_FD_TO_HANDLE, PrimeHandle,
        Request, SYNCOBJ_FD_TO_HANDLE, SyncobjCreate, SyncobjDestroy, SyncobjHandle, SyncobjTimelineWait, VaFlags,
        WaitCs, WaitFences, bo_list_op, ctx_op,
    },
    vamgr::VaRequest,
    winsys::{
        Binding, Bo, BoList, BoRequest, Context, Deadline, Device, Errno, Ip, Kernel, Mapping, Priority, Reservation,
        Syncobj, Until, WaitFor, wait_fences,
    },
};
use nix::sys::eventfd::EventFd;
use parking_lot::Mutex;

/// Treatment of a request.
#[derive(Clone, Copy)]
enum Lie {
    /// Nothing: it is the simulator's.
    None,
    /// Yes, and nothing is written.
    Silence,
    /// Yes, and numbers are written that name nothing.
    Garbage(u32),
    Refusal(Errno),
}

/// Objects of another client in the driver's open file, by handle.
#[derive(Debug, Default)]
struct Foreign {
    bos: Vec<u32>,
    syncobjs: Vec<u32>,
    contexts: Vec<u32>,
    lists: Vec<u32>,
}

#[derive(Debug, Default)]
struct State {
    script: std::vec::IntoIter<u8>,
    lies: bool,
    mappings: HashMap<usize, usize>,
    foreign: Foreign,
    violations: Vec<String>,
}

/// A layer that lies according to the input.
#[derive(Debug, Default)]
struct Liar {
    state: Mutex<State>,
}

type LyingKernel = Forward<SimKernel, Liar>;

fn is(request: Request, other: Request) -> bool {
    (request.kind(), request.number()) == (other.kind(), other.number())
}

fn word(bytes: &[u8], offset: usize) -> u32 {
    bytes.get(offset..).and_then(|rest| rest.first_chunk()).map_or(0, |word| u32::from_ne_bytes(*word))
}

fn put(bytes: &mut [u8], offset: usize, value: u32) {
    if let Some(word) = bytes.get_mut(offset..).and_then(|rest| rest.first_chunk_mut()) {
        *word = value.to_ne_bytes();
    }
}

/// A number that names no object of the simulator, which counts up from 1.
const fn no_handle(garbage: u32) -> u32 {
    garbage | 1 << 30
}

/// A number that no descriptor of this process has.
const fn no_descriptor(garbage: u32) -> u32 {
    if garbage.is_multiple_of(2) { garbage | 1 << 31 } else { (garbage | 1 << 30) & !(1 << 31) }
}

impl State {
    fn lie(&mut self) -> Lie {
        if !self.lies {
            return Lie::None;
        }
        let Some(byte) = self.script.next() else { return Lie::None };
        match byte {
            0..32 => Lie::Silence,
            32..64 => {
                let mut garbage = || u32::from(self.script.next().unwrap_or_default());
                Lie::Garbage(garbage() << 24 | garbage() << 16 | garbage() << 8 | garbage())
            }
            64 => Lie::Refusal(Errno::ENOMEM),
            65 => Lie::Refusal(Errno::EIO),
            66 => Lie::Refusal(Errno::EPERM),
            67 => Lie::Refusal(Errno::EAGAIN),
            68 => Lie::Refusal(Errno::ECANCELED),
            69 => Lie::Refusal(Errno::ENODATA),
            70 => Lie::Refusal(Errno::ETIME),
            _ => Lie::None,
        }
    }

    /// Ends a mapping, unless the script refuses; one that was never made is noted.
    fn end(&mut self, address: NonNull<u8>, len: usize) -> Result<(), Errno> {
        if let Lie::Refusal(errno) = self.lie() {
            return Err(errno);
        }
        if self.mappings.remove(&address.addr().get()) != Some(len) {
            self.violations.push(format!("munmap of {len} bytes at {address:?}, which were not mapped"));
            return Err(Errno::EINVAL);
        }
        Ok(())
    }

    /// Records accesses to another client's objects.
    fn watch(&mut self, request: Request, argument: &[u8]) {
        let Foreign { bos, syncobjs, contexts, lists } = &self.foreign;
        let first = word(argument, 0);
        let touches = if is(request, GemClose::REQUEST) || is(request, GemMmap::REQUEST) || is(request, GemVa::REQUEST)
        {
            bos.contains(&first)
        } else if is(request, SyncobjDestroy::REQUEST) || is(request, SyncobjHandle::REQUEST) {
            syncobjs.contains(&first)
        } else if is(request, Ctx::REQUEST) {
            first == ctx_op::FREE_CTX && contexts.contains(&word(argument, offset_of!(Ctx, ctx_id)))
        } else if is(request, Cs::REQUEST) {
            contexts.contains(&first)
        } else if is(request, BoListArgument::REQUEST) {
            first != bo_list_op::CREATE && lists.contains(&word(argument, offset_of!(BoListArgument, list_handle)))
        } else {
            false
        };
        if touches && self.lies {
            self.violations.push(format!("{request:?} on somebody else's object: {argument:?}"));
        }
    }
}

/// Writes an answer whose numbers name nothing; `false` where the request has no such answer.
fn write_garbage(request: Request, argument: &mut [u8], garbage: u32) -> bool {
    let handles = [
        (GemCreate::REQUEST, 0),
        (SyncobjCreate::REQUEST, offset_of!(SyncobjCreate, handle)),
        (SYNCOBJ_FD_TO_HANDLE, offset_of!(SyncobjHandle, handle)),
        (PRIME_FD_TO_HANDLE, offset_of!(PrimeHandle, handle)),
        (GemUserptr::REQUEST, offset_of!(GemUserptr, handle)),
        (BoListArgument::REQUEST, 0),
        (Ctx::REQUEST, 0),
    ];
    let descriptors = [
        (FenceToHandle::REQUEST, 0),
        (PrimeHandle::REQUEST, offset_of!(PrimeHandle, fd)),
        (SyncobjHandle::REQUEST, offset_of!(SyncobjHandle, fd)),
    ];
    let numbers = [
        (Cs::REQUEST, 0),
        (WaitCs::REQUEST, 0),
        (WaitFences::REQUEST, 4),
        (WaitFences::REQUEST, 0),
        (GemWaitIdle::REQUEST, 0),
        (GemMmap::REQUEST, 0),
        (SyncobjTimelineWait::REQUEST, offset_of!(SyncobjTimelineWait, first_signaled)),
    ];
    let mut has_answer = false;
    let mut write = |fields: &[(Request, usize)], value: u32| {
        for &(_, offset) in fields.iter().filter(|(other, _)| is(request, *other)) {
            put(argument, offset, value);
            has_answer = true;
        }
    };
    write(&handles, no_handle(garbage));
    write(&descriptors, no_descriptor(garbage));
    // An offset is no page's, so that it is not another BO's by chance.
    write(&numbers, garbage | 1);
    has_answer
}

impl Liar {
    /// Answers a request with numbers that name nothing; `None` where it has no such answer.
    fn garbage(call: Ioctl<'_>, garbage: u32) -> Answered<'_> {
        let mut argument = call.bytes().to_vec();
        if call.is(GemOp::REQUEST) && word(&argument, offset_of!(GemOp, op)) == 0 {
            let address = u64::from(word(&argument, 8)) | u64::from(word(&argument, 12)) << 32;
            let facts = GemCreate {
                bo_size: u64::from(garbage) << 8,
                alignment: garbage.into(),
                domains: (garbage >> 8).into(),
                domain_flags: garbage.into(),
            };
            // SAFETY: this operation gives the address of such a structure to write to.
            unsafe { std::ptr::with_exposed_provenance_mut::<GemCreate>(address as usize).write_unaligned(facts) };
            return agreed(call);
        }
        if !write_garbage(call.request(), &mut argument, garbage) {
            return call.forward();
        }
        let mut answered = agreed(call);
        // SAFETY: the numbers name nothing.
        unsafe { answered.write_bytes(&argument) };
        answered
    }
}

/// Says that a request was made.
fn agreed(call: Ioctl<'_>) -> Answered<'_> {
    // SAFETY: what is made is the simulator's, and its jobs are NOPs, which write nothing that the driver gives up.
    unsafe { call.agree() }
}

impl Layer for Liar {
    fn ioctl<'c>(&self, call: Ioctl<'c>) -> Answered<'c> {
        let mut state = self.state.lock();
        state.watch(call.request(), call.bytes());
        let lie = state.lie();
        drop(state);
        match lie {
            Lie::Silence => agreed(call),
            Lie::Refusal(errno) => call.refuse(errno),
            Lie::Garbage(garbage) => Self::garbage(call, garbage),
            Lie::None => call.forward(),
        }
    }

    fn mmap<'c>(&self, call: Mmap<'c>) -> Mapped<'c> {
        if let Lie::Refusal(errno) = self.state.lock().lie() {
            return call.refuse(errno);
        }
        let len = call.len();
        let mapped = call.forward();
        if let Ok(base) = mapped.result() {
            self.state.lock().mappings.insert(base.addr().get(), len);
        }
        mapped
    }

    fn munmap<'c>(&self, call: Munmap<'c>) -> Unmapped<'c> {
        let ended = self.state.lock().end(call.address(), call.len());
        match ended {
            Ok(()) => call.forward(),
            Err(errno) => call.refuse(errno),
        }
    }

    fn reserve<'c>(&self, call: Reserve<'c>) -> Reserved<'c> {
        let ended = self.state.lock().end(call.address(), call.len());
        match ended {
            Ok(()) => call.forward(),
            Err(errno) => call.refuse(errno),
        }
    }
}

fn ask<A: Argument>(kernel: &LyingKernel, request: Request, mut argument: A) -> Result<A, Errno> {
    // SAFETY: the argument is as long as the request says, and the addresses in those below are null.
    unsafe { kernel.inner().ioctl(request, std::ptr::from_mut(&mut argument).cast()) }.map(|_| argument)
}

/// Creates the objects of another client.
fn settle(kernel: &LyingKernel) -> Result<(), Errno> {
    let mut foreign = Foreign::default();
    for _ in 0..8 {
        let question = GemCreate { bo_size: 4096, alignment: 0, domains: GemDomain::GTT.bits(), domain_flags: 0 };
        foreign.bos.push(ask(kernel, GemCreate::REQUEST, question)?.bo_size as u32);
        let question = SyncobjCreate { handle: 0, flags: 1 };
        foreign.syncobjs.push(ask(kernel, SyncobjCreate::REQUEST, question)?.handle);
    }
    for _ in 0..2 {
        let question = Ctx { op: ctx_op::ALLOC_CTX, flags: 0, ctx_id: 0, priority: 0 };
        foreign.contexts.push(ask(kernel, Ctx::REQUEST, question)?.op);
        let question = BoListArgument { bo_info_size: size_of::<BoListEntry>() as u32, ..BoListArgument::ZEROED };
        foreign.lists.push(ask(kernel, BoListArgument::REQUEST, question)?.operation);
    }
    kernel.layer().state.lock().foreign = foreign;
    Ok(())
}

/// Objects of the driver.
#[derive(Default)]
struct Belongings {
    bos: Vec<Bo>,
    mappings: Vec<Mapping>,
    bindings: Vec<Binding>,
    reservations: Vec<Reservation>,
    contexts: Vec<Context>,
    syncobjs: Vec<Syncobj>,
    lists: Vec<BoList>,
    queues: Vec<Queue>,
    descriptors: Vec<OwnedFd>,
}

/// Takes one of those there are, by a number of any size.
fn pick<T>(all: &[T], which: u8) -> Option<&T> {
    all.get(usize::from(which).checked_rem(all.len())?)
}

fn remove<T>(all: &mut Vec<T>, which: u8) {
    if let Some(index) = usize::from(which).checked_rem(all.len()) {
        drop(all.swap_remove(index));
    }
}

impl Belongings {
    fn step(&mut self, device: &Device, step: u8, which: u8) {
        let domains = if which.is_multiple_of(2) { GemDomain::GTT } else { GemDomain::VRAM };
        let size = u64::from(which).max(1) << (which % 8);
        match step % 24 {
            0 | 1 => {
                let request = BoRequest { size, alignment: 0, domains, flags: GemCreateFlags::CPU_ACCESS_REQUIRED };
                self.bos.extend(Bo::create(device, request).ok());
            }
            2 => remove(&mut self.bos, which),
            3 => self.mappings.extend(pick(&self.bos, which).and_then(|bo| Mapping::new(bo).ok())),
            4 => {
                for mapping in &self.mappings {
                    let _ = mapping.write(mapping.len() as u64 - 2, &[which; 3]);
                    let _ = mapping.store_u32(0, step.into());
                }
            }
            5 => remove(&mut self.mappings, which),
            6 => {
                let Some(bo) = pick(&self.bos, which) else { return };
                let Ok(lease) = device.addresses().allocate(VaRequest::new(bo.size().min(1 << 30))) else { return };
                self.bindings.extend(Binding::new(bo, lease, VaFlags::READABLE).ok());
            }
            7 => remove(&mut self.bindings, which),
            8 => self.contexts.extend(Context::new(device, Priority::Normal).ok()),
            9 => remove(&mut self.contexts, which),
            10 => self.syncobjs.extend(Syncobj::new(device, which.is_multiple_of(2)).ok()),
            11 => remove(&mut self.syncobjs, which),
            12 => self.descriptors.extend(pick(&self.syncobjs, which).and_then(|syncobj| syncobj.export().ok())),
            13 => self.descriptors.extend(pick(&self.bos, which).and_then(|bo| bo.export().ok())),
            14 => {
                let Some(fd) = pick(&self.descriptors, which) else { return };
                self.bos.extend(Bo::import(device, fd).ok());
                self.syncobjs.extend(Syncobj::import(device, fd).ok());
            }
            15 => remove(&mut self.descriptors, which),
            16 => {
                let entries: Vec<_> =
                    self.bos.iter().map(|bo| BoListEntry { bo_handle: bo.handle(), bo_priority: 0 }).collect();
                self.lists.extend(BoList::new(device, &entries).ok());
            }
            17 => remove(&mut self.lists, which),
            18 => self.fences(device, which),
            19 => {
                self.queues
                    .extend(pick(&self.contexts, which).and_then(|context| Queue::new(context, Ip::Gfx, 0).ok()));
            }
            20 => self.submit(device, which),
            21 => remove(&mut self.queues, which),
            22 => {
                let Ok(lease) = device.addresses().allocate(VaRequest::new(1 << 20)) else { return };
                let reservation = Reservation::new(device, lease).ok();
                if let Some((reservation, bo)) = reservation.as_ref().zip(pick(&self.bos, which)) {
                    let _ = reservation.bind(0, bo.size().min(1 << 20), bo, 0, VaFlags::READABLE);
                }
                self.reservations.extend(reservation);
            }
            _ => {
                remove(&mut self.reservations, which);
                let Ok(manager) = MemoryManager::new(device, &TableOptions::default()) else { return };
                let Ok(memory) = manager.allocate(&AllocateInfo::new(u32::from(which % 8), size)) else { return };
                if let Ok(mapping) = memory.map() {
                    let _ = mapping.store_u64(0, 1);
                }
            }
        }
    }

    fn fences(&mut self, device: &Device, which: u8) {
        if let Some(context) = pick(&self.contexts, which) {
            let number = u64::from(which % 3);
            self.descriptors.extend(context.fence_to_sync_file(Ip::Gfx, 0, number).ok());
            self.syncobjs.extend(context.fence_to_syncobj(Ip::Gfx, 0, number).ok());
            let _ = (context.state(), context.check(Ip::Gfx, 0));
            let fence = CsFence { ctx_id: context.id(), ip_type: 0, ip_instance: 0, ring: 0, seq_no: number };
            for condition in [WaitFor::All, WaitFor::Any] {
                if let Ok(Some(index)) = wait_fences(device, &[fence; 2], condition, Deadline::POLL) {
                    assert!(index < 2, "an index that no fence has");
                }
            }
        }
        let points: Vec<_> = self.syncobjs.iter().map(|syncobj| (syncobj, 0)).collect();
        if let Ok(Some(index)) = Syncobj::wait_points(&points, WaitFor::Any, Until::Signalled, Deadline::POLL) {
            assert!(index < points.len().max(1), "an index that no point has");
        }
    }

    fn submit(&self, device: &Device, which: u8) {
        let Some(queue) = pick(&self.queues, which) else { return };
        let Ok(mut stream) = Stream::new(device, pm4::Target::gfx(device.info().gfx_level), 64) else { return };
        if stream.push(&pm4::Nop::Skip(&[0; 7])).is_err() {
            return;
        }
        let Ok(list) = stream.finish() else { return };
        if let Ok(fence) = queue.submit(&Submission { lists: &[&list], ..Submission::default() }) {
            let _ = fence.wait(Deadline::POLL);
        }
    }
}

/// Lives a driver's life on a lying kernel: `lies` is its script, each two bytes of `life` a thing that the driver does.
/// Returns what the library did that it must not, in words.
///
/// # Panics
///
/// When the library does.
pub fn live(lies: &[u8], life: &[u8]) -> Vec<String> {
    let Some(profile) = profile("navi21") else { return Vec::new() };
    let gpu = SimDevice::new(profile, SimOptions::hanging_for(std::time::Duration::from_millis(200)));
    let kernel = Arc::new(Liar::default().over(gpu.open()));
    let Ok(event) = EventFd::from_value(5) else { return Vec::new() };
    if settle(&kernel).is_err() {
        return vec!["the simulator refuses what it must grant".to_owned()];
    }
    let before = kernel.inner().census();
    let Ok(device) = Device::new(Arc::clone(&kernel)) else { return Vec::new() };
    {
        let mut state = kernel.layer().state.lock();
        state.script = Vec::from(lies).into_iter();
        state.lies = true;
    }
    let mut belongings = Belongings::default();
    for pair in life.as_chunks::<2>().0 {
        belongings.step(&device, pair[0], pair[1]);
    }
    drop(belongings);
    drop(device);
    let mut violations = std::mem::take(&mut kernel.layer().state.lock().violations);
    // What was never given back stays; nothing less.
    let after = kernel.inner().census();
    if after.handles < before.handles || after.contexts < before.contexts || after.syncobjs < before.syncobjs {
        violations.push(format!("somebody else's objects are gone: {before:?}, then {after:?}"));
    }
    for number in [0, 1, 2, event.as_raw_fd()] {
        // SAFETY: looks a number up.
        if unsafe { libc::fcntl(number, libc::F_GETFD) } < 0 {
            violations.push(format!("descriptor {number} is closed"));
        }
    }
    violations
}
