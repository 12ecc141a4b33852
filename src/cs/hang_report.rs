//! What a GPU was doing when it stopped.

use std::fmt;

use super::{Breadcrumbs, CommandList, Progress, Queue, Target, pm4, sdma};
use crate::{
    vamgr::GpuVa,
    winsys::{AddressBook, Device, Error as WinsysError, Finding, Ip, PageFault},
};

/// Dwords shown in front of the last mark, and from it on.
const BEFORE: usize = 32;
const BEHIND: usize = 96;

/// What can be told about a GPU that hangs or has lost work: for each queue how far it came, the commands around that
/// place, and what the last page fault hit. Gathered after the fact; of submissions that are done nothing is kept.
///
/// ```
/// use std::sync::Arc;
/// use amdgpu_sim::{SimKernel, profile};
/// use amdgpu_winsys::{cs::{HangReport, Queue}, winsys::{Context, Device, Ip, Priority}};
///
/// let device = Device::new(SimKernel::open(profile("navi21").ok_or("no such chip")?))?;
/// let queue = Queue::new(&Arc::new(Context::new(&device, Priority::Normal)?), Ip::Gfx, 0)?;
/// let report = HangReport::new(&device, None).with_queue(&queue, None);
/// assert!(report.to_string().contains("all 0 submissions done"), "{report}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct HangReport {
    /// The last page fault of the device's file, which need not be the cause; `None` also where the driver does not tell.
    pub fault: Option<PageFault>,
    /// What is, or was, at the fault's address.
    pub hit: Option<Finding>,
    /// One for each queue that was asked about.
    pub queues: Vec<QueueTrace>,
}

/// How far a queue came.
#[derive(Clone, Debug)]
pub struct QueueTrace {
    /// The kernel's name of the context.
    pub context: u32,
    /// The IP.
    pub ip: Ip,
    /// The ring.
    pub ring: u32,
    /// The last submission that is done.
    pub done: u64,
    /// The last submission that the kernel took.
    pub submitted: u64,
    /// The marks of its breadcrumbs, if it has any.
    pub progress: Option<Progress>,
    /// Whether it still works.
    pub state: Result<(), WinsysError>,
    /// The commands where it stopped; nothing when it is idle.
    pub excerpt: Option<Excerpt>,
}

/// Part of an IB.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// The submission that it belongs to.
    pub sequence: u64,
    /// Who reads it.
    pub target: Target,
    /// Where the IB begins.
    pub ib: GpuVa,
    /// Which of its dwords comes first here: the start of a packet.
    pub first: usize,
    /// The dwords.
    pub dwords: Vec<u32>,
    /// The dword of the IB with which the packet begins that wrote the last mark; `None` when there is no such mark, and then
    /// this is the beginning of the submission's first IB.
    pub last_mark: Option<usize>,
}

/// Prints commands: a disassembler.
pub trait IbPrinter {
    /// Prints an excerpt, each line ended.
    ///
    /// # Errors
    ///
    /// Those of the formatter.
    fn print(&self, excerpt: &Excerpt, f: &mut fmt::Formatter<'_>) -> fmt::Result;
}

/// Prints the packets' names and their dwords: what [`HangReport`] is displayed with.
#[derive(Clone, Copy, Debug, Default)]
pub struct RawPrinter;

impl HangReport {
    /// A report about no queue yet. The book knows what the fault hit, if it is the device's observer.
    pub fn new(device: &Device, book: Option<&AddressBook>) -> Self {
        let fault = device.page_fault().ok().flatten();
        let hit = fault.zip(book).map(|(fault, book)| book.lookup(fault.page.as_u64()));
        Self { fault, hit, queues: Vec::new() }
    }

    /// With a queue, and the marks that its streams wrote.
    #[must_use]
    pub fn with_queue(mut self, queue: &Queue, breadcrumbs: Option<&Breadcrumbs>) -> Self {
        self.queues.push(QueueTrace::of(queue, breadcrumbs));
        self
    }

    /// The report with another disassembler.
    pub fn printed_by<'a>(&'a self, printer: &'a dyn IbPrinter) -> impl fmt::Display + 'a {
        Printed { report: self, printer }
    }
}

impl QueueTrace {
    fn of(queue: &Queue, breadcrumbs: Option<&Breadcrumbs>) -> Self {
        let shared = queue.shared();
        let state = shared.context.check(shared.ip, shared.ring);
        if let Err(error) = &state {
            shared.note_loss(error);
        }
        let done = shared.user_fence.value();
        let jobs = shared.jobs.lock();
        let stuck = jobs.stuck().filter(|job| job.sequence > done);
        Self {
            context: shared.context.id(),
            ip: shared.ip,
            ring: shared.ring,
            done,
            submitted: jobs.last(),
            progress: breadcrumbs.map(Breadcrumbs::progress),
            state,
            excerpt: stuck.and_then(|job| Excerpt::of(job.sequence, &job.lists, breadcrumbs)),
        }
    }
}

impl Excerpt {
    /// The place of the last mark, else the beginning.
    fn of(sequence: u64, lists: &[CommandList], breadcrumbs: Option<&Breadcrumbs>) -> Option<Self> {
        let cut = |list: &CommandList, ib: GpuVa, dwords: &[u32], last_mark: Option<usize>| {
            let packets = packets(list.target(), dwords);
            let wanted = last_mark.unwrap_or(0).saturating_sub(BEFORE);
            let first = packets.iter().copied().rfind(|&(offset, _)| offset <= wanted).map_or(0, |(offset, _)| offset);
            let end = dwords.len().min(last_mark.unwrap_or(0) + BEHIND);
            let dwords = dwords.get(first..end).unwrap_or_default().to_vec();
            Self { sequence, target: list.target(), ib, first, dwords, last_mark }
        };
        let ibs =
            || lists.iter().flat_map(|list| list.ibs().zip(list.dwords()).map(move |((va, _), ib)| (list, va, ib)));
        let marked = breadcrumbs.map(Breadcrumbs::last_mark).and_then(|(at, mark)| {
            ibs().find_map(|(list, va, ib)| Some(cut(list, va, ib, Some(store_of(list.target(), ib, at, mark)?))))
        });
        marked.or_else(|| ibs().next().map(|(list, va, ib)| cut(list, va, ib, None)))
    }
}

/// Where packets begin, and what they are called.
fn packets(target: Target, dwords: &[u32]) -> Vec<(usize, &'static str)> {
    match target {
        Target::Pm4(target) => pm4::decode(dwords, target)
            .map(|packet| {
                packet.map_or_else(|error| (error.offset, "?"), |packet| (packet.offset, packet.command.name()))
            })
            .collect(),
        Target::Sdma(version) => sdma::decode(dwords, version)
            .map(|packet| {
                packet.map_or_else(|error| (error.offset, "?"), |packet| (packet.offset, packet.command.name()))
            })
            .collect(),
    }
}

/// The packet that has both an address and a value in it. Some packets keep other fields in the upper half of the address.
fn store_of(target: Target, dwords: &[u32], at: GpuVa, value: u32) -> Option<usize> {
    let starts = packets(target, dwords);
    let ends = starts.iter().skip(1).map(|&(offset, _)| offset).chain([dwords.len()]);
    let mut ranges = starts.iter().map(|&(offset, _)| offset).zip(ends);
    let found = ranges.find(|&(start, end)| {
        let packet = dwords.get(start..end).unwrap_or_default();
        let has_address =
            |pair: &[u32]| matches!(pair, [low, high] if *low == at.low() && *high as u16 == at.high() as u16);
        packet.windows(2).any(has_address) && packet.contains(&value)
    });
    found.map(|(start, _)| start)
}

impl IbPrinter for RawPrinter {
    fn print(&self, excerpt: &Excerpt, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let starts = packets(excerpt.target, &excerpt.dwords);
        let ends = starts.iter().skip(1).map(|&(offset, _)| offset).chain([excerpt.dwords.len()]);
        for (&(start, name), end) in starts.iter().zip(ends) {
            let offset = excerpt.first + start;
            let arrow = if excerpt.last_mark == Some(offset) { "->" } else { "  " };
            write!(f, "    {arrow} {offset:5}: {name:<18}")?;
            for dword in excerpt.dwords.get(start..end).unwrap_or_default() {
                write!(f, " {dword:08x}")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

impl fmt::Display for HangReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.printed_by(&RawPrinter).fmt(f)
    }
}

struct Printed<'a> {
    report: &'a HangReport,
    printer: &'a dyn IbPrinter,
}

impl fmt::Display for Printed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.report.fault, &self.report.hit) {
            (None, _) => writeln!(f, "no page fault")?,
            (Some(fault), None) => writeln!(f, "last page fault at {} (status {:#x})", fault.page, fault.status)?,
            (Some(fault), Some(hit)) => {
                writeln!(f, "last page fault at {} (status {:#x}): {hit}", fault.page, fault.status)?;
            }
        }
        self.report.queues.iter().try_for_each(|queue| queue.print(self.printer, f))
    }
}

impl QueueTrace {
    fn print(&self, printer: &dyn IbPrinter, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ring {} of context {}: ", self.ip, self.ring, self.context)?;
        match &self.excerpt {
            None => writeln!(f, "all {} submissions done", self.done)?,
            Some(excerpt) => {
                writeln!(f, "stopped in submission {}, {} of {} done", excerpt.sequence, self.done, self.submitted)?;
            }
        }
        if let Err(error) = &self.state {
            writeln!(f, "  {error}")?;
        }
        if let Some(Progress { begun, done }) = self.progress {
            writeln!(f, "  mark {begun} begun, mark {done} done")?;
        }
        let Some(excerpt) = &self.excerpt else { return Ok(()) };
        let place = if excerpt.last_mark.is_some() { "around the last mark" } else { "from the beginning" };
        writeln!(f, "  IB at {}, {place}:", excerpt.ib)?;
        printer.print(excerpt, f)
    }
}
