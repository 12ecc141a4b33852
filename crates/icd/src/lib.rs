//! An experimental Vulkan driver without a shader compiler, meant as an example: [`amdgpu_winsys`] as an installable client driver.
//!
//! The Vulkan loader opens the shared object that this crate is, and asks the three functions of [`loader`] for all others.
//!
//! | module | holds |
//! |---|---|
//! | `loader` | the three functions that the loader looks for |
//! | `dispatch` | the table from a command's name to its function |
//! | `border` | the conversion of C's arguments, and all `unsafe` code |
//! | `entries` | Vulkan's commands, a module for each kind of object |
//! | `objects` | Vulkan's objects: each is a few values of the library |
//! | `facts` | properties, features, limits, heaps and formats of a physical device |
//!
//! # Environment
//!
//! | variable | effect |
//! |---|---|
//! | `AMDGPU_WINSYS_ICD` | `transfer` (default): what is there; `full`: queues for graphics and compute and Vulkan 1.3 |
//! | `AMDGPU_WINSYS_ICD_SIM` | simulated chips instead of this computer's GPUs, such as `navi21,renoir` |
//! | `AMDGPU_WINSYS_ICD_TABLE` | generation of the memory tables: `radv` (default), `eight`, `four` |

mod border;
mod dispatch;
mod entries;
mod facts;
pub mod loader;
mod objects;
#[cfg(test)]
mod tests;
