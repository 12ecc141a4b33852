//! JSON values with their paths in the capture.

use serde_json::Value;

use super::error::CaptureError;

/// The number of characters of a text that an error contains.
const SHOWN: usize = 40;

/// A value and the path of its key.
#[derive(Clone, Debug)]
pub(super) struct Node<'a> {
    key: String,
    value: &'a Value,
}

impl<'a> Node<'a> {
    /// Returns the whole document.
    pub(super) fn root(value: &'a Value) -> Self {
        Self { key: String::new(), value }
    }

    /// Returns the path of the value's key, such as `memory.gtt`.
    pub(super) fn key(&self) -> String {
        if self.key.is_empty() { "the capture".to_owned() } else { self.key.clone() }
    }

    /// Returns the path of a key of the object.
    pub(super) fn path(&self, key: &str) -> String {
        if self.key.is_empty() { key.to_owned() } else { format!("{}.{key}", self.key) }
    }

    /// Returns the value of a key; `None` if it is missing or null.
    pub(super) fn get(&self, key: &str) -> Result<Option<Self>, CaptureError> {
        let object = self.value.as_object().ok_or_else(|| self.is_not("an object"))?;
        let value = object.get(key).filter(|value| !value.is_null());
        Ok(value.map(|value| Self { key: self.path(key), value }))
    }

    /// Returns the value of a required key.
    pub(super) fn need(&self, key: &str) -> Result<Self, CaptureError> {
        self.get(key)?.ok_or_else(|| CaptureError::Missing { key: self.path(key) })
    }

    /// Returns the entries of a list, of which there must be `least` to `most`.
    pub(super) fn list(&self, least: usize, most: usize) -> Result<Vec<Self>, CaptureError> {
        let list = self.value.as_array().ok_or_else(|| self.is_not("a list"))?;
        if !(least..=most).contains(&list.len()) {
            return Err(CaptureError::BadLength { key: self.key(), count: list.len(), least, most });
        }
        let entry = |(index, value)| Self { key: format!("{}[{index}]", self.key), value };
        Ok(list.iter().enumerate().map(entry).collect())
    }

    /// Returns the entries of an object, of which there may be `most`.
    pub(super) fn entries(&self, most: usize) -> Result<Vec<(&'a str, Self)>, CaptureError> {
        let object = self.value.as_object().ok_or_else(|| self.is_not("an object"))?;
        if object.len() > most {
            return Err(CaptureError::BadLength { key: self.key(), count: object.len(), least: 0, most });
        }
        let entry = |(key, value): (&'a String, _)| (key.as_str(), Self { key: self.path(key), value });
        Ok(object.iter().map(entry).collect())
    }

    /// Returns the value itself.
    pub(super) const fn value(&self) -> &'a Value {
        self.value
    }

    /// Returns the text of the value; `None` if it is none.
    pub(super) fn get_text(&self) -> Option<&'a str> {
        self.value.as_str()
    }

    /// Returns the text of the value.
    pub(super) fn text(&self) -> Result<&'a str, CaptureError> {
        self.value.as_str().ok_or_else(|| self.is_not("a text"))
    }

    /// Returns the boolean value.
    pub(super) fn boolean(&self) -> Result<bool, CaptureError> {
        self.value.as_bool().ok_or_else(|| self.is_not("true or false"))
    }

    /// Returns the number, which must fit into `bits` bits. It is decimal, or a text of `0x` and hexadecimal digits.
    pub(super) fn number(&self, bits: u32) -> Result<u64, CaptureError> {
        let number = match self.value {
            Value::String(text) => hexadecimal(text).ok_or_else(|| self.bad_text(text, "no 0x and 1 to 16 digits")),
            value => value.as_u64().ok_or_else(|| self.is_not("a number of 64 bits without a sign or fraction")),
        }?;
        if bits < 64 && number >> bits != 0 {
            return Err(self.out_of_range(number, "more than its field holds"));
        }
        Ok(number)
    }

    /// Returns the number, which must fit into 32 bits.
    pub(super) fn word(&self) -> Result<u32, CaptureError> {
        self.number(u32::BITS).map(|number| number as u32)
    }

    /// Returns the error for a text that breaks a rule.
    pub(super) fn bad_text(&self, text: &str, reason: &'static str) -> CaptureError {
        CaptureError::BadText { key: self.key(), text: text.chars().take(SHOWN).collect(), reason }
    }

    /// Returns the error for a number that breaks a rule.
    pub(super) fn out_of_range(&self, value: u64, reason: &'static str) -> CaptureError {
        CaptureError::OutOfRange { key: self.key(), value, reason }
    }

    fn is_not(&self, expected: &'static str) -> CaptureError {
        let found = match self.value {
            Value::Null => "null",
            Value::Bool(_) => "true or false",
            Value::Number(number) if number.is_f64() => "a number with a fraction or beyond 64 bits",
            Value::Number(number) if number.is_i64() && !number.is_u64() => "a number with a sign",
            Value::Number(_) => "a number",
            Value::String(_) => "a text",
            Value::Array(_) => "a list",
            Value::Object(_) => "an object",
        };
        CaptureError::WrongType { key: self.key(), expected, found }
    }
}

fn hexadecimal(text: &str) -> Option<u64> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"))?;
    // `from_str_radix` would accept a sign.
    let is_plain = (1..=16).contains(&digits.len()) && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_plain.then(|| u64::from_str_radix(digits, 16).ok()).flatten()
}
