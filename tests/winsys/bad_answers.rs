//! A kernel's answer is input: what cannot be true is refused and named, and nothing panics.

use std::mem::offset_of;

use crate::support::chip;
use amdgpu_layers::{Answered, Ioctl, Layer};
use amdgpu_sim::{SimDevice, SimKernel, SimOptions};
use amdgpu_winsys::{
    heaps::{MemoryManager, TableOptions},
    uapi::{self, Argument, InfoHwIp, MemoryInfo, query},
    winsys::{Device, Errno, Error, InvalidReply, KernelError, OpenError, RenderNode},
};
use proptest::prelude::*;

/// Effect of a lying kernel on one INFO query.
#[derive(Clone, Debug)]
enum Lie {
    /// Writes these bytes over the true answer, from an offset on.
    Patch(usize, Vec<u8>),
    /// Says yes and writes nothing.
    Silence,
    /// Says no.
    Refusal(Errno),
}

struct Liar {
    query: u32,
    lie: Lie,
}

impl Layer for Liar {
    fn ioctl<'c>(&self, call: Ioctl<'c>) -> Answered<'c> {
        if call.query().is_none_or(|info| info.query != self.query) {
            return call.forward();
        }
        match &self.lie {
            Lie::Silence => call.answer_info(&[]),
            Lie::Refusal(errno) => call.refuse(*errno),
            Lie::Patch(offset, bytes) => {
                let mut answered = call.forward();
                answered.patch_info(*offset, bytes);
                answered
            }
        }
    }
}

fn told(name: &str, query: u32, lie: Lie) -> Result<Device, Error> {
    Device::new(Liar { query, lie }.over(SimKernel::open(chip(name))))
}

fn patched<const N: usize>(query: u32, offset: usize, bytes: [u8; N]) -> Error {
    told("navi21", query, Lie::Patch(offset, bytes.to_vec())).expect_err("a lie was believed")
}

#[test]
fn what_is_just_believable_is_believed() {
    let memory = |offset, size: u64| told("navi21", query::MEMORY, Lie::Patch(offset, size.to_le_bytes().to_vec()));
    for offset in [
        offset_of!(MemoryInfo, vram.total_heap_size),
        offset_of!(MemoryInfo, cpu_accessible_vram.total_heap_size),
        offset_of!(MemoryInfo, gtt.total_heap_size),
    ] {
        assert!(memory(offset, 1 << 48).is_ok(), "{offset}: as much as can be addressed");
        assert!(memory(offset, (1 << 48) + 1).is_err(), "{offset}: a byte more");
    }
    let ip = |offset, value: u32| told("navi21", query::HW_IP_INFO, Lie::Patch(offset, value.to_le_bytes().to_vec()));
    for offset in [offset_of!(InfoHwIp, ib_start_alignment), offset_of!(InfoHwIp, ib_size_alignment)] {
        assert!(ip(offset, 1 << 20).is_ok() && ip(offset, 0).is_ok(), "{offset}");
        assert!(ip(offset, 1 << 21).is_err() && ip(offset, 3).is_err(), "{offset}");
    }
}

#[test]
fn absurd_facts_are_refused_with_field_and_value() {
    let absurd = |offset, value: u32| match patched(query::DEV_INFO, offset, value.to_le_bytes()) {
        Error::InvalidReply(InvalidReply { field, value, .. }) => (field, value),
        other => panic!("{other:?}"),
    };
    assert_eq!(absurd(20, 0), ("num_shader_engines", 0));
    assert_eq!(absurd(20, 9), ("num_shader_engines", 9));
    assert_eq!(absurd(24, 77), ("num_shader_arrays_per_engine", 77));
    assert_eq!(absurd(160, 0), ("virtual_address_alignment", 0));
    assert_eq!(absurd(164, 12345), ("pte_fragment_size", 12345));
    assert_eq!(absurd(168, 0), ("gart_page_size", 0));
    let below = patched(query::DEV_INFO, 152, 4096_u64.to_le_bytes());
    assert!(
        matches!(below, Error::InvalidReply(InvalidReply { field: "virtual_address_max", value: 4096, .. })),
        "{below:?}"
    );
}

#[test]
fn absurd_memory_pools_are_refused() {
    let huge = patched(query::MEMORY, 0, u64::MAX.to_le_bytes());
    assert!(
        matches!(huge, Error::InvalidReply(InvalidReply { field: "vram.total_heap_size", value: u64::MAX, .. })),
        "{huge:?}"
    );
    let none = patched(query::MEMORY, 0, [0; 96]);
    assert!(
        matches!(none, Error::InvalidReply(InvalidReply { field: "gtt.total_heap_size", value: 0, .. })),
        "{none:?}"
    );
}

#[test]
fn an_unknown_chip_and_a_chip_without_rings_are_named() {
    let family = patched(query::DEV_INFO, 16, 9999_u32.to_le_bytes());
    assert_eq!(family, Error::Open(OpenError::UnknownChip { family: 9999, external_rev: 0x29 }));
    assert_eq!(told("navi21", query::HW_IP_INFO, Lie::Silence).unwrap_err(), Error::Open(OpenError::NoRings));
    assert_eq!(told("navi21", query::ACCEL_WORKING, Lie::Silence).unwrap_err(), Error::Open(OpenError::NoAcceleration));
    let refused = told("navi21", query::DEV_INFO, Lie::Refusal(Errno::EPERM)).unwrap_err();
    assert_eq!(refused, Error::Kernel(KernelError::of_query("DEV_INFO", Errno::EPERM)));
}

#[test]
fn a_driver_too_old_is_refused_and_the_oldest_is_not() {
    let with_minor = |drm_minor| {
        Device::new(SimDevice::new(chip("vega10"), SimOptions { drm_minor, ..SimOptions::default() }).open())
    };
    assert_eq!(with_minor(26).unwrap_err(), Error::Open(OpenError::DriverVersion { major: 3, minor: 26 }));
    assert_eq!(with_minor(27).unwrap().info().driver.minor, 27);
}

#[test]
fn a_node_of_another_driver_is_refused() {
    let node = RenderNode::open("/dev/null".as_ref()).unwrap();
    let error = Device::new(node).unwrap_err();
    assert_eq!(error, Error::Kernel(KernelError::new(uapi::Version::NAME, Errno::ENOTTY)));
    let missing = Device::open("/dev/dri/renderD0").unwrap_err();
    assert!(matches!(missing, Error::Open(OpenError::Node { errno: Errno::ENOENT, .. })), "{missing:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// For any bytes of any answer, bring-up ends with a device or a typed error, and the tables can be built or are
    /// refused.
    #[test]
    fn no_answer_makes_bring_up_panic(
        name in prop::sample::select(crate::support::chips()),
        query in prop::sample::select(vec![
            query::DEV_INFO, query::MEMORY, query::HW_IP_INFO, query::FW_VERSION, query::READ_MMR_REG, query::MAX_IBS,
        ]),
        offset in 0..440_usize,
        bytes in prop::collection::vec(any::<u8>(), 1..64),
    ) {
        if let Ok(device) = told(name, query, Lie::Patch(offset, bytes)) {
            if let Ok(manager) = MemoryManager::new(&device, &TableOptions::default()) {
                prop_assert!(!manager.properties().heaps().is_empty());
            }
            let info = device.info();
            let _ = (info.memory_bandwidth_gbps(), info.pcie_bandwidth_mbps(), info.peak_gflops());
        }
    }
}
