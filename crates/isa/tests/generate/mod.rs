//! The generator: reads the specification of every generation and writes Rust tables.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs,
    path::Path,
};

/// The generations, oldest first: file name, variant of `GfxLevel`.
const GENERATIONS: [(&str, &str); 9] = [
    ("gfx6", "Gfx6"),
    ("gfx7", "Gfx7"),
    ("gfx8", "Gfx8"),
    ("gfx9", "Gfx9"),
    ("gfx10", "Gfx10"),
    ("gfx10_3", "Gfx10_3"),
    ("gfx11", "Gfx11"),
    ("gfx11_5", "Gfx11_5"),
    ("gfx12", "Gfx12"),
];

/// A format: its name, bytes, identifying bits and fields.
struct Format {
    name: String,
    bytes: u32,
    encoding: Vec<(u32, u32, u32)>,
    fields: Vec<(String, Vec<(u32, u32)>)>,
}

/// An operation: its format, number, name and operands with their sizes in dwords.
struct Operation {
    format: String,
    number: u32,
    name: String,
    operands: Vec<(String, u32)>,
}

/// The scalar operands that are no plain SGPRs, and the last SGPR.
#[derive(Default)]
struct Scalars {
    last_sgpr: u32,
    named: Vec<(u32, String)>,
}

/// The specification of one generation.
#[derive(Default)]
struct Generation {
    formats: Vec<Format>,
    sources: Scalars,
    destinations: Scalars,
    operations: Vec<Operation>,
}

fn pair(text: &str, separator: char) -> (u32, u32) {
    let (high, low) = text.split_once(separator).unwrap_or_else(|| panic!("no pair: {text}"));
    (high.parse().unwrap(), low.parse().unwrap())
}

fn format(rest: &str) -> Format {
    let [head, encoding, fields] = rest.split('|').collect::<Vec<_>>()[..] else { panic!("no format: {rest}") };
    let (name, bytes) = head.trim().split_once(' ').unwrap();
    let encoding = encoding.split_whitespace().map(|part| {
        let (bits, value) = part.split_once('=').unwrap();
        let (high, low) = pair(bits, ':');
        (high, low, value.parse().unwrap())
    });
    let fields = fields.split_whitespace().map(|part| {
        let (name, pieces) = part.split_once('=').unwrap();
        (name.to_owned(), pieces.split(',').map(|piece| pair(piece, ':')).collect())
    });
    Format {
        name: name.to_owned(),
        bytes: bytes.parse().unwrap(),
        encoding: encoding.collect(),
        fields: fields.collect(),
    }
}

fn operation(rest: &str) -> Operation {
    let mut words = rest.split_whitespace();
    let mut next = || words.next().unwrap_or_else(|| panic!("too short: {rest}"));
    let (format, number, name) = (next().to_owned(), next().parse().unwrap(), next().to_owned());
    let operands = words.map(|word| {
        let (kind, dwords) = word.split_once(':').unwrap_or((word, "0"));
        (kind.to_owned(), dwords.parse().unwrap())
    });
    Operation { format, number, name, operands: operands.collect() }
}

fn scalar(to: &mut Scalars, rest: &str) {
    let (number, name) = rest.split_once(' ').unwrap();
    if number == "sgprs" {
        to.last_sgpr = name.split_once("..").unwrap().1.parse().unwrap();
    } else {
        to.named.push((number.parse().unwrap(), name.to_owned()));
    }
}

fn read(path: &Path) -> Generation {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut generation = Generation::default();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (word, rest) = line.split_once(' ').unwrap();
        match word {
            "format" => generation.formats.push(format(rest)),
            "source" => scalar(&mut generation.sources, rest),
            "destination" => scalar(&mut generation.destinations, rest),
            "op" => generation.operations.push(operation(rest)),
            _ => panic!("{}: {line}", path.display()),
        }
    }
    generation
}

/// `VOP3_SDST` as `Vop3Sdst`, `op_sel_hi2` as `OpSelHi2`.
fn camel(name: &str) -> String {
    let part = |part: &str| {
        let mut letters = part.chars();
        letters
            .next()
            .into_iter()
            .flat_map(char::to_uppercase)
            .chain(letters.flat_map(char::to_lowercase))
            .collect::<String>()
    };
    name.split('_').map(part).collect()
}

fn enumeration(out: &mut String, name: &str, doc: &str, words: &BTreeSet<String>) {
    let _ = writeln!(
        out,
        "/// {doc}\n#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]\n#[repr(u8)]\npub enum {name} {{"
    );
    for word in words {
        let _ = writeln!(out, "/// `{word}`.\n{},", camel(word));
    }
    let _ = writeln!(
        out,
        "}}\n\nimpl {name} {{\n/// The number of variants.\npub const COUNT: usize = {};\n\n/// Returns the name in the specification.\npub const fn name(self) -> &'static str {{\nmatch self {{",
        words.len()
    );
    for word in words {
        let _ = writeln!(out, "Self::{} => {word:?},", camel(word));
    }
    out.push_str("}\n}\n}\n\n");
}

const HEAD: &str = "// Generated from `spec`; see `tests/tables.rs`.\n\n";

fn words(generations: &[Generation]) -> String {
    let mut formats = BTreeSet::new();
    let mut fields = BTreeSet::new();
    let mut operands = BTreeSet::new();
    for generation in generations {
        for format in &generation.formats {
            formats.insert(format.name.clone());
            fields.extend(format.fields.iter().map(|(name, _)| name.clone()));
        }
        formats.extend(generation.operations.iter().map(|op| op.format.clone()));
        operands.extend(generation.operations.iter().flat_map(|op| op.operands.iter().map(|(kind, _)| kind.clone())));
    }
    let mut out = format!("//! The words of the tables: formats, fields and operands.\n\n{HEAD}");
    enumeration(
        &mut out,
        "Format",
        "An encoding format; `Sdwa`, `Sdwab`, `Dpp`, `Dpp16` and `Dpp8` are the extra dword of a vector instruction.",
        &formats,
    );
    enumeration(&mut out, "Field", "A field of a format.", &fields);
    enumeration(&mut out, "OperandKind", "The place an operand is encoded in, in the order of the text.", &operands);
    out
}

/// Returns the enumeration of all operations, ordered by name.
fn operations(generations: &[Generation]) -> String {
    let names: BTreeSet<_> =
        generations.iter().flat_map(|generation| generation.operations.iter().map(|op| op.name.as_str())).collect();
    let variants: BTreeSet<_> = names.iter().map(|name| camel(name)).collect();
    assert!(variants.len() == names.len(), "two names of operations make one variant");
    let mut out =
        format!("//! The operations of all generations.\n\n{HEAD}use crate::table::operations;\n\noperations! {{\n");
    for name in names {
        let _ = writeln!(out, "    {} {name:?}", camel(name));
    }
    out.push_str("}\n");
    out
}

fn table(generation: &Generation, level: &str) -> String {
    let mut out = format!(
        "//! Tables of {level}.\n\n{HEAD}use crate::table::{{Bits, Field as F, FieldLayout, Format as T, FormatLayout, Match, Op as O, Opcode, Operand, OperandKind as K, Scalars, Table}};\n\n"
    );
    let mut lists: BTreeMap<&[(String, u32)], usize> = BTreeMap::new();
    for op in &generation.operations {
        let next = lists.len();
        lists.entry(&op.operands).or_insert(next);
    }
    let mut ordered: Vec<_> = lists.iter().collect();
    ordered.sort_by_key(|(_, number)| **number);
    for (list, number) in ordered {
        let items =
            list.iter().map(|(kind, dwords)| format!("Operand::new(K::{}, {dwords})", camel(kind))).collect::<Vec<_>>();
        let _ = writeln!(out, "static L{number}: [Operand; {}] = [{}];", items.len(), items.join(", "));
    }
    let _ = writeln!(out, "\n/// The tables of {level}.\npub(crate) static TABLE: Table = Table::new(\n&[");
    for format in &generation.formats {
        let encoding = format
            .encoding
            .iter()
            .map(|(high, low, value)| format!("Match::new({high}, {low}, {value})"))
            .collect::<Vec<_>>();
        let fields = format.fields.iter().map(|(name, pieces)| {
            let pieces = pieces.iter().map(|(high, low)| format!("Bits::new({high}, {low})")).collect::<Vec<_>>();
            format!("FieldLayout::new(F::{}, &[{}])", camel(name), pieces.join(", "))
        });
        let _ = writeln!(
            out,
            "FormatLayout::new(T::{}, {}, &[{}], &[{}]),",
            camel(&format.name),
            format.bytes,
            encoding.join(", "),
            fields.collect::<Vec<_>>().join(", ")
        );
    }
    out.push_str("],\n");
    for scalars in [&generation.sources, &generation.destinations] {
        let named = scalars.named.iter().map(|(number, name)| format!("({number}, {name:?})")).collect::<Vec<_>>();
        let _ = writeln!(out, "Scalars {{ last_sgpr: {}, named: &[{}] }},", scalars.last_sgpr, named.join(", "));
    }
    out.push_str("&[\n");
    let mut operations: Vec<_> = generation.operations.iter().collect();
    operations.sort_by_key(|op| (op.format.clone(), op.number));
    for op in operations {
        let _ = writeln!(
            out,
            "Opcode::new(T::{}, {}, O::{}, &L{}),",
            camel(&op.format),
            op.number,
            camel(&op.name),
            lists[&op.operands[..]]
        );
    }
    out.push_str("],\n);\n");
    out
}

/// Returns the generated files: name and source.
pub(crate) fn files(spec: &Path) -> Vec<(String, String)> {
    let generations: Vec<_> = GENERATIONS.iter().map(|(name, _)| read(&spec.join(format!("{name}.txt")))).collect();
    let mut files =
        vec![("words.rs".to_owned(), words(&generations)), ("operations.rs".to_owned(), operations(&generations))];
    for ((name, level), generation) in GENERATIONS.iter().zip(&generations) {
        files.push((format!("{name}.rs"), table(generation, level)));
    }
    let mut module =
        format!("//! Tables by generation, the operations of all, and the words they are written in.\n\n{HEAD}");
    for (name, _) in GENERATIONS {
        let _ = writeln!(module, "pub(crate) mod {name};");
    }
    module.push_str("pub(crate) mod operations;\npub(crate) mod words;\n");
    files.push(("mod.rs".to_owned(), module));
    files
}
