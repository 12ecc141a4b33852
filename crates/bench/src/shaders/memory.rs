//! Memory of shaders.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use amdgpu_isa::builder::Program;
use amdgpu_waves::{Access, CodeCache, Memory, PageFault};

use super::{DATA, DWORDS, PAGE_DWORDS, PROGRAM, SPREAD};

/// Memory behind a table of pages: a page's number leads to its place, which is another.
#[derive(Debug)]
pub struct Paged {
    program: Vec<u8>,
    table: Vec<u32>,
    dwords: Vec<AtomicU32>,
}

impl Paged {
    /// Returns memory with a program and the data of all rows.
    pub fn new(program: &Program) -> Self {
        let pages = DWORDS / PAGE_DWORDS;
        Self {
            program: program.words().iter().flat_map(|word| word.to_le_bytes()).collect(),
            // Odd times the number, modulo a power of two, is every page once.
            table: (0..pages).map(|page| page.wrapping_mul(613) % pages).collect(),
            dwords: (0..DWORDS).map(|index| AtomicU32::new(index.wrapping_mul(SPREAD))).collect(),
        }
    }

    /// Returns the dword at an address.
    pub fn dword(&self, va: u64) -> Option<&AtomicU32> {
        let index = va.checked_sub(DATA)? / 4;
        let page = self.table.get(usize::try_from(index / u64::from(PAGE_DWORDS)).ok()?)?;
        let place = u64::from(page * PAGE_DWORDS) + index % u64::from(PAGE_DWORDS);
        self.dwords.get(usize::try_from(place).ok()?)
    }

    /// Returns the dwords from an address to the end of its page.
    fn rest_of_page(&self, va: u64) -> Option<&[AtomicU32]> {
        let index = va.checked_sub(DATA)? / 4;
        let page = self.table.get(usize::try_from(index / u64::from(PAGE_DWORDS)).ok()?)?;
        let start = (page * PAGE_DWORDS) as usize;
        let within = (index % u64::from(PAGE_DWORDS)) as usize;
        self.dwords.get(start + within..start + PAGE_DWORDS as usize)
    }

    /// Visits the dwords of the lanes in a mask. Returns the fault of the lowest lane that has none.
    fn each(
        &self,
        addresses: &[u64; 64],
        lanes: u64,
        access: Access,
        mut visit: impl FnMut(usize, Option<&AtomicU32>),
    ) -> Result<(), PageFault> {
        let mut result = Ok(());
        let mut one = |lane: usize| {
            let found = self.dword(addresses[lane]);
            visit(lane, found);
            if found.is_none() {
                result = result.and(Err(PageFault { va: addresses[lane], access }));
            }
        };
        if lanes == u64::MAX {
            // Without a search for the next lane, as the simulator's memory does.
            (0..64).for_each(one);
            return result;
        }
        let mut rest = lanes;
        while rest != 0 {
            one(rest.trailing_zeros() as usize % 64);
            rest &= rest - 1;
        }
        result
    }
}

impl Memory for Paged {
    fn load(&self, va: u64, out: &mut [u8]) -> Result<(), PageFault> {
        for (at, bytes) in (va..).step_by(4).zip(out.chunks_mut(4)) {
            let dword = self.dword(at).ok_or(PageFault { va: at, access: Access::Load })?;
            bytes.copy_from_slice(&dword.load(Ordering::Relaxed).to_le_bytes()[..bytes.len()]);
        }
        Ok(())
    }

    fn store(&self, va: u64, data: &[u8]) -> Result<(), PageFault> {
        for (at, bytes) in (va..).step_by(4).zip(data.as_chunks::<4>().0) {
            let dword = self.dword(at).ok_or(PageFault { va: at, access: Access::Store })?;
            dword.store(u32::from_le_bytes(*bytes), Ordering::Relaxed);
        }
        Ok(())
    }

    fn atomic(&self, va: u64, _: u8, _: &mut dyn FnMut(u64) -> u64) -> Result<u64, PageFault> {
        Err(PageFault { va, access: Access::Store })
    }

    fn load_lanes(&self, addresses: &[u64; 64], lanes: u64, out: &mut [u32; 64]) -> Result<(), PageFault> {
        self.each(addresses, lanes, Access::Load, |lane, found| {
            out[lane] = found.map_or(0, |dword| dword.load(Ordering::Relaxed));
        })
    }

    fn store_lanes(&self, addresses: &[u64; 64], lanes: u64, data: &[u32; 64]) -> Result<(), PageFault> {
        self.each(addresses, lanes, Access::Store, |lane, found| {
            if let Some(dword) = found {
                dword.store(data[lane], Ordering::Relaxed);
            }
        })
    }

    fn load_row(&self, va: u64, out: &mut [u32]) -> Result<(), PageFault> {
        let mut at = va;
        let mut rest = out;
        while !rest.is_empty() {
            let page = self.rest_of_page(at).ok_or(PageFault { va: at, access: Access::Load })?;
            let (now, later) = rest.split_at_mut(page.len().min(rest.len()));
            for (to, dword) in now.iter_mut().zip(page) {
                *to = dword.load(Ordering::Relaxed);
            }
            at += 4 * now.len() as u64;
            rest = later;
        }
        Ok(())
    }

    fn store_row(&self, va: u64, data: &[u32]) -> Result<(), PageFault> {
        let mut at = va;
        let mut rest = data;
        while !rest.is_empty() {
            let page = self.rest_of_page(at).ok_or(PageFault { va: at, access: Access::Store })?;
            let (now, later) = rest.split_at(page.len().min(rest.len()));
            for (value, dword) in now.iter().zip(page) {
                dword.store(*value, Ordering::Relaxed);
            }
            at += 4 * now.len() as u64;
            rest = later;
        }
        Ok(())
    }

    fn fetch(&self, va: u64, out: &mut [u8]) -> Result<(), PageFault> {
        let fault = PageFault { va, access: Access::Fetch };
        let start = va.checked_sub(PROGRAM).and_then(|start| usize::try_from(start).ok()).ok_or(fault)?;
        out.copy_from_slice(self.program.get(start..start + out.len()).ok_or(fault)?);
        Ok(())
    }
}

/// Memory of a job that may be cancelled, and whose dispatches may share decoded code.
#[derive(Debug)]
pub struct JobMemory {
    memory: Paged,
    is_cancelled: AtomicBool,
    code: Option<CodeCache>,
}

impl JobMemory {
    /// Returns memory with a program, the data of all rows, and a cache of code if there is one.
    pub fn new(program: &Program, code: Option<CodeCache>) -> Self {
        Self { memory: Paged::new(program), is_cancelled: AtomicBool::new(false), code }
    }
}

impl Memory for JobMemory {
    fn load(&self, va: u64, out: &mut [u8]) -> Result<(), PageFault> {
        self.memory.load(va, out)
    }

    fn store(&self, va: u64, data: &[u8]) -> Result<(), PageFault> {
        self.memory.store(va, data)
    }

    fn atomic(&self, va: u64, bytes: u8, change: &mut dyn FnMut(u64) -> u64) -> Result<u64, PageFault> {
        self.memory.atomic(va, bytes, change)
    }

    fn fetch(&self, va: u64, out: &mut [u8]) -> Result<(), PageFault> {
        self.memory.fetch(va, out)
    }

    fn load_row(&self, va: u64, out: &mut [u32]) -> Result<(), PageFault> {
        self.memory.load_row(va, out)
    }

    fn is_stopped(&self) -> bool {
        self.is_cancelled.load(Ordering::Acquire)
    }

    fn code_cache(&self) -> Option<&CodeCache> {
        self.code.as_ref()
    }
}
