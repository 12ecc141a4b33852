//! Pinned GPU clocks, for measurements.

use crate::{
    uapi::{Argument, Ctx, Errno, ctx_op},
    winsys::{Capabilities, Context, Error, Feature, InvalidReply, KernelError, Result, own::send},
};

/// A stable power state: the level at which the GPU's clocks are pinned.
///
/// Source: Linux 6.12 `include/uapi/drm/amdgpu_drm.h`, `AMDGPU_CTX_STABLE_PSTATE_*`.
///
/// ```
/// use amdgpu_winsys::winsys::StablePstate;
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let context = amdgpu_winsys::winsys::Context::new(&device, amdgpu_winsys::winsys::Priority::Normal)?;
/// assert_eq!(context.stable_pstate()?, StablePstate::None); // the clocks follow the load
/// let pinned = context.pin_clocks(StablePstate::Peak)?; // for a measurement
/// assert_eq!(context.stable_pstate()?, StablePstate::Peak);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum StablePstate {
    /// Not pinned: the clocks follow the load.
    None = 0,
    /// Clocks that the GPU can sustain.
    Standard = 1,
    /// The lowest shader clock.
    MinEngine = 2,
    /// The lowest memory clock.
    MinMemory = 3,
    /// The highest shader and memory clocks.
    Peak = 4,
}

impl StablePstate {
    const ALL: [Self; 5] = [Self::None, Self::Standard, Self::MinEngine, Self::MinMemory, Self::Peak];
}

/// A guard that keeps the clocks of the GPU pinned until it is dropped.
///
/// ```
/// use amdgpu_winsys::winsys::{Context, Error, Priority, StablePstate};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let context = amdgpu_winsys::winsys::Context::new(&device, amdgpu_winsys::winsys::Priority::Normal)?;
/// let other = Context::new(&device, Priority::Normal)?;
/// let pinned = context.pin_clocks(StablePstate::Standard)?;
/// assert_eq!(other.pin_clocks(StablePstate::Peak).unwrap_err(), Error::ClocksTaken);
/// drop(pinned);
/// assert_eq!(other.stable_pstate()?, StablePstate::None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use = "dropping the guard unpins the clocks"]
pub struct PinnedClocks {
    context: Context,
    /// `true` if this guard set the level.
    is_owner: bool,
}

impl Context {
    /// Returns the stable power state of the GPU, regardless of the context that set it.
    ///
    /// Request: AMDGPU_CTX (get stable pstate).
    ///
    /// # Errors
    ///
    /// * [`Error::Unsupported`] before DRM 3.45;
    /// * [`Error::InvalidReply`] if the level is unknown;
    /// * [`Error::Kernel`] if the kernel refuses the request.
    pub fn stable_pstate(&self) -> Result<StablePstate> {
        let level = self.pstate(ctx_op::GET_STABLE_PSTATE, 0).map_err(refused)?;
        let known = StablePstate::ALL.into_iter().find(|known| *known as u32 == level);
        known.ok_or(Error::InvalidReply(InvalidReply {
            field: "stable pstate",
            value: level.into(),
            reason: "no such level",
        }))
    }

    /// Pins the clocks of the whole GPU until the guard is dropped. Only one context at a time can pin them. If another
    /// context has already set the same level, this call changes nothing, because the kernel would refuse it, and dropping
    /// the guard changes nothing either.
    ///
    /// Request: AMDGPU_CTX (set stable pstate).
    ///
    /// # Errors
    ///
    /// * [`Error::ClocksTaken`] if another context has pinned the clocks at a different level;
    /// * [`Error::Unsupported`] before DRM 3.45;
    /// * [`Error::Kernel`] if the kernel refuses the request: `EINVAL` if power management does not support the level.
    ///
    /// Source: Linux 6.12 `amdgpu_ctx.c`, `amdgpu_ctx_set_stable_pstate`.
    pub fn pin_clocks(&self, level: StablePstate) -> Result<PinnedClocks> {
        let is_owner = self.stable_pstate()? != level;
        if is_owner {
            self.pstate(ctx_op::SET_STABLE_PSTATE, level as u32).map_err(refused)?;
        }
        Ok(PinnedClocks { context: self.clone(), is_owner })
    }

    fn pstate(&self, op: u32, flags: u32) -> Result<u32, Errno> {
        if !self.device().info().capabilities.contains(Capabilities::STABLE_PSTATE) {
            return Err(Errno::EOPNOTSUPP);
        }
        let mut argument = Ctx { op, flags, ctx_id: self.id(), priority: 0 };
        send(self.device().kernel(), &mut argument)?;
        // The kernel writes the answer over the operation.
        Ok(argument.op)
    }
}

fn refused(errno: Errno) -> Error {
    match errno {
        Errno::EOPNOTSUPP => Error::Unsupported { feature: Feature::StableClocks },
        Errno::EBUSY => Error::ClocksTaken,
        errno => Error::Kernel(KernelError::new(Ctx::NAME, errno)),
    }
}

impl Drop for PinnedClocks {
    fn drop(&mut self) {
        if !self.is_owner {
            return;
        }
        // If this fails, the kernel resets the level when the context is freed.
        if let Err(errno) = self.context.pstate(ctx_op::SET_STABLE_PSTATE, StablePstate::None as u32) {
            tracing::warn!(context = self.context.id(), %errno, "clocks stay pinned until the context is freed");
        }
    }
}
