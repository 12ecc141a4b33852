//! Loads are split as Mesa's ACO splits them, and the pieces give the requested bytes.
//!
//! `AMDGPU_LOAD_GOLDENS` names another folder with `emit.jsonl`, `access.jsonl` and `seed.jsonl`, or the same with `.gz`.

mod arithmetic;
mod goldens;
mod plans;
#[path = "../support/mod.rs"]
mod support;
