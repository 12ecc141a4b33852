//! All operations of the tables: each is executed, or is in a list with the reason why not.

use std::{collections::BTreeMap, fs, path::Path};

use amdgpu_hw::GfxLevel;
use amdgpu_isa::{WaveSize, decode};
use amdgpu_waves::Reason;

use crate::machine::{places, refusal};

/// Operations that are not executed, by the start of their name, with the reason.
const REFUSED: &[(&str, &[&str])] = &[
    (
        "exports and interpolation are graphics",
        &["exp", "v_interp_", "lds_param_", "lds_direct_", "ds_param_", "ds_direct_"],
    ),
    ("the hardware that shaders of geometry count in is not there", &["ds_add_gs_reg_rtn", "ds_sub_gs_reg_rtn"]),
    ("the screen has no partitions", &["v_screen_partition_"]),
    ("global wave sync and ordered counts are not there", &["ds_gws_", "ds_ordered_count", "global_atomic_ordered_"]),
    ("there are no trap handlers", &["s_rfe_"]),
    ("forks have a stack of their own", &["s_cbranch_join", "s_cbranch_g_fork", "s_cbranch_i_fork"]),
    ("vector instructions are not skipped", &["s_setvskip"]),
    ("halves of waves do not run by themselves", &["s_subvector_loop_"]),
    (
        "a group has one barrier",
        &[
            "s_barrier_init",
            "s_barrier_join",
            "s_barrier_leave",
            "s_barrier_signal_isfirst",
            "s_get_barrier_state",
            "s_wakeup_barrier",
        ],
    ),
    ("rays are not traced", &["ds_bvh_stack_"]),
    ("there is no source for the texels or dwords of each lane", &["image_gather4h", "ds_condxchg32_"]),
    ("blocks of registers and transposed matrices are not loaded", &["_load_block", "_store_block", "global_load_tr_"]),
    ("results of four registers are not computed", &["v_mqsad_u32_u8"]),
];

/// Returns `true` if a name starts with a stem, or has it behind its first word.
fn is_of(name: &str, stem: &str) -> bool {
    name.starts_with(stem) || stem.starts_with('_') && name.contains(stem)
}

/// The formats and operations of a generation, as the tables of `amdgpu-isa` list them.
struct Table {
    /// The identifying bits and the bits of the operation's number, low ones first, by the name of the format.
    formats: BTreeMap<String, (u32, Vec<(u32, u32)>)>,
    /// The format, the number and the name of each operation.
    operations: Vec<(String, u32, String)>,
}

/// Returns bits `high:low`.
fn range(text: &str) -> (u32, u32) {
    let (high, low) = text.split_once(':').unwrap();
    (high.parse().unwrap(), low.parse().unwrap())
}

fn table(level: GfxLevel) -> Table {
    let name = level.to_string().to_lowercase().replace('.', "_");
    let name = if level == GfxLevel::Gfx11_5 { "gfx11" } else { &name };
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../isa/spec/{name}.txt"));
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut table = Table { formats: BTreeMap::new(), operations: Vec::new() };
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["format", name, _, "|", rest @ ..] => {
                let (bits, fields) = rest.split_at(rest.iter().position(|word| *word == "|").unwrap());
                let identity = bits.iter().map(|bits| {
                    let (bits, value) = bits.split_once('=').unwrap();
                    value.parse::<u32>().unwrap() << range(bits).1
                });
                let number = fields.iter().find_map(|field| field.strip_prefix("op=").or(field.strip_prefix("opx=")));
                let number = number.map_or_else(Vec::new, |bits| bits.split(',').map(range).collect());
                table.formats.insert((*name).to_owned(), (identity.fold(0, |all, bits| all | bits), number));
            }
            ["op", format, number, name, ..] => {
                table.operations.push(((*format).to_owned(), number.parse().unwrap(), (*name).to_owned()));
            }
            _ => {}
        }
    }
    table
}

/// Returns dwords that decode as the operation; their other fields are 0, or name the first registers.
fn words(
    table: &Table,
    (level, wave): (GfxLevel, WaveSize),
    (format, number, name): (&str, u32, &str),
) -> Vec<Vec<u32>> {
    // Segments of FLAT are formats of their own in the list.
    let (layout, segment) = match format {
        "SCRATCH" => ("FLAT", 1),
        "GLOBAL" => ("FLAT", 2),
        other => (other, 0),
    };
    let absent = (0, Vec::new());
    let (identity, places) = table.formats.get(format).or(table.formats.get(layout)).unwrap_or(&absent);
    let segment = segment << if level >= GfxLevel::Gfx11 { 16 } else { 14 };
    let segment = if table.formats.contains_key(format) { 0 } else { segment };
    let (mut opcode, mut rest) = (0_u64, u64::from(number));
    for (high, low) in places {
        let width = high - low + 1;
        opcode |= (rest & ((1 << width) - 1)) << low;
        rest >>= width;
    }
    let candidates = [0_u32, 1, 0x83, 0x100].into_iter().flat_map(|first| {
        [0, 0x0402_0100, 0x0001_0001].into_iter().map(move |second| {
            vec![identity | opcode as u32 | segment | first, second | (opcode >> 32) as u32, 0, 0, 0]
        })
    });
    // Some operations are only the second of two.
    let second = (format == "VOPD").then(|| vec![identity | number << 17, 0, 0, 0, 0]);
    let is_it = |words: &Vec<u32>| {
        let found = decode(level, wave, words);
        found.is_ok_and(|found| {
            found.name() == name || found.second_opcode().is_some_and(|second| second.name() == name)
        })
    };
    let found: Vec<_> = candidates.chain(second).filter(is_it).collect();
    assert!(!found.is_empty(), "{level}: no dwords for {format} {number} {name}");
    found
}

/// Returns why none of the dwords is executed.
fn reason(place: (GfxLevel, WaveSize), words: &[Vec<u32>]) -> Option<&'static str> {
    let whys = words.iter().map(|words| match refusal(place, words) {
        Some(Reason::NotExecuted { why, .. } | Reason::IllegalForm { why, .. }) => Some(why),
        _ => None,
    });
    whys.reduce(Option::and).flatten()
}

#[test]
fn every_operation_of_the_tables_is_executed_or_listed_with_a_reason() {
    let mut unused: Vec<&str> = REFUSED.iter().flat_map(|(_, stems)| stems.iter().copied()).collect();
    let mut faults = Vec::new();
    for place in places() {
        let table = table(place.0);
        for (format, number, name) in &table.operations {
            let words = words(&table, place, (format, *number, name));
            let stem = REFUSED.iter().flat_map(|(_, stems)| stems.iter()).find(|stem| is_of(name, stem));
            let why = reason(place, &words);
            match (why, stem) {
                (Some(why), None) => faults.push(format!("{} {format} {number} {name}: {why}", place.0)),
                (None, Some(stem)) => faults.push(format!("{} {name} is executed, but listed as {stem}", place.0)),
                (Some(_), Some(stem)) => unused.retain(|known| known != stem),
                (None, None) => {}
            }
        }
    }
    assert!(faults.is_empty(), "{} operations:\n{}", faults.len(), faults.join("\n"));
    assert!(unused.is_empty(), "listed, but in no table: {unused:?}");
}
