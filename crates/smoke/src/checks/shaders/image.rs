//! Shaders that access images: stores, loads, and samplers that blend.

use amdgpu_descriptors::format::Format;
use amdgpu_isa::builder::{Builder, Vector};

use super::{
    bench::{Kernel, thread_offset},
    picture::{HEIGHT, Picture, UNTOUCHED, WIDTH},
};
use crate::{
    checks::check::Check,
    gpu::{pattern::pattern_dwords, ring::Ring, test_context::TestContext},
    result::outcome::Outcome,
};

pub(crate) const CHECKS: &[Check] = &[
    Check::each_shader_ring("shader.image.store", "shaders store texels where the CPU finds them", store),
    Check::each_shader_ring("shader.image.load", "shaders load the texels that the CPU has stored", load),
    Check::each_shader_ring("shader.image.sample", "a sampler blends the four texels around a point", sample),
];

const THREADS: u32 = 64;
const COUNT: u32 = WIDTH * HEIGHT;
const GROUPS: u32 = COUNT / THREADS;

/// Records the coordinates of the thread's texel, and the offset of its dword of output.
fn texel(code: &mut Builder) -> (Vector, Vector) {
    let (id, at) = thread_offset(code, THREADS, 4);
    let place = code.vector(2);
    code.op(format_args!("v_and_b32 {}, {:#x}, {id}", place.at(0), WIDTH - 1));
    code.op(format_args!("v_lshrrev_b32 {}, {}, {id}", place.at(1), WIDTH.trailing_zeros()));
    (place, at)
}

/// Returns the kernel with one thread a texel.
fn kernel<'k>(picture: Picture<'k>, record: &'k dyn Fn(&mut Builder), expected: &'k [u32]) -> Kernel<'k> {
    Kernel {
        groups: GROUPS,
        threads: THREADS,
        input: &[],
        record,
        expected,
        dwords_per_lane: 1,
        in_any_order: false,
        image: Some(picture),
    }
}

fn store(test: &TestContext<'_>, ring: Ring) -> Outcome {
    // The components of a texel: its coordinates, both together, and a constant.
    let components =
        |id: u32| [id % WIDTH, id / WIDTH, (id % WIDTH) ^ (id / WIDTH), 0x2a].map(|component| component as u8);
    let expected: Vec<u32> = (0..COUNT).map(|id| u32::from_le_bytes(components(id))).collect();
    let record = |code: &mut Builder| {
        let (place, _) = texel(code);
        let data = code.vector(4);
        code.op(format_args!("v_mov_b32 {}, {}", data.at(0), place.at(0)));
        code.op(format_args!("v_mov_b32 {}, {}", data.at(1), place.at(1)));
        code.op(format_args!("v_xor_b32 {}, {}, {}", data.at(2), place.at(0), place.at(1)));
        code.op(format_args!("v_mov_b32 {}, 0x2a", data.at(3)));
        code.image_store(data, place, code.user(4, 8));
    };
    let blank = [UNTOUCHED; COUNT as usize];
    let picture = Picture { format: Format::R8G8B8A8_UINT, texels: &blank, is_output: true };
    kernel(picture, &record, &expected).run(test, ring)
}

fn load(test: &TestContext<'_>, ring: Ring) -> Outcome {
    let data = pattern_dwords(0x54 ^ test.settings.seed, COUNT as usize);
    let record = |code: &mut Builder| {
        let (place, at) = texel(code);
        let value = code.vector(1);
        code.image_load(value, place, code.user(4, 8));
        code.buffer_store(value, at, code.user(0, 4));
    };
    let picture = Picture { format: Format::R32_UINT, texels: &data, is_output: false };
    kernel(picture, &record, &data).run(test, ring)
}

fn sample(test: &TestContext<'_>, ring: Ring) -> Outcome {
    // Multiples of four, few enough that every average of four is exact, whatever the precision of the filter.
    let random = pattern_dwords(0x55 ^ test.settings.seed, COUNT as usize);
    let numbers: Vec<u16> = random.iter().map(|number| (number & 0xff) as u16 * 4).collect();
    let real = |number: u16| f32::from(number).to_bits();
    let texels: Vec<u32> = numbers.iter().map(|number| real(*number)).collect();
    let at = |x: u32, y: u32| numbers[(y.min(HEIGHT - 1) * WIDTH + x.min(WIDTH - 1)) as usize];
    let average = |id: u32| {
        let (x, y) = (id % WIDTH, id / WIDTH);
        real((at(x, y) + at(x + 1, y) + at(x, y + 1) + at(x + 1, y + 1)) / 4)
    };
    let expected: Vec<u32> = (0..COUNT).map(average).collect();
    let record = |code: &mut Builder| {
        let (place, at) = texel(code);
        let (value, one) = (code.vector(1), code.vector(1));
        // The corner that four texels have in common; sizes are powers of two, so that coordinates are exact.
        code.op(format_args!("v_mov_b32 {one}, 1"));
        for (index, size) in [(0, WIDTH), (1, HEIGHT)] {
            let coordinate = place.at(index);
            code.add(coordinate, coordinate, one);
            code.op(format_args!("v_cvt_f32_u32 {coordinate}, {coordinate}"));
            // The bits of 2^-n.
            let share = (127 - size.trailing_zeros()) << 23;
            code.op(format_args!("v_mul_f32 {coordinate}, {share:#x}, {coordinate}"));
        }
        code.image_sample(value, place, code.user(4, 8), code.user(12, 4));
        code.buffer_store(value, at, code.user(0, 4));
    };
    let picture = Picture { format: Format::R32_SFLOAT, texels: &texels, is_output: false };
    kernel(picture, &record, &expected).run(test, ring)
}
