//! Colours in text from terminals.

/// Removes the escape sequences of terminals: those that select colours or move the cursor (ESC, `[`, parameters and a letter), and
/// titles and links (ESC, `]`, text and BEL or ESC `\`).
pub(crate) fn without_colour(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('\x1b') {
        plain.push_str(before);
        rest = match after.as_bytes().first() {
            Some(b'[') => {
                after.find(|last: char| ('@'..='~').contains(&last) && last != '[').map_or("", |at| &after[at + 1..])
            }
            Some(b']') => after.find(['\x07', '\x1b']).map_or("", |at| {
                let end = &after[at + 1..];
                end.strip_prefix('\\').unwrap_or(end)
            }),
            // Of other sequences the text is kept, which shows that something is there.
            _ => after,
        };
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_are_removed_and_text_is_kept() {
        for (line, plain) in [
            ("\x1b[1;31mred\x1b[0m text", "red text"),
            ("\x1b]0;title\x07a\x1b]8;;http://x\x1b\\b", "ab"),
            ("\x1b[2Ka[1]", "a[1]"),
            ("end\x1b[", "end"),
            ("\x1bc", "c"),
        ] {
            assert_eq!(without_colour(line), plain);
        }
    }
}
