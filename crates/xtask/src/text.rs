//! The lines of a table, word by word.

/// A fault in a table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {fault}")]
pub struct SpecError {
    /// The line, counted from 1.
    pub line: usize,
    /// The fault.
    pub fault: String,
}

/// The rest of a line of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'t> {
    rest: &'t str,
    number: usize,
    /// `true` if the line is indented, and so belongs to the last one that is not.
    pub(crate) is_indented: bool,
}

/// Returns the lines of a table that are neither empty nor comments.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    text.lines().enumerate().filter_map(|(index, line)| {
        let rest = line.trim();
        let is_indented = line.starts_with(' ');
        (!rest.is_empty() && !rest.starts_with('#')).then_some(Line { rest, number: index + 1, is_indented })
    })
}

impl<'t> Line<'t> {
    pub(crate) fn fault(&self, fault: impl Into<String>) -> SpecError {
        SpecError { line: self.number, fault: fault.into() }
    }

    /// Takes the next word: what stands before a space or a comma.
    pub(crate) fn word(&mut self, wanted: &str) -> Result<&'t str, SpecError> {
        let end = self.rest.find([' ', ',']).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        if word.is_empty() {
            return Err(self.fault(format!("{wanted} is missing")));
        }
        self.rest = rest.trim_start();
        Ok(word)
    }

    /// Takes a word or sign if it comes next.
    pub(crate) fn take(&mut self, sign: &str) -> bool {
        match self.rest.strip_prefix(sign) {
            Some(rest) if !sign.ends_with(char::is_alphanumeric) || rest.is_empty() || rest.starts_with(' ') => {
                self.rest = rest.trim_start();
                true
            }
            _ => false,
        }
    }

    /// Takes what stands in brackets, if they come next.
    pub(crate) fn brackets(&mut self) -> Result<Option<&'t str>, SpecError> {
        let Some(rest) = self.rest.strip_prefix('[') else { return Ok(None) };
        let (inner, rest) = rest.split_once(']').ok_or_else(|| self.fault("a bracket is not closed"))?;
        self.rest = rest.trim_start();
        Ok(Some(inner))
    }

    /// Takes a number, decimal or hexadecimal.
    pub(crate) fn number(&mut self, wanted: &str) -> Result<u32, SpecError> {
        let word = self.word(wanted)?;
        let parsed = match word.strip_prefix("0x") {
            Some(digits) => u32::from_str_radix(digits, 16),
            None => word.parse(),
        };
        parsed.map_err(|_| self.fault(format!("{word} is no number")))
    }

    /// Takes what stands in quotes.
    pub(crate) fn quoted(&mut self) -> Result<&'t str, SpecError> {
        let quoted = self.rest.strip_prefix('"').and_then(|rest| rest.split_once('"'));
        let (text, rest) = quoted.ok_or_else(|| self.fault("text in quotes is missing"))?;
        self.rest = rest.trim_start();
        Ok(text)
    }

    /// Takes a number with a colon, if one comes next.
    pub(crate) fn label(&mut self) -> Option<u32> {
        let (number, rest) = self.rest.split_once(": ")?;
        let number = number.parse().ok()?;
        self.rest = rest.trim_start();
        Some(number)
    }

    /// Takes bits of a dword, `high:low` or one number.
    pub(crate) fn bits(&mut self) -> Result<(u8, u8), SpecError> {
        let word = self.word("a range of bits")?;
        self.range(word)
    }

    /// Parses bits of a dword, `high:low` or one number.
    pub(crate) fn range(&self, word: &str) -> Result<(u8, u8), SpecError> {
        let (high, low) = word.split_once(':').unwrap_or((word, word));
        match (high.parse(), low.parse()) {
            (Ok(high @ 0..=31), Ok(low)) if low <= high => Ok((high, low)),
            _ => Err(self.fault(format!("{word} is no range of bits"))),
        }
    }

    /// Ends the line.
    pub(crate) fn end(&self) -> Result<(), SpecError> {
        if self.rest.is_empty() { Ok(()) } else { Err(self.fault(format!("`{}` was not expected", self.rest))) }
    }
}

/// Parses a set of generations or versions, `FIRST..LAST ONE`, as one bit for each of `names`.
pub(crate) fn set(line: &Line<'_>, text: &str, names: &[&str]) -> Result<u16, SpecError> {
    let place = |name: &str| {
        let place = names.iter().position(|known| *known == name);
        place.ok_or_else(|| line.fault(format!("{name} is not one of {}", names.join(" "))))
    };
    text.split_whitespace().try_fold(0, |bits, span| {
        let (first, last) = span.split_once("..").unwrap_or((span, span));
        let (first, last) = (place(first)?, place(last)?);
        if last < first {
            return Err(line.fault(format!("{span} ends before it begins")));
        }
        Ok((first..=last).fold(bits, |bits, place| bits | 1 << place))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Line<'_> {
        lines(text).next().unwrap()
    }

    #[test]
    fn a_line_is_taken_word_by_word() {
        let mut line = line("CP_DMA at 0x10 [A..B], 17");
        assert_eq!(line.word("a name"), Ok("CP_DMA"));
        assert!(line.take("at") && !line.take("like"));
        assert_eq!(line.number("an offset"), Ok(16));
        assert_eq!(line.brackets(), Ok(Some("A..B")));
        assert!(line.take(","));
        assert_eq!(line.number("an offset"), Ok(17));
        assert_eq!(line.end(), Ok(()));
    }

    #[test]
    fn a_word_is_not_taken_for_its_beginning() {
        assert!(!line("attic").take("at"));
    }

    #[test]
    fn a_set_of_spans_holds_both_ends() {
        let names = ["A", "B", "C", "D"];
        assert_eq!(set(&line("x"), "A..B D", &names), Ok(0b1011));
        assert!(set(&line("x"), "B..A", &names).is_err() && set(&line("x"), "E", &names).is_err());
    }

    #[test]
    fn a_fault_names_its_line() {
        let mut line = lines("# a comment\n\nx").next().unwrap();
        assert_eq!(line.word("a name"), Ok("x"));
        assert_eq!(line.bits().unwrap_err().to_string(), "line 3: a range of bits is missing");
    }
}
