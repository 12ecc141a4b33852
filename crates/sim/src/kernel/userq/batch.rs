//! A batch of a user queue: the packets between the read pointer and the write pointer.

use std::{
    cell::{Cell, RefCell},
    time::{Duration, Instant},
};

use amdgpu_hw::GpuVa;
use amdgpu_packets::Target;
use zerocopy::IntoBytes as _;

use super::{
    discipline::Discipline,
    shared::QueueState,
    stream::{Item, Wrong, first},
    view::{Overlay, as_fetch},
};
use crate::gpu::{self, Client, Engine, Environment, FaultSource, Ib, Memory as _, PageFault, Place, Stop};

/// The number of bytes of a ring that are processed at once: more than the longest packet.
const WINDOW: u64 = 8 << 20;
/// The shortest time that a wait sleeps between two polls of memory.
const SOONEST: Duration = Duration::from_micros(50);
const LATEST: Duration = Duration::from_millis(1);

/// The reason why a queue hangs.
#[derive(Debug, thiserror::Error)]
pub(super) enum Halt {
    /// The write pointer is ahead by more than the size of the ring, or inside a dword.
    #[error(
        "the write pointer {write:#x} does not follow the read pointer {read:#x} in a ring of {ring_bytes:#x} bytes"
    )]
    Pointer {
        /// The write pointer.
        write: u64,
        /// The read pointer.
        read: u64,
        /// Bytes of the ring.
        ring_bytes: u64,
    },
    /// The ring is not mapped.
    #[error("fetching the ring failed: {0}")]
    Fetch(PageFault),
    /// The ring contains an invalid packet.
    #[error("dword {offset:#x} of the ring: {source}")]
    Ring {
        /// The offset of the packet from the start of the ring in dwords.
        offset: u64,
        /// The error of the packet.
        source: Wrong,
    },
    /// The ring waits for a fence that is not signalled in time.
    #[error("gave up waiting for {value:#x} at {va}")]
    GaveUp {
        /// The address of the fence.
        va: GpuVa,
        /// The value that signals the fence.
        value: u64,
    },
    /// The engine stopped.
    #[error(transparent)]
    Engine(#[from] Stop),
}

impl Halt {
    /// Returns the failed fetch, if that is the reason.
    pub(super) const fn fetch(&self) -> Option<PageFault> {
        match *self {
            Self::Fetch(fault) | Self::Engine(Stop::Fetch { fault, .. }) => Some(fault),
            _ => None,
        }
    }
}

/// A batch that is being executed.
pub(super) struct Batch<'b> {
    queue: &'b QueueState,
    target: Target,
    /// The read pointer at the start of the batch, in the units of the ring: dwords for PM4, bytes for copy engines.
    read: u64,
    /// The duration of the next sleep in a wait.
    pause: Cell<Duration>,
    discipline: RefCell<Discipline>,
}

impl<'b> Batch<'b> {
    pub(super) fn new(queue: &'b QueueState, target: Target, read: u64) -> Self {
        Self { queue, target, read, pause: Cell::new(SOONEST), discipline: RefCell::default() }
    }

    /// Executes the ring up to a write pointer.
    pub(super) fn run(&self, engine: &mut Engine, write: u64) -> Result<(), Halt> {
        let ring_bytes = self.queue.parts.ring_bytes;
        let distance = write.wrapping_sub(self.read).checked_mul(self.unit());
        let distance = distance.filter(|&bytes| bytes <= ring_bytes && bytes.is_multiple_of(4));
        let distance = distance.ok_or(Halt::Pointer { write, read: self.read, ring_bytes })?;
        let mut done = 0;
        while done < distance {
            done += self.window(engine, done, distance - done)?;
        }
        self.queue.publish(write);
        Ok(())
    }

    /// Returns the size of a step of the pointers in bytes.
    const fn unit(&self) -> u64 {
        match self.target {
            Target::Pm4(_) => 4,
            Target::Sdma(_) => 1,
        }
    }

    /// Returns the address of a byte of the batch, and the number of bytes from there to the end of the ring.
    fn place(&self, done: u64) -> (GpuVa, u64) {
        let parts = &self.queue.parts;
        let offset = self.read.wrapping_mul(self.unit()).wrapping_add(done) & (parts.ring_bytes - 1);
        (GpuVa::from_48_bits(parts.ring_va.wrapping_add(offset)), parts.ring_bytes - offset)
    }

    /// Executes whole packets from a byte of the batch on, and returns their size in bytes.
    fn window(&self, engine: &mut Engine, done: u64, left: u64) -> Result<u64, Halt> {
        let mut dwords = vec![0_u32; (left.min(WINDOW) / 4) as usize];
        let (va, to_end) = self.place(done);
        let bytes = dwords.as_mut_bytes();
        let (before, behind) = bytes.split_at_mut(bytes.len().min(usize::try_from(to_end).unwrap_or(usize::MAX)));
        self.fetch(va, before)?;
        self.fetch(GpuVa::from_48_bits(self.queue.parts.ring_va), behind)?;
        let mut used = 0;
        while used < dwords.len() {
            let place = done + 4 * used as u64;
            let wrong = |source| Halt::Ring { offset: self.read.wrapping_mul(self.unit() / 4) + place / 4, source };
            let rest = &dwords[used..];
            let (item, len) = match first(rest, self.target) {
                Err(Wrong::Cut { .. }) if used > 0 && left > WINDOW => break,
                found => found.map_err(wrong)?,
            };
            self.check(&item, rest);
            used += match item {
                Item::Plain => self.plain(engine, place, rest)?,
                item => {
                    self.item(engine, item, place + 4 * len as u64)?;
                    len
                }
            };
        }
        Ok(4 * used as u64)
    }

    fn fetch(&self, va: GpuVa, out: &mut [u8]) -> Result<(), Halt> {
        self.queue.parts.view.read(va, out).map_err(|fault| Halt::Fetch(as_fetch(fault)))
    }

    /// Executes a packet that only rings have. `end` is the byte of the batch at which it ends.
    fn item(&self, engine: &mut Engine, item: Item<'_>, end: u64) -> Result<(), Halt> {
        match item {
            Item::Ib(ib) => {
                let env = self.environment(&self.queue.parts.view);
                if ib.dwords > 0 { Ok(engine.run(ib, &env)?) } else { Ok(()) }
            }
            Item::Fence => {
                let reached = self.read.wrapping_add(end / self.unit());
                self.queue.publish(reached);
                self.queue.parts.slot.write(reached);
                Ok(())
            }
            Item::Wait(pairs) => pairs.chunks_exact(4).try_for_each(|pair| self.wait(pair)),
            Item::HdpFlush | Item::Plain => Ok(()),
        }
    }

    /// Executes the packets that are the same as in an IB, up to the next other packet, and returns their size in dwords.
    fn plain(&self, engine: &mut Engine, place: u64, rest: &[u32]) -> Result<usize, Halt> {
        let mut len = 0;
        while let Some((Item::Plain, more)) =
            rest.get(len..).filter(|rest| !rest.is_empty()).map(|rest| first(rest, self.target)).and_then(Result::ok)
        {
            self.check(&Item::Plain, &rest[len..len + more]);
            len += more;
        }
        let (va, _) = self.place(place);
        let overlay = Overlay { view: &self.queue.parts.view, va, dwords: &rest[..len] };
        engine.run(Ib { va, dwords: len as u32 }, &self.environment(&overlay))?;
        Ok(len)
    }

    /// Reports what is missing before a packet, in the strict mode.
    fn check(&self, item: &Item<'_>, dwords: &[u32]) {
        let Some(caches) = self.queue.board.caches() else { return };
        if let Some((packet, missing)) = self.discipline.borrow_mut().check(item, dwords, self.target) {
            caches.report_ring(&format!("{packet} in the ring of a user queue, {}", self.target), missing);
        }
    }

    fn environment<'e>(&'e self, memory: &'e dyn gpu::Memory) -> Environment<'e> {
        Environment {
            memory,
            clock: &self.queue.board.clock,
            job: self,
            shaders: &self.queue.board.shaders,
            observer: None,
        }
    }

    /// Waits until a fence has signalled. Four dwords contain its address and value.
    fn wait(&self, pair: &[u32]) -> Result<(), Halt> {
        let qword = |at: usize| u64::from(pair[at]) | u64::from(pair[at + 1]) << 32;
        let (va, value) = (GpuVa::from_48_bits(qword(0) & !7), qword(2));
        loop {
            let found = self.queue.parts.view.read_u64(va).map_err(Halt::Fetch)?;
            if found >= value {
                return Ok(());
            }
            if !gpu::Job::keep_waiting(self) {
                return Err(Halt::GaveUp { va, value });
            }
        }
    }
}

impl gpu::Job for Batch<'_> {
    fn keep_waiting(&self) -> bool {
        let pause = self.pause.get();
        self.pause.set((pause * 2).min(LATEST));
        std::thread::sleep(pause);
        !gpu::Job::is_cancelled(self)
    }

    fn fault(&self, fault: PageFault, place: Place) {
        let source = FaultSource { client: Client::Packet, is_atomic: false, is_readable: false };
        self.fault_by(fault, source, place);
    }

    fn fault_by(&self, fault: PageFault, source: FaultSource, place: Place) {
        self.queue.parts.faults.record(fault, source, place.target);
        self.queue.board.complaints.report(format!("{place}: {fault}"));
    }

    fn hung(&self, reason: &str) {
        self.queue.board.complaints.report(reason.to_owned());
    }

    fn is_cancelled(&self) -> bool {
        self.queue.is_over() || self.queue.has_lost_vram() || self.queue.is_overdue(Instant::now())
    }
}
