//! Manual pages of the C ABI, from its header: one for the functions, structures and constants of each kind of object.

use std::{fmt::Write, path::Path};

use crate::{Error, Source};

/// The pages: name, summary, and the beginnings of the names in them. A name belongs to the page with the longest beginning.
const PAGES: &[(&str, &str, &[&str])] = &[
    ("agw_results", "results, errors, hooks and the version", &["agw_", "AGW_"]),
    (
        "agw_device",
        "devices and questions to them",
        &["agw_device", "agw_page_fault", "AGW_DEVICE", "AGW_QUERY", "AGW_IP", "AGW_DUMP"],
    ),
    ("agw_bo", "buffer objects with addresses", &["agw_bo", "AGW_VA_", "AGW_METADATA"]),
    ("agw_sparse", "address ranges that memory is bound to page by page", &["agw_sparse"]),
    ("agw_residents", "sets of memory that submissions share", &["agw_residents"]),
    ("agw_ctx", "contexts, and submissions with arrays of the caller's", &["agw_ctx", "agw_cs", "AGW_PRIORITY"]),
    ("agw_sync", "sync objects", &["agw_sync", "AGW_WAIT"]),
    (
        "agw_memory_manager",
        "heaps, memory types and budgets",
        &[
            "agw_memory_manager",
            "agw_memory_heap",
            "agw_memory_type",
            "agw_heap",
            "AGW_HEAP",
            "AGW_BUDGET",
            "AGW_BUFFER",
        ],
    ),
    ("agw_memory", "memory by memory type", &["agw_memory", "AGW_MEMORY", "AGW_HANDLE"]),
    ("agw_stream", "command streams", &["agw_stream", "agw_cmd", "agw_ib", "AGW_STREAM", "AGW_EXECUTE"]),
    ("agw_queue", "queues and submissions", &["agw_queue", "agw_submission", "AGW_SUBMIT"]),
    ("agw_video_queue", "queues of video engines and submissions to them", &["agw_video"]),
];

/// The page with the rules that apply to every function.
const RULES: &str = "agw_results";

/// A documented item of the header.
struct Item<'h> {
    name: &'h str,
    /// Its declaration, as it stands there.
    text: &'h str,
    doc: Vec<&'h str>,
    kind: ItemKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ItemKind {
    Constant,
    Structure,
    Function,
}

/// Writes the pages of a header.
pub(super) fn sources(header: &Path, folder: &Path) -> Result<Vec<Source>, Error> {
    let text = std::fs::read_to_string(header).map_err(|source| Error::File { path: header.into(), source })?;
    let items = items(&text)?;
    let rules = rules(&text);
    let page = |&(name, summary, _): &(&str, &str, &[&str])| {
        let own: Vec<_> = items.iter().filter(|item| page_of(item.name) == name).collect();
        if own.is_empty() {
            return Err(Error::Table(format!("the page {name} has nothing in it")));
        }
        let rules = if name == RULES { rules.as_str() } else { "" };
        Ok(Source { path: folder.join(format!("{name}.3")), text: page(name, summary, rules, &own) })
    };
    PAGES.iter().map(page).collect()
}

/// Returns the page of a name.
fn page_of(name: &str) -> &'static str {
    let length = |page: &&(&str, &str, &[&str])| {
        page.2.iter().filter(|start| name.starts_with(**start)).map(|start| start.len()).max()
    };
    PAGES.iter().max_by_key(length).map_or("", |page| page.0)
}

/// Finds the documented items of a header.
fn items(header: &str) -> Result<Vec<Item<'_>>, Error> {
    let mut items = Vec::new();
    for block in header.split("\n/**\n").skip(1) {
        let broken = || {
            Error::Table(format!("a comment of the header has no end: {}", block.lines().next().unwrap_or_default()))
        };
        let (comment, rest) = block.split_once("\n */\n").ok_or_else(broken)?;
        let doc = comment.lines().map(|line| line.strip_prefix(" *").unwrap_or(line).trim()).collect();
        let (kind, end) = match rest {
            _ if rest.starts_with("#define") => (ItemKind::Constant, "\n"),
            _ if rest.starts_with("static inline") => (ItemKind::Function, ")\n"),
            // An opaque one.
            _ if rest.starts_with("struct")
                && rest.lines().next().is_some_and(|line| line.ends_with(';') && !line.contains('(')) =>
            {
                (ItemKind::Structure, ";")
            }
            _ if rest.starts_with("struct") && !rest.lines().next().unwrap_or_default().contains('(') => {
                (ItemKind::Structure, "};")
            }
            _ => (ItemKind::Function, ");"),
        };
        let Some(at) = rest.find(end) else { return Err(broken()) };
        let text = rest.get(..at + end.len()).unwrap_or(rest).trim_end();
        let name = match kind {
            ItemKind::Function => text.split('(').next().and_then(|head| head.rsplit([' ', '*']).next()),
            ItemKind::Constant | ItemKind::Structure => {
                text.split_whitespace().nth(1).map(|name| name.trim_end_matches(';'))
            }
        };
        items.push(Item { name: name.ok_or_else(broken)?, text, doc, kind });
    }
    Ok(items)
}

/// Returns the list in the comment at the top of a header, as a section.
fn rules(header: &str) -> String {
    let comment = header.split("*/").next().unwrap_or_default();
    let lines: Vec<_> = comment.lines().filter_map(|line| line.strip_prefix(" * ")).collect();
    if lines.is_empty() {
        return String::new();
    }
    let mut out = String::from(".SH RULES\n");
    for line in lines {
        match line.strip_prefix("- ") {
            Some(first) => out = out + ".IP \\(bu 2\n" + &prose(&[first]),
            None => out += &prose(&[line.trim_start()]),
        }
    }
    out
}

fn page(name: &str, summary: &str, rules: &str, items: &[&Item<'_>]) -> String {
    let mut out =
        String::from(".\\\" Generated by `cargo run -p xtask -- manual` from include/amdgpu_winsys.h; do not edit.\n");
    let of = |kind: ItemKind| items.iter().filter(move |item| item.kind == kind);
    // Writing to a string does not fail.
    let _ = writeln!(out, ".TH {} 3 \"\" \"amdgpu\\-winsys\" \"C ABI of amdgpu\\-winsys\"", name.to_uppercase());
    let _ = writeln!(out, ".SH NAME\n{name} \\- {summary}");
    out += ".SH SYNOPSIS\n.nf\n.B #include <amdgpu_winsys.h>\n.PP\n";
    for item in of(ItemKind::Function) {
        let _ = writeln!(out, "{}", code(item.text));
    }
    out += ".fi\n";
    out += rules;
    out += ".SH FUNCTIONS\n";
    for item in of(ItemKind::Function) {
        let _ = write!(out, ".SS {}\n{}", item.name, prose(&item.doc));
    }
    for (kind, title) in [(ItemKind::Structure, "STRUCTURES"), (ItemKind::Constant, "CONSTANTS")] {
        let mut rest = of(kind).peekable();
        if rest.peek().is_some() {
            let _ = writeln!(out, ".SH {title}");
        }
        for item in rest {
            if kind == ItemKind::Structure {
                let _ =
                    writeln!(out, ".SS struct {}\n{}.PP\n.nf\n{}\n.fi", item.name, prose(&item.doc), code(item.text));
            } else {
                let value = item.text.split_once(item.name).map_or("", |(_, value)| value.trim());
                let _ = write!(out, ".TP\n.B {} {}\n{}", item.name, code(value), prose(&item.doc));
            }
        }
    }
    let others: Vec<_> = PAGES.iter().filter(|page| page.0 != name).map(|page| format!(".BR {} (3)", page.0)).collect();
    let _ = writeln!(out, ".SH SEE ALSO\n{}", others.join(",\n"));
    out
}

/// Returns text in which nothing is a command of the formatter.
fn plain(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-");
    if text.starts_with(['.', '\'']) { format!("\\&{text}") } else { text }
}

fn code(text: &str) -> String {
    text.lines().map(plain).collect::<Vec<_>>().join("\n")
}

/// Returns the paragraphs of a comment. What stands between backticks is bold.
fn prose(doc: &[&str]) -> String {
    let mut out = String::new();
    for line in doc {
        let line = match *line {
            "" => ".PP".to_owned(),
            "# Safety" => ".I The caller's promise:".to_owned(),
            line => {
                let parts = line.split('`').map(|part| part.replace('\\', "\\e").replace('-', "\\-"));
                let bold =
                    parts.enumerate().map(|(at, part)| if at % 2 == 1 { format!("\\fB{part}\\fP") } else { part });
                let text: String = bold.collect();
                if text.starts_with(['.', '\'']) { format!("\\&{text}") } else { text }
            }
        };
        out += &line;
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "/* A header.\n *\n * These rules:\n *\n * - Of `a`:\n *   it is first.\n * - Of b.\n */\n\n/**\n * The most.\n */\n#define AGW_WAIT_MOST 7\n\n/**\n * A pair.\n */\nstruct agw_sync_pair {\n   int a;\n};\n\n/**\n * Waits for `a-b`.\n *\n * # Safety\n *\n * .a is null.\n */\nint32_t agw_sync_wait(struct agw_sync *a,\n                      int b);\n\n/**\n * Is quick.\n */\nstatic inline int agw_sync_quick(int a)\n{\n   return f(a);\n}\n";

    #[test]
    fn a_header_becomes_pages() {
        let items = items(HEADER).unwrap();
        let names: Vec<_> = items.iter().map(|item| item.name).collect();
        assert_eq!(names, ["AGW_WAIT_MOST", "agw_sync_pair", "agw_sync_wait", "agw_sync_quick"]);
        let text = page("agw_sync", "sync objects", &rules(HEADER), &items.iter().collect::<Vec<_>>());
        assert!(text.contains(
            ".SS agw_sync_wait\nWaits for \\fBa\\-b\\fP.\n.PP\n.I The caller's promise:\n.PP\n\\&.a is null.\n"
        ));
        assert!(text.contains(".TP\n.B AGW_WAIT_MOST 7\nThe most.\n"));
        assert!(text.contains("\nstatic inline int agw_sync_quick(int a)\n.fi\n"), "without its body: {text}");
        let rules =
            ".SH RULES\nThese rules:\n.IP \\(bu 2\nOf \\fBa\\fP:\nit is first.\n.IP \\(bu 2\nOf b.\n.SH FUNCTIONS\n";
        assert!(text.contains(rules), "{text}");
        assert!(text.contains(".SS struct agw_sync_pair\nA pair.\n"));
    }

    #[test]
    fn a_name_is_on_the_page_with_the_longest_beginning() {
        assert_eq!(page_of("agw_memory_manager_ref"), "agw_memory_manager");
        assert_eq!(page_of("agw_memory_map"), "agw_memory");
        assert_eq!(page_of("AGW_SUCCESS"), "agw_results");
        assert_eq!(page_of("agw_ctx_submit"), "agw_ctx");
    }
}
