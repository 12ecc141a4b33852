//! Patterns over much of the GPU's memory, as memory testers march them: what one cell does to another shows.
//!
//! The patterns are those of memtest86 and of AMD's validation suite: walking ones, each cell its own address, moving
//! inversions and every twentieth cell.

use std::cell::Cell;

use amdgpu_winsys::{heaps::DeviceMemory, uapi::HeapInfo, winsys::Ip};

use crate::{
    checks::check::Check,
    gpu::{
        ring::Ring,
        test_context::{HostMemory, TestContext},
    },
    level::Level,
    result::{
        outcome::{Outcome, Stop, same_bytes, skip},
        tested::Progress,
    },
};

pub(crate) const CHECKS: &[Check] = &[
    Check::once("march.walking", "each bit of each dword can be the only one set, and the only one clear", walking)
        .at(Level::Stress)
        .anchor("rvs mem@walking-1"),
    Check::once("march.address", "each dword of memory is a cell of its own: it holds its own address", address)
        .at(Level::Stress)
        .anchor("rvs mem@own-address"),
    Check::once("march.inversions", "a pattern and its inverse replace each other, upwards and downwards", inversions)
        .at(Level::Stress)
        .anchor("rvs mem@moving-inversions"),
    Check::once("march.modulo", "every twentieth dword keeps its value when all others are written twice", modulo)
        .at(Level::Stress)
        .anchor("rvs mem@modulo-20"),
];

/// The memory is taken in blocks, so that no single allocation has to be found in one piece.
const BLOCK: u64 = 16 << 20;

/// Bytes that the host writes and compares at a time.
const CHUNK: u64 = 2 << 20;

/// Memory under test, and the way in and out.
struct Field<'l> {
    test: &'l TestContext<'l>,
    ring: Ring,
    blocks: Vec<DeviceMemory>,
    block: u64,
    way: HostMemory,
    /// Bytes that were copied, of those that will be.
    copied: Cell<Progress>,
}

impl<'l> Field<'l> {
    /// Takes the memory; each byte of it is going to be copied this many times.
    fn new(test: &'l TestContext<'l>, copies: u64) -> Result<Self, Stop> {
        let ceiling = test.ceiling();
        let block = BLOCK.min(ceiling / CHUNK * CHUNK);
        let count = ceiling.checked_div(block).unwrap_or(0);
        if count == 0 {
            return skip(format!("{ceiling} bytes may be used, and {CHUNK} are needed"));
        }
        let blocks = (0..count).map(|_| test.device_memory(block)).collect::<Result<Vec<_>, _>>()?;
        for (block, index) in blocks.iter().zip(0..) {
            test.name(block, &format!("block {index}"));
        }
        let (ring, way) = (test.ring_of(Ip::Sdma)?, test.host_memory(CHUNK)?);
        let copied = Cell::new(Progress { done: 0, total: copies * count * block });
        Ok(Self { test, ring, blocks, block, way, copied })
    }

    fn chunks(&self) -> impl DoubleEndedIterator<Item = (usize, u64)> + use<> {
        let (blocks, per_block) = (self.blocks.len(), self.block / CHUNK);
        (0..blocks).flat_map(move |block| (0..per_block).map(move |chunk| (block, chunk * CHUNK)))
    }

    /// Writes a chunk; `cell` gives the dword with each number of the whole field.
    fn write(&self, at: (usize, u64), cell: impl Fn(u64) -> u32) -> Result<(), Stop> {
        self.way.write(0, &self.bytes(at, cell))?;
        self.copy(at, true)
    }

    /// Compares a chunk.
    fn compare(&self, at: (usize, u64), cell: impl Fn(u64) -> u32) -> Result<(), Stop> {
        self.copy(at, false)?;
        let found = self.way.read(0, CHUNK as usize)?;
        same_bytes(&found, &self.bytes(at, cell))
            .map_err(|stop| stop.of(format_args!("block {}, from byte {:#x} on", at.0, at.1)))
    }

    fn bytes(&self, (block, offset): (usize, u64), cell: impl Fn(u64) -> u32) -> Vec<u8> {
        let first = (block as u64 * self.block + offset) / 4;
        (first..first + CHUNK / 4).flat_map(|index| cell(index).to_le_bytes()).collect()
    }

    fn copy(&self, (block, offset): (usize, u64), is_in: bool) -> Result<(), Stop> {
        let Some(memory) = self.blocks.get(block) else { return Ok(()) };
        let (here, there) = (self.way.at(0)?, memory.address().checked_add(offset));
        let Some(there) = there else { return Ok(()) };
        let (to, from) = if is_in { (there, here) } else { (here, there) };
        self.test.run(self.ring, &[self.way.memory(), memory], || true, |recorder| recorder.copy(to, from, CHUNK))?;
        let Progress { done, total } = self.copied.get();
        self.copied.set(Progress { done: done + CHUNK, total });
        self.test.progress(self.copied.get());
        Ok(())
    }

    /// Writes everything, and then compares everything.
    fn round(&self, cell: impl Fn(u64) -> u32) -> Result<(), Stop> {
        self.chunks().try_for_each(|at| self.write(at, &cell))?;
        self.chunks().try_for_each(|at| self.compare(at, &cell))
    }

    fn summary(&self, rounds: u32) -> String {
        let bytes = self.blocks.len() as u64 * self.block;
        let share = self.test.device.memory_info().ok().and_then(|memory| {
            let HeapInfo { usable_heap_size: usable, heap_usage: used, .. } = memory.vram;
            // What is in use now includes the blocks.
            let free = usable.saturating_sub(used).saturating_add(bytes);
            (bytes * 100).checked_div(free)
        });
        let text = |percent: u64| if percent == 0 { "less than 1".to_owned() } else { percent.to_string() };
        let share = share.map(|percent| format!(" ({} % of the free VRAM)", text(percent))).unwrap_or_default();
        format!("{rounds} rounds over {} MiB{share} by {}", bytes >> 20, self.ring)
    }
}

fn walking(test: &TestContext<'_>) -> Outcome {
    let field = Field::new(test, 4)?;
    let shift = test.settings.seed % 32;
    let one = |index: u64| 1_u32.rotate_left((index % 32) as u32 + shift);
    field.round(one).map_err(|stop| stop.of("walking ones"))?;
    field.round(|index| !one(index)).map_err(|stop| stop.of("walking zeroes"))?;
    Ok(field.summary(2))
}

fn address(test: &TestContext<'_>) -> Outcome {
    let field = Field::new(test, 4)?;
    let own = |index: u64| (index as u32) ^ ((index >> 32) as u32).rotate_left(16);
    field.round(own)?;
    field.round(|index| !own(index)).map_err(|stop| stop.of("inverted"))?;
    Ok(field.summary(2))
}

fn inversions(test: &TestContext<'_>) -> Outcome {
    let field = Field::new(test, 5)?;
    let pattern = 0xa5a5_5a5a ^ test.settings.seed;
    field.chunks().try_for_each(|at| field.write(at, |_| pattern))?;
    for at in field.chunks() {
        field.compare(at, |_| pattern).map_err(|stop| stop.of("upwards"))?;
        field.write(at, |_| !pattern)?;
    }
    for at in field.chunks().rev() {
        field.compare(at, |_| !pattern).map_err(|stop| stop.of("downwards"))?;
        field.write(at, |_| pattern)?;
    }
    Ok(field.summary(3))
}

fn modulo(test: &TestContext<'_>) -> Outcome {
    const EVERY: u64 = 20;
    let field = Field::new(test, 9)?;
    let kept = 0x2020_0202 ^ test.settings.seed;
    let offsets = [0, 7, u64::from(test.settings.seed) % EVERY];
    for offset in offsets {
        let cell = |others: u32| move |index: u64| if index % EVERY == offset { kept } else { others };
        field.chunks().try_for_each(|at| field.write(at, cell(kept)))?;
        field.round(cell(!kept)).map_err(|stop| stop.of(format_args!("every {EVERY}th from {offset}")))?;
    }
    Ok(field.summary(offsets.len() as u32))
}
