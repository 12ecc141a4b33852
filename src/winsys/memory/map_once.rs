//! A mapping that many threads ask for and one makes, and that a shared handle can end.

use std::{ops::Deref, sync::atomic::Ordering::SeqCst};

use crate::{
    sync::{AtomicBool, Mutex, OnceCell, RwLock, RwLockReadGuard},
    winsys::Mapping,
};

/// A CPU mapping that is made at the first call. All threads get the same one.
///
/// It is of one of two kinds. A *lasting* one is lent as a plain reference, getting it takes no lock, and it ends with this
/// value. Any other is lent as a [`Mapped`], and [`MapOnce::end`] takes it away: at once, or with the last `Mapped` of it.
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
/// let again = map.get_or_map(|| Mapping::new(&bo))?; // the mapping from before
/// assert_eq!((again.load_u32(0)?, map.take().err()), (7, Some(IsLent)));
/// map.end();
/// assert!(map.get().is_none());
/// drop(again); // unmapped here
/// assert_eq!(map.get_or_map_lasting(|| Mapping::new(&bo))?.load_u32(0)?, 7);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct MapOnce {
    lasting: OnceCell<Mapping>,
    slot: RwLock<Option<Mapping>>,
    /// `true` if there is a mapping in `slot`: changed with the lock for writing, looked at without any.
    is_full: AtomicBool,
    /// Held by the thread that maps, so that none maps twice. `slot` is not, so that no other thread waits for the kernel.
    making: Mutex<()>,
    /// `true` if the mapping in `slot` ends with the last [`Mapped`] of it.
    is_ending: AtomicBool,
}

impl MapOnce {
    /// Creates a place without a mapping.
    pub const fn new() -> Self {
        Self::with(OnceCell::new())
    }

    /// Creates a place with a lasting mapping.
    pub fn of(mapping: Mapping) -> Self {
        Self::with(OnceCell::with_value(mapping))
    }

    const fn with(lasting: OnceCell<Mapping>) -> Self {
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

    /// Returns the mapping, made by `make` if there is none. While one thread makes it the others wait; after a failure the
    /// next one tries again. A mapping that was ended and is still lent goes on.
    ///
    /// # Errors
    ///
    /// Those of `make`.
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

    /// Lets the mapping go on that was to end.
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
                    // Nothing is lent, and no other thread makes a mapping: this waits only for threads that look.
                    let mut slot = self.slot.write();
                    self.go_on();
                    *slot = Some(mapping);
                    self.is_full.store(true, SeqCst);
                }
            }
            // Another thread may have ended it by now; then it is made again.
            if let Some(mapped) = self.lend() {
                self.go_on();
                return Ok(mapped);
            }
        }
    }

    /// Returns the lasting mapping, if there is one. Takes no lock.
    #[inline]
    pub fn lasting(&self) -> Option<&Mapping> {
        self.lasting.get()
    }

    /// Returns the lasting mapping, made of the one there is unless that is lent, else by `make`.
    ///
    /// # Errors
    ///
    /// The error of `make`.
    #[inline]
    pub fn get_or_map_lasting<E>(&self, make: impl FnOnce() -> Result<Mapping, E>) -> Result<&Mapping, E> {
        self.lasting.get_or_try_init(|| match self.take() {
            Ok(Some(mapping)) => Ok(mapping),
            Ok(None) | Err(IsLent) => make(),
        })
    }

    /// Unmaps the memory now, or when the last [`Mapped`] is dropped. Does not affect a lasting mapping.
    pub fn end(&self) {
        self.is_ending.store(true, SeqCst);
        self.end_unlent();
    }

    /// Drops a mapping that is to end and is not lent.
    fn end_unlent(&self) {
        // Otherwise a `Mapped` has the lock, which comes here when it goes, or a thread that ends the mapping itself.
        let ended = self.slot.try_write().and_then(|mut slot| {
            let ended = slot.take_if(|_| self.is_ending.swap(false, SeqCst));
            self.is_full.store(slot.is_some(), SeqCst);
            ended
        });
        // Unmapped without the lock.
        drop(ended);
    }

    /// Takes the mapping away, unless it is a lasting one.
    ///
    /// # Errors
    ///
    /// [`IsLent`].
    pub fn take(&self) -> Result<Option<Mapping>, IsLent> {
        let mut slot = self.slot.try_write().ok_or(IsLent)?;
        self.is_ending.store(false, SeqCst);
        self.is_full.store(false, SeqCst);
        Ok(slot.take())
    }

    /// Restores a mapping that was taken. If another mapping exists by then, `mapping` is dropped.
    pub fn put_back(&self, mapping: Mapping) {
        let _making = self.making.lock();
        if !self.is_full.load(SeqCst) {
            // As in `map`.
            let mut slot = self.slot.write();
            *slot = Some(mapping);
            self.is_full.store(true, SeqCst);
        }
    }

    fn lend(&self) -> Option<Mapped<'_>> {
        if !self.is_full.load(SeqCst) {
            return None;
        }
        // A thread may look again while it uses the mapping: it must not wait behind one that waits to write.
        let slot = self.slot.read_recursive();
        if slot.is_some() { Some(Mapped(Lent::Counted { slot: Some(slot), owner: self })) } else { None }
    }
}

/// A CPU mapping in use. As long as there is one, the mapping is not taken away; it is as cheap as two atomic operations.
///
/// It derefs to the [`Mapping`], whose [pointer](Mapping::as_ptr) is valid for longer: until the memory is unmapped or freed.
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
/// memory.unmap(); // ends with `mapped`
/// assert_eq!((mapped.load_u32(0)?, mapped.len()), (0, 4096));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Mapped<'a>(Lent<'a>);

#[derive(Debug)]
enum Lent<'a> {
    Lasting(&'a Mapping),
    Counted {
        /// Full, with a mapping inside, until `Drop` takes it.
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
            // PANIC: made with a mapping inside, which stays while this holds the lock; only `Drop` takes the lock.
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

/// The error of taking away a mapping that is in use.
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
