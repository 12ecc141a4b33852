//! Semaphores, fences and events.

use std::time::Duration;

use ash::{prelude::VkResult, vk};

use super::{Gpu, handle_type::HandleType};

/// A semaphore, binary or with a timeline.
pub(crate) struct Semaphore<'g> {
    pub(super) gpu: &'g Gpu,
    pub(super) raw: vk::Semaphore,
}

/// A fence the CPU waits for.
pub(crate) struct Fence<'g> {
    pub(super) gpu: &'g Gpu,
    pub(super) raw: vk::Fence,
}

/// An event, set by a queue or by the CPU.
pub(crate) struct Event<'g> {
    gpu: &'g Gpu,
    pub(super) raw: vk::Event,
}

/// Nanoseconds, as far as they go.
fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

impl Gpu {
    /// A binary semaphore.
    ///
    /// # Errors
    ///
    /// The errors of vkCreateSemaphore.
    pub(crate) fn binary(&self, export: Option<HandleType>) -> VkResult<Semaphore<'_>> {
        self.semaphore(vk::SemaphoreType::BINARY, 0, export)
    }

    /// A timeline semaphore that stands at `start`.
    ///
    /// # Errors
    ///
    /// The errors of vkCreateSemaphore.
    pub(crate) fn timeline(&self, start: u64, export: Option<HandleType>) -> VkResult<Semaphore<'_>> {
        self.semaphore(vk::SemaphoreType::TIMELINE, start, export)
    }

    fn semaphore(&self, kind: vk::SemaphoreType, start: u64, export: Option<HandleType>) -> VkResult<Semaphore<'_>> {
        let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(kind).initial_value(start);
        let mut outside = vk::ExportSemaphoreCreateInfo::default();
        let mut info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
        if let Some(what) = export {
            outside.handle_types = what.semaphore();
            info = info.push_next(&mut outside);
        }
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows, no other call uses them at once and
        // what the call reads through pointers is local (the premises of `gpu`).
        let raw = unsafe { self.device.create_semaphore(&info, None) }?;
        Ok(Semaphore { gpu: self, raw })
    }

    /// Waits until all, or with `any` one, of the timelines have come to their values.
    ///
    /// # Errors
    ///
    /// `TIMEOUT`, or what vkWaitSemaphores answers.
    pub(crate) fn wait_timelines(&self, points: &[(&Semaphore<'_>, u64)], any: bool, time: Duration) -> VkResult<()> {
        let (raw, values): (Vec<_>, Vec<_>) = points.iter().map(|&(semaphore, value)| (semaphore.raw, value)).unzip();
        let flags = if any { vk::SemaphoreWaitFlags::ANY } else { vk::SemaphoreWaitFlags::empty() };
        let info = vk::SemaphoreWaitInfo::default().flags(flags).semaphores(&raw).values(&values);
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and what the call reads through
        // pointers is local (the premises of `gpu`).
        unsafe { self.device.wait_semaphores(&info, nanoseconds(time)) }
    }

    /// A fence that is not signalled.
    ///
    /// # Errors
    ///
    /// The errors of vkCreateFence.
    pub(crate) fn fence(&self, export: Option<HandleType>) -> VkResult<Fence<'_>> {
        let mut outside = vk::ExportFenceCreateInfo::default();
        let mut info = vk::FenceCreateInfo::default();
        if let Some(what) = export {
            outside.handle_types = what.fence();
            info = info.push_next(&mut outside);
        }
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows, no other call uses them at once and
        // what the call reads through pointers is local (the premises of `gpu`).
        let raw = unsafe { self.device.create_fence(&info, None) }?;
        Ok(Fence { gpu: self, raw })
    }

    /// Waits for all, or with `any` one, of the fences.
    ///
    /// # Errors
    ///
    /// `TIMEOUT`, or what vkWaitForFences answers.
    pub(crate) fn wait_fences(&self, fences: &[&Fence<'_>], any: bool, time: Duration) -> VkResult<()> {
        let raw: Vec<_> = fences.iter().map(|fence| fence.raw).collect();
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and what the call reads through
        // pointers is local (the premises of `gpu`).
        unsafe { self.device.wait_for_fences(&raw, !any, nanoseconds(time)) }
    }

    /// An event that is not set.
    ///
    /// # Errors
    ///
    /// The errors of vkCreateEvent.
    pub(crate) fn event(&self) -> VkResult<Event<'_>> {
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows, no other call uses them at once and
        // what the call reads through pointers is local (the premises of `gpu`).
        let raw = unsafe { self.device.create_event(&vk::EventCreateInfo::default(), None) }?;
        Ok(Event { gpu: self, raw })
    }
}

impl Semaphore<'_> {
    /// The value its timeline stands at.
    ///
    /// # Errors
    ///
    /// The errors of vkGetSemaphoreCounterValue.
    pub(crate) fn value(&self) -> VkResult<u64> {
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows (the premises of `gpu`).
        unsafe { self.gpu.device.get_semaphore_counter_value(self.raw) }
    }

    /// Moves its timeline to `value` by the CPU.
    ///
    /// # Errors
    ///
    /// The errors of vkSignalSemaphore.
    pub(crate) fn signal(&self, value: u64) -> VkResult<()> {
        let info = vk::SemaphoreSignalInfo::default().semaphore(self.raw).value(value);
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows, no other call uses them at once and
        // what the call reads through pointers is local (the premises of `gpu`).
        unsafe { self.gpu.device.signal_semaphore(&info) }
    }

    /// Waits until its timeline has come to `value`.
    ///
    /// # Errors
    ///
    /// `TIMEOUT`, or what vkWaitSemaphores answers.
    pub(crate) fn wait(&self, value: u64, time: Duration) -> VkResult<()> {
        self.gpu.wait_timelines(&[(self, value)], false, time)
    }
}

impl Fence<'_> {
    /// Waits for it.
    ///
    /// # Errors
    ///
    /// `TIMEOUT`, or what vkWaitForFences answers.
    pub(crate) fn wait(&self, time: Duration) -> VkResult<()> {
        self.gpu.wait_fences(&[self], false, time)
    }

    /// Returns `true` if it is signalled.
    ///
    /// # Errors
    ///
    /// The errors of vkGetFenceStatus.
    pub(crate) fn is_signalled(&self) -> VkResult<bool> {
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows (the premises of `gpu`).
        unsafe { self.gpu.device.get_fence_status(self.raw) }
    }

    /// Makes it unsignalled, or gives back what was imported for once.
    ///
    /// # Errors
    ///
    /// The errors of vkResetFences.
    pub(crate) fn reset(&self) -> VkResult<()> {
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and no other call uses them at once
        // (the premises of `gpu`); callers reset fences that were waited for, which no submission refers to any more.
        unsafe { self.gpu.device.reset_fences(&[self.raw]) }
    }
}

impl Event<'_> {
    /// Returns `true` if it is set.
    ///
    /// # Errors
    ///
    /// The errors of vkGetEventStatus.
    pub(crate) fn is_set(&self) -> VkResult<bool> {
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows (the premises of `gpu`).
        unsafe { self.gpu.device.get_event_status(self.raw) }
    }

    /// Sets it by the CPU.
    ///
    /// # Errors
    ///
    /// The errors of vkSetEvent.
    pub(crate) fn set(&self) -> VkResult<()> {
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and no other call uses them at once
        // (the premises of `gpu`).
        unsafe { self.gpu.device.set_event(self.raw) }
    }

    /// Unsets it by the CPU.
    ///
    /// # Errors
    ///
    /// The errors of vkResetEvent.
    pub(crate) fn reset(&self) -> VkResult<()> {
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and no other call uses them at once
        // (the premises of `gpu`).
        unsafe { self.gpu.device.reset_event(self.raw) }
    }
}

impl Drop for Semaphore<'_> {
    fn drop(&mut self) {
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows, no other call uses them at once and
        // the work that uses them has ended (the premises of `gpu`).
        unsafe { self.gpu.device.destroy_semaphore(self.raw, None) };
    }
}

impl Drop for Fence<'_> {
    fn drop(&mut self) {
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows, no other call uses them at once and
        // the work that uses them has ended (the premises of `gpu`).
        unsafe { self.gpu.device.destroy_fence(self.raw, None) };
    }
}

impl Drop for Event<'_> {
    fn drop(&mut self) {
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows, no other call uses them at once and
        // the work that uses them has ended (the premises of `gpu`).
        unsafe { self.gpu.device.destroy_event(self.raw, None) };
    }
}
