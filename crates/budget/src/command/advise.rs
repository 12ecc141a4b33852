//! `advise`: the lines with which this machine would meet a wish. They are printed, never run.

use std::io::{self, Write};

use serde_json::json;

use crate::{
    advice::{Advice, Choice, Step, Verdict, Wish, advise},
    cli::{self, Global},
    collect::Collector,
    exit::Exit,
    render,
    session::{self, Outcome, Stop},
    text::{Style, known},
};

/// Ends with 1 if no GPU can meet the wish, or it is unknown whether one can.
pub(super) fn run(options: &cli::Advise, global: &Global, out: &mut dyn Write) -> Outcome {
    if global.from.is_some() {
        let message =
            "advise reads the settings of a machine, which a recording does not have; --root reads a captured tree";
        return Err(Stop::Message(Exit::Usage, message.to_owned()));
    }
    let wish = match (options.models, options.keep, &options.of) {
        (Some(bytes), ..) => Wish::Models { bytes },
        (None, Some(bytes), Some(of)) => Wish::Keep { bytes, of: of.clone() },
        _ => return Err(Stop::Message(Exit::Usage, "advise needs a wish: --models, or --keep and --of".to_owned())),
    };
    let mut collector = Collector::new(session::machine(global)?, session::wishes(global, false));
    let snapshot = session::first(&mut collector, global)?;
    let list = advise(&snapshot, collector.machine().files(), &wish);
    if global.json || global.jsonl {
        let object = json!({ "schema": "amdgpu-budget-advise/1", "time": snapshot.time, "wish": wish, "gpus": list });
        render::object(&object, global.json, out)?;
    } else {
        let style = render::style(global);
        for advice in &list {
            write(advice, &style, out)?;
        }
    }
    let helps = list.iter().any(|advice| matches!(advice.verdict, Verdict::Met | Verdict::Possible));
    Ok(if helps { Exit::Fine } else { Exit::Failed })
}

fn write(advice: &Advice, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let verdict = match advice.verdict {
        Verdict::Met => "met",
        Verdict::Possible => "possible",
        Verdict::Impossible => "impossible",
        Verdict::Unknown => "unknown",
    };
    writeln!(out, "GPU {}  {}  {}", advice.index, advice.pci, known(advice.name.as_deref()))?;
    writeln!(out, "{}: {}", style.paint(1, verdict), advice.reason)?;
    for conflict in &advice.conflicts {
        writeln!(out, "conflict {}: {}", conflict.code, conflict.text)?;
    }
    for (number, choice) in (1..).zip(&advice.choices) {
        write_choice(number, choice, style, out)?;
    }
    if !advice.choices.is_empty() {
        writeln!(out, "\nNothing was changed.")?;
    }
    Ok(())
}

fn write_choice(number: u32, choice: &Choice, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let when = if choice.reboot { "after a reboot" } else { "at once" };
    writeln!(out, "\n{} ({when})", style.paint(1, &format!("{number}. {}", choice.title)))?;
    steps(&choice.steps, out)?;
    writeln!(out, "   loses: {}", choice.loses)?;
    writeln!(out, "   to undo:")?;
    steps(&choice.undo, out)
}

fn steps(steps: &[Step], out: &mut dyn Write) -> io::Result<()> {
    for step in steps {
        let colon = if step.lines.is_empty() { "" } else { ":" };
        writeln!(out, "   - {}{colon}", step.text)?;
        for line in &step.lines {
            writeln!(out, "       {line}")?;
        }
    }
    Ok(())
}
