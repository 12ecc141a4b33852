//! R86 to R88, R90, R91 and R98: what a submission may look like.

use amdgpu_sim::{SimDevice, SimOptions};
use amdgpu_uapi::Errno;
use amdgpu_winsys::{
    uapi::{
        BoList, BoListEntry, Cs, CsChunk, CsChunkCpGfxShadow, CsChunkDep, CsChunkFence, CsChunkIb, CsChunkSyncobj,
        IbFlags, chunk_id,
    },
    winsys::Ip,
};

use crate::support::{Chunk, File, Job, PAGE, Rig, address, card, device, file, long, open, patient, patient_card};

const NO_SUCH: u32 = 4711;
/// An IB of no dwords.
const EMPTY: (u64, u32) = (0, 0);

fn ib(ip: u32, ip_instance: u32, ring: u32) -> Chunk {
    Chunk::new(chunk_id::IB, &[CsChunkIb { ip_type: ip, ip_instance, ring, ..CsChunkIb::ZEROED }])
}

/// A chunk whose payload is too short by a dword.
fn cut(id: u32, bytes: usize) -> Chunk {
    Chunk::new(id, &vec![0_u32; bytes / 4 - 1])
}

// Checks R86.
#[test]
fn a_submission_needs_a_context_and_an_ib_of_known_chunks() {
    let file = file();
    let context = file.context();
    let job = || Job::new(context);
    let with_ib = || job().with(Chunk::ib(Ip::Gfx, 0, EMPTY));
    assert_eq!(job().send(&file), Err(Errno::EINVAL), "no chunks");
    assert_eq!(job().with(Chunk::bos(&[])).send(&file), Err(Errno::EINVAL), "no IB");
    assert_eq!(Job::new(context + 1).with(Chunk::ib(Ip::Gfx, 0, EMPTY)).send(&file), Err(Errno::EINVAL));
    for unknown in [0, 0xb, u32::MAX] {
        assert_eq!(with_ib().with(Chunk::new(unknown, &[0_u32])).send(&file), Err(Errno::EINVAL), "{unknown:#x}");
    }
    assert!(file.complaints().contains("unknown chunk 0xb"), "{}", file.complaints());
    assert_eq!(with_ib().send(&file), Ok(1));
}

// Checks R86.
#[test]
fn bos_come_from_a_list_or_from_a_chunk() {
    let file = file();
    let context = file.context();
    let bo = file.create(PAGE);
    let entry = [BoListEntry { bo_handle: bo, bo_priority: 0 }];
    let list = BoList { bo_number: 1, bo_info_size: 8, bo_info_ptr: address(&entry), ..BoList::ZEROED };
    let list = file.ask(list).unwrap().list_handle;
    let job = || Job::new(context).with(Chunk::ib(Ip::Gfx, 0, EMPTY));
    assert_eq!(job().with_list(list + 1).send(&file), Err(Errno::ENOENT));
    assert_eq!(job().with_list(list).with(Chunk::bos(&[bo])).send(&file), Err(Errno::EINVAL));
    assert_eq!(job().with(Chunk::bos(&[bo, NO_SUCH])).send(&file), Err(Errno::ENOENT));
    assert_eq!(job().with(Chunk::bos(&[])).with(Chunk::bos(&[])).send(&file), Err(Errno::EINVAL), "two chunks");
    assert_eq!(job().with_list(list).send(&file), Ok(1));
    assert_eq!(job().with(Chunk::bos(&[bo, bo])).send(&file), Ok(2));
}

// Checks R86.
#[test]
fn a_payload_is_as_long_as_its_structure_or_longer() {
    let file = file();
    let context = file.context();
    let job = || Job::new(context).with(Chunk::ib(Ip::Gfx, 0, EMPTY));
    let sizes = [
        (chunk_id::IB, size_of::<CsChunkIb>()),
        (chunk_id::FENCE, size_of::<CsChunkFence>()),
        (chunk_id::BO_HANDLES, size_of::<BoList>()),
        (chunk_id::CP_GFX_SHADOW, size_of::<CsChunkCpGfxShadow>()),
    ];
    for (id, bytes) in sizes {
        assert_eq!(job().with(cut(id, bytes)).send(&file), Err(Errno::EINVAL), "{id:#x}");
    }
    assert_eq!(job().with(Chunk::new(chunk_id::IB, &[0_u32; 9])).send(&file), Ok(1), "one dword more");
    let arrays = [
        (chunk_id::DEPENDENCIES, size_of::<CsChunkDep>()),
        (chunk_id::SCHEDULED_DEPENDENCIES, size_of::<CsChunkDep>()),
        (chunk_id::SYNCOBJ_IN, 4),
        (chunk_id::SYNCOBJ_OUT, 4),
        (chunk_id::SYNCOBJ_TIMELINE_WAIT, size_of::<CsChunkSyncobj>()),
        (chunk_id::SYNCOBJ_TIMELINE_SIGNAL, size_of::<CsChunkSyncobj>()),
    ];
    for (id, bytes) in arrays {
        job().with(cut(id, bytes)).send(&file).unwrap();
        job().with(Chunk::new::<u32>(id, &[])).send(&file).unwrap();
    }
}

// Checks R86.
#[test]
fn addresses_are_followed_before_their_content_is_judged() {
    let file = file();
    let ctx_id = file.context();
    let send = |num_chunks, chunks| file.send(&mut Cs { ctx_id, num_chunks, chunks, ..Cs::ZEROED });
    assert_eq!(send(1, 0), Err(Errno::EFAULT));
    assert_eq!(send(1, address(&[0_u64])), Err(Errno::EFAULT), "no header");
    let header = [CsChunk { chunk_id: NO_SUCH, length_dw: 1, chunk_data: 0 }];
    assert_eq!(send(1, address(&[address(&header)])), Err(Errno::EFAULT), "no payload");
    let unknown = [CsChunk { length_dw: 0, ..header[0] }];
    let both = [address(&unknown), 0];
    assert_eq!(send(2, address(&both)), Err(Errno::EINVAL), "chunk by chunk");
}

// Checks R87.
#[test]
fn an_entity_must_exist_and_have_a_ring_behind_it() {
    let file = file();
    let context = file.context();
    let send = |chunk| Job::new(context).with(chunk).send(&file);
    for (ip, rings) in [(Ip::Gfx, 1), (Ip::Compute, 4), (Ip::Sdma, 2)] {
        for ring in 0..rings {
            assert_eq!(send(ib(ip as u32, 0, ring)), Ok(1), "{ip} {ring}");
        }
        assert_eq!(send(ib(ip as u32, 0, rings)), Err(Errno::EINVAL), "{ip}");
        assert_eq!(send(ib(ip as u32, 1, 0)), Err(Errno::EINVAL), "{ip}");
    }
    for absent in [Ip::Uvd, Ip::Vce, Ip::UvdEnc, Ip::VcnDec, Ip::VcnEnc, Ip::VcnJpeg, Ip::Vpe] {
        assert_eq!(send(ib(absent as u32, 0, 0)), Err(Errno::EINVAL), "{absent}");
    }
    assert_eq!(send(ib(10, 0, 0)), Err(Errno::EINVAL));
    let recorded = open(&SimDevice::new(card().profile(), SimOptions::RECORDING));
    let no_copies = Job::new(recorded.context()).with(ib(Ip::Sdma as u32, 0, 0));
    assert_eq!(no_copies.send(&recorded), Err(Errno::EINVAL));
    assert!(recorded.complaints().contains("no SDMA ring"), "{}", recorded.complaints());
}

/// Submissions that would signal `out` and use `bo`, each refused at another step, with its errno.
fn failing(file: &File, context: u32, bo: u32, out: u32) -> Vec<(Job, Errno)> {
    let empty = file.syncobj(false);
    let job = || Job::new(context).with(Chunk::ib(Ip::Gfx, 0, EMPTY)).with(Chunk::signal(out));
    let big = Chunk::ib(Ip::Gfx, 0, (0, 0x10_0000 * 4));
    vec![
        (job().with(Chunk::new(NO_SUCH, &[0_u32])).with(Chunk::bos(&[bo])), Errno::EINVAL),
        (job().with(ib(10, 0, 0)).with(Chunk::bos(&[bo])), Errno::EINVAL),
        (job().with(big).with(Chunk::bos(&[bo])), Errno::EINVAL),
        (job().with(Chunk::bos(&[bo])).with(Chunk::after(context, Ip::Gfx, 0, 1)), Errno::EINVAL),
        (job().with(Chunk::bos(&[bo])).with(Chunk::wait(empty)), Errno::EINVAL),
        (job().with(Chunk::bos(&[bo])).with(Chunk::wait(NO_SUCH)), Errno::ENOENT),
        (job().with(Chunk::bos(&[bo])).with(Chunk::signal_point(out, 5)), Errno::EINVAL),
        (job().with(Chunk::bos(&[bo, NO_SUCH])), Errno::ENOENT),
        (job().with(Chunk::user_fence(bo, PAGE as u32)).with(Chunk::bos(&[bo])), Errno::EINVAL),
        (job().with(Chunk::bos(&[bo])).with_list(NO_SUCH), Errno::EINVAL),
        (job().with_list(NO_SUCH), Errno::ENOENT),
    ]
}

// Checks R88.
#[test]
fn a_refused_submission_leaves_nothing_behind() {
    let device = patient_card();
    let rig = Rig::new(&device);
    let (file, bo, out) = (&rig.file, rig.file.create(PAGE), rig.file.syncobj(false));
    // Whatever were added to the ring by mistake would wait behind this.
    let running = rig.run(Ip::Gfx, 0, &rig.wait_value(Ip::Gfx, 0, 1)).unwrap();
    let context = file.context();
    let alive = device.census();
    for (index, (job, errno)) in failing(file, context, bo, out).into_iter().enumerate() {
        assert_eq!(job.send(file), Err(errno), "{index}");
        assert_eq!(file.wait_syncobj(out, 0, 0), Err(Errno::EINVAL), "{index}: still without a fence");
        assert_eq!(file.wait_idle(bo, 0), Ok(true), "{index}");
        assert_eq!(rig.wait_until(context, Ip::Gfx, 0, 1, 0), Err(Errno::EINVAL), "{index}: no number was used");
    }
    assert_eq!(device.census(), alive);
    assert_eq!(rig.job_of(context, Ip::Gfx, 0, &[]).send(file), Ok(1));
    rig.poke(0, 1);
    rig.finish(Ip::Gfx, 0, running).unwrap();
}

// Checks R90.
#[test]
fn so_many_ibs_and_no_more_for_one_entity() {
    for (ip, most) in [(Ip::Gfx, 192), (Ip::Compute, 125), (Ip::Sdma, 49)] {
        let file = file();
        let job = |count| (0..count).fold(Job::new(1), |job, _| job.with(Chunk::ib(ip, 0, EMPTY)));
        assert_eq!(file.context(), 1);
        assert_eq!(job(most + 1).send(&file), Err(Errno::EINVAL), "{ip}");
        assert_eq!(job(most).send(&file), Ok(1), "{ip}");
    }
}

// Checks R90.
#[test]
fn the_ibs_of_an_entity_run_in_order() {
    let rig = Rig::new(&card());
    for ip in [Ip::Gfx, Ip::Compute, Ip::Sdma] {
        let stores = (1..=40).map(|value| rig.store(ip, 0, value));
        let steps = stores.map(|store| Chunk::ib(ip, 0, rig.ib(&store)));
        let job = steps.fold(Job::new(rig.context), Job::with).with(Chunk::bos(&[rig.ibs, rig.data]));
        let seq = job.send(&rig.file).unwrap();
        rig.finish(ip, 0, seq).unwrap();
        assert_eq!(rig.load(0), 40, "{ip}");
        rig.poke(0, 0);
    }
}

// Checks R91.
#[test]
fn the_jobs_of_a_gang_run_side_by_side() {
    let rig = Rig::new(&patient_card());
    // Each waits for what the other stores.
    let gfx = [rig.store(Ip::Gfx, 0, 1), rig.wait_value(Ip::Gfx, 4, 1), rig.store(Ip::Gfx, 8, 1)].concat();
    let compute = [rig.wait_value(Ip::Compute, 0, 1), rig.store(Ip::Compute, 4, 1), rig.wait_value(Ip::Compute, 8, 1)];
    let job = rig.job(Ip::Gfx, 0, &gfx).with(Chunk::ib(Ip::Compute, 2, rig.ib(&compute.concat())));
    assert_eq!(job.send(&rig.file), Ok(1));
    rig.finish(Ip::Compute, 2, 1).unwrap();
}

// Checks R91.
#[test]
fn gangs_that_need_each_others_rings_start_one_after_the_other() {
    // One graphics ring and one copy engine. Each member waits for what its leader stores on the other ring.
    let device = patient("renoir");
    let rig = Rig::new(&device);
    let gang = |member, leader, at| {
        let program = [rig.store(member, at + 4, 1), rig.wait_value(member, at, 1)].concat();
        let waiting = rig.job_of(rig.file.context(), member, 0, &program);
        waiting.with(Chunk::ib(leader, 0, rig.ib(&rig.store(leader, at, 1)))).send(&rig.file).unwrap();
    };
    // As long as the graphics ring is taken, only the second gang's member can start.
    rig.run(Ip::Gfx, 0, &rig.wait_value(Ip::Gfx, 0, 1)).unwrap();
    gang(Ip::Gfx, Ip::Sdma, 8);
    gang(Ip::Sdma, Ip::Gfx, 16);
    rig.await_value(20, 1);
    rig.poke(0, 1);
    assert_eq!(rig.file.wait_idle(rig.data, long()), Ok(true));
    assert_eq!(rig.file.complaints(), "");
}

// Checks R91.
#[test]
fn the_last_ibs_entity_leads_and_has_the_number() {
    let rig = Rig::new(&card());
    let gang = |order: [(Ip, u32); 3]| {
        let chunks = order.map(|(ip, ring)| Chunk::ib(ip, ring, EMPTY));
        chunks.into_iter().fold(Job::new(rig.context), Job::with).send(&rig.file)
    };
    let issued = |ip, ring, number| rig.wait_until(rig.context, ip, ring, number, u64::MAX);
    assert_eq!(gang([(Ip::Gfx, 0), (Ip::Compute, 0), (Ip::Compute, 3)]), Ok(1));
    assert_eq!(gang([(Ip::Compute, 3), (Ip::Gfx, 0), (Ip::Compute, 3)]), Ok(2), "two IBs of one");
    assert_eq!((issued(Ip::Compute, 3, 2), issued(Ip::Compute, 3, 3)), (Ok(true), Err(Errno::EINVAL)));
    for (ip, ring) in [(Ip::Gfx, 0), (Ip::Compute, 0)] {
        assert_eq!(issued(ip, ring, 1), Err(Errno::EINVAL), "members have no number");
    }
    assert_eq!(gang([(Ip::Compute, 0), (Ip::Sdma, 1), (Ip::Gfx, 0)]), Ok(1));
}

// Checks R91.
#[test]
fn a_fifth_entity_is_einval() {
    let file = file();
    let job = (0..4).fold(Job::new(file.context()), |job, ring| job.with(Chunk::ib(Ip::Compute, ring, EMPTY)));
    assert_eq!(job.clone().with(Chunk::ib(Ip::Gfx, 0, EMPTY)).send(&file), Err(Errno::EINVAL));
    assert_eq!(job.with(Chunk::ib(Ip::Compute, 1, EMPTY)).send(&file), Ok(1), "the same four");
}

// Checks R98.
#[test]
fn only_the_size_of_an_ib_is_checked() {
    let device = device("navi21");
    let rig = Rig::new(&device);
    for ip in [Ip::Gfx, Ip::Compute, Ip::Sdma] {
        let job = |place| Job::new(rig.file.context()).with(Chunk::ib(ip, 0, place));
        assert_eq!(job((0, 0x10_0000 * 4)).send(&rig.file), Err(Errno::EINVAL), "{ip}");
        assert_eq!(job((0, u32::MAX)).send(&rig.file), Err(Errno::EINVAL), "{ip}");
        // Far away, misaligned, outside of any BO: the kernel takes it all. The ring does not.
        for place in [(0x7123_4567_8904, 0x10_0000 * 4 - 1), (4, 6), (u64::MAX - 3, 4), (0, 3), EMPTY] {
            assert_eq!(job(place).send(&rig.file), Ok(1), "{ip}: {place:#x?}");
        }
    }
}

#[test]
fn one_preemptible_ib_a_submission_and_engine() {
    let file = file();
    let context = file.context();
    let ib = |flags: IbFlags| Chunk::new(chunk_id::IB, &[CsChunkIb { flags: flags.bits(), ..CsChunkIb::ZEROED }]);
    let constant = IbFlags::PREEMPT | IbFlags::CE;
    let job = || Job::new(context).with(ib(IbFlags::PREEMPT)).with(ib(constant));
    for second in [IbFlags::PREEMPT, constant] {
        assert_eq!(job().with(ib(second)).send(&file), Err(Errno::EINVAL));
    }
    assert_eq!(job().with(ib(IbFlags::from_bits_retain(!IbFlags::PREEMPT.bits()))).send(&file), Ok(1));
}

/// The sum of what one submission makes the simulator hold is bounded, not only each chunk: a server has many clients.
#[test]
fn the_chunks_of_a_submission_are_bounded_together() {
    let file = file();
    let context = file.context();
    let payload = vec![0_u32; 1 << 20];
    let with = |chunks| {
        let job = Job::new(context).with(Chunk::ib(Ip::Gfx, 0, EMPTY));
        (0..chunks).fold(job, |job, _| job.with(Chunk::new(chunk_id::DEPENDENCIES, &payload))).send(&file)
    };
    // 4 MiB each. A dependency on context 0, which is none, is looked at when all chunks were read.
    assert_eq!(with(3), Err(Errno::EINVAL));
    assert_eq!(with(4), Err(Errno::ENOMEM));
    let list = BoList { bo_number: 1 << 17, bo_info_size: 8, bo_info_ptr: address(&payload), ..BoList::ZEROED };
    let job = Job::new(context).with(Chunk::ib(Ip::Gfx, 0, EMPTY));
    let job = (0..3).fold(job, |job, _| job.with(Chunk::new(chunk_id::DEPENDENCIES, &payload)));
    let job = job.with(Chunk::new(chunk_id::DEPENDENCIES, &payload[..(15 << 16) - 64]));
    assert_eq!(
        job.with(Chunk::new(chunk_id::BO_HANDLES, &[list])).send(&file),
        Err(Errno::ENOMEM),
        "the list's entries"
    );
}
