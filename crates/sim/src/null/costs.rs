//! The time that requests take.

use std::{
    hint,
    time::{Duration, Instant},
};

use amdgpu_uapi::{Argument as _, Cs, GemCreate, GemVa, Request};

/// The time that requests to a [`NullKernel`](crate::NullKernel) take, during which the thread is busy as it would be in a kernel. All
/// other requests are answered at once. The default is no time.
///
/// ```
/// use std::time::{Duration, Instant};
/// use amdgpu_sim::{NullKernel, RequestCosts, profile};
/// use amdgpu_winsys::{uapi::{GemCreateFlags, GemDomain}, winsys::{Bo, BoRequest, Device}};
///
/// let costs = RequestCosts { create: Duration::from_millis(2), ..RequestCosts::LINUX };
/// let device = Device::new(NullKernel::open(profile("navi21").ok_or("no such chip")?)?.with_costs(costs))?;
/// let start = Instant::now();
/// Bo::create(&device, BoRequest { size: 4096, alignment: 0, domains: GemDomain::GTT, flags: GemCreateFlags::empty() })?;
/// assert!(start.elapsed() >= costs.create);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestCosts {
    /// The time of AMDGPU_CS.
    pub submit: Duration,
    /// The time of AMDGPU_GEM_VA.
    pub bind: Duration,
    /// The time of AMDGPU_GEM_CREATE.
    pub create: Duration,
}

impl RequestCosts {
    /// Round numbers of about what Linux takes on a desktop processor, for small requests and no contention.
    pub const LINUX: Self =
        Self { submit: Duration::from_micros(2), bind: Duration::from_micros(1), create: Duration::from_micros(3) };

    /// Spends the time that a request takes.
    #[inline]
    pub(super) fn spend(&self, request: Request) {
        const SUBMIT: u8 = Cs::REQUEST.number();
        const BIND: u8 = GemVa::REQUEST.number();
        const CREATE: u8 = GemCreate::REQUEST.number();
        match request.number() {
            SUBMIT => spin(self.submit),
            BIND => spin(self.bind),
            CREATE => spin(self.create),
            _ => {}
        }
    }
}

#[inline]
fn spin(time: Duration) {
    if time.is_zero() {
        return;
    }
    let start = Instant::now();
    while start.elapsed() < time {
        hint::spin_loop();
    }
}
