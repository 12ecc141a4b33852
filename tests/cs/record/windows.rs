//! Dwords that callers store by themselves: windows, streams of any language, pools and recorders.

use crate::support::{chips, device, host_memory, job_time, queue};
use amdgpu_sim::SimKernel;
use amdgpu_winsys::{
    cs::{
        AnyStream, Breadcrumbs, Execution, Gang, IbPlacement, IbPool, Inclusion, Queue, RecordError, Stream,
        Submission, Target, commands::Recorder, pm4,
    },
    heaps::DeviceMemory,
    winsys::{Context, Device, Ip, Priority},
};
fn load(memory: &DeviceMemory, count: u64) -> Vec<u32> {
    (0..count).map(|at| memory.mapping().unwrap().load_u32(at * 4).unwrap()).collect()
}

/// Stores of 1, 2, 3.. by dwords that the caller encodes, with a window asked for each.
fn store_all(stream: &mut AnyStream, memory: &DeviceMemory, count: u64) {
    for at in 0..count {
        let va = memory.address().checked_add(4 * at).unwrap();
        let value = at as u32 + 1;
        let dwords = match stream.target() {
            Target::Pm4(_) => [0xc003_3700, 0x0010_0500, va.low(), va.high(), value],
            Target::Sdma(_) => [2, va.low(), va.high(), 0, value],
        };
        stream.grow(5).unwrap();
        assert!(stream.window().len() >= 5 && stream.window().len() == stream.remaining());
        stream.window()[..5].copy_from_slice(&dwords);
        let before = stream.chunk_len();
        stream.advance(5).unwrap();
        assert_eq!((stream.chunk_len(), &stream.chunk()[before..before + 5]), (before + 5, &dwords[..]));
    }
}

#[test]
fn what_is_stored_into_windows_runs_on_every_kind_of_ring() {
    for ip in [Ip::Gfx, Ip::Compute, Ip::Sdma] {
        let device = device("navi21");
        let (queue, memory) = (queue(&device, ip, 0), host_memory(&device, 16384));
        let mut stream = AnyStream::new(&device, queue.target(), 8).unwrap();
        store_all(&mut stream, &memory, 3000);
        let list = stream.finish().unwrap();
        assert!(list.ibs().len() > 2, "it has grown");
        let bindings = [memory.binding().clone()];
        let fence = queue.submit(&Submission { lists: &[&list], memory: &bindings, ..Submission::default() }).unwrap();
        assert!(fence.wait(job_time()).unwrap());
        assert_eq!(load(&memory, 3000), (1..=3000).collect::<Vec<_>>(), "{ip}");
    }
}

#[test]
fn nothing_behind_the_window_is_lent_or_counted() {
    for name in chips() {
        let device = device(name);
        for ip in [Ip::Gfx, Ip::Compute, Ip::Sdma] {
            let target = Target::new(device.info().gfx_level, ip).unwrap();
            let mut stream = AnyStream::new(&device, target, 16).unwrap();
            let room = stream.window().len();
            let error = RecordError::TooLong { needed: room + 1, most: room };
            assert_eq!(stream.advance(room + 1), Err(error));
            assert_eq!(
                stream.advance(usize::MAX).unwrap_err(),
                RecordError::TooLong { needed: usize::MAX, most: room }
            );
            assert_eq!((stream.len(), stream.chunk().len()), (0, room));
            // Filled to the brim, padding and tail have their place.
            let filler = [0xc000_1000, 0];
            for dword in stream.window().chunks_mut(2).flat_map(|pair| pair.iter_mut().zip(filler)) {
                *dword.0 = if ip == Ip::Sdma { 0 } else { dword.1 };
            }
            stream.advance(room).unwrap();
            assert_eq!((stream.remaining(), stream.window().len()), (0, 0));
            let list = stream.finish().unwrap();
            let whole = list.dwords().next().unwrap();
            assert!(whole.len() >= room && whole.len().is_multiple_of(target.pad_dwords()), "{name} {ip}");
        }
    }
}

#[test]
fn a_stream_is_padded_so_that_what_follows_ends_a_block() {
    let device = device("navi21");
    for ip in [Ip::Gfx, Ip::Sdma] {
        let target = Target::new(device.info().gfx_level, ip).unwrap();
        let block = target.pad_dwords();
        for (used, leave) in (0..2 * block).flat_map(|used| [0, 1, 4, block].map(|leave| (used, leave))) {
            let mut stream = AnyStream::new(&device, target, 64).unwrap();
            stream.reserve(used).unwrap().fill(7);
            stream.pad(leave).unwrap();
            let padded = stream.chunk_len();
            assert!((padded + leave).is_multiple_of(block), "{ip} {used} {leave}");
            // Nothing at all becomes a block of the copy engine.
            assert!(padded - used < block || used == 0, "{ip} {used} {leave}");
        }
    }
}

#[test]
fn a_poisoned_stream_lends_nothing() {
    let device = Device::new(SimKernel::open(crate::support::chip("navi21"))).unwrap();
    let mut stream = Stream::new(&device, pm4::Target::gfx(device.info().gfx_level), 8).unwrap();
    stream.record(&pm4::Nop::Skip(&[]));
    assert!(stream.status().is_err());
    assert!(stream.window().is_empty() && stream.advance(1).is_err() && stream.grow(1).is_err());
    assert!(stream.pad(0).is_err());
    stream.clear();
    assert!(stream.grow(8).is_ok() && stream.window().len() >= 8);
}

#[test]
fn secondaries_come_from_a_pool_and_return_to_it() {
    let device = device("navi21");
    let (pool, target) =
        (IbPool::new(&device, IbPlacement::Cached, 1 << 20).unwrap(), pm4::Target::gfx(device.info().gfx_level));
    let mut caller = pool.stream(target, 64).unwrap();
    let leaf = pool.secondary(target, 64).unwrap().finish().unwrap();
    assert_eq!(caller.execute(&leaf, Inclusion::Auto), Ok(Execution::Called));
    let caller = caller.finish().unwrap();
    let mut secondary = pool.secondary(target, 64).unwrap();
    assert_eq!(secondary.execute(&caller, Inclusion::Auto), Err(RecordError::NestedCall), "it is a secondary");
    drop((leaf, caller));
    let before = pool.idle_dwords();
    drop(secondary.finish().unwrap());
    assert!(before > 0 && pool.idle_dwords() > before);
}

#[test]
fn a_recorder_gives_its_stream_back_and_lends_what_the_stream_has() {
    let device = device("navi21");
    let (queue, memory) = (queue(&device, Ip::Gfx, 0), host_memory(&device, 4096));
    let crumbs = Breadcrumbs::new(&device).unwrap();
    let stream = Stream::new(&device, pm4::Target::gfx(device.info().gfx_level), 256).unwrap();
    let mut recorder = Recorder::new(stream);
    recorder.keep(memory.binding());
    recorder.begin_mark(&crumbs, 3).unwrap();
    let (low, high) = (memory.address().low(), memory.address().high());
    recorder.reserve(5).unwrap().copy_from_slice(&[0xc003_3700, 0x0010_0500, low, high, 1]);
    recorder.packet_writer(5).unwrap().put([0xc003_3700, 0x0010_0500, low + 4, high, 2]).unwrap();
    recorder.end_mark(&crumbs, 3).unwrap();
    let list = recorder.into_stream().unwrap().finish().unwrap();
    let fence = queue.submit(&Submission { lists: &[&list], ..Submission::default() }).unwrap();
    assert!(fence.wait(job_time()).unwrap());
    assert_eq!(load(&memory, 2), [1, 2], "the memory is kept, and so listed");
    assert_eq!((crumbs.progress().begun, crumbs.progress().done), (3, 3));
}

#[test]
fn a_bare_gang_runs_what_it_is_given_and_nothing_else() {
    let device = device("navi21");
    let context = Context::new(&device, Priority::Normal).unwrap();
    let (leader, follower) = (Queue::new(&context, Ip::Gfx, 0).unwrap(), Queue::new(&context, Ip::Compute, 0).unwrap());
    let memory = host_memory(&device, 4096);
    let list = |queue: &Queue, count| {
        let mut stream = AnyStream::new(&device, queue.target(), 64).unwrap();
        store_all(&mut stream, &memory, count);
        stream.finish().unwrap()
    };
    // The caller's own hand-shake: the leader waits for the third dword, which the follower stores.
    let Target::Pm4(target) = leader.target() else { unreachable!() };
    let mut main = Stream::new(&device, target, 64).unwrap();
    let third = memory.address().checked_add(8).unwrap();
    main.push(&pm4::WaitRegMem::new(third, pm4::Compare::Equal, 3)).unwrap();
    let (main, preamble, share) = (main.finish().unwrap(), list(&follower, 1), list(&follower, 3));
    let gang = Gang::bare(&leader, &[&follower]).unwrap();
    let bindings = [memory.binding().clone()];
    let submission = Submission { lists: &[&main], memory: &bindings, ..Submission::default() };
    let fence = gang.submit(&[&[&preamble, &share]], &submission).unwrap();
    assert!(fence.wait(job_time()).unwrap());
    assert_eq!(load(&memory, 4), [1, 2, 3, 0]);
    assert!(Gang::bare(&leader, &[]).is_err() && Gang::bare(&leader, &[&leader]).is_err());
}
