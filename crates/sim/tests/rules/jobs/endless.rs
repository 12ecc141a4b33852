//! R134 and R125: jobs that never end by themselves end when their process has, or when their time is over, within 100 ms.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use amdgpu_sim::{LockupTimeout, SimDevice, SimOptions, profile};
use amdgpu_uapi::Errno;
use amdgpu_winsys::{
    cs::sdma,
    uapi::{GemCreateFlags, GemDomain},
    vamgr::GpuVa,
    winsys::Ip,
};
use nix::time::{ClockId, clock_gettime};

use crate::support::{Chunk, DATA, Rig, is_readable, reference, sync_file_info};

/// Within which a job ends that is told to.
const AT_ONCE: Duration = Duration::from_millis(100);
/// The time that a job may run on the impatient card.
const TIME: Duration = Duration::from_millis(150);
/// Longer than any of these jobs takes to end, in ms, on a machine that does much else.
const SOON: u16 = 20_000;
/// Offsets in the data: of a program, of an IB, and of what the packets behind the endless one would store.
const PROGRAM: u64 = 0x4000;
const RING: u64 = 0x8000;
const BEHIND: u64 = 0xc000;
/// Addresses of two gibibytes that each lead to one mebibyte of memory.
const FROM: u64 = 1 << 32;
const TO: u64 = 2 << 32;
const MIB: u64 = 1 << 20;

/// A job that never ends, or not for minutes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Endless {
    /// A wave that jumps to itself.
    Loop,
    /// The same in many groups of 1024 threads, in one dispatch behind the other.
    Loops,
    /// 2^64 groups of one instruction.
    Groups,
    /// Waves that wait at a barrier for one that never comes.
    Barrier,
    /// An IB that chains to itself.
    Chain,
    /// The same with packets that are skipped, and some that store.
    ConditionalChain,
    /// A wait for memory.
    Wait,
    /// Copies of a gibibyte.
    Copies,
    /// Fills of as much as the packet can.
    Fills,
    /// A copy dword by dword.
    Dwords,
}

use Endless::{Barrier, Chain, ConditionalChain, Copies, Dwords, Fills, Groups, Loop, Loops, Wait};

const ALL: [(Ip, Endless); 21] = [
    (Ip::Compute, Loop),
    (Ip::Compute, Loops),
    (Ip::Compute, Groups),
    (Ip::Compute, Barrier),
    (Ip::Compute, Chain),
    (Ip::Compute, ConditionalChain),
    (Ip::Compute, Wait),
    (Ip::Compute, Copies),
    (Ip::Compute, Fills),
    (Ip::Gfx, Loop),
    (Ip::Gfx, Loops),
    (Ip::Gfx, Groups),
    (Ip::Gfx, Chain),
    (Ip::Gfx, ConditionalChain),
    (Ip::Gfx, Wait),
    (Ip::Gfx, Copies),
    (Ip::Gfx, Fills),
    (Ip::Gfx, Dwords),
    (Ip::Sdma, Wait),
    (Ip::Sdma, Copies),
    (Ip::Sdma, Fills),
];

impl Endless {
    /// Returns `true` if its waves are what does not end.
    const fn is_of_waves(self) -> bool {
        matches!(self, Loop | Loops | Groups | Barrier)
    }

    /// Returns its packets, and a store behind them.
    fn packets(self, rig: &Rig, ip: Ip) -> Vec<u32> {
        let mut packets = match self {
            // s_branch to itself
            Loop => dispatch(rig, &[0xbf82_ffff, 0xbf81_0000], 64, [1, 1, 1]),
            Loops => dispatch(rig, &[0xbf82_ffff, 0xbf81_0000], 1024, [9, 9, 9]).repeat(50),
            Groups => dispatch(rig, &[0xbf81_0000], 64, [u32::MAX, u32::MAX, 1]),
            // s_cmp_eq_u32 s2, 0 (the group's number); s_cbranch_scc0 to itself; s_barrier; s_branch to it
            Barrier => dispatch(rig, &[0xbf8a_0000, 0xbf82_fffe, 0xbf81_0000], 1024, [4, 1, 1]),
            Chain => {
                put(rig, RING, &chain(DATA + RING, 4));
                chain(DATA + RING, 4).to_vec()
            }
            ConditionalChain => {
                // COND_EXEC of a dword that is 0: the NOP that would be malformed is skipped.
                let mut ib = vec![0xc003_2200, (DATA + BEHIND + 64) as u32, 0, 0, 2, 0xc000_1000, 0];
                ib.extend(rig.store(ip, BEHIND + 128, 1));
                let dwords = ib.len() as u32 + 4;
                ib.extend(chain(DATA + RING, dwords));
                put(rig, RING, &ib);
                chain(DATA + RING, dwords).to_vec()
            }
            Wait => rig.wait_value(ip, BEHIND + 256, 1),
            Copies | Fills | Dwords => self.moves(rig, ip),
        };
        packets.extend(rig.store(ip, BEHIND, 7));
        packets
    }

    fn moves(self, rig: &Rig, ip: Ip) -> Vec<u32> {
        let [from, to] = [FROM, TO].map(|raw| GpuVa::new(raw).unwrap());
        if ip == Ip::Sdma {
            let packet = match self {
                Copies => rig.encode_sdma(&sdma::CopyLinear::new(to, from, 1 << 30)),
                _ => rig.encode_sdma(&sdma::ConstFill::new(to, 5, 1 << 22)),
            };
            return packet.repeat(if self == Copies { 40 } else { 10_000 });
        }
        let [low, high] = [FROM as u32, (FROM >> 32) as u32];
        let control = match self {
            Fills => 2 << 29,
            // To GDS and back is dword by dword.
            Dwords => 1 << 20,
            _ => 0,
        };
        let (to_low, to_high) = (TO as u32, (TO >> 32) as u32);
        [0xc005_5000, control, low, high, to_low, to_high, (1 << 26) - 4].repeat(2000)
    }
}

/// The packets of a dispatch of a program.
fn dispatch(rig: &Rig, program: &[u32], threads: u32, [x, y, z]: [u32; 3]) -> Vec<u32> {
    put(rig, PROGRAM, program);
    let mut stream = vec![0xc002_7602, 0x20c, ((DATA + PROGRAM) >> 8) as u32, 0];
    stream.extend([0xc002_7602, 0x212, 1 | 0xc0 << 12, 2 << 1 | 1 << 7]);
    stream.extend([0xc003_7602, 0x207, threads, 1, 1]);
    stream.extend([0xc003_1502, x, y, z, 5]);
    stream
}

/// INDIRECT_BUFFER to an IB without a way back.
fn chain(va: u64, dwords: u32) -> [u32; 4] {
    [0xc002_3f00, va as u32, (va >> 32) as u32, dwords | 1 << 20 | 1 << 23]
}

fn put(rig: &Rig, at: u64, words: &[u32]) {
    words.iter().zip((at..).step_by(4)).for_each(|(word, at)| rig.poke(at, *word));
}

/// A rig with the gibibytes of addresses that copies and fills use.
fn wide_rig(device: &SimDevice) -> Rig {
    let rig = Rig::new(device);
    for base in [FROM, TO] {
        let memory = rig.file.try_create(MIB, 0, GemDomain::GTT, GemCreateFlags::VM_ALWAYS_VALID).unwrap();
        (0..1024).for_each(|index| rig.file.bind(memory, base + index * MIB, MIB).unwrap());
    }
    rig
}

/// Repeats a measurement that other programs disturb, until it is short enough once. Each is the time that [`beside`] returns.
fn assert_at_once(what: &str, mut measure: impl FnMut() -> Duration) {
    let mut times = Vec::new();
    while times.len() < 10 {
        let time = measure();
        if time <= AT_ONCE {
            return;
        }
        times.push(time);
    }
    panic!("{what}: {times:?}");
}

/// Does something that waits for a thread of the simulator, and returns the time of a processor that a busy thread beside it got
/// meanwhile, from `since` after the start on. On a machine whose processors are taken, both get less of them.
fn beside<T>(since: Duration, act: impl FnOnce() -> T) -> (T, Duration) {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let busy = scope.spawn(|| {
            std::thread::sleep(since);
            let start = thread_time();
            while !is_over.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
            thread_time().saturating_sub(start)
        });
        let outcome = act();
        is_over.store(true, Ordering::Relaxed);
        (outcome, busy.join().unwrap())
    })
}

/// Returns the time of a processor that this thread has had.
fn thread_time() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).unwrap().into()
}

/// A card whose waves are executed on one thread, which needs no others to be told of the end.
fn one_thread(lockup_timeout: LockupTimeout) -> SimDevice {
    let options = SimOptions { lockup_timeout, strict: false, shader_threads: 1, ..reference() };
    SimDevice::new(profile("navi21").unwrap(), options)
}

// Checks R134.
#[test]
fn an_endless_job_ends_within_100_ms_once_its_process_has() {
    let device = one_thread(LockupTimeout::DEFAULT);
    let other = Rig::new(&device);
    for (ip, endless) in ALL {
        assert_at_once(&format!("{ip} {endless:?}"), || {
            let rig = wide_rig(&device);
            let syncobjs = [(); 3].map(|()| {
                let syncobj = rig.file.syncobj(false);
                let job = rig.job(ip, 0, &endless.packets(&rig, ip)).with(Chunk::signal(syncobj));
                job.send(&rig.file).unwrap();
                syncobj
            });
            let files = syncobjs.map(|syncobj| rig.file.sync_file(syncobj).unwrap());
            let jobs = rig.file.0.jobs();
            std::thread::sleep(Duration::from_millis(20));
            assert!(!is_readable(&files[0], 0) && !jobs.are_over(), "{ip} {endless:?} has ended by itself");
            let ((), time) = beside(Duration::ZERO, || {
                jobs.end();
                assert!(files.iter().all(|file| is_readable(file, SOON)), "{ip} {endless:?} does not end");
            });
            let status = |file| sync_file_info(&device.machine(), file, 1).unwrap().1[0].status;
            assert_eq!(files.each_ref().map(status), [-(Errno::ESRCH.raw()); 3], "{ip} {endless:?}");
            assert_eq!(rig.load(BEHIND), 0, "{ip} {endless:?}: nothing behind it is executed");
            let number = other.run(ip, 0, &other.store(ip, 0, 9)).unwrap();
            assert_eq!(other.finish(ip, 0, number), Ok(()), "{ip} {endless:?}: the ring serves others");
            let late = rig.run(ip, 0, &rig.store(ip, BEHIND, 7)).and_then(|late| rig.finish(ip, 0, late));
            assert_eq!(late, Err(Errno::ESRCH), "{ip} {endless:?}: later jobs are dropped");
            time
        });
    }
    let resets = device.complaints();
    assert!(!resets.iter().any(|said| said.contains("hangs")), "{resets:?}");
}

// Checks R125.
#[test]
fn an_endless_job_ends_within_100_ms_once_its_time_is_over() {
    for (ip, endless) in ALL {
        assert_at_once(&format!("{ip} {endless:?}"), || {
            let device = one_thread(LockupTimeout::all(TIME));
            let rig = wide_rig(&device);
            let packets = endless.packets(&rig, ip);
            let started = Instant::now();
            let (outcome, late) = beside(TIME, || {
                let number = rig.run(ip, 0, &packets).unwrap();
                rig.finish(ip, 0, number)
            });
            let time = started.elapsed();
            // Waves are killed, and whatever else is stuck needs a reset.
            let expected = if endless.is_of_waves() { Errno::ENODATA } else { Errno::ECANCELED };
            assert_eq!(outcome, Err(expected), "{ip} {endless:?}");
            assert!(time >= TIME, "{ip} {endless:?} ends after {time:?}");
            assert_eq!(rig.load(BEHIND), 0, "{ip} {endless:?}: nothing behind it is executed");
            let said = device.complaints().join("\n");
            assert!(said.contains("hangs: "), "{said}");
            assert!(endless == Wait || said.contains("a job may run for 150ms (lockup_timeout)"), "{said}");
            late
        });
    }
}

// Checks R125.
#[test]
fn a_job_without_a_limit_runs_on() {
    let device = one_thread(LockupTimeout::all(Duration::MAX));
    let rig = Rig::new(&device);
    let number = rig.run(Ip::Compute, 0, &Loop.packets(&rig, Ip::Compute)).unwrap();
    std::thread::sleep(TIME);
    assert!(!rig.is_done(Ip::Compute, 0, number));
}
