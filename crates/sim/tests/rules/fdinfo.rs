//! R121 to R123: what fdinfo tells of a file.

use std::collections::BTreeMap;

use amdgpu_winsys::{
    uapi::{GemCreateFlags, GemDomain, PrimeHandle, query},
    winsys::Ip,
};

use crate::support::{File, PAGE, Rig, card, open, patient_card};

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
const VRAM: GemDomain = GemDomain::VRAM;
const GTT: GemDomain = GemDomain::GTT;
const PLAIN: GemCreateFlags = GemCreateFlags::empty();
/// Address of a test's BOs, bound one behind the other.
const VA: u64 = 0x100_0000_0000;

/// Keys and values. A space may precede the tab.
fn lines(file: &File) -> BTreeMap<String, String> {
    let text = file.0.fdinfo();
    text.lines()
        .map(|line| line.split_once(":\t").or_else(|| line.split_once(": \t")).expect("key, colon, tab, value"))
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect()
}

/// A figure in KiB, as bytes.
fn bytes(lines: &BTreeMap<String, String>, key: &str) -> u64 {
    let kib = lines[key].strip_suffix(" KiB").expect("memory is in KiB");
    kib.parse::<u64>().unwrap() << 10
}

/// Engine time, nanoseconds; nothing where there is no line.
fn engine(file: &File, name: &str) -> Option<u64> {
    let lines = lines(file);
    let time = lines.get(&format!("drm-engine-{name}"))?.strip_suffix(" ns").expect("time is in ns");
    Some(time.parse().unwrap())
}

/// Creates a BO and binds it.
fn bound(file: &File, at: u64, size: u64, domains: GemDomain, flags: GemCreateFlags) -> u32 {
    let bo = file.try_create(size, 0, domains, flags).unwrap();
    file.bind(bo, VA + at, size).unwrap();
    bo
}

// Checks R121.
#[test]
fn the_keys_are_there_in_order() {
    let file = open(&card());
    let text = file.0.fdinfo();
    let keys: Vec<_> = text.lines().map(|line| line.split(':').next().unwrap()).collect();
    let expected = [
        "drm-driver",
        "drm-client-id",
        "drm-pdev",
        "pasid",
        "drm-memory-vram",
        "drm-memory-gtt",
        "drm-memory-cpu",
        "amd-memory-visible-vram",
        "amd-evicted-vram",
        "amd-evicted-visible-vram",
        "amd-requested-vram",
        "amd-requested-visible-vram",
        "amd-requested-gtt",
        "drm-shared-vram",
        "drm-shared-gtt",
        "drm-shared-cpu",
    ];
    assert_eq!(keys, expected, "and no engine that was never used");
    assert!(text.contains("drm-driver:\tamdgpu\n") && text.contains("drm-memory-gtt: \t0 KiB\n"), "{text}");
    assert!(file.0.fdinfo_as(77, "0000:0b:00.0").contains("drm-client-id:\t77\ndrm-pdev:\t0000:0b:00.0\n"));
}

// Checks R121.
#[test]
fn engine_time_grows_with_work_and_before_its_end() {
    let rig = Rig::new(&patient_card());
    assert_eq!(engine(&rig.file, "gfx"), None);
    let seq = rig.run(Ip::Gfx, 0, &rig.wait_value(Ip::Gfx, 0, 1)).unwrap();
    let begun = loop {
        if let Some(time) = engine(&rig.file, "gfx") {
            break time;
        }
    };
    while engine(&rig.file, "gfx") <= Some(begun) {}
    rig.poke(0, 1);
    rig.finish(Ip::Gfx, 0, seq).unwrap();
    let after = engine(&rig.file, "gfx");
    assert!(after > Some(begun));
    assert_eq!(engine(&rig.file, "gfx"), after, "nothing runs any more");
    assert_eq!((engine(&rig.file, "dma"), engine(&rig.file, "compute")), (None, None));
    let seq = rig.run(Ip::Sdma, 0, &rig.store(Ip::Sdma, 4, 1)).unwrap();
    rig.finish(Ip::Sdma, 0, seq).unwrap();
    assert!(engine(&rig.file, "dma") > Some(0));
}

// Checks R121.
#[test]
fn a_job_that_waits_for_another_costs_no_engine_time() {
    let rig = Rig::new(&patient_card());
    let first = rig.run(Ip::Gfx, 0, &rig.wait_value(Ip::Gfx, 0, 1)).unwrap();
    let after = crate::support::Chunk::after(rig.context, Ip::Gfx, 0, first);
    let second = rig.job(Ip::Sdma, 0, &rig.store(Ip::Sdma, 4, 1)).with(after).send(&rig.file).unwrap();
    while engine(&rig.file, "gfx").is_none() {}
    assert_eq!(engine(&rig.file, "dma"), None);
    rig.poke(0, 1);
    rig.finish(Ip::Sdma, 0, second).unwrap();
    assert!(engine(&rig.file, "dma").is_some());
}

// Checks R122.
#[test]
fn each_file_is_a_client_of_its_own() {
    let device = card();
    let files = [open(&device), open(&device)];
    let [one, two] = files.each_ref().map(lines);
    for key in ["drm-client-id", "pasid"] {
        assert_ne!(one[key], two[key], "{key}");
    }
    assert_eq!(lines(&files[0])["drm-client-id"], one["drm-client-id"]);
}

// Checks R123.
#[test]
fn only_what_was_bound_shows() {
    let file = open(&card());
    let bo = file.try_create(8 * MIB, 0, VRAM, PLAIN).unwrap();
    assert_eq!(bytes(&lines(&file), "drm-memory-vram"), 0);
    assert_eq!(file.info(query::VRAM_USAGE, [0; 4]), Ok(8 * MIB));
    file.bind(bo, VA, 8 * MIB).unwrap();
    assert_eq!(bytes(&lines(&file), "drm-memory-vram"), 8 * MIB);
    file.unbind(bo, VA).unwrap();
    assert_eq!(bytes(&lines(&file), "drm-memory-vram"), 8 * MIB, "once is enough");
    file.close(bo).unwrap();
    assert_eq!(bytes(&lines(&file), "drm-memory-vram"), 0);
    file.try_create(MIB, 0, GTT, GemCreateFlags::VM_ALWAYS_VALID).unwrap();
    assert_eq!(bytes(&lines(&file), "drm-memory-gtt"), MIB, "what is always valid needs no binding");
}

#[test]
fn memory_is_told_by_where_it_is_and_where_it_would_be() {
    let file = open(&card());
    bound(&file, 0, 4 * MIB, VRAM, PLAIN);
    let seen = bound(&file, GIB, 2 * MIB, VRAM, PLAIN);
    file.view(seen, PAGE).store(0, 1);
    bound(&file, 2 * GIB, MIB, GTT, PLAIN);
    bound(&file, 3 * GIB, 8 * MIB, GemDomain::CPU, PLAIN);
    let found = lines(&file);
    for (key, expected) in [
        ("drm-memory-vram", 6),
        ("drm-memory-gtt", 1),
        ("drm-memory-cpu", 8),
        ("amd-memory-visible-vram", 2),
        ("amd-requested-vram", 6),
        ("amd-requested-visible-vram", 2),
        ("amd-requested-gtt", 1),
        ("amd-evicted-vram", 0),
        ("drm-shared-vram", 0),
    ] {
        assert_eq!(bytes(&found, key), expected * MIB, "{key}");
    }
}

#[test]
fn what_was_evicted_is_told() {
    let device = card();
    let (file, other) = (open(&device), open(&device));
    bound(&file, 0, 4 * GIB, VRAM, PLAIN);
    let seen = bound(&file, 8 * GIB, 64 * MIB, VRAM, PLAIN);
    file.view(seen, PAGE).store(0, 1);
    let large = 15 * GIB + 512 * MIB;
    other.try_create(large, 0, VRAM, PLAIN).unwrap();
    let found = lines(&file);
    assert_eq!(bytes(&found, "drm-memory-vram") + bytes(&found, "amd-evicted-vram"), 4 * GIB + 64 * MIB);
    assert_eq!(bytes(&found, "amd-evicted-vram"), bytes(&found, "drm-memory-gtt"));
    assert!(bytes(&found, "amd-evicted-vram") >= 4 * GIB);
    assert_eq!(bytes(&found, "amd-requested-vram"), 4 * GIB + 64 * MIB);
}

#[test]
fn what_is_shared_counts_in_full_in_both_files() {
    let device = card();
    let (one, two) = (open(&device), open(&device));
    let bo = bound(&one, 0, MIB, GTT, PLAIN);
    assert_eq!(bytes(&lines(&one), "drm-shared-gtt"), 0);
    let mut export = PrimeHandle { handle: bo, flags: 0, fd: -1 };
    one.send(&mut export).unwrap();
    let mut import = PrimeHandle { handle: 0, flags: 0, fd: export.fd };
    two.send_as(amdgpu_winsys::uapi::PRIME_FD_TO_HANDLE, &mut import).unwrap();
    two.bind(import.handle, VA, MIB).unwrap();
    for file in [&one, &two] {
        let found = lines(file);
        assert_eq!((bytes(&found, "drm-memory-gtt"), bytes(&found, "drm-shared-gtt")), (MIB, MIB));
    }
    nix::unistd::close(export.fd).unwrap();
}
