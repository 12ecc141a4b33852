//! The crate `amdgpu-pool` by itself gives the figures of the program, and the heaps of the library.

#![expect(unsafe_code, reason = "INFO carries the address of its answer")]

use std::io;

use amdgpu_budget::{
    collect::{CollectOptions, Collector},
    files::Files,
    machine::{Machine, Simulated},
};
use amdgpu_pool::{Info, OwnUsage, Session};
use amdgpu_sim::KernelRelease;
use amdgpu_winsys::{
    heaps::{self, BudgetRule, HeapKind, MemoryFacts, MemoryProperties, RawMemoryFacts, SystemUsage, TableOptions},
    uapi::{self, Argument as _},
    winsys::{Device, Kernel},
};
use proptest::prelude::*;

/// A simulated machine whose GPUs are asked by the crate itself.
struct Alone(Simulated);

/// An open GPU of it.
struct Open(Box<dyn Kernel>);

impl Info for Open {
    fn info(&self, query: u32, answer: &mut [u8]) -> io::Result<()> {
        let mut argument = uapi::Info {
            return_pointer: answer.as_mut_ptr().expose_provenance() as u64,
            return_size: u32::try_from(answer.len()).unwrap(),
            query,
            input: [0; 4],
        };
        // SAFETY: the argument is exclusive and has the size of its request; the simulator writes no more than `return_size` bytes
        // to the only address in it, which is that of `answer`.
        let done = unsafe { self.0.ioctl(uapi::Info::REQUEST, std::ptr::from_mut(&mut argument).cast()) };
        done.map(drop).map_err(io::Error::from)
    }
}

impl amdgpu_pool::Machine for Alone {
    fn files(&self) -> &dyn Files {
        self.0.files()
    }

    fn open(&self, node: &str, pci: &str) -> io::Result<Box<dyn Session + '_>> {
        Ok(Box::new(Open(self.0.open(node, pci)?)))
    }
}

#[test]
fn the_crate_and_the_program_give_the_same_figures_on_every_chip_and_release() {
    // Each chip on one release, each release with a card and an APU.
    let default = KernelRelease::default();
    let chips = amdgpu_sim::profiles().iter().map(|profile| (profile.name.clone(), default));
    let releases =
        KernelRelease::ALL.into_iter().flat_map(|one| [("navi31".to_owned(), one), ("renoir".to_owned(), one)]);
    for (chip, release) in chips.chain(releases) {
        let machine = || Simulated::with_release(&chip, 14, release).unwrap();
        let mut collector = Collector::new(machine(), CollectOptions::default());
        let shown = collector.look().unwrap().unwrap().gpus.remove(0);
        let gpu = amdgpu_pool::look(&Alone(machine()), &amdgpu_pool::Options::default()).unwrap().gpus.remove(0);
        let name = format!("{chip} on Linux {release}");
        assert_eq!((gpu.apu, &gpu.domains, &gpu.effective), (shown.apu, &shown.domains, &shown.effective), "{name}");
        assert_eq!((&gpu.heaps, &gpu.processes), (&shown.heaps, &shown.processes), "{name}");
        assert_eq!((gpu.unattributed, &gpu.cgroup_limit), (shown.unattributed, &shown.cgroup_limit), "{name}");
        let limits: Vec<_> =
            gpu.limits.iter().map(|limit| (limit.name, limit.bytes, limit.state.to_string())).collect();
        let shown_limits = shown.limits.iter().map(|limit| (&*limit.name, limit.bytes, limit.state.clone()));
        assert_eq!((gpu.largest, &limits), (shown.largest, &shown_limits.collect()), "{name}");
        assert!(
            limits.iter().any(|limit| limit.2 == "counts") && shown.largest.accepted.is_some(),
            "{name}: {limits:?}"
        );
        assert!(gpu.effective.available.is_some() && gpu.largest.now <= gpu.effective.available, "{name}: {gpu:?}");
        let available = gpu.effective.available.unwrap();
        assert_eq!(gpu.fits(available).verdict, amdgpu_pool::Verdict::Fits, "{name}");
        assert_ne!(gpu.fits(available + 1).verdict, amdgpu_pool::Verdict::Fits, "{name}");
    }
}

fn facts(is_apu: bool, vram: u64, visible_vram: u64, gtt: u64) -> Option<MemoryFacts> {
    let device = Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").unwrap())).unwrap();
    let raw = RawMemoryFacts::from(device.info());
    MemoryFacts::new(&RawMemoryFacts { has_dedicated_vram: !is_apu, vram, visible_vram, gtt, ..raw }).ok()
}

fn domain(total: u64, used: u64) -> amdgpu_pool::model::Domain {
    amdgpu_pool::model::Domain { total: Some(total), used: Some(used), ..Default::default() }
}

proptest! {
    /// The library computes its heaps for the Vulkan driver; those of the crate are the same, whatever the sizes and usages are.
    #[test]
    fn heaps_and_budgets_are_those_of_the_library(
        is_apu in any::<bool>(),
        (vram, visible, gtt) in (0_u64..1 << 38, 0_u64..1 << 38, 0_u64..1 << 38),
        full in any::<bool>(),
        used in (0_u64..1 << 38, 0_u64..1 << 38, 0_u64..1 << 38),
        own in (0_u64..1 << 37, 0_u64..1 << 37, 0_u64..1 << 37),
    ) {
        let visible = if full || is_apu { vram } else { visible };
        let Some(facts) = facts(is_apu, vram, visible, gtt) else { return Ok(()) };
        let properties = MemoryProperties::new(&facts, &TableOptions::default());
        let usage = heaps::OwnUsage { invisible_vram: own.0, visible_vram: own.1, gtt: own.2 };
        let system = SystemUsage { vram: used.0, visible_vram: used.1, gtt: used.2 };
        let budgets = properties.budgets(&usage, &system, BudgetRule::default());
        let domains = amdgpu_pool::model::Domains {
            vram: domain(vram, used.0),
            visible_vram: domain(visible, used.1),
            gtt: domain(gtt, used.2),
        };
        let own = OwnUsage { invisible_vram: own.0, visible_vram: own.1, gtt: own.2 };
        let found = amdgpu_pool::heaps(is_apu, 4096, &domains, &own).unwrap();
        prop_assert_eq!(found.len(), properties.heaps().len());
        for (heap, (wanted, budget)) in found.iter().zip(properties.heaps().iter().zip(budgets.heaps())) {
            let kind = match wanted.kind {
                HeapKind::InvisibleVram => "invisible_vram",
                HeapKind::Gtt => "gtt",
                HeapKind::VisibleVram => "visible_vram",
            };
            prop_assert_eq!((heap.kind.as_str(), heap.size), (kind, wanted.size));
            prop_assert_eq!((heap.budget, heap.usage), (budget.budget, budget.usage));
            let flags: Vec<_> = wanted.flags.iter_names().map(|(name, _)| name.to_owned()).collect();
            prop_assert_eq!(&heap.flags, &flags);
        }
    }
}
