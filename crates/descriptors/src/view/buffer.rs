//! Buffer views and their descriptors.

use amdgpu_hw::{GfxLevel, GpuVa};

use crate::descriptor::BufferDescriptor;
use crate::error::{DescriptorError, Feature};
use crate::fields::buffer as f;
use crate::format::{Format, Swizzle};

/// The rule that decides whether an access is out of bounds (GFX10 and later).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum OutOfBounds {
    /// An access is out of bounds if its index is not below the number of records or its offset is not below the stride.
    #[default]
    StructuredWithOffset = 0,
    /// An access is out of bounds if its index is not below the number of records.
    Structured = 1,
    /// No access is out of bounds, unless the number of records is 0.
    Disabled = 2,
    /// An access is out of bounds if its offset is not below the number of records, which are counted in bytes.
    Raw = 3,
}

/// The part of a buffer that a shader accesses.
///
/// Source: Mesa 25.0.7 `src/amd/common/ac_descriptors.c`, `ac_build_buffer_descriptor`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferView {
    /// The address of the first byte.
    pub va: GpuVa,
    /// The number of records; the number of bytes if the stride is 0.
    pub num_records: u32,
    /// The distance between records in bytes: up to 2^14 - 1, or 2^18 - 1 on GFX8 and GFX9 with [`add_tid`](Self::add_tid).
    pub stride: u32,
    /// The format of an element.
    pub format: Format,
    /// The source of each component that the shader sees.
    pub swizzle: Swizzle,
    /// Interleaving of the records of a wave: 0 or 1; on GFX11 and later 0 to 3 for no interleaving, or elements of 4, 8 or 16
    /// bytes.
    pub swizzle_enable: u32,
    /// The number of lanes to interleave: 0 to 3 for 8, 16, 32 or 64.
    pub index_stride: u32,
    /// The size of an interleaved element: 0 to 3 for 2, 4, 8 or 16 bytes (GFX6 to GFX8, otherwise ignored).
    pub element_size: u32,
    /// `true` to add the lane number to the index.
    pub add_tid: bool,
    /// The rule for accesses out of bounds (GFX10 and later, otherwise ignored).
    pub oob: OutOfBounds,
    /// `true` if loads read compressed data (GFX12, otherwise ignored).
    pub compression: bool,
    /// `true` if stores write compressed data (GFX12, otherwise ignored).
    pub write_compress: bool,
}

impl BufferView {
    /// Creates a view of `bytes` bytes, for a storage or uniform buffer.
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

    /// Creates a view of the ring buffer that holds the vertex attributes for fragment shaders (GFX11 and later).
    ///
    /// # Errors
    ///
    /// [`DescriptorError::NoFeature`] if the generation is older than GFX11.
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

    /// Builds the descriptor of the view.
    ///
    /// # Errors
    ///
    /// [`DescriptorError`] if buffers cannot have the format, or a number does not fit its field.
    pub fn descriptor(&self, level: GfxLevel) -> Result<BufferDescriptor, DescriptorError> {
        let mut words = BufferDescriptor::default();
        let mut set = |field, value: u32| words.set(field, level, value);
        // If the lane number is added, the bits of the data format extend the stride.
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
