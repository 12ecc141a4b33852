//! Compute shaders: what a dispatch leaves in memory, and what becomes of one that can not go on.

use std::{
    io::{self, Write},
    ops::ControlFlow,
    sync::{Arc, Mutex},
    time::Duration,
};

use amdgpu_hw::GfxLevel;
use amdgpu_isa::{WaveSize, assemble};
use amdgpu_sim::{
    HazardKind, LockupTimeout, ShaderWatch, SimDevice, SimOptions, Strictness, TracedWaves, profile, shader_log,
};
use amdgpu_uapi::Errno;
use amdgpu_winsys::winsys::Ip;

use crate::support::{DATA, HANG, Rig, card, hanging_for, reference};

/// Offset of the program in the data.
const PROGRAM: u64 = 0x4000;
const RESULTS: u64 = 0x8000;
/// The time that dispatches of hundreds of groups may take.
const PATIENCE: Duration = Duration::from_secs(2);

/// Stores each thread's number in the grid at s[0:1] + 4 * number.
const STORE_NUMBERS: [&str; 4] =
    ["v_lshl_add_u32 v1, s2, 6, v0", "v_lshlrev_b32_e32 v2, 2, v1", "global_store_dword v2, v1, s[0:1]", "s_endpgm"];

/// Puts a program into memory and runs groups of 64 threads of it, whose first registers hold `target`.
fn dispatch(rig: &Rig, ip: Ip, wave: WaveSize, (program, groups): (&[&str], u32), target: u64) -> Result<(), Errno> {
    let words = program.iter().flat_map(|line| assemble(GfxLevel::Gfx10_3, wave, line).unwrap().dwords().to_vec());
    run(rig, ip, wave, (&words.collect::<Vec<_>>(), groups), target)
}

/// The same with machine code.
fn run(rig: &Rig, ip: Ip, wave: WaveSize, program: (&[u32], u32), target: u64) -> Result<(), Errno> {
    run_with(rig, ip, wave, program, &[target as u32, (target >> 32) as u32])
}

/// The same with two arguments, of which only the first ones are set.
fn run_with(rig: &Rig, ip: Ip, wave: WaveSize, (words, groups): (&[u32], u32), arguments: &[u32]) -> Result<(), Errno> {
    for (at, word) in words.iter().enumerate() {
        rig.poke(PROGRAM + 4 * at as u64, *word);
    }
    let initiator = 5 | if wave == WaveSize::Wave32 { 1 << 15 } else { 0 };
    let program = DATA + PROGRAM;
    // COMPUTE_PGM_LO and _HI.
    let mut stream = vec![0xc002_7602, 0x20c, (program >> 8) as u32, 0];
    // 8 VGPRs, denormals of 16 and 64 bits; two user registers and the group's number.
    stream.extend([0xc002_7602, 0x212, 1 | 0xc0 << 12, 2 << 1 | 1 << 7]);
    stream.extend([0xc003_7602, 0x207, 64, 1, 1]);
    if !arguments.is_empty() {
        stream.extend([0xc000_7602 | (arguments.len() as u32) << 16, 0x240]);
        stream.extend(arguments);
    }
    stream.extend([0xc003_1502, groups, 1, 1, initiator]);
    let number = rig.run(ip, 0, &stream).unwrap();
    rig.finish(ip, 0, number)
}

#[test]
fn a_dispatch_computes_on_the_memory_of_its_job_on_every_ring_and_in_both_wave_sizes() {
    let device = card();
    let rig = Rig::new(&device);
    for ip in [Ip::Gfx, Ip::Compute] {
        for wave in [WaveSize::Wave32, WaveSize::Wave64] {
            for thread in 0..256 {
                rig.poke(RESULTS + 4 * thread, u32::MAX);
            }
            dispatch(&rig, ip, wave, (&STORE_NUMBERS, 3), DATA + RESULTS).unwrap();
            for thread in 0..256 {
                let expected = if thread < 3 * 64 { thread as u32 } else { u32::MAX };
                assert_eq!(rig.load(RESULTS + 4 * thread), expected, "{ip:?} {wave:?}");
            }
        }
    }
    assert_eq!(device.complaints(), Vec::<String>::new());
}

#[test]
fn an_argument_that_the_job_has_not_set_is_reported_where_a_dispatch_reads_it() {
    let words = |line: &str| {
        let lines = [line, "s_endpgm"].map(|line| assemble(GfxLevel::Gfx10_3, WaveSize::Wave64, line).unwrap());
        lines.iter().flat_map(|line| line.dwords().to_vec()).collect::<Vec<_>>()
    };
    for ip in [Ip::Gfx, Ip::Compute] {
        let device =
            SimDevice::new(profile("navi21").unwrap(), SimOptions { strictness: Strictness::Report, ..reference() });
        let rig = Rig::new(&device);
        let found = |line: &str, arguments: &[u32]| {
            let before = device.hazards().len();
            run_with(&rig, ip, WaveSize::Wave64, (&words(line), 1), arguments).unwrap();
            let new = device.hazards().into_iter().skip(before);
            let about = new.filter(|report| report.kind == HazardKind::Instruction);
            about.map(|report| (report.later, report.missing)).collect::<Vec<_>>()
        };
        assert_eq!(found("v_mov_b32_e32 v1, s1", &[1, 2]), [], "{ip:?}: set");
        let unset = found("v_mov_b32_e32 v1, s1", &[1]);
        let [(later, missing)] = &unset[..] else { panic!("{ip:?}, set by an earlier job alone: {unset:?}") };
        assert!(later.contains("v_mov_b32") && later.contains("DISPATCH_DIRECT"), "{later}");
        assert!(missing.contains("UnsetArgument") && missing.contains("radv_emit_compute_shader"), "{missing}");
        assert_eq!(found("v_mov_b32_e32 v1, s0", &[1]), [], "{ip:?}: another one");
        assert_eq!(found("s_mov_b32 s1, 0", &[1]), [], "{ip:?}: overwritten");
        assert_eq!(found("v_mov_b32_e32 v1, s2", &[]), [], "{ip:?}: what the hardware sets");
    }
}

#[test]
fn reports_are_the_same_for_any_number_of_shader_threads() {
    // Both arguments are not set, and nothing waits for the load.
    let program = [
        "v_mov_b32_e32 v1, s1",
        "v_mov_b32_e32 v2, s0",
        "global_load_dword v3, v2, s[0:1]",
        "v_mov_b32_e32 v4, v3",
        "s_endpgm",
    ];
    let words =
        program.iter().flat_map(|line| assemble(GfxLevel::Gfx10_3, WaveSize::Wave64, line).unwrap().dwords().to_vec());
    let words: Vec<_> = words.collect();
    let reports = |shader_threads: usize| {
        let options = SimOptions { strictness: Strictness::Report, shader_threads, strict: false, ..reference() };
        let device = SimDevice::new(profile("navi21").unwrap(), options);
        let rig = Rig::new(&device);
        for ip in [Ip::Gfx, Ip::Compute] {
            run_with(&rig, ip, WaveSize::Wave64, (&words, 100), &[]).unwrap();
        }
        device.hazards().iter().map(amdgpu_sim::HazardReport::to_json).collect::<Vec<_>>()
    };
    let alone = reports(1);
    assert!(alone.iter().filter(|line| line.contains("UnsetArgument")).count() >= 2, "{alone:#?}");
    assert!(alone.iter().any(|line| line.contains("MissingWait")), "{alone:#?}");
    for threads in [2, 4] {
        assert_eq!(reports(threads), alone, "{threads} threads");
    }
}

#[test]
fn dispatches_are_counted_alone_where_shaders_are_off() {
    let options = SimOptions { shaders: false, strict: false, ..reference() };
    let device = SimDevice::new(profile("navi21").unwrap(), options);
    let rig = Rig::new(&device);
    dispatch(&rig, Ip::Compute, WaveSize::Wave64, (&STORE_NUMBERS, 1), DATA + RESULTS).unwrap();
    assert_eq!((rig.load(RESULTS + 4), device.tally().dispatches), (0, 1));
}

#[test]
fn an_illegal_instruction_hangs_the_ring_and_is_told_with_its_address_and_bytes() {
    let device = card();
    let rig = Rig::new(&device);
    let result = run(&rig, Ip::Compute, WaveSize::Wave64, (&[0xbf80_0000, 0xffff_ffff], 1), 0);
    assert!(result.is_err());
    let said = device.complaints().join("\n");
    let at = format!("{:#x}", DATA + PROGRAM + 4);
    assert!(said.contains(&at) && said.contains("ffffffff") && said.to_lowercase().contains("gfx10_3"), "{said}");
}

#[test]
fn a_shader_that_never_ends_hangs_the_ring_when_its_budget_is_used_up() {
    let options = SimOptions { shader_instructions: 1000, strict: false, ..hanging_for(HANG) };
    let device = SimDevice::new(profile("navi21").unwrap(), options);
    let rig = Rig::new(&device);
    assert!(run(&rig, Ip::Gfx, WaveSize::Wave32, (&[0xbf82_ffff], 1), 0).is_err());
    let said = device.complaints().join("\n");
    assert!(said.contains("budget of 1000 instructions"), "{said}");
}

#[test]
fn a_store_where_nothing_is_mapped_is_a_page_fault_and_the_job_goes_on() {
    let device = card();
    let rig = Rig::new(&device);
    dispatch(&rig, Ip::Compute, WaveSize::Wave64, (&STORE_NUMBERS, 1), 0x7000_0000).unwrap();
    let said = device.complaints().join("\n");
    assert!(said.contains("page fault: Write at 0x70000000") || said.contains("7000_0000"), "{said}");
}

#[test]
fn a_watched_dispatch_computes_the_same_and_tells_what_it_does() {
    let device = card();
    let rig = Rig::new(&device);
    let lines = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&lines);
    let traced = Some(TracedWaves::One { group: [1, 0, 0], wave: 0 });
    let watch = ShaderWatch { trace: traced, races: true, ..ShaderWatch::default() };
    device.watch_shaders(
        watch,
        Arc::new(move |news| {
            log.lock().unwrap().push(news.to_string());
            ControlFlow::Continue(())
        }),
    );
    dispatch(&rig, Ip::Compute, WaveSize::Wave64, (&STORE_NUMBERS, 3), DATA + RESULTS).unwrap();
    assert!((0..3 * 64).all(|thread| rig.load(RESULTS + 4 * thread) == thread as u32));
    let lines = lines.lock().unwrap();
    let [first, steps @ .., last] = &lines[..] else { panic!("{lines:?}") };
    assert!(first.starts_with(&format!("dispatch of {:#x}, groups up to 3,1,1: ", DATA + PROGRAM)), "{first}");
    assert_eq!(steps.len(), STORE_NUMBERS.len());
    for (step, text) in steps.iter().zip(STORE_NUMBERS) {
        assert!(step.starts_with("group 1,0,0 wave 0 ") && step.contains(text), "{step}");
    }
    assert!(steps[0].contains("v1 = 0:0x40 1:0x41"), "{}", steps[0]);
    assert!(last.starts_with("done; instructions: vector 6, memory 3,") && last.contains("768 stored"), "{last}");
    assert!(last.ends_with("; 0 waits missing; 0 pairs of instructions race"), "{last}");
}

/// A log that a test reads.
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_wave_that_stores_to_a_watched_address_hangs_there_and_its_lane_is_told() {
    let options = SimOptions { strict: false, ..hanging_for(HANG) };
    let device = SimDevice::new(profile("navi21").unwrap(), options);
    let rig = Rig::new(&device);
    let address = DATA + RESULTS + 4 * 70;
    let told = Arc::new(Mutex::new(Vec::new()));
    let watch = ShaderWatch { stores: Some(address..address + 4), ..ShaderWatch::default() };
    device.watch_shaders(watch, shader_log(Log(Arc::clone(&told)), true));
    assert!(dispatch(&rig, Ip::Compute, WaveSize::Wave64, (&STORE_NUMBERS, 3), DATA + RESULTS).is_err());
    let text = String::from_utf8(told.lock().unwrap().clone()).unwrap();
    assert!(
        text.contains(&format!("store by group 1,0,0 wave 0 lane 6 to {address:#x} of bytes 46 00 00 00")),
        "{text}"
    );
    assert!(text.contains("`global_store_dword v2, v1, s[0:1]`, after `v_lshlrev_b32"), "{text}");
    let said = device.complaints().join("\n");
    assert!(said.contains("ended by its watch"), "{said}");
}

/// Loads a dword for each lane at s[0:1] + 0x1001c - 4 KiB * thread, and stores it 128 KiB behind s[0:1] + 4 * thread.
const GATHER: [&str; 7] = [
    "v_lshlrev_b32_e32 v1, 12, v0",
    "v_sub_nc_u32_e32 v1, 0x1001c, v1",
    "global_load_dword v2, v1, s[0:1]",
    "v_lshlrev_b32_e32 v3, 2, v0",
    "v_add_nc_u32_e32 v3, 0x20000, v3",
    "global_store_dword v3, v2, s[0:1]",
    "s_endpgm",
];

#[test]
fn lanes_load_from_any_page_and_those_without_one_get_nothing() {
    let device = card();
    let rig = Rig::new(&device);
    // The first lanes are within the memory, the last ones before it.
    for thread in 0..17_u64 {
        rig.poke(0x1001c - 0x1000 * thread, 0xab00 | thread as u32);
    }
    dispatch(&rig, Ip::Compute, WaveSize::Wave64, (&GATHER, 1), DATA).unwrap();
    for thread in 0..64 {
        // What lies over the program is the program's.
        let expected = if thread < 17 { rig.load(0x1001c - 0x1000 * thread) } else { 0 };
        assert_eq!(rig.load(0x20000 + 4 * thread), expected, "{thread}");
        assert!(thread >= 17 || thread == 12 || expected == 0xab00 | thread as u32, "{thread}: {expected:#x}");
    }
    let said = device.complaints().join("\n");
    assert!(said.contains("page fault: Read"), "{said}");
}

/// Runs a program on a device whose dispatches have some threads; returns the results and the complaints, or the error of the job.
fn on_threads(threads: usize, program: (&[&str], u32), memory: u64) -> (Result<Vec<u32>, Errno>, Vec<String>) {
    // Long enough for the work in a build without optimisation, on a machine that does much else.
    let options = SimOptions { strict: false, shader_threads: threads, ..hanging_for(PATIENCE) };
    let device = SimDevice::new(profile("navi21").unwrap(), options);
    let rig = Rig::new(&device);
    let ended = dispatch(&rig, Ip::Compute, WaveSize::Wave64, program, DATA + RESULTS);
    let results = ended.map(|()| (0..memory).map(|at| rig.load(RESULTS + 4 * at)).collect());
    (results, device.complaints())
}

/// Multiplies and adds a thread's number 100 times, and stores the result of 512 groups at s[0:1] + 16 + 4 * number. Counts the
/// waves at s[0:1], adds the numbers of groups at s[0:1] + 4, and keeps the largest at s[0:1] + 8.
const LONG_WORK: [&str; 17] = [
    "v_lshl_add_u32 v1, s2, 6, v0",
    "v_lshlrev_b32_e32 v2, 2, v1",
    "s_movk_i32 s3, 100",
    "v_mul_lo_u32 v1, v1, 0x19660d",
    "v_add_nc_u32_e32 v1, 0x3c6ef35f, v1",
    "s_sub_u32 s3, s3, 1",
    "s_cmp_lg_u32 s3, 0",
    "s_cbranch_scc1 65528",
    "global_store_dword v2, v1, s[0:1] offset:16",
    "s_mov_b64 exec, 1",
    "v_mov_b32_e32 v3, 0",
    "v_mov_b32_e32 v4, 1",
    "v_mov_b32_e32 v5, s2",
    "global_atomic_add v3, v4, s[0:1]",
    "global_atomic_add v3, v5, s[0:1] offset:4",
    "global_atomic_umax v3, v5, s[0:1] offset:8",
    "s_endpgm",
];

#[test]
fn a_dispatch_leaves_the_same_memory_on_any_number_of_threads() {
    let (groups, words) = (512, 4 + 512 * 64);
    let (alone, complaints) = on_threads(1, (&LONG_WORK, groups), words);
    assert_eq!(complaints, Vec::<String>::new());
    let expected =
        |thread: u32| (0..100).fold(thread, |value, _| value.wrapping_mul(0x19_660d).wrapping_add(0x3c6e_f35f));
    let sum = groups * (groups - 1) / 2;
    let all = [groups, sum, groups - 1, 0].into_iter().chain((0..groups * 64).map(expected));
    assert_eq!(alone, Ok(all.collect::<Vec<_>>()));
    for threads in [0, 2, 3, 8] {
        assert_eq!(on_threads(threads, (&LONG_WORK, groups), words), (alone.clone(), vec![]), "{threads} threads");
    }
}

/// Loops for a while; the groups from 300 on then load a page that is missing, whose address has the group's number.
const FAULTS: [&str; 10] = [
    "s_movk_i32 s3, 500",
    "s_sub_u32 s3, s3, 1",
    "s_cmp_lg_u32 s3, 0",
    "s_cbranch_scc1 65533",
    "s_cmpk_lt_u32 s2, 300",
    "s_cbranch_scc1 4",
    "v_mov_b32_e32 v2, s2",
    "v_mov_b32_e32 v3, 64",
    "global_load_dword v1, v[2:3], off",
    "s_endpgm",
];

/// Loops for a while; the groups from 300 on then halt.
const HANGS: [&str; 9] = [
    "s_movk_i32 s3, 500",
    "s_sub_u32 s3, s3, 1",
    "s_cmp_lg_u32 s3, 0",
    "s_cbranch_scc1 65533",
    "s_cmpk_lt_u32 s2, 300",
    "s_cbranch_scc1 1",
    "s_sethalt 1",
    "s_nop 0",
    "s_endpgm",
];

#[test]
fn the_fault_or_hang_of_the_lowest_group_is_reported_on_any_number_of_threads() {
    for (program, said) in [(&FAULTS[..], "Read at 0x400000012c"), (&HANGS[..], "group [300, 0, 0]")] {
        let (results, complaints) = on_threads(1, (program, 512), 1);
        assert!(complaints.iter().any(|complaint| complaint.contains(said)), "{complaints:?}");
        for threads in [2, 8] {
            assert_eq!(on_threads(threads, (program, 512), 1), (results.clone(), complaints.clone()), "{threads}");
        }
    }
}

#[test]
fn a_dispatch_of_many_threads_ends_with_its_budget_or_its_device() {
    let endless = ["s_nop 0", "s_branch 65534"];
    for threads in [1, 4] {
        let options = SimOptions {
            shader_threads: threads,
            shader_instructions: 200_000,
            strict: false,
            ..hanging_for(PATIENCE)
        };
        let device = SimDevice::new(profile("navi21").unwrap(), options);
        let rig = Rig::new(&device);
        assert!(dispatch(&rig, Ip::Compute, WaveSize::Wave64, (&endless, 512), DATA + RESULTS).is_err());
        let said = device.complaints().join("\n");
        assert!(
            said.contains("the budget of 200000 instructions is used up") && said.contains("group [0, 0, 0]"),
            "{said}"
        );
        // With a budget that lasts for minutes, the end of the device ends the waves.
        let lockup_timeout = LockupTimeout::all(Duration::MAX);
        let options = SimOptions { shader_instructions: u64::MAX, lockup_timeout, ..options };
        let device = SimDevice::new(profile("navi21").unwrap(), options);
        let rig = Rig::new(&device);
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| dispatch(&rig, Ip::Compute, WaveSize::Wave64, (&endless, 512), DATA + RESULTS));
            while device.tally().dispatches == 0 {
                std::thread::yield_now();
            }
            device.reset();
            assert!(waits.join().unwrap().is_err(), "{threads} threads");
        });
    }
}
