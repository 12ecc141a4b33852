//! Buffer descriptors from views.

use amdgpu_hw::{GfxLevel, GpuVa};

use crate::descriptor::BufferDescriptor;
use crate::error::{DescriptorError, Feature};
use crate::fields::buffer as f;
use crate::format::{Format, Swizzle};

/// The rule for accesses out of bounds (GFX10 and later).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum OutOfBounds {
    /// The index is not below the number of records, or the offset not below the stride.
    #[default]
    StructuredWithOffset = 0,
    /// The index is not below the number of records.
    Structured = 1,
    /// Nothing, unless there are no records.
    Disabled = 2,
    /// The offset is not below the number of records, which are bytes.
    Raw = 3,
}

/// The part of a buffer that a shader sees.
///
/// Source: Mesa 25.0.7 `src/amd/common/ac_descriptors.c`, `ac_build_buffer_descriptor`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferView {
    /// The first byte.
    pub va: GpuVa,
    /// The number of records; bytes where there is no stride.
    pub num_records: u32,
    /// Bytes from one record to the next: up to 2^14 - 1, and on GFX8 and GFX9 with [`add_tid`](Self::add_tid) 2^18 - 1.
    pub stride: u32,
    /// The format of an element.
    pub format: Format,
    /// The sources of the shader's components.
    pub swizzle: Swizzle,
    /// Interleaves the records of a wave: 0 or 1; from GFX11 on 0 to 3 for no, 4, 8 or 16 bytes.
    pub swizzle_enable: u32,
    /// Lanes to interleave: 8, 16, 32 or 64 for 0 to 3.
    pub index_stride: u32,
    /// Bytes of an interleaved element: 2, 4, 8 or 16 for 0 to 3 (GFX6 to GFX8, else not used).
    pub element_size: u32,
    /// Adds the lane to the index.
    pub add_tid: bool,
    /// The rule for accesses out of bounds (GFX10 and later, else not used).
    pub oob: OutOfBounds,
    /// Loads find data compressed (GFX12, else not used).
    pub compression: bool,
    /// Stores keep data compressed (GFX12, else not used).
    pub write_compress: bool,
}

impl BufferView {
    /// Returns a view of `bytes` bytes: a storage or uniform buffer.
    pub const fn raw(va: GpuVa, bytes: u32) -> Self {
        Self {
            va,
            num_records: bytes,
            stride: 0,
            format: Format::R32_SFLOAT,
            swizzle: Swizzle::IDENTITY,
            swizzle_enable: 0,
            index_stride: 0,
            element_size: 0,
            add_tid: false,
            oob: OutOfBounds::Raw,
            compression: false,
            write_compress: false,
        }
    }

    /// Returns a view of the ring that carries vertex attributes to fragment shaders (GFX11 and later).
    ///
    /// # Errors
    ///
    /// [`DescriptorError::NoFeature`] before GFX11.
    pub const fn attribute_ring(va: GpuVa, bytes: u32, stride: u32, level: GfxLevel) -> Result<Self, DescriptorError> {
        if !matches!(level, GfxLevel::Gfx11 | GfxLevel::Gfx11_5 | GfxLevel::Gfx12) {
            return Err(DescriptorError::NoFeature { feature: Feature::AttributeRing, level });
        }
        Ok(Self {
            stride,
            format: Format::R32G32B32A32_SFLOAT,
            swizzle_enable: 3,
            index_stride: 2,
            oob: OutOfBounds::StructuredWithOffset,
            ..Self::raw(va, bytes)
        })
    }

    /// Returns the descriptor of the view.
    ///
    /// # Errors
    ///
    /// [`DescriptorError`] where the format is none of buffers, or a number does not fit.
    pub fn descriptor(&self, level: GfxLevel) -> Result<BufferDescriptor, DescriptorError> {
        let mut words = BufferDescriptor::default();
        let mut set = |field, value: u32| words.set(field, level, value);
        // With the lane added, the bits of the data format extend the stride.
        let long_stride = self.add_tid && matches!(level, GfxLevel::Gfx8 | GfxLevel::Gfx9);
        set(f::STRIDE, if long_stride { self.stride & 0x3fff } else { self.stride })?;
        set(f::SWIZZLE_ENABLE, self.swizzle_enable)?;
        set(f::NUM_RECORDS, self.num_records)?;
        let selects = [f::DST_SEL_X, f::DST_SEL_Y, f::DST_SEL_Z, f::DST_SEL_W];
        for (field, source) in selects.into_iter().zip(self.swizzle.sources()) {
            set(field, source.into())?;
        }
        set(f::INDEX_STRIDE, self.index_stride)?;
        set(f::ADD_TID_ENABLE, self.add_tid.into())?;
        if level <= GfxLevel::Gfx9 {
            let format = self.format.legacy_buffer(level)?;
            set(f::NUM_FORMAT, format.number)?;
            set(f::DATA_FORMAT, if long_stride { self.stride >> 14 } else { format.data })?;
            if level <= GfxLevel::Gfx8 {
                set(f::ELEMENT_SIZE, self.element_size)?;
            }
        } else {
            set(f::FORMAT, self.format.buffer(level)?)?;
            set(f::OOB_SELECT, self.oob as u32)?;
            if level < GfxLevel::Gfx11 {
                set(f::RESOURCE_LEVEL, 1)?;
            }
            if level >= GfxLevel::Gfx12 {
                set(f::COMPRESSION_EN, self.compression.into())?;
                set(f::WRITE_COMPRESS_ENABLE, self.write_compress.into())?;
            }
        }
        words.set(f::BASE_ADDRESS, level, self.va.low_48_bits().cast_signed())?;
        Ok(words)
    }
}
