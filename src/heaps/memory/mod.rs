//! Allocating, importing and exporting device memory.

#[expect(unsafe_code, reason = "placed mappings")]
mod device_memory;
mod external;
mod image;
#[expect(unsafe_code, reason = "host pointers")]
mod import;
#[expect(unsafe_code, reason = "host pointers are passed on")]
mod memory_manager;
mod request;

pub use self::{
    device_memory::{DeviceMemory, NON_COHERENT_ATOM, WHOLE_SIZE},
    external::{ExternalBufferProperties, ExternalFeatures, ExternalHandleTypes, Resource},
    image::{ImageMetadataError, ImageRequirements, SharedImage, image_metadata},
    import::ImportInfo,
    memory_manager::{MemoryManager, MemoryPolicy},
    request::{AllocateError, AllocateFlags, AllocateInfo, AllocationPlan, Replay},
};
