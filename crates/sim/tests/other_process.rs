//! R18 with another process: a dma-buf keeps its BO as long as anybody anywhere has it.
//!
//! In a program of its own: between fork and exec a new process has copies of all descriptors, also of those that other
//! tests count.

use std::{
    os::fd::OwnedFd,
    process::{Command, Stdio},
};

use amdgpu_sim::{SimDevice, SimOptions, profile};
use amdgpu_winsys::{
    uapi::{GemCreateFlags, GemDomain},
    winsys::{Bo, BoRequest, Device},
};

// Checks R18.
#[test]
fn another_process_keeps_a_dma_buf_too() {
    let gpu = SimDevice::new(profile("navi21").unwrap(), SimOptions::default());
    let device = Device::new(gpu.open()).unwrap();
    let request = BoRequest { size: 4096, alignment: 0, domains: GemDomain::VRAM, flags: GemCreateFlags::empty() };
    let bo = Bo::create(&device, request).unwrap();
    let dma_buf: OwnedFd = bo.export().unwrap();
    drop((bo, device));
    // A process that has the descriptor as its standard error, and lives until its standard input is closed.
    let mut other = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).stderr(dma_buf).spawn().unwrap();
    assert_eq!((gpu.census().bos, gpu.census().vram_bytes), (1, 4096));
    drop(other.stdin.take());
    other.wait().unwrap();
    assert_eq!((gpu.census().bos, gpu.census().vram_bytes), (0, 0));
}
