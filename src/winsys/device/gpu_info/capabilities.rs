//! Capabilities of the kernel and the chip.

use crate::{
    uapi::{DevInfo, IdsFlags, cap},
    winsys::{Chip, DriverVersion, GfxLevel, Kernel, Result, device::query::capability},
};

bitflags::bitflags! {
    /// Features that depend on the driver's version, the chip or both.
    ///
    /// Source: Mesa `src/amd/common/ac_gpu_info.c`, and the version history in Linux 6.12 `amdgpu_drv.c`.
    ///
    /// ```
    /// use amdgpu_winsys::{cs::{Gang, Queue}, winsys::{Capabilities, Ip}};
    ///
    /// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
    /// # let context = amdgpu_winsys::winsys::Context::new(&device, amdgpu_winsys::winsys::Priority::Normal)?;
    /// # let queue = amdgpu_winsys::cs::Queue::new(&context, amdgpu_winsys::winsys::Ip::Gfx, 0)?;
    /// let compute = Queue::new(&context, Ip::Compute, 0)?;
    /// let has_gangs = device.info().capabilities.contains(Capabilities::GANG_SUBMIT);
    /// assert_eq!(Gang::new(&queue, &[&compute]).is_ok(), has_gangs);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Capabilities: u32 {
        /// BOs made from memory of the process (userptr).
        const USERPTR = 1 << 0;
        /// BOs that are resident for every submission (DRM 3.20).
        const ALWAYS_VALID = 1 << 1;
        /// Timeline sync objects.
        const TIMELINE_SYNCOBJ = 1 << 2;
        /// Partially resident (PRT) mappings that work on the chip.
        const SPARSE = 1 << 3;
        /// Dependencies on the start of a job (DRM 3.28).
        const SCHEDULED_DEPENDENCY = 1 << 4;
        /// Submissions to several queues at once (DRM 3.49).
        const GANG_SUBMIT = 1 << 5;
        /// The query for the last VM fault (DRM 3.55).
        const GPUVM_FAULT_QUERY = 1 << 6;
        /// Pinned clocks (DRM 3.45).
        const STABLE_PSTATE = 1 << 7;
        /// Encrypted memory (TMZ).
        const TMZ = 1 << 8;
        /// BOs whose contents may be discarded on eviction, and mappings that bypass the Infinity Cache (DRM 3.47).
        const DISCARDABLE = 1 << 9;
        /// VRAM that is zeroed on allocation (DRM 3.59).
        const ZEROED_VRAM = 1 << 10;
        /// Framebuffers with format modifiers.
        const MODIFIERS = 1 << 11;
        /// QUERY_STATE2 reports a running GPU reset (DRM 3.54).
        const RESET_IN_PROGRESS = 1 << 12;
        /// The memory type MTYPE_UC bypasses L2 (GFX9 and later).
        const L2_UNCACHED = 1 << 13;
        /// The driver must provide register shadow areas for the command processor.
        const REGISTER_SHADOWING = 1 << 14;
        /// The IB flag EMIT_MEM_SYNC (DRM 3.38).
        const EMIT_MEM_SYNC = 1 << 15;
        /// DCC for GFX12 BOs (DRM 3.58).
        const GFX12_DCC = 1 << 16;
        /// Images with fewer samples than coverage samples (EQAA, before GFX11).
        const EQAA = 1 << 17;
        /// The driver may set the addresses of a trap handler (GFX8). On later generations only the kernel sets them.
        const TRAP_HANDLER = 1 << 18;
        /// The command processor can copy (`CP_DMA`, `DMA_DATA`): all chips except the large ones without graphics
        /// (GFX940).
        const CP_DMA = 1 << 19;
        /// The command, copy and geometry engines bypass L2, so data that they share with shaders needs system scope
        /// (GFX12).
        const ENGINES_PASS_L2 = 1 << 20;
    }
}

impl Capabilities {
    pub(super) fn query(
        kernel: &dyn Kernel,
        driver: DriverVersion,
        gfx_level: GfxLevel,
        chip: Chip,
        dev: &DevInfo,
    ) -> Result<Self> {
        let ids = IdsFlags::from_bits_retain(dev.ids_flags);
        let minor = |floor| driver.minor >= floor;
        let mut all = Self::USERPTR;
        all.set(Self::ALWAYS_VALID, minor(20));
        all.set(Self::TIMELINE_SYNCOBJ, capability(kernel, cap::SYNCOBJ_TIMELINE)? != 0);
        all.set(Self::SPARSE, minor(13) && has_sparse(gfx_level, chip));
        all.set(Self::SCHEDULED_DEPENDENCY, minor(28));
        all.set(Self::GANG_SUBMIT, minor(49));
        all.set(Self::GPUVM_FAULT_QUERY, minor(55));
        all.set(Self::STABLE_PSTATE, minor(45));
        // Before DRM 3.40 RADV probes with an allocation; this library does not support TMZ on such kernels (before Linux
        // 5.12).
        all.set(Self::TMZ, ids.contains(IdsFlags::TMZ));
        all.set(Self::DISCARDABLE, minor(47));
        all.set(Self::ZEROED_VRAM, minor(59));
        all.set(Self::MODIFIERS, capability(kernel, cap::ADDFB2_MODIFIERS)? != 0);
        all.set(Self::RESET_IN_PROGRESS, minor(54));
        all.set(Self::L2_UNCACHED, gfx_level >= GfxLevel::Gfx9);
        all.set(Self::REGISTER_SHADOWING, ids.contains(IdsFlags::PREEMPTION) && gfx_level < GfxLevel::Gfx11);
        all.set(Self::EMIT_MEM_SYNC, minor(38));
        all.set(Self::GFX12_DCC, gfx_level >= GfxLevel::Gfx12 && minor(58));
        all.set(Self::EQAA, gfx_level < GfxLevel::Gfx11);
        all.set(Self::TRAP_HANDLER, gfx_level == GfxLevel::Gfx8);
        all.set(Self::CP_DMA, chip != Chip::CHIP_GFX940);
        all.set(Self::ENGINES_PASS_L2, gfx_level == GfxLevel::Gfx12);
        Ok(all)
    }
}

/// Returns `true` if PRT mappings work: from Polaris on. Mesa 25.0.7 also has them for the chips of GFX7 and GFX8 before it, Mesa
/// 26.2.6 does not (`ac_gpu_info.c`: the family is at least `CHIP_POLARIS10`); its recorded answers for Bonaire and Stoney agree.
/// The copy engine of GFX6 faults on them.
fn has_sparse(gfx_level: GfxLevel, chip: Chip) -> bool {
    use Chip::{CHIP_POLARIS10, CHIP_POLARIS11, CHIP_POLARIS12, CHIP_VEGAM};
    gfx_level >= GfxLevel::Gfx9 || matches!(chip, CHIP_POLARIS10 | CHIP_POLARIS11 | CHIP_POLARIS12 | CHIP_VEGAM)
}

#[cfg(test)]
mod tests {
    use amdgpu_sim::{SimKernel, profile};

    use super::*;

    fn of(gfx_level: GfxLevel, chip: Chip, minor: i32, ids_flags: IdsFlags) -> Capabilities {
        let kernel = SimKernel::open(profile("navi21").unwrap());
        let dev = DevInfo { ids_flags: ids_flags.bits(), ..DevInfo::ZEROED };
        Capabilities::query(&kernel, DriverVersion { major: 3, minor, patch: 0 }, gfx_level, chip, &dev).unwrap()
    }

    #[test]
    #[cfg_attr(miri, ignore = "system calls")]
    fn capabilities_come_and_go_with_the_generation() {
        use GfxLevel::{Gfx8, Gfx9, Gfx11, Gfx12};
        for level in GfxLevel::ALL {
            let all = of(level, Chip::CHIP_NAVI21, 60, IdsFlags::PREEMPTION);
            for (capability, is_there) in [
                (Capabilities::SPARSE, level >= Gfx9),
                (Capabilities::L2_UNCACHED, level >= Gfx9),
                (Capabilities::REGISTER_SHADOWING, level < Gfx11),
                (Capabilities::GFX12_DCC, level >= Gfx12),
                (Capabilities::TMZ, false),
                (Capabilities::EQAA, level < Gfx11),
                (Capabilities::TRAP_HANDLER, level == Gfx8),
                (Capabilities::CP_DMA, true),
                (Capabilities::ENGINES_PASS_L2, level == Gfx12),
            ] {
                assert_eq!(all.contains(capability), is_there, "{level} {capability:?}");
            }
            let without = of(level, Chip::CHIP_NAVI21, 60, IdsFlags::TMZ);
            assert!(!without.contains(Capabilities::REGISTER_SHADOWING), "{level}");
            assert!(without.contains(Capabilities::TMZ), "{level}");
        }
        let dcc = |minor| of(Gfx12, Chip::CHIP_GFX1200, minor, IdsFlags::empty()).contains(Capabilities::GFX12_DCC);
        assert!(!dcc(57) && dcc(58));
    }

    #[test]
    #[cfg_attr(miri, ignore = "system calls")]
    fn the_command_processor_of_one_chip_does_not_copy() {
        let has = |chip| of(GfxLevel::Gfx9, chip, 60, IdsFlags::empty()).contains(Capabilities::CP_DMA);
        assert!(!has(Chip::CHIP_GFX940) && has(Chip::CHIP_ALDEBARAN));
    }

    #[test]
    #[cfg_attr(miri, ignore = "system calls")]
    fn partially_resident_memory_begins_with_polaris() {
        let has = |level, chip| of(level, chip, 60, IdsFlags::empty()).contains(Capabilities::SPARSE);
        let of_gfx8 = |chip| has(GfxLevel::Gfx8, chip);
        assert!(!has(GfxLevel::Gfx7, Chip::CHIP_HAWAII) && !of_gfx8(Chip::CHIP_TONGA) && !of_gfx8(Chip::CHIP_STONEY));
        assert!(of_gfx8(Chip::CHIP_POLARIS10) && of_gfx8(Chip::CHIP_VEGAM) && has(GfxLevel::Gfx9, Chip::CHIP_VEGA10));
    }
}
