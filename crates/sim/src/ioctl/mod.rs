//! The requests, one file for each subject.

pub(crate) mod bo_list;
pub(crate) mod context;
pub(crate) mod core;
pub(crate) mod gem;
pub(crate) mod info;
pub(crate) mod primary;
pub(crate) mod prime;
pub(crate) mod submit;
pub(crate) mod syncobj;
pub(crate) mod va;
pub(crate) mod wait;
