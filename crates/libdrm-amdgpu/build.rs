//! Gives the shared library the soname that drivers ask for.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libdrm_amdgpu.so.1");
    // All of libdrm's drivers are linked so that a missing symbol is an error of the build.
    println!("cargo::rustc-cdylib-link-arg=-Wl,--no-undefined");
}
