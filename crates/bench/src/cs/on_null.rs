//! The rows of `amdgpu-bench cs` that are measured on the null kernel, in a child.

use amdgpu_bench::measure::{Work, in_turn};
use amdgpu_winsys::{
    cs::{CommandList, Queue, Stream, Submission, pm4},
    heaps::{AllocateFlags, AllocateInfo, DeviceMemory, MemoryManager},
    vamgr::GpuVa,
    winsys::{Binding, Context, Device, Ip, Priority, ResidencySet},
};
use ash::vk;

use crate::{
    child::Wanted,
    memory::on_null::manager,
    peers::radv::{Missing, Radv},
    row::{Goal, Row},
};

/// Memories that are resident for every submission.
const LIVE: [u64; 3] = [0, 1_000, 10_000];
/// Commands recorded between two resets.
const COMMANDS: usize = 1000;
const RADV: &str = "RADV";
/// Bytes of a buffer, and of what is copied and updated.
const BUFFER: u64 = 64 << 10;
const COPIED: u32 = 256;
const UPDATED: [u32; 2] = [1, 2];

/// Every row.
pub(crate) fn all(wanted: &Wanted, add: &mut impl FnMut(Row)) {
    let manager = match manager() {
        Ok(manager) => manager,
        Err(why) => return add(Row::missing("cs", "the null kernel", why)),
    };
    let measured = Radv::open().and_then(|radv| {
        recording(wanted, &manager, &radv, add)?;
        submitting(wanted, &manager, &radv, add)
    });
    if let Err(why) = measured {
        add(Row::missing("cs", RADV, why));
    }
}

fn target(device: &Device) -> pm4::Target {
    pm4::Target::gfx(device.info().gfx_level)
}

/// Measures the commands that an application records, one at a time.
fn recording(wanted: &Wanted, manager: &MemoryManager, radv: &Radv, add: &mut impl FnMut(Row)) -> Result<(), Missing> {
    let target = target(manager.device());
    let memory = allocate(manager, AllocateFlags::empty(), 2 * BUFFER);
    let at = memory.address();
    let from = at.checked_add(BUFFER).unwrap_or(at);
    let mut stream = Stream::new(manager.device(), target, 64 * COMMANDS).expect("the null kernel refuses nothing");
    let (buffer, source, queries) = (radv.buffer(BUFFER)?, radv.buffer(BUFFER)?, radv.timestamps()?);
    let commands = radv.command_buffer()?;
    let data: Vec<u8> = UPDATED.iter().flat_map(|dword| dword.to_ne_bytes()).collect();
    let mut row = |name: &str, ours: &dyn Fn(&mut Stream<pm4::Target>), theirs: &dyn Fn()| {
        if !wanted.has(name) {
            return;
        }
        let mine: &mut Work<'_> = &mut |count| {
            stream.clear();
            (0..count).for_each(|_| ours(&mut stream));
        };
        let its: &mut Work<'_> = &mut |count| {
            radv.begin(commands);
            (0..count).for_each(|_| theirs());
            radv.end(commands);
        };
        let [mine, its] = in_turn(COMMANDS, [mine, its]);
        add(Row::times(name, COMMANDS as u64, mine, RADV, its, Goal::RatioAtMost(0.2)));
    };
    row("record-update", &|stream| push(stream, &pm4::WriteData::new(at, &UPDATED)), &|| {
        radv.update(commands, buffer, &data);
    });
    row("record-copy", &|stream| push(stream, &copy(target, at, from)), &|| {
        radv.copy(commands, source, buffer, COPIED.into());
    });
    row("record-timestamp", &|stream| push(stream, &pm4::EndOfPipe::timestamp(at)), &|| {
        radv.timestamp(commands, queries);
    });
    Ok(())
}

fn copy(target: pm4::Target, to: GpuVa, from: GpuVa) -> pm4::CpDma {
    pm4::CpDma::copy(target.level, to, from, COPIED)
}

#[inline]
fn push(stream: &mut Stream<pm4::Target>, packet: &impl amdgpu_winsys::cs::Packet<Language = pm4::Target>) {
    stream.push(packet).expect("the null kernel refuses nothing");
}

fn allocate(manager: &MemoryManager, flags: AllocateFlags, size: u64) -> DeviceMemory {
    let info = AllocateInfo { flags, ..AllocateInfo::new(0, size) };
    manager.allocate(&info).expect("the null kernel refuses nothing")
}

/// Submissions that list what may be shared: a set of ours, the device's list of theirs.
fn submitting(wanted: &Wanted, manager: &MemoryManager, radv: &Radv, add: &mut impl FnMut(Row)) -> Result<(), Missing> {
    let device = manager.device();
    let context = Context::new(device, Priority::Normal).expect("the null kernel refuses nothing");
    let queue = Queue::new(&context, Ip::Gfx, 0).expect("a graphics ring");
    let memory_type = radv.memory_type(vk::MemoryPropertyFlags::DEVICE_LOCAL)?;
    let buffer = radv.buffer(BUFFER)?;
    let data: Vec<u8> = UPDATED.iter().flat_map(|dword| dword.to_ne_bytes()).collect();
    let memory = allocate(manager, AllocateFlags::empty(), BUFFER);
    let set = ResidencySet::new();
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for live in LIVE {
        while (ours.len() as u64) < live {
            let memory = allocate(manager, AllocateFlags::EXPORTABLE, 4096);
            set.add(memory.binding());
            ours.push(memory);
            theirs.push(radv.allocate_exported(memory_type, 4096));
        }
        for (name, packets) in [("submit-empty", 0), ("submit-100", 100)] {
            if !wanted.has(name) {
                continue;
            }
            let list = list(device, &memory, packets);
            let commands = radv.command_buffer()?;
            radv.begin(commands);
            (0..packets).for_each(|_| radv.update(commands, buffer, &data));
            radv.end(commands);
            let submission = Submission { lists: &[&list], sets: &[&set], ..Submission::default() };
            let batch = if live > 1000 { 50 } else { 500 };
            let [mine, its] = in_turn(
                batch,
                [
                    &mut |count| (0..count).for_each(|_| drop(queue.submit(&submission).expect("not lost"))),
                    &mut |count| (0..count).for_each(|_| radv.submit(commands)),
                ],
            );
            add(Row::times(name, live, mine, RADV, its, Goal::RatioAtMost(0.35)));
        }
        if wanted.has("submit-listed") {
            listed(device, &queue, &memory, &ours, live, add);
        }
    }
    for memory in theirs {
        radv.free(memory);
    }
    Ok(())
}

/// The same memories listed one by one: for those who have no use for a set.
fn listed(
    device: &Device,
    queue: &Queue,
    memory: &DeviceMemory,
    live: &[DeviceMemory],
    count: u64,
    add: &mut impl FnMut(Row),
) {
    let bindings: Vec<Binding> = live.iter().map(|memory| memory.binding().clone()).collect();
    let list = list(device, memory, 0);
    let submission = Submission { lists: &[&list], memory: &bindings, ..Submission::default() };
    let [ours] = in_turn(
        50,
        [&mut |count| {
            (0..count).for_each(|_| drop(queue.submit(&submission).expect("not lost")));
        }],
    );
    add(Row::alone("submit-listed", count, ours, Goal::None));
}

fn list(device: &Device, memory: &DeviceMemory, packets: usize) -> CommandList {
    let mut stream = Stream::new(device, target(device), 1024).expect("the null kernel refuses nothing");
    (0..packets).for_each(|_| push(&mut stream, &pm4::WriteData::new(memory.address(), &UPDATED)));
    stream.finish().expect("a list")
}
