//! Quads, attributes, blending, polygon modes, and the counts of a draw.

use crate::{
    Closures, DEPTH, GREEN, RED, Ram, SIDE, Vertex, chip, half, interpolated, registers, run, set, state, with_depth,
};
use amdgpu_raster::draw;

#[test]
fn attributes_are_interpolated_with_perspective() {
    let ram = Ram::new();
    let white = [1.0; 4];
    let black = [0.0, 0.0, 0.0, 1.0];
    run(&registers(), &ram, &half(0.5, [1.0, 1.0, 4.0], [black, black, white]));
    // On the diagonal edge from the first to the third corner, at parameter t on the screen, the share of a vertex with w = 4 is
    // t/4 / ((1-t) + t/4).
    for at in [8, 20, 40, 60] {
        let (x, y) = (at, at + 1);
        // The weights of the corners on the screen, at the centre of the pixel.
        let (px, py) = ((x as f64 + 0.5) / 64.0, (y as f64 + 0.5) / 64.0);
        let weights = [1.0 - py, py - px, px];
        let sum = weights[0] + weights[1] + weights[2] / 4.0;
        let expected = (weights[2] / 4.0 / sum * 255.0).round() as i64;
        let found = i64::from(ram.pixel(x, y) & 0xff);
        assert!((found - expected).abs() <= 1, "{x}: {found} {expected}");
    }
}

#[test]
fn a_flat_attribute_is_that_of_the_provoking_vertex() {
    for (mode, expected) in [(0, 0xff00_00ff), (1 << 19, 0xff00_ff00)] {
        let ram = Ram::new();
        let mut registers = registers();
        set(&mut registers, "SPI_PS_INPUT_CNTL_0", 1 << 10);
        set(&mut registers, "PA_SU_SC_MODE_CNTL", mode);
        run(&registers, &ram, &half(0.5, [1.0; 3], [RED, [0.25; 4], GREEN]));
        assert_eq!(ram.pixel(3, 40), expected);
    }
}

#[test]
fn quads_have_their_lanes_in_rows_of_two_and_helpers_are_off() {
    let ram = Ram::new();
    let mut registers = registers();
    // POS_X and POS_Y in place of barycentric coordinates.
    set(&mut registers, "SPI_PS_INPUT_ENA", 0x302);
    set(&mut registers, "SPI_PS_INPUT_ADDR", 0x302);
    let waves = run(&registers, &ram, &half(0.5, [1.0; 3], [RED; 3]));
    let mut covered = 0;
    for wave in &waves {
        for quad in 0..wave.quads.len() {
            let at =
                |lane: usize| [2, 3].map(|register: usize| f32::from_bits(wave.vectors[register][4 * quad + lane]));
            let [x, y] = at(0);
            assert_eq!([at(1), at(2), at(3)], [[x + 1.0, y], [x, y + 1.0], [x + 1.0, y + 1.0]]);
            for lane in 0..4 {
                let [x, y] = at(lane);
                // The diagonal is a right edge, whose pixels' centres do not belong to the triangle.
                assert_eq!(wave.lanes >> (4 * quad + lane) & 1 != 0, y > x, "{x} {y}");
            }
        }
        covered += wave.lanes.count_ones();
    }
    assert_eq!(covered, 64 * 63 / 2);
}

#[test]
fn primitives_that_overlap_in_a_wave_blend_in_their_order() {
    let ram = Ram::new();
    let mut registers = registers();
    // The sum of halves: src * 0 + dst * constant alpha would lose the order, so the source counts by its alpha.
    set(&mut registers, "CB_BLEND0_CONTROL", 1 << 30 | 4 | 5 << 8);
    set(&mut registers, "PA_SC_VPORT_SCISSOR_0_BR", 4 | 64 << 16);
    set(&mut registers, "PA_SC_VPORT_SCISSOR_0_TL", 1 << 31 | 60 << 16);
    set(&mut registers, "PA_SC_MODE_CNTL_0", 2);
    let translucent = |colour: [f32; 4]| [colour[0], colour[1], colour[2], 0.5];
    let layers = [half(0.5, [1.0; 3], [translucent(RED); 3]), half(0.5, [1.0; 3], [translucent(GREEN); 3])];
    let waves = run(&registers, &ram, layers.as_flattened());
    assert_eq!((waves.len(), waves[0].primitives.len()), (1, 2));
    // Red is halved twice, green once.
    let [r, g] = [0, 8].map(|shift: u32| ram.pixel(1, 62) >> shift & 0xff);
    assert!(r.abs_diff(64) <= 1 && g.abs_diff(128) <= 1, "{r} {g}");
}

#[test]
fn a_wave_holds_at_most_sixteen_quads_and_fills_them() {
    let ram = Ram::new();
    let waves = run(&registers(), &ram, &half(0.5, [1.0; 3], [RED; 3]));
    let (last, others) = waves.split_last().unwrap();
    assert!(others.iter().all(|wave| wave.quads.len() == 16) && last.quads.len() <= 16);
}

#[test]
fn what_clipping_cuts_off_leaves_the_rest_as_it_was() {
    let ram = Ram::new();
    let mut registers = with_depth();
    set(&mut registers, "DB_DEPTH_CONTROL", 2 | 4 | 7 << 4);
    // Corners in odd places, so that the cut at the near plane lies between the places that coordinates snap to.
    let corners = [[-0.75, -0.8125, -0.5], [0.875, -0.3125, 0.25], [-0.25, 0.9375, 0.875]];
    let vertices = corners.map(|[x, y, z]: [f32; 3]| Vertex([x, y, z, 1.0], RED));
    run(&registers, &ram, &vertices);
    let mut compared = 0;
    for y in 0..SIDE {
        for x in 0..SIDE {
            let found = f64::from(f32::from_bits(ram.word(DEPTH + 4 * (SIDE * y + x) as u64)));
            if found == 0.0 {
                continue;
            }
            let [a, b, c] = corners.map(|corner| corner.map(f64::from));
            let (px, py) = ((x as f64 + 0.5) / 32.0 - 1.0 - a[0], (y as f64 + 0.5) / 32.0 - 1.0 - a[1]);
            let (first, second) = ([b[0] - a[0], b[1] - a[1]], [c[0] - a[0], c[1] - a[1]]);
            let area = first[0] * second[1] - second[0] * first[1];
            let shares = [(px * second[1] - second[0] * py) / area, (first[0] * py - px * first[1]) / area];
            let expected = a[2] + shares[0] * (b[2] - a[2]) + shares[1] * (c[2] - a[2]);
            assert!((found - expected).abs() < 1e-6, "{x} {y}: {found} {expected}");
            compared += 1;
        }
    }
    assert!(compared > 500, "{compared}");
}

#[test]
fn a_draw_counts_its_vertices_primitives_and_invocations() {
    let mut registers = registers();
    // A strip, whose second triangle has two vertices of the first and is clipped away.
    set(&mut registers, "VGT_PRIMITIVE_TYPE", 6);
    let [a, b, c] = half(0.5, [1.0; 3], [RED; 3]);
    let vertices = [a, b, c, Vertex([3.0, 3.0, 0.5, 1.0], RED)];
    let mut shaders = Closures { vertices: &vertices, seen: Vec::new(), colour: interpolated, discards: 0 };
    let drawn = draw(&state(&registers, 4), Some(&chip()), &Ram::new(), &mut shaders).unwrap();
    assert_eq!([drawn.vertices, drawn.assembled, drawn.vertex_invocations, drawn.clipped], [4, 2, 4, 2]);
    assert_eq!((drawn.primitives, drawn.pixel_invocations, drawn.passed), (1, 64 * 63 / 2, 64 * 63 / 2));
}

#[test]
fn edges_and_corners_of_triangles_are_drawn_in_their_modes() {
    for (mode, expected) in [(0, 3), (1, 3 * 40)] {
        let ram = Ram::new();
        let mut registers = registers();
        set(&mut registers, "PA_SU_SC_MODE_CNTL", 1 << 3 | mode << 5 | mode << 8);
        set(&mut registers, "PA_SU_POINT_SIZE", 8 | 8 << 16);
        set(&mut registers, "PA_SU_POINT_MINMAX", 0xffff << 16);
        set(&mut registers, "PA_SU_LINE_CNTL", 8);
        let at = |x: f32, y: f32| Vertex([(x + 0.5) / 32.0 - 1.0, (y + 0.5) / 32.0 - 1.0, 0.5, 1.0], RED);
        run(&registers, &ram, &[at(10.0, 10.0), at(50.0, 10.0), at(10.0, 50.0)]);
        let drawn = (0..SIDE * SIDE).filter(|at| ram.pixel(at % SIDE, at / SIDE) != 0).count();
        assert_eq!(drawn, expected, "{mode}");
        assert_eq!(ram.pixel(20, 20), 0);
    }
}
