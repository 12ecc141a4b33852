//! Writing the mutants of a file into it, line for line.

use std::ops::Range;

use crate::mutant::{Form, Site};

/// A file with its mutants in it.
#[derive(Debug, Default)]
pub(crate) struct Spliced {
    /// The new source. Lines are those of the original.
    pub(crate) text: String,
    /// The bytes of `text` that each mutant's own code takes.
    pub(crate) mutants: Vec<(Range<usize>, u32)>,
    /// The bytes of `text` that each site takes, with its index.
    pub(crate) sites: Vec<(Range<usize>, usize)>,
}

/// Text to insert before a byte of the original.
struct Insertion {
    at: usize,
    /// Orders what is inserted at one place.
    rank: (u8, isize),
    pieces: Vec<(String, Option<u32>)>,
    site: usize,
    side: Side,
}

#[derive(Clone, Copy, PartialEq)]
enum Side {
    Opens,
    Closes,
    Stands,
}

/// Writes the sites' mutants into `source`, except those that `dropped` names. Sites come outermost first.
pub(crate) fn splice(source: &str, sites: &[Site], dropped: impl Fn(u32) -> bool) -> Spliced {
    let mut insertions = Vec::new();
    for (index, site) in sites.iter().enumerate() {
        let live: Vec<(u32, &str)> = (1..)
            .zip(&site.variants)
            .filter(|(nth, _)| !dropped(site.first + nth - 1))
            .map(|(nth, code)| (nth, code.as_str()))
            .collect();
        if !live.is_empty() {
            insertions.extend(of_site(index, site, &live));
        }
    }
    insertions.sort_by_key(|insertion| (insertion.at, insertion.rank));

    let mut spliced = Spliced::default();
    let mut copied = 0;
    let mut opened = vec![0; sites.len()];
    for insertion in insertions {
        spliced.text.push_str(&source[copied..insertion.at]);
        copied = insertion.at;
        let start = spliced.text.len();
        for (piece, number) in insertion.pieces {
            let start = spliced.text.len();
            spliced.text.push_str(&piece);
            spliced.mutants.extend(number.map(|number| (start..spliced.text.len(), number)));
        }
        match insertion.side {
            Side::Opens => opened[insertion.site] = start,
            Side::Closes => spliced.sites.push((opened[insertion.site]..spliced.text.len(), insertion.site)),
            Side::Stands => spliced.sites.push((start..spliced.text.len(), insertion.site)),
        }
    }
    spliced.text.push_str(&source[copied..]);
    spliced
}

fn of_site(index: usize, site: &Site, live: &[(u32, &str)]) -> Vec<Insertion> {
    let (first, count) = (site.first, site.variants.len());
    let pick = format!("::amdgpu_mutants_runtime::pick({first},{count})");
    let rank = isize::try_from(index).unwrap_or(isize::MAX);
    let insertion = |at, rank, pieces, side| Insertion { at, rank, pieces, site: index, side };
    let whole = |text: &str| vec![(text.to_owned(), None)];
    // At one place inner sites close first, then code stands, then outer sites open first.
    let (closes, stands, opens) = ((0, -rank), (1, rank), (2, rank));
    match site.form {
        Form::Expression => {
            let mut pieces = vec![(format!("(match {pick} {{"), None)];
            pieces.extend(live.iter().map(|(nth, code)| (format!("{nth}=>{code},"), Some(first + nth - 1))));
            pieces.push(("_=>".to_owned(), None));
            let open = insertion(site.range.start, opens, pieces, Side::Opens);
            vec![open, insertion(site.range.end, closes, whole("})"), Side::Closes)]
        }
        Form::Return => {
            let mut pieces = vec![(format!("match {pick} {{"), None)];
            pieces.extend(live.iter().map(|(nth, code)| (format!("{nth}=>return {code},"), Some(first + nth - 1))));
            pieces.push(("_=>{}}".to_owned(), None));
            vec![insertion(site.range.start, stands, pieces, Side::Stands)]
        }
        Form::Arm => {
            let pieces = vec![(format!(" if {pick}==0 "), Some(first))];
            vec![insertion(site.range.start, stands, pieces, Side::Stands)]
        }
        Form::Statement => {
            let pieces = vec![(format!("if {pick}==0 {{"), Some(first))];
            let open = insertion(site.range.start, opens, pieces, Side::Opens);
            vec![open, insertion(site.range.end, closes, whole("}"), Side::Closes)]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sites_nest_and_keep_the_lines() {
        let source = "{a+b\n*c}";
        let site = |range, form, first, variant: &str| Site { range, form, first, variants: vec![variant.to_owned()] };
        let sites = [
            site(1..1, Form::Return, 1, "0"),
            site(1..7, Form::Expression, 2, "a-(b*c)"),
            site(3..7, Form::Expression, 3, "b/c"),
        ];
        let pick = "::amdgpu_mutants_runtime::pick";
        assert_eq!(
            splice(source, &sites, |_| false).text,
            format!(
                "{{match {pick}(1,1) {{1=>return 0,_=>{{}}}}(match {pick}(2,1) {{1=>a-(b*c),_=>a+(match {pick}(3,1) {{1=>b/c,_=>b\n*c}})}})}}"
            )
        );
        let without = splice(source, &sites, |number| number == 2);
        assert!(!without.text.contains("a-(b*c)"));
        assert_eq!(without.sites.len(), 2);
        assert_eq!(&without.text[without.mutants[1].0.clone()], "1=>b/c,");
    }
}
