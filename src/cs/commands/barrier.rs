//! Barriers: dependencies between pipeline stages, and the waits and cache operations that they need.

use bitflags::bitflags;

use crate::{
    cs::pm4::{CacheActions, Ring, Target},
    winsys::GfxLevel,
};

bitflags! {
    /// Pipeline stages that a barrier orders, and the CPU.
    ///
    /// ```
    /// use amdgpu_winsys::cs::commands::{Access, Barrier, Scope, Stages};
    ///
    /// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
    /// # let target = amdgpu_winsys::cs::pm4::Target::gfx(device.info().gfx_level);
    /// let shaders = Scope::new(Stages::COMPUTE | Stages::FRAGMENT, Access::SHADER_WRITE);
    /// let flushes = Barrier::new(shaders, Scope::TRANSFER).flushes(target);
    /// assert_eq!(flushes.waits, Stages::COMPUTE | Stages::FRAGMENT); // does not wait for CP DMA
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Stages: u32 {
        /// The command processor, which reads indirect arguments and conditions.
        const COMMAND = 1 << 0;
        /// Vertex, tessellation and geometry shaders.
        const VERTEX = 1 << 1;
        /// Fragment (pixel) shaders.
        const FRAGMENT = 1 << 2;
        /// Compute shaders.
        const COMPUTE = 1 << 3;
        /// Copies, fills and updates that [`Commands`](super::Commands) records.
        const TRANSFER = 1 << 4;
        /// The CPU, which reads or writes mapped memory.
        const HOST = 1 << 5;
    }
}

bitflags! {
    /// Kinds of memory access.
    ///
    /// ```
    /// use amdgpu_winsys::cs::commands::{Access, Barrier, Scope, Stages};
    ///
    /// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
    /// # let target = amdgpu_winsys::cs::pm4::Target::gfx(device.info().gfx_level);
    /// let caches = |access| Barrier::new(Scope::new(Stages::COMPUTE, access), Scope::COMPUTE).flushes(target).caches;
    /// assert!(caches(Access::SHADER_READ).is_empty()); // nothing was written
    /// assert!(!caches(Access::SHADER_WRITE).is_empty());
    /// assert!(Access::WRITES.contains(Access::SHADER_WRITE));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Access: u32 {
        /// Reads of indirect arguments and conditions by the command processor.
        const COMMAND_READ = 1 << 0;
        /// Instruction fetches of shaders.
        const INSTRUCTION_READ = 1 << 1;
        /// Shader reads of memory that no shader writes.
        const UNIFORM_READ = 1 << 2;
        /// Shader reads of memory that may also be written by shaders.
        const SHADER_READ = 1 << 3;
        /// Shader writes.
        const SHADER_WRITE = 1 << 4;
        /// Reads of the source by copies.
        const TRANSFER_READ = 1 << 5;
        /// Writes by copies, fills and updates.
        const TRANSFER_WRITE = 1 << 6;
        /// CPU reads of mapped memory.
        const HOST_READ = 1 << 7;
        /// CPU writes to mapped memory.
        const HOST_WRITE = 1 << 8;
        /// Index fetches of draws. The command processor's own reads are [`COMMAND_READ`](Self::COMMAND_READ).
        const INDEX_READ = 1 << 9;
    }
}

impl Stages {
    const SHADERS: Self = Self::VERTEX.union(Self::FRAGMENT).union(Self::COMPUTE);
}

impl Access {
    /// All kinds of write access.
    pub const WRITES: Self = Self::SHADER_WRITE.union(Self::TRANSFER_WRITE).union(Self::HOST_WRITE);

    const BY_SHADERS: Self = Self::UNIFORM_READ.union(Self::SHADER_READ).union(Self::SHADER_WRITE);
    const BY_TRANSFERS: Self = Self::TRANSFER_READ.union(Self::TRANSFER_WRITE);
}

/// One side of a barrier: pipeline stages and their kinds of memory access.
///
/// ```
/// use amdgpu_winsys::cs::commands::{Access, Barrier, Scope, Stages};
///
/// let readback = Scope::new(Stages::HOST, Access::HOST_READ);
/// assert!(!Barrier::new(Scope::COMPUTE, readback).is_empty());
/// let nothing = Scope::new(Stages::empty(), Access::empty());
/// assert!(Barrier::new(nothing, nothing).is_empty());
/// assert!(Scope::ALL.access.contains(Scope::TRANSFER.access));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Scope {
    /// Pipeline stages that the scope includes.
    pub stages: Stages,
    /// Kinds of memory access by the stages of the scope.
    pub access: Access,
}

impl Scope {
    /// Creates a scope of pipeline stages and their kinds of memory access.
    pub const fn new(stages: Stages, access: Access) -> Self {
        Self { stages, access }
    }

    /// The scope of all stages and all kinds of access.
    pub const ALL: Self = Self::new(Stages::all(), Access::all());

    /// The scope of copies, fills and updates.
    pub const TRANSFER: Self = Self::new(Stages::TRANSFER, Access::BY_TRANSFERS);

    /// The scope of compute shaders and their memory accesses.
    pub const COMPUTE: Self = Self::new(Stages::COMPUTE, Access::BY_SHADERS);
}

/// A memory dependency: accesses of `from` before the barrier are complete and visible to accesses of `to` after it.
///
/// Barriers have no stages for render targets, and do not flush the colour and depth caches. A driver that draws records these
/// flushes itself, see [`pm4::EndOfPipe`](crate::cs::pm4::EndOfPipe).
///
/// ```
/// use amdgpu_winsys::{
///     cs::{Stream, Submission, commands::{Barrier, Commands, Recorder, Span}},
///     winsys::Deadline,
/// };
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// # let readback = manager.properties().type_for(amdgpu_winsys::heaps::MemoryUsage::Readback).ok_or("no such type")?;
/// # let memory = manager.allocate(&amdgpu_winsys::heaps::AllocateInfo::new(readback, 4096))?;
/// # let context = amdgpu_winsys::winsys::Context::new(&device, amdgpu_winsys::winsys::Priority::Normal)?;
/// # let queue = amdgpu_winsys::cs::Queue::new(&context, amdgpu_winsys::winsys::Ip::Gfx, 0)?;
/// # let target = amdgpu_winsys::cs::pm4::Target::gfx(device.info().gfx_level);
/// let (first, second) = (Span::of(memory.binding(), 0, 1024)?, Span::of(memory.binding(), 1024, 1024)?);
/// let mut recorder = Recorder::new(Stream::new(&device, target, 256)?);
/// recorder.fill(first, 7)?;
/// recorder.barrier(Barrier::TRANSFER)?; // the copy reads the filled range
/// recorder.copy(second, first)?;
/// let (list, used) = (recorder.finish()?, [memory.binding().clone()]);
/// queue.submit(&Submission { lists: &[&list], memory: &used, ..Submission::default() })?.wait(Deadline::NEVER)?;
/// assert_eq!(memory.map()?.load_u32(2044)?, 7);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Barrier {
    /// The scope of the work before the barrier.
    pub from: Scope,
    /// The scope of the work after the barrier.
    pub to: Scope,
}

/// The waits and cache operations with which a ring executes a [`Barrier`].
///
/// ```
/// use amdgpu_winsys::{
///     cs::{commands::{Barrier, Scope, Stages}, pm4::{CacheActions, Target}},
///     winsys::GfxLevel,
/// };
///
/// let flushes = Barrier::new(Scope::COMPUTE, Scope::COMPUTE).flushes(Target::compute(GfxLevel::Gfx10));
/// assert_eq!(flushes.waits, Stages::COMPUTE);
/// assert!(flushes.caches.contains(CacheActions::INVALIDATE_VECTOR));
/// assert!(!flushes.caches.contains(CacheActions::WRITE_BACK_L2)); // both sides go through L2
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Flushes {
    /// Stages to wait for: shaders, and CP DMA for [`Stages::TRANSFER`].
    pub waits: Stages,
    /// Cache operations after the waits.
    pub caches: CacheActions,
}

impl Barrier {
    /// A barrier that orders all work before it and all work after it.
    pub const FULL: Self = Self { from: Scope::ALL, to: Scope::ALL };

    /// A barrier between transfers that depend on each other.
    pub const TRANSFER: Self = Self { from: Scope::TRANSFER, to: Scope::TRANSFER };

    /// Creates a barrier that orders `from` before `to`.
    pub const fn new(from: Scope, to: Scope) -> Self {
        Self { from, to }
    }

    /// Returns `true` if the barrier orders nothing.
    pub fn is_empty(self) -> bool {
        self == Self::default()
    }

    /// Returns the waits and cache operations that a graphics or compute ring needs for a barrier.
    ///
    /// L2 is written back if the later access bypasses it, and invalidated if the write did. A later *write* that bypasses L2 needs
    /// the write-back, too: dirty bytes in L2 would otherwise overwrite it later. Without a write before the barrier no cache is
    /// touched.
    ///
    /// | access                             | goes through L2                    |
    /// |------------------------------------|------------------------------------|
    /// | shaders                            | always                             |
    /// | CP DMA, command processor's reads  | GFX9 to GFX11.5                    |
    /// | other stores of the command processor | GFX10 to GFX11.5; sources differ for GFX9, so both is assumed |
    /// | index fetches                      | GFX8 to GFX11.5                    |
    /// | the CPU                            | never                              |
    ///
    /// Where the command processor's reads bypass L2, an invalidation is recorded for them all the same, because indirect
    /// arguments are read by shaders, too.
    ///
    /// Source: Mesa 25.0.7 `src/amd/vulkan/radv_cmd_buffer.c`, `radv_src_access_flush`, `radv_dst_access_flush` and
    /// `radv_stage_flush`, for buffers that are not known to be coherent; `src/amd/common/ac_gpu_info.c`,
    /// `cp_sdma_ge_use_system_memory_scope`, for GFX12; `src/gallium/drivers/radeonsi/si_barrier.c`, `si_memory_barrier`, for
    /// indices.
    pub fn flushes(self, target: Target) -> Flushes {
        let shaders = if target.ring == Ring::Gfx { Stages::SHADERS } else { Stages::COMPUTE };
        Flushes { waits: self.from.stages & (shaders | Stages::TRANSFER), caches: self.caches(target.level) }
    }

    fn caches(self, level: GfxLevel) -> CacheActions {
        let (written, next) = (self.from.access & Access::WRITES, self.to.access);
        let mut caches = CacheActions::empty();
        if written.is_empty() || next.is_empty() {
            return caches;
        }
        caches.set(CacheActions::INVALIDATE_INSTRUCTIONS, next.contains(Access::INSTRUCTION_READ));
        caches.set(
            CacheActions::INVALIDATE_SCALAR | CacheActions::INVALIDATE_VECTOR,
            next.intersects(Access::UNIFORM_READ | Access::SHADER_READ),
        );
        let past = |is_past: bool, access: Access| if is_past { access } else { Access::empty() };
        let bypasses = level.command_processor_bypasses_l2();
        let past_l2 = Access::HOST_READ
            | Access::HOST_WRITE
            | past(bypasses, Access::BY_TRANSFERS)
            | past(level.index_fetch_bypasses_l2(), Access::INDEX_READ);
        // Up to GFX9, WRITE_DATA stores to memory directly, unlike CP DMA on GFX9.
        let writes_past_l2 = past_l2 | past(level == GfxLevel::Gfx9, Access::TRANSFER_WRITE);
        let looks_past_l2 = writes_past_l2 | past(bypasses, Access::COMMAND_READ);
        let wrote_in_l2 = written.intersects((!past_l2).intersection(Access::WRITES));
        caches.set(CacheActions::WRITE_BACK_L2, wrote_in_l2 && next.intersects(looks_past_l2));
        caches.set(CacheActions::INVALIDATE_L2, written.intersects(writes_past_l2) && next.intersects(!past_l2));
        caches
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caches(level: GfxLevel, from: Access, to: Access) -> CacheActions {
        let barrier = Barrier::new(Scope::new(Stages::all(), from), Scope::new(Stages::all(), to));
        barrier.flushes(Target::gfx(level)).caches
    }

    #[test]
    fn without_a_write_no_cache_is_touched() {
        for level in GfxLevel::ALL {
            assert_eq!(caches(level, !Access::WRITES, Access::all()), CacheActions::empty(), "{level}");
            assert_eq!(caches(level, Access::all(), Access::empty()), CacheActions::empty(), "{level}");
        }
    }

    /// The generations whose command processor reads and writes memory without L2.
    fn bypasses(level: GfxLevel) -> bool {
        [GfxLevel::Gfx6, GfxLevel::Gfx7, GfxLevel::Gfx8, GfxLevel::Gfx12].contains(&level)
    }

    #[test]
    fn what_shaders_wrote_is_written_back_for_those_who_pass_l2_by() {
        for level in GfxLevel::ALL {
            let back = |to| caches(level, Access::SHADER_WRITE, to).contains(CacheActions::WRITE_BACK_L2);
            assert_eq!(back(Access::TRANSFER_READ), bypasses(level), "{level}");
            assert_eq!(back(Access::COMMAND_READ), bypasses(level), "{level}");
            assert_eq!(back(Access::INDEX_READ), bypasses(level) && level != GfxLevel::Gfx8, "{level}");
            assert!(back(Access::HOST_READ) && !back(Access::SHADER_READ), "{level}");
        }
    }

    #[test]
    fn dirty_bytes_of_shaders_do_not_overwrite_later_writes_past_l2() {
        for level in GfxLevel::ALL {
            let back = |to| caches(level, Access::SHADER_WRITE, to).contains(CacheActions::WRITE_BACK_L2);
            // Updates are stores of the command processor, which bypass L2 on GFX9.
            assert_eq!(back(Access::TRANSFER_WRITE), bypasses(level) || level == GfxLevel::Gfx9, "{level}");
            assert!(back(Access::HOST_WRITE), "{level}");
        }
    }

    /// Copies write to L2 on GFX9 to GFX11.5; updates bypass it up to GFX9.
    #[test]
    fn what_transfers_wrote_in_l2_is_written_back_for_the_host() {
        for level in GfxLevel::ALL {
            let back = caches(level, Access::TRANSFER_WRITE, Access::HOST_READ).contains(CacheActions::WRITE_BACK_L2);
            assert_eq!(back, !bypasses(level), "{level}");
        }
    }

    #[test]
    fn what_came_past_l2_is_not_read_from_it() {
        for level in GfxLevel::ALL {
            let forget = |from| caches(level, from, Access::SHADER_READ).contains(CacheActions::INVALIDATE_L2);
            let passes = bypasses(level) || level == GfxLevel::Gfx9;
            assert_eq!(forget(Access::TRANSFER_WRITE), passes, "{level}");
            assert!(forget(Access::HOST_WRITE) && !forget(Access::SHADER_WRITE), "{level}");
        }
    }

    #[test]
    fn a_compute_ring_waits_for_no_pixels() {
        let waits = |target| Barrier::FULL.flushes(target).waits;
        assert_eq!(waits(Target::compute(GfxLevel::Gfx10)), Stages::COMPUTE | Stages::TRANSFER);
        assert_eq!(waits(Target::gfx(GfxLevel::Gfx10)), Stages::SHADERS | Stages::TRANSFER);
    }

    /// The expected cache operations between one write and one later access.
    fn between(level: GfxLevel, write: Access, next: Access) -> CacheActions {
        let (in_memory, is_gfx9) = (bypasses(level), level == GfxLevel::Gfx9);
        let by_cpu = next == Access::HOST_READ || next == Access::HOST_WRITE;
        let by_copy = next == Access::TRANSFER_READ || next == Access::TRANSFER_WRITE;
        let by_command = next == Access::COMMAND_READ;
        let by_index = next == Access::INDEX_READ && in_memory && level != GfxLevel::Gfx8;
        let lies_in_l2 = write == Access::SHADER_WRITE || write == Access::TRANSFER_WRITE && !in_memory;
        let lies_behind_l2 = write == Access::HOST_WRITE || write == Access::TRANSFER_WRITE && (in_memory || is_gfx9);
        // An update of GFX9 bypasses L2, a copy does not.
        let passes_l2 = by_cpu || by_index || by_copy && in_memory;
        let looks_behind_l2 = passes_l2 || by_command && in_memory || is_gfx9 && next == Access::TRANSFER_WRITE;
        // Where it is in doubt, the command processor's own reads are assumed to go through L2.
        let looks_into_l2 = !passes_l2;
        let mut caches = CacheActions::empty();
        caches.set(CacheActions::INVALIDATE_INSTRUCTIONS, next == Access::INSTRUCTION_READ);
        let by_shader = next == Access::UNIFORM_READ || next == Access::SHADER_READ;
        caches.set(CacheActions::INVALIDATE_SCALAR | CacheActions::INVALIDATE_VECTOR, by_shader);
        caches.set(CacheActions::WRITE_BACK_L2, lies_in_l2 && looks_behind_l2);
        caches.set(CacheActions::INVALIDATE_L2, lies_behind_l2 && looks_into_l2);
        caches
    }

    #[test]
    fn a_barrier_does_for_many_accesses_what_it_does_for_each_pair_of_them() {
        for level in GfxLevel::ALL {
            let pairs = Access::WRITES.iter().flat_map(|write| Access::all().iter().map(move |next| (write, next)));
            for (write, next) in pairs {
                assert_eq!(caches(level, write, next), between(level, write, next), "{level} {write:?} {next:?}");
            }
            // For sets of all sizes, the caches are the union of those of all pairs.
            for (from, to) in (0..1 << 10).step_by(5).flat_map(|from| (0..1 << 10).step_by(7).map(move |to| (from, to)))
            {
                let (from, to) = (Access::from_bits_truncate(from), Access::from_bits_truncate(to));
                let writes = (from & Access::WRITES).iter();
                let all = writes.flat_map(|write| to.iter().map(move |next| between(level, write, next)));
                assert_eq!(caches(level, from, to), all.collect(), "{level} {from:?} {to:?}");
            }
        }
    }
}
