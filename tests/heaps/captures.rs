//! Device captures as [`MemoryFacts`], and recorded RADV results as JSON.

use amdgpu_winsys::{
    heaps::{MemoryFacts, RawMemoryFacts, TableOptions},
    winsys::{Family, GfxLevel, TilingRegisters},
};
use serde_json::Value;

/// Returns the devices with recorded answers. `devices/NAME.json` is what its kernel says, `radv/NAME.json` what RADV makes of it.
pub(crate) fn devices() -> Vec<String> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/radv");
    let names = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let mut names: Vec<String> = names.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

/// Reads `tests/data/FOLDER/NAME.json`.
pub(crate) fn load(folder: &str, name: &str) -> Value {
    let path = format!("{}/tests/data/{folder}/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A number: a JSON number is decimal, a string starting with 0x hexadecimal.
pub(crate) fn number(value: &Value) -> u64 {
    match value {
        Value::String(text) => {
            let digits = text.strip_prefix("0x").unwrap_or_else(|| panic!("no number: {text}"));
            u64::from_str_radix(digits, 16).unwrap_or_else(|error| panic!("{text}: {error}"))
        }
        _ => value.as_u64().unwrap_or_else(|| panic!("no number: {value}")),
    }
}

/// As [`number`], for fields of 32 bits.
pub(crate) fn number32(value: &Value) -> u32 {
    u32::try_from(number(value)).unwrap()
}

/// The capture of a device, as another part of the library would fill it in from the kernel's answers.
pub(crate) fn raw_facts(device: &str) -> RawMemoryFacts {
    let capture = load("devices", device);
    let (info, memory) = (&capture["dev_info"], &capture["memory"]);
    let total = |heap: &str| number(&memory[heap]["total_heap_size"]);
    let level = capture["gfx_level"].as_str().unwrap();
    RawMemoryFacts {
        vram: total("vram"),
        visible_vram: total("cpu_accessible_vram"),
        gtt: total("gtt"),
        has_dedicated_vram: number(&info["ids_flags"]) & 1 == 0,
        offers_tmz: number(&info["ids_flags"]) & 4 != 0,
        chip: amdgpu_hw::identify(Family::from(number32(&info["family"])), number32(&info["external_rev"])).unwrap(),
        gart_page_size: number32(&info["gart_page_size"]),
        pte_fragment_size: number32(&info["pte_fragment_size"]),
        drm_minor: number32(&capture["synthetic"]["drm_version"]["version_minor"]),
        gfx_level: GfxLevel::ALL.into_iter().find(|gfx| gfx.name() == level).unwrap(),
        tiling: tiling(&capture["mmr_regs"]),
    }
}

pub(crate) fn facts(device: &str) -> MemoryFacts {
    MemoryFacts::new(&raw_facts(device)).unwrap()
}

fn tiling(registers: &Value) -> TilingRegisters {
    let mut tiling = TilingRegisters::default();
    for register in registers.as_array().unwrap() {
        let value = number32(&register["value"]);
        match number32(&register["dword_offset"]) {
            0x263e => tiling.gb_addr_config = value,
            offset @ 0x2644..0x2664 => tiling.tile_modes[offset as usize - 0x2644] = value,
            offset @ 0x2664..0x2674 => tiling.macro_tile_modes[offset as usize - 0x2664] = value,
            _ => {}
        }
    }
    tiling
}

/// The options that RADV ran with to record `variant`. Those that concern neither heaps nor types are the default.
pub(crate) fn options(variant: &str) -> TableOptions {
    let default = TableOptions::default();
    match variant {
        "radv_enable_unified_heap_on_apu=true" => TableOptions { unified_heap_on_apu: true, ..default },
        "radv_hide_rebar_on_dgpu=true" => TableOptions { hide_rebar: true, ..default },
        "override_vram_size=1024" => TableOptions { override_vram_mib: Some(1024), ..default },
        "override_vram_size=128" => TableOptions { override_vram_mib: Some(128), ..default },
        "vk_zero_vram=true" | "RADV_DEBUG=zerovram" => TableOptions { zero_vram: true, ..default },
        "radv_device_coherent_memory=true" => TableOptions { unordered_device_coherent: true, ..default },
        "RADV_DEBUG=notmz" => TableOptions { no_tmz: true, ..default },
        "RADV_DEBUG=nosmemmitigation" => TableOptions { no_smem_mitigation: true, ..default },
        "default"
        | "RADV_DEBUG=allbos"
        | "RADV_EXPERIMENTAL=transfer_queue"
        | "RADV_PERFTEST=localbos"
        | "RADV_PERFTEST=nosam"
        | "RADV_QUEUE_DISABLE=compute"
        | "radv_wait_for_vm_map_updates=true" => default,
        _ => panic!("unknown variant {variant}"),
    }
}
