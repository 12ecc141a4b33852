//! Jobs of compute shaders: the resources and the dispatch of a shader, and the outputs that are expected of it.
//!
//! A [`Job`] is read from JSON. A runner creates its bindings, runs the shader, and asks [`Job::judge`] about the bytes of each
//! output. The interpreter's tests run recorded machine code of the jobs, `amdgpu-vulkan-client` their SPIR-V on a Vulkan driver.
//!
//! ```
//! use amdgpu_test_support::jobs::Job;
//!
//! let job = Job::parse(r#"{
//!     "name": "seven", "groups": [1, 1, 1],
//!     "bindings": [{"set": 0, "binding": 2, "type": "storage_buffer", "size": 4, "out": true, "compare": "exact"}],
//!     "expected": {"0.2.0": "07000000"}
//! }"#).unwrap();
//! assert_eq!(job.judge(32, |_| Some(vec![7, 0, 0, 0])), Ok(()));
//! assert!(job.judge(32, |_| Some(vec![8, 0, 0, 0])).is_err());
//! ```

mod binding;
#[expect(clippy::cast_precision_loss, reason = "distances that precision rules bound are small")]
mod compare;
mod hex;
mod job;
mod judge;
#[expect(clippy::cast_possible_wrap, clippy::cast_sign_loss, reason = "GLSL converts bits between int and uint")]
mod model;

pub use binding::{Binding, Filter, Resource, View, Wrap};
pub use hex::Hex;
pub use job::{Job, ReadError};
