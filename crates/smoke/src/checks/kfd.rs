//! The compute driver (KFD): whether it opens and tells its version, and whether its topology describes the GPU as DRM does.
//!
//! Source: Linux 6.12 `amdkfd/kfd_topology.c`, `node_show` (the file `properties`) and `kfd_chardev.c`, `kfd_open`.

use std::{
    fs::{self, File},
    io,
    path::Path,
};

use crate::{
    checks::check::Check,
    gpu::{
        compute_driver::{self, NODE},
        test_context::TestContext,
    },
    level::Level,
    result::outcome::{Outcome, Stop, ensure, fail, skip},
};

pub(crate) const CHECKS: &[Check] = &[
    Check::once("kfd.open", "the compute driver opens, and its interface has the version that programs know", version)
        .at(Level::Core)
        .needs("the compute driver (KFD)")
        .anchor("kfdtest KFDOpenCloseKFDTest"),
    Check::once(
        "kfd.topology",
        "the topology of the compute driver has the GPU with the PCI IDs and as many compute units as DRM tells",
        topology,
    )
    .at(Level::Core)
    .needs("the compute driver (KFD)")
    .anchor("kfdtest KFDTopologyTest"),
];

/// The major version of the interface. Another one would be another interface.
///
/// Source: Linux 6.12 `include/uapi/linux/kfd_ioctl.h`, `KFD_IOCTL_MAJOR_VERSION`.
const MAJOR: u32 = 1;
/// The reason where the driver does not take the chip.
const UNSUPPORTED: &str = "the compute driver does not support the chip";
/// The PCI vendor ID of AMD.
const VENDOR: u64 = 0x1002;
/// The folder of its topology, below the root.
const TOPOLOGY: &str = "sys/class/kfd/kfd/topology/nodes";

fn version(test: &TestContext<'_>) -> Outcome {
    if let Some(slot) = test.target.slot() {
        return match slot.device().compute_driver() {
            Some(driver) => judged("the simulated compute driver", driver.version),
            None => skip(UNSUPPORTED),
        };
    }
    if test.target.node().is_none() {
        return skip("no compute driver knows this GPU: it has no render node here");
    }
    let file = opened()?;
    match compute_driver::version(&file) {
        Ok(version) => judged(NODE, version),
        Err(error) => fail(format!("{NODE} does not tell its version: {error}")),
    }
}

/// Judges a version of the interface.
fn judged(what: &str, (major, minor): (u32, u32)) -> Outcome {
    ensure(major == MAJOR, || format!("{what} has version {major}.{minor}, and programs know {MAJOR}.x"))?;
    Ok(format!("version {major}.{minor}"))
}

/// Opens the compute driver, or skips with the reason.
fn opened() -> Result<File, Stop> {
    match compute_driver::open() {
        Ok(file) => Ok(file),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            skip(format!("there is no {NODE}: the kernel has no compute driver, or a container hides it"))
        }
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            skip(format!("{NODE} may not be opened: members of the group render may"))
        }
        Err(error) => fail(format!("{NODE}: {error}")),
    }
}

fn topology(test: &TestContext<'_>) -> Outcome {
    if let Some(slot) = test.target.slot() {
        let Some(driver) = slot.device().compute_driver() else { return skip(UNSUPPORTED) };
        let node = Node::parse(0, &driver.properties, driver.render_minor.into());
        return node.map_or_else(|| fail("the topology has no GPU with the render node"), |node| compared(test, &node));
    }
    let minor = test.target.node().and_then(render_minor);
    let Some(minor) = minor else { return skip("no compute driver knows this GPU: it has no render node here") };
    drop(opened()?);
    let Some(node) = find(Path::new("/"), minor) else {
        return skip(format!("the compute driver does not have renderD{minor}: it does not support the chip"));
    };
    compared(test, &node)
}

/// Compares a GPU of the topology with what DRM tells.
fn compared(test: &TestContext<'_>, node: &Node) -> Outcome {
    let device = u64::from(test.device.info().device_id);
    ensure(node.vendor == VENDOR && node.device == device, || {
        format!("PCI IDs {:04x}:{:04x} in the topology, and {VENDOR:04x}:{device:04x} of DRM", node.vendor, node.device)
    })?;
    let reported = u64::from(test.device.info().shader.compute_units);
    let units = node.simds.checked_div(node.simds_per_unit).unwrap_or(0);
    ensure(units == reported, || format!("{units} compute units in the topology, and {reported} of DRM"))?;
    let target = node.target.map(|target| format!(", gfx target {target}")).unwrap_or_default();
    Ok(format!("node {}, {units} compute units{target}", node.number))
}

/// Returns the minor number of a render node.
fn render_minor(node: &Path) -> Option<u64> {
    node.file_name()?.to_str()?.strip_prefix("renderD")?.parse().ok()
}

/// A GPU of the topology.
#[derive(Debug, PartialEq, Eq)]
struct Node {
    number: u64,
    vendor: u64,
    device: u64,
    simds: u64,
    simds_per_unit: u64,
    /// The version as the compiler counts it, such as 100300.
    target: Option<u64>,
}

impl Node {
    /// Parses the file `properties` of a node; `None` if it is not the GPU of the render node.
    fn parse(number: u64, text: &str, minor: u64) -> Option<Self> {
        let value = |name: &str| {
            let mut lines = text.lines().filter_map(|line| line.split_once(' '));
            lines.find(|(key, _)| *key == name).and_then(|(_, value)| value.trim().parse::<u64>().ok())
        };
        let node = Self {
            number,
            vendor: value("vendor_id")?,
            device: value("device_id")?,
            simds: value("simd_count")?,
            simds_per_unit: value("simd_per_cu")?,
            target: value("gfx_target_version"),
        };
        // A CPU has no SIMDs, and the minor number 0.
        (node.simds > 0 && value("drm_render_minor") == Some(minor)).then_some(node)
    }
}

/// Returns the GPU of a render node in the topology below `root`.
fn find(root: &Path, minor: u64) -> Option<Node> {
    let nodes = fs::read_dir(root.join(TOPOLOGY)).ok()?.flatten();
    let mut numbers: Vec<u64> = nodes.filter_map(|node| node.file_name().to_str()?.parse().ok()).collect();
    numbers.sort_unstable();
    numbers.into_iter().find_map(|number| {
        let text = fs::read_to_string(root.join(TOPOLOGY).join(number.to_string()).join("properties")).ok()?;
        Node::parse(number, &text, minor)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_node_of_the_render_node_is_found_among_cpus_and_others() {
        let root = std::env::temp_dir().join(format!("amdgpu-smoke-kfd-{}", std::process::id()));
        let write = |number: u32, text: &str| {
            let folder = root.join(TOPOLOGY).join(number.to_string());
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("properties"), text).unwrap();
        };
        let gpu = |minor: u32| {
            format!(
                "cpu_cores_count 0\nsimd_count 144\nsimd_per_cu 2\ngfx_target_version 100300\nvendor_id 4098\ndevice_id 29631\ndrm_render_minor {minor}\n"
            )
        };
        write(0, "cpu_cores_count 16\nsimd_count 0\nsimd_per_cu 0\ndrm_render_minor 0\n");
        write(1, &gpu(129));
        write(2, &gpu(128));
        write(3, "nonsense");
        let found = find(&root, 128);
        let others = (find(&root, 130), find(&root, 0), find(Path::new("/nonexistent"), 128));
        fs::remove_dir_all(&root).unwrap();
        assert_eq!(
            found,
            Some(Node {
                number: 2,
                vendor: VENDOR,
                device: 0x73bf,
                simds: 144,
                simds_per_unit: 2,
                target: Some(100_300)
            })
        );
        assert_eq!(others, (None, None, None));
        assert_eq!(render_minor(Path::new("/dev/dri/renderD128")), Some(128));
        assert_eq!(render_minor(Path::new("/dev/dri/card0")), None);
    }
}
