//! The judgement of a job's outputs.

use super::{compare::difference, job::Job, model};

/// Corrects what is expected of the second and third word of each row of `packing`: the components of
/// `unpackHalf2x16(packHalf2x16(f))`, which are the halves of the first word. The data has the first one rounded to nearest,
/// where rounding toward zero is as good, and the second one not rounded at all.
fn round_halves(expected: &mut [u8], found: &[u8]) {
    for (row, found) in expected.chunks_exact_mut(48).zip(found.chunks_exact(48)) {
        for (word, half) in row[4..12].chunks_exact_mut(4).zip(found.chunks_exact(2)) {
            let half = u32::from(u16::from_le_bytes([half[0], half[1]]));
            let (sign, magnitude) = ((half & 0x8000) << 16, half & 0x7fff);
            let value = f32::from_bits(magnitude << 13) * 2.0_f32.powi(112);
            word.copy_from_slice(&(sign | value.to_bits()).to_le_bytes());
        }
    }
}

impl Job {
    /// Returns the words of an input of set 0.
    fn input(&self, binding: u32) -> Vec<u32> {
        let found = self.bindings.iter().find(|one| one.set == 0 && one.binding == binding);
        found.map_or_else(Vec::new, |input| {
            input.init.0.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
        })
    }

    /// Compares outputs with those that are expected of subgroups of `lanes`. `found` returns the bytes of an element of a
    /// binding, by [`Binding::key`](crate::jobs::Binding::key).
    ///
    /// # Errors
    ///
    /// A description of the first difference, or of what the job or the runner lacks.
    pub fn judge(&self, lanes: u32, mut found: impl FnMut(&str) -> Option<Vec<u8>>) -> Result<(), String> {
        let modelled = match self.model.as_deref() {
            Some(name) => {
                let output = model::output(name, &self.input(0), &self.input(1), lanes as usize);
                Some(output.ok_or_else(|| format!("no model {name} of this input and subgroups of {lanes}"))?)
            }
            None => None,
        };
        for binding in self.bindings.iter().filter(|binding| binding.out) {
            let rule = binding.compare.as_deref().unwrap_or("exact");
            for element in 0..binding.array {
                let key = binding.key(element);
                let found = found(&key).ok_or_else(|| format!("no output {key}"))?;
                let mut expected = match (&modelled, self.expected.get(&key)) {
                    (Some(words), _) => words.iter().flat_map(|word| word.to_le_bytes()).collect(),
                    (None, Some(expected)) => expected.0.clone(),
                    (None, None) => return Err(format!("nothing is expected of {key}")),
                };
                if self.name == "packing" {
                    round_halves(&mut expected, &found);
                }
                if let Some(difference) = difference(rule, &found, &expected)? {
                    return Err(format!("{key} ({rule}), {difference}"));
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::jobs::Job;

    fn job(more: &str) -> Job {
        let output =
            r#"{"set": 0, "binding": 2, "type": "storage_buffer", "size": 4, "out": true, "compare": "exact"}"#;
        Job::parse(&format!(r#"{{"name": "x", "groups": [1, 1, 1], "bindings": [{output}], {more}}}"#)).unwrap()
    }

    #[test]
    fn outputs_are_compared_and_named() {
        let job = job(r#""expected": {"0.2.0": "01000000"}"#);
        assert_eq!(job.judge(64, |_| Some(vec![1, 0, 0, 0])), Ok(()));
        let wrong = job.judge(64, |_| Some(vec![2, 0, 0, 0])).unwrap_err();
        assert_eq!(wrong, "0.2.0 (exact), element 0: 0x2 instead of 0x1 (1 differ)");
        assert_eq!(job.judge(64, |_| None).unwrap_err(), "no output 0.2.0");
    }

    #[test]
    fn a_job_that_expects_nothing_of_an_output_does_not_pass() {
        assert!(job(r#""expected": {}"#).judge(64, |_| Some(vec![0; 4])).is_err());
        assert!(job(r#""model": "unheard of""#).judge(64, |_| Some(vec![0; 4])).is_err());
    }

    #[test]
    fn an_output_of_another_length_is_wrong() {
        assert!(job(r#""expected": {"0.2.0": "01000000"}"#).judge(64, |_| Some(vec![1])).is_err());
    }

    #[test]
    fn halves_may_be_rounded_either_way_but_must_agree() {
        let mut job = job(r#""expected": {}"#);
        job.name = "packing".into();
        let mut expected = vec![0; 48];
        expected[..4].copy_from_slice(&[0x01, 0x3c, 0, 0]);
        job.expected.insert("0.2.0".into(), crate::jobs::Hex(expected.clone()));
        let row = |half: u16, float: f32| {
            let mut row = vec![0; 48];
            row[..2].copy_from_slice(&half.to_le_bytes());
            row[4..8].copy_from_slice(&float.to_le_bytes());
            row
        };
        job.bindings[0].compare = Some("packing".into());
        assert_eq!(job.judge(64, |_| Some(row(0x3c00, 1.0))), Ok(()));
        assert_eq!(job.judge(64, |_| Some(row(0x3c01, 1.0 + 2.0_f32.powi(-10)))), Ok(()));
        assert!(job.judge(64, |_| Some(row(0x3c00, 1.5))).is_err());
    }
}
