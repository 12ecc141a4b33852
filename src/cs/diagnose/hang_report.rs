//! Reports of hung or lost GPU work.

use std::fmt;

use super::excerpt_text;
use crate::{
    cs::{
        Breadcrumbs, Excerpt, Fence, IbPrinter, Progress, Queue, layout,
        submit::{in_flight::Unfinished, state::QueueState},
    },
    winsys::{Device, Error as WinsysError, FaultReport, Ip, PageFault},
};

/// A report on a GPU that hangs or has lost work. It contains the progress of each queue, the decoded commands at that point, the
/// registers set before by name, and the object that the last page fault hit. The data are gathered when the report is made;
/// nothing is kept for finished submissions.
///
/// If the device's observer is or contains a [`VaMap`](crate::winsys::VaMap), addresses are shown as the objects at them, and the
/// page fault is explained.
///
/// ```
/// use std::sync::Arc;
/// use amdgpu_sim::{SimKernel, profile};
/// use amdgpu_winsys::{cs::{HangReport, Queue}, winsys::{Context, Device, Ip, Priority}};
///
/// let device = Device::new(SimKernel::open(profile("navi21").ok_or("no such chip")?))?;
/// let queue = Queue::new(&Context::new(&device, Priority::Normal)?, Ip::Gfx, 0)?;
/// let report = HangReport::new(&device).with_queue(&queue, None);
/// assert!(report.to_string().contains("all 0 submissions done"), "{report}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct HangReport {
    /// The last page fault of the device's file, which need not be the cause. `None` without a fault, and if the driver does not
    /// report faults.
    pub fault: Option<PageFault>,
    /// The explanation of the fault; `None` without a VA map.
    pub explained: Option<FaultReport>,
    /// The traces of the queues that were added.
    pub queues: Vec<QueueTrace>,
}

/// The progress of a queue in a [`HangReport`].
///
/// ```
/// use amdgpu_winsys::cs::HangReport;
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// # let readback = manager.properties().type_for(amdgpu_winsys::heaps::MemoryUsage::Readback).ok_or("no such type")?;
/// # let memory = manager.allocate(&amdgpu_winsys::heaps::AllocateInfo::new(readback, 4096))?;
/// # let context = amdgpu_winsys::winsys::Context::new(&device, amdgpu_winsys::winsys::Priority::Normal)?;
/// # let queue = amdgpu_winsys::cs::Queue::new(&context, amdgpu_winsys::winsys::Ip::Gfx, 0)?;
/// # let target = amdgpu_winsys::cs::pm4::Target::gfx(device.info().gfx_level);
/// # let mut stream = amdgpu_winsys::cs::Stream::new(&device, target, 64)?;
/// # stream.push(&amdgpu_winsys::cs::pm4::WaitRegMem::new(memory.address(), amdgpu_winsys::cs::pm4::Compare::Equal, 1))?;
/// # let (waits, used) = (stream.finish()?, [memory.binding().clone()]);
/// # let fence = queue.submit(&amdgpu_winsys::cs::Submission { lists: &[&waits], memory: &used, ..Default::default() })?;
/// // The queue waits for a dword that is not written yet.
/// let report = HangReport::new(&device).with_queue(&queue, None);
/// let trace = &report.queues[0];
/// assert_eq!((trace.done, trace.submitted, trace.state.is_ok()), (0, 1, true));
/// memory.map()?.store_u32(0, 1)?;
/// assert!(fence.wait(amdgpu_winsys::winsys::Deadline::NEVER)?);
/// let report = HangReport::new(&device).with_queue(&queue, None);
/// assert!(report.queues[0].done == 1 && report.queues[0].excerpt.is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct QueueTrace {
    /// The kernel's ID of the context.
    pub context: u32,
    /// The IP of the queue.
    pub ip: Ip,
    /// The ring index of the queue.
    pub ring: u32,
    /// Sequence number of the last completed submission.
    pub done: u64,
    /// Sequence number of the last submission that the kernel accepted.
    pub submitted: u64,
    /// The marks of the breadcrumbs, if some were given.
    pub progress: Option<Progress>,
    /// `Ok` if the queue works, otherwise the loss.
    pub state: Result<(), WinsysError>,
    /// The commands at which the queue stopped. `None` if it is idle, or if the submission did not [keep](crate::cs::Keep) its
    /// lists.
    pub excerpt: Option<Excerpt>,
}

/// A printer that writes packets with their fields, in the format of [`Dumper`](crate::cs::dump::Dumper). The `Display` of
/// [`HangReport`] uses it.
///
/// ```
/// use amdgpu_winsys::cs::{DecodedPrinter, HangReport};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// # let readback = manager.properties().type_for(amdgpu_winsys::heaps::MemoryUsage::Readback).ok_or("no such type")?;
/// # let memory = manager.allocate(&amdgpu_winsys::heaps::AllocateInfo::new(readback, 4096))?;
/// # let context = amdgpu_winsys::winsys::Context::new(&device, amdgpu_winsys::winsys::Priority::Normal)?;
/// # let queue = amdgpu_winsys::cs::Queue::new(&context, amdgpu_winsys::winsys::Ip::Gfx, 0)?;
/// # let target = amdgpu_winsys::cs::pm4::Target::gfx(device.info().gfx_level);
/// # let mut stream = amdgpu_winsys::cs::Stream::new(&device, target, 64)?;
/// # stream.push(&amdgpu_winsys::cs::pm4::WaitRegMem::new(memory.address(), amdgpu_winsys::cs::pm4::Compare::Equal, 1))?;
/// # let (waits, used) = (stream.finish()?, [memory.binding().clone()]);
/// # let fence = queue.submit(&amdgpu_winsys::cs::Submission { lists: &[&waits], memory: &used, ..Default::default() })?;
/// // The queue waits for a dword that is not written yet.
/// let report = HangReport::new(&device).with_queue(&queue, None);
/// let text = report.printed_by(&DecodedPrinter).to_string();
/// assert_eq!(text, report.to_string());
/// assert!(text.contains("equal"), "{text}"); // the meaning of a field
/// # memory.map()?.store_u32(0, 1)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct DecodedPrinter;

/// A printer that writes one line for each packet: its name and its dwords.
///
/// ```
/// use amdgpu_winsys::cs::{HangReport, RawPrinter};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// # let readback = manager.properties().type_for(amdgpu_winsys::heaps::MemoryUsage::Readback).ok_or("no such type")?;
/// # let memory = manager.allocate(&amdgpu_winsys::heaps::AllocateInfo::new(readback, 4096))?;
/// # let context = amdgpu_winsys::winsys::Context::new(&device, amdgpu_winsys::winsys::Priority::Normal)?;
/// # let queue = amdgpu_winsys::cs::Queue::new(&context, amdgpu_winsys::winsys::Ip::Gfx, 0)?;
/// # let target = amdgpu_winsys::cs::pm4::Target::gfx(device.info().gfx_level);
/// # let mut stream = amdgpu_winsys::cs::Stream::new(&device, target, 64)?;
/// # stream.push(&amdgpu_winsys::cs::pm4::WaitRegMem::new(memory.address(), amdgpu_winsys::cs::pm4::Compare::Equal, 1))?;
/// # let (waits, used) = (stream.finish()?, [memory.binding().clone()]);
/// # let fence = queue.submit(&amdgpu_winsys::cs::Submission { lists: &[&waits], memory: &used, ..Default::default() })?;
/// // The queue waits for a dword that is not written yet.
/// let report = HangReport::new(&device).with_queue(&queue, None);
/// let text = report.printed_by(&RawPrinter).to_string();
/// assert!(text.contains("WAIT_REG_MEM") && !text.contains("equal"), "{text}"); // the name, but no fields
/// # memory.map()?.store_u32(0, 1)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct RawPrinter;

impl HangReport {
    /// Creates a report without queues. It contains the last page fault of the device, if there was one.
    pub fn new(device: &Device) -> Self {
        let fault = device.page_fault().ok().flatten();
        let explained = fault
            .zip(device.va_map())
            .map(|(fault, map)| FaultReport::new(fault, device.info().gfx_level, map, device.history()));
        Self { fault, explained, queues: Vec::new() }
    }

    /// Adds a queue and, with `breadcrumbs`, the marks that its streams wrote.
    #[must_use]
    pub fn with_queue(mut self, queue: &Queue, breadcrumbs: Option<&Breadcrumbs>) -> Self {
        self.queues.push(QueueTrace::of(queue.state(), breadcrumbs));
        self
    }

    /// Adds the queue of a fence and, with `breadcrumbs`, the marks that its streams wrote.
    #[must_use]
    pub fn with_fence(mut self, fence: &Fence, breadcrumbs: Option<&Breadcrumbs>) -> Self {
        self.queues.push(QueueTrace::of(fence.state(), breadcrumbs));
        self
    }

    /// Returns a view of the report whose `Display` uses another printer for the commands.
    pub fn printed_by<'a>(&'a self, printer: &'a dyn IbPrinter) -> impl fmt::Display + 'a {
        Printed { report: self, printer }
    }
}

impl QueueTrace {
    fn of(queue: &QueueState, breadcrumbs: Option<&Breadcrumbs>) -> Self {
        let state = queue.check();
        let done = queue.user_fence.value();
        let unfinished = queue.in_flight.first_unfinished(done);
        Self {
            context: queue.context.id(),
            ip: queue.ip,
            ring: queue.ring,
            done,
            submitted: queue.in_flight.last(),
            progress: breadcrumbs.map(Breadcrumbs::progress),
            state,
            excerpt: unfinished.and_then(|Unfinished { sequence, lists }| {
                let map = queue.device().va_map();
                Excerpt::of(queue.target, sequence, &lists, breadcrumbs, map)
            }),
        }
    }
}

impl IbPrinter for DecodedPrinter {
    fn print(&self, excerpt: &Excerpt, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        excerpt_text::write(&excerpt.decoded, excerpt, f)
    }
}

impl IbPrinter for RawPrinter {
    fn print(&self, excerpt: &Excerpt, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for packet in layout::packets(&excerpt.dwords, excerpt.target) {
            let offset = excerpt.first + packet.offset;
            let arrow = if excerpt.last_mark == Some(offset) { "->" } else { "  " };
            let name = packet.content.map_or("?", |content| content.map_or("NOP", |fields| fields.name()));
            write!(f, "    {arrow} {offset:5}: {name:<18}")?;
            packet.dwords.iter().try_for_each(|dword| write!(f, " {dword:08x}"))?;
            writeln!(f)?;
        }
        Ok(())
    }
}

impl fmt::Display for HangReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.printed_by(&DecodedPrinter).fmt(f)
    }
}

struct Printed<'a> {
    report: &'a HangReport,
    printer: &'a dyn IbPrinter,
}

impl fmt::Display for Printed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.report.fault, &self.report.explained) {
            (None, _) => writeln!(f, "no page fault")?,
            (Some(_), Some(explained)) => writeln!(f, "last {explained}")?,
            (Some(fault), None) => writeln!(f, "last page fault at {} (status {:#x})", fault.page, fault.status)?,
        }
        self.report.queues.iter().try_for_each(|queue| queue.print(self.printer, f))
    }
}

impl QueueTrace {
    fn print(&self, printer: &dyn IbPrinter, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ring {} of context {}: ", self.ip, self.ring, self.context)?;
        match &self.excerpt {
            None if self.done < self.submitted => {
                writeln!(f, "{} of {} submissions done, no commands known", self.done, self.submitted)?;
            }
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
        let place = match (excerpt.last_mark, excerpt.done_mark) {
            (Some(_), Some(_)) => "around the last marks",
            (Some(_), None) => "around the last mark",
            (None, _) => "from the beginning",
        };
        writeln!(f, "  IB at {}, {place}:", excerpt.ib)?;
        printer.print(excerpt, f)?;
        if !excerpt.registers.is_empty() {
            writeln!(f, "  registers set before the last mark:")?;
        }
        excerpt.registers.iter().try_for_each(|register| writeln!(f, "    {register}"))
    }
}
