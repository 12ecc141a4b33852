//! The goldens of ACO's splitting.

use std::collections::BTreeMap;

use amdgpu_hw::GfxLevel;
use amdgpu_isa::load::{Address, Alignment, Kind, Load, Place, Request, accesses, seed, split};
use serde_json::{Value, json};

use crate::{
    arithmetic::{of_loads, of_plan},
    support::{folder, level, text},
};

fn lines(name: &str) -> Vec<Value> {
    let path = folder("AMDGPU_LOAD_GOLDENS", "tests/data/loads").join(name);
    let text = text(&path).unwrap_or_else(|| panic!("no {}", path.display()));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn number(value: &Value, name: &str) -> u32 {
    value[name].as_u64().unwrap_or(0) as u32
}

/// The offset and address registers by the goldens' words.
fn places(kind: Kind, word: &str) -> (Place, Place) {
    let place = |letter: char| if letter == 's' { Place::Scalar } else { Place::Vector };
    match word {
        "none_v" => (Place::None, Place::Vector),
        "none_s" => (Place::None, Place::Scalar),
        "const" => (Place::Constant, Place::None),
        _ if matches!(kind, Kind::Global | Kind::ScalarGlobal) => {
            let mut letters = word.chars();
            let address = place(letters.next().unwrap());
            (place(letters.next().unwrap()), address)
        }
        _ => (place(word.chars().next().unwrap()), Place::None),
    }
}

fn how(load: &Load) -> Option<String> {
    let address = match load.address {
        Address::Scalar | Address::Lds => "",
        Address::Offen => "offen",
        Address::Soffset => "soffset",
        Address::OffenSoffset => "offen soffset",
        Address::Addr64 => "addr64 soffset",
        Address::Vaddr => "vaddr",
        Address::Saddr => "saddr",
        Address::VaddrSaddr => "vaddr saddr",
    };
    load.immediate1
        .map(|second| format!("offset1={second}"))
        .or_else(|| (!address.is_empty()).then(|| address.to_owned()))
}

fn shown(load: &Load, at: i32) -> Value {
    let mut items = vec![json!(load.op), json!(load.distance + at), json!(load.bytes), json!(load.immediate)];
    items.extend(how(load).map(Value::String));
    Value::Array(items)
}

/// Returns the request of a line of `emit.jsonl` or `seed.jsonl`.
fn request(line: &Value) -> Request {
    let kind = match line["kind"].as_str().unwrap() {
        "mubuf" => Kind::Buffer,
        "mubuf_swizzled" => Kind::SwizzledBuffer,
        "mubuf_scratch" | "scratch" => Kind::Scratch,
        "global" => Kind::Global,
        "lds" => Kind::Lds,
        "smem" => Kind::ScalarBuffer,
        _ => Kind::ScalarGlobal,
    };
    let input = &line["in"];
    let (offset, address) = places(kind, input["offset"].as_str().unwrap());
    Request {
        kind,
        components: number(input, "components") as u8,
        component_bytes: number(input, "component_size") as u8,
        align: Alignment { mul: number(input, "align_mul"), offset: number(input, "align_offset") },
        const_offset: number(input, "const_offset"),
        offset,
        address,
        component_stride: number(input, "component_stride") as u8,
        swizzle_element: number(input, "swizzle_component_size") as u8,
    }
}

/// Returns the arithmetic instructions of a line. Moves of the result to scalar registers are not part of a plan.
fn arithmetic(line: &Value) -> Value {
    let names = line["alu"].as_str().unwrap_or_default().split_whitespace();
    json!(names.filter(|name| *name != "p_as_uniform").collect::<Vec<_>>())
}

/// Counts of lines and of differing ones by kind, and the first that differs.
#[derive(Default)]
struct Tally {
    counts: BTreeMap<String, (u32, u32)>,
    first: Vec<String>,
}

impl Tally {
    fn add(&mut self, key: &str, line: &Value, found: &Value, wanted: &Value) {
        let count = self.counts.entry(key.to_owned()).or_default();
        count.0 += 1;
        if found != wanted {
            count.1 += 1;
            if count.1 <= 2 {
                self.first.push(format!("{line}\n  found {found}"));
            }
        }
    }

    fn check(&self) {
        println!("{:?}", self.counts);
        assert!(!self.counts.is_empty());
        assert!(self.counts.values().all(|(_, wrong)| *wrong == 0), "{}", self.first.join("\n"));
    }
}

#[test]
fn accesses_are_split_as_aco_splits_them() {
    let mut tally = Tally::default();
    for line in lines("emit.jsonl") {
        let request = request(&line);
        let name = line["kind"].as_str().unwrap();
        let gen_name = line["gen"].as_str().unwrap();
        let found = match split(&request, level(gen_name)) {
            Ok(loads) => Value::Array(loads.iter().map(|load| shown(load, 0)).collect()),
            Err(error) => json!(error.to_string()),
        };
        tally.add(&format!("{name} {gen_name}"), &line, &found, &line["loads"]);
        let arithmetic_found =
            split(&request, level(gen_name)).map(|loads| of_loads(&request, level(gen_name), &loads));
        tally.add(&format!("{name} {gen_name} arithmetic"), &line, &json!(arithmetic_found.ok()), &arithmetic(&line));
    }
    tally.check();
}

#[test]
fn requests_are_cut_and_widened_as_mesa_does() {
    let mut tally = Tally::default();
    for line in lines("access.jsonl") {
        let name = line["kind"].as_str().unwrap();
        let gen_name = line["gen"].as_str().unwrap();
        let (kind, offset, address) = match name {
            "ssbo" => (Kind::Buffer, Place::Vector, Place::None),
            "ssbo_smem" | "ubo_smem" | "push_constant_smem" => (Kind::ScalarBuffer, Place::Scalar, Place::None),
            "global" => (Kind::Global, Place::None, Place::Vector),
            "shared" => (Kind::Lds, Place::Vector, Place::None),
            "scratch" => (Kind::Scratch, Place::Vector, Place::None),
            _ => (Kind::ScalarGlobal, Place::None, Place::Scalar),
        };
        let input = &line["in"];
        let request = Request {
            kind,
            components: number(input, "components") as u8,
            component_bytes: (number(input, "bits") / 8) as u8,
            align: Alignment { mul: number(input, "align_mul"), offset: number(input, "align_offset") },
            const_offset: 0,
            offset,
            address,
            component_stride: 0,
            swizzle_element: if kind == Kind::Scratch && level(gen_name) <= GfxLevel::Gfx8 { 4 } else { 0 },
        };
        let found = match accesses(&request) {
            Ok(accesses) => Value::Array(
                accesses
                    .iter()
                    .map(|access| {
                        let part = Request {
                            components: access.components,
                            component_bytes: access.bits / 8,
                            align: access.align,
                            ..request
                        };
                        let loads = split(&part, level(gen_name));
                        let loads = loads.map(|loads| loads.iter().map(|load| shown(load, 0)).collect::<Vec<_>>());
                        json!({
                            "at": access.at, "bits": access.bits, "components": access.components,
                            "align": [access.align.mul, access.align.offset],
                            "loads": loads.map_err(|error| error.to_string()).unwrap_or_default(),
                        })
                    })
                    .collect(),
            ),
            Err(error) => json!(error.to_string()),
        };
        tally.add(&format!("{name} {gen_name}"), &line, &found, &line["accesses"]);
    }
    tally.check();
}

#[test]
fn requests_are_planned_as_mesa_22_3_does() {
    let mut tally = Tally::default();
    for line in lines("seed.jsonl") {
        let request = request(&line);
        let name = line["kind"].as_str().unwrap();
        let gen_name = line["gen"].as_str().unwrap();
        let plan = match seed(&request, level(gen_name)) {
            Ok(plan) => plan,
            Err(error) => panic!("{line}: {error}"),
        };
        let loads = plan.iter().flat_map(|piece| piece.loads.iter().map(|load| shown(load, piece.access.at)));
        tally.add(&format!("{name} {gen_name}"), &line, &Value::Array(loads.collect()), &line["loads"]);
        let found = json!(of_plan(&request, level(gen_name), &plan));
        tally.add(&format!("{name} {gen_name} arithmetic"), &line, &found, &arithmetic(&line));
    }
    tally.check();
}
