//! Decoded code that outlives a dispatch.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use super::{
    page::{Page, SOURCE_BYTES},
    wave_config::WaveConfig,
};

/// The maximum number of pages that are kept. With its instructions a page takes about 30 KiB.
const MOST_KEPT: usize = 512;

/// A cache of decoded code for all dispatches and draws of a GPU, so that a program is decoded once for an upload and not once for each
/// dispatch and thread.
///
/// A page of code is compared with memory, byte by byte, when a thread of a dispatch first comes to it. Code that a dispatch writes
/// itself takes effect as without the cache after `s_icache_inv`, and at the latest with the next dispatch.
///
/// The cache is bounded, and is emptied when it is full. It is shared through [`Memory::code_cache`](crate::Memory::code_cache).
#[derive(Default)]
pub struct CodeCache {
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    /// The pages by configuration and page number: several if processes have different code at an address, or threads the same.
    pages: HashMap<(WaveConfig, u64), Vec<Box<Page>>>,
    count: usize,
}

impl std::fmt::Debug for CodeCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CodeCache").finish_non_exhaustive()
    }
}

impl CodeCache {
    /// Removes the page that was decoded from these bytes at an address, and returns it.
    pub(super) fn take(&self, config: WaveConfig, number: u64, source: &[u8; SOURCE_BYTES]) -> Option<Box<Page>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let pages = kept.pages.get_mut(&(config, number))?;
        let place = pages.iter().position(|page| page.is_of(source))?;
        let page = pages.swap_remove(place);
        if pages.is_empty() {
            kept.pages.remove(&(config, number));
        }
        kept.count -= 1;
        Some(page)
    }

    /// Keeps a page for later dispatches.
    pub(super) fn keep(&self, config: WaveConfig, number: u64, page: Box<Page>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.count >= MOST_KEPT {
            kept.pages.clear();
            kept.count = 0;
        }
        kept.pages.entry((config, number)).or_default().push(page);
        kept.count += 1;
    }
}
