//! The directory of a device in debugfs.

use crate::{SimKernel, features::Features, options::place::Place};

/// The directory of all devices in debugfs.
pub const DEBUG: &str = "/sys/kernel/debug/dri";
/// The name of the file that resets a device.
pub const RECOVER: &str = "amdgpu_gpu_recover";

/// Returns the absolute path of the device's directory in debugfs.
pub fn debug_directory(place: Place) -> String {
    format!("{DEBUG}/{}", place.pci())
}

/// Returns the absolute path of the file that resets the device.
pub fn recover_path(place: Place) -> String {
    format!("{}/{RECOVER}", debug_directory(place))
}

/// Returns the name of a client's directory in debugfs.
///
/// Source: Linux 6.17 `drm_debugfs.c`, `drm_debugfs_clients_add`.
pub fn client_directory(client: u64) -> String {
    format!("client-{client}")
}

/// Returns the driver's files in the directory of an open file in debugfs, with their paths in it; none before Linux 6.17. Page tables
/// and the queues' memory of the driver are not simulated, so their addresses are 0.
///
/// ```
/// use amdgpu_sim::{KernelRelease, SimDevice, SimOptions, profile, sysfs::client_files};
///
/// let options = SimOptions::of_kernel(KernelRelease::V6_17);
/// let gpu = SimDevice::new(profile("navi21").ok_or("no such chip")?, options);
/// let files = client_files(&gpu.open());
/// assert_eq!(files[0].0, "vm_pagetable_info");
/// assert!(files[0].1.contains("max_pfn: 0x1000000000\nnum_level: 0x3\nblock_size: 0x9\n"));
/// # Ok::<(), &str>(())
/// ```
///
/// Source: Linux 7.2 `amdgpu_debugfs.c`, `amdgpu_pt_info_read`, and `amdgpu_userq.c`, `amdgpu_mqd_info_read`; Linux 6.12
/// `amdgpu_vm.c`, `amdgpu_vm_adjust_size` and `amdgpu_vm_get_block_size`.
pub fn client_files(kernel: &SimKernel) -> Vec<(String, String)> {
    let file = kernel.file();
    if !file.gpu.facts.has(Features::CLIENT_DIRECTORIES) {
        return Vec::new();
    }
    // The kernel keeps some addresses at the top for itself.
    let size = file.vm.lock().end().next_power_of_two();
    let (levels, block) = if size >> 48 == 0 { (1, block_size(size >> 30)) } else { (3, 9) };
    let tables = format!(
        "pd_address: 0x0\nmax_pfn: {:#x}\nnum_level: {levels:#x}\nblock_size: {block:#x}\nfragment_size: 0x9\n",
        size >> 12
    );
    let queues = file.user_queues.lock();
    let of_queues = queues.iter().map(|(id, queue)| {
        let text = format!("queue_type: {}\nmqd_gpu_address: 0x0\n", queue.ip() as u32);
        (format!("queue_{id}/mqd_info"), text)
    });
    std::iter::once(("vm_pagetable_info".to_owned(), tables)).chain(of_queues).collect()
}

/// Returns the number of address bits that a page table of the last of two levels covers, beyond those of a page, by the gibibytes of
/// the address space.
const fn block_size(gibibytes: u64) -> u32 {
    let bits = gibibytes.ilog2() + 18;
    if gibibytes <= 8 { bits - 9 } else { (bits + 3) >> 1 }
}

/// Returns the links to the device's directory in debugfs, with their absolute paths: the minor number of each node.
///
/// Source: Linux 6.12 `drm_debugfs.c`, `drm_debugfs_dev_init` and `drm_debugfs_register`; `amdgpu_fence.c`,
/// `amdgpu_debugfs_fence_init`.
pub(super) fn debug_links(place: Place) -> [(String, String); 2] {
    [place.primary_minor(), place.render_minor()].map(|minor| (format!("{DEBUG}/{minor}"), place.pci().to_string()))
}
