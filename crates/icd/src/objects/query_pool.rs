//! Query pools.

use std::sync::Arc;

use amdgpu_winsys::{cs::commands::Span, vamgr::GpuVa};
use ash::vk;

use super::{Gpu, Memory};
use crate::border::Failure;

/// The size of a query in bytes: its value, followed by 1 if the value is available.
const STRIDE: u64 = 16;

/// A `VkQueryPool` of timestamps, in memory that CPU and GPU can access.
#[derive(Debug)]
pub(crate) struct QueryPool {
    memory: Memory,
    count: u32,
}

impl QueryPool {
    /// Creates a pool in which all queries are reset.
    ///
    /// # Errors
    ///
    /// The errors of the allocation.
    pub(crate) fn new(gpu: &Arc<Gpu>, count: u32) -> Result<Self, Failure> {
        let pool = Self { memory: Memory::internal(gpu, STRIDE * u64::from(count.max(1)))?, count };
        pool.reset(0, count)?;
        Ok(pool)
    }

    /// Returns the memory of the queries.
    #[cfg(test)]
    pub(crate) fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Checks that the pool has `count` queries starting at `first`, and returns the offset of the first one in bytes.
    fn offset(&self, first: u32, count: u32) -> Result<u64, Failure> {
        let fits = first.checked_add(count).is_some_and(|end| end <= self.count);
        if fits { Ok(STRIDE * u64::from(first)) } else { Err(Failure(vk::Result::ERROR_UNKNOWN)) }
    }

    /// Resets queries.
    ///
    /// # Errors
    ///
    /// `VK_ERROR_UNKNOWN` if the pool does not have the queries.
    pub(crate) fn reset(&self, first: u32, count: u32) -> Result<(), Failure> {
        let offset = self.offset(first, count)?;
        let mapping = self.memory.map()?;
        let words = (0..u64::from(count) * 2).map(|word| mapping.store_u64(offset + 8 * word, 0));
        Ok(words.collect::<Result<(), _>>()?)
    }

    /// Returns the value of a query; `None` if it is not available.
    ///
    /// # Errors
    ///
    /// `VK_ERROR_UNKNOWN` if the pool does not have the query.
    pub(crate) fn value(&self, query: u32) -> Result<Option<u64>, Failure> {
        let offset = self.offset(query, 1)?;
        let mapping = self.memory.map()?;
        let is_there = mapping.load_u64(offset + 8)? != 0;
        Ok(if is_there { Some(mapping.load_u64(offset)?) } else { None })
    }

    /// Returns the GPU addresses of a query's value and of its availability.
    ///
    /// # Errors
    ///
    /// `VK_ERROR_UNKNOWN` if the pool does not have the query.
    pub(crate) fn addresses(&self, query: u32) -> Result<(GpuVa, GpuVa), Failure> {
        let offset = self.offset(query, 1)?;
        let first = self.memory.address();
        let both = first.checked_add(offset).zip(first.checked_add(offset + 8));
        both.ok_or(Failure(vk::Result::ERROR_UNKNOWN))
    }

    /// Returns the memory of queries, for a command that resets them.
    ///
    /// # Errors
    ///
    /// `VK_ERROR_UNKNOWN` if the pool does not have the queries, or their number is 0.
    pub(crate) fn span(&self, first: u32, count: u32) -> Result<Span, Failure> {
        let (address, _) = self.addresses(first)?;
        self.offset(first, count)?;
        Span::new(address, STRIDE * u64::from(count)).map_err(|_| Failure(vk::Result::ERROR_UNKNOWN))
    }
}
