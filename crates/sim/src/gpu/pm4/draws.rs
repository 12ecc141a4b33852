//! Draws and dispatches: what they are started with, and the registers they write on the way.

use amdgpu_hw::GfxLevel;
use amdgpu_hw::GpuVa;
use amdgpu_packets::pm4::Register;
use zerocopy::IntoBytes;

use crate::gpu::budget::Budget;
use crate::gpu::registers::PERSISTENT;
use crate::gpu::step::Step;
use crate::gpu::work::{Dispatch, Draw, IndexBuffer, Scene, Work};
use crate::gpu::{Access, Engine, PageFault, Stop};
use amdgpu_packets::layout::Reader;

use super::signals::is_graphics;

/// COMPUTE_PGM_LO, in bytes; COMPUTE_PGM_HI lies behind it. They hold the address divided by 256.
const COMPUTE_PGM_LO: u32 = 0xb830;
/// VGT_INDEX_TYPE, which has taken the place of INDEX_TYPE from GFX9 on.
const VGT_INDEX_TYPE: u32 = 0x3090c;
/// The base of indirect draws and dispatches.
const INDIRECT: u32 = 1;
/// COMPUTE_DISPATCH_INITIATOR: groups run at all.
const SHADER_EN: u32 = 1;

impl Engine {
    fn start(&mut self, step: &Step<'_, '_>, work: Work) {
        match work {
            Work::Draw(_) | Work::Mesh(_) => self.state.tally.draws += 1,
            Work::Dispatch(_) => self.state.tally.dispatches += 1,
        }
        let env = step.port.env();
        tracing::trace!(place = %step.place(), ?work);
        env.shaders.run(&work, &Scene { state: &self.state, memory: env.memory, place: step.place() });
    }

    /// INDEX_BASE and its like: what later draws start from.
    pub(super) fn set_draw_state(&mut self, step: &Step<'_, '_>) -> Result<(), Stop> {
        match step.fields.name() {
            "INDEX_BASE" => self.state.index.va = step.address("addr_lo", "addr_hi")?,
            "INDEX_BUFFER_SIZE" => self.state.index.count = step.get("index_count"),
            "INDEX_TYPE" => self.state.index.bytes = IndexBuffer::bytes_of(step.get("index_type")),
            "NUM_INSTANCES" => self.state.instances = step.get("instance_count"),
            _ => self.load_index_attributes(step)?,
        }
        Ok(())
    }

    /// INDEX_ATTRIBUTES_INDIRECT: address, size in bytes and type, 16 bytes for each entry.
    fn load_index_attributes(&mut self, step: &Step<'_, '_>) -> Result<(), Stop> {
        let table = step.aligned("attribute_base_lo", "attribute_base_hi", 16)?;
        let entry = entry(step, table, 16 * u64::from(step.get("attribute_index")))?;
        let [low, high, count, kind] = load(step, entry);
        let va = GpuVa::from_halves(low, high).map_err(|_| step.refuse("loads an address from the hole"))?;
        self.state.index = IndexBuffer { va, count, bytes: IndexBuffer::bytes_of(kind) };
        Ok(())
    }

    fn index_bytes(&self, step: &Step<'_, '_>) -> u32 {
        match step.reader {
            Reader::Ring(target) if target.level >= GfxLevel::Gfx9 => {
                IndexBuffer::bytes_of(self.state.register(Register::new(VGT_INDEX_TYPE / 4)))
            }
            _ => self.state.index.bytes,
        }
    }

    /// The direct draws.
    pub(super) fn draw(&mut self, step: &Step<'_, '_>) -> Result<(), Stop> {
        let bytes = self.index_bytes(step);
        let (count, first, indices) = match step.fields.name() {
            "DRAW_INDEX_2" => {
                let va = step.address("index_base_lo", "index_base_hi")?;
                (step.get("index_count"), 0, Some(IndexBuffer { va, count: step.get("max_size"), bytes }))
            }
            "DRAW_INDEX_OFFSET_2" => {
                let indices = IndexBuffer { count: step.get("max_size"), bytes, ..self.state.index };
                (step.get("index_count"), step.get("index_offset"), Some(indices))
            }
            "DRAW_INDEX_IMMD" => {
                let behind = step.place().ib.va.checked_add(4 * (step.place().offset as u64 + 3));
                let va = behind.ok_or_else(|| step.refuse("has its indices beyond the end of the address space"))?;
                let count = step.get("index_count");
                (count, 0, Some(IndexBuffer { va, count, bytes }))
            }
            _ => (step.get("vertex_count"), 0, None),
        };
        let (instances, initiator) = (self.state.instances, step.get("draw_initiator"));
        let draw = Draw { count, instances, first, vertex_offset: 0, first_instance: 0, indices, number: 0, initiator };
        self.start(step, Work::Draw(draw));
        Ok(())
    }

    /// DRAW_INDIRECT and its kin: once, or as often as the packet or a dword in memory says.
    pub(super) fn draw_indirect(&mut self, step: &Step<'_, '_>, level: GfxLevel) -> Result<(), Stop> {
        let is_indexed = step.fields.name().starts_with("DRAW_INDEX_");
        let base = entry(step, self.state.base(INDIRECT), step.get("data_offset").into())?;
        for number in 0..draws(step)? {
            if number > 0 {
                step.port.spend(Budget::DRAW)?;
            }
            let at = entry(step, base, u64::from(number) * u64::from(step.get("stride")))?;
            let [count, instances, first, fourth, fifth] = load(step, at);
            let (vertex_offset, first_instance) = if is_indexed { (fourth, fifth) } else { (first, fourth) };
            self.write_location(step, "base_vertex_loc", vertex_offset, level)?;
            self.write_location(step, "start_instance_loc", first_instance, level)?;
            if step.is_set("start_index_enable") {
                self.write_location(step, "start_index_loc", first, level)?;
            }
            if step.is_set("draw_index_enable") {
                self.write_location(step, "draw_index_loc", number, level)?;
            }
            let indices = IndexBuffer { bytes: self.index_bytes(step), ..self.state.index };
            self.start(
                step,
                Work::Draw(Draw {
                    count,
                    instances,
                    first,
                    vertex_offset: if is_indexed { vertex_offset } else { 0 },
                    first_instance,
                    indices: is_indexed.then_some(indices),
                    number,
                    initiator: step.get("draw_initiator"),
                }),
            );
        }
        Ok(())
    }

    /// Tells a shader register what the draw was started with; 0 names none.
    fn write_location(&mut self, step: &Step<'_, '_>, name: &str, value: u32, level: GfxLevel) -> Result<(), Stop> {
        match step.get(name) {
            0 => Ok(()),
            offset => self.set_register(Register::new(PERSISTENT.start / 4 + offset), value, level, step.port),
        }
    }

    /// The dispatches, direct and indirect.
    pub(super) fn dispatch(&mut self, step: &Step<'_, '_>) -> Result<(), Stop> {
        let groups = if step.fields.has("dim_x") {
            [step.get("dim_x"), step.get("dim_y"), step.get("dim_z")]
        } else if step.fields.has("data_offset") {
            if !is_graphics(step) {
                return Err(step.refuse("takes its address from SET_BASE, which MEC does not have"));
            }
            load(step, entry(step, self.state.base(INDIRECT), step.get("data_offset").into())?)
        } else {
            if is_graphics(step) {
                return Err(step.refuse("names an absolute address, which only MEC takes"));
            }
            load(step, step.aligned("addr_lo", "addr_hi", 4)?)
        };
        let initiator = step.get("dispatch_initiator");
        if groups.contains(&0) || initiator & SHADER_EN == 0 {
            return Ok(());
        }
        let program = self.program(step);
        self.start(step, Work::Dispatch(Dispatch { groups, program, number: 0, initiator }));
        Ok(())
    }

    /// The compute shader. A dispatch without one that can be fetched is a page fault.
    fn program(&self, step: &Step<'_, '_>) -> GpuVa {
        let [low, high] = [0, 4].map(|byte| self.state.register(Register::new((COMPUTE_PGM_LO + byte) / 4)));
        let raw = (u64::from(high & 0xff) << 32 | u64::from(low)) << 8;
        // 48 bits, of which the highest one repeats.
        let va = GpuVa::from_48_bits(raw);
        if step.port.env().memory.read(va, &mut [0; 4]).is_err() {
            step.port.report(PageFault { va, access: Access::Fetch });
        }
        va
    }

    /// DISPATCH_MESH_DIRECT.
    pub(super) fn mesh(&mut self, step: &Step<'_, '_>) {
        let groups = [step.get("dim_x"), step.get("dim_y"), step.get("dim_z")];
        let initiator = step.get("draw_initiator");
        if !groups.contains(&0) {
            self.start(step, Work::Mesh(Dispatch { groups, program: GpuVa::NULL, number: 0, initiator }));
        }
    }

    /// DISPATCH_MESH_INDIRECT_MULTI, and the same for task shaders on a compute ring.
    pub(super) fn mesh_indirect(&mut self, step: &Step<'_, '_>, level: GfxLevel) -> Result<(), Stop> {
        let is_task = step.fields.has("data_addr_lo");
        let base = if is_task {
            step.aligned("data_addr_lo", "data_addr_hi", 4)?
        } else {
            entry(step, self.state.base(INDIRECT), step.get("data_offset").into())?
        };
        let program = if is_task { self.program(step) } else { GpuVa::NULL };
        let initiator = step.get(if is_task { "dispatch_initiator" } else { "draw_initiator" });
        for number in 0..draws(step)? {
            if number > 0 {
                step.port.spend(Budget::DRAW)?;
            }
            let groups: [u32; 3] = load(step, entry(step, base, u64::from(number) * u64::from(step.get("stride")))?);
            self.write_mesh_locations(step, groups, number, level)?;
            let grid = Dispatch { groups, program, number, initiator };
            if !groups.contains(&0) {
                self.start(step, if is_task { Work::Dispatch(grid) } else { Work::Mesh(grid) });
            }
        }
        Ok(())
    }

    fn write_mesh_locations(
        &mut self,
        step: &Step<'_, '_>,
        groups: [u32; 3],
        number: u32,
        level: GfxLevel,
    ) -> Result<(), Stop> {
        // GFX10_3 has no flag; a location that is not 0 is meant.
        let first = step.get("xyz_dim_loc");
        let is_asked_for = step.is_set("xyz_dim_enable") || !step.fields.has("xyz_dim_enable");
        if is_asked_for && first != 0 {
            for (offset, value) in (first..).zip(groups) {
                let register = Register::new(PERSISTENT.start / 4 + offset);
                self.set_register(register, value, level, step.port)?;
            }
        }
        if step.is_set("draw_index_enable") {
            self.write_location(step, "draw_index_loc", number, level)?;
        }
        Ok(())
    }

    /// DISPATCH_TASKMESH_GFX: mesh groups that task shaders asked for. None of those ran, so there are none; the packet
    /// is told of with an empty grid.
    pub(super) fn taskmesh(&mut self, step: &Step<'_, '_>) {
        let initiator = step.get("draw_initiator");
        self.start(step, Work::Mesh(Dispatch { groups: [0; 3], program: GpuVa::NULL, number: 0, initiator }));
    }
}

/// How many draws a packet stands for: one, or a count from the packet that a dword in memory may lower.
fn draws(step: &Step<'_, '_>) -> Result<u32, Stop> {
    if !step.fields.has("count") {
        return Ok(1);
    }
    let most = step.get("count");
    if !step.is_set("count_indirect_enable") {
        return Ok(most);
    }
    Ok(most.min(step.port.read_u32(step.aligned("count_addr_lo", "count_addr_hi", 4)?)))
}

fn entry(step: &Step<'_, '_>, base: GpuVa, offset: u64) -> Result<GpuVa, Stop> {
    let va = base.checked_add(offset);
    va.ok_or_else(|| step.refuse("reads its arguments beyond the end of the address space"))
}

fn load<const N: usize>(step: &Step<'_, '_>, va: GpuVa) -> [u32; N] {
    let mut dwords = [0; N];
    step.port.read(va, dwords.as_mut_bytes());
    dwords
}
