//! Sync objects and sync files: thin calls on the device's descriptor.

mod files;
mod objects;
