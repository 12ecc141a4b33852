//! Recordings that were written to do harm. Each says what no kernel could have done, behind a right checksum.

use std::{
    io::{Cursor, Read as _, Seek as _, Write},
    os::fd::{AsFd, AsRawFd, OwnedFd},
    ptr::NonNull,
    sync::{Arc, Mutex},
};

use amdgpu_layers::{
    Answered, Layer, Recording, Replay, ReplayError,
    format::{Action, Call, Ioctl, Page, Reader, Record, Run, Writer},
};
use amdgpu_sim::{SimDevice, SimOptions, profile};
use amdgpu_winsys::{
    uapi::{
        Argument, Ctx, GemClose, GemCreate, GemCreateFlags, GemDomain, GemMmap, GemUserptr, GemVa, PRIME_FD_TO_HANDLE,
        PrimeHandle, SyncobjCreate, SyncobjEventfd, SyncobjHandle, VaFlags,
    },
    vamgr::VaRequest,
    winsys::{self, Binding, Bo, BoRequest, Context, Device, Kernel, Mapping, Priority, Syncobj, Until, UserMemory},
};
use nix::sys::{
    eventfd::EventFd,
    mman::{MapFlags, ProtFlags, mmap_anonymous},
    stat::fstat,
};

const PAGE: u64 = 4096;

/// A file in memory that any number of writers share.
#[derive(Clone, Default)]
struct Tape(Arc<Mutex<Vec<u8>>>);

impl Write for Tape {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Records a client's use of a device.
fn records<T>(client: impl FnOnce(&Device) -> winsys::Result<T>) -> Vec<Record> {
    let tape = Tape::default();
    let recording = Recording::new(tape.clone()).unwrap();
    let gpu = SimDevice::new(profile("navi21").unwrap(), SimOptions::default());
    client(&Device::new(recording.wrap(gpu.open())).unwrap()).unwrap();
    recording.finish().unwrap();
    let bytes = tape.0.lock().unwrap().clone();
    Reader::new(Cursor::new(bytes)).unwrap().map(Result::unwrap).collect()
}

/// A recording of these records.
fn written(records: &[Record]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes).unwrap();
    for record in records {
        writer.write(record).unwrap();
    }
    writer.flush().unwrap();
    drop(writer);
    bytes
}

/// The same with the records changed.
fn replayed<T>(
    records: &[Record],
    client: impl FnOnce(&Device) -> winsys::Result<T>,
) -> (winsys::Result<T>, Result<(), Arc<ReplayError>>) {
    let replay = Replay::new(Cursor::new(written(records))).unwrap();
    let seen = Device::new(replay.open_file().unwrap()).and_then(|device| client(&device));
    (seen, replay.finish())
}

fn is_nonsense<T>((_, finished): &(T, Result<(), Arc<ReplayError>>), why: &str) {
    let error = finished.as_ref().unwrap_err();
    assert!(matches!(&**error, ReplayError::Nonsense { .. }) && error.to_string().contains(why), "{error}");
}

/// The ioctls of one kind that succeeded, with their places among the records.
fn ioctls<'r>(records: &'r mut [Record], request: u32) -> Vec<(usize, &'r mut Ioctl)> {
    let of = |(index, record): (usize, &'r mut Record)| match record {
        Record::Call(Call { action: Action::Ioctl(ioctl), errno: 0, .. }) if ioctl.request == request => {
            Some((index, ioctl))
        }
        _ => None,
    };
    records.iter_mut().enumerate().filter_map(of).collect()
}

/// Sets a dword that the kernel answers.
fn answer(ioctl: &mut Ioctl, offset: u32, bytes: &[u8]) {
    let end = offset + bytes.len() as u32;
    ioctl.changed.retain(|(at, old)| *at >= end || at + old.len() as u32 <= offset);
    ioctl.changed.push((offset, bytes.to_vec()));
}

fn request(size: u64) -> BoRequest {
    BoRequest { size, alignment: 0, domains: GemDomain::GTT, flags: GemCreateFlags::CPU_ACCESS_REQUIRED }
}

fn fill(memory: u32, page: u64) -> Record {
    Record::Page(Page { memory, page, runs: vec![Run::Fill { first: 0, count: 1024, dword: 0xbad }] })
}

/// The memory that a mapping shows, by the order of mappings.
fn mapped(records: &[Record]) -> Vec<(usize, u32)> {
    let of = |(index, record): (usize, &Record)| match record {
        Record::Call(Call { action: Action::Map { memory, .. }, .. }) => Some((index, *memory)),
        _ => None,
    };
    records.iter().enumerate().filter_map(of).collect()
}

/// A client's use of a device.
type Client<T> = fn(&Device) -> winsys::Result<T>;

/// One flag says that the kernel made no descriptor; the answer has the number of one that the client has.
#[test]
fn a_descriptor_that_the_replay_did_not_make_is_not_given_out() {
    let victim = std::fs::File::open("/dev/null").unwrap();
    let (number, about) = (victim.as_raw_fd(), fstat(&victim).unwrap());
    let clients: [(u32, Client<OwnedFd>); 3] = [
        (PrimeHandle::REQUEST.bits(), |device| Ok(Bo::create(device, request(PAGE))?.export()?)),
        (SyncobjHandle::REQUEST.bits(), |device| Syncobj::new(device, true)?.export()),
        (SyncobjHandle::REQUEST.bits(), |device| Syncobj::new(device, true)?.export_sync_file()),
    ];
    for (of, client) in clients {
        let mut records = records(client);
        let mut exports = ioctls(&mut records, of);
        let [(_, export)] = &mut exports[..] else { panic!("{exports:?}") };
        assert!(export.descriptor.take().is_some());
        answer(export, 8, &number.to_ne_bytes());
        let (given, _) = replayed(&records, client);
        assert!(given.is_err(), "{given:?}");
        drop(given);
        assert_eq!(fstat(&victim).unwrap().st_ino, about.st_ino, "it is open");
    }
}

/// Sends a request that imports a descriptor, and looks at the argument afterwards.
#[expect(unsafe_code, reason = "a raw request")]
fn import(kernel: &impl Kernel, dma_buf: &OwnedFd) -> PrimeHandle {
    let mut argument = PrimeHandle { handle: 0, flags: 0, fd: dma_buf.as_raw_fd() };
    // SAFETY: the argument is what the request wants, and holds no address.
    unsafe { kernel.ioctl(PRIME_FD_TO_HANDLE, std::ptr::from_mut(&mut argument).cast()) }.unwrap();
    argument
}

#[test]
fn descriptors_that_the_client_passes_in_stay_as_they_are() {
    let tape = Tape::default();
    let recording = Recording::new(tape.clone()).unwrap();
    let gpu = SimDevice::new(profile("navi21").unwrap(), SimOptions::default());
    let dma_buf = Bo::create(&Device::new(gpu.open()).unwrap(), request(PAGE)).unwrap().export().unwrap();
    let handle = import(&recording.wrap(gpu.open()), &dma_buf).handle;
    recording.finish().unwrap();
    let bytes = tape.0.lock().unwrap().clone();
    let mut records: Vec<_> = Reader::new(Cursor::new(bytes)).unwrap().map(Result::unwrap).collect();
    answer(ioctls(&mut records, PRIME_FD_TO_HANDLE.bits())[0].1, 8, &1_u32.to_ne_bytes());
    let replay = Replay::new(Cursor::new(written(&records))).unwrap();
    let argument = import(&replay.open_file().unwrap(), &dma_buf);
    assert_eq!((argument.handle, argument.fd), (handle, dma_buf.as_raw_fd()));
}

/// A page of the client's own, with nothing of Rust's in it.
struct Own(NonNull<u8>);

#[expect(unsafe_code, reason = "memory of the client's own")]
impl Own {
    fn new() -> Self {
        let rights = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
        // SAFETY: no address is asked for, so nothing that exists is replaced.
        Self(unsafe { mmap_anonymous(None, 4096.try_into().unwrap(), rights, MapFlags::MAP_PRIVATE) }.unwrap().cast())
    }

    fn store(&self, value: u32) {
        // SAFETY: the page stays mapped, and there are no references to it.
        unsafe { self.0.cast().write_volatile(value) };
    }

    fn load(&self) -> u32 {
        // SAFETY: as above.
        unsafe { self.0.cast().read_volatile() }
    }

    fn lend(&self, device: &Device, is_read_only: bool) -> winsys::Result<Bo> {
        let memory = UserMemory { is_read_only, ..UserMemory::new(self.0, PAGE) };
        // SAFETY: no other code has the page, it holds no Rust object, and it stays mapped.
        Ok(unsafe { Bo::from_user_memory(device, memory) }?)
    }
}

fn bind(bo: &Bo, rights: VaFlags) -> winsys::Result<Binding> {
    let lease = bo.device().addresses().allocate(VaRequest::new(bo.size())).unwrap();
    Ok(Binding::new(bo, lease, rights).map_err(|(_, error)| error)?)
}

const WRITES: VaFlags = VaFlags::READABLE.union(VaFlags::WRITEABLE);

/// The place of the first call behind the ioctl of this kind that comes last.
fn behind(records: &mut [Record], request: u32) -> usize {
    ioctls(records, request).last().unwrap().0 + 1
}

#[test]
fn pages_that_the_client_has_back_are_not_written() {
    let own = Own::new();
    let client = |device: &Device| {
        let bo = own.lend(device, false)?;
        let binding = bind(&bo, WRITES)?;
        own.store(1);
        device.ping()?;
        let seen = own.load();
        drop((binding, bo));
        own.store(2);
        let _ = device.ping();
        Ok(seen)
    };
    let mut records = records(client);
    let memory = ioctls(&mut records, GemUserptr::REQUEST.bits())[0].1.memory.unwrap();
    // As long as they are lent, that is what a recording is for.
    let bound = behind(&mut records, GemVa::REQUEST.bits()) - 1;
    let mut early = records.clone();
    early.insert(bound, fill(memory, 0));
    assert_eq!(replayed(&early, client).0.unwrap(), 0xbad);
    // A close that fails is tried three times; then the client's owner of the BO is gone all the same.
    for (outcome, attempts) in [(0, 1), (amdgpu_uapi::Errno::EIO.raw(), 3)] {
        let mut late = records.clone();
        let close = behind(&mut late, GemClose::REQUEST.bits()) - 1;
        if let Record::Call(call) = &mut late[close] {
            call.errno = outcome;
        }
        let again = vec![late[close].clone(); attempts - 1];
        late.splice(close..close, again);
        // Behind the call that comes when the client has stored something else.
        late.insert(close + attempts + 1, fill(memory, 0));
        let (_, finished) = replayed(&late, client);
        assert_eq!(own.load(), 2, "GEM_CLOSE ended with {outcome}");
        assert_eq!(
            finished.is_ok(),
            outcome != 0,
            "a page of memory that is gone is nonsense, one of memory that stays is not"
        );
    }
}

#[test]
fn pages_that_the_gpu_only_reads_are_not_written() {
    let own = Own::new();
    let client = |device: &Device| {
        let bo = own.lend(device, true)?;
        // The kernel takes the right to write away again.
        let _binding = bind(&bo, WRITES)?;
        own.store(7);
        device.ping()?;
        Ok(own.load())
    };
    let mut records = records(client);
    ioctls(&mut records, GemUserptr::REQUEST.bits())[0].1.memory = Some(9);
    let place = behind(&mut records, GemVa::REQUEST.bits());
    records.insert(place - 1, fill(9, 0));
    records.insert(place, fill(9, 0));
    assert_eq!(replayed(&records, client).0.unwrap(), 7);
}

/// Two BOs, each mapped, and filled by the client; what the first holds in the end.
fn two_bos(device: &Device) -> winsys::Result<[u32; 2]> {
    let bos = [Bo::create(device, request(PAGE))?, Bo::create(device, request(PAGE))?];
    let [one, two] = [Mapping::new(&bos[0])?, Mapping::new(&bos[1])?];
    one.store_u32(0, 1)?;
    two.store_u32(0, 2)?;
    device.ping()?;
    Ok([one.load_u32(0)?, two.load_u32(0)?])
}

#[test]
fn bos_share_no_memory_whatever_their_offsets_and_numbers() {
    let honest = records(two_bos);
    assert_eq!(replayed(&honest, two_bos).0.unwrap(), [1, 2]);
    let maps = mapped(&honest);
    let [(_, first), (second_map, _)] = maps[..] else { panic!("{maps:?}") };
    // One number of memory for both.
    let mut records = honest.clone();
    let Record::Call(Call { action: Action::Map { memory, .. }, .. }) = &mut records[second_map] else { panic!() };
    *memory = first;
    is_nonsense(&replayed(&records, two_bos), "the number of other memory");
    // One offset in the node for both.
    let mut records = honest.clone();
    let mut offsets = ioctls(&mut records, GemMmap::REQUEST.bits());
    let offset = offsets[0].1.changed.clone();
    offsets[1].1.changed = offset;
    is_nonsense(&replayed(&records, two_bos), "two BOs have the same offset");
    // One handle for both.
    let mut records = honest.clone();
    let mut bos = ioctls(&mut records, GemCreate::REQUEST.bits());
    let handle = bos[0].1.changed.clone();
    bos[1].1.changed = handle;
    is_nonsense(&replayed(&records, two_bos), "a handle that another BO has");
}

#[test]
fn numbers_of_contexts_and_sync_objects_are_given_out_once_at_a_time() {
    let contexts = |device: &Device| {
        // What was given back may come again.
        drop(Context::new(device, Priority::Normal)?);
        Ok([Context::new(device, Priority::Normal)?, Context::new(device, Priority::Normal)?].map(drop))
    };
    let syncobjs = |device: &Device| {
        drop(Syncobj::new(device, false)?);
        Ok([Syncobj::new(device, false)?, Syncobj::new(device, false)?].map(drop))
    };
    let twice = |mut records: Vec<Record>, request| {
        let mut made = ioctls(&mut records, request);
        let number = made[1].1.changed.clone();
        made[2].1.changed = number;
        records
    };
    let honest = [records(contexts), records(syncobjs)];
    replayed(&honest[0], contexts).1.unwrap();
    replayed(&honest[1], syncobjs).1.unwrap();
    let [one, other] = honest;
    is_nonsense(&replayed(&twice(other, SyncobjCreate::REQUEST.bits()), syncobjs), "another object has");
    let places: Vec<_> = (0..one.len()).filter(|&at| is_context(&one[at])).collect();
    let mut changed = one;
    let Record::Call(Call { action: Action::Ioctl(second), .. }) = changed[places[1]].clone() else { panic!() };
    let Record::Call(Call { action: Action::Ioctl(third), .. }) = &mut changed[places[2]] else { panic!() };
    third.changed = second.changed;
    is_nonsense(&replayed(&changed, contexts), "another object has");
}

/// Returns `true` if it is a context's beginning.
fn is_context(record: &Record) -> bool {
    matches!(record, Record::Call(Call { action: Action::Ioctl(ioctl), .. })
        if ioctl.request == Ctx::REQUEST.bits() && ioctl.input[0] == 1)
}

/// The library lends references into memory that it never lets others write, such as recorded IBs.
#[test]
fn memory_that_the_gpu_may_not_write_is_not_written() {
    let client = |rights| {
        move |device: &Device| {
            let bo = Bo::create(device, request(PAGE))?;
            let mapping = Mapping::new(&bo)?;
            mapping.store_u32(0, 5)?;
            let _binding = bind(&bo, rights)?;
            device.ping()?;
            Ok(mapping.load_u32(0)?)
        }
    };
    for (rights, expected) in [(WRITES, Ok(0xbad)), (VaFlags::READABLE, Err(()))] {
        let mut records = records(client(rights));
        let memory = mapped(&records)[0].1;
        let place = behind(&mut records, GemVa::REQUEST.bits());
        // Before the last GEM_VA, which unbinds, and so after the ping.
        records.insert(place - 1, fill(memory, 0));
        let replayed = replayed(&records, client(rights));
        match expected {
            Ok(value) => assert_eq!(replayed.0.unwrap(), value),
            Err(()) => is_nonsense(&replayed, "a page of memory that the GPU may not write"),
        }
    }
}

#[test]
fn a_file_that_is_no_eventfd_is_not_written() {
    let mut file =
        std::fs::File::from(nix::sys::memfd::memfd_create(c"victim", nix::sys::memfd::MFdFlags::MFD_CLOEXEC).unwrap());
    let counter = EventFd::new().unwrap();
    let tell = |fd: std::os::fd::BorrowedFd<'_>| {
        let fd = fd.try_clone_to_owned().unwrap();
        move |device: &Device| Syncobj::new(device, true)?.notify(0, Until::Signalled, fd.as_fd())
    };
    let mut records = records(tell(counter.as_fd()));
    assert_eq!(ioctls(&mut records, SyncobjEventfd::REQUEST.bits()).len(), 1);
    counter.read().unwrap();
    replayed(&records, tell(counter.as_fd())).0.unwrap();
    assert_eq!(counter.read(), Ok(1), "a client's eventfd is told");
    is_nonsense(&replayed(&records, tell(file.as_fd())), "a sync object signals a file that is not an eventfd");
    let mut content = Vec::new();
    file.rewind().unwrap();
    file.read_to_end(&mut content).unwrap();
    assert_eq!(content, [] as [u8; 0]);
}

#[test]
fn nobody_changes_the_size_of_what_a_replay_gives_out() {
    let client = |device: &Device| -> winsys::Result<_> { Ok(Bo::create(device, request(2 * PAGE))?.export()?) };
    let (fd, finished) = replayed(&records(client), client);
    finished.unwrap();
    let fd = fd.unwrap();
    for len in [0, 4096, 65536] {
        assert_eq!(nix::unistd::ftruncate(&fd, len), Err(nix::errno::Errno::EPERM));
    }
    assert_eq!(fstat(&fd).unwrap().st_size, 8192);
}

/// A kernel that says yes and leaves any number where a descriptor belongs: the recorder only looks at that file.
#[test]
fn a_recorder_does_not_move_files_that_are_not_its_own() {
    struct Liar(i32);

    impl Layer for Liar {
        fn ioctl<'c>(&self, call: amdgpu_layers::Ioctl<'c>) -> Answered<'c> {
            if call.request().bits() != PrimeHandle::REQUEST.bits() {
                return call.forward();
            }
            let lie = PrimeHandle { fd: self.0, ..call.read() };
            // SAFETY: the test gives the descriptor to no owner.
            #[expect(unsafe_code, reason = "a kernel that lies")]
            let mut answered = unsafe { call.agree() };
            // SAFETY: as above.
            #[expect(unsafe_code, reason = "a kernel that lies")]
            unsafe {
                answered.write(&lie);
            }
            answered
        }
    }

    let mut file =
        std::fs::File::from(nix::sys::memfd::memfd_create(c"victim", nix::sys::memfd::MFdFlags::MFD_CLOEXEC).unwrap());
    file.write_all(b"0123456789").unwrap();
    let recording = Recording::new(Tape::default()).unwrap();
    let gpu = SimDevice::new(profile("navi21").unwrap(), SimOptions::default());
    let kernel = recording.wrap(Liar(file.as_raw_fd()).over(gpu.open()));
    let mut export = PrimeHandle { handle: 1, flags: 0, fd: -1 };
    let argument = std::ptr::from_mut(&mut export).cast();
    // SAFETY: the argument is what the request wants, and holds no address.
    #[expect(unsafe_code, reason = "a raw request")]
    let result = unsafe { kernel.ioctl(PrimeHandle::REQUEST, argument) };
    assert_eq!(result, Ok(0));
    assert_eq!(file.stream_position().unwrap(), 10);
}
