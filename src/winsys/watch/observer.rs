//! Observers of the events of a device's objects.

use std::{fmt, sync::Arc};

use crate::winsys::{BoHistory, Event, VaMap};

/// A receiver of the events of a device's objects, such as a tool, a trace, or a [`VaMap`](crate::winsys::VaMap). See
/// [`Device::with_observer`](crate::winsys::Device::with_observer).
///
/// It is called on the thread that causes the event, after the kernel has completed the operation, and must not use the
/// device's objects. It may panic, because the object of the event already has an owner that frees it. A panic while
/// another one unwinds is ignored. Without an observer, an event costs one comparison and is not even constructed.
///
/// A `Vec` of observers is an observer too, and so are pointers to one (`Box`, `Arc`).
///
/// ```
/// use std::sync::{Arc, atomic::{AtomicU64, Ordering}};
/// use amdgpu_winsys::winsys::{Device, Event, Observer};
/// # use amdgpu_winsys::{uapi::{GemCreateFlags, GemDomain}, winsys::{Bo, BoRequest}};
///
/// #[derive(Debug, Default)]
/// struct LargestBo(AtomicU64);
/// impl Observer for LargestBo {
///     fn observe(&self, event: &Event) {
///         if let Event::BoOpened { size, .. } = event {
///             self.0.fetch_max(*size, Ordering::Relaxed);
///         }
///     }
/// }
/// let largest = Arc::new(LargestBo::default());
/// # let kernel = amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?);
/// let device = Device::with_observer(kernel, Arc::clone(&largest))?;
/// # let request = BoRequest { size: 8192, alignment: 0, domains: GemDomain::GTT, flags: GemCreateFlags::empty() };
/// let bo = Bo::create(&device, request)?;
/// assert_eq!(largest.0.load(Ordering::Relaxed), bo.size());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Observer: Send + Sync + fmt::Debug {
    /// Receives an event of the device.
    fn observe(&self, event: &Event);

    /// Returns the VA map that this observer is or contains, for [`Device::va_map`](crate::winsys::Device::va_map).
    fn va_map(&self) -> Option<&VaMap> {
        None
    }

    /// Returns the history that this observer is or contains, for [`Device::history`](crate::winsys::Device::history).
    fn history(&self) -> Option<&BoHistory> {
        None
    }
}

impl Observer for VaMap {
    fn observe(&self, event: &Event) {
        self.note(event);
    }

    fn va_map(&self) -> Option<&VaMap> {
        Some(self)
    }
}

impl Observer for BoHistory {
    fn observe(&self, event: &Event) {
        self.note(event);
    }

    fn history(&self) -> Option<&BoHistory> {
        Some(self)
    }
}

/// A list of observers is an observer: each receives every event, in the order of the list.
impl<T: Observer> Observer for Vec<T> {
    fn observe(&self, event: &Event) {
        for observer in self {
            observer.observe(event);
        }
    }

    fn va_map(&self) -> Option<&VaMap> {
        self.iter().find_map(Observer::va_map)
    }

    fn history(&self) -> Option<&BoHistory> {
        self.iter().find_map(Observer::history)
    }
}

/// Implements the trait for pointers to observers, by forwarding.
macro_rules! pointers {
    ($($pointer:ident),*) => {$(
        impl<T: Observer + ?Sized> Observer for $pointer<T> {
            fn observe(&self, event: &Event) {
                (**self).observe(event);
            }

            fn va_map(&self) -> Option<&VaMap> {
                (**self).va_map()
            }

            fn history(&self) -> Option<&BoHistory> {
                (**self).history()
            }
        }
    )*};
}

pointers!(Arc, Box);

/// Reports an event to the observer. Without an observer, `event` is not called.
#[inline]
pub(in crate::winsys) fn notify(observer: Option<&dyn Observer>, event: impl FnOnce() -> Event) {
    if let Some(observer) = observer {
        if std::thread::panicking() {
            return notify_while_unwinding(observer, &event());
        }
        observer.observe(&event());
    }
}

/// Reports an event during a panic, when a second panic would abort the process.
#[cold]
fn notify_while_unwinding(observer: &dyn Observer, event: &Event) {
    let notified = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| observer.observe(event)));
    if notified.is_err() {
        // The first panic is already being reported. The payload of this one is leaked, because dropping it could panic
        // again.
        std::mem::forget(notified);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[derive(Debug, Default)]
    struct Counter(AtomicU32);

    impl Observer for Counter {
        fn observe(&self, _: &Event) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn without_an_observer_no_event_is_made() {
        notify(None, || unreachable!("there is no listener"));
    }

    #[test]
    fn a_list_of_observers_notifies_each_of_them() {
        let (one, two) = (Arc::new(Counter::default()), Arc::new(Counter::default()));
        let all: [Arc<dyn Observer>; 2] = [Arc::clone(&one) as _, Arc::clone(&two) as _];
        notify(Some(&all.to_vec()), || Event::BoClosed { handle: 1 });
        assert_eq!([&one, &two].map(|counter| counter.0.load(Ordering::Relaxed)), [1, 1]);
    }
}
