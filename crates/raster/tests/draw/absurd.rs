//! State and memory that make no sense, or that are not executed.

use crate::{
    COLOUR, Closures, RED, Ram, SIDE, Vertex, chip, count, half, interpolated, registers, set, state, with_depth,
    with_samples,
};
use amdgpu_hw::GfxLevel;
use amdgpu_raster::{Call, DrawState, Ended, Feature, Memory, MemoryFault, Registers, draw};
use amdgpu_registers::named;
use std::collections::BTreeMap;

#[test]
fn any_register_values_end_in_an_answer() {
    let mut seed = 1_u64;
    let mut next = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 32) as u32
    };
    let offsets: Vec<u32> = registers().into_keys().chain(with_depth().into_keys()).collect();
    let (mut drew, mut refused) = (0, 0);
    for round in 0..400 {
        let mut registers = if round % 2 == 0 { registers() } else { with_depth() };
        for _ in 0..1 + next() % 6 {
            let offset = offsets[next() as usize % offsets.len()];
            registers.insert(offset, next() >> (next() % 32));
        }
        // The scissor bounds the time.
        set(&mut registers, "PA_SC_SCREEN_SCISSOR_BR", 80 | 80 << 16);
        let ram = Ram::new();
        let vertices = half(0.5, [1.0; 3], [RED; 3]);
        let mut shaders = Closures { vertices: &vertices, seen: Vec::new(), colour: |_, _| [0.5; 4], discards: 0 };
        let state = state(&registers, 3);
        assert!(!state.lines().is_empty());
        match draw(&state, Some(&chip()), &ram, &mut shaders) {
            Ok(_) => drew += 1,
            Err(_) => refused += 1,
        }
    }
    assert!(drew > 50 && refused > 50, "{drew} {refused}");
}

#[test]
fn a_draw_with_several_unsupported_features_names_them_in_the_order_of_the_pipeline() {
    let mut registers = registers();
    set(&mut registers, "VGT_SHADER_STAGES_EN", 1 << 5);
    set(&mut registers, "PA_SC_MODE_CNTL_0", 1);
    set(&mut registers, "PA_SC_AA_CONFIG", 4);
    let vertices = half(0.5, [1.0; 3], [RED; 3]);
    let mut shaders = Closures { vertices: &vertices, seen: Vec::new(), colour: interpolated, discards: 0 };
    let ended = draw(&state(&registers, 3), Some(&chip()), &Ram::new(), &mut shaders).unwrap_err();
    assert_eq!(ended, Ended::NotExecuted(vec![Feature::GeometryShader, Feature::Samples(16), Feature::Samples(1)]));
    assert_eq!(ended.to_string(), "not executed: geometry shader, 16 samples, 1 samples");
}

#[test]
fn a_coarse_shading_rate_that_a_driver_sets_by_itself_does_not_keep_a_draw_from_being_executed() {
    // RADV 26.2.6 overrides the rate with 2 x 2 in its clears on GFX12.
    let offset = |name| named(name).unwrap().offset(GfxLevel::Gfx12).unwrap();
    let unsupported = |rate: u32| {
        let read = |at| Some(if at == offset("PA_SC_VRS_OVERRIDE_CNTL") { rate } else { 0 });
        DrawState::new(Call::default(), &Registers::new(GfxLevel::Gfx12, &read)).unsupported()
    };
    assert_eq!(unsupported(1 | 5 << 4), unsupported(0));
}

/// Memory whose job ends after some questions.
struct Ending<'r>(&'r Ram, std::cell::Cell<u32>);

impl Memory for Ending<'_> {
    fn load(&self, va: u64, out: &mut [u8]) -> Result<(), MemoryFault> {
        self.0.load(va, out)
    }

    fn store(&self, va: u64, data: &[u8]) -> Result<(), MemoryFault> {
        self.0.store(va, data)
    }

    fn is_stopped(&self) -> bool {
        self.1.set(self.1.get().saturating_sub(1));
        self.1.get() == 0
    }
}

/// Draws, and returns how the draw ended.
fn ended(state: &DrawState, memory: &dyn Memory, vertices: &[Vertex]) -> Result<amdgpu_raster::Drawn, Ended> {
    let mut shaders = Closures { vertices, seen: Vec::new(), colour: interpolated, discards: 0 };
    draw(state, Some(&chip()), memory, &mut shaders)
}

fn indexed(registers: &BTreeMap<u32, u32>, count: u32, indices: amdgpu_raster::Indices) -> DrawState {
    let call = Call { count: Some(count), instances: Some(1), indices: Some(indices), ..Call::default() };
    DrawState::new(call, &Registers::new(GfxLevel::Gfx9, &|offset| registers.get(&offset).copied()))
}

#[test]
fn vertices_without_end_that_make_no_primitive_end_with_their_job() {
    let ram = Ram::new();
    let mut registers = registers();
    // Every index restarts: those behind the end of the buffer are zero.
    set(&mut registers, "VGT_MULTI_PRIM_IB_RESET_EN", 1);
    set(&mut registers, "VGT_MULTI_PRIM_IB_RESET_INDX", 0);
    let state = indexed(&registers, u32::MAX, amdgpu_raster::Indices { va: 0, count: 0, bytes: 4 });
    let memory = Ending(&ram, std::cell::Cell::new(10));
    assert_eq!(ended(&state, &memory, &half(0.5, [1.0; 3], [RED; 3])), Err(Ended::Stopped));
}

#[test]
fn instances_without_end_end_with_their_job() {
    let ram = Ram::new();
    for count in [1, 3] {
        let call = Call { count: Some(count), instances: Some(u32::MAX), ..Call::default() };
        let registers = registers();
        let state = DrawState::new(call, &Registers::new(GfxLevel::Gfx9, &|offset| registers.get(&offset).copied()));
        let memory = Ending(&ram, std::cell::Cell::new(300));
        assert_eq!(ended(&state, &memory, &half(0.5, [1.0; 3], [RED; 3])), Err(Ended::Stopped), "{count}");
    }
}

#[test]
fn indices_that_are_not_drawn_need_no_memory_and_others_are_a_fault() {
    let registers = registers();
    let vertices = half(0.5, [1.0; 3], [RED; 3]);
    let end = 2 << 20;
    for (in_memory, faults) in [(3, false), (2, true)] {
        let ram = Ram::new();
        // The second vertex and the third; what is not mapped is the first.
        let va = end - 2 * in_memory;
        for (at, index) in (va..end).step_by(2).zip([1_u16, 2, 0]) {
            ram.store(at, &index.to_le_bytes()).unwrap();
        }
        let state = indexed(&registers, 3, amdgpu_raster::Indices { va, count: u32::MAX, bytes: 2 });
        let drawn = ended(&state, &ram, &vertices).unwrap();
        let fault = faults.then_some(MemoryFault { va, is_write: false });
        assert_eq!((drawn.fault, count(&ram, 0xff00_00ff)), (fault, 64 * 63 / 2), "{in_memory}");
    }
}

#[test]
fn a_depth_target_that_is_not_mapped_faults_although_no_sample_passes() {
    let ram = Ram::new();
    let mut registers = with_depth();
    set(&mut registers, "DB_Z_READ_BASE", 0x10_0000);
    set(&mut registers, "DB_Z_WRITE_BASE", 0x10_0000);
    let drawn = ended(&state(&registers, 3), &ram, &half(0.5, [1.0; 3], [RED; 3])).unwrap();
    assert_eq!((drawn.passed, count(&ram, 0)), (0, 0x4000));
    assert!(drawn.fault.is_some_and(|fault| fault.va >= 0x1000_0000 && !fault.is_write), "{drawn:?}");
}

#[test]
fn absurd_viewports_and_widths_draw_every_topology_without_a_panic() {
    let ram = Ram::new();
    for topology in 1..=6 {
        for scale in [f32::MAX, f32::MIN_POSITIVE, f32::INFINITY, f32::NAN, -1e18] {
            // One sample, and four, whose lines are rectangles.
            for samples in [registers(), with_samples()] {
                let mut registers = samples;
                set(&mut registers, "VGT_PRIMITIVE_TYPE", topology);
                set(&mut registers, "PA_CL_VPORT_XSCALE", scale.to_bits());
                set(&mut registers, "PA_CL_VPORT_YOFFSET", scale.to_bits());
                set(&mut registers, "PA_SU_LINE_CNTL", 0xffff);
                set(&mut registers, "PA_SU_POINT_SIZE", u32::MAX);
                set(&mut registers, "PA_SU_POINT_MINMAX", 0xffff << 16);
                let drawn = ended(&state(&registers, 3), &ram, &half(0.5, [1.0; 3], [RED; 3]));
                assert!(drawn.is_ok_and(|drawn| drawn.fault.is_none()), "{topology} {scale}");
            }
        }
    }
}

#[test]
fn more_samples_than_eight_are_refused_by_name() {
    for log2 in 4..8 {
        let mut registers = with_samples();
        set(&mut registers, "PA_SC_AA_CONFIG", log2);
        let ended = ended(&state(&registers, 3), &Ram::new(), &half(0.5, [1.0; 3], [RED; 3]));
        let Err(Ended::NotExecuted(features)) = ended else { panic!("{ended:?}") };
        assert!(features.contains(&Feature::Samples(1 << log2)), "{features:?}");
    }
}

#[test]
fn targets_beside_the_shaders_exports_are_left_alone() {
    let ram = Ram::new();
    let mut registers = registers();
    // All eight targets are the same memory, and the shader exports to the first.
    for index in 1..8 {
        for (name, of) in [("BASE", (COLOUR >> 8) as u32 + 0x100 * index), ("INFO", 10 << 2), ("ATTRIB", 1 << 28)] {
            set(&mut registers, &format!("CB_COLOR{index}_{name}"), of);
        }
        let last = SIDE as u32 - 1;
        set(&mut registers, &format!("CB_COLOR{index}_ATTRIB2"), last | last << 14);
        set(&mut registers, &format!("CB_MRT{index}_EPITCH"), last);
    }
    set(&mut registers, "CB_TARGET_MASK", u32::MAX);
    set(&mut registers, "CB_SHADER_MASK", u32::MAX);
    set(&mut registers, "SPI_SHADER_COL_FORMAT", 0x9999_9999);
    let drawn = ended(&state(&registers, 3), &ram, &half(0.5, [1.0; 3], [RED; 3])).unwrap();
    assert_eq!((drawn.fault, count(&ram, 0xff00_00ff)), (None, 64 * 63 / 2));
}
