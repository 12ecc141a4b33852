//! A simulated computer under a scripted load.
//!
//! The processes are scripted, but their memory is not: each client is an open file of the simulated GPU that allocates through the
//! library, and the simulated kernel provides all figures of fdinfo, sysfs and INFO. A step is one second unless looks are taken at
//! another interval, and every run has the same steps. Only engine times come from the script, because nothing is executed.

use std::{io, sync::Arc, time::Duration};

use amdgpu_sim::{KernelRelease, Profile, SimDevice, SimKernel, SimMachine, SimOptions, sysfs};
use amdgpu_winsys::{
    heaps::{
        AllocateFlags, AllocateInfo, DeviceMemory, ExternalHandleTypes, ImportInfo, MemoryManager, MemoryPropertyFlags,
        TableOptions,
    },
    winsys::{Device, Errno, Kernel},
};

use super::{Machine, Moment};
use crate::files::{Files, Memory};

/// The step of the script at which a single snapshot is taken: all processes have started and VRAM is full.
pub const SHOWN_STEP: u64 = 14;
/// Release of Linux that a simulated computer runs unless another one is named: one whose files also tell of displaced memory that may
/// lie in VRAM or GTT. Later ones tell of memory for VRAM alone.
pub const SHOWN_RELEASE: KernelRelease = KernelRelease::V6_12;
/// Steps after which the script begins again.
const PERIOD: u64 = 40;
/// 2026-01-01T00:00:00Z.
const EPOCH_MS: u64 = 1_767_225_600_000;
/// Memory is taken in this many pieces of the device-local heap.
const PIECES: u64 = 64;

/// A process of the script.
struct Role {
    pid: u32,
    ppid: u32,
    name: &'static str,
    user: u32,
    cgroup: &'static str,
    /// Seconds before the first step that it was started.
    age: u64,
    /// Descriptors, by the role whose client they are: this process's, or its parent's.
    clients: &'static [(u32, u32)],
    /// Device-local and host memory at a step, in pieces.
    load: fn(u64) -> (u64, u64),
    /// Nanoseconds of work on the graphics engine in a second.
    busy: u64,
}

/// The cast: a compositor, a browser whose GPU process inherited its open file, a game that grows, and a training run that
/// comes when little is left. The compositor shows the browser's frames: both share one buffer ([`FRAME`]).
const CAST: [Role; 5] = [
    Role {
        pid: 1187,
        ppid: 1,
        name: "compositor",
        user: 1000,
        cgroup: "/user.slice/session.scope",
        age: 86_000,
        clients: &[(1187, 12), (1187, 13)],
        load: |_| (2, 1),
        busy: 40_000_000,
    },
    Role {
        pid: 2210,
        ppid: 1187,
        name: "browser",
        user: 1000,
        cgroup: "/user.slice/app-browser.scope",
        age: 7_000,
        clients: &[(2210, 31)],
        // And the frame that the compositor shows.
        load: |step| (2 + step % 2, 3),
        busy: 15_000_000,
    },
    Role {
        pid: 2214,
        ppid: 2210,
        name: "browser-gpu",
        user: 1000,
        cgroup: "/user.slice/app-browser.scope",
        age: 6_999,
        clients: &[(2210, 7), (2214, 9)],
        load: |_| (1, 1),
        busy: 5_000_000,
    },
    Role {
        pid: 3301,
        ppid: 1187,
        name: "game",
        user: 1000,
        cgroup: "/user.slice/app-game.scope",
        age: 600,
        clients: &[(3301, 44)],
        load: |step| ((4 + step * 3).min(34), 4),
        busy: 820_000_000,
    },
    Role {
        pid: 4404,
        ppid: 1,
        name: "trainer",
        user: 1001,
        cgroup: "/system.slice/training.service",
        age: 30,
        clients: &[(4404, 5)],
        load: |step| if (8..28).contains(&step) { (((step - 7) * 5).min(26), 2) } else { (0, 0) },
        busy: 300_000_000,
    },
];

/// An open file of a GPU with what it holds.
struct Client {
    owner: u32,
    kernel: Arc<SimKernel>,
    manager: MemoryManager,
    local: Vec<DeviceMemory>,
    host: Vec<DeviceMemory>,
}

/// One GPU with its place and its clients.
struct Card {
    gpu: SimDevice,
    place: sysfs::Place,
    clients: Vec<Client>,
    /// One piece of VRAM that two clients hold: each reports all of it, and its shared part.
    _frame: Option<[DeviceMemory; 2]>,
}

/// Processes that draw and show the shared frame.
const FRAME: [u32; 2] = [2210, 1187];

/// A computer with simulated GPUs.
pub struct Simulated {
    cards: Vec<Card>,
    step: u64,
    /// Nanoseconds of a step.
    pace: u64,
    files: Memory,
}

/// The nanoseconds of a second.
const SECOND: u64 = 1_000_000_000;

/// The reason why a simulated machine cannot be created.
#[derive(Debug, thiserror::Error)]
pub enum SimError {
    /// The name is not that of a simulated chip, or the file is not a capture.
    #[error(transparent)]
    Chip(#[from] amdgpu_sim::ChipError),
    /// There are more GPUs than minor numbers of DRM nodes. The value is the number of GPUs.
    #[error("{0} simulated GPUs are more than one computer has room for")]
    TooMany(usize),
    /// The simulator returned an error, whose message is the value.
    #[error("the simulator failed: {0}")]
    Failed(String),
}

fn failed(error: &dyn std::fmt::Display) -> SimError {
    SimError::Failed(error.to_string())
}

impl Simulated {
    /// Creates a computer at a step of the script. `chips` are names of chips or files of captures, separated by commas. It runs
    /// [`SHOWN_RELEASE`].
    ///
    /// # Errors
    ///
    /// [`SimError`] if there is no such chip, there are too many, or the simulator fails.
    pub fn new(chips: &str, step: u64) -> Result<Self, SimError> {
        Self::with_release(chips, step, SHOWN_RELEASE)
    }

    /// Creates a computer that runs a release of Linux.
    ///
    /// # Errors
    ///
    /// The errors of [`Simulated::new`].
    pub fn with_release(chips: &str, step: u64, release: KernelRelease) -> Result<Self, SimError> {
        let machine = SimMachine::new();
        let names: Vec<&str> = chips.split(',').map(str::trim).collect();
        let mut cards = Vec::new();
        for (index, name) in names.iter().enumerate() {
            let profile = amdgpu_sim::chip(name)?;
            let place = sysfs::Place::new(index).ok_or(SimError::TooMany(names.len()))?;
            cards.push(Card::new(&machine, profile, place, release)?);
        }
        let mut this = Self { cards, step: 0, pace: SECOND, files: Memory::default() };
        for step in 0..=step {
            this.go_to(step);
        }
        this.files = this.tree();
        Ok(this)
    }

    /// Sets the seconds of a step, so that looks at an interval have its times. The script has the same steps at any pace.
    #[must_use]
    pub fn at_interval(mut self, seconds: f64) -> Self {
        let pace = Duration::try_from_secs_f64(seconds).ok().and_then(|step| u64::try_from(step.as_nanos()).ok());
        self.pace = pace.map_or(SECOND, |pace| pace.clamp(1, 86_400 * SECOND));
        self.files = self.tree();
        self
    }

    /// Returns the nanoseconds of the script so far.
    const fn elapsed(&self) -> u64 {
        self.step.saturating_mul(self.pace)
    }

    /// Returns the files for modification, so that tests can simulate failures.
    pub fn files_mut(&mut self) -> &mut Memory {
        &mut self.files
    }

    fn go_to(&mut self, step: u64) {
        self.step = step;
        self.cards.iter_mut().for_each(|card| card.go_to(step % PERIOD));
    }

    fn tree(&self) -> Memory {
        let mut files = Memory::default();
        for card in &self.cards {
            card.sysfs(&mut files);
        }
        let gtt: u64 = self.cards.iter().map(|card| card.gpu.profile().memory.gtt.total_heap_size).max().unwrap_or(0);
        let used: u64 = self.cards.iter().map(|card| card.gpu.memory_info().gtt.heap_usage).sum();
        let (total, available) = (gtt * 2, (gtt * 2 / 10 * 7).saturating_sub(used));
        files.put("proc/meminfo", format!("MemTotal: {} kB\nMemAvailable: {} kB\n", total >> 10, available >> 10));
        files.put("proc/uptime", format!("{}.00 0.00\n", 100_000 + self.elapsed() / SECOND));
        files.put("proc/self/cgroup", "0::/user.slice/session.scope\n");
        files.put("etc/passwd", "root:x:0:0::/root:/bin/sh\nalice:x:1000:1000::/:\nbob:x:1001:1001::/:\n");
        for role in &CAST {
            self.process(role, &mut files);
        }
        files
    }

    /// Adds a process's files in `/proc`: none for a process without memory, which has not been started.
    fn process(&self, role: &Role, files: &mut Memory) {
        if (role.load)(self.step % PERIOD).0 == 0 {
            return;
        }
        let directory = format!("proc/{}", role.pid);
        let started = (100_000 - role.age) * 100;
        files.put(format!("{directory}/comm"), format!("{}\n", role.name));
        files.put(
            format!("{directory}/status"),
            format!("Name:\t{}\nPPid:\t{}\nUid:\t{}\n", role.name, role.ppid, role.user),
        );
        let stat = format!("{} ({}) S {} {}{started}\n", role.pid, role.name, role.ppid, "0 ".repeat(17));
        files.put(format!("{directory}/stat"), stat);
        files.put(format!("{directory}/cgroup"), format!("0::{}\n", role.cgroup));
        for (card_index, card) in self.cards.iter().enumerate() {
            for &(owner, fd) in role.clients {
                let Some(client) = card.clients.iter().position(|client| client.owner == owner) else { continue };
                let fd = fd + 100 * card_index as u32;
                let node = sysfs::node_name(card.place.render_minor());
                let link = crate::files::Entry::Link(format!("/dev/dri/{node}"));
                files.put_entry(format!("{directory}/fd/{fd}"), link);
                files.put(format!("{directory}/fdinfo/{fd}"), self.fdinfo(card, client, owner));
            }
        }
    }

    fn fdinfo(&self, card: &Card, client: usize, owner: u32) -> String {
        let number = 10 + client as u64;
        let Some(client) = card.clients.get(client) else { return String::new() };
        let busy = CAST.iter().find(|role| role.pid == owner).map_or(0, |role| role.busy);
        let text = client.kernel.fdinfo_as(number, &card.place.pci().to_string());
        let worked = u128::from(busy) * u128::from(self.elapsed()) / u128::from(SECOND);
        format!("pos:\t0\nflags:\t02100002\nmnt_id:\t31\nino:\t1106\n{text}drm-engine-gfx:\t{worked} ns\n")
    }
}

impl Card {
    fn new(
        machine: &SimMachine,
        profile: Arc<Profile>,
        place: sysfs::Place,
        release: KernelRelease,
    ) -> Result<Self, SimError> {
        let gpu = machine.add(profile, SimOptions { place, ..SimOptions::of_kernel(release) });
        let owners: std::collections::BTreeSet<u32> =
            CAST.iter().flat_map(|role| role.clients.iter().map(|&(owner, _)| owner)).collect();
        let clients: Vec<Client> =
            owners.into_iter().map(|owner| Client::new(&gpu, owner)).collect::<Result<_, _>>()?;
        let [from, to] = FRAME.map(|owner| clients.iter().find(|client| client.owner == owner));
        let frame = from.zip(to).and_then(|(from, to)| from.share(to));
        Ok(Self { gpu, place, clients, _frame: frame })
    }

    fn go_to(&mut self, step: u64) {
        for client in &mut self.clients {
            let role = CAST.iter().find(|role| role.pid == client.owner);
            let (local, host) = role.map_or((0, 0), |role| (role.load)(step));
            client.hold(local, host);
        }
    }

    fn sysfs(&self, files: &mut Memory) {
        let node = sysfs::node_name(self.place.render_minor());
        let directory = format!("{}/", self.place.directory());
        for (path, entry) in sysfs::tree(&self.gpu, self.place) {
            let Some(name) = path.strip_prefix(&directory) else { continue };
            if let sysfs::Entry::File(bytes) = entry
                && !name.contains('/')
                && name != "config"
            {
                files.put(format!("sys/class/drm/{node}/device/{name}"), String::from_utf8_lossy(&bytes));
            }
        }
        files.put(format!("sys/class/drm/{node}/device/power/runtime_status"), "active\n");
    }
}

impl Client {
    fn new(gpu: &SimDevice, owner: u32) -> Result<Self, SimError> {
        let kernel = Arc::new(gpu.open());
        let device = Device::new(Arc::clone(&kernel)).map_err(|error| failed(&error))?;
        let manager = MemoryManager::new(&device, &TableOptions::default()).map_err(|error| failed(&error))?;
        Ok(Self { owner, kernel, manager, local: Vec::new(), host: Vec::new() })
    }

    /// A piece of device-local memory that another client imports; nothing where the GPU has no room for it.
    fn share(&self, with: &Self) -> Option<[DeviceMemory; 2]> {
        let tables = self.manager.properties();
        let allowed = tables.buffer_types(amdgpu_winsys::heaps::Addressing::Bits64, false);
        let local = tables.find_type(allowed, MemoryPropertyFlags::DEVICE_LOCAL, MemoryPropertyFlags::empty())?;
        let info = AllocateInfo { flags: AllocateFlags::EXPORTABLE, ..AllocateInfo::new(local, self.piece()) };
        let memory = self.manager.allocate(&info).ok()?;
        let file = memory.export(ExternalHandleTypes::DMA_BUF).ok()?;
        let imported = with.manager.import_fd(file, &ImportInfo::new(local, memory.size())).ok()?;
        Some([memory, imported])
    }

    /// Bytes of a piece.
    fn piece(&self) -> u64 {
        let pool = self.manager.properties().heaps().iter().map(|heap| heap.size).max().unwrap_or(0);
        (pool / PIECES) & !0xffff
    }

    /// Allocates and frees until it has this many pieces. Pieces that the GPU has no room for are left out: the script is for all
    /// chips.
    fn hold(&mut self, local: u64, host: u64) {
        let wishes = [
            (local, MemoryPropertyFlags::DEVICE_LOCAL, MemoryPropertyFlags::HOST_VISIBLE),
            (host, MemoryPropertyFlags::HOST_CACHED, MemoryPropertyFlags::empty()),
        ];
        for (index, (pieces, required, preferred)) in wishes.into_iter().enumerate() {
            let tables = self.manager.properties();
            let allowed = tables.buffer_types(amdgpu_winsys::heaps::Addressing::Bits64, false);
            // The compositor's memory is what the CPU writes; the rest is out of its sight where the card has such.
            let preferred = if self.owner == 1187 { preferred } else { MemoryPropertyFlags::empty() };
            let Some(kind) = tables.find_type(allowed, required, preferred) else { continue };
            let piece = self.piece();
            let held = if index == 0 { &mut self.local } else { &mut self.host };
            held.truncate(usize::try_from(pieces).unwrap_or(usize::MAX));
            while (held.len() as u64) < pieces && piece > 0 {
                match self.manager.allocate(&AllocateInfo::new(kind, piece)) {
                    Ok(memory) => held.push(memory),
                    Err(_) => break,
                }
            }
        }
    }
}

impl Machine for Simulated {
    fn kind(&self) -> &'static str {
        "sim"
    }

    fn files(&self) -> &dyn Files {
        &self.files
    }

    fn open(&self, node: &str, _pci: &str) -> io::Result<Box<dyn Kernel>> {
        let card = self.cards.iter().find(|card| sysfs::node_name(card.place.render_minor()) == node);
        match card {
            Some(card) => Ok(Box::new(card.gpu.open())),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn file_of(&self, pid: u32, fd: u32, pci: &str) -> io::Result<Box<dyn Kernel>> {
        let is_meant = |card: &(usize, &Card)| card.1.place.pci().to_string() == pci;
        let client = self.cards.iter().enumerate().find(is_meant).and_then(|(index, card)| {
            let role = CAST.iter().find(|role| role.pid == pid)?;
            let (owner, _) = role.clients.iter().find(|(_, own)| own + 100 * index as u32 == fd)?;
            card.clients.iter().find(|client| client.owner == *owner)
        });
        let client = client.ok_or_else(|| io::Error::from(Errno::EBADF))?;
        Ok(Box::new(Arc::clone(&client.kernel)))
    }

    fn now(&self) -> Moment {
        let elapsed = self.elapsed();
        Moment { unix_ms: EPOCH_MS.saturating_add(elapsed / 1_000_000), monotonic_ns: elapsed }
    }

    fn advance(&mut self) {
        self.go_to(self.step.saturating_add(1));
        self.files = self.tree();
    }
}
