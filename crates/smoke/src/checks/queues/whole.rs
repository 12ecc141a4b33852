//! Nearly all of the GPU's memory at once, with the speed of it and the channel of a bad cell.
//!
//! The pattern is made once. Each chunk of memory gets it from another offset on, so that no two chunks hold the same bytes and
//! an address line that is stuck shows; then each gets its inverse, so that every bit was once set and once clear.

use std::{
    ops::Range,
    time::{Duration, Instant},
};

use amdgpu_winsys::{
    cs::{Queue, Submission},
    uapi::{GemCreateFlags, GemDomain, VaFlags},
    vamgr::{GpuVa, VaRequest},
    winsys::{Binding, Bo, BoRequest, Ip, PAGE_SIZE},
};

use crate::{
    checks::check::Check,
    gpu::{
        channel::{self, Channels},
        ring::Ring,
        test_context::{HostMemory, TestContext},
    },
    level::Level,
    result::{
        cells::Cells,
        evidence::Difference,
        outcome::{ErrorContext, Failure, Outcome, Stop, skip},
        tested::{Progress, Tested},
    },
};

pub(crate) const CHECKS: &[Check] =
    &[Check::once("memory.whole", "nine tenths of the free memory hold a pattern and its inverse", whole)
        .at(Level::Stress)
        .lasting(Duration::from_mins(30))
        .anchor("memtest_vulkan")];

/// Share of the free memory that is tested, percent.
const SHARE: u64 = 90;

/// Bytes of a BO, which one job writes or reads; the last one may have less.
const BLOCK: u64 = 16 << 20;

/// Bytes with a pattern of their own.
const CHUNK: u64 = channel::PAGE;

/// Bytes by which the patterns of two chunks that follow each other are apart.
const SHIFT: u64 = 64;

/// Bytes that are tested on a simulated GPU, whose memory is this machine's.
const SIMULATED: u64 = 64 << 20;

/// Cells that are named one by one.
const NAMED: usize = 8;

/// Memory under test, and the way in and out.
struct Field<'l> {
    test: &'l TestContext<'l>,
    ring: Ring,
    queue: Queue,
    blocks: Vec<Block>,
    /// The pattern, and behind it room for what is read back.
    way: HostMemory,
    /// Bytes of the pattern, a multiple of pages.
    pattern: u64,
}

/// Memory that one job writes or reads.
struct Block {
    binding: Binding,
    /// Number of its first chunk among all.
    first: u64,
}

/// Times of all jobs.
#[derive(Default)]
struct Times {
    writing: Duration,
    reading: Duration,
}

/// Bytes that did not hold their pattern.
#[derive(Default)]
struct Wrong {
    cells: Cells,
    /// Bits that differ in any of them.
    bits: u8,
    named: Vec<String>,
    first: Option<Difference>,
    channels: std::collections::BTreeMap<String, u64>,
}

fn whole(test: &TestContext<'_>) -> Outcome {
    let vram = test.device.memory_info().context("asking for the memory pools")?.vram;
    let free = vram.usable_heap_size.saturating_sub(vram.heap_usage);
    let share = u64::try_from(u128::from(free) * u128::from(SHARE) / 100).unwrap_or(u64::MAX);
    let most = if test.target.gpu().simulated { SIMULATED } else { u64::MAX };
    let wanted = test.settings.memory.unwrap_or(most).min(share);
    let field = Field::new(test, wanted)?;
    let bytes = field.blocks.iter().map(|block| block.binding.len()).sum();
    let mut wrong = Wrong::default();
    let mut times = Times::default();
    let patterns = [test.pattern(77, field.pattern as usize), test.pattern(77, field.pattern as usize)];
    let [upright, mut inverse] = patterns;
    for byte in &mut inverse {
        *byte = !*byte;
    }
    let total = 4 * bytes;
    for (pattern, done) in [(&upright, 0), (&inverse, 2 * bytes)] {
        field.pass(pattern, &mut times, &mut wrong, Progress { done, total })?;
    }
    let rate = |time: Duration| {
        let rate = u128::from(2 * bytes) * 1_000_000_000 / time.as_nanos().max(1);
        u64::try_from(rate).unwrap_or(u64::MAX)
    };
    let tested = Tested {
        bytes,
        free,
        patterns: 2,
        written_per_second: rate(times.writing),
        read_per_second: rate(times.reading),
    };
    test.tested(tested);
    wrong.judge(&tested)?;
    Ok(format!("{tested}, by {}", field.ring))
}

impl<'l> Field<'l> {
    fn new(test: &'l TestContext<'l>, wanted: u64) -> Result<Self, Stop> {
        let chunks = wanted / CHUNK;
        if chunks == 0 {
            return skip(format!("{wanted} bytes may be used, and {CHUNK} are needed"));
        }
        let pattern = (CHUNK + chunks * SHIFT).next_multiple_of(PAGE_SIZE);
        let way = test.host_memory(pattern + BLOCK)?;
        let mut blocks = Vec::new();
        for first in (0..chunks).step_by((BLOCK / CHUNK) as usize) {
            match vram(test, BLOCK.min((chunks - first) * CHUNK)) {
                Ok(binding) => blocks.push(Block { binding, first }),
                // Others have taken memory since it was counted: the result tells the share that was left.
                Err(_) if !blocks.is_empty() => break,
                Err(stop) => return Err(stop),
            }
        }
        let ring = test.ring_of(Ip::Sdma)?;
        Ok(Self { test, ring, queue: test.queue(ring)?, blocks, way, pattern })
    }

    /// Offsets of the chunks of a block in it, each with the bytes of the pattern that are its own.
    fn chunks(first: u64, len: u64) -> impl Iterator<Item = (u64, Range<u64>)> {
        (0..len / CHUNK).map(move |chunk| {
            let start = (first + chunk) * SHIFT;
            (chunk * CHUNK, start..start + CHUNK)
        })
    }

    /// Writes a pattern to all blocks, and then compares all of them.
    fn pass(&self, pattern: &[u8], times: &mut Times, wrong: &mut Wrong, mut progress: Progress) -> Result<(), Stop> {
        self.way.write(0, pattern)?;
        for Block { binding, first } in &self.blocks {
            times.writing += self.job(binding, |to_copy| {
                for (offset, source) in Self::chunks(*first, binding.len()) {
                    to_copy(offset, source.start, CHUNK, true);
                }
            })?;
            progress.done += binding.len();
            self.test.progress(progress);
        }
        for Block { binding, first } in &self.blocks {
            let back = self.pattern;
            times.reading += self.job(binding, |to_copy| to_copy(0, back, binding.len(), false))?;
            let found = self.way.read(back, binding.len() as usize)?;
            for (offset, source) in Self::chunks(*first, binding.len()) {
                let found = found.get(offset as usize..(offset + CHUNK) as usize).unwrap_or_default();
                let expected = pattern.get(source.start as usize..source.end as usize).unwrap_or_default();
                if found != expected {
                    wrong.add(self.test, binding, offset, found, expected);
                }
            }
            progress.done += binding.len();
            self.test.progress(progress);
        }
        Ok(())
    }

    /// Copies between a block and the host: offset in the block, offset on the host, bytes, and `true` for the way in.
    ///
    /// Returns the time from submission to end.
    fn job(&self, block: &Binding, copies: impl Fn(&mut dyn FnMut(u64, u64, u64, bool))) -> Result<Duration, Stop> {
        let mut pairs = Vec::new();
        copies(&mut |there, here, len, is_in| pairs.push((there, here, len, is_in)));
        let mut ends: Vec<(GpuVa, GpuVa, u64)> = Vec::with_capacity(pairs.len());
        for (there, here, len, is_in) in pairs {
            let here = self.way.at(here)?;
            let Some(there) = block.address().checked_add(there) else { continue };
            ends.push(if is_in { (there, here, len) } else { (here, there, len) });
        }
        let list = self.test.record(&self.queue, |recorder| {
            ends.iter().try_for_each(|&(to, from, len)| recorder.copy(to, from, len))
        })?;
        let memory = [self.way.memory().binding().clone(), block.clone()];
        let submission = Submission { lists: &[&list], memory: &memory, ..Submission::default() };
        let start = Instant::now();
        let fence = self.queue.submit(&submission).context("submitting")?;
        self.test.wait(&fence, || true)?;
        Ok(start.elapsed())
    }
}

/// Memory that has to be in VRAM when it is used.
fn vram(test: &TestContext<'_>, size: u64) -> Result<Binding, Stop> {
    let request = BoRequest { size, alignment: CHUNK, domains: GemDomain::VRAM, flags: GemCreateFlags::NO_CPU_ACCESS };
    let bo = Bo::create(&test.device, request).context("creating a BO in VRAM")?;
    let lease = test.device.addresses().allocate(VaRequest::new(size).aligned(CHUNK));
    let bound = Binding::new(&bo, lease.context("leasing addresses")?, VaFlags::READABLE | VaFlags::WRITEABLE);
    bound.map_err(|(_lease, error)| error).context("binding a block")
}

impl Wrong {
    /// Adds the bytes of a chunk that differ.
    fn add(&mut self, test: &TestContext<'_>, block: &Binding, offset: u64, found: &[u8], expected: &[u8]) {
        let channels = Channels::new(test.device.info());
        let differing = found.iter().zip(expected).zip(0_u64..).filter(|((found, expected), _)| found != expected);
        for ((&found, &expected), at) in differing {
            let place = channels.map(|channels| channels.place(offset + at));
            self.cells.add(offset + at, found ^ expected, place);
            self.bits |= found ^ expected;
            let channel = channels.map(|channels| channels.at(offset + at).to_string());
            if self.named.len() < NAMED
                && let Some(address) = block.address().checked_add(offset + at)
            {
                let bits = set_bits(found ^ expected);
                let channel = channel.as_ref().map(|channel| format!(", {channel}")).unwrap_or_default();
                self.named.push(format!("{address}: found {found:02x}, expected {expected:02x}, {bits}{channel}"));
            }
            if self.first.is_none() {
                let (offset, of) = (offset + at, block.len());
                let (found, expected) = (format!("{found:02x}"), format!("{expected:02x}"));
                self.first = Some(Difference { offset, of, bytes: 0, found, expected });
            }
            *self.channels.entry(channel.unwrap_or_default()).or_default() += 1;
        }
    }

    /// Fails if there are any, with what they have in common.
    fn judge(self, tested: &Tested) -> Result<(), Stop> {
        if self.cells.bytes == 0 {
            return Ok(());
        }
        let plural = if self.cells.bytes == 1 { "" } else { "s" };
        let place = match self.channels.keys().collect::<Vec<_>>().as_slice() {
            [only] if !only.is_empty() => format!(", all in {only}"),
            [] | [_] => String::new(),
            several => format!(", in {} channels", several.len()),
        };
        let (bytes, bits, named) = (self.cells.bytes, set_bits(self.bits), self.named.join("; "));
        let detail = format!("{bytes} wrong byte{plural}, {bits}{place}; {named}; {tested}");
        let difference = self.first.map(|first| Difference { bytes, ..first });
        Err(Stop::Fail(Box::new(Failure { detail, difference, cells: Some(self.cells), ..Failure::default() })))
    }
}

/// The bits that are set in a byte: `bit 3`, `bits 0 and 7`.
fn set_bits(byte: u8) -> String {
    let bits: Vec<_> = (0..8).filter(|bit| byte >> bit & 1 == 1).map(|bit| bit.to_string()).collect();
    match bits.split_last() {
        Some((last, [])) => format!("bit {last}"),
        Some((last, rest)) => format!("bits {} and {last}", rest.join(", ")),
        None => "no bit".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_listed() {
        for (byte, text) in [(0, "no bit"), (8, "bit 3"), (0x81, "bits 0 and 7"), (7, "bits 0, 1 and 2")] {
            assert_eq!(set_bits(byte), text);
        }
    }

    #[test]
    fn no_two_chunks_hold_the_same_part_of_the_pattern() {
        let parts = [(0, 2 * CHUNK), (2, 2 * CHUNK), (4, CHUNK)];
        let starts: Vec<_> = parts
            .into_iter()
            .flat_map(|(first, len)| Field::chunks(first, len))
            .map(|(_, source)| source.start)
            .collect();
        assert_eq!(starts, [0, 64, 128, 192, 256]);
    }
}
