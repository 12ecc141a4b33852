//! A CPU mapping that is made on first use, shared by all threads, and can be ended.

use std::{ops::Deref, sync::atomic::Ordering::SeqCst};

use crate::{
    sync::{AtomicBool, Mutex, OnceLock, RwLock, RwLockReadGuard},
    winsys::Mapping,
};

/// A CPU mapping that is made by the first call and shared by all threads.
///
/// There are two kinds. A *lasting* mapping is returned as a plain reference, without a lock, and is unmapped when this
/// value is dropped. Any other mapping is lent as a [`Mapped`]; [`MapOnce::end`] unmaps it at once, or when the last
/// `Mapped` is dropped.
///
/// ```
/// use amdgpu_winsys::winsys::{IsLent, MapOnce, Mapping};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let request = amdgpu_winsys::winsys::BoRequest {
/// #     size: 64 << 10, alignment: 0, domains: amdgpu_winsys::uapi::GemDomain::GTT, flags: amdgpu_winsys::uapi::GemCreateFlags::empty(),
/// # };
/// # let bo = amdgpu_winsys::winsys::Bo::create(&device, request)?;
/// let map = MapOnce::new();
/// assert!(map.get().is_none());
/// map.get_or_map(|| Mapping::new(&bo))?.store_u32(0, 7)?;
/// let again = map.get_or_map(|| Mapping::new(&bo))?; // the same mapping
/// assert_eq!((again.load_u32(0)?, map.take().err()), (7, Some(IsLent)));
/// map.end();
/// assert!(map.get().is_none());
/// drop(again); // unmapped here
/// assert_eq!(map.get_or_map_lasting(|| Mapping::new(&bo))?.load_u32(0)?, 7);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct MapOnce {
    /// Written with `making` locked.
    lasting: OnceLock<Mapping>,
    slot: RwLock<Option<Mapping>>,
    /// `true` if `slot` holds a mapping. Written with the lock held for writing, read without it.
    is_full: AtomicBool,
    /// Held by the thread that maps, so that no other thread maps as well. `slot` stays unlocked meanwhile, so that readers
    /// do not wait for the kernel.
    making: Mutex<()>,
    /// `true` if the mapping in `slot` is to be unmapped when the last [`Mapped`] is dropped.
    is_ending: AtomicBool,
}

impl MapOnce {
    /// Creates a value without a mapping.
    pub const fn new() -> Self {
        Self::with(OnceLock::new())
    }

    /// Creates a value with a lasting mapping.
    pub fn of(mapping: Mapping) -> Self {
        Self::with(mapping.into())
    }

    const fn with(lasting: OnceLock<Mapping>) -> Self {
        Self {
            lasting,
            slot: RwLock::new(None),
            is_full: AtomicBool::new(false),
            making: Mutex::new(()),
            is_ending: AtomicBool::new(false),
        }
    }

    /// Returns the mapping; `None` if there is none or it was [ended](Self::end).
    #[inline]
    pub fn get(&self) -> Option<Mapped<'_>> {
        match self.lasting.get() {
            Some(mapping) => Some(Mapped(Lent::Lasting(mapping))),
            None => self.lend().filter(|_| !self.is_ending.load(SeqCst)),
        }
    }

    /// Returns the mapping, and makes it with `make` if there is none. While one thread makes it, the others wait; after a
    /// failure the next thread tries again. A mapping that was ended but is still lent is kept.
    ///
    /// # Errors
    ///
    /// The errors of `make`.
    #[inline]
    pub fn get_or_map<E>(&self, make: impl FnMut() -> Result<Mapping, E>) -> Result<Mapped<'_>, E> {
        if let Some(mapping) = self.lasting.get() {
            return Ok(Mapped(Lent::Lasting(mapping)));
        }
        match self.lend() {
            Some(mapped) => {
                self.go_on();
                Ok(mapped)
            }
            None => self.map(make),
        }
    }

    /// Cancels the end of the mapping.
    fn go_on(&self) {
        if self.is_ending.load(SeqCst) {
            self.is_ending.store(false, SeqCst);
        }
    }

    fn map<E>(&self, mut make: impl FnMut() -> Result<Mapping, E>) -> Result<Mapped<'_>, E> {
        loop {
            {
                let _making = self.making.lock();
                if !self.is_full.load(SeqCst) {
                    let mapping = make()?;
                    // No mapping is lent and no other thread makes one, so this waits only for threads that read the slot.
                    let mut slot = self.slot.write();
                    self.go_on();
                    *slot = Some(mapping);
                    self.is_full.store(true, SeqCst);
                }
            }
            // Another thread may have ended the mapping since; the loop then makes a new one.
            if let Some(mapped) = self.lend() {
                self.go_on();
                return Ok(mapped);
            }
        }
    }

    /// Returns the number of mappings, each of which has a handle of its BO.
    pub(crate) fn count(&self) -> usize {
        usize::from(self.lasting.get().is_some()) + usize::from(self.is_full.load(SeqCst))
    }

    /// Returns the lasting mapping, if there is one, without taking a lock.
    #[inline]
    pub fn lasting(&self) -> Option<&Mapping> {
        self.lasting.get()
    }

    /// Returns the lasting mapping. If there is none, the existing mapping becomes lasting, unless it is lent; otherwise
    /// `make` makes one.
    ///
    /// # Errors
    ///
    /// The errors of `make`.
    #[inline]
    pub fn get_or_map_lasting<E>(&self, make: impl FnOnce() -> Result<Mapping, E>) -> Result<&Mapping, E> {
        match self.lasting.get() {
            Some(mapping) => Ok(mapping),
            None => self.map_lasting(make),
        }
    }

    #[cold]
    fn map_lasting<E>(&self, make: impl FnOnce() -> Result<Mapping, E>) -> Result<&Mapping, E> {
        let _making = self.making.lock();
        if let Some(mapping) = self.lasting.get() {
            return Ok(mapping);
        }
        let mapping = match self.take() {
            Ok(Some(mapping)) => mapping,
            Ok(None) | Err(IsLent) => make()?,
        };
        // The lock is held, so no other thread has a mapping to store.
        Ok(self.lasting.get_or_init(|| mapping))
    }

    /// Unmaps the memory now, or when the last [`Mapped`] is dropped. Does not affect a lasting mapping.
    pub fn end(&self) {
        self.is_ending.store(true, SeqCst);
        self.end_unlent();
    }

    /// Drops the mapping if it is to end and is not lent.
    fn end_unlent(&self) {
        // If the lock is held, its holder is a `Mapped`, which calls this when dropped, or a thread that itself ends the
        // mapping.
        let ended = self.slot.try_write().and_then(|mut slot| {
            let ended = slot.take_if(|_| self.is_ending.swap(false, SeqCst));
            self.is_full.store(slot.is_some(), SeqCst);
            ended
        });
        // Unmap without holding the lock.
        drop(ended);
    }

    /// Takes the mapping out, unless it is lasting. Returns `None` if there is none.
    ///
    /// # Errors
    ///
    /// [`IsLent`] if the mapping is in use.
    pub fn take(&self) -> Result<Option<Mapping>, IsLent> {
        let mut slot = self.slot.try_write().ok_or(IsLent)?;
        self.is_ending.store(false, SeqCst);
        self.is_full.store(false, SeqCst);
        Ok(slot.take())
    }

    /// Restores a mapping that was taken. If another mapping has been created in the meantime, `mapping` is dropped.
    pub fn put_back(&self, mapping: Mapping) {
        let _making = self.making.lock();
        if !self.is_full.load(SeqCst) {
            // For the lock, see `map`.
            let mut slot = self.slot.write();
            *slot = Some(mapping);
            self.is_full.store(true, SeqCst);
        }
    }

    fn lend(&self) -> Option<Mapped<'_>> {
        if !self.is_full.load(SeqCst) {
            return None;
        }
        // A thread may read again while it uses the mapping, so it must not wait behind a writer.
        let slot = self.slot.read_recursive();
        if slot.is_some() { Some(Mapped(Lent::Counted { slot: Some(slot), owner: self })) } else { None }
    }
}

/// A CPU mapping in use, which is not unmapped while this value exists. Creating and dropping it costs two atomic
/// operations.
///
/// It dereferences to the [`Mapping`]. The mapping's [pointer](Mapping::as_ptr) stays valid until the memory is unmapped or
/// freed, which may be later.
///
/// ```
/// use amdgpu_sim::{SimKernel, profile};
/// use amdgpu_winsys::{
///     heaps::{AllocateInfo, MemoryManager, MemoryUsage, TableOptions},
///     winsys::{Device, Mapped},
/// };
///
/// let device = Device::new(SimKernel::open(profile("navi21").ok_or("no such chip")?))?;
/// let manager = MemoryManager::new(&device, &TableOptions::default())?;
/// let memory_type = manager.properties().type_for(MemoryUsage::Readback).ok_or("no such type")?;
/// let memory = manager.allocate(&AllocateInfo::new(memory_type, 4096))?;
/// let mapped: Mapped<'_> = memory.map()?;
/// memory.unmap(); // takes effect when `mapped` is dropped
/// assert_eq!((mapped.load_u32(0)?, mapped.len()), (0, 4096));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Mapped<'a>(Lent<'a>);

#[derive(Debug)]
enum Lent<'a> {
    Lasting(&'a Mapping),
    Counted {
        /// `Some`, with a mapping inside, until `Drop` takes it.
        slot: Option<RwLockReadGuard<'a, Option<Mapping>>>,
        owner: &'a MapOnce,
    },
}

impl Deref for Mapped<'_> {
    type Target = Mapping;

    #[inline]
    fn deref(&self) -> &Mapping {
        match &self.0 {
            Lent::Lasting(mapping) => mapping,
            // PANIC: created with a mapping inside, which stays while this lock is held; only `Drop` releases the lock.
            Lent::Counted { slot, .. } => slot.as_ref().and_then(|slot| slot.as_ref()).expect("a mapping is lent"),
        }
    }
}

impl Drop for Mapped<'_> {
    #[inline]
    fn drop(&mut self) {
        if let Lent::Counted { slot, owner } = &mut self.0 {
            drop(slot.take());
            if owner.is_ending.load(SeqCst) {
                owner.end_unlent();
            }
        }
    }
}

/// The error of taking out a mapping that is in use.
///
/// ```
/// use amdgpu_winsys::winsys::{IsLent, MapOnce};
///
/// let nothing = MapOnce::new();
/// assert!(nothing.take().is_ok_and(|mapping| mapping.is_none()), "that is not in use");
/// assert_eq!(IsLent.to_string(), "the mapping is in use");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the mapping is in use")]
pub struct IsLent;
