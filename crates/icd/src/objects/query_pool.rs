//! Query pools.

use std::sync::Arc;

use amdgpu_winsys::{cs::commands::Span, vamgr::GpuVa};
use ash::vk;

use super::{Gpu, Memory};
use crate::border::Failure;

/// Bytes of a query: its value and, behind it, 1 if that is there.
const STRIDE: u64 = 16;

/// A `VkQueryPool` of timestamps, in memory that CPU and GPU see.
#[derive(Debug)]
pub(crate) struct QueryPool {
    memory: Memory,
    count: u32,
}

impl QueryPool {
    /// Makes a pool of queries that are reset.
    ///
    /// # Errors
    ///
    /// Those of the allocation.
    pub(crate) fn new(gpu: &Arc<Gpu>, count: u32) -> Result<Self, Failure> {
        let pool = Self { memory: Memory::internal(gpu, STRIDE * u64::from(count.max(1)))?, count };
        pool.reset(0, count)?;
        Ok(pool)
    }

    /// Checks that the pool has `count` queries from `first` on, and returns the offset of the first.
    fn offset(&self, first: u32, count: u32) -> Result<u64, Failure> {
        let fits = first.checked_add(count).is_some_and(|end| end <= self.count);
        if fits { Ok(STRIDE * u64::from(first)) } else { Err(Failure(vk::Result::ERROR_UNKNOWN)) }
    }

    /// Resets queries.
    ///
    /// # Errors
    ///
    /// `VK_ERROR_UNKNOWN` for queries that there are not.
    pub(crate) fn reset(&self, first: u32, count: u32) -> Result<(), Failure> {
        let offset = self.offset(first, count)?;
        let memory = self.memory.memory.read();
        let mapping = memory.map()?;
        let words = (0..u64::from(count) * 2).map(|word| mapping.store_u64(offset + 8 * word, 0));
        Ok(words.collect::<Result<(), _>>()?)
    }

    /// Returns a query's value, if that is there.
    ///
    /// # Errors
    ///
    /// `VK_ERROR_UNKNOWN` for a query that there is not.
    pub(crate) fn value(&self, query: u32) -> Result<Option<u64>, Failure> {
        let offset = self.offset(query, 1)?;
        let memory = self.memory.memory.read();
        let mapping = memory.map()?;
        let is_there = mapping.load_u64(offset + 8)? != 0;
        Ok(if is_there { Some(mapping.load_u64(offset)?) } else { None })
    }

    /// Returns the addresses of a query's value and of the word that says it is there.
    ///
    /// # Errors
    ///
    /// `VK_ERROR_UNKNOWN` for a query that there is not.
    pub(crate) fn addresses(&self, query: u32) -> Result<(GpuVa, GpuVa), Failure> {
        let offset = self.offset(query, 1)?;
        let first = self.memory.memory.read().address();
        let both = first.checked_add(offset).zip(first.checked_add(offset + 8));
        both.ok_or(Failure(vk::Result::ERROR_UNKNOWN))
    }

    /// Returns the memory of queries, for a command that resets them.
    ///
    /// # Errors
    ///
    /// `VK_ERROR_UNKNOWN` for queries that there are not, and for none.
    pub(crate) fn span(&self, first: u32, count: u32) -> Result<Span, Failure> {
        let (address, _) = self.addresses(first)?;
        self.offset(first, count)?;
        Span::new(address, STRIDE * u64::from(count)).map_err(|_| Failure(vk::Result::ERROR_UNKNOWN))
    }
}
