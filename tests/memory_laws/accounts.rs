//! Every BO is charged once, to the account it is taken off again.
#![expect(unsafe_code, reason = "user memory")]

use std::num::NonZeroUsize;

use amdgpu_winsys::{
    cs::{Stream, pm4},
    heaps::{Account, AllocateInfo, MemoryPropertyFlags, OwnUsage},
    winsys::{Bo, UserMemory},
};
use nix::sys::mman::{MapFlags, ProtFlags, mmap_anonymous, munmap};

use crate::rig::{MIB, PAGE, Rig, gtt, memory_type, shared, vram};

const NOTHING: OwnUsage = OwnUsage { invisible_vram: 0, visible_vram: 0, gtt: 0 };

/// W-08: RADV adds imported VRAM to the counter of the invisible part and takes it off that of the visible part when it
/// is freed, which wraps below zero.
#[test]
fn imported_vram_is_taken_off_the_account_it_was_charged_to() {
    let home = Rig::new("navi21");
    let abroad = home.beside();
    let manager = home.manager();
    let local_and_visible = MemoryPropertyFlags::DEVICE_LOCAL | MemoryPropertyFlags::HOST_VISIBLE;
    for required in [MemoryPropertyFlags::DEVICE_LOCAL, local_and_visible] {
        let info = shared(AllocateInfo::new(memory_type(&manager, required), MIB));
        let memory = manager.allocate(&info).unwrap();
        let imported = Bo::import(&abroad.device, memory.bo().export().unwrap()).unwrap();
        let charged = memory.charge().map(|charge| (charge.account(), charge.bytes()));
        assert_eq!(imported.charge().map(|charge| (charge.account(), charge.bytes())), charged);
        assert_eq!(abroad.device.usage_tracker().usage(), home.device.usage_tracker().usage());
        // In either order, nothing is left and nothing wraps.
        drop(memory);
        assert_eq!(
            (home.device.usage_tracker().usage(), abroad.device.usage_tracker().usage().total()),
            (NOTHING, MIB)
        );
        drop(imported);
        assert_eq!(abroad.device.usage_tracker().usage(), NOTHING);
    }
}

/// W-09: RADV charges an import that the kernel may place in VRAM or GTT to both, and each import of the same BO again.
#[test]
fn an_import_that_may_be_in_vram_or_gtt_is_charged_once() {
    let home = Rig::new("navi21");
    let abroad = home.beside();
    let manager = home.manager();
    let memory = manager.allocate(&shared(vram(&manager, MIB))).unwrap();
    let file = memory.bo().export().unwrap();
    let first = Bo::import(&abroad.device, &file).unwrap();
    let second = Bo::import(&abroad.device, &file).unwrap();
    let again = Bo::import(&home.device, &file).unwrap();
    assert_eq!((first.handle(), memory.bo().handle()), (second.handle(), again.handle()));
    for device in [&home.device, &abroad.device] {
        assert_eq!(device.usage_tracker().usage().total(), MIB, "one BO, one charge");
    }
    drop((first, memory));
    for device in [&home.device, &abroad.device] {
        assert_eq!(device.usage_tracker().usage().total(), MIB, "the other owner still holds it");
    }
    drop((second, again));
    assert_eq!((home.device.usage_tracker().usage(), abroad.device.usage_tracker().usage()), (NOTHING, NOTHING));
}

/// W-14: RADV's check against overallocation counts what vkAllocateMemory made, and nothing else.
#[test]
fn the_librarys_own_bos_imports_and_user_memory_are_on_the_same_ledger() {
    let rig = Rig::new("navi21");
    let usage = || rig.device.usage_tracker().usage();
    let all_is_counted = || assert_eq!(usage().total(), rig.kernel.inner().census().handle_bytes);
    let stream = Stream::new(&rig.device, pm4::Target::gfx(rig.device.info().gfx_level), 1024).unwrap();
    assert!(usage().total() >= 4096, "the stream's IB");
    all_is_counted();
    let len = NonZeroUsize::new(16 * PAGE as usize).unwrap();
    // SAFETY: a new anonymous mapping replaces no other.
    let pages = unsafe { mmap_anonymous(None, len, ProtFlags::all() - ProtFlags::PROT_EXEC, MapFlags::MAP_PRIVATE) };
    let pages = pages.unwrap();
    let before = usage().gtt;
    // SAFETY: no other code knows the pages, the GPU is given no work with them, and they stay mapped for longer.
    let bo = unsafe { Bo::from_user_memory(&rig.device, UserMemory::new(pages.cast(), 16 * PAGE)) }.unwrap();
    assert_eq!(bo.charge().map(|charge| (charge.account(), charge.bytes())), Some((Account::Gtt, 16 * PAGE)));
    assert_eq!(usage().gtt, before + 16 * PAGE);
    all_is_counted();
    drop((bo, stream));
    // SAFETY: the pages were mapped above, with this length, and nothing uses them any more.
    unsafe { munmap(pages, len.get()) }.unwrap();
    assert_eq!(usage(), NOTHING);
}

/// Rows 38 and 42: what is always valid is known as such, and only that.
#[test]
fn the_always_valid_part_is_what_cannot_be_shared() {
    let rig = Rig::new("navi21");
    let manager = rig.manager();
    let own = manager.allocate(&gtt(&manager, MIB)).unwrap();
    let other = manager.allocate(&shared(gtt(&manager, 2 * MIB))).unwrap();
    let ledger = manager.usage_tracker().clone();
    assert_eq!((ledger.usage().gtt, ledger.always_valid().gtt), (3 * MIB, MIB));
    drop(own);
    assert_eq!((ledger.usage().gtt, ledger.always_valid().gtt), (2 * MIB, 0));
    drop(other);
    assert_eq!((ledger.usage(), ledger.always_valid()), (NOTHING, NOTHING));
}
