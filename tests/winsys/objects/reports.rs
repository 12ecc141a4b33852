//! Warnings of what the kernel refuses to take back: the request, the number of the object and the number of attempts.

use std::sync::Arc;

use amdgpu_layers::{Attempt, FaultInjector};
use amdgpu_sim::SimKernel;
use amdgpu_winsys::{
    uapi::{
        Argument, BoList as BoListArgument, Ctx, GemClose, GemCreateFlags, GemDomain, GemVa, SyncobjDestroy, VaFlags,
        Vm,
    },
    vamgr::VaRequest,
    winsys::{
        Binding, Bo, BoList, BoRequest, Context, Device, Errno, Mapping, Priority, Reservation, Syncobj,
        VmidReservation,
    },
};
use tracing::Level;

use crate::{
    log::{Line, logged},
    support::chip,
};

const PAGE: u64 = 4096;

type Kernel = Arc<FaultInjector<SimKernel>>;

/// Makes an object, and returns its number and what drops it.
type Make = fn(&Device) -> (u32, Box<dyn FnOnce()>);

fn drops<T: 'static>(object: T) -> Box<dyn FnOnce()> {
    Box::new(move || drop(object))
}

fn bo(device: &Device) -> Bo {
    let (domains, flags) = (GemDomain::GTT, GemCreateFlags::CPU_ACCESS_REQUIRED);
    Bo::create(device, BoRequest { size: PAGE, alignment: 0, domains, flags }).unwrap()
}

/// Every kind of object that is given back to the kernel, with the request that does it.
const KINDS: [(&str, Make); 9] = [
    (GemClose::NAME, |device| {
        let bo = bo(device);
        (bo.handle(), drops(bo))
    }),
    (GemClose::NAME, |device| {
        let exported = bo(device);
        drop(exported.export().unwrap());
        (exported.handle(), drops(exported))
    }),
    (GemVa::NAME, |device| {
        let lease = device.addresses().allocate(VaRequest::new(PAGE)).unwrap();
        let bo = bo(device);
        let binding = Binding::new(&bo, lease, VaFlags::READABLE).unwrap();
        // The BO stays, so that only the binding is given back.
        (bo.handle(), drops(binding))
    }),
    (GemVa::NAME, |device| {
        let lease = device.addresses().allocate(VaRequest::new(1 << 20)).unwrap();
        (0, drops(Reservation::new(device, lease).unwrap()))
    }),
    ("munmap", |device| {
        let bo = bo(device);
        let mapping = Mapping::new(&bo).unwrap();
        (bo.handle(), drops(mapping))
    }),
    (Ctx::NAME, |device| {
        drop(Context::new(device, Priority::Normal).unwrap());
        let context = Context::new(device, Priority::Normal).unwrap();
        (context.id(), drops(context))
    }),
    (SyncobjDestroy::NAME, |device| {
        let syncobj = Syncobj::new(device, false).unwrap();
        (syncobj.handle(), drops(syncobj))
    }),
    (BoListArgument::NAME, |device| {
        let list = BoList::new(device, &[]).unwrap();
        (list.handle(), drops(list))
    }),
    (Vm::NAME, |device| (0, drops(VmidReservation::new(device).unwrap()))),
];

/// Returns `true` if an attempt is one of this request.
fn is(attempt: &Attempt<'_>, request: &str) -> bool {
    match request {
        "munmap" => matches!(attempt, Attempt::Munmap { .. }),
        "GEM_CLOSE" => attempt.is(GemClose::REQUEST),
        "AMDGPU_GEM_VA" => attempt.is(GemVa::REQUEST),
        "AMDGPU_CTX" => attempt.is(Ctx::REQUEST),
        "AMDGPU_BO_LIST" => attempt.is(BoListArgument::REQUEST),
        "AMDGPU_VM" => attempt.is(Vm::REQUEST),
        _ => attempt.is(SyncobjDestroy::REQUEST),
    }
}

/// Drops one object of a kind while the kernel refuses. Returns what was logged of it and the number of calls.
fn dropped(kind: (&'static str, Make), refuse: impl FnOnce(&Kernel)) -> (u32, Vec<Line>, u64) {
    let kernel = Arc::new(FaultInjector::new(SimKernel::open(chip("navi21"))));
    let device = Device::new(Arc::clone(&kernel)).unwrap();
    let (number, drop) = kind.1(&device);
    refuse(&kernel);
    let before = kernel.calls();
    let lines = logged(drop);
    let calls = kernel.calls() - before;
    kernel.stop();
    let refusals = lines.into_iter().filter(|line| line.field("request") == kind.0).collect();
    (number, refusals, calls)
}

fn assert_told(line: &Line, request: &str, number: u32, times: &str, is_done: &str) {
    assert_eq!((line.level, line.field("message")), (Level::WARN, "the kernel refused to release an object"));
    assert_eq!(
        [line.field("request"), line.field("handle"), line.field("times"), line.field("is_done")],
        [request, &number.to_string(), times, is_done]
    );
}

#[test]
fn a_refusal_that_lasts_is_told_once_after_three_attempts() {
    for kind in KINDS {
        let (number, lines, _) = dropped(kind, |kernel| {
            kernel.fail_every_where(Errno::EIO, move |attempt| is(attempt, kind.0));
        });
        assert_eq!(lines.len(), 1, "{}: {lines:?}", kind.0);
        assert_told(&lines[0], kind.0, number, "3", "false");
        assert!(lines[0].field("errno").contains("EIO"), "{lines:?}");
    }
}

#[test]
fn a_refusal_that_passes_is_told_with_the_number_of_attempts_it_took() {
    for kind in KINDS {
        let (number, lines, _) = dropped(kind, |kernel| {
            kernel.fail_nth_where(0, Errno::EIO, move |attempt| is(attempt, kind.0));
        });
        assert_eq!(lines.len(), 1, "{}: {lines:?}", kind.0);
        assert_told(&lines[0], kind.0, number, "1", "true");
    }
}

/// Everything goes with the file of a GPU that was removed.
#[test]
fn a_gpu_that_was_removed_is_asked_once_and_nothing_is_told() {
    for kind in KINDS {
        let (_, lines, refused) = dropped(kind, |kernel| kernel.fail_every_where(Errno::ENODEV, |_| true));
        assert_eq!(lines, [], "{}", kind.0);
        // One attempt each for the object, and for what it alone kept: a binding's or a mapping's BO.
        assert!((1..=2).contains(&refused), "{}: {refused} calls", kind.0);
    }
}

#[test]
fn nothing_is_told_of_what_the_kernel_takes_back() {
    for kind in KINDS {
        let (_, lines, _) = dropped(kind, |_| ());
        assert_eq!(lines, [], "{}", kind.0);
    }
}

#[test]
fn both_bindings_of_a_guarded_bo_are_told_of_and_the_addresses_are_lost() {
    let kernel = Arc::new(FaultInjector::new(SimKernel::open(chip("navi21"))));
    let device = Device::new(Arc::clone(&kernel)).unwrap();
    let lease = device.addresses().allocate(VaRequest::new(2 * PAGE)).unwrap();
    let (bo, start) = (bo(&device), lease.start());
    let binding = Binding::with_guard_page(&bo, lease, VaFlags::READABLE).unwrap();
    kernel.fail_every_where(Errno::EIO, |attempt| is(attempt, GemVa::NAME));
    let lines = logged(|| drop(binding));
    kernel.stop();
    let [lost, one, other] = lines.as_slice() else { panic!("{lines:?}") };
    assert_eq!((lost.level, lost.field("start")), (Level::ERROR, format!("{start}").as_str()));
    assert_eq!(lost.field("len"), "8192");
    for line in [one, other] {
        assert_told(line, GemVa::NAME, bo.handle(), "3", "false");
    }
}
