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
