//! Questions to the kernel about its own state: each has its number, and is answered in full.

use amdgpu_sim::{SimDevice, SimOptions};
use amdgpu_winsys::{
    uapi::{DevInfo, query},
    winsys::{
        Device, Errno, Error, GdsSizes, GfxLevel, InvalidReply, KernelError, MoveCounters, SystemUsage, VideoCodec,
        VideoDirection,
    },
};

use crate::{
    listener::{Change, Listener},
    support::{chip, chips, device},
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
    assert!(matches!(refused, Error::Kernel(KernelError { errno: Errno::EINVAL, .. })), "{refused:?}");
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
    assert_eq!(beyond, Error::Kernel(KernelError::of_query("READ_MMR_REG", Errno::EINVAL)));
    assert!(device.read_registers(u32::MAX - 256, &mut values, Device::ALL_INSTANCES).is_ok());
}

#[test]
fn a_device_that_is_well_answers_who_it_is() {
    let device = device("navi21");
    assert_eq!(device.ping(), Ok(()));
    assert_eq!(device.page_fault(), Ok(None));
}

/// Source: Linux 6.12 `gfx_v6_0.c` to `gfx_v12_0.c`, `set_gds_init` of each.
#[test]
fn the_chips_own_memory_has_the_size_of_its_generation() {
    for name in chips() {
        let device = device(name);
        let (memory, semaphores, append_counters) = match device.info().gfx_level {
            GfxLevel::Gfx12 => (0, 0, 0),
            GfxLevel::Gfx11 | GfxLevel::Gfx11_5 => (4096, 64, 16),
            _ => (65536, 64, 16),
        };
        let expected = GdsSizes { memory, semaphores, append_counters };
        assert_eq!(device.gds(), Ok(expected), "{name}");
    }
    let told = GdsSizes { memory: 7, semaphores: 7, append_counters: 7 };
    assert_eq!(answering(query::GDS_CONFIG, 7).gds(), Ok(told));
}

#[test]
fn an_image_of_the_video_bios_has_the_size_that_was_told() {
    assert_eq!(device("navi21").vbios_image(), Ok(vec![]));
    let gpu = SimDevice::new(chip("navi21"), SimOptions::default());
    // The size is asked for with a 1 and the image with a 2.
    let echoing = Device::new(Listener::changing(&gpu, query::VBIOS, Change::Echo(11)).0).unwrap();
    assert_eq!(echoing.vbios_image(), Ok(vec![13, 0, 0, 0, 13, 0, 0, 0, 13, 0, 0, 0]));
    let invalid = answering(query::VBIOS, (16 << 20) + 1).vbios_image();
    assert!(matches!(invalid, Err(Error::InvalidReply(InvalidReply { field: "VBIOS_SIZE", .. }))), "{invalid:?}");
}

#[test]
fn the_video_bios_is_told_by_name() {
    let letters = answering(query::VBIOS, u32::from_ne_bytes(*b"abcd")).vbios().unwrap();
    assert_eq!(letters.name, "abcd".repeat(16));
    assert_eq!((letters.part_number.len(), letters.version_text.len(), letters.date.len()), (64, 32, 32));
    assert_eq!(letters.version, u32::from_ne_bytes(*b"abcd"));
    assert_eq!(device("navi21").vbios().unwrap().name, "");
}

/// Source: Linux 6.12 `si.c`, `vi.c`, `soc15.c`, `nv.c` and `soc21.c`, the function `query_video_codecs` of each.
#[test]
fn every_captured_chip_tells_its_codecs() {
    let codecs = |device: &Device, direction| -> String {
        let all = device.video_capabilities(direction).unwrap().unwrap();
        all.codecs().map(|(codec, limits)| [codec.name(), ":", &limits.max_width.to_string(), " "].concat()).collect()
    };
    let common = "MPEG-2:4096 MPEG-4:4096 VC-1:4096 AVC:4096 ";
    for name in chips() {
        let device = device(name);
        let (decoded, encoded) = match name {
            "oland" | "pitcairn" | "tahiti" => ("MPEG-2:2048 MPEG-4:2048 VC-1:2048 AVC:2048 ".to_owned(), ""),
            "bonaire" => ("MPEG-2:2048 MPEG-4:2048 VC-1:2048 AVC:2048 ".to_owned(), "AVC:2048 "),
            "stoney" => (format!("{common}HEVC:4096 JPEG:4096 "), "AVC:4096 "),
            "polaris10" | "polaris12" | "vega10" => (format!("{common}HEVC:4096 JPEG:4096 "), "AVC:4096 HEVC:4096 "),
            "raven" => (format!("{common}HEVC:4096 JPEG:4096 VP9:4096 "), "AVC:4096 HEVC:4096 "),
            "renoir" => (format!("{common}HEVC:8192 JPEG:16384 VP9:8192 "), "AVC:4096 HEVC:4096 "),
            "navi10" | "navi14" => (format!("{common}HEVC:8192 JPEG:4096 VP9:8192 "), "AVC:4096 HEVC:4096 "),
            "navi21" | "navi22" | "navi23" | "vangogh" => {
                (format!("{common}HEVC:8192 JPEG:16384 VP9:8192 AV1:8192 "), "AVC:4096 HEVC:7680 ")
            }
            "navi24" => ("AVC:4096 HEVC:8192 VP9:8192 ".to_owned(), ""),
            "raphael_mendocino" | "rembrandt" => {
                ("AVC:4096 HEVC:8192 JPEG:16384 VP9:8192 AV1:8192 ".to_owned(), "AVC:4096 HEVC:7680 ")
            }
            // From GFX11 on.
            _ => ("AVC:4096 HEVC:8192 JPEG:16384 VP9:8192 AV1:8192 ".to_owned(), "AVC:4096 HEVC:8192 AV1:8192 "),
        };
        assert_eq!(codecs(&device, VideoDirection::Decode), decoded, "{name}");
        assert_eq!(codecs(&device, VideoDirection::Encode), encoded, "{name}");
    }
}

#[test]
fn a_kernel_without_a_table_of_codecs_tells_none_and_other_refusals_are_errors() {
    let old = SimDevice::new(chip("navi21"), SimOptions { drm_minor: 40, ..SimOptions::default() });
    assert_eq!(Device::new(old.open()).unwrap().video_capabilities(VideoDirection::Decode), Ok(None));
    let sevens = answering(query::VIDEO_CAPS, 7).video_capabilities(VideoDirection::Encode).unwrap().unwrap();
    let limits = sevens.codec(VideoCodec::Av1).unwrap();
    assert_eq!((limits.max_width, limits.max_height, limits.max_pixels, limits.max_level), (7, 7, 7, 7));
    assert_eq!(sevens.codecs().count(), 8);
    let gpu = SimDevice::new(chip("navi21"), SimOptions::default());
    let lost = Device::new(gpu.open()).unwrap();
    gpu.unplug();
    let refused = lost.video_capabilities(VideoDirection::Decode);
    assert!(
        matches!(refused, Err(Error::Kernel(KernelError { request: "VIDEO_CAPS", errno: Errno::ENODEV, .. }))),
        "{refused:?}"
    );
}
