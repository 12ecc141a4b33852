//! Recording a simulated GPU and replaying it without one.

use std::{
    io::{self, Write},
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use amdgpu_fuzz::recordings::{Edit, edit};
use amdgpu_layers::{
    Recording, Replay, ReplayError,
    format::{FileError, Reader, Record},
};
use amdgpu_sim::{SimDevice, SimOptions, profile};
use amdgpu_uapi::Errno;
use amdgpu_winsys::{
    cs::{Queue, Stream, Submission, Target, pm4},
    uapi::{GemCreateFlags, GemDomain},
    winsys::{
        self, Bo, BoRequest, Context, Deadline, Device, Error, Ip, Kernel, Mapping, OpenError, Priority, Syncobj,
    },
};
use proptest::prelude::*;

/// A file in memory that any number of writers share.
#[derive(Clone, Default)]
struct Tape(Arc<Mutex<Vec<u8>>>);

impl Tape {
    fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap().clone()
    }
}

impl Write for Tape {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn replay(bytes: Vec<u8>) -> Result<Replay, ReplayError> {
    Replay::new(io::Cursor::new(bytes))
}

fn request(size: u64) -> BoRequest {
    BoRequest { size, alignment: 0, domains: GemDomain::GTT, flags: GemCreateFlags::CPU_ACCESS_REQUIRED }
}

/// A client that makes, maps and shares a BO, and says what it saw.
fn client(
    size: u64,
    mut open: impl FnMut() -> Result<Box<dyn Kernel>, Errno>,
) -> winsys::Result<(String, Vec<u8>, bool)> {
    let refused = |errno| Error::Open(OpenError::Node { path: "it".into(), errno });
    let first = Device::new(Arc::<dyn Kernel>::from(open().map_err(refused)?))?;
    let second = Device::new(Arc::<dyn Kernel>::from(open().map_err(refused)?))?;
    let bo = Bo::create(&first, request(size))?;
    let mapping = Mapping::new(&bo)?;
    mapping.write(4090, b"over a page's end")?;
    let imported = Bo::import(&second, &bo.export()?)?;
    let mut seen = vec![0; 20];
    Mapping::new(&imported)?.read(4088, &mut seen)?;
    let syncobj = Syncobj::new(&first, false)?;
    let waited = syncobj.wait(Deadline::POLL)?;
    syncobj.signal()?;
    Ok((first.info().marketing_name.clone(), seen, waited || !syncobj.wait(Deadline::POLL)?))
}

const SIZE: u64 = 8192;

fn recorded() -> (Vec<u8>, (String, Vec<u8>, bool)) {
    let tape = Tape::default();
    let recording = Recording::new(tape.clone()).unwrap();
    recording.note("about", "a test");
    let gpu = SimDevice::new(profile("renoir").unwrap(), SimOptions::default());
    let seen = client(SIZE, || Ok(Box::new(recording.wrap(gpu.open())))).unwrap();
    recording.finish().unwrap();
    (tape.bytes(), seen)
}

fn play(bytes: Vec<u8>, size: u64) -> (winsys::Result<(String, Vec<u8>, bool)>, Replay) {
    let replay = replay(bytes).unwrap();
    let seen = client(size, || Ok(Box::new(replay.open_file()?)));
    (seen, replay)
}

#[test]
fn a_client_sees_in_a_replay_what_it_saw_when_it_was_recorded() {
    let (bytes, seen) = recorded();
    assert_eq!(&seen.1[2..19], b"over a page's end");
    let (again, replay) = play(bytes, SIZE);
    assert_eq!(again.unwrap(), seen);
    assert_eq!(replay.note("about"), Some("a test"));
    replay.finish().unwrap();
}

#[test]
fn other_argument_bytes_stop_the_replay_and_are_named() {
    let (bytes, _) = recorded();
    // Two bytes of the size differ, of which the first is named.
    let other = 10 * SIZE;
    let differing = SIZE.to_le_bytes().iter().zip(other.to_le_bytes()).filter(|(one, other)| **one != *other).count();
    assert_eq!(differing, 2, "{SIZE:#x} and {other:#x}");
    let (again, replay) = play(bytes, other);
    assert_eq!(again.unwrap_err().errno(), Some(Errno::ENODEV));
    let error = replay.finish().unwrap_err();
    let ReplayError::Diverged { recorded, came, .. } = &*error else { panic!("{error}") };
    assert!(recorded.contains("AMDGPU_GEM_CREATE") && recorded.contains("byte 0x1: 20"), "{recorded}");
    assert!(came.contains("AMDGPU_GEM_CREATE") && came.contains("byte 0x1: 40"), "{came}");
}

#[test]
fn another_call_stops_the_replay_and_is_named() {
    let (bytes, _) = recorded();
    let replay = replay(bytes).unwrap();
    let device = Device::new(replay.open_file().unwrap()).unwrap();
    assert_eq!(device.timestamp().unwrap_err().errno(), Some(Errno::ENODEV));
    let error = replay.error().unwrap().to_string();
    assert!(error.contains("recorded f1 t0 open, made f0 t0 AMDGPU_INFO"), "{error}");
}

#[test]
fn a_client_that_leaves_early_or_stays_too_long_is_told() {
    let (bytes, _) = recorded();
    let early = replay(bytes.clone()).unwrap();
    drop(early.open_file());
    assert!(matches!(&*early.finish().unwrap_err(), ReplayError::Diverged { call: 1, .. }));
    let (again, late) = play(bytes.clone(), SIZE);
    again.unwrap();
    assert_eq!(late.open_file().unwrap_err(), Errno::ENODEV);
    assert!(matches!(&*late.finish().unwrap_err(), ReplayError::Ended { .. }));
    assert!(matches!(&*replay(bytes).unwrap().finish().unwrap_err(), ReplayError::Unplayed { call: 0, .. }));
}

#[test]
fn a_recording_that_was_cut_off_is_played_up_to_there() {
    let (bytes, _) = recorded();
    let (again, replay) = play(bytes[..bytes.len() * 3 / 4].to_vec(), SIZE);
    assert!(again.is_err());
    let error = replay.finish().unwrap_err();
    assert!(matches!(&*error, ReplayError::File(FileError::CutOff { .. })), "{error}");
}

#[test]
fn refused_calls_are_refused_again() {
    let tape = Tape::default();
    let recording = Recording::new(tape.clone()).unwrap();
    let gpu = SimDevice::new(profile("navi21").unwrap(), SimOptions::default());
    let scenario = |device: &Device| Bo::create(device, request(1 << 50)).unwrap_err().errno();
    let errno = scenario(&Device::new(recording.wrap(gpu.open())).unwrap());
    recording.finish().unwrap();
    assert!(errno.is_some());
    let replay = replay(tape.bytes()).unwrap();
    assert_eq!(scenario(&Device::new(replay.open_file().unwrap()).unwrap()), errno);
    replay.finish().unwrap();
}

#[test]
fn threads_take_their_recorded_turns() {
    const ROUNDS: usize = 20;
    let tape = Tape::default();
    let recording = Recording::new(tape.clone()).unwrap();
    let gpu = SimDevice::new(profile("navi21").unwrap(), SimOptions::default());
    let scenario = |device: &Device| {
        let handles = |size| {
            let device = device.clone();
            move || {
                let bos: Vec<_> = (0..ROUNDS).map(|_| Bo::create(&device, request(size)).unwrap()).collect();
                bos.iter().map(Bo::handle).collect::<Vec<_>>()
            }
        };
        let (one, two) = (std::thread::spawn(handles(4096)), std::thread::spawn(handles(8192)));
        (one.join().unwrap(), two.join().unwrap())
    };
    let handles = scenario(&Device::new(recording.wrap(gpu.open())).unwrap());
    recording.finish().unwrap();
    let replay = replay(tape.bytes()).unwrap();
    assert_eq!(scenario(&Device::new(replay.open_file().unwrap()).unwrap()), handles);
    replay.finish().unwrap();
}

/// A client that looks at the user fence again and again, and makes no call meanwhile.
fn spins(device: &Device) -> bool {
    let context = Context::new(device, Priority::Normal).unwrap();
    let queue = Queue::new(&context, Ip::Gfx, 0).unwrap();
    let Target::Pm4(target) = queue.target() else { panic!("the graphics ring does not speak PM4") };
    let mut stream = Stream::new(device, target, 64).unwrap();
    stream.push(&pm4::Nop::Skip(&[1, 2, 3])).unwrap();
    let list = stream.finish().unwrap();
    let fence = queue.submit(&Submission { lists: &[&list], ..Submission::default() }).unwrap();
    let started = Instant::now();
    while !fence.is_signalled() && started.elapsed() < Duration::from_mins(1) {
        std::thread::yield_now();
    }
    fence.is_signalled()
}

#[test]
fn a_client_that_spins_on_memory_is_shown_what_the_gpu_wrote() {
    let tape = Tape::default();
    let recording = Recording::new(tape.clone()).unwrap();
    let gpu = SimDevice::new(profile("navi21").unwrap(), SimOptions::default());
    let device = Device::new(recording.wrap(gpu.open())).unwrap();
    assert!(spins(&device), "the fence never came");
    drop(device);
    recording.finish().unwrap();
    let replay = replay(tape.bytes()).unwrap();
    let device = Device::new(replay.open_file().unwrap()).unwrap();
    assert!(spins(&device), "the fence never came again");
    drop(device);
    replay.finish().unwrap();
}

#[test]
fn what_other_parties_write_into_one_page_does_not_overwrite_each_other() {
    // Two views of one BO, each of another recording: what one client stores is to the other as if the GPU had.
    let gpu = SimDevice::new(profile("navi21").unwrap(), SimOptions::default());
    let recordings = [(); 2].map(|()| Recording::new(Tape::default()).unwrap());
    let devices = [0, 1].map(|index: usize| Device::new(recordings[index].wrap(gpu.open())).unwrap());
    let ours = Bo::create(&devices[0], request(SIZE)).unwrap();
    let theirs = Bo::import(&devices[1], ours.export().unwrap()).unwrap();
    let (here, there) = (Mapping::new(&ours).unwrap(), Mapping::new(&theirs).unwrap());
    here.store_u32(0, 1).unwrap();
    there.store_u32(4, 2).unwrap();
    let meet = || {
        for (device, bo) in devices.iter().zip([&ours, &theirs]) {
            bo.wait_idle(Deadline::POLL).unwrap();
            device.ping().unwrap();
        }
    };
    meet();
    meet();
    assert_eq!([here.load_u32(0), here.load_u32(4)].map(Result::unwrap), [1, 2]);
    assert_eq!([there.load_u32(0), there.load_u32(4)].map(Result::unwrap), [1, 2]);
}

#[test]
fn a_dump_has_a_line_for_each_call_with_its_name() {
    let (bytes, _) = recorded();
    let lines: Vec<_> = Reader::new(&*bytes).unwrap().map(|record| record.unwrap().to_string()).collect();
    assert_eq!((&*lines[0], lines.last().map(|line| &**line)), ("note about: a test", Some("end")));
    for text in
        ["f0 t0 open", "AMDGPU_GEM_CREATE 0020", "mmap 0x2000 at offset", "SYNCOBJ_WAIT", "= ETIME", "f1 t0 close"]
    {
        assert!(lines.iter().any(|line| line.contains(text)), "{text} in {lines:#?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// For any contents of a well-framed record, the client gets answers or errors, and the replay reports the reason.
    #[test]
    fn a_hostile_recording_harms_nobody(edits in prop::collection::vec(any::<Edit>(), 1..4)) {
        static TAPE: std::sync::OnceLock<Vec<u8>> = std::sync::OnceLock::new();
        let bytes = edit(TAPE.get_or_init(|| recorded().0), &edits);
        for read in Reader::new(&*bytes).unwrap() {
            if let Ok(Record::Call(call)) = read {
                prop_assert!(!Record::Call(call).to_string().is_empty());
            }
        }
        if let Ok(replay) = replay(bytes) {
            let replay = replay.with_patience(Duration::from_millis(1));
            let _ = client(SIZE, || Ok(Box::new(replay.open_file()?)));
        }
    }
}
