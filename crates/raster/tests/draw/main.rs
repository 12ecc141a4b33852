//! Whole draws with programs that are closures: which registers waves start with, and what their exports leave in memory.

#![allow(
    clippy::cast_precision_loss,
    clippy::decimal_bitwise_operands,
    clippy::float_cmp,
    clippy::naive_bytecount,
    clippy::needless_range_loop,
    clippy::range_plus_one,
    reason = "fields are composed of decimal numbers, and depths are exact"
)]

mod absurd;
mod depth;
mod metadata;
mod pixels;
mod samples;

use std::{cell::RefCell, collections::BTreeMap};

use amdgpu_hw::GfxLevel;
use amdgpu_raster::{
    Call, DrawState, Ended, Export, Memory, MemoryFault, PixelWave, Program, Registers, Shaders, VertexWave, draw,
};
use amdgpu_registers::named;
use amdgpu_surface::{Chip, ChipRegisters};

/// The width and height of targets in pixels of four bytes.
const SIDE: usize = 64;
const COLOUR: u64 = 0x1_0000;
const DEPTH: u64 = 0x8_0000;
const HTILE: u64 = 0x10_0000;

/// Memory up to 2 MiB.
struct Ram(RefCell<Vec<u8>>);

impl Ram {
    fn new() -> Self {
        Self(RefCell::new(vec![0; 2 << 20]))
    }

    fn word(&self, at: u64) -> u32 {
        let mut bytes = [0; 4];
        self.load(at, &mut bytes).unwrap();
        u32::from_le_bytes(bytes)
    }

    fn set(&self, at: u64, word: u32) {
        self.store(at, &word.to_le_bytes()).unwrap();
    }

    fn pixel(&self, x: usize, y: usize) -> u32 {
        self.word(COLOUR + 4 * (SIDE * y + x) as u64)
    }
}

impl Memory for Ram {
    fn load(&self, va: u64, out: &mut [u8]) -> Result<(), MemoryFault> {
        let all = self.0.borrow();
        let found = all.get(va as usize..va as usize + out.len()).ok_or(MemoryFault { va, is_write: false })?;
        out.copy_from_slice(found);
        Ok(())
    }

    fn store(&self, va: u64, data: &[u8]) -> Result<(), MemoryFault> {
        let mut all = self.0.borrow_mut();
        let found = all.get_mut(va as usize..va as usize + data.len()).ok_or(MemoryFault { va, is_write: true })?;
        found.copy_from_slice(data);
        Ok(())
    }
}

fn chip() -> Chip {
    // The configuration of a Vega 10.
    Chip::new(&ChipRegisters::new(GfxLevel::Gfx9, 141, 1, 0x2a11_0100 | 2)).unwrap()
}

/// A vertex: its position and a parameter.
#[derive(Clone, Copy)]
struct Vertex([f32; 4], [f32; 4]);

/// Programs that look vertices up by the number in v0, and write the first parameter, interpolated, as colour.
struct Closures<'c> {
    vertices: &'c [Vertex],
    seen: Vec<PixelWave>,
    /// Returns the colour of a lane.
    colour: fn(&PixelWave, usize) -> [f32; 4],
    /// The lanes that the pixel shader discards.
    discards: u64,
}

fn export(target: u8, lanes: u64, of: impl Fn(usize) -> [f32; 4]) -> Export {
    let mut values = [[0; 64]; 4];
    for lane in 0..64 {
        for (component, value) in of(lane).into_iter().enumerate() {
            values[component][lane] = value.to_bits();
        }
    }
    Export { target, enabled: 15, is_last: target < 9, lanes, values, is_compressed: false }
}

impl Shaders for Closures<'_> {
    fn vertices(&mut self, _: &Program, wave: &VertexWave) -> Result<Vec<Export>, Ended> {
        let vertex =
            |lane: usize| self.vertices.get(wave.vectors[0][lane] as usize).copied().unwrap_or(self.vertices[0]);
        Ok(vec![export(12, wave.lanes, |lane| vertex(lane).0), export(32, wave.lanes, |lane| vertex(lane).1)])
    }

    fn pixels(&mut self, _: &Program, wave: &PixelWave, exports: &mut Vec<Export>) -> Result<(), Ended> {
        self.seen.push(wave.clone());
        *exports = vec![export(0, wave.lanes & !self.discards, |lane| (self.colour)(wave, lane))];
        Ok(())
    }
}

/// Interpolates the first attribute.
fn interpolated(wave: &PixelWave, lane: usize) -> [f32; 4] {
    let [i, j] = [0, 1].map(|part: usize| f32::from_bits(wave.vectors[part][lane]));
    // Waves that are not full have lanes without a primitive.
    let Some(primitive) = wave.quads.get(lane / 4) else { return [0.0; 4] };
    let attribute = &wave.primitives[usize::from(*primitive)][0];
    attribute.map(|values| {
        let [p0, p10, p20] = values.map(f32::from_bits);
        p0 + i * p10 + j * p20
    })
}

/// The registers of a draw of triangles on GFX9, by name.
fn registers() -> BTreeMap<u32, u32> {
    let last = SIDE as u32 - 1;
    let half = 32.0_f32.to_bits();
    let all = [
        ("VGT_PRIMITIVE_TYPE", 4),
        ("SPI_SHADER_PGM_LO_VS", 1),
        ("SPI_SHADER_PGM_LO_PS", 2),
        ("SPI_PS_INPUT_ENA", 2),
        ("SPI_PS_INPUT_ADDR", 2),
        ("SPI_PS_IN_CONTROL", 1),
        ("SPI_SHADER_POS_FORMAT", 4),
        ("SPI_SHADER_COL_FORMAT", 9),
        ("CB_TARGET_MASK", 15),
        ("CB_SHADER_MASK", 15),
        ("CB_COLOR_CONTROL", 0xcc << 16 | 1 << 4),
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
    ];
    all.into_iter().map(|(name, value)| (named(name).unwrap().offset(GfxLevel::Gfx9).unwrap(), value)).collect()
}

fn set(registers: &mut BTreeMap<u32, u32>, name: &str, value: u32) {
    registers.insert(named(name).unwrap().offset(GfxLevel::Gfx9).unwrap(), value);
}

fn state(registers: &BTreeMap<u32, u32>, count: u32) -> DrawState {
    let call = Call { count: Some(count), instances: Some(1), initiator: 2, ..Call::default() };
    DrawState::new(call, &Registers::new(GfxLevel::Gfx9, &|offset| registers.get(&offset).copied()))
}

/// Draws and returns the waves of pixels that ran.
fn run(registers: &BTreeMap<u32, u32>, ram: &Ram, vertices: &[Vertex]) -> Vec<PixelWave> {
    let mut shaders = Closures { vertices, seen: Vec::new(), colour: interpolated, discards: 0 };
    let drawn = draw(&state(registers, vertices.len() as u32), Some(&chip()), ram, &mut shaders).unwrap();
    assert_eq!(drawn.fault, None);
    shaders.seen
}

/// The left lower half of the target, or a part of it.
fn half(z: f32, w: [f32; 3], colours: [[f32; 4]; 3]) -> [Vertex; 3] {
    let corners = [[-1.0, -1.0], [-1.0, 1.0], [1.0, 1.0]];
    [0, 1, 2].map(|index: usize| {
        let [x, y] = corners[index];
        let w = w[index];
        Vertex([x * w, y * w, z * w, w], colours[index])
    })
}

const RED: [f32; 4] = [1.0, 0.0, 0.0, 1.0];
const GREEN: [f32; 4] = [0.0, 1.0, 0.0, 1.0];

fn with_depth() -> BTreeMap<u32, u32> {
    let mut registers = registers();
    let last = SIDE as u32 - 1;
    for (name, value) in [
        // 32-bit floats, in rows: no chip draws so, but addresses are plain.
        ("DB_Z_INFO", 3),
        ("DB_Z_READ_BASE", (DEPTH >> 8) as u32),
        ("DB_Z_WRITE_BASE", (DEPTH >> 8) as u32),
        ("DB_DEPTH_SIZE", last | last << 16),
        ("DB_Z_INFO2", last),
        // Z_ENABLE, Z_WRITE_ENABLE, less.
        ("DB_DEPTH_CONTROL", 2 | 4 | 1 << 4),
        ("PA_SC_VPORT_ZMAX_0", 1.0_f32.to_bits()),
    ] {
        set(&mut registers, name, value);
    }
    registers
}

fn count(ram: &Ram, wanted: u32) -> usize {
    (0..0x4000_u64).filter(|at| ram.word(COLOUR + 4 * at) == wanted).count()
}

/// Four samples at the standard places, in blocks of 64 KiB in the order of depth.
fn with_samples() -> BTreeMap<u32, u32> {
    let mut registers = registers();
    set(&mut registers, "PA_SC_MODE_CNTL_0", 1);
    set(&mut registers, "PA_SC_AA_CONFIG", 2);
    for pixel in ["X0Y0", "X1Y0", "X0Y1", "X1Y1"] {
        set(&mut registers, &format!("PA_SC_AA_SAMPLE_LOCS_PIXEL_{pixel}_0"), 0x622a_e6ae);
    }
    set(&mut registers, "CB_COLOR0_ATTRIB", 1 << 28 | 24 << 18 | 2 << 15 | 2 << 12);
    registers
}
