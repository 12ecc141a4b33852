//! Arbitrary dwords cause no panic, no unreported end of work, and no write outside the bindings.

use amdgpu_packets::pm4::{self, Target as Pm4};
use amdgpu_packets::sdma::Version;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;

fn targets() -> Vec<Target> {
    let sdma = Version::ALL.into_iter().map(Target::from);
    Pm4::all().map(Target::from).chain(sdma).collect()
}

/// Dwords that mean something here and there: addresses of the rig, small numbers, and anything.
fn dword() -> impl Strategy<Value = u32> {
    prop_oneof![
        4 => 0..0x100u32,
        3 => (0..SIZE as u32 / 4).prop_map(|at| BASE as u32 + 4 * at),
        1 => Just(0),
        1 => (0..32u32).prop_map(|bit| 1 << bit),
        2 => any::<u32>(),
    ]
}

/// A type-3 packet of some opcode that has a name, as long as it says, with a body of anything.
fn packet() -> impl Strategy<Value = Vec<u32>> {
    let named: Vec<u8> = (0..=0xff).filter(|&opcode| pm4::opcode::name(opcode).is_some()).collect();
    (select(named), vec(dword(), 1..15), 0..4u32).prop_map(|(opcode, body, flags)| {
        let header = 3 << 30 | (body.len() as u32 - 1) << 16 | u32::from(opcode) << 8 | flags;
        [vec![header], body].concat()
    })
}

/// A copy-engine packet: an opcode that some version has, and anything behind it.
fn copy_packet() -> impl Strategy<Value = Vec<u32>> {
    let header = prop_oneof![
        (0..0x12u32, 0..9u32, 0..0x1_0000u32).prop_map(|(op, sub_op, flags)| op | sub_op << 8 | flags << 16),
        (0..16u32, 0..0x40u32).prop_map(|(op, count)| op << 28 | count),
    ];
    (header, vec(dword(), 0..20)).prop_map(|(header, body)| [vec![header], body].concat())
}

fn stream() -> impl Strategy<Value = Vec<u32>> {
    prop_oneof![
        vec(any::<u32>(), 0..64),
        vec(packet(), 0..24).prop_map(|packets| packets.concat()),
        vec(copy_packet(), 0..12).prop_map(|packets| packets.concat()),
    ]
}

/// Runs a stream. The memory of the rig panics at nothing and refuses what is outside; the read-only page must stay as it
/// was.
fn survive(target: Target, stream: &[u32]) -> Result<(), TestCaseError> {
    let rig = Rig::new();
    rig.patience.set(8);
    rig.memory.0.borrow_mut()[(READ_ONLY - BASE) as usize..][..PAGE as usize].fill(0x5a);
    let mut engine = Engine::new(target).with_render_backends(0b1011);
    match rig.run(&mut engine, stream) {
        Ok(()) => {}
        Err(stop) => prop_assert!(!stop.to_string().is_empty()),
    }
    let memory = rig.memory.0.borrow();
    prop_assert!(memory[(READ_ONLY - BASE) as usize..][..PAGE as usize].iter().all(|&byte| byte == 0x5a));
    prop_assert!(memory[(HOLE - BASE) as usize..][..PAGE as usize].iter().all(|&byte| byte == 0));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn anything_at_all_is_survived(stream in stream()) {
        for target in targets() {
            survive(target, &stream)?;
        }
    }

    #[test]
    fn a_recorded_packet_with_a_few_dwords_changed_is_survived(
        which in any::<prop::sample::Index>(),
        changes in vec((any::<prop::sample::Index>(), dword()), 1..4),
        target in select(targets()),
    ) {
        let vectors = recorded();
        let mut stream = which.get(&vectors).clone();
        for (at, value) in changes {
            *at.get_mut(&mut stream) = value;
        }
        survive(target, &stream)?;
    }
}

/// The recorded packets, with their addresses moved into the rig.
fn recorded() -> Vec<Vec<u32>> {
    let text = include_str!("../../../../packets/tests/data/packets/vectors.json");
    let vectors: serde_json::Value = serde_json::from_str(text).unwrap();
    let all = ["pm4", "sdma"].iter().flat_map(|language| vectors[language].as_array().unwrap());
    let dword = |value: &serde_json::Value| u32::from_str_radix(&value.as_str().unwrap()[2..], 16).unwrap();
    let moved = |value| match value {
        0x2345_6780 => DATA as u32,
        0x0010_0000 => DATA as u32 + 0x1000,
        0x80 | 0x81 => 0,
        value => value,
    };
    all.map(|vector| vector["dwords"].as_array().unwrap().iter().map(|value| moved(dword(value))).collect()).collect()
}
