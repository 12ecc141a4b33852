//! A program's requests to an instance: its extensions, and callbacks for messages (`VK_EXT_debug_utils`).

use std::{ffi::CString, sync::Arc};

use ash::vk;
use parking_lot::Mutex;

use crate::border::Callback;

/// The enabled extensions of an instance, and the callbacks that receive messages.
#[derive(Default)]
pub(crate) struct Program {
    /// The enabled instance extensions.
    pub(crate) extensions: Vec<&'static str>,
    callbacks: Mutex<Vec<Arc<Callback>>>,
}

impl Program {
    /// Creates a value without callbacks.
    pub(crate) fn new(extensions: Vec<&'static str>) -> Self {
        Self { extensions, callbacks: Mutex::default() }
    }

    /// Adds a callback.
    pub(crate) fn listen(&self, callback: &Arc<Callback>) {
        self.callbacks.lock().push(Arc::clone(callback));
    }

    /// Removes a callback.
    pub(crate) fn forget(&self, callback: &Arc<Callback>) {
        self.callbacks.lock().retain(|other| !Arc::ptr_eq(other, callback));
    }

    /// Sends a message to every callback that receives messages of this kind. The lock is not held during the calls.
    pub(crate) fn send(
        &self,
        severity: vk::DebugUtilsMessageSeverityFlagsEXT,
        kinds: vk::DebugUtilsMessageTypeFlagsEXT,
        message: &vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    ) {
        let callbacks = self.callbacks.lock().clone();
        for callback in callbacks {
            callback.call(severity, kinds, message);
        }
    }

    /// Sends a message about the GPU addresses of an object, which is given by its type and handle.
    pub(crate) fn tell_of_addresses(
        &self,
        (object_type, object_handle): (vk::ObjectType, u64),
        binding: &mut vk::DeviceAddressBindingCallbackDataEXT<'_>,
    ) {
        use vk::{DebugUtilsMessageSeverityFlagsEXT as Severity, DebugUtilsMessageTypeFlagsEXT as Kind};
        let text = if binding.binding_type == vk::DeviceAddressBindingTypeEXT::BIND {
            c"the object has these GPU addresses"
        } else {
            c"the object no longer has these GPU addresses"
        };
        let objects = [vk::DebugUtilsObjectNameInfoEXT {
            object_type,
            object_handle,
            ..vk::DebugUtilsObjectNameInfoEXT::default()
        }];
        let message = vk::DebugUtilsMessengerCallbackDataEXT::default()
            .message_id_name(c"amdgpu-winsys")
            .message(text)
            .objects(&objects)
            .push_next(binding);
        self.send(Severity::INFO, Kind::DEVICE_ADDRESS_BINDING, &message);
    }

    /// Sends an error message with the reason why a command was refused.
    pub(crate) fn refuse(&self, command: &str, reason: &str) {
        self.say(vk::DebugUtilsMessageSeverityFlagsEXT::ERROR, format!("{command}: {reason}"));
    }

    /// Sends a message that is not an error.
    pub(crate) fn note(&self, text: &str) {
        self.say(vk::DebugUtilsMessageSeverityFlagsEXT::INFO, text.to_owned());
    }

    fn say(&self, severity: vk::DebugUtilsMessageSeverityFlagsEXT, text: String) {
        let text = CString::new(text).unwrap_or_default();
        let message =
            vk::DebugUtilsMessengerCallbackDataEXT::default().message_id_name(c"amdgpu-winsys").message(&text);
        self.send(severity, vk::DebugUtilsMessageTypeFlagsEXT::GENERAL, &message);
    }
}

/// A `VkDebugUtilsMessengerEXT`: a callback of the program.
pub(crate) struct Messenger(pub(crate) Arc<Callback>);
