//! A minimal JSON writer for the memory dumps, in place of a serializer.

use std::fmt::{self, Write as _};

/// A JSON text that is appended to value by value. In an object each value needs a key.
#[derive(Debug, Default)]
pub(super) struct Json {
    text: String,
    /// `true` if a value was written at this level, so that the next one needs a comma.
    follows: bool,
}

impl Json {
    pub(super) fn finish(self) -> String {
        self.text
    }

    /// Writes an object. `members` writes keys and values in turn.
    pub(super) fn object(&mut self, members: impl FnOnce(&mut Self)) {
        self.nested('{', '}', members);
    }

    /// Writes an array. `items` writes the values.
    pub(super) fn array(&mut self, items: impl FnOnce(&mut Self)) {
        self.nested('[', ']', items);
    }

    fn nested(&mut self, open: char, close: char, inner: impl FnOnce(&mut Self)) {
        self.separate();
        self.text.push(open);
        self.follows = false;
        inner(self);
        self.text.push(close);
        self.follows = true;
    }

    /// Writes the key of the next value.
    pub(super) fn key(&mut self, name: impl fmt::Display) -> &mut Self {
        self.string(name);
        self.text.push(':');
        self.follows = false;
        self
    }

    pub(super) fn number(&mut self, value: u64) {
        self.plain(format_args!("{value}"));
    }

    pub(super) fn null(&mut self) {
        self.plain(format_args!("null"));
    }

    pub(super) fn string(&mut self, value: impl fmt::Display) {
        self.separate();
        self.text.push('"');
        // Writing to a string cannot fail.
        let _ = write!(Escaped(&mut self.text), "{value}");
        self.text.push('"');
        self.follows = true;
    }

    /// Writes an address as a string, because most JSON readers do not keep 64 bits of a number.
    pub(super) fn address(&mut self, value: u64) {
        self.string(format_args!("{value:#x}"));
    }

    /// Writes a number with its key.
    pub(super) fn count(&mut self, name: &str, value: u64) {
        self.key(name).number(value);
    }

    fn plain(&mut self, value: fmt::Arguments<'_>) {
        self.separate();
        let _ = self.text.write_fmt(value);
        self.follows = true;
    }

    fn separate(&mut self) {
        if self.follows {
            self.text.push(',');
        }
    }
}

/// A writer that escapes the characters that a JSON string cannot contain.
struct Escaped<'t>(&'t mut String);

impl fmt::Write for Escaped<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for c in text.chars() {
            match c {
                '"' | '\\' => self.0.extend(['\\', c]),
                '\u{0}'..='\u{1f}' => write!(self.0, "\\u{:04x}", u32::from(c))?,
                _ => self.0.push(c),
            }
        }
        Ok(())
    }
}

pub(super) fn names<'n>(json: &mut Json, names: impl Iterator<Item = &'n str>) {
    json.array(|json| names.for_each(|name| json.string(name)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nesting_commas_and_escapes_are_where_json_wants_them() {
        let mut json = Json::default();
        json.object(|json| {
            json.key("list").array(|json| {
                json.number(1);
                json.string("a \"b\\\n\u{1}");
                json.object(|_| {});
                json.null();
            });
            json.count("max", u64::MAX);
            json.key("at").address(4096);
        });
        let expected = r#"{"list":[1,"a \"b\\\u000a\u0001",{},null],"max":18446744073709551615,"at":"0x1000"}"#;
        assert_eq!(json.finish(), expected);
    }
}
