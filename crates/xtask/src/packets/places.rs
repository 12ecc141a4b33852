//! The places of a record's fields, in words for their docs. Dword 0 is a packet's header.

use std::fmt::Write as _;

use super::selectors::{in_words, spans};
use super::spec::{Field, Form, Holds, VERSIONS};

/// Columns that a line of docs may fill behind its slashes.
const WIDTH: usize = 110;

/// The name of a record's field: the common part of two halves.
pub(super) fn whole(name: &str) -> (&str, bool) {
    let halves = name.strip_suffix("_lo").or_else(|| name.strip_suffix("_hi"));
    halves.map_or((name, false), |whole| (whole, true))
}

/// Returns the dwords and bits of a field in the forms of its packet, with the generations where they differ. A wide field is a
/// number in two halves.
pub(super) fn of<'f>(forms: impl Iterator<Item = (&'f str, &'f Form)>, name: &str, is_wide: bool) -> String {
    let mut found: Vec<(String, Vec<(&str, u16)>)> = Vec::new();
    for (language, form) in forms {
        let fields = form.fields.iter().filter(|field| whole(&field.name).0 == name);
        let fields: Vec<&Field> = fields.filter(|field| !matches!(field.holds, Holds::Only(_))).collect();
        let places = if is_wide {
            halves(&fields, form.levels)
        } else {
            fields.iter().map(|field| (place(field), field.levels & form.levels)).collect()
        };
        for (place, levels) in places {
            let at = found.iter().position(|known| known.0 == place).unwrap_or_else(|| {
                found.push((place, Vec::new()));
                found.len() - 1
            });
            let Some((_, known)) = found.get_mut(at) else { continue };
            match known.iter_mut().find(|known| known.0 == language) {
                Some(known) => known.1 |= levels,
                None => known.push((language, levels)),
            }
        }
    }
    let several = found.len() > 1;
    let one = |(place, levels): &(String, Vec<(&str, u16)>)| {
        let on = levels.iter().map(|&(language, levels)| on(language, levels)).collect::<Vec<_>>().join(", ");
        if several && !on.is_empty() { format!("{place} ({on})") } else { place.clone() }
    };
    let text = found.iter().map(one).collect::<Vec<_>>().join("; ");
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| format!("{}{}.", first.to_uppercase(), letters.as_str()))
}

/// Returns the generations, or the versions of the copy engine, in words.
fn on(language: &str, levels: u16) -> String {
    match language {
        "pm4" => in_words(levels),
        _ => format!("SDMA {}", spans(levels, VERSIONS)),
    }
}

/// Returns the place of a field in words.
fn place(field: &Field) -> String {
    match (field.bits, field.dword) {
        ((31, 0), dword) => format!("dword {dword}"),
        ((high, low), dword) if high == low => format!("bit {low} of dword {dword}"),
        ((high, low), dword) => format!("bits {high}:{low} of dword {dword}"),
    }
}

/// Returns the places of both halves of a number, level by level.
fn halves(fields: &[&Field], levels: u16) -> Vec<(String, u16)> {
    let mut found: Vec<(String, u16)> = Vec::new();
    for level in (0..16).map(|bit| 1 << bit).filter(|level| levels & level != 0) {
        let half = |is_high: bool| {
            let is_it = |field: &&&Field| field.levels & level != 0 && field.name.ends_with("_hi") == is_high;
            fields.iter().find(is_it).map(|field| (place(field), field.bits.1))
        };
        let place = match (half(false), half(true)) {
            (Some((low, 0)), None) => low,
            (Some((low, _)), None) => format!("{low}, in their place"),
            (Some((low, 0)), Some((high, _))) => format!("{low}, and {high} as the high half"),
            (Some((low, _)), Some((high, _))) => format!("{low}, in their place, and {high} as the high half"),
            (None, Some((high, _))) => format!("{high} as the high half"),
            (None, None) => continue,
        };
        match found.iter_mut().find(|known| known.0 == place) {
            Some(known) => known.1 |= level,
            None => found.push((place, level)),
        }
    }
    found
}

/// Returns a text as lines of docs.
pub(super) fn lines(text: &str, indent: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if line.len() + word.len() < WIDTH => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.iter().fold(String::new(), |mut text, line| {
        let _ = writeln!(text, "{indent}/// {line}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(name: &str, dword: u32, bits: (u8, u8)) -> Field {
        Field { name: name.to_owned(), dword, bits, levels: u16::MAX, holds: Holds::Anything, when: Vec::new() }
    }

    #[test]
    fn a_place_names_the_bits_unless_they_are_all() {
        let places = [(31, 0), (7, 7), (15, 8)].map(|bits| place(&field("x", 2, bits)));
        assert_eq!(places, ["dword 2", "bit 7 of dword 2", "bits 15:8 of dword 2"]);
    }

    #[test]
    fn halves_are_one_field() {
        assert_eq!(whole("addr_lo"), ("addr", true));
        assert_eq!(whole("addr"), ("addr", false));
    }

    #[test]
    fn halves_are_named_low_first() {
        let (low, high) = (field("x_lo", 1, (31, 2)), field("x_hi", 2, (15, 0)));
        let text = "bits 31:2 of dword 1, in their place, and bits 15:0 of dword 2 as the high half";
        assert_eq!(halves(&[&low, &high], 0b11), [(text.to_owned(), 0b11)]);
        assert_eq!(halves(&[&high], 0b1), [("bits 15:0 of dword 2 as the high half".to_owned(), 1)]);
    }

    #[test]
    fn long_docs_are_several_lines() {
        let text = lines(&["word"; 40].join(" "), "  ");
        assert_eq!(text.lines().count(), 2);
        assert!(text.lines().all(|line| line.starts_with("  /// word")), "{text}");
    }
}
