//! A golden line.

use amdgpu_descriptors::format::{Format, Swizzle};
use amdgpu_descriptors::{BufferDescriptor, ImageDescriptor, SamplerDescriptor};
use amdgpu_hw::{GfxLevel, GpuVa};
use serde_json::{Map, Value};

use super::{Answer, fields};

/// A golden line.
pub(crate) struct Line {
    pub(crate) level: GfxLevel,
    pub(crate) kind: String,
    pub(crate) input: Map<String, Value>,
    pub(crate) whole: Value,
    pub(crate) text: String,
}

/// Reads a number that is decimal, hexadecimal in a string, or a truth.
pub(crate) fn number(value: &Value) -> u64 {
    match value {
        Value::Bool(truth) => u64::from(*truth),
        Value::Number(number) => number.as_u64().unwrap(),
        Value::String(text) => u64::from_str_radix(text.strip_prefix("0x").unwrap(), 16).unwrap(),
        other => panic!("{other} is no number"),
    }
}

impl Line {
    pub(crate) fn read(text: &str) -> Self {
        let whole: Value = serde_json::from_str(text).unwrap();
        let word = |key: &str| whole.get(key).and_then(Value::as_str).unwrap_or("").to_owned();
        let name = word("gen");
        let level = GfxLevel::ALL.into_iter().find(|level| level.name() == name).unwrap_or(GfxLevel::Gfx6);
        let input = whole.get("in").and_then(Value::as_object).cloned().unwrap_or_default();
        Self { level, kind: word("kind"), input, whole, text: text.to_owned() }
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.input.contains_key(key)
    }

    pub(crate) fn u64(&self, key: &str) -> u64 {
        self.input.get(key).map_or(0, number)
    }

    pub(crate) fn u32(&self, key: &str) -> u32 {
        self.u64(key) as u32
    }

    pub(crate) fn is(&self, key: &str) -> bool {
        self.u64(key) != 0
    }

    pub(crate) fn float(&self, key: &str) -> f32 {
        self.input[key].as_f64().unwrap() as f32
    }

    pub(crate) fn word(&self, key: &str) -> &str {
        self.input[key].as_str().unwrap()
    }

    pub(crate) fn va(&self) -> GpuVa {
        GpuVa::from_48_bits(self.u64("va"))
    }

    pub(crate) fn format(&self) -> Format {
        Format::named(self.word("format")).unwrap()
    }

    pub(crate) fn swizzle(&self) -> Swizzle {
        Swizzle::named(self.word("swizzle").as_bytes().try_into().unwrap()).unwrap()
    }

    pub(crate) fn words<const N: usize>(&self) -> [u32; N] {
        let words = self.whole["words"].as_array().unwrap();
        let words: Vec<u32> = words.iter().map(|word| number(word) as u32).collect();
        words.try_into().unwrap()
    }

    /// Returns the answer of the line: registers, or the fields of the descriptor.
    pub(crate) fn answer(&self) -> Answer {
        if let Some(registers) = self.whole.get("registers").and_then(Value::as_object) {
            return registers.iter().map(|(key, value)| (key.clone(), number(value))).collect();
        }
        match self.kind.as_str() {
            "sampler" | "vk_sampler" => fields(SamplerDescriptor::from_words(self.words()), self.level),
            "vk_image" => {
                let mut answer = fields(ImageDescriptor::from_words(self.words()), self.level);
                answer.extend([("size".to_owned(), self.u64("size")), ("alignment".to_owned(), self.u64("alignment"))]);
                answer
            }
            "image" | "fmask" => fields(ImageDescriptor::from_words(self.words()), self.level),
            _ => fields(BufferDescriptor::from_words(self.words()), self.level),
        }
    }
}
