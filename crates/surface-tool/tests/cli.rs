//! The command line: every answer, every refusal, and the README's excerpt.

use std::{env, ffi::OsString, fs, path::PathBuf};

use amdgpu_surface_tool::{Exit, run};
use proptest::prelude::*;
use serde_json::Value;

/// Runs a command line; returns the exit status, the output and the errors.
fn tool(line: &str) -> (Exit, String, String) {
    words(&line.split_whitespace().map(OsString::from).collect::<Vec<_>>())
}

fn words(arguments: &[OsString]) -> (Exit, String, String) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let all = [OsString::from("amdgpu-surface")].into_iter().chain(arguments.iter().cloned());
    let exit = run(all, &mut out, &mut err);
    (exit, String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap())
}

fn answer(line: &str) -> String {
    let (exit, out, err) = tool(line);
    assert_eq!((exit, err.as_str()), (Exit::Answered, ""), "{line}");
    out
}

fn json(line: &str) -> Value {
    serde_json::from_str(&answer(line)).unwrap()
}

/// A file of this test in the directory for temporary files.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        Self(env::temp_dir().join(format!("amdgpu-surface-{}-{name}", std::process::id())))
    }

    fn arg(&self) -> OsString {
        self.0.clone().into()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

const NAVI21: &str =
    "explain --gpu navi21 --format R8G8B8A8 --size 1920x1080 --levels 11 --usage sampled,color,transfer-dst";

#[test]
fn the_readmes_excerpt_is_what_the_tool_prints() {
    let readme = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap();
    let shown = readme.split("```text\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    assert_eq!(shown.lines().next(), Some(format!("$ amdgpu-surface {NAVI21}").as_str()));
    let printed = answer(NAVI21);
    let shown: Vec<_> = shown.lines().skip(1).collect();
    assert_eq!(shown, printed.lines().collect::<Vec<_>>());
}

#[test]
fn json_says_what_the_text_says() {
    let found = json(&format!("{NAVI21} --json"));
    assert_eq!(found["chip"], "navi21");
    assert_eq!(found["levels"].as_array().unwrap().len(), 11);
    // GFX10.3 keeps the largest level last.
    let offset = |level: usize| found["levels"][level]["offset"].as_u64().unwrap();
    assert!(offset(0) > offset(1) && offset(1) > offset(10));
    assert_eq!(found["metadata"][0]["presence"], "present");
    assert!(found["because"].as_str().unwrap().starts_with("blocks"));
    assert_eq!(found["modifiers"][0]["modifier"], "0x020000002096bb03");
}

#[test]
fn every_generation_explains_itself() {
    for chip in ["pitcairn", "polaris10", "vega10", "navi10", "navi21", "navi31"] {
        for image in [
            "--format R8G8B8A8 --size 640x480",
            "--format R8G8B8A8 --size 640x480 --linear",
            "--format D32_SFLOAT_S8_UINT --size 640x480 --usage depth,sampled",
            "--format R8 --size 64x64x64",
            "--format BC1_RGBA_UNORM_BLOCK --size 256x256 --levels 9",
            "--format R8G8B8A8 --size 512x512 --samples 4 --usage color",
        ] {
            let text = answer(&format!("explain --gpu {chip} {image}"));
            for heading in ["because", "levels", "buffer"] {
                assert!(text.contains(heading), "{chip} {image}: {text}");
            }
        }
    }
    assert!(answer("explain --gpu polaris10 --format R8 --size 40x40").contains("macro tiles would waste"));
    assert!(answer("explain --gpu navi21 --format R8 --size 64x64 --linear").contains("as the description asks"));
}

#[test]
fn modifiers_come_in_the_drivers_order() {
    // ac_get_supported_modifiers on Vega 10; surfaces with DCC first, linear last.
    let found = json("modifiers --gpu vega10 --format B8G8R8A8_UNORM --json");
    let list: Vec<_> = found["modifiers"].as_array().unwrap().iter().map(|one| one["modifier"].clone()).collect();
    assert_eq!(list.first().unwrap(), "0x020000050481ba01");
    assert_eq!(list.last().unwrap(), "0x0000000000000000");
    let without = json("modifiers --gpu vega10 --format B8G8R8A8_UNORM --no-dcc --json");
    assert!(without["modifiers"].as_array().unwrap().len() < list.len());
    assert!(answer("modifiers --gpu polaris10 --format R8").contains("none"));
    let named = answer("explain --gpu vega10 --format B8G8R8A8 --size 256x256 --modifier 0x020000050481ba01");
    assert!(named.contains("the modifier names it"));
}

#[test]
fn captures_are_chips_too() {
    let capture = concat!(env!("CARGO_MANIFEST_DIR"), "/../sim/data/devices/renoir.json");
    let arguments =
        |gpu: &str| ["explain", "--gpu", gpu, "--format", "R8", "--size", "64x64"].map(OsString::from).to_vec();
    assert_eq!(words(&arguments(capture)).1, words(&arguments("renoir")).1);
}

#[test]
fn a_dump_becomes_a_png_and_rows() {
    let (dump, picture, rows) = (Scratch::new("dump"), Scratch::new("png"), Scratch::new("rows"));
    let image = "--gpu navi21 --format R8G8B8A8 --size 65x33";
    let bytes = json(&format!("explain {image} --json"))["buffer"]["texels"].as_u64().unwrap();
    // Every texel tells its own address.
    let tiled: Vec<u8> = (0..bytes as u32 / 4).flat_map(u32::to_le_bytes).collect();
    fs::write(&dump.0, &tiled).unwrap();
    let detile = |output: &Scratch, raw: bool| {
        let mut arguments = vec![OsString::from("detile"), dump.arg(), "-o".into(), output.arg()];
        arguments.extend(image.split(' ').map(OsString::from));
        if raw {
            arguments.push("--raw".into());
        }
        words(&arguments)
    };
    assert_eq!(detile(&picture, false).0, Exit::Answered);
    assert_eq!(detile(&rows, true).0, Exit::Answered);
    let rows = fs::read(&rows.0).unwrap();
    assert_eq!(rows.len(), 65 * 33 * 4);
    let decoder = png::Decoder::new(std::io::BufReader::new(fs::File::open(&picture.0).unwrap()));
    let mut reader = decoder.read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    assert_eq!((info.width, info.height), (65, 33));
    assert_eq!(pixels, rows, "R8G8B8A8 is the PNG's own order");
    // The picture's first texels name the same places: 64KB_R_X starts with two texels side by side.
    assert_eq!(rows[..8], [0, 0, 0, 0, 1, 0, 0, 0]);
    fs::write(&dump.0, &tiled[..100]).unwrap();
    let (exit, _, err) = detile(&picture, false);
    assert_eq!(exit, Exit::Input);
    assert!(err.contains("100 bytes"), "{err}");
}

#[test]
fn the_picture_of_the_readme_is_what_the_tool_draws() {
    let drawn = answer("picture --gpu navi21 --format R8G8B8A8 --size 256x256");
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/doc/block.svg");
    if env::var_os("AMDGPU_SURFACE_WRITE_PICTURE").is_some() {
        fs::write(path, &drawn).unwrap();
    }
    assert_eq!(drawn, fs::read_to_string(path).unwrap(), "AMDGPU_SURFACE_WRITE_PICTURE=1 draws it anew");
}

#[test]
fn the_picture_has_every_texel_once() {
    let svg = answer("picture --gpu navi21 --format R8G8B8A8 --size 256x256");
    assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
    assert_eq!(svg.matches("<rect").count(), 16 * 16 + 1);
    let points = svg.split("points=\"").nth(1).unwrap().split('"').next().unwrap();
    assert_eq!(points.split_whitespace().count(), 16 * 16);
    assert_eq!(tool("picture --gpu navi21 --format R8 --size 64x64 --side 0").0, Exit::Usage);
    assert_eq!(tool("picture --gpu navi21 --format R8 --size 64x64 --level 3").0, Exit::Usage);
}

#[test]
fn bad_arguments_are_named() {
    for (line, exit, word) in [
        ("explain --gpu voodoo --format R8 --size 1x1", Exit::Usage, "voodoo"),
        ("explain --gpu navi21 --format R9 --size 1x1", Exit::Usage, "R9"),
        ("explain --gpu navi21 --format R8 --size 1by1", Exit::Usage, "1by1"),
        ("explain --gpu navi21 --format R8 --size 0x1", Exit::Refused, "zero"),
        ("explain --gpu navi21 --format R8 --size 64x64 --samples 3", Exit::Refused, "samples"),
        ("explain --gpu navi21 --format R8 --size 64x64 --usage cooking", Exit::Usage, "cooking"),
        ("explain --gpu navi21 --format R8 --size 64x64 --modifier 0x0100000000000001", Exit::Usage, "vendor"),
        ("explain --gpu /nowhere.json --format R8 --size 64x64", Exit::Input, "nowhere"),
        ("explain --gpu navi21 --format R8", Exit::Usage, "--size"),
        ("detile /nowhere --gpu navi21 --format R8 --size 64x64 -o /tmp/x", Exit::Input, "/nowhere"),
        ("detile /nowhere --gpu navi21 --format BC1_RGBA_UNORM_BLOCK --size 64x64 -o /tmp/x", Exit::Refused, "BC1"),
        ("", Exit::Usage, "Usage"),
    ] {
        let (found, out, err) = tool(line);
        assert_eq!(found, exit, "{line}: {err}");
        assert!(err.contains(word) && out.is_empty(), "{line}: {err}");
    }
    assert_eq!(tool("--help").0, Exit::Answered);
}

fn word() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "explain",
        "modifiers",
        "picture",
        "--gpu",
        "navi21",
        "vega10",
        "pitcairn",
        "--format",
        "R8",
        "R8G8B8A8",
        "D32_SFLOAT_S8_UINT",
        "--size",
        "64x64",
        "4294967295x4294967295x4294967295",
        "--levels",
        "--layers",
        "--samples",
        "--usage",
        "color,scanout",
        "sparse,shared",
        "--modifier",
        "0x020000002096bb03",
        "--json",
        "--linear",
        "--type",
        "cube",
        "3d",
        "1d",
        "--index",
        "--level",
        "--side",
        "128",
        "16",
        "4294967295",
        "0",
    ]);
    prop_oneof![4 => known.prop_map(str::to_owned), 1 => any::<u32>().prop_map(|n| n.to_string()), 1 => ".{0,8}"]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_words_have_an_answer_or_an_error(list in prop::collection::vec(word(), 0..14)) {
        let arguments: Vec<_> = list.iter().map(OsString::from).collect();
        let (exit, out, err) = words(&arguments);
        prop_assert_eq!(exit == Exit::Answered, err.is_empty(), "{:?}: {}", list, err);
        prop_assert!(exit == Exit::Answered || out.is_empty());
    }

    #[test]
    fn any_image_has_a_layout_or_an_error(
        gpu in prop::sample::select(vec!["pitcairn", "polaris10", "raven", "vega10", "navi10", "navi21", "navi31"]),
        format in prop::sample::select(vec!["R8", "R8G8B8A8", "R32G32B32_SFLOAT", "D16_UNORM", "S8_UINT", "BC7_UNORM_BLOCK"]),
        (w, h) in (prop_oneof![0_u32..5000, any::<u32>()], 0_u32..5000),
        (levels, layers) in (prop_oneof![0_u32..16, any::<u32>()], prop_oneof![0_u32..9, any::<u32>()]),
        samples in 0_u32..17,
        usage in prop::sample::select(vec!["sampled", "color", "depth", "scanout,color", "sparse", "storage,shared"]),
        kind in prop::sample::select(vec!["1d", "2d", "3d", "cube"]),
    ) {
        let (exit, out, err) = tool(&format!(
            "explain --gpu {gpu} --format {format} --size {w}x{h} --levels {levels} --layers {layers} --samples {samples} \
             --usage {usage} --type {kind}"
        ));
        prop_assert!(matches!(exit, Exit::Answered | Exit::Refused), "{}", err);
        prop_assert_eq!(exit == Exit::Answered, out.contains("because"));
    }
}

#[test]
fn the_manual_page_and_the_completions_have_every_command() {
    let man = answer("man");
    for command in ["explain", "modifiers", "detile", "compare", "picture", "man", "completions"] {
        assert!(man.contains(&format!(".SS {command}\n")), "{command}");
    }
    for section in ["EXAMPLES", "EXIT STATUS", "SEE ALSO"] {
        assert!(man.contains(&format!("\n.SH \"{section}\"\n")), "{section}");
    }
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(answer(&format!("completions {shell}")).contains("modifiers"), "{shell}");
    }
}

/// Decodes modifiers in numbers, as the logs of compositors and drivers have them.
#[test]
fn modifiers_are_decoded_from_numbers() {
    let shown = answer(
        "modifiers --decode 144115188085734146 0x0200000000000901 0x0200000440517901 0x0100000000000001 72057594037927935 0",
    );
    let rows: Vec<_> = shown.lines().map(|line| line.trim_start_matches("modifiers").trim()).collect();
    assert_eq!(
        rows,
        [
            "0x020000000096bb02  AMD, GFX10, 64K_R_X (27), PIPE_XOR_BITS 4, DCC, pipe-aligned, independent 128B blocks, \
             max. compressed block 128B, constant encode, not displayable (pipe-aligned DCC without RETILE)",
            "0x0200000000000901  AMD, GFX9, 64K_S (9)",
            "0x0200000440517901  AMD, GFX9, 64K_S_X (25), PIPE_XOR_BITS 2, RB 1, PIPE 2, DCC, RETILE (a second DCC for the \
             display), independent 64B blocks, max. compressed block 64B, constant encode",
            "0x0100000000000001  not AMD: vendor 1 (Intel), code 0x1",
            "0x00ffffffffffffff  INVALID: none is given, the layout is implicit",
            "0x0000000000000000  LINEAR",
        ]
    );
    let json = json("modifiers --json --decode 0x020000000096bb02");
    let first = &json["modifiers"][0];
    assert_eq!((&first["fields"]["PIPE_XOR_BITS"], &first["vendor_name"]), (&4.into(), &"AMD".into()));
}

#[test]
fn what_is_no_modifier_is_refused_by_name() {
    for wrong in ["x", "0x", "-1", "0x1ffffffffffffffff", "18446744073709551616", "1e3"] {
        let (exit, out, err) = words(&["modifiers", "--decode", wrong].map(OsString::from));
        assert_eq!((exit, out.as_str()), (Exit::Usage, ""), "{wrong}: {err}");
    }
    assert!(answer("modifiers --decode 0x0200000000000909").contains("AMD, not valid: "));
    let (exit, _, _) = tool("modifiers --gpu navi21 --decode 0");
    assert_eq!(exit, Exit::Usage);
    assert_eq!(tool("modifiers").0, Exit::Usage);
}

#[test]
fn the_text_of_other_tools_is_searched_for_modifiers() {
    let text = "|   +--AMD(TILE_VERSION=GFX9,TILE=64K_S) (0x200000000000901)\n|   +--LINEAR (0x0)\n\
        requested 144115188085734146 with 3840x2160, handle 0x7f\n0x0100000000000001\n72057594037927935\n";
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_amdgpu-surface"))
        .args(["modifiers", "--decode"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    let numbers: Vec<_> =
        shown.lines().map(|line| line.split_whitespace().find(|word| word.starts_with("0x")).unwrap()).collect();
    assert_eq!(
        numbers,
        ["0x0200000000000901", "0x0000000000000000", "0x020000000096bb02", "0x0100000000000001", "0x00ffffffffffffff"]
    );
}

/// Runs the program itself, whose output passes the last writer.
#[test]
fn hostile_names_are_visible() {
    let hostile = "x\x1b]0;title\x07\x1b[8m\u{9b}2J\u{7f}\u{202e}";
    for arguments in [
        &["explain", "--gpu", hostile, "--format", "R8G8B8A8", "--size", "8x8"][..],
        &["modifiers", "--gpu", "navi21", "--format", hostile],
        &["modifiers", "--decode", hostile],
        &["compare", hostile, "--gpu", "navi21"],
        &["detile", hostile, "--gpu", "navi21", "--format", "R8G8B8A8", "--size", "8x8", "-o", hostile],
        &[hostile],
    ] {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_amdgpu-surface")).args(arguments).output().unwrap();
        let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
        assert!(said.contains("[U+001B]") || said.contains("\\u{1b}"), "{arguments:?}: {said:?}");
        let is_hidden = |letter: char| letter != '\n' && (letter.is_control() || letter == '\u{202e}');
        assert!(!said.contains(is_hidden), "{arguments:?}: {said:?}");
    }
}
