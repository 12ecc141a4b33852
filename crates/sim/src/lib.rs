//! A functional simulated amdgpu kernel driver and GPU.
