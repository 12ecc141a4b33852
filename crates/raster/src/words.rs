//! The effect of a draw, in words.

use crate::{Colour, DrawState, FrontEnd, StencilFace};

/// The channels of colour formats, by number.
const FORMATS: [(u32, &str); 22] = [
    (1, "8"),
    (2, "16"),
    (3, "8_8"),
    (4, "32"),
    (5, "16_16"),
    (6, "10_11_11"),
    (7, "11_11_10"),
    (8, "10_10_10_2"),
    (9, "2_10_10_10"),
    (10, "8_8_8_8"),
    (11, "32_32"),
    (12, "16_16_16_16"),
    (14, "32_32_32_32"),
    (16, "5_6_5"),
    (17, "1_5_5_5"),
    (18, "5_5_5_1"),
    (19, "4_4_4_4"),
    (20, "8_24"),
    (21, "24_8"),
    (22, "X24_8_32_FLOAT"),
    (24, "5_9_9_9"),
    (31, "RESERVED"),
];

fn format_name(colour: &Colour) -> String {
    let channels = FORMATS.iter().find(|(number, _)| *number == colour.format).map_or("?", |(_, name)| name);
    let number = match colour.number {
        0 => "UNORM",
        1 => "SNORM",
        4 => "UINT",
        5 => "SINT",
        6 => "SRGB",
        7 => "FLOAT",
        _ => "?",
    };
    let swap = ["", " (alternate order)", " (reversed order)", " (alternate reversed order)"][colour.swap as usize & 3];
    format!("{channels}_{number}{swap}")
}

/// Returns the letters of components.
fn components(mask: u32) -> String {
    "RGBA".chars().enumerate().filter(|(index, _)| mask >> index & 1 != 0).map(|(_, letter)| letter).collect()
}

fn face(face: StencilFace) -> String {
    let StencilFace { compare, fail, depth_fail, pass, reference, mask, write_mask, .. } = face;
    format!(
        "{reference:#x} {compare} stored & {mask:#x}, writes {write_mask:#x}: fail {fail:?}, depth fail {depth_fail:?}, pass {pass:?}"
    )
}

impl DrawState {
    /// Returns what the draw does, as lines: stages and programs, vertices, area, targets, tests and blending, what is not executed,
    /// what contradicts itself, and why nothing is drawn.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![self.vertices()];
        lines.push(format!("stages: {}", self.stages()));
        lines.push(self.area());
        lines.extend(self.tests());
        lines.extend(self.colours.iter().map(|colour| self.colour(colour)));
        if self.operation.mode != 1 {
            let name = match self.operation.mode {
                0 => "no colour is written".to_owned(),
                mode => crate::Feature::ColourMode(mode).to_string(),
            };
            lines.push(format!("colour operation: {name}"));
        }
        lines.extend(self.nothing().map(|why| format!("draws nothing: {why}")));
        lines.extend(self.contradictions().into_iter().map(|found| format!("contradiction: {found}")));
        lines.extend(self.unsupported().iter().map(|feature| format!("not executed by the simulator: {feature}")));
        lines
    }

    fn vertices(&self) -> String {
        let number = |count: Option<u32>| count.map_or_else(|| "? (in memory)".to_owned(), |count| count.to_string());
        let (count, instances) = (number(self.call.count), number(self.call.instances));
        let source = self.call.indices.map_or_else(
            || format!("without indices, from {}", self.call.first),
            |indices| {
                let restart =
                    self.geometry.restart.map_or_else(String::new, |value| format!(", restart at {value:#x}"));
                format!("{}-bit indices at {:#x}, from {}{restart}", 8 * indices.bytes, indices.va, self.call.first)
            },
        );
        format!("draw: {}, {count} vertices, {instances} instances, {source}", self.topology)
    }

    /// Returns the stages and their programs as words.
    pub fn stages(&self) -> String {
        let name = match self.front_end {
            FrontEnd::Legacy => "VS",
            FrontEnd::Ngg { is_passthrough: true, .. } => "VS (NGG, pass-through)",
            FrontEnd::Ngg { .. } => "VS (NGG)",
            FrontEnd::GeometryShader => "GS",
            FrontEnd::Tessellation => "HS and DS",
            FrontEnd::Mesh => "MS",
        };
        let program = |program: &crate::Program| {
            format!("{:#x} (wave{}, {} user SGPRs)", program.address, program.lanes, program.user_data.len())
        };
        let pixel = if self.pixel.address == 0 { "none".to_owned() } else { program(&self.pixel) };
        format!(
            "{name} {} exports {} positions and {} parameters, PS {pixel} reads {} attributes",
            program(&self.vertex),
            self.outputs.positions,
            self.outputs.parameters,
            self.inputs.attributes.len()
        )
    }

    fn area(&self) -> String {
        let geometry = &self.geometry;
        let Some(viewport) = geometry.viewports.first() else { return "area: no viewport".to_owned() };
        let ([sx, sy, sz], [ox, oy, oz]) = (viewport.scale, viewport.offset);
        let scissor = viewport.scissor;
        let culled = match (geometry.culls_front, geometry.culls_back) {
            (false, false) => "culls nothing",
            (true, false) => "culls front faces",
            (false, true) => "culls back faces",
            (true, true) => "culls all faces",
        };
        let front = if geometry.front_is_clockwise { "clockwise" } else { "counter-clockwise" };
        let samples = if self.samples > 1 { format!(", {} samples", self.samples) } else { String::new() };
        format!(
            "area: x {sx}*x + {ox}, y {sy}*y + {oy}, z {sz}*z + {oz}; scissor {},{} to {},{}; {culled}, front is {front}{samples}",
            scissor.first[0], scissor.first[1], scissor.end[0], scissor.end[1]
        )
    }

    fn tests(&self) -> Vec<String> {
        let depth = &self.depth;
        let mut lines = Vec::new();
        if let Some(plane) = &depth.plane {
            let format = ["none", "16 bits", "24 bits", "32-bit float"][plane.format as usize & 3];
            let test = depth.test.map_or_else(|| "no test".to_owned(), |compare| format!("test {compare}"));
            let writes = if depth.writes && !depth.is_read_only { "writes" } else { "does not write" };
            let clear =
                depth.clears[0].map_or_else(String::new, |value| format!(", clears to {}", f32::from_bits(value)));
            let [width, height] = depth.size;
            let htile = if depth.has_htile { ", HTILE" } else { "" };
            let [read, written] = plane.address;
            let at = if read == written { format!("{read:#x}") } else { format!("{read:#x}, written at {written:#x}") };
            lines.push(format!(
                "depth: {format}, {width}x{height} at {at}, mode {}{htile}: {test}, {writes}{clear}",
                plane.mode
            ));
        }
        if let Some(plane) = &depth.stencil {
            let test = depth.faces.as_ref().map_or_else(
                || "no test".to_owned(),
                |[front, back]| {
                    if front == back { face(*front) } else { format!("front {}; back {}", face(*front), face(*back)) }
                },
            );
            let clear = depth.clears[1].map_or_else(String::new, |value| format!(", clears to {value:#x}"));
            lines.push(format!("stencil: at {:#x}, mode {}: {test}{clear}", plane.address[1], plane.mode));
        }
        lines
    }

    fn colour(&self, colour: &Colour) -> String {
        let [width, height] = colour.size;
        let written = match colour.written() {
            0 => "writes nothing".to_owned(),
            mask => format!("writes {}", components(mask)),
        };
        let blend = colour.blend.map_or_else(String::new, |blend| {
            if blend.colour == blend.alpha {
                format!(", blends {}", blend.colour)
            } else {
                format!(", blends {}, alpha {}", blend.colour, blend.alpha)
            }
        });
        let logic = if self.operation.logic == 0xcc {
            String::new()
        } else {
            format!(", logic operation {:#x}", self.operation.logic)
        };
        let metadata: String = [(colour.has_dcc, " DCC"), (colour.has_cmask, " CMASK"), (colour.has_fmask, " FMASK")]
            .iter()
            .filter(|(has, _)| *has)
            .map(|(_, name)| *name)
            .collect();
        let level = if colour.level == 0 { String::new() } else { format!(", level {}", colour.level) };
        let [first, last] = colour.layers;
        let layers = if first == 0 && last == 0 { String::new() } else { format!(", layers {first} to {last}") };
        format!(
            "colour {}: {}, {width}x{height} at {:#x}, mode {}{level}{layers}{metadata}: {written}{blend}{logic}",
            colour.index,
            format_name(colour),
            colour.address,
            colour.mode
        )
    }
}
