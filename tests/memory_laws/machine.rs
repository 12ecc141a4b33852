//! A driver's life by chance, against a model that only counts.
//!
//! Two processes share a GPU. One of them allocates, maps, shares, binds sparsely and frees, in any order, while calls of
//! its kernel fail; the other imports. After every step, what both kernels hold, what both ledgers say, the leased
//! addresses and the live objects of the GPU are those that the model counts; at the end there is nothing.
//!
//! Now and then the driver forks. The child has a copy of everything, the simulated GPU included, and shares with its parent
//! only what processes share: descriptors and the BOs' memory. It gives everything back, finds its own books right, and
//! leaves; its parent notices nothing. (Forks on a GPU that stays one are among the tests of the preload library.)
#![expect(unsafe_code, reason = "fork")]

use std::{
    collections::BTreeMap,
    os::fd::OwnedFd,
    panic::{AssertUnwindSafe, catch_unwind},
};

use amdgpu_sim::Census;
use amdgpu_winsys::{
    heaps::{AllocateFlags, AllocateInfo, Backing, BudgetRule, DeviceMemory, MemoryManager, SparseBind, SparseRange},
    vamgr::VaRequest,
    winsys::{Bo, Device, Errno},
};
use nix::{
    sys::wait::{WaitStatus, waitpid},
    unistd::ForkResult,
};
use proptest::{collection::vec, prelude::*, sample::Index};

use crate::rig::{PAGE, Rig};

/// Pages of the sparse range.
const SPARSE: u64 = 32;

#[derive(Clone, Debug)]
enum Op {
    Allocate { ty: Index, pages: u64, shared: bool },
    Free(Index),
    Map(Index),
    Unmap(Index),
    Export(Index),
    Close(Index),
    Import { file: Index, abroad: bool },
    Forget(Index),
    Bind { memory: Index, page: u64, pages: u64 },
    Unbind { page: u64, pages: u64 },
    Fork,
}

/// An operation, and the call of the kernel that fails during it.
type Step = (Op, Option<(u64, Errno)>);

fn any_step() -> impl Strategy<Value = Step> {
    let index = any::<Index>;
    let part = || (0..SPARSE, 1..SPARSE);
    let op = prop_oneof![
        4 => (index(), 1..9_u64, any::<bool>()).prop_map(|(ty, pages, shared)| Op::Allocate { ty, pages, shared }),
        3 => index().prop_map(Op::Free),
        2 => index().prop_map(Op::Map),
        1 => index().prop_map(Op::Unmap),
        2 => index().prop_map(Op::Export),
        1 => index().prop_map(Op::Close),
        3 => (index(), any::<bool>()).prop_map(|(file, abroad)| Op::Import { file, abroad }),
        2 => index().prop_map(Op::Forget),
        3 => (index(), part()).prop_map(|(memory, (page, pages))| Op::Bind { memory, page, pages }),
        1 => part().prop_map(|(page, pages)| Op::Unbind { page, pages }),
        1 => Just(Op::Fork),
    ];
    let failure = (0..4_u64, prop::sample::select(vec![Errno::ENOMEM, Errno::EIO, Errno::EMFILE]));
    (op, prop::option::weighted(0.3, failure))
}

/// A BO as the model sees it: who holds it, by count.
#[derive(Clone, Debug, Default)]
struct Object {
    size: u64,
    guard: u64,
    is_always_valid: bool,
    memory: bool,
    mapped: bool,
    /// Imports at home and abroad.
    imports: [u64; 2],
    files: u64,
    /// Exports so far; `files` of them are still open.
    exports: u64,
}

/// The model: objects by number, and which one is bound at each page of the sparse range.
struct Model {
    objects: BTreeMap<u32, Object>,
    sparse: [Option<u32>; SPARSE as usize],
}

/// Figures that can be compared.
#[derive(Debug, PartialEq, Eq)]
struct Books {
    home: Census,
    abroad: Census,
    own: [u64; 2],
    always_valid: u64,
    leased: u64,
    objects: usize,
    budget_usage: u64,
}

impl Model {
    fn is_bound(&self, id: u32, object: &Object) -> bool {
        object.memory || self.sparse.contains(&Some(id))
    }

    fn books(&self) -> Books {
        let mut home = Census { bound_bytes: SPARSE * PAGE, ..Census::default() };
        let mut abroad = Census::default();
        let (mut always_valid, mut leased, mut objects) = (0, SPARSE * PAGE, 0);
        for (&id, object) in &self.objects {
            let (is_bound, size) = (self.is_bound(id, object), object.size);
            let here = is_bound || object.imports[0] > 0;
            for (census, is_there) in [(&mut home, here), (&mut abroad, object.imports[1] > 0)] {
                census.handles += usize::from(is_there);
                census.handle_bytes += u64::from(is_there) * size;
            }
            if is_bound {
                home.bound_bytes += size + object.guard;
                leased += size + object.guard;
            }
            if object.mapped {
                home.mappings += 1;
                home.mapped_bytes += size;
            }
            always_valid += u64::from(here && object.is_always_valid) * size;
            objects += usize::from(here || object.imports[1] > 0 || object.files > 0);
        }
        let own = [home.handle_bytes, abroad.handle_bytes];
        Books { home, abroad, own, always_valid, leased, objects, budget_usage: own[0] }
    }
}

/// The library, doing what the model counts. Fields drop in any order: each keeps alive what it needs.
struct Driver {
    rig: Rig,
    other: Rig,
    manager: MemoryManager,
    memories: Vec<(u32, DeviceMemory)>,
    files: Vec<(u32, OwnedFd)>,
    imports: Vec<(u32, usize, Bo)>,
    sparse: SparseRange,
    model: Model,
    next: u32,
}

fn pick<T>(list: &[T], index: Index) -> Option<usize> {
    (!list.is_empty()).then(|| index.index(list.len()))
}

impl Driver {
    fn new(chip: &str) -> Self {
        let rig = Rig::new(chip);
        let sparse = SparseRange::new(&rig.device, VaRequest::new(SPARSE * PAGE)).unwrap();
        let model = Model { objects: BTreeMap::new(), sparse: [None; SPARSE as usize] };
        let (other, manager) = (rig.beside(), rig.manager());
        let (memories, files, imports) = Default::default();
        Self { rig, other, manager, memories, files, imports, sparse, model, next: 0 }
    }

    fn books(&self) -> Books {
        // How the kernel cuts the sparse range up is its own business.
        let census = |rig: &Rig| Census { bindings: 0, ..rig.kernel.inner().census() };
        let own = |device: &Device| device.usage_tracker().usage().total();
        let budgets = self.manager.cached_budgets(BudgetRule::Corrected).unwrap();
        Books {
            home: census(&self.rig),
            abroad: census(&self.other),
            own: [own(&self.rig.device), own(&self.other.device)],
            always_valid: self.manager.usage_tracker().always_valid().total(),
            leased: self.rig.device.addresses().leased_bytes(),
            objects: self.rig.gpu.census().bos,
            budget_usage: budgets.heaps().iter().map(|heap| heap.usage).sum(),
        }
    }

    fn object(&mut self, id: u32) -> &mut Object {
        self.model.objects.get_mut(&id).expect("the model knows every object")
    }

    /// Does an operation on both sides; false if it was refused.
    fn run(&mut self, op: &Op) -> bool {
        match *op {
            Op::Allocate { ty, pages, shared } => self.allocate(ty, pages, shared),
            Op::Free(index) => {
                let Some(index) = pick(&self.memories, index) else { return true };
                let (id, memory) = self.memories.swap_remove(index);
                drop(memory);
                let object = self.object(id);
                (object.memory, object.mapped) = (false, false);
                true
            }
            Op::Map(index) => {
                let Some(index) = pick(&self.memories, index) else { return true };
                let (id, memory) = &mut self.memories[index];
                let (id, done) = (*id, memory.map().is_ok());
                self.object(id).mapped |= done;
                done
            }
            Op::Unmap(index) => {
                let Some(index) = pick(&self.memories, index) else { return true };
                let (id, memory) = &mut self.memories[index];
                memory.unmap();
                let id = *id;
                self.object(id).mapped = false;
                true
            }
            Op::Export(index) => {
                let Some(index) = pick(&self.memories, index) else { return true };
                let (id, memory) = &self.memories[index];
                let (id, Ok(file)) = (*id, memory.bo().export()) else { return false };
                self.files.push((id, file));
                let object = self.object(id);
                (object.files, object.exports) = (object.files + 1, object.exports + 1);
                true
            }
            Op::Close(index) => {
                let Some(index) = pick(&self.files, index) else { return true };
                let (id, file) = self.files.swap_remove(index);
                drop(file);
                self.object(id).files -= 1;
                true
            }
            Op::Import { file, abroad } => {
                let Some(index) = pick(&self.files, file) else { return true };
                let device = if abroad { &self.other.device } else { &self.rig.device };
                let (id, Ok(bo)) = (self.files[index].0, Bo::import(device, &self.files[index].1)) else {
                    return false;
                };
                self.imports.push((id, usize::from(abroad), bo));
                self.object(id).imports[usize::from(abroad)] += 1;
                true
            }
            Op::Forget(index) => {
                let Some(index) = pick(&self.imports, index) else { return true };
                let (id, place, bo) = self.imports.swap_remove(index);
                drop(bo);
                self.object(id).imports[place] -= 1;
                true
            }
            Op::Bind { memory, page, pages } => {
                let Some(index) = pick(&self.memories, memory) else { return true };
                let (id, memory) = &self.memories[index];
                let (id, size) = (*id, memory.size());
                let backing = Backing { memory: memory.binding().clone(), offset: 0 };
                self.rebind(page, pages.min(size / PAGE), Some((id, backing)))
            }
            Op::Unbind { page, pages } => self.rebind(page, pages, None),
            Op::Fork => {
                self.fork();
                true
            }
        }
    }

    /// A child that gives back all it has, and leaves without a word.
    fn fork(&mut self) {
        for (id, memory) in &self.memories {
            memory.mapping().inspect(|mapping| mapping.store_u32(0, *id).unwrap());
        }
        // SAFETY: the child goes on with this thread alone. What it calls takes no lock that another thread of a test may
        // hold but the allocator's, which fork keeps in order (glibc, `fork`), and it ends in `_exit`.
        match unsafe { nix::unistd::fork() }.unwrap() {
            ForkResult::Child => {
                let is_right = catch_unwind(AssertUnwindSafe(|| self.give_everything_back())).unwrap_or(false);
                // SAFETY: nothing of the parent's is flushed or dropped twice.
                unsafe { libc::_exit(i32::from(!is_right)) }
            }
            ForkResult::Parent { child } => assert_eq!(waitpid(child, None), Ok(WaitStatus::Exited(child, 0))),
        }
        for (id, memory) in &self.memories {
            let word = memory.mapping().map(|mapping| mapping.load_u32(0).unwrap());
            assert!(word.is_none_or(|word| word == *id), "the child's end took {id}'s contents along");
        }
    }

    /// Returns `true` if nothing is left then.
    fn give_everything_back(&mut self) -> bool {
        self.rig.kernel.stop();
        // A dma-buf is one open file, which the parent's copy of the simulated kernel has too: that keeps the BO.
        let kept = self.model.objects.values().filter(|object| object.exports > 0).count();
        let is_unbound = self.rebind(0, SPARSE, None);
        self.memories.clear();
        self.imports.clear();
        self.files.clear();
        let census = self.rig.kernel.inner().census();
        let own = [&self.rig, &self.other].map(|rig| rig.device.usage_tracker().usage().total());
        let is_gone = census.handles == 0 && census.mappings == 0 && self.rig.gpu.census().bos <= kept;
        is_unbound && own == [0, 0] && is_gone
    }

    fn allocate(&mut self, ty: Index, pages: u64, shared: bool) -> bool {
        let memory_type = ty.index(self.manager.properties().types().len()) as u32;
        let mut info = AllocateInfo::new(memory_type, pages * PAGE);
        info.flags.set(AllocateFlags::EXPORTABLE, shared);
        let Ok(memory) = self.manager.allocate(&info) else { return false };
        let id = self.next;
        self.next += 1;
        let guard = if memory.binding().has_guard_page() { PAGE } else { 0 };
        let object = Object { size: pages * PAGE, guard, is_always_valid: !shared, memory: true, ..Object::default() };
        self.model.objects.insert(id, object);
        self.memories.push((id, memory));
        true
    }

    fn rebind(&mut self, page: u64, pages: u64, what: Option<(u32, Backing)>) -> bool {
        let pages = pages.min(SPARSE - page);
        let (id, backing) = what.unzip();
        let change = SparseBind { offset: page * PAGE, len: pages * PAGE, backing };
        let done = self.sparse.bind(&[change]).is_ok();
        if done {
            self.model.sparse[page as usize..(page + pages) as usize].fill(id);
        }
        done
    }

    /// Returns `true` if a refusal is in the nature of the operation, and no failure of the kernel.
    fn may_refuse(&self, op: &Op) -> bool {
        let of = |index: &Index| pick(&self.memories, *index).map(|index| &self.memories[index].1);
        match op {
            Op::Map(index) => of(index).is_some_and(|memory| {
                let ty = &self.manager.properties().types()[memory.memory_type() as usize];
                !ty.properties.contains(amdgpu_winsys::heaps::MemoryPropertyFlags::HOST_VISIBLE)
            }),
            Op::Export(index) => of(index).is_some_and(|memory| {
                memory.bo().flags().contains(amdgpu_winsys::uapi::GemCreateFlags::VM_ALWAYS_VALID)
            }),
            _ => false,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn whatever_a_driver_does_and_whatever_fails_the_books_are_right(
        chip in prop::sample::select(vec!["navi21", "vega10", "polaris10", "renoir"]),
        steps in vec(any_step(), 1..80),
    ) {
        let mut driver = Driver::new(chip);
        prop_assert_eq!(driver.books(), driver.model.books());
        for (op, failure) in &steps {
            let may_refuse = driver.may_refuse(op);
            // Budgets are asked for outside, so that the failing call is one of the operation's.
            if let &Some((n, errno)) = failure {
                driver.rig.kernel.fail_nth(n, errno);
            }
            let done = driver.run(op);
            let has_failed = driver.rig.kernel.has_fired();
            driver.rig.kernel.stop();
            prop_assert!(done || may_refuse || has_failed, "{:?} was refused for no reason", op);
            prop_assert_eq!(driver.books(), driver.model.books(), "after {:?}, failing {:?}", op, failure);
        }
        let Driver { rig, other, manager, memories, files, imports, sparse, .. } = driver;
        drop((memories, files, imports, sparse));
        for rig in [&rig, &other] {
            prop_assert_eq!(rig.kernel.inner().census(), Census::default());
            prop_assert_eq!(rig.device.usage_tracker().usage().total(), 0);
            prop_assert_eq!(rig.device.addresses().leased_bytes(), 0);
        }
        prop_assert_eq!(rig.gpu.census().bos, 0);
        prop_assert_eq!(manager.usage_tracker().always_valid().total(), 0);
    }
}
