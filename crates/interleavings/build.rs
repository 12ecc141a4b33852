//! Says that this build of the library's sources is the one under the scheduler.

fn main() {
    println!("cargo::rustc-check-cfg=cfg(interleaved)");
    println!("cargo::rustc-cfg=interleaved");
    println!("cargo::rerun-if-changed=build.rs");
}
