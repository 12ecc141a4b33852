//! The checks, one file for each area.

pub(crate) mod bos;
pub(crate) mod check;
pub(crate) mod computer;
pub(crate) mod draws;
pub(crate) mod engines;
pub(crate) mod inventory;
pub(crate) mod kfd;
pub(crate) mod leak;
pub(crate) mod process;
pub(crate) mod queues;
pub(crate) mod shaders;
