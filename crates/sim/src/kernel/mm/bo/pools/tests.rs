//! Comparison of the pools with a model that checks every BO for every decision.

use std::collections::BTreeMap;

use amdgpu_hw::GfxLevel;
use proptest::prelude::*;

use super::*;

const VRAM: GemDomain = GemDomain::VRAM;
const GTT: GemDomain = GemDomain::GTT;
/// The number of files with page tables.
const VMS: u64 = 2;

/// Sizes so small that a few BOs fill all heaps. The allowance for moves is never exhausted at this scale.
fn small(is_apu: bool, visible: u64) -> Sizes {
    Sizes { vram: 32, reserved: 2, visible, gtt: 20, system: 24, is_apu, gfx_level: GfxLevel::Gfx10_3 }
}

#[derive(Clone, Debug)]
enum Op {
    Create { bytes: u64, domains: GemDomain, flags: GemCreateFlags, vm: Option<u64> },
    Close { which: usize },
    Submit { vm: u64, which: Vec<usize> },
    Touch { which: usize },
    SetPlacement { which: usize, domains: GemDomain },
}

fn any_op() -> impl Strategy<Value = Op> {
    let domains = || {
        prop::sample::select(vec![
            VRAM,
            VRAM,
            VRAM | GTT,
            GTT,
            GemDomain::CPU,
            GTT | GemDomain::CPU,
            GemDomain::empty(),
        ])
    };
    let flags = prop::sample::select(vec![
        GemCreateFlags::empty(),
        GemCreateFlags::empty(),
        GemCreateFlags::CPU_ACCESS_REQUIRED,
        GemCreateFlags::DISCARDABLE,
    ]);
    prop_oneof![
        6 => (1..12_u64, domains(), flags, prop::option::of(0..VMS))
            .prop_map(|(bytes, domains, flags, vm)| Op::Create { bytes, domains, flags, vm }),
        2 => any::<usize>().prop_map(|which| Op::Close { which }),
        4 => (0..VMS, prop::collection::vec(any::<usize>(), 0..4)).prop_map(|(vm, which)| Op::Submit { vm, which }),
        1 => any::<usize>().prop_map(|which| Op::Touch { which }),
        1 => (any::<usize>(), domains()).prop_map(|(which, domains)| Op::SetPlacement { which, domains }),
    ]
}

/// A BO in the model.
#[derive(Clone, Copy, Debug)]
struct Known {
    place: Placement,
    bytes: u64,
    preferred: GemDomain,
    allowed: GemDomain,
    for_cpu: bool,
    discardable: bool,
    vm: Option<u64>,
    used: u64,
    moved: u64,
    /// `true` after an eviction until the next submission of its address space tries to bring it back, or it is placed otherwise.
    is_missed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Full {
    Vram,
    Visible,
    Gtt,
}

#[derive(Debug)]
struct Model {
    sizes: Sizes,
    bos: BTreeMap<usize, Known>,
    now: u64,
    vms: [u64; VMS as usize],
    moves: Moves,
}

impl Model {
    fn sum(&self, count: impl Fn(&Known) -> u64) -> u64 {
        self.bos.values().map(count).sum()
    }

    /// Returns the bytes in VRAM, in its visible part, in GTT and in system memory.
    fn used(&self) -> [u64; 4] {
        let visible = |bo: &Known| if let Placement::Vram { visible } = bo.place { visible } else { 0 };
        let within = |place: Placement| self.sum(|bo| if bo.place == place { bo.bytes } else { 0 });
        let vram = self.sum(|bo| if matches!(bo.place, Placement::Vram { .. }) { bo.bytes } else { 0 });
        [vram, self.sum(visible), within(Placement::Gtt), within(Placement::System)]
    }

    fn room(&self, bytes: u64, place: Full, for_cpu: bool) -> Option<Placement> {
        let ([vram, visible, gtt, _], sizes) = (self.used(), &self.sizes);
        if place == Full::Gtt {
            return (gtt + bytes <= sizes.gtt).then_some(Placement::Gtt);
        }
        let invisible_room = sizes.vram - sizes.visible - (vram - visible);
        let in_sight = if for_cpu { bytes } else { bytes.saturating_sub(invisible_room) };
        let fits = vram + bytes <= sizes.vram - sizes.reserved && visible + in_sight <= sizes.visible;
        fits.then_some(Placement::Vram { visible: in_sight })
    }

    fn system_room(&self, bytes: u64) -> Option<Placement> {
        (self.used()[3] + bytes <= self.sizes.system).then_some(Placement::System)
    }

    fn refuge(&self, bo: &Known, full: Full) -> Option<Placement> {
        let [vram, visible, ..] = self.used();
        let invisible_room = self.sizes.vram - self.sizes.visible - (vram - visible);
        match full {
            Full::Gtt => self.system_room(bo.bytes),
            _ if bo.discardable => Some(Placement::Nowhere),
            Full::Visible if !bo.for_cpu && invisible_room >= bo.bytes => Some(Placement::Vram { visible: 0 }),
            _ => self.room(bo.bytes, Full::Gtt, false).or_else(|| self.system_room(bo.bytes)),
        }
    }

    /// Evicts the least recently used BO that may be evicted and has room elsewhere.
    fn evict(&mut self, full: Full, since: u64, vm: Option<u64>) -> bool {
        let in_the_way = |place: Placement| match (full, place) {
            (Full::Vram, Placement::Vram { .. }) | (Full::Gtt, Placement::Gtt) => true,
            (Full::Visible, Placement::Vram { visible }) => visible > 0,
            _ => false,
        };
        let last_use = |bo: &Known| bo.used.max(bo.vm.map_or(0, |vm| self.vms[vm as usize]));
        let victim = self
            .bos
            .iter()
            .filter(|(_, bo)| in_the_way(bo.place) && last_use(bo) < since && (bo.vm.is_none() || bo.vm != vm))
            .filter_map(|(&id, bo)| Some((id, bo, self.refuge(bo, full)?)))
            .min_by_key(|(id, bo, _)| (!bo.discardable, last_use(bo).max(bo.moved), *id));
        let Some((id, _, place)) = victim else { return false };
        self.relocate(id, place, true);
        true
    }

    fn relocate(&mut self, id: usize, place: Placement, evicted: bool) {
        self.now += 1;
        let bo = self.bos.get_mut(&id).unwrap();
        let vram = |place| matches!(place, Placement::Vram { .. });
        if bo.place != Placement::Nowhere && place != Placement::Nowhere && (vram(bo.place) || vram(place)) {
            self.moves.bytes += bo.bytes;
            self.moves.evictions += u64::from(evicted);
        }
        (bo.place, bo.moved, bo.is_missed) = (place, self.now, evicted && bo.vm.is_some());
    }

    /// Finds free room, or with `force` evicts others.
    fn find(&mut self, want: Want, force: bool, since: u64, vm: Option<u64>) -> Option<Placement> {
        let Want { bytes, domains, for_cpu, gtt_is_fallback } = want;
        let mut heaps = Vec::new();
        if domains.contains(VRAM) {
            heaps.push(if for_cpu { Full::Visible } else { Full::Vram });
        }
        if domains.contains(GTT) && (force || !gtt_is_fallback) {
            heaps.push(Full::Gtt);
        }
        for heap in heaps {
            loop {
                let room = self.room(bytes, heap, for_cpu);
                if room.is_some() {
                    return room;
                }
                if !force || !self.evict(heap, since, vm) {
                    break;
                }
            }
        }
        if domains.contains(GemDomain::CPU) || domains.is_empty() { self.system_room(bytes) } else { None }
    }

    fn create(&mut self, bytes: u64, domains: GemDomain, flags: GemCreateFlags) -> Option<(Placement, GemDomain)> {
        let for_cpu = flags.contains(GemCreateFlags::CPU_ACCESS_REQUIRED);
        let mut attempts = vec![(domains, for_cpu)];
        if for_cpu {
            attempts.push((domains, false));
        }
        if domains == VRAM {
            attempts.push((VRAM | GTT, false));
        }
        for (domains, for_cpu) in attempts {
            let want = Want { bytes, domains, for_cpu, gtt_is_fallback: false };
            for force in [false, true] {
                if let Some(place) = self.find(want, force, u64::MAX, None) {
                    return Some((place, domains));
                }
            }
        }
        None
    }

    fn is_compatible(&self, bo: &Known, domains: GemDomain, force: bool) -> bool {
        match bo.place {
            Placement::Vram { visible } => domains.contains(VRAM) && (!bo.for_cpu || visible == bo.bytes),
            Placement::Gtt => domains.contains(GTT) && (force || !self.falls_back(bo, domains)),
            Placement::System => domains.contains(GemDomain::CPU) || domains.is_empty(),
            Placement::Nowhere => false,
        }
    }

    fn falls_back(&self, bo: &Known, domains: GemDomain) -> bool {
        !self.sizes.is_apu && domains.contains(VRAM) && bo.preferred.contains(VRAM)
    }

    fn submit(&mut self, vm: u64, listed: &[usize]) -> Result<(), Errno> {
        self.now += 1;
        let since = self.now;
        self.vms[vm as usize] = since;
        for id in listed {
            self.bos.get_mut(id).unwrap().used = since;
        }
        let restless = |id: &usize, force| !self.is_compatible(&self.bos[id], self.bos[id].preferred, force);
        let own = |id: &usize| self.bos[id].vm == Some(vm);
        let always = self.bos.keys().copied().filter(|id| own(id) && (self.bos[id].is_missed || restless(id, true)));
        let also = listed.iter().copied().filter(|id| !own(id) && restless(id, false));
        let all: Vec<usize> = always.chain(also).collect();
        all.iter().try_for_each(|&id| {
            let Known { preferred, allowed, .. } = self.bos[&id];
            self.validate(id, preferred, since, vm)
                .or_else(|errno| if preferred == allowed { Err(errno) } else { self.validate(id, allowed, since, vm) })
        })?;
        for id in all {
            self.bos.get_mut(&id).unwrap().is_missed = false;
        }
        Ok(())
    }

    fn validate(&mut self, id: usize, domains: GemDomain, since: u64, vm: u64) -> Result<(), Errno> {
        for force in [false, true] {
            let bo = self.bos[&id];
            if self.is_compatible(&bo, domains, force) {
                return Ok(());
            }
            let gtt_is_fallback = self.falls_back(&bo, domains);
            let want = Want { bytes: bo.bytes, domains, for_cpu: bo.for_cpu, gtt_is_fallback };
            if let Some(place) = self.find(want, force, since, Some(vm)) {
                self.relocate(id, place, false);
                return Ok(());
            }
        }
        Err(Errno::ENOMEM)
    }

    fn touch(&mut self, id: usize) {
        let bo = self.bos.get_mut(&id).unwrap();
        (bo.for_cpu, bo.is_missed) = (true, false);
        let (place, bytes) = (bo.place, bo.bytes);
        if matches!(place, Placement::Vram { visible } if visible != bytes) {
            self.moves.cpu_page_faults += 1;
            let want = |domains| Want { bytes, domains, for_cpu: true, gtt_is_fallback: false };
            let found =
                self.find(want(VRAM), false, u64::MAX, None).or_else(|| self.find(want(GTT), true, u64::MAX, None));
            if let Some(place) = found {
                self.relocate(id, place, false);
            }
        }
    }
}

/// The pools and the model, with the live BOs.
struct Pair {
    pools: Arc<Pools>,
    model: Model,
    live: Vec<Allocation>,
}

impl Pair {
    fn new(sizes: Sizes) -> Self {
        let pools = Pools { sizes, ..Arc::into_inner(Pools::new(crate::profile("navi21").unwrap())).unwrap() };
        pools.state.lock().budget = budget::Budget::full();
        let model = Model { sizes, bos: BTreeMap::new(), now: 0, vms: [0; VMS as usize], moves: Moves::default() };
        Self { pools: Arc::new(pools), model, live: Vec::new() }
    }

    fn pick(&self, which: usize) -> Option<usize> {
        which.checked_rem(self.live.len())
    }

    fn create(&mut self, bytes: u64, domains: GemDomain, flags: GemCreateFlags, vm: Option<u64>) {
        let reservation = Arc::default();
        let result = self.pools.place(Request { bytes, domains, flags, vm, reservation, payer: None });
        let expected = self.model.create(bytes, domains, flags);
        match (result, expected) {
            (Ok((taken, preferred)), Some((place, expected))) => {
                assert_eq!((taken.residency().unwrap().place, preferred), (place, expected));
                self.model.now += 1;
                let discardable = flags.contains(GemCreateFlags::DISCARDABLE);
                let allowed = allowed(preferred, discardable);
                let (used, moved, for_cpu) = (self.model.now, self.model.now, false);
                let known =
                    Known { place, bytes, preferred, allowed, for_cpu, discardable, vm, used, moved, is_missed: false };
                self.model.bos.insert(taken.id, known);
                self.live.push(taken);
            }
            (Err(errno), None) => assert_eq!(errno, Errno::ENOMEM),
            (result, expected) => panic!("{result:?} where {expected:?} was expected"),
        }
    }

    fn apply(&mut self, op: &Op) {
        match *op {
            Op::Create { bytes, domains, flags, vm } => self.create(bytes, domains, flags, vm),
            Op::Close { which } => {
                if let Some(index) = self.pick(which) {
                    let taken = self.live.swap_remove(index);
                    self.model.bos.remove(&taken.id);
                }
            }
            Op::Submit { vm, ref which } => {
                let mut listed: Vec<usize> = which.iter().filter_map(|&which| self.pick(which)).collect();
                listed.sort_unstable();
                listed.dedup();
                let ids: Vec<usize> = listed.iter().map(|&index| self.live[index].id).collect();
                let result = self.pools.validate(vm, None, listed.iter().map(|&index| &self.live[index])).map(drop);
                assert_eq!(result, self.model.submit(vm, &ids));
            }
            Op::Touch { which } => {
                if let Some(index) = self.pick(which) {
                    self.live[index].fault_in();
                    self.model.touch(self.live[index].id);
                }
            }
            Op::SetPlacement { which, domains } => {
                if let Some(index) = self.pick(which) {
                    let allowed = allowed(domains, false);
                    self.live[index].set_domains(domains, allowed);
                    let known = self.model.bos.get_mut(&self.live[index].id).unwrap();
                    (known.preferred, known.allowed, known.is_missed) = (domains, allowed, false);
                }
            }
        }
    }

    fn compare(&self) {
        for taken in &self.live {
            assert_eq!(taken.residency().unwrap().place, self.model.bos[&taken.id].place, "BO {}", taken.id);
        }
        let (used, sizes) = (self.pools.state.lock().used, &self.pools.sizes);
        assert_eq!([used.vram(), used.visible, used.gtt, used.system], self.model.used());
        assert!(used.vram() <= sizes.vram - sizes.reserved && used.visible <= sizes.visible);
        assert!(used.gtt <= sizes.gtt && used.system <= sizes.system);
        assert_eq!(self.pools.moves(), self.model.moves);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn the_pools_agree_with_a_model_and_end_at_zero(
        is_apu in any::<bool>(),
        visible in prop::sample::select(vec![8_u64, 16, 32]),
        ops in prop::collection::vec(any_op(), 0..60),
    ) {
        let mut pair = Pair::new(small(is_apu, visible));
        for op in &ops {
            pair.apply(op);
            pair.compare();
        }
        pair.live.clear();
        let state = pair.pools.state.lock();
        prop_assert_eq!(state.used, sizes::Used::default());
    }
}
