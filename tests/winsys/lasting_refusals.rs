//! A kernel that never lets go: what it keeps is never given out again.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
        mpsc,
    },
    thread,
    time::Duration,
};

use crate::support::chip;
use amdgpu_layers::{Attempt, FaultInjector};
use amdgpu_sim::{SimDevice, SimKernel, SimOptions};
use amdgpu_winsys::{
    heaps::{AllocateFlags, AllocateInfo, MemoryManager, SparseRange, TableOptions},
    uapi::{Argument, GemClose, GemCreateFlags, GemDomain, GemVa, PRIME_FD_TO_HANDLE, VaFlags, VaOperation},
    vamgr::VaRequest,
    winsys::{AccessError, Binding, Bo, BoRequest, Device, Errno, Mapping, OutOfRange, Reservation},
};

const PAGE: u64 = 4096;
const SIZE: u64 = 4 * PAGE;

type Kernel = Arc<FaultInjector<SimKernel>>;

fn rig() -> (Kernel, Device) {
    let kernel = Arc::new(FaultInjector::new(SimKernel::open(chip("navi21"))));
    let device = Device::new(Arc::clone(&kernel)).unwrap();
    (kernel, device)
}

fn bo(device: &Device) -> Bo {
    let request =
        BoRequest { size: SIZE, alignment: 0, domains: GemDomain::GTT, flags: GemCreateFlags::CPU_ACCESS_REQUIRED };
    Bo::create(device, request).unwrap()
}

/// Operation and bytes of a GEM_VA.
fn operation(attempt: &Attempt<'_>) -> Option<(u32, u64)> {
    let Attempt::Ioctl { argument, .. } = attempt else { return None };
    if !attempt.is(GemVa::REQUEST) {
        return None;
    }
    let operation = u32::from_ne_bytes(*argument.get(8..)?.first_chunk()?);
    let bytes = u64::from_ne_bytes(*argument.get(32..)?.first_chunk()?);
    Some((operation, bytes))
}

/// Refuses for ever to unbind, and to close handles, which would unbind too.
fn never_unbind(kernel: &Kernel) {
    let unbinds = [VaOperation::Unmap as u32, VaOperation::Clear as u32];
    kernel.fail_every_where(Errno::EIO, move |attempt| {
        attempt.is(GemClose::REQUEST) || operation(attempt).is_some_and(|(operation, _)| unbinds.contains(&operation))
    });
}

#[test]
fn addresses_of_a_binding_that_never_goes_are_kept() {
    let (kernel, device) = rig();
    let flags = VaFlags::READABLE | VaFlags::WRITEABLE;
    let lease = device.addresses().allocate(VaRequest::new(SIZE)).unwrap();
    let binding = Binding::new(&bo(&device), lease, flags).unwrap();
    let leased = device.addresses().leased_bytes();
    never_unbind(&kernel);
    drop(binding);
    kernel.stop();
    assert_eq!(device.addresses().leased_bytes(), leased);
}

#[test]
fn addresses_of_a_guard_page_that_never_goes_are_kept() {
    for bytes in [PAGE, SIZE] {
        let (kernel, device) = rig();
        let flags = VaFlags::READABLE | VaFlags::WRITEABLE;
        let lease = device.addresses().allocate(VaRequest::new(SIZE + PAGE)).unwrap();
        let binding = Binding::with_guard_page(&bo(&device), lease, flags).unwrap();
        let leased = device.addresses().leased_bytes();
        // The one or the other stays.
        kernel.fail_every_where(Errno::EIO, move |attempt| {
            operation(attempt).is_some_and(|what| what == (VaOperation::Unmap as u32, bytes))
        });
        drop(binding);
        kernel.stop();
        assert_eq!(device.addresses().leased_bytes(), leased, "{bytes} bytes stay bound");
    }
}

#[test]
fn addresses_of_a_reservation_that_never_goes_are_kept() {
    let (kernel, device) = rig();
    let lease = device.addresses().allocate(VaRequest::new(1 << 20)).unwrap();
    let reservation = Reservation::new(&device, lease).unwrap();
    let leased = device.addresses().leased_bytes();
    never_unbind(&kernel);
    drop(reservation);
    kernel.stop();
    assert_eq!(device.addresses().leased_bytes(), leased);
}

/// From any call on, all later ones are refused as long as a scene is torn down. Later objects never meet those that
/// stayed: the kernel refuses a binding where there is one.
#[test]
fn whatever_the_kernel_keeps_from_some_call_on_nothing_is_given_out_twice() {
    let (mut n, mut fired) = (0, true);
    while fired {
        let (kernel, device) = rig();
        let manager = MemoryManager::new(&device, &TableOptions::default()).unwrap();
        let scene = || {
            let info = AllocateInfo { flags: AllocateFlags::EXPORTABLE, ..AllocateInfo::new(5, SIZE) };
            let memories: Vec<_> = (0..3).filter_map(|_| manager.allocate(&info).ok()).collect();
            for memory in &memories {
                let _ = memory.map();
            }
            let range = SparseRange::new(&device, VaRequest::new(1 << 20));
            (memories, range)
        };
        let made = scene();
        let calls = AtomicU64::new(0);
        kernel.fail_every_where(Errno::EIO, move |_| calls.fetch_add(1, Relaxed) >= n);
        drop(made);
        fired = kernel.has_fired();
        kernel.stop();
        let (memories, range) = scene();
        assert_eq!(memories.len(), 3, "after call {n} was refused");
        range.unwrap_or_else(|error| panic!("after call {n} was refused: {error}"));
        n += 1;
    }
    assert!(n > 5, "{n} calls");
}

/// The last owner of an imported handle waits to close it while an import gets the same number again: the handle lives on.
#[test]
fn a_handle_that_an_import_got_again_is_not_closed_by_its_former_owner() {
    let gpu = SimDevice::new(chip("navi21"), SimOptions::default());
    let dma_buf = bo(&Device::new(gpu.open()).unwrap()).export().unwrap();
    let kernel = Arc::new(FaultInjector::new(gpu.open()));
    let device = Device::new(Arc::clone(&kernel)).unwrap();
    let former = Bo::import(&device, &dma_buf).unwrap();
    let (importing, told) = mpsc::channel::<()>();
    kernel.fail_every_where(Errno::EIO, move |attempt| {
        if attempt.is(PRIME_FD_TO_HANDLE) {
            importing.send(()).unwrap();
            // Long enough for the other thread to come to the lock.
            thread::sleep(Duration::from_millis(100));
        }
        false
    });
    let again = thread::scope(|scope| {
        let owner = scope.spawn(move || {
            told.recv().unwrap();
            drop(former);
        });
        let again = Bo::import(&device, &dma_buf).unwrap();
        owner.join().unwrap();
        again
    });
    kernel.stop();
    assert_eq!(again.create_info().unwrap().size, SIZE, "closed under its owner");
    drop(again);
    assert_eq!(kernel.inner().census().handles, 0);
}

#[test]
fn a_mapping_ends_with_its_last_byte() {
    let (_kernel, device) = rig();
    let mapping = Mapping::new(&bo(&device)).unwrap();
    mapping.write(SIZE - 2, &[1, 2]).unwrap();
    mapping.store_u32(SIZE - 4, 7).unwrap();
    mapping.store_u64(SIZE - 8, 7).unwrap();
    mapping.write(SIZE, &[]).unwrap();
    let outside = [
        mapping.write(SIZE - 1, &[1, 2]).map_err(Into::into),
        mapping.write(SIZE, &[1]).map_err(Into::into),
        mapping.write(SIZE + 1, &[]).map_err(Into::into),
        mapping.read(SIZE - 1, &mut [0; 2]).map_err(Into::into),
        mapping.read(SIZE, &mut [0]).map_err(Into::into),
        mapping.read(u64::MAX, &mut [0; 2]).map_err(Into::into),
        mapping.store_u32(SIZE, 1),
        mapping.store_u64(SIZE, 1),
        mapping.load_u32(SIZE).map(drop),
        mapping.load_u64(SIZE).map(drop),
        mapping.write_dwords(SIZE - 4, &[1, 2]).map_err(Into::into),
    ];
    for (index, outcome) in outside.into_iter().enumerate() {
        assert!(matches!(outcome, Err(AccessError::OutOfRange(OutOfRange { size: SIZE, .. }))), "{index}: {outcome:?}");
    }
}

/// A kernel that is busy for ever is asked a limited number of times, with any layer in front of it.
#[test]
fn a_kernel_that_stays_busy_holds_nobody_for_ever() {
    let (kernel, device) = rig();
    kernel.fail_every_where(Errno::EAGAIN, |_| true);
    let lease = device.addresses().allocate(VaRequest::new(SIZE)).unwrap();
    let before = kernel.calls();
    let (lease, error) = Reservation::new(&device, lease).unwrap_err();
    assert_eq!(error.errno(), Some(Errno::EAGAIN));
    assert!((2..100).contains(&(kernel.calls() - before)), "{} calls", kernel.calls() - before);
    kernel.fail_nth_where(0, Errno::EAGAIN, |attempt| attempt.is(GemVa::REQUEST));
    drop(Reservation::new(&device, lease).unwrap());
}
