//! Streams run within others, used again, annotated, and short of memory.

use std::{sync::Arc, time::Duration};

use crate::{
    record::lists::{compute, dwords, gfx, run, store, tails},
    support::{chip, chips, device, host_memory, job_time, queue},
};
use amdgpu_layers::FaultInjector;
use amdgpu_sim::{LockupTimeout, SimDevice, SimKernel, SimOptions};
use amdgpu_winsys::{
    cs::{
        self, CommandList, Execution, IbPlacement, IbPool, Inclusion, Language, NotOneIb, Packet, PacketBuf, Preambles,
        Stream, Submission, Target, annotations, pm4, sdma,
    },
    vamgr::GpuVa,
    winsys::{Device, Errno, GfxLevel, Ip},
};

#[test]
fn every_pm4_ib_ends_with_four_dwords_that_are_a_jump_or_a_filler() {
    for (name, ip) in chips().into_iter().flat_map(|name| [(name, Ip::Gfx), (name, Ip::Compute)]) {
        let device = device(name);
        let Some(Target::Pm4(target)) = Target::new(device.info().gfx_level, ip) else { unreachable!() };
        for packets in 0..20 {
            let mut stream = Stream::new(&device, target, 1).unwrap();
            (0..packets).for_each(|_| *stream.room() = [0xc000_1000, 0]);
            let list = stream.finish().unwrap();
            assert_eq!(tails(&list), [[0xc002_1000, 0, 0, 0]], "{name} {ip} {packets}");
            assert_eq!(list.len() % 8, 0);
        }
        let mut stream = Stream::new(&device, target, 1).unwrap();
        (0..3000).for_each(|_| *stream.room() = [0xc000_1000, 0]);
        let list = stream.finish().unwrap();
        let next: Vec<_> = list.ibs().skip(1).collect();
        let tails = tails(&list);
        assert!(tails.len() >= 3, "{name} {ip}");
        for (tail, (va, dwords)) in tails.iter().zip(next) {
            assert_eq!(*tail, [0xc002_3f00, va.low(), va.high(), 0x0090_0000 | dwords as u32], "{name} {ip}");
        }
    }
}

#[test]
fn padding_is_what_each_ring_of_each_generation_knows() {
    for name in chips() {
        let device = device(name);
        let level = device.info().gfx_level;
        let mut stream = Stream::new(&device, gfx(&device), 1).unwrap();
        *stream.room() = [0xc001_1000, 0, 0];
        let list = stream.finish().unwrap();
        let filler = if level == GfxLevel::Gfx6 { 0x8000_0000 } else { 0xffff_1000 };
        let ib = list.dwords().next().unwrap();
        assert_eq!(ib, [0xc001_1000, 0, 0, filler, 0xc002_1000, 0, 0, 0], "{name}");
        let version = sdma::Version::of(level);
        let list = Stream::new(&device, version, 1).unwrap().finish().unwrap();
        let nop = if level == GfxLevel::Gfx6 { 0xf000_0000 } else { 0 };
        assert_eq!(list.dwords().next().unwrap(), [nop; 16], "{name}");
    }
}

#[test]
fn a_list_is_called_on_the_graphics_ring_and_copied_elsewhere() {
    for (name, ip) in chips().into_iter().flat_map(|name| [Ip::Gfx, Ip::Compute].map(|ip| (name, ip))) {
        let device = device(name);
        let memory = host_memory(&device, 4096);
        let Some(Target::Pm4(target)) = Target::new(device.info().gfx_level, ip) else { unreachable!() };
        let mut child = Stream::secondary(&device, target, 1).unwrap();
        for at in 1..600 {
            child.push(&store(&memory, at, &[at as u32])).unwrap();
        }
        let child = child.finish().unwrap();
        assert!(child.ibs().count() > 1, "chained IBs return to the caller of the first");
        let mut parent = Stream::new(&device, target, 64).unwrap();
        parent.push(&store(&memory, 0, &[7])).unwrap();
        let execution = parent.execute(&child, Inclusion::Auto).unwrap();
        assert_eq!(execution, if ip == Ip::Gfx { Execution::Called } else { Execution::Copied }, "{name}");
        parent.push(&store(&memory, 600, &[8])).unwrap();
        let list = parent.finish().unwrap();
        assert_eq!(list.has_calls(), ip == Ip::Gfx);
        drop(child);
        run(&queue(&device, ip, 0), &list, &memory);
        let expected: Vec<u32> = [7].into_iter().chain(1..600).chain([8]).collect();
        assert_eq!(dwords(&memory, 601), expected, "{name} {ip}");
    }
}

#[test]
fn a_copied_list_runs_on_the_copy_engine_too_and_as_often_as_it_is_copied() {
    for name in chips() {
        let device = device(name);
        let memory = host_memory(&device, 8192);
        let version = sdma::Version::of(device.info().gfx_level);
        let mut child = Stream::secondary(&device, version, 1).unwrap();
        for at in 0..700 {
            let to = memory.address().checked_add(4 * at).unwrap();
            child.push(&sdma::WriteLinear { to, data: &[at as u32 + 1] }).unwrap();
        }
        let child = child.finish().unwrap();
        let mut parent = Stream::new(&device, version, 1).unwrap();
        for _ in 0..2 {
            assert_eq!(parent.execute(&child, Inclusion::Auto).unwrap(), Execution::Copied);
        }
        run(&queue(&device, Ip::Sdma, 0), &parent.finish().unwrap(), &memory);
        assert_eq!(dwords(&memory, 700), (1..=700).collect::<Vec<_>>(), "{name}");
    }
}

#[test]
fn calls_do_not_nest_and_lists_run_in_streams_of_their_ring_and_device_only() {
    let device = device("navi21");
    let target = gfx(&device);
    let leaf = Stream::secondary(&device, target, 8).unwrap().finish().unwrap();
    let mut caller = Stream::new(&device, target, 64).unwrap();
    caller.execute(&leaf, Inclusion::Auto).unwrap();
    let caller = caller.finish().unwrap();
    let mut secondary = Stream::secondary(&device, target, 64).unwrap();
    assert_eq!(secondary.execute(&caller, Inclusion::Auto), Err(cs::RecordError::NestedCall));
    assert_eq!(secondary.execute(&leaf, Inclusion::Auto), Ok(Execution::Copied), "it may be called itself");
    let mut primary = Stream::new(&device, target, 64).unwrap();
    assert_eq!(primary.execute(&caller, Inclusion::Auto), Ok(Execution::Copied), "with its calls");
    assert_eq!(primary.execute(&leaf, Inclusion::Copy), Ok(Execution::Copied));
    let before = primary.len();
    let other = Stream::new(&device, compute(&device), 8).unwrap().finish().unwrap();
    let error = primary.execute(&other, Inclusion::Auto).unwrap_err();
    assert_eq!(error, cs::RecordError::WrongStream { recorded: other.target(), stream: target.into() });
    let elsewhere = Stream::new(&crate::support::device("navi21"), target, 8).unwrap().finish().unwrap();
    assert!(matches!(primary.execute(&elsewhere, Inclusion::Auto), Err(cs::RecordError::Winsys(_))));
    assert_eq!(primary.len(), before);
    let list = primary.finish().unwrap();
    assert!(list.has_calls(), "the copied call keeps its list alive");
    run(&queue(&device, Ip::Gfx, 0), &list, &host_memory(&device, 4096));
}

/// W-35: every IB cost a BO, an address, a binding and a mapping.
#[test]
fn lists_of_a_pool_take_no_new_memory_once_their_fences_have_signalled() {
    let kernel = Arc::new(SimKernel::open(chip("navi31")));
    let device = Device::new(Arc::clone(&kernel)).unwrap();
    let (queue, memory) = (queue(&device, Ip::Gfx, 0), host_memory(&device, 4096));
    let pool = IbPool::new(&device, IbPlacement::System, 1 << 20).unwrap();
    let mut census = None;
    for round in 0..5 {
        let mut stream = pool.stream(gfx(&device), 1).unwrap();
        (0..3000).for_each(|_| *stream.room() = [0xc000_1000, 0]);
        let list = stream.finish().unwrap();
        assert!(list.ibs().count() >= 3);
        assert_eq!(*census.get_or_insert(kernel.census()), kernel.census(), "round {round}");
        assert_eq!(pool.idle_dwords(), 0, "all of it is in use");
        let bindings = [memory.binding().clone()];
        let submission = Submission { lists: &[&list], memory: &bindings, ..Submission::default() };
        let fence = queue.submit(&submission).unwrap();
        drop(list);
        assert!(fence.wait(job_time()).unwrap());
        assert!(pool.idle_dwords() >= 6000, "round {round}");
    }
    pool.trim();
    assert_eq!(pool.idle_dwords(), 0);
    let small = IbPool::new(&device, IbPlacement::System, 0).unwrap();
    drop(small.stream(gfx(&device), 8).unwrap().finish().unwrap());
    assert_eq!(small.idle_dwords(), 0, "a pool keeps no more than it may");
    let list = pool.stream(gfx(&device), 8).unwrap().finish().unwrap();
    drop(pool);
    drop(list);
}

#[test]
fn a_cleared_stream_and_a_list_recorded_again_use_what_they_have() {
    let kernel = Arc::new(SimKernel::open(chip("polaris10")));
    let device = Device::new(Arc::clone(&kernel)).unwrap();
    let mut stream = Stream::new(&device, gfx(&device), 1).unwrap();
    let fill = |stream: &mut Stream<_>| (0..5000).for_each(|_| *stream.room() = [0xc000_1000, 0]);
    fill(&mut stream);
    let census = kernel.census();
    for _ in 0..3 {
        stream.clear();
        assert!(stream.is_empty());
        fill(&mut stream);
        assert_eq!(kernel.census(), census);
    }
    let list = stream.finish().unwrap();
    let census = kernel.census();
    let mut stream = list.record_again(gfx(&device)).unwrap();
    fill(&mut stream);
    assert_eq!(kernel.census(), census);
}

#[test]
fn ibs_lie_in_video_memory_where_the_cpu_reaches_it_across_a_fast_link() {
    for name in chips() {
        let device = device(name);
        let info = device.info();
        let placement = IbPlacement::of(info, 0);
        if !info.has_dedicated_vram {
            assert_eq!(placement, IbPlacement::System, "{name}");
        }
        let before = device.usage_tracker().usage();
        let list = Stream::new(&device, gfx(&device), 8).unwrap().finish().unwrap();
        let after = device.usage_tracker().usage();
        let grew = (after.visible_vram > before.visible_vram, after.gtt > before.gtt);
        let in_vram = placement == IbPlacement::Vram;
        assert_eq!(grew, (in_vram, !in_vram), "{name}: an IB for {placement:?}");
        run(&queue(&device, Ip::Gfx, 0), &list, &host_memory(&device, 4096));
    }
    let dedicated = device("navi21");
    let mut info = dedicated.info().clone();
    (info.pcie_generation, info.pcie_lanes) = (4, 16);
    info.memory.visible_vram = info.memory.vram;
    assert_eq!(IbPlacement::of(&info, u64::MAX), IbPlacement::Vram, "all of it is visible");
    info.memory.visible_vram = 256 << 20;
    assert_eq!(IbPlacement::of(&info, 128 << 20), IbPlacement::Vram);
    assert_eq!(IbPlacement::of(&info, (128 << 20) + 1), IbPlacement::System, "less than half is left");
    (info.pcie_generation, info.pcie_lanes) = (3, 8);
    assert_eq!(IbPlacement::of(&info, 0), IbPlacement::Vram);
    info.pcie_lanes = 4;
    assert_eq!(IbPlacement::of(&info, 0), IbPlacement::System, "the link is slow");
    info.pcie_generation = 0;
    assert_eq!(IbPlacement::of(&info, 0), IbPlacement::Vram, "nothing is known of the link");
    info.has_dedicated_vram = false;
    assert_eq!(IbPlacement::of(&info, 0), IbPlacement::System);
}

#[test]
fn streams_run_from_every_placement() {
    let device = device("navi21");
    let (queue, memory) = (queue(&device, Ip::Compute, 0), host_memory(&device, 4096));
    for (value, placement) in [IbPlacement::System, IbPlacement::Cached, IbPlacement::Vram].into_iter().enumerate() {
        let mut stream = Stream::with_placement(&device, compute(&device), 8, placement).unwrap();
        stream.push(&store(&memory, 0, &[value as u32 + 1])).unwrap();
        run(&queue, &stream.finish().unwrap(), &memory);
        assert_eq!(dwords(&memory, 1), [value as u32 + 1], "{placement:?}");
    }
}

fn annotated<L: Language>(device: &Device, language: L, texts: &[&str]) -> Vec<String> {
    let mut stream = Stream::new(device, language, 1).unwrap();
    for text in texts {
        stream.annotate(text).unwrap();
        stream.reserve(2).unwrap().copy_from_slice(match language.into() {
            Target::Pm4(_) => &[0xc000_1000, 0x4f4e_4e41],
            Target::Sdma(sdma::Version::V1_0) => &[0xf000_0000; 2],
            Target::Sdma(_) => &[0; 2],
        });
    }
    let list = stream.finish().unwrap();
    let ibs: Vec<_> = list.dwords().collect();
    let found = ibs.iter().flat_map(|ib| annotations(ib, list.target())).map(|(_, text)| text).collect();
    let ip = match list.target() {
        Target::Sdma(_) => Ip::Sdma,
        Target::Pm4(target) if target.ring == pm4::Ring::Gfx => Ip::Gfx,
        Target::Pm4(_) => Ip::Compute,
    };
    run(&queue(device, ip, 0), &list, &host_memory(device, 4096));
    found
}

#[test]
fn annotations_are_skipped_by_the_engine_and_found_by_a_reader() {
    let long = "draw ".repeat(500);
    let texts = ["", "a", "abcd", "blit of the frame", "Größe ▲", long.as_str()];
    for name in chips() {
        let device = device(name);
        assert_eq!(annotated(&device, gfx(&device), &texts), texts, "{name}");
        assert_eq!(annotated(&device, compute(&device), &texts), texts, "{name}");
        let version = sdma::Version::of(device.info().gfx_level);
        let expected: &[&str] = if version == sdma::Version::V1_0 { &[] } else { &texts };
        assert_eq!(annotated(&device, version, &texts), expected, "{name}");
    }
    let device = device("navi10");
    let mut stream = Stream::new(&device, gfx(&device), 8).unwrap();
    stream.annotate(&"x".repeat(cs::MAX_ANNOTATION_BYTES)).unwrap();
    let error = stream.annotate(&"x".repeat(cs::MAX_ANNOTATION_BYTES + 1)).unwrap_err();
    assert_eq!(error, cs::RecordError::TooLong { needed: 0x4001, most: 0x4000 });
}

#[test]
fn a_snippet_is_never_cut_in_two_and_is_for_its_ring_alone() {
    let device = device("raven");
    let target = gfx(&device);
    let mut packets = PacketBuf::new(target);
    for _ in 0..30 {
        packets.push(&pm4::EventWrite::new(pm4::Event::CS_PARTIAL_FLUSH)).unwrap();
    }
    assert!(packets.push(&pm4::Nop::Skip(&[])).is_err());
    // Refused before it has a length, and after.
    let misaligned = GpuVa::new(0x1002).unwrap();
    assert!(packets.push(&pm4::EndOfPipe::fence(misaligned, 1)).is_err());
    assert_eq!(packets.dwords().len(), 60);
    let mut stream = Stream::new(&device, target, 1).unwrap();
    (0..100).for_each(|_| stream.push_packets(&packets).unwrap());
    let list = stream.finish().unwrap();
    let mut all = 0;
    for ib in list.dwords() {
        let events =
            pm4::decode(&ib, target).filter(|packet| matches!(packet, Ok(p) if p.command.name() == "EVENT_WRITE"));
        let count = events.count();
        assert_eq!(count % 30, 0);
        all += count;
    }
    assert_eq!(all, 3000);
    let mut other = Stream::new(&device, compute(&device), 8).unwrap();
    assert!(matches!(other.push_packets(&packets), Err(cs::RecordError::WrongStream { .. })));
}

#[test]
fn preambles_are_one_ib_each_and_all_for_one_ring() {
    let device = device("renoir");
    let list = |target| Stream::new(&device, target, 8).unwrap().finish().unwrap();
    let [full, plain, further, last] = [0; 4].map(|_| list(gfx(&device)));
    let first = |lists: &[CommandList]| lists[0].ibs().next().unwrap();
    let addresses = [&full, &plain, &further, &last].map(|list| list.ibs().next().unwrap());
    let preambles = Preambles::new().with_initial(full, plain).unwrap();
    assert_eq!(preambles.most_ibs(), 1);
    let preambles = preambles.with_further(further).unwrap().with_postamble(last).unwrap();
    assert_eq!((preambles.most_ibs(), preambles.lists().count()), (2, 4));
    let found = [preambles.before(0, true), preambles.before(0, false), preambles.before(1, true), preambles.after()];
    assert_eq!(found.map(first), addresses);
    assert_eq!(first(preambles.before(2, false)), addresses[2]);
    let several = preambles.clone().with_further(list(gfx(&device))).unwrap();
    let second = several.before(1, false).iter().map(|list| list.ibs().next().unwrap()).collect::<Vec<_>>();
    assert_eq!((second.len(), second[0], several.most_ibs()), (2, addresses[2], 3), "in the order given");
    let error = preambles.clone().with_further(list(compute(&device))).unwrap_err();
    assert_eq!(error, NotOneIb::OtherRing { target: compute(&device).into(), others: gfx(&device).into() });
    assert!(Preambles::new().with_initial(list(gfx(&device)), list(compute(&device))).is_err());
    let mut grown = Stream::new(&device, gfx(&device), 1).unwrap();
    (0..3000).for_each(|_| *grown.room() = [0xc000_1000, 0]);
    let error = preambles.with_postamble(grown.finish().unwrap()).unwrap_err();
    assert_eq!(error, NotOneIb::Ibs { ibs: 3 });
}

/// W-21: RADV goes on with a capacity that it does not have, and writes in front of its mapping.
#[test]
fn wherever_a_growth_breaks_the_error_sticks_and_nothing_is_lost_or_overwritten() {
    const PACKETS: u32 = 40_000;
    for failing in 0.. {
        let kernel = Arc::new(FaultInjector::new(SimKernel::open(chip("navi10"))));
        let device = Device::new(Arc::clone(&kernel)).unwrap();
        let before = kernel.inner().census();
        kernel.fail_nth(failing, Errno::ENOMEM);
        let stream = Stream::with_placement(&device, gfx(&device), 1, IbPlacement::System);
        let Ok(mut stream) = stream else {
            kernel.stop();
            assert_eq!(kernel.inner().census(), before, "call {failing}");
            continue;
        };
        let mut broken_at = None;
        for packet in 0..PACKETS {
            // A caller that ignores errors writes on as if nothing had happened.
            *stream.room() = [0xc000_1000, packet];
            if stream.status().is_err() && broken_at.is_none() {
                broken_at = Some(packet);
            }
        }
        kernel.stop();
        let Some(broken_at) = broken_at else {
            assert!(!kernel.has_fired(), "call {failing}");
            let list = stream.finish().unwrap();
            assert!(list.ibs().count() >= 6, "the sweep went through that many growths");
            assert!(failing > 15, "{failing} calls");
            return;
        };
        assert!(broken_at > 0);
        let error = stream.status().unwrap_err();
        assert_eq!(stream.push(&pm4::Nop::Bare).unwrap_err(), error, "call {failing}");
        assert_eq!(stream.reserve(1).unwrap_err(), error, "call {failing}");
        assert_eq!(stream.annotate("lost").unwrap_err(), error, "call {failing}");
        stream.clear();
        for packet in 0..broken_at {
            *stream.room() = [0xc000_1000, packet];
        }
        let list = stream.finish().unwrap();
        let ibs: Vec<_> = list.dwords().collect();
        let values: Vec<u32> =
            ibs.iter().flat_map(|ib| ib.chunks(2)).filter(|nop| nop[0] == 0xc000_1000).map(|nop| nop[1]).collect();
        assert_eq!(values, (0..broken_at).collect::<Vec<_>>(), "call {failing}");
        drop(list);
        assert_eq!(kernel.inner().census(), before, "call {failing}");
    }
}

#[test]
fn an_error_that_is_recorded_is_answered_at_the_end() {
    let device = device("navi31");
    let mut stream = Stream::new(&device, compute(&device), 8).unwrap();
    stream.record(&pm4::Nop::Bare);
    stream.record(&pm4::PfpSyncMe);
    stream.record(&pm4::Nop::Skip(&[]));
    let error = stream.finish().unwrap_err();
    assert_eq!(error.to_string(), "PFP_SYNC_ME does not exist on the GFX11 compute ring", "the first error stays");
}

/// W-20: RADV bounds the bytes of an IB by the number of dwords that it may have.
#[test]
fn an_ib_grows_to_the_dwords_that_the_packet_can_say_and_one_packet_may_fill_it() {
    for (name, ip) in [("pitcairn", Ip::Gfx), ("navi31", Ip::Compute), ("vega10", Ip::Sdma)] {
        // A machine with other work may be slow with a million dwords.
        let options = SimOptions { lockup_timeout: LockupTimeout::all(Duration::MAX), ..SimOptions::default() };
        let device = Device::new(SimDevice::new(chip(name), options).open()).unwrap();
        let list = match Target::new(device.info().gfx_level, ip) {
            Some(Target::Pm4(target)) => largest(Stream::new(&device, target, 8).unwrap()),
            Some(Target::Sdma(version)) => largest(Stream::new(&device, version, 8).unwrap()),
            None => unreachable!(),
        };
        let longest = list.ibs().map(|(_, dwords)| dwords).max().unwrap();
        assert!((cs::MAX_IB_DWORDS - 15..=cs::MAX_IB_DWORDS).contains(&longest), "{name} {ip}: {longest}");
        run(&queue(&device, ip, 0), &list, &host_memory(&device, 4096));
    }
}

/// Two IBs as long as can be.
fn largest<L: Language>(mut stream: Stream<L>) -> CommandList {
    let target: Target = stream.language().into();
    for _ in 0..2 {
        let most = match stream.reserve(usize::MAX).unwrap_err() {
            cs::RecordError::TooLong { most, .. } => most,
            other => panic!("{other}"),
        };
        target.fill(stream.reserve(most).unwrap());
    }
    stream.finish().unwrap()
}

#[test]
fn a_burst_counts_what_was_put_and_takes_no_more_than_it_was_asked_for() {
    let device = device("navi21");
    let mut stream = Stream::new(&device, gfx(&device), 16).unwrap();
    for round in 1..=500 {
        let mut writer = stream.packet_writer(7).unwrap();
        writer.put([0xc000_1000, round]).unwrap();
        writer.put([0xc001_1000, round, 1]).unwrap();
        assert_eq!(writer.left(), 2);
        assert_eq!(writer.put([0; 3]), Err(cs::RecordError::TooLong { needed: 3, most: 2 }));
        drop(writer);
    }
    drop(stream.packet_writer(7).unwrap());
    assert!(matches!(stream.packet_writer(usize::MAX).unwrap_err(), cs::RecordError::TooLong { .. }));
    let list = stream.finish().unwrap();
    let expected: Vec<_> = (1..=500).flat_map(|round| [vec![round], vec![round, 1]]).collect();
    assert_eq!(payloads(&list, gfx(&device)), expected);
}

/// Returns the dwords skipped by a list's NOPs, except those that end IBs, which skip zeros.
fn payloads(list: &CommandList, target: pm4::Target) -> Vec<Vec<u32>> {
    let payload = |packet: pm4::Decoded<'_>| match packet.command {
        pm4::Command::Nop(pm4::Nop::Skip(payload)) if payload[0] != 0 => Some(payload.to_vec()),
        _ => None,
    };
    let ibs: Vec<_> = list.dwords().collect();
    ibs.iter().flat_map(|ib| pm4::decode(ib, target)).filter_map(|packet| payload(packet.unwrap())).collect()
}

#[test]
fn preambles_of_another_ring_are_refused_where_they_are_submitted() {
    let device = device("navi21");
    let (gfx, compute) = (gfx(&device), compute(&device));
    let empty = |target: pm4::Target| Stream::new(&device, target, 8).unwrap().finish().unwrap();
    let (list, queue) = (empty(gfx), queue(&device, Ip::Gfx, 0));
    for (preambles, is_own) in [
        (Preambles::new().with_further(empty(compute)).unwrap(), false),
        (Preambles::new().with_postamble(empty(compute)).unwrap(), false),
        (Preambles::new().with_initial(empty(compute), empty(compute)).unwrap(), false),
        (Preambles::new().with_initial(empty(gfx), empty(gfx)).unwrap(), true),
    ] {
        let result =
            queue.submit(&Submission { lists: &[&list], preambles: Some(&preambles), ..Submission::default() });
        if is_own {
            assert!(result.unwrap().wait(job_time()).unwrap());
        } else {
            let wrong = cs::SubmitError::WrongQueue { recorded: compute.into(), queue: gfx.into() };
            assert_eq!(result.unwrap_err(), wrong);
        }
    }
}

#[test]
fn a_pool_counts_what_lies_idle_in_it_and_gives_the_smallest_that_fits() {
    let device = device("navi21");
    let pool = IbPool::new(&device, IbPlacement::System, 1 << 20).unwrap();
    let list = |dwords| pool.stream(gfx(&device), dwords).unwrap().finish().unwrap();
    let (small, large) = (list(8), list(100_000));
    assert_eq!(pool.idle_dwords(), 0);
    drop(small);
    let of_small = pool.idle_dwords();
    drop(large);
    let of_large = pool.idle_dwords() - of_small;
    assert!(of_small >= 8 && of_large >= 100_000 && of_small < of_large, "{of_small} {of_large}");
    let small = list(8);
    assert_eq!(pool.idle_dwords(), of_large);
    let large = list(8);
    assert_eq!(pool.idle_dwords(), 0, "the large one fits too");
    drop((small, large));
    assert_eq!(pool.idle_dwords(), of_small + of_large);
    let large = list(of_small + 1);
    assert_eq!(pool.idle_dwords(), of_small);
    drop(large);
    // A pool with room for one of them keeps the first that comes.
    let narrow = IbPool::new(&device, IbPlacement::System, of_small).unwrap();
    let lists = [(); 2].map(|()| narrow.stream(gfx(&device), 8).unwrap().finish().unwrap());
    drop(lists);
    assert_eq!(narrow.idle_dwords(), of_small);
}

/// The command processor of GFX12 fetches commands behind L2, where a shader may just have written them.
#[test]
fn a_detour_writes_l2_back_on_gfx12_and_on_no_generation_before_it_from_gfx9_on() {
    let device = device("navi21");
    for level in GfxLevel::ALL.into_iter().filter(|level| *level >= GfxLevel::Gfx9) {
        let target = pm4::Target::compute(level);
        let mut stream = Stream::new(&device, target, 64).unwrap();
        let at = GpuVa::new(0x10_0000).unwrap();
        stream.detour(at, 16, at).unwrap();
        let list = stream.finish().unwrap();
        let first = list.dwords().next().unwrap();
        let writes_back = pm4::decode(&first, target).any(|read| match read.unwrap().command {
            pm4::Command::AcquireMem(acquire) => acquire.gcr.contains(pm4::Gcr::GL2_WRITE_BACK),
            _ => false,
        });
        assert_eq!(writes_back, level == GfxLevel::Gfx12, "{level}");
    }
}

#[test]
fn a_compute_ring_comes_back_from_a_detour_and_gfx8_writes_l2_back_before() {
    for name in ["stoney", "polaris10", "vega10", "navi21"] {
        let device = device(name);
        let target = compute(&device);
        let memory = host_memory(&device, 4096);
        let at = |offset| memory.address().checked_add(offset).unwrap();
        // The commands that the GPU would generate: a store, and NOPs where the jump back will stand.
        let mut commands = [0xffff_1000; 16];
        pm4::WriteData::new(at(2048), &[41]).encode(target, &mut commands).unwrap();
        memory.map().unwrap().write_dwords(0, &commands).unwrap();
        let mut stream = Stream::new(&device, target, 64).unwrap();
        stream.keep(memory.binding());
        stream.detour(memory.address(), 16, at(12 * 4)).unwrap();
        stream.push(&pm4::WriteData::new(at(2052), &[42])).unwrap();
        let list = stream.finish().unwrap();
        // ACQUIRE_MEM of five more dwords, then the actions TC_WB (bit 18) and TC_NC (bit 3), behind the store of the jump.
        let first = list.dwords().next().unwrap();
        let at_actions = first.windows(2).position(|pair| pair[0] & !2 == 0xc005_5800 && pair[1] == 1 << 18 | 1 << 3);
        let is_gfx8 = matches!(name, "stoney" | "polaris10");
        assert_eq!(at_actions, is_gfx8.then_some(8), "{name}");
        let queue = queue(&device, Ip::Compute, 0);
        for _ in 0..2 {
            memory.map().unwrap().write_dwords(2048, &[0, 0]).unwrap();
            let submission = Submission { lists: &[&list], ..Submission::default() };
            assert!(queue.submit(&submission).unwrap().wait(job_time()).unwrap(), "{name}");
            let stored = [2048, 2052].map(|offset| memory.map().unwrap().load_u32(offset).unwrap());
            assert_eq!(stored, [41, 42], "{name}");
        }
    }
}

#[test]
fn a_detour_is_refused_where_the_ring_cannot_come_back() {
    let at = GpuVa::new(0x80_0010_0000).unwrap();
    let device = device("navi21");
    let mut secondary = Stream::secondary(&device, compute(&device), 64).unwrap();
    assert_eq!(secondary.detour(at, 16, at), Err(cs::RecordError::NestedCall));
    let mut stream = Stream::new(&device, compute(&device), 64).unwrap();
    assert!(matches!(stream.detour(at, 1 << 20, at), Err(cs::RecordError::Encode(_))), "20 bits of size");
    assert!(stream.is_empty());
    stream.detour(at, 16, at).unwrap();
    let list = stream.finish().unwrap();
    assert_eq!(list.ibs().count(), 2);
    let mut outer = Stream::new(&device, compute(&device), 64).unwrap();
    assert_eq!(outer.execute(&list, Inclusion::Auto), Err(cs::RecordError::DetouredList));
    let old = crate::support::device("pitcairn");
    let mut stream = Stream::new(&old, compute(&old), 64).unwrap();
    assert!(matches!(stream.detour(at, 16, at), Err(cs::RecordError::Encode(_))));
    let mut graphics = Stream::new(&old, gfx(&old), 64).unwrap();
    graphics.detour(at, 16, at).unwrap();
    assert_eq!(graphics.finish().unwrap().ibs().count(), 1, "a call");
}
