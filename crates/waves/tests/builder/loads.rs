//! A planned load, recorded and run, gives the bytes of memory.

use amdgpu_hw::GfxLevel;
use amdgpu_isa::{
    WaveSize,
    builder::{Builder, LoadFrom},
    load::{Alignment, Kind, Place, Request},
};
use proptest::prelude::*;

use crate::machine::{DATA, places, run_wave};

/// Bytes of the data that loads read; results follow.
const SOURCE: u32 = 4096;

fn byte(at: u32) -> u8 {
    (at.wrapping_mul(0x9e37_79b1) >> 24) as u8
}

fn request(kind: Kind, components: u8, component_bytes: u8, align: Alignment, const_offset: u32) -> Request {
    let (offset, address) = match kind {
        Kind::Global => (Place::None, Place::Vector),
        _ => (Place::Vector, Place::None),
    };
    Request {
        kind,
        components,
        component_bytes,
        align,
        const_offset,
        offset,
        address,
        component_stride: 0,
        swizzle_element: 0,
    }
}

/// Runs a load whose register holds `start` in lane 0 and `step` more in each lane after it; returns the bytes of each lane.
fn loaded(request: &Request, (level, wave): (GfxLevel, WaveSize), start: u32, step: u32) -> Vec<Vec<u8>> {
    let mut code = Builder::new(level, wave, 4);
    let (buffer, at) = (code.user(0, 4), code.vector(2));
    let (lane, value) = (code.thread(), code.vector(1));
    code.op(format_args!("v_mov_b32 {}, {step:#x}", at.at(1)));
    code.op(format_args!("v_mul_lo_u32 {}, {lane}, {}", at.at(0), at.at(1)));
    code.op(format_args!("v_mov_b32 {}, {start:#x}", at.at(1)));
    code.add(at.at(0), at.at(0), at.at(1));
    code.op(format_args!("v_mov_b32 {}, 0", at.at(1)));
    let from = match request.kind {
        Kind::Global => {
            code.op(format_args!("v_mov_b32 {value}, {DATA:#x}"));
            code.add(at.at(0), at.at(0), value);
            LoadFrom::Global(at)
        }
        Kind::Lds => {
            // LDS gets the first bytes of the data, by the first lane's loop over all of them.
            code.reserve_lds(SOURCE);
            let (place, word) = (code.vector(1), code.vector(1));
            code.op(format_args!("v_lshlrev_b32 {place}, 2, {lane}"));
            for _ in 0..SOURCE / 4 / wave.lanes() {
                code.buffer_load(word, place, buffer);
                code.lds_store(word, place);
                code.op(format_args!("v_mov_b32 {value}, {:#x}", wave.lanes() * 4));
                code.add(place, place, value);
            }
            LoadFrom::Lds(at.at(0))
        }
        _ => LoadFrom::Buffer(buffer, at.at(0)),
    };
    let result = code.load(request, from);
    // Each lane has 64 bytes behind the data.
    let to = code.vector(1);
    code.op(format_args!("v_lshlrev_b32 {to}, 6, {lane}"));
    code.op(format_args!("v_mov_b32 {value}, {SOURCE:#x}"));
    code.add(to, to, value);
    for index in 0..result.count {
        code.buffer_store(result.at(index), to, buffer);
        code.add(to, 4, to);
    }
    let program = code.finish().unwrap_or_else(|error| panic!("{level} {request:?}: {error}"));
    let mut data: Vec<u8> = (0..SOURCE).map(byte).collect();
    data.resize((SOURCE + wave.lanes() * 64) as usize, 0);
    let data = run_wave(level, &program, data);
    data[SOURCE as usize..].chunks(64).map(|bytes| bytes[..request.bytes() as usize].to_vec()).collect()
}

fn check(request: &Request, place: (GfxLevel, WaveSize), start: u32, step: u32) {
    for (lane, found) in (0..).zip(loaded(request, place, start, step)) {
        let first = start + lane * step + request.const_offset;
        let expected: Vec<u8> = (first..first + request.bytes()).map(byte).collect();
        assert_eq!(found, expected, "{} lane {lane}: {request:?} from {start:#x}, step {step}", place.0);
    }
}

#[test]
fn vectors_of_all_shapes_are_loaded_from_all_memories() {
    for place in places() {
        for kind in [Kind::Buffer, Kind::Global, Kind::Lds] {
            for (components, bytes, mul) in
                [(1, 1, 1), (3, 1, 1), (4, 2, 2), (3, 4, 4), (4, 4, 16), (2, 8, 8), (16, 4, 4)]
            {
                check(&request(kind, components, bytes, Alignment { mul, offset: 0 }, 0), place, 128, mul);
            }
        }
    }
}

/// Runs a load whose scalar registers hold `start`; returns the bytes of each lane.
fn loaded_uniformly(request: &Request, (level, wave): (GfxLevel, WaveSize), start: u32) -> Vec<Vec<u8>> {
    let mut code = Builder::new(level, wave, 4);
    let (buffer, at, lane) = (code.user(0, 4), code.scalar(2), code.thread());
    let from = if matches!(request.kind, Kind::Global | Kind::ScalarGlobal) {
        code.op(format_args!("s_mov_b32 {}, {:#x}", at.at(0), DATA as u32 + start));
        code.op(format_args!("s_mov_b32 {}, 0", at.at(1)));
        LoadFrom::UniformGlobal(at)
    } else {
        code.op(format_args!("s_mov_b32 {}, {start:#x}", at.at(0)));
        LoadFrom::UniformBuffer(buffer, at.at(0))
    };
    let result = code.load(request, from);
    let (to, value) = (code.vector(1), code.vector(1));
    code.op(format_args!("v_lshlrev_b32 {to}, 6, {lane}"));
    code.op(format_args!("v_mov_b32 {value}, {SOURCE:#x}"));
    code.add(to, to, value);
    for index in 0..result.count {
        code.buffer_store(result.at(index), to, buffer);
        code.add(to, 4, to);
    }
    let program = code.finish().unwrap_or_else(|error| panic!("{level} {request:?}: {error}"));
    let mut data: Vec<u8> = (0..SOURCE).map(byte).collect();
    data.resize((SOURCE + wave.lanes() * 64) as usize, 0);
    let data = run_wave(level, &program, data);
    data[SOURCE as usize..].chunks(64).map(|bytes| bytes[..request.bytes() as usize].to_vec()).collect()
}

/// The request for an address in scalar registers.
fn uniform(kind: Kind, components: u8, component_bytes: u8, align: Alignment, const_offset: u32) -> Request {
    let request = request(kind, components, component_bytes, align, const_offset);
    match kind {
        Kind::Global | Kind::ScalarGlobal => Request { offset: Place::None, address: Place::Scalar, ..request },
        _ => Request { offset: Place::Scalar, ..request },
    }
}

/// Loads a dword for each lane from `start` on and stores it at the lane's place in the first dwords; returns them.
fn row_from(start: u32, (level, wave): (GfxLevel, WaveSize)) -> Vec<u32> {
    let mut code = Builder::new(level, wave, 4);
    let (buffer, at, to, value) = (code.user(0, 4), code.vector(1), code.vector(1), code.vector(1));
    let lane = code.thread();
    code.op(format_args!("v_lshlrev_b32 {to}, 2, {lane}"));
    code.op(format_args!("v_mov_b32 {at}, {start:#x}"));
    code.add(at, to, at);
    code.buffer_load(value, at, buffer);
    code.buffer_store(value, to, buffer);
    let program = code.finish().unwrap();
    let data = run_wave(level, &program, (0..SOURCE).map(byte).collect());
    data.as_chunks().0.iter().take(wave.lanes() as usize).map(|bytes| u32::from_le_bytes(*bytes)).collect()
}

#[test]
fn lanes_that_follow_each_other_pass_either_end_of_a_buffer_one_by_one() {
    for place in places() {
        for start in [0, 2, SOURCE - 64, SOURCE - 4, 0_u32.wrapping_sub(64), 0_u32.wrapping_sub(256)] {
            let expected: Vec<u32> =
                (0..place.1.lanes())
                    .map(|lane| start.wrapping_add(4 * lane))
                    .map(|at| {
                        if at <= SOURCE - 4 { u32::from_le_bytes([0, 1, 2, 3].map(|next| byte(at + next))) } else { 0 }
                    })
                    .collect();
            assert_eq!(row_from(start, place), expected, "{place:?} from {start:#x}");
        }
    }
}

#[test]
fn a_request_from_other_registers_than_it_names_is_an_error() {
    let mut code = Builder::new(GfxLevel::Gfx9, WaveSize::Wave64, 4);
    let (buffer, at) = (code.user(0, 4), code.scalar(2));
    code.load(
        &request(Kind::Buffer, 1, 4, Alignment { mul: 4, offset: 0 }, 0),
        LoadFrom::UniformBuffer(buffer, at.at(0)),
    );
    assert!(code.finish().is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    /// Requirement L-1, with the machine code that the builder makes.
    #[test]
    fn any_load_gives_its_bytes(
        place in proptest::sample::select(places()),
        kind in proptest::sample::select(vec![Kind::Buffer, Kind::Global, Kind::Lds]),
        components in 1_u8..=16,
        size in 0_u32..4,
        mul in 0_u32..5,
        part in 0_u32..16,
        constant in 0_u32..600,
        step in 1_u32..4,
    ) {
        let component_bytes = 1_u8 << size;
        let mul = if component_bytes >= 4 { mul.max(2) } else { mul };
        let offset = part & ((1 << mul) - 1) & if component_bytes >= 4 { !3 } else { !0 };
        let align = Alignment { mul: 1 << mul, offset };
        let request = request(kind, components.min(64 / component_bytes), component_bytes, align, constant);
        // The whole address has the alignment: the register has what the constant lacks.
        let start = 256 + (offset.wrapping_sub(constant) & ((1 << mul) - 1));
        check(&request, place, start, step << mul);
    }

    /// The same with an address in scalar registers, by scalar loads and by vector loads.
    #[test]
    fn any_load_from_scalar_registers_gives_its_bytes(
        place in proptest::sample::select(places()),
        kind in proptest::sample::select(vec![
            Kind::Buffer, Kind::ScalarBuffer, Kind::Global, Kind::ScalarGlobal,
        ]),
        components in 1_u8..=16,
        size in 0_u32..4,
        mul in 0_u32..5,
        part in 0_u32..16,
        constant in prop_oneof![0_u32..600, 1000_u32..2100],
    ) {
        let component_bytes = 1_u8 << size;
        let mul = if component_bytes >= 4 { mul.max(2) } else { mul };
        let offset = part & ((1 << mul) - 1) & if component_bytes >= 4 { !3 } else { !0 };
        let align = Alignment { mul: 1 << mul, offset };
        let request = uniform(kind, components.min(64 / component_bytes), component_bytes, align, constant);
        let start = 256 + (offset.wrapping_sub(constant) & ((1 << mul) - 1));
        let first = start + constant;
        let expected: Vec<u8> = (first..first + request.bytes()).map(byte).collect();
        for found in loaded_uniformly(&request, place, start) {
            prop_assert_eq!(&found, &expected, "{} {:?} from {:#x}", place.0, request, start);
        }
    }
}
