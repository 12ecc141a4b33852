//! Memory dedicated to images, and the words that travel with it.

use amdgpu_descriptors::{
    Descriptor,
    fields::image::{BASE_ADDRESS, WIDTH},
    format::{Format, Swizzle},
    umd::UmdMetadata,
    vulkan::{Aspect, ViewType, VulkanImage, VulkanView},
};
use amdgpu_sim::{SimDevice, SimOptions};
use amdgpu_surface::surface::{Dimension, SurfaceConfig, SurfaceLayout};
use amdgpu_winsys::{
    heaps::{
        AllocateFlags, ExternalHandleTypes, ImageMetadataError, MemoryManager, MemoryPropertyFlags, SharedImage,
        TableOptions, image_metadata,
    },
    winsys::{Bo, Device},
};

use crate::support::{chip, chips};

/// A render target of several levels, which has DCC where the chip has it for such an image.
const IMAGE: VulkanImage = VulkanImage {
    format: Format::R8G8B8A8_UNORM,
    dimension: Dimension::D2,
    extent: [1000, 700, 1],
    layers: 1,
    levels: 4,
    samples: 1,
    linear: false,
    usage: 4 | 0x10,
};

#[test]
fn an_importer_learns_the_layout_of_an_image_on_every_chip() {
    for name in chips() {
        let gpu = SimDevice::new(chip(name), SimOptions::default());
        let [ours, theirs] = [(); 2].map(|()| Device::new(gpu.open()).unwrap());
        let manager = MemoryManager::new(&ours, &TableOptions::default()).unwrap();
        let chip = ours.info().surface_chip().unwrap();
        let (level, id) = (chip.level(), ours.info().device_id as u16);
        let layout = IMAGE.layout(&chip, Some(0)).unwrap();

        let needed = manager.properties().image_requirements(&layout, false);
        assert_eq!((needed.size, needed.alignment), (layout.total_bytes, 1 << layout.total_align_log2), "{name}");
        let local = MemoryPropertyFlags::DEVICE_LOCAL;
        let memory_type = manager.properties().find_type(needed.types, local, MemoryPropertyFlags::empty()).unwrap();
        let memory = manager.allocate(&needed.allocate_info(memory_type, AllocateFlags::EXPORTABLE)).unwrap();
        assert!(memory.size() >= needed.size && memory.address().is_aligned(needed.alignment), "{name}");

        let view = VulkanView {
            view: ViewType::D2,
            aspect: Aspect::Color,
            base_level: 0,
            level_count: IMAGE.levels,
            base_layer: 0,
            layer_count: 1,
            swizzle: Swizzle::IDENTITY,
            storage: false,
        };
        let descriptor = IMAGE.descriptor(&chip, &layout, memory.address(), &view).unwrap();
        let shared = SharedImage { device: id, descriptor, levels: IMAGE.levels };
        let words = image_metadata(&chip, &layout, Some(&shared)).unwrap();
        let fd = memory.export_image(ExternalHandleTypes::DMA_BUF, &words).unwrap();

        let read = Bo::import(&theirs, &fd).unwrap().metadata().unwrap();
        assert_eq!(read, words, "{name}");
        let mut config = SurfaceConfig::new(1000, 700, 4);
        config.apply_tiling_flags(&chip, read.tiling).unwrap();
        assert_eq!(config.swizzle_mode, layout.swizzle_mode, "{name}");
        let words: Vec<u32> =
            read.data.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
        let read = UmdMetadata::decode(level, id, &words, IMAGE.levels, 1).unwrap();
        assert_eq!(read.image.get(BASE_ADDRESS, level).unwrap(), 0, "{name}");
        assert_eq!(read.image.get(WIDTH, level), descriptor.get(WIDTH, level), "{name}");
        if let Some(legacy) = &layout.legacy {
            let offsets = legacy.levels.map(|level| level.offset);
            assert_eq!(read.levels[..4], offsets[..4], "{name}");
        }
    }
}

#[test]
fn a_word_without_room_for_an_image_is_refused() {
    let device = Device::new(SimDevice::new(chip("navi21"), SimOptions::default()).open()).unwrap();
    let chip = device.info().surface_chip().unwrap();
    let config = SurfaceConfig { layers: 40, ..SurfaceConfig::new(8192, 8192, 4) };
    let layout = SurfaceLayout::new(&chip, &config).unwrap();
    let error = image_metadata(&chip, &layout, None).unwrap_err();
    assert_eq!(error, ImageMetadataError::DccOffset { bytes: layout.total_bytes });
    let small = SurfaceLayout::new(&chip, &SurfaceConfig::new(64, 64, 4)).unwrap();
    let shared = SharedImage { device: 0x73bf, descriptor: Descriptor::default(), levels: 40 };
    assert!(matches!(image_metadata(&chip, &small, Some(&shared)), Err(ImageMetadataError::Words(_))));
    assert!(image_metadata(&chip, &small, None).unwrap().data.is_empty());
}
