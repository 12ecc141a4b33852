//! Captured addresses: allocated exactly, or refused by name, and never taken by ordinary allocations.

use std::sync::Arc;

use crate::support::{chip, chips, device};
use amdgpu_layers::FaultInjector;
use amdgpu_sim::{SimDevice, SimKernel, SimOptions};
use amdgpu_winsys::{
    heaps::{Addressing, AllocateInfo, AllocateMemoryError, MemoryManager, Replay, TableOptions, VkResult},
    uapi::{Argument, GemVa},
    vamgr::{GpuVa, VaLimits, VaManager, VaRequest, VaWindow},
    winsys::{Device, Errno},
};
use proptest::{collection::vec, prelude::*};

const PAGE: u64 = 4096;

/// A manager whose only window has `pages` pages.
fn small(pages: u64) -> VaManager {
    let low_offset = 0x1_0000;
    let limits = VaLimits {
        low_offset,
        low_max: low_offset + pages * PAGE,
        high_offset: 0,
        high_max: 0,
        alignment: PAGE,
        pte_fragment: 2 << 20,
        half_for_sparse: false,
    };
    VaManager::with_replay_windows(&limits).unwrap()
}

fn low(size: u64) -> VaRequest {
    VaRequest::new(size).within(VaWindow::Low32)
}

proptest! {
    /// W-06: replayable blocks only tended to be apart from the others, which could take a captured address first.
    #[test]
    fn whatever_else_is_leased_first_a_captured_address_is_free(
        sizes in vec(1..8_u64, 1..8),
        before in vec(1..16_u64, 0..200),
    ) {
        let (first, second) = (small(512), small(512));
        let captured: Vec<_> = sizes.iter().filter_map(|&pages| first.allocate(low(pages * PAGE).highest()).ok()).collect();
        // The second run leases other things until nothing more fits.
        let mut others: Vec<_> = before.iter().filter_map(|&pages| second.allocate(low(pages * PAGE)).ok()).collect();
        others.extend(std::iter::from_fn(|| second.allocate(low(PAGE)).ok()));
        prop_assert!(second.allocate(low(PAGE)).unwrap_err().is_out_of_space());
        let mut again = Vec::new();
        for lease in &captured {
            again.push(second.allocate(low(lease.len()).at(lease.start())).unwrap());
        }
        let kept = second.replay_windows().unwrap().range(VaWindow::Low32);
        prop_assert!(others.iter().all(|lease| !kept.contains(lease.start())));
        prop_assert!(again.iter().all(|lease| kept.includes(lease.range())));
        // Everything given back is there again.
        drop((others, again));
        prop_assert_eq!(second.stats(VaWindow::Low32).holes, 1);
    }
}

#[test]
fn a_full_replay_window_refuses_and_leaves_the_rest_alone() {
    let manager = small(64);
    let held: Vec<_> = std::iter::from_fn(|| manager.allocate(low(PAGE).highest()).ok()).collect();
    assert_eq!(held.len(), 8, "an eighth of the window");
    assert!(manager.allocate(low(PAGE).highest()).unwrap_err().is_out_of_space());
    assert_eq!(manager.allocate(low(56 * PAGE)).unwrap().len(), 56 * PAGE);
    drop(held);
    assert_eq!((manager.leased_bytes(), manager.stats(VaWindow::Low32).holes), (0, 1));
}

#[test]
fn every_replayable_type_of_every_chip_captures_from_its_own_window_and_replays_exactly() {
    for name in chips() {
        let (first, second) = (device(name), device(name));
        let manager = |device: &Device| MemoryManager::new(device, &TableOptions::default()).unwrap();
        let (first, second) = (manager(&first), manager(&second));
        for (index, ty) in (0..).zip(first.properties().types()) {
            let info = AllocateInfo { replay: Replay::Capture, ..AllocateInfo::new(index, 100_000) };
            let memory = first.allocate(&info).unwrap();
            let window = if ty.addressing == Addressing::Bits32 { VaWindow::High32 } else { VaWindow::High };
            let serving = first.device().addresses().windows().serving(window);
            let kept = first.device().addresses().replay_windows().unwrap().range(serving);
            assert!(kept.contains(memory.address()), "{name}: type {index} at {} of {kept:?}", memory.address());
            // Another run in which other things come first.
            let _others = [1 << 20, 4096].map(|size| second.allocate(&AllocateInfo::new(index, size)).unwrap());
            let info = AllocateInfo { replay: Replay::At(memory.address()), ..info };
            assert_eq!(second.allocate(&info).unwrap().address(), memory.address(), "{name}: type {index}");
        }
    }
}

#[test]
fn an_address_that_cannot_be_had_is_an_invalid_capture_address() {
    let device = device("navi21");
    let manager = MemoryManager::new(&device, &TableOptions::default()).unwrap();
    let before = device.addresses().leased_bytes();
    let held = manager.allocate(&AllocateInfo { replay: Replay::Capture, ..AllocateInfo::new(0, 1 << 20) }).unwrap();
    let taken = held.address();
    let misaligned = taken.checked_add(PAGE).unwrap();
    let outside = GpuVa::new(0x10_0000).unwrap();
    for at in [taken, misaligned, outside, GpuVa::NULL] {
        let info = AllocateInfo { replay: Replay::At(at), ..AllocateInfo::new(0, 1 << 20) };
        let error = manager.allocate(&info).unwrap_err();
        assert!(matches!(error, AllocateMemoryError::Address(taken) if taken.is_fixed), "{error}");
        assert_eq!(error.vk_result(), VkResult::InvalidOpaqueCaptureAddress, "{at}");
    }
    drop(held);
    assert_eq!(device.addresses().leased_bytes(), before);
}

#[test]
fn a_kernel_that_binds_nothing_at_a_captured_address_makes_it_invalid_too() {
    let kernel = Arc::new(FaultInjector::new(SimKernel::open(chip("navi21"))));
    let device = Device::new(Arc::clone(&kernel)).unwrap();
    let manager = MemoryManager::new(&device, &TableOptions::default()).unwrap();
    let info = AllocateInfo { replay: Replay::Capture, ..AllocateInfo::new(0, 4096) };
    let at = manager.allocate(&info).unwrap().address();
    let before = (kernel.inner().census(), device.addresses().leased_bytes());
    kernel.fail_nth_ioctl(GemVa::REQUEST, 0, Errno::EINVAL);
    let error = manager.allocate(&AllocateInfo { replay: Replay::At(at), ..info }).unwrap_err();
    assert!(matches!(error, AllocateMemoryError::CapturedAddress { at: named, .. } if named == at), "{error}");
    assert_eq!(error.vk_result(), VkResult::InvalidOpaqueCaptureAddress);
    assert_eq!((kernel.inner().census(), device.addresses().leased_bytes()), before);
}

/// A replay may run while another program, or another device of this one, uses the same numbers: they are the file's own.
#[test]
fn two_files_have_the_same_captured_address_at_once() {
    let gpu = SimDevice::new(chip("renoir"), SimOptions::default());
    let memories = [(); 2].map(|()| {
        let device = Device::new(gpu.open()).unwrap();
        let manager = MemoryManager::new(&device, &TableOptions::default()).unwrap();
        manager.allocate(&AllocateInfo { replay: Replay::Capture, ..AllocateInfo::new(0, 4096) }).unwrap()
    });
    assert_eq!(memories[0].address(), memories[1].address());
}
