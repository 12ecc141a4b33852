//! Text of excerpts in a hang report.

use std::fmt::{Formatter, Result};

use crate::cs::{
    Excerpt,
    dump::{Dump, Dumper},
};

/// A printer of the commands in an excerpt, such as a disassembler.
///
/// ```
/// use std::fmt;
/// use amdgpu_winsys::cs::{Excerpt, HangReport, IbPrinter};
///
/// struct Count;
/// impl IbPrinter for Count {
///     fn print(&self, excerpt: &Excerpt, f: &mut fmt::Formatter<'_>) -> fmt::Result {
///         writeln!(f, "{} dwords of submission {}", excerpt.dwords.len(), excerpt.sequence)
///     }
/// }
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
/// let report = HangReport::new(&device).with_queue(&queue, None);
/// assert!(report.printed_by(&Count).to_string().contains("dwords of submission 1"));
/// # memory.map()?.store_u32(0, 1)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait IbPrinter {
    /// Prints an excerpt. Every line, including the last, must end with a newline.
    ///
    /// # Errors
    ///
    /// The errors of the formatter.
    fn print(&self, excerpt: &Excerpt, f: &mut Formatter<'_>) -> Result;
}

/// Uses the memory and names of this dumper instead of those of the report.
impl IbPrinter for Dumper<'_> {
    fn print(&self, excerpt: &Excerpt, f: &mut Formatter<'_>) -> Result {
        let dumper = self.with_reader(excerpt.target);
        write(&dumper.dump_excerpt(&excerpt.dwords, excerpt.first, Some(excerpt.ib)), excerpt, f)
    }
}

/// Writes the dump of an excerpt, with arrows at the packets that wrote the marks.
pub(super) fn write(dump: &Dump, excerpt: &Excerpt, f: &mut Formatter<'_>) -> Result {
    for (index, ib) in dump.ibs.iter().enumerate() {
        write!(f, "    ")?;
        ib.write_title(f, index, dump)?;
        for packet in &ib.packets {
            let is_at = |mark: Option<usize>| index == 0 && mark == Some(packet.offset);
            let (arrow, remark) = match (is_at(excerpt.last_mark), is_at(excerpt.done_mark)) {
                (true, true) => ("=>", "  <== the last mark: everything before it is done"),
                (true, false) => ("->", "  <== the last mark that the ring came to"),
                (false, true) => ("=>", "  <== the last mark up to which everything is done"),
                (false, false) => ("  ", ""),
            };
            let text = packet.to_string();
            for (number, line) in text.lines().enumerate() {
                let (arrow, remark) = if number == 0 { (arrow, remark) } else { ("  ", "") };
                writeln!(f, "    {arrow}{}{remark}", line.strip_prefix("  ").unwrap_or(line))?;
            }
        }
    }
    Ok(())
}
