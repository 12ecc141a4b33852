//! The caches in front of L2: each of them is invalidated between a write and a read of what it had read before.

use std::sync::Arc;

use amdgpu_sim::{
    HazardKind,
    gpu::{Client, Reach, Scene, Shaders, Unfinished, Work},
};
use amdgpu_winsys::{
    cs::pm4::{AcquireMem, CacheActions, EventWrite, Gcr, PfpSyncMe},
    winsys::{GfxLevel, Ip},
};
use parking_lot::Mutex;

use crate::{CHIPS, Rig, start};

/// An access of a shader to the first dword of the rig's memory.
#[derive(Clone, Copy)]
pub(crate) enum Act {
    Load(Client, Reach),
    Store(u32),
    /// Stores to the second dword.
    StoreNext(u32),
    Add(u32),
}

/// A shader executor whose n-th dispatch makes the n-th accesses.
pub(crate) struct Script {
    va: amdgpu_winsys::vamgr::GpuVa,
    acts: Vec<Vec<Act>>,
    next: Mutex<usize>,
    loaded: Arc<Mutex<Vec<u32>>>,
}

impl Script {
    /// Plugs it into a rig. Returns what its dispatches will have loaded.
    pub(crate) fn plug(rig: &Rig, acts: &[&[Act]]) -> Arc<Mutex<Vec<u32>>> {
        let (acts, loaded) = (acts.iter().map(|acts| acts.to_vec()).collect(), Arc::<Mutex<_>>::default());
        let script = Self { va: rig.at(0), acts, next: Mutex::default(), loaded: Arc::clone(&loaded) };
        rig.gpu.plug_shaders(Arc::new(script));
        loaded
    }
}

impl Shaders for Script {
    fn run(&self, work: &Work, scene: &Scene<'_>) -> Result<(), Unfinished> {
        let Work::Dispatch(_) = work else { return Ok(()) };
        let mut next = self.next.lock();
        for act in &self.acts[*next] {
            let mut bytes = [0; 4];
            match *act {
                Act::Load(Client::Instructions, _) => scene.memory.read_code(self.va, &mut bytes).unwrap(),
                Act::Load(client, reach) => {
                    scene.memory.route(client, reach);
                    scene.memory.read(self.va, &mut bytes).unwrap();
                }
                Act::Store(value) => scene.memory.write(self.va, &value.to_le_bytes()).unwrap(),
                Act::StoreNext(value) => {
                    let next = self.va.checked_add(4).unwrap();
                    scene.memory.write(next, &value.to_le_bytes()).unwrap();
                }
                Act::Add(value) => {
                    let _ = scene.memory.update(self.va, 4, &mut |old| old + u64::from(value)).unwrap();
                }
            }
            if let Act::Load(..) = act {
                self.loaded.lock().push(u32::from_le_bytes(bytes));
            }
        }
        *next += 1;
        Ok(())
    }
}

const ALL: CacheActions =
    CacheActions::INVALIDATE_INSTRUCTIONS.union(CacheActions::INVALIDATE_SCALAR).union(CacheActions::INVALIDATE_VECTOR);

const KINDS: [(Client, CacheActions); 3] = [
    (Client::Vector, CacheActions::INVALIDATE_VECTOR),
    (Client::Scalar, CacheActions::INVALIDATE_SCALAR),
    (Client::Instructions, CacheActions::INVALIDATE_INSTRUCTIONS),
];

/// Runs a dispatch that loads, one that stores and one that loads, with these actions before the last one.
fn load_store_load(chip: &str, ip: Ip, client: Client, reach: Reach, actions: CacheActions) -> Rig {
    let rig = Rig::new(chip, ip);
    let load = [Act::Load(client, reach)];
    Script::plug(&rig, &[&load, &[Act::Store(7)], &load]);
    let has_gl1 = (GfxLevel::Gfx10..=GfxLevel::Gfx11_5).contains(&rig.level());
    rig.run(|stream| {
        start(stream);
        start(stream);
        if ip == Ip::Gfx {
            stream.push(&PfpSyncMe).unwrap();
        }
        for mut acquire in AcquireMem::each(rig.target(), actions) {
            // The cache that the test is not about is invalidated in any case.
            if has_gl1 {
                acquire.gcr |= Gcr::GL1_INVALIDATE;
            }
            stream.push(&acquire).unwrap();
        }
        start(stream);
    });
    rig
}

#[test]
fn each_cache_of_shaders_is_invalidated_between_a_store_and_a_load_of_an_old_line() {
    for (chip, ip) in CHIPS.into_iter().flat_map(|chip| [(chip, Ip::Gfx), (chip, Ip::Compute)]) {
        for (client, needed) in KINDS {
            let rig = load_store_load(chip, ip, client, Reach::Unit, ALL);
            assert!(rig.gpu.hazards().is_empty(), "{chip} {ip} {client:?}: {:?}", rig.gpu.hazards());
            // Either of the two invalidates both on GFX6.
            let shared = CacheActions::INVALIDATE_SCALAR | CacheActions::INVALIDATE_INSTRUCTIONS;
            let is_shared = rig.level() == GfxLevel::Gfx6 && needed.intersects(shared);
            let without = ALL - if is_shared { shared } else { needed };
            let rig = load_store_load(chip, ip, client, Reach::Unit, without);
            let report = rig.only();
            assert_eq!((report.kind, report.address), (HazardKind::StaleRead, Some(rig.at(0).as_u64())), "{report}");
            assert!(report.earlier.matches("a shader of DISPATCH_DIRECT").count() == 2, "{report}");
            assert!(report.later.starts_with("a shader of DISPATCH_DIRECT"), "{report}");
            assert!(report.missing.contains("_INV in") || report.missing.contains("_ACTION in"), "{report}");
        }
    }
}

#[test]
fn gl1_is_invalidated_with_the_caches_in_front_of_it_where_there_is_one() {
    for chip in CHIPS {
        for (client, _) in KINDS {
            let run = |gcr: Gcr| {
                let rig = Rig::new(chip, Ip::Compute);
                let load = [Act::Load(client, Reach::Unit)];
                Script::plug(&rig, &[&load, &[Act::Store(7)], &load]);
                rig.run(|stream| {
                    start(stream);
                    start(stream);
                    let all = AcquireMem::all(rig.target(), ALL);
                    stream.push(&AcquireMem { gcr: all.gcr & gcr, ..all }).unwrap();
                    start(stream);
                });
                rig
            };
            let rig = run(Gcr::all());
            assert!(rig.gpu.hazards().is_empty(), "{chip} {client:?}: {:?}", rig.gpu.hazards());
            let rig = run(!Gcr::GL1_INVALIDATE);
            if (GfxLevel::Gfx10..=GfxLevel::Gfx11_5).contains(&rig.level()) {
                let report = rig.only();
                assert_eq!(report.kind, HazardKind::StaleRead, "{report}");
                assert!(report.earlier.contains("in GL1") && report.missing.starts_with("GL1_INV"), "{report}");
            } else {
                assert!(rig.gpu.hazards().is_empty(), "{chip} {client:?}: {:?}", rig.gpu.hazards());
            }
        }
    }
}

#[test]
fn the_cache_of_metadata_is_invalidated_between_a_store_and_a_look_at_an_old_line() {
    for (chip, ip) in CHIPS.into_iter().flat_map(|chip| [(chip, Ip::Gfx), (chip, Ip::Compute)]) {
        let run = |actions: CacheActions| load_store_load(chip, ip, Client::Vector, Reach::Metadata, actions);
        for needed in [CacheActions::INVALIDATE_L2_METADATA, CacheActions::INVALIDATE_L2] {
            let rig = run(ALL | needed);
            assert!(rig.gpu.hazards().is_empty(), "{chip} {ip} {needed:?}: {:?}", rig.gpu.hazards());
        }
        let rig = run(ALL);
        if (GfxLevel::Gfx9..=GfxLevel::Gfx11_5).contains(&rig.level()) {
            let report = rig.only();
            assert_eq!((report.kind, report.address), (HazardKind::StaleRead, Some(rig.at(0).as_u64())), "{report}");
            assert!(report.missing.contains("GLM_INV") || report.missing.contains("TC_MD_ACTION"), "{report}");
        } else {
            assert!(rig.gpu.hazards().is_empty(), "{chip} {ip}: {:?}", rig.gpu.hazards());
        }
    }
}

#[test]
fn a_job_finds_no_metadata_that_the_one_before_has_looked_at() {
    for (chip, ip) in CHIPS.into_iter().flat_map(|chip| [(chip, Ip::Gfx), (chip, Ip::Compute)]) {
        let rig = Rig::new(chip, ip);
        let load = [Act::Load(Client::Vector, Reach::Metadata)];
        Script::plug(&rig, &[&load, &[Act::Store(7)], &load]);
        for _ in 0..3 {
            rig.run(|stream| {
                stream.push(&AcquireMem::all(rig.target(), ALL)).unwrap();
                start(stream);
            });
        }
        assert!(rig.gpu.hazards().is_empty(), "{chip} {ip}: {:?}", rig.gpu.hazards());
    }
}

#[test]
fn loads_of_device_scope_find_what_was_stored_and_those_of_an_array_do_not_on_gfx10() {
    for chip in CHIPS {
        for client in [Client::Vector, Client::Scalar] {
            for reach in [Reach::Device, Reach::System, Reach::Private] {
                let rig = load_store_load(chip, Ip::Compute, client, reach, CacheActions::WRITE_BACK_L2);
                assert!(rig.gpu.hazards().is_empty(), "{chip} {client:?} {reach:?}: {:?}", rig.gpu.hazards());
            }
        }
        let rig = Rig::new(chip, Ip::Compute);
        let load = [Act::Load(Client::Vector, Reach::Array)];
        Script::plug(&rig, &[&load, &[Act::Store(7)], &load]);
        rig.run(|stream| (0..3).for_each(|_| start(stream)));
        let has_gl1 = (GfxLevel::Gfx10..=GfxLevel::Gfx11_5).contains(&rig.level());
        assert_eq!(rig.gpu.hazards().len(), usize::from(has_gl1), "{chip}: {:?}", rig.gpu.hazards());
    }
}

#[test]
fn a_shader_finds_its_own_stores_and_a_later_one_may_not() {
    let load = Act::Load(Client::Vector, Reach::Unit);
    for chip in CHIPS {
        let rig = Rig::new(chip, Ip::Compute);
        Script::plug(&rig, &[&[load], &[load, Act::Store(7), load]]);
        rig.run(|stream| (0..2).for_each(|_| start(stream)));
        assert!(rig.gpu.hazards().is_empty(), "{chip}: {:?}", rig.gpu.hazards());
        let rig = Rig::new(chip, Ip::Compute);
        Script::plug(&rig, &[&[load], &[load, Act::Store(7), load], &[load]]);
        rig.run(|stream| (0..3).for_each(|_| start(stream)));
        assert_eq!(rig.only().kind, HazardKind::StaleRead, "{chip}");
    }
}

#[test]
fn atomic_operations_and_stores_of_equal_values_are_no_hazard() {
    let load = Act::Load(Client::Vector, Reach::Unit);
    for chip in CHIPS {
        for acts in [[load, Act::Store(0), load], [Act::Add(1), Act::Add(1), Act::Add(1)]] {
            let rig = Rig::new(chip, Ip::Compute);
            Script::plug(&rig, &[&acts[..1], &acts[1..2], &acts[2..]]);
            rig.run(|stream| (0..3).for_each(|_| start(stream)));
            assert!(rig.gpu.hazards().is_empty(), "{chip}: {:?}", rig.gpu.hazards());
        }
    }
}

#[test]
fn from_gfx10_on_a_job_starts_with_empty_caches_of_shaders_and_before_only_the_vector_cache_is_empty() {
    for chip in CHIPS {
        for (client, needed) in KINDS {
            let run = |acquires: bool| {
                let rig = Rig::new(chip, Ip::Compute);
                let load = [Act::Load(client, Reach::Unit)];
                Script::plug(&rig, &[&load, &load]);
                for value in [1, 2] {
                    rig.poke(0, value);
                    rig.run(|stream| {
                        let actions =
                            if acquires { needed | CacheActions::INVALIDATE_L2 } else { CacheActions::INVALIDATE_L2 };
                        // The invalidation of L2 includes the vector caches up to GFX9, as in RADV.
                        stream.push(&AcquireMem::all(rig.target(), actions)).unwrap();
                        start(stream);
                    });
                }
                rig.kinds()
            };
            let is_kept = match Rig::new(chip, Ip::Compute).level() {
                GfxLevel::Gfx7 | GfxLevel::Gfx8 | GfxLevel::Gfx9 => client != Client::Vector,
                _ => false,
            };
            let expected = if is_kept { vec![HazardKind::StaleRead] } else { vec![] };
            assert_eq!((run(false), run(true)), (expected, vec![]), "{chip} {client:?}");
        }
    }
}

#[test]
fn a_flush_of_shaders_invalidates_nothing() {
    let rig = load_store_load("polaris10", Ip::Compute, Client::Vector, Reach::Unit, CacheActions::empty());
    assert_eq!(rig.only().kind, HazardKind::StaleRead);
    let rig = Rig::new("polaris10", Ip::Compute);
    let load = [Act::Load(Client::Vector, Reach::Unit)];
    Script::plug(&rig, &[&load, &[Act::Store(7)], &load]);
    rig.run(|stream| {
        (0..2).for_each(|_| start(stream));
        stream.push(&AcquireMem::all(rig.target(), CacheActions::INVALIDATE_VECTOR)).unwrap();
        stream.push(&EventWrite::new(amdgpu_winsys::cs::pm4::Event::CS_PARTIAL_FLUSH)).unwrap();
        start(stream);
    });
    assert!(rig.gpu.hazards().is_empty(), "{:?}", rig.gpu.hazards());
}
