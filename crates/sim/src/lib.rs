//! A functional simulated amdgpu kernel driver and GPU.
pub mod gpu;
