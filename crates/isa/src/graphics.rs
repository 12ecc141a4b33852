//! Programs of plain draws: a vertex shader that copies what it loads, and three pixel shaders.
//!
//! ```
//! use amdgpu_hw::GfxLevel;
//! use amdgpu_isa::graphics::{Shade, pixel_program, vertex_program};
//!
//! let vertex = vertex_program(GfxLevel::Gfx9)?;
//! assert!(vertex.text().contains("exp pos0"));
//! let pixel = pixel_program(GfxLevel::Gfx9, Shade::Parameter)?;
//! assert!(pixel.text().contains("v_interp_p1_f32"));
//! # Ok::<_, amdgpu_isa::AssembleError>(())
//! ```
//!
//! Up to GFX9 the vertex shader runs in the hardware's VS stage. From GFX10 on it runs in the GS stage with waves of 64 lanes, one
//! wave a group, and also exports the primitive with which the wave starts (NGG pass-through).
//!
//! Source: AMD's ISA documents, chapters "Export" and "Parameter Interpolation"; Mesa 25.0.7 `src/amd/vulkan/radv_shader_args.c` for
//! the registers with which waves start.

use amdgpu_hw::GfxLevel;

use crate::{AssembleError, WaveSize, assemble, decode};

/// Vector and scalar registers that the programs use at most.
const VECTORS: u32 = 16;
const SCALARS: u32 = 32;

/// Dwords behind a program that instruction prefetch may read.
const PADDING: usize = 64;

/// The colour that a pixel shader computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shade {
    /// The constant in user data 0 to 3.
    Constant,
    /// The parameter of the vertices, interpolated with perspective.
    Parameter,
    /// A texel of level 0 of the 2D image in user data 0 to 7, with the sampler in 8 to 11. The first two components of the parameter
    /// are the coordinates.
    Texture,
}

impl Shade {
    /// Returns the number of user data registers.
    pub const fn user(self) -> u32 {
        match self {
            Self::Constant => 4,
            Self::Parameter => 0,
            Self::Texture => 12,
        }
    }
}

/// Returns the number of user data registers of the vertex shader: the descriptor of a buffer of vertices, which are a position and
/// a parameter of four floats each, and from GFX11 on the descriptor of the attribute ring.
///
/// Both buffers have a stride: 32 bytes for vertices, and 16 for the ring, without swizzling.
pub fn vertex_user(level: GfxLevel) -> u32 {
    if level >= GfxLevel::Gfx11 { 8 } else { 4 }
}

/// A program of a draw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphicsProgram {
    level: GfxLevel,
    words: Vec<u32>,
    len: usize,
}

impl GraphicsProgram {
    /// Returns the machine code, followed by padding that instruction prefetch may read.
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// Returns the number of vector registers to allocate.
    pub const fn vectors(&self) -> u32 {
        VECTORS
    }

    /// Returns the number of scalar registers to allocate, without VCC and those behind it.
    pub const fn scalars(&self) -> u32 {
        SCALARS
    }

    /// Returns the program as assembler text, a line for each instruction.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let mut at = 0;
        while let Some(rest) = self.words[..self.len].get(at..).filter(|rest| !rest.is_empty()) {
            let Ok(instruction) = decode(self.level, WaveSize::Wave64, rest) else { break };
            text.push_str(&instruction.to_string());
            text.push('\n');
            at += instruction.dwords().len();
        }
        text
    }
}

/// Lines of a program for a generation.
struct Lines {
    level: GfxLevel,
    lines: Vec<String>,
}

impl Lines {
    fn new(level: GfxLevel) -> Self {
        Self { level, lines: Vec::new() }
    }

    fn add(&mut self, line: impl Into<String>) {
        self.lines.push(line.into());
    }

    /// Waits for all loads.
    fn wait_for_loads(&mut self) {
        self.add(if self.level >= GfxLevel::Gfx12 { "s_wait_loadcnt 0x0" } else { "s_waitcnt vmcnt(0)" });
    }

    /// Sets M0, with the wait states that some of its readers need.
    fn set_m0(&mut self, source: &str) {
        self.add(format!("s_mov_b32 m0, {source}"));
        self.add("s_nop 0");
    }

    /// Enables the lowest lanes: as many as are in a scalar register, 1 to 64.
    fn enable(&mut self, count: &str) {
        self.add(format!("s_sub_u32 {count}, 64, {count}"));
        self.add(format!("s_lshr_b64 exec, -1, {count}"));
    }

    fn export(&mut self, target: &str, [a, b, c, d]: [&str; 4], flags: &str) {
        let name = if self.level >= GfxLevel::Gfx12 { "export" } else { "exp" };
        self.add(format!("{name} {target} {a}, {b}, {c}, {d} {flags}"));
    }

    fn finish(mut self) -> Result<GraphicsProgram, AssembleError> {
        self.add("s_endpgm");
        let mut words = Vec::new();
        let assembled = |line: &str| assemble(self.level, WaveSize::Wave64, &renamed(self.level, line));
        for line in &self.lines {
            words.extend_from_slice(assembled(line)?.dwords());
        }
        let len = words.len();
        let padding = assembled("s_nop 0")?;
        words.extend(std::iter::repeat_n(padding.dwords(), PADDING).flatten());
        Ok(GraphicsProgram { level: self.level, words, len })
    }
}

/// Returns a line with the names that GFX11 and GFX12 have for operations.
fn renamed(level: GfxLevel, line: &str) -> String {
    let mut line = line.to_owned();
    if level >= GfxLevel::Gfx11 {
        line = line
            .replace("buffer_load_dwordx4", "buffer_load_b128")
            .replace("buffer_store_dwordx4", "buffer_store_b128");
    }
    if level >= GfxLevel::Gfx12 {
        line = line.replace("s_sub_u32", "s_sub_co_u32").replace("lds_param_load", "ds_param_load");
    }
    line
}

/// Returns the vertex shader, which has [`vertex_user`] user data registers.
///
/// # Errors
///
/// [`AssembleError`] if the generation lacks an operation.
pub fn vertex_program(level: GfxLevel) -> Result<GraphicsProgram, AssembleError> {
    let mut code = Lines::new(level);
    if level < GfxLevel::Gfx10 {
        load_vertex(&mut code, "v0", "s[0:3]");
        code.export("pos0", ["v4", "v5", "v6", "v7"], "done");
        code.export("param0", ["v8", "v9", "v10", "v11"], "");
        return code.finish();
    }
    // Bits 12 to 20 of s2 are the number of vertices, 22 to 30 that of primitives; s3 has both in its low bytes.
    code.add("s_mov_b64 exec, -1");
    code.add("s_bfe_u32 s24, s2, 0x9000c");
    code.add("s_bfe_u32 s25, s2, 0x90016");
    code.add("s_lshl_b32 s25, s25, 12");
    code.add("s_or_b32 s24, s24, s25");
    code.set_m0("s24");
    code.add("s_sendmsg sendmsg(MSG_GS_ALLOC_REQ)");
    code.add("s_bfe_u32 s24, s3, 0x80008");
    code.enable("s24");
    code.export("prim", ["v0", "off", "off", "off"], "done");
    code.add("s_and_b32 s24, s3, 0xff");
    code.enable("s24");
    load_vertex(&mut code, if level >= GfxLevel::Gfx12 { "v3" } else { "v5" }, "s[8:11]");
    if level < GfxLevel::Gfx11 {
        // GFX10 needs the valid mask with the last position.
        code.export("pos0", ["v4", "v5", "v6", "v7"], if level == GfxLevel::Gfx10 { "done vm" } else { "done" });
        code.export("param0", ["v8", "v9", "v10", "v11"], "");
        return code.finish();
    }
    // Parameters go to the wave's part of the attribute ring, whose offset in units of 512 bytes is in s5, before positions.
    code.add("v_mbcnt_lo_u32_b32 v13, -1, 0");
    code.add("v_mbcnt_hi_u32_b32 v13, -1, v13");
    code.add("s_and_b32 s24, s5, 0x7fff");
    code.add("s_lshl_b32 s24, s24, 9");
    let (reach, wait) = if level >= GfxLevel::Gfx12 {
        ("scope:SCOPE_DEV", "s_wait_storecnt 0x0")
    } else {
        ("glc", "s_waitcnt_vscnt null, 0x0")
    };
    code.add(format!("buffer_store_dwordx4 v[8:11], v13, s[12:15], s24 idxen {reach}"));
    code.add(wait);
    code.export("pos0", ["v4", "v5", "v6", "v7"], "done");
    code.finish()
}

/// Loads the position of a vertex to v4 and following, and its parameter to v8 and following.
fn load_vertex(code: &mut Lines, index: &str, buffer: &str) {
    let zero = if code.level >= GfxLevel::Gfx12 { "null" } else { "0" };
    // The number may be in one of the registers that are loaded, which a load that is repeated would no longer find.
    code.add(format!("v_mov_b32_e32 v12, {index}"));
    code.add(format!("buffer_load_dwordx4 v[4:7], v12, {buffer}, {zero} idxen"));
    code.add(format!("buffer_load_dwordx4 v[8:11], v12, {buffer}, {zero} idxen offset:16"));
    code.wait_for_loads();
}

/// Returns a pixel shader, which has [`Shade::user`] user data registers.
///
/// # Errors
///
/// [`AssembleError`] if the generation lacks an operation.
pub fn pixel_program(level: GfxLevel, shade: Shade) -> Result<GraphicsProgram, AssembleError> {
    let mut code = Lines::new(level);
    let mut colour = ["v4", "v5", "v6", "v7"];
    match shade {
        Shade::Constant => {
            for component in 0..4 {
                code.add(format!("v_mov_b32_e32 v{}, s{component}", component + 4));
            }
        }
        Shade::Parameter => interpolate(&mut code, shade.user(), 4),
        Shade::Texture => {
            interpolate(&mut code, shade.user(), 2);
            let image = "s[0:7], s[8:11] dmask:0xf";
            code.add(match level {
                GfxLevel::Gfx12 => format!("image_sample_lz v[12:15], [v4, v5], {image} dim:SQ_RSRC_IMG_2D"),
                _ if level >= GfxLevel::Gfx10 => {
                    format!("image_sample_lz v[12:15], v[4:5], {image} dim:SQ_RSRC_IMG_2D")
                }
                _ => format!("image_sample_lz v[12:15], v[4:5], {image}"),
            });
            code.add(if level >= GfxLevel::Gfx12 { "s_wait_samplecnt 0x0" } else { "s_waitcnt vmcnt(0)" });
            colour = ["v12", "v13", "v14", "v15"];
        }
    }
    code.export("mrt0", colour, if level >= GfxLevel::Gfx11 { "done" } else { "done vm" });
    code.finish()
}

/// Interpolates components of the parameter to v4 and following, with coordinates in v0 and v1. The mask of primitives follows the
/// user data.
fn interpolate(code: &mut Lines, user: u32, components: usize) {
    code.set_m0(&format!("s{user}"));
    let names = ["x", "y", "z", "w"];
    if code.level < GfxLevel::Gfx11 {
        for (at, name) in names.iter().enumerate().take(components) {
            code.add(format!("v_interp_p1_f32_e32 v{}, v0, attr0.{name}", at + 4));
        }
        for (at, name) in names.iter().enumerate().take(components) {
            code.add(format!("v_interp_p2_f32_e32 v{}, v1, attr0.{name}", at + 4));
        }
        return;
    }
    // The values of a primitive are spread over the lanes of a quad, all of which have to be on.
    code.add("s_mov_b64 s[24:25], exec");
    code.add("s_wqm_b64 exec, exec");
    let waits = if code.level >= GfxLevel::Gfx12 { "wait_va_vdst:0 wait_vm_vsrc:0" } else { "wait_vdst:0" };
    for (at, name) in names.iter().enumerate().take(components) {
        code.add(format!("lds_param_load v{}, attr0.{name} {waits}", at + 8));
    }
    for at in 0..components {
        let (from, to) = (at + 8, at + 4);
        code.add(format!("v_interp_p10_f32 v{to}, v{from}, v0, v{from} wait_exp:0"));
        code.add(format!("v_interp_p2_f32 v{to}, v{from}, v1, v{to} wait_exp:7"));
    }
    code.add("s_mov_b64 exec, s[24:25]");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_generation_has_the_programs() {
        for level in GfxLevel::ALL {
            let vertex = vertex_program(level).unwrap();
            assert!(vertex.text().trim_end().ends_with("s_endpgm"), "{level}: {}", vertex.text());
            for shade in [Shade::Constant, Shade::Parameter, Shade::Texture] {
                let pixel = pixel_program(level, shade).unwrap();
                let lines = pixel.text();
                assert!(lines.contains("mrt0") && lines.trim_end().ends_with("s_endpgm"), "{level}: {lines}");
            }
        }
    }
}
