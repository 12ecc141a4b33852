//! Sparse buffers.

use std::{ops::Range, time::Duration};

use super::{check::Check, copies::pattern};
use crate::{
    gpu::{Bind, Buffer, Gpu, Lane, Memory, MemoryPlace, Order, QueueKind},
    outcome::{ErrorContext, Outcome, Stop, same_bytes, skip},
};

/// Long enough for a bind.
const SOON: Duration = Duration::from_secs(20);

pub(super) const CHECKS: &[Check] = &[
    Check::once("sparse.bind", "pages bound crosswise lead to the memory behind them", crosswise),
    Check::once("sparse.rebind", "a page bound anew leads elsewhere, and the old memory keeps its bytes", rebind),
    Check::once("sparse.absent", "unbound pages read as zero and swallow writes", absent),
];

/// A sparse buffer of a few pages, and as much memory to bind.
struct Pages<'g> {
    gpu: &'g Gpu,
    lane: &'g Lane,
    binder: &'g Lane,
    sparse: Buffer<'g>,
    memory: Memory<'g>,
    page: u64,
}

/// Bytes written to a page.
const LEN: u64 = 1000;

impl<'g> Pages<'g> {
    fn new(gpu: &'g Gpu, pages: u64) -> Result<Self, Stop> {
        if gpu.features().sparse_residency_buffer == 0 {
            return skip("no sparse residency of buffers");
        }
        let (binder, lane) = (gpu.need(QueueKind::Sparse)?, gpu.need(QueueKind::Graphics)?);
        let page = gpu.sparse_buffer(65536).context("make a sparse buffer")?.requirements().alignment.max(4096);
        let sparse = gpu.sparse_buffer(page * pages).context("make a sparse buffer")?;
        let kind = gpu.memory_type(sparse.requirements().memory_type_bits, MemoryPlace::Host);
        let Some(kind) = kind else { return skip("no memory the CPU sees may back sparse buffers") };
        let memory = gpu.allocate(page * pages, kind, crate::gpu::Source::Fresh).context("allocate")?;
        Ok(Self { gpu, lane, binder, sparse, memory, page })
    }

    fn part(&self, page: u64) -> Range<u64> {
        page * self.page..(page + 1) * self.page
    }

    /// Puts memory page `to` (or nothing) behind buffer page `page`.
    fn bind(&self, pages: &[(u64, Option<u64>)]) -> Result<(), Stop> {
        let binds: Vec<_> = pages
            .iter()
            .map(|&(page, to)| Bind { part: self.part(page), memory: to.map(|to| (&self.memory, to * self.page)) })
            .collect();
        let fence = self.gpu.bind(self.binder, &self.sparse, &binds).context("bind")?;
        fence.wait(SOON).context("wait for the bind")
    }

    /// Lets the queue write into a page of the buffer.
    fn write(&self, page: u64, bytes: &[u8]) -> Result<(), Stop> {
        let work = self.gpu.submit(self.lane, &Order::free(), |record| {
            record.update(&self.sparse, page * self.page, bytes);
            record.barrier();
        });
        work.context("submit")?.finish().context("finish a write")
    }

    /// Lets the queue read from a page of the buffer.
    fn read(&self, page: u64) -> Result<Vec<u8>, Stop> {
        let target = self.gpu.buffer(LEN, MemoryPlace::Host).context("make a buffer")?;
        target.memory().write(0, &[0xcc; LEN as usize]);
        let work = self.gpu.submit(self.lane, &Order::free(), |record| {
            record.copy((&self.sparse, page * self.page), (&target, 0), LEN);
            record.barrier();
        });
        work.context("submit")?.finish().context("finish a read")?;
        Ok(target.memory().read(0, LEN as usize))
    }

    fn behind(&self, page: u64) -> Vec<u8> {
        self.memory.read(page * self.page, LEN as usize)
    }
}

fn bytes(seed: u8) -> Vec<u8> {
    pattern(LEN as usize, seed)
}

fn crosswise(gpu: &Gpu) -> Outcome {
    let pages = Pages::new(gpu, 4)?;
    pages.bind(&[(0, Some(3)), (1, Some(2)), (2, Some(1)), (3, Some(0))])?;
    for page in 0..4 {
        pages.write(page, &bytes(page as u8))?;
    }
    for page in 0..4 {
        same_bytes(&format!("memory behind page {page}"), &pages.behind(3 - page), &bytes(page as u8))?;
        same_bytes(&format!("page {page}"), &pages.read(page)?, &bytes(page as u8))?;
    }
    pages.bind(&[(0, None), (1, None), (2, None), (3, None)])?;
    Ok(format!("4 pages of {} bytes", pages.page))
}

fn rebind(gpu: &Gpu) -> Outcome {
    let pages = Pages::new(gpu, 2)?;
    pages.bind(&[(0, Some(0))])?;
    pages.write(0, &bytes(1))?;
    pages.bind(&[(0, Some(1))])?;
    pages.write(0, &bytes(2))?;
    same_bytes("the first memory", &pages.behind(0), &bytes(1))?;
    same_bytes("the second memory", &pages.behind(1), &bytes(2))?;
    pages.bind(&[(0, Some(0))])?;
    same_bytes("the page, led back", &pages.read(0)?, &bytes(1))?;
    pages.bind(&[(0, None)])?;
    Ok("there and back".into())
}

fn absent(gpu: &Gpu) -> Outcome {
    if gpu.properties.sparse_properties.residency_non_resident_strict == 0 {
        return skip("no strict rule about unbound pages");
    }
    let pages = Pages::new(gpu, 2)?;
    pages.bind(&[(0, Some(0)), (1, Some(1))])?;
    pages.write(0, &bytes(1))?;
    pages.write(1, &bytes(2))?;
    pages.bind(&[(0, None)])?;
    same_bytes("an unbound page", &pages.read(0)?, &[0; LEN as usize])?;
    pages.write(0, &bytes(3))?;
    same_bytes("an unbound page that was written to", &pages.read(0)?, &[0; LEN as usize])?;
    same_bytes("its former memory", &pages.behind(0), &bytes(1))?;
    same_bytes("the page beside it", &pages.read(1)?, &bytes(2))?;
    pages.bind(&[(1, None)])?;
    Ok("zero, and not disturbed".into())
}
