//! A recording holds what each submission gave the GPU to read.

use std::{
    io::{self, Cursor, Write},
    sync::{Arc, Mutex},
};

use amdgpu_layers::{
    Recording, Replay, Submissions,
    format::{Ib, Reader, Record},
};
use amdgpu_sim::{SimDevice, SimOptions, profile};
use amdgpu_winsys::{
    cs::{CommandList, Inclusion, Marker, Queue, QueueOptions, Stream, Submission, pm4},
    heaps::{AllocateInfo, DeviceMemory, MemoryManager, MemoryPropertyFlags, TableOptions},
    vamgr::GpuVa,
    winsys::{Context, Deadline, Device, GfxLevel, Ip, Kernel, Priority},
};

/// A file in memory that any number of writers share.
#[derive(Clone, Default)]
struct Tape(Arc<Mutex<Vec<u8>>>);

impl Write for Tape {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Submissions of a client: place and dwords of the IBs of each, called ones included.
type Truth = Vec<Vec<(GpuVa, Vec<u32>)>>;

fn ibs(list: &CommandList) -> Vec<(GpuVa, Vec<u32>)> {
    list.ibs().map(|(va, _)| va).zip(list.dwords()).collect()
}

fn host_memory(device: &Device) -> DeviceMemory {
    let manager = MemoryManager::new(device, &TableOptions::default()).unwrap();
    let tables = manager.properties();
    let wanted = MemoryPropertyFlags::HOST_VISIBLE | MemoryPropertyFlags::HOST_CACHED;
    let index = (0..).zip(tables.types()).find(|(_, of)| of.properties.contains(wanted)).unwrap().0;
    manager.allocate(&AllocateInfo::new(index, 4096)).unwrap()
}

/// Submits a list three times, recorded anew in the same memory each time, with a list that it calls.
fn client(kernel: impl Kernel + 'static) -> Truth {
    let device = Device::new(kernel).unwrap();
    let context = Context::new(&device, Priority::Normal).unwrap();
    // Only what is recorded here is submitted.
    let options = QueueOptions { acquires: false, ..QueueOptions::default() };
    let queue = Queue::with_options(&context, Ip::Gfx, 0, options).unwrap();
    let target = pm4::Target::gfx(device.info().gfx_level);
    let memory = host_memory(&device);
    let mut called = Stream::secondary(&device, target, 64).unwrap();
    pm4::Target::note(&mut called, memory.address(), 77).unwrap();
    let called = called.finish().unwrap();
    let mut stream = Stream::new(&device, target, 64).unwrap();
    let mut truth = Vec::new();
    for value in 1..=3 {
        pm4::Target::store(&mut stream, memory.address(), value).unwrap();
        stream.execute(&called, Inclusion::Auto).unwrap();
        let list = stream.finish().unwrap();
        let bindings = [memory.binding().clone()];
        let fence = queue.submit(&Submission { lists: &[&list], memory: &bindings, ..Submission::default() }).unwrap();
        assert!(fence.wait(Deadline::NEVER).unwrap());
        truth.push([ibs(&list), ibs(&called)].concat());
        stream = list.record_again(target).unwrap();
    }
    truth
}

fn recorded() -> (Vec<u8>, Truth) {
    let tape = Tape::default();
    let recording = Recording::new(tape.clone()).unwrap();
    let gpu = SimDevice::new(profile("navi21").unwrap(), SimOptions::default());
    let truth = client(recording.wrap(gpu.open()));
    recording.finish().unwrap();
    (tape.0.lock().unwrap().clone(), truth)
}

#[test]
fn every_submission_has_the_dwords_that_it_had_then() {
    let (bytes, truth) = recorded();
    let mut submissions = Submissions::new(Cursor::new(bytes)).unwrap();
    for (number, expected) in (1..).zip(&truth) {
        let submitted = submissions.next().unwrap().unwrap();
        assert_eq!((submitted.file, submitted.errno, submitted.sequence), (0, 0, number));
        assert_eq!(submissions.generation(), Some(GfxLevel::Gfx10_3));
        assert_eq!(submitted.ibs.len(), 1, "one was given to the kernel, and that calls the other");
        assert_eq!((submitted.ibs[0].va, submitted.ibs[0].ip, submitted.ibs[0].ring), (expected[0].0, Ip::Gfx, 0));
        for (va, dwords) in expected {
            assert_eq!(submissions.content(0, *va, dwords.len()), Some(&dwords[..]), "{va}");
            assert!(submissions.name(0, va.as_u64()).unwrap().starts_with("0 bytes into BO "), "{va}");
        }
    }
    assert!(submissions.next().is_none());
    let (first, second) = (&truth[0][0], &truth[1][0]);
    assert_eq!(first.0, second.0, "the same memory");
    assert_ne!(first.1, second.1, "with something else in it");
}

#[test]
fn what_has_not_changed_is_recorded_once() {
    let (bytes, truth) = recorded();
    let records: Vec<_> = Reader::new(Cursor::new(bytes)).unwrap().map(Result::unwrap).collect();
    let ibs: Vec<_> =
        records.iter().filter_map(|record| if let Record::Ib(ib) = record { Some(ib) } else { None }).collect();
    let called = truth[0][1].0.as_u64();
    assert_eq!(ibs.iter().filter(|ib| ib.va == called).count(), 1);
    assert_eq!(ibs.len(), 1 + 3);
    let Ib { va, dwords, .. } = ibs[0];
    assert_eq!(Record::Ib(ibs[0].clone()).to_string(), format!("     ib of f0 at {va:#x}: {} dwords", dwords.len()));
}

#[test]
fn a_replay_passes_ibs_over() {
    let (bytes, truth) = recorded();
    let replay = Replay::new(Cursor::new(bytes)).unwrap();
    assert_eq!(client(replay.open_file().unwrap()), truth);
    replay.finish().unwrap();
}

/// Cut off anywhere, damaged anywhere: what is whole before that is told, then one error, and nothing panics.
#[test]
fn a_damaged_recording_gives_its_submissions_up_to_there() {
    let (bytes, truth) = recorded();
    let read = |bytes: Vec<u8>| {
        let mut submissions = Submissions::new(Cursor::new(bytes)).ok()?;
        let (mut whole, mut errors) = (0, 0);
        while let Some(submitted) = submissions.next() {
            *if submitted.is_ok() { &mut whole } else { &mut errors } += 1;
        }
        Some((whole, errors))
    };
    let mut most = 0;
    for len in (12..bytes.len()).step_by(7) {
        let (whole, errors) = read(bytes[..len].to_vec()).unwrap();
        assert_eq!(errors, 1, "cut off at {len}");
        assert!((most..=truth.len()).contains(&whole));
        most = whole;
        let mut damaged = bytes.clone();
        damaged[len] ^= 0x10;
        assert_eq!(read(damaged).unwrap().1, 1, "damaged at {len}");
    }
    assert_eq!(read(bytes), Some((3, 0)));
}
