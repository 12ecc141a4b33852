//! From the name of a command to its function.
//!
//! There are two tables. [`commands`] contains every command of Vulkan and is generated from the Khronos registry. [`entries`]
//! contains the functions of this driver, [`later`] those that the registry does not have yet, and [`full`] the functions that the face `full` adds. A command that is an alias of
//! another command uses the same function.

mod command;
mod commands;
mod entries;
mod full;
mod later;
mod lookup;
mod table;

pub(crate) use self::lookup::{of_instance, of_physical_device};
