//! The reports of a run, with a module for each format.

pub(crate) mod bundle;
pub(crate) mod document;
pub(crate) mod html;
pub(crate) mod human;
pub(crate) mod igt;
pub(crate) mod json;
pub(crate) mod jsonl;
pub(crate) mod junit;
pub(crate) mod markup;
pub(crate) mod outputs;
pub(crate) mod sink;
pub(crate) mod so_far;
pub(crate) mod tap;
pub(crate) mod terminal;
pub(crate) mod text;
