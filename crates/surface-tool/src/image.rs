//! The image that a command line describes.

use amdgpu_descriptors::format::Format;
use amdgpu_descriptors::vulkan::{ImageMemory, VulkanImage};
use amdgpu_surface::Chip;
use amdgpu_surface::modifier::Modifier;
use amdgpu_surface::surface::{Dimension, SurfaceConfig, SurfaceLayout, SurfaceUsage};
use clap::{Args, ValueEnum};

use crate::chip;
use crate::format;
use crate::outcome::Error;

/// A chip, and an image of it.
#[derive(Args, Clone, Debug)]
pub(crate) struct ImageArguments {
    /// The chip: a name such as navi21, or the file of a capture
    #[arg(long, value_name = "CHIP|FILE.json")]
    pub(crate) gpu: String,
    /// The format, by Vulkan's name
    #[arg(long)]
    pub(crate) format: String,
    /// Width and height in texels, and the depth of a volume
    #[arg(long, value_name = "WxH[xD]", value_parser = size)]
    pub(crate) size: Size,
    /// Dimension [default: what the size says]
    #[arg(long = "type", value_enum)]
    pub(crate) dimension: Option<ImageKind>,
    /// Array layers
    #[arg(long, default_value_t = 1)]
    pub(crate) layers: u32,
    /// Mip levels
    #[arg(long, default_value_t = 1)]
    pub(crate) levels: u32,
    /// Samples
    #[arg(long, default_value_t = 1)]
    pub(crate) samples: u32,
    /// Uses, with commas between them
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = [Use::Sampled])]
    pub(crate) usage: Vec<Use>,
    /// Rows instead of tiles
    #[arg(long)]
    pub(crate) linear: bool,
    /// The layout that a DRM format modifier names
    #[arg(long, value_name = "NUMBER", value_parser = number)]
    pub(crate) modifier: Option<u64>,
    /// Number of the image among those that are spread over channels [default: not spread]
    #[arg(long, value_name = "NUMBER")]
    pub(crate) index: Option<u32>,
    /// Minor version of the kernel's interface, which decides about the display's DCC
    #[arg(long, value_name = "NUMBER", default_value_t = 54)]
    pub(crate) drm_minor: u32,
}

/// Width, height and depth.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size([u32; 3], bool);

/// The dimension of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ImageKind {
    #[value(name = "1d")]
    D1,
    #[value(name = "2d")]
    D2,
    #[value(name = "3d")]
    D3,
    Cube,
}

/// A use of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Use {
    TransferSrc,
    TransferDst,
    Sampled,
    Storage,
    Color,
    Depth,
    Input,
    /// Scanned out by the display
    Scanout,
    /// Partially resident
    Sparse,
    /// Shared with other processes
    Shared,
}

/// Bits of `VkImageUsageFlags`.
const fn vulkan_bit(usage: Use) -> u32 {
    match usage {
        Use::TransferSrc => 1,
        Use::TransferDst => 2,
        Use::Sampled => 4,
        Use::Storage => 8,
        Use::Color => 0x10,
        Use::Depth => 0x20,
        Use::Input => 0x80,
        Use::Scanout | Use::Sparse | Use::Shared => 0,
    }
}

fn size(text: &str) -> Result<Size, String> {
    let sides: Option<Vec<u32>> = text.split(['x', 'X']).map(|side| side.parse().ok()).collect();
    match sides.as_deref() {
        Some(&[w]) => Ok(Size([w, 1, 1], false)),
        Some(&[w, h]) => Ok(Size([w, h, 1], false)),
        Some(&[w, h, d]) => Ok(Size([w, h, d], true)),
        _ => Err("a size is width, height and perhaps depth, such as 1920x1080 or 64x64x16".to_owned()),
    }
}

fn number(text: &str) -> Result<u64, String> {
    let found = text.strip_prefix("0x").map_or_else(|| text.parse(), |digits| u64::from_str_radix(digits, 16));
    found.map_err(|error| format!("a number is decimal, or hexadecimal with 0x before it: {error}"))
}

/// An image with its chip and layout.
#[derive(Debug)]
pub(crate) struct Image {
    pub(crate) gpu: String,
    pub(crate) chip: Chip,
    pub(crate) format: Format,
    pub(crate) config: SurfaceConfig,
    pub(crate) layout: SurfaceLayout,
}

impl ImageArguments {
    /// Lays out the image.
    pub(crate) fn image(&self) -> Result<Image, Error> {
        let named = chip::named(&self.gpu, self.drm_minor)?;
        let format = format::named(&self.format)?;
        let Size(extent, has_depth) = self.size;
        let dimension = match self.dimension {
            Some(ImageKind::D1) => Dimension::D1,
            Some(ImageKind::Cube) => Dimension::Cube,
            kind if kind == Some(ImageKind::D3) || kind.is_none() && has_depth => Dimension::D3,
            _ => Dimension::D2,
        };
        let image = VulkanImage {
            format,
            dimension,
            extent,
            layers: self.layers,
            levels: self.levels,
            samples: self.samples,
            linear: self.linear,
            usage: self.usage.iter().fold(0, |bits, &usage| bits | vulkan_bit(usage)),
        };
        let modifier = self.modifier.map(|number| {
            Modifier::decode(number).map_err(|error| Error::Modifier { text: format!("{number:#x}"), error })
        });
        let memory = ImageMemory {
            external: self.usage.contains(&Use::Shared),
            sparse: self.usage.contains(&Use::Sparse),
            modifier: modifier.transpose()?,
        };
        let mut config = image.surface_in(named.chip.level(), &memory, self.index);
        config.channels = format.channel_count();
        config.usage.set(SurfaceUsage::SCANOUT, self.usage.contains(&Use::Scanout));
        let layout = SurfaceLayout::new(&named.chip, &config)?;
        Ok(Image { gpu: named.name, chip: named.chip, format, config, layout })
    }
}

impl Image {
    /// Returns width, height and slices of a level in elements.
    pub(crate) fn extent(&self, level: u32) -> [u32; 3] {
        let config = &self.config;
        let minify = |side: u32| side.checked_shr(level).unwrap_or(0).max(1);
        let slices = match config.dimension {
            Dimension::D3 => minify(config.depth),
            Dimension::Cube => 6,
            _ => config.layers,
        };
        [minify(config.width).div_ceil(config.block.0), minify(config.height).div_ceil(config.block.1), slices]
    }
}
