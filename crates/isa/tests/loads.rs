//! Loads are split as Mesa's ACO splits them, and the pieces give the requested bytes.
//!
//! `AMDGPU_LOAD_GOLDENS` names another folder with `emit.jsonl` and `access.jsonl`, or the same with `.gz`.

mod support;

use std::collections::BTreeMap;

use amdgpu_hw::GfxLevel;
use amdgpu_isa::load::{
    Address, AddressStep, Alignment, Kind, Load, LoadError, Place, Request, Shift, accesses, plan, split,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use support::{folder, level, text};

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
        let name = line["kind"].as_str().unwrap();
        let kind = match name {
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
        let request = Request {
            kind,
            components: number(input, "components") as u8,
            component_bytes: number(input, "component_size") as u8,
            align: Alignment { mul: number(input, "align_mul"), offset: number(input, "align_offset") },
            const_offset: number(input, "const_offset"),
            offset,
            address,
            component_stride: number(input, "component_stride") as u8,
            swizzle_element: number(input, "swizzle_component_size") as u8,
        };
        let gen_name = line["gen"].as_str().unwrap();
        let found = match split(&request, level(gen_name)) {
            Ok(loads) => Value::Array(loads.iter().map(|load| shown(load, 0)).collect()),
            Err(error) => json!(error.to_string()),
        };
        tally.add(&format!("{name} {gen_name}"), &line, &found, &line["loads"]);
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

/// A byte of made-up memory.
fn byte(address: u64) -> u8 {
    (address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8
}

/// Returns the address that a load reads: the register's value, what is added to it before, and the immediate.
fn effective(load: &Load, register: u64) -> u64 {
    let added: u64 = load
        .before
        .iter()
        .flatten()
        .map(|step| match step {
            AddressStep::AddOffset(bytes) => u64::from(*bytes),
            AddressStep::AddAddress(bytes) => *bytes,
            AddressStep::AddOffsetToAddress | AddressStep::ToVector => 0,
        })
        .sum();
    let unit = match load.op {
        "ds_read2_b32" => 4,
        "ds_read2_b64" => 8,
        _ => 1,
    };
    register + added + u64::from(load.immediate) * unit
}

/// Executes a plan for a request whose whole address, constant included, is `address`.
fn execute(request: &Request, level: GfxLevel, address: u64) -> Result<Vec<u8>, LoadError> {
    let mut result = Vec::new();
    for piece in &plan(request, level)? {
        let access = piece.access;
        let wanted = address + result.len() as u64;
        let (start, dropped, register) = match access.shift {
            Shift::Dynamic => {
                let mask = u64::from(access.align.mul) - 1;
                (wanted & !mask, wanted & mask, wanted & !mask)
            }
            Shift::Known(bytes) => {
                (wanted - u64::from(bytes), u64::from(bytes), address - u64::from(request.const_offset))
            }
            Shift::None => (wanted, 0, address - u64::from(request.const_offset)),
        };
        let register = register.wrapping_add_signed(piece.rebase.into());
        let mut loaded = Vec::new();
        for load in piece.loads.iter() {
            let at = effective(load, register);
            assert_eq!(at, start + loaded.len() as u64, "{request:?} {level}: {load:?} of {access:?}");
            assert!(load.bytes >= 4 || at.is_multiple_of(load.bytes.into()), "{load:?} at {at:#x}");
            assert!(load.bytes < 4 || at.is_multiple_of(4), "{load:?} at {at:#x}");
            loaded.extend((at..at + u64::from(load.bytes)).map(byte));
        }
        assert!(start + 3 >= wanted, "more than three bytes before the request");
        let from = dropped as usize;
        result.extend(&loaded[from..from + access.yields as usize]);
    }
    Ok(result)
}

fn kind() -> impl Strategy<Value = (Kind, Place, Place)> {
    proptest::sample::select(vec![
        (Kind::Buffer, Place::Vector, Place::None),
        (Kind::Buffer, Place::Scalar, Place::None),
        (Kind::ScalarBuffer, Place::Scalar, Place::None),
        (Kind::Global, Place::None, Place::Vector),
        (Kind::Global, Place::Vector, Place::Scalar),
        (Kind::ScalarGlobal, Place::None, Place::Scalar),
        (Kind::ScalarGlobal, Place::Scalar, Place::Scalar),
        (Kind::Lds, Place::Vector, Place::None),
        (Kind::Scratch, Place::Vector, Place::None),
    ])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Requirement L-1: any request, at any place its alignment allows, gives exactly its bytes.
    #[test]
    fn a_plan_gives_exactly_the_requested_bytes(
        (kind, offset, address) in kind(),
        level in proptest::sample::select(GfxLevel::ALL.to_vec()),
        components in 1_u8..=16,
        size in 0_u32..4,
        mul in 0_u32..7,
        part in 0_u32..64,
        constant in prop_oneof![Just(0), 0_u32..5000, 60_000_u32..80_000],
        place in 0_u64..1000,
    ) {
        let component_bytes = 1_u8 << size;
        // Components of four bytes and more are at least aligned to dwords in Vulkan.
        let mul = if component_bytes >= 4 { mul.max(2) } else { mul };
        let align = Alignment { mul: 1 << mul, offset: part & ((1 << mul) - 1) & if component_bytes >= 4 { !3 } else { !0 } };
        let request = Request {
            kind,
            components: components.min(64 / component_bytes),
            component_bytes,
            align,
            const_offset: constant,
            offset,
            address,
            component_stride: 0,
            swizzle_element: if kind == Kind::Scratch && level <= GfxLevel::Gfx8 { 4 } else { 0 },
        };
        let address = 0x10_0000 + (place << mul) + u64::from(align.offset);
        let bytes: Vec<u8> = (address..address + u64::from(request.bytes())).map(byte).collect();
        prop_assert_eq!(execute(&request, level, address), Ok(bytes), "{:?} {}", request, level);
    }

    /// Requirement L-5: any request is planned or refused.
    #[test]
    fn any_request_is_planned_or_refused(
        (kind, offset, address) in kind(),
        level in proptest::sample::select(GfxLevel::ALL.to_vec()),
        components in any::<u8>(),
        component_bytes in any::<u8>(),
        (mul, part) in any::<(u32, u32)>(),
        const_offset in any::<u32>(),
        (component_stride, swizzle_element) in any::<(u8, u8)>(),
    ) {
        let align = Alignment { mul, offset: part };
        let request = Request {
            kind, components, component_bytes, align, const_offset, offset, address, component_stride, swizzle_element,
        };
        let _ = plan(&request, level);
        let _ = split(&request, level);
    }
}
