//! Types behind handles, and the result of a panic in a command whose first argument is one.

use ash::vk;

use super::handle::{Handed, Object, object, objects};
use crate::objects::{Device, Instance, PhysicalDevice, Queue};

objects! {
    Instance: vk::Instance, vk::Result::ERROR_UNKNOWN;
    PhysicalDevice: vk::PhysicalDevice, vk::Result::ERROR_UNKNOWN;
    Device: vk::Device, vk::Result::ERROR_DEVICE_LOST;
    Queue: vk::Queue, vk::Result::ERROR_DEVICE_LOST;
}
