//! Draws and dispatches: what is counted, what shaders are given, and the registers that are written on the way.

use amdgpu_hw::GfxLevel::*;
use amdgpu_packets::pm4::Target as Pm4;

use super::raw::*;
use super::*;
use crate::gpu::{Dispatch, Draw, IndexBuffer, Scene, Shaders, Unfinished, Work};

/// A visitor that records its calls, with a register of the moment: COMPUTE_USER_DATA_0.
#[derive(Default)]
struct Diary(RefCell<Vec<(Work, u32)>>);

impl Shaders for Diary {
    fn run(&self, work: &Work, scene: &Scene<'_>) -> Result<(), Unfinished> {
        let register = amdgpu_packets::pm4::Register::at_byte(0xb900).unwrap();
        self.0.borrow_mut().push((*work, scene.state.register(register)));
        Ok(())
    }
}

/// Runs packets and answers what was started.
fn started(rig: &Rig, target: Pm4, packets: &[Vec<u32>]) -> (Engine, Vec<Work>) {
    let (diary, stream) = (Diary::default(), packets.concat());
    rig.put(IB, &stream);
    let mut engine = Engine::new(target.into());
    let env = Environment { memory: &rig.memory, clock: rig, job: rig, shaders: &diary, observer: None };
    engine.run(Ib { va: va(IB), dwords: stream.len() as u32 }, &env).unwrap();
    let work = diary.0.into_inner().into_iter().map(|(work, _)| work).collect();
    (engine, work)
}

const PLAIN: Draw = Draw {
    count: 3,
    instances: 1,
    first: 0,
    vertex_offset: 0,
    first_instance: 0,
    indices: None,
    number: 0,
    initiator: 2,
};

/// The index type in the form of a generation: 32 bits.
fn index_type(target: Pm4) -> Vec<u32> {
    if target.level < Gfx9 { packet(0x2a, &[1]) } else { packet(0x7a, &[2 << 28 | 0x243, 1]) }
}

#[test]
fn direct_draws_know_their_counts_and_indices() {
    for target in gfx(Gfx6, Gfx12) {
        let [low, high] = halves(DATA);
        let packets = [
            packet(0x2d, &[3, 2]),
            packet(0x2f, &[5]),
            packet(0x2d, &[3, 2]),
            index_type(target),
            packet(0x27, &[100, low, high, 3, 2]),
            packet(0x26, &[low, high]),
            packet(0x35, &[50, 7, 3, 2]),
        ];
        let (engine, work) = started(&Rig::new(), target, &packets);
        let five = Draw { instances: 5, ..PLAIN };
        let indices = |count| Some(IndexBuffer { va: va(DATA), count, bytes: 4 });
        let offset = Draw { first: 7, indices: indices(50), ..five };
        let expected = [PLAIN, five, Draw { indices: indices(100), ..five }, offset].map(Work::Draw);
        assert_eq!(work, expected, "{target}");
        assert_eq!(engine.state().tally().draws, 4);
    }
}

/// A visitor that records which draws count in the statistics of the pipeline, as they are and as late ones are.
#[derive(Default)]
struct Counting(RefCell<Vec<[bool; 2]>>);

impl Shaders for Counting {
    fn run(&self, _: &Work, scene: &Scene<'_>) -> Result<(), Unfinished> {
        let late = scene.state.with_counters_of_zero();
        self.0.borrow_mut().push([scene.state.counts_statistics(), late.counts_statistics()]);
        Ok(())
    }
}

#[test]
fn draws_count_in_statistics_unless_an_event_has_stopped_them() {
    for target in gfx(Gfx6, Gfx12) {
        let (counting, rig) = (Counting::default(), Rig::new());
        let (draw, event) = (packet(0x2d, &[3, 2]), |event: u32| packet(0x46, &[event]));
        let [start, stop] = [25, 26].map(event);
        let stream = [draw.clone(), stop.clone(), draw.clone(), stop, start, draw].concat();
        rig.put(IB, &stream);
        let env = Environment { memory: &rig.memory, clock: &rig, job: &rig, shaders: &counting, observer: None };
        Engine::new(target.into()).run(Ib { va: va(IB), dwords: stream.len() as u32 }, &env).unwrap();
        assert_eq!(counting.0.into_inner(), [[true; 2], [false; 2], [true; 2]], "{target}");
    }
}

#[test]
fn indirect_draws_take_their_arguments_from_memory_and_tell_the_shader() {
    for target in gfx(Gfx6, Gfx12) {
        let rig = Rig::new();
        rig.put(DATA + 0x20, &[3, 2, 10, 11, 12]);
        let [low, high] = halves(DATA);
        let packets = [
            packet(0x11, &[1, low, high]),
            packet(0x24, &[0x20, 0x240, 0x241, 2]),
            packet(0x26, &[low, high]),
            packet(0x13, &[9]),
            packet(0x25, &[0x20, 0x242, 0x243, 2]),
        ];
        let (engine, work) = started(&rig, target, &packets);
        let plain = Draw { instances: 2, first: 10, first_instance: 11, ..PLAIN };
        let indices = Some(IndexBuffer { va: va(DATA), count: 9, bytes: 2 });
        let indexed = Draw { vertex_offset: 11, first_instance: 12, indices, ..plain };
        assert_eq!(work, [plain, indexed].map(Work::Draw), "{target}");
        let told = [0xb900, 0xb904, 0xb908, 0xb90c].map(|byte| register(&engine, byte));
        assert_eq!(told, [10, 11, 11, 12], "{target}");
    }
}

#[test]
fn a_multi_draw_counts_to_the_lower_of_two_numbers() {
    for target in gfx(Gfx6, Gfx12) {
        let rig = Rig::new();
        (0..4).for_each(|n| rig.put(DATA + 32 * n, &[3, 1, n as u32, 0]));
        rig.put(DATA + 0x100, &[2]);
        let [low, high] = halves(DATA);
        let multi = |flags: u32| packet(0x2c, &[0, 0x240, 0, 0x242 | flags, 3, low + 0x100, high, 32, 2]);
        let (engine, work) = started(&rig, target, &[packet(0x11, &[1, low, high]), multi(1 << 31), multi(3 << 30)]);
        let number = |work: &Work| if let Work::Draw(draw) = work { (draw.number, draw.first) } else { (9, 9) };
        assert_eq!(work.iter().map(number).collect::<Vec<_>>(), [(0, 0), (1, 1), (2, 2), (0, 0), (1, 1)], "{target}");
        assert_eq!((register(&engine, 0xb900), register(&engine, 0xb908)), (1, 1), "{target}: the last one stays");
    }
}

#[test]
fn a_multi_draw_of_four_billion_ends_with_its_job() {
    for target in gfx(Gfx6, Gfx12) {
        let [low, high] = halves(DATA);
        let packets = [packet(0x11, &[1, low, high]), packet(0x2c, &[0, 0, 0, 0, u32::MAX, 0, 0, 0, 2])];
        let rig = Rig::new();
        rig.cancelled.set(true);
        let stop = run(&rig, target, &packets).unwrap_err();
        assert!(matches!(stop, Stop::Cancelled { .. }), "{stop}");
    }
}

#[test]
fn a_dispatch_knows_its_grid_and_its_shader() {
    for target in Pm4::all() {
        let rig = Rig::new();
        let program = packet(0x76, &[0x20c, (DATA >> 8) as u32, 0]);
        let (engine, work) = started(&rig, target, &[program, packet(0x15, &[4, 5, 6, 1])]);
        let grid = Dispatch { groups: [4, 5, 6], program: va(DATA), number: 0, initiator: 1 };
        assert_eq!(work, [Work::Dispatch(grid)], "{target}");
        assert_eq!((engine.state().tally().dispatches, rig.faults()), (1, vec![]));
    }
}

#[test]
fn a_shader_that_is_not_there_is_a_page_fault() {
    for target in Pm4::all() {
        let rig = Rig::new();
        let program = packet(0x76, &[0x20c, (HOLE >> 8) as u32, 0]);
        run(&rig, target, &[program, packet(0x15, &[1, 1, 1, 1])]).unwrap();
        assert_eq!(rig.faults(), [PageFault { va: va(HOLE), access: Access::Fetch }], "{target}");
    }
}

#[test]
fn an_empty_grid_or_one_that_is_not_enabled_starts_nothing() {
    for target in Pm4::all() {
        let (engine, work) = started(&Rig::new(), target, &[packet(0x15, &[4, 0, 6, 1]), packet(0x15, &[1, 1, 1, 0])]);
        assert_eq!((work.len(), engine.state().tally().dispatches), (0, 0), "{target}");
    }
}

#[test]
fn mec_takes_an_address_where_the_graphics_ring_takes_a_base() {
    for level in GfxLevel::ALL.into_iter().skip(1) {
        let rig = Rig::new();
        rig.put(DATA, &[1, 2, 3]);
        let [low, high] = halves(DATA);
        let absolute = packet(0x16, &[low, high, 1]);
        let (_, work) = started(&rig, Pm4::compute(level), std::slice::from_ref(&absolute));
        assert!(matches!(work[..], [Work::Dispatch(Dispatch { groups: [1, 2, 3], .. })]), "{level}");
        assert!(refusal(Pm4::gfx(level), &[absolute]).contains("only MEC takes"));
        assert!(refusal(Pm4::compute(level), &[packet(0x16, &[0, 1])]).contains("which MEC does not have"));
    }
}

#[test]
fn mesh_groups_are_counted_as_draws() {
    for target in gfx(Gfx11, Gfx12) {
        let rig = Rig::new();
        rig.put(DATA, &[1, 2, 3, 4, 5, 6]);
        let [low, high] = halves(DATA);
        let flags = 1 << 28 | 1 << 31;
        let packets = [
            packet(0x4e, &[7, 8, 9, 2]),
            packet(0x11, &[1, low, high]),
            packet(0x4c, &[0, 0x244 << 16 | 0x240, flags, 2, 0, 0, 12, 2]),
        ];
        let (engine, work) = started(&rig, target, &packets);
        let groups = |work: &Work| if let Work::Mesh(grid) = work { grid.groups } else { [0; 3] };
        assert_eq!(work.iter().map(groups).collect::<Vec<_>>(), [[7, 8, 9], [1, 2, 3], [4, 5, 6]], "{target}");
        let told = [0xb900, 0xb904, 0xb908, 0xb910].map(|byte| register(&engine, byte));
        assert_eq!((told, engine.state().tally().draws), ([4, 5, 6, 1], 3), "{target}");
    }
}

#[test]
fn shaders_see_the_registers_of_the_moment() {
    let (rig, diary, target) = (Rig::new(), Diary::default(), Pm4::compute(Gfx10));
    let set = |value| packet(0x76, &[0x240, value]);
    let go = packet(0x15, &[1, 1, 1, 1]);
    let stream = [set(1), go.clone(), set(2), go].concat();
    rig.put(IB, &stream);
    let env = Environment { memory: &rig.memory, clock: &rig, job: &rig, shaders: &diary, observer: None };
    Engine::new(target.into()).run(Ib { va: va(IB), dwords: stream.len() as u32 }, &env).unwrap();
    assert_eq!(diary.0.borrow().iter().map(|(_, seen)| *seen).collect::<Vec<_>>(), [1, 2]);
}
