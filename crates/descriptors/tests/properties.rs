//! Rules that hold for any dwords and any views.

use amdgpu_descriptors::fields::image::ALPHA_IS_ON_MSB;
use amdgpu_descriptors::format::{Format, Swizzle};
use amdgpu_descriptors::target::{
    ColorDcc, ColorFmask, ColorTarget, ColorTiling, DepthHtile, DepthTarget, DepthTiling,
};
use amdgpu_descriptors::view::{
    BufferView, Clamp, FmaskView, ImageKind, ImageMeta, ImagePlace, ImageView, OutOfBounds, SamplerState, Tiling,
};
use amdgpu_descriptors::vulkan::{Aspect, ViewType, VulkanImage, VulkanView};
use amdgpu_descriptors::{Buffer, Descriptor, Field, FieldError, Image, Kind, Sampler};
use amdgpu_hw::{GfxLevel, GpuVa};
use amdgpu_surface::surface::Dimension;
use amdgpu_surface::{Chip, ChipRegisters};
use proptest::prelude::*;
use proptest::sample::select;

fn level() -> impl Strategy<Value = GfxLevel> {
    select(GfxLevel::ALL.to_vec())
}

fn from_slice<K: Kind>(dwords: &[u32]) -> Descriptor<K> {
    let mut words = K::Words::default();
    words.as_mut().iter_mut().zip(dwords).for_each(|(word, dword)| *word = *dword);
    Descriptor::from_words(words)
}

/// Takes dwords apart and puts them together again.
fn again<K: Kind>(dwords: &[u32], level: GfxLevel) {
    let words: Descriptor<K> = from_slice(dwords);
    let mut built: Descriptor<K> = Descriptor::from_words(words.reserved(level));
    for field in words.decode(level) {
        built.set(field.field, level, field.value).unwrap();
    }
    assert_eq!(built, words);
}

/// Sets each field to a number in its range, and reads it back.
fn set_and_get<K: Kind>(dwords: &[u32], dice: u64, level: GfxLevel) {
    for &field in K::FIELDS {
        let mut words: Descriptor<K> = from_slice(dwords);
        let Ok(place) = field.place(level) else {
            let missing = FieldError::NoSuchField { descriptor: K::NAME, field: field.name(), level };
            assert_eq!(words.set(field, level, 0), Err(missing));
            continue;
        };
        let (least, most) = place.range();
        let value = least + (dice % ((most - least).cast_unsigned() + 1)).cast_signed();
        let value = value - value.rem_euclid(place.alignment()) * i64::from(place.alignment() > 1);
        words.set(field, level, value).unwrap();
        assert_eq!(words.get(field, level), Ok(value), "{field:?} {level}");
        let before = words;
        assert!(words.set(field, level, most + 1).is_err());
        assert!(words.set(field, level, least - 1).is_err());
        assert_eq!(words, before, "a refused number changes nothing");
        let own: u32 = place.parts().iter().map(|&(_, _, bits)| u32::from(bits)).sum();
        let changed = from_slice::<K>(dwords).words();
        let changed =
            changed.as_ref().iter().zip(words.words().as_ref()).map(|(a, b)| (a ^ b).count_ones()).sum::<u32>();
        assert!(changed <= own, "{field:?} {level} changes bits of others");
    }
}

/// Returns pairs of fields with common bits that say nothing of it.
fn overlaps<K: Kind>(level: GfxLevel) -> Vec<(&'static str, &'static str)> {
    let bits = |field: Field<K>| {
        let parts = field.on(level).map(amdgpu_descriptors::Place::parts).unwrap_or_default();
        parts.iter().flat_map(|&(word, low, bits)| (low..low + bits).map(move |bit| (word, bit))).collect::<Vec<_>>()
    };
    let mut found = Vec::new();
    for (at, one) in K::FIELDS.iter().enumerate() {
        for other in &K::FIELDS[..at] {
            let theirs = bits(*other);
            let said = [(one, other), (other, one)]
                .into_iter()
                .any(|(a, b)| a.on(level).and_then(amdgpu_descriptors::Place::instead_of_field) == Some(b.name()));
            if !said && bits(*one).iter().any(|bit| theirs.contains(bit)) {
                found.push((other.name(), one.name()));
            }
        }
    }
    found
}

#[test]
fn no_two_fields_share_bits_unless_one_says_so() {
    for level in GfxLevel::ALL {
        assert_eq!(overlaps::<Buffer>(level), []);
        assert_eq!(overlaps::<Image>(level), []);
        assert_eq!(overlaps::<Sampler>(level), []);
    }
}

#[test]
fn a_field_is_found_by_its_name_in_any_case() {
    for field in Image::FIELDS {
        assert_eq!(Field::<Image>::named(&field.name().to_uppercase()), Some(*field));
    }
    assert_eq!(Field::<Image>::named("width_lo"), None);
}

#[test]
fn values_have_names_on_every_generation_that_has_the_field() {
    for level in GfxLevel::ALL {
        let words: Descriptor<Image> = from_slice(&[0, 0, 0, 9 << 28 | 4]);
        let named = |name| words.decode(level).find(|field| field.field.name() == name).and_then(|field| field.name);
        assert_eq!(named("type"), Some("sq_rsrc_img_2d"), "{level}");
        assert_eq!(named("dst_sel_x"), Some("sq_sel_x"), "{level}");
    }
}

#[test]
fn what_a_generation_lacks_is_refused() {
    let fmask = FmaskView {
        base: GpuVa::NULL,
        offset: 0,
        is_array: false,
        width: 8,
        height: 8,
        layers: 1,
        first_layer: 0,
        last_layer: 0,
        samples: 4,
        storage_samples: 4,
        tiling: Tiling::Modern { mode: 24, pitch: None },
        tile_swizzle: 0,
        cmask_offset: None,
    };
    assert!(fmask.descriptor(GfxLevel::Gfx10_3).is_ok());
    assert_eq!(fmask.descriptor(GfxLevel::Gfx11).unwrap_err().to_string(), "GFX11 has no FMASK here");
    let three = BufferView { format: Format::R8G8B8_SRGB, ..BufferView::raw(GpuVa::NULL, 16) };
    let error = three.descriptor(GfxLevel::Gfx11).unwrap_err();
    assert_eq!(error.to_string(), "R8G8B8_SRGB is no format of buffers on GFX11");
    let wide = BufferView { stride: 1 << 14, ..BufferView::raw(GpuVa::NULL, 16) };
    let error = wide.descriptor(GfxLevel::Gfx10).unwrap_err();
    assert_eq!(error.to_string(), "SQ_BUF_RSRC.stride = 16384 is not within 0 to 16383");
}

#[test]
fn a_compressed_format_is_none_of_buffers() {
    for level in GfxLevel::ALL {
        let view = BufferView { format: Format::BC1_RGB_UNORM_BLOCK, ..BufferView::raw(GpuVa::NULL, 16) };
        assert!(view.descriptor(level).is_err(), "{level}");
    }
}

fn format() -> impl Strategy<Value = Format> {
    (0..Format::all().len()).prop_map(|at| Format::all().nth(at).unwrap())
}

fn any_va() -> impl Strategy<Value = GpuVa> {
    any::<u64>().prop_map(|raw| GpuVa::from_48_bits(raw & !0xff))
}

/// Small numbers as often as any.
fn number() -> impl Strategy<Value = u32> {
    prop_oneof![0_u32..20, any::<u32>()]
}

fn tiling() -> impl Strategy<Value = Tiling> {
    prop_oneof![
        (number(), number(), any::<bool>()).prop_map(|(index, pitch, macro_tiled)| Tiling::Legacy {
            index,
            pitch,
            macro_tiled
        }),
        (number(), number()).prop_map(|(mode, epitch)| Tiling::Gfx9 { mode, epitch }),
        (number(), proptest::option::of(number())).prop_map(|(mode, pitch)| Tiling::Modern { mode, pitch }),
    ]
}

fn meta() -> impl Strategy<Value = Option<ImageMeta>> {
    prop_oneof![
        Just(None),
        (any::<u64>(), any::<u64>(), any::<u32>(), any::<[bool; 3]>()).prop_map(
            |(offset, level_offset, align_log2, [pipe_aligned, rb_aligned, alpha_is_on_msb])| Some(ImageMeta::Dcc {
                offset,
                level_offset,
                align_log2,
                pipe_aligned,
                rb_aligned,
                alpha_is_on_msb,
            })
        ),
        (any::<u64>(), any::<bool>()).prop_map(|(offset, iterate_256)| Some(ImageMeta::Htile { offset, iterate_256 })),
    ]
}

fn place() -> impl Strategy<Value = ImagePlace> {
    (any_va(), prop_oneof![Just(0), any::<u64>()], number(), tiling(), meta(), 0_u32..4).prop_map(
        |(base, offset, tile_swizzle, tiling, meta, max_compressed_block)| ImagePlace {
            base,
            offset,
            tile_swizzle,
            tiling,
            meta,
            max_compressed_block,
        },
    )
}

#[test]
fn a_descriptor_is_shown_by_fields_with_names_and_units() {
    let words = BufferView::raw(GpuVa::new(0x8000).unwrap(), 4096).descriptor(GfxLevel::Gfx10_3).unwrap();
    assert_eq!(
        words.show(GfxLevel::Gfx10_3).to_string(),
        "buffer, base_address 0x8000, num_records 4096, dst_sel_x x, dst_sel_y y, dst_sel_z z, dst_sel_w w, format 32_float, \
         resource_level 1, oob_select raw"
    );
}

/// Reads the JSON of a descriptor back.
fn from_json<K: Kind>(text: &str, level: GfxLevel) -> Descriptor<K> {
    let json: serde_json::Value = serde_json::from_str(text).unwrap();
    let reserved: Vec<u32> =
        json["reserved"].as_array().unwrap().iter().map(|word| word.as_u64().unwrap() as u32).collect();
    let mut words: Descriptor<K> = from_slice(&reserved);
    for (name, value) in json["fields"].as_object().unwrap() {
        words.set(Field::named(name).unwrap(), level, value.as_i64().unwrap()).unwrap();
    }
    words
}

proptest! {
    #[test]
    fn the_json_of_any_dwords_gives_them_back(dwords in any::<[u32; 8]>(), level in level()) {
        let image: Descriptor<Image> = from_slice(&dwords);
        prop_assert_eq!(from_json::<Image>(&image.json(level).to_string(), level), image);
        let sampler: Descriptor<Sampler> = from_slice(&dwords);
        prop_assert_eq!(from_json::<Sampler>(&sampler.json(level).to_string(), level), sampler);
        let lines = format!("{:#}", image.show(level)).lines().count();
        prop_assert!(lines > 20, "{} lines", lines);
    }

    #[test]
    fn dwords_taken_apart_and_put_together_are_the_same(dwords in any::<[u32; 8]>(), level in level()) {
        again::<Buffer>(&dwords, level);
        again::<Image>(&dwords, level);
        again::<Sampler>(&dwords, level);
    }

    #[test]
    fn a_field_that_is_set_reads_back_and_touches_no_other_bits(
        dwords in any::<[u32; 8]>(), dice in any::<u64>(), level in level(),
    ) {
        set_and_get::<Buffer>(&dwords, dice, level);
        set_and_get::<Image>(&dwords, dice, level);
        set_and_get::<Sampler>(&dwords, dice, level);
    }

    #[test]
    fn any_image_view_is_a_descriptor_that_says_it_or_an_error(
        (kind, format, place, level) in (8_i64..16, format(), place(), level()),
        n in proptest::array::uniform10(number()),
        flags in any::<[bool; 5]>(), min_lod in any::<f32>(),
    ) {
        let [width, height, depth, first_layer, last_layer, num_levels, first_level, last_level, samples, storage_samples] = n;
        let view = ImageView {
            kind: ImageKind::of(kind).unwrap(),
            format, swizzle: Swizzle::IDENTITY, width, height, depth, first_layer, last_layer, num_levels, first_level,
            last_level, samples, storage_samples, min_lod, slice_view: flags[0], widened_depth: flags[1],
            aniso_single_level: flags[2], no_edge_clamp: flags[3], write_compress: flags[4], stencil_beside: None, place,
        };
        if let Ok(words) = view.descriptor(level) {
            use amdgpu_descriptors::fields::image;
            prop_assert_eq!(words.get(image::WIDTH, level), Ok(width.into()));
            prop_assert_eq!(words.get(image::HEIGHT, level), Ok(height.into()));
            prop_assert_eq!(words.get(image::TYPE, level), Ok(kind));
            prop_assert_eq!(words.get(image::BASE_ARRAY, level), Ok(first_layer.into()));
        }
    }

    #[test]
    fn any_buffer_view_is_a_descriptor_that_says_it_or_an_error(
        va in any_va(), format in format(), n in proptest::array::uniform5(number()), add_tid in any::<bool>(), level in level(),
    ) {
        let [num_records, stride, swizzle_enable, index_stride, element_size] = n;
        let view = BufferView {
            stride, format, swizzle_enable, index_stride, element_size, add_tid, oob: OutOfBounds::Structured,
            ..BufferView::raw(va, num_records)
        };
        if let Ok(words) = view.descriptor(level) {
            use amdgpu_descriptors::fields::buffer;
            prop_assert_eq!(words.base_address(level), va);
            prop_assert_eq!(words.get(buffer::NUM_RECORDS, level), Ok(num_records.into()));
        }
    }

    #[test]
    fn any_sampler_is_a_descriptor_or_an_error(n in proptest::array::uniform8(number()), lods in any::<[f32; 3]>(), level in level()) {
        let state = SamplerState {
            clamp: [Clamp::Border; 3], max_aniso_ratio: n[0], depth_compare_func: n[1], filter_mode: n[2], mag_filter: n[3],
            min_filter: n[4], mip_filter: n[5], border_color_type: n[6], border_color_ptr: n[7],
            min_lod: lods[0], max_lod: lods[1], lod_bias: lods[2], ..SamplerState::default()
        };
        if let Ok(words) = state.descriptor(level) {
            let most = if level >= GfxLevel::Gfx12 { 17 } else { 15 };
            let max = words.get(amdgpu_descriptors::fields::sampler::MAX_LOD, level).unwrap();
            prop_assert!((0..=most * 256).contains(&max));
        }
    }

    #[test]
    fn any_target_is_registers_or_an_error(
        (format, base, level) in (format(), any_va(), level()),
        n in proptest::array::uniform20(number()), offset in any::<u64>(), flags in any::<[bool; 6]>(), dcc in meta(),
    ) {
        let is_legacy = flags[0];
        let color = ColorTarget {
            format, base, offset, tile_swizzle: n[0], width: n[1], height: n[2], resource_type: n[3], first_layer: n[4],
            last_layer: n[5], mip0_depth: n[6], samples: n[7], storage_samples: n[8], level: n[9], num_levels: n[10],
            tiling: if is_legacy {
                ColorTiling::Legacy {
                    index: n[11], blocks_x: n[12], blocks_y: n[13], macro_tiled: flags[1], bank_height: n[14],
                    cmask_slice_tile_max: n[15],
                }
            } else {
                ColorTiling::Modern {
                    mode: n[11], fmask_mode: n[12], epitch: n[13], pitch: flags[1].then_some(n[14]),
                    pipe_aligned: flags[2], rb_aligned: flags[3],
                }
            },
            dcc,
            dcc_blocks: ColorDcc { independent_64: flags[2], independent_128: flags[3], max_compressed: n[16] },
            dcc_block_32: flags[4],
            fmask: flags[5].then_some(ColorFmask {
                offset, tile_swizzle: n[16], index: n[17], pitch: n[18], slice_tile_max: n[19], bank_height: n[14],
            }),
            cmask: flags[4].then_some(offset), fast_clear: flags[3], tc_compatible_cmask: flags[2],
        };
        if let Ok(out) = color.registers(level) {
            prop_assert!(out.writes(level).all(|write| write.register.offset(level).is_some()));
        }
        let depth = DepthTarget {
            format, base, offset, stencil_offset: u64::from(n[0]), width: n[1], height: n[2], level: n[9], num_levels: n[10],
            samples: n[7], first_layer: n[4], last_layer: n[5], z_read_only: flags[1], stencil_read_only: flags[2],
            zrange_precision: flags[3],
            htile: flags[4].then_some(DepthHtile {
                offset: n[6].into(), allow_expclear: flags[1], stencil_disabled: flags[2], tc_compatible: flags[3], vrs: flags[5],
            }),
            no_d16_compression: flags[5], two_planes_bug: flags[2],
            tiling: if is_legacy {
                DepthTiling::Legacy {
                    blocks_x: n[11], blocks_y: n[12], index: n[13], stencil_index: n[14], tile_mode: n[15],
                    stencil_tile_mode: n[16], macrotile_mode: n[17],
                }
            } else {
                DepthTiling::Modern {
                    mode: n[11], stencil_mode: n[12], epitch: n[13], stencil_epitch: n[14], hiz: None, his: None,
                }
            },
        };
        if let Ok(out) = depth.registers(level) {
            prop_assert!(out.writes(level).all(|write| write.register.offset(level).is_some()));
        }
    }
}

#[test]
fn raven2_and_renoir_invert_the_place_of_alpha_of_one_channel() {
    let chip = |external_rev| Chip::new(&ChipRegisters::new(GfxLevel::Gfx9, 0x8e, external_rev, 0x2601_0042)).unwrap();
    let (raven, raven2, renoir) = (chip(0x01), chip(0x81), chip(0x91));
    for (format, channels, common) in [
        (Format::R8_UNORM, 1, false),
        (Format::R32_UINT, 1, false),
        (Format::R8G8_UNORM, 2, true),
        (Format::R8G8B8A8_UNORM, 4, true),
    ] {
        let alpha = |chip: &Chip| {
            let image = VulkanImage {
                format,
                dimension: Dimension::D2,
                extent: [1920, 1080, 1],
                layers: 1,
                levels: 1,
                samples: 1,
                linear: false,
                usage: 4 | 0x10,
            };
            let view = VulkanView {
                view: ViewType::D2,
                aspect: Aspect::Color,
                base_level: 0,
                level_count: 1,
                base_layer: 0,
                layer_count: 1,
                swizzle: Swizzle::IDENTITY,
                storage: false,
            };
            let layout = image.layout(chip, None).unwrap();
            assert!(layout.meta.is_some(), "{format} has DCC");
            let words = image.descriptor(chip, &layout, GpuVa::new(0x10_0000).unwrap(), &view).unwrap();
            words.get(ALPHA_IS_ON_MSB, GfxLevel::Gfx9).unwrap() != 0
        };
        assert_eq!(format.channel_count(), channels, "{format}");
        assert_eq!(alpha(&raven), common, "{format}");
        for inverting in [raven2, renoir] {
            assert_eq!(alpha(&inverting), common != (channels == 1), "{format}");
        }
    }
}

#[test]
fn a_format_decides_two_fields_of_the_tiling_word_of_gfx12() {
    // RADV's words of exported images: the data format of colour targets from bit 8 on, the number type from bit 5 on.
    let (uint, four) = (Format::R8G8_UINT, Format::R4G4B4A4_UNORM_PACK16);
    assert_eq!(four.compression_tiling(GfxLevel::Gfx12), 0x1300);
    assert_eq!(uint.compression_tiling(GfxLevel::Gfx12), 3 << 8 | 4 << 5);
    assert_eq!(uint.compression_tiling(GfxLevel::Gfx11_5), 0);
    assert_eq!(Format::D16_UNORM.compression_tiling(GfxLevel::Gfx12), 0x200);
    assert_eq!(Format::BC1_RGB_UNORM_BLOCK.compression_tiling(GfxLevel::Gfx12), 0xe0);
}
