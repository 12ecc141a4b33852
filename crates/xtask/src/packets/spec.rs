//! The tables of packets, read.

use std::path::Path;

use super::selectors::{self, GENERATIONS, Selector, levels};
use crate::Error;
use crate::registers::spec as registers;
use crate::text::{Line, SpecError, lines};

/// The versions of the copy engine, by the bit that stands for them.
pub(super) const VERSIONS: &[&str] = &["1.0", "2.0", "2.4", "3.0", "4.0", "5.0", "5.2", "6.0", "7.0"];

/// A language: the module that its packets go to, its files, and what its sets consist of.
const LANGUAGES: &[(&str, &[&str], &[&str])] = &[
    ("pm4", &["pm4-state", "pm4-memory", "pm4-work", "pm4-control"], GENERATIONS),
    ("sdma", &["sdma-copy", "sdma-tiled", "sdma-control", "sdma-kernel"], VERSIONS),
    ("dma", &["dma"], VERSIONS),
];

/// All tables.
#[derive(Debug)]
pub(crate) struct Spec {
    pub(crate) languages: Vec<Language>,
    pub(crate) selectors: Vec<Selector>,
}

impl Spec {
    /// Returns the packet of a name.
    pub(super) fn packet(&self, name: &str) -> Option<&Packet> {
        self.languages.iter().flat_map(|language| &language.packets).find(|packet| packet.name == name)
    }
}

/// The packets of a language, in the order of the tables.
#[derive(Debug)]
pub(crate) struct Language {
    pub(crate) name: &'static str,
    pub(crate) packets: Vec<Packet>,
}

/// A packet.
#[derive(Debug)]
pub(crate) struct Packet {
    pub(crate) opcode: u32,
    pub(crate) name: String,
    pub(crate) about: String,
    /// The readers that take it, and on which generations.
    pub(crate) rings: Vec<(String, u16)>,
    pub(crate) forms: Vec<Form>,
    /// `true` if code that writes it is generated.
    pub(crate) is_typed: bool,
}

/// One way a packet looks.
#[derive(Debug)]
pub(crate) struct Form {
    pub(crate) levels: u16,
    /// Dwords behind the header, at least and at most.
    pub(crate) payload: (u16, u16),
    /// A field, times, plus: the dwords behind those.
    pub(crate) tail: Option<(String, u32, u32)>,
    pub(crate) fields: Vec<Field>,
    /// The name of the form, where a typed packet is written in it only when asked to.
    pub(crate) alias: Option<String>,
}

/// Some bits of a dword.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) dword: u32,
    pub(crate) bits: (u8, u8),
    pub(crate) levels: u16,
    pub(crate) holds: Holds,
    /// Other fields, and the values of each with which this one means something.
    pub(crate) when: Vec<Condition>,
}

/// A field, and values of it.
pub(crate) type Condition = (String, Vec<u32>);

/// Values that a field may hold.
#[derive(Debug)]
pub(crate) enum Holds {
    Anything,
    Choice(String),
    Only(u32),
}

/// Reads the tables of a directory; some values are those of the registers.
pub(crate) fn read(home: &Path, registers: &registers::Spec) -> Result<Spec, Error> {
    let mut selectors = crate::parse(&home.join("selectors.txt"), selectors::parse)?;
    selectors::resolve(&mut selectors, registers)?;
    let mut languages = Vec::new();
    for &(name, files, levels) in LANGUAGES {
        let mut found = Vec::new();
        for file in files {
            let path = home.join(file).with_extension("txt");
            found.extend(crate::parse(&path, |text| packets(text, levels))?);
        }
        languages.push(Language { name, packets: found });
    }
    let spec = Spec { languages, selectors };
    check(&spec)?;
    Ok(spec)
}

fn packets(text: &str, names: &[&str]) -> Result<Vec<Packet>, SpecError> {
    let mut found: Vec<Packet> = Vec::new();
    let mut dword = None;
    for mut line in lines(text) {
        if !line.is_indented {
            let (opcode, name) = (line.number("an opcode")?, line.word("a name")?.to_owned());
            let about = line.quoted()?.to_owned();
            let is_typed = line.take("typed");
            line.end()?;
            found.push(Packet { opcode, name, about, rings: Vec::new(), forms: Vec::new(), is_typed });
            continue;
        }
        let Some(packet) = found.last_mut() else { return Err(line.fault("a line without a packet")) };
        if packet.rings.is_empty() {
            packet.rings = rings(&mut line, names)?;
        } else if line.take("form") {
            packet.forms.push(form(&mut line, names)?);
            dword = None;
        } else {
            let Some(form) = packet.forms.last_mut() else { return Err(line.fault("a field without a form")) };
            // A line without a dword goes on in the dword of the last one.
            let at = line.label().or(dword).ok_or_else(|| line.fault("a dword is missing"))?;
            dword = Some(at);
            fields(&mut line, at, names, &mut form.fields)?;
        }
    }
    Ok(found)
}

fn rings(line: &mut Line<'_>, names: &[&str]) -> Result<Vec<(String, u16)>, SpecError> {
    let mut found = Vec::new();
    while line.end().is_err() {
        let ring = line.word("a ring")?;
        if !["gfx", "compute", "ce", "kiq", "sdma"].contains(&ring) {
            return Err(line.fault(format!("{ring} is no ring")));
        }
        let levels = levels(line, names)?.ok_or_else(|| line.fault("generations are missing"))?;
        found.push((ring.to_owned(), levels));
    }
    Ok(found)
}

fn form(line: &mut Line<'_>, names: &[&str]) -> Result<Form, SpecError> {
    let levels = levels(line, names)?.ok_or_else(|| line.fault("generations are missing"))?;
    let word = line.word("a length")?;
    let (least, most) = word.split_once("..").unwrap_or((word, word));
    let (Ok(least), Ok(most)) = (least.parse(), most.parse()) else { return Err(line.fault("no length")) };
    let mut tail = None;
    if line.take("tail") {
        let field = line.word("a field")?.to_owned();
        let (_, times) = (line.word("*")?, line.number("a factor")?);
        let (_, plus) = (line.word("+")?, line.number("a number")?);
        tail = Some((field, times, plus));
    }
    let alias = if line.take("as") { Some(line.word("a name")?.to_owned()) } else { None };
    line.end()?;
    Ok(Form { levels, payload: (least, most), tail, fields: Vec::new(), alias })
}

/// Parses the fields of a dword.
pub(super) fn fields(line: &mut Line<'_>, dword: u32, names: &[&str], found: &mut Vec<Field>) -> Result<(), SpecError> {
    loop {
        let word = line.word("a field")?;
        let Some((name, bits)) = word.strip_suffix(']').and_then(|word| word.split_once('[')) else {
            return Err(line.fault(format!("{word} has no bits")));
        };
        let bits = line.range(bits)?;
        let holds = if line.take("in") {
            Holds::Choice(line.word("a selector")?.to_owned())
        } else if line.take("is") {
            Holds::Only(line.number("a value")?)
        } else {
            Holds::Anything
        };
        let mut when = Vec::new();
        while line.take(if when.is_empty() { "when" } else { "and" }) {
            let (decides, _) = (line.word("a field")?.to_owned(), line.word("=")?);
            let values: Result<Vec<u32>, _> = line.word("values")?.split('|').map(str::parse).collect();
            when.push((decides, values.map_err(|_| line.fault("a value is no number"))?));
        }
        let levels = levels(line, names)?.unwrap_or(u16::MAX);
        found.push(Field { name: name.to_owned(), dword, bits, levels, holds, when });
        if !line.take(",") || line.end().is_ok() {
            return line.end();
        }
    }
}

/// Every selector and every field that is named is there, and the fields of a form are in order.
fn check(spec: &Spec) -> Result<(), Error> {
    let packets = spec.languages.iter().flat_map(|language| &language.packets);
    for (packet, form) in packets.flat_map(|packet| packet.forms.iter().map(move |form| (packet, form))) {
        let wrong = |what: &str, name: &str| Err(Error::Table(format!("{}: {name} {what}", packet.name)));
        let has = |name: &str| form.fields.iter().any(|field| field.name == name);
        if form.payload.0 > form.payload.1 {
            return wrong("is longer than it is at most", "a form");
        }
        for field in &form.fields {
            match &field.holds {
                Holds::Choice(name) if spec.selectors.iter().all(|selector| selector.name != *name) => {
                    return wrong("is no selector", name);
                }
                _ => {}
            }
            if let Some((decides, _)) = field.when.iter().find(|when| !has(&when.0)) {
                return wrong("decides about a field and is none", decides);
            }
        }
        if let Some((name, ..)) = form.tail.as_ref().filter(|tail| !has(&tail.0)) {
            return wrong("is the length of a tail and no field", name);
        }
        if !form.fields.is_sorted_by_key(|field| field.dword) {
            return wrong("is not in order", "a dword");
        }
        if let Some((one, other)) = overlap(form) {
            return wrong(&format!("has bits of {}, and nothing says which is meant", other.name), &one.name);
        }
    }
    Ok(())
}

/// Returns two fields of some generation that share bits, although no field decides between them.
fn overlap(form: &Form) -> Option<(&Field, &Field)> {
    let share = |one: &Field, other: &Field| {
        let bits = one.dword == other.dword && one.bits.0 >= other.bits.1 && other.bits.0 >= one.bits.1;
        bits && one.levels & other.levels & form.levels != 0
    };
    let excludes =
        |one: &Condition, other: &Condition| one.0 == other.0 && one.1.iter().all(|value| !other.1.contains(value));
    let are_apart = |one: &Field, other: &Field| {
        one.when.iter().any(|condition| other.when.iter().any(|against| excludes(condition, against)))
    };
    let pairs =
        form.fields.iter().enumerate().flat_map(|(at, one)| form.fields[..at].iter().map(move |other| (other, one)));
    pairs.into_iter().find(|(one, other)| share(one, other) && !are_apart(one, other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_has_rings_forms_and_fields() {
        let text = "0x37 A \"does it\"\n  gfx [GFX6] compute [GFX7..GFX8]\n  form [GFX6] 2..9 tail n * 3 + 1\n    \
                    1: n[3:0] in S, m[4] is 1 when n = 2|5 [GFX6],\n       o[31:5]\n    2: p[31:0]\n";
        let found = packets(text, GENERATIONS).unwrap();
        let [packet] = &found[..] else { panic!("{found:?}") };
        assert_eq!((packet.opcode, packet.about.as_str()), (0x37, "does it"));
        assert_eq!(packet.rings, [("gfx".to_owned(), 1), ("compute".to_owned(), 6)]);
        let [form] = &packet.forms[..] else { panic!("{packet:?}") };
        assert_eq!((form.payload, form.tail.clone()), ((2, 9), Some(("n".to_owned(), 3, 1))));
        let places: Vec<_> = form.fields.iter().map(|field| (field.name.as_str(), field.dword, field.bits)).collect();
        assert_eq!(places, [("n", 1, (3, 0)), ("m", 1, (4, 4)), ("o", 1, (31, 5)), ("p", 2, (31, 0))]);
        let m = &form.fields[1];
        assert_eq!((&m.when, m.levels), (&vec![("n".to_owned(), vec![2, 5])], 1));
        assert!(matches!(m.holds, Holds::Only(1)));
    }

    #[test]
    fn fields_share_bits_only_where_another_field_decides() {
        let with = |fields: &str| {
            let text = format!("0x37 A \"does it\"\n  gfx [GFX6]\n  form [GFX6..GFX7] 1\n    1: {fields}\n");
            let found = packets(&text, GENERATIONS).unwrap();
            overlap(&found[0].forms[0]).is_some()
        };
        assert!(with("a[3:0], b[7:3]") && with("a[3:0], b[7:3] when c = 1, c[8]"));
        assert!(with("a[3:0] when c = 1|2, b[3:0] when c = 2, c[9:8]"));
        assert!(with("a[3:0] when c = 1, b[3:0] when d = 0, c[8], d[9]"));
        assert!(!with("a[3:0] when c = 1, b[3:0] when d = 0 and c = 0, c[8], d[9]"));
        assert!(!with("a[3:0], b[7:4]") && !with("a[3:0] [GFX6], b[3:0] [GFX7]"));
    }

    #[test]
    fn a_field_needs_bits_and_a_dword() {
        let start = "0x37 A \"does it\"\n  gfx [GFX6]\n  form [GFX6] 2\n";
        assert!(packets(&format!("{start}    1: n"), GENERATIONS).is_err());
        assert!(packets(&format!("{start}    n[1]"), GENERATIONS).is_err());
        assert!(packets(&format!("{start}    1: n[32]"), GENERATIONS).is_err());
        assert!(packets(&format!("{start}    1: n[1]"), GENERATIONS).is_ok());
    }
}
