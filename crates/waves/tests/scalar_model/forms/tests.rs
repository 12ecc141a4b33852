//! Modifiers and selections on the interpreter and on the model: some at random for every operation.

use std::collections::BTreeSet;

use amdgpu_hw::GfxLevel;
use amdgpu_isa::WaveSize;

use super::{Form, draw::Subject};
use crate::{
    machine::Machine,
    table::{Env, Table},
    values::Random,
    vector::Case,
    vector_tests::{MODES, MOST_FAULTS, NOT_COMPARED, difference, model, places, vector_operations},
};

/// Compares one form of an operation in a mode at random.
fn compare(machine: &Machine, table: &Table, case: &Case, random: &mut Random) -> Result<(), String> {
    let bits = random.next();
    // Clamping of NaNs is no choice from GFX12 on.
    let keeps_nan = bits & 1 != 0 && machine.level < GfxLevel::Gfx12;
    let env = Env { keeps_nan, ..Env::new(MODES[(bits >> 8) as usize % MODES.len()]) };
    let before = random.state(machine.wave, 2);
    let expected = case.expected(table, env, &before).ok_or("there is no model")?;
    let found = machine.run(&case.instruction, env, &before)?;
    difference(case, table, &before, &found, &expected).map_or(Ok(()), |why| {
        let (level, wave, mode) = (machine.level, machine.wave, env.float_mode);
        Err(format!("{level} {wave:?} {} mode {mode:#x}, EXEC {:#x}: {why}", case.instruction, before.exec))
    })
}

/// Compares forms of all operations: `draw` returns the form of a number, or `None` for operations without it. Returns the number of
/// the entries of the tables that were compared.
fn compared(draws: usize, draw: impl Fn(Subject<'_>, &mut Random, usize) -> Option<Form>) -> usize {
    let table = model();
    let left_out: BTreeSet<&str> = NOT_COMPARED.iter().flat_map(|(_, names)| names.iter().copied()).collect();
    let (mut compared, mut faults, mut number) = (0, Vec::new(), 0);
    for (level, wave) in places() {
        let machine = Machine::new(level, wave);
        for opcode in vector_operations(level).filter(|opcode| !left_out.contains(opcode.name())) {
            let Some(operation) = table.get(&Case::key(opcode)) else { continue };
            let subject = Subject { level, opcode, operation };
            let is_first = wave == WaveSize::Wave64;
            let mut has_form = false;
            for time in 0..if is_first { draws } else { 1 } {
                number += 1;
                let mut random = Random((number as u64) << 20 | time as u64);
                let Some(form) = draw(subject, &mut random, number) else { break };
                has_form = true;
                let case = Case::new(level, wave, opcode, Some(operation), form);
                if let Err(why) = case.and_then(|case| compare(&machine, &table, &case, &mut random)) {
                    faults.push(format!("{}: {why}", opcode.name()));
                }
            }
            compared += usize::from(is_first && has_form);
            assert!(faults.len() < MOST_FAULTS, "{}", faults.join("\n"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    compared
}

#[test]
fn modifiers_and_constants_give_what_the_model_gives() {
    // Functions of scalar registers are compared without modifiers.
    let is_vector = |subject: Subject<'_>| !subject.opcode.name().starts_with("v_s_");
    let count = compared(3, |subject, random, _| is_vector(subject).then(|| subject.draw_modifiers(random)));
    println!("{count} vector operations compared with modifiers");
    assert!(count >= 6281, "{count}");
}

#[test]
fn lanes_that_dpp_selects_give_what_the_model_gives() {
    let count =
        compared(2, |subject, random, number| subject.selects_lanes().then(|| subject.draw_lanes(random, number)));
    println!("{count} vector operations compared with DPP");
    assert!(count >= 2521, "{count}");
}

#[test]
fn parts_that_sdwa_selects_give_what_the_model_gives() {
    let count = compared(3, |subject, random, _| subject.selects_parts().then(|| subject.draw_parts(random)));
    println!("{count} vector operations compared with SDWA");
    assert!(count >= 909, "{count}");
}
