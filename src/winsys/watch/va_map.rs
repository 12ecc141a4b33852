//! Lookup of the BO that is or was bound at a GPU address.

use std::{
    collections::{HashMap, VecDeque},
    fmt,
    sync::Arc,
};

use parking_lot::Mutex;

use crate::{
    uapi::{GemDomain, VaFlags},
    vamgr::{GpuVa, IntervalMap, Run, VaRange},
    winsys::{Event, PageFault},
};

/// A map from GPU addresses to the BOs that are bound there, and for a limited time to the BOs that were. It finds the
/// buffer that belongs to the address of a VM fault, after an overrun or a use after free.
///
/// ```
/// use amdgpu_sim::{SimKernel, profile};
/// use amdgpu_winsys::{heaps::{AllocateInfo, MemoryManager, TableOptions}, winsys::{VaMap, Device, VaLookup}};
///
/// let map = VaMap::new(64);
/// let kernel = SimKernel::open(profile("navi21").ok_or("no such chip")?);
/// let device = Device::with_observer(kernel, map.clone())?;
/// let memory = MemoryManager::new(&device, &TableOptions::default())?.allocate(&AllocateInfo::new(0, 4096))?;
/// map.name(memory.bo().handle(), "vertices");
/// let address = memory.address().as_u64() + 100;
/// assert!(matches!(map.lookup(address), VaLookup::Live(place) if place.offset == 100));
/// drop(memory);
/// assert!(map.lookup(address).to_string().starts_with("100 bytes into \"vertices\" (BO 1, 4096 bytes"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A lookup and an event take O(log n) time. The history of freed ranges is bounded, while RADV's grows for the lifetime of
/// the device (Mesa 25.0.7 `src/amd/vulkan/winsys/amdgpu/radv_amdgpu_bo.c`, `radv_amdgpu_log_bo`).
///
/// A `VaMap` is a reference-counted handle: its clones are the same map and compare equal.
#[derive(Clone, Debug)]
pub struct VaMap(Arc<Book>);

/// Two handles are equal if they refer to the same map.
impl PartialEq for VaMap {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for VaMap {}

/// The state that all handles of a map share.
#[derive(Debug)]
struct Book {
    pages: Mutex<Pages>,
    most_freed: usize,
}

#[derive(Debug)]
struct Pages {
    bos: HashMap<u32, BoNote>,
    /// Keyed by 48-bit address.
    live: IntervalMap<Bound>,
    /// Freed ranges, oldest first, with the clock at that time.
    freed: VecDeque<(MappedRange, u64)>,
    /// The number of bindings made and removed so far.
    clock: u64,
}

#[derive(Clone, Debug)]
struct BoNote {
    size: u64,
    domains: GemDomain,
    name: Option<String>,
    /// Index of the memory type, for device memory.
    memory_type: Option<u32>,
}

#[derive(Clone, Debug)]
struct Bound {
    handle: u32,
    offset: u64,
    flags: VaFlags,
    /// A copy of the BO's record from the time of binding or naming, because the BO may be closed, and its handle reused,
    /// before the range is unbound.
    note: Option<BoNote>,
}

impl Run for Bound {
    fn skip(&self, by: u64) -> Self {
        Self { offset: self.offset + by, ..self.clone() }
    }

    /// Separate bindings are never merged, even if they are contiguous in the BO.
    fn continues(&self, _: u64, _: &Self) -> bool {
        false
    }
}

/// A range of GPU addresses bound to a BO, in the result of a lookup.
///
/// ```
/// use amdgpu_winsys::{heaps::AllocateInfo, winsys::VaLookup};
///
/// # let map = amdgpu_winsys::winsys::VaMap::new(64);
/// # let kernel = amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?);
/// # let device = amdgpu_winsys::winsys::Device::with_observer(kernel, map.clone())?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// let memory = manager.allocate(&AllocateInfo::new(0, 8192))?;
/// let VaLookup::Live(place) = map.lookup(memory.address().as_u64() + 5000) else { return Err("not bound".into()) };
/// assert_eq!((place.handle, place.offset, place.size), (memory.bo().handle(), 5000, 8192));
/// assert_eq!((place.range.start(), place.range.len()), (memory.address(), 8192));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MappedRange {
    /// The BO's handle at the time of the binding.
    pub handle: u32,
    /// The BO's name; `None` if it has none.
    pub name: Option<String>,
    /// The BO's size in bytes; 0 if unknown.
    pub size: u64,
    /// Domains in which the BO may be placed.
    pub domains: GemDomain,
    /// Access rights and MTYPE of the binding.
    pub flags: VaFlags,
    /// The bound range.
    pub range: VaRange,
    /// Offset in the BO of the requested address; for a neighbouring range, the offset of its start.
    pub offset: u64,
}

/// A BO that a [`VaMap`] tracks.
///
/// ```
/// use amdgpu_winsys::heaps::AllocateInfo;
///
/// # let map = amdgpu_winsys::winsys::VaMap::new(64);
/// # let kernel = amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?);
/// # let device = amdgpu_winsys::winsys::Device::with_observer(kernel, map.clone())?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// let memory = manager.allocate(&AllocateInfo::new(0, 8192))?;
/// map.name(memory.bo().handle(), "vertices");
/// let bos = map.bos();
/// assert_eq!((bos.len(), bos[0].handle, bos[0].size), (1, memory.bo().handle(), 8192));
/// assert_eq!((bos[0].name.as_deref(), bos[0].memory_type), (Some("vertices"), Some(0)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoEntry {
    /// The BO's handle.
    pub handle: u32,
    /// The BO's name; `None` if it has none.
    pub name: Option<String>,
    /// Size in bytes.
    pub size: u64,
    /// Domains in which the BO may be placed.
    pub domains: GemDomain,
    /// Index of the memory type; `None` if the BO is not device memory.
    pub memory_type: Option<u32>,
}

/// The result of a lookup in a [`VaMap`].
///
/// ```
/// use amdgpu_winsys::{heaps::AllocateInfo, winsys::VaLookup};
///
/// # let map = amdgpu_winsys::winsys::VaMap::new(64);
/// # let kernel = amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?);
/// # let device = amdgpu_winsys::winsys::Device::with_observer(kernel, map.clone())?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// let memory = manager.allocate(&AllocateInfo::new(0, 4096))?;
/// let address = memory.address().as_u64();
/// assert!(matches!(map.lookup(address), VaLookup::Live(_)));
/// assert!(matches!(map.lookup(address + 4096), VaLookup::Nowhere { below: Some((_, 0)), above: None }));
/// drop(memory);
/// assert!(matches!(map.lookup(address), VaLookup::Freed { changes_ago: 0, .. }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VaLookup {
    /// A BO is bound at the address.
    Live(MappedRange),
    /// No BO is bound at the address now; `place` is the last binding.
    Freed {
        /// The freed range.
        place: MappedRange,
        /// Number of bindings made or removed since the range was freed.
        changes_ago: u64,
    },
    /// No BO is bound at the address, and the map has no record of an earlier one.
    Nowhere {
        /// The nearest bound range below, and the number of bytes between its end and the address.
        below: Option<(MappedRange, u64)>,
        /// The nearest bound range above, and the number of bytes between the address and its start.
        above: Option<(MappedRange, u64)>,
    },
}

impl VaMap {
    /// Creates a map that remembers the last `most_freed` freed ranges.
    pub fn new(most_freed: usize) -> Self {
        let pages = Pages { bos: HashMap::new(), live: IntervalMap::new(), freed: VecDeque::new(), clock: 0 };
        Self(Arc::new(Book { pages: Mutex::new(pages), most_freed }))
    }

    /// Gives a BO a name, which is kept with its freed ranges. An unknown handle is ignored.
    pub fn name(&self, handle: u32, name: &str) {
        let mut pages = self.0.pages.lock();
        let Pages { bos, live, .. } = &mut *pages;
        let Some(note) = bos.get_mut(&handle) else { return };
        note.name = Some(name.to_owned());
        live.for_each_mut(|bound| {
            if bound.handle == handle {
                bound.note = Some(note.clone());
            }
        });
    }

    /// Returns the BO that is or was bound at a GPU address. `address` may be canonical or truncated to 48 bits; its upper 16 bits
    /// are ignored.
    pub fn lookup(&self, address: u64) -> VaLookup {
        let at = GpuVa::from_48_bits(address).low_48_bits();
        let pages = self.0.pages.lock();
        if let Some((range, bound)) = pages.live.get(at) {
            return VaLookup::Live(bound.place(&range, at));
        }
        let contains = |place: &MappedRange| {
            let start = place.range.start().low_48_bits();
            at.checked_sub(start).filter(|&into| into < place.range.len())
        };
        let last = pages.freed.iter().rev().find_map(|(place, when)| Some((place, when, contains(place)?)));
        if let Some((place, when, into)) = last {
            let place = MappedRange { offset: place.offset + into, ..place.clone() };
            return VaLookup::Freed { place, changes_ago: pages.clock - when };
        }
        let below = pages.live.last_before(at).map(|(range, bound)| (bound.place(&range, range.start), at - range.end));
        let above =
            pages.live.first_after(at).map(|(range, bound)| (bound.place(&range, range.start), range.start - at));
        VaLookup::Nowhere { below, above }
    }

    /// Returns all open BOs, sorted by handle.
    pub fn bos(&self) -> Vec<BoEntry> {
        let pages = self.0.pages.lock();
        let mut bos: Vec<_> = pages.bos.iter().map(|(&handle, note)| note.entry(handle)).collect();
        drop(pages);
        bos.sort_unstable_by_key(|bo| bo.handle);
        bos
    }

    /// Returns all bound ranges, sorted by 48-bit address.
    pub fn live(&self) -> Vec<MappedRange> {
        self.0.pages.lock().live.iter().map(|(range, bound)| bound.place(&range, range.start)).collect()
    }

    /// Returns the remembered freed ranges, oldest first.
    pub fn freed(&self) -> Vec<MappedRange> {
        self.0.pages.lock().freed.iter().map(|(place, _)| place.clone()).collect()
    }

    /// Describes a VM fault in a sentence.
    pub fn explain(&self, fault: &PageFault) -> String {
        let hub = match fault.hub & 0xff {
            0 => "graphics",
            _ => "multimedia",
        };
        let PageFault { page, status, .. } = fault;
        format!("page fault of the {hub} hub at {page} (status {status:#x}): {}", self.lookup(page.as_u64()))
    }
}

impl BoNote {
    fn entry(&self, handle: u32) -> BoEntry {
        let Self { size, domains, name, memory_type } = self.clone();
        BoEntry { handle, name, size, domains, memory_type }
    }
}

impl Bound {
    fn place(&self, range: &std::ops::Range<u64>, at: u64) -> MappedRange {
        let (size, domains, name) = self
            .note
            .as_ref()
            .map_or((0, GemDomain::empty(), None), |note| (note.size, note.domains, note.name.clone()));
        let offset = self.offset + (at - range.start);
        MappedRange { handle: self.handle, name, size, domains, flags: self.flags, range: va_range(range), offset }
    }
}

/// Returns a range of 48-bit addresses that the kernel has accepted.
fn va_range(range: &std::ops::Range<u64>) -> VaRange {
    VaRange::of_48_bits(range.start, range.end - range.start)
}

impl Pages {
    fn bind(&mut self, range: VaRange, value: Option<Bound>, most_freed: usize) {
        self.clock += 1;
        let start = range.start().low_48_bits();
        let Self { live, freed, clock, .. } = self;
        live.set(start..start + range.len(), value, |range, gone| {
            if freed.len() >= most_freed {
                freed.pop_front();
            }
            if most_freed > 0 {
                freed.push_back((gone.place(&range, range.start), *clock));
            }
        });
    }
}

impl VaMap {
    /// Updates the map with an event.
    pub(super) fn note(&self, event: &Event) {
        let mut pages = self.0.pages.lock();
        match *event {
            Event::BoOpened { handle, size, domains, .. } => {
                // An import of a BO that is already open keeps the name.
                let note = BoNote { size, domains, name: None, memory_type: None };
                pages.bos.entry(handle).or_insert(note);
            }
            Event::BoClosed { handle } => drop(pages.bos.remove(&handle)),
            Event::Allocated { handle, memory_type, .. } => {
                if let Some(note) = pages.bos.get_mut(&handle) {
                    note.memory_type = Some(memory_type);
                }
            }
            Event::Bound { range, handle, bo_offset, flags } => {
                let note = pages.bos.get(&handle).cloned();
                let bound = Bound { handle, offset: bo_offset, flags, note };
                pages.bind(range, Some(bound), self.0.most_freed);
            }
            Event::Unbound { range } => pages.bind(range, None, self.0.most_freed),
            _ => {}
        }
    }
}

impl fmt::Display for MappedRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = &self.name {
            write!(f, "{name:?} (")?;
        }
        write!(f, "BO {}, {} bytes at {}", self.handle, self.range.len(), self.range.start())?;
        if self.name.is_some() { write!(f, ")") } else { Ok(()) }
    }
}

impl fmt::Display for VaLookup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Live(place) => write!(f, "{} bytes into {place}", place.offset),
            Self::Freed { place, changes_ago } => {
                write!(f, "{} bytes into {place}, which was unbound {changes_ago} changes ago", place.offset)
            }
            Self::Nowhere { below: None, above: None } => write!(f, "nothing is bound anywhere"),
            Self::Nowhere { below, above } => {
                write!(f, "nothing is bound there;")?;
                if let Some((place, gap)) = below {
                    write!(f, " {gap} bytes after {place}")?;
                }
                if let Some((place, gap)) = above {
                    let and = if below.is_some() { "," } else { "" };
                    write!(f, "{and} {gap} bytes before {place}")?;
                }
                Ok(())
            }
        }
    }
}
