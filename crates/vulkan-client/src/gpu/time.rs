//! Timestamps, clocks and budgets.

use ash::{prelude::VkResult, vk};

use super::Gpu;

/// Slots for timestamps.
pub(crate) struct Timestamps<'g> {
    gpu: &'g Gpu,
    pub(super) raw: vk::QueryPool,
    pub(super) count: u32,
}

/// The kernel's figures about the heaps.
pub(crate) struct Budget {
    /// Bytes of each heap this process uses.
    pub(crate) usage: Vec<u64>,
    /// Bytes of each heap it may use.
    pub(crate) budget: Vec<u64>,
}

impl Gpu {
    /// Slots, all reset.
    ///
    /// # Errors
    ///
    /// The errors of vkCreateQueryPool.
    pub(crate) fn timestamps(&self, count: u32) -> VkResult<Timestamps<'_>> {
        let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(count);
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and what the call reads through
        // pointers is local (the premises of `gpu`).
        let raw = unsafe { self.device.create_query_pool(&info, None) }?;
        let stamps = Timestamps { gpu: self, raw, count };
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and no other call uses them at once
        // (the premises of `gpu`); host query reset is enabled, and no command uses the new pool.
        unsafe { self.device.reset_query_pool(raw, 0, count) };
        Ok(stamps)
    }

    /// The device's clock (ticks) and the kernel's monotonic clock (nanoseconds), read together, and how far apart at most
    /// (nanoseconds); `None` without VK_EXT_calibrated_timestamps.
    ///
    /// # Errors
    ///
    /// The errors of vkGetCalibratedTimestampsEXT.
    pub(crate) fn clocks(&self) -> VkResult<Option<([u64; 2], u64)>> {
        let Some(functions) = &self.extensions.clocks else { return Ok(None) };
        let domains = [vk::TimeDomainKHR::DEVICE, vk::TimeDomainKHR::CLOCK_MONOTONIC];
        let infos = domains.map(|domain| vk::CalibratedTimestampInfoKHR::default().time_domain(domain));
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and what the call reads through
        // pointers is local (the premises of `gpu`); both domains are among those Linux drivers of the extension offer.
        let (times, apart) = unsafe { functions.get_calibrated_timestamps(&infos) }?;
        Ok(<[u64; 2]>::try_from(times).ok().map(|times| (times, apart)))
    }

    /// Usage and budget of the heaps; `None` without VK_EXT_memory_budget.
    pub(crate) fn budget(&self) -> Option<Budget> {
        if !self.extensions.budget {
            return None;
        }
        let mut budget = vk::PhysicalDeviceMemoryBudgetPropertiesEXT::default();
        let mut properties = vk::PhysicalDeviceMemoryProperties2::default().push_next(&mut budget);
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and what the call reads through
        // pointers is local (the premises of `gpu`).
        unsafe { self.instance.get_physical_device_memory_properties2(self.physical, &mut properties) };
        let heaps = properties.memory_properties.memory_heap_count as usize;
        let first = |all: &[u64]| all.iter().copied().take(heaps).collect();
        Some(Budget { usage: first(&budget.heap_usage), budget: first(&budget.heap_budget) })
    }

    /// The memory types (a bit each) that pages of this process can become; `None` without
    /// VK_EXT_external_memory_host.
    ///
    /// # Errors
    ///
    /// The errors of vkGetMemoryHostPointerPropertiesEXT.
    pub(crate) fn host_pages(&self, pages: &[u8]) -> VkResult<Option<u32>> {
        let device = self.device.handle();
        let Some(functions) = &self.extensions.host else { return Ok(None) };
        let what = vk::ExternalMemoryHandleTypeFlags::HOST_ALLOCATION_EXT;
        let mut found = vk::MemoryHostPointerPropertiesEXT::default();
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and what the call reads through
        // pointers is local (the premises of `gpu`); the pages are borrowed.
        unsafe {
            (functions.fp().get_memory_host_pointer_properties_ext)(device, what, pages.as_ptr().cast(), &raw mut found)
        }
        .result()?;
        Ok(Some(found.memory_type_bits))
    }

    /// `minImportedHostPointerAlignment`, in bytes.
    pub(crate) fn host_alignment(&self) -> u64 {
        let mut host = vk::PhysicalDeviceExternalMemoryHostPropertiesEXT::default();
        let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut host);
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and what the call reads through
        // pointers is local (the premises of `gpu`).
        unsafe { self.instance.get_physical_device_properties2(self.physical, &mut properties) };
        host.min_imported_host_pointer_alignment
    }
}

impl Timestamps<'_> {
    /// All slots, whose commands have ended.
    ///
    /// # Errors
    ///
    /// `NOT_READY` if a slot was not written, or what vkGetQueryPoolResults answers.
    pub(crate) fn read(&self) -> VkResult<Vec<u64>> {
        self.read_first(self.count)
    }

    /// The first `count` slots, whose commands have ended.
    ///
    /// # Errors
    ///
    /// Those of [`read`](Self::read).
    ///
    /// # Panics
    ///
    /// If there are fewer slots.
    pub(crate) fn read_first(&self, count: u32) -> VkResult<Vec<u64>> {
        assert!(count <= self.count, "a check reads outside of its timestamps");
        let mut values = vec![0_u64; count as usize];
        let flags = vk::QueryResultFlags::TYPE_64;
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and what the call reads through
        // pointers is local (the premises of `gpu`); one 64-bit value a slot.
        unsafe { self.gpu.device.get_query_pool_results(self.raw, 0, &mut values, flags) }?;
        Ok(values)
    }
}

impl Drop for Timestamps<'_> {
    fn drop(&mut self) {
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows, no other call uses them at once and
        // the work that uses them has ended (the premises of `gpu`).
        unsafe { self.gpu.device.destroy_query_pool(self.raw, None) };
    }
}
