//! Selection of the GPU to test.

use std::{
    cell::RefCell,
    fmt,
    os::unix::fs::FileTypeExt as _,
    path::{Path, PathBuf},
    rc::Rc,
    sync::{Arc, Weak},
    time::Duration,
};

use amdgpu_layers::{Recording, Replay};
use amdgpu_sim::{
    Census, HardwareError, HazardReport, RecordedFiles, SimDevice, SimKernel, SimOptions, Strictness, sysfs::Place,
};
use amdgpu_winsys::winsys::{
    self, Device, Errno, GfxLevel, GpuInfo, Kernel, Node, Observer, OpenError, PciAddress, RenderNode,
};

use crate::{
    gpu::{host, mutant::Mutant, slot::Slot},
    hardware::source::Monitor,
    identity::board::Board,
    result::report::Gpu,
};

/// The chip that is simulated when the machine has no Radeon and none was asked for.
const DEFAULT_PROFILE: &str = "navi21";

/// The display of a simulated GPU.
const DISPLAY: &str = "64x64";

/// Advice for users without a Radeon.
const NO_RADEON: &str = "/dev/dri has no render node of one. --or-simulated tests the embedded simulator instead, \
    --sim NAME a chip of your choice";

/// The time after which a simulated ring counts as hung: much less than on real hardware, but more than a thread waits on a busy
/// machine.
const HANG: Duration = Duration::from_secs(1);

type OpenDevice = dyn Fn() -> winsys::Result<Device>;
type OpenKernel = dyn Fn() -> winsys::Result<Arc<dyn Kernel>>;
/// Another GPU of the same machine.
pub(crate) struct Peer {
    /// The node with its PCI address, or the profile.
    pub(crate) name: String,
    /// Opens it.
    pub(crate) open: Box<OpenDevice>,
}

type CountAll = dyn Fn() -> Vec<Count>;

/// The name of a counted resource, with the number of objects or bytes.
pub type Count = (&'static str, u64);

/// A device to test: a Radeon, a simulated GPU, or a kernel that the caller provides.
pub struct Target {
    gpu: Gpu,
    open: Box<OpenDevice>,
    /// Opens the kernel that `open` makes a device of, if known.
    kernel: Option<Rc<OpenKernel>>,
    census: Option<Box<CountAll>>,
    /// The node, for other processes to open.
    node: Option<PathBuf>,
    /// Other GPUs of the same machine.
    peers: Vec<Peer>,
    /// The GPU whose run measures all pairs, if this one does not.
    peers_measured_by: Option<String>,
    /// The program that helps a check as another process.
    helper: Option<PathBuf>,
    /// The slot of the simulated GPU, if it is one of this process.
    slot: Option<Slot>,
    /// The files that tell its state.
    monitor: Monitor,
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Target").field("gpu", &self.gpu).finish_non_exhaustive()
    }
}

/// The reason why there is no device to test.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NoTarget {
    /// The computer has no AMD GPU, and the user requested none.
    #[error("no AMD GPU: {NO_RADEON}")]
    NoRadeon,
    /// No node matches the requested GPU.
    #[error("no AMD GPU {wanted:?}; there is {}", listed(present))]
    NoSuchGpu {
        /// The requested GPU.
        wanted: String,
        /// The existing nodes.
        present: Vec<Node>,
    },
    /// The requested path is no render node of amdgpu: another file, the node of the compute driver, or of another GPU.
    #[error("{path} is not a DRM render node of amdgpu ({reason}); there is {}", listed(present))]
    OtherNode {
        /// The path.
        path: String,
        /// The kind of device that it is.
        reason: String,
        /// The existing nodes.
        present: Vec<Node>,
    },
    /// The simulator has no such chip, or the file is not a capture.
    #[error(transparent)]
    Chip(#[from] amdgpu_sim::ChipError),
    /// `/dev/dri` cannot be read.
    #[error("cannot look for render nodes: {0}")]
    Enumerate(#[from] std::io::Error),
}

impl NoTarget {
    /// Returns `true` if the request is invalid on every machine. Returns `false` if only this machine lacks the GPU.
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::Chip(_) | Self::OtherNode { .. })
    }
}

/// Returns what a file is that is certainly no render node of amdgpu. What cannot be opened, or answers otherwise, is not told here:
/// the check of the opening fails with the reason.
fn other_driver(path: &Path) -> Option<String> {
    if std::fs::metadata(path).is_ok_and(|file| !file.file_type().is_char_device()) {
        return Some("it is no device".to_owned());
    }
    let node = RenderNode::open(path).ok()?;
    match GpuInfo::query(&node) {
        Err(winsys::Error::Open(OpenError::NotAmdgpu { name })) => Some(format!("its driver is {name}")),
        Err(winsys::Error::Kernel(refused)) if refused.request == "VERSION" && refused.errno == Errno::ENOTTY => {
            Some("it has no DRM driver".to_owned())
        }
        _ => None,
    }
}

fn listed(nodes: &[Node]) -> String {
    if nodes.is_empty() {
        return "none".to_owned();
    }
    nodes.iter().map(place).collect::<Vec<_>>().join(", ")
}

fn place(node: &Node) -> String {
    format!("{} at {}", node.path.display(), node.pci)
}

impl Target {
    /// Returns the simulated GPU `sim`, or the GPU `gpu`, or if neither is given the Radeon whose node has the lowest number.
    ///
    /// # Errors
    ///
    /// [`NoTarget`] if there is no such GPU; [`NoTarget::NoRadeon`] if neither is given and there is no Radeon.
    pub fn choose(gpu: Option<&str>, sim: Option<&str>) -> Result<Self, NoTarget> {
        if let Some(name) = sim {
            return Self::simulated(name);
        }
        let nodes = Node::enumerate(Path::new("/"))?;
        if let Some(wanted) = gpu {
            return match find(&nodes, wanted) {
                Some(node) => Ok(Self::real(node.clone()).chosen_because("--gpu names it")),
                // What sysfs does not know, as in many containers, may still open.
                None if wanted.starts_with('/') && Path::new(wanted).exists() => {
                    match other_driver(Path::new(wanted)) {
                        None => Ok(Self::at(wanted.into())),
                        Some(reason) => Err(NoTarget::OtherNode { path: wanted.to_owned(), reason, present: nodes }),
                    }
                }
                None => Err(NoTarget::NoSuchGpu { wanted: wanted.to_owned(), present: nodes }),
            };
        }
        let reason = match nodes.len() {
            0 | 1 => "it is the only AMD GPU".to_owned(),
            count => format!("its node has the lowest number of {count} AMD GPUs"),
        };
        let mut nodes = nodes.into_iter();
        let mut target = Self::real(nodes.next().ok_or(NoTarget::NoRadeon)?).chosen_because(&reason);
        target.gpu.others = nodes.map(|node| place(&node)).collect();
        Ok(target)
    }

    /// Creates the simulator's default GPU, marked in the report as a substitute for a missing Radeon.
    ///
    /// # Errors
    ///
    /// [`NoTarget::Chip`] if the simulator does not have its default chip.
    pub fn stand_in() -> Result<Self, NoTarget> {
        let mut target = Self::simulated(DEFAULT_PROFILE)?;
        target.gpu.fallback = true;
        Ok(target)
    }

    /// Creates a target for the GPU of a render node. The node is opened by the run.
    pub fn real(node: Node) -> Self {
        let location = place(&node);
        let path = node.path;
        let others = Node::enumerate(Path::new("/")).unwrap_or_default();
        // Opening a GPU that sleeps would wake it up.
        let is_awake =
            |node: &Node| !host::device(Path::new("/"), &node.path).is_some_and(|device| host::sleeps(&device));
        let others = others.into_iter().filter(|other| other.path != path && is_awake(other));
        let peer =
            |other: Node| Peer { name: place(&other), open: Box::new(move || Device::new(render_node(&other.path)?)) };
        let peers = others.map(peer).collect();
        let (node, monitor) = (Some(path.clone()), Monitor::Node(path.clone()));
        let target = Self { node, ..Self::over(location, move || render_node(&path)) };
        target.watched_by(monitor).with_peers(peers)
    }

    /// The same with the reason why this GPU is tested, for the report.
    #[must_use]
    pub(crate) fn chosen_because(mut self, reason: &str) -> Self {
        self.gpu.chosen = Some(reason.to_owned());
        self
    }

    /// The same with the files that tell its state, and the board that they show.
    #[must_use]
    fn watched_by(mut self, monitor: Monitor) -> Self {
        self.gpu.board = Board::read(&monitor);
        Self { monitor, ..self }
    }

    /// The same with these GPUs beside it.
    #[must_use]
    pub(crate) fn with_peers(self, peers: Vec<Peer>) -> Self {
        Self { peers, ..self }
    }

    /// The same, which leaves the copies between GPUs to the run of another one.
    #[must_use]
    pub(crate) fn with_peers_measured_by(self, gpu: Option<String>) -> Self {
        Self { peers_measured_by: gpu, ..self }
    }

    /// The same with simulated GPUs of these chips beside it, in its machine.
    ///
    /// # Errors
    ///
    /// [`NoTarget::Chip`].
    pub(crate) fn beside(self, chips: &[&str]) -> Result<Self, NoTarget> {
        let Some(device) = self.slot.as_ref().map(Slot::device) else { return Ok(self) };
        let mut peers = Vec::new();
        for (chip, index) in chips.iter().zip(1..) {
            let options = SimOptions { place: Place::new(index).unwrap_or(Place::FIRST), ..SimOptions::default() };
            // A GPU is plugged in once, however often it is opened.
            let peer = device.machine().add(amdgpu_sim::chip(chip)?, options);
            peers.push(Peer {
                name: format!("{chip} at {}", peer.place().pci()),
                open: Box::new(move || Device::new(peer.open())),
            });
        }
        Ok(self.with_peers(peers))
    }

    /// Creates a target for the GPU of the node at a path. The node is opened by the run.
    pub fn at(path: PathBuf) -> Self {
        let (node, monitor) = (Some(path.clone()), Monitor::Node(path.clone()));
        Self { node, ..Self::over(path.display().to_string(), move || render_node(&path)) }.watched_by(monitor)
    }

    /// Creates a target with a new simulated GPU. `name` is the name of a chip or the file of a capture.
    ///
    /// # Errors
    ///
    /// [`NoTarget::Chip`] if there is no such chip, or the file is not a capture.
    pub fn simulated(name: &str) -> Result<Self, NoTarget> {
        Self::simulated_strictly(name, Strictness::Off)
    }

    /// Creates a target with a simulated GPU that reports hazards. A check in which there are any fails.
    ///
    /// # Errors
    ///
    /// [`NoTarget::Chip`] if there is no such chip, or the file is not a capture.
    pub fn simulated_strictly(name: &str, strictness: Strictness) -> Result<Self, NoTarget> {
        Self::simulated_as(name, None, strictness)
    }

    /// Returns the files of the GPU's directory in sysfs that its capture contains; those of a simulated GPU are the recorded ones of
    /// its chip.
    pub(crate) fn recorded_files(&self) -> RecordedFiles {
        if let Some(slot) = &self.slot {
            return slot.device().profile().sysfs.clone();
        }
        let directory = self.node.as_deref().and_then(|node| host::device(Path::new("/"), node));
        directory.map(|directory| RecordedFiles::of_directory(&directory)).unwrap_or_default()
    }

    /// Returns the hazards that a simulated GPU has reported since it was made.
    pub(crate) fn hazards(&self) -> Vec<HazardReport> {
        self.slot.as_ref().map(|slot| slot.device().hazards()).unwrap_or_default()
    }

    fn simulated_as(name: &str, mutant: Option<Mutant>, strictness: Strictness) -> Result<Self, NoTarget> {
        let profile = amdgpu_sim::chip(name)?;
        // Memory without ECC has no errors to count.
        let error = mutant.and_then(|mutant| mutant.mutation.hardware_error());
        let ras = matches!(error, Some(HardwareError::RasUncorrectable | HardwareError::RasCorrectable));
        let options = SimOptions {
            power: true,
            video: true,
            ras,
            strictness,
            display: DISPLAY.parse().ok(),
            ..SimOptions::hanging_for(HANG)
        };
        let device = SimDevice::new(Arc::clone(&profile), options);
        if let Some(mutant) = mutant {
            mutant.enter(&device);
        }
        let monitor = Monitor::Simulated(device.clone());
        let slot = Slot::new(device);
        let files = Rc::new(RefCell::new(Vec::new()));
        let (opener, opened) = (slot.clone(), Rc::clone(&files));
        let open = move || {
            let file = Arc::new(opener.device().open());
            opened.borrow_mut().push(Arc::downgrade(&file));
            Ok(file as Arc<dyn Kernel>)
        };
        let counted = slot.clone();
        let target = Self::over(name, open).simulating().counting(move || census(&counted.device(), &files.borrow()));
        Self { slot: Some(slot), ..target }.watched_by(monitor).beside(&[name])
    }

    /// Creates a target with a simulated GPU that makes a deliberate mistake whenever possible, to check that the test detects it.
    ///
    /// # Errors
    ///
    /// [`NoTarget::Chip`] if there is no such chip, or the file is not a capture.
    pub fn mutant(name: &str, mutant: Mutant) -> Result<Self, NoTarget> {
        let mut target = Self::simulated_as(name, Some(mutant), Strictness::Off)?;
        target.gpu.mutation = Some(mutant.to_string());
        Ok(target)
    }

    /// Creates a target from a function that returns kernels. Each kernel must be a separate open file.
    pub fn over(location: impl Into<String>, open: impl Fn() -> winsys::Result<Arc<dyn Kernel>> + 'static) -> Self {
        let kernel: Rc<OpenKernel> = Rc::new(open);
        let opener = Rc::clone(&kernel);
        Self { kernel: Some(kernel), ..Self::new(location, move || Device::new(opener()?)) }
    }

    /// Returns a target that records every call, and notes about the tested GPU, in `recording`. It does not use the census of the
    /// kernel, which does not exist in a replay, so that a replay gives the same report.
    ///
    /// A target that was created by [`Target::new`] hides its kernels, so its calls are not recorded.
    #[must_use]
    pub fn recorded(self, recording: &Recording) -> Self {
        recording.note(LOCATION, &self.gpu.location);
        recording.note(SIMULATED, if self.gpu.simulated { "yes" } else { "no" });
        if let Some(mutation) = &self.gpu.mutation {
            recording.note(MUTATION, mutation);
        }
        if let Some(reason) = &self.gpu.chosen {
            recording.note(CHOSEN, reason);
        }
        // What a replay shows is the board that was recorded, and not one of its own computer.
        if let Some(board) = self.gpu.board.as_ref().and_then(|board| serde_json::to_string(board).ok()) {
            recording.note(BOARD, &board);
        }
        let Some(kernel) = self.kernel else { return self };
        let recording = recording.clone();
        let target = Self::over(self.gpu.location.clone(), move || Ok(Arc::new(recording.wrap(kernel()?)) as _));
        Self { gpu: self.gpu, monitor: self.monitor, ..target }
    }

    /// Creates a target that replays a recording: the recorded answers, in the recorded order.
    pub fn replayed(replay: &Replay) -> Self {
        let noted = |key| replay.note(key).unwrap_or_default();
        let (location, simulated) = (noted(LOCATION).to_owned(), noted(SIMULATED) == "yes");
        let mutation = replay.note(MUTATION).map(str::to_owned);
        let chosen = replay.note(CHOSEN).map(str::to_owned);
        let board = replay.note(BOARD).and_then(|board| serde_json::from_str(board).ok());
        let replay = replay.clone();
        let open = move || match replay.open_file() {
            Ok(file) => Ok(Arc::new(file) as Arc<dyn Kernel>),
            Err(errno) => Err(winsys::Error::Open(OpenError::Node { path: "the recording".into(), errno })),
        };
        let mut target = Self::over(location, open);
        (target.gpu.mutation, target.gpu.chosen, target.gpu.board) = (mutation, chosen, board);
        if simulated { target.simulating() } else { target }
    }

    /// Creates a target from a function that opens devices. Each call must return a separate open file, with its own handles and
    /// addresses.
    pub fn new(location: impl Into<String>, open: impl Fn() -> winsys::Result<Device> + 'static) -> Self {
        let gpu = Gpu { location: location.into(), ..Gpu::default() };
        Self {
            gpu,
            open: Box::new(open),
            kernel: None,
            census: None,
            node: None,
            peers: Vec::new(),
            peers_measured_by: None,
            helper: None,
            slot: None,
            monitor: Monitor::None,
        }
    }

    /// Returns the target, marked as simulated in the report.
    #[must_use]
    pub fn simulating(mut self) -> Self {
        self.gpu.simulated = true;
        self
    }

    /// Returns the target with a function that counts the kernel's objects, to detect leaks. It must always return the same
    /// resources in the same order.
    #[must_use]
    pub fn counting(self, census: impl Fn() -> Vec<Count> + 'static) -> Self {
        Self { census: Some(Box::new(census)), ..self }
    }

    /// The same with a program, this one, that helps a check as another process.
    #[must_use]
    pub(crate) fn helped_by(self, program: Option<PathBuf>) -> Self {
        Self { helper: program, ..self }
    }

    pub(crate) fn helper(&self) -> Option<&Path> {
        self.helper.as_deref()
    }

    /// The node that other processes can open.
    pub(crate) fn node(&self) -> Option<&Path> {
        self.node.as_deref()
    }

    /// The slot of the simulated GPU, if it is one of this process.
    pub(crate) fn slot(&self) -> Option<&Slot> {
        self.slot.as_ref()
    }

    /// Other GPUs of the same machine.
    pub(crate) fn peers(&self) -> &[Peer] {
        &self.peers
    }

    /// The GPU whose run measures the copies between all GPUs, if this one leaves them to it.
    pub(crate) fn peers_measured_by(&self) -> Option<&str> {
        self.peers_measured_by.as_deref()
    }

    /// Returns the name in the table of copies between GPUs.
    pub(crate) fn place(&self) -> String {
        match &self.slot {
            Some(slot) => format!("{} at {}", self.gpu.location, slot.device().place().pci()),
            None => self.gpu.location.clone(),
        }
    }

    /// Returns what is known about the GPU before it is opened.
    pub fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    /// Opens the GPU with an observer of its objects, unless the target hides its kernels.
    pub(crate) fn open_observed(&self, observer: impl Observer + 'static) -> winsys::Result<Device> {
        match &self.kernel {
            Some(kernel) => Device::with_observer(kernel()?, observer),
            None => self.open(),
        }
    }

    /// The files that tell the state of the GPU.
    pub(crate) fn monitor(&self) -> &Monitor {
        &self.monitor
    }

    /// Opens the GPU once more.
    pub(crate) fn open(&self) -> winsys::Result<Device> {
        (self.open)()
    }

    /// RADV's name of the chip, for which it is opened.
    pub(crate) fn chip(&self) -> winsys::Result<String> {
        Ok(self.open()?.info().chip_name().to_owned())
    }

    /// Returns the generation of the GPU, for which it is opened.
    pub(crate) fn generation(&self) -> winsys::Result<GfxLevel> {
        Ok(self.open()?.info().gfx_level)
    }

    /// Returns the kernel's resource counts, empty if it has none.
    pub(crate) fn census(&self) -> Vec<Count> {
        self.census.as_ref().map_or_else(Vec::new, |census| census())
    }
}

/// Notes of a recording.
const LOCATION: &str = "location";
const SIMULATED: &str = "simulated";
const MUTATION: &str = "mutation";
const CHOSEN: &str = "chosen";
const BOARD: &str = "board";

fn render_node(path: &Path) -> winsys::Result<Arc<dyn Kernel>> {
    match RenderNode::open(path) {
        Ok(node) => Ok(Arc::new(node)),
        Err(errno) => Err(winsys::Error::Open(OpenError::Node { path: path.to_owned(), errno })),
    }
}

/// Returns the counts of live objects on a simulated device and of the files that are still open.
fn census(device: &SimDevice, files: &[Weak<SimKernel>]) -> Vec<Count> {
    let held: Vec<_> = files.iter().filter_map(Weak::upgrade).map(|file| file.census()).collect();
    let sum = |of: fn(&Census) -> usize| held.iter().map(of).sum::<usize>() as u64;
    let device = device.census();
    vec![
        ("open files", device.files.into()),
        ("BOs", device.bos as u64),
        ("bytes of VRAM", device.vram_bytes),
        ("bytes of GTT", device.gtt_bytes),
        ("GEM handles", sum(|file| file.handles)),
        ("bindings", sum(|file| file.bindings)),
        ("mappings", sum(|file| file.mappings)),
        ("contexts", sum(|file| file.contexts)),
        ("BO lists", sum(|file| file.bo_lists)),
        ("sync objects", sum(|file| file.syncobjs)),
    ]
}

/// By path, by PCI address, or by index.
fn find<'a>(nodes: &'a [Node], wanted: &str) -> Option<&'a Node> {
    if let Ok(index) = wanted.parse::<usize>() {
        return nodes.get(index);
    }
    let address = PciAddress::parse(wanted);
    nodes.iter().find(|node| node.path == Path::new(wanted) || Some(node.pci) == address)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes() -> Vec<Node> {
        let node = |minor, pci| Node {
            path: format!("/dev/dri/renderD{minor}").into(),
            minor,
            primary_minor: None,
            pci: PciAddress::parse(pci).unwrap(),
            device_id: 0x73bf,
            revision: 0xc1,
        };
        vec![node(128, "0000:03:00.0"), node(129, "0000:0c:00.0")]
    }

    #[test]
    fn a_gpu_is_found_by_index_path_and_pci_address() {
        let nodes = nodes();
        for wanted in ["1", "/dev/dri/renderD129", "0000:0c:00.0"] {
            assert_eq!(find(&nodes, wanted), Some(&nodes[1]), "{wanted}");
        }
        for wanted in ["2", "-1", "", "renderD129", "0000:04:00.0", "/dev/dri/card0"] {
            assert_eq!(find(&nodes, wanted), None, "{wanted}");
        }
    }

    #[test]
    fn the_refusal_of_a_missing_gpu_lists_those_that_exist() {
        let error = NoTarget::NoSuchGpu { wanted: "7".to_owned(), present: nodes() };
        let both = "/dev/dri/renderD128 at 0000:03:00.0, /dev/dri/renderD129 at 0000:0c:00.0";
        assert_eq!(error.to_string(), format!("no AMD GPU \"7\"; there is {both}"));
        assert!(!error.is_usage());
    }
}
