//! Draws: their state, in words and as JSON.

use amdgpu_hw::GfxLevel;
use amdgpu_raster::{Call, DrawState, Indices, Registers};
use amdgpu_winsys::cs::dump::{Packet, Register};
use serde_json::{Value, json};

/// The parameters that packets before a draw set for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parameters {
    instances: u32,
    indices: Indices,
}

impl Parameters {
    pub(crate) const fn new() -> Self {
        Self { instances: 1, indices: Indices { va: 0, count: 0, bytes: 2 } }
    }

    /// Takes what a packet sets for later draws.
    pub(crate) fn take(&mut self, packet: &Packet) {
        let value = |name| field(packet, name);
        match packet.name {
            "NUM_INSTANCES" => self.instances = value("instance_count") as u32,
            "INDEX_BASE" => self.indices.va = value("addr"),
            "INDEX_BUFFER_SIZE" => self.indices.count = value("index_count") as u32,
            "INDEX_TYPE" => self.indices.bytes = bytes(value("index_type")),
            _ => {}
        }
        if let Some(kind) =
            packet.registers.iter().find(|one| one.name == Some("VGT_INDEX_TYPE")).and_then(|one| one.value)
        {
            self.indices.bytes = bytes(u64::from(kind & 3));
        }
    }

    /// Returns the parameters of a draw; `None` for other packets.
    pub(crate) fn call(&self, packet: &Packet) -> Option<Call> {
        let value = |name| field(packet, name) as u32;
        let call = Call { instances: Some(self.instances), initiator: value("draw_initiator"), ..Call::default() };
        let indices = self.indices;
        Some(match packet.name {
            "DRAW_INDEX_AUTO" => Call { count: Some(value("vertex_count")), ..call },
            "DRAW_INDEX_2" => Call {
                count: Some(value("index_count")),
                indices: Some(Indices { va: field(packet, "index_base"), count: value("max_size"), ..indices }),
                ..call
            },
            "DRAW_INDEX_OFFSET_2" => Call {
                count: Some(value("index_count")),
                first: value("index_offset"),
                indices: Some(Indices { count: value("max_size"), ..indices }),
                ..call
            },
            "DRAW_INDEX_IMMD" => Call { count: Some(value("index_count")), indices: Some(indices), ..call },
            "DRAW_INDIRECT" | "DRAW_INDIRECT_MULTI" => Call { instances: None, ..call },
            "DRAW_INDEX_INDIRECT" | "DRAW_INDEX_INDIRECT_MULTI" => {
                Call { instances: None, indices: Some(indices), ..call }
            }
            _ => return None,
        })
    }
}

fn field(packet: &Packet, name: &str) -> u64 {
    packet.fields.iter().find(|field| field.name == name).map_or(0, |field| field.value)
}

const fn bytes(kind: u64) -> u32 {
    match kind {
        1 => 4,
        2 => 1,
        _ => 2,
    }
}

/// Returns the state of a draw from the registers that were set before it.
fn state(call: Call, level: GfxLevel, registers: &[Register]) -> DrawState {
    let read = |offset: u32| {
        let at = registers.binary_search_by_key(&offset, |register| register.offset).ok()?;
        registers[at].value
    };
    DrawState::new(call, &Registers::new(level, &read))
}

/// Returns what a draw does, a line each.
pub(crate) fn lines(call: Call, level: GfxLevel, registers: &[Register]) -> Vec<String> {
    state(call, level, registers).lines()
}

/// Returns the JSON of a draw.
pub(crate) fn json(call: Call, level: GfxLevel, registers: &[Register]) -> Value {
    let state = state(call, level, registers);
    let target = |colour: &amdgpu_raster::Colour| {
        json!({
            "index": colour.index,
            "format": colour.format,
            "number": colour.number,
            "address": colour.address,
            "size": colour.size,
            "mode": colour.mode,
            "level": colour.level,
            "written": colour.written(),
            "blends": colour.blend.is_some(),
        })
    };
    let plane = |plane: &amdgpu_raster::DepthPlane| json!({"format": plane.format, "address": plane.address[1], "mode": plane.mode});
    let scissor = state.geometry.viewports.first().map(|viewport| viewport.scissor);
    json!({
        "topology": state.topology.to_string(),
        "count": call.count,
        "instances": call.instances,
        "indices": call.indices.map(|indices| json!({"va": indices.va, "count": indices.count, "bytes": indices.bytes})),
        "stages": state.stages(),
        "vertex_program": state.vertex.address,
        "pixel_program": state.pixel.address,
        "samples": state.samples,
        "scissor": scissor.map(|found| json!([found.first, found.end])),
        "depth": state.depth.plane.as_ref().map(plane),
        "stencil": state.depth.stencil.as_ref().map(plane),
        "colours": state.colours.iter().map(target).collect::<Vec<_>>(),
        "words": state.lines(),
        "draws_nothing": state.nothing(),
        "contradictions": state.contradictions(),
        "not_executed": state.unsupported().iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}
