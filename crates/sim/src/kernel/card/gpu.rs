//! The state that all files of a device share.

use std::{
    sync::{Arc, atomic::AtomicU32},
    time::Duration,
};

use amdgpu_uapi::GemDomain;
use parking_lot::Mutex;

use super::parts::{BoTables, Display, Queues};
use crate::{
    features::Features,
    kernel::{
        board::{Board, Facts},
        files::node::Masters,
        machine::Machine,
        mm::bo::{Bo, PAGE, Pinned, Pools},
        modes::{Colours, Modes, Screen},
        power::{Power, RuntimeState, WakeCause},
        process::identity::Process,
        sched::ring::Rings,
    },
};

/// The parts of a device, which all of its files share.
///
/// Requests take the part that they need; the parts do not know this type. What is done here concerns several parts at once.
#[derive(Debug)]
pub(crate) struct Gpu {
    pub(crate) facts: Arc<Facts>,
    pub(crate) machine: Arc<Machine>,
    /// The parts that rings and user queues share.
    pub(crate) board: Arc<Board>,
    pub(crate) rings: Arc<Rings>,
    pub(crate) pools: Arc<Pools>,
    /// The VRAM that the kernel itself uses.
    _own: Option<Pinned>,
    pub(crate) bos: BoTables,
    pub(crate) queues: Queues,
    pub(crate) display: Display,
    /// The number of open files.
    pub(crate) files: AtomicU32,
    /// The option for an APU's carve-out that was chosen for the next start of the computer.
    pub(crate) carve_out: Mutex<Option<usize>>,
}

impl Gpu {
    pub(crate) fn new(machine: &Arc<Machine>, facts: Facts) -> Arc<Self> {
        let facts = Arc::new(facts);
        let Facts { profile, options, .. } = &*facts;
        machine.boot(options.features);
        let board = Arc::new(Board::new(&facts, &machine.events, &machine.uevents));
        let pools = Pools::new(profile);
        if options.features.contains(Features::DMEM) {
            let reclaims = options.features.contains(Features::DMEM_RECLAIM);
            pools.count_groups(reclaims);
            machine.regions.add(&options.place.pci().to_string(), &pools, reclaims);
        }
        let own = Some(options.kernel_vram).filter(|&bytes| bytes <= profile.memory.vram.total_heap_size);
        let own = own.and_then(|bytes| pools.pin(GemDomain::VRAM, false, bytes.next_multiple_of(PAGE)).ok());
        if own.is_none() {
            board.complaints.report(format!("VRAM has no room for the kernel's own {} bytes", options.kernel_vram));
        }
        let modes = Modes::new(profile.is_apu(), Colours::of(profile, options.features));
        let display = options.display;
        let screen = display.map(|display| Screen::new(display, profile, options.drm_minor, modes, &machine.events));
        Arc::new(Self {
            machine: Arc::clone(machine),
            rings: Rings::new(&board),
            board,
            pools,
            _own: own,
            bos: BoTables::default(),
            queues: Queues::default(),
            display: Display { masters: Masters::default(), modes, screen },
            files: AtomicU32::new(0),
            carve_out: Mutex::default(),
            facts,
        })
    }

    /// Performs an action on the state of runtime power management, after a suspension that is due. Returns `None` if the driver has
    /// none for this device.
    pub(crate) fn runtime<T>(&self, action: impl FnOnce(&mut RuntimeState, Duration) -> T) -> Option<T> {
        let (result, fell_asleep) = self.board.power.runtime.as_ref()?.with(action);
        if fell_asleep {
            self.pools.evict_vram();
        }
        Some(result)
    }

    /// Suspends the GPU if that is due.
    pub(crate) fn suspend_if_due(&self) {
        self.runtime(|_, _| ());
    }

    /// Resumes the GPU if it is suspended, and keeps it active until the result is dropped.
    ///
    /// Source: Linux 6.12 `amdgpu_kms.c`, `amdgpu_driver_open_kms` and `amdgpu_driver_postclose_kms`; `amdgpu_drv.c`,
    /// `amdgpu_drm_ioctl`.
    pub(crate) fn awake(&self, process: impl FnOnce() -> Process, cause: WakeCause) -> Option<Awake<'_>> {
        self.runtime(|state, now| state.get(now, process, cause))?;
        Some(Awake(&self.board.power))
    }

    pub(crate) fn unplug(&self) {
        // The driver resumes the GPU before it lets go of it (Linux 6.12 `amdgpu_drv.c`, `amdgpu_pci_remove`).
        self.runtime(|state, now| state.get(now, Process::current, WakeCause::Write("remove".to_owned())));
        self.rings.unplug();
    }

    /// Returns `true` if the GPU was unplugged, which every request checks first.
    pub(crate) fn is_unplugged(&self) -> bool {
        self.rings.is_unplugged()
    }

    /// Handles the closing of a BO's handle by a file. After the last handle of all files, the BO lives only as long as its dma-buf
    /// is open.
    pub(crate) fn handle_closed(&self, bo: &Bo) {
        let link = self.bos.names.lock().handle_closed(bo);
        if let Some(link) = link {
            self.machine.descriptors.orphan_behind(link);
        }
    }
}

/// A use of the GPU, which is not suspended until it is dropped.
#[must_use = "the GPU is kept active until it is dropped"]
pub(crate) struct Awake<'g>(&'g Power);

impl Drop for Awake<'_> {
    fn drop(&mut self) {
        self.0.end_use();
    }
}
