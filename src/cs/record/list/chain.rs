//! Chains of lists that the kernel is given as one IB.

use std::sync::{Arc, atomic::Ordering};

use super::{
    command_list::CommandList,
    recorded::{Recorded, has_jumps, jump, jump_to_replayed},
};
use crate::{
    cs::{EncodeError, Target},
    host_memory::{self, NoHostMemory},
};

/// The reason why a list was not chained, or not taken off its chain.
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
    /// The ring takes no jumps.
    #[error("{target} cannot jump from IB to IB")]
    NoJumps {
        /// The ring.
        target: Target,
    },
    /// Lists for different rings.
    #[error("a list for {next} cannot be chained to one for {target}")]
    OtherRing {
        /// The ring of the first list.
        target: Target,
        /// That of the list behind it.
        next: Target,
    },
    /// Lists of different devices.
    #[error("lists of different devices cannot be chained")]
    OtherDevice,
    /// No packet can say where the list is.
    #[error("the jump to the list cannot be encoded: {0}")]
    Jump(EncodeError),
    /// A queue has not noticed the end of the list, another list calls it, or preambles have it.
    #[error("the list is in use")]
    InUse,
    /// Another list comes behind it already.
    #[error("the list is chained already")]
    Chained,
    /// The list behind it comes behind another one already.
    #[error("the next list is chained to another one already")]
    Behind,
    /// The chain would be a circle.
    #[error("the chain of lists would be a circle")]
    Circle,
}

impl Recorded {
    /// Makes a handle of a reference.
    pub(super) fn add_handle(&self) {
        let _next = self.link.next.lock();
        self.link.handles.fetch_add(1, Ordering::Relaxed);
    }

    /// A handle is about to give up its reference.
    pub(super) fn remove_handle(&self) {
        let _next = self.link.next.lock();
        self.link.handles.fetch_sub(1, Ordering::Relaxed);
    }

    /// Returns `true` if another list comes behind it.
    #[inline]
    pub(in crate::cs) fn is_chained(&self) -> bool {
        self.link.is_chained.load(Ordering::Acquire)
    }

    /// Returns the list behind it.
    fn behind(&self) -> Option<Arc<Self>> {
        self.link.next.lock().clone()
    }

    /// Adds the lists behind it to `lists`.
    pub(in crate::cs) fn followers(&self, lists: &mut Vec<Arc<Self>>) -> Result<(), NoHostMemory> {
        let mut next = self.behind();
        while let Some(list) = next {
            next = list.behind();
            host_memory::push(lists, list)?;
        }
        Ok(())
    }

    /// Returns `true` if there are more references than handles and the one of the list before it. The caller has the lock,
    /// so that handles come and go with their references.
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

    /// Ends the list with fillers again. Returns the list that was behind it.
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
    /// Puts a list behind this one: the last IB ends with a jump to the first of `next`, so that submitting this list runs
    /// both, and the kernel is given one IB where it would be given two. `next` may have lists behind it, and can still be
    /// submitted alone. Any clone of either list will do.
    ///
    /// The GPU reads the jump as it comes there, so a list that a queue runs cannot be chained: the queue must have
    /// [noticed](crate::cs::Queue::retire) its end. Where submissions [keep nothing](crate::cs::Keep::Nothing), the caller
    /// sees to it that the list is not running, as Vulkan's rules do; otherwise the running job may go on in `next`. The same
    /// holds for a thread that submits a list while another chains it.
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
    /// [`ChainFault`]; both lists are then as they were.
    pub fn chain(&self, next: &Self) -> Result<(), ChainFault> {
        self.chain_as(next, false)
    }

    /// Puts a list behind this one like [`CommandList::chain`], with the bit PRE_ENA in the jump: the graphics engine replays
    /// `next` when the context comes back after a preemption. For drivers that shadow registers
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
    /// [`ChainFault`], with [`ChainFault::Jump`] where the ring replays nothing: on compute rings, and before GFX8. Both lists
    /// are then as they were.
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
        // Each list is behind one other at most, so a chain with a circle leads back here. Looked for last, as two threads may
        // close a circle together.
        if to.leads_to(from) {
            let _next = from.unchain(&mut from.link.next.lock())?;
            return Err(ChainFault::Circle);
        }
        Ok(())
    }

    /// Ends the list with fillers again, which every generation knows; RADV writes one that GFX6 does not (Mesa 25.0.7
    /// `radv_amdgpu_cs.c`, `radv_amdgpu_cs_unchain`). Does nothing if no list is behind it.
    ///
    /// # Errors
    ///
    /// [`ChainFault::InUse`] as for [`CommandList::chain`].
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
        // Dropped without the lock: it may be the last reference.
        drop(behind);
        Ok(())
    }

    /// Returns `true` if another list comes behind it.
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

    /// Returns `true` if both are of one device.
    fn is_with(&self, other: &Self) -> bool {
        let device = |list: &Self| list.bindings().next().map(|binding| binding.device().clone());
        device(self).is_some_and(|device| self.is_of(&device) && other.is_of(&device))
    }
}
