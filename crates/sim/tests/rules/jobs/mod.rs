//! Rules about contexts, submissions and what becomes of them.

mod constant;
mod contexts;
mod death;
mod draws;
mod endless;
mod failure;
mod faults;
mod recovery;
mod resets;
mod shaders;
mod shadow;
mod submission;
mod video;
mod work;
