//! Reading of captures.

use amdgpu_hw::{Family, GfxLevel, Ip, LaterChip};
use amdgpu_uapi::{DevInfo, HeapInfo, InfoFirmware, InfoHwIp, MemoryInfo};
use serde_json::Value;

use super::{
    checks,
    error::CaptureError,
    json::Node,
    origin::Origin,
    profile::{Firmware, Profile, Register},
    recorded_files::RecordedFiles,
    rules, structure,
    video_block::VideoBlock,
};

/// The most bytes of a capture, a hundred times as many as the largest capture has.
pub(super) const MOST_BYTES: usize = 1 << 20;
/// The most characters of a name.
const MOST_CHARACTERS: usize = 64;
/// The most registers, twenty times as many as the largest capture has.
const MOST_REGISTERS: usize = 2048;
/// The only version of the format.
const SCHEMA_VERSION: u32 = 1;
/// The text that marks memory sizes that were captured in full.
pub(super) const CAPTURED: &str = "captured";

impl Profile {
    /// Reads a capture of a GPU: JSON in the format of `data/devices`, which `amdgpu-smoke capture` writes.
    ///
    /// The required keys are `dev_info` with the fields that user space always needs, the totals of `memory`, one of the blocks
    /// `gfx` and `compute` in `hw_ip`, and in `mmr_regs` the registers that user space of the generation reads. Other keys may be
    /// missing, and unknown keys are ignored. A video engine that is null was not captured; see
    /// [`SimOptions::video`](crate::SimOptions::video).
    ///
    /// # Errors
    ///
    /// [`CaptureError`] names the key. The values must be possible for some GPU.
    pub fn from_capture(json: impl AsRef<[u8]>) -> Result<Self, CaptureError> {
        read(json.as_ref())
    }
}

fn read(json: &[u8]) -> Result<Profile, CaptureError> {
    if json.len() > MOST_BYTES {
        return Err(CaptureError::TooLong { most: MOST_BYTES });
    }
    let document: Value =
        serde_json::from_slice(json).map_err(|error| CaptureError::Syntax { reason: error.to_string() })?;
    let root = Node::root(&document);
    check_version(&root)?;
    let node = root.need("dev_info")?;
    let dev_info: DevInfo = structure::read(&node)?;
    checks::dev_info(&node, &dev_info)?;
    let DevInfo { family, external_rev, .. } = dev_info;
    let unknown = || CaptureError::UnknownChip { family, external_rev };
    let blocks = root.need("hw_ip")?;
    let [gfx, compute, sdma] = ["gfx", "compute", "dma"].map(|name| block(&blocks, name));
    let (gfx, compute, sdma) = (gfx?, compute?, sdma?);
    let discovered = [gfx, compute].into_iter().flatten().map(|block| block.ip_discovery_version).find(|&it| it != 0);
    let later = LaterChip::of(family, discovered.map(|version| (version >> 16, version >> 8 & 0xff, version & 0xff)));
    if let Some(later) = later {
        return Err(CaptureError::LaterChip { later });
    }
    let chip = rules::chip(&dev_info).ok_or_else(unknown)?;
    let main = [gfx, compute].into_iter().flatten().find(|block| block.available_rings != 0);
    let main =
        main.ok_or_else(|| CaptureError::Missing { key: "hw_ip.gfx, or hw_ip.compute, with a ring".to_owned() })?;
    let told = rules::gfx_level(&main, chip, Family::from(dev_info.family));
    let by_rule = rules::sdma_engines(chip, &dev_info).max(sdma.map_or(0, |block| block.available_rings.count_ones()));
    let profile = Profile {
        origin: Origin::read(&root)?,
        name: name(&root, "name")?.unwrap_or_else(|| amdgpu_hw::radv_name(chip).to_lowercase()),
        marketing_name: name(&root, "marketing_name")?.unwrap_or_else(|| "AMD Radeon Graphics".to_owned()),
        gfx_level: gfx_level(&root, told)?,
        dev_info,
        memory: memory(&root.need("memory")?)?,
        memory_usable_captured: is_captured(&root)?,
        system_memory: root.get("system_memory")?.map(|node| node.number(u64::BITS)).transpose()?,
        gfx: gfx.unwrap_or(InfoHwIp::ZEROED),
        compute: compute.unwrap_or(InfoHwIp::ZEROED),
        sdma,
        sdma_engines: engines(&root, "dma")?.unwrap_or(by_rule),
        video: video(&root, &blocks)?,
        firmware: firmware(&root)?,
        registers: registers(&root)?,
        sysfs: RecordedFiles::read(&root)?,
    };
    has_dedicated_vram(&root, &profile)?;
    checks::registers(&profile)?;
    Ok(profile)
}

fn check_version(root: &Node<'_>) -> Result<(), CaptureError> {
    match root.get("schema_version")? {
        Some(node) if node.word()? != SCHEMA_VERSION => {
            Err(node.out_of_range(node.number(u64::BITS)?, "only version 1 is known"))
        }
        _ => Ok(()),
    }
}

/// Returns a name of printable characters.
fn name(root: &Node<'_>, key: &str) -> Result<Option<String>, CaptureError> {
    let Some(node) = root.get(key)? else { return Ok(None) };
    let text = node.text()?;
    let count = text.chars().count();
    if count == 0 || count > MOST_CHARACTERS || text.chars().any(char::is_control) {
        return Err(node.bad_text(text, "not 1 to 64 characters that can be printed"));
    }
    Ok(Some(text.to_owned()))
}

/// Returns the generation. It also follows from the version of the main block.
fn gfx_level(root: &Node<'_>, told: Option<GfxLevel>) -> Result<GfxLevel, CaptureError> {
    const OTHER: &str = "the versions in hw_ip";
    let Some(node) = root.get("gfx_level")? else {
        return told.ok_or_else(|| CaptureError::Missing { key: root.path("gfx_level") });
    };
    let text = node.text()?;
    let named = GfxLevel::ALL.into_iter().find(|level| level.name() == text);
    let named = named.ok_or_else(|| node.bad_text(text, "no generation from GFX6 to GFX12"))?;
    if told == Some(named) { Ok(named) } else { Err(CaptureError::Contradiction { key: node.key(), other: OTHER }) }
}

fn has_dedicated_vram(root: &Node<'_>, profile: &Profile) -> Result<(), CaptureError> {
    match root.get("has_dedicated_vram")? {
        Some(node) if node.boolean()? == profile.is_apu() => {
            Err(CaptureError::Contradiction { key: node.key(), other: "dev_info.ids_flags" })
        }
        _ => Ok(()),
    }
}

/// Returns a block; `None` for null, which stands for a block that was not captured.
fn block(blocks: &Node<'_>, name: &str) -> Result<Option<InfoHwIp>, CaptureError> {
    let Some(node) = blocks.get(name)? else { return Ok(None) };
    let block = structure::read(&node)?;
    checks::block(&node, &block)?;
    Ok(Some(block))
}

fn memory(node: &Node<'_>) -> Result<MemoryInfo, CaptureError> {
    let heap = |name| -> Result<HeapInfo, CaptureError> {
        let heap: HeapInfo = structure::read(&node.need(name)?)?;
        Ok(HeapInfo { heap_usage: 0, ..heap })
    };
    let memory =
        MemoryInfo { vram: heap("vram")?, cpu_accessible_vram: heap("cpu_accessible_vram")?, gtt: heap("gtt")? };
    checks::memory(node, &memory)?;
    Ok(memory)
}

/// Returns `true` if more than the totals of the memory was captured. A key says so; without the key, the presence of the fields
/// does.
fn is_captured(root: &Node<'_>) -> Result<bool, CaptureError> {
    if let Some(node) = root.get("memory_source")? {
        return Ok(node.text()? == CAPTURED);
    }
    let memory = root.need("memory")?;
    for heap in ["vram", "cpu_accessible_vram", "gtt"] {
        let heap = memory.need(heap)?;
        if heap.get("usable_heap_size")?.is_none() || heap.get("max_allocation")?.is_none() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The names of the video blocks in a capture.
pub(super) const VIDEO: [(&str, Ip); 6] = [
    ("uvd", Ip::Uvd),
    ("vce", Ip::Vce),
    ("uvd_enc", Ip::UvdEnc),
    ("vcn_dec", Ip::VcnDec),
    ("vcn_enc", Ip::VcnEnc),
    ("vcn_jpeg", Ip::VcnJpeg),
];

/// Returns the video engines. The chip lacks a block that is all zeros.
fn video(root: &Node<'_>, blocks: &Node<'_>) -> Result<Vec<VideoBlock>, CaptureError> {
    let mut video = Vec::new();
    for (name, ip) in VIDEO {
        let Some(block) = block(blocks, name)?.filter(|block| *block != InfoHwIp::ZEROED) else { continue };
        let instances = engines(root, name)?.unwrap_or(1);
        video.push(VideoBlock { ip, block, instances });
    }
    Ok(video)
}

/// Returns the answer to HW_IP_COUNT for a block. Older captures do not contain it.
fn engines(root: &Node<'_>, name: &str) -> Result<Option<u32>, CaptureError> {
    let Some(counts) = root.get("hw_ip_count")? else { return Ok(None) };
    let Some(node) = counts.get(name)? else { return Ok(None) };
    let count = node.word()?;
    if count > checks::MOST_ENGINES {
        return Err(node.out_of_range(count.into(), "the driver has room for 16"));
    }
    Ok(Some(count))
}

fn firmware(root: &Node<'_>) -> Result<Firmware, CaptureError> {
    let Some(versions) = root.get("fw_version")? else { return Ok(Firmware::default()) };
    let version = |name| match versions.get(name)? {
        Some(node) => structure::read(&node),
        None => Ok(InfoFirmware::ZEROED),
    };
    Ok(Firmware { me: version("gfx_me")?, pfp: version("gfx_pfp")?, mec: version("gfx_mec")? })
}

fn registers(root: &Node<'_>) -> Result<Vec<Register>, CaptureError> {
    let Some(list) = root.get("mmr_regs")? else { return Ok(Vec::new()) };
    let mut registers: Vec<Register> = Vec::new();
    for node in list.list(0, MOST_REGISTERS)? {
        let register = Register {
            name: name(&node, "name")?.unwrap_or_default(),
            dword_offset: node.need("dword_offset")?.word()?,
            instance: node.need("instance")?.word()?,
            value: node.need("value")?.word()?,
        };
        checks::instance(&node, register.instance)?;
        let is_same =
            |other: &&Register| (other.dword_offset, other.instance) == (register.dword_offset, register.instance);
        match registers.iter().find(is_same) {
            Some(other) if other.value != register.value => {
                return Err(CaptureError::Contradiction { key: node.key(), other: "an earlier entry of mmr_regs" });
            }
            Some(_) => {}
            None => registers.push(register),
        }
    }
    Ok(registers)
}
