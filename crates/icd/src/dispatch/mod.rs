//! From the name of a command to its function.
//!
//! Two tables: [`commands`] has every command of Vulkan and is generated from Khronos' registry; [`entries`] has the functions
//! of this driver, and [`full`] those that the face `full` adds. A command that is an alias of another has that one's function.

mod command;
mod commands;
mod entries;
mod full;
mod lookup;
mod table;

pub(crate) use self::lookup::{of_instance, of_physical_device};
