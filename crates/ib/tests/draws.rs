//! Draws below their packets and in the JSON.

mod support;

use support::{Scratch, run, text};

const IB: &str = "000004-gfx-GFX9-100000.ib";

/// A SET_CONTEXT_REG, SET_SH_REG or SET_UCONFIG_REG of registers that follow each other.
fn set(at: u32, values: &[u32]) -> Vec<u32> {
    let (opcode, first) = match at {
        0xb000..0xc000 => (0x76, 0xb000),
        0x2_8000..0x2_9000 => (0x69, 0x2_8000),
        _ => (0x79, 0x3_0000),
    };
    let mut packet = vec![0xc000_0000 | (values.len() as u32) << 16 | opcode << 8, (at - first) / 4];
    packet.extend(values);
    packet
}

/// A rectangle on a linear target of four bytes a pixel: 64 x 32 at 0x12345600.
fn clear() -> Vec<u32> {
    let mut ib = set(0x3_0908, &[17]);
    ib.extend(set(0xb120, &[0x8000, 0]));
    ib.extend(set(0xb020, &[0x9000, 0]));
    ib.extend(set(0x2_870c, &[4])); // SPI_SHADER_POS_FORMAT
    ib.extend(set(0x2_8714, &[4])); // SPI_SHADER_COL_FORMAT
    ib.extend(set(0x2_86cc, &[2, 2])); // SPI_PS_INPUT_ENA and _ADDR
    ib.extend(set(0x2_8238, &[15, 15])); // CB_TARGET_MASK and CB_SHADER_MASK
    ib.extend(set(0x2_8808, &[0xcc << 16 | 1 << 4])); // CB_COLOR_CONTROL
    ib.extend(set(0x2_8c60, &[0x12_3456, 0, 31 | 63 << 14, 0, 10 << 2])); // CB_COLOR0_BASE to _INFO
    ib.extend(set(0x2_8250, &[0, 64 | 32 << 16])); // PA_SC_VPORT_SCISSOR_0
    ib.extend(set(0x2_8a48, &[2])); // PA_SC_MODE_CNTL_0
    ib
}

fn shown(name: &str, ib: &[u32]) -> (String, serde_json::Value) {
    let scratch = Scratch::new(name);
    scratch.put(IB, ib);
    let path = format!("{}/{IB}", scratch.0.display());
    let words = text(&run(&["dump", &path]).stdout);
    let json = serde_json::from_str(&text(&run(&["dump", &path, "--json"]).stdout)).unwrap();
    (words, json)
}

#[test]
fn a_draw_is_told_in_words_and_in_json() {
    let mut ib = clear();
    ib.extend([0xc001_2d00, 3, 2]);
    let (words, json) = shown("draw", &ib);
    for line in [
        "draw: rectangles, 3 vertices, 1 instances, without indices, from 0",
        "stages: VS 0x800000 (wave64, 0 user SGPRs) exports 1 positions and 1 parameters, PS 0x900000",
        "scissor 0,0 to 64,32",
        "colour 0: 8_8_8_8_UNORM, 64x32 at 0x12345600, mode 0: writes RGBA",
    ] {
        assert!(words.contains(line), "{line}: {words}");
    }
    assert!(!words.contains("contradiction") && !words.contains("draws nothing"), "{words}");
    let packets = json["ibs"][0]["packets"].as_array().unwrap();
    let draw = &packets.last().unwrap()["draw"];
    assert_eq!((&draw["topology"], &draw["count"]), (&"rectangles".into(), &3.into()));
    assert_eq!(draw["colours"][0]["address"], 0x1234_5600);
    assert_eq!((&draw["not_executed"], &draw["draws_nothing"]), (&serde_json::json!([]), &serde_json::Value::Null));
}

#[test]
fn a_draw_that_contradicts_itself_or_draws_nothing_says_so() {
    let mut ib = clear();
    ib.extend(set(0x2_8238, &[0, 0]));
    ib.extend(set(0xb020, &[0, 0]));
    ib.extend(set(0x2_8b54, &[1 << 5])); // VGT_SHADER_STAGES_EN.GS_EN
    ib.extend([0xc001_2d00, 3, 0]); // The initiator takes indices from memory.
    let (words, json) = shown("nothing", &ib);
    for line in [
        "draws nothing: no target is written",
        "contradiction: the packet has no indices, but its initiator takes them from memory",
        "not executed by the simulator: geometry shader",
    ] {
        assert!(words.contains(line), "{line}: {words}");
    }
    let packets = json["ibs"][0]["packets"].as_array().unwrap();
    assert_eq!(packets.last().unwrap()["draw"]["not_executed"], serde_json::json!(["geometry shader"]));
}
