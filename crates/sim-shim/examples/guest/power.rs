//! Files in which tools read a GPU's load.

use std::{
    fs::{self, File},
    time::{Duration, Instant},
};

use amdgpu_winsys::uapi::GemDomain;

use crate::node::{self, RENDER, census};

const DEVICE: &str = "/sys/class/drm/card0/device";

fn read(name: &str) -> String {
    fs::read_to_string(format!("{DEVICE}/{name}")).unwrap_or_else(|error| panic!("{name}: {error}")).trim().to_owned()
}

fn number(name: &str) -> u64 {
    read(name).parse().expect(name)
}

/// Two steps of load, by `AMDGPU_SIM_LOAD`: the figures go up and down with them.
pub(crate) fn power() {
    let monitors: Vec<_> = fs::read_dir(format!("{DEVICE}/hwmon")).expect("hwmon").flatten().collect();
    let [monitor] = &monitors[..] else { panic!("{monitors:?}") };
    let monitor = format!("hwmon/{}", monitor.file_name().to_string_lossy());
    assert_eq!(read(&format!("{monitor}/name")), "amdgpu");
    assert_eq!(read("power/runtime_status"), "active");
    let begun = Instant::now();
    let (mut idle, mut busy) = (false, false);
    while !(idle && busy) {
        assert!(begun.elapsed() < Duration::from_secs(30), "idle {idle}, busy {busy}");
        // The step may change between two files.
        let before = number("gpu_busy_percent");
        let clock = number(&format!("{monitor}/freq1_input")) / 1_000_000;
        let watts = number(&format!("{monitor}/power1_average")) / 1_000_000;
        let edge = number(&format!("{monitor}/temp1_input"));
        let levels = read("pp_dpm_sclk");
        let metrics = fs::read(format!("{DEVICE}/gpu_metrics")).expect("gpu_metrics");
        if before != number("gpu_busy_percent") {
            continue;
        }
        assert_eq!((metrics.len(), metrics[2], metrics[3]), (120, 1, 3));
        assert_eq!(u64::from(u16::from_le_bytes([metrics[16], metrics[17]])), before);
        match before {
            0 => {
                assert_eq!((clock, watts, edge), (500, 7, 38_000));
                assert!(levels.starts_with("0: 500Mhz *"), "{levels}");
                idle = true;
            }
            100 => {
                assert_eq!((clock, watts, edge), (2475, 289, 91_500));
                assert!(levels.ends_with("2: 2475Mhz *"), "{levels}");
                busy = true;
            }
            other => panic!("{other} percent"),
        }
    }
}

/// A card that may sleep. With a delay of 0 it is suspended between any two accesses, each of which wakes it or does not.
pub(crate) fn sleep() {
    let file = |name: &str| format!("{DEVICE}/power/{name}");
    assert_eq!([read("power/control"), read("power/runtime_status")], ["auto", "active"]);
    fs::write(file("autosuspend_delay_ms"), "0\n").expect("a setting");
    assert_eq!([read("power/runtime_status"), read("power/runtime_usage")], ["suspended", "0"]);
    let monitors: Vec<_> = fs::read_dir(format!("{DEVICE}/hwmon")).expect("hwmon").flatten().collect();
    let monitor = format!("hwmon/{}", monitors[0].file_name().to_string_lossy());
    for name in ["uevent", "config", "mem_info_vram_used", "current_link_speed", &format!("{monitor}/temp1_label")] {
        fs::read(format!("{DEVICE}/{name}")).expect(name);
    }
    assert!(census().ends_with("card0 suspended woken 0\n"), "{}", census());
    read(&format!("{monitor}/temp1_input"));
    drop(File::open(RENDER).expect("a node"));
    fs::write(file("control"), "on").expect("a setting");
    assert_eq!([read("power/control"), read("power/runtime_status")], ["on", "active"]);
    let refused = |name: &str, text: &str| fs::write(file(name), text).unwrap_err().raw_os_error();
    assert_eq!([refused("control", "off"), refused("autosuspend_delay_ms", "1 s")], [Some(libc::EINVAL); 2]);
    assert_eq!(refused("runtime_status", "suspended"), Some(libc::EACCES));
    let by = format!("card0 woken by {} guest: ", std::process::id());
    let causes = [&format!("read {monitor}/temp1_input"), "open", "close", "write power/control"];
    let expected = causes.map(|cause| format!("{by}{cause}\n")).concat();
    assert!(census().ends_with(&format!("card0 active woken 4\n{expected}")), "{}", census());
}

/// The whole computer sleeps: memory leaves VRAM, and all goes on.
pub(crate) fn suspend() {
    const STATE: &str = "/sys/power/state";
    const ALARM: &str = "/sys/class/rtc/rtc0/wakealarm";
    let file = node::open(RENDER);
    let handle = node::create_in(&file, 1 << 20, GemDomain::VRAM.bits()).expect("a BO");
    let used = || ["vram", "gtt"].map(|heap| number(&format!("mem_info_{heap}_used")));
    let [vram, gtt] = used();
    assert!(vram >= 1 << 20);
    assert_eq!(fs::read_to_string(STATE).expect(STATE), "freeze mem\n");
    let refused = |path: &str, text: &str| fs::write(path, text).unwrap_err().raw_os_error();
    let answers = ["disk", "standby\n", "mem mem"].map(|text| refused(STATE, text));
    assert_eq!(answers, [Some(libc::EPERM), Some(libc::EINVAL), Some(libc::EINVAL)]);
    assert_eq!(used(), [vram, gtt], "nothing slept");

    assert_eq!(fs::read_to_string(ALARM).expect(ALARM), "");
    fs::write(ALARM, "+30\n").expect("an alarm");
    assert_eq!(refused(ALARM, "+40"), Some(libc::EBUSY), "one is set");
    assert!(fs::read_to_string(ALARM).expect(ALARM).trim().parse::<u64>().is_ok());
    fs::write(STATE, "mem").expect("a sleep");
    assert_eq!(used(), [0, gtt + vram], "nothing returns by itself");
    assert_eq!(fs::read_to_string(ALARM).expect(ALARM), "", "it has rung");
    node::close_handle(&file, handle).expect("the file works as before");
    let done = std::process::Command::new("sh").args(["-c", &format!("echo freeze > {STATE}")]).status().expect("sh");
    assert!(done.success(), "another program");
}
