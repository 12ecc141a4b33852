//! A mapping that many threads ask for and one makes.

use crate::{sync::OnceCell, winsys::Mapping};

/// A CPU mapping that is made at the first call. All threads get the same one; once it is there, getting it takes no lock.
///
/// It is taken away only with exclusive access, so no reference to a mapping outlives it.
///
/// ```
/// use amdgpu_winsys::winsys::{MapOnce, Mapping};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let request = amdgpu_winsys::winsys::BoRequest {
/// #     size: 64 << 10, alignment: 0, domains: amdgpu_winsys::uapi::GemDomain::GTT, flags: amdgpu_winsys::uapi::GemCreateFlags::empty(),
/// # };
/// # let bo = amdgpu_winsys::winsys::Bo::create(&device, request)?;
/// let mut map = MapOnce::new();
/// assert!(map.get().is_none());
/// map.get_or_map(|| Mapping::new(&bo))?.store_u32(0, 7)?;
/// let again = map.get_or_map(|| Mapping::new(&bo))?; // the mapping from before
/// assert_eq!(again.load_u32(0)?, 7);
/// assert!(map.take().is_some() && map.get().is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct MapOnce(OnceCell<Mapping>);

impl MapOnce {
    /// No mapping yet.
    pub const fn new() -> Self {
        Self(OnceCell::new())
    }

    /// One that is there already.
    pub fn of(mapping: Mapping) -> Self {
        Self(OnceCell::with_value(mapping))
    }

    /// The mapping, if there is one. Takes no lock.
    #[inline]
    pub fn get(&self) -> Option<&Mapping> {
        self.0.get()
    }

    /// The mapping, made by `make` if there is none. While one thread makes it the others wait; after a failure the next
    /// one tries again.
    ///
    /// # Errors
    ///
    /// Those of `make`.
    #[inline]
    pub fn get_or_map<E>(&self, make: impl FnOnce() -> Result<Mapping, E>) -> Result<&Mapping, E> {
        self.0.get_or_try_init(make)
    }

    /// Takes the mapping away.
    pub fn take(&mut self) -> Option<Mapping> {
        self.0.take()
    }
}
