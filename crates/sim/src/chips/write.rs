//! Writing of captures.

use amdgpu_hw::{Family, Ip};
use amdgpu_uapi::InfoHwIp;
use serde_json::{Map, Value, json};

use super::{
    capture::{CAPTURED, VIDEO},
    origin::Origin,
    profile::{Profile, Register},
    rules,
    structure::{self, hexadecimal},
};

impl Profile {
    /// Returns the chip as a capture, which [`from_capture`](Self::from_capture) can read.
    pub fn to_capture(&self) -> String {
        capture(self)
    }
}

/// Returns the capture's text, with a newline at its end.
fn capture(profile: &Profile) -> String {
    let memory = &profile.memory;
    let heaps = [("vram", &memory.vram), ("cpu_accessible_vram", &memory.cpu_accessible_vram), ("gtt", &memory.gtt)];
    let heaps: Map<_, _> = heaps.map(|(name, heap)| (name.to_owned(), structure::write(heap))).into_iter().collect();
    let source = if profile.memory_usable_captured { CAPTURED } else { "total_heap_size captured, the rest synthetic" };
    let mut document = json!({
        "schema_version": 1,
        "name": profile.name,
        "marketing_name": profile.marketing_name,
        "radv_chip": rules::chip(&profile.dev_info).map(amdgpu_hw::radv_name),
        "gfx_level": profile.gfx_level.name(),
        "family_name": format!("AMDGPU_FAMILY_{:?}", Family::from(profile.dev_info.family)),
        "has_dedicated_vram": !profile.is_apu(),
        "dev_info": structure::write(&profile.dev_info),
        "memory_source": source,
        "memory": heaps,
        "hw_ip": blocks(profile),
        "hw_ip_count": counts(profile),
        "fw_version": {
            "gfx_me": structure::write(&profile.firmware.me),
            "gfx_pfp": structure::write(&profile.firmware.pfp),
            "gfx_mec": structure::write(&profile.firmware.mec),
        },
        "mmr_regs": profile.registers.iter().map(register).collect::<Vec<_>>(),
    });
    if let (Origin::Derived { from, assumed }, Some(object)) = (&profile.origin, document.as_object_mut()) {
        object.insert("derived".to_owned(), true.into());
        object.insert("derived_from".to_owned(), from.clone().into());
        object.insert("assumed".to_owned(), assumed.clone().into());
    }
    if let (Some(bytes), Some(object)) = (profile.system_memory, document.as_object_mut()) {
        object.insert("system_memory".to_owned(), bytes.into());
    }
    if let (Some(files), Some(object)) = (profile.sysfs.write(), document.as_object_mut()) {
        object.insert("sysfs".to_owned(), files);
    }
    format!("{document:#}\n")
}

/// Returns the blocks; an unknown one is null.
fn blocks(profile: &Profile) -> Value {
    const NAMES: [&str; 10] =
        ["gfx", "compute", "dma", "uvd", "vce", "uvd_enc", "vcn_dec", "vcn_enc", "vcn_jpeg", "vpe"];
    let block = |ip| -> Option<InfoHwIp> {
        match ip {
            Ip::Gfx => Some(profile.gfx),
            Ip::Compute => Some(profile.compute),
            Ip::Sdma => profile.sdma,
            _ => profile.video.iter().find(|known| known.ip == ip).map(|known| known.block),
        }
    };
    let blocks = NAMES.into_iter().zip(Ip::ALL);
    blocks
        .map(|(name, ip)| (name.to_owned(), block(ip).as_ref().map_or(Value::Null, structure::write)))
        .collect::<Map<_, _>>()
        .into()
}

/// Returns the numbers of instances of copy and video engines.
fn counts(profile: &Profile) -> Value {
    let mut counts = Map::new();
    counts.insert("dma".to_owned(), profile.sdma_engines.into());
    for known in &profile.video {
        if let Some((name, _)) = VIDEO.iter().find(|(_, ip)| *ip == known.ip) {
            counts.insert((*name).to_owned(), known.instances.into());
        }
    }
    counts.into()
}

fn register(register: &Register) -> Value {
    let mut object = Map::new();
    if !register.name.is_empty() {
        object.insert("name".to_owned(), register.name.clone().into());
    }
    for (key, value) in
        [("dword_offset", register.dword_offset), ("instance", register.instance), ("value", register.value)]
    {
        object.insert(key.to_owned(), hexadecimal(value.into()));
    }
    object.into()
}
