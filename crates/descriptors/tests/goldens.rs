//! Every answer of Mesa, line by line.

mod support;

#[test]
fn buffers() {
    support::check("buffers", support::buffer);
}

#[test]
fn images() {
    support::check("images", support::image);
}

#[test]
fn fmask() {
    support::check("fmask", support::fmask);
}

#[test]
fn samplers() {
    support::check("samplers", support::sampler);
}

#[test]
fn color_targets() {
    support::check("color", support::color);
}

#[test]
fn depth_targets() {
    support::check("depth", support::depth);
}

#[test]
fn vulkan_samplers_and_buffers() {
    support::check("vulkan", support::vulkan);
}

#[test]
fn formats() {
    support::check_formats();
}

#[test]
fn vulkan_images_with_their_tiling() {
    support::check("vulkan-images", support::vulkan_image);
}
