//! Preambles and postambles of kernel submissions.

use crate::{
    cs::{
        CommandList, RecordResult as Result, Stream, Target,
        pm4::{self, AcquireMem, CacheActions, Event, EventWrite, PfpSyncMe, Ring},
    },
    host_memory,
    winsys::{Device, GfxLevel},
};

/// Command lists that a queue executes before and after the lists of a submission: state that every submission needs, and work that
/// must happen at its end. Each is a single IB, so that the number of IBs of a submission is known in advance. Each position may
/// have several lists, which run in the order in which they were added.
///
/// | list                   | contains                                                                | runs                                            |
/// |------------------------|-------------------------------------------------------------------------|-------------------------------------------------|
/// | `initial_full_flush`   | state, a wait for shaders, an invalidation of all caches                | first in a submission that waits for something  |
/// | `initial`              | state, an invalidation of the caches                                    | first in any other submission                   |
/// | `further`              | state                                                                   | first in each further kernel call               |
/// | `postamble`            | a wait for shaders and a write-back of L2; needed on GFX6 only          | last in each kernel call                        |
///
/// The copy engine needs no preambles. Source: Mesa 25.0.7 `src/amd/vulkan/radv_queue.c`, `radv_update_preamble_cs`, and
/// `src/amd/vulkan/winsys/amdgpu/radv_amdgpu_cs.c`, `radv_amdgpu_winsys_cs_submit_internal`.
///
/// ```
/// use amdgpu_sim::{SimKernel, profile};
/// use amdgpu_winsys::{
///     cs::{Preambles, Queue, Stream, Submission, pm4},
///     winsys::{Context, Deadline, Device, Ip, Priority},
/// };
///
/// let device = Device::new(SimKernel::open(profile("navi21").ok_or("no such chip")?))?;
/// let list = || Stream::new(&device, pm4::Target::gfx(device.info().gfx_level), 64)?.finish();
/// // State of the device, state of the queue, and state for each further kernel submission:
/// let preambles = Preambles::new().with_initial(list()?, list()?)?.with_initial(list()?, list()?)?.with_further(list()?)?;
/// assert_eq!((preambles.before(0, false).len(), preambles.most_ibs()), (2, 2));
/// let queue = Queue::new(&Context::new(&device, Priority::Normal)?, Ip::Gfx, 0)?;
/// let (work, preambles) = (list()?, Some(&preambles));
/// let fence = queue.submit(&Submission { lists: &[&work], preambles, ..Submission::default() })?;
/// assert!(fence.wait(Deadline::NEVER)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// All lists are for one ring. In a [gang](crate::cs::Gang) this is the ring of the leader; the lists of each follower must contain
/// their own preamble and postamble.
#[derive(Clone, Debug, Default)]
pub struct Preambles {
    initial_full_flush: Vec<CommandList>,
    initial: Vec<CommandList>,
    further: Vec<CommandList>,
    postamble: Vec<CommandList>,
}

/// The reason why a list cannot be a preamble.
///
/// ```
/// use amdgpu_winsys::cs::{NotOneIb, Preambles, Stream, sdma};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let target = amdgpu_winsys::cs::pm4::Target::gfx(device.info().gfx_level);
/// let graphics = Stream::new(&device, target, 64)?.finish()?;
/// let copies = Stream::new(&device, sdma::Version::of(device.info().gfx_level), 64)?.finish()?;
/// let expected = NotOneIb::OtherRing { target: copies.target(), others: graphics.target() };
/// let error = Preambles::new().with_postamble(graphics)?.with_further(copies).unwrap_err();
/// assert_eq!(error, expected);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotOneIb {
    /// The list has several IBs instead of one.
    #[error("a preamble must be a single IB, this list has {ibs}")]
    Ibs {
        /// Number of IBs of the list.
        ibs: usize,
    },
    /// The list is for a different ring than the other preambles.
    #[error("a preamble for {target} cannot be combined with others for {others}")]
    OtherRing {
        /// The ring and generation of the list.
        target: Target,
        /// The ring and generation of the other preambles.
        others: Target,
    },
}

impl Preambles {
    /// Creates preambles without lists.
    pub const fn new() -> Self {
        Self { initial_full_flush: Vec::new(), initial: Vec::new(), further: Vec::new(), postamble: Vec::new() }
    }

    /// Creates the preambles with which every submission to a graphics or compute ring should begin: an invalidation of all caches,
    /// after a wait for earlier shaders if the submission waits for something. On GFX6 a postamble waits for shaders and writes back
    /// L2, because the kernel's own write-back comes before the shaders have ended.
    ///
    /// A queue adds them to submissions that have no preambles of their own, unless
    /// [`QueueOptions::acquires`](crate::cs::QueueOptions::acquires) says otherwise; this function is for those that add state to
    /// them. A submission without them, whose lists do not begin with [`Stream::acquire`] either, may find old copies of what the
    /// CPU or another engine has written in L2: from GFX10 on the kernel only writes L2 back at the end of a job. To leave them
    /// out is right for lists that acquire themselves, and for those that read nothing that was written past L2.
    ///
    /// ```
    /// use amdgpu_winsys::cs::{Preambles, Stream, Submission};
    ///
    /// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
    /// # let context = amdgpu_winsys::winsys::Context::new(&device, amdgpu_winsys::winsys::Priority::Normal)?;
    /// # let queue = amdgpu_winsys::cs::Queue::new(&context, amdgpu_winsys::winsys::Ip::Gfx, 0)?;
    /// # let target = amdgpu_winsys::cs::pm4::Target::gfx(device.info().gfx_level);
    /// let list = Stream::new(&device, target, 64)?.finish()?;
    /// let state = || Stream::new(&device, target, 64)?.finish(); // would set registers
    /// let preambles = Preambles::acquire(&device, target)?.with_initial(state()?, state()?)?.with_further(state()?)?;
    /// let submission = Submission { lists: &[&list], preambles: Some(&preambles), ..Submission::default() };
    /// assert!(queue.submit(&submission)?.wait(amdgpu_winsys::winsys::Deadline::NEVER)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Source: Mesa 25.0.7 `src/amd/vulkan/radv_queue.c`, `radv_update_preamble_cs`.
    ///
    /// # Errors
    ///
    /// The errors of [`Stream::new`] and [`Stream::push`].
    pub fn acquire(device: &Device, target: pm4::Target) -> Result<Self> {
        let stream = || Stream::new(device, target, 64);
        let wait = |stream: &mut Stream<pm4::Target>| {
            if target.ring == Ring::Gfx {
                stream.push(&EventWrite::new(Event::PS_PARTIAL_FLUSH))?;
            }
            stream.push(&EventWrite::new(Event::CS_PARTIAL_FLUSH))
        };
        let acquire = |mut stream: Stream<pm4::Target>| {
            stream.acquire()?;
            stream.finish()
        };
        let mut waiting = stream()?;
        wait(&mut waiting)?;
        let mut all = Self::default();
        let plain = acquire(stream()?)?;
        add(&mut all.initial_full_flush, acquire(waiting)?)?;
        add(&mut all.further, plain.clone())?;
        add(&mut all.initial, plain)?;
        if target.level == GfxLevel::Gfx6 {
            let mut stream = stream()?;
            wait(&mut stream)?;
            if target.ring == Ring::Gfx {
                stream.push(&PfpSyncMe)?;
            }
            stream.push(&AcquireMem::all(target, CacheActions::WRITE_BACK_L2))?;
            add(&mut all.postamble, stream.finish()?)?;
        }
        Ok(all)
    }

    /// Returns `true` if there are no lists.
    #[inline]
    pub fn is_empty(&self) -> bool {
        let Self { initial_full_flush, initial, further, postamble } = self;
        initial_full_flush.is_empty() && initial.is_empty() && further.is_empty() && postamble.is_empty()
    }

    /// Adds lists that run first in a submission: `full_flush` if the submission waits for something, otherwise `plain`.
    ///
    /// # Errors
    ///
    /// [`NotOneIb::Ibs`] if a list has several IBs, [`NotOneIb::OtherRing`] if the lists are for different rings.
    pub fn with_initial(self, full_flush: CommandList, plain: CommandList) -> Result<Self, NotOneIb> {
        let mut all = self;
        all.check(&full_flush)?;
        all.initial_full_flush.push(full_flush);
        all.check(&plain)?;
        all.initial.push(plain);
        Ok(all)
    }

    /// Adds a list that runs first in each kernel submission after the first of a submission that is split.
    ///
    /// # Errors
    ///
    /// [`NotOneIb::Ibs`] if the list has several IBs, [`NotOneIb::OtherRing`] if it is for a different ring than the earlier lists.
    pub fn with_further(self, list: CommandList) -> Result<Self, NotOneIb> {
        let mut all = self;
        all.check(&list)?;
        all.further.push(list);
        Ok(all)
    }

    /// Adds a list that runs last in each kernel submission.
    ///
    /// # Errors
    ///
    /// [`NotOneIb::Ibs`] if the list has several IBs, [`NotOneIb::OtherRing`] if it is for a different ring than the earlier lists.
    pub fn with_postamble(self, list: CommandList) -> Result<Self, NotOneIb> {
        let mut all = self;
        all.check(&list)?;
        all.postamble.push(list);
        Ok(all)
    }

    fn check(&self, list: &CommandList) -> Result<(), NotOneIb> {
        let ibs = list.ibs().count();
        if ibs != 1 {
            return Err(NotOneIb::Ibs { ibs });
        }
        match self.lists().map(CommandList::target).find(|&others| others != list.target()) {
            Some(others) => Err(NotOneIb::OtherRing { target: list.target(), others }),
            None => Ok(()),
        }
    }

    /// Returns all lists: preambles first, then postambles.
    pub fn lists(&self) -> impl Iterator<Item = &CommandList> {
        [&self.initial_full_flush, &self.initial, &self.further, &self.postamble].into_iter().flatten()
    }

    /// Returns the lists that run first in kernel call number `part` of a submission, counted from 0. `waits` is `true` if the
    /// submission waits for something.
    pub fn before(&self, part: usize, waits: bool) -> &[CommandList] {
        match (part, waits) {
            (0, true) => &self.initial_full_flush,
            (0, false) => &self.initial,
            _ => &self.further,
        }
    }

    /// Returns the lists that run last in each kernel submission.
    pub fn after(&self) -> &[CommandList] {
        &self.postamble
    }

    /// Returns the maximum number of IBs that preambles and postambles add to one kernel call.
    pub fn most_ibs(&self) -> usize {
        let first = self.initial_full_flush.len().max(self.initial.len()).max(self.further.len());
        first + self.postamble.len()
    }
}

/// Adds a list, or returns an error if the process has no memory left.
fn add(lists: &mut Vec<CommandList>, list: CommandList) -> Result<()> {
    Ok(host_memory::push(lists, list).map_err(|error| error.of("the preambles of a queue"))?)
}
