//! Options of the memory tables, for a driver or its user.

/// The generation of RADV's tables to build.
///
/// All three follow from the same rules; a profile only determines which of the rules apply. Applications, tests and recorded
/// traces exist that depend on each of them.
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
    /// The tables of RADV 26.2, the default. All types except write-combined system memory also exist with 32-bit addresses (as
    /// *32-bit twins*). There are uncached and protected types if the device supports them. Two thirds of an APU's memory form the
    /// device-local heap.
    #[default]
    Radv,
    /// The tables of RADV of about 2021, which has no types with 32-bit addresses: four types, and on GFX9 and later their four
    /// uncached copies after them.
    EightTypes,
    /// The tables of RADV 17.0: three heaps (invisible VRAM, visible VRAM, GTT) and four types, in that order.
    ///
    /// Sizes are not adjusted: the memory of an APU is not split, and a small invisible remainder forms a heap of its own.
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
    /// The generation of the tables.
    pub profile: Profile,
    /// Presents the memory of an APU as one device-local heap, without a GTT heap (`radv_enable_unified_heap_on_apu`).
    pub unified_heap_on_apu: bool,
    /// Presents fully visible VRAM as a visible heap of 256 MiB and an invisible heap, as without resizable BAR
    /// (`radv_hide_rebar_on_dgpu`). Applies only to discrete GPUs.
    pub hide_rebar: bool,
    /// Upper limit of the size of VRAM in MiB; `None` for no limit (`override_vram_size`).
    pub override_vram_mib: Option<u32>,
    /// The kernel clears every VRAM allocation (`vk_zero_vram`, `RADV_DEBUG=zerovram`).
    pub zero_vram: bool,
    /// Provides the device-coherent types on GFX12 too, although uncached accesses may be reordered there
    /// (`radv_device_coherent_memory`).
    pub unordered_device_coherent: bool,
    /// Omits the protected types (`RADV_DEBUG=notmz`).
    pub no_tmz: bool,
    /// Omits the guard page on GFX6 and GFX7 (`RADV_DEBUG=nosmemmitigation`). GFX9 keeps it, because it prevents hangs there.
    pub no_smem_mitigation: bool,
}

/// The rules that a [`Profile`] turns on or off.
#[derive(Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "one switch per rule")]
pub(super) struct Rules {
    /// The visible heap comes before GTT.
    pub(super) visible_before_gtt: bool,
    /// An invisible heap smaller than a ninth of the visible one is left out.
    pub(super) drop_small_remainder: bool,
    /// Two thirds of an APU's memory form a device-local heap.
    pub(super) split_apu: bool,
    /// All types except write-combined system memory have twins with 32-bit addresses.
    pub(super) twins: bool,
    /// There are protected types if the device supports them.
    pub(super) protected: bool,
    /// There are device-coherent types if the device supports them.
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
