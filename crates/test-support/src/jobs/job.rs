//! A shader's resources and its dispatch.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{binding::Binding, hex::Hex};

/// The reason why a text is not a job.
#[derive(Debug, thiserror::Error)]
#[error("not a job: {0}")]
pub struct ReadError(#[from] serde_json::Error);

const fn one() -> u32 {
    1
}

/// A dispatch of a shader with its inputs and the outputs that are expected.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Job {
    /// The name of the shader.
    pub name: String,
    /// Resources.
    #[serde(default)]
    pub bindings: Vec<Binding>,
    /// Workgroups in each axis.
    pub groups: [u32; 3],
    /// Invocations of a workgroup in each axis; `None` if a specialization constant decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local: Option<[u32; 3]>,
    /// First workgroup in each axis.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<[u32; 3]>,
    /// `true` if the numbers of workgroups are in a buffer.
    #[serde(default)]
    pub indirect: bool,
    /// Dispatches, with barriers between them.
    #[serde(default = "one")]
    pub dispatches: u32,
    /// Push constants.
    #[serde(default)]
    pub push: Hex,
    /// Specialization constants: 32-bit values by their numbers.
    #[serde(default)]
    pub spec: BTreeMap<u32, u32>,
    /// Features of the device, named as in Vulkan.
    #[serde(default)]
    pub requires: Vec<String>,
    /// `true` if the shader accesses buffers outside of their bounds.
    #[serde(default)]
    pub robust: bool,
    /// `true` if the outputs depend on the subgroup size.
    #[serde(default)]
    pub subgroup: bool,
    /// The model that computes what is expected, for subgroups of any size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Expected contents of outputs, by [`Binding::key`].
    #[serde(default)]
    pub expected: BTreeMap<String, Hex>,
}

impl Job {
    /// Reads a job.
    ///
    /// # Errors
    ///
    /// [`ReadError`] if the text is not JSON, or not that of a job.
    pub fn parse(text: &str) -> Result<Self, ReadError> {
        Ok(serde_json::from_str(text)?)
    }

    /// Returns the job as JSON on one line.
    ///
    /// # Errors
    ///
    /// [`ReadError`] if a number of the job has no form in JSON, such as a bias that is not finite.
    pub fn to_json(&self) -> Result<String, ReadError> {
        Ok(serde_json::to_string(self)?)
    }
}

#[cfg(test)]
mod tests {
    use crate::jobs::Job;
    use crate::jobs::{Resource, View, Wrap};

    const TEXT: &str = r#"{
        "name": "x", "groups": [3, 2, 1], "base": [1, 0, 0], "spec": {"0": 32, "7": 9}, "push": "01020304", "K": 4,
        "bindings": [{"set": 1, "binding": 4, "type": "combined_image_sampler", "format": "R32_UINT", "width": 8,
                      "wrap": "mirror", "view": "1d_array", "init": "ff"}]
    }"#;

    #[test]
    fn what_a_job_leaves_out_has_the_usual_value() {
        let job = Job::parse(TEXT).unwrap();
        assert_eq!((job.dispatches, job.indirect, job.subgroup, job.local), (1, false, false, None));
        assert_eq!(job.spec.into_iter().collect::<Vec<_>>(), [(0, 32), (7, 9)]);
        let binding = &job.bindings[0];
        assert_eq!((binding.resource, binding.wrap), (Resource::CombinedImageSampler, Wrap::Mirror));
        assert_eq!((binding.width, binding.height, binding.layers, binding.array), (8, 1, 1, 1));
        assert_eq!((binding.key(2).as_str(), binding.view), ("1.4.2", Some(View::LineArray)));
    }

    #[test]
    fn a_written_job_reads_the_same() {
        let text = Job::parse(TEXT).unwrap().to_json().unwrap();
        assert_eq!(Job::parse(&text).unwrap().to_json().unwrap(), text);
    }

    #[test]
    fn other_texts_are_refused() {
        for text in ["", "{}", r#"{"name": "x", "groups": [1, 1]}"#] {
            assert!(Job::parse(text).is_err(), "{text}");
        }
    }
}
