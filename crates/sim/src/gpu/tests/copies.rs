//! Copy-engine packets that the library does not write.

use amdgpu_packets::sdma::Version;

use super::raw::*;
use super::*;

fn from(first: Version) -> impl Iterator<Item = Version> {
    Version::ALL.into_iter().filter(move |&version| version >= first)
}

#[test]
fn a_broadcast_goes_to_two_places() {
    for version in from(Version::V2_0) {
        let rig = Rig::new();
        rig.put(DATA, &[1, 2]);
        let ([from, high], bytes) = (halves(DATA), if version < Version::V4_0 { 8 } else { 7 });
        let copy = vec![1 | 1 << 27, bytes, 0, from, high, from + 0x100, high, from + 0x200, high];
        run(&rig, version, &[copy]).unwrap();
        assert_eq!([0x100, 0x200].map(|at| rig.u64(DATA + at)), [2 << 32 | 1; 2], "{version}");
    }
}

#[test]
fn the_last_version_has_a_dword_more_for_compressed_data() {
    let rig = Rig::new();
    rig.put(DATA, &[1, 2]);
    let [from, high] = halves(DATA);
    let copy = vec![1 | 1 << 19, 7, 0, from, high, from + 0x100, high, 0x402];
    let fence = vec![5, from + 0x200, high, 9];
    run(&rig, Version::V7_0, &[copy.clone(), fence]).unwrap();
    assert_eq!((rig.u64(DATA + 0x100), rig.u32(DATA + 0x200)), (2 << 32 | 1, 9));
    let said = refusal(Version::V7_0, &[copy[..7].to_vec()]);
    assert!(said.contains("COPY_LINEAR"), "{said}");
}

/// A copy of a box of 2 by 2 by 2 dwords from (1, 0, 0) with pitch 4 to (0, 1, 0) with pitch 8; slices of 8 and 32.
fn window(version: Version) -> Vec<u32> {
    let ([from, high], [to, _]) = (halves(DATA), halves(DATA + 0x400));
    let shift = if (Version::V4_0..Version::V7_0).contains(&version) { 13 } else { 16 };
    // The first version counts whole, the later ones less one.
    let (rect, depth) = if version == Version::V2_0 { (2 << 16 | 2, 2) } else { (1 << 16 | 1, 1) };
    vec![1 | 4 << 8 | 2 << 29, from, high, 1, 3 << shift, 7, to, high, 1 << 16, 7 << shift, 31, rect, depth]
}

#[test]
fn a_sub_window_is_copied_row_by_row() {
    for version in from(Version::V2_0) {
        let rig = Rig::new();
        (0..16).for_each(|n| rig.put(DATA + 4 * n, &[n as u32 + 1]));
        run(&rig, version, &[window(version)]).unwrap();
        let at = |x: u64, y: u64, z: u64| rig.u32(DATA + 0x400 + 4 * (z * 32 + y * 8 + x));
        let found = [at(0, 1, 0), at(1, 1, 0), at(0, 2, 0), at(1, 2, 1)];
        assert_eq!(found, [2, 3, 6, 15], "{version}");
        assert_eq!([at(2, 1, 0), at(0, 0, 0), at(0, 3, 0)], [0; 3], "{version}: nothing beside it");
    }
}

#[test]
fn a_large_sub_window_has_a_dword_for_each_number() {
    for version in from(Version::V6_0) {
        let rig = Rig::new();
        (0..16).for_each(|n| rig.put(DATA + 4 * n, &[n as u32 + 1]));
        let ([from, high], [to, _]) = (halves(DATA), halves(DATA + 0x400));
        // The size of an element is not among its fields, so elements are bytes.
        let header = 1 | 36 << 8;
        let side = |at: u32, x: u32, pitch: u32| [at, high, x, 0, 0, pitch - 1, 63, 0];
        let body = [&side(from, 4, 16)[..], &side(to, 0, 32), &[7, 1, 0]].concat();
        run(&rig, version, &[[vec![header], body].concat()]).unwrap();
        let found = [0, 4, 32, 36, 64].map(|at| rig.u32(DATA + 0x400 + at));
        assert_eq!(found, [2, 3, 6, 7, 0], "{version}");
    }
}

#[test]
fn a_window_of_everything_ends() {
    for version in from(Version::V2_0) {
        let rig = Rig::new();
        rig.cancelled.set(true);
        let mut all = window(version);
        all[11] = 0x3fff_3fff;
        all[12] = 0x7ff;
        assert!(run(&rig, version, &[all]).is_err(), "{version}");
    }
}

#[test]
fn dwords_are_skipped_on_a_condition() {
    for version in Version::ALL {
        for value in [0, 1] {
            let rig = Rig::new();
            rig.put(DATA, &[value]);
            let [low, high] = halves(DATA);
            let fence = if version == Version::V1_0 { 6 << 28 } else { 5 };
            let condition = match version {
                Version::V1_0 => vec![12 << 28 | 4, low, high],
                Version::V2_0 => vec![9, low, high, 4],
                _ => vec![9, low, high, 1, 4],
            };
            run(&rig, version, &[condition, vec![fence, low + 4, high, 9]]).unwrap();
            assert_eq!(rig.u32(DATA + 4), 9 * value, "{version}");
        }
    }
    for version in from(Version::V2_4) {
        let rig = Rig::new();
        let [low, high] = halves(DATA);
        let fence = |at| vec![5, low + at, high, 9];
        let packets = [vec![15 | 2 << 16, 4], fence(0), vec![15 | 1 << 16, 4], fence(4)];
        run(&rig, version, &packets).unwrap();
        assert_eq!((rig.u32(DATA), rig.u32(DATA + 4)), (0, 9), "{version}: for another device, and for this one");
        let said = refusal(version, &[vec![15 | 1 << 16, 4]]);
        assert!(said.contains("beyond the end of its IB"), "{said}");
    }
}

#[test]
fn an_atomic_works_and_one_that_never_matches_ends_by_itself() {
    for version in from(Version::V3_0) {
        let rig = Rig::new();
        rig.put(DATA, &[3]);
        rig.patience.set(u32::MAX);
        let [low, high] = halves(DATA);
        let atomic =
            |number: u32, flags: u32, compare| vec![0xa | flags | number << 25, low, high, 5, 0, compare, 0, 10];
        run(&rig, version, &[atomic(15, 0, 0), atomic(8, 1 << 16, 7)]).unwrap();
        assert_eq!((rig.u32(DATA), rig.waited.get()), (8, 1000), "{version}: memory is left alone");
        run(&rig, version, &[atomic(8, 1 << 16, 8)]).unwrap();
        assert_eq!(rig.u32(DATA), 5, "{version}");
    }
}

#[test]
fn a_semaphore_counts() {
    for version in Version::ALL {
        let rig = Rig::new();
        let [low, high] = halves(DATA);
        let (signal, wait) = match version {
            Version::V1_0 => (5 << 28 | 1 << 22, 5 << 28),
            _ => (7 | 1 << 30, 7),
        };
        let packets = [signal, signal, wait].map(|header| vec![header, low, high]);
        run(&rig, version, &packets).unwrap();
        assert_eq!(rig.u64(DATA), 1, "{version}");
        let again = [wait, wait].map(|header| vec![header, low, high]);
        assert!(matches!(run(&rig, version, &again), Err(Stop::GaveUp { .. })), "{version}");
    }
    for version in from(Version::V6_0) {
        let rig = Rig::new();
        let [low, high] = halves(DATA);
        run(&rig, version, &[vec![7 | 1 << 8, low, high]]).unwrap();
        assert_eq!(rig.u64(DATA), 1, "{version}");
    }
}

#[test]
fn the_local_counter_starts_where_it_is_set_and_the_global_one_does_not() {
    for version in from(Version::V2_0) {
        let rig = Rig::new();
        let [low, high] = halves(DATA);
        let packets = [vec![13, 100, 0], vec![0xd | 1 << 8, low, high], vec![0xd | 2 << 8, low + 8, high]];
        run(&rig, version, &packets).unwrap();
        assert_eq!((rig.u64(DATA), rig.u64(DATA + 8)), (101, 0x1_0000_0003), "{version}");
    }
}

#[test]
fn an_interrupt_and_the_caches_leave_nothing_behind() {
    for version in Version::ALL {
        let trap = match version {
            Version::V1_0 => vec![7 << 28],
            Version::V2_0 => vec![6],
            _ => vec![6, 0],
        };
        run(&Rig::new(), version, &[trap]).unwrap();
    }
    for version in from(Version::V5_0) {
        run(&Rig::new(), version, &[vec![17, 0, 0, 0, 0], vec![16, 0, 0, 0], vec![32, 0]]).unwrap();
    }
}

#[test]
fn tiled_data_and_what_is_the_kernels_are_refused_by_name() {
    for version in from(Version::V4_0).filter(|&version| version < Version::V7_0) {
        for (header, name, why) in [
            (2 | 1 << 8, "WRITE_TILED", "not described"),
            (4, "INDIRECT", "belongs to the kernel"),
            (12, "GENERATE_PTE", "belongs to the kernel"),
            (14, "SRBM_WRITE", "belongs to the kernel"),
            (0xb | 1 << 8, "DATA_FILL_MULTI", "not described"),
        ] {
            let said = refusal(version, &[vec![header; 20]]);
            assert!(said.contains(name) && said.contains(why), "{version}: {said}");
        }
    }
    let said = refusal(Version::V1_0, &[vec![9 << 28, 0, 0]]);
    assert!(said.contains("SRBM_WRITE"), "{said}");
}
