//! Messages, names and labels (`VK_EXT_debug_utils`).

use std::sync::Arc;

use ash::vk;

use crate::{
    border::{Allocator, Callback, Handed, Ignored, Out},
    objects::{CommandBuffer, Device, Instance, Messenger, Queue},
};

pub(crate) fn create_messenger(
    instance: &Instance,
    info: &vk::DebugUtilsMessengerCreateInfoEXT<'_>,
    _: Allocator,
    mut messenger: Out<'_, vk::DebugUtilsMessengerEXT>,
) -> vk::Result {
    let callback = Arc::new(Callback::new(info));
    instance.program.listen(&callback);
    messenger.set(Handed::new(Messenger(callback)).give());
    vk::Result::SUCCESS
}

pub(crate) fn destroy_messenger(instance: &Instance, messenger: Option<Handed<Messenger>>, _: Allocator) {
    if let Some(messenger) = messenger {
        instance.program.forget(&messenger.0);
    }
}

pub(crate) fn submit(
    instance: &Instance,
    severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    kinds: vk::DebugUtilsMessageTypeFlagsEXT,
    message: &vk::DebugUtilsMessengerCallbackDataEXT<'_>,
) {
    instance.program.send(severity, kinds, message);
}

/// Does nothing, because names and tags are for layers, which store them.
pub(crate) fn describe(_: &Device, _: Ignored) -> vk::Result {
    vk::Result::SUCCESS
}

/// Labels are for layers, which keep them.
pub(crate) fn queue_label(_: &Queue, _: Ignored) {}

/// Labels are for layers, which keep them.
pub(crate) fn end_queue_label(_: &Queue) {}

/// Labels are for layers, which keep them.
pub(crate) fn label(_: &CommandBuffer, _: Ignored) {}

/// Labels are for layers, which keep them.
pub(crate) fn end_label(_: &CommandBuffer) {}
