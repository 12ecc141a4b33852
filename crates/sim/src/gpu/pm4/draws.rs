//! Draws and dispatches: their parameters, and the registers that they write.

use amdgpu_hw::GfxLevel;
use amdgpu_hw::GpuVa;
use amdgpu_packets::layout::Reader;
use amdgpu_packets::layout::records::pm4::{
    DispatchIndirect, DispatchMeshDirect, DispatchMeshIndirectMulti, DispatchTaskmeshGfx,
    DispatchTaskmeshIndirectMultiAce, DrawIndex2, DrawIndexAuto, DrawIndexImmd, DrawIndexIndirect,
    DrawIndexIndirectMulti, DrawIndexOffset2, DrawIndirect, DrawIndirectMulti, IndexAttributesIndirect, IndexType,
};
use amdgpu_packets::layout::values::SetBaseIndex;
use amdgpu_packets::pm4::Register;
use amdgpu_packets::registers::{COMPUTE_PGM_HI, COMPUTE_PGM_LO, VGT_INDEX_TYPE};
use zerocopy::IntoBytes;

use crate::gpu::{
    Access, Engine, PageFault, Signal, Stop,
    budget::Budget,
    interface::{
        index_buffer::IndexBuffer,
        work::{Dispatch, Draw, Work},
    },
    registers::PERSISTENT,
    step::Step,
};

use super::signals::is_graphics;

/// The bit of COMPUTE_DISPATCH_INITIATOR without which no group runs.
const SHADER_EN: u32 = 1;

/// The arguments of indirect draws and dispatches: address, stride and count.
#[derive(Clone, Copy)]
struct Arguments {
    count: u32,
    /// The address of a dword that may reduce the count.
    count_address: Option<u64>,
    stride: u32,
}

impl Arguments {
    const ONCE: Self = Self { count: 1, count_address: None, stride: 0 };

    /// Returns the number of draws of the packet.
    fn draws(self, step: &Step<'_, '_>) -> Result<u32, Stop> {
        let Some(address) = self.count_address else { return Ok(self.count) };
        Ok(self.count.min(step.port.read_u32(step.aligned("count_addr_lo", address, 4)?)))
    }
}

/// The fields of DRAW_INDIRECT and similar packets.
pub(super) struct IndirectDraw {
    is_indexed: bool,
    offset: u32,
    arguments: Arguments,
    /// The shader register that gets the vertex offset; 0 for none.
    vertex_location: u32,
    instance_location: u32,
    index_location: u32,
    number_location: u32,
    initiator: u32,
}

impl From<DrawIndirect> for IndirectDraw {
    fn from(packet: DrawIndirect) -> Self {
        Self {
            is_indexed: false,
            offset: packet.data_offset,
            arguments: Arguments::ONCE,
            vertex_location: packet.base_vertex_loc,
            instance_location: packet.start_instance_loc,
            index_location: 0,
            number_location: 0,
            initiator: packet.draw_initiator,
        }
    }
}

impl From<DrawIndexIndirect> for IndirectDraw {
    fn from(packet: DrawIndexIndirect) -> Self {
        Self {
            is_indexed: true,
            offset: packet.data_offset,
            arguments: Arguments::ONCE,
            vertex_location: packet.base_vertex_loc,
            instance_location: packet.start_instance_loc,
            index_location: if packet.start_index_enable { packet.start_index_loc } else { 0 },
            number_location: 0,
            initiator: packet.draw_initiator,
        }
    }
}

impl From<DrawIndirectMulti> for IndirectDraw {
    fn from(packet: DrawIndirectMulti) -> Self {
        let count_address = packet.count_indirect_enable.then_some(packet.count_addr);
        Self {
            is_indexed: false,
            offset: packet.data_offset,
            arguments: Arguments { count: packet.count, count_address, stride: packet.stride },
            vertex_location: packet.base_vertex_loc,
            instance_location: packet.start_instance_loc,
            index_location: 0,
            number_location: if packet.draw_index_enable { packet.draw_index_loc } else { 0 },
            initiator: packet.draw_initiator,
        }
    }
}

impl From<DrawIndexIndirectMulti> for IndirectDraw {
    fn from(packet: DrawIndexIndirectMulti) -> Self {
        let count_address = packet.count_indirect_enable.then_some(packet.count_addr);
        Self {
            is_indexed: true,
            offset: packet.data_offset,
            arguments: Arguments { count: packet.count, count_address, stride: packet.stride },
            vertex_location: packet.base_vertex_loc,
            instance_location: packet.start_instance_loc,
            index_location: if packet.start_index_enable { packet.start_index_loc } else { 0 },
            number_location: if packet.draw_index_enable { packet.draw_index_loc } else { 0 },
            initiator: packet.draw_initiator,
        }
    }
}

/// The fields of DISPATCH_MESH_INDIRECT_MULTI, or of the packet for task shaders on a compute ring.
pub(super) struct IndirectMesh {
    is_task: bool,
    /// An address for task shaders; otherwise an offset from a base.
    address: u64,
    arguments: Arguments,
    /// The shader register that gets the size of the grid; 0 for none.
    grid_location: u32,
    number_location: u32,
    /// `true` if the shader gets the size of the grid.
    tells_grid: bool,
    initiator: u32,
}

impl From<DispatchMeshIndirectMulti> for IndirectMesh {
    fn from(packet: DispatchMeshIndirectMulti) -> Self {
        let count_address = packet.count_indirect_enable.then_some(packet.count_addr);
        Self {
            is_task: false,
            address: packet.data_offset.into(),
            arguments: Arguments { count: packet.count, count_address, stride: packet.stride },
            grid_location: packet.xyz_dim_loc,
            number_location: if packet.draw_index_enable { packet.draw_index_loc } else { 0 },
            tells_grid: packet.xyz_dim_enable,
            initiator: packet.draw_initiator,
        }
    }
}

impl From<DispatchTaskmeshIndirectMultiAce> for IndirectMesh {
    fn from(packet: DispatchTaskmeshIndirectMultiAce) -> Self {
        let count_address = packet.count_indirect_enable.then_some(packet.count_addr);
        Self {
            is_task: true,
            address: packet.data_addr,
            arguments: Arguments { count: packet.count, count_address, stride: packet.stride },
            grid_location: packet.xyz_dim_loc,
            number_location: if packet.draw_index_enable { packet.draw_index_loc } else { 0 },
            tells_grid: packet.xyz_dim_enable,
            initiator: packet.dispatch_initiator,
        }
    }
}

impl Engine {
    fn start(&mut self, step: &Step<'_, '_>, work: Work) -> Result<(), Stop> {
        match work {
            Work::Draw(_) | Work::Mesh(_) => self.state.tally.draws += 1,
            Work::Dispatch(_) => self.state.tally.dispatches += 1,
        }
        tracing::trace!(place = %step.place(), ?work);
        if let Some(observer) = step.port.env().observer() {
            observer.signal(Signal::Work);
            let unset = self.unset(&work, step);
            if !unset.is_empty() {
                observer.unset(&unset);
            }
        }
        self.issue(work, step.port)
    }

    /// Executes INDEX_TYPE, which sets the size of the indices of later draws.
    pub(super) fn set_index_type(&mut self, packet: IndexType) {
        self.state.index.bytes = IndexBuffer::bytes_of(packet.index_type.number());
    }

    /// Executes INDEX_ATTRIBUTES_INDIRECT. An entry has 16 bytes: address, size in bytes and type.
    pub(super) fn load_index_attributes(
        &mut self,
        packet: &IndexAttributesIndirect,
        step: &Step<'_, '_>,
    ) -> Result<(), Stop> {
        let table = step.aligned("attribute_base_lo", packet.attribute_base, 16)?;
        let entry = entry(step, table, 16 * u64::from(packet.attribute_index))?;
        let [low, high, count, kind] = load(step, entry);
        let va = GpuVa::from_halves(low, high).map_err(|_| step.refuse("loads an address from the hole"))?;
        self.state.index = IndexBuffer { va, count, bytes: IndexBuffer::bytes_of(kind) };
        Ok(())
    }

    /// Returns the size of an index. From GFX9 on, VGT_INDEX_TYPE replaces INDEX_TYPE.
    fn index_bytes(&self, step: &Step<'_, '_>) -> u32 {
        let register = match step.reader {
            Reader::Ring(target) if target.level >= GfxLevel::Gfx9 => VGT_INDEX_TYPE.offset(target.level),
            _ => None,
        };
        match register.and_then(Register::at_byte) {
            Some(register) => IndexBuffer::bytes_of(self.state.register(register)),
            None => self.state.index.bytes,
        }
    }

    /// Starts a direct draw.
    fn draw(
        &mut self,
        step: &Step<'_, '_>,
        (count, first): (u32, u32),
        indices: Option<IndexBuffer>,
        initiator: u32,
    ) -> Result<(), Stop> {
        let instances = self.state.instances;
        let draw = Draw { count, instances, first, vertex_offset: 0, first_instance: 0, indices, number: 0, initiator };
        self.start(step, Work::Draw(draw))
    }

    /// Executes DRAW_INDEX_AUTO, a draw without indices.
    pub(super) fn draw_index_auto(&mut self, packet: DrawIndexAuto, step: &Step<'_, '_>) -> Result<(), Stop> {
        self.draw(step, (packet.vertex_count, 0), None, packet.draw_initiator)
    }

    /// Executes DRAW_INDEX_2, a draw with indices at an address in the packet.
    pub(super) fn draw_index_2(&mut self, packet: &DrawIndex2, step: &Step<'_, '_>) -> Result<(), Stop> {
        let va = step.address("index_base_lo", packet.index_base)?;
        let indices = IndexBuffer { va, count: packet.max_size, bytes: self.index_bytes(step) };
        self.draw(step, (packet.index_count, 0), Some(indices), packet.draw_initiator)
    }

    /// Executes DRAW_INDEX_OFFSET_2, a draw with indices at the address of INDEX_BASE.
    pub(super) fn draw_index_offset_2(&mut self, packet: &DrawIndexOffset2, step: &Step<'_, '_>) -> Result<(), Stop> {
        let indices = IndexBuffer { count: packet.max_size, bytes: self.index_bytes(step), ..self.state.index };
        self.draw(step, (packet.index_count, packet.index_offset), Some(indices), packet.draw_initiator)
    }

    /// Executes DRAW_INDEX_IMMD, a draw with indices in the packet.
    pub(super) fn draw_index_immd(&mut self, packet: &DrawIndexImmd<'_>, step: &Step<'_, '_>) -> Result<(), Stop> {
        let behind = step.place().ib.va.checked_add(4 * (step.place().offset as u64 + 3));
        let va = behind.ok_or_else(|| step.refuse("has its indices beyond the end of the address space"))?;
        let indices = IndexBuffer { va, count: packet.index_count, bytes: self.index_bytes(step) };
        self.draw(step, (packet.index_count, 0), Some(indices), packet.draw_initiator)
    }

    /// Executes DRAW_INDIRECT and similar packets. The number of draws is one, or is given by the packet or a dword in memory.
    pub(super) fn draw_indirect(
        &mut self,
        packet: &IndirectDraw,
        step: &Step<'_, '_>,
        level: GfxLevel,
    ) -> Result<(), Stop> {
        let is_indexed = packet.is_indexed;
        let base = entry(step, self.state.base(SetBaseIndex::DRAW_INDEX_INDIRECT), packet.offset.into())?;
        for number in 0..packet.arguments.draws(step)? {
            if number > 0 {
                step.port.spend(Budget::DRAW)?;
            }
            let at = entry(step, base, u64::from(number) * u64::from(packet.arguments.stride))?;
            let [count, instances, first, fourth, fifth] = load(step, at);
            let (vertex_offset, first_instance) = if is_indexed { (fourth, fifth) } else { (first, fourth) };
            self.write_location(step, packet.vertex_location, vertex_offset, level)?;
            self.write_location(step, packet.instance_location, first_instance, level)?;
            self.write_location(step, packet.index_location, first, level)?;
            self.write_location(step, packet.number_location, number, level)?;
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
                    initiator: packet.initiator,
                }),
            )?;
        }
        Ok(())
    }

    /// Writes a parameter of the draw to a shader register; location 0 stands for none.
    fn write_location(&mut self, step: &Step<'_, '_>, location: u32, value: u32, level: GfxLevel) -> Result<(), Stop> {
        match location {
            0 => Ok(()),
            offset => self.set_register(Register::new(PERSISTENT.start / 4 + offset), value, level, step.port),
        }
    }

    /// Starts a dispatch.
    pub(super) fn dispatch(&mut self, step: &Step<'_, '_>, groups: [u32; 3], initiator: u32) -> Result<(), Stop> {
        if groups.contains(&0) || initiator & SHADER_EN == 0 {
            return Ok(());
        }
        let program = self.program(step);
        self.start(step, Work::Dispatch(Dispatch { groups, program, number: 0, initiator }))
    }

    /// Executes DISPATCH_INDIRECT. The grid is at an offset from the address of SET_BASE, or at an address in the packet.
    pub(super) fn dispatch_indirect(&mut self, packet: &DispatchIndirect, step: &Step<'_, '_>) -> Result<(), Stop> {
        /// The number of dwords of the form with an offset.
        const WITH_OFFSET: usize = 3;
        if step.dwords.len() == WITH_OFFSET {
            return self.dispatch_from_base(step, packet.data_offset, packet.dispatch_initiator);
        }
        if is_graphics(step) {
            return Err(step.refuse("names an absolute address, which only MEC takes"));
        }
        let groups = load(step, step.aligned("addr_lo", packet.addr, 4)?);
        self.dispatch(step, groups, packet.dispatch_initiator)
    }

    /// Starts a dispatch whose grid is at an offset from the address of SET_BASE.
    pub(super) fn dispatch_from_base(&mut self, step: &Step<'_, '_>, offset: u32, initiator: u32) -> Result<(), Stop> {
        if !is_graphics(step) {
            return Err(step.refuse("takes its address from SET_BASE, which MEC does not have"));
        }
        let base = self.state.base(SetBaseIndex::DRAW_INDEX_INDIRECT);
        let groups = load(step, entry(step, base, offset.into())?);
        self.dispatch(step, groups, initiator)
    }

    /// Returns the address of the compute shader. If the shader cannot be fetched, a page fault is reported.
    fn program(&self, step: &Step<'_, '_>) -> GpuVa {
        let Reader::Ring(target) = step.reader else { return GpuVa::NULL };
        let [low, high] = [COMPUTE_PGM_LO, COMPUTE_PGM_HI].map(|register| {
            let register = register.offset(target.level).and_then(Register::at_byte);
            register.map_or(0, |register| self.state.register(register))
        });
        let raw = (u64::from(high & 0xff) << 32 | u64::from(low)) << 8;
        // The address has 48 bits and is sign-extended.
        let va = GpuVa::from_48_bits(raw);
        if step.port.env().memory.read(va, &mut [0; 4]).is_err() {
            step.port.report(PageFault { va, access: Access::Fetch });
        }
        va
    }

    /// Executes DISPATCH_MESH_DIRECT.
    pub(super) fn mesh(&mut self, packet: &DispatchMeshDirect, step: &Step<'_, '_>) -> Result<(), Stop> {
        let groups = [packet.dim_x, packet.dim_y, packet.dim_z];
        let initiator = packet.draw_initiator;
        if groups.contains(&0) {
            return Ok(());
        }
        self.start(step, Work::Mesh(Dispatch { groups, program: GpuVa::NULL, number: 0, initiator }))
    }

    /// Executes DISPATCH_MESH_INDIRECT_MULTI, or the packet for task shaders on a compute ring.
    pub(super) fn mesh_indirect(
        &mut self,
        packet: &IndirectMesh,
        step: &Step<'_, '_>,
        level: GfxLevel,
    ) -> Result<(), Stop> {
        let initiator = packet.initiator;
        let (base, program) = if packet.is_task {
            (step.aligned("data_addr_lo", packet.address, 4)?, self.program(step))
        } else {
            (entry(step, self.state.base(SetBaseIndex::DRAW_INDEX_INDIRECT), packet.address)?, GpuVa::NULL)
        };
        // On GFX10_3, the packet of mesh shaders has no flag; a location other than 0 means that the flag is set.
        let tells_grid = packet.tells_grid || (!packet.is_task && level < GfxLevel::Gfx11);
        for number in 0..packet.arguments.draws(step)? {
            if number > 0 {
                step.port.spend(Budget::DRAW)?;
            }
            let at = entry(step, base, u64::from(number) * u64::from(packet.arguments.stride))?;
            let groups: [u32; 3] = load(step, at);
            if tells_grid && packet.grid_location != 0 {
                for (location, value) in (packet.grid_location..).zip(groups) {
                    self.write_location(step, location, value, level)?;
                }
            }
            self.write_location(step, packet.number_location, number, level)?;
            let grid = Dispatch { groups, program, number, initiator };
            if !groups.contains(&0) {
                self.start(step, if packet.is_task { Work::Dispatch(grid) } else { Work::Mesh(grid) })?;
            }
        }
        Ok(())
    }

    /// Executes DISPATCH_TASKMESH_GFX, a dispatch of the mesh groups that task shaders requested. Task shaders are not executed, so
    /// there are no groups, and the packet is reported with an empty grid.
    pub(super) fn taskmesh(&mut self, packet: &DispatchTaskmeshGfx, step: &Step<'_, '_>) -> Result<(), Stop> {
        let initiator = packet.draw_initiator;
        self.start(step, Work::Mesh(Dispatch { groups: [0; 3], program: GpuVa::NULL, number: 0, initiator }))
    }
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
