//! Jobs that hang.

use std::{
    fs,
    time::{Duration, Instant},
};

use amdgpu_winsys::{
    cs::{Queue, Stream, Submission, pm4},
    heaps::{AllocateInfo, MemoryManager, TableOptions},
    winsys::{Context, Deadline, Device, Ip, Priority},
};

use crate::node::RENDER;

/// Submits a dispatch whose wave branches to itself, and with the argument `waits` waits for its end. Ends well in any case, as
/// programs do that do not look.
pub(crate) fn hang(arguments: &[String]) {
    let device = Device::open(std::path::Path::new(RENDER)).expect("the device");
    let manager = MemoryManager::new(&device, &TableOptions::default()).expect("its memory");
    let memory = manager.allocate(&AllocateInfo::new(5, 1 << 20)).expect("memory");
    // s_branch to itself
    memory.map().expect("a mapping").store_u32(0, 0xbf82_ffff).expect("inside");
    let program = memory.address().as_u64();
    let mut words = vec![0xc002_7602, 0x20c, (program >> 8) as u32, (program >> 40) as u32];
    words.extend([0xc002_7602, 0x212, 0x00ac_0000, 0x90, 0xc003_7602, 0x207, 64, 1, 1]);
    words.extend([0xc003_1502, 1, 1, 1, 1]);
    let target = pm4::Target::compute(device.info().gfx_level);
    let mut stream = Stream::new(&device, target, words.len() + 64).expect("a stream");
    stream.reserve(words.len()).expect("room").copy_from_slice(&words);
    let list = stream.finish().expect("a list");
    let queue =
        Queue::new(&Context::new(&device, Priority::Normal).expect("a context"), Ip::Compute, 0).expect("a queue");
    let used = [memory.binding().clone()];
    let job = Submission { lists: &[&list], memory: &used, ..Submission::default() };
    let fence = queue.submit(&job).expect("a submission");
    if arguments.first().is_some_and(|argument| argument == "waits") {
        // The error is not looked at.
        let _ = fence.wait(Deadline::NEVER);
    } else {
        // The wave is given up, long before the time of the job is over.
        std::thread::sleep(std::time::Duration::from_secs(1));
    }
}

/// A job times out. Its core dump appears, is found from the card, and goes when it is written to.
pub(crate) fn coredump() {
    const DATA: &str = "/sys/class/devcoredump/devcd1/data";
    let data = || fs::read(DATA);
    let disabled = "/sys/class/devcoredump/disabled";
    assert!(data().is_err() && fs::read_to_string(disabled).is_ok_and(|text| text == "0\n"));
    hang(&["waits".to_owned()]);
    let begun = Instant::now();
    while data().is_err() {
        assert!(begun.elapsed() < Duration::from_secs(30), "no core dump");
        std::thread::sleep(Duration::from_millis(10));
    }
    let text = data().expect(DATA);
    let by_card = fs::read("/sys/class/drm/card0/device/devcoredump/data");
    assert!(by_card.is_ok_and(|by_card| by_card == text), "the same by the card");
    let vendor = fs::read_to_string("/sys/class/devcoredump/devcd1/failing_device/vendor");
    assert_eq!(vendor.ok().as_deref(), Some("0x1002\n"));
    print!("{}", String::from_utf8_lossy(&text));
    hang(&["waits".to_owned()]);
    std::thread::sleep(Duration::from_secs(1));
    assert!(fs::metadata("/sys/class/devcoredump/devcd2").is_err(), "one at a time");
    fs::write(DATA, "x").expect("a write");
    assert!(data().is_err(), "it is gone");
    assert!(fs::metadata("/sys/class/drm/card0/device/devcoredump").is_err());
    assert_eq!(fs::write(disabled, "2").unwrap_err().raw_os_error(), Some(libc::EINVAL));
    fs::write(disabled, "1\n").expect("a write");
    assert!(fs::read_to_string(disabled).is_ok_and(|text| text == "1\n"));
}
