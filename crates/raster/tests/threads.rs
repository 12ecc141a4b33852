//! Draws on several threads, which leave what a single one leaves.

#![allow(clippy::cast_precision_loss, reason = "coordinates are small")]

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use amdgpu_hw::GfxLevel;
use amdgpu_raster::{
    Call, DrawState, Drawn, Ended, Export, Memory, MemoryFault, PixelWave, Program, Registers, Shaders, VertexWave,
    draw, draw_on_threads,
};
use amdgpu_registers::named;
use amdgpu_surface::{Chip, ChipRegisters};

/// The width and height of the targets, whose pixels have four bytes.
const SIDE: u32 = 256;
const COLOUR: u64 = 0x1_0000;
const DEPTH: u64 = 0x8_0000;
const BYTES: usize = 1 << 20;

struct Ram(Mutex<Vec<u8>>);

impl Memory for Ram {
    fn load(&self, va: u64, out: &mut [u8]) -> Result<(), MemoryFault> {
        let all = self.0.lock().unwrap();
        let found = all.get(va as usize..va as usize + out.len()).ok_or(MemoryFault { va, is_write: false })?;
        out.copy_from_slice(found);
        Ok(())
    }

    fn store(&self, va: u64, data: &[u8]) -> Result<(), MemoryFault> {
        let mut all = self.0.lock().unwrap();
        let found = all.get_mut(va as usize..va as usize + data.len()).ok_or(MemoryFault { va, is_write: true })?;
        found.copy_from_slice(data);
        Ok(())
    }
}

/// Programs that look vertices up, and whose pixels have the interpolated colour.
#[derive(Clone)]
struct Programs {
    vertices: Arc<Vec<[[f32; 4]; 2]>>,
    /// The number of waves of pixels that this thread ran.
    waves: Arc<AtomicUsize>,
    /// The row at which a wave of pixels ends the draw.
    fatal: Option<f32>,
}

fn export(target: u8, lanes: u64, of: impl Fn(usize) -> [f32; 4]) -> Export {
    let mut values = [[0; 64]; 4];
    for (component, lanes) in values.iter_mut().enumerate() {
        for (lane, value) in lanes.iter_mut().enumerate() {
            *value = of(lane)[component].to_bits();
        }
    }
    Export { target, enabled: 15, is_last: target < 9, lanes, values, is_compressed: false }
}

impl Shaders for Programs {
    fn vertices(&mut self, _: &Program, wave: &VertexWave) -> Result<Vec<Export>, Ended> {
        let vertex = |lane: usize| self.vertices[wave.vectors[0][lane] as usize % self.vertices.len()];
        Ok(vec![export(12, wave.lanes, |lane| vertex(lane)[0]), export(32, wave.lanes, |lane| vertex(lane)[1])])
    }

    fn pixels(&mut self, _: &Program, wave: &PixelWave, exports: &mut Vec<Export>) -> Result<(), Ended> {
        self.waves.fetch_add(1, Ordering::Relaxed);
        let y = f32::from_bits(wave.vectors[2][0]);
        if self.fatal.is_some_and(|fatal| y >= fatal) {
            return Err(Ended::Hang(format!("band {}", (y / 32.0).floor())));
        }
        let colour = |lane: usize| {
            let Some(primitive) = wave.quads.get(lane / 4) else { return [0.0; 4] };
            let [i, j] = [0, 1].map(|part: usize| f32::from_bits(wave.vectors[part][lane]));
            wave.primitives[usize::from(*primitive)][0].map(|values| {
                let [p0, p10, p20] = values.map(f32::from_bits);
                p0 + i * p10 + j * p20
            })
        };
        *exports = vec![export(0, wave.lanes, colour)];
        Ok(())
    }
}

/// The registers of a draw of triangles on GFX9 that tests depth and blends.
fn registers() -> BTreeMap<u32, u32> {
    let last = SIDE - 1;
    let half = (SIDE as f32 / 2.0).to_bits();
    let all = [
        ("VGT_PRIMITIVE_TYPE", 4),
        ("SPI_SHADER_PGM_LO_VS", 1),
        ("SPI_SHADER_PGM_LO_PS", 2),
        // Barycentric coordinates at the centre, and the row.
        ("SPI_PS_INPUT_ENA", 0x202),
        ("SPI_PS_INPUT_ADDR", 0x202),
        ("SPI_PS_IN_CONTROL", 1),
        ("SPI_SHADER_POS_FORMAT", 4),
        ("SPI_SHADER_COL_FORMAT", 9),
        ("CB_TARGET_MASK", 15),
        ("CB_SHADER_MASK", 15),
        ("CB_COLOR_CONTROL", 0xcc << 16 | 1 << 4),
        // Source alpha, and one less it.
        ("CB_BLEND0_CONTROL", 1 << 30 | 4 | 5 << 8),
        ("PA_CL_VTE_CNTL", 0x43f),
        ("PA_CL_VPORT_XSCALE", half),
        ("PA_CL_VPORT_XOFFSET", half),
        ("PA_CL_VPORT_YSCALE", half),
        ("PA_CL_VPORT_YOFFSET", half),
        ("PA_CL_VPORT_ZSCALE", 1.0_f32.to_bits()),
        ("PA_CL_CLIP_CNTL", 1 << 19),
        ("PA_SU_VTX_CNTL", 1 | 2 << 1 | 5 << 3),
        ("DB_SHADER_CONTROL", 1 << 4),
        ("CB_COLOR0_BASE", (COLOUR >> 8) as u32),
        ("CB_COLOR0_INFO", 10 << 2),
        ("CB_COLOR0_ATTRIB2", last | last << 14),
        ("CB_COLOR0_ATTRIB", 1 << 28),
        ("CB_MRT0_EPITCH", last),
        ("DB_Z_INFO", 3),
        ("DB_Z_READ_BASE", (DEPTH >> 8) as u32),
        ("DB_Z_WRITE_BASE", (DEPTH >> 8) as u32),
        ("DB_DEPTH_SIZE", last | last << 16),
        ("DB_Z_INFO2", last),
        // Z_ENABLE, Z_WRITE_ENABLE, greater.
        ("DB_DEPTH_CONTROL", 2 | 4 | 4 << 4),
        ("PA_SC_VPORT_ZMAX_0", 1.0_f32.to_bits()),
    ];
    all.into_iter().map(|(name, value)| (named(name).unwrap().offset(GfxLevel::Gfx9).unwrap(), value)).collect()
}

/// Returns the vertices of triangles of all sizes that overlap: positions and colours.
fn triangles(count: usize, mut seed: u32) -> Vec<[[f32; 4]; 2]> {
    let mut next = || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 8) as f32 / (1 << 24) as f32
    };
    (0..3 * count)
        .map(|_| {
            let w = 1.0 + next();
            [[(2.4 * next() - 1.2) * w, (2.4 * next() - 1.2) * w, next() * w, w], [next(), next(), next(), next()]]
        })
        .collect()
}

/// Draws with `others` other threads. Returns the result, the memory and the waves of each thread.
fn drawn(
    registers: &BTreeMap<u32, u32>,
    vertices: &Arc<Vec<[[f32; 4]; 2]>>,
    others: usize,
    fatal: Option<f32>,
) -> (Result<Drawn, Ended>, Vec<u8>, Vec<usize>) {
    let call = Call { count: Some(vertices.len() as u32), instances: Some(1), initiator: 2, ..Call::default() };
    let state = DrawState::new(call, &Registers::new(GfxLevel::Gfx9, &|offset| registers.get(&offset).copied()));
    // The configuration of a Vega 10.
    let chip = Chip::new(&ChipRegisters::new(GfxLevel::Gfx9, 141, 1, 0x2a11_0100 | 2)).unwrap();
    let ram = Ram(Mutex::new(vec![0; BYTES]));
    let programs = || Programs { vertices: Arc::clone(vertices), waves: Arc::default(), fatal };
    let mut own = programs();
    let others: Vec<Programs> = (0..others).map(|_| programs()).collect();
    let mut boxes: Vec<Box<dyn Shaders + Send>> = others.iter().map(|one| Box::new(one.clone()) as _).collect();
    let result = if boxes.is_empty() {
        draw(&state, Some(&chip), &ram, &mut own)
    } else {
        draw_on_threads(&state, Some(&chip), &ram, &mut own, &mut boxes)
    };
    let waves = std::iter::once(&own).chain(&others).map(|one| one.waves.load(Ordering::Relaxed)).collect();
    (result, ram.0.into_inner().unwrap(), waves)
}

#[test]
fn several_threads_leave_what_a_single_one_leaves() {
    for (count, seed) in [(12, 1), (40, 2)] {
        let vertices = Arc::new(triangles(count, seed));
        let (one, memory, waves) = drawn(&registers(), &vertices, 0, None);
        let one = one.unwrap();
        assert!(one.passed > 10_000 && waves[0] > 150, "{one:?}");
        let mut counts = Vec::new();
        for others in [1, 4] {
            let (several, found, waves) = drawn(&registers(), &vertices, others, None);
            let several = several.unwrap();
            assert!(found == memory, "{count} triangles on {others} more threads");
            assert_eq!(Drawn { pixel_waves: one.pixel_waves, ..several }, one);
            assert_eq!(waves.iter().sum::<usize>() as u64, several.pixel_waves);
            counts.push(several.pixel_waves);
        }
        assert_eq!(counts[0], counts[1], "waves depend on bands and not on threads");
        assert!(counts[0] > one.pixel_waves, "waves end with a band");
    }
}

#[test]
fn a_draw_whose_shader_may_write_memory_stays_on_its_thread() {
    let mut registers = registers();
    // EXEC_ON_HIER_FAIL, with which drivers run shaders that write memory.
    registers.insert(named("DB_SHADER_CONTROL").unwrap().offset(GfxLevel::Gfx9).unwrap(), 1 << 4 | 1 << 9);
    let vertices = Arc::new(triangles(40, 2));
    let (one, memory, _) = drawn(&registers, &vertices, 0, None);
    let (several, found, waves) = drawn(&registers, &vertices, 2, None);
    assert!(found == memory && several == one);
    assert_eq!(waves[1..], [0, 0]);
}

#[test]
fn the_uppermost_band_that_cannot_be_drawn_is_reported() {
    let vertices = Arc::new(triangles(40, 3));
    for others in [1, 4] {
        let (ended, ..) = drawn(&registers(), &vertices, others, Some(100.0));
        assert_eq!(ended, Err(Ended::Hang("band 3".to_owned())), "{others}");
    }
}
