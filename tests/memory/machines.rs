//! Heaps and budgets of machines in public reports: rows of the simulator's table, and changes of its chips.

use amdgpu_sim::{SimDevice, SimOptions, chip};
use amdgpu_winsys::{
    heaps::{BudgetRule, MemoryManager, TableOptions},
    winsys::Device,
};

const MIB: u64 = 1 << 20;

/// Returns the sizes of the heaps, and their budgets while the kernel and other programs use `used` bytes of VRAM.
fn heaps(word: &str, used: u64) -> (Vec<u64>, Vec<u64>) {
    let options = SimOptions { kernel_vram: used, ..SimOptions::RECORDING };
    let device = Device::new(SimDevice::new(chip(word).unwrap(), options).open()).unwrap();
    let manager = MemoryManager::new(&device, &TableOptions::default()).unwrap();
    let sizes = manager.properties().heaps().iter().map(|heap| heap.size).collect();
    let budgets = manager.budgets(BudgetRule::Radv).unwrap();
    (sizes, budgets.heaps().iter().map(|heap| heap.budget).collect())
}

/// Sources: ollama/ollama issue 15302 (Raven with amdgpu.gttsize=82000), GPUOpen VulkanMemoryAllocator issue 157 (Polaris with a
/// full BAR), clbr/radeontop issue 163 (Renoir).
#[test]
fn heaps_of_reported_machines_have_the_reported_sizes() {
    for (word, expected) in [
        ("raven:carve-out=2G:gtt=82000M", [29_376_905_216, 58_753_810_432]),
        ("polaris10:vram=8176M:bar=8176M:gtt=8176M", [8_573_157_376, 8_573_157_376]),
        ("renoir:carve-out=512M:gtt=7695M", [2_868_551_680, 5_737_111_552]),
    ] {
        assert_eq!(heaps(word, 0).0, expected, "{word}");
    }
}

/// Source: ollama/ollama issue 15302.
#[test]
fn budgets_of_a_reported_machine_have_the_reported_sizes() {
    let (_, budgets) = heaps("raven:carve-out=2G:gtt=82000M", 29_454_336);
    assert_eq!(budgets, [29_367_087_104, 58_734_174_208]);
}

/// Reported in hundredths of GiB, of machines with 128 GiB: `amdgpu.gttsize=120000` with 4 GiB set aside and 2450 MiB in use, and 105.5 GiB
/// of GTT with 2 GiB set aside.
#[test]
fn strix_halo_shows_the_reported_heaps_and_budgets() {
    let hundredths = |bytes: &[u64]| -> Vec<u64> { bytes.iter().map(|bytes| bytes * 100 / (1 << 30)).collect() };
    let (sizes, budgets) = heaps("strix-halo-128g-gtt120000", 2450 * MIB);
    assert_eq!(hundredths(&sizes), [4039, 8079]);
    assert_eq!(hundredths(&budgets), [3959, 7919]);
    let (sizes, _) = heaps("strix-halo-128g:carve-out=2G:gtt=108032M", 0);
    assert_eq!(hundredths(&sizes), [3583, 7166]);
}

/// A card whose firmware does not resize the BAR has a heap of 256 MiB that the CPU can access.
#[test]
fn a_small_bar_makes_a_heap_of_its_own() {
    assert_eq!(heaps("rx7900xt", 0).0.len(), 2);
    let (sizes, _) = heaps("rx7900xt:bar=256M", 0);
    assert_eq!(sizes.len(), 3);
    assert_eq!((sizes[0], sizes[2]), (20_480 * MIB - 256 * MIB, 256 * MIB));
}
