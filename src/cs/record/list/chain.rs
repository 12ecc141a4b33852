//! Chains of command lists, which are submitted to the kernel as one IB.

use std::sync::{Arc, atomic::Ordering};

use super::{
    command_list::CommandList,
    recorded::{Recorded, has_jumps, jump, jump_to_replayed},
};
use crate::cs::{EncodeError, Target};

/// The reason why a list could not be chained to another, or unchained.
///
/// ```
/// use amdgpu_winsys::cs::{ChainFault, Stream};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let target = amdgpu_winsys::cs::pm4::Target::gfx(device.info().gfx_level);
/// let list = || Stream::new(&device, target, 64)?.finish();
/// let (first, second, third) = (list()?, list()?, list()?);
/// first.chain(&second)?;
/// assert_eq!(first.chain(&third), Err(ChainFault::Chained));
/// assert_eq!(third.chain(&second), Err(ChainFault::Behind));
/// assert_eq!(second.chain(&first), Err(ChainFault::Circle));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChainFault {
    /// The ring does not support jumps between IBs.
    #[error("{target} cannot jump from IB to IB")]
    NoJumps {
        /// The ring and generation that the lists are for.
        target: Target,
    },
    /// The lists are for different rings or generations.
    #[error("a list for {next} cannot be chained to one for {target}")]
    OtherRing {
        /// The ring and generation of the first list.
        target: Target,
        /// The ring and generation of the list to be chained to the first one.
        next: Target,
    },
    /// The lists belong to different devices.
    #[error("lists of different devices cannot be chained")]
    OtherDevice,
    /// The jump packet cannot hold the address or length of the list.
    #[error("the jump to the list cannot be encoded: {0}")]
    Jump(EncodeError),
    /// The list is in use: a queue has not retired it, another list calls it, or it is one of the preambles.
    #[error("the list is in use")]
    InUse,
    /// Another list is already chained to this one.
    #[error("another list is already chained to this one")]
    Chained,
    /// The next list is already chained to another list.
    #[error("the next list is already chained to another one")]
    Behind,
    /// The chain would be circular.
    #[error("the chain of lists would be circular")]
    Circle,
}

impl Recorded {
    /// Counts a new handle.
    pub(super) fn add_handle(&self) {
        let _next = self.link.next.lock();
        self.link.handles.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a handle that is about to drop its reference.
    pub(super) fn remove_handle(&self) {
        let _next = self.link.next.lock();
        self.link.handles.fetch_sub(1, Ordering::Relaxed);
    }

    /// Returns `true` if another list is chained to this one.
    #[inline]
    pub(in crate::cs) fn is_chained(&self) -> bool {
        self.link.is_chained.load(Ordering::Acquire)
    }

    /// Returns the list that is chained to this one.
    pub(in crate::cs) fn behind(&self) -> Option<Arc<Self>> {
        self.link.next.lock().clone()
    }

    /// Returns `true` if there are more references than those of the handles and of the previous list in the chain. The caller must
    /// hold the lock, so that handles are counted together with their references.
    fn is_in_use(self: &Arc<Self>) -> bool {
        let explained =
            self.link.handles.load(Ordering::Relaxed) + usize::from(self.link.is_behind.load(Ordering::Acquire));
        Arc::strong_count(self) > explained
    }

    fn chain(self: &Arc<Self>, to: &Arc<Self>, is_replayed: bool) -> Result<(), ChainFault> {
        let mut next = self.link.next.lock();
        if next.is_some() {
            return Err(ChainFault::Chained);
        }
        if self.is_in_use() {
            return Err(ChainFault::InUse);
        }
        let (Some(last), Some(first)) = (self.all_ibs().last(), to.ibs().next()) else { return Ok(()) };
        let jumped = if is_replayed {
            jump_to_replayed(self.target(), last, first)
        } else {
            jump(self.target(), last, Some(first))
        };
        jumped.map_err(ChainFault::Jump)?;
        *next = Some(Arc::clone(to));
        self.link.is_chained.store(true, Ordering::Release);
        Ok(())
    }

    /// Replaces the jump at the end of the list by a NOP. Returns the list that was chained to it.
    fn unchain(&self, next: &mut Option<Arc<Self>>) -> Result<Option<Arc<Self>>, ChainFault> {
        if let Some(last) = self.all_ibs().last() {
            jump(self.target(), last, None).map_err(ChainFault::Jump)?;
        }
        self.link.is_chained.store(false, Ordering::Release);
        let next = next.take();
        if let Some(next) = &next {
            next.link.is_behind.store(false, Ordering::Release);
        }
        Ok(next)
    }
}

impl CommandList {
    /// Chains a list to this one: the last IB ends with a jump to the first IB of `next`. A submission of this list then runs both,
    /// and the kernel gets one IB instead of two. `next` may have lists chained to it, and can still be submitted alone. All clones
    /// of a list share the chain.
    ///
    /// The GPU reads the jump when it reaches the end of the list. A list that a queue runs therefore cannot be chained: the queue
    /// must have [retired](crate::cs::Queue::retire) it first. If submissions [keep nothing](crate::cs::Keep::Nothing), the caller
    /// must ensure that the list is not running, as Vulkan requires; otherwise the running job may continue in `next`. The caller
    /// must also ensure that no other thread submits the list at the same time.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use amdgpu_sim::{SimKernel, profile};
    /// use amdgpu_winsys::{
    ///     cs::{Queue, Stream, Submission, pm4},
    ///     winsys::{Context, Deadline, Device, Ip, Priority},
    /// };
    ///
    /// let device = Device::new(SimKernel::open(profile("navi21").ok_or("no such chip")?))?;
    /// let queue = Queue::new(&Context::new(&device, Priority::Normal)?, Ip::Gfx, 0)?;
    /// let list = || Stream::new(&device, pm4::Target::gfx(device.info().gfx_level), 64)?.finish();
    /// let (first, second) = (list()?, list()?);
    /// first.chain(&second)?;
    /// let fence = queue.submit(&Submission { lists: &[&first], ..Submission::default() })?; // runs both
    /// assert!(first.unchain().is_err(), "it may be running");
    /// assert!(fence.wait(Deadline::NEVER)?);
    /// first.unchain()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Source: Mesa 25.0.7 `src/amd/vulkan/winsys/amdgpu/radv_amdgpu_cs.c`, `radv_amdgpu_cs_chain`.
    ///
    /// # Errors
    ///
    /// A [`ChainFault`] that names the reason; both lists are unchanged.
    pub fn chain(&self, next: &Self) -> Result<(), ChainFault> {
        self.chain_as(next, false)
    }

    /// Chains a list to this one like [`CommandList::chain`], with the bit PRE_ENA in the jump: the graphics engine executes `next`
    /// again when it restores the context after a preemption. For drivers that shadow registers
    /// ([`REGISTER_SHADOWING`](crate::winsys::Capabilities::REGISTER_SHADOWING)).
    ///
    /// ```
    /// use amdgpu_winsys::cs::{ChainFault, Stream, pm4};
    ///
    /// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
    /// let list = |target| Stream::new(&device, target, 64)?.finish();
    /// let gfx = pm4::Target::gfx(device.info().gfx_level);
    /// let (first, second) = (list(gfx)?, list(gfx)?);
    /// first.chain_replayed(&second)?;
    /// let tail = first.dwords().next().and_then(|dwords| dwords.last().copied());
    /// assert_eq!(tail.map(|control| control >> 21 & 1), Some(1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Source: Mesa 25.0.7 `src/amd/vulkan/winsys/amdgpu/radv_amdgpu_cs.c`, `radv_amdgpu_cs_chain`, with `pre_ena`.
    ///
    /// # Errors
    ///
    /// The errors of [`CommandList::chain`], and [`ChainFault::Jump`] on compute rings and before GFX8, which do not support this.
    /// Both lists are then unchanged.
    pub fn chain_replayed(&self, next: &Self) -> Result<(), ChainFault> {
        self.chain_as(next, true)
    }

    fn chain_as(&self, next: &Self, is_replayed: bool) -> Result<(), ChainFault> {
        let (from, to) = (self.recorded(), next.recorded());
        if !has_jumps(from.target()) {
            return Err(ChainFault::NoJumps { target: from.target() });
        }
        if from.target() != to.target() {
            return Err(ChainFault::OtherRing { target: from.target(), next: to.target() });
        }
        if !from.is_with(to) {
            return Err(ChainFault::OtherDevice);
        }
        if Arc::ptr_eq(from, to) {
            return Err(ChainFault::Circle);
        }
        if to.link.is_behind.swap(true, Ordering::AcqRel) {
            return Err(ChainFault::Behind);
        }
        if let Err(fault) = from.chain(to, is_replayed) {
            to.link.is_behind.store(false, Ordering::Release);
            return Err(fault);
        }
        // Each list follows at most one other list, so a circular chain leads back to this one. Checked last, because two threads
        // may close a circle together.
        if to.leads_to(from) {
            let _next = from.unchain(&mut from.link.next.lock())?;
            return Err(ChainFault::Circle);
        }
        Ok(())
    }

    /// Removes the list that is chained to this one: the last IB ends with a NOP again. Does nothing if no list is chained to it.
    /// The NOP is one that every generation supports; RADV writes one that GFX6 does not (Mesa 25.0.7 `radv_amdgpu_cs.c`,
    /// `radv_amdgpu_cs_unchain`).
    ///
    /// # Errors
    ///
    /// [`ChainFault::InUse`] if the list is in use, see [`CommandList::chain`].
    pub fn unchain(&self) -> Result<(), ChainFault> {
        let mut next = self.recorded().link.next.lock();
        if next.is_none() {
            return Ok(());
        }
        if self.recorded().is_in_use() {
            return Err(ChainFault::InUse);
        }
        let behind = self.recorded().unchain(&mut next)?;
        drop(next);
        // Dropped after the lock is released, because it may be the last reference.
        drop(behind);
        Ok(())
    }

    /// Returns `true` if another list is chained to this one.
    #[inline]
    pub fn is_chained(&self) -> bool {
        self.recorded().is_chained()
    }
}

impl Recorded {
    fn leads_to(&self, end: &Arc<Self>) -> bool {
        let mut next = self.behind();
        while let Some(list) = next {
            if Arc::ptr_eq(&list, end) {
                return true;
            }
            next = list.behind();
        }
        false
    }

    /// Returns `true` if both lists belong to one device.
    fn is_with(&self, other: &Self) -> bool {
        let device = |list: &Self| list.bindings().next().map(|binding| binding.device().clone());
        device(self).is_some_and(|device| self.is_of(&device) && other.is_of(&device))
    }
}
