//! `amdgpu-smoke`: the hardware smoke test.
fn main() {}
