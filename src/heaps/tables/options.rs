//! The choices a driver or its user has about the tables.

/// Generation of RADV's tables to build.
///
/// All three come from the same rules; a profile only says which of them apply. Applications, tests and recorded traces
/// refer to each.
///
/// ```
/// use amdgpu_winsys::heaps::{MemoryProperties, Profile, TableOptions};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let facts = amdgpu_winsys::heaps::MemoryFacts::try_from(device.info())?;
/// let types = |profile| {
///     MemoryProperties::new(&facts, &TableOptions { profile, no_tmz: true, ..TableOptions::default() }).types().len()
/// };
/// assert_eq!([types(Profile::Radv), types(Profile::EightTypes), types(Profile::FourTypes)], [11, 8, 4]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Profile {
    /// RADV 26.2: twins with 32-bit addresses, uncached and protected types, APUs split 2 to 1. The default.
    #[default]
    Radv,
    /// RADV of about 2021, before the 32-bit twins: four types, then their four uncached copies on GFX9 and later.
    EightTypes,
    /// RADV 17.0: three heaps (VRAM the CPU does not see, VRAM it sees, GTT) and four types, in that order.
    ///
    /// Sizes are reported as they are: an APU is not split, and a small invisible remainder is a heap of its own.
    FourTypes,
}

/// Options for building the tables of heaps and memory types. The defaults match RADV.
///
/// ```
/// use amdgpu_winsys::heaps::{HeapFlags, MemoryManager, TableOptions};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// let options = TableOptions { override_vram_mib: Some(1024), ..TableOptions::default() };
/// let manager = MemoryManager::new(&device, &options)?;
/// assert_eq!(manager.properties().facts().vram(), 16 << 30); // the card has more
/// let local = manager.properties().heaps().iter().filter(|heap| heap.flags.contains(HeapFlags::DEVICE_LOCAL));
/// assert_eq!(local.map(|heap| heap.size).sum::<u64>(), 1 << 30);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[expect(clippy::struct_excessive_bools, reason = "one switch per option of the driver, each with a name of its own")]
pub struct TableOptions {
    /// Generation of the tables.
    pub profile: Profile,
    /// APUs show one device-local heap of all they have, and no GTT type (`radv_enable_unified_heap_on_apu`).
    pub unified_heap_on_apu: bool,
    /// Cards whose VRAM is all visible show a visible heap of 256 MiB beside the rest, as without resizable BAR
    /// (`radv_hide_rebar_on_dgpu`).
    pub hide_rebar: bool,
    /// VRAM is at most this many MiB (`override_vram_size`).
    pub override_vram_mib: Option<u32>,
    /// Every VRAM allocation is cleared by the kernel (`vk_zero_vram`, `RADV_DEBUG=zerovram`).
    pub zero_vram: bool,
    /// GFX12 gets the device-coherent types too, although its uncached accesses may pass each other
    /// (`radv_device_coherent_memory`).
    pub unordered_device_coherent: bool,
    /// No protected types (`RADV_DEBUG=notmz`).
    pub no_tmz: bool,
    /// No guard page on GFX6 and GFX7 (`RADV_DEBUG=nosmemmitigation`). The one of GFX9 stays: there a hang threatens.
    pub no_smem_mitigation: bool,
}

/// The rules a [`Profile`] switches.
#[derive(Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "one switch per rule")]
pub(super) struct Rules {
    /// The visible heap comes before GTT.
    pub(super) visible_before_gtt: bool,
    /// An invisible heap below a ninth of the visible one is left out.
    pub(super) drop_small_remainder: bool,
    /// APUs show two thirds of their memory as device-local.
    pub(super) split_apu: bool,
    /// Types have twins with 32-bit addresses.
    pub(super) twins: bool,
    /// Protected types, where the device has them.
    pub(super) protected: bool,
    /// Device-coherent types, where the device has them.
    pub(super) uncached: bool,
}

impl Profile {
    pub(super) const fn rules(self) -> Rules {
        let full = Rules {
            visible_before_gtt: false,
            drop_small_remainder: true,
            split_apu: true,
            twins: true,
            protected: true,
            uncached: true,
        };
        match self {
            Self::Radv => full,
            Self::EightTypes => Rules { twins: false, protected: false, ..full },
            Self::FourTypes => Rules {
                visible_before_gtt: true,
                drop_small_remainder: false,
                split_apu: false,
                twins: false,
                protected: false,
                uncached: false,
            },
        }
    }
}
