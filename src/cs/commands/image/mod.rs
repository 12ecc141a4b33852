//! Copies between images and rows of texels on copy engines.
//!
//! | copy                        | packet                   | from  |
//! |-----------------------------|--------------------------|-------|
//! | tiled image, rows           | COPY_TILED_SUB_WINDOW    | GFX7  |
//! | linear image, rows or image | COPY_LINEAR_SUB_WINDOW   | GFX7  |
//! | tiled image, tiled image    | COPY_T2T_SUB_WINDOW      | GFX7  |
//!
//! GFX6 has no packet for images. No engine copies multisampled images, elements of 96 bits, or between images with different
//! orders of texels: the recorder returns [`CommandError::Unsupported`](super::CommandError::Unsupported).
//!
//! Source: Mesa 25.0.7 `src/amd/vulkan/radv_sdma.c` (GFX9 and later) and
//! `src/gallium/drivers/radeonsi/si_sdma_copy_image.c` (GFX7 and GFX8).

mod copy;
mod level;
mod packets;
mod rows;

pub use self::{
    level::ImageLevel,
    rows::{ImageRows, TexelBox},
};
