//! Runtime power management: when a GPU is suspended, what wakes it, and what it keeps.

use std::time::Duration;

use amdgpu_sim::{
    SimDevice, SimOptions, WakeCause,
    sysfs::{Setting, memory_files, power_files},
};
use amdgpu_uapi::Errno;
use amdgpu_winsys::{
    uapi::{GemCreateFlags, GemDomain, MemoryInfo, Request, query},
    winsys::Ip,
};

use crate::support::{Chunk, DATA, Job, Rig, card, hanging_for, open, reference};

/// The delay that the driver sets, milliseconds.
const DELAY: u64 = 5000;

/// A card that sleeps, whose clock stands still.
fn sleeper(options: SimOptions) -> SimDevice {
    let options = SimOptions { runtime_pm: true, power: true, strict: false, ..options };
    let device = SimDevice::new(card().profile(), options);
    device.stop_clock();
    device
}

fn patient() -> SimDevice {
    sleeper(hanging_for(Duration::from_mins(1)))
}

fn pass(device: &SimDevice, milliseconds: u64) {
    device.advance_clock(milliseconds * u64::from(device.profile().dev_info.gpu_counter_freq));
}

fn file_of(device: &SimDevice, name: &str) -> String {
    let found = power_files(device).into_iter().find(|(path, _)| path == name);
    String::from_utf8(found.expect(name).1).unwrap().trim_end().to_owned()
}

// Checks R168.
#[test]
fn an_unused_card_is_suspended_and_each_access_that_wakes_it_is_recorded() {
    let device = patient();
    let first = open(&device);
    pass(&device, DELAY - 1);
    assert!(!device.is_suspended());
    pass(&device, 1);
    assert!(device.is_suspended(), "an open file keeps no GPU awake");
    let asked = |request: u32| first.info::<MemoryInfo>(request, [0; 4]);
    asked(query::MEMORY).unwrap();
    asked(query::MEMORY).unwrap();
    pass(&device, DELAY);
    let second = open(&device);
    pass(&device, DELAY);
    drop(second);
    pass(&device, DELAY);
    // Also a request that does not exist.
    let unknown = Request::from_bits(0x40 << 8 | 0x64_3e);
    assert!(first.raw(unknown, &mut [0_u8; 8]).is_err());
    let woken = device.wake_ups();
    let causes: Vec<_> = woken.latest.iter().map(|woken| (woken.cause.clone(), woken.at.as_millis() as u64)).collect();
    let expected = [
        (WakeCause::Ioctl(Some("AMDGPU_INFO")), DELAY),
        (WakeCause::Open, 2 * DELAY),
        (WakeCause::Close, 3 * DELAY),
        (WakeCause::Ioctl(None), 4 * DELAY),
    ];
    assert_eq!((causes.as_slice(), woken.count), (&expected[..], 4));
    let pid = std::process::id().cast_signed();
    assert!(woken.latest.iter().all(|woken| woken.process.pid == pid && !woken.process.name.is_empty()), "{woken:?}");
    assert!(woken.latest[1].to_string().ends_with(": open"), "{}", woken.latest[1]);
}

// Checks R169.
#[test]
fn sensors_wake_a_card_and_what_the_driver_knows_does_not() {
    let device = patient();
    let file = open(&device);
    pass(&device, DELAY);
    let sleeps = |what: &str| assert!(device.is_suspended(), "{what}");
    for (name, _) in memory_files(&device) {
        device.before_read(name);
        sleeps(name);
    }
    for name in
        ["uevent", "revision", "config", "current_link_speed", "ras/umc_err_count", "drm/card0/card0-DP-1/status"]
    {
        device.before_read(name);
        sleeps(name);
    }
    assert!(file.0.fdinfo().contains("drm-driver"));
    device.census();
    sleeps("fdinfo and census");
    let mut waking = Vec::new();
    for (name, _) in power_files(&device) {
        device.before_read(&name);
        if !device.is_suspended() {
            waking.push(name.rsplit('/').next().unwrap().to_owned());
            pass(&device, DELAY);
            assert_eq!(device.wake_ups().latest.last().unwrap().cause, WakeCause::Read(name));
        }
        sleeps("again");
    }
    waking.sort();
    let expected = "fan1_enable fan1_input fan1_max fan1_min fan1_target freq1_input freq2_input gpu_busy_percent \
                    gpu_metrics in0_input mem_busy_percent power1_average power1_cap power1_cap_default power1_cap_max \
                    power1_cap_min power_dpm_force_performance_level power_dpm_state pp_dpm_dcefclk pp_dpm_dclk \
                    pp_dpm_fclk pp_dpm_mclk pp_dpm_pcie pp_dpm_sclk pp_dpm_socclk pp_dpm_vclk pwm1 pwm1_enable \
                    temp1_input temp2_input temp3_input";
    assert_eq!(waking.join(" "), expected);
    assert_eq!(device.wake_ups().count, waking.len() as u64);
}

// Checks R170.
#[test]
fn work_displays_and_settings_keep_a_card_awake() {
    let device = patient();
    let rig = Rig::new(&device);
    let job = rig.run(Ip::Compute, 0, &rig.wait_value(Ip::Compute, 0, 1)).unwrap();
    pass(&device, 10 * DELAY);
    assert_eq!((device.is_suspended(), file_of(&device, "power/runtime_usage").as_str()), (false, "1"));
    rig.poke(0, 1);
    rig.finish(Ip::Compute, 0, job).unwrap();
    pass(&device, DELAY - 1);
    assert!(!device.is_suspended(), "the delay begins with the end of the last use");
    pass(&device, 1);
    assert!(device.is_suspended());

    let set = |setting, text: &str| device.write_setting(setting, text.as_bytes());
    let files =
        || ["control", "runtime_status", "autosuspend_delay_ms"].map(|name| file_of(&device, &format!("power/{name}")));
    assert_eq!(files(), ["auto", "suspended", "5000"]);
    set(Setting::Control, "on\n").unwrap();
    pass(&device, DELAY);
    assert_eq!(files(), ["on", "active", "5000"]);
    set(Setting::AutosuspendDelay, "20\n").unwrap();
    set(Setting::Control, "auto\n").unwrap();
    pass(&device, 19);
    assert_eq!(files(), ["auto", "active", "20"]);
    pass(&device, 1);
    assert_eq!(files(), ["auto", "suspended", "20"]);
    set(Setting::AutosuspendDelay, "-1").unwrap();
    pass(&device, DELAY);
    assert_eq!(files(), ["auto", "active", "-1"]);
    let causes: Vec<_> = device.wake_ups().latest.into_iter().map(|woken| woken.cause).collect();
    let written = |setting: Setting| WakeCause::Write(setting.path().to_owned());
    assert_eq!(causes, [written(Setting::Control), written(Setting::AutosuspendDelay)]);
    for (setting, text) in [(Setting::Control, "off"), (Setting::Control, ""), (Setting::AutosuspendDelay, "soon")] {
        assert_eq!(set(setting, text), Err(Errno::EINVAL), "{text:?}");
    }

    let shown = sleeper(SimOptions { display: "640x480".parse().ok(), ..reference() });
    pass(&shown, 10 * DELAY);
    assert_eq!((shown.is_suspended(), file_of(&shown, "power/control").as_str()), (false, "auto"));
}

// Checks R170.
#[test]
fn drivers_do_not_suspend_every_chip() {
    for (chip, sleeps) in
        [("navi31", true), ("polaris10", true), ("vega10", false), ("pitcairn", false), ("renoir", false)]
    {
        let options = SimOptions { runtime_pm: true, ..reference() };
        let device = SimDevice::new(amdgpu_sim::profile(chip).unwrap(), options);
        assert_eq!(device.has_runtime_pm(), sleeps, "{chip}");
        assert_eq!(device.write_setting(Setting::Control, b"auto").is_ok(), sleeps, "{chip}");
    }
    assert!(!card().has_runtime_pm(), "unless the option is given");
}

// Checks R171.
#[test]
fn the_contents_of_vram_outlive_a_sleep() {
    const SIZE: u64 = 1 << 20;
    const VA: u64 = 0x100_0000_0000;
    let device = patient();
    let rig = Rig::new(&device);
    let bo = rig.file.try_create(SIZE, 0, GemDomain::VRAM, GemCreateFlags::empty()).unwrap();
    rig.file.bind(bo, VA, SIZE).unwrap();
    let copy = |from, to| {
        let ib = rig.ib(&rig.copy(from, to));
        let listed = Chunk::bos(&[rig.ibs, rig.data, bo]);
        let number = Job::new(rig.context).with(Chunk::ib(Ip::Gfx, 0, ib)).with(listed).send(&rig.file).unwrap();
        rig.finish(Ip::Gfx, 0, number).unwrap();
    };
    rig.poke(0, 0x600d);
    copy(DATA, VA);
    let awake = device.census();
    assert_eq!(awake.vram_bytes, SIZE);
    pass(&device, DELAY);
    let asleep = device.census();
    assert_eq!((asleep.vram_bytes, asleep.gtt_bytes), (0, awake.gtt_bytes + SIZE));
    assert!(device.is_suspended());
    copy(VA, DATA + 4);
    assert_eq!((rig.load(4), device.census().vram_bytes), (0x600d, SIZE));
}
