//! Vulkan's objects: each is a few values of the library. The commands on them are in `entries`.

mod device;
mod gpu;
mod instance;
mod machine;
mod physical_device;
mod queue;

pub(crate) use self::{
    device::Device,
    gpu::{Face, Gpu},
    instance::Instance,
    machine::Machine,
    physical_device::{Family, PhysicalDevice},
    queue::Queue,
};
