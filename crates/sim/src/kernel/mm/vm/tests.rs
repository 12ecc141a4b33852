//! Comparison of the address space with a model that stores each page.

use std::collections::BTreeMap;

use amdgpu_uapi::{DevInfo, GemCreateFlags, GemDomain};
use proptest::prelude::*;

use super::*;
use crate::kernel::mm::bo::{Attributes, Identity, New, Offsets, Pools};

/// The number of pages that operations use, from [`FIRST`] on.
const PAGES: u64 = 24;
const FIRST: u64 = 0x100;
const BOS: usize = 3;

#[derive(Clone, Debug)]
enum Op {
    Map {
        first: u64,
        count: u64,
        bo: Option<usize>,
        offset: u64,
    },
    Unmap {
        first: u64,
        bo: Option<usize>,
    },
    Clear {
        first: u64,
        count: u64,
    },
    Forget {
        bo: usize,
    },
    /// A submission takes the table, which later operations must not change.
    Snapshot,
}

fn any_op() -> impl Strategy<Value = Op> {
    let bo = || proptest::option::of(0..BOS);
    prop_oneof![
        4 => (0..PAGES, 1..8_u64, bo(), 0..4_u64)
            .prop_map(|(first, count, bo, offset)| Op::Map { first, count, bo, offset }),
        2 => (0..PAGES, bo()).prop_map(|(first, bo)| Op::Unmap { first, bo }),
        2 => (0..PAGES, 1..8_u64).prop_map(|(first, count)| Op::Clear { first, count }),
        1 => (0..BOS).prop_map(|bo| Op::Forget { bo }),
        1 => Just(Op::Snapshot),
    ]
}

/// The mapping of a page: the first page of the mapping, the BO, and the BO's page.
type Page = (u64, Option<usize>, u64);

#[derive(Clone, Debug, Default)]
struct Model(BTreeMap<u64, Page>);

impl Model {
    /// Applies an operation to the pages and returns the expected result.
    fn apply(&mut self, op: &Op) -> Result<(), Errno> {
        match *op {
            Op::Map { first, count, bo, offset } => {
                if (first..first + count).any(|page| self.0.contains_key(&page)) {
                    return Err(Errno::EINVAL);
                }
                self.0.extend((0..count).map(|page| (first + page, (first, bo, offset + page))));
            }
            Op::Unmap { first, bo } => {
                if self.0.get(&first).is_none_or(|&(start, bound, _)| start != first || bound != bo) {
                    return Err(Errno::ENOENT);
                }
                self.0.retain(|_, &mut (start, ..)| start != first);
            }
            Op::Clear { first, count } => {
                let end = first + count;
                self.0.retain(|page, _| !(first..end).contains(page));
                // A mapping that begins before and continues after the range becomes a separate mapping there.
                for (_, (start, ..)) in self.0.range_mut(end..).filter(|&(_, &mut (start, ..))| start < end) {
                    *start = end;
                }
            }
            Op::Forget { bo } => self.0.retain(|_, &mut (_, bound, _)| bound != Some(bo)),
            Op::Snapshot => {}
        }
        Ok(())
    }

    fn bindings(&self) -> usize {
        self.0.iter().filter(|&(&page, &(start, ..))| page == start).count()
    }
}

/// Returns the table page by page.
fn pages_of(table: &Table, bos: &[Arc<Bo>]) -> BTreeMap<u64, Page> {
    let name = |bo: &Arc<Bo>| bos.iter().position(|known| Arc::ptr_eq(known, bo)).expect("a BO of the test");
    let pages = |(&first, bound): (&u64, &Arc<Bound>)| {
        let bo = bound.bo.as_ref().map(name);
        let start = first - FIRST;
        (0..bound.pages).map(|page| (start + page, (start, bo, bound.bo_page + page))).collect::<Vec<_>>()
    };
    table.iter().flat_map(pages).collect()
}

fn bo(pools: &Arc<Pools>, offsets: &Arc<Offsets<Bo>>) -> Arc<Bo> {
    let (preferred, allowed, flags) = (GemDomain::GTT, GemDomain::GTT, GemCreateFlags::empty());
    let attributes = Attributes { size: 16 * PAGE, alignment: 0, preferred, allowed, flags };
    let reservation = Arc::default();
    Bo::create(New {
        identity: Identity::new(attributes, offsets),
        offsets: Arc::clone(offsets),
        allocation: pools.take_user(16 * PAGE, &reservation).expect("an empty device has room"),
        user_pages: None,
        reservation,
    })
}

fn apply(vm: &mut Vm, op: &Op, bos: &[Arc<Bo>]) -> Result<(), Errno> {
    let at = |first: u64, count: u64| Pages { first: FIRST + first, count };
    match *op {
        Op::Map { first, count, bo, offset } => {
            vm.map(at(first, count), bo.map(|bo| Arc::clone(&bos[bo])), offset * PAGE, VaFlags::READABLE)
        }
        Op::Unmap { first, bo } => vm.unmap((FIRST + first) * PAGE, bo.map(|bo| &bos[bo])),
        Op::Clear { first, count } => {
            vm.clear(at(first, count));
            Ok(())
        }
        Op::Forget { bo } => {
            vm.forget(&bos[bo]);
            Ok(())
        }
        Op::Snapshot => Ok(()),
    }
}

proptest! {
    #[test]
    fn the_address_space_agrees_with_a_model_of_single_pages(ops in prop::collection::vec(any_op(), 0..60)) {
        let pools = Pools::new(crate::profile("navi21").expect("a chip"));
        let offsets = Arc::default();
        let bos: Vec<_> = (0..BOS).map(|_| bo(&pools, &offsets)).collect();
        let info = DevInfo { virtual_address_max: 1 << 47, ..DevInfo::ZEROED };
        let (mut vm, mut model) = (Vm::new(&info), Model::default());
        let mut snapshots = Vec::new();
        for op in &ops {
            prop_assert_eq!(apply(&mut vm, op, &bos), model.apply(op), "{:?}", op);
            prop_assert_eq!(&pages_of(&vm.snapshot(), &bos), &model.0, "{:?}", op);
            prop_assert_eq!(vm.census(), (model.bindings(), model.0.len() as u64 * PAGE));
            if matches!(op, Op::Snapshot) {
                snapshots.push((vm.snapshot(), model.clone()));
            }
        }
        for (table, then) in &snapshots {
            prop_assert_eq!(&pages_of(table, &bos), &then.0, "what a submission saw stays");
        }
        for bo in &bos {
            vm.forget(bo);
        }
        prop_assert!(vm.known.is_empty());
        prop_assert!(vm.table.values().all(|bound| bound.bo.is_none()));
    }
}
