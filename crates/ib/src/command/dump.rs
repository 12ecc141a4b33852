//! `amdgpu-ib dump`.

use std::{
    collections::HashMap,
    io::{self, Write as _},
    path::Path,
};

use amdgpu_winsys::{
    cs::{
        Target,
        dump::{Dump, Dumper},
    },
    winsys::GfxLevel,
};
use serde_json::{Value, json};

use super::{
    recorded::{self, Wanted},
    terminal::{complain, output},
};
use crate::{
    Contents, Coredump, Engine, FileIb, Input, Kept, KeptShader,
    chip::{level_of, registers_of},
    cli::DumpArguments,
    input::{find, name},
    json,
    listing::{Block, Detail, Paint, Search, Writer, blocks},
    outcome::{Error, Exit},
    resources::KeptMemory,
    shaders::Explained,
    starts,
};

/// An IB of a file, decoded.
pub(super) struct Decoded {
    pub(super) title: Option<String>,
    pub(super) target: Target,
    pub(super) dump: Dump,
    /// `true` if packets that could not be decoded are no fault of the file.
    pub(super) is_history: bool,
}

/// Decodes the IBs of a file and the IBs that they call.
pub(super) fn decode(
    (file, ibs): (&Path, &[FileIb]),
    chip: Option<&str>,
    engine: Option<Engine>,
) -> Result<Vec<Decoded>, Error> {
    let level = chip.map(level_of).transpose()?;
    // IBs that a captured IB calls are in the same directory.
    let beside = Kept::name(file).and_then(|_| Kept::all(file.parent()?).ok()).unwrap_or_default();
    let beside: HashMap<_, _> = beside.into_iter().map(|kept| ((kept.va, kept.dwords.len()), kept.dwords)).collect();
    let memory = |va, dwords| {
        let in_file = || find(ibs, va, dwords).map(<[u32]>::to_vec);
        beside.get(&(va, dwords)).cloned().or_else(in_file)
    };
    let decode = |ib: &FileIb| {
        let target = ib.target(level, engine).ok_or_else(|| Error::NoChip(name(file)))?;
        let dump = dumper(target, chip).with_memory(&memory).dump(&ib.dwords, ib.va);
        Ok(Decoded { title: ib.title.clone(), target, dump, is_history: ib.is_history })
    };
    ibs.iter().filter(|ib| !ib.is_called).map(decode).collect()
}

/// Returns a dumper that knows the chip's registers.
pub(super) fn dumper(target: Target, chip: Option<&str>) -> Dumper<'static> {
    let dumper = Dumper::new(target);
    match chip.and_then(registers_of) {
        Some(registers) => dumper.with_registers(registers),
        None => dumper,
    }
}

/// Prints the IBs of a file.
pub(super) fn dump(arguments: &DumpArguments) -> Result<Exit, Error> {
    let wanted = Wanted::new(arguments.submission, arguments.last);
    let search = arguments.grep.clone().map(|pattern| Search { pattern, context: arguments.context });
    let mut out = output();
    let file = arguments.file();
    let input = if arguments.recording.is_some() { Input::recording(file)? } else { Input::open(file)? };
    let exit = match input {
        Input::Recording(recording) => {
            let chip = arguments.chip.as_deref().map(level_of).transpose()?;
            let source = (recording, name(file));
            if arguments.json {
                recording_json(source, chip, wanted, &mut out)
            } else {
                recording_text(source, chip, wanted, arguments, search.as_ref(), &mut out)
            }
        }
        Input::Ibs(_) if wanted != Wanted::All => Err(Error::NoRecording(name(file))),
        Input::Ibs(contents) => {
            complain_about(file, &contents);
            let decoded = decode((file, &contents.ibs), arguments.chip.as_deref(), arguments.ip)?;
            let shaders = KeptShader::beside(file);
            let explain = |of| explain(of, &shaders, arguments.state).with_memory(kept_memory(file, of));
            let explained: Vec<_> = decoded.iter().map(explain).collect();
            let is_whole = decoded.iter().all(|of| of.is_history || of.dump.problems().next().is_none());
            let found = if arguments.json {
                writeln!(out, "{:#}", file_json(&contents.coredumps, &decoded, &explained))?;
                !decoded.is_empty()
            } else {
                let mut writer = writer(arguments, search.as_ref(), &mut out);
                for coredump in &contents.coredumps {
                    writer.push(Block::titles(0, coredump.lines()))?;
                }
                for (of, explained) in decoded.iter().zip(&explained) {
                    let title = of.title.as_ref().map(|title| Block::title(0, title, title));
                    let blocks = blocks(&of.dump, Some(explained), detail(arguments));
                    title.into_iter().chain(blocks).try_for_each(|block| writer.push(block))?;
                }
                writer.finish()? && !decoded.is_empty()
            };
            Ok(if is_whole && found { Exit::Understood } else { Exit::Problems })
        }
    };
    out.flush()?;
    exit
}

fn detail(arguments: &DumpArguments) -> Detail {
    Detail { with_dwords: arguments.raw, ..Detail::default() }
}

fn writer<'w, W: io::Write>(arguments: &DumpArguments, search: Option<&'w Search>, out: &'w mut W) -> Writer<'w, W> {
    // If all dwords were requested, repeated packets are not folded.
    let folds = !arguments.no_fold && !arguments.raw;
    Writer::new(out, Paint::new(arguments.color), search, folds)
}

fn explain<'d>(of: &'d Decoded, shaders: &[KeptShader], state: bool) -> Explained<'d> {
    let level = match of.target {
        Target::Pm4(target) => target.level,
        // SDMA starts neither draws nor dispatches.
        Target::Sdma(_) => GfxLevel::Gfx6,
    };
    Explained::new(&of.dump, starts(&of.dump, level), shaders.to_vec(), state)
}

/// Returns the memory that was captured while an IB of a file and the IBs that it calls were executed.
fn kept_memory(file: &Path, of: &Decoded) -> KeptMemory {
    KeptMemory::beside(file, &of.dump.ibs.iter().filter_map(|ib| ib.va).collect())
}

/// Tells what was skipped around the contents of a file.
pub(super) fn complain_about(file: &Path, contents: &Contents) {
    if let Some(note) = &contents.note {
        complain(&format!("{}: {note}", name(file)));
    }
}

/// Returns the JSON of a dump, or of all dumps of a file with several IBs or with devcoredumps.
fn file_json(coredumps: &[Coredump], decoded: &[Decoded], explained: &[Explained<'_>]) -> Value {
    let value = |(of, explained): (&Decoded, &Explained<'_>)| {
        let mut value = json::dump(&of.dump);
        explained.add_to(&mut value);
        value
    };
    let mut values: Vec<_> = decoded.iter().zip(explained).map(value).collect();
    if let ([Decoded { title: None, .. }], Some(value)) = (decoded, values.first_mut()) {
        return value.take();
    }
    let titled = |(of, dump): (&Decoded, Value)| json!({"title": of.title, "dump": dump});
    let ibs: Vec<_> = decoded.iter().zip(values).map(titled).collect();
    let mut value = json!({"schema": "amdgpu-ib-file", "version": 1, "ibs": ibs});
    if !coredumps.is_empty() {
        value["coredumps"] = coredumps.iter().map(Coredump::json).collect();
    }
    value
}

fn recording_json(
    (recording, name): (Box<dyn io::Read>, String),
    chip: Option<GfxLevel>,
    wanted: Wanted,
    out: &mut impl io::Write,
) -> Result<Exit, Error> {
    let (mut submissions, mut exit) = (Vec::new(), Exit::Understood);
    let mut level = chip;
    let read = recorded::each((recording, &name), chip, wanted, |shown| {
        level = Some(shown.level);
        exit = exit.and(shown.exit());
        submissions.push(shown.json());
        Ok(())
    });
    writeln!(out, "{:#}", recorded::json(level, &submissions))?;
    read.and(Ok(exit))
}

fn recording_text(
    (recording, name): (Box<dyn io::Read>, String),
    chip: Option<GfxLevel>,
    wanted: Wanted,
    arguments: &DumpArguments,
    search: Option<&Search>,
    out: &mut impl io::Write,
) -> Result<Exit, Error> {
    let mut exit = Exit::Understood;
    let mut writer = writer(arguments, search, out);
    let read = recorded::each((recording, &name), chip, wanted, |shown| {
        exit = exit.and(shown.exit());
        shown.blocks(detail(arguments), &mut |block| Ok(writer.push(block)?))
    });
    let found = writer.finish()?;
    read?;
    Ok(if found { exit } else { exit.and(Exit::Problems) })
}
