//! Bindings of large BOs, and pieces of large reservations.

use std::sync::Arc;

use amdgpu_sim::SimKernel;
use amdgpu_winsys::{
    uapi::{GemCreateFlags, GemDomain, VaFlags},
    vamgr::VaRequest,
    winsys::{BindError, Binding, Bo, BoRequest, Device, Error, Event, Misaligned, Observer, OutOfRange, Reservation},
};
use parking_lot::Mutex;

use crate::support::chip;

const PAGE: u64 = 4096;
const GIB: u64 = 1 << 30;
const RIGHTS: VaFlags = VaFlags::READABLE.union(VaFlags::WRITEABLE);

/// A binding that came or went: start, bytes, and of one that came the byte of the BO and the rights.
type Change = (u64, u64, Option<(u64, VaFlags)>);

/// Hears everything.
#[derive(Debug, Default)]
struct Log(Mutex<Vec<Event>>);

impl Observer for Log {
    fn observe(&self, event: &Event) {
        self.0.lock().push(*event);
    }
}

impl Log {
    /// Returns the bindings that came and went since it was asked last.
    fn bindings(&self) -> Vec<Change> {
        let events = std::mem::take(&mut *self.0.lock());
        let binding = |event| match event {
            Event::Bound { range, bo_offset, flags, .. } => {
                Some((range.start().as_u64(), range.len(), Some((bo_offset, flags))))
            }
            Event::Unbound { range } => Some((range.start().as_u64(), range.len(), None)),
            _ => None,
        };
        events.into_iter().filter_map(binding).collect()
    }
}

fn device() -> (Device, Arc<Log>) {
    let log = Arc::new(Log::default());
    (Device::with_observer(SimKernel::open(chip("navi21")), Arc::clone(&log)).unwrap(), log)
}

fn bo(device: &Device, size: u64) -> Bo {
    let (domains, flags) = (GemDomain::VRAM, GemCreateFlags::NO_CPU_ACCESS);
    Bo::create(device, BoRequest { size, alignment: 0, domains, flags }).unwrap()
}

#[test]
fn a_binding_is_told_of_from_its_first_byte_to_its_guard_page() {
    let (device, log) = device();
    let bo = bo(&device, 6 * GIB);
    let lease = device.addresses().allocate(VaRequest::new(6 * GIB + PAGE)).unwrap();
    let start = lease.start().as_u64();
    let binding = Binding::with_guard_page(&bo, lease, RIGHTS).unwrap();
    assert_eq!((binding.len(), binding.has_guard_page()), (6 * GIB, true));
    let (whole, guard) = ((start, 6 * GIB, Some((0, RIGHTS))), (start + 6 * GIB, PAGE, Some((0, VaFlags::READABLE))));
    assert_eq!(log.bindings(), [whole, guard]);
    drop(binding);
    assert_eq!(log.bindings(), [(start, 6 * GIB + PAGE, None)]);
}

#[test]
fn a_guard_page_needs_a_lease_that_is_a_page_longer() {
    let (device, log) = device();
    let bo = bo(&device, 4 * PAGE);
    let lease = |bytes| device.addresses().allocate(VaRequest::new(bytes)).unwrap();
    let refused = Binding::with_guard_page(&bo, lease(4 * PAGE), RIGHTS).unwrap_err();
    let expected =
        BindError::OutOfRange(OutOfRange { handle: bo.handle(), offset: 4 * PAGE, len: PAGE, size: 4 * PAGE });
    assert_eq!((refused, log.bindings()), (expected, vec![]));
    for longer in [PAGE, 4 * PAGE] {
        assert!(Binding::with_guard_page(&bo, lease(4 * PAGE + longer), RIGHTS).is_ok(), "{longer}");
    }
}

#[test]
fn a_part_that_is_not_inside_is_refused_and_named() {
    let (device, _) = device();
    let bo = bo(&device, 6 * GIB);
    let bind = |offset, len, leased| {
        let lease = device.addresses().allocate(VaRequest::new(leased)).unwrap();
        Binding::of_part(&bo, offset, len, lease, RIGHTS).map_err(|(lease, error)| {
            assert_eq!(lease.len(), leased, "it comes back");
            error
        })
    };
    let part = bind(5 * GIB, GIB, GIB).unwrap();
    assert_eq!((part.offset(), part.len(), part.is_empty(), part.flags()), (5 * GIB, GIB, false, RIGHTS));
    let outside = |offset, len, size| Err(BindError::OutOfRange(OutOfRange { handle: bo.handle(), offset, len, size }));
    assert_eq!(bind(5 * GIB, GIB + PAGE, 8 * GIB), outside(5 * GIB, GIB + PAGE, 6 * GIB));
    assert_eq!(bind(0, 2 * GIB, GIB), outside(0, 2 * GIB, GIB));
    assert_eq!(bind(6 * GIB, 0, GIB), outside(6 * GIB, 0, GIB));
    assert_eq!(bind(u64::MAX - PAGE + 1, PAGE, GIB), outside(u64::MAX - PAGE + 1, PAGE, GIB));
    let misaligned = |what, value| Err(BindError::Misaligned(Misaligned { what, value, alignment: PAGE }));
    assert_eq!(bind(5 * GIB + 1, PAGE, GIB), misaligned("offset in the BO", 5 * GIB + 1));
    assert_eq!(bind(5 * GIB, PAGE - 1, GIB), misaligned("bound length", PAGE - 1));
}

#[test]
fn pieces_of_a_reservation_come_and_go_beyond_the_first_4_gib() {
    let (device, log) = device();
    let bo = bo(&device, 6 * GIB);
    let lease = device.addresses().allocate(VaRequest::new(16 * GIB)).unwrap();
    let reservation = Reservation::new(&device, lease).unwrap();
    let start = reservation.range().start().as_u64();
    log.bindings();
    reservation.bind(9 * GIB, 6 * GIB, &bo, 0, RIGHTS).unwrap();
    reservation.bind(15 * GIB, GIB, &bo, 5 * GIB, RIGHTS).unwrap();
    reservation.unbind(9 * GIB, 5 * GIB).unwrap();
    let bound = |at, len, offset| (start + at, len, Some((offset, RIGHTS)));
    assert_eq!(
        log.bindings(),
        [bound(9 * GIB, 6 * GIB, 0), bound(15 * GIB, GIB, 5 * GIB), (start + 9 * GIB, 5 * GIB, None)]
    );
    let outside = |handle, offset, len, size| Err(Error::OutOfRange(OutOfRange { handle, offset, len, size }));
    assert_eq!(reservation.unbind(15 * GIB, GIB + PAGE), outside(0, 15 * GIB, GIB + PAGE, 16 * GIB));
    assert_eq!(reservation.unbind(16 * GIB, 0), outside(0, 16 * GIB, 0, 16 * GIB));
    assert_eq!(
        reservation.bind(0, GIB + PAGE, &bo, 5 * GIB, RIGHTS),
        outside(bo.handle(), 5 * GIB, GIB + PAGE, 6 * GIB)
    );
    let misaligned = |what, value| Err(Error::Misaligned(Misaligned { what, value, alignment: PAGE }));
    assert_eq!(reservation.bind(0, PAGE, &bo, 5, RIGHTS), misaligned("offset in the BO", 5));
    assert_eq!(reservation.unbind(5 * GIB + 8, PAGE), misaligned("offset in the range", 5 * GIB + 8));
    assert_eq!(reservation.unbind(0, 5 * GIB + 8), misaligned("bound length", 5 * GIB + 8));
    let other = self::device().0;
    let foreign = reservation.bind(0, PAGE, &self::bo(&other, PAGE), 0, RIGHTS);
    assert_eq!(foreign, Err(Error::ForeignDevice { what: "BO" }));
    assert_eq!(log.bindings(), [], "what was refused is not told of");
    drop(reservation);
    assert_eq!(log.bindings(), [(start, 16 * GIB, None)]);
}
