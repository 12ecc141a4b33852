//! Devices.

use std::{collections::BTreeMap, sync::Arc};

use amdgpu_winsys::{
    heaps::MemoryManager,
    winsys::{Deadline, FaultReport, PageFault},
};
use ash::vk;
use parking_lot::Mutex;

use super::{Family, Gpu, Program, Queue, Reports, queue::STEP};
use crate::border::{Failure, Handed};

/// A `VkDevice`: contexts and queues on the open file of its physical device.
pub(crate) struct Device {
    /// The GPU.
    pub(crate) gpu: Arc<Gpu>,
    /// The memory manager of the GPU, with the device's rule for allocations beyond the size of a heap.
    pub(crate) memory: MemoryManager,
    /// The queue families of the physical device.
    pub(crate) families: Vec<Family>,
    /// The queues that were requested when the device was created.
    pub(crate) queues: Vec<Handed<Queue>>,
    /// The enabled device extensions.
    pub(crate) extensions: Vec<&'static str>,
    /// `true` if memory types that the device does not cache are enabled.
    pub(crate) has_coherent_memory: bool,
    /// The faults that were reported.
    pub(crate) faults: Faults,
    /// The instance extensions and message callbacks of the program.
    pub(crate) program: Arc<Program>,
    /// The callbacks for memory. They are dropped last, because the queues free memory.
    pub(crate) reports: Arc<Reports>,
}

impl Device {
    /// Returns the queue with this family and index; `None` if it was not created.
    pub(crate) fn queue(&self, family: u32, index: u32) -> Option<&Handed<Queue>> {
        self.queues.iter().find(|queue| queue.place == (family, index))
    }

    /// Returns the family with this index.
    ///
    /// # Errors
    ///
    /// `VK_ERROR_UNKNOWN` if there is no such family.
    pub(crate) fn family(&self, index: u32) -> Result<Family, Failure> {
        let family = usize::try_from(index).ok().and_then(|index| self.families.get(index));
        family.copied().ok_or(Failure(vk::Result::ERROR_UNKNOWN))
    }

    /// Checks that no queue has lost work.
    ///
    /// # Errors
    ///
    /// `VK_ERROR_DEVICE_LOST` if work of a queue was lost.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        self.queues.iter().try_for_each(|queue| queue.check())
    }

    /// Returns `true` if a fence or semaphore has signalled and no work was lost. `wait` waits for the signal until a deadline.
    ///
    /// The wait is divided into steps, between which the device is checked for lost work, because the signals of a submission that
    /// could not be made never occur.
    ///
    /// # Errors
    ///
    /// The errors of `wait`; `VK_ERROR_DEVICE_LOST` if work was lost.
    pub(crate) fn wait(
        &self,
        until: Deadline,
        wait: impl Fn(Deadline) -> Result<bool, Failure>,
    ) -> Result<bool, Failure> {
        loop {
            let step = until.min(Deadline::after(STEP));
            if wait(step)? {
                self.check()?;
                return Ok(true);
            }
            self.queues.iter().try_for_each(|queue| queue.check_held().map(|_is_held| ()))?;
            if step == until {
                return Ok(false);
            }
        }
    }
}

/// News that was not reported to the program yet.
#[derive(Debug)]
pub(crate) enum News {
    /// A page fault.
    Fault(Box<FaultReport>),
    /// The device is lost.
    Loss,
}

/// The page faults of a device that were reported to the program.
#[derive(Debug)]
pub(crate) struct Faults {
    /// `true` if faults that do not lose the device are reported.
    are_masked_reported: bool,
    reported: Mutex<Reported>,
}

#[derive(Debug, Default)]
struct Reported {
    /// The last fault that was reported, or was there before the device.
    last: Option<PageFault>,
    has_loss: bool,
    /// The number of reports.
    count: u64,
}

impl Faults {
    /// Returns the faults of a new device. A fault from before is none of it.
    pub(crate) fn new(gpu: &Gpu, are_masked_reported: bool) -> Self {
        let last = gpu.device.page_fault().ok().flatten();
        Self { are_masked_reported, reported: Mutex::new(Reported { last, ..Reported::default() }) }
    }

    /// Calls `give` with the news, if there is any, and their number. `give` returns its result, and `true` if the program has the
    /// news now, so that they are not reported again.
    ///
    /// # Errors
    ///
    /// The errors of the kernel.
    pub(crate) fn notify<R>(
        &self,
        device: &Device,
        give: impl FnOnce(News, u64) -> (R, bool),
    ) -> Result<Option<R>, Failure> {
        let mut reported = self.reported.lock();
        let is_lost = device.check().is_err();
        let fault = device.gpu.watch.fault_report(&device.gpu.device)?;
        let fault = fault.filter(|fault| reported.last != Some(fault.fault) && (self.are_masked_reported || is_lost));
        let (news, last, is_loss) = match fault {
            Some(fault) => {
                let last = Some(fault.fault);
                (News::Fault(Box::new(fault)), last, reported.has_loss)
            }
            None if is_lost && !reported.has_loss => (News::Loss, reported.last, true),
            None => return Ok(None),
        };
        let (result, has_it) = give(news, reported.count);
        if has_it {
            *reported = Reported { last, has_loss: is_loss, count: reported.count + 1 };
        }
        Ok(Some(result))
    }
}

/// A `VkPrivateDataSlot`: a number for each object for which one was set.
#[derive(Debug, Default)]
pub(crate) struct PrivateSlot(pub(crate) Mutex<BTreeMap<(i32, u64), u64>>);
