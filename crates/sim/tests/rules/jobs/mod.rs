//! Rules about contexts, submissions and what becomes of them.

mod contexts;
mod failure;
mod recovery;
mod resets;
mod shaders;
mod submission;
mod work;
