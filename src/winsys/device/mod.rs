//! The device: the render node, the properties of the GPU, and the state that its objects share.

#[expect(unsafe_code, reason = "fcntl and kcmp compare descriptors")]
mod claim;
#[expect(unsafe_code, reason = "SET_CLIENT_NAME carries the address of the name")]
mod client_name;
mod device;
mod device_options;
mod driver_version;
mod gpu_info;
mod node;
#[expect(unsafe_code, reason = "INFO and VERSION carry the address of the answer")]
pub(super) mod query;
mod questions;
mod radeon_info;
#[expect(unsafe_code, reason = "the seam: the system calls themselves")]
mod render_node;
mod shader_resources;

pub(crate) use self::gpu_info::installed_vram;
pub use self::{
    device::Device,
    device_options::DeviceOptions,
    driver_version::{DriverVersion, MINIMUM_MINOR},
    gpu_info::{
        CacheSizes, Capabilities, DevInfoAnswer, Firmware, GpuInfo, IpBlock, IpVersion, MemorySizes, RawInfo,
        RegisterValue, ShaderArray, ShadowAreas, TilingRegisters,
    },
    node::Node,
    questions::{GdsSizes, Vbios, VideoCapabilities, VideoCodec, VideoDirection, VideoLimits},
    radeon_info::RadeonField,
    render_node::RenderNode,
    shader_resources::{
        AttributeRings, GeometryRings, LdsLimits, ParameterCache, ScratchLimits, TaskRings, TessellationRings,
        WaveLimits,
    },
};
