//! Images of jobs: laid out in tiles as RADV does, filled, and read back.

use amdgpu_descriptors::{
    format::Format,
    vulkan::{AddressMode, Aspect, BorderColor, Filter, ViewType, VulkanImage, VulkanSampler, VulkanView},
};
use amdgpu_hw::{GfxLevel, GpuVa};
use amdgpu_surface::{
    Chip, addr1, addr2, addr3,
    surface::{Dimension, SurfaceLayout},
    tiler::Subresource,
};
use amdgpu_test_support::chips::recorded_chip;
use serde_json::Value;

use super::arena::Arena;

/// Returns a chip of the layout library's captures.
pub(crate) fn chip(name: &str) -> Chip {
    // Chips that code was compiled for and that were not captured have the tiling of a near one.
    let name = match name {
        "bonaire" => "hawaii",
        "gfx1201" => "gfx1200",
        name => name,
    };
    recorded_chip(name)
}

/// An image in memory.
pub(crate) struct TestImage {
    chip: Chip,
    image: VulkanImage,
    layout: SurfaceLayout,
    levels: Vec<(u64, u64, Subresource)>,
    base: u64,
}

impl TestImage {
    /// Lays out and fills the image of a binding.
    pub(crate) fn new(chip: &Chip, arena: &Arena, binding: &Value, data: &[u8]) -> Self {
        let of = |key: &str| binding[key].as_u64().unwrap_or(1) as u32;
        let depth = binding["depth"].as_u64();
        let image = VulkanImage {
            format: Format::named(binding["format"].as_str().unwrap()).unwrap(),
            dimension: if depth.is_some() { Dimension::D3 } else { Dimension::D2 },
            extent: [of("width"), of("height"), depth.unwrap_or(1) as u32],
            layers: of("layers"),
            levels: of("levels"),
            samples: 1,
            linear: false,
            // Sampled and stored.
            usage: 0xf,
        };
        let layout = image.layout(chip, Some(3)).unwrap();
        let base = arena.add_aligned(&vec![0; layout.total_bytes as usize], 1 << layout.total_align_log2);
        let levels = (0..image.levels).map(|level| subresource(chip, &image, &layout, base, level)).collect();
        let this = Self { chip: *chip, image, layout, levels, base };
        let mut rest = data;
        this.each(|at, bytes| {
            if let Some((texel, others)) = rest.split_at_checked(bytes) {
                arena.write(at, texel);
                rest = others;
            }
        });
        this
    }

    /// Calls a function with the address and the bytes of each texel, row by row, slice by slice, level by level.
    fn each(&self, mut action: impl FnMut(u64, usize)) {
        let bytes = self.image.format.bytes() as usize;
        for (number, (base, xor, level)) in self.levels.iter().enumerate() {
            let [width, height, depth] = self.image.extent.map(|size| (size >> number).max(1));
            for z in 0..depth.max(self.image.layers) {
                for (y, x) in (0..height).flat_map(|y| (0..width).map(move |x| (y, x))) {
                    action(base + (level.address(x, y, z, 0).unwrap() ^ xor), bytes);
                }
            }
        }
    }

    /// Returns the texels.
    pub(crate) fn read(&self, arena: &Arena) -> Vec<u8> {
        let mut all = Vec::new();
        self.each(|at, bytes| all.extend(arena.read(at, bytes)));
        all
    }

    /// Returns the descriptor that RADV gives the hardware.
    pub(crate) fn descriptor(&self, storage: bool, high: u64) -> [u32; 8] {
        let view = VulkanView {
            view: if self.image.dimension == Dimension::D3 { ViewType::D3 } else { ViewType::D2 },
            aspect: Aspect::Color,
            base_level: 0,
            level_count: self.image.levels,
            base_layer: 0,
            layer_count: self.image.layers,
            swizzle: amdgpu_descriptors::format::Swizzle::IDENTITY,
            storage,
        };
        let base = GpuVa::from_48_bits(high | self.base);
        self.image.descriptor(&self.chip, &self.layout, base, &view).unwrap().words()
    }
}

/// Returns where a level lies: its address, what offsets are XOR-ed with, and its order; from what the image was made of.
fn subresource(
    chip: &Chip,
    image: &VulkanImage,
    layout: &SurfaceLayout,
    base: u64,
    level: u32,
) -> (u64, u64, Subresource) {
    let [width, height, depth] = image.extent;
    let is_volume = image.dimension == Dimension::D3;
    let dimension = if is_volume { addr2::Dimension::D3 } else { addr2::Dimension::D2 };
    let (bits, slices) = (image.format.bytes() * 8, depth.max(image.layers));
    let swizzle = layout.tile_swizzle;
    if let Some(legacy) = &layout.legacy {
        let mut usage = addr1::Usage::empty();
        usage.set(addr1::Usage::VOLUME, is_volume);
        usage.set(addr1::Usage::POW2_PAD, image.levels > 1);
        let first = legacy.levels[0];
        let asked = addr1::Image {
            slices,
            levels: image.levels,
            usage,
            ..addr1::Image::new(addr1::TileMode::THIN_2D, addr1::TileType::NonDisplay, bits, first.pitch, height)
        };
        let found = addr1::layout_of_view(chip, &asked, first.tile_index.cast_unsigned()).unwrap();
        let (place, offset) = found.level(level as usize).unwrap();
        assert_eq!(*offset, legacy.levels[level as usize].offset, "Mesa's offset of level {level}");
        let (pipes, banks) = (place.info.pipes(), place.info.banks.max(1));
        let (pipe, bank) =
            if place.mode.is_macro() { (swizzle & (pipes - 1), (swizzle / pipes) & (banks - 1)) } else { (0, 0) };
        let addresser = addr1::Addresser::new(chip, &asked, place, bank, pipe).unwrap();
        return (base + offset, 0, Subresource::gfx6(&addresser).unwrap());
    }
    if chip.level() == GfxLevel::Gfx12 {
        let mode = addr3::Mode::new(layout.swizzle_mode).unwrap();
        let levels = image.levels;
        let asked = addr3::Image { dimension, slices, levels, ..addr3::Image::new(mode, bits, width, height) };
        let found = addr3::layout(chip, &asked).unwrap();
        return (base, u64::from(swizzle) << 8, Subresource::gfx12(&asked, &found, level).unwrap());
    }
    let mode = addr2::SwizzleMode::new(layout.swizzle_mode).unwrap();
    let asked =
        addr2::Image { dimension, slices, levels: image.levels, ..addr2::Image::new(mode, bits, width, height) };
    let found = addr2::layout(chip, &asked).unwrap();
    let addresser = addr2::Addresser::new(chip, &asked, &found, swizzle).unwrap();
    (base, 0, Subresource::gfx9(&addresser, level).unwrap())
}

/// Returns the descriptor of a binding's sampler.
pub(crate) fn sampler(level: GfxLevel, binding: &Value) -> [u32; 4] {
    let filter = if binding["filter"] == "linear" { Filter::Linear } else { Filter::Nearest };
    let address = match binding["wrap"].as_str().unwrap() {
        "repeat" => AddressMode::Repeat,
        "mirror" => AddressMode::MirroredRepeat,
        "border" => AddressMode::ClampToBorder,
        _ => AddressMode::ClampToEdge,
    };
    let sampler = VulkanSampler {
        mag: filter,
        min: filter,
        mipmap: filter,
        address: [address; 3],
        max_lod: 1000.0,
        border: BorderColor::OpaqueWhite,
        ..VulkanSampler::default()
    };
    sampler.descriptor(level, level >= GfxLevel::Gfx11).unwrap().words()
}
