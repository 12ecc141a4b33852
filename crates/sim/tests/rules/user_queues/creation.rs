//! R146 to R148: who has user queues, and what they must be made of.

use amdgpu_sim::{SimDevice, SimOptions, profile};
use amdgpu_uapi::Errno;
use amdgpu_winsys::{
    uapi::{
        DevInfo, GemCreateFlags, GemDomain, UqFwAreas, Userq, UserqSignal, UserqWait, query, userq_op, userq_priority,
    },
    winsys::Ip,
};

use super::rig::{Bench, card, doorbell, newer};
use crate::support::{File, PAGE, open, reference};

const ENOTSUPP: Errno = Errno::from_raw(524);

fn with(chip: &str, options: SimOptions) -> File {
    open(&SimDevice::new(profile(chip).unwrap(), options))
}

/// The mask of IPs behind the named fields of DEV_INFO.
fn mask(file: &File) -> u32 {
    file.info::<DevInfo>(query::DEV_INFO, [0; 4]).unwrap().tail
}

// Checks R146.
#[test]
fn user_queues_are_told_and_known_where_they_are_on() {
    let file = open(&card());
    assert_eq!(mask(&file), 0b111);
    let areas = UqFwAreas { shadow_size: 73_728, shadow_alignment: 256, csa_size: 484, csa_alignment: 256 };
    assert_eq!(file.info(query::UQ_FW_AREAS, [0; 4]), Ok(areas));
    assert_eq!(file.info::<UqFwAreas>(query::UQ_FW_AREAS, [1, 0, 0, 0]), Err(Errno::EINVAL));
    let without_copies = with("navi31", SimOptions { user_queues: true, sdma: false, ..newer() });
    assert_eq!(mask(&without_copies), 0b11);
}

// Checks R146.
#[test]
fn they_are_refused_where_they_are_off_or_the_chip_is_older() {
    let off = with("navi31", newer());
    let older = with("navi21", SimOptions { user_queues: true, ..newer() });
    for file in [&off, &older] {
        assert_eq!(mask(file), 0);
        assert_eq!(file.send(&mut Userq { op: userq_op::FREE, queue_id: 1, ..Userq::ZEROED }), Err(ENOTSUPP));
        assert_eq!(file.send(&mut { UserqSignal::ZEROED }), Err(ENOTSUPP));
        assert_eq!(file.send(&mut { UserqWait::ZEROED }), Err(ENOTSUPP));
        assert_eq!(doorbell(file), Err(Errno::EINVAL));
    }
    assert_eq!(older.info::<UqFwAreas>(query::UQ_FW_AREAS, [0; 4]), Err(Errno::EOPNOTSUPP));
    let before = with("navi31", SimOptions { user_queues: true, ..reference() });
    assert_eq!(before.send(&mut { UserqSignal::ZEROED }), Err(Errno::EINVAL), "Linux 6.12 has no such request");
    assert_eq!(before.info::<UqFwAreas>(query::UQ_FW_AREAS, [0; 4]), Err(Errno::EINVAL));
}

// Checks R147.
#[test]
fn a_queue_of_each_engine_is_made_and_freed() {
    for ip in [Ip::Gfx, Ip::Compute, Ip::Sdma] {
        let bench = Bench::new(&card(), ip);
        assert_eq!(bench.create(), Ok(1));
        assert_eq!(bench.file.0.census().user_queues, 1);
        assert_eq!(bench.free(2), Err(Errno::ENOENT));
        let strange = Userq { op: userq_op::FREE, queue_id: 1, flags: 1, ..Userq::ZEROED };
        assert_eq!(bench.file.send(&mut { strange }), Err(Errno::EINVAL));
        assert_eq!(bench.free(1), Ok(()));
        assert_eq!(bench.free(1), Err(Errno::ENOENT));
        assert_eq!(bench.file.0.census().user_queues, 0);
    }
}

// Checks R147.
#[test]
fn what_a_queue_must_not_be() {
    let bench = Bench::new(&card(), Ip::Gfx);
    let good = bench.question();
    let memory = bench.file.create(PAGE);
    let high = userq_priority::HIGH;
    let wrong = [
        ("an operation", Userq { op: 3, ..good }, Errno::EINVAL),
        ("an engine of video", Userq { ip_type: Ip::VcnDec as u32, ..good }, Errno::EINVAL),
        ("unknown flags", Userq { flags: 8, ..good }, Errno::EINVAL),
        ("no ring", Userq { queue_va: 0, ..good }, Errno::EINVAL),
        ("a ring of no power of two", Userq { queue_size: 3 * PAGE, ..good }, Errno::EINVAL),
        ("a ring of less than a page", Userq { queue_size: PAGE / 2, ..good }, Errno::EINVAL),
        ("a ring of no bytes", Userq { queue_size: 0, ..good }, Errno::EINVAL),
        ("a ring beyond its binding", Userq { queue_size: 2 * PAGE, ..good }, Errno::EINVAL),
        ("a ring that is not bound", Userq { queue_va: 0x5000_0000, ..good }, Errno::EINVAL),
        ("no read pointer", Userq { rptr_va: 0, ..good }, Errno::EINVAL),
        ("a read pointer that is not bound", Userq { rptr_va: 0x5000_0000, ..good }, Errno::EINVAL),
        ("a write pointer that is not bound", Userq { wptr_va: 0x5000_0000, ..good }, Errno::EINVAL),
        ("an unknown doorbell", Userq { doorbell_handle: 99, ..good }, Errno::EINVAL),
        ("a doorbell in memory", Userq { doorbell_handle: memory, ..good }, Errno::EINVAL),
        ("a doorbell behind its BO", Userq { doorbell_offset: 512, ..good }, Errno::EINVAL),
        ("parameters of another size", Userq { mqd_size: 8, ..good }, Errno::EINVAL),
        ("no parameters", Userq { mqd: 0, ..good }, Errno::EINVAL),
        ("a priority without the right to it", Userq { flags: high, ..good }, Errno::EACCES),
    ];
    for (what, question, errno) in wrong {
        assert_eq!(bench.file.send(&mut { question }), Err(errno), "{what}");
    }
    assert_eq!(bench.file.0.census().user_queues, 0);
    for flags in [userq_priority::LOW, userq_priority::NORMAL_HIGH] {
        assert_eq!(bench.file.send(&mut Userq { flags, ..good }), Ok(()));
    }
}

// Checks R147.
#[test]
fn the_right_to_raise_priorities_counts() {
    let options = SimOptions { user_queues: true, may_raise_priority: true, ..newer() };
    let bench = Bench::new(&SimDevice::new(profile("navi31").unwrap(), options), Ip::Compute);
    assert_eq!(bench.file.send(&mut Userq { flags: userq_priority::HIGH, ..bench.question() }), Ok(()));
}

// Checks R148.
#[test]
fn doorbells_mix_with_no_memory_and_are_not_endless() {
    let file = open(&card());
    let create = |size, domains| file.try_create(size, 0, domains, GemCreateFlags::empty());
    assert_eq!(create(PAGE, GemDomain::DOORBELL | GemDomain::GTT), Err(Errno::EINVAL));
    assert_eq!(create(4 << 20, GemDomain::DOORBELL), Err(Errno::ENOMEM));
    assert!(doorbell(&file).is_ok());
}

// Checks R170.
#[test]
fn a_user_queue_keeps_its_card_awake() {
    let options = SimOptions { user_queues: true, runtime_pm: true, ..newer() };
    let device = SimDevice::new(profile("navi31").unwrap(), options);
    let minute = 60_000 * u64::from(device.profile().dev_info.gpu_counter_freq);
    device.stop_clock();
    let bench = Bench::new(&device, Ip::Compute);
    let queue = bench.create().unwrap();
    device.advance_clock(minute);
    assert!(!device.is_suspended());
    bench.free(queue).unwrap();
    device.advance_clock(minute);
    assert!(device.is_suspended());
}
