//! Files in which tools read a GPU's load.

use std::{
    fs,
    time::{Duration, Instant},
};

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
                assert_eq!((clock, watts, edge), (2475, 240, 91_500));
                assert!(levels.ends_with("2: 2475Mhz *"), "{levels}");
                busy = true;
            }
            other => panic!("{other} percent"),
        }
    }
}
