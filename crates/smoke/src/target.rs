//! Which GPU is tested.

use std::{path::Path, sync::Arc};

use amdgpu_sim::{SimDevice, SimOptions};
use amdgpu_winsys::winsys::{self, Device, Node, PciAddress};

use crate::report::Gpu;

/// The chip that is simulated when the machine has no Radeon and none was asked for.
pub(crate) const DEFAULT_PROFILE: &str = "navi21";

/// What to test: a real GPU or a simulated one.
pub(crate) enum Target {
    /// A render node.
    Real(Node),
    /// A device of the simulator.
    Simulated(SimDevice),
}

/// Why there is nothing to test.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoTarget {
    /// No node fits what was asked for.
    #[error("no AMD GPU {wanted:?}; there is {}", listed(present))]
    NoSuchGpu {
        /// What was asked for.
        wanted: String,
        /// The nodes there are.
        present: Vec<Node>,
    },
    /// The simulator has no such chip.
    #[error("the simulator has no chip {wanted:?}; --list-profiles names those it has")]
    NoSuchProfile {
        /// What was asked for.
        wanted: String,
    },
    /// `/dev/dri` cannot be read.
    #[error("cannot look for render nodes: {0}")]
    Enumerate(#[from] std::io::Error),
}

impl NoTarget {
    /// Whether the user named something that does not exist by its form, rather than a GPU that is not there.
    pub(crate) fn is_usage(&self) -> bool {
        matches!(self, Self::NoSuchProfile { .. })
    }
}

fn listed(nodes: &[Node]) -> String {
    if nodes.is_empty() {
        return "none".to_owned();
    }
    nodes.iter().map(|node| format!("{} at {}", node.path.display(), node.pci)).collect::<Vec<_>>().join(", ")
}

impl Target {
    /// The GPU asked for, else the first Radeon, else the simulator.
    pub(crate) fn choose(gpu: Option<&str>, sim: Option<&str>) -> Result<Self, NoTarget> {
        if let Some(name) = sim {
            return Self::simulated(name);
        }
        let nodes = Node::enumerate(Path::new("/"))?;
        match gpu {
            Some(wanted) => match find(&nodes, wanted) {
                Some(node) => Ok(Self::Real(node.clone())),
                None => Err(NoTarget::NoSuchGpu { wanted: wanted.to_owned(), present: nodes }),
            },
            None => match nodes.into_iter().next() {
                Some(node) => Ok(Self::Real(node)),
                None => Self::simulated(DEFAULT_PROFILE),
            },
        }
    }

    fn simulated(name: &str) -> Result<Self, NoTarget> {
        let profile =
            amdgpu_sim::profile(name).ok_or_else(|| NoTarget::NoSuchProfile { wanted: name.to_owned() })?;
        Ok(Self::Simulated(SimDevice::new(profile, SimOptions::default())))
    }

    /// Opens the GPU once more: a file of its own, with handles and addresses of its own.
    pub(crate) fn open(&self) -> winsys::Result<Arc<Device>> {
        match self {
            Self::Real(node) => Device::open(&node.path),
            Self::Simulated(device) => Device::new(device.open()),
        }
    }

    /// For the report, as far as it is known without opening anything.
    pub(crate) fn describe(&self) -> Gpu {
        let (simulated, location) = match self {
            Self::Real(node) => (false, format!("{} at {}", node.path.display(), node.pci)),
            Self::Simulated(device) => (true, format!("simulated {}", device.profile().name)),
        };
        Gpu { simulated, location, name: None, chip: None, gfx_level: None, driver: None }
    }
}

/// By path, by PCI address, or by index.
fn find<'a>(nodes: &'a [Node], wanted: &str) -> Option<&'a Node> {
    if let Ok(index) = wanted.parse::<usize>() {
        return nodes.get(index);
    }
    let address = PciAddress::parse(wanted);
    nodes.iter().find(|node| node.path == Path::new(wanted) || Some(node.pci) == address)
}
