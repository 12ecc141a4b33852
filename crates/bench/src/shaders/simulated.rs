//! A dispatch on a simulated chip.

use std::{error::Error, time::Duration};

use amdgpu_descriptors::view::BufferView;
use amdgpu_isa::builder::Program;
use amdgpu_sim::{LockupTimeout, SimDevice, SimOptions, profile};
use amdgpu_waves::Dispatch;
use amdgpu_winsys::{
    cs::{CommandList, Queue, Stream, Submission, Target, pm4, registers::SetRegisters},
    heaps::{AllocateInfo, DeviceMemory, MemoryManager, TableOptions},
    winsys::{Context, Deadline, Device, Ip, Priority},
};

use super::DWORDS;

/// The chip, of the generation that is measured.
const CHIP: &str = "navi21";
/// The offset of the data.
const DATA: u64 = 1 << 20;
/// The longest time of a dispatch.
const LIMIT: Duration = Duration::from_mins(5);

/// A dispatch of the library on a simulated chip, in process: with the page tables, the residency and the job of a submission.
#[derive(Debug)]
pub struct Simulated {
    queue: Queue,
    list: CommandList,
    buffer: DeviceMemory,
}

impl Simulated {
    /// Records a dispatch of a program whose first user registers are a buffer of all data. One thread executes it.
    ///
    /// # Errors
    ///
    /// What keeps the device or the memory from being made.
    pub fn new(program: &Program, dispatch: &Dispatch) -> Result<Self, Box<dyn Error>> {
        let lockup_timeout = LockupTimeout::all(LIMIT);
        let options = SimOptions { lockup_timeout, shader_threads: 1, ..SimOptions::default() };
        let device = Device::new(SimDevice::new(profile(CHIP).ok_or("no such chip")?, options).open())?;
        let manager = MemoryManager::new(&device, &TableOptions::default())?;
        // Type 5 is visible to the host.
        let buffer = manager.allocate(&AllocateInfo::new(5, DATA + 4 * u64::from(DWORDS)))?;
        let code: Vec<u8> = program.words().iter().flat_map(|word| word.to_le_bytes()).collect();
        buffer.map()?.write(0, &code)?;
        let data = buffer.address().checked_add(DATA).ok_or("no such address")?;
        let level = device.info().gfx_level;
        let user = BufferView::raw(data, DWORDS * 4).descriptor(level)?.words();
        let [first, second, third] = dispatch.resources;
        let start = buffer.address().as_u64() >> 8;
        let queue = Queue::new(&Context::new(&device, Priority::Normal)?, Ip::Compute, 0)?;
        let Target::Pm4(language) = queue.target() else { return Err("the compute ring reads PM4".into()) };
        let mut stream = Stream::new(&device, language, 4096)?;
        // COMPUTE_START_X and those behind it, PGM_LO, PGM_RSRC1, PGM_RSRC3 and USER_DATA_0.
        let [x, y, z] = dispatch.threads;
        stream.push(&SetRegisters::new(0xb810, &[0, 0, 0, x, y, z]))?;
        stream.push(&SetRegisters::new(0xb830, &[start as u32, (start >> 32) as u32]))?;
        stream.push(&SetRegisters::new(0xb848, &[first, second]))?;
        stream.push(&SetRegisters::new(0xb8a0, &[third]))?;
        stream.push(&SetRegisters::new(0xb900, &user))?;
        let [x, y, z] = dispatch.end;
        stream.push(&pm4::DispatchDirect { x, y, z, initiator: 1 | program.initiator(), ..Default::default() })?;
        Ok(Self { list: stream.finish()?, queue, buffer })
    }

    /// Runs the dispatch and waits for its end.
    ///
    /// # Errors
    ///
    /// What the submission says, or that the dispatch did not end.
    pub fn run(&self) -> Result<(), Box<dyn Error>> {
        let memory = [self.buffer.binding().clone()];
        let submission = Submission { lists: &[&self.list], memory: &memory, ..Submission::default() };
        if self.queue.submit(&submission)?.wait(Deadline::after(LIMIT))? {
            Ok(())
        } else {
            Err("the dispatch did not end".into())
        }
    }

    /// Returns a dword of the data.
    ///
    /// # Errors
    ///
    /// That of the mapping, or that the data have no such dword.
    pub fn dword(&self, index: u32) -> Result<u32, Box<dyn Error>> {
        Ok(self.buffer.map()?.load_u32(DATA + 4 * u64::from(index))?)
    }
}
