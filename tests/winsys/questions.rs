//! Questions to the kernel about its own state: each has its number, and is answered in full.

use amdgpu_sim::{SimDevice, SimOptions};
use amdgpu_winsys::{
    uapi::{DevInfo, query},
    winsys::{Device, Errno, Error, MoveCounters, SystemUsage},
};

use crate::{
    listener::{Change, Listener},
    support::{chip, device},
};

/// A device that answers every dword of a query with this.
fn answering(query: u32, dword: u32) -> Device {
    let gpu = SimDevice::new(chip("navi21"), SimOptions::default());
    Device::new(Listener::changing(&gpu, query, Change::Dwords(dword)).0).unwrap()
}

/// A count, by its name in the kernel's header.
type Count = (u32, fn(&Device) -> Result<u64, Error>);

#[test]
fn each_count_is_that_of_its_own_number() {
    let counts: [Count; 8] = [
        (query::TIMESTAMP, Device::timestamp),
        (query::VRAM_USAGE, Device::vram_usage),
        (query::VIS_VRAM_USAGE, Device::visible_vram_usage),
        (query::GTT_USAGE, Device::gtt_usage),
        (query::NUM_EVICTIONS, Device::evictions),
        (query::NUM_EVICTIONS, |device| Ok(device.move_counters()?.evictions)),
        (query::NUM_BYTES_MOVED, |device| Ok(device.move_counters()?.bytes_moved)),
        (query::NUM_VRAM_CPU_PAGE_FAULTS, Device::cpu_page_faults),
    ];
    for (number, count) in counts {
        assert_eq!(count(&answering(number, 7)), Ok(7 << 32 | 7), "{number:#x}");
        assert_ne!(count(&device("navi21")), Ok(7 << 32 | 7), "{number:#x}");
    }
    assert_eq!(answering(query::VRAM_LOST_COUNTER, 5).vram_lost_counter(), Ok(5));
    assert_eq!(device("navi21").vram_lost_counter(), Ok(0));
}

#[test]
fn usage_of_the_three_pools_is_told_apart() {
    let device = device("navi21");
    let (memory, usage) = (device.memory_info().unwrap(), device.system_usage().unwrap());
    let pools = [memory.vram, memory.cpu_accessible_vram, memory.gtt].map(|pool| pool.heap_usage);
    assert_eq!([usage.vram, usage.visible_vram, usage.gtt], pools);
    let mut told = memory;
    (told.vram.heap_usage, told.cpu_accessible_vram.heap_usage, told.gtt.heap_usage) = (5 << 32, 6 << 32, 7 << 32);
    assert_eq!(SystemUsage::from(&told), SystemUsage { vram: 5 << 32, visible_vram: 6 << 32, gtt: 7 << 32 });
}

#[test]
fn counters_that_went_back_count_from_zero() {
    let counters = |evictions, bytes_moved| MoveCounters { evictions, bytes_moved };
    assert_eq!(counters(9, 7 << 32).since(counters(2, 2 << 32)), counters(7, 5 << 32));
    assert_eq!(counters(9, 3).since(counters(9, 3)), counters(0, 0));
    assert_eq!(counters(1, 5 << 32).since(counters(2, 6 << 32)), counters(1, 5 << 32));
}

#[test]
fn any_question_is_answered_up_to_the_length_that_was_asked_for() {
    let device = device("navi21");
    let mut answer = [0xaa; size_of::<DevInfo>() + 8];
    device.info_raw(query::DEV_INFO, [0; 4], &mut answer[..size_of::<DevInfo>()]).unwrap();
    assert_eq!(answer[..4], device.info().device_id.to_ne_bytes());
    assert_eq!(answer[size_of::<DevInfo>()..], [0xaa; 8]);
    // Beyond what the kernel writes there is nothing.
    let mut longer = [0xaa; 2000];
    device.info_raw(query::DEV_INFO, [0; 4], &mut longer).unwrap();
    assert_eq!(longer[..size_of::<DevInfo>()], answer[..size_of::<DevInfo>()]);
    assert!(longer[size_of::<DevInfo>()..].iter().all(|&byte| byte == 0));
    let mut unchanged = [0xaa; 16];
    let refused = device.info_raw(0xffff, [0; 4], &mut unchanged).unwrap_err();
    assert!(matches!(refused, Error::Info { errno: Errno::EINVAL, .. }), "{refused:?}");
    assert_eq!(unchanged, [0xaa; 16]);
}

#[test]
fn registers_are_read_128_at_a_time_each_from_its_own_offset() {
    let gpu = SimDevice::new(chip("navi21"), SimOptions::default());
    // Each answer is the offset that it was asked from.
    let (kernel, heard) = Listener::changing(&gpu, query::READ_MMR_REG, Change::Echo(0));
    let device = Device::new(kernel).unwrap();
    heard.queries.lock().unwrap().clear();
    let mut values = [0; 300];
    device.read_registers(1000, &mut values, Device::ALL_INSTANCES).unwrap();
    assert_eq!(*heard.queries.lock().unwrap(), [query::READ_MMR_REG; 3]);
    assert_eq!(
        (&values[..128], &values[128..256], &values[256..]),
        (&[1000; 128][..], &[1128; 128][..], &[1256; 44][..])
    );
    let beyond = device.read_registers(u32::MAX - 200, &mut values, Device::ALL_INSTANCES).unwrap_err();
    assert_eq!(beyond, Error::Info { query: "READ_MMR_REG", errno: Errno::EINVAL });
    assert!(device.read_registers(u32::MAX - 256, &mut values, Device::ALL_INSTANCES).is_ok());
}

#[test]
fn a_device_that_is_well_answers_who_it_is() {
    let device = device("navi21");
    assert_eq!(device.ping(), Ok(()));
    assert_eq!(device.page_fault(), Ok(None));
}
