//! The images that the driver is asked about.

use ash::vk;

use crate::gpu::{ImageKind, Shape};

/// The first and the last `VkFormat` of the core and of the extensions that AMD's GPUs have.
const FORMATS: [(i32, i32); 5] = [
    (vk::Format::R4G4_UNORM_PACK8.as_raw(), vk::Format::ASTC_12X12_SRGB_BLOCK.as_raw()),
    (vk::Format::G8B8G8R8_422_UNORM.as_raw(), vk::Format::G16_B16_R16_3PLANE_444_UNORM.as_raw()),
    (vk::Format::G8_B8R8_2PLANE_444_UNORM.as_raw(), vk::Format::G16_B16R16_2PLANE_444_UNORM.as_raw()),
    (vk::Format::A4R4G4B4_UNORM_PACK16.as_raw(), vk::Format::A4B4G4R4_UNORM_PACK16.as_raw()),
    (vk::Format::A1B5G5R5_UNORM_PACK16_KHR.as_raw(), vk::Format::A8_UNORM_KHR.as_raw()),
];

/// Returns every format.
pub(super) fn formats() -> impl Iterator<Item = vk::Format> {
    FORMATS.into_iter().flat_map(|(first, last)| first..=last).map(vk::Format::from_raw)
}

/// Uses that decide differently about tiling or compression.
pub(super) fn usages() -> [vk::ImageUsageFlags; 10] {
    use vk::ImageUsageFlags as U;
    [
        U::TRANSFER_SRC,
        U::TRANSFER_DST,
        U::SAMPLED,
        U::STORAGE,
        U::COLOR_ATTACHMENT,
        U::DEPTH_STENCIL_ATTACHMENT,
        U::SAMPLED | U::COLOR_ATTACHMENT | U::TRANSFER_DST,
        U::SAMPLED | U::STORAGE | U::COLOR_ATTACHMENT | U::TRANSFER_SRC,
        U::SAMPLED | U::DEPTH_STENCIL_ATTACHMENT,
        U::INPUT_ATTACHMENT | U::DEPTH_STENCIL_ATTACHMENT,
    ]
}

/// Returns the uses that a tiling with these features has.
pub(super) fn allowed(features: vk::FormatFeatureFlags) -> vk::ImageUsageFlags {
    use vk::{FormatFeatureFlags as F, ImageUsageFlags as U};
    let pairs = [
        (F::TRANSFER_SRC, U::TRANSFER_SRC),
        (F::TRANSFER_DST, U::TRANSFER_DST),
        (F::SAMPLED_IMAGE, U::SAMPLED),
        (F::STORAGE_IMAGE, U::STORAGE),
        (F::COLOR_ATTACHMENT, U::COLOR_ATTACHMENT | U::INPUT_ATTACHMENT),
        (F::DEPTH_STENCIL_ATTACHMENT, U::DEPTH_STENCIL_ATTACHMENT | U::INPUT_ATTACHMENT),
    ];
    let has = |pair: &(F, U)| features.contains(pair.0);
    pairs.into_iter().filter(has).fold(U::empty(), |uses, (_, usage)| uses | usage)
}

/// Returns the width and height in texels that share chroma, of which an image's sizes are multiples.
fn subsampling(format: vk::Format) -> [u32; 2] {
    let name = format!("{format:?}");
    match (name.contains("_420_"), name.contains("_422_")) {
        (true, _) => [2, 2],
        (_, true) => [2, 1],
        _ => [1, 1],
    }
}

const fn flat(width: u32, height: u32, layers: u32, levels: u32, samples: u32) -> Shape {
    Shape { extent: [width, height, 1], layers, levels, samples }
}

/// The most levels that a size has; the limits cut it.
const CHAIN: u32 = 16;

const ROWS: [Shape; 4] =
    [flat(1, 1, 1, 1, 1), flat(100, 1, 3, 1, 1), flat(1000, 1, 1, CHAIN, 1), flat(5000, 1, 2, CHAIN, 1)];

/// Both sides of 8x8 texels, below which RADV has no HTILE, and of 512x512, up to which it has no fast clears.
const PLANES: [Shape; 17] = [
    flat(1, 1, 1, 1, 1),
    flat(7, 9, 1, CHAIN, 1),
    flat(300, 2, 1, 1, 1),
    flat(37, 29, 3, CHAIN, 1),
    flat(256, 256, 1, 1, 1),
    flat(513, 512, 1, 1, 1),
    flat(640, 480, 1, CHAIN, 1),
    flat(1023, 777, 6, 1, 1),
    flat(1024, 1024, 12, CHAIN, 1),
    flat(1920, 1080, 1, 1, 1),
    flat(4096, 4096, 1, CHAIN, 1),
    flat(130, 66, 1, 1, 2),
    flat(1280, 720, 1, 1, 2),
    flat(130, 66, 1, 1, 4),
    flat(1000, 700, 3, 1, 4),
    flat(1920, 1080, 1, 1, 8),
    flat(60, 60, 2, 1, 8),
];

const fn volume(width: u32, height: u32, depth: u32, levels: u32) -> Shape {
    Shape { extent: [width, height, depth], layers: 1, levels, samples: 1 }
}

const VOLUMES: [Shape; 5] = [
    volume(1, 1, 1, 1),
    volume(33, 17, 5, CHAIN),
    volume(64, 64, 64, CHAIN),
    volume(300, 200, 3, 1),
    volume(600, 600, 20, 1),
];

/// Returns the sizes of images of a kind, within its limits.
pub(super) fn shapes(kind: &ImageKind, limits: &vk::ImageFormatProperties) -> Vec<Shape> {
    let candidates: &[Shape] = match kind.dimension {
        vk::ImageType::TYPE_1D => &ROWS,
        vk::ImageType::TYPE_3D => &VOLUMES,
        _ => &PLANES,
    };
    let is_cube = kind.flags.contains(vk::ImageCreateFlags::CUBE_COMPATIBLE);
    let [x, y] = subsampling(kind.format);
    // Partial residency of several samples is a feature of its own.
    let is_sparse = kind.flags.contains(vk::ImageCreateFlags::SPARSE_RESIDENCY);
    let mut shapes: Vec<Shape> = Vec::new();
    for &candidate in candidates {
        let [width, height, depth] = candidate.extent;
        let longest = width.max(height).max(depth);
        let levels = candidate.levels.min(limits.max_mip_levels).min(longest.ilog2() + 1);
        let layers = candidate.layers.min(limits.max_array_layers);
        let shape = Shape { layers, levels, ..candidate };
        let most = limits.max_extent;
        let fits = width <= most.width
            && height <= most.height
            && depth <= most.depth
            && limits.sample_counts.as_raw() & candidate.samples != 0
            && width % x == 0
            && height % y == 0
            && (!is_sparse || candidate.samples == 1)
            && (!is_cube || width == height && layers % 6 == 0);
        if fits && !shapes.contains(&shape) {
            shapes.push(shape);
        }
    }
    shapes
}
