//! The GPUs of this computer, or simulated ones.

use std::{env, path::Path};

use amdgpu_sim::SimKernel;
use amdgpu_winsys::{
    heaps::Profile,
    winsys::{Device, Error, Node, OpenError, PciAddress, RenderNode},
};

use crate::{
    border::Failure,
    objects::{Face, Gpu, Watch},
};

/// The minor number of the first render node.
const FIRST_RENDER_MINOR: u32 = 128;

/// The settings from the environment: the GPUs to use, and how the driver presents them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Machine {
    /// The names of simulated chips (`AMDGPU_WINSYS_ICD_SIM=navi21,renoir`). If empty, the render nodes of this computer are used.
    pub(crate) simulated: Vec<String>,
    /// The face of the driver (`AMDGPU_WINSYS_ICD=transfer` or `full`).
    pub(crate) face: Face,
    /// The generation of the memory tables (`AMDGPU_WINSYS_ICD_TABLE=eight`, `four` or `radv`).
    pub(crate) tables: Profile,
}

/// A GPU that has not been opened yet.
#[derive(Debug)]
pub(crate) enum Found {
    /// A render node.
    Node(Node),
    /// A simulated chip with its index.
    Simulated(String, u8),
}

impl Machine {
    /// Reads the settings from the environment.
    pub(crate) fn from_environment() -> Self {
        let value = |name: &str| env::var(name).unwrap_or_default();
        let simulated = value("AMDGPU_WINSYS_ICD_SIM");
        Self {
            simulated: simulated.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect(),
            face: if value("AMDGPU_WINSYS_ICD") == "full" { Face::Full } else { Face::Transfer },
            tables: match value("AMDGPU_WINSYS_ICD_TABLE").as_str() {
                "eight" => Profile::EightTypes,
                "four" => Profile::FourTypes,
                _ => Profile::Radv,
            },
        }
    }

    /// Returns the existing GPUs. If `/dev/dri` cannot be read, there are none.
    pub(crate) fn gpus(&self) -> Vec<Found> {
        if self.simulated.is_empty() {
            return Node::enumerate(Path::new("/")).unwrap_or_default().into_iter().map(Found::Node).collect();
        }
        self.simulated.iter().zip(0..).map(|(name, number)| Found::Simulated(name.clone(), number)).collect()
    }

    /// Opens a GPU.
    pub(crate) fn open(&self, found: &Found) -> Result<Gpu, Failure> {
        let watch = Watch::default();
        let (device, pci, minors) = match found {
            Found::Node(node) => {
                let opened = RenderNode::open(&node.path);
                let opened = opened.map_err(|errno| OpenError::Node { path: node.path.clone(), errno });
                let device = Device::with_observer(opened.map_err(Error::Open)?, watch.clone())?;
                (device, node.pci, (node.minor, node.primary_minor))
            }
            Found::Simulated(name, number) => {
                let profile = amdgpu_sim::profile(name).ok_or(ash::vk::Result::ERROR_INITIALIZATION_FAILED)?;
                let pci = PciAddress { domain: 0, bus: number.saturating_add(3), device: 0, function: 0 };
                (
                    Device::with_observer(SimKernel::open(profile), watch.clone())?,
                    pci,
                    (FIRST_RENDER_MINOR + u32::from(*number), None),
                )
            }
        };
        Gpu::new((device, watch), pci, minors, self.face, self.tables)
    }
}
