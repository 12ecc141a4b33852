//! Any history of allocating, importing, mapping, failing and freeing leaves exactly what a counting model says.

use std::{collections::BTreeSet, sync::Arc};

use crate::support::chip;
use amdgpu_layers::FaultInjector;
use amdgpu_sim::{SimDevice, SimKernel, SimOptions};
use amdgpu_winsys::{
    heaps::{
        AllocateFlags, AllocateInfo, DeviceMemory, ExternalHandleTypes, ImportInfo, MemoryManager, OwnUsage, Replay,
        TableOptions,
    },
    winsys::{Device, Errno},
};
use proptest::{collection::vec, prelude::*};

const PAGE: u64 = 4096;
/// Types of the RX 6800: VRAM that the CPU does not see, VRAM that it sees, cached system memory.
const TYPES: [u32; 3] = [0, 3, 5];

/// One step in one of two open files.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// Kind, number of pages, whether it is shared, and whether its address is replayed.
    Allocate { kind: usize, pages: u64, exportable: bool, capture: bool },
    /// The memory at this position, into this file.
    Import { of: usize, into: usize },
    /// The CPU mapping of the memory.
    Map { of: usize },
    /// Its end, and whether the addresses stay.
    Unmap { of: usize, reserve: bool },
    /// The end of the memory.
    Free { of: usize },
}

/// A step in the first file may have its n-th call fail.
type Planned = (Step, usize, Option<u64>);

fn any_step() -> impl Strategy<Value = Planned> {
    let of = 0..64_usize;
    let step = prop_oneof![
        4 => (0..3_usize, 1..64_u64, any::<bool>(), any::<bool>())
            .prop_map(|(kind, pages, exportable, capture)| Step::Allocate { kind, pages, exportable, capture }),
        3 => (of.clone(), 0..2_usize).prop_map(|(of, into)| Step::Import { of, into }),
        2 => of.clone().prop_map(|of| Step::Map { of }),
        2 => (of.clone(), any::<bool>()).prop_map(|(of, reserve)| Step::Unmap { of, reserve }),
        3 => of.prop_map(|of| Step::Free { of }),
    ];
    (step, 0..2_usize, prop::option::weighted(0.3, 0..8_u64))
}

/// A memory, and what the model knows of it.
struct Item {
    memory: DeviceMemory,
    file: usize,
    /// The same for all that share storage.
    object: usize,
    kind: usize,
    shared: bool,
}

struct World {
    gpu: SimDevice,
    kernels: [Arc<FaultInjector<SimKernel>>; 2],
    managers: [MemoryManager; 2],
    items: Vec<Item>,
    objects: usize,
    /// Addresses that were left reserved; the test gives them back.
    reserved: Vec<(std::ptr::NonNull<u8>, usize)>,
}

impl World {
    fn new() -> Self {
        let gpu = SimDevice::new(chip("navi21"), SimOptions::default());
        let kernels = [(); 2].map(|()| Arc::new(FaultInjector::new(gpu.open())));
        let managers = kernels.each_ref().map(|kernel| {
            MemoryManager::new(&Device::new(Arc::clone(kernel)).unwrap(), &TableOptions::default()).unwrap()
        });
        Self { gpu, kernels, managers, items: Vec::new(), objects: 0, reserved: Vec::new() }
    }

    /// Takes a step; a failure changes nothing.
    fn take(&mut self, step: Step, file: usize) {
        let position = |of: usize, count: usize| (count > 0).then(|| of % count);
        match step {
            Step::Allocate { kind, pages, exportable, capture } => {
                let flags = if exportable { AllocateFlags::EXPORTABLE } else { AllocateFlags::empty() };
                let replay = if capture { Replay::Capture } else { Replay::No };
                let info = AllocateInfo { flags, replay, ..AllocateInfo::new(TYPES[kind], pages * PAGE) };
                let Ok(memory) = self.managers[file].allocate(&info) else { return };
                self.items.push(Item { memory, file, object: self.objects, kind, shared: exportable });
                self.objects += 1;
            }
            Step::Import { of, into } => {
                let Some(of) = position(of, self.items.len()) else { return };
                let Item { ref memory, object, kind, shared, .. } = self.items[of];
                let exported = memory.export(ExternalHandleTypes::DMA_BUF);
                assert!(shared || exported.is_err());
                let Ok(fd) = exported else { return };
                let info = ImportInfo::new(TYPES[kind], memory.size());
                let Ok(memory) = self.managers[into].import_fd(fd, &info) else { return };
                self.items.push(Item { memory, file: into, object, kind, shared });
            }
            Step::Map { of } => {
                let Some(of) = position(of, self.items.len()) else { return };
                let Item { ref memory, kind, .. } = self.items[of];
                let mapped = memory.map();
                assert!(kind != 0 || mapped.is_err());
                if let Ok(mapping) = mapped {
                    mapping.store_u32(0, 1).unwrap();
                }
            }
            Step::Unmap { of, reserve } => {
                let Some(of) = position(of, self.items.len()) else { return };
                let memory = &mut self.items[of].memory;
                let place = memory.mapping().map(|mapping| (mapping.as_ptr(), mapping.len()));
                if !reserve {
                    memory.unmap();
                } else if memory.unmap_reserving().is_ok() {
                    self.reserved.extend(place);
                }
            }
            Step::Free { of } => {
                let Some(of) = position(of, self.items.len()) else { return };
                drop(self.items.swap_remove(of));
            }
        }
    }

    /// Compares with what follows from the list of memories alone.
    fn check(&self) -> Result<(), TestCaseError> {
        for (file, (kernel, manager)) in self.kernels.iter().zip(&self.managers).enumerate() {
            let items = || self.items.iter().filter(|item| item.file == file);
            let mut usage = OwnUsage::default();
            let mut objects = BTreeSet::new();
            for item in items().filter(|item| objects.insert(item.object)) {
                match item.kind {
                    0 => usage.invisible_vram += item.memory.size(),
                    1 => usage.visible_vram += item.memory.size(),
                    _ => usage.gtt += item.memory.size(),
                }
            }
            let census = kernel.inner().census();
            prop_assert_eq!(manager.usage_tracker().usage(), usage);
            prop_assert_eq!((census.handles, census.bindings), (objects.len(), items().count()));
            prop_assert_eq!(census.mappings, items().filter(|item| item.memory.mapping().is_some()).count());
            let bytes: u64 = items().map(|item| item.memory.size()).sum();
            prop_assert_eq!((manager.device().addresses().leased_bytes(), census.bound_bytes), (bytes, bytes));
        }
        let objects: BTreeSet<_> = self.items.iter().map(|item| item.object).collect();
        prop_assert_eq!(self.gpu.census().bos, objects.len());
        Ok(())
    }
}

impl Drop for World {
    fn drop(&mut self) {
        for (base, len) in self.reserved.drain(..) {
            #[expect(unsafe_code, reason = "addresses that unmap_reserving left to the caller")]
            // SAFETY: they were left reserved for us, and nothing was placed there since.
            let _ = unsafe { nix::sys::mman::munmap(base.cast(), len) };
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_history_counts_as_the_model_and_ends_at_zero(steps in vec(any_step(), 1..60)) {
        let mut world = World::new();
        for (step, file, failing) in steps {
            // One failure never stays: a drop tries three times.
            if let Some(n) = failing {
                world.kernels[0].fail_nth(n, Errno::ENOMEM);
            }
            world.take(step, file);
            world.kernels[0].stop();
            world.check()?;
        }
        world.items.clear();
        world.check()?;
        for kernel in &world.kernels {
            prop_assert_eq!(kernel.inner().census().handles, 0);
        }
    }
}
