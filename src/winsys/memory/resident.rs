//! The memory that a submission lists.

use super::{binding::Binding, residency_set::Residents};

/// Memory that a submission can list ([`Submission::memory`](crate::cs::Submission::memory)): one memory object or an array of
/// them.
///
/// Bindings implement it, and so do the types of `heaps` that own memory, so that a driver can pass its own objects. The
/// elements of an array have one type, which may be `&dyn Resident`.
///
/// ```
/// use amdgpu_sim::{SimKernel, profile};
/// use amdgpu_winsys::{
///     cs::{Queue, Stream, Submission, pm4},
///     heaps::{AllocateInfo, DeviceMemory, MemoryManager, MemoryUsage, TableOptions},
///     winsys::{Binding, Context, Device, Ip, Priority, Resident},
/// };
///
/// let device = Device::new(SimKernel::open(profile("navi21").ok_or("no such chip")?))?;
/// let manager = MemoryManager::new(&device, &TableOptions::default())?;
/// let memory_type = manager.properties().type_for(MemoryUsage::GpuOnly).ok_or("no such type")?;
/// let (one, other) =
///     (manager.allocate(&AllocateInfo::new(memory_type, 4096))?, manager.allocate(&AllocateInfo::new(memory_type, 4096))?);
///
/// let list = Stream::new(&device, pm4::Target::gfx(device.info().gfx_level), 64)?.finish()?;
/// let queue = Queue::new(&Context::new(&device, Priority::Normal)?, Ip::Gfx, 0)?;
/// let bindings: Vec<Binding> = vec![one.binding().clone()];
/// let mixed: [&dyn Resident; 2] = [&bindings, &other];
/// for memory in [&one as &dyn Resident, &[&one, &other], &bindings, &mixed] {
///     queue.submit(&Submission { lists: &[&list], memory, ..Submission::default() })?;
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Resident: Sync {
    /// Calls `each` with every binding, in order.
    fn each_binding(&self, each: &mut dyn FnMut(&Binding));

    /// Returns the number of bindings.
    fn binding_count(&self) -> usize;
}

impl Resident for Binding {
    fn each_binding(&self, each: &mut dyn FnMut(&Binding)) {
        each(self);
    }

    fn binding_count(&self) -> usize {
        1
    }
}

impl<T: Resident> Resident for [T] {
    fn each_binding(&self, each: &mut dyn FnMut(&Binding)) {
        for memory in self {
            memory.each_binding(each);
        }
    }

    fn binding_count(&self) -> usize {
        self.iter().map(Resident::binding_count).sum()
    }
}

/// Implements the trait for types that contain or refer to memory.
macro_rules! leads_to_memory {
    ($(($($generics:tt)*) $holder:ty, $memory:ident => $inner:expr;)*) => {
        $(
            impl<$($generics)*> Resident for $holder {
                fn each_binding(&self, each: &mut dyn FnMut(&Binding)) {
                    let $memory = self;
                    $inner.each_binding(each);
                }

                fn binding_count(&self) -> usize {
                    let $memory = self;
                    $inner.binding_count()
                }
            }
        )*
    };
}

leads_to_memory! {
    (T: Resident + ?Sized) &T, memory => **memory;
    (T: Resident, const N: usize) [T; N], memory => memory.as_slice();
    (T: Resident) Vec<T>, memory => memory.as_slice();
    () Residents, memory => **memory;
}

/// The default is no memory.
impl Default for &dyn Resident {
    fn default() -> Self {
        const NONE: &[Binding; 0] = &[];
        NONE
    }
}
