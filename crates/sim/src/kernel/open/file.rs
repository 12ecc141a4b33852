//! Open files, with their handles and address space.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use amdgpu_uapi::{BO_LIST_MAX_ENTRIES, Errno};
use parking_lot::Mutex;

use crate::{
    features::Features,
    kernel::{
        card::Gpu,
        client,
        files::{
            census::Census,
            handles::Handles,
            node::{Node, Primary},
            syncobjs::Syncobjs,
        },
        mm::{bo::Bo, vm::Vm},
        modes::{Object, Outbox},
        open::jobs::Jobs,
        power::WakeCause,
        process::{identity::Process, ids::Ids},
        sched::{
            context::{Context, Contexts},
            fault_cell::FaultCell,
            work::Work,
        },
        sync::{events::Until, reservation::Reservation, syncobj::Syncobj},
        userq::UserQueue,
    },
};

/// The maximum time that the exit of a process waits for room on the hardware rings (`MAX_WAIT_SCHED_ENTITY_Q_EMPTY`).
const MOST_WAIT_FOR_ROOM: Duration = Duration::from_secs(1);

/// The maximum time that the closing of a file waits for the last fences of its user queues, all together. The kernel waits for each
/// up to 100 ms; nothing here takes a processor for so long after the death of its process.
const MOST_WAIT_FOR_QUEUES: Duration = Duration::from_millis(50);

/// The maximum number of contexts of a file (`AMDGPU_VM_MAX_NUM_CTX`).
const MOST_CONTEXTS: u32 = 4095;
/// The maximum number of user queues of a file (`AMDGPU_MAX_USERQ_COUNT`). Before the tables were xarrays, the last was not used.
const MOST_USER_QUEUES: u32 = 512;
/// A list of BOs that submissions refer to by number. It keeps the BOs alive, but not their handles.
pub(crate) type BoList = Arc<Vec<Arc<Bo>>>;

/// An open file of the node.
#[derive(Debug)]
pub(crate) struct File {
    pub(crate) gpu: Arc<Gpu>,
    /// Never used again by another file of the machine.
    pub(crate) number: u64,
    pub(crate) node: Node,
    /// The process that opened the file, if it may have to be named as the cause of a wake-up.
    opener: Option<Process>,
    /// The name that the client gave itself; empty for none.
    pub(crate) client_name: Mutex<String>,
    /// The group that was chosen for the file's memory instead of the client's own.
    pub(crate) cgroup: Mutex<Option<String>>,
    pub(crate) handles: Mutex<Handles>,
    /// The address space, shared with the user queues, which use its current state.
    pub(crate) vm: Arc<Mutex<Vm>>,
    pub(crate) contexts: Arc<Contexts>,
    pub(crate) bo_lists: Mutex<Ids<BoList>>,
    pub(crate) syncobjs: Mutex<Syncobjs>,
    pub(crate) user_queues: Mutex<Ids<Arc<UserQueue>>>,
    /// The jobs that use the page tables, and thereby all BOs created with VM_ALWAYS_VALID.
    pub(crate) root: Arc<Reservation>,
    pub(crate) faults: Arc<FaultCell>,
    /// The engine time of the file's jobs.
    pub(crate) work: Work,
    /// The events of the display.
    pub(crate) outbox: Arc<Outbox>,
    /// Held by a submission, so that submissions of the file are made one after the other.
    pub(crate) submitting: Mutex<()>,
    /// The files of new lessees that have no descriptor yet, by the lessees' numbers.
    lessees: Mutex<Vec<(u32, Self)>>,
    /// `true` if the process was killed: later submissions are dropped.
    killed: Arc<AtomicBool>,
    /// The CPU mappings by address, with their length and the BO that they keep alive.
    pub(crate) mappings: Mutex<HashMap<usize, (usize, Arc<Bo>)>>,
}

impl File {
    /// Creates a file of the render node.
    pub(crate) fn new(gpu: &Arc<Gpu>) -> Self {
        Self::of_node(gpu, gpu.machine.next_file(), Node::Render)
    }

    /// Creates a file of the primary node.
    pub(crate) fn primary(gpu: &Arc<Gpu>, is_admin: bool) -> Self {
        Self::of_node(gpu, gpu.machine.next_file(), Node::primary(&gpu.display.masters, is_admin))
    }

    fn of_node(gpu: &Arc<Gpu>, number: u64, node: Node) -> Self {
        let most_user_queues = MOST_USER_QUEUES - u32::from(!gpu.facts.has(Features::QUEUE_XARRAYS));
        let opener = gpu.board.power.runtime.is_some().then(Process::current);
        let _awake = opener.clone().and_then(|opener| gpu.awake(|| opener, WakeCause::Open));
        gpu.files.fetch_add(1, Ordering::AcqRel);
        Self {
            gpu: Arc::clone(gpu),
            number,
            node,
            opener,
            client_name: Mutex::default(),
            cgroup: Mutex::default(),
            handles: Mutex::default(),
            vm: Arc::new(Mutex::new(Vm::new(&gpu.facts.profile.dev_info))),
            contexts: Arc::new(Mutex::new(Ids::new(MOST_CONTEXTS))),
            bo_lists: Mutex::new(Ids::new(BO_LIST_MAX_ENTRIES)),
            syncobjs: Mutex::new(Syncobjs::new(gpu.facts.has(Features::ZERO_SYNCOBJ))),
            user_queues: Mutex::new(Ids::new(most_user_queues)),
            root: Arc::default(),
            faults: Arc::new(FaultCell::new(&gpu.facts.profile, number)),
            work: Work::default(),
            outbox: Arc::default(),
            submitting: Mutex::default(),
            lessees: Mutex::default(),
            killed: Arc::default(),
            mappings: Mutex::default(),
        }
    }

    /// Creates a file for a lessee of this file's master, and keeps it for [`take_lessee`](Self::take_lessee). Returns the lessee's
    /// number.
    ///
    /// # Errors
    ///
    /// As for [`Node::lessee`].
    pub(crate) fn lend(&self, lessor: &Primary, objects: BTreeSet<u32>) -> Result<u32, Errno> {
        let (node, number) = Node::lessee(lessor, objects)?;
        let file = Self::of_node(&self.gpu, self.gpu.machine.next_file(), node);
        self.lessees.lock().push((number, file));
        Ok(number)
    }

    /// Removes and returns the file of a new lessee.
    pub(crate) fn take_lessee(&self, number: u32) -> Option<Self> {
        let mut lessees = self.lessees.lock();
        let at = lessees.iter().position(|(other, _)| *other == number)?;
        Some(lessees.swap_remove(at).1)
    }

    /// Returns the object with an id, if the file's master may use it.
    ///
    /// Source: Linux 6.12 `drm_mode_object.c`, `__drm_mode_object_find`.
    pub(crate) fn object(&self, id: u32) -> Option<Object> {
        self.gpu.display.modes.find(id).filter(|object| !object.is_leasable() || self.node.holds(id))
    }

    /// Returns the BO of a handle.
    pub(crate) fn bo(&self, handle: u32) -> Option<Arc<Bo>> {
        self.handles.lock().get(handle).cloned()
    }

    /// Performs GEM_CLOSE: removes the file's mappings of the BO, then frees the handle.
    ///
    /// Source: Linux 6.12 `amdgpu_gem.c`, `amdgpu_gem_object_close`.
    pub(crate) fn close_handle(&self, handle: u32) -> Result<(), Errno> {
        let bo = self.bo(handle).ok_or(Errno::EINVAL)?;
        // The BO cannot be mapped again concurrently, because this lock is needed for that.
        let mut vm = self.vm.lock();
        let mut handles = self.handles.lock();
        handles.remove(handle, &bo)?;
        if !handles.holds(&bo) {
            vm.forget(&bo);
        }
        drop(handles);
        drop(vm);
        self.gpu.handle_closed(&bo);
        Ok(())
    }

    pub(crate) fn context(&self, id: u32) -> Result<Arc<Context>, Errno> {
        self.contexts.lock().get(id).cloned().ok_or(Errno::EINVAL)
    }

    pub(crate) fn syncobj(&self, handle: u32) -> Option<Arc<Syncobj>> {
        self.syncobjs.lock().get(handle).cloned()
    }

    /// Returns the path of the group that is charged for the VRAM of the present request: that of the client. `None` if the kernel does
    /// not count it.
    pub(crate) fn payer(&self) -> Option<String> {
        if !self.gpu.facts.has(Features::DMEM) {
            return None;
        }
        let chosen = self.cgroup.lock().clone();
        Some(chosen.or_else(client::cgroup).unwrap_or_default())
    }

    /// Returns `true` if the file's process was killed.
    pub(crate) fn is_killed(&self) -> bool {
        self.killed.load(Ordering::Acquire)
    }

    /// Returns `true` if a job of the file waits for room on a hardware ring.
    pub(crate) fn has_queued_jobs(&self) -> bool {
        self.gpu.rings.started().iter().any(|ring| ring.has_queued(self.number))
    }

    /// Returns the jobs of the file.
    pub(crate) fn jobs(&self) -> Jobs {
        Jobs::new(&self.gpu, self.number, &self.killed)
    }

    /// Drops the jobs that are still queued after a second, and all later jobs.
    ///
    /// Source: Linux 6.12 `sched_entity.c`, `drm_sched_entity_flush` and `drm_sched_entity_kill`; `amdgpu_drv.c`,
    /// `amdgpu_flush`.
    pub(crate) fn kill(&self) {
        let deadline = Until::At(Instant::now() + MOST_WAIT_FOR_ROOM);
        let events = &self.gpu.machine.events;
        events.wait(deadline, || (!self.has_queued_jobs()).then_some(()));
        self.killed.store(true, Ordering::Release);
        let rings = {
            // A submission is either in all of its queues, or detects that its process was killed.
            let _device_order = self.gpu.queues.submitting.lock();
            let rings = self.gpu.rings.started();
            for ring in &rings {
                ring.kill_queued(self.number);
            }
            rings
        };
        while rings.iter().any(|ring| ring.end_killed()) {}
        events.wake_all();
    }

    pub(crate) fn census(&self) -> Census {
        let (handles, handle_bytes) = {
            let handles = self.handles.lock();
            (handles.len(), handles.bytes())
        };
        let (bindings, bound_bytes) = self.vm.lock().census();
        let (mappings, mapped_bytes) = {
            let mappings = self.mappings.lock();
            (mappings.len(), mappings.values().map(|(len, _)| *len as u64).sum())
        };
        Census {
            handles,
            handle_bytes,
            bindings,
            bound_bytes,
            mappings,
            mapped_bytes,
            contexts: self.contexts.lock().len(),
            bo_lists: self.bo_lists.lock().len(),
            syncobjs: self.syncobjs.lock().len(),
            user_queues: self.user_queues.lock().len(),
        }
    }
}

impl Drop for File {
    /// Closes the file: user queues, framebuffers and blobs, sync objects, handles, the DRM master, contexts, the address space, BO
    /// lists. Running jobs keep the objects that they use. After the last file is closed, the console uses the display.
    ///
    /// Source: Linux 6.12 `drm_file.c`, `drm_file_free`; `amdgpu_kms.c`, `amdgpu_driver_postclose_kms`.
    fn drop(&mut self) {
        let gpu = Arc::clone(&self.gpu);
        let _awake = self.opener.take().and_then(|opener| gpu.awake(|| opener, WakeCause::Close));
        let deadline = Instant::now() + MOST_WAIT_FOR_QUEUES;
        for queue in self.user_queues.get_mut().clear() {
            queue.finish_by(deadline);
        }
        if let Some(screen) = &self.gpu.display.screen {
            screen.remove_all(self.number, &self.outbox);
        }
        self.syncobjs.get_mut().clear();
        for bo in self.handles.get_mut().clear() {
            self.gpu.handle_closed(&bo);
        }
        self.gpu.display.masters.forget(&self.node);
        let contexts = self.contexts.lock().clear();
        for context in contexts {
            self.gpu.queues.pstate.lock().release(&context);
        }
        let bound = std::mem::replace(&mut *self.vm.lock(), Vm::new(&self.gpu.facts.profile.dev_info));
        drop(bound);
        self.bo_lists.get_mut().clear();
        self.gpu.pools.forget_vm(self.number);
        let is_last = self.gpu.files.fetch_sub(1, Ordering::AcqRel) == 1;
        if let Some(screen) = self.gpu.display.screen.as_ref().filter(|_| is_last) {
            screen.give_to_console(|| self.gpu.files.load(Ordering::Acquire) > 0);
        }
    }
}
