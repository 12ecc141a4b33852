//! Streams that keep memory, grow and are closed.

use amdgpu_winsys::{
    cs::{IbPlacement, IbPool, RecordError, Stream, pm4},
    winsys::ResidencySet,
};

use crate::{Bench, count, failing, is_no_host_memory};

/// Without host memory a stream that keeps memory is poisoned, and heals.
#[test]
fn keeping_memory_without_host_memory_poisons_the_stream() {
    let bench = Bench::new();
    let set = ResidencySet::new();
    let mut fired = 0;
    for n in 0.. {
        let mut stream = Stream::new(&bench.device, bench.target(), 64).unwrap();
        let handles = bench.handles();
        let keep = |stream: &mut Stream<pm4::Target>| {
            bench.memories.iter().for_each(|memory| stream.keep(memory.binding()));
            stream.keep_set(&set);
        };
        if failing(n, || keep(&mut stream)).is_none() {
            stream.finish().unwrap();
            break;
        }
        fired += 1;
        is_no_host_memory(stream.status());
        // What is recorded now goes nowhere, without an allocation.
        assert!(failing(0, || *stream.room() = [1; 1024]).is_none());
        stream.clear();
        assert_eq!(bench.handles(), handles, "{n}");
        keep(&mut stream);
        stream.push(&pm4::Nop::Skip(&[0; 7])).unwrap();
        assert_eq!(stream.finish().unwrap().len() % 8, 0);
    }
    assert!(fired > 5, "{fired}");
}

/// Growing into memory of a pool, and closing.
#[test]
fn growing_and_closing_a_stream_of_a_pool_fail_cleanly() {
    let bench = Bench::new();
    let pool = IbPool::new(&bench.device, IbPlacement::of(bench.device.info(), 0), 1 << 20).unwrap();
    let record = || -> Result<Stream<pm4::Target>, RecordError> {
        let mut stream = pool.stream(bench.target(), 1000)?;
        for _ in 0..5000 {
            stream.push(&pm4::Nop::Skip(&[0; 7]))?;
        }
        bench.memories.iter().for_each(|memory| stream.keep(memory.binding()));
        stream.status()?;
        Ok(stream)
    };
    // A stream that is not finished frees the IB that it was writing, so the pool is filled again each time.
    let fill = || drop(record().unwrap().finish().unwrap());
    let bos = bench.gpu.census().bos;
    fill();
    assert!(pool.idle_dwords() > 40_000);
    let mut fired = 0;
    for n in 0.. {
        let Some(outcome) = failing(n, record) else { break };
        is_no_host_memory(outcome);
        fired += 1;
        fill();
    }
    assert!(fired > 5, "{fired}");
    fill();
    let whole = |fails_at| {
        let stream = record().unwrap();
        failing(fails_at, || stream.finish())
    };
    let calls = count(|| drop(record().unwrap().finish())) - count(|| drop(record().unwrap()));
    assert!(calls >= 1);
    // The last one is the list, which has its room before it.
    for n in 0..calls - 1 {
        fill();
        is_no_host_memory(whole(n).expect("an allocation"));
    }
    pool.trim();
    assert_eq!(bench.gpu.census().bos, bos, "nothing is left of it");
}
