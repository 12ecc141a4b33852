//! The choice of native 64-bit operations and of their instructions equals Mesa's.
//!
//! `AMDGPU_LOAD_GOLDENS` names another folder with `int64-table.jsonl`, or the same with `.gz`.

mod support;

use amdgpu_hw::GfxLevel;
use amdgpu_isa::int64::{Bank, Lowering, Op, Options, StepOp, lower};
use serde_json::Value;
use support::{folder, level, text};

fn lines() -> Vec<Value> {
    let path = folder("AMDGPU_LOAD_GOLDENS", "tests/data/loads").join("int64-table.jsonl");
    let text = text(&path).unwrap_or_else(|| panic!("no {}", path.display()));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns the operation of a line.
fn operation(line: &Value) -> Op {
    let sources: Vec<u64> = line["src"].as_array().unwrap().iter().map(|bits| bits.as_u64().unwrap()).collect();
    let name = line["op"].as_str().unwrap();
    let fits = |op: &&Op| {
        let own: Vec<u64> = op.sources().iter().map(|&bits| bits.into()).collect();
        op.name() == name && u64::from(op.bits()) == line["dst"] && (name.starts_with("extract") || own == sources)
    };
    *Op::ALL.iter().find(fits).unwrap_or_else(|| panic!("no operation for {line}"))
}

/// Returns the generations of a range such as `GFX6..GFX9`.
fn range(text: &str) -> Vec<GfxLevel> {
    let (first, last) = text.split_once("..").unwrap();
    let (first, last) = (level(first), level(last));
    GfxLevel::ALL.into_iter().filter(|level| (first..=last).contains(level)).collect()
}

/// Requirement I-4.
#[test]
fn native_instructions_are_acos() {
    let mut compared = 0;
    for line in lines() {
        let op = operation(&line);
        for (generations, banks) in line["aco"].as_object().into_iter().flatten() {
            for level in range(generations) {
                for (word, bank) in [("v", Bank::Vector), ("s", Bank::Scalar)] {
                    let found = match lower(op, level, bank, Options::NONE) {
                        Lowering::Native(names) => serde_json::json!(names),
                        Lowering::Steps(_) => Value::Null,
                    };
                    assert_eq!(found, banks[word], "{op:?} {level} {bank:?}");
                    compared += 1;
                }
            }
        }
    }
    println!("{compared} lists of instructions");
    assert!(compared > 0);
}

/// Requirement I-1: the sets of options.
#[test]
fn options_are_radvs() {
    let lines = lines();
    assert!(!lines.is_empty());
    for line in lines {
        let op = operation(&line);
        assert_eq!(Options::by_name(line["option"].as_str().unwrap()), Some(op.option()), "{line}");
        for (version, options) in [("22.3.6", Options::SEED), ("25.0.7", Options::RADV_25)] {
            assert_eq!(line["option_set"][version], options.contains(op.option()), "{op:?} {version}");
        }
    }
}

/// Requirement I-1: an operation is native, and stays in a lowered form, only if its option is not set.
#[test]
fn the_options_decide_what_is_lowered() {
    let lines = lines();
    for options in [Options::SEED, Options::RADV_25, Options::ALL, Options::NONE] {
        for line in &lines {
            let op = operation(line);
            for level in GfxLevel::ALL {
                for bank in [Bank::Vector, Bank::Scalar] {
                    match lower(op, level, bank, options) {
                        Lowering::Native(_) => assert!(!options.contains(op.option()), "{op:?} {level} {options:?}"),
                        Lowering::Steps(steps) => {
                            for step in &steps.steps {
                                if let StepOp::Native(inner) = step.op {
                                    assert!(!options.contains(inner.option()), "{inner:?} of {op:?} {options:?}");
                                }
                            }
                        }
                    }
                }
            }
            if options == Options::RADV_25 && line["lowered"] == true {
                let lowering = lower(op, GfxLevel::Gfx9, Bank::Vector, options);
                assert!(matches!(lowering, Lowering::Steps(_)), "{op:?} is lowered by Mesa");
            }
        }
    }
}

/// With all options no 64-bit operation is left.
#[test]
fn nothing_of_64_bits_is_left_when_all_is_lowered() {
    for op in Op::ALL {
        for level in GfxLevel::ALL {
            let Lowering::Steps(steps) = lower(op, level, Bank::Vector, Options::ALL) else {
                panic!("{op:?} is native")
            };
            let wide = |step: &&amdgpu_isa::int64::Step| matches!(step.op, StepOp::Native(_));
            assert_eq!(steps.steps.iter().find(wide), None, "{op:?}");
        }
    }
}
